/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A node alone on the target, fed with what is known: whether it fails there too, and if it does
 * not, the smallest segment that does.
 */
#include "bisect/alone/alone.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/search_case.h"
#include "run/value_report.h"

#define VERIFY_MOST 16 /* culprits that are verified one by one */

void alone_dispose(struct alone *alone, int n_out)
{
    for (int o = 0; alone->out && o < n_out; o++)
        odb_tensor_unref(alone->out[o]);
    free(alone->out);
    free(alone->reports);
}

/* The judge's word on what a node gave alone; shown: on its first wrong output. */
static enum odb_status alone_judge(const struct search_case *c, const struct question *q,
                                   struct alone *alone, enum odb_verdict *shown,
                                   struct odb_error *err)
{
    int node = q->probe.node;
    const struct odb_node *n = &c->graph->nodes[node];
    ODB_TRY(odb_judge_node(&c->judge, node, q->probe.given, alone->out, alone->reports, err));
    for (int o = 0; o < n->n_out; o++) {
        if (n->out[o] < 0)
            continue;
        const struct odb_value_report *report = &alone->reports[n->out[o]];
        alone->judged |= report->culprit || report->local_error.known || report->local_noise.known;
        alone->guilty |= report->culprit;
        odb_seen_note(
            &q->prober->now->compared,
            &(struct odb_seen){.value = n->out[o],
                               .verdict = report->culprit ? ODB_VERDICT_FAIL : ODB_VERDICT_PASS,
                               .error = report->local_error,
                               .noise = report->local_noise,
                               .local = true});
    }
    if (alone->guilty)
        *shown = ODB_VERDICT_FAIL;
    return ODB_OK;
}

/* Asks q, which is freed: a node alone on given inputs; and judges it. */
enum odb_status alone_run(const struct search_case *c, struct findings *f, struct question *q,
                          struct alone *alone, struct odb_error *err)
{
    int node = q->probe.node;
    const struct odb_node *n = &c->graph->nodes[node];
    *alone = (struct alone){.tried = true,
                            .out = odb_new_n(struct odb_tensor *, n->n_out),
                            .reports = odb_new_n(struct odb_value_report, c->graph->n_values)};
    memcpy(alone->reports, f->values,
           c->graph->n_values * sizeof *alone->reports); /* errors of the inputs, for the gain */
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0)
            alone->reports[n->out[o]] = (struct odb_value_report){0};
    enum odb_status status = odb_probe_run(q->prober, &q->probe, err);
    enum odb_verdict shown = odb_probe_verdict(status);
    for (size_t i = 0; i < q->probe.n_values && status == ODB_OK; i++)
        alone->out[c->graph->values[q->list[i]].slot] = odb_tensor_ref(q->outputs[i]);
    if (status == ODB_OK)
        status = alone_judge(c, q, alone, &shown, err);
    odb_probe_tell(q->prober, &q->probe, shown, 0);
    question_free(q);
    return status;
}

/* --- the smallest segment --------------------------------------------------------------------- */

bool alone_possible(const struct search_case *c, int node)
{
    return case_output_of(c, node) >= 0 && !c->trace->why[node] &&
           !odb_cpu_random(c->trace->cpu, node) && !(c->beyond && c->beyond[node]);
}
