/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/alone/carried.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "judge/blame.h"
#include "judge/segment.h"
#include "report/report.h"

/* What was read, and what weights alone make: [n_values] refs, the caller's. */
static struct odb_tensor **carried_given(const struct search_case *c, const struct findings *f)
{
    struct odb_tensor **given = odb_new_n(struct odb_tensor *, c->graph->n_values);
    bool *derived = odb_new_n(bool, c->graph->n_values);
    for (size_t v = 0; v < c->graph->n_values; v++)
        given[v] = f->shown[v] ? odb_tensor_ref(f->shown[v]) : NULL;
    odb_segment_derive(c->trace, given, derived);
    free(derived);
    return given;
}

enum carried carried_replay(const struct search_case *c, const struct findings *f, int node)
{
    const struct odb_node *n = &c->graph->nodes[node];
    struct odb_tensor **given = carried_given(c, f);
    struct odb_value_report *reports = odb_new_n(struct odb_value_report, c->graph->n_values);
    struct odb_tensor **out = odb_new_n(struct odb_tensor *, n->n_out); /* borrowed */
    struct odb_error ignored = ODB_ERROR_INIT;
    bool known = false, wrong = false;
    for (int o = 0; o < n->n_out; o++)
        out[o] = n->out[o] < 0 ? NULL : f->shown[n->out[o]];
    bool judged = odb_judge_node(&c->judge, node, given, out, reports, &ignored) == ODB_OK;
    for (int o = 0; o < n->n_out && judged; o++) {
        if (!out[o])
            continue;
        const struct odb_value_report *report = &reports[n->out[o]];
        known |= report->local_error.known;
        wrong |= report->culprit;
    }
    for (size_t v = 0; v < c->graph->n_values; v++)
        odb_tensor_unref(given[v]);
    free(given);
    free(out);
    free(reports);
    return !judged || !known ? CARRIED_UNKNOWN : wrong ? CARRIED_WRONG : CARRIED_RIGHT;
}

bool carried_none(const struct search_case *c, const struct findings *f, int value)
{
    const struct odb_value_report *report = &f->values[value];
    const struct odb_tensor *t = f->shown[value], *golden = c->trace->golden[value];
    if (report->verdict != ODB_VERDICT_PASS || report->excused)
        return false;
    if (!t || !golden || t->kind != ODB_TENSOR || !odb_dtype_is_float(t->dtype))
        return true;
    double most = sqrt(odb_dtype_info(t->dtype)->eps);
    for (size_t i = 0; i < t->count; i++) {
        double y = odb_tensor_f64(t, i), g = odb_tensor_f64(golden, i);
        if (y != g && isfinite(g) && !(fabs(y - g) <= most * fabs(g)))
            return false;
    }
    return true;
}

void carried_from(const struct search_case *c, struct findings *f, int node, bool *left)
{
    const struct odb_graph *graph = c->graph;
    char label[200];
    size_t n_left = 0;
    memset(left, 0, graph->n_nodes * sizeof *left);
    left[node] = true;
    for (int n = node; n >= 0; n--)
        for (size_t i = 0; left[n] && i < odb_node_n_reads(&graph->nodes[n]); i++) {
            int v = odb_node_reads(&graph->nodes[n], i);
            if (v < 0 || c->drawn[v] || graph->values[v].producer == ODB_NO_NODE ||
                carried_none(c, f, v))
                continue;
            n_left += !left[graph->values[v].producer];
            left[graph->values[v].producer] = true;
        }
    left[node] = !n_left;
    findings_note(f,
                  "%s is right about what it was fed, as it was read: the error came in before, "
                  "and what was read there holds it within tolerance",
                  odb_node_label(&graph->nodes[node], label, sizeof label));
}
