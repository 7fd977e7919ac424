/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Searching where one look at everything is not to be had: by prefixes that have only the cut as
 * their outputs. A probe that fails in another way than the bug does is no evidence (untestable),
 * as in git bisect skip; of wrong values, failure.h says which are the bug.
 *
 * A fault that is masked and comes back costs twice ceil(log2 N) loads here, in whatever order they
 * are: no prefix between the two shows it, so they halve down to the node that brings it back, and
 * only then is there a value to ask about. Suffixes (suffix.c) show it in each part that holds it.
 */
#include "bisect/alone/carried.h"
#include "bisect/strategy/run.h"
#include "bisect/strategy/hunt.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "bisect/decided.h"
#include "base/utf8.h"
#include "bisect/alone/alone.h"
#include "bisect/node_dag.h"
#include "bisect/failure.h"
#include "run/hooks.h"
#include "bisect/evidence/overflow.h"
#include "bisect/repeat.h"
#include "report/report.h"
#include "search/search.h"
#include "bisect/search_case.h"
#include "run/value_report.h"
#include "bisect/evidence/verify.h"

#define HUNT_NAMED                                                                                 \
    16               /* how much more suspicious than the others together a node is that is named */
#define HUNT_SPARE 3 /* loads that asking for it first may cost where it is not to blame */
#define HUNT_REGION "no testable cut tells %zu nodes from %d to %d apart"

struct hunt {
    const struct search_case *c; /* borrowed */
    struct findings *f;          /* borrowed */
    enum odb_status signature;   /* of a crash or hang; ODB_OK: values are judged */
    const char *words;           /* borrowed: what the target said of it; NULL: not known */
    struct failure failure;      /* else */
    struct odb_dag dag;          /* owned: all zero outside of a search */
    struct alone alone;          /* the one that was left, */
    int tried;                   /* which is this */
    const bool *suspects;        /* borrowed; [n_nodes] as narrowed so far; NULL: no search */
    struct ahead ahead;
    struct odb_map *asked;   /* owned: cuts that were asked, which are put to the target again */
    struct odb_known *known; /* owned; [n_nodes] what a search heard of every node by itself */
    struct odb_search_result result;
    size_t n_bad, n_other; /* probes that failed as the model does, and in another way */
    size_t n_parts;        /* the former, of less than the whole */
};

/* --- questions -------------------------------------------------------------------------------- */

/* Suspects, once the cut has these answers, or before; 0 where there are none. */
static size_t hunt_remaining(const struct hunt *h, const struct odb_cut *cut,
                             const struct odb_evidence *evidence)
{
    if (!h->suspects)
        return 0;
    if (!evidence)
        return odb_count_marks(h->suspects, h->dag.n);
    bool *left = odb_new_n(bool, h->dag.n + 1);
    size_t n = odb_search_narrow(&h->dag, h->suspects, cut, evidence, h->signature != ODB_OK, left);
    findings_left(h->f, left);
    free(left);
    return n;
}

static void hunt_forget_alone(struct hunt *h)
{
    if (h->alone.tried)
        alone_dispose(&h->alone, h->c->graph->nodes[h->tried].n_out);
    h->alone = (struct alone){0};
}

/* Before a search, and once more. */
static void hunt_forget_answers(struct hunt *h)
{
    odb_map_free(h->asked);
    free(h->known);
    h->asked = NULL;
    h->known = odb_new_n(struct odb_known, h->c->graph->n_nodes);
}

static void hunt_dispose(struct hunt *h)
{
    hunt_forget_alone(h);
    ahead_dispose(h->c, &h->ahead);
    odb_map_free(h->asked);
    free(h->known);
    odb_dag_dispose(&h->dag);
}

/* What the outputs of a node say, that were read, as far as they were. */
static struct odb_evidence hunt_evidence(const struct search_case *c, const struct findings *f,
                                         const struct odb_probe *probe, int node)
{
    struct odb_evidence evidence = {ODB_ANSWER_UNTESTABLE, NAN};
    double factor = c->options->tolerance.v[0];
    bool lacks = false, bad = false, some = false;
    for (size_t i = 0; i < probe->n_values; i++) {
        const struct odb_value_report *value = &f->values[probe->values[i]];
        if (c->graph->values[probe->values[i]].producer != node)
            continue;
        some = true;
        lacks = lacks || !probe->outputs[i];
        bad = bad || (probe->outputs[i] && odb_verdict_is_bad(value->verdict));
        if (c->options->tolerance.kind == ODB_CRITERION_NOISE && value->error.known &&
            value->noise.known && value->noise.v > 0)
            evidence.error = fmax(evidence.error, value->error.v / (factor * value->noise.v));
    }
    if (bad || (some && !lacks))
        evidence.answer = bad ? ODB_ANSWER_BAD : ODB_ANSWER_GOOD;
    return evidence;
}

/* What a probe that ran says of each node of its cut; of crashes: that it ran. */
static void hunt_read(const struct hunt *h, const struct question *q, struct odb_evidence *evidence)
{
    for (size_t i = 0; i < q->n_cut; i++)
        evidence[i] = h->signature == ODB_OK ? hunt_evidence(h->c, h->f, &q->probe, q->cut[i])
                                             : (struct odb_evidence){ODB_ANSWER_GOOD, NAN};
}

/* Whether the probe is of less than what the outputs hang on. */
static bool hunt_is_part(const struct search_case *c, const struct odb_probe *probe)
{
    bool *cut = odb_new_n(bool, c->graph->n_nodes), *all = odb_new_n(bool, c->graph->n_nodes);
    odb_graph_ancestors(c->graph, probe->values, probe->n_values, c->drawn, cut);
    odb_graph_ancestors(c->graph, c->outputs, c->n_outputs, c->drawn, all);
    bool part = memcmp(cut, all, c->graph->n_nodes * sizeof *cut) != 0;
    free(cut);
    free(all);
    return part;
}

/* Whether a target that died has died as it does of the whole model: of another signal, it is
 * another failure, and no evidence; as it is if it refuses in other words what it is known to run
 * at its plainest. part: that was of a part of the model. */
static bool hunt_same_end(struct hunt *h, enum odb_status had, const struct odb_error *err,
                          bool part)
{
    struct odb_signature shown;
    bool known = odb_verdict_is_bad(h->f->sought.verdict);
    if (h->f->sought.verdict == ODB_VERDICT_REFUSED)
        odb_signature_refusal(&shown, err);
    else
        odb_signature_status(&shown, had, err);
    bool same = !known || odb_signature_match(&h->f->sought, &shown) == ODB_ANSWER_BAD;
    h->n_bad += same;
    h->n_parts += same && part;
    h->n_other += !same;
    return same;
}

/* The question of a cut. Asked again, it is for the target: its first answer is known already. */
static struct question *hunt_question(struct hunt *h, const struct odb_cut *cut)
{
    struct question *q = question_prefix(h->c, cut, h->signature == ODB_OK);
    struct odb_buf key = ODB_BUF_INIT;
    size_t times = 0;
    for (size_t i = 0; i < cut->n; i++)
        odb_buf_printf(&key, " %d", cut->nodes[i]);
    if (h->asked && odb_map_get(h->asked, odb_buf_text(&key), &times))
        q->probe.any = false;
    odb_buf_dispose(&key);
    return q;
}

static void hunt_was_asked(struct hunt *h, const struct odb_cut *cut)
{
    struct odb_buf key = ODB_BUF_INIT;
    h->asked = h->asked ? h->asked : odb_map_new();
    for (size_t i = 0; i < cut->n; i++)
        odb_buf_printf(&key, " %d", cut->nodes[i]);
    odb_map_set(h->asked, odb_buf_text(&key), 1);
    odb_buf_dispose(&key);
}

static enum odb_status hunt_ask(void *payload, const struct odb_cut *cut,
                                struct odb_evidence *evidence, struct odb_error *err)
{
    struct hunt *h = payload;
    const struct search_case *c = h->c;
    struct findings *f = h->f;
    struct question *q = ahead_take(&h->ahead, cut->nodes[cut->n - 1]);
    if (q && !question_is(q, cut)) {
        question_free(q);
        q = NULL;
    }
    q = q ? q : hunt_question(h, cut);
    hunt_was_asked(h, cut);
    struct odb_probe *probe = &q->probe;
    struct odb_error probe_err = ODB_ERROR_INIT;
    enum odb_status status = ODB_OK, had = ODB_UNSUPPORTED;
    for (size_t i = 0; i < cut->n; i++)
        evidence[i] = (struct odb_evidence){ODB_ANSWER_UNTESTABLE, NAN};
    probe->remaining = hunt_remaining(h, cut, NULL);
    if (probe->n_values)
        had = odb_probe_run(c->prober, probe, &probe_err);
    enum odb_verdict shown = odb_probe_verdict(had);
    if (had == ODB_CANCELLED) {
        *err = probe_err;
        status = had;
    } else if (probe->n_values && h->signature != ODB_OK && had == h->signature) {
        bool same = hunt_same_end(h, had, &probe_err, hunt_is_part(c, probe));
        f->kept->refusal = same ? probe_err : f->kept->refusal;
        for (size_t i = 0; i < cut->n && same; i++)
            evidence[i].answer = ODB_ANSWER_BAD;
    } else if (had == ODB_OK) {
        status = question_judge(c, f, probe, &shown, err);
        hunt_read(h, q, evidence);
        if (status == ODB_OK && h->signature == ODB_OK)
            status = failure_weigh(&h->failure, q, evidence, err);
    } else if (h->signature == ODB_OK && (had == ODB_E_CRASH || had == ODB_E_TIMEOUT)) {
        failure_died(&h->failure, probe->node, had);
    }
    if (probe->n_values)
        odb_probe_tell(c->prober, probe, shown, hunt_remaining(h, cut, evidence));
    if (had != ODB_OK && had != ODB_CANCELLED && cut->n == 1) /* of several, which one is unknown */
        question_note_failure(c, f, q->list, probe->n_values, had);
    question_free(q);
    return status;
}

static bool hunt_at_hand(void *payload, const struct odb_cut *cut)
{
    const struct hunt *h = payload;
    const struct question *q = h->ahead.of ? h->ahead.of[cut->nodes[cut->n - 1]] : NULL;
    return q && question_is(q, cut) && odb_probe_at_hand(q->prober, &q->probe);
}

/* Begins with a prefix that is going to be asked for, while there are workers for it. */
static bool hunt_begin(void *payload, const struct odb_cut *cut)
{
    struct hunt *h = payload;
    if (!h->ahead.of)
        return false;
    if (h->ahead.of[cut->nodes[cut->n - 1]])
        return true;
    if (!odb_pool_idle(h->c->pool))
        return false;
    ahead_put(&h->ahead, hunt_question(h, cut));
    return true;
}

/* Whether the target is asked for one node alone. */
static bool hunt_tries_alone(const struct search_case *c)
{
    return !c->options->no_checks && odb_probe_cuts(c->prober) == ODB_CUTS_ANY;
}

/* Whether the one that is left is wrong alone, which is kept for the step that accuses it. */
static enum odb_status hunt_confirm(void *payload, int node, enum odb_answer *answer,
                                    struct odb_error *err)
{
    struct hunt *h = payload;
    hunt_forget_alone(h);
    h->tried = node;
    ODB_TRY(verify_try(h->c, h->f, node, NULL, &h->alone, err));
    *answer = h->alone.had != ODB_OK ? ODB_ANSWER_UNTESTABLE
              : h->alone.guilty      ? ODB_ANSWER_BAD
              : h->alone.judged      ? ODB_ANSWER_GOOD
                                     : ODB_ANSWER_UNTESTABLE;
    return ODB_OK;
}

/* --- searches --------------------------------------------------------------------------------- */

/* What nodes cost and how suspicious they are, for the search core. A load of everything takes
 * about as long for what it has to read and compile as for starting at all. */
struct hunt_weights {
    double *build, *read, *suspicion; /* owned; [n_nodes] */
};

/* Whether the words have this one, by itself. */
static bool hunt_says(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = words; n && (at = strstr(at, word)); at++)
        if ((at == words || !(isalnum((unsigned char)at[-1]) || at[-1] == '_')) &&
            !isalnum((unsigned char)at[n]) && at[n] != '_')
            return true;
    return false;
}

/* Nodes that the target's words name, by themselves or by their operator, are more suspicious than
 * all others together. *any: there are some. */
static void hunt_suspect_named(const struct hunt *h, double *suspicion, bool *any)
{
    const struct odb_graph *graph = h->c->graph;
    *any = false;
    for (size_t i = 0; i < graph->n_nodes && h->words; i++) {
        const struct odb_node *node = &graph->nodes[i];
        if (!hunt_says(h->words, node->op_type) && !hunt_says(h->words, node->name))
            continue;
        suspicion[i] *= HUNT_NAMED * (double)graph->n_nodes;
        *any = true;
    }
}

static struct hunt_weights hunt_weigh(const struct search_case *c)
{
    const struct odb_graph *graph = c->graph;
    size_t n = graph->n_nodes;
    struct hunt_weights w = {odb_new_n(double, n + 1), odb_new_n(double, n + 1),
                             odb_new_n(double, n + 1)};
    double weights = 1, values = 1;
    for (size_t v = 0; v < graph->n_values; v++) {
        weights += (double)odb_tensor_size(graph->values[v].init);
        values += (double)odb_tensor_size(c->trace->ref[v]);
    }
    for (size_t i = 0; i < n; i++) {
        const struct odb_node *node = &graph->nodes[i];
        const struct odb_op *op = odb_cpu_op(c->trace->cpu, (int)i);
        w.build[i] = 0.5 / (double)n;
        for (int k = 0; k < node->n_in; k++)
            if (node->in[k] >= 0)
                w.build[i] +=
                    0.5 * (double)odb_tensor_size(graph->values[node->in[k]].init) / weights;
        for (int k = 0; k < node->n_out; k++)
            if (node->out[k] >= 0)
                w.read[i] +=
                    1. / 16 + (double)odb_tensor_size(c->trace->ref[node->out[k]]) / values;
        w.suspicion[i] = op && (op->flags & ODB_OP_EXACT) ? 0.25 : 1; /* it only moves */
    }
    return w;
}

static void hunt_weights_dispose(struct hunt_weights *w)
{
    free(w->build);
    free(w->read);
    free(w->suspicion);
}

static void hunt_warn(struct findings *f, const struct odb_search_result *result)
{
    if (result->flaky || repeat_unsteady(f))
        findings_warn(f,
                      "the target answers the same question differently: cuts were asked several "
                      "times, and with %.0f %% no answer that counted is there by chance",
                      100 * floor(result->confidence * 1000) / 1000);
    if (result->dips)
        findings_warn(f, "the error is not monotone: it is within tolerance after it was "
                         "not, and comes back");
}

/* Bisects over prefixes among the ancestors of values; suspects [n_nodes] are those left; what
 * was heard is in h. *probes grows by the questions. */
static enum odb_status hunt_search(struct hunt *h, const int *values, size_t n_values,
                                   bool *suspects, size_t *probes, struct odb_error *err)
{
    struct odb_oracle oracle = {
        hunt_ask, hunt_begin, hunt_at_hand,
        h->signature == ODB_OK && hunt_tries_alone(h->c) ? hunt_confirm : NULL, h};
    struct hunt_weights weights = hunt_weigh(h->c);
    bool named;
    hunt_suspect_named(h, weights.suspicion, &named);
    enum odb_status status;
    double steps;
    struct odb_search_options options = {.suspicion = weights.suspicion,
                                         .build = weights.build,
                                         .read = weights.read,
                                         .load = 1,
                                         .spare = named ? HUNT_SPARE : 0,
                                         .joint = h->signature != ODB_OK,
                                         .flaky = repeat_unsteady(h->f)};
    h->dag = odb_dag_of(h->c->graph, h->c->drawn);
    h->suspects = suspects;
    h->ahead = ahead_new(h->c);
    findings_step_begin(h->f, "prefixes");
    do { /* answers part where integers that the target stores turn out to be coarser */
        steps = decided_coarsest(h->f);
        hunt_forget_answers(h);
        options.known = h->known;
        odb_graph_ancestors(h->c->graph, values, n_values, h->c->drawn, suspects);
        status = odb_search(&h->dag, suspects, &oracle, &options, &h->result, err);
        *probes += h->result.loads;
    } while (status == ODB_OK && h->result.flaky && decided_coarsest(h->f) > steps);
    if (h->result.flaky)
        repeat_was_unsteady(h->f);
    hunt_warn(h->f, &h->result);
    failure_warn(&h->failure);
    hunt_weights_dispose(&weights);
    return status;
}

/* Whether what the node reads from others was read, and passed. */
static bool hunt_inputs_pass(const struct search_case *c, const struct findings *f, int node)
{
    const struct odb_node *n = &c->graph->nodes[node];
    for (size_t i = 0; i < odb_node_n_reads(n); i++) {
        int v = odb_node_reads(n, i);
        if (v >= 0 && c->graph->values[v].producer != ODB_NO_NODE && !c->drawn[v] &&
            f->values[v].verdict != ODB_VERDICT_PASS)
            return false;
    }
    return true;
}

bool hunt_rounded(const struct findings *f, int value)
{
    return decided_stores(f) && f->values[value].verdict == ODB_VERDICT_FAIL;
}

bool hunt_proves(const struct search_case *c, const struct findings *f, int value, const bool *left)
{
    size_t n = c->graph->n_nodes;
    if (!hunt_rounded(f, value))
        return true;
    return odb_count_marks(left, n) == 1 &&
           carried_replay(c, f, (int)odb_first_mark(left, n)) == CARRIED_WRONG;
}

enum odb_status hunt_accuse_left(const struct search_case *c, struct findings *f, int value,
                                 const bool *left, const struct alone *known, bool widen,
                                 struct odb_error *err)
{
    int first = -1, last = -1;
    size_t n = 0;
    for (size_t i = 0; i < c->graph->n_nodes; i++) {
        if (!left[i])
            continue;
        first = first < 0 ? (int)i : first;
        last = (int)i;
        n++;
    }
    int shown = last == c->graph->values[value].producer ? value : case_output_of(c, last);
    bool read = odb_verdict_is_bad(f->values[shown].verdict);
    struct odb_culprit *culprit =
        findings_accuse(f, last, shown, findings_kind(f, read ? shown : value));
    culprit->segment[0] = first;
    if (n > 1) {
        findings_warn(f, HUNT_REGION, n, first, last);
        return ODB_OK;
    }
    if (read && hunt_inputs_pass(c, f, last))
        culprit->checks[ODB_CHECK_PREFIX] = ODB_CONFIRMS;
    if (c->options->no_checks)
        return ODB_OK;
    findings_step_begin(f, "verify");
    enum odb_status status = verify_believe(c, f, culprit, known, widen, err);
    findings_step_end(f, "verify", "the accused alone on the target, on its own inputs");
    return status;
}

/* Whether the model up to node is bad, and up to each node right before it is not. */
static bool hunt_shows(const struct hunt *h, int value, int node)
{
    const struct odb_known *own = &h->known[node];
    bool bad = own->bad > own->good || h->c->graph->values[value].producer == node;
    for (size_t p = h->dag.start[node]; p < h->dag.start[node + 1]; p++)
        bad = bad && h->known[h->dag.parents[p]].good > h->known[h->dag.parents[p]].bad;
    return bad;
}

/* Nodes in the order of the graph that make what a node reads. */
static struct odb_cut hunt_makers(const struct search_case *c, int node, int *makers)
{
    const struct odb_node *of = &c->graph->nodes[node];
    struct odb_cut cut = {.nodes = makers};
    for (int n = 0; n < node; n++)
        for (size_t i = 0; i < odb_node_n_reads(of); i++) {
            int v = odb_node_reads(of, i);
            if (v < 0 || c->drawn[v] || c->graph->values[v].producer != n)
                continue;
            makers[cut.n++] = n;
            break;
        }
    return cut;
}

enum odb_status hunt_before(const struct search_case *c, struct findings *f, int node, bool *bad,
                            struct odb_error *err)
{
    const struct odb_node *of = &c->graph->nodes[node];
    int *makers = odb_new_n(int, odb_node_n_reads(of) + 1);
    struct odb_cut cut = hunt_makers(c, node, makers);
    struct odb_error why = ODB_ERROR_INIT;
    if (!cut.n) { /* nothing stands before it */
        free(makers);
        return ODB_OK;
    }
    struct question *q = question_prefix(c, &cut, true);
    enum odb_status had = q->probe.n_values ? odb_probe_run(c->prober, &q->probe, &why) : ODB_OK;
    enum odb_status status = had == ODB_CANCELLED ? had : ODB_OK;
    enum odb_verdict shown = odb_probe_verdict(had);
    if (status != ODB_OK)
        *err = why;
    else if (had == ODB_OK)
        status = question_judge(c, f, &q->probe, &shown, err);
    for (size_t i = 0; i < odb_node_n_reads(of) && had == ODB_OK && status == ODB_OK; i++)
        for (size_t k = 0; k < q->probe.n_values; k++)
            bad[i] |= odb_node_reads(of, i) == q->probe.values[k] &&
                      odb_verdict_is_bad(f->values[q->probe.values[k]].verdict);
    if (q->probe.n_values)
        odb_probe_tell(c->prober, &q->probe, shown, 0);
    question_free(q);
    free(makers);
    return status;
}

/* What node reads was wrong, and let pass since honest runs are as far off: the error may have come
 * in there, and anywhere behind values that pass without that. */
static void hunt_widen_excused(const struct search_case *c, struct findings *f, int node,
                               bool *left)
{
    const struct odb_node *of = &c->graph->nodes[node];
    bool excused = false, *clean = odb_new_n(bool, c->graph->n_nodes + 1);
    int *values = odb_new_n(int, c->graph->n_values), n = 0;
    for (size_t i = 0; i < odb_node_n_reads(of); i++)
        excused |= odb_node_reads(of, i) >= 0 && f->values[odb_node_reads(of, i)].excused;
    for (int v = 0; v < (int)c->graph->n_values; v++)
        if (f->values[v].verdict == ODB_VERDICT_PASS && !f->values[v].excused)
            values[n++] = v;
    if (excused) {
        char label[200];
        findings_note(f,
                      "what %s reads is off by no more than honest runs that decide otherwise on "
                      "the way, so the error may have come in before",
                      odb_node_label(of, label, sizeof label));
        odb_graph_ancestors(c->graph, values, (size_t)n, c->drawn, clean);
        odb_graph_ancestors(c->graph, of->out, 1, c->drawn, left);
        for (size_t i = 0; i < c->graph->n_nodes; i++)
            left[i] = left[i] && (!clean[i] || (int)i == node);
    }
    free(values);
    free(clean);
}

/* The one that is left cannot be tried alone, or is fed there what the target does not store. A
 * good prefix clears its nodes by guess, for an error
 * may go past its end; so what the accused reads is read, and what is wrong there is searched in
 * the place of value. *before: that; ODB_NO_VALUE: nothing is. */
static enum odb_status hunt_settle(const struct search_case *c, struct findings *f, int value,
                                   bool *left, int *before, struct odb_error *err)
{
    *before = ODB_NO_VALUE;
    if ((hunt_tries_alone(c) && !hunt_rounded(f, value)) ||
        odb_count_marks(left, c->graph->n_nodes) != 1)
        return ODB_OK;
    int last = (int)odb_first_mark(left, c->graph->n_nodes);
    const struct odb_node *node = &c->graph->nodes[last];
    bool *bad = odb_new_n(bool, odb_node_n_reads(node) + 1);
    enum odb_status status = hunt_before(c, f, last, bad, err);
    for (size_t i = odb_node_n_reads(node); i-- > 0 && status == ODB_OK;)
        if (bad[i])
            *before = odb_node_reads(node, i);
    if (status == ODB_OK && *before == ODB_NO_VALUE && carried_replay(c, f, last) == CARRIED_RIGHT)
        carried_from(c, f, last, left);
    else if (status == ODB_OK && *before == ODB_NO_VALUE)
        hunt_widen_excused(c, f, last, left);
    free(bad);
    return status;
}

enum odb_status hunt_value(const struct search_case *c, struct findings *f, int value,
                           struct odb_error *err)
{
    struct hunt h = {.c = c, .f = f, .signature = ODB_OK, .failure = failure_of(c, f, value)};
    bool *suspects = odb_new_n(bool, c->graph->n_nodes);
    size_t probes = 0;
    int before = ODB_NO_VALUE;
    enum odb_status status = hunt_search(&h, &value, 1, suspects, &probes, err);
    if (status == ODB_OK)
        status = hunt_settle(c, f, value, suspects, &before, err);
    findings_step_end(f, "prefix", "%zu cut%s for %.100s", probes, odb_plural(probes),
                      c->graph->values[value].name);
    if (status == ODB_OK && before != ODB_NO_VALUE) {
        free(suspects);
        hunt_dispose(&h);
        return hunt_value(c, f, before, err);
    }
    bool accuses = status == ODB_OK && hunt_proves(c, f, value, suspects);
    if (accuses)
        status = hunt_accuse_left(c, f, value, suspects, &h.alone, true, err);
    struct odb_culprit *culprit =
        accuses && status == ODB_OK ? findings_culprit(f, f->report->culprits.n - 1) : NULL;
    for (int i = 0; culprit && i < (int)c->graph->n_nodes; i++)
        if (suspects[i] && !hunt_shows(&h, value, i)) /* one of several, or not asked */
            culprit->checks[ODB_CHECK_PREFIX] = ODB_NOT_ASKED;
    if (culprit && culprit->verified && culprit->segment[0] == culprit->segment[1])
        status = failure_explain(&h.failure, culprit->node, err);
    free(suspects);
    hunt_dispose(&h);
    return status;
}

#define HUNT_WITNESSES 3

/* Up to HUNT_WITNESSES nodes of other operators than the accused one's, each of another. */
static size_t hunt_witnesses(const struct search_case *c, int accused, int *list)
{
    size_t count = 0;
    for (size_t n = c->graph->n_nodes; n-- > 0 && count < HUNT_WITNESSES;) {
        const char *op = c->graph->nodes[n].op_type;
        bool known = case_output_of(c, (int)n) < 0 || c->trace->why[n] ||
                     strcmp(op, c->graph->nodes[accused].op_type) == 0;
        for (size_t i = 0; i < count; i++)
            known = known || strcmp(op, c->graph->nodes[list[i]].op_type) == 0;
        if (!known)
            list[count++] = (int)n;
    }
    return count;
}

bool hunt_runs_at_all(const struct search_case *c, struct findings *f, int accused,
                      enum odb_status signature)
{
    int witnesses[HUNT_WITNESSES];
    size_t n = hunt_witnesses(c, accused, witnesses);
    struct ahead ahead = ahead_new(c);
    bool runs = n == 0; /* a model of one operator has no witness */
    for (size_t i = 0; i < n && ahead.of; i++)
        ahead_put(&ahead, question_alone(c, c->prober, witnesses[i], c->trace->ref));
    for (size_t i = 0; i < n && !runs; i++) {
        struct alone alone = {0};
        struct odb_error ignored = ODB_ERROR_INIT;
        struct question *q = ahead_take(&ahead, witnesses[i]);
        q = q ? q : question_alone(c, c->prober, witnesses[i], c->trace->ref);
        runs = alone_run(c, f, q, &alone, &ignored) != signature;
        alone_dispose(&alone, c->graph->nodes[witnesses[i]].n_out);
    }
    ahead_dispose(c, &ahead);
    findings_dead(f, !runs);
    if (!runs)
        findings_note(f, "it does the same on a single %s as on a single %s",
                      c->graph->nodes[witnesses[0]].op_type, c->graph->nodes[accused].op_type);
    return runs;
}

/* No node is to blame, and nothing is known of the model. */
static enum odb_status hunt_dead(const struct search_case *c, struct findings *f, const char *words,
                                 struct odb_error *err)
{
    findings_drop(f, f->report->culprits.n - 1);
    findings_diverge(f, false);
    odb_fail(err, ODB_E_EXECUTOR, "the target does not run at all here: %s", words);
    return odb_error_at(err, "%s", c->options->target);
}

/* The target dies of the model as a whole, and of no part of it that was asked: no node is accused.
 */
static void hunt_only_whole(struct hunt *h)
{
    findings_only_whole(h->f, h->signature == ODB_E_CRASH ? "crashes" : "hangs");
    findings_warn(h->f, "no node that was asked fails so by itself: all that is known "
                        "is that the model does, as a whole");
}

/* Accuses the node that ends the smallest prefix which kills the target, and runs it alone; words:
 * the target's last ones. */
static enum odb_status hunt_accuse_dead(struct hunt *h, int first, int last, const char *words,
                                        struct odb_error *err)
{
    const struct search_case *c = h->c;
    struct findings *f = h->f;
    struct alone alone = {0};
    struct odb_error alone_err = ODB_ERROR_INIT;
    int value = case_output_of(c, last);
    if (value >= 0) {
        struct odb_value_report dead = f->values[value];
        dead.verdict = odb_probe_verdict(h->signature);
        findings_value(f, value, &dead);
    }
    struct odb_culprit *culprit = findings_accuse(
        f, last, value, h->signature == ODB_E_CRASH ? ODB_KIND_CRASH : ODB_KIND_HANG);
    culprit->reaches_output = true;
    culprit->segment[0] = first;
    odb_text_fit(culprit->numbers.reason, sizeof culprit->numbers.reason, "%s", words);
    findings_step_begin(f, "verify");
    enum odb_status status =
        alone_run(c, f, question_alone(c, c->prober, last, c->trace->ref), &alone, &alone_err);
    alone_dispose(&alone, c->graph->nodes[last].n_out);
    if (status == ODB_CANCELLED) {
        *err = alone_err;
        return status;
    }
    culprit->verified = status == h->signature;
    if (culprit->verified) /* whatever else stands in the region */
        culprit->segment[0] = last;
    culprit->checks[ODB_CHECK_PREFIX] =
        first == last && h->result.confirmed ? ODB_CONFIRMS : ODB_NOT_ASKED;
    culprit->checks[ODB_CHECK_ALONE] = culprit->verified  ? ODB_CONFIRMS
                                       : status == ODB_OK ? ODB_CONTRADICTS
                                                          : ODB_NOT_TESTABLE;
    if (!culprit->verified && status != ODB_OK)
        findings_note(f, "#%d alone is refused by the target, which says nothing: %.200s", last,
                      alone_err.what);
    const bool verified = culprit->verified;
    if (status == ODB_OK && !h->n_parts && !c->pinned) { /* the last node of all, alone */
        findings_drop(f, f->report->culprits.n - 1);
        hunt_only_whole(h);
    }
    bool first_of_all = h->dag.start[last] == h->dag.start[last + 1];
    bool dead =
        first_of_all && verified && !c->pinned && !hunt_runs_at_all(c, f, last, h->signature);
    findings_step_end(f, "verify", "the accused alone on the target");
    return dead ? hunt_dead(c, f, words, err) : ODB_OK;
}

enum odb_status hunt_crash(const struct search_case *c, struct findings *f,
                           enum odb_status signature, struct odb_error *err)
{
    struct hunt h = {.c = c, .f = f, .signature = signature};
    struct odb_error first_words = *err;
    bool *suspects = odb_new_n(bool, c->graph->n_nodes);
    size_t probes = 0, left = 0;
    int first = -1, last = -1;
    enum odb_status status = hunt_search(&h, c->outputs, c->n_outputs, suspects, &probes, err);
    bool whole = status == ODB_OK && (!h.n_bad || h.result.acquitted);
    if (whole)
        odb_graph_ancestors(c->graph, c->outputs, c->n_outputs, c->drawn, suspects);
    for (size_t i = 0; i < c->graph->n_nodes; i++) {
        if (!suspects[i])
            continue;
        first = first < 0 ? (int)i : first;
        last = (int)i;
        left++;
    }
    whole = whole && left > 1;
    if (!whole && status == ODB_OK && left > 1)
        findings_warn(f, HUNT_REGION, left, first, last);
    findings_step_end(f, "prefix", "%zu cut%s for what makes the target %s", probes,
                      odb_plural(probes), signature == ODB_E_CRASH ? "crash" : "hang");
    if (h.n_other)
        findings_warn(f,
                      "%zu cut%s made the target fail in another way than the model does: "
                      "no evidence about this failure",
                      h.n_other, h.n_other == 1 ? "" : "s");
    if (status == ODB_OK && !h.n_parts && strstr(first_words.what, ODB_ANSWERS_MACHINE)) {
        findings_diverge(f, false); /* nor need the model have been the cause */
        odb_fail(err, ODB_SKIPPED, "the whole model %s, and no part of it takes the machine down",
                 ODB_ANSWERS_MACHINE);
        status = odb_error_remedy(err, "--retry to try it again");
    } else if (whole) {
        hunt_only_whole(&h);
    } else if (status == ODB_OK && last >= 0)
        status = hunt_accuse_dead(&h, first, last, first_words.what, err);
    free(suspects);
    hunt_dispose(&h);
    return status;
}

enum odb_status hunt_refusal(const struct search_case *c, struct findings *f,
                             enum odb_status refusal, const char *words, int *node,
                             struct odb_error *err)
{
    struct hunt h = {.c = c, .f = f, .signature = refusal, .words = words};
    bool *suspects = odb_new_n(bool, c->graph->n_nodes);
    size_t probes = 0, left = 0;
    int first = ODB_NO_NODE;
    enum odb_status status = hunt_search(&h, c->outputs, c->n_outputs, suspects, &probes, err);
    bool some = status == ODB_OK && h.n_bad && !h.result.acquitted;
    *node = ODB_NO_NODE;
    for (size_t i = 0; i < c->graph->n_nodes && some; i++) {
        if (!suspects[i])
            continue;
        first = left++ ? first : (int)i;
        *node = (int)i;
    }
    if (left > 1)
        findings_warn(f, HUNT_REGION, left, first, *node);
    findings_step_end(f, "prefix", "%zu cut%s for what the target refuses", probes,
                      odb_plural(probes));
    free(suspects);
    hunt_dispose(&h);
    return status;
}

/* Whether something bad stands right before a node, or before what could not be tested there;
 * behind [n_nodes] says so of the nodes before it. */
static bool hunt_inherits(const struct search_case *c, const struct findings *f, size_t node,
                          const bool *behind)
{
    const struct odb_node *n = &c->graph->nodes[node];
    bool inherits = false;
    for (size_t i = 0; i < odb_node_n_reads(n); i++) {
        int v = odb_node_reads(n, i);
        if (v < 0 || c->graph->values[v].producer == ODB_NO_NODE)
            continue;
        enum odb_verdict verdict = f->values[v].verdict;
        inherits |= odb_verdict_is_bad(verdict) ||
                    (verdict != ODB_VERDICT_PASS && behind[c->graph->values[v].producer]);
    }
    return inherits;
}

/* Nodes with a bad output and none bad among what they read, captured values included. */
static void hunt_accuse_first(const struct search_case *c, struct findings *f)
{
    bool *behind = odb_new_n(bool, c->graph->n_nodes);
    for (size_t n = 0; n < c->graph->n_nodes; n++) {
        const struct odb_node *node = &c->graph->nodes[n];
        int bad = ODB_NO_VALUE;
        behind[n] = hunt_inherits(c, f, n, behind);
        for (int o = 0; o < node->n_out; o++)
            if (node->out[o] >= 0 && odb_verdict_is_bad(f->values[node->out[o]].verdict))
                bad = node->out[o];
        if (bad >= 0 && !behind[n])
            findings_accuse(f, (int)n, bad, findings_kind(f, bad));
    }
    free(behind);
}

enum odb_status hunt_ask_prefixes(const struct search_case *c, struct findings *f,
                                  enum odb_status signature, int output, const char *phase,
                                  const int *nodes, size_t n, bool until_bad,
                                  enum odb_answer *answers, size_t *asked, struct odb_error *err)
{
    struct hunt h = {.c = c,
                     .f = f,
                     .signature = signature,
                     .failure = failure_of(c, f, output),
                     .ahead = ahead_new(c)};
    enum odb_status status = ODB_OK;
    bool bad = false;
    for (size_t i = 0; i < n; i++)
        answers[i] = ODB_ANSWER_UNTESTABLE;
    for (*asked = 0; *asked < n && status == ODB_OK && !(bad && until_bad); ++*asked) {
        struct odb_evidence evidence;
        for (; h.ahead.next < n && ahead_reaches(c, &h.ahead, *asked); h.ahead.next++) {
            struct odb_cut cut = {&nodes[h.ahead.next], 1};
            ahead_put(&h.ahead, question_prefix(c, &cut, signature == ODB_OK));
        }
        status = hunt_ask(&h, &(struct odb_cut){&nodes[*asked], 1}, &evidence, err);
        answers[*asked] = evidence.answer;
        bad = evidence.answer == ODB_ANSWER_BAD;
        if (status == ODB_OK)
            odb_hooks_progress(&c->options->hooks, phase, nodes[*asked], *asked + 1, n);
    }
    failure_warn(&h.failure);
    hunt_dispose(&h);
    return status;
}

enum odb_status strategy_each(const struct search_case *c, struct findings *f,
                              struct odb_error *err)
{
    size_t n = c->graph->n_nodes, asked;
    int *nodes = odb_new_n(int, n);
    enum odb_answer *answers = odb_new_n(enum odb_answer, n);
    for (size_t i = 0; i < n; i++)
        nodes[i] = (int)i;
    findings_step_begin(f, "each");
    enum odb_status status = hunt_ask_prefixes(c, f, ODB_OK, ODB_NO_VALUE, "each", nodes, n, false,
                                               answers, &asked, err);
    free(nodes);
    free(answers);
    ODB_TRY(status);
    findings_step_end(f, "each", "one submodel per node");
    ODB_TRY(overflow_look(c, f, err));
    if (!f->report->culprits.n)
        hunt_accuse_first(c, f);
    return ODB_OK;
}
