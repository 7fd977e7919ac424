/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/judge.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "explain/accused_group.h"
#include "explain/variant_pairs.h"

#define EXPLAIN_PROMISING 0.05 /* of the error that a choice may leave to be looked at again */
#define EXPLAIN_PARTLY 0.01    /* and to be told at all */
#define EXPLAIN_NOISY_RUNS 3
#define EXPLAIN_NOISY_SEED 0x5eed0000u

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
 * Where NaN or integers alone are wrong, the rest is off by noise, before and after. */
static bool explain_tells(const struct accused *s, const struct residual *left,
                          const struct residual *by)
{
    bool counts = s->base.odd || s->base.differ;
    double noise = s->q->factor * by->max, floor = counts && s->base.max <= noise ? noise : 0;
    return !s->base.comparable || ((counts || by->energy <= EXPLAIN_PROMISING * s->base.energy) &&
                                   residual_left(left, &s->base, floor) <= EXPLAIN_PARTLY);
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

bool explain_judge(const struct variant *v, const struct accused *s, struct explain_hit *hit)
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
    hit->left = left;
    hit->first = status == ODB_OK && first.comparable ? pairs_left(s, native, left) : INFINITY;
    if (left > EXPLAIN_PROMISING)
        goto out;
    status = variant_run(v, s, ODB_PREC_F64, 0, exact, NULL);
    if (status == ODB_OK)
        residual_measure(&best, &s->target, exact);
    bool finer = first.differ < best.differ || (group_decides(s) && first.max < best.max);
    if (!best.comparable || (first.comparable && finer))
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

bool explain_right(struct accused *s)
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

bool explain_holds(const struct variant *v, const struct accused *s, bool right,
                   struct explain_hit *hit)
{
    struct explain_apart apart;
    explain_judge(v, s, hit);
    return !right             ? hit->exact
           : group_decides(s) ? explain_between(v, s, &hit->noise, &apart)
                              : hit->agrees;
}
