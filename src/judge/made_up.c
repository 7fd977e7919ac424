/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "judge/made_up.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"

/* Hands each node's outputs the first input among what it reads; what was recorded, [n_values] or
 * NULL, ends the way. */
static void made_up_spread(int *from, const struct odb_graph *graph,
                           struct odb_tensor *const *recorded)
{
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        int input = ODB_NO_VALUE;
        for (size_t i = 0; i < odb_node_n_reads(node) && input == ODB_NO_VALUE; i++) {
            int v = odb_node_reads(node, i);
            bool ends =
                v < 0 || (recorded && recorded[v] && graph->values[v].producer != ODB_NO_NODE);
            input = ends ? ODB_NO_VALUE : from[v];
        }
        for (int o = 0; o < node->n_out; o++)
            if (node->out[o] >= 0)
                from[node->out[o]] = input;
    }
}

void odb_made_up_init(struct odb_made_up *made_up, const struct odb_graph *graph,
                      const struct odb_feeds *feeds, struct odb_tensor *const *given)
{
    *made_up = (struct odb_made_up){.graph = graph,
                                    .direct = odb_new_n(int, graph->n_values),
                                    .behind = odb_new_n(int, graph->n_values)};
    for (size_t v = 0; v < graph->n_values; v++)
        made_up->direct[v] = made_up->behind[v] = ODB_NO_VALUE;
    for (size_t i = 0; i < feeds->n; i++) {
        const struct odb_feed *feed = &feeds->items[i];
        int v = feed->value;
        if (feed->generated && (!given[v] || given[v] == feed->tensor))
            made_up->direct[v] = made_up->behind[v] = v;
    }
    made_up_spread(made_up->direct, graph, given);
    made_up_spread(made_up->behind, graph, NULL);
}

void odb_made_up_dispose(struct odb_made_up *made_up)
{
    free(made_up->direct);
    free(made_up->behind);
    *made_up = (struct odb_made_up){0};
}

bool odb_made_up_doubt(const struct odb_made_up *made_up, int value,
                       struct odb_value_report *report)
{
    int input = made_up->behind[value];
    if (input == ODB_NO_VALUE || report->verdict == ODB_VERDICT_UNTESTED)
        return false;
    if (report->culprit && made_up->direct[value] == ODB_NO_VALUE) {
        report->error = report->local_error;
        report->noise = report->local_noise;
        report->error_mean = report->inherited_error = report->gain = (struct odb_number){0};
        return true;
    }
    *report = (struct odb_value_report){.verdict = ODB_VERDICT_UNTESTABLE};
    snprintf(report->reason, sizeof report->reason,
             "the recording lacks input %.80s, which was generated here",
             made_up->graph->values[input].name);
    return true;
}

enum odb_status odb_made_up_fail(const struct odb_made_up *made_up, const char *target,
                                 struct odb_error *err)
{
    struct odb_buf names = ODB_BUF_INIT;
    size_t n = 0;
    for (size_t v = 0; v < made_up->graph->n_values; v++) {
        if (made_up->direct[v] != (int)v)
            continue;
        odb_buf_puts(&names, n++ ? ", " : "");
        odb_buf_put_shown(&names, made_up->graph->values[v].name);
    }
    odb_fail(err, ODB_E_INPUT,
             "the recording lacks input%s %.400s, and does not fit what was generated here",
             n == 1 ? "" : "s", odb_buf_text(&names));
    odb_buf_dispose(&names);
    odb_error_at(err, "%s", target);
    return odb_error_remedy(err, "record %s, or give %s by --input NAME=FILE",
                            n == 1 ? "it" : "them", n == 1 ? "it" : "them");
}
