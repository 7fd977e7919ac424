/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/measure/residual.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/simd.h"
#include "compare/lanes.h"
#include "reference/trace.h"
#include "tensor/pass.h"

static bool residual_numbers(const struct odb_tensor *t)
{
    return t && t->kind == ODB_TENSOR && t->data && t->dtype != ODB_STRING &&
           odb_dtype_part(t->dtype) == t->dtype;
}

static double measured_rms(const struct odb_tensor *t)
{
    const odb_f64 *x = t->data;
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < t->count; i++)
        if (isfinite(x[i])) {
            sum += x[i] * x[i];
            n++;
        }
    double rms = n ? sqrt(sum / (double)n) : 0;
    return rms > 0 && isfinite(rms) ? rms : 1;
}

enum odb_status measured_make(struct measured *m, struct odb_tensor *const *of,
                              struct odb_tensor *const *by, int n, struct odb_error *err)
{
    *m = (struct measured){n, of, odb_new_n(struct odb_tensor *, n), odb_new_n(double, n)};
    for (int o = 0; o < n; o++) {
        struct odb_tensor *wide = NULL;
        m->rms[o] = 1;
        if (residual_numbers(of[o]))
            ODB_TRY(odb_tensor_cast(&m->wide[o], of[o], ODB_F64, err));
        if (!residual_numbers(by[o]))
            continue;
        ODB_TRY(odb_tensor_cast(&wide, by[o], ODB_F64, err));
        m->rms[o] = measured_rms(wide);
        odb_tensor_unref(wide);
    }
    return ODB_OK;
}

void measured_dispose(struct measured *m)
{
    for (int o = 0; m->wide && o < m->n; o++)
        odb_tensor_unref(m->wide[o]);
    free(m->wide);
    free(m->rms);
    *m = (struct measured){0};
}

/* Of a block of an output, not over its root mean square. */
struct residual_sum {
    double energy, max;
    size_t odd, differ;
};

/* Whether all differences are numbers. */
static ODB_SIMD bool residual_finite(struct residual_sum *sum, const double *y, const double *x,
                                     size_t n)
{
    odb_vec energy[2] = {0}, max[2] = {0};
    odb_vec_mask none[2] = {0};
    VEC_STEPS(n)
    {
        odb_vec d = VEC_ABS(VEC_AT(y, i + 4 * v) - VEC_AT(x, i + 4 * v));
        odb_vec_mask finite = d <= DBL_MAX;
        d = VEC_AND(d, finite);
        none[v] |= ~finite;
        energy[v] += d * d;
        max[v] = VEC_MAX(d, max[v]);
    }
    bool all = true;
    for (int lane = 0; lane < 4; lane++) {
        all = all && !none[0][lane] && !none[1][lane];
        sum->energy += energy[0][lane] + energy[1][lane];
        sum->max = fmax(sum->max, fmax(max[0][lane], max[1][lane]));
    }
    return all;
}

static void residual_floats(const void *job, void *share, struct odb_chunk *c)
{
    const double *y = c->v[0], *v = c->v[1];
    struct residual_sum *sum = share;
    (void)job;
    for (size_t i = c->n; i % ODB_LANES; i++)
        c->v[0][i] = c->v[1][i] = 0;
    if (residual_finite(sum, y, v, c->n))
        return;
    for (size_t i = 0; i < c->n; i++)
        if (!isfinite(y[i] - v[i]))
            sum->odd += !(y[i] == v[i] || (isnan(y[i]) && isnan(v[i])));
}

static void residual_exact(const void *job, void *share, struct odb_chunk *c)
{
    struct residual_sum *sum = share;
    (void)job;
    for (size_t i = 0; i < c->n; i++) {
        double d = fabs(c->v[0][i] - c->v[1][i]);
        sum->differ += d > 0;
        sum->max = fmax(sum->max, d);
    }
}

static void residual_join(void *total, const void *item)
{
    struct residual_sum *all = total;
    const struct residual_sum *sum = item;
    all->energy += sum->energy;
    all->max = fmax(all->max, sum->max);
    all->odd += sum->odd;
    all->differ += sum->differ;
}

/* False: it cannot be compared. */
static bool residual_output(struct residual *r, const struct measured *m, int o,
                            const struct odb_tensor *v)
{
    const struct odb_tensor *y = m->t[o];
    if (!v || v->kind != y->kind || v->dtype != y->dtype || !odb_tensor_same_shape(v, y))
        return false;
    if (!m->wide[o]) {
        struct odb_gap gap;
        odb_gap_measure(&gap, y, v);
        r->differ += !gap.same;
        return true;
    }
    const struct odb_numbers sides[] = {odb_numbers_of(m->wide[o]), odb_numbers_of(v)};
    struct residual_sum sum = {0};
    struct odb_pass pass = {.end = sides[0].n,
                            .block = 16 * ODB_PASS_CHUNK,
                            .item = sizeof sum,
                            .sides = {&sides[0], &sides[1]},
                            .chunk =
                                odb_dtype_is_float(y->dtype) ? residual_floats : residual_exact,
                            .join = residual_join};
    if (sides[1].n != sides[0].n) /* it has no values */
        return false;
    odb_pass_all(&pass, &sum);
    r->energy += sum.energy / (m->rms[o] * m->rms[o]);
    r->max = fmax(r->max, sum.max / m->rms[o]);
    r->odd += sum.odd;
    r->differ += sum.differ;
    return true;
}

void residual_measure(struct residual *out, const struct measured *m,
                      struct odb_tensor *const *candidate)
{
    *out = (struct residual){.comparable = true};
    for (int o = 0; o < m->n && out->comparable; o++)
        if (m->t[o])
            out->comparable = residual_output(out, m, o, candidate[o]);
}

static double residual_part(double after, double before)
{
    return after <= 0 ? 0 : before > 0 ? after / before : INFINITY;
}

double residual_left(const struct residual *after, const struct residual *before, double floor)
{
    if (!after->comparable)
        return INFINITY;
    double odd = residual_part((double)after->odd, (double)before->odd);
    double differ = residual_part((double)after->differ, (double)before->differ);
    double energy = after->max <= floor ? 0 : residual_part(after->energy, before->energy);
    return fmax(energy, fmax(odd, differ));
}
