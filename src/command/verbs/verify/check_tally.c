/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A case is counted for each operator in its model. Which of several is to blame is not known; but
 * an operator that is broken has the largest share of failures, and therefore stands on top.
 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "command/verbs/verify/check_int.h"
#include "report/json.h"

enum { TALLY_NAME_MAX = 40 };

static struct check_operator *tally_row(struct check_tally *tally, const char *name)
{
    size_t at;
    if (!tally->by_name)
        tally->by_name = odb_map_new();
    if (!odb_map_get(tally->by_name, name, &at)) {
        at = tally->rows.n;
        odb_map_set(tally->by_name, name, at);
        odb_push(&tally->rows, (struct check_operator){.name = odb_xstrdup(name)});
    }
    return &tally->rows.items[at];
}

void check_tally__add(struct check_tally *tally, const struct check_result *result,
                      const char *names, const char *where)
{
    const char *name = result->names_size ? names + result->names_at : NULL;
    for (size_t at = 0; at < result->names_size; at += strlen(name + at) + 1) {
        struct check_operator *row = tally_row(tally, name + at);
        row->n[result->outcome]++;
        if (!result->measured || (row->measured && !(result->error > row->error)))
            continue;
        row->measured = true;
        row->error = result->error;
        row->where = where;
    }
}

static size_t tally_judged(const struct check_operator *row)
{
    return row->n[CHECK_PASSED] + row->n[CHECK_FAILED] + row->n[CHECK_UNSUPPORTED];
}

static double tally_share(const struct check_operator *row)
{
    return row->n[CHECK_FAILED] ? (double)row->n[CHECK_FAILED] / (double)tally_judged(row) : 0;
}

static int tally_by_failures(const void *a, const void *b)
{
    const struct check_operator *x = a, *y = b;
    double share = tally_share(y) - tally_share(x);
    bool refused[] = {x->n[CHECK_UNSUPPORTED] > 0, y->n[CHECK_UNSUPPORTED] > 0};
    if (share != 0)
        return share > 0 ? 1 : -1;
    if (x->n[CHECK_FAILED] != y->n[CHECK_FAILED])
        return x->n[CHECK_FAILED] < y->n[CHECK_FAILED] ? 1 : -1;
    if (refused[0] != refused[1])
        return refused[0] ? -1 : 1;
    return strcmp(x->name, y->name);
}

void check_tally__sort(struct check_tally *tally)
{
    if (tally->rows.n)
        qsort(tally->rows.items, tally->rows.n, sizeof *tally->rows.items, tally_by_failures);
    odb_map_free(tally->by_name);
    tally->by_name = NULL;
}

/* The last folder of a path. */
static const char *tally_last(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void check_tally__print(const struct check_tally *tally, struct odb_buf *out)
{
    int width = (int)strlen("operator");
    struct odb_buf name = ODB_BUF_INIT;
    for (size_t i = 0; i < tally->rows.n; i++)
        width = ODB_MAX(width, (int)ODB_MIN(strlen(tally->rows.items[i].name), TALLY_NAME_MAX));
    bool head = false;
    for (size_t i = 0; i < tally->rows.n; i++) {
        const struct check_operator *row = &tally->rows.items[i];
        if (!tally_judged(row))
            continue;
        if (!head)
            odb_buf_printf(out, "%-*s  passed  failed  unsupported  worst error\n", width,
                           "operator");
        head = true;
        odb_buf_clear(&name);
        odb_buf_put_shown(&name, row->name);
        odb_buf_printf(out, "%-*s  %6zu  %6zu  %11zu  ", width, odb_buf_text(&name),
                       row->n[CHECK_PASSED], row->n[CHECK_FAILED], row->n[CHECK_UNSUPPORTED]);
        if (row->measured)
            odb_buf_printf(out, "%11.3g", row->error);
        else
            odb_buf_printf(out, "%11s", "-");
        if (row->measured && row->error > 0) {
            odb_buf_puts(out, "  ");
            odb_buf_put_shown(out, tally_last(row->where));
        }
        odb_buf_putc(out, '\n');
    }
    odb_buf_dispose(&name);
}

static json_t *tally_row_json(const struct check_operator *row)
{
    const char *end = strstr(row->name, "::");
    size_t domain = end ? (size_t)(end - row->name) : 0;
    char *text = odb_xstrdup(row->name);
    text[domain] = end ? '\0' : text[domain];
    json_t *json =
        json_pack("{s:o,s:o,s:I,s:I,s:I,s:I,s:o,s:o}", "domain", odb_json_text(end ? text : ""),
                  "op_type", odb_json_text(end ? text + domain + 2 : text), "passed",
                  (json_int_t)row->n[CHECK_PASSED], "failed", (json_int_t)row->n[CHECK_FAILED],
                  "unsupported", (json_int_t)row->n[CHECK_UNSUPPORTED], "without_golden",
                  (json_int_t)row->n[CHECK_NO_GOLDEN], "worst_error",
                  row->measured ? odb_json_real(row->error) : json_null(), "worst_case",
                  odb_json_text(row->where));
    free(text);
    return json;
}

json_t *check_tally__json(const struct check_tally *tally)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < tally->rows.n; i++)
        json_array_append_new(rows, tally_row_json(&tally->rows.items[i]));
    return rows;
}

void check_tally__dispose(struct check_tally *tally)
{
    for (size_t i = 0; i < tally->rows.n; i++)
        free(tally->rows.items[i].name);
    free(tally->rows.items);
    odb_map_free(tally->by_name);
}
