/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the report says of a model that the target does not take whole.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "report/json.h"
#include "report/report.h"

#define PIECES_NAMED 5 /* nodes of an operator that are listed one by one */

static const struct odb_node *pieces_node(const struct odb_report *report, size_t i)
{
    return &report->model->graph->nodes[report->pieces.refused.items[i].node];
}

/* Whether two are nodes of one operator, and both run alone or neither. */
static bool pieces_same(const struct odb_report *report, size_t i, size_t k)
{
    const struct odb_node *a = pieces_node(report, i), *b = pieces_node(report, k);
    const struct odb_refused *refused = report->pieces.refused.items;
    return !strcmp(a->op_type, b->op_type) && !strcmp(a->domain, b->domain) &&
           (refused[i].how == ODB_REFUSED_TOGETHER) == (refused[k].how == ODB_REFUSED_TOGETHER);
}

/* The next behind i that is the first of its operator; -1 for the first of all. */
static size_t pieces_next(const struct odb_report *report, size_t i)
{
    for (bool seen = true; seen && ++i < report->pieces.refused.n;) {
        seen = false;
        for (size_t k = 0; k < i; k++)
            seen |= pieces_same(report, i, k);
    }
    return i;
}

static int pieces_by_index(const void *x, const void *y)
{
    return *(const int *)x - *(const int *)y;
}

/* Nodes like this one, ascending: n of them, the caller's; and how many the target was asked for.
 */
static int *pieces_list(const struct odb_report *report, size_t first, size_t *n, size_t *asked)
{
    const struct odb_pieces *pieces = &report->pieces;
    int *list = odb_new_n(int, pieces->refused.n);
    *n = *asked = 0;
    for (size_t k = first; k < pieces->refused.n; k++) {
        if (!pieces_same(report, first, k))
            continue;
        list[(*n)++] = pieces->refused.items[k].node;
        *asked += pieces->refused.items[k].how != ODB_REFUSED_ALIKE;
    }
    qsort(list, *n, sizeof *list, pieces_by_index);
    return list;
}

/* "Expand (23 nodes, of which 4 were asked for: #1, #6, #11, #19, #24 and 18 more)" */
static void pieces_put_operator(const struct odb_report *report, size_t first, struct odb_buf *out)
{
    const struct odb_node *node = pieces_node(report, first);
    size_t n, asked;
    int *list = pieces_list(report, first, &n, &asked);
    if (node->domain[0]) {
        odb_buf_put_shown(out, node->domain);
        odb_buf_putc(out, '.');
    }
    odb_buf_put_shown(out, node->op_type);
    odb_buf_puts(out, " (");
    if (n > 1)
        odb_buf_printf(out, "%zu nodes", n);
    if (asked < n)
        odb_buf_printf(out, ", of which %zu were asked for", asked);
    odb_buf_puts(out, n > 1 ? ": " : "");
    for (size_t i = 0; i < n && i < PIECES_NAMED; i++)
        odb_buf_printf(out, "%s#%d", i ? ", " : "", list[i]);
    if (n > PIECES_NAMED)
        odb_buf_printf(out, " and %zu more", n - PIECES_NAMED);
    if (report->pieces.refused.items[first].how == ODB_REFUSED_TOGETHER)
        odb_buf_puts(out, n > 1 ? ", each of which runs alone" : ", which runs alone");
    odb_buf_putc(out, ')');
    free(list);
}

void odb_report_put_pieces(const struct odb_report *report, struct odb_buf *out)
{
    const struct odb_pieces *pieces = &report->pieces;
    if (!pieces->refused.n)
        return;
    odb_buf_printf(out,
                   "in pieces: %zu of %zu node%s judged, %zu fed with the reference's values, "
                   "%zu not judged; the target refuses ",
                   pieces->judged, report->model->graph->n_nodes,
                   odb_plural(report->model->graph->n_nodes), pieces->fed, pieces->left);
    for (size_t i = pieces_next(report, (size_t)-1); i < pieces->refused.n;) {
        pieces_put_operator(report, i, out);
        i = pieces_next(report, i);
        odb_buf_puts(out, i < pieces->refused.n ? ", " : "");
    }
}

json_t *odb_report_pieces_json(const struct odb_report *report)
{
    const struct odb_pieces *pieces = &report->pieces;
    if (!pieces->refused.n)
        return json_null();
    json_t *operators = json_array();
    for (size_t i = pieces_next(report, (size_t)-1); i < pieces->refused.n;
         i = pieces_next(report, i)) {
        const struct odb_node *node = pieces_node(report, i);
        bool alone = pieces->refused.items[i].how != ODB_REFUSED_TOGETHER;
        size_t n, asked;
        int *list = pieces_list(report, i, &n, &asked);
        json_t *nodes = json_array();
        for (size_t k = 0; k < n; k++)
            json_array_append_new(nodes, json_integer(list[k]));
        json_array_append_new(operators, json_pack("{s:o,s:o,s:o,s:I,s:b}", "op_type",
                                                   odb_json_text(node->op_type), "domain",
                                                   odb_json_text(node->domain), "nodes", nodes,
                                                   "asked", (json_int_t)asked, "alone", alone));
        free(list);
    }
    return json_pack("{s:I,s:I,s:I,s:o}", "judged", (json_int_t)pieces->judged, "fed",
                     (json_int_t)pieces->fed, "not_judged", (json_int_t)pieces->left, "refused",
                     operators);
}
