/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pyfloat.h"
#include "command/verbs/verify/verb_compare.h"
#include "command/call/call_print.h"
#include "report/json.h"

enum { PRINT_NAME_MAX = 60, PRINT_CELL = 32 };

void odb_comparison_dispose(struct odb_comparison *c)
{
    for (size_t i = 0; i < c->rows.n; i++) {
        struct odb_compared *row = &c->rows.items[i];
        free(row->name);
        free(row->reason);
        free(row->type[0]);
        free(row->type[1]);
        free(row->worst);
    }
    free(c->rows.items);
    free(c->under);
    free(c->column);
    odb_rules_dispose(&c->rules);
}

/* Numbers of the three-way test. */
static const struct print_golden {
    const char *name;
    size_t offset;
} print_golden[] = {{"golden_max", offsetof(struct odb_compared, max[0])},
                    {"golden_max_base", offsetof(struct odb_compared, max[1])},
                    {"golden_mean", offsetof(struct odb_compared, mean[0])},
                    {"golden_mean_base", offsetof(struct odb_compared, mean[1])}};

static double print_golden_value(const struct odb_compared *row, size_t i)
{
    return *(const double *)(const void *)((const char *)row + print_golden[i].offset);
}

/* --- table ------------------------------------------------------------------------------------ */

/* C's libraries print the sign of NaN, which means nothing. */
static void print_real(char *cell, double v, int digits)
{
    if (v != v)
        snprintf(cell, PRINT_CELL, "nan");
    else
        snprintf(cell, PRINT_CELL, "%.*g", digits, v);
}

/* A number as a reader wants it; "-" where there is none. */
static void print_cell(char *cell, const struct odb_compared *row, size_t measure)
{
    double v;
    if (!odb_measure_value(&row->m, measure, false, &v))
        snprintf(cell, PRINT_CELL, "-");
    else if (odb_measure_type(measure) == ODB_MEASURE_REAL)
        print_real(cell, v, fabs(v) > 0.9 && fabs(v) <= 1 ? 9 : 3); /* a cosine, a share */
    else
        snprintf(cell, PRINT_CELL, "%.0f", v);
    if (!strcmp(odb_measure_name(measure, NULL), "differing") && strcmp(cell, "-") != 0) {
        size_t n = strlen(cell);
        snprintf(cell + n, PRINT_CELL - n, "/%zu", row->m.m.count);
    }
}

static void print_golden_cell(char *cell, const struct odb_compared *row, size_t i)
{
    snprintf(cell, PRINT_CELL, "-");
    if (row->golden)
        print_real(cell, print_golden_value(row, i), 3);
}

static size_t print_columns(const struct odb_comparison *c)
{
    return c->n_columns + (c->golden ? ODB_COUNT(print_golden) : 0);
}

static const char *print_heading(const struct odb_comparison *c, size_t k)
{
    return k < c->n_columns ? odb_measure_name(c->column[k], NULL)
                            : print_golden[k - c->n_columns].name;
}

static void print_any_cell(char *cell, const struct odb_comparison *c,
                           const struct odb_compared *row, size_t k)
{
    if (k < c->n_columns)
        print_cell(cell, row, c->column[k]);
    else
        print_golden_cell(cell, row, k - c->n_columns);
}

/* Columns as wide as what stands in them; a name that is longer than most moves its own line. */
static void print_measure_widths(const struct odb_comparison *c, int *width, int *verdict,
                                 int *name)
{
    char cell[PRINT_CELL];
    *verdict = (int)strlen("verdict");
    *name = (int)strlen("value");
    for (size_t k = 0; k < print_columns(c); k++)
        width[k] = (int)strlen(print_heading(c, k));
    for (size_t i = 0; i < c->rows.n; i++) {
        size_t n = strlen(c->rows.items[i].name);
        *verdict = ODB_MAX(*verdict, (int)strlen(odb_verdict_name(c->rows.items[i].verdict)));
        *name = ODB_MAX(*name, (int)ODB_MIN(n, (size_t)PRINT_NAME_MAX));
        for (size_t k = 0; k < print_columns(c); k++) {
            print_any_cell(cell, c, &c->rows.items[i], k);
            width[k] = ODB_MAX(width[k], (int)strlen(cell));
        }
    }
}

static void print_row(const struct odb_comparison *c, const struct odb_compared *row,
                      const int *width, int verdict, int name, struct odb_buf *out)
{
    bool pair = row->type[0] && row->type[1] && odb_measure_comparable(&row->m);
    size_t begin = out->len;
    char cell[PRINT_CELL];
    odb_buf_printf(out, "%-*s  ", verdict, odb_verdict_name(row->verdict));
    size_t at = out->len;
    odb_buf_put_shown(out, row->name);
    int shown = (int)(out->len - at);
    if (pair && print_columns(c))
        odb_buf_printf(out, "%*s", ODB_MAX(name - shown, 0), "");
    for (size_t k = 0; pair && k < print_columns(c); k++) {
        print_any_cell(cell, c, row, k);
        odb_buf_printf(out, "  %*s", width[k], cell);
    }
    if (pair && *row->worst)
        odb_buf_printf(out, "  %s", row->worst);
    while (out->len > begin && out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
    odb_buf_putc(out, '\n');
    if (row->verdict != ODB_VERDICT_PASS && *row->reason) {
        odb_buf_printf(out, "%*s", verdict + 2, "");
        odb_buf_put_shown(out, row->reason);
        odb_buf_putc(out, '\n');
    }
}

static void print_table(const struct odb_comparison *c, struct odb_buf *out)
{
    int verdict, name, *width = odb_new_n(int, print_columns(c) + 1);
    print_measure_widths(c, width, &verdict, &name);
    odb_buf_printf(out, "%-*s  %-*s", verdict, "verdict", name, "value");
    for (size_t k = 0; k < print_columns(c); k++)
        odb_buf_printf(out, "  %*s", width[k], print_heading(c, k));
    odb_buf_puts(out, "  worst at\n");
    for (size_t i = 0; i < c->rows.n; i++)
        print_row(c, &c->rows.items[i], width, verdict, name, out);
    odb_buf_printf(out, "%zu passed, %zu failed", c->passed, c->failed);
    if (c->alone)
        odb_buf_printf(out, ", %zu on one side alone", c->alone);
    odb_buf_printf(out, " under %s\n", c->under);
    free(width);
}

/* --- for programs ----------------------------------------------------------------------------- */

static void print_tsv(const struct odb_comparison *c, struct odb_buf *out)
{
    odb_buf_puts(out, "verdict\tvalue\tevaluated\tbase\tworst");
    for (size_t k = 0; k < print_columns(c); k++)
        odb_buf_printf(out, "\t%s", print_heading(c, k));
    odb_buf_puts(out, "\treason\n");
    for (size_t i = 0; i < c->rows.n; i++) {
        const struct odb_compared *row = &c->rows.items[i];
        odb_buf_printf(out, "%s\t", odb_verdict_name(row->verdict));
        odb_buf_put_shown(out, row->name);
        odb_buf_printf(out, "\t%s\t%s\t%s", row->type[0] ? row->type[0] : "",
                       row->type[1] ? row->type[1] : "", row->worst);
        for (size_t k = 0; k < print_columns(c); k++) {
            char number[ODB_PYFLOAT_TEXT];
            double v = 0;
            bool golden = k >= c->n_columns;
            bool had = golden ? row->golden : odb_measure_value(&row->m, c->column[k], false, &v);
            if (golden)
                v = print_golden_value(row, k - c->n_columns);
            odb_buf_putc(out, '\t');
            if (had && !golden && odb_measure_type(c->column[k]) != ODB_MEASURE_REAL)
                odb_buf_printf(out, "%.0f", v);
            else if (had)
                odb_buf_puts(out, odb_pyfloat(v, number, sizeof number));
        }
        odb_buf_putc(out, '\t');
        odb_buf_put_shown(out, row->reason);
        odb_buf_putc(out, '\n');
    }
}

static json_t *print_number(const struct odb_compared *row, size_t i)
{
    double v;
    if (!odb_measure_value(&row->m, i, false, &v))
        return json_null();
    return odb_measure_type(i) == ODB_MEASURE_REAL    ? odb_json_real(v)
           : odb_measure_type(i) == ODB_MEASURE_COUNT ? json_integer((json_int_t)v)
                                                      : json_boolean(v != 0);
}

/* An integer that no double holds as one, where JSON has room for it. */
static json_t *print_element(long double v)
{
    bool exact =
        (long double)(double)v != v && v >= (long double)INT64_MIN && v <= (long double)INT64_MAX;
    return exact ? json_integer((json_int_t)v) : odb_json_real((double)v);
}

static json_t *print_pair(const struct odb_comparison *c, const struct odb_compared *row)
{
    json_t *object = json_object();
    bool worst = *row->worst != '\0';
    json_object_set_new(object, "name", odb_json_text(row->name));
    json_object_set_new(object, "verdict", odb_json_text(odb_verdict_name(row->verdict)));
    json_object_set_new(object, "reason", odb_json_text(row->reason));
    json_object_set_new(object, "evaluated", odb_json_text(row->type[0]));
    json_object_set_new(object, "base", odb_json_text(row->type[1]));
    json_object_set_new(object, "worst", worst ? odb_json_text(row->worst) : json_null());
    json_object_set_new(object, "worst_evaluated",
                        worst ? print_element(row->m.m.worst_e) : json_null());
    json_object_set_new(object, "worst_base",
                        worst ? print_element(row->m.m.worst_b) : json_null());
    for (size_t k = 0; k < c->n_columns; k++)
        json_object_set_new(object, odb_measure_name(c->column[k], NULL),
                            print_number(row, c->column[k]));
    for (size_t k = 0; c->golden && k < ODB_COUNT(print_golden); k++)
        json_object_set_new(object, print_golden[k].name,
                            row->golden ? odb_json_real(print_golden_value(row, k)) : json_null());
    return object;
}

static void print_json(const struct odb_comparison *c, struct odb_buf *out)
{
    json_t *pairs = json_array();
    for (size_t i = 0; i < c->rows.n; i++)
        json_array_append_new(pairs, print_pair(c, &c->rows.items[i]));
    json_t *json =
        json_pack("{ss,sI,sI,sI,so}", "tolerance", c->under, "passed", (json_int_t)c->passed,
                  "failed", (json_int_t)c->failed, "alone", (json_int_t)c->alone, "pairs", pairs);
    odb_call__json_chosen(c->call, json);
    odb_json_put_exact(json, out);
}

void odb_comparison_put(const struct odb_comparison *c, struct odb_buf *out)
{
    (c->json ? print_json : c->tsv ? print_tsv : print_table)(c, out);
}
