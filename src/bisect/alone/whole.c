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
    const struct search_case *c; /* borrowed */
    struct findings *f;          /* borrowed */
    int accused;                 /* or ODB_NO_NODE */
    bool *nodes;                 /* owned; [n_nodes] */
    int *values;                 /* owned; [n_values] */
    size_t n_values;             /* read */
    struct odb_stretch passes;
};

/* What a stretch gives: the outputs of the model in it, and what others read. */
static void whole_collect(struct whole *w, int first, int last)
{
    const struct search_case *c = w->c;
    w->n_values = 0;
    for (int n = 0; n < (int)c->graph->n_nodes; n++)
        w->nodes[n] = n >= first && n <= last && !c->trace->why[n] && !(c->beyond && c->beyond[n]);
    for (size_t v = 0; v < c->graph->n_values; v++) {
        const struct odb_value *value = &c->graph->values[v];
        bool leaves = value->is_output;
        if (value->producer == ODB_NO_NODE || !w->nodes[value->producer] || !c->trace->ref[v] ||
            !odb_probe_reads(c->graph, c->trace, (int)v))
            continue;
        for (size_t i = 0; i < value->n_consumers; i++)
            leaves |= !w->nodes[value->consumers[i]];
        if (leaves)
            w->values[w->n_values++] = (int)v;
    }
    if (c->prober->constant)
        odb_trace_add_weights(c->trace, c->prober->constant, w->nodes);
}

/* Whether the stretch fails. One that cannot be run counts as one that does not. */
static enum odb_status whole_fails(struct whole *w, int first, int last, bool *fails,
                                   struct odb_error *err)
{
    const struct search_case *c = w->c;
    struct findings *f = w->f;
    enum odb_verdict verdict = ODB_VERDICT_PASS;
    char what[240];
    whole_collect(w, first, last);
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, w->n_values + 1);
    struct odb_probe probe = {
        .asked = ODB_PROBE_KIND_SEGMENT,
        .what = odb_probe_title(c->graph, "all from", first, last, what, sizeof what),
        .node = first,
        .nodes = w->nodes,
        .values = w->values,
        .n_values = w->n_values,
        .outputs = outputs,
        .judged = true};
    enum odb_status status = w->n_values ? question_ask(c, f, &probe, &verdict, err) : ODB_OK;
    *fails = question_answer(verdict) == ODB_ANSWER_BAD;
    size_t n = odb_count_marks(w->nodes, c->graph->n_nodes);
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

enum odb_status whole_region(const struct search_case *c, struct findings *f,
                             struct odb_culprit *culprit, size_t nodes, struct odb_error *err)
{
    int first = culprit->segment[0], last = culprit->segment[1];
    bool fails = false;
    if (nodes <= WHOLE_WIDE || c->pinned)
        return ODB_OK;
    struct whole w = {.c = c,
                      .f = f,
                      .accused = ODB_NO_NODE,
                      .nodes = odb_new_n(bool, c->graph->n_nodes + 1),
                      .values = odb_new_n(int, c->graph->n_values + 1)};
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

static enum odb_status whole_search(const struct search_case *c, struct findings *f,
                                    struct odb_culprit *culprit, int accused, struct odb_error *err)
{
    int first = 0, last = (int)c->graph->n_nodes - 1;
    struct whole w = {.c = c,
                      .f = f,
                      .accused = accused,
                      .nodes = odb_new_n(bool, c->graph->n_nodes + 1),
                      .values = odb_new_n(int, c->graph->n_values + 1)};
    struct findings_pause outer = findings_step_pause(f);
    findings_step_begin(f, "the whole");
    enum odb_status status = whole_narrow(&w, &first, &last, err);
    if (status == ODB_OK) {
        bool part = first > 0 || last < (int)c->graph->n_nodes - 1;
        culprit->segment[0] = first;
        culprit->segment[1] = last;
        culprit->passes = w.passes;
        culprit->verified = part || culprit->reaches_output; /* the plain runs are of all of it */
        culprit->checks[ODB_CHECK_REGION] = part ? ODB_CONFIRMS : ODB_NOT_ASKED;
        findings_step_end(f, "whole", "how much of the model must be there for it to fail: %s",
                          part ? "a part" : "all of it");
    }
    findings_step_resume(f, outer);
    free(w.values);
    free(w.nodes);
    return status;
}

enum odb_status whole_culprit(const struct search_case *c, struct findings *f,
                              struct odb_culprit *culprit, struct odb_error *err)
{
    int node = culprit->node, value = culprit->value;
    size_t index = (size_t)(culprit - f->report->culprits.items);
    ODB_TRY(repeat_doubt(c, f, err));
    culprit = findings_culprit(f, index); /* there may be others now */
    if (repeat_races_before(c, f, node)) {
        culprit->kind = ODB_KIND_NONDETERMINISTIC;
        culprit->reaches_output |= repeat_flips_behind(c, f, node);
        return ODB_OK;
    }
    if (value >= 0 && held_overwritten(c, f, culprit))
        return whole_search(c, f, culprit, node, err);
    culprit->kind = f->hidden ? ODB_KIND_PROBE_EFFECT : ODB_KIND_WHOLE;
    return f->hidden ? ODB_OK : whole_search(c, f, culprit, node, err);
}

enum odb_status whole_output(const struct search_case *c, struct findings *f, int value,
                             struct odb_error *err)
{
    int producer = c->graph->values[value].producer;
    struct odb_culprit *culprit =
        findings_accuse(f, producer, value, f->hidden ? ODB_KIND_PROBE_EFFECT : ODB_KIND_WHOLE);
    size_t index = f->report->culprits.n - 1;
    ODB_TRY(repeat_doubt(c, f, err));
    culprit = findings_culprit(f, index);
    if (repeat_races_before(c, f, producer)) {
        culprit->kind = ODB_KIND_NONDETERMINISTIC;
        return ODB_OK;
    }
    ODB_TRY(whole_search(c, f, culprit, ODB_NO_NODE, err));
    culprit->node = culprit->segment[0];
    return ODB_OK;
}
