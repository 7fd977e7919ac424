/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What follows a cut is searched over, and what is left of the suspects is accused.
 */
#include "bisect/strategy/suffix_hunt.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/strategy/hunt.h"
#include "bisect/alone/suffix.h"
#include "bisect/evidence/verify.h"
#include "bisect/alone/whole.h"

/* Whether the first n of chain fail together, and with what: what leaves them is read. */
static enum odb_status suffix_hunt_region_fails(const struct suffix *s, const int *chain, size_t n,
                                                bool *fails, struct odb_error *err)
{
    const struct search_case *c = s->c;
    struct findings *f = s->f;
    const struct odb_graph *graph = c->graph;
    bool *nodes = odb_new_n(bool, graph->n_nodes);
    int *values = odb_new_n(int, graph->n_values);
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, graph->n_values);
    enum odb_verdict verdict;
    char what[240];
    struct odb_probe probe = {
        .asked = ODB_PROBE_KIND_SEGMENT,
        .what = odb_probe_title(graph, "segment from", chain[0], chain[n - 1], what, sizeof what),
        .node = chain[0],
        .nodes = nodes,
        .values = values,
        .outputs = outputs,
        .judged = true};
    for (size_t i = 0; i < n; i++)
        nodes[chain[i]] = true;
    for (size_t v = 0; v < graph->n_values; v++) {
        int producer = graph->values[v].producer;
        bool leaves = graph->values[v].is_output;
        for (size_t k = 0; k < graph->values[v].n_consumers; k++)
            leaves |= !nodes[graph->values[v].consumers[k]];
        if (producer != ODB_NO_NODE && nodes[producer] && leaves && c->trace->ref[v] &&
            odb_probe_reads(graph, c->trace, (int)v))
            values[probe.n_values++] = (int)v;
    }
    suffix_add_weights(c, nodes);
    enum odb_status status = question_ask(c, f, &probe, &verdict, err);
    *fails = question_answer(verdict) == ODB_ANSWER_BAD;
    free(outputs);
    free(values);
    free(nodes);
    return status;
}

/* The accused passes alone, and what begins with it fails: finds how much of what follows that
 * takes, the next nodes first. */
static enum odb_status suffix_hunt_widen(const struct suffix *s, struct odb_culprit *culprit,
                                         int node, struct odb_error *err)
{
    const struct search_case *c = s->c;
    struct findings *f = s->f;
    bool *nodes = suffix_from(s, &(int){suffix_turn(s, node)}, 1);
    int *chain = odb_new_n(int, c->graph->n_nodes);
    size_t n = 0, fails_at;
    size_t passes = suffix_first_weight(c, node) == node; /* with weights it was not asked */
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < c->graph->n_nodes; i++)
        if (nodes[i])
            chain[n++] = (int)i;
    for (fails_at = n; fails_at - passes > 1 && status == ODB_OK;) {
        size_t next = ODB_MAX(1, ODB_MIN(2 * passes, (fails_at + passes) / 2));
        bool fails = false;
        status = suffix_hunt_region_fails(s, chain, next, &fails, err);
        *(fails ? &fails_at : &passes) = next;
    }
    if (status == ODB_OK && fails_at > passes) {
        if (culprit->checks[ODB_CHECK_ALONE] == ODB_CONTRADICTS)
            culprit->kind = f->hidden ? ODB_KIND_PROBE_EFFECT : ODB_KIND_FUSION;
        culprit->node = culprit->segment[0] = node;
        culprit->segment[1] = chain[fails_at - 1];
        culprit->verified = true;
        status = fails_at == 1 ? verify_weights(c, f, culprit, node, err)
                               : whole_region(c, f, culprit, fails_at, err);
    }
    free(chain);
    free(nodes);
    return status;
}

/* Each node that is left has failed on the reference's values, so alone it is fed with them too,
 * and nothing need be read for that. */
static void suffix_hunt_feed(const struct suffix *s, const bool *left)
{
    const struct search_case *c = s->c;
    struct findings *f = s->f;
    for (size_t n = 0; n < c->graph->n_nodes; n++)
        for (size_t i = 0; left[n] && i < odb_node_n_reads(&c->graph->nodes[n]); i++) {
            int v = odb_node_reads(&c->graph->nodes[n], i);
            if (v >= 0 && !f->given[v])
                f->given[v] = odb_tensor_ref(odb_trace_value(c->trace, v));
        }
}

/* confirmed: the one that is left was asked, and what begins with it fails. */
static enum odb_status suffix_hunt_accuse(const struct suffix *s, const bool *left, bool confirmed,
                                          struct odb_error *err)
{
    const struct search_case *c = s->c;
    struct findings *f = s->f;
    if (confirmed)
        suffix_hunt_feed(s, left);
    ODB_TRY(hunt_accuse_left(c, f, s->value, left, NULL, !confirmed, err));
    struct odb_culprit *culprit = findings_culprit(f, f->report->culprits.n - 1);
    int accused = culprit->segment[0];
    bool single = accused == culprit->segment[1];
    if (!single || !confirmed) {
        culprit->checks[ODB_CHECK_PREFIX] = ODB_NOT_ASKED;
        return ODB_OK;
    }
    culprit->checks[ODB_CHECK_PREFIX] = ODB_CONFIRMS;
    if (culprit->verified || culprit->of_reference || c->options->no_checks)
        return ODB_OK;
    findings_step_begin(f, "verify");
    enum odb_status status = suffix_hunt_widen(s, culprit, accused, err);
    findings_step_end(f, "verify", "the accused passes alone: how much of what follows it fails");
    return status;
}

/* The node that was found is wrong on the reference's values, so a fault before it, which shows at
 * the output by way of it alone, has not been seen. What it reads is had once as the target makes
 * it: values that are wrong there are searched next. */
static enum odb_status suffix_hunt_look_before(const struct search_case *c, struct findings *f,
                                               int found, struct odb_error *err)
{
    const struct odb_node *node = &c->graph->nodes[found];
    bool *bad = odb_new_n(bool, odb_node_n_reads(node) + 1);
    enum odb_status status = hunt_before(c, f, found, bad, err);
    for (size_t i = 0; i < odb_node_n_reads(node) && status == ODB_OK; i++)
        if (bad[i])
            odb_push(&f->others, odb_node_reads(node, i));
    free(bad);
    return status;
}

enum odb_status suffix_hunt(const struct search_case *c, struct findings *f, int value,
                            struct odb_error *err)
{
    size_t n = c->graph->n_nodes;
    struct failure failure = failure_of(c, f, value);
    struct suffix s = suffix_new(c, f, value, &failure);
    bool *left = odb_new_n(bool, n);
    struct odb_search_result result = {0};
    findings_step_begin(f, "suffixes");
    enum odb_status status = suffix_search(&s, NULL, &result, err);
    failure_warn(&failure);
    findings_step_end(f, "suffix",
                      "%zu cut%s for %.100s, what follows fed with the reference's values",
                      result.loads, odb_plural(result.loads), c->graph->values[value].name);
    if (status != ODB_OK || hunt_rounded(f, value))
        goto out;
    if (result.acquitted && !c->pinned) {
        status = whole_output(c, f, value, err);
        goto out;
    }
    for (int i = 0; i < (int)n; i++)
        left[i] = (result.acquitted ? s.up : s.suspects)[suffix_turn(&s, i)];
    status = suffix_hunt_accuse(&s, left, result.confirmed, err);
    if (status == ODB_OK) {
        findings_step_begin(f, "before");
        status = suffix_hunt_look_before(
            c, f, f->report->culprits.items[f->report->culprits.n - 1].segment[0], err);
        findings_step_end(f, "before", "what the accused reads, as the target makes it");
    }
out:
    free(left);
    suffix_dispose(&s);
    return status;
}
