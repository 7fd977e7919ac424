/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The loop over the catalogue; judge.h says of each choice whether it holds.
 *
 *   1. Each choice is run once in the model's own types, the likeliest first (likelihood.h). Where
 * that leaves more than a twentieth of the error, it is none.
 *   2. What is left is run in double, as the reference is for blame. It is exact when the target is
 *      within the variant's own noise of it, measured as for any value, and the error that it
 *      explains is more than that noise. It is partly when it takes away 99 % of the energy.
 *   3. Exact ones are put to the test on other inputs, where the target can be asked: one that does
 *      not hold there too was luck, and is partly at most.
 *   4. Several that hold are a class, told as one: these inputs do not tell them apart. So is one
 *      that holds alone before all were tried, or on a few elements. A variant whose numbers were
 *      fitted is left out where one without holds.
 *      Where the node can be asked alone, inputs are made that tell them apart (telling.h).
 *   5. Where none agrees, two at once are tried (variant_pairs.h), and must hold on others too.
 */
#include "explain/explanations.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "explain/accused_curve.h"
#include "explain/accused_group.h"
#include "explain/judge.h"
#include "explain/likelihood.h"
#include "explain/same_call.h"
#include "explain/telling.h"
#include "explain/variant_pairs.h"
#include "explain/variant.h"
#include "explain/wrong_elements.h"

#define EXPLAIN_FEW 4     /* wrong elements, below which agreement may be luck */
#define EXPLAIN_MOST 5    /* explanations that are told */
#define EXPLAIN_MEMBERS 8 /* of a class that are named */
#define EXPLAIN_INPUTS 2  /* others that are asked for */

struct explain {
    const struct odb_explain_question *q;
    struct accused accused;
    struct odb_explanations *out;
    double began;
    enum odb_status status; /* of what ended the loop early */
    struct odb_error *err;
    ODB_VEC(struct explain_hit) hits;
    struct pairs pairs; /* what two faults may be made of */
    bool singles;       /* all variants were tried by themselves */
    size_t replays;     /* of these that ran more than a pass over the outputs */
};

static size_t explain_exact(const struct explain *e)
{
    size_t n = 0;
    for (size_t i = 0; i < e->hits.n; i++)
        n += e->hits.items[i].exact && !e->hits.items[i].refuted;
    return n;
}

static bool explain_spent(const struct explain *e)
{
    return e->q->seconds > 0 && odb_clock() - e->began > e->q->seconds;
}

/* Whether time or the user ends the loop. */
static bool explain_over(struct explain *e)
{
    if (e->out->unfinished)
        return true;
    if (explain_spent(e)) {
        e->out->unfinished = true;
        e->out->why_not = odb_xasprintf("its %.3g s were over after %zu variant%s%s", e->q->seconds,
                                        e->out->variants, odb_plural(e->out->variants),
                                        e->singles ? ", while two at once were tried" : "");
        return true;
    }
    if (e->q->hooks)
        e->status = odb_hooks_cancelled(e->q->hooks, e->err);
    return e->status != ODB_OK;
}

/* Keeps a choice for pairs: itself, or another like it where it is kept as a hit. */
static void explain_keep(struct explain *e, const struct explain_hit *hit, bool *take)
{
    bool kept = false;
    struct variant *v = hit->v->under ? NULL : *take ? variant_again(&e->accused, hit->v) : hit->v;
    if (!v)
        return;
    pairs_keep(&e->pairs, v, hit->first, &kept);
    if (*take && !kept)
        variant_free(v);
    *take |= kept;
}

static void explain_note(struct explain *e, const struct explain_hit *hit)
{
    odb_push(&e->out->trials,
             ((struct odb_trial){.variant = variant_name(hit->v),
                                 .text = variant_text(hit->v, e->accused.graph),
                                 .left = hit->first == INFINITY ? INFINITY : hit->left,
                                 .agrees = hit->agrees}));
}

/* Whether one that holds already says the same in other words. */
static bool explain_said(const struct explain *e, const struct variant *v)
{
    char *call = same_call(&e->accused, v);
    bool said = false;
    for (size_t i = 0; i < e->hits.n && call && !said; i++) {
        char *other = e->hits.items[i].exact ? same_call(&e->accused, e->hits.items[i].v) : NULL;
        said = other && !strcmp(other, call);
        free(other);
    }
    free(call);
    return said;
}

/* Whether a variant is left out: so many that are likelier were replayed. Where any agrees all are,
 * since exact says that no other does; and where all are wanted. */
static bool explain_leaves_out(const struct explain *e, const struct variant *v)
{
    return likely_replays(v) && e->replays >= likely_most(&e->accused) && !e->q->trials &&
           !explain_exact(e);
}

/* Whether all may be tried, or it is one of those that are known. */
static bool explain_may_try(const struct explain *e, const struct variant *v)
{
    char *name = e->q->known ? variant_name(v) : NULL;
    bool may = !name || variant_is_known(&e->accused, name, true);
    free(name);
    return may;
}

static bool explain_choice(void *payload, struct variant *v, bool *take)
{
    struct explain *e = payload;
    struct explain_hit hit = {.v = v};
    if (explain_over(e))
        return false;
    if (!explain_may_try(e, v)) {
        e->out->untried++;
        return true;
    }
    if (explain_leaves_out(e, v)) {
        e->out->untried++;
        return true;
    }
    e->replays += likely_replays(v);
    e->out->variants += !v->under;
    e->out->pairs += v->under != NULL;
    bool holds = explain_judge(v, &e->accused, &hit) && (hit.exact || !v->under);
    if (holds && !(hit.exact && explain_said(e, v))) {
        odb_push(&e->hits, hit);
        *take = true;
    }
    if (e->q->trials)
        explain_note(e, &hit);
    explain_keep(e, &hit, take);
    size_t tried = e->out->variants + e->out->pairs;
    if (e->q->hooks && tried % 16 == 0)
        odb_hooks_progress(e->q->hooks, "explain", e->q->node, tried, 0);
    return true;
}

static bool explain_late(void *payload)
{
    return explain_over(payload);
}

/* --- other inputs ----------------------------------------------------------------------------- */

/* Whether the same choice holds on these inputs, with numbers that are fitted to them. */
static bool explain_refit(const struct explain_hit *hit, const struct accused *s)
{
    struct variant *v = variant_again(s, hit->v);
    struct explain_hit here = {.v = v};
    bool holds = v && explain_judge(v, s, &here) && here.exact;
    variant_free(v);
    return holds;
}

/* Puts the exact ones to the test on another pair of inputs and outputs. Where the target is right
 * there, a variant that is wrong there is refuted, and one that is right says nothing. */
static void explain_try(struct explain *e, const struct odb_explain_pair *pair)
{
    struct accused s;
    struct odb_explain_question there = *e->q;
    there.given = pair->given;
    bool usable = accused_of(&s, &there, pair->in, pair->out, NULL) == ODB_OK;
    bool right = usable && explain_right(&s);
    for (size_t i = 0; i < e->hits.n && usable; i++) {
        struct explain_hit *hit = &e->hits.items[i], here = {.v = hit->v};
        if (!hit->exact || hit->refuted)
            continue;
        bool holds = explain_holds(hit->v, &s, right, &here);
        hit->confirmed += holds && !right;
        hit->shown += holds && !right ? s.n_wrong : 0;
        hit->refuted += !holds;
        hit->varies =
            !holds && !right && hit->v->fitted && !hit->v->under && explain_refit(hit, &s);
    }
    group_dispose(&s);
}

/* What did not hold elsewhere was luck; of two at once that is nothing to tell. */
static void explain_refute(struct explain *e)
{
    size_t n = 0;
    for (size_t i = 0; i < e->hits.n; i++) {
        struct explain_hit *hit = &e->hits.items[i];
        hit->exact = hit->exact && !hit->refuted;
        if (hit->v->under && !hit->exact)
            variant_free(hit->v);
        else
            e->hits.items[n++] = *hit;
    }
    e->hits.n = n;
}

static void explain_ask(struct explain *e)
{
    for (size_t k = 0; k < EXPLAIN_INPUTS && e->q->again && explain_exact(e); k++) {
        struct odb_explain_pair pair = {0};
        if (!e->q->again(e->q->payload, k, &pair))
            break;
        e->out->asked++;
        explain_try(e, &pair);
        odb_explain_pair_dispose(&pair, &e->accused.graph->nodes[e->q->node]);
    }
    explain_refute(e);
}

/* Of those that hold, the ones with more that was fitted say no more than the others. */
static void explain_drop_fitted(struct explain *e)
{
    int least = INT_MAX;
    size_t n = 0;
    for (size_t i = 0; i < e->hits.n; i++)
        if (e->hits.items[i].exact)
            least = ODB_MIN(least, e->hits.items[i].v->fitted);
    for (size_t i = 0; i < e->hits.n; i++) {
        if (e->hits.items[i].v->fitted > least)
            variant_free(e->hits.items[i].v);
        else
            e->hits.items[n++] = e->hits.items[i];
    }
    e->hits.n = n;
}

/* Whether inputs would tell one that holds from the first. */
static bool explain_differ(const struct explain *e, struct odb_tensor *const *in)
{
    struct accused s;
    bool differ = false;
    bool usable = accused_of(&s, e->q, in, e->q->out, NULL) == ODB_OK;
    const struct explain_hit *first = NULL;
    for (size_t i = 0; i < e->hits.n && usable && !differ; i++) {
        const struct explain_hit *hit = &e->hits.items[i];
        if (hit->exact && first)
            differ = telling_apart(&s, first->v, hit->v);
        first = first || !hit->exact ? first : hit;
    }
    group_dispose(&s);
    return differ;
}

/* Drops the exact ones that do not hold on inputs that were made so; apart: how many these are. */
static void explain_keep_those(struct explain *e, const bool *holds, size_t apart, const char *made)
{
    size_t n = 0;
    for (size_t i = 0; i < e->hits.n; i++) {
        struct explain_hit hit = e->hits.items[i];
        if (hit.exact && !holds[i]) {
            variant_free(hit.v);
            continue;
        }
        hit.apart += hit.exact ? apart : 0;
        hit.made = hit.exact ? made : NULL;
        e->hits.items[n++] = hit;
    }
    e->hits.n = n;
}

/* Whether so few elements are wrong, with these of other inputs, that agreement may be luck. */
static bool explain_few(const struct accused *s, size_t others)
{
    return s->base.comparable && s->n_wrong + others < EXPLAIN_FEW;
}

/* Leaves those that hold on what the node alone made of such inputs. Where it is right about them,
 * or none holds, it is another kernel, and says nothing; nor do a few elements. */
static void explain_part(struct explain *e, const struct odb_explain_pair *pair, const char *made)
{
    struct accused s;
    struct odb_explain_question alone = *e->q;
    size_t n = explain_exact(e), held = 0;
    bool *holds = odb_new_n(bool, e->hits.n);
    alone.given = NULL;
    if (accused_of(&s, &alone, pair->in, pair->out, NULL) == ODB_OK && !explain_right(&s) &&
        !explain_few(&s, 0))
        for (size_t i = 0; i < e->hits.n; i++) {
            struct explain_hit here = {.v = e->hits.items[i].v};
            holds[i] = e->hits.items[i].exact && explain_holds(here.v, &s, false, &here);
            held += holds[i];
        }
    if (held && held < n)
        explain_keep_those(e, holds, n - held, made);
    free(holds);
    group_dispose(&s);
}

/* Several hold: asks the node alone for what it makes of inputs that tell them apart. */
static void explain_tell_apart(struct explain *e)
{
    const char *made;
    if (!e->q->alone || e->q->group)
        return;
    explain_drop_fitted(e);
    for (size_t k = 0; (made = telling_words(k)) && explain_exact(e) > 1; k++) {
        const struct odb_node *node = e->accused.node;
        struct odb_tensor **in = odb_new_n(struct odb_tensor *, node->n_in);
        struct odb_explain_pair pair = {0};
        if (telling_make(in, &e->accused, k) && explain_differ(e, in) &&
            e->q->alone(e->q->payload, in, &pair)) {
            explain_part(e, &pair, made);
            odb_explain_pair_dispose(&pair, node);
        }
        for (int i = 0; i < node->n_in; i++)
            odb_tensor_unref(in[i]);
        free(in);
    }
}

/* --- what is told ----------------------------------------------------------------------------- */

/* Of what a hit leaves: those that leave about as much are ordered by what was fitted. */
static int explain_decade(const struct explain_hit *hit)
{
    return hit->left > 1e-12 ? (int)floor(log10(hit->left)) : -12;
}

static int explain_order(const void *x, const void *y)
{
    const struct explain_hit *a = x, *b = y;
    int exact = (int)b->exact - (int)a->exact;
    int fitted = a->v->fitted - b->v->fitted, size = explain_decade(a) - explain_decade(b);
    if (exact)
        return exact;
    if (a->exact && !fitted) /* rows of the user's come first */
        return (b->v->row == variants_own) - (a->v->row == variants_own);
    if (a->exact || (!size && fitted))
        return fitted;
    return (a->left > b->left) - (a->left < b->left);
}

static struct odb_explanation explain_told(const struct explain *e, const struct explain_hit *hit)
{
    if (hit->varies)
        odb_buf_puts(&hit->v->text, ", with other numbers on other inputs");
    return (struct odb_explanation){.variant = variant_name(hit->v),
                                    .text = variant_text(hit->v, e->accused.graph),
                                    .fit = hit->exact ? ODB_FIT_EXACT : ODB_FIT_PARTLY,
                                    .residual = hit->residual,
                                    .noise = hit->noise,
                                    .of =
                                        e->accused.base.comparable ? e->accused.base.max : INFINITY,
                                    .left = hit->left,
                                    .confirmed = hit->confirmed,
                                    .refuted = hit->refuted,
                                    .apart = hit->apart,
                                    .made = hit->made};
}

/* Whether one that holds alone may be called exact: all were tried, and more than a few elements
 * speak for it, of these inputs and others; others must for a pair. */
static bool explain_sure(const struct explain *e, const struct explain_hit *hit)
{
    return !e->out->unfinished && !explain_few(&e->accused, hit->shown) &&
           (!hit->v->under || hit->confirmed);
}

/* What is to be read, or fed, next: of a group the value inside that tells most members from the
 * first; of a node that was not asked alone, the inputs that tell most. */
static void explain_next_value(const struct explain *e, struct odb_explanation *told,
                               const struct variant *const *others, size_t n)
{
    const struct odb_graph *graph = e->accused.graph;
    char key[512];
    int value = telling_value(&e->accused, e->hits.items[0].v, others, n, &told->told);
    if (value != ODB_NO_VALUE)
        told->read = odb_xstrdup(odb_value_key(graph, &graph->values[value], key, sizeof key));
}

static void explain_next_inputs(const struct explain *e, struct odb_explanation *told,
                                const struct variant *const *others, size_t n)
{
    const char *words;
    int n_in = e->accused.node->n_in;
    struct odb_tensor **in = odb_new_n(struct odb_tensor *, n_in + 1);
    for (size_t k = 0; (words = telling_words(k)) && told->told < n && !explain_spent(e); k++) {
        struct accused s;
        size_t apart = 0;
        bool made = telling_make(in, &e->accused, k);
        bool usable = made && accused_of(&s, e->q, in, e->q->out, NULL) == ODB_OK;
        for (size_t i = 0; i < n && usable; i++)
            apart += telling_apart(&s, e->hits.items[0].v, others[i]);
        if (apart > told->told) {
            free(told->inputs);
            told->inputs = odb_xstrdup(words);
            told->told = apart;
        }
        if (made)
            group_dispose(&s);
        for (int i = 0; i < n_in; i++)
            odb_tensor_unref(in[i]);
    }
    free(in);
}

static void explain_next(const struct explain *e, struct odb_explanation *told)
{
    const struct variant *others[EXPLAIN_MEMBERS];
    size_t n = ODB_MIN(told->members.n, (size_t)EXPLAIN_MEMBERS);
    for (size_t i = 0; i < n; i++)
        others[i] = e->hits.items[i + 1].v;
    if (n && e->accused.group && !explain_spent(e))
        explain_next_value(e, told, others, n);
    else if (n && !e->accused.group && !e->q->alone)
        explain_next_inputs(e, told, others, n);
}

static void explain_member(const struct explain *e, struct odb_explanation *told,
                           const struct variant *v)
{
    odb_push(&told->members, variant_name(v));
    odb_push(&told->says, variant_text(v, e->accused.graph));
}

/* All that hold alike are one class, under the name of the first. */
static void explain_tell(struct explain *e)
{
    size_t most = e->q->most ? e->q->most : EXPLAIN_MOST, n_exact;
    explain_drop_fitted(e);
    n_exact = explain_exact(e);
    if (e->hits.n)
        qsort(e->hits.items, e->hits.n, sizeof *e->hits.items, explain_order);
    for (size_t i = 0; i < e->hits.n && e->out->items.n < most; i++) {
        const struct explain_hit *hit = &e->hits.items[i];
        if (hit->exact && i > 0)
            continue;
        struct odb_explanation told = explain_told(e, hit);
        if (hit->exact && (n_exact > 1 || !explain_sure(e, hit)))
            told.fit = ODB_FIT_CLASS;
        for (size_t m = 1; hit->exact && m < n_exact && m <= EXPLAIN_MEMBERS; m++)
            explain_member(e, &told, e->hits.items[m].v);
        explain_next(e, &told);
        odb_push(&e->out->items, told);
    }
}

static int explain_trial_order(const void *x, const void *y)
{
    const struct odb_trial *a = x, *b = y;
    return a->agrees != b->agrees ? (int)b->agrees - (int)a->agrees
                                  : (a->left > b->left) - (a->left < b->left);
}

enum odb_status odb_explain(struct odb_explanations *out, const struct odb_explain_question *q,
                            struct odb_error *err)
{
    struct explain e = {.q = q, .out = out, .began = odb_clock(), .err = err};
    struct odb_error why = ODB_ERROR_INIT;
    *out = (struct odb_explanations){0};
    if (accused_of(&e.accused, q, q->in, q->out, &why) != ODB_OK) {
        out->why_not = odb_xstrdup(why.what);
    } else {
        out->tried = true;
        out->right = explain_right(&e.accused);
        out->where = where_wrong(&e.accused);
    }
    if (out->tried && !out->right) {
        likely_each(&e.accused, explain_choice, explain_late, &e);
        e.singles = !out->unfinished && e.status == ODB_OK;
        if (q->known) {
            out->unfinished = true;
            out->why_not =
                out->why_not ? out->why_not : odb_xstrdup("only what is known was tried");
        } else if (e.singles && !explain_exact(&e)) {
            pairs_each(&e.pairs, &e.accused, explain_choice, &e);
        }
        if (e.status == ODB_OK)
            explain_ask(&e);
        if (e.status == ODB_OK)
            explain_tell_apart(&e);
        explain_tell(&e);
        if (e.status == ODB_OK && !explain_exact(&e) && !q->known)
            out->curve = accused_curve(&e.accused);
    }
    if (out->trials.n)
        qsort(out->trials.items, out->trials.n, sizeof *out->trials.items, explain_trial_order);
    for (size_t i = 0; i < e.hits.n; i++)
        variant_free(e.hits.items[i].v);
    free(e.hits.items);
    pairs_dispose(&e.pairs);
    group_dispose(&e.accused);
    out->seconds = odb_clock() - e.began;
    return e.status;
}
