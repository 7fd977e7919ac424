/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/accused_curve.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "explain/measure/curve.h"
#include "explain/variant.h"
#include "reference/trace.h"

#define CURVE_ELEMENTS ((size_t)1 << 18) /* that are looked at */

/* Beside those whose row says that an output may lie where an input does. */
static const char curve_ops[] =
    "Cast|CastLike|QuantizeLinear|DequantizeLinear|Max|Min|Sum|Mean|Where|Not|IsNaN|IsInf|Equal|"
    "Greater|Less|GreaterOrEqual|LessOrEqual|BitwiseNot|Identity|Dropout|BiasGelu|FastGelu|"
    "QuickGelu|Gelu|Swish|Shrink";

static bool curve_is_elementwise(const struct accused *s)
{
    return s->op &&
           ((s->op->flags & ODB_OP_OVERWRITE) || variant_is_for(curve_ops, s->node->op_type));
}

static bool curve_varies(const struct odb_tensor *t)
{
    double first = t->count ? odb_tensor_f64(t, 0) : 0;
    bool varies = false;
    for (size_t i = 1; i < t->count && !varies; i++) {
        double x = odb_tensor_f64(t, i);
        varies = x != first && !(isnan(x) && isnan(first));
    }
    return varies;
}

/* Numbers that a double holds, each for itself. */
static bool curve_numbers(const struct odb_tensor *t)
{
    bool plain = t && t->kind == ODB_TENSOR && t->data && t->dtype != ODB_STRING &&
                 odb_dtype_part(t->dtype) == t->dtype;
    for (size_t i = 0; plain && !odb_dtype_is_float(t->dtype) && i < t->count; i++)
        plain = fabs(odb_tensor_f64(t, i)) <= 1 / DBL_EPSILON;
    return plain;
}

/* The one operand that varies, however often it is read; -1: there is not just one. */
static int curve_operand(const struct accused *s)
{
    int found = -1;
    for (int i = 0; i < s->node->n_in; i++) {
        const struct odb_tensor *t = s->in[i];
        bool again = found >= 0 && s->node->in[i] == s->node->in[found];
        if (!t || again)
            continue;
        if (!curve_numbers(t))
            return -1;
        if (!curve_varies(t))
            continue;
        if (found >= 0 || !odb_tensor_same_shape(t, s->y[s->shown]))
            return -1;
        found = i;
    }
    return found;
}

/* How far honest elements may be from the reference, as far as its own run in the model's types
 * tells. */
static double curve_tolerance(const struct accused *s)
{
    const struct odb_tensor *own = s->native[s->shown], *r = s->r[s->shown];
    struct odb_gap gap = {0};
    if (own && odb_dtype_is_float(r->dtype))
        odb_gap_measure(&gap, own, r);
    double noise = fmax(s->floor, isfinite(gap.error) ? gap.error : 0);
    return s->q->factor * noise * s->target.rms[s->shown];
}

struct odb_curve *accused_curve(const struct accused *s)
{
    const struct odb_tensor *y = s->shown < 0 ? NULL : s->y[s->shown];
    if (!y || s->group || !s->r[s->shown] || !curve_is_elementwise(s) || !curve_numbers(y) ||
        !odb_tensor_same_shape(y, s->r[s->shown]))
        return NULL;
    int at = curve_operand(s);
    if (at < 0)
        return NULL;
    size_t every = (y->count + CURVE_ELEMENTS - 1) / CURVE_ELEMENTS;
    struct odb_curve_of of = {.every = every,
                              .tolerance = curve_tolerance(s),
                              .eps = odb_dtype_is_float(y->dtype) ? odb_dtype_info(y->dtype)->eps
                                                                  : 4 * DBL_EPSILON};
    of.points = odb_new_n(struct odb_curve_point, y->count / every + 1);
    for (size_t i = 0; i < y->count; i += every)
        of.points[of.n++] = (struct odb_curve_point){
            odb_tensor_f64(s->in[at], i), odb_tensor_f64(y, i), odb_tensor_f64(s->r[s->shown], i)};
    struct odb_curve *curve = odb_curve_make(&of);
    free(of.points);
    if (curve)
        curve->input = at;
    return curve;
}
