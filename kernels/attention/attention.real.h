/* SPDX-License-Identifier: MIT
 *
 * Attention of one block of queries of one head.
 */
#include "kernels/reduce/softmax_row.real.h"

/* Whether all are numbers. */
ODB_SIMD static bool FN(attention_finite)(const T *x, size_t n)
{
    int bad = 0;
    for (size_t i = 0; i < n; i++)
        bad |= !(x[i] - x[i] == 0);
    return !bad;
}

/* Whether -inf added to any of n biases is still -inf. */
ODB_SIMD static bool FN(attention_closable)(const T *x, size_t n, size_t step)
{
    int bad = 0;
    for (size_t i = 0; i < n; i++)
        bad |= !(x[i * step] < HIGHEST);
    return !bad;
}

/* Heads [begin, end) of the batch: notes where keys may not be skipped although they are closed. */
static void FN(attention_scan)(void *arg, size_t begin, size_t end)
{
    struct attention_job *job = arg;
    const struct odb_attention *a = job->a;
    size_t group = a->heads / a->kv_heads;
    bool fine = true;
    for (size_t item = begin; item < end && fine; item++) {
        size_t b = item / a->heads, h = item % a->heads;
        const T *q = (const T *)a->q + attention_at(&a->q_steps, b, h, 0);
        const T *k = (const T *)a->k + attention_at(&a->k_steps, b, h / group, 0);
        const T *v = (const T *)a->v + attention_at(&a->v_steps, b, h / group, 0);
        for (size_t i = 0; i < a->queries && fine; i++) {
            fine = FN(attention_finite)(q + i * a->q_steps.row, a->size);
            for (size_t p = 0; p < ODB_COUNT(a->bias) && fine; p++)
                if (a->bias[p].data)
                    fine = FN(attention_closable)(
                        (const T *)a->bias[p].data + attention_plane_at(&a->bias[p], b, h, i),
                        ODB_MIN(a->bias[p].cols, a->keys), a->bias[p].col);
        }
        for (size_t j = 0; j < a->keys && fine && h % group == 0; j++)
            fine = FN(attention_finite)(k + j * a->k_steps.row, a->size) &&
                   FN(attention_finite)(v + j * a->v_steps.row, a->v_size);
    }
    if (!fine)
        atomic_store(&job->whole, true);
}

ODB_SIMD static void FN(attention_scale)(T *s, size_t n, ACC scale)
{
    for (size_t j = 0; j < n; j++)
        s[j] = (T)(scale * (ACC)s[j]);
}

ODB_SIMD static void FN(attention_cap)(T *s, size_t n, ACC cap)
{
    for (size_t j = 0; j < n; j++)
        s[j] = (T)(cap * (ACC)(sizeof(T) == sizeof(float) ? odb_float_tanh((double)(s[j] / cap))
                                                          : tanh((double)(s[j] / cap))));
}

/* x[j] += plane[j * step]. */
ODB_SIMD static void FN(attention_add)(T *x, size_t n, const T *plane, size_t step)
{
    if (step == 1)
        for (size_t j = 0; j < n; j++)
            x[j] += plane[j];
    else
        for (size_t j = 0; j < n; j++)
            x[j] += plane[j * step];
}

ODB_SIMD static void FN(attention_mask)(T *x, size_t n, const odb_u8 *mask, size_t step)
{
    for (size_t j = 0; j < n; j++)
        x[j] += mask[j * step] ? 0 : LOWEST;
}

ODB_SIMD static bool FN(attention_all_closed)(const T *x, size_t n)
{
    int open = 0;
    for (size_t j = 0; j < n; j++)
        open |= x[j] != LOWEST;
    return !open;
}

static void FN(attention_close)(T *x, size_t begin, size_t end)
{
    for (size_t j = begin; j < end; j++)
        x[j] += LOWEST;
}

/* Adds to scores s of keys [lo, hi) what is said of them. total: [hi - lo] of working memory.
 * Returns whether all keys are closed to the query. */
static bool FN(attention_bias)(const struct odb_attention *a, const struct attention_place *at,
                               T *s, T *total)
{
    size_t n = at->hi - at->lo, first, last;
    attention_bounds(a, at->b, at->i, 1, &first, &last);
    first = ODB_MIN(ODB_MAX(first, at->lo), at->hi) - at->lo;
    last = ODB_MAX(ODB_MIN(last, at->hi), at->lo) - at->lo;
    last = ODB_MAX(first, last);
    if (!a->bias[0].data && !a->bias[1].data && !a->mask.data) {
        FN(attention_close)(s, 0, first);
        FN(attention_close)(s, last, n);
        return first == last;
    }
    memset(total, 0, n * sizeof *total);
    for (size_t p = 0; p <= ODB_COUNT(a->bias); p++) {
        const struct odb_attention_plane *plane = p < ODB_COUNT(a->bias) ? &a->bias[p] : &a->mask;
        if (!plane->data)
            continue;
        size_t from = attention_plane_at(plane, at->b, at->h, at->i) + at->lo * plane->col;
        size_t cols = ODB_MIN(ODB_MAX(plane->cols, at->lo) - at->lo, n);
        if (plane == &a->mask)
            FN(attention_mask)(total, cols, (const odb_u8 *)plane->data + from, plane->col);
        else
            FN(attention_add)(total, cols, (const T *)plane->data + from, plane->col);
        FN(attention_close)(total, cols, n);
    }
    FN(attention_close)(total, 0, first);
    FN(attention_close)(total, last, n);
    FN(attention_add)(s, n, total, 1);
    return FN(attention_all_closed)(total, n);
}

static void FN(attention_round)(enum odb_dtype to, T *s, size_t n)
{
    if (to == ODB_UNDEFINED || odb_dtype_info(to)->bits >= 8 * sizeof(T))
        return;
    if (sizeof(T) == sizeof(double))
        odb_round_f64(to, (odb_f64 *)s, n);
    else
        odb_round_f32(to, (odb_f32 *)s, n);
}

/* Products s of a query with keys to weights, in place. e, total: [hi - lo] of working memory. */
static void FN(attention_row)(const struct odb_attention *a, const struct attention_place *at, T *s,
                              ACC *e, T *total)
{
    size_t n = at->hi - at->lo;
    T *wanted = a->scores
                    ? (T *)a->scores + ((at->b * a->heads + at->h) * a->queries + at->i) * a->keys
                    : NULL;
#define FN_STAGE(which)                                                                            \
    if (wanted && a->stage == (which))                                                             \
    memcpy(wanted, s, n * sizeof *s)
    FN(attention_scale)(s, n, (ACC)a->scale);
    FN_STAGE(ODB_ATTENTION_RAW);
    if (a->cap != 0)
        FN(attention_cap)(s, n, (ACC)a->cap);
    FN_STAGE(ODB_ATTENTION_CAPPED);
    bool closed = FN(attention_bias)(a, at, s, total);
    FN_STAGE(ODB_ATTENTION_BIASED);
    if (closed && !a->closed_is_nan) {
        memset(s, 0, n * sizeof *s);
    } else {
        FN(attention_round)(a->softmax_type, s, n);
        ACC top = FN(softmax_top)(s, n), sink = a->sink ? (ACC)a->sink[at->h] : LOWEST;
        top = sink > top ? sink : top;
        ACC sum = FN(softmax_powers)(s, n, top, e);
        if (a->sink)
            sum += (ACC)exp((double)(sink - top));
        FN(softmax_scale)(e, n, sum, s);
        FN(attention_round)(a->softmax_type, s, n);
    }
    FN_STAGE(ODB_ATTENTION_SOFTMAX);
#undef FN_STAGE
}

/* Blocks of queries [begin, end), counted through heads and batch. */
static void FN(attention_blocks)(void *arg, size_t begin, size_t end)
{
    struct attention_job *job = arg;
    const struct odb_attention *a = job->a;
    for (size_t block = begin; block < end; block++) {
        size_t item = block / job->blocks, i = block % job->blocks * job->rows;
        size_t b = item / a->heads, h = item % a->heads, kv = h / (a->heads / a->kv_heads);
        struct attention_place at = {b, h, i, 0, a->keys};
        size_t rows = ODB_MIN(job->rows, a->queries - i);
        if (!atomic_load(&job->whole))
            attention_bounds(a, b, i, rows, &at.lo, &at.hi);
        at.lo -= at.lo % ODB_PRODUCT_DEPTH; /* sums are cut at the same keys for every block */
        size_t n = at.hi - at.lo;
        ACC *e =
            odb_workspace(ODB_WORKSPACE_ROWS, n * sizeof(ACC) + (rows + 1) * n * sizeof(T) + 1);
        T *total = (T *)(e + n), *s = total + n;
        struct odb_gemm g = {.dtype = a->dtype,
                             .trans_b = true,
                             .sequential = a->sequential,
                             .m = rows,
                             .n = n,
                             .k = a->size,
                             .lda = a->q_steps.row,
                             .ldb = a->k_steps.row,
                             .ldc = n,
                             .alpha = 1,
                             .c = s,
                             .a = (const T *)a->q + attention_at(&a->q_steps, b, h, i),
                             .b = (const T *)a->k + attention_at(&a->k_steps, b, kv, at.lo)};
        bool done = e && odb_gemm_run(&g);
        for (size_t r = 0; r < rows && done; r++, at.i++)
            FN(attention_row)(a, &at, s + r * n, e, total);
        g = (struct odb_gemm){.dtype = a->dtype,
                              .sequential = a->sequential,
                              .m = rows,
                              .n = a->v_size,
                              .k = n,
                              .lda = n,
                              .ldb = a->v_steps.row,
                              .ldc = a->y_steps.row,
                              .alpha = 1,
                              .a = s,
                              .b = (const T *)a->v + attention_at(&a->v_steps, b, kv, at.lo),
                              .c = (T *)a->y + attention_at(&a->y_steps, b, h, i)};
        if (!done || !odb_gemm_run(&g))
            atomic_store(&job->failed, true);
    }
}
