/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/table/command.h"
#include "command/table/table.h"
#include "command/value/names.h"
#include "command/value/search_options.h"
#include "command/verbs/verify/verb_compare.h"
#include "compare/by_value.h"
#include "compare/numpy.h"
#include "judge/half_step.h"

/* --- one pair --------------------------------------------------------------------------------- */

/* "[0,3]"; of the items of a container, "2[0,3]". */
static char *compare_place(const struct odb_metrics *m, const struct odb_tensor *base)
{
    struct odb_buf out = ODB_BUF_INIT;
    const struct odb_tensor *t = base;
    size_t at = m->worst;
    if (at == ODB_NOWHERE || !t)
        return odb_xstrdup("");
    if (t->kind != ODB_TENSOR) {
        odb_buf_printf(&out, "%zu", m->item);
        t = m->item < t->n_items ? t->items[m->item] : NULL;
    }
    if (t && odb_dtype_info(t->dtype)->class_ == ODB_CLASS_COMPLEX)
        at /= 2;
    odb_buf_putc(&out, '[');
    size_t stride = t ? t->count : 0;
    for (int k = 0; t && k < t->rank; k++) {
        stride /= (size_t)t->dims[k];
        odb_buf_printf(&out, "%s%zu", k ? "," : "", at / stride);
        at %= stride;
    }
    odb_buf_putc(&out, ']');
    return odb_buf_take(&out);
}

static char *compare_type(const struct odb_tensor *t)
{
    char text[320];
    return t ? odb_xstrdup(odb_call__type_text(t, text, sizeof text)) : NULL;
}

/* dump_tools' question: is the evaluated value so many times farther from golden than the base. Of
 * strings, which no number tells apart: does it differ from golden in more elements. */
static void compare_three_way(struct odb_compared *row, const struct odb_tensor *golden, double tag,
                              struct odb_buf *reason)
{
    const struct odb_tensor *sides[2] = {row->m.evaluated, row->m.base};
    size_t differing[2];
    row->golden = true;
    for (int side = 0; side < 2; side++) {
        struct odb_metrics m;
        odb_compare(&m, sides[side], golden, row->m.options.th);
        row->golden &= !m.missing && !m.shape_mismatch && !m.dtype_mismatch;
        /* NaN and Inf that golden has at the same places, as masks have, are no distance. */
        bool same = odb_verdict_pattern(&m, NULL, 0) == ODB_VERDICT_PASS;
        row->max[side] = same ? m.finite_diff3_max : m.diff3_max;
        row->mean[side] = same ? m.finite_diff3_mean : m.diff3_mean;
        differing[side] = m.differing;
    }
    bool held = row->golden;
    row->golden &= row->m.numbers;
    bool close = row->golden ? odb_three_way(row->max[0], row->max[1], tag) &&
                                   odb_three_way(row->mean[0], row->mean[1], tag)
                             : held && differing[0] <= differing[1];
    if (close || row->verdict != ODB_VERDICT_PASS)
        return;
    row->verdict = held ? ODB_VERDICT_FAIL : ODB_VERDICT_UNTESTABLE;
    odb_buf_clear(reason);
    if (held && !row->golden)
        odb_buf_printf(reason, "%zu of %zu elements differ from golden, of the base %zu",
                       differing[0], row->m.m.count, differing[1]);
    else if (held)
        odb_buf_printf(reason,
                       "diff3 from golden: max %.6g, of the base %.6g; mean %.6g, of the base "
                       "%.6g; at most %g times as much is wanted",
                       row->max[0], row->max[1], row->mean[0], row->mean[1], tag);
    else
        odb_buf_puts(reason, golden ? "golden has another shape or type" : "golden lacks it");
}

static void compare_mismatch(const struct odb_compared *row, struct odb_buf *reason)
{
    if ((row->m.m.shape_mismatch || row->m.m.dtype_mismatch) && row->type[0] && row->type[1])
        odb_buf_printf(reason, ": %s, the base has %s", row->type[0], row->type[1]);
}

/* count: which of the comparison's it adds to. */
static const struct odb_compared *compare_add(struct odb_comparison *comparison,
                                              struct odb_compared row, size_t *count,
                                              struct odb_buf *reason)
{
    *count += 1;
    row.reason = odb_buf_take(reason);
    if (!row.reason)
        row.reason = odb_xstrdup("");
    row.m.evaluated = row.m.base = NULL;
    odb_push(&comparison->rows, row);
    return &comparison->rows.items[comparison->rows.n - 1];
}

/* The evaluated side as it is compared: by value, if it is to, and what it may have been before it
 * was stored as integers. Owned by the caller. */
static struct odb_tensor *compare_taken(const struct odb_comparison *comparison,
                                        const struct odb_tensor *e, const struct odb_tensor *b)
{
    struct odb_tensor *same = NULL, *near = NULL;
    if (!e || !b)
        return odb_tensor_ref(e);
    if (!comparison->by_value || odb_by_value(&same, e, b->dtype, NULL) != ODB_OK)
        same = odb_tensor_ref(e);
    if (odb_half_step(&near, same, b, NULL) != ODB_OK)
        return same;
    odb_tensor_unref(same);
    return near;
}

/* What --types exact asks for besides the rules. */
static void compare_exact(const struct odb_comparison *comparison, struct odb_compared *row,
                          struct odb_buf *reason)
{
    const struct odb_tensor *e = row->m.evaluated, *b = row->m.base;
    if (!comparison->exact || !e || !b || e->dtype == b->dtype || odb_verdict_misfits(row->verdict))
        return;
    row->verdict = ODB_VERDICT_DTYPE;
    odb_buf_clear(reason);
    odb_buf_printf(reason, "the element types differ: %s, the base has %s", row->type[0],
                   row->type[1]);
}

const struct odb_compared *odb_comparison_add(struct odb_comparison *comparison, const char *name,
                                              const struct odb_tensor *e,
                                              const struct odb_tensor *b,
                                              const struct odb_tensor *golden)
{
    struct odb_buf reason = ODB_BUF_INIT;
    struct odb_tensor *taken = compare_taken(comparison, e, b);
    struct odb_compared row = {
        .name = odb_xstrdup(name),
        .type = {compare_type(e), compare_type(b)},
        .m = {.evaluated = taken, .base = b, .options = comparison->options}};
    row.m.options.th = odb_rules_th(&comparison->rules, name, b);
    odb_measure(&row.m, comparison->need);
    row.verdict = odb_rules_judge(&comparison->rules, name, &row.m, &reason);
    if (comparison->golden)
        compare_three_way(&row, golden, comparison->tag, &reason);
    compare_mismatch(&row, &reason);
    compare_exact(comparison, &row, &reason);
    odb_tensor_unref(taken);
    row.worst = compare_place(&row.m.m, b);
    bool pass = row.verdict == ODB_VERDICT_PASS;
    return compare_add(comparison, row, pass ? &comparison->passed : &comparison->failed, &reason);
}

static void compare_add_none(struct odb_comparison *comparison, const char *name, const char *why,
                             size_t *count)
{
    struct odb_buf reason = ODB_BUF_INIT;
    odb_buf_puts(&reason, why);
    compare_add(comparison,
                (struct odb_compared){.name = odb_xstrdup(name),
                                      .verdict = ODB_VERDICT_UNTESTABLE,
                                      .m = {.m = {.missing = true}},
                                      .worst = odb_xstrdup("")},
                count, &reason);
}

void odb_comparison_add_alone(struct odb_comparison *comparison, const char *name, const char *why)
{
    compare_add_none(comparison, name, why, &comparison->alone);
}

void odb_comparison_withdraw(struct odb_comparison *comparison, size_t row, const char *why)
{
    struct odb_compared *pair = &comparison->rows.items[row];
    if (pair->verdict == ODB_VERDICT_UNTESTABLE)
        return;
    *(pair->verdict == ODB_VERDICT_PASS ? &comparison->passed : &comparison->failed) -= 1;
    comparison->alone++;
    pair->verdict = ODB_VERDICT_UNTESTABLE;
    pair->m.m = (struct odb_metrics){.missing = true};
    free(pair->reason);
    pair->reason = odb_xstrdup(why);
    pair->worst[0] = '\0';
}

enum odb_status odb_comparison_add_broken(struct odb_comparison *comparison, const char *name,
                                          enum odb_status status, struct odb_error *why,
                                          struct odb_error *err)
{
    char text[1900];
    if (status == ODB_E_NOMEM || status == ODB_CANCELLED) {
        *err = *why;
        return status;
    }
    compare_add_none(comparison, name, odb_error_text(why, text, sizeof text), &comparison->failed);
    comparison->broken++;
    return ODB_OK;
}

void odb_comparison_warn(const struct odb_comparison *comparison, struct odb_command_call *call)
{
    struct odb_buf names = ODB_BUF_INIT;
    odb_rules_put_unmet(&comparison->rules, &names);
    if (names.len) {
        char *text = odb_xasprintf("--tolerances: no pair fits %s", odb_buf_text(&names));
        odb_call__warn(call, text);
        free(text);
    }
    odb_buf_dispose(&names);
}

/* --- options ---------------------------------------------------------------------------------- */

/* --tol and --check hold together; otherwise is for where neither is given, nor golden. */
static enum odb_status compare_rules(struct odb_comparison *comparison,
                                     const struct odb_command_call *call, const char *otherwise,
                                     struct odb_error *err)
{
    const enum odb_option_id options[] = {ODB_OPTION_TOL, ODB_OPTION_CHECK};
    struct odb_buf text = ODB_BUF_INIT;
    for (size_t i = 0; i < ODB_COUNT(options); i++) {
        const char *given = odb_call_option(call, options[i]);
        if (given && odb_rules_add(&comparison->rules, given, err) != ODB_OK)
            return odb_error_at(err, "--%s", odb_option_row(options[i])->name);
    }
    const char *path = odb_call_option(call, ODB_OPTION_TOLERANCES);
    if (path)
        ODB_TRY(odb_rules_read(&comparison->rules, path, err));
    if (!comparison->rules.all.n && !comparison->golden)
        ODB_TRY(odb_rules_add(&comparison->rules, otherwise, err));
    odb_rules_put(&comparison->rules, &text);
    if (comparison->golden)
        odb_buf_printf(&text, "%sdiff3 from golden at most %g times the base's",
                       text.len ? " and " : "", comparison->tag);
    comparison->under = odb_buf_take(&text);
    return ODB_OK;
}

static enum odb_status compare_unknown(const char *word, size_t n, struct odb_error *err)
{
    struct odb_buf names = ODB_BUF_INIT;
    for (size_t i = 0; odb_measure_name(i, NULL); i++)
        odb_buf_printf(&names, "%s%s", i ? ", " : "", odb_measure_name(i, NULL));
    odb_fail(err, ODB_E_USAGE, "no column is called '%.*s'", (int)ODB_MIN(n, (size_t)40), word);
    odb_error_remedy(err, "there are all, %s", odb_buf_text(&names));
    odb_buf_dispose(&names);
    return odb_error_at(err, "--columns");
}

/* Names between commas, or "all". */
static enum odb_status compare_columns(struct odb_comparison *comparison, const char *names,
                                       struct odb_error *err)
{
    size_t total = 0;
    bool all = strcmp(names, "all") == 0;
    while (odb_measure_name(total, NULL))
        total++;
    comparison->column = odb_new_n(size_t, total + strlen(names) + 1);
    for (size_t i = 0; i < total && all; i++)
        comparison->column[comparison->n_columns++] = i;
    for (const char *p = names; *p && !all; p += *p == ',') {
        size_t n = strcspn(p, ",");
        int i = odb_measure_find(p, n);
        if (i < 0)
            return compare_unknown(p, n, err);
        comparison->column[comparison->n_columns++] = (size_t)i;
        p += n;
    }
    for (size_t k = 0; k < comparison->n_columns; k++)
        comparison->need |= odb_measure_needs(comparison->column[k]);
    return ODB_OK;
}

enum odb_status odb_comparison_begin(struct odb_comparison *comparison,
                                     const struct odb_command_call *call, bool golden,
                                     const char *otherwise, struct odb_error *err)
{
    const char *columns = odb_call_option(call, ODB_OPTION_COLUMNS);
    const char *types = odb_call_option(call, ODB_OPTION_TYPES);
    const char *format = odb_call_option(call, ODB_OPTION_FORMAT);
    if (!format)
        format = odb_call_option(call, ODB_OPTION_COMPARE_FORMAT);
    bool json = odb_call_has(call, ODB_OPTION_JSON) || (format && !strcmp(format, "json"));
    bool tsv = !json && format && !strcmp(format, "tsv");
    *comparison = (struct odb_comparison){.call = call, .golden = golden, .json = json, .tsv = tsv};
    comparison->exact = types && !strcmp(types, "exact");
    comparison->by_value = types && !strcmp(types, "value");
    comparison->options.top_k = (size_t)odb_call_int(call, ODB_OPTION_TOP_K, 5);
    comparison->options.axis_given = odb_call_has(call, ODB_OPTION_AXIS);
    comparison->options.axis = (int)odb_call_int(call, ODB_OPTION_AXIS, 0);
    if (!columns)
        columns = json || tsv ? "all" : ODB_COMPARISON_COLUMNS;
    comparison->tag = 10;
    ODB_TRY(odb_call__real(call, ODB_OPTION_INPUT_TAG, &comparison->tag, err));
    ODB_TRY(compare_columns(comparison, columns, err));
    return compare_rules(comparison, call, otherwise, err);
}
