/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "judge/half_step.h"

#include <math.h>

/* Near the middle between two steps a target takes either: it divides by the scale, or multiplies
 * by its inverse, in few bits. */
#define HALF_STEP_TIE (1.0 / 32)

/* v as near to b as half a step lets it be; eps: of the type that v was given in, which rounds it
 * once more. */
static double half_step_towards(double v, double b, double step, double eps)
{
    double away = b - v, slack = HALF_STEP_TIE * step + eps * fabs(v);
    if (!(step > 0) || !isfinite(away))
        return v;
    return fabs(away) <= step / 2 + slack ? b : v + copysign(step / 2, away);
}

static bool half_step_fit(const struct odb_tensor *t, const struct odb_tensor *base)
{
    return t->kind == ODB_TENSOR && base->kind == ODB_TENSOR && t->data && base->data &&
           odb_dtype_is_float(t->dtype) && odb_dtype_is_float(base->dtype) &&
           odb_tensor_same_shape(t, base);
}

/* Like t, of elements that are still to be stored. */
static enum odb_status half_step_like(struct odb_tensor **out, const struct odb_tensor *t,
                                      struct odb_error *err)
{
    ODB_TRY(odb_tensor_new_raw(out, t->dtype, t->rank, t->dims, err));
    (*out)->declared = t->declared;
    (*out)->held = t->held;
    return ODB_OK;
}

enum odb_status odb_half_step(struct odb_tensor **out, const struct odb_tensor *t,
                              const struct odb_tensor *base, struct odb_error *err)
{
    if (!t->n_steps || !half_step_fit(t, base)) {
        *out = odb_tensor_ref(t);
        return ODB_OK;
    }
    double eps = odb_dtype_info(t->dtype)->eps;
    ODB_TRY(half_step_like(out, t, err));
    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(t->dtype, (*out)->data, i,
                      half_step_towards(odb_tensor_f64(t, i), odb_tensor_f64(base, i),
                                        odb_tensor_step(t, i), eps));
    return ODB_OK;
}

enum odb_status odb_half_step_off(struct odb_tensor **out, const struct odb_tensor *t,
                                  uint64_t seed, struct odb_error *err)
{
    if (!t->n_steps || !half_step_fit(t, t)) {
        *out = odb_tensor_ref(t);
        return ODB_OK;
    }
    double eps = odb_dtype_info(t->dtype)->eps;
    ODB_TRY(half_step_like(out, t, err));
    for (size_t i = 0; i < t->count; i++) {
        double v = odb_tensor_f64(t, i);
        double by = (0.5 + HALF_STEP_TIE) * odb_tensor_step(t, i) + eps * fabs(v);
        seed = seed * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX generator */
        odb_store_f64(t->dtype, (*out)->data, i, seed >> 63 ? v + by : v - by);
    }
    return ODB_OK;
}

enum odb_status odb_nearer(struct odb_tensor **out, const struct odb_tensor *t,
                           const struct odb_tensor *base, double by, struct odb_error *err)
{
    if (!(by > 0) || !half_step_fit(t, base)) {
        *out = odb_tensor_ref(t);
        return ODB_OK;
    }
    ODB_TRY(half_step_like(out, t, err));
    for (size_t i = 0; i < t->count; i++) {
        double v = odb_tensor_f64(t, i), away = odb_tensor_f64(base, i) - v;
        odb_store_f64(t->dtype, (*out)->data, i,
                      !isfinite(away)    ? v
                      : fabs(away) <= by ? v + away
                                         : v + copysign(by, away));
    }
    return ODB_OK;
}

bool odb_half_step_hides(const struct odb_tensor *t, const struct odb_tensor *base)
{
    bool other = false;
    if (!t->n_steps || !half_step_fit(t, base))
        return false;
    for (size_t i = 0; i < t->count; i++) {
        double b = odb_tensor_f64(base, i);
        if (half_step_towards(0, b, odb_tensor_step(t, i), 0) != b)
            return false;
        other |= b != 0;
    }
    return other;
}
