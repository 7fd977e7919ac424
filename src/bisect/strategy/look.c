/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/strategy/look.h"

#include <stdlib.h>

#include "base/mem.h"
#include "bisect/decided.h"
#include "bisect/apart/apart.h"
#include "bisect/evidence/overflow.h"
#include "bisect/evidence/reference_off.h"
#include "bisect/evidence/sensitivity.h"
#include "bisect/evidence/tolerated.h"
#include "bisect/repeat.h"
#include "bisect/strategy/forecast.h"
#include "bisect/strategy/hunt.h"
#include "bisect/strategy/hunt_outputs.h"
#include "bisect/strategy/probed.h"
#include "judge/segment.h"

/* An output is wrong and no node is to blame: many small errors, or a gain. The node named is the
 * first over tolerance of which all that was read before it is within. */
static void look_accumulated(const struct search_case *c, struct findings *f, int output)
{
    bool *up = odb_new_n(bool, c->graph->n_nodes);
    odb_graph_ancestors(c->graph, &output, 1, c->fed, up);
    for (size_t n = 0; n < c->graph->n_nodes; n++) {
        const struct odb_node *node = &c->graph->nodes[n];
        int bad = ODB_NO_VALUE;
        struct odb_segment before;
        bool clean = true;
        for (int o = 0; up[n] && o < node->n_out; o++)
            if (node->out[o] >= 0 && odb_verdict_is_bad(f->values[node->out[o]].verdict))
                bad = node->out[o];
        if (bad == ODB_NO_VALUE)
            continue;
        odb_segment_init(&before, c->trace, bad, f->given);
        for (size_t i = 0; i < before.n_border; i++)
            clean &= !odb_verdict_is_bad(f->values[before.border[i]].verdict);
        int first = before.first, last = before.last;
        odb_segment_dispose(&before);
        if (!clean)
            continue;
        const struct odb_value_report *report = &f->values[bad];
        const struct odb_op *op = odb_cpu_op(c->judge.trace->cpu, (int)n);
        bool decides = !op || (op->flags & ODB_OP_BOUNDARY);
        bool boundary =
            report->boundary || (decides && report->noise.known && report->noise.v == 0);
        for (int i = 0; i < node->n_in; i++)
            boundary = boundary || (node->in[i] >= 0 && f->values[node->in[i]].boundary);
        struct odb_sensitivity own = sensitivity_of(c, f, bad, f->given);
        bool amplified = boundary || (report->gain.known && report->gain.v > 10) ||
                         (own.growth_of_random.known && own.growth_of_random.v > 10);
        bool replayed = report->local_error.known || report->local_noise.known;
        struct odb_culprit *culprit = findings_accuse(f, (int)n, bad,
                                                      !replayed   ? findings_kind(f, bad)
                                                      : amplified ? ODB_KIND_AMPLIFIED
                                                                  : ODB_KIND_ACCUMULATED);
        culprit->segment[0] = first; /* with the nodes before it whose values were not had */
        culprit->segment[1] = last;
        break;
    }
    free(up);
}

/* Replaying may have shown more noise than was known when the plain run was judged. */
static void look_excuse(const struct search_case *c, const struct odb_value_report *value,
                        struct odb_value_report *plain)
{
    double factor = c->options->tolerance.v[0];
    if (c->options->tolerance.kind == ODB_CRITERION_NOISE && value->noise.known &&
        plain->verdict == ODB_VERDICT_FAIL && plain->error.known &&
        plain->error.v <= factor * value->noise.v)
        plain->verdict = ODB_VERDICT_PASS;
}

/* Names those whom the values that were read accuse. */
static enum odb_status look_blame(const struct search_case *c, struct findings *f,
                                  struct odb_error *err)
{
    bool diverge = false;
    for (size_t o = 0; o < c->n_outputs; o++) { /* what the model as it is gives counts */
        struct odb_value_report value = f->values[c->outputs[o]];
        look_excuse(c, &value, &f->verdicts[o]);
        diverge |= odb_verdict_is_bad(f->verdicts[o].verdict);
        value.verdict = f->verdicts[o].verdict;
        value.error = f->verdicts[o].error;
        value.error_mean = f->verdicts[o].error_mean;
        findings_value(f, c->outputs[o], &value);
    }
    findings_diverge(f, diverge);
    ODB_TRY(reference_weigh(c, f, err));
    ODB_TRY(tolerated_values(c, f, err));
    for (size_t n = 0; n < c->graph->n_nodes; n++) {
        const struct odb_node *node = &c->graph->nodes[n];
        for (int o = 0; o < node->n_out; o++) {
            int v = node->out[o];
            bool off = v >= 0 && reference_off(f, v);
            if (v < 0 || !(f->values[v].culprit || off) || f->exchanged[v] != ODB_NO_VALUE)
                continue;
            struct odb_culprit *culprit = findings_accuse(f, (int)n, v, findings_kind(f, v));
            if (off)
                reference_blame(c, f, culprit);
            break;
        }
    }
    return ODB_OK;
}

/* Reading moved the bits of a wrong output by so much that a part of its error may have been hidden
 * from the run that read the values. */
static bool look_doubtful(const struct search_case *c, const struct findings *f)
{
    const struct odb_observer *seen = &f->report->observer;
    const struct odb_value_report *output = &f->values[seen->output];
    return seen->moved && odb_verdict_is_bad(output->verdict) && output->error.known &&
           output->noise.known && seen->by > c->options->tolerance.v[0] * output->noise.v &&
           4 * seen->by > output->error.v;
}

/* An output is wrong, and of all nodes that were read none is. */
static bool look_wants_apart(const struct search_case *c, const struct findings *f)
{
    bool blamed = false;
    for (size_t v = 0; v < c->graph->n_values; v++)
        blamed |= f->values[v].culprit;
    return c->options->strategy == ODB_STRATEGY_AUTO && !blamed && (f->judged || f->hidden) &&
           hunt_outputs_left(c, f);
}

enum odb_status look_at_all(const struct search_case *c, struct findings *f, struct odb_error *err)
{
    ODB_TRY(probed_values(c, f, err));
    enum odb_status repeated = repeat_late(c, f, err);
    if (repeated != ODB_OK) { /* the budget is used up: what was read accuses all the same */
        struct odb_error ignored = ODB_ERROR_INIT;
        if (f->judged && look_blame(c, f, &ignored) == ODB_OK)
            decided_excuse_outputs(c, f);
        return repeated;
    }
    if (f->hidden) /* or is it chance? */
        ODB_TRY(repeat_doubt(c, f, err));
    if (look_wants_apart(c, f))
        ODB_TRY(apart_look(c, f, err)); /* before honest decisions are thought to explain it */
    if (f->judged)
        ODB_TRY(look_blame(c, f, err));
    if (f->judged || f->hidden)
        decided_excuse_outputs(c, f);
    if (f->probed && look_doubtful(c, f) && hunt_outputs_left(c, f)) {
        forecast_turn(f, odb_strategy_name(ODB_STRATEGY_PREFIX), forecast_cuts(c, f, 0),
                      "reading values moved an output by %.3g, as much as its error",
                      f->report->observer.by);
        ODB_TRY(hunt_outputs(c, f, hunt_value, err));
    }
    ODB_TRY(overflow_look(c, f, err));
    for (size_t o = 0; o < c->n_outputs && f->probed; o++)
        if (odb_verdict_is_bad(f->verdicts[o].verdict) && !findings_explain(f, c->outputs[o]))
            look_accumulated(c, f, c->outputs[o]);
    return ODB_OK;
}
