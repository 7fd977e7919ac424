/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What several culprits have in common, and the other nodes of their operator have not.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "model/model.h"
#include "model/text/model_text.h"
#include "report/report.h"

/* The values of one attribute: of culprits, and of the other nodes of the operator. */
struct alike_side {
    char *text; /* owned: of the first of them; NULL: there is none */
    bool same;  /* all have it */
    size_t n;
};

static bool alike_is_culprit(const struct odb_report *report, int node)
{
    for (size_t i = 0; i < report->culprits.n; i++)
        if (report->culprits.items[i].node == node)
            return true;
    return false;
}

static bool alike_same_op(const struct odb_node *a, const struct odb_node *b)
{
    return !strcmp(a->op_type, b->op_type) && !strcmp(a->domain, b->domain);
}

/* Whether all culprits are single nodes of one operator. */
static bool alike_operator(const struct odb_report *report)
{
    const struct odb_node *nodes = report->model->graph->nodes;
    const struct odb_culprit *first = report->culprits.items;
    for (size_t i = 0; i < report->culprits.n; i++) {
        const struct odb_culprit *c = &report->culprits.items[i];
        if (odb_culprit_is_region(c) || c->group.n ||
            !alike_same_op(&nodes[c->node], &nodes[first->node]))
            return false;
    }
    return report->culprits.n > 1;
}

/* False: some node of the operator does not say what it has. */
static bool alike_compare(const struct odb_report *report, const struct odb_node *like,
                          const char *attr, struct alike_side sides[2])
{
    const struct odb_graph *graph = report->model->graph;
    bool all = true;
    for (size_t i = 0; i < graph->n_nodes && all; i++) {
        const struct odb_node *node = &graph->nodes[i];
        struct odb_buf text = ODB_BUF_INIT;
        if (!alike_same_op(node, like))
            continue;
        const struct odb_attr *own = odb_attrs_find(&node->attrs, attr);
        struct alike_side *side = &sides[!alike_is_culprit(report, (int)i)];
        all = own != NULL;
        if (own)
            odb_attr_text(own, &text);
        side->same = side->n ? side->same && !strcmp(side->text, odb_buf_text(&text)) : true;
        if (!side->n++)
            side->text = odb_xstrdup(odb_buf_text(&text));
        odb_buf_dispose(&text);
    }
    return all;
}

/* Whether no culprit has what all the others have, or no other what all culprits have. */
static bool alike_parted(const struct odb_report *report, const struct odb_node *like,
                         const char *attr, const char *text, bool culprits)
{
    const struct odb_graph *graph = report->model->graph;
    bool parted = true;
    for (size_t i = 0; i < graph->n_nodes && parted; i++) {
        const struct odb_node *node = &graph->nodes[i];
        struct odb_buf own = ODB_BUF_INIT;
        if (!alike_same_op(node, like) || alike_is_culprit(report, (int)i) != culprits)
            continue;
        odb_attr_text(odb_attrs_find(&node->attrs, attr), &own);
        parted = strcmp(odb_buf_text(&own), text) != 0;
        odb_buf_dispose(&own);
    }
    return parted;
}

/* An attribute whose value parts culprits from the others. */
static bool alike_put(const struct odb_report *report, const struct odb_node *like,
                      const char *attr, struct odb_buf *out)
{
    struct alike_side sides[2] = {{0}};
    bool says = alike_compare(report, like, attr, sides) && sides[1].n;
    if (says && sides[0].same && alike_parted(report, like, attr, sides[0].text, false))
        odb_buf_printf(out, " with %s = %s, which no other has", attr, sides[0].text);
    else if (says && sides[1].same && alike_parted(report, like, attr, sides[1].text, true))
        odb_buf_printf(out, " with %s other than %s, which all others have", attr, sides[1].text);
    else
        says = false;
    free(sides[0].text);
    free(sides[1].text);
    return says;
}

void odb_report_put_alike(const struct odb_report *report, struct odb_buf *out)
{
    if (!alike_operator(report))
        return;
    const struct odb_node *like = &report->model->graph->nodes[report->culprits.items[0].node];
    struct odb_buf what = ODB_BUF_INIT;
    for (size_t i = 0; i < like->attrs.n; i++)
        if (!what.len)
            alike_put(report, like, like->attrs.items[i].name, &what);
    if (what.len)
        odb_buf_printf(out, "all %zu culprits are %s%s", report->culprits.n, like->op_type,
                       odb_buf_text(&what));
    odb_buf_dispose(&what);
}
