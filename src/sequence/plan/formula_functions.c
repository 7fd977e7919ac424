/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The functions of formulas, as NumPy has them where it has them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sequence/plan/formula_int.h"
#include "sequence/plan/axis.h"
#include "tensor/dtype.h"

#define FUNCTION_MOST ((int64_t)1 << 28)

/* --- terms ------------------------------------------------------------------------------------ */

static enum odb_status function_whole(int64_t *out, const struct odb_tensor *t,
                                      struct odb_error *err)
{
    if (t->count != 1 || odb_dtype_is_float(t->dtype))
        return odb_fail(err, ODB_E_INPUT, "a term has to be one whole number");
    *out = odb_tensor_i64(t, 0);
    return ODB_OK;
}

/* The axis that term number i says, or the usual one; negative ones count from the end. */
static enum odb_status function_axis(int *axis, struct odb_tensor *const *in, size_t n, size_t i,
                                     int usual, struct odb_error *err)
{
    int64_t said = usual, rank = in[0]->rank;
    if (i < n)
        ODB_TRY(function_whole(&said, in[i], err));
    said += said < 0 ? rank : 0;
    if (said < 0 || said >= rank)
        return odb_fail(err, ODB_E_INPUT, "a tensor of rank %lld has no such axis",
                        (long long)rank);
    *axis = (int)said;
    return ODB_OK;
}

/* What comes before the axis, along it, and behind it. */
struct function_span {
    size_t outer, n, inner;
};

static struct function_span function_span(const struct odb_tensor *t, int axis)
{
    struct function_span span = {1, (size_t)t->dims[axis], 1};
    for (int i = 0; i < t->rank; i++)
        *(i < axis ? &span.outer : &span.inner) *= i == axis ? 1 : (size_t)t->dims[i];
    return span;
}

/* --- made of nothing -------------------------------------------------------------------------- */

static enum odb_status function_fill(struct odb_tensor **out, struct odb_tensor *const *in,
                                     size_t n, const struct odb_tensor *value, int64_t whole,
                                     struct odb_error *err)
{
    int64_t dims[ODB_MAX_RANK], count = 1;
    enum odb_dtype dtype = value && odb_dtype_is_float(value->dtype) ? ODB_F64 : ODB_I64;
    for (size_t i = 0; i < n; i++) {
        ODB_TRY(function_whole(&dims[i], in[i], err));
        if (dims[i] < 0 || (dims[i] && count > FUNCTION_MOST / dims[i]))
            return odb_fail(err, ODB_E_INPUT, "a dimension of %lld is out of range",
                            (long long)dims[i]);
        count *= dims[i];
    }
    ODB_TRY(odb_tensor_new(out, dtype, (int)n, dims, err));
    for (size_t i = 0; i < (*out)->count; i++)
        if (dtype == ODB_F64)
            ((double *)(*out)->data)[i] = odb_tensor_f64(value, 0);
        else
            ((int64_t *)(*out)->data)[i] = value ? odb_tensor_i64(value, 0) : whole;
    return ODB_OK;
}

static enum odb_status function_ones(struct odb_tensor **out, struct odb_tensor *const *in,
                                     size_t n, struct odb_error *err)
{
    return function_fill(out, in, n, NULL, 1, err);
}

static enum odb_status function_zeros(struct odb_tensor **out, struct odb_tensor *const *in,
                                      size_t n, struct odb_error *err)
{
    return function_fill(out, in, n, NULL, 0, err);
}

static enum odb_status function_full(struct odb_tensor **out, struct odb_tensor *const *in,
                                     size_t n, struct odb_error *err)
{
    if (in[0]->count != 1)
        return odb_fail(err, ODB_E_INPUT, "what it is full of has to be one number");
    return function_fill(out, in + 1, n - 1, in[0], 0, err);
}

static enum odb_status function_arange(struct odb_tensor **out, struct odb_tensor *const *in,
                                       size_t n, struct odb_error *err)
{
    int64_t from = 0, to = 0;
    if (n == 2)
        ODB_TRY(function_whole(&from, in[0], err));
    ODB_TRY(function_whole(&to, in[n - 1], err));
    int64_t count = 0;
    if (__builtin_sub_overflow(to, from, &count) || count > FUNCTION_MOST)
        return odb_fail(err, ODB_E_INPUT, "it is too long");
    count = ODB_MAX(count, (int64_t)0);
    ODB_TRY(odb_tensor_new(out, ODB_I64, 1, &count, err));
    for (int64_t i = 0; i < count; i++)
        ((int64_t *)(*out)->data)[i] = from + i;
    return ODB_OK;
}

/* --- of one tensor ---------------------------------------------------------------------------- */

static enum odb_status function_len(struct odb_tensor **out, struct odb_tensor *const *in, size_t n,
                                    struct odb_error *err)
{
    int axis;
    ODB_TRY(function_axis(&axis, in, n, 1, 0, err));
    ODB_TRY(odb_tensor_new(out, ODB_I64, 0, NULL, err));
    *(int64_t *)(*out)->data = in[0]->dims[axis];
    return ODB_OK;
}

static enum odb_status function_cumsum(struct odb_tensor **out, struct odb_tensor *const *in,
                                       size_t n, struct odb_error *err)
{
    int axis;
    ODB_TRY(function_axis(&axis, in, n, 1, -1, err));
    struct function_span span = function_span(in[0], axis);
    bool real = odb_dtype_is_float(in[0]->dtype);
    ODB_TRY(odb_tensor_new(out, real ? ODB_F64 : ODB_I64, in[0]->rank, in[0]->dims, err));
    for (size_t i = 0; i < in[0]->count; i++) {
        bool first = i / span.inner % span.n == 0;
        if (real)
            ((double *)(*out)->data)[i] =
                odb_tensor_f64(in[0], i) + (first ? 0 : ((double *)(*out)->data)[i - span.inner]);
        else
            ((uint64_t *)(*out)->data)[i] =
                (uint64_t)odb_tensor_i64(in[0], i) +
                (first ? 0 : ((uint64_t *)(*out)->data)[i - span.inner]);
    }
    return ODB_OK;
}

/* The first of the largest; NaN is larger than all else, as in NumPy. */
static size_t function_largest(const struct odb_tensor *t, size_t first, size_t n, size_t step)
{
    size_t best = 0;
    bool real = odb_dtype_is_float(t->dtype);
    for (size_t k = 1; k < n; k++) {
        size_t a = first + best * step, b = first + k * step;
        bool more = real ? odb_tensor_f64(t, b) > odb_tensor_f64(t, a) ||
                               (isnan(odb_tensor_f64(t, b)) && !isnan(odb_tensor_f64(t, a)))
                         : odb_tensor_i64(t, b) > odb_tensor_i64(t, a);
        best = more ? k : best;
    }
    return best;
}

static enum odb_status function_argmax(struct odb_tensor **out, struct odb_tensor *const *in,
                                       size_t n, struct odb_error *err)
{
    int axis;
    int64_t dims[ODB_MAX_RANK];
    ODB_TRY(function_axis(&axis, in, n, 1, -1, err));
    struct function_span span = function_span(in[0], axis);
    if (!span.n)
        return odb_fail(err, ODB_E_INPUT, "the axis is empty");
    for (int i = 0, k = 0; i < in[0]->rank; i++)
        if (i != axis)
            dims[k++] = in[0]->dims[i];
    ODB_TRY(odb_tensor_new(out, ODB_I64, in[0]->rank - 1, dims, err));
    for (size_t o = 0; o < span.outer; o++)
        for (size_t i = 0; i < span.inner; i++)
            ((int64_t *)(*out)->data)[o * span.inner + i] =
                (int64_t)function_largest(in[0], o * span.n * span.inner + i, span.n, span.inner);
    return ODB_OK;
}

static enum odb_status function_roll(struct odb_tensor **out, struct odb_tensor *const *in,
                                     size_t n, struct odb_error *err)
{
    int axis;
    int64_t by = 0;
    ODB_TRY(function_whole(&by, in[1], err));
    ODB_TRY(function_axis(&axis, in, n, 2, -1, err));
    int64_t all = in[0]->dims[axis];
    int64_t at = all ? ((-by) % all + all) % all : 0;
    struct odb_tensor *part[2] = {NULL, NULL};
    enum odb_status status = odb_axis_part(&part[0], in[0], axis, at, all - at, err);
    if (status == ODB_OK)
        status = odb_axis_part(&part[1], in[0], axis, 0, at, err);
    if (status == ODB_OK)
        status = odb_axis_join(out, part, 2, axis, err);
    odb_tensor_unref(part[0]);
    odb_tensor_unref(part[1]);
    return status;
}

/* --- of several ------------------------------------------------------------------------------- */

/* Of several types: all become the widest of int64 and float64. */
static enum odb_status function_alike(struct odb_tensor **out, struct odb_tensor *const *in,
                                      size_t n, struct odb_error *err)
{
    bool alike = true, real = false;
    for (size_t i = 0; i < n; i++) {
        alike &= in[i]->dtype == in[0]->dtype;
        real |= odb_dtype_is_float(in[i]->dtype);
    }
    for (size_t i = 0; i < n; i++)
        if (alike)
            out[i] = odb_tensor_ref(in[i]);
        else
            ODB_TRY(odb_tensor_cast(&out[i], in[i], real ? ODB_F64 : ODB_I64, err));
    return ODB_OK;
}

/* Numbers in a float tensor's company take its type: concat(x[:,-64:],zeros(1,4),1). */
static enum odb_status function_concat(struct odb_tensor **out, struct odb_tensor *const *in,
                                       size_t n, struct odb_error *err)
{
    struct odb_tensor **alike = odb_new_n(struct odb_tensor *, n);
    int axis;
    enum odb_status status = function_axis(&axis, in, n, n - 1, 0, err);
    if (status == ODB_OK)
        status = function_alike(alike, in, n - 1, err);
    if (status == ODB_OK)
        status = odb_axis_join(out, alike, n - 1, axis, err);
    for (size_t i = 0; i + 1 < n; i++)
        odb_tensor_unref(alike[i]);
    free(alike);
    return status;
}

/* By one condition: one or the other whole. By several: element by element, of one shape. */
static enum odb_status function_where(struct odb_tensor **out, struct odb_tensor *const *in,
                                      size_t n, struct odb_error *err)
{
    struct odb_tensor *alike[2] = {NULL, NULL};
    (void)n;
    if (in[0]->count == 1) {
        *out = odb_tensor_ref(odb_tensor_f64(in[0], 0) != 0 ? in[1] : in[2]);
        return ODB_OK;
    }
    if (!odb_tensor_same_shape(in[0], in[1]) || !odb_tensor_same_shape(in[0], in[2]))
        return odb_fail(err, ODB_E_INPUT, "condition and values differ in shape");
    enum odb_status status = function_alike(alike, in + 1, 2, err);
    if (status == ODB_OK)
        status = odb_tensor_clone(out, alike[0], err);
    size_t size = status == ODB_OK && (*out)->count ? (*out)->bytes / (*out)->count : 0;
    for (size_t i = 0; status == ODB_OK && i < in[0]->count; i++)
        if (odb_tensor_f64(in[0], i) == 0)
            memcpy((char *)(*out)->data + i * size, (const char *)alike[1]->data + i * size, size);
    odb_tensor_unref(alike[0]);
    odb_tensor_unref(alike[1]);
    return status;
}

/* put(x, i, y, axis): y stands in places i, i + 1, … of x. */
static enum odb_status function_put(struct odb_tensor **out, struct odb_tensor *const *in, size_t n,
                                    struct odb_error *err)
{
    int axis;
    int64_t at = 0;
    struct odb_tensor *part[3] = {NULL, NULL, NULL};
    ODB_TRY(function_whole(&at, in[1], err));
    ODB_TRY(function_axis(&axis, in, n, 3, 0, err));
    if (in[2]->rank != in[0]->rank)
        return odb_fail(err, ODB_E_INPUT, "what is put in has another rank");
    int64_t behind = at + in[2]->dims[axis];
    enum odb_status status = odb_axis_part(&part[0], in[0], axis, 0, at, err);
    if (status == ODB_OK)
        status = odb_tensor_cast(&part[1], in[2], in[0]->dtype, err);
    if (status == ODB_OK)
        status = odb_axis_part(&part[2], in[0], axis, behind, in[0]->dims[axis] - behind, err);
    if (status == ODB_OK)
        status = odb_axis_join(out, part, 3, axis, err);
    for (size_t i = 0; i < 3; i++)
        odb_tensor_unref(part[i]);
    return status;
}

static enum odb_status function_gather(struct odb_tensor **out, struct odb_tensor *const *in,
                                       size_t n, struct odb_error *err)
{
    int axis;
    ODB_TRY(function_axis(&axis, in, n, 2, 0, err));
    size_t count = in[1]->count;
    struct odb_tensor **parts = odb_new_n(struct odb_tensor *, count + 1);
    enum odb_status status = odb_dtype_is_float(in[1]->dtype) || in[1]->rank > 1
                                 ? odb_fail(err, ODB_E_INPUT, "places are a list of whole numbers")
                                 : ODB_OK;
    for (size_t i = 0; i < count && status == ODB_OK; i++) {
        int64_t at = odb_tensor_i64(in[1], i);
        status =
            odb_axis_part(&parts[i], in[0], axis, at < 0 ? at + in[0]->dims[axis] : at, 1, err);
    }
    if (status == ODB_OK && count)
        status = odb_axis_join(out, parts, count, axis, err);
    else if (status == ODB_OK)
        status = odb_axis_part(out, in[0], axis, 0, 0, err);
    for (size_t i = 0; i < count; i++)
        odb_tensor_unref(parts[i]);
    free(parts);
    return status;
}

static const struct formula_row function_rows[] = {
    {"concat", 2, 16, function_concat, "x,…,axis"},
    {"ones", 0, 8, function_ones, "dim,…"},
    {"zeros", 0, 8, function_zeros, "dim,…"},
    {"full", 1, 9, function_full, "number,dim,…"},
    {"arange", 1, 2, function_arange, "[from,]to"},
    {"cumsum", 1, 2, function_cumsum, "x[,axis]"},
    {"argmax", 1, 2, function_argmax, "x[,axis]"},
    {"where", 3, 3, function_where, "condition,x,y"},
    {"put", 4, 4, function_put, "x,place,y,axis"},
    {"roll", 2, 3, function_roll, "x,by[,axis]"},
    {"len", 1, 2, function_len, "x[,axis]"},
    {"gather", 2, 3, function_gather, "x,places[,axis]"},
};

size_t formula_function_find(const char *name, size_t len)
{
    size_t i = 0;
    while (i < ODB_COUNT(function_rows) &&
           (strlen(function_rows[i].name) != len || strncmp(function_rows[i].name, name, len) != 0))
        i++;
    return i;
}

const struct formula_row *formula_function_row(size_t function)
{
    return function < ODB_COUNT(function_rows) ? &function_rows[function] : NULL;
}
