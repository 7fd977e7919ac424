/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a wrong condition or trip count leads to: which If and Loop go another way on the target.
 */
#include "bisect/branch_divergence.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/findings.h"
#include "report/report.h"

#define STEERED_CULPRITS 20 /* whose consequences are looked for */
#define STEERED_TOLD 4      /* of one */

/* Of one element each, and not the same. */
static bool branch_divergence_disagree(const struct odb_tensor *a, const struct odb_tensor *b)
{
    bool single = a && b && a->kind == ODB_TENSOR && b->kind == ODB_TENSOR && a->count == 1 &&
                  b->count == 1 && a->dtype == b->dtype && a->data && b->data &&
                  (a->dtype == ODB_BOOL || a->dtype == ODB_I64);
    return single && odb_tensor_i64(a, 0) != odb_tensor_i64(b, 0);
}

static void branch_divergence_put(const struct odb_tensor *t, struct odb_buf *out)
{
    if (t->dtype == ODB_BOOL)
        odb_buf_puts(out, odb_tensor_i64(t, 0) ? "true" : "false");
    else
        odb_buf_printf(out, "%lld", (long long)odb_tensor_i64(t, 0));
}

void branch_divergence_put_all(const struct search_case *c, const struct findings *f,
                               const struct odb_culprit *culprit, struct odb_buf *out)
{
    size_t said = 0;
    if (culprit - f->report->culprits.items >= STEERED_CULPRITS)
        return;
    bool *up = odb_new_n(bool, c->graph->n_nodes + 1);
    for (size_t n = (size_t)culprit->node + 1; n < c->graph->n_nodes && said < STEERED_TOLD; n++) {
        const struct odb_node *node = &c->graph->nodes[n];
        bool loop = !strcmp(node->op_type, "Loop");
        for (int i = 0; !*node->domain && i < 1 + loop && i < node->n_in; i++) {
            int v = node->in[i];
            char label[200];
            if ((!loop && strcmp(node->op_type, "If") != 0) || v < 0 || !f->given ||
                !branch_divergence_disagree(c->trace->ref[v], f->given[v]))
                continue;
            memset(up, 0, c->graph->n_nodes * sizeof *up);
            odb_graph_ancestors(c->graph, &v, 1, NULL, up);
            if (!up[culprit->node])
                continue;
            odb_buf_puts(out, "So ");
            odb_buf_put_shown(out, odb_node_label(node, label, sizeof label));
            odb_buf_printf(out, " goes another way: its %s, ",
                           loop && i == 0 ? "trip count" : "condition");
            odb_buf_put_shown(out, c->graph->values[v].name);
            odb_buf_puts(out, ", is ");
            branch_divergence_put(f->given[v], out);
            odb_buf_puts(out, " on the target and ");
            branch_divergence_put(c->trace->ref[v], out);
            odb_buf_puts(out, " on the reference. ");
            said++;
        }
    }
    free(up);
}
