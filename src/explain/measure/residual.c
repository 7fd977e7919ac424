/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/measure/residual.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "reference/trace.h"

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

static void residual_floats(struct residual *r, const odb_f64 *y, const odb_f64 *v, size_t n,
                            double rms)
{
    double sum = 0, max = 0;
    for (size_t i = 0; i < n; i++) {
        double d = fabs(y[i] - v[i]);
        if (d <= 1.7976931348623157e308) {
            sum += d * d;
            max = d > max ? d : max;
        } else {
            r->odd += !(y[i] == v[i] || (isnan(y[i]) && isnan(v[i])));
        }
    }
    r->energy += sum / (rms * rms);
    r->max = fmax(r->max, max / rms);
}

static void residual_exact(struct residual *r, const odb_f64 *y, const odb_f64 *v, size_t n,
                           double rms)
{
    for (size_t i = 0; i < n; i++) {
        double d = fabs(y[i] - v[i]);
        r->differ += d > 0;
        r->max = fmax(r->max, d / rms);
    }
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
    struct odb_tensor *wide = NULL;
    if (odb_tensor_cast(&wide, v, ODB_F64, NULL) != ODB_OK)
        return false;
    (odb_dtype_is_float(y->dtype) ? residual_floats : residual_exact)(
        r, m->wide[o]->data, wide->data, wide->count, m->rms[o]);
    odb_tensor_unref(wide);
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
