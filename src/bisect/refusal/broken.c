/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An optimiser that puts together nodes that do not fit makes a target refuse what it can run. That
 * is a failure as a wrong value is, and is told from an operator that the target lacks by asking it
 * again at its plainest (probe/plainest.h).
 *
 * The node that ends the smallest prefix refused is found as any that the target refuses
 * (refused.c), and those that it takes besides by together.c.
 */
#include "bisect/refusal/broken.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/lint.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "bisect/alone/suffix.h"
#include "bisect/evidence/confidence.h"
#include "bisect/question.h"
#include "bisect/reading.h"
#include "bisect/refusal/together.h"
#include "probe/plainest.h"
#include "report/report.h"

#define BROKEN_MAKERS 3 /* nodes that make weights, of which a text tells */

/* Nodes that are refused together. */
struct broken_group {
    int node;   /* the last of them, which the search found */
    int *nodes; /* owned: all, ascending; node is the last */
    size_t n;
    bool verified;            /* they are refused as a cut, and run at the target's plainest */
    enum odb_verdict plainly; /* what that gave then; untestable: it was not judged */
    char words[600];          /* the target's */
};

struct broken_state {
    struct odb_plainest plainest;
    enum odb_refusal_means whole; /* the model as it is */
    bool whole_fails;             /* which is a failure */
    bool linted;
    char *invalid;               /* owned: an error that lint finds; NULL: none */
    struct odb_signature sought; /* of the refusal that is followed now */
    ODB_VEC(struct broken_group) groups;
};

void broken_dispose(struct findings *f)
{
    struct broken_state *b = f->kept->broken;
    if (!b)
        return;
    for (size_t i = 0; i < b->groups.n; i++)
        free(b->groups.items[i].nodes);
    free(b->groups.items);
    free(b->invalid);
    odb_plainest_dispose(&b->plainest);
    free(b);
    f->kept->broken = NULL;
}

/* --- what the refusal of the whole model means ------------------------------------------------ */

/* Whether it is a failure that the target breaks what it could run: if the model is not valid, that
 * may be what is wrong, and nothing is said against the target. */
static bool broken_is_failure(const struct search_case *c, struct findings *f,
                              enum odb_refusal_means means)
{
    struct broken_state *b = f->kept->broken;
    if (means != ODB_REFUSAL_BREAKS)
        return false;
    if (!b->linted && (b->invalid = odb_lint_error(c->model, c->trace->ref)))
        findings_warn(f,
                      "%s runs what the target refuses, but the model is not valid: %.300s; "
                      "`onnxdbg lint --run` tells more",
                      b->plainest.spec, b->invalid);
    b->linted = true;
    return !b->invalid;
}

void broken_sign(struct findings *f, const struct odb_error *why)
{
    struct broken_state *b = f->kept->broken;
    if (!b->whole_fails)
        return;
    odb_signature_refusal(&b->sought, why);
    findings_sign(f, &b->sought);
}

enum odb_status broken_look(const struct search_case *c, struct findings *f,
                            const struct odb_error *why, struct odb_error *err)
{
    struct odb_probe whole = reading_plain(c, f, "the whole model", f->plain);
    struct broken_state *b = f->kept->broken = odb_new(struct broken_state);
    findings_step_begin(f, "plainest");
    ODB_TRY(odb_plainest_ask(&b->plainest, c->prober, &whole, why, &c->judge, &b->whole, err));
    if (!b->plainest.spec)
        return ODB_OK;
    b->whole_fails = broken_is_failure(c, f, b->whole);
    findings_step_end(f, "plainest", "the model on %s: %s", b->plainest.spec,
                      b->whole == ODB_REFUSAL_BREAKS  ? "it runs"
                      : b->whole == ODB_REFUSAL_LACKS ? "refused as well"
                                                      : b->plainest.why.what);
    broken_sign(f, why);
    return ODB_OK;
}

bool broken_is_open(const struct findings *f)
{
    return f->kept->broken && !f->kept->broken->plainest.spec;
}

/* --- what is taken -----------------------------------------------------------------------------
 */

/* The target at its plainest is asked for the nodes that were found. */
static enum odb_status broken_ask_plainly(struct findings *f, const struct together *t,
                                          struct broken_group *group, struct odb_error *err)
{
    const struct search_case *c = t->c;
    struct odb_plainest *plainest = &f->kept->broken->plainest;
    enum odb_refusal_means means;
    char what[240];
    bool *cut = odb_new_n(bool, c->graph->n_nodes);
    struct odb_probe probe = together_probe(t, t->nodes, cut, what, sizeof what);
    enum odb_status status =
        odb_plainest_ask(plainest, c->prober, &probe, &t->why, &c->judge, &means, err);
    free(probe.outputs);
    free(cut);
    group->plainly = plainest->verdict;
    group->verified = means == ODB_REFUSAL_BREAKS;
    return status;
}

static void broken_keep(struct findings *f, const struct together *t, struct broken_group group)
{
    odb_text_fit(group.words, sizeof group.words, "%s", t->why.what);
    group.nodes = odb_new_n(int, t->c->graph->n_nodes);
    for (int i = 0; i <= t->node; i++)
        if (t->nodes[i])
            group.nodes[group.n++] = i;
    odb_push(&f->kept->broken->groups, group);
}

/* "#4 /pool (MaxPool), #5 /relu (Relu) and #6 /merge (Add)" */
static void broken_put_list(const struct odb_graph *graph, const int *nodes, size_t n,
                            struct odb_buf *out)
{
    for (size_t i = 0; i < n; i++) {
        odb_buf_puts(out, !i ? "" : i + 1 == n ? " and " : ", ");
        odb_node_put(graph, nodes[i], out);
    }
}

/* The same, "(and #7 /inverse (Div), for a weight)" behind it where nodes make weights of theirs.
 */
static void broken_put_nodes(const struct search_case *c, const int *nodes, size_t n,
                             struct odb_buf *out)
{
    bool *cut = odb_new_n(bool, c->graph->n_nodes);
    int *makers = odb_new_n(int, c->graph->n_nodes);
    size_t n_makers = 0;
    for (size_t i = 0; i < n; i++)
        cut[nodes[i]] = true;
    suffix_add_weights(c, cut);
    for (size_t i = 0; i < n; i++)
        cut[nodes[i]] = false;
    for (int i = 0; i < (int)c->graph->n_nodes; i++)
        if (cut[i])
            makers[n_makers++] = i;
    broken_put_list(c->graph, nodes, n, out);
    if (n_makers && n_makers <= BROKEN_MAKERS) {
        odb_buf_puts(out, " (and ");
        broken_put_list(c->graph, makers, n_makers, out);
        odb_buf_puts(out, n_makers > 1 ? ", for weights)" : ", for a weight)");
    }
    free(makers);
    free(cut);
}

enum odb_status broken_tell_together(const struct search_case *c, struct findings *f, int node,
                                     struct odb_error *err)
{
    struct odb_signature sought;
    struct odb_buf text = ODB_BUF_INIT;
    bool found;
    if (!broken_is_open(f))
        return ODB_OK;
    odb_signature_refusal(&sought, &f->kept->refusal);
    struct together t = together_new(c, &sought, node);
    enum odb_status status = together_find(&t, &found, err);
    if (status == ODB_OK && found) {
        size_t n = 0;
        int *nodes = odb_new_n(int, c->graph->n_nodes);
        for (int i = 0; i <= node; i++)
            if (t.nodes[i])
                nodes[n++] = i;
        broken_put_nodes(c, nodes, n, &text);
        if (n > 1)
            findings_note(f, "%s are refused where they stand together", odb_buf_text(&text));
        free(nodes);
    }
    odb_buf_dispose(&text);
    together_dispose(&t);
    return status;
}

/* What the target makes of the prefix that ends in this node at its plainest. */
static enum odb_status broken_ask_prefix(const struct search_case *c, struct findings *f, int node,
                                         enum odb_refusal_means *means, struct odb_error *err)
{
    struct question *q = question_prefix(c, &(struct odb_cut){&node, 1}, false);
    enum odb_status status = odb_plainest_ask(&f->kept->broken->plainest, c->prober, &q->probe,
                                              &f->kept->refusal, NULL, means, err);
    question_free(q);
    return status;
}

enum odb_status broken_take(const struct search_case *c, struct findings *f, int node, bool *is,
                            struct odb_error *err)
{
    struct broken_state *b = f->kept->broken;
    enum odb_refusal_means means = b->whole;
    bool found = false;
    *is = false;
    if (b->whole == ODB_REFUSAL_UNKNOWN)
        return ODB_OK;
    if (b->whole == ODB_REFUSAL_LACKS) /* of something, and of that? */
        ODB_TRY(broken_ask_prefix(c, f, node, &means, err));
    *is = broken_is_failure(c, f, means);
    if (!*is)
        return ODB_OK;
    odb_signature_refusal(&b->sought, &f->kept->refusal);
    struct together t = together_new(c, &b->sought, node);
    struct broken_group group = {.node = node, .plainly = ODB_VERDICT_UNTESTABLE};
    enum odb_status status = together_find(&t, &found, err);
    if (status == ODB_OK && found)
        status = broken_ask_plainly(f, &t, &group, err);
    if (!found) { /* the prefix alone is known */
        t.nodes[node] = true;
        t.why = f->kept->refusal;
    }
    if (status == ODB_OK)
        broken_keep(f, &t, group);
    together_dispose(&t);
    return status;
}

/* --- what looks like it ----------------------------------------------------------------------- */

/* Where what a node reads is made within the group, the other one's makers are to stand in. */
static void broken_map_inputs(const struct odb_graph *graph, const struct broken_group *group,
                              const struct odb_node *from, const struct odb_node *at, int *to)
{
    for (int k = 0; k < from->n_in; k++) {
        int v = from->in[k], w = at->in[k];
        int maker = v < 0 ? ODB_NO_NODE : graph->values[v].producer;
        for (size_t m = 0; maker != ODB_NO_NODE && m < group->n; m++)
            if (group->nodes[m] == maker)
                to[maker] = w < 0 ? ODB_NO_NODE : graph->values[w].producer;
    }
}

/* The nodes ([n_nodes]) that stand to this one as those of the group do to its last, by operators
 * and edges. False: there are none. */
static bool broken_map(const struct search_case *c, const struct broken_group *group, int node,
                       bool *nodes)
{
    const struct odb_graph *graph = c->graph;
    int *to = odb_new_n(int, graph->n_nodes); /* of those of the group */
    bool fits = true;
    for (size_t i = 0; i < graph->n_nodes; i++)
        to[i] = ODB_NO_NODE;
    to[group->node] = node;
    for (size_t g = group->n; g-- > 0 && fits;) {
        const struct odb_node *from = &graph->nodes[group->nodes[g]];
        const struct odb_node *at = to[from->index] < 0 ? NULL : &graph->nodes[to[from->index]];
        fits = at && at->n_in == from->n_in && !strcmp(at->op_type, from->op_type) &&
               !strcmp(at->domain, from->domain) && !(c->beyond && c->beyond[at->index]);
        if (fits)
            broken_map_inputs(graph, group, from, at, to);
    }
    for (size_t g = 0; g < group->n && fits; g++)
        nodes[to[group->nodes[g]]] = true;
    free(to);
    return fits;
}

enum odb_status broken_take_alike(const struct search_case *c, struct findings *f, int node,
                                  bool *is, struct odb_error *err)
{
    const struct broken_state *b = f->kept->broken;
    const struct broken_group like = b->groups.items[b->groups.n - 1];
    struct broken_group group = {.node = node};
    enum odb_answer answer = ODB_ANSWER_GOOD;
    enum odb_status status = ODB_OK;
    struct together t = together_new(c, &b->sought, node);
    bool *nodes = odb_new_n(bool, c->graph->n_nodes);
    if (like.verified && broken_map(c, &like, node, nodes))
        status = together_ask(&t, nodes, &answer, err);
    if (status == ODB_OK && answer == ODB_ANSWER_BAD)
        status = broken_ask_plainly(f, &t, &group, err);
    *is = status == ODB_OK && group.verified;
    if (*is)
        broken_keep(f, &t, group);
    free(nodes);
    together_dispose(&t);
    return status;
}

/* --- accusing --------------------------------------------------------------------------------- */

static int broken_by_node(const void *x, const void *y)
{
    return ((const struct broken_group *)x)->node - ((const struct broken_group *)y)->node;
}

/* Whether every node of a group is one of another, which is refused for that. */
static bool broken_holds(const struct broken_group *group, const struct broken_group *smaller)
{
    size_t held = 0;
    for (size_t i = 0; i < group->n; i++)
        held += held < smaller->n && group->nodes[i] == smaller->nodes[held];
    return held == smaller->n && held < group->n;
}

static bool broken_is_larger(const struct broken_state *b, const struct broken_group *group)
{
    bool larger = false;
    for (size_t i = 0; i < b->groups.n; i++)
        larger |= b->groups.items[i].verified && broken_holds(group, &b->groups.items[i]);
    return larger;
}

static void broken_accuse_group(const struct search_case *c, struct findings *f,
                                const struct broken_group *group)
{
    const struct broken_state *b = f->kept->broken;
    int value = case_output_of(c, group->node);
    struct odb_value_report refused = {.verdict = ODB_VERDICT_REFUSED};
    odb_text_fit(refused.reason, sizeof refused.reason, "%s", group->words);
    if (value >= 0)
        findings_value(f, value, &refused);
    struct odb_culprit *culprit = findings_accuse(f, group->node, value, ODB_KIND_REFUSED);
    culprit->numbers = refused;
    culprit->reaches_output = true;
    culprit->segment[0] = group->nodes[0];
    culprit->verified = group->verified;
    culprit->runs_with = odb_xstrdup(b->plainest.spec);
    for (size_t i = 0; i < group->n; i++)
        odb_push(&culprit->together, group->nodes[i]);
    if (group->verified)
        culprit->checks[group->n > 1 ? ODB_CHECK_REGION : ODB_CHECK_ALONE] = ODB_CONFIRMS;
}

/* A culprit that is wrong by itself and lies within what is refused, of which that may come; NULL:
 * there is none. */
static const struct odb_culprit *broken_cause(const struct findings *f,
                                              const struct odb_culprit *refused)
{
    for (size_t i = 0; i < f->report->culprits.n; i++) {
        const struct odb_culprit *who = &f->report->culprits.items[i];
        size_t held = 0;
        for (size_t k = 0; k < refused->together.n; k++)
            held += refused->together.items[k] == who->segment[0] ||
                    refused->together.items[k] == who->segment[1];
        if (who->kind != ODB_KIND_REFUSED && who->verified && !who->path &&
            held == (who->segment[0] == who->segment[1] ? 1 : 2))
            return who;
    }
    return NULL;
}

/* The last n culprits come before the others, but behind those of which they may come. */
static void broken_put_first(struct findings *f, size_t n)
{
    size_t all = f->report->culprits.n, put = 0;
    struct odb_culprit *items = findings_culprit(f, 0);
    struct odb_culprit *was = odb_xmemdup(items, all * sizeof *items);
    bool *follows = odb_new_n(bool, n);
    for (size_t i = 0; i < n; i++)
        follows[i] = broken_cause(f, &items[all - n + i]) != NULL;
    for (size_t i = 0; i < n; i++)
        if (!follows[i])
            items[put++] = was[all - n + i];
    for (size_t i = 0; i + n < all; i++)
        items[put++] = was[i];
    for (size_t i = 0; i < n; i++)
        if (follows[i])
            items[put++] = was[all - n + i];
    free(follows);
    free(was);
}

bool broken_accuse(const struct search_case *c, struct findings *f)
{
    struct broken_state *b = f->kept->broken;
    if (!b || (!b->groups.n && !b->whole_fails))
        return false;
    if (!b->groups.n) {
        findings_only_whole(f, "refuses");
        findings_warn(f, "%s runs it: no node that was asked is refused so by itself",
                      b->plainest.spec);
    } else {
        qsort(b->groups.items, b->groups.n, sizeof *b->groups.items, broken_by_node);
        size_t before = f->report->culprits.n;
        for (size_t i = 0; i < b->groups.n; i++)
            if (!broken_is_larger(b, &b->groups.items[i]))
                broken_accuse_group(c, f, &b->groups.items[i]);
        broken_put_first(f, f->report->culprits.n - before);
        confidence_all(c, f);
    }
    findings_sign(f, &b->sought);
    findings_diverge(f, true);
    return true;
}

/* --- in words --------------------------------------------------------------------------------- */

void broken_put(const struct search_case *c, const struct findings *f,
                const struct odb_culprit *who, struct odb_buf *out)
{
    const struct broken_state *b = f->kept->broken;
    const struct broken_group *group = b->groups.items;
    while (group->node != who->node)
        group++;
    odb_buf_puts(out, "The target refuses ");
    broken_put_nodes(c, group->nodes, group->n, out);
    odb_buf_puts(out, group->n > 1 ? " where they stand together: \"" : ", by itself as well: \"");
    odb_buf_put_shown(out, group->words);
    odb_buf_puts(out, "\". ");
    if (!group->verified)
        odb_buf_puts(out, "It is the prefix that ends there which is refused, and runs ");
    else
        odb_buf_puts(out, "The same cut runs ");
    odb_buf_printf(out, "with %s%s. ", b->plainest.spec,
                   group->plainly == ODB_VERDICT_PASS ? ", and gives what the reference gives"
                   : odb_verdict_is_bad(group->plainly)
                       ? ", but gives other values than the reference"
                       : "");
    odb_buf_puts(out, "The model is valid: the reference runs it, and lint finds no error. ");
    const struct odb_culprit *cause = broken_cause(f, who);
    if (!cause) {
        odb_buf_puts(out, "What the target makes of it before it runs is at fault. ");
        return;
    }
    odb_node_put(c->graph, cause->segment[0], out);
    if (cause->segment[0] < cause->segment[1]) {
        odb_buf_puts(out, " to ");
        odb_node_put(c->graph, cause->segment[1], out);
    }
    odb_buf_printf(out, " %s wrong without what follows, of which the refusal may come. ",
                   cause->segment[0] < cause->segment[1] ? "are" : "is");
}
