/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The loop over the catalogue, and the judge of what it finds.
 *
 *   1. Each choice is run once in the model's own types. Where that leaves more than a twentieth of
 *      the error, it is none.
 *   2. What is left is run in double, as the reference is for blame. It is exact when the target is
 *      within the variant's own noise of it, measured as for any value, and the error that it
 *      explains is more than that noise. It is partly when it takes away 99 % of the error's
 * energy.
 *   3. Exact ones are put to the test on other inputs, where the target can be asked: one that does
 *      not hold there too was luck, and is partly at most.
 *   4. Several that hold are a class, told as one: these inputs do not tell them apart. A variant
 *      whose numbers were fitted is left out where one without holds.
 */
#include "explain/explain.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "explain/variant.h"
#include "explain/where.h"
#include "reference/trace.h"

#define EXPLAIN_PROMISING 0.05 /* of the error that a choice may leave to be looked at again */
#define EXPLAIN_PARTLY 0.01    /* and to be told at all */
#define EXPLAIN_NOISY_RUNS 3
#define EXPLAIN_NOISY_SEED 0x5eed0000u
#define EXPLAIN_MOST 5    /* explanations that are told */
#define EXPLAIN_MEMBERS 8 /* of a class that are named */
#define EXPLAIN_INPUTS 3  /* others that are asked for */

/* A choice that explains something. */
struct explain_hit {
    struct variant *v; /* owned */
    bool exact;
    double residual, noise, left;
    size_t confirmed;
    bool refuted;
};

struct explain {
    const struct odb_explain_question *q;
    struct accused accused;
    struct odb_explanations *out;
    double began;
    enum odb_status status; /* of what ended the loop early */
    struct odb_error *err;
    ODB_VEC(struct explain_hit) hits;
};

static double explain_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
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

/* How far honest computations of a variant are from its exact outputs. native: one of them; NULL:
 * there is none. */
static void explain_noise(const struct variant *v, const struct accused *s,
                          struct odb_tensor *const *native, struct odb_tensor *const *exact,
                          struct residual *noise)
{
    struct measured by;
    if (measured_make(&by, exact, s->r, s->node->n_out, NULL) == ODB_OK) {
        if (native)
            explain_raise(&by, native, noise);
        for (uint64_t run = 0; run < EXPLAIN_NOISY_RUNS && !v->row->makes; run++) {
            struct odb_tensor **made = accused_outputs(s);
            if (variant_run(v, s, ODB_PREC_NOISY, EXPLAIN_NOISY_SEED + run, made, NULL) == ODB_OK)
                explain_raise(&by, made, noise);
            accused_drop(s, made);
            free(made);
        }
    }
    measured_dispose(&by);
}

/* Whether outputs agree with the target's within noise, which is measured where the floor does not
 * decide, and which must not explain the error by itself. */
static bool explain_agrees(const struct variant *v, const struct accused *s,
                           struct odb_tensor *const *native, struct odb_tensor *const *exact,
                           const struct residual *left, double *noise)
{
    double factor = s->q->factor;
    struct residual by = {.comparable = true, .max = s->floor};
    *noise = s->floor;
    if (!left->comparable || left->odd || left->differ)
        return false;
    if (left->max <= factor * s->floor)
        return true;
    explain_noise(v, s, native, exact, &by);
    *noise = by.max;
    bool apart = !s->base.comparable || s->base.odd || s->base.differ ||
                 by.energy <= EXPLAIN_PROMISING * s->base.energy;
    return apart && left->max <= factor * by.max && left->energy <= factor * factor * by.energy &&
           (!s->base.comparable || residual_left(left, &s->base, 0) <= EXPLAIN_PARTLY);
}

/* Judges a choice on a subject: false when it explains nothing there. */
static bool explain_judge(const struct variant *v, const struct accused *s, struct explain_hit *hit)
{
    struct odb_tensor **native = accused_outputs(s), **exact = accused_outputs(s);
    struct residual first = {0}, best = {0};
    bool useful = false;
    enum odb_status status = variant_run(v, s, ODB_PREC_NATIVE, 0, native, NULL);
    if (status == ODB_OK)
        residual_measure(&first, &s->target, native);
    double left = residual_left(&first, &s->base, s->q->factor * s->floor);
    left = s->base.comparable || !first.comparable ? left : 0;
    if (left > EXPLAIN_PROMISING)
        goto out;
    status = variant_run(v, s, ODB_PREC_F64, 0, exact, NULL);
    if (status == ODB_OK)
        residual_measure(&best, &s->target, exact);
    if (!best.comparable || (first.comparable && first.differ < best.differ))
        best = first; /* decisions and eight bits: its own precision counts too */
    hit->left = s->base.comparable ? residual_left(&best, &s->base, s->q->factor * s->floor) : 0;
    hit->residual = best.max;
    hit->exact = explain_agrees(v, s, v->row->makes ? NULL : native, exact, &best, &hit->noise);
    useful = hit->exact || (s->base.comparable && hit->left <= EXPLAIN_PARTLY);
out:
    accused_drop(s, native);
    accused_drop(s, exact);
    free(native);
    free(exact);
    return useful;
}

/* Whether time or the user ends the loop. */
static bool explain_over(struct explain *e)
{
    if (e->q->seconds > 0 && explain_now() - e->began > e->q->seconds) {
        e->out->why_not = odb_xasprintf("its %.3g s were over after %zu variants", e->q->seconds,
                                        e->out->variants);
        return true;
    }
    if (e->q->hooks)
        e->status = odb_hooks_cancelled(e->q->hooks, e->err);
    return e->status != ODB_OK;
}

static bool explain_choice(void *payload, struct variant *v, bool *take)
{
    struct explain *e = payload;
    struct explain_hit hit = {.v = v};
    if (explain_over(e))
        return false;
    e->out->variants++;
    if (explain_judge(v, &e->accused, &hit)) {
        odb_push(&e->hits, hit);
        *take = true;
    }
    if (e->q->hooks && e->out->variants % 16 == 0)
        odb_hooks_progress(e->q->hooks, "explain", e->q->node, e->out->variants, 0);
    return true;
}

/* --- other inputs ----------------------------------------------------------------------------- */

/* Puts the exact ones to the test on another pair of inputs and outputs. */
static void explain_try(struct explain *e, const struct odb_explain_pair *pair)
{
    struct accused s;
    bool usable = accused_make(&s, e->q, pair->in, pair->out, NULL) == ODB_OK;
    for (size_t i = 0; i < e->hits.n && usable; i++) {
        struct explain_hit *hit = &e->hits.items[i], here = {.v = hit->v};
        if (!hit->exact || hit->refuted)
            continue;
        bool holds = explain_judge(hit->v, &s, &here) && here.exact;
        double floor = e->q->factor * s.floor;
        bool right = s.base.comparable && !s.base.odd && !s.base.differ && s.base.max <= floor;
        if (right) /* a fault that does not show here: the variant must not show either */
            continue;
        hit->confirmed += holds;
        hit->refuted = !holds;
    }
    accused_dispose(&s);
}

static size_t explain_exact(const struct explain *e)
{
    size_t n = 0;
    for (size_t i = 0; i < e->hits.n; i++)
        n += e->hits.items[i].exact && !e->hits.items[i].refuted;
    return n;
}

static void explain_ask(struct explain *e)
{
    for (size_t k = 0; k < EXPLAIN_INPUTS && e->q->again && explain_exact(e); k++) {
        struct odb_explain_pair pair = {0};
        if (!e->q->again(e->q->payload, k, &pair))
            break;
        e->out->asked++;
        explain_try(e, &pair);
        odb_explain_pair_dispose(&pair, e->accused.node);
    }
    for (size_t i = 0; i < e->hits.n; i++)
        if (e->hits.items[i].refuted)
            e->hits.items[i].exact = false;
}

/* --- what is told ----------------------------------------------------------------------------- */

static int explain_order(const void *x, const void *y)
{
    const struct explain_hit *a = x, *b = y;
    int exact = (int)b->exact - (int)a->exact;
    int fitted =
        (int)(a->v->row->flags & VARIANT_FITTED) - (int)(b->v->row->flags & VARIANT_FITTED);
    if (exact)
        return exact;
    if (a->exact)
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
    return (struct odb_explanation){.variant = variant_name(hit->v),
                                    .text = odb_xstrdup(odb_buf_text(&hit->v->text)),
                                    .fit = hit->exact ? ODB_FIT_EXACT : ODB_FIT_PARTLY,
                                    .residual = hit->residual,
                                    .noise = hit->noise,
                                    .of =
                                        e->accused.base.comparable ? e->accused.base.max : INFINITY,
                                    .left = hit->left,
                                    .confirmed = hit->confirmed};
}

/* All that hold alike are one class, under the name of the first. */
static void explain_tell(struct explain *e)
{
    size_t most = e->q->most ? e->q->most : EXPLAIN_MOST, n_exact = explain_exact(e);
    explain_drop_fitted(e);
    n_exact = explain_exact(e);
    if (e->hits.n)
        qsort(e->hits.items, e->hits.n, sizeof *e->hits.items, explain_order);
    for (size_t i = 0; i < e->hits.n && e->out->items.n < most; i++) {
        const struct explain_hit *hit = &e->hits.items[i];
        if (hit->exact && i > 0)
            continue;
        struct odb_explanation told = explain_told(e, hit);
        if (hit->exact && n_exact > 1) {
            told.fit = ODB_FIT_CLASS;
            for (size_t m = 1; m < n_exact && m <= EXPLAIN_MEMBERS; m++)
                odb_push(&told.members, variant_name(e->hits.items[m].v));
        }
        odb_push(&e->out->items, told);
    }
}

enum odb_status odb_explain(struct odb_explanations *out, const struct odb_explain_question *q,
                            struct odb_error *err)
{
    struct explain e = {.q = q, .out = out, .began = explain_now(), .err = err};
    struct odb_error why = ODB_ERROR_INIT;
    *out = (struct odb_explanations){0};
    enum odb_status status = accused_make(&e.accused, q, q->in, q->out, &why);
    if (status == ODB_OK) {
        out->tried = true;
        out->where = where_wrong(&e.accused);
        variant_each(&e.accused, explain_choice, &e);
        status = e.status;
    } else {
        out->why_not = odb_xstrdup(why.what);
        status = ODB_OK;
    }
    if (status == ODB_OK)
        explain_ask(&e);
    explain_tell(&e);
    for (size_t i = 0; i < e.hits.n; i++)
        variant_free(e.hits.items[i].v);
    free(e.hits.items);
    accused_dispose(&e.accused);
    out->seconds = explain_now() - e.began;
    return status;
}
