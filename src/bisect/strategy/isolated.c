/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/strategy/run.h"
#include "bisect/strategy/isolated.h"

#include <stdlib.h>

#include "base/mem.h"
#include "bisect/alone/alone.h"
#include "bisect/evidence/reference_off.h"
#include "bisect/search_case.h"

/* One node alone on the reference's values: its numbers, its verdict, and whether it is guilty.
 * refused: what the probe came to. */
static enum odb_status isolated_ask(const struct search_case *c, struct findings *f,
                                    struct question *q, enum odb_status *refused,
                                    struct odb_error *err)
{
    int index = q->probe.node;
    const struct odb_node *node = &c->graph->nodes[index];
    struct alone alone = {0};
    struct odb_error alone_err = ODB_ERROR_INIT;
    enum odb_status had = alone_run(c, f, q, &alone, &alone_err);
    enum odb_status status = had == ODB_CANCELLED ? had : ODB_OK;
    int guilty = ODB_NO_VALUE;
    *refused = had;
    if (had == ODB_CANCELLED)
        *err = alone_err;
    else if (had != ODB_OK)
        question_note_failure(c, f, &(int){case_output_of(c, index)}, 1, had);
    for (int o = 0; o < node->n_out && had == ODB_OK && status == ODB_OK; o++) {
        int v = node->out[o];
        if (v < 0 || !alone.out[o])
            continue;
        struct odb_value_report *value = &alone.reports[v];
        status = odb_judge_value(&c->judge, v, alone.out[o], value, err);
        findings_keep(f, v, alone.out[o]);
        const struct odb_value_report *told = reference_told(f, v);
        if (told && told->culprit && !odb_verdict_is_bad(value->verdict))
            value->culprit = false; /* the CPU's operator stands alone */
        findings_value(f, v, value);
        if ((f->values[v].culprit || reference_off(f, v)) && guilty < 0)
            guilty = v;
    }
    if (guilty >= 0 && status == ODB_OK) {
        struct odb_culprit *culprit = findings_accuse(f, index, guilty, findings_kind(f, guilty));
        culprit->verified = true;
        if (reference_off(f, guilty))
            reference_blame(c, f, culprit);
    }
    alone_dispose(&alone, node->n_out);
    return status;
}

enum odb_status isolated_node(const struct search_case *c, struct findings *f, int node,
                              enum odb_status *had, struct odb_error *err)
{
    *had = ODB_UNSUPPORTED;
    if (!alone_possible(c, node))
        return ODB_OK;
    return isolated_ask(c, f, question_alone(c, c->prober, node, c->trace->ref), had, err);
}

enum odb_status strategy_isolated(const struct search_case *c, struct findings *f,
                                  struct odb_error *err)
{
    struct ahead ahead = ahead_new(c);
    enum odb_status status = reference_hear(c, f, err), had;
    findings_step_begin(f, "isolated");
    for (size_t n = 0; n < c->graph->n_nodes && status == ODB_OK; n++) {
        for (; ahead_reaches(c, &ahead, n); ahead.next++)
            if (alone_possible(c, (int)ahead.next))
                ahead_put(&ahead, question_alone(c, c->prober, (int)ahead.next, c->trace->ref));
        if (alone_possible(c, (int)n)) {
            struct question *q = ahead_take(&ahead, (int)n);
            q = q ? q : question_alone(c, c->prober, (int)n, c->trace->ref);
            status = isolated_ask(c, f, q, &had, err);
        }
        if (status == ODB_OK)
            odb_hooks_progress(&c->options->hooks, "isolated", (int)n, n + 1, c->graph->n_nodes);
    }
    ahead_dispose(c, &ahead);
    if (status == ODB_OK)
        findings_step_end(f, "isolated", "every node alone, fed with the reference's values");
    return status;
}
