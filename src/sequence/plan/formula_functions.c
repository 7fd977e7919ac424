/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The functions of formulas, as NumPy has them where it has them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sequence/plan/axis.h"
#include "sequence/plan/formula_int.h"
#include "tensor/dtype.h"

/* --- terms ------------------------------------------------------------------------------------ */

static enum odb_status function_whole(int64_t *out, struct formula_run *run,
                                      const struct odb_tensor *t)
{
    if (t->count != 1 || !odb_dtype_is_integer(t->dtype))
        return formula_fail(run, "a term has to be one whole number");
    *out = odb_tensor_i64(t, 0);
    return ODB_OK;
}

/* A tensor as blocks: outer of them, each of n places of so many elements and bytes. */
struct function_span {
    int axis;
    size_t outer, n, inner, bytes;
};

/* Of a tensor along the axis that term number i says, or the usual one; negative ones count from
 * the end. */
static enum odb_status function_span(struct function_span *out, struct formula_run *run,
                                     struct odb_tensor *const *in, size_t n, size_t i, int usual)
{
    const struct odb_tensor *t = in[0];
    int64_t said = usual;
    if (i < n)
        ODB_TRY(function_whole(&said, run, in[i]));
    int64_t axis = said < 0 ? said + t->rank : said;
    if (axis < 0 || axis >= t->rank)
        return formula_fail(run, "a tensor of rank %d has no axis %lld", t->rank, (long long)said);
    *out = (struct function_span){(int)axis, 1, (size_t)t->dims[axis], 1, 0};
    for (int k = 0; k < t->rank; k++)
        *(k < axis ? &out->outer : &out->inner) *= k == axis ? 1 : (size_t)t->dims[k];
    out->bytes = out->inner * (odb_dtype_info(t->dtype)->bits / 8);
    return ODB_OK;
}

/* What moves elements needs to know where one begins. */
static enum odb_status function_bytes(struct formula_run *run, const struct odb_tensor *t)
{
    if (odb_dtype_info(t->dtype)->bits >= 8)
        return ODB_OK;
    return formula_fail(run, "elements of %s do not stand in bytes of their own",
                        odb_dtype_info(t->dtype)->name);
}

/* What counts or adds up needs numbers that have an order. */
static enum odb_status function_real(struct formula_run *run, const struct odb_tensor *t)
{
    if (odb_dtype_info(t->dtype)->class_ != ODB_CLASS_COMPLEX)
        return ODB_OK;
    return formula_fail(run, "complex numbers have no order");
}

/* --- made of nothing -------------------------------------------------------------------------- */

static enum odb_status function_fill(struct odb_tensor **out, struct formula_run *run,
                                     struct odb_tensor *const *in, size_t n, enum odb_dtype dtype,
                                     double f, int64_t i)
{
    int64_t dims[ODB_MAX_RANK];
    for (size_t k = 0; k < n; k++)
        ODB_TRY(function_whole(&dims[k], run, in[k]));
    ODB_TRY(formula_new(out, run, dtype, (int)n, dims));
    for (size_t k = 0; k < (*out)->count; k++)
        if (dtype == ODB_F64)
            ((double *)(*out)->data)[k] = f;
        else
            ((int64_t *)(*out)->data)[k] = i;
    return ODB_OK;
}

static enum odb_status function_ones(struct odb_tensor **out, struct formula_run *run,
                                     struct odb_tensor *const *in, size_t n)
{
    return function_fill(out, run, in, n, ODB_I64, 0, 1);
}

static enum odb_status function_zeros(struct odb_tensor **out, struct formula_run *run,
                                      struct odb_tensor *const *in, size_t n)
{
    return function_fill(out, run, in, n, ODB_I64, 0, 0);
}

static enum odb_status function_full(struct odb_tensor **out, struct formula_run *run,
                                     struct odb_tensor *const *in, size_t n)
{
    if (in[0]->count != 1)
        return formula_fail(run, "what it is full of has to be one number");
    ODB_TRY(function_real(run, in[0]));
    return function_fill(out, run, in + 1, n - 1,
                         odb_dtype_is_float(in[0]->dtype) ? ODB_F64 : ODB_I64,
                         odb_tensor_f64(in[0], 0), odb_tensor_i64(in[0], 0));
}

static enum odb_status function_arange(struct odb_tensor **out, struct formula_run *run,
                                       struct odb_tensor *const *in, size_t n)
{
    int64_t from = 0, to = 0, count = 0;
    if (n == 2)
        ODB_TRY(function_whole(&from, run, in[0]));
    ODB_TRY(function_whole(&to, run, in[n - 1]));
    if (to > from && __builtin_sub_overflow(to, from, &count))
        count = INT64_MAX;
    ODB_TRY(formula_new(out, run, ODB_I64, 1, &count));
    for (int64_t i = 0; i < count; i++)
        ((int64_t *)(*out)->data)[i] = from + i;
    return ODB_OK;
}

/* --- of one tensor ---------------------------------------------------------------------------- */

static enum odb_status function_len(struct odb_tensor **out, struct formula_run *run,
                                    struct odb_tensor *const *in, size_t n)
{
    struct function_span span;
    ODB_TRY(function_span(&span, run, in, n, 1, 0));
    ODB_TRY(formula_new(out, run, ODB_I64, 0, NULL));
    *(int64_t *)(*out)->data = (int64_t)span.n;
    return ODB_OK;
}

static enum odb_status function_cumsum(struct odb_tensor **out, struct formula_run *run,
                                       struct odb_tensor *const *in, size_t n)
{
    struct function_span span;
    bool real = odb_dtype_is_float(in[0]->dtype);
    ODB_TRY(function_real(run, in[0]));
    ODB_TRY(function_span(&span, run, in, n, 1, -1));
    ODB_TRY(formula_new(out, run, real ? ODB_F64 : ODB_I64, in[0]->rank, in[0]->dims));
    double *sum = (*out)->data;
    uint64_t *total = (*out)->data;
    for (size_t i = 0; i < (*out)->count; i++) {
        bool first = i / span.inner % span.n == 0;
        if (real)
            sum[i] =
                first ? odb_tensor_f64(in[0], i) : sum[i - span.inner] + odb_tensor_f64(in[0], i);
        else
            total[i] = (uint64_t)odb_tensor_i64(in[0], i) + (first ? 0 : total[i - span.inner]);
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

static enum odb_status function_argmax(struct odb_tensor **out, struct formula_run *run,
                                       struct odb_tensor *const *in, size_t n)
{
    struct function_span span;
    int64_t dims[ODB_MAX_RANK];
    ODB_TRY(function_real(run, in[0]));
    ODB_TRY(function_span(&span, run, in, n, 1, -1));
    if (!span.n)
        return formula_fail(run, "there is no largest of nothing");
    for (int i = 0, k = 0; i < in[0]->rank; i++)
        if (i != span.axis)
            dims[k++] = in[0]->dims[i];
    ODB_TRY(formula_new(out, run, ODB_I64, in[0]->rank - 1, dims));
    for (size_t i = 0; i < (*out)->count; i++)
        ((int64_t *)(*out)->data)[i] = (int64_t)function_largest(
            in[0], i / span.inner * span.n * span.inner + i % span.inner, span.n, span.inner);
    return ODB_OK;
}

/* Along an axis the places that are listed, each in range; in the axis' place come rank others. */
static enum odb_status function_pick(struct odb_tensor **out, struct formula_run *run,
                                     const struct odb_tensor *t, const struct function_span *span,
                                     const size_t *places, size_t n, int rank, const int64_t *in)
{
    int64_t dims[2 * ODB_MAX_RANK];
    int all = 0;
    for (int i = 0; i < span->axis; i++)
        dims[all++] = t->dims[i];
    for (int i = 0; i < rank; i++)
        dims[all++] = in[i];
    for (int i = span->axis + 1; i < t->rank; i++)
        dims[all++] = t->dims[i];
    ODB_TRY(function_bytes(run, t));
    if (all > ODB_MAX_RANK)
        return formula_fail(run, "that makes %d axes, and %d are possible", all, ODB_MAX_RANK);
    ODB_TRY(formula_new(out, run, t->dtype, all, dims));
    char *to = (*out)->data;
    for (size_t o = 0; o < span->outer && (*out)->count; o++)
        for (size_t i = 0; i < n; i++, to += span->bytes)
            memcpy(to, (const char *)t->data + (o * span->n + places[i]) * span->bytes,
                   span->bytes);
    return ODB_OK;
}

static enum odb_status function_roll(struct odb_tensor **out, struct formula_run *run,
                                     struct odb_tensor *const *in, size_t n)
{
    struct function_span span;
    int64_t by = 0;
    ODB_TRY(function_whole(&by, run, in[1]));
    ODB_TRY(function_span(&span, run, in, n, 2, -1));
    int64_t size = (int64_t)span.n;
    size_t *places = odb_new_n(size_t, span.n + 1);
    for (int64_t i = 0; i < size; i++)
        places[i] = (size_t)((i - by % size + size) % size);
    enum odb_status status = function_pick(out, run, in[0], &span, places, span.n, 1, &size);
    free(places);
    return status;
}

static enum odb_status function_gather(struct odb_tensor **out, struct formula_run *run,
                                       struct odb_tensor *const *in, size_t n)
{
    struct function_span span;
    const struct odb_tensor *from = in[1];
    ODB_TRY(function_span(&span, run, in, n, 2, 0));
    if (!odb_dtype_is_integer(from->dtype))
        return formula_fail(run, "places have to be whole numbers");
    size_t *places = odb_new_n(size_t, from->count + 1);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < from->count && status == ODB_OK; i++) {
        int64_t said = odb_tensor_i64(from, i), at = said < 0 ? said + (int64_t)span.n : said;
        if (at < 0 || at >= (int64_t)span.n)
            status = formula_fail(run, "there is no place %lld on an axis of %zu", (long long)said,
                                  span.n);
        places[i] = (size_t)at;
    }
    if (status == ODB_OK)
        status = function_pick(out, run, in[0], &span, places, from->count, from->rank, from->dims);
    free(places);
    return status;
}

/* --- of several ------------------------------------------------------------------------------- */

static enum odb_status function_concat(struct odb_tensor **out, struct formula_run *run,
                                       struct odb_tensor *const *in, size_t n)
{
    struct odb_tensor **alike = odb_new_n(struct odb_tensor *, n);
    struct odb_error why = ODB_ERROR_INIT;
    struct function_span span;
    enum odb_status status = function_span(&span, run, in, n, n - 1, 0);
    for (size_t i = 0; i + 1 < n; i++)
        run->left -= (int64_t)in[i]->count;
    if (status == ODB_OK && run->left < 0)
        status = formula_fail(run, "that makes too many elements");
    if (status == ODB_OK)
        status = formula_alike(alike, run, in, n - 1);
    if (status == ODB_OK && odb_axis_join(out, alike, n - 1, span.axis, &why) != ODB_OK)
        status = formula_fail(run, "%s", why.what);
    for (size_t i = 0; i + 1 < n; i++)
        odb_tensor_unref(alike[i]);
    free(alike);
    return status;
}

/* Element by element; of one condition it is chosen before anything comes here. */
static enum odb_status function_where(struct odb_tensor **out, struct formula_run *run,
                                      struct odb_tensor *const *in, size_t n)
{
    struct odb_tensor *alike[2] = {NULL, NULL};
    int64_t dims[ODB_MAX_RANK];
    int rank;
    ODB_TRY(formula_shape(dims, &rank, run, in, n));
    enum odb_status status = formula_alike(alike, run, in + 1, 2);
    if (status == ODB_OK)
        status = function_bytes(run, alike[0]);
    if (status == ODB_OK)
        status = formula_new(out, run, alike[0]->dtype, rank, dims);
    size_t size = status == ODB_OK ? odb_dtype_info(alike[0]->dtype)->bits / 8 : 0;
    size_t count = status == ODB_OK ? (*out)->count : 0;
    for (size_t i = 0; i < count; i++) {
        bool first = odb_tensor_f64(in[0], formula_place(in[0], rank, dims, count, i)) != 0;
        const struct odb_tensor *from = alike[!first];
        memcpy((char *)(*out)->data + i * size,
               (const char *)from->data + formula_place(from, rank, dims, count, i) * size, size);
    }
    odb_tensor_unref(alike[0]);
    odb_tensor_unref(alike[1]);
    return status;
}

static enum odb_status function_put(struct odb_tensor **out, struct formula_run *run,
                                    struct odb_tensor *const *in, size_t n)
{
    const struct odb_tensor *x = in[0];
    struct odb_tensor *y = NULL;
    struct function_span span;
    int64_t said = 0;
    ODB_TRY(function_whole(&said, run, in[1]));
    ODB_TRY(function_span(&span, run, in, n, 3, 0));
    ODB_TRY(function_bytes(run, x));
    bool fits = x->rank == in[2]->rank;
    for (int i = 0; i < x->rank && fits; i++)
        fits = i == span.axis || x->dims[i] == in[2]->dims[i];
    if (!fits)
        return formula_fail(run, "shapes differ in more than axis %d", span.axis);
    int64_t size = in[2]->dims[span.axis], at = said < 0 ? said + (int64_t)span.n : said;
    if (at < 0 || size > (int64_t)span.n || at > (int64_t)span.n - size)
        return formula_fail(run, "%lld from place %lld on are not on an axis of %zu",
                            (long long)size, (long long)said, span.n);
    ODB_TRY(odb_tensor_cast(&y, in[2], x->dtype, run->err));
    enum odb_status status = formula_new(out, run, x->dtype, x->rank, x->dims);
    if (status == ODB_OK && x->bytes) {
        size_t bytes = (size_t)size * span.bytes;
        memcpy((*out)->data, x->data, x->bytes);
        for (size_t o = 0; o < span.outer && bytes; o++)
            memcpy((char *)(*out)->data + (o * span.n + (size_t)at) * span.bytes,
                   (const char *)y->data + o * bytes, bytes);
    }
    odb_tensor_unref(y);
    return status;
}

static const struct formula_row function_rows[] = {
    {"concat", 2, 16, function_concat, false, "x,…,axis"},
    {"ones", 0, 8, function_ones, false, "dim,…"},
    {"zeros", 0, 8, function_zeros, false, "dim,…"},
    {"full", 1, 9, function_full, false, "number,dim,…"},
    {"arange", 1, 2, function_arange, false, "[from,]to"},
    {"cumsum", 1, 2, function_cumsum, false, "x[,axis]"},
    {"argmax", 1, 2, function_argmax, false, "x[,axis]"},
    {"where", 3, 3, function_where, true, "condition,x,y"},
    {"put", 4, 4, function_put, false, "x,place,y,axis"},
    {"roll", 2, 3, function_roll, false, "x,by[,axis]"},
    {"len", 1, 2, function_len, false, "x[,axis]"},
    {"gather", 2, 3, function_gather, false, "x,places[,axis]"},
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
