/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * --prove: a search halves, and takes on trust what it never asked. Here every cut before the
 * culprits is tested, unobserved but for the cut itself: all of them good, and all values that were
 * read before them good, or here is the one that is not.
 */

#include "bisect/plan/prove.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "bisect/findings.h"
#include "bisect/strategy/hunt.h"
#include "report/report.h"
#include "search/search.h"
#include "bisect/search_case.h"
#include "run/value_report.h"

/* Nodes before a culprit or its region, and not behind another one. */
static size_t prove_list(const struct search_case *c, const struct findings *f, int *list)
{
    const struct odb_graph *graph = c->graph;
    bool *before = odb_new_n(bool, graph->n_nodes), *behind = odb_new_n(bool, graph->n_nodes);
    bool *up = odb_new_n(bool, graph->n_nodes);
    size_t n = 0;
    for (size_t m = 0; m < f->report->culprits.n; m++) {
        const struct odb_culprit *culprit = &f->report->culprits.items[m];
        const struct odb_node *last = &graph->nodes[culprit->segment[1]];
        odb_graph_ancestors(graph, last->out, (size_t)last->n_out, c->drawn, up);
        for (int i = 0; i < (int)graph->n_nodes; i++) {
            before[i] |= i < culprit->segment[0] && up[i];
            behind[i] |= i >= culprit->segment[0] && up[i];
        }
    }
    for (size_t i = 0; i < graph->n_nodes; i++) /* what hangs on a culprit is no cut before it */
        for (int o = 0; behind[i] && o < graph->nodes[i].n_out; o++) {
            int v = graph->nodes[i].out[o];
            for (size_t k = 0; v >= 0 && k < graph->values[v].n_consumers; k++)
                behind[graph->values[v].consumers[k]] = true;
        }
    for (int i = 0; i < (int)graph->n_nodes; i++)
        if (before[i] && !behind[i] && case_output_of(c, i) >= 0)
            list[n++] = i;
    free(up);
    free(behind);
    free(before);
    return n;
}

/* Whether every wrong value of the node is within the noise that replaying it has shown since. */
static bool prove_excused(const struct search_case *c, const struct findings *f, int node,
                          const struct odb_value_report *known)
{
    const struct odb_node *n = &c->graph->nodes[node];
    for (int o = 0; o < n->n_out; o++) {
        int v = n->out[o];
        if (v < 0 || !odb_verdict_is_bad(f->values[v].verdict))
            continue;
        if (known[v].verdict != ODB_VERDICT_PASS || !known[v].noise.known ||
            f->values[v].verdict != ODB_VERDICT_FAIL ||
            c->options->tolerance.kind != ODB_CRITERION_NOISE ||
            f->values[v].error.v > c->options->tolerance.v[0] * known[v].noise.v)
            return false;
    }
    return true;
}

/* A value of the node that was found wrong when it was read. */
static bool prove_recorded_bad(const struct search_case *c, int node,
                               const struct odb_value_report *known)
{
    const struct odb_node *n = &c->graph->nodes[node];
    bool bad = false;
    for (int o = 0; o < n->n_out; o++)
        bad |= n->out[o] >= 0 && odb_verdict_is_bad(known[n->out[o]].verdict);
    return bad;
}

static void prove_count(const struct search_case *c, struct findings *f, const int *list,
                        const enum odb_answer *answers, size_t n,
                        const struct odb_value_report *known)
{
    struct odb_proof *proof = findings_proof(f);
    *proof = (struct odb_proof){.tried = true, .cuts = n, .counterexample = ODB_NO_NODE};
    for (size_t i = 0; i < n; i++) {
        bool bad = answers[i] == ODB_ANSWER_BAD && !prove_excused(c, f, list[i], known);
        if (bad || prove_recorded_bad(c, list[i], known)) {
            if (proof->counterexample == ODB_NO_NODE)
                proof->counterexample = list[i];
        } else if (answers[i] == ODB_ANSWER_UNTESTABLE) {
            proof->untestable++;
        } else {
            proof->good++;
        }
    }
}

/* A culprit behind the counterexample need not be the first that is wrong. */
static void prove_doubt(const struct search_case *c, struct findings *f)
{
    int node = f->report->proof.counterexample;
    bool *up = odb_new_n(bool, c->graph->n_nodes);
    for (size_t i = 0; node != ODB_NO_NODE && i < f->report->culprits.n; i++) {
        struct odb_culprit *culprit = findings_culprit(f, i);
        const struct odb_node *last = &c->graph->nodes[culprit->segment[1]];
        odb_graph_ancestors(c->graph, last->out, (size_t)last->n_out, c->drawn, up);
        if (!up[node] || node >= culprit->segment[0])
            continue;
        culprit->confidence = ODB_CONFIDENCE_LOW;
        snprintf(culprit->confidence_reason, sizeof culprit->confidence_reason,
                 "the cut behind #%d, which stands before it, is bad as well", node);
    }
    if (node != ODB_NO_NODE)
        findings_warn(f,
                      "the cut behind #%d is bad as well, and the search has skipped it: who is "
                      "accused need not be the first that is wrong; --strategy linear --step 1 "
                      "asks every cut in order",
                      node);
    free(up);
}

/* What the target made of the values, in the report and for the steps that follow. */
static struct odb_tensor **prove_keep(struct odb_tensor *const *from, size_t n)
{
    struct odb_tensor **kept = odb_new_n(struct odb_tensor *, n);
    for (size_t v = 0; v < n; v++)
        kept[v] = odb_tensor_ref(from[v]);
    return kept;
}

/* Puts it back where something was had before; kept is freed. */
static void prove_give_back(struct findings *f, struct odb_tensor **kept, size_t n,
                            void (*put)(struct findings *f, int value, const struct odb_tensor *t))
{
    for (size_t v = 0; v < n; v++) {
        if (kept[v])
            put(f, (int)v, kept[v]);
        odb_tensor_unref(kept[v]);
    }
    free(kept);
}

/* Values keep what was known of them, unless that was nothing. */
static void prove_restore(const struct search_case *c, struct findings *f,
                          const struct odb_value_report *known)
{
    for (size_t v = 0; v < c->graph->n_values; v++)
        if (known[v].verdict != ODB_VERDICT_UNTESTED &&
            known[v].verdict != ODB_VERDICT_UNTESTABLE) {
            findings_value(f, (int)v, &known[v]);
        }
}

enum odb_status prove_cuts(const struct search_case *c, struct findings *f,
                           enum odb_status signature, struct odb_error *err)
{
    size_t n = 0, asked = 0, bytes = c->graph->n_values * sizeof *f->values;
    int *list = odb_new_n(int, c->graph->n_nodes);
    enum odb_answer *answers = odb_new_n(enum odb_answer, c->graph->n_nodes);
    struct odb_value_report *known = odb_xmemdup(f->values, bytes);
    struct odb_tensor **shown = prove_keep(f->shown, c->graph->n_values);
    struct odb_tensor **given = prove_keep(f->given, c->graph->n_values);
    enum odb_status status = ODB_OK;
    if (f->report->culprits.n)
        n = prove_list(c, f, list);
    findings_expect(f, "prove", n, (double)n * (f->kept->load + f->kept->run) / 2);
    findings_step_begin(f, "proof");
    if (n)
        status = hunt_ask_prefixes(c, f, signature, ODB_NO_VALUE, "proof", list, n, false, answers,
                                   &asked, err);
    if (status == ODB_OK && f->report->culprits.n) {
        prove_count(c, f, list, answers, n, known);
        prove_doubt(c, f);
        findings_step_end(f, "prove", "%zu cut%s before who is accused, %zu of them good", n,
                          odb_plural(n), f->report->proof.good);
    }
    prove_restore(c, f, known);
    prove_give_back(f, shown, c->graph->n_values, findings_keep);
    prove_give_back(f, given, c->graph->n_values, findings_give);
    free(known);
    free(answers);
    free(list);
    return status;
}
