/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The loop over the catalogue, and the judge of what it finds.
 *
 *   1. Each choice is run once in the model's own types. Where that leaves more than a twentieth of
 *      the error, it is none.
 *   2. What is left is run in double, as the reference is for blame. It is exact when the target is
 *      within the variant's own noise of it, measured as for any value, and the error that it
 *      explains is more than that noise. It is partly when it takes away 99 % of the energy.
 *   3. Exact ones are put to the test on other inputs, where the target can be asked: one that does
 *      not hold there too was luck, and is partly at most.
 *   4. Several that hold are a class, told as one: these inputs do not tell them apart. So is one
 *      that holds alone before all were tried, or on a few elements. A variant whose numbers were
 *      fitted is left out where one without holds.
 *   5. Where none agrees, two at once are tried (variant_pairs.h), and must hold on other inputs
 * too.
 */
#include "explain/explanations.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "explain/accused_group.h"
#include "explain/variant_pairs.h"
#include "explain/variant.h"
#include "explain/wrong_elements.h"
#include "reference/trace.h"

#define EXPLAIN_PROMISING 0.05 /* of the error that a choice may leave to be looked at again */
#define EXPLAIN_PARTLY 0.01    /* and to be told at all */
#define EXPLAIN_NOISY_RUNS 3
#define EXPLAIN_NOISY_SEED 0x5eed0000u
#define EXPLAIN_FEW 4     /* wrong elements, below which agreement may be luck */
#define EXPLAIN_MOST 5    /* explanations that are told */
#define EXPLAIN_MEMBERS 8 /* of a class that are named */
#define EXPLAIN_INPUTS 2  /* others that are asked for */

/* A choice that explains something. */
struct explain_hit {
    struct variant *v; /* owned */
    bool agrees;       /* with the target, within noise, whatever the reference makes */
    bool exact;        /* and that explains an error */
    double residual, noise, left;
    double first;              /* what its first run leaves */
    size_t confirmed, refuted; /* other inputs on which it holds, and does not */
    bool varies;               /* it holds there with other fitted numbers */
};

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
};

static enum odb_status explain_make(struct accused *s, const struct odb_explain_question *q,
                                    struct odb_tensor *const *in, struct odb_tensor *const *out,
                                    struct odb_error *err)
{
    return q->group ? group_make(s, q, out, err) : accused_make(s, q, in, out, err);
}

/* --- one choice ------------------------------------------------------------------------------- */

/* Raises noise to how far a run of a variant is from its exact outputs. */
static void explain_raise(const struct measured *exact, struct odb_tensor *const *made,
                          struct residual *noise)
{
    struct residual far;
    residual_measure(&far, exact, made);
    if (!far.comparable)
        return;
    noise->max = fmax(noise->max, far.max);
    noise->energy = fmax(noise->energy, far.energy);
    noise->differ = ODB_MAX(noise->differ, far.differ);
}

/* Half of a variant, or all of it. */
typedef enum odb_status explain_run_fn(const struct variant *v, const struct accused *s,
                                       enum odb_precision precision, uint64_t seed,
                                       struct odb_tensor **out, struct odb_error *err);

/* How far honest computations of a variant are from its exact outputs. */
static void explain_noise(const struct variant *v, const struct accused *s, explain_run_fn *fn,
                          struct odb_tensor *const *exact, struct residual *noise)
{
    struct measured by;
    bool measures = measured_make(&by, exact, s->r, s->node->n_out, NULL) == ODB_OK;
    for (uint64_t run = 0; run <= EXPLAIN_NOISY_RUNS && measures && !variant_makes(v); run++) {
        struct odb_tensor **made = accused_outputs(s);
        if (fn(v, s, run ? ODB_PREC_NOISY : ODB_PREC_NATIVE, EXPLAIN_NOISY_SEED + run, made,
               NULL) == ODB_OK)
            explain_raise(&by, made, noise);
        accused_drop(s, made);
        free(made);
    }
    measured_dispose(&by);
}

/* Whether outputs agree with the target's within noise, which is measured where the floor does not
 * decide; by: that noise. */
static bool explain_agrees(const struct variant *v, const struct accused *s,
                           struct odb_tensor *const *exact, const struct residual *left,
                           struct residual *by)
{
    double factor = s->q->factor;
    *by = (struct residual){.comparable = true, .max = s->floor};
    if (!left->comparable || left->odd || left->differ)
        return false;
    if (left->max <= factor * s->floor)
        return true;
    if (group_decides(s))
        return false; /* but for steps, which explain_between() knows */
    explain_noise(v, s, variant_run, exact, by);
    return left->max <= factor * by->max && left->energy <= factor * factor * by->energy;
}

/* Whether agreement says something: the error is far more than noise, and hardly any of it is left.
 */
static bool explain_tells(const struct accused *s, const struct residual *left,
                          const struct residual *by)
{
    bool counts = s->base.odd || s->base.differ;
    return !s->base.comparable || ((counts || by->energy <= EXPLAIN_PROMISING * s->base.energy) &&
                                   residual_left(left, &s->base, 0) <= EXPLAIN_PARTLY);
}

/* Outputs of a variant whose call's results are moved by so many rms before they are finished. */
static enum odb_status explain_moved(const struct variant *v, const struct accused *s,
                                     struct odb_tensor *const *exact, double by,
                                     struct odb_tensor **out)
{
    for (int o = 0; o < s->node->n_out; o++) {
        struct odb_tensor *t = NULL;
        bool moves = exact[o] && s->target.wide[o] && odb_dtype_is_float(exact[o]->dtype);
        out[o] = odb_tensor_ref(exact[o]);
        if (!moves)
            continue;
        ODB_TRY(odb_tensor_clone(&t, exact[o], NULL));
        for (size_t i = 0; i < t->count; i++)
            odb_store_f64(t->dtype, t->data, i, odb_tensor_f64(t, i) + by * s->target.rms[o]);
        tensor_replace(&out[o], t);
    }
    return variant_finish(v, s, out, NULL);
}

/* How far two outputs of a variant are apart. */
struct explain_apart {
    double energy;
    size_t n;       /* elements that are */
    size_t outside; /* elements of the target that lie elsewhere */
};

/* Whether every element of the target lies between two outputs of a variant. */
static bool explain_lies_between(const struct accused *s, struct odb_tensor *const *low,
                                 struct odb_tensor *const *high, struct explain_apart *apart)
{
    *apart = (struct explain_apart){0};
    for (int o = 0; o < s->node->n_out; o++) {
        if (!s->target.wide[o])
            continue;
        if (!low[o] || !high[o] || !odb_tensor_same_shape(low[o], s->y[o]) ||
            !odb_tensor_same_shape(high[o], s->y[o]))
            return false;
        const odb_f64 *y = s->target.wide[o]->data;
        double slack = s->q->factor * s->floor * s->target.rms[o];
        for (size_t i = 0; i < s->y[o]->count; i++) {
            double a = odb_tensor_f64(low[o], i), b = odb_tensor_f64(high[o], i);
            double d = (b - a) / s->target.rms[o];
            apart->energy += d * d;
            apart->n += d != 0;
            apart->outside +=
                !(y[i] >= fmin(a, b) - slack && y[i] <= fmax(a, b) + slack) && y[i] != a;
        }
    }
    return apart->outside == 0;
}

/* The outputs of a variant where what decides is as far down, and up, as noise goes. */
static bool explain_band(const struct variant *v, const struct accused *s, struct odb_tensor **low,
                         struct odb_tensor **high, double *noise)
{
    struct residual by = {.comparable = true, .max = s->floor};
    if (s->group)
        return group_band(s, v, low, high, noise, NULL) == ODB_OK;
    struct odb_tensor **exact = accused_outputs(s);
    bool had = variant_replay(v, s, ODB_PREC_F64, 0, exact, NULL) == ODB_OK;
    if (had)
        explain_noise(v, s, variant_replay, exact, &by);
    had = had && explain_moved(v, s, exact, -s->q->factor * by.max, low) == ODB_OK &&
          explain_moved(v, s, exact, s->q->factor * by.max, high) == ODB_OK;
    *noise = by.max;
    accused_drop(s, exact);
    free(exact);
    return had;
}

/* A result that is rounded to a grid is a step off where honest sums fall on either side of a
 * border: then the target lies between what comes of sums that are as far down, and up, as noise
 * goes. */
static bool explain_between(const struct variant *v, const struct accused *s, double *noise,
                            struct explain_apart *apart)
{
    struct odb_tensor **low = accused_outputs(s), **high = accused_outputs(s);
    double by = 0;
    *apart = (struct explain_apart){0};
    bool lies = explain_band(v, s, low, high, &by) && explain_lies_between(s, low, high, apart);
    if (lies)
        *noise = by;
    accused_drop(s, low);
    accused_drop(s, high);
    free(low);
    free(high);
    return lies;
}

/* Whether lying between them says something: the error is far more than they are apart. */
static bool explain_narrow(const struct accused *s, const struct explain_apart *apart)
{
    if (s->group && s->base.differ)
        return (double)apart->n <= EXPLAIN_PROMISING * (double)s->base.differ;
    return apart->energy <= EXPLAIN_PROMISING * s->base.energy;
}

/* Whether that is to be asked: something decides, and hardly any of the error is left. */
static bool explain_decides(const struct variant *v, const struct accused *s,
                            const struct residual *left)
{
    bool grid = s->group ? group_decides(s) : variant_results(v) && !variant_makes(v) && !v->fitted;
    bool odd = left->odd || (left->differ && !s->group);
    return grid && left->comparable && !odd && s->base.comparable &&
           residual_left(left, &s->base, 0) <= EXPLAIN_PARTLY;
}

/* Judges a choice on a call: false when it explains nothing there. */
static bool explain_judge(const struct variant *v, const struct accused *s, struct explain_hit *hit)
{
    struct odb_tensor **native = accused_outputs(s), **exact = accused_outputs(s);
    struct residual first = {0}, best = {0}, by;
    struct explain_apart apart;
    bool useful = false;
    enum odb_status status = variant_run(v, s, ODB_PREC_NATIVE, 0, native, NULL);
    if (status == ODB_OK)
        residual_measure(&first, &s->target, native);
    double left = residual_left(&first, &s->base, s->q->factor * s->floor);
    left = s->base.comparable || !first.comparable ? left : 0;
    hit->first = status == ODB_OK && first.comparable ? pairs_left(s, native, left) : INFINITY;
    if (left > EXPLAIN_PROMISING)
        goto out;
    status = variant_run(v, s, ODB_PREC_F64, 0, exact, NULL);
    if (status == ODB_OK)
        residual_measure(&best, &s->target, exact);
    if (!best.comparable || (first.comparable && first.differ < best.differ))
        best = first; /* decisions and eight bits: its own precision counts too */
    hit->left = s->base.comparable ? residual_left(&best, &s->base, s->q->factor * s->floor) : 0;
    hit->residual = best.max;
    hit->agrees = explain_agrees(v, s, exact, &best, &by);
    hit->noise = by.max;
    hit->exact = hit->agrees && explain_tells(s, &best, &by);
    if (!hit->exact && explain_decides(v, s, &best) && explain_between(v, s, &hit->noise, &apart)) {
        hit->agrees = true;
        hit->exact = explain_narrow(s, &apart);
    }
    useful = hit->exact || (s->base.comparable && hit->left <= EXPLAIN_PARTLY);
out:
    accused_drop(s, native);
    accused_drop(s, exact);
    free(native);
    free(exact);
    return useful;
}

/* Whether the target made what the operator says: then there is nothing to explain. Where a
 * quantiser decides, the wrong elements are those that are no rounding of it. */
static bool explain_right(struct accused *s)
{
    static const struct variant_row as_it_is = {"", "", NULL, NULL, NULL, false, 0, false};
    const struct variant v = {.row = &as_it_is};
    struct residual noise = {.comparable = true, .max = s->floor};
    if (!s->base.comparable || s->base.odd || (s->base.differ && !group_decides(s)))
        return false;
    if (group_decides(s)) {
        struct explain_apart apart;
        bool right = explain_between(NULL, s, &noise.max, &apart);
        s->n_wrong = apart.outside;
        return right;
    }
    if (s->base.max > s->q->factor * s->floor)
        explain_noise(&v, s, variant_run, s->r, &noise);
    return s->base.max <= s->q->factor * noise.max;
}

/* Whether time or the user ends the loop. */
static bool explain_over(struct explain *e)
{
    if (e->q->seconds > 0 && odb_clock() - e->began > e->q->seconds) {
        e->out->unfinished = true;
        e->out->why_not = odb_xasprintf("its %.3g s were over after %zu variant%s%s", e->q->seconds,
                                        e->out->variants, odb_plural(e->out->variants),
                                        e->singles ? ", of which the last were two at once" : "");
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

static bool explain_choice(void *payload, struct variant *v, bool *take)
{
    struct explain *e = payload;
    struct explain_hit hit = {.v = v};
    if (explain_over(e))
        return false;
    e->out->variants++;
    if (explain_judge(v, &e->accused, &hit) && (hit.exact || !v->under)) {
        odb_push(&e->hits, hit);
        *take = true;
    }
    explain_keep(e, &hit, take);
    if (e->q->hooks && e->out->variants % 16 == 0)
        odb_hooks_progress(e->q->hooks, "explain", e->q->node, e->out->variants, 0);
    return true;
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
    struct explain_apart apart;
    bool usable = explain_make(&s, &there, pair->in, pair->out, NULL) == ODB_OK;
    bool right = usable && explain_right(&s);
    for (size_t i = 0; i < e->hits.n && usable; i++) {
        struct explain_hit *hit = &e->hits.items[i], here = {.v = hit->v};
        if (!hit->exact || hit->refuted)
            continue;
        explain_judge(hit->v, &s, &here);
        bool holds = !right              ? here.exact
                     : group_decides(&s) ? explain_between(hit->v, &s, &here.noise, &apart)
                                         : here.agrees;
        hit->confirmed += holds && !right;
        hit->refuted += !holds;
        hit->varies =
            !holds && !right && hit->v->fitted && !hit->v->under && explain_refit(hit, &s);
    }
    group_dispose(&s);
}

static size_t explain_exact(const struct explain *e)
{
    size_t n = 0;
    for (size_t i = 0; i < e->hits.n; i++)
        n += e->hits.items[i].exact && !e->hits.items[i].refuted;
    return n;
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
                                    .refuted = hit->refuted};
}

/* Whether one that holds alone may be called exact: all were tried, and more than a few elements,
 * which anything may hit by luck, or other inputs speak for it; these must for a pair. */
static bool explain_sure(const struct explain *e, const struct explain_hit *hit)
{
    bool few = e->accused.base.comparable && e->accused.n_wrong < EXPLAIN_FEW;
    return !e->out->unfinished && ((!few && !hit->v->under) || hit->confirmed);
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
            odb_push(&told.members, variant_name(e->hits.items[m].v));
        odb_push(&e->out->items, told);
    }
}

enum odb_status odb_explain(struct odb_explanations *out, const struct odb_explain_question *q,
                            struct odb_error *err)
{
    struct explain e = {.q = q, .out = out, .began = odb_clock(), .err = err};
    struct odb_error why = ODB_ERROR_INIT;
    *out = (struct odb_explanations){0};
    if (explain_make(&e.accused, q, q->in, q->out, &why) != ODB_OK) {
        out->why_not = odb_xstrdup(why.what);
    } else {
        out->tried = true;
        out->right = explain_right(&e.accused);
        out->where = where_wrong(&e.accused);
    }
    if (out->tried && !out->right) {
        variant_each(&e.accused, explain_choice, &e);
        e.singles = !out->unfinished && e.status == ODB_OK;
        if (e.singles && !explain_exact(&e))
            pairs_each(&e.pairs, &e.accused, explain_choice, &e);
        if (e.status == ODB_OK)
            explain_ask(&e);
        explain_tell(&e);
    }
    for (size_t i = 0; i < e.hits.n; i++)
        variant_free(e.hits.items[i].v);
    free(e.hits.items);
    pairs_dispose(&e.pairs);
    group_dispose(&e.accused);
    out->seconds = odb_clock() - e.began;
    return e.status;
}
