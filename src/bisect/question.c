/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is asked of the target about one node, and what is made of the answer: see question.h.
 */
#include "bisect/question.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/decided.h"
#include "search/search.h"
#include "run/value_report.h"

/* --- one question ----------------------------------------------------------------------------- */

/* The outputs of a node that can be asked for: those that can be judged, or all; list has room for
 * n_out. */
static size_t question_outputs(const struct search_case *c, int node, bool judged, int *list)
{
    const struct odb_node *n = &c->graph->nodes[node];
    size_t count = 0;
    for (int o = 0; o < n->n_out; o++) {
        int v = n->out[o];
        if (v >= 0 && odb_probe_reads(c->graph, c->trace, v) && (c->trace->ref[v] || !judged))
            list[count++] = v;
    }
    return count;
}

static struct question *question_new(const struct search_case *c, struct odb_prober *prober,
                                     const struct odb_cut *cut, const char *how)
{
    struct question *q = odb_new(struct question);
    size_t n_out = 0;
    for (size_t i = 0; i < cut->n; i++)
        n_out += (size_t)c->graph->nodes[cut->nodes[i]].n_out;
    q->prober = prober;
    q->cut = odb_xmemdup(cut->nodes, cut->n * sizeof *cut->nodes);
    q->n_cut = cut->n;
    q->list = odb_new_n(int, n_out);
    q->outputs = odb_new_n(struct odb_tensor *, n_out);
    q->probe =
        (struct odb_probe){.what = odb_probe_title(c->graph, how, cut->nodes[0],
                                                   cut->nodes[cut->n - 1], q->what, sizeof q->what),
                           .node = cut->nodes[cut->n - 1],
                           .judged = true,
                           .values = q->list,
                           .outputs = q->outputs};
    return q;
}

struct question *question_prefix(const struct search_case *c, const struct odb_cut *cut,
                                 bool judged)
{
    char how[60] = "prefix up to";
    if (cut->n > 1)
        snprintf(how, sizeof how, "prefixes up to %zu nodes,", cut->n);
    struct question *q = question_new(c, c->prober, cut, how);
    for (size_t i = 0; i < cut->n; i++)
        q->probe.n_values +=
            question_outputs(c, cut->nodes[i], judged, q->list + q->probe.n_values);
    q->probe.any = true;
    q->probe.asked = ODB_PROBE_KIND_PREFIX;
    return q;
}

bool question_is(const struct question *q, const struct odb_cut *cut)
{
    return q->n_cut == cut->n && memcmp(q->cut, cut->nodes, cut->n * sizeof *cut->nodes) == 0;
}

/* The node alone, fed with given ([n_values], borrowed). */
struct question *question_alone(const struct search_case *c, struct odb_prober *prober, int node,
                                struct odb_tensor *const *given)
{
    char how[100] = "alone:";
    if (prober != c->prober)
        snprintf(how, sizeof how, "alone on %.80s:", odb_pool_spec(prober->pool));
    struct question *q = question_new(c, prober, &(struct odb_cut){&node, 1}, how);
    q->nodes = odb_new_n(bool, c->graph->n_nodes);
    q->nodes[node] = true;
    q->probe.asked = prober == c->prober ? ODB_PROBE_KIND_ALONE : ODB_PROBE_KIND_THIRD;
    q->probe.nodes = q->nodes;
    q->probe.given = given;
    q->probe.n_values = question_outputs(c, node, false, q->list);
    return q;
}

void question_free(struct question *q)
{
    if (!q)
        return;
    odb_probe_drop(q->prober, &q->probe);
    free(q->nodes);
    free(q->cut);
    free(q->list);
    free(q->outputs);
    free(q);
}

/* --- working ahead ---------------------------------------------------------------------------- */

struct ahead ahead_new(const struct search_case *c)
{
    bool many = odb_pool_workers(c->pool) > 1;
    return (struct ahead){many ? odb_new_n(struct question *, c->graph->n_nodes) : NULL, 0};
}

void ahead_dispose(const struct search_case *c, struct ahead *ahead)
{
    for (size_t n = 0; ahead->of && n < c->graph->n_nodes; n++)
        question_free(ahead->of[n]);
    free(ahead->of);
}

/* The question that was begun, which is the caller's now; else NULL. */
struct question *ahead_take(struct ahead *ahead, int node)
{
    struct question *q = ahead->of ? ahead->of[node] : NULL;
    if (q)
        ahead->of[node] = NULL;
    return q;
}

void ahead_put(struct ahead *ahead, struct question *q)
{
    if (ahead->of[q->probe.node]) {
        question_free(q);
        return;
    }
    odb_probe_begin(q->prober, &q->probe);
    ahead->of[q->probe.node] = q;
}

/* Whether node is among the next to begin with where all are asked in order, and now at `at`:
 * enough to keep every worker busy while one answer is judged. */
bool ahead_reaches(const struct search_case *c, const struct ahead *ahead, size_t at)
{
    return ahead->of && ahead->next < c->graph->n_nodes &&
           ahead->next < at + 2 * odb_pool_workers(c->pool);
}

/* --- what is made of an answer ---------------------------------------------------------------- */

/* Judges what a probe of a node's outputs gave, and keeps it as the target's values. */
enum odb_status question_judge(const struct search_case *c, struct findings *f,
                               const struct odb_probe *probe, enum odb_verdict *shown,
                               struct odb_error *err)
{
    for (size_t i = 0; i < probe->n_values; i++) {
        int v = probe->values[i];
        struct odb_value_report report = {0};
        ODB_TRY(odb_judge_value(&c->judge, v, probe->outputs[i], &report, err));
        decided_see(f, probe->outputs[i]);
        report.excused = decided_allows(c, f, v, &report);
        if (report.excused)
            report.verdict = ODB_VERDICT_PASS;
        findings_keep(f, v, probe->outputs[i]);
        findings_value(f, v, &report);
        odb_probe_shows(shown, report.verdict);
        findings_give(f, v, probe->outputs[i]);
    }
    return ODB_OK;
}

/* A probe gave no values: notes that for each of them, unless more is known already. */
void question_note_failure(const struct search_case *c, struct findings *f, const int *values,
                           size_t n, enum odb_status had)
{
    for (size_t i = 0; i < n; i++) {
        if (f->values[values[i]].verdict != ODB_VERDICT_UNTESTED ||
            !c->trace->ref[values[i]]) /* the reference cannot make it either */
            continue;
        struct odb_value_report failed = f->values[values[i]];
        failed.verdict = odb_probe_verdict(had);
        findings_value(f, values[i], &failed);
    }
}

enum odb_answer question_answer(enum odb_verdict verdict)
{
    bool died = verdict == ODB_VERDICT_CRASH || verdict == ODB_VERDICT_TIMEOUT;
    return verdict == ODB_VERDICT_PASS            ? ODB_ANSWER_GOOD
           : odb_verdict_is_bad(verdict) && !died ? ODB_ANSWER_BAD
                                                  : ODB_ANSWER_UNTESTABLE;
}

/* The search that asks, for a judge. */
struct question_asker {
    const struct search_case *c;
    struct findings *f;
};

static enum odb_status question_judge_part(void *payload, const struct odb_probe *probe,
                                           enum odb_verdict *shown, struct odb_error *err)
{
    const struct question_asker *by = payload;
    for (size_t i = 0; i < probe->n_values; i++) {
        struct odb_value_report report = {0};
        ODB_TRY(odb_judge_value(&by->c->judge, probe->values[i], probe->outputs[i], &report, err));
        decided_see(by->f, probe->outputs[i]);
        if (!decided_allows(by->c, by->f, probe->values[i], &report))
            odb_probe_shows(shown, report.verdict);
    }
    return ODB_OK;
}

enum odb_status question_ask(const struct search_case *c, struct findings *f,
                             struct odb_probe *probe, enum odb_verdict *verdict,
                             struct odb_error *err)
{
    struct odb_probed probed;
    struct question_asker by = {c, f};
    enum odb_status status =
        odb_probe_ask(c->prober, probe, question_judge_part, &by, &probed, err);
    *verdict = probed.verdict;
    odb_probe_drop(c->prober, probe);
    return status;
}
