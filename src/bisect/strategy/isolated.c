/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/strategy/isolated.h"

#include <stdlib.h>

#include "base/mem.h"
#include "bisect/alone/alone.h"
#include "bisect/evidence/reference_off.h"
#include "bisect/search_case.h"

/* One node alone on the reference's values: its numbers, its verdict, and whether it is guilty.
 * refused: what the probe came to. */
static enum odb_status isolated_ask(struct bisection *b, struct question *q,
                                    enum odb_status *refused, struct odb_error *err)
{
    int index = q->probe.node;
    const struct odb_node *node = &b->graph->nodes[index];
    struct alone alone = {0};
    struct odb_error alone_err = ODB_ERROR_INIT;
    enum odb_status had = alone_run(b, q, &alone, &alone_err);
    enum odb_status status = had == ODB_CANCELLED ? had : ODB_OK;
    int guilty = ODB_NO_VALUE;
    *refused = had;
    if (had == ODB_CANCELLED)
        *err = alone_err;
    else if (had != ODB_OK)
        question_note_failure(b, &(int){case_output_of(b, index)}, 1, had);
    for (int o = 0; o < node->n_out && had == ODB_OK && status == ODB_OK; o++) {
        int v = node->out[o];
        if (v < 0 || !alone.out[o])
            continue;
        b->report->values[v] = alone.reports[v];
        status = odb_judge_value(&b->judge, v, alone.out[o], &b->report->values[v], err);
        findings_keep(b, v, alone.out[o]);
        if (b->told && b->told[v].culprit && !odb_verdict_is_bad(b->report->values[v].verdict))
            b->report->values[v].culprit = false; /* the CPU's operator stands alone */
        findings_tell(b, v);
        if ((b->report->values[v].culprit || reference_off(b, v)) && guilty < 0)
            guilty = v;
    }
    if (guilty >= 0 && status == ODB_OK) {
        struct odb_culprit *culprit = findings_accuse(b, index, guilty, findings_kind(b, guilty));
        culprit->verified = true;
        if (reference_off(b, guilty))
            reference_blame(b, culprit);
    }
    alone_dispose(&alone, node->n_out);
    return status;
}

enum odb_status isolated_node(struct bisection *b, int node, enum odb_status *had,
                              struct odb_error *err)
{
    *had = ODB_UNSUPPORTED;
    if (!alone_possible(b, node))
        return ODB_OK;
    return isolated_ask(b, question_alone(b, &b->prober, node, b->trace->ref), had, err);
}

enum odb_status isolated_all(struct bisection *b, struct odb_error *err)
{
    struct ahead ahead = ahead_new(b);
    enum odb_status status = reference_hear(b, err), had;
    findings_step_begin(b, "isolated");
    for (size_t n = 0; n < b->graph->n_nodes && status == ODB_OK; n++) {
        for (; ahead_reaches(b, &ahead, n); ahead.next++)
            if (alone_possible(b, (int)ahead.next))
                ahead_put(&ahead, question_alone(b, &b->prober, (int)ahead.next, b->trace->ref));
        if (alone_possible(b, (int)n)) {
            struct question *q = ahead_take(&ahead, (int)n);
            q = q ? q : question_alone(b, &b->prober, (int)n, b->trace->ref);
            status = isolated_ask(b, q, &had, err);
        }
        if (status == ODB_OK)
            odb_hooks_progress(&b->options->hooks, "isolated", (int)n, n + 1, b->graph->n_nodes);
    }
    ahead_dispose(b, &ahead);
    if (status == ODB_OK)
        findings_step_end(b, "isolated", "every node alone, fed with the reference's values");
    return status;
}
