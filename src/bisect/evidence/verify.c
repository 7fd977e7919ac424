/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A node alone on the target, fed with what is known: whether it fails there too, and if it does
 * not, the smallest segment that does.
 */
#include "bisect/evidence/verify.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "bisect/alone/alone.h"
#include "bisect/alone/fed_part.h"
#include "bisect/alone/held.h"
#include "bisect/alone/only_observed.h"
#include "bisect/evidence/reference_off.h"
#include "bisect/repeat.h"
#include "bisect/alone/suffix.h"
#include "bisect/alone/whole.h"

#define VERIFY_MOST 16 /* culprits that are verified one by one */

/* The search that asks, for a judge. */
struct verify_asker {
    const struct search_case *c;
    struct findings *f;
};

static enum odb_status verify_keep(void *payload, const struct odb_probe *probe,
                                   enum odb_verdict *shown, struct odb_error *err)
{
    const struct verify_asker *by = payload;
    return question_judge(by->c, by->f, probe, shown, err);
}

/* The target's own values at the cut before a node, as far as they are not known yet. Failing to
 * get them is no error: the reference's are used then. */
static enum odb_status verify_get_inputs(const struct search_case *c, struct findings *f, int node,
                                         struct odb_error *err)
{
    const struct odb_node *n = &c->graph->nodes[node];
    int *read = odb_new_n(int, odb_node_n_reads(n));
    int *list = odb_new_n(int, odb_node_n_reads(n));
    size_t n_read = 0, count = 0;
    for (size_t i = 0; i < odb_node_n_reads(n); i++)
        if (odb_node_reads(n, i) >= 0)
            read[n_read++] = odb_node_reads(n, i);
    for (size_t i = 0; i < n_read; i++)
        if (c->graph->values[read[i]].producer != ODB_NO_NODE && !f->given[read[i]] &&
            c->trace->ref[read[i]])
            list[count++] = read[i];
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, count);
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_BEFORE,
                              .what = "cut before the accused",
                              .node = node,
                              .values = list,
                              .n_values = count,
                              .outputs = outputs,
                              .judged = true};
    struct odb_probed probed;
    enum odb_status status = ODB_OK;
    if (count)
        status = odb_probe_ask(c->prober, &probe, verify_keep, &(struct verify_asker){c, f},
                               &probed, err);
    for (size_t i = 0; i < n_read; i++) /* for those that could not be read: the reference's */
        if (!f->given[read[i]])
            f->given[read[i]] = odb_tensor_ref(odb_trace_value(c->trace, read[i]));
    odb_probe_drop(c->prober, &probe);
    free(outputs);
    free(list);
    free(read);
    return status;
}

/* A prefix search has no local numbers until the node has run alone. */
static void verify_adopt_numbers(struct findings *f, struct odb_culprit *culprit,
                                 const struct alone *alone)
{
    struct odb_value_report *sides[] = {&culprit->numbers, &findings_judge(f)[culprit->value]};
    const struct odb_value_report *found = &alone->reports[culprit->value];
    for (size_t i = 0; i < ODB_COUNT(sides); i++) {
        if (sides[i]->local_error.known)
            continue;
        sides[i]->local_error = found->local_error;
        sides[i]->local_noise = found->local_noise;
        sides[i]->inherited_error = found->inherited_error;
        sides[i]->gain = found->gain;
    }
}

/* Runs node alone on the reference's values, and where it fails there the culprit is that node by
 * itself; *had: what the run came to. */
static enum odb_status verify_blame(const struct search_case *c, struct findings *f,
                                    struct odb_culprit *culprit, int node, bool *found,
                                    enum odb_status *had, struct odb_error *err)
{
    int n_out = c->graph->nodes[node].n_out, value = ODB_NO_VALUE;
    struct alone alone = {0};
    struct odb_error why = ODB_ERROR_INIT;
    *had = alone_run(c, f, question_alone(c, c->prober, node, c->trace->ref), &alone, &why);
    for (int o = n_out; alone.guilty && o-- > 0;)
        if (c->graph->nodes[node].out[o] >= 0 &&
            alone.reports[c->graph->nodes[node].out[o]].culprit)
            value = c->graph->nodes[node].out[o];
    *found = value != ODB_NO_VALUE;
    if (*found) {
        culprit->node = culprit->segment[0] = culprit->segment[1] = node;
        culprit->value = value;
        culprit->kind = findings_kind_of(alone.reports[value].verdict, NULL, NULL);
        culprit->numbers = f->values[value];
        verify_adopt_numbers(f, culprit, &alone);
    }
    alone_dispose(&alone, n_out);
    if (*had == ODB_CANCELLED)
        *err = why;
    return *had == ODB_CANCELLED ? ODB_CANCELLED : ODB_OK;
}

enum odb_status verify_is_it(const struct search_case *c, struct findings *f,
                             struct odb_culprit *culprit, int node, bool *found,
                             struct odb_error *err)
{
    enum odb_status had;
    return verify_blame(c, f, culprit, node, found, &had, err);
}

enum odb_status verify_weights(const struct search_case *c, struct findings *f,
                               struct odb_culprit *culprit, int node, struct odb_error *err)
{
    bool *nodes = odb_new_n(bool, c->graph->n_nodes), found = false;
    enum odb_status status = ODB_OK;
    nodes[node] = true;
    suffix_add_weights(c, nodes);
    for (int n = 0; n < (int)c->graph->n_nodes && !found && status == ODB_OK; n++)
        if (nodes[n] && n != node)
            status = verify_is_it(c, f, culprit, n, &found, err);
    if (status == ODB_OK && !found)
        culprit->node = culprit->segment[0] = suffix_first_weight(c, node);
    free(nodes);
    return status;
}

/* The segment's first node fails alone: what the nodes after it did not show, its end did, and
 * that node is to blame by itself. */
static enum odb_status verify_narrow(const struct search_case *c, struct findings *f,
                                     struct odb_culprit *culprit, struct odb_error *err)
{
    enum odb_status had;
    bool found;
    ODB_TRY(verify_blame(c, f, culprit, culprit->segment[0], &found, &had, err));
    if (had != ODB_OK) /* cannot be run alone: whether it is right there is unknown */
        culprit->kind = findings_kind(f, culprit->value);
    if (!found && suffix_first_weight(c, culprit->segment[0]) != culprit->segment[0])
        return verify_weights(c, f, culprit, culprit->segment[0], err);
    return ODB_OK;
}

/* How many nodes lead from a region's first to its last. */
static size_t verify_between(const struct search_case *c, const struct odb_culprit *culprit)
{
    size_t n = c->graph->n_nodes, count;
    bool *up = odb_new_n(bool, n), *behind = odb_new_n(bool, c->graph->n_values);
    odb_graph_ancestors(c->graph, &culprit->value, 1, c->drawn, up);
    for (size_t i = 0; i < n; i++) {
        const struct odb_node *node = &c->graph->nodes[i];
        bool from = (int)i == culprit->segment[0];
        for (size_t k = 0; k < odb_node_n_reads(node); k++)
            from |= odb_node_reads(node, k) >= 0 && behind[odb_node_reads(node, k)];
        for (int o = 0; from && o < node->n_out; o++)
            if (node->out[o] >= 0)
                behind[node->out[o]] = true;
        up[i] = up[i] && from;
    }
    count = odb_count_marks(up, n);
    free(behind);
    free(up);
    return count;
}

/* The accused passes alone: finds where a segment that ends in it must begin to fail. */
static enum odb_status verify_widen(const struct search_case *c, struct findings *f,
                                    struct odb_culprit *culprit, struct odb_error *err)
{
    int first;
    bool chance, apart = false, kernel;
    size_t index = (size_t)(culprit - f->report->culprits.items);
    ODB_TRY(repeat_by_chance(c, f, culprit->node, &chance, err));
    culprit = findings_culprit(f, index); /* there may be others now */
    if (chance)
        ODB_TRY(suffix_fails_apart(c, f, culprit->value, &apart, err));
    if (chance && !apart) { /* in another run it would have been right; searches would toss coins */
        culprit->kind = ODB_KIND_NONDETERMINISTIC;
        return ODB_OK;
    }
    if (!f->hidden && held_overwritten(c, f, culprit))
        return whole_culprit(c, f, culprit, err);
    ODB_TRY(fed_part_from_integers(c, culprit, &kernel, err));
    if (kernel)
        return ODB_OK;
    ODB_TRY(suffix_lead(c, f, culprit->value, &first, err));
    if (first == ODB_NO_NODE)
        return whole_culprit(c, f, culprit, err);
    culprit->kind = f->hidden ? ODB_KIND_PROBE_EFFECT : ODB_KIND_FUSION;
    culprit->segment[1] = culprit->node;
    culprit->segment[0] = culprit->node = first;
    culprit->verified = true;
    ODB_TRY(whole_region(c, f, culprit, verify_between(c, culprit), err));
    return verify_narrow(c, f, culprit, err);
}

enum odb_status verify_try(const struct search_case *c, struct findings *f, int node,
                           struct question *q, struct alone *out, struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = verify_get_inputs(c, f, node, err);
    if (status != ODB_OK) {
        question_free(q);
        return status;
    }
    q = q ? q : question_alone(c, c->prober, node, f->given);
    status = alone_run(c, f, q, out, &why);
    out->had = status;
    out->why = why;
    if (status != ODB_CANCELLED)
        return ODB_OK;
    *err = why;
    return status;
}

#define VERIFY_UNLIKE 0.2 /* of the error: no other kernel goes wrong so much otherwise */

/* How far what the node makes alone is from what it made in place, over the reference's rms, where
 * that is much of its error: both were loaded by themselves. */
static double verify_unlike(const struct search_case *c, const struct findings *f,
                            const struct odb_culprit *culprit, const struct alone *alone)
{
    const struct odb_tensor *here = f->given[culprit->value];
    const struct odb_tensor *there = alone->out[c->graph->values[culprit->value].slot];
    const struct odb_tensor *ref = c->trace->ref[culprit->value];
    struct odb_gap off, apart;
    if (!here || !there || !ref)
        return 0;
    odb_gap_measure(&off, here, ref);
    odb_gap_measure(&apart, there, here);
    double far = off.rms > 0 ? apart.error * apart.rms / off.rms : 0;
    return off.comparable && apart.comparable && isfinite(off.error) &&
                   far > VERIFY_UNLIKE * off.error
               ? far
               : 0;
}

/* What running the culprit alone has shown; sets verified, or, where it passes and widen says so,
 * finds the smallest segment that fails. */
static enum odb_status verify_conclude(const struct search_case *c, struct findings *f,
                                       struct odb_culprit *culprit, const struct alone *alone,
                                       bool widen, struct odb_error *err)
{
    int node = culprit->node;
    if (alone->had != ODB_OK) { /* untestable alone: stays accused, not verified */
        char label[200];
        culprit->checks[ODB_CHECK_ALONE] = ODB_NOT_TESTABLE;
        findings_note(f, "%s cannot be run alone on the target: %.200s",
                      odb_node_label(&c->graph->nodes[node], label, sizeof label), alone->why.what);
    } else if (alone->guilty) {
        bool only = false;
        if (!culprit->reaches_output) /* else it is wrong unobserved as well */
            ODB_TRY(observed_only(c, f, node, &only, err));
        culprit->verified = !only;
        culprit->kind = only ? ODB_KIND_PROBE_EFFECT : culprit->kind;
        culprit->unlike = verify_unlike(c, f, culprit, alone);
        verify_adopt_numbers(f, culprit, alone);
    } else if (f->hidden && !f->diverge) {
        culprit->checks[ODB_CHECK_ALONE] = ODB_CONTRADICTS;
        culprit->kind = repeat_races_before(c, f, node)
                            ? ODB_KIND_NONDETERMINISTIC
                            : ODB_KIND_PROBE_EFFECT; /* wrong only while everything is read */
    } else if (alone->judged && c->trace->ref[culprit->value]) {
        ODB_TRY(reference_hear(c, f, err));
        if (reference_off(f, culprit->value)) {
            verify_adopt_numbers(f, culprit, alone);
            reference_blame(c, f, culprit);
            return ODB_OK;
        }
        culprit->checks[ODB_CHECK_ALONE] = ODB_CONTRADICTS;
        if (widen)
            return verify_widen(c, f, culprit, err);
    }
    return ODB_OK;
}

enum odb_status verify_believe(const struct search_case *c, struct findings *f,
                               struct odb_culprit *culprit, const struct alone *known, bool widen,
                               struct odb_error *err)
{
    struct alone alone = {0};
    int n_out = c->graph->nodes[culprit->node].n_out;
    enum odb_status status = ODB_OK;
    if (!known || !known->tried) {
        status = verify_try(c, f, culprit->node, NULL, &alone, err);
        known = &alone;
    }
    if (status == ODB_OK)
        status = verify_conclude(c, f, culprit, known, widen, err);
    alone_dispose(&alone, n_out);
    return status;
}

enum odb_status verify_culprit(const struct search_case *c, struct findings *f,
                               struct odb_culprit *culprit, struct odb_error *err)
{
    return verify_believe(c, f, culprit, NULL, true, err);
}

/* The same with a question that was begun; taken. */
static enum odb_status verify_ask(const struct search_case *c, struct findings *f,
                                  struct odb_culprit *culprit, struct question *q,
                                  struct odb_error *err)
{
    struct alone alone = {0};
    int n_out = c->graph->nodes[culprit->node].n_out;
    enum odb_status status = verify_try(c, f, culprit->node, q, &alone, err);
    if (status == ODB_OK)
        status = verify_believe(c, f, culprit, &alone, true, err);
    alone_dispose(&alone, n_out);
    return status;
}

/* Whether running the node alone on its own inputs needs nothing else from the target. */
static bool verify_has_inputs(const struct search_case *c, const struct findings *f, int node)
{
    const struct odb_node *n = &c->graph->nodes[node];
    bool all = true;
    for (size_t i = 0; i < odb_node_n_reads(n); i++) {
        int v = odb_node_reads(n, i);
        all = all && (v < 0 || f->given[v] || c->graph->values[v].producer == ODB_NO_NODE);
    }
    return all;
}

static bool verify_wants(const struct odb_culprit *culprit)
{
    return odb_diagnosis_accuses(culprit->kind) && !culprit->verified && !culprit->known &&
           !culprit->of_reference;
}

enum odb_status verify_all(const struct search_case *c, struct findings *f, struct odb_error *err)
{
    size_t n = ODB_MIN(f->report->culprits.n, (size_t)VERIFY_MOST);
    struct ahead ahead = ahead_new(c);
    enum odb_status status = ODB_OK;
    findings_step_begin(f, "verify");
    for (size_t i = 0; i < n && ahead.of; i++) {
        const struct odb_culprit *culprit = &f->report->culprits.items[i];
        if (verify_wants(culprit) && verify_has_inputs(c, f, culprit->node) &&
            !ahead.of[culprit->node])
            ahead_put(&ahead, question_alone(c, c->prober, culprit->node, f->given));
    }
    for (size_t i = 0; i < n && status == ODB_OK; i++) {
        struct odb_culprit *culprit = findings_culprit(f, i);
        if (verify_wants(culprit))
            status = verify_ask(c, f, culprit, ahead_take(&ahead, culprit->node), err);
        odb_hooks_progress(&c->options->hooks, "verify", culprit->node, i + 1, n);
    }
    ahead_dispose(c, &ahead);
    if (status == ODB_OK)
        findings_step_end(f, "verify", "the accused alone on the target, on its own inputs");
    return status;
}
