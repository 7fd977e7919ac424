/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nodes stand in an order in which they can be run, so a part is a stretch of it, fed with the
 * reference's values; what leaves it is read, and the model's outputs. From the whole, which fails,
 * the beginning is cut off as far as what is left fails still, and then the end. One that depends
 * on a node beside it (memory that both use, a limit on how many there are) is found so, where
 * cutting out what leads to a value would leave the other node out.
 */
#include "bisect/alone/whole.h"

#include <stdlib.h>

#include "base/mem.h"
#include "bisect/alone/held.h"
#include "bisect/question.h"
#include "bisect/repeat.h"
#include "report/report.h"
#include "search/search.h"
#include "reference/trace.h"

#define WHOLE_WIDE 8 /* nodes of a region, beyond which cutting it down is worth the loads */

struct whole {
    struct bisection *b;
    int accused;     /* or ODB_NO_NODE */
    bool *nodes;     /* owned; [n_nodes] */
    int *values;     /* owned; [n_values] */
    size_t n_values; /* read */
    struct odb_stretch passes;
};

/* What a stretch gives: the outputs of the model in it, and what others read. */
static void whole_collect(struct whole *w, int first, int last)
{
    const struct bisection *b = w->b;
    w->n_values = 0;
    for (int n = 0; n < (int)b->graph->n_nodes; n++)
        w->nodes[n] = n >= first && n <= last && !b->trace->why[n] && !(b->beyond && b->beyond[n]);
    for (size_t v = 0; v < b->graph->n_values; v++) {
        const struct odb_value *value = &b->graph->values[v];
        bool leaves = value->is_output;
        if (value->producer == ODB_NO_NODE || !w->nodes[value->producer] || !b->trace->ref[v] ||
            !odb_probe_reads(b->graph, b->trace, (int)v))
            continue;
        for (size_t c = 0; c < value->n_consumers; c++)
            leaves |= !w->nodes[value->consumers[c]];
        if (leaves)
            w->values[w->n_values++] = (int)v;
    }
    if (b->prober.constant)
        odb_trace_add_weights(b->trace, b->prober.constant, w->nodes);
}

/* Whether the stretch fails. One that cannot be run does not, as far as anybody knows. */
static enum odb_status whole_fails(struct whole *w, int first, int last, bool *fails,
                                   struct odb_error *err)
{
    struct bisection *b = w->b;
    enum odb_verdict verdict = ODB_VERDICT_PASS;
    char what[240];
    whole_collect(w, first, last);
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, w->n_values + 1);
    struct odb_probe probe = {
        .asked = ODB_ASKED_SEGMENT,
        .what = odb_probe_title(b->graph, "all from", first, last, what, sizeof what),
        .node = first,
        .nodes = w->nodes,
        .values = w->values,
        .n_values = w->n_values,
        .outputs = outputs,
        .judged = true};
    enum odb_status status = w->n_values ? question_ask(b, &probe, &verdict, err) : ODB_OK;
    *fails = question_answer(verdict) == ODB_ANSWER_BAD;
    size_t n = odb_count_marks(w->nodes, b->graph->n_nodes);
    if (status == ODB_OK && verdict == ODB_VERDICT_PASS && n > w->passes.n)
        w->passes = (struct odb_stretch){first, last, n};
    free(outputs);
    return status;
}

/* The smallest stretch that is known to fail: *first to *last, which are all nodes on entry. The
 * accused is in it; where there is none, the beginning is cut off as far as it goes. */
static enum odb_status whole_narrow(struct whole *w, int *first, int *last, struct odb_error *err)
{
    int good = w->accused == ODB_NO_NODE ? *last : w->accused + 1;
    while (good - *first > 1) {
        int middle = *first + (good - *first) / 2;
        bool fails;
        ODB_TRY(whole_fails(w, middle, *last, &fails, err));
        *(fails ? first : &good) = middle;
    }
    good = w->accused == ODB_NO_NODE ? *first : ODB_MAX(w->accused, *first);
    for (good--; *last - good > 1;) {
        int middle = good + (*last - good) / 2;
        bool fails;
        ODB_TRY(whole_fails(w, *first, middle, &fails, err));
        *(fails ? last : &good) = middle;
    }
    return ODB_OK;
}

enum odb_status whole_region(struct bisection *b, struct odb_culprit *culprit, size_t nodes,
                             struct odb_error *err)
{
    int first = culprit->segment[0], last = culprit->segment[1];
    bool fails = false;
    if (nodes <= WHOLE_WIDE || b->prober.pinned)
        return ODB_OK;
    struct whole w = {.b = b,
                      .accused = ODB_NO_NODE,
                      .nodes = odb_new_n(bool, b->graph->n_nodes + 1),
                      .values = odb_new_n(int, b->graph->n_values + 1)};
    enum odb_status status = whole_fails(&w, first, last, &fails, err);
    if (status == ODB_OK && fails)
        status = whole_narrow(&w, &first, &last, err);
    if (status == ODB_OK && fails) {
        culprit->node = culprit->segment[0] = first;
        culprit->segment[1] = last;
    }
    free(w.values);
    free(w.nodes);
    return status;
}

static enum odb_status whole_search(struct bisection *b, struct odb_culprit *culprit, int accused,
                                    struct odb_error *err)
{
    int first = 0, last = (int)b->graph->n_nodes - 1;
    struct whole w = {.b = b,
                      .accused = accused,
                      .nodes = odb_new_n(bool, b->graph->n_nodes + 1),
                      .values = odb_new_n(int, b->graph->n_values + 1)};
    struct findings_pause outer = findings_step_pause(b);
    findings_step_begin(b, "the whole");
    enum odb_status status = whole_narrow(&w, &first, &last, err);
    if (status == ODB_OK) {
        bool part = first > 0 || last < (int)b->graph->n_nodes - 1;
        culprit->segment[0] = first;
        culprit->segment[1] = last;
        culprit->passes = w.passes;
        culprit->verified = part || culprit->reaches_output; /* the plain runs are of all of it */
        culprit->checks[ODB_CHECK_REGION] = part ? ODB_CONFIRMS : ODB_NOT_ASKED;
        findings_step_end(b, "whole", "how much of the model must be there for it to fail: %s",
                          part ? "a part" : "all of it");
    }
    findings_step_resume(b, outer);
    free(w.values);
    free(w.nodes);
    return status;
}

enum odb_status whole_culprit(struct bisection *b, struct odb_culprit *culprit,
                              struct odb_error *err)
{
    int node = culprit->node, value = culprit->value;
    size_t index = (size_t)(culprit - b->report->culprits.items);
    ODB_TRY(repeat_doubt(b, err));
    culprit = &b->report->culprits.items[index]; /* there may be others now */
    if (repeat_races_before(b, node)) {
        culprit->kind = ODB_KIND_NONDETERMINISTIC;
        culprit->reaches_output |= repeat_flips_behind(b, node);
        return ODB_OK;
    }
    if (value >= 0 && held_overwritten(b, culprit))
        return whole_search(b, culprit, node, err);
    culprit->kind = b->hidden ? ODB_KIND_PROBE_EFFECT : ODB_KIND_WHOLE;
    return b->hidden ? ODB_OK : whole_search(b, culprit, node, err);
}

enum odb_status whole_output(struct bisection *b, int value, struct odb_error *err)
{
    int producer = b->graph->values[value].producer;
    struct odb_culprit *culprit =
        findings_accuse(b, producer, value, b->hidden ? ODB_KIND_PROBE_EFFECT : ODB_KIND_WHOLE);
    size_t index = b->report->culprits.n - 1;
    ODB_TRY(repeat_doubt(b, err));
    culprit = &b->report->culprits.items[index];
    if (repeat_races_before(b, producer)) {
        culprit->kind = ODB_KIND_NONDETERMINISTIC;
        return ODB_OK;
    }
    ODB_TRY(whole_search(b, culprit, ODB_NO_NODE, err));
    culprit->node = culprit->segment[0];
    return ODB_OK;
}
