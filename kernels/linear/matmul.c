/* SPDX-License-Identifier: MIT
 *
 * MatMul, Gemm, MatMulInteger, QLinearMatMul (ONNX ai.onnx 1 to 28), and the product beneath them.
 * Float and double go to the product of product.h, in blocks whose borders depend on the sizes
 * only; integers, and everything in noisy mode, to the plain product in gemm.body.h.
 */
#include "kernels/linear/matmul.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "system/parallel.h"
#include "kernels/core/kern.h"
#include "kernels/linear/product.h"
#include "kernels/core/real.h"
#include "kernels/core/row.h"
#include "kernels/core/workspace.h"

#define E float
#define SUFFIX f32
#define ODB_WIDE_BODY "kernels/linear/gemm.body.h"
#include "kernels/core/wide.h"
#undef E
#undef SUFFIX
#define E double
#define SUFFIX f64
#define ODB_WIDE_BODY "kernels/linear/gemm.body.h"
#include "kernels/core/wide.h"
#undef E
#undef SUFFIX
#define E uint32_t
#define SUFFIX u32
#define ODB_WIDE_BODY "kernels/linear/gemm.body.h"
#include "kernels/core/wide.h"
#undef E
#undef SUFFIX
#define E uint64_t
#define SUFFIX u64
#define ODB_WIDE_BODY "kernels/linear/gemm.body.h"
#include "kernels/core/wide.h"
#undef E
#undef SUFFIX

/* --- the product ------------------------------------------------------------------------------ */

static void gemm_clear(const struct odb_gemm *g)
{
    size_t size = odb_dtype_info(g->dtype)->bits / 8;
    for (size_t i = 0; i < g->m; i++)
        memset((char *)g->c + i * g->ldc * size, 0, g->n * size);
}

#define GEMM_WIDENED ((size_t)512 << 10) /* bytes of B that are widened at a time, */
#define GEMM_WIDENED_COLS 48             /* and so many columns at least */

/* A part of B in the type of the product: rows [p0, p0 + depth) of op(B), columns [j0, j0 + cols).
 */
static void gemm_widen(const struct odb_gemm *g, size_t p0, size_t depth, size_t j0, size_t cols,
                       void *to)
{
    size_t from = odb_dtype_info(g->b_type)->bits / 8, size = odb_dtype_info(g->dtype)->bits / 8;
    size_t lines = g->trans_b ? cols : depth, n = g->trans_b ? depth : cols;
    size_t at = g->trans_b ? j0 * g->ldb + p0 : p0 * g->ldb + j0;
    for (size_t i = 0; i < lines; i++)
        odb_convert(g->dtype, (char *)to + i * n * size, g->b_type,
                    (const char *)g->b + (at + i * g->ldb) * from, n);
}

/* The same bits as if all of B had been widened before: terms are cut where the product cuts them
 * itself, and where it does not they stay together. */
static bool gemm_by_pieces(const struct odb_gemm *g)
{
    size_t size = odb_dtype_info(g->dtype)->bits / 8;
    bool whole = g->sequential || g->alpha != 1 || g->k < ODB_PRODUCT_DEPTH;
    size_t depth = whole ? g->k : ODB_PRODUCT_DEPTH;
    size_t cols = ODB_MIN(ODB_MAX(GEMM_WIDENED / (depth * size), (size_t)GEMM_WIDENED_COLS), g->n);
    void *b = odb_work_take(depth * cols, size);
    bool done = b != NULL;
    for (size_t j0 = 0; j0 < g->n && done; j0 += cols)
        for (size_t p0 = 0; p0 < g->k && done; p0 += depth) {
            struct odb_gemm part = *g;
            part.b_type = ODB_UNDEFINED;
            part.n = ODB_MIN(cols, g->n - j0);
            part.k = ODB_MIN(depth, g->k - p0);
            gemm_widen(g, p0, part.k, j0, part.n, b);
            part.a = (const char *)g->a + (g->trans_a ? p0 * g->lda : p0) * size;
            part.b = b;
            part.ldb = g->trans_b ? part.k : part.n;
            part.c = (char *)g->c + j0 * size;
            part.accumulate = g->accumulate || p0 > 0;
            done = odb_gemm_run(&part);
        }
    odb_work_give(b);
    return done;
}

bool odb_gemm_run(const struct odb_gemm *g)
{
    if (g->m == 0 || g->n == 0)
        return true;
    if (g->k == 0) {
        if (!g->accumulate)
            gemm_clear(g);
        return true;
    }
    if (g->b_type != ODB_UNDEFINED)
        return gemm_by_pieces(g);
    if (!g->sequential && odb_product_can(g))
        return odb_product_run(g, odb_product_best());
    switch (g->dtype) {
    case ODB_F32:
        return ODB_WIDEST(gemm_naive_f32)(g);
    case ODB_F64:
        return ODB_WIDEST(gemm_naive_f64)(g);
    case ODB_I32:
    case ODB_U32: /* two's complement: the same bits */
        return ODB_WIDEST(gemm_naive_u32)(g);
    default:
        return ODB_WIDEST(gemm_naive_u64)(g);
    }
}

/* Blocks of C, row by row of blocks, for every product of the batch. */
struct gemm_split {
    const struct odb_gemm *g;
    const size_t *at_a, *at_b, *at_c;
    size_t rows, cols;     /* of a block */
    size_t b_size;         /* bytes of an element of B */
    size_t across, blocks; /* blocks in a row; in a product */
    atomic_bool failed;
};

static void gemm_blocks(void *arg, size_t begin, size_t end)
{
    struct gemm_split *s = arg;
    size_t size = odb_dtype_info(s->g->dtype)->bits / 8;
    for (size_t block = begin; block < end; block++) {
        size_t item = block / s->blocks, within = block % s->blocks;
        size_t i = within / s->across * s->rows, j = within % s->across * s->cols;
        struct odb_gemm g = *s->g;
        size_t a = (s->at_a ? s->at_a[item] : 0) + (g.trans_a ? i : i * g.lda);
        size_t b = (s->at_b ? s->at_b[item] : 0) + (g.trans_b ? j * g.ldb : j);
        size_t c = (s->at_c ? s->at_c[item] : 0) + i * g.ldc + j;
        g.a = (const char *)g.a + a * size;
        g.b = (const char *)g.b + b * s->b_size;
        g.c = (char *)g.c + c * size;
        g.m = ODB_MIN(s->rows, g.m - i);
        g.n = ODB_MIN(s->cols, g.n - j);
        if (!odb_gemm_run(&g))
            atomic_store(&s->failed, true);
    }
}

#define GEMM_BLOCK_WORK (1u << 20) /* multiplications: some 10 microseconds */
#define GEMM_BYTE_WORK 8           /* as many take the time in which a byte of A or B is read */
#define GEMM_MAX_BLOCKS 16         /* of one product: packing costs more with every block */
#define GEMM_MIN_ROWS 128          /* of a block; each packs its part of B again */
#define GEMM_MIN_COLS 192          /* likewise, for its rows of A */
#define GEMM_STEP 48               /* block borders fall on multiples, as the inner tiles do */

/* Length of the pieces when n is cut into about `pieces`, none shorter than least. */
static size_t gemm_piece(size_t n, size_t pieces, size_t least)
{
    size_t piece = ODB_MAX(n / ODB_MAX(pieces, (size_t)1), least);
    return (piece + GEMM_STEP - 1) / GEMM_STEP * GEMM_STEP;
}

bool odb_gemm_batch(const struct odb_gemm *g, size_t batch, const size_t *at_a, const size_t *at_b,
                    const size_t *at_c)
{
    if (g->m == 0 || g->n == 0 || batch == 0)
        return true;
    struct gemm_split s = {.g = g, .at_a = at_a, .at_b = at_b, .at_c = at_c};
    s.b_size = odb_dtype_info(g->b_type == ODB_UNDEFINED ? g->dtype : g->b_type)->bits / 8;
    double m = (double)g->m, n = (double)g->n;
    double read = m * (double)(odb_dtype_info(g->dtype)->bits / 8) + n * (double)s.b_size;
    double work = (m * n + GEMM_BYTE_WORK * read) * (double)g->k;
    size_t wanted = (size_t)ODB_MIN(work / GEMM_BLOCK_WORK, (double)GEMM_MAX_BLOCKS) / batch;
    bool vector = g->m == 1 || g->n == 1; /* nothing is packed */
    s.rows = gemm_piece(g->m, wanted, vector ? GEMM_STEP : GEMM_MIN_ROWS);
    size_t down = (g->m + s.rows - 1) / s.rows;
    s.cols = gemm_piece(g->n, wanted / down, vector ? GEMM_STEP : GEMM_MIN_COLS);
    s.across = (g->n + s.cols - 1) / s.cols;
    s.blocks = s.across * down;
    atomic_init(&s.failed, false);
    size_t grain = (size_t)(GEMM_BLOCK_WORK / (work / (double)s.blocks + 1)) + 1;
    odb_parallel_for(batch * s.blocks, grain, gemm_blocks, &s);
    return !atomic_load(&s.failed);
}

/* --- MatMul ----------------------------------------------------------------------------------- */

/* The operands as stacks of matrices, NumPy's way: 1-D operands get a dimension that the result
 * loses again. */
struct matmul {
    size_t m, n, k;
    int rank; /* of the batch */
    int64_t batch[ODB_MAX_RANK], batch_a[ODB_MAX_RANK], batch_b[ODB_MAX_RANK];
    size_t count; /* product of batch */
    int out_rank;
    int64_t out[ODB_MAX_RANK];
};

static enum odb_status matmul_shape(struct odb_kern *k, const struct odb_tensor *a,
                                    const struct odb_tensor *b, struct matmul *s)
{
    char text_a[200], text_b[200];
    if (a->rank < 1 || b->rank < 1)
        return ODB_KERN_FAIL(k, "%s takes no scalars: shapes %s and %s", k->op->name,
                             odb_shape_text(a, text_a, sizeof text_a),
                             odb_shape_text(b, text_b, sizeof text_b));
    s->m = a->rank == 1 ? 1 : (size_t)a->dims[a->rank - 2];
    s->k = (size_t)a->dims[a->rank - 1];
    s->n = b->rank == 1 ? 1 : (size_t)b->dims[b->rank - 1];
    if (b->dims[ODB_MAX(b->rank - 2, 0)] != (int64_t)s->k)
        return ODB_KERN_FAIL(k, "inner dimensions of %s and %s differ",
                             odb_shape_text(a, text_a, sizeof text_a),
                             odb_shape_text(b, text_b, sizeof text_b));
    int ra = ODB_MAX(a->rank - 2, 0), rb = ODB_MAX(b->rank - 2, 0);
    s->rank = ODB_MAX(ra, rb);
    s->out_rank = 0;
    for (int d = 0; d < s->rank; d++) {
        int64_t da = d < s->rank - ra ? 1 : a->dims[d - (s->rank - ra)];
        int64_t db = d < s->rank - rb ? 1 : b->dims[d - (s->rank - rb)];
        if (da != db && da != 1 && db != 1)
            return ODB_KERN_FAIL(k, "shapes %s and %s do not broadcast",
                                 odb_shape_text(a, text_a, sizeof text_a),
                                 odb_shape_text(b, text_b, sizeof text_b));
        s->batch_a[d] = da;
        s->batch_b[d] = db;
        s->batch[d] = s->out[s->out_rank++] = da == 1 ? db : da;
    }
    s->count = odb_dims_product(s->batch, 0, s->rank);
    if (a->rank > 1)
        s->out[s->out_rank++] = (int64_t)s->m;
    if (b->rank > 1)
        s->out[s->out_rank++] = (int64_t)s->n;
    return ODB_OK;
}

/* Where matrix `item` of the batch starts in an operand whose batch dimensions are dims. */
static size_t matmul_at(const struct matmul *s, const int64_t *dims, size_t item, size_t size)
{
    size_t at = 0, step = size;
    for (int d = s->rank - 1; d >= 0; d--) {
        size_t index = item % (size_t)s->batch[d];
        item /= (size_t)s->batch[d];
        if (dims[d] != 1)
            at += index * step;
        step *= (size_t)dims[d];
    }
    return at;
}

/* B as the product takes it: what is narrower than A is widened by the piece where there are few
 * rows of A, else here, once. *out is the caller's. */
static enum odb_status matmul_b(struct odb_kern *k, size_t rows, struct odb_tensor **out,
                                enum odb_dtype *b_type)
{
    const struct odb_tensor *b = k->in[1];
    bool narrow = b->dtype != k->in[0]->dtype;
    *b_type = ODB_UNDEFINED;
    if (narrow && rows > GEMM_MIN_ROWS)
        return odb_tensor_cast(out, b, k->in[0]->dtype, k->err);
    if (narrow)
        *b_type = b->dtype;
    *out = odb_tensor_ref(b);
    return ODB_OK;
}

/* Whether operands may have these types: see ODB_OP_PIECES. */
static bool matmul_fit(const struct odb_tensor *a, const struct odb_tensor *b)
{
    return a->dtype == b->dtype ||
           (odb_dtype_is_float(a->dtype) && odb_dtype_is_float(b->dtype) &&
            odb_dtype_info(a->dtype)->bits > odb_dtype_info(b->dtype)->bits);
}

/* Y = A B over the batch. b_type: as in struct odb_gemm. */
static bool matmul_product(const struct matmul *s, enum odb_dtype dtype, enum odb_dtype b_type,
                           bool sequential, const void *a, const void *b, void *y)
{
    struct odb_gemm g = {.dtype = dtype,
                         .b_type = b_type,
                         .sequential = sequential,
                         .m = s->m,
                         .n = s->n,
                         .k = s->k,
                         .a = a,
                         .b = b,
                         .c = y,
                         .lda = s->k,
                         .ldb = s->n,
                         .ldc = s->n,
                         .alpha = 1};
    if (s->count == 0 || s->m == 0 || s->n == 0)
        return true;
    bool one_b = odb_dims_product(s->batch_b, 0, s->rank) == 1;
    if (one_b && odb_dims_product(s->batch_a, 0, s->rank) == s->count) {
        g.m *= s->count; /* B is shared: the batch is more rows of A */
        return odb_gemm_batch(&g, 1, NULL, NULL, NULL);
    }
    size_t *at = odb_work_take(3 * s->count, sizeof *at);
    if (!at)
        return false;
    size_t *at_a = at, *at_b = at + s->count, *at_c = at + 2 * s->count;
    for (size_t i = 0; i < s->count; i++) {
        at_a[i] = matmul_at(s, s->batch_a, i, s->m * s->k);
        at_b[i] = matmul_at(s, s->batch_b, i, s->k * s->n);
        at_c[i] = i * s->m * s->n;
    }
    bool done = odb_gemm_batch(&g, s->count, at_a, at_b, at_c);
    odb_work_give(at);
    return done;
}

static enum odb_status matmul_infer(struct odb_kern *k)
{
    struct matmul s;
    ODB_TRY(matmul_shape(k, k->in[0], k->in[1], &s));
    if (!matmul_fit(k->in[0], k->in[1]))
        return ODB_KERN_FAIL(k, "operands of %s have types %s and %s", k->op->name,
                             odb_dtype_info(k->in[0]->dtype)->name,
                             odb_dtype_info(k->in[1]->dtype)->name);
    return odb_kern_outline(k, 0, k->in[0]->dtype, s.out_rank, s.out);
}

static enum odb_status matmul_run(struct odb_kern *k)
{
    struct matmul s;
    ODB_TRY(matmul_shape(k, k->in[0], k->in[1], &s));
    enum odb_dtype b_type;
    struct odb_tensor *b;
    ODB_TRY(matmul_b(k, s.m * s.count, &b, &b_type));
    bool done = matmul_product(&s, k->out[0]->dtype, b_type, k->sequential, k->in[0]->data, b->data,
                               k->out[0]->data);
    odb_tensor_unref(b);
    return done ? ODB_OK : odb_kern_no_memory(k);
}

/* --- Gemm ------------------------------------------------------------------------------------- */

static enum odb_status gemm_infer(struct odb_kern *k)
{
    const struct odb_tensor *a = k->in[0], *b = k->in[1], *c = odb_kern_in(k, 2);
    if (a->rank != 2 || b->rank != 2)
        return ODB_KERN_FAIL(k, "Gemm multiplies matrices, not operands of rank %d and %d", a->rank,
                             b->rank);
    if (!matmul_fit(a, b) || (c && c->dtype != a->dtype))
        return ODB_KERN_FAIL(k, "operands of Gemm have different types");
    bool ta = odb_kern_int(k, "transA", 0) != 0, tb = odb_kern_int(k, "transB", 0) != 0;
    int64_t dims[2] = {a->dims[ta], b->dims[!tb]};
    if (a->dims[!ta] != b->dims[tb])
        return ODB_KERN_FAIL(k, "inner dimensions %lld and %lld differ", (long long)a->dims[!ta],
                             (long long)b->dims[tb]);
    for (int d = 0; c && d < c->rank; d++) {
        int to = d + 2 - c->rank;
        if (c->dims[d] != 1 && (to < 0 || c->dims[d] != dims[to])) {
            char text[200];
            return ODB_KERN_FAIL(k, "C of shape %s does not broadcast to (%lld, %lld)",
                                 odb_shape_text(c, text, sizeof text), (long long)dims[0],
                                 (long long)dims[1]);
        }
    }
    return odb_kern_outline(k, 0, a->dtype, 2, dims);
}

/* Elements from row to row (from column to column) of C as broadcast to the result. */
static void gemm_c_steps(const struct odb_tensor *c, size_t *row, size_t *col)
{
    *col = c->rank >= 1 && c->dims[c->rank - 1] != 1;
    *row = c->rank >= 2 && c->dims[c->rank - 2] != 1 ? (size_t)c->dims[c->rank - 1] : 0;
}

#define ODB_BODY "kernels/linear/gemm_bias.real.h"
#include "kernels/core/real.h"

/* Integers: alpha and beta are floats, so the products with them truncate, by odb_store_f64(). */
static void gemm_scale_ints(struct odb_tensor *y, const struct odb_tensor *c, double alpha,
                            double beta)
{
    size_t row = 0, col = 0, n = (size_t)y->dims[1];
    if (c)
        gemm_c_steps(c, &row, &col);
    for (size_t i = 0; i < y->count; i++) {
        size_t at = i / n * row + i % n * col;
        if (alpha == 1 && beta == 1) {
            uint64_t value = (uint64_t)odb_load_i64(y->dtype, y->data, i);
            uint64_t add = c ? (uint64_t)odb_load_i64(c->dtype, c->data, at) : 0;
            odb_store_i64(y->dtype, y->data, i, (int64_t)(value + add));
        } else {
            double add = c ? beta * odb_load_f64(c->dtype, c->data, at) : 0;
            odb_store_f64(y->dtype, y->data, i, alpha * odb_load_f64(y->dtype, y->data, i) + add);
        }
    }
}

static enum odb_status gemm_run(struct odb_kern *k)
{
    const struct odb_tensor *a = k->in[0], *c = odb_kern_in(k, 2);
    struct odb_tensor *y = k->out[0], *b;
    enum odb_dtype b_type;
    ODB_TRY(matmul_b(k, (size_t)y->dims[0], &b, &b_type));
    bool ta = odb_kern_int(k, "transA", 0) != 0, tb = odb_kern_int(k, "transB", 0) != 0;
    double alpha = odb_kern_float(k, "alpha", 1), beta = odb_kern_float(k, "beta", 1);
    bool real = odb_dtype_is_float(y->dtype);
    struct odb_gemm g = {.dtype = y->dtype,
                         .b_type = b_type,
                         .trans_a = ta,
                         .trans_b = tb,
                         .sequential = k->sequential,
                         .m = (size_t)y->dims[0],
                         .n = (size_t)y->dims[1],
                         .k = (size_t)a->dims[!ta],
                         .a = a->data,
                         .b = b->data,
                         .c = y->data,
                         .lda = (size_t)a->dims[1],
                         .ldb = (size_t)b->dims[1],
                         .ldc = (size_t)y->dims[1],
                         .alpha = real ? alpha : 1,
                         .accumulate = real && c};
    if (g.accumulate)
        ODB_REAL_FN(k, y->dtype, gemm_bias)(y, c, beta);
    bool done = odb_gemm_batch(&g, 1, NULL, NULL, NULL);
    odb_tensor_unref(b);
    if (!done)
        return odb_kern_no_memory(k);
    if (!real && (c || alpha != 1))
        gemm_scale_ints(y, c, alpha, beta);
    return ODB_OK;
}

/* --- products of 8-bit integers --------------------------------------------------------------- */

/* An 8-bit operand minus its zero point, as int32: *out is owned by the caller. zero is NULL, a
 * scalar, or one value per row (axis -2) or column (axis -1), with or without batch dimensions. */
static enum odb_status matmul_widen(struct odb_kern *k, const struct odb_tensor *t,
                                    const struct odb_tensor *zero, bool per_row,
                                    struct odb_tensor **out)
{
    ODB_TRY(odb_tensor_cast(out, t, ODB_I32, k->err));
    if (!zero || t->count == 0)
        return ODB_OK;
    size_t cols = (size_t)t->dims[t->rank - 1];
    size_t rows = t->rank > 1 ? (size_t)t->dims[t->rank - 2] : 1;
    size_t line = per_row ? rows : cols;
    if (zero->count != 1 && zero->count != line && zero->count != t->count / (rows * cols) * line)
        return ODB_KERN_FAIL(k, "%zu zero points for %zu %s", zero->count, line,
                             per_row ? "rows" : "columns");
    int32_t *points = odb_work_take(zero->count, sizeof *points);
    if (!points)
        return odb_kern_no_memory(k);
    for (size_t i = 0; i < zero->count; i++)
        points[i] = (int32_t)odb_tensor_i64(zero, i);
    odb_i32 *x = (*out)->data;
    for (size_t row = 0; row < t->count / cols; row++, x += cols) {
        const int32_t *point = points + (per_row ? row : row / rows * cols) % zero->count;
        size_t step = !per_row && zero->count > 1;
        for (size_t i = 0; i < cols; i++)
            x[i] -= point[i * step];
    }
    odb_work_give(points);
    return ODB_OK;
}

/* The int32 product of inputs a and b less their zero points (each may be absent). */
static enum odb_status matmul_integer(struct odb_kern *k, const int in[4], const struct matmul *s,
                                      void *y)
{
    struct odb_tensor *a = NULL, *b = NULL;
    enum odb_status status;
    ODB_TRY_OUT(matmul_widen(k, k->in[in[0]], odb_kern_in(k, in[1]), true, &a));
    ODB_TRY_OUT(matmul_widen(k, k->in[in[2]], odb_kern_in(k, in[3]), false, &b));
    if (!matmul_product(s, ODB_I32, ODB_UNDEFINED, k->sequential, a->data, b->data, y))
        status = odb_kern_no_memory(k);
out:
    odb_tensor_unref(a);
    odb_tensor_unref(b);
    return status;
}

static enum odb_status matmul_integer_infer(struct odb_kern *k)
{
    struct matmul s;
    ODB_TRY(matmul_shape(k, k->in[0], k->in[1], &s));
    return odb_kern_outline(k, 0, ODB_I32, s.out_rank, s.out);
}

static enum odb_status matmul_integer_run(struct odb_kern *k)
{
    struct matmul s;
    ODB_TRY(matmul_shape(k, k->in[0], k->in[1], &s));
    return matmul_integer(k, (const int[]){0, 2, 1, 3}, &s, k->out[0]->data);
}

ODB_SIMD void odb_requantize(const odb_i32 *sums, size_t n, const float *ratio, size_t step,
                             enum odb_dtype dtype, int32_t zero, odb_u8 *y)
{
    float least = (float)((dtype == ODB_I8 ? -128 : 0) - zero), most = least + 255;
    for (size_t i = 0; i < n; i++) {
        float level = rintf((float)sums[i] * ratio[i * step]);
        level = level > least ? level : least;
        level = level < most ? level : most;
        y[i] = (odb_u8)((int32_t)level + zero);
    }
}

static enum odb_status matmul_quantized_infer(struct odb_kern *k)
{
    struct matmul s;
    ODB_TRY(matmul_shape(k, k->in[0], k->in[3], &s));
    for (int i = 1; i < 8; i++)
        if (i != 3 && k->in[i]->count == 0)
            return ODB_KERN_FAIL(k, "input %d has no elements", i);
    if (k->in[6]->count != 1 || k->in[7]->count != 1)
        return ODB_KERN_FAIL(k, "the result has one scale and one zero point");
    return odb_kern_outline(k, 0, k->in[7]->dtype, s.out_rank, s.out);
}

/* a, its scale and zero point; b, its; y's. Scales are one, one per row of a (column of b), or
 * that for every matrix of the batch. */
static enum odb_status matmul_quantized_run(struct odb_kern *k)
{
    const struct odb_tensor *scale_a = k->in[1], *scale_b = k->in[4];
    struct matmul s;
    ODB_TRY(matmul_shape(k, k->in[0], k->in[3], &s));
    struct odb_tensor *y = k->out[0], *sums;
    ODB_TRY(odb_tensor_new_raw(&sums, ODB_I32, y->rank, y->dims, k->err));
    enum odb_status status = matmul_integer(k, (const int[]){0, 2, 3, 5}, &s, sums->data);
    float scale_y = (float)odb_tensor_f64(k->in[6], 0);
    int32_t zero = (int32_t)odb_tensor_i64(k->in[7], 0);
    float *ratio = odb_work_take(s.n + 1, sizeof *ratio);
    if (!ratio && status == ODB_OK)
        status = odb_kern_no_memory(k);
    for (size_t row = 0; status == ODB_OK && y->count && row < s.count * s.m; row++) {
        float a = (float)odb_tensor_f64(scale_a, row % scale_a->count);
        for (size_t j = 0; j < s.n; j++)
            ratio[j] = a * (float)odb_tensor_f64(scale_b, (row / s.m * s.n + j) % scale_b->count) /
                       scale_y;
        odb_requantize((odb_i32 *)sums->data + row * s.n, s.n, ratio, 1, y->dtype, zero,
                       (odb_u8 *)y->data + row * s.n);
    }
    odb_work_give(ratio);
    odb_tensor_unref(sums);
    return status;
}

/* --- float8 ----------------------------------------------------------------------------------- */

/* A quantized operand less its zero point, as double; float8 has no zero point but 0. */
static enum odb_status matmul_widen_float8(struct odb_kern *k, int i, int zero, bool per_row,
                                           struct odb_tensor **out)
{
    const struct odb_tensor *t = k->in[i], *points = k->in[zero];
    struct odb_tensor *ints = NULL;
    if (odb_dtype_is_integer(t->dtype)) {
        enum odb_status status = matmul_widen(k, t, points, per_row, &ints);
        if (status == ODB_OK)
            status = odb_tensor_cast(out, ints, ODB_F64, k->err);
        odb_tensor_unref(ints); /* which is there where its zero points do not fit, too */
        return status;
    }
    for (size_t p = 0; p < points->count; p++)
        if (odb_tensor_f64(points, p) != 0)
            return ODB_KERN_UNSUPPORTED(k, "a zero point of %g for %s", odb_tensor_f64(points, p),
                                        odb_dtype_info(t->dtype)->name);
    return odb_tensor_cast(out, t, ODB_F64, k->err);
}

/* v, in steps of y's scale, as element i of y. */
static void matmul_requantize_float8(struct odb_tensor *y, size_t i, double v, double zero)
{
    bool sign = y->dtype == ODB_I8;
    if (odb_dtype_is_integer(y->dtype))
        v = fmin(fmax(rint(v) + zero, sign ? -128 : 0), sign ? 127 : 255);
    odb_store_f64(y->dtype, y->data, i, v);
}

/* matmul_quantized_run() in double, where products of float8 are exact. */
static enum odb_status matmul_float8_run(struct odb_kern *k)
{
    const struct odb_tensor *scale_a = k->in[1], *scale_b = k->in[4];
    struct odb_tensor *y = k->out[0], *a = NULL, *b = NULL, *sums = NULL;
    double scale_y = odb_tensor_f64(k->in[6], 0), zero = odb_tensor_f64(k->in[7], 0);
    enum odb_status status = ODB_OK;
    struct matmul s;
    ODB_TRY(matmul_shape(k, k->in[0], k->in[3], &s));
    ODB_TRY_OUT(matmul_widen_float8(k, 0, 2, true, &a));
    ODB_TRY_OUT(matmul_widen_float8(k, 3, 5, false, &b));
    ODB_TRY_OUT(odb_tensor_new_raw(&sums, ODB_F64, y->rank, y->dims, k->err));
    if (!matmul_product(&s, ODB_F64, ODB_UNDEFINED, k->sequential, a->data, b->data, sums->data)) {
        status = odb_kern_no_memory(k);
        goto out;
    }
    for (size_t i = 0; i < y->count; i++) {
        size_t row = i / s.n, column = row / s.m * s.n + i % s.n;
        double scale = odb_tensor_f64(scale_a, row % scale_a->count) *
                       odb_tensor_f64(scale_b, column % scale_b->count) / scale_y;
        matmul_requantize_float8(y, i, odb_tensor_f64(sums, i) * scale, zero);
    }
out:
    odb_tensor_unref(a);
    odb_tensor_unref(b);
    odb_tensor_unref(sums);
    return status;
}

static enum odb_status matmul_quantized_any(struct odb_kern *k)
{
    bool integers = true;
    for (int i = 0; i < 8; i++)
        if (i != 1 && i != 4 && i != 6)
            integers = integers && odb_dtype_is_integer(k->in[i]->dtype);
    return integers ? matmul_quantized_run(k) : matmul_float8_run(k);
}

/* --- the table -------------------------------------------------------------------------------- */

#define MATMUL_TYPES                                                                               \
    (ODB_T_FLOAT | ODB_BIT(ODB_I32) | ODB_BIT(ODB_U32) | ODB_BIT(ODB_I64) | ODB_BIT(ODB_U64))
#define MATMUL_REAL (ODB_OP_REAL | ODB_OP_MATMUL | ODB_OP_PIECES)
#define MATMUL_BYTES (ODB_BIT(ODB_I8) | ODB_BIT(ODB_U8))
/* sums are exact; what they are scaled by is not, and may tip a result over */
#define MATMUL_QUANTIZED_FLAGS (ODB_OP_REAL | ODB_OP_BOUNDARY)
/* a and b with scale and zero point, scale and zero point of the result */
#define MATMUL_QUANTIZED(types, scale)                                                             \
    types, scale, ODB_AS(0), types, ODB_AS(1), ODB_AS(3), ODB_AS(1), types

static const struct odb_attr_spec gemm_attrs_1[] = {
    {"alpha", ODB_ATTR_FLOAT, "1", false},   {"beta", ODB_ATTR_FLOAT, "1", false},
    {"broadcast", ODB_ATTR_INT, "0", false}, {"transA", ODB_ATTR_INT, "0", false},
    {"transB", ODB_ATTR_INT, "0", false},    {NULL}};

static const struct odb_attr_spec gemm_attrs_7[] = {{"alpha", ODB_ATTR_FLOAT, "1", false},
                                                    {"beta", ODB_ATTR_FLOAT, "1", false},
                                                    {"transA", ODB_ATTR_INT, "0", false},
                                                    {"transB", ODB_ATTR_INT, "0", false},
                                                    {NULL}};

/* Later versions of these operators differ only in the types that they allow; a row takes all of
 * them from the start. */
const struct odb_op odb_ops_matmul[] = {
    ODB_ONNX("MatMul", 1, ODB_ARITY(2, 2), ODB_ARITY(1, 1), MATMUL_REAL, NULL, matmul_infer,
             matmul_run, MATMUL_TYPES, ODB_NAMES("A,B", "Y"), ODB_HALVES(1, 13),
             ODB_WORK(matmul, 0, 1), ODB_FUSES(" Mul Div ", " MatMul Mul Div ")),
    ODB_ONNX("Gemm", 1, ODB_ARITY(2, 3), ODB_ARITY(1, 1), MATMUL_REAL, gemm_attrs_1, gemm_infer,
             gemm_run, MATMUL_TYPES, ODB_NAMES("A,B,C", "Y"), ODB_HALVES(7, 13),
             ODB_WORK(matmul, 0, 1, 2), ODB_HEAD("MatMul"),
             ODB_FUSES(" Add BatchNormalization Gemm Reshape ",
                       " MatMul Gemm Add BatchNormalization Transpose Reshape Flatten ")),
    ODB_ONNX("Gemm", 7, ODB_ARITY(2, 3), ODB_ARITY(1, 1), MATMUL_REAL, gemm_attrs_7, gemm_infer,
             gemm_run, MATMUL_TYPES),
    ODB_ONNX("MatMulInteger", 10, ODB_ARITY(2, 4), ODB_ARITY(1, 1), ODB_OP_EXACT, NULL,
             matmul_integer_infer, matmul_integer_run, MATMUL_BYTES, MATMUL_BYTES, ODB_AS(0),
             ODB_AS(1), ODB_NAMES("A,B,a_zero_point,b_zero_point", "Y"), ODB_WORK(matmul, 0, 1),
             ODB_TRAITS(ODB_IS_QUANTISED)),
    ODB_ONNX("QLinearMatMul", 10, ODB_ARITY(8, 8), ODB_ARITY(1, 1), MATMUL_QUANTIZED_FLAGS, NULL,
             matmul_quantized_infer, matmul_quantized_run,
             MATMUL_QUANTIZED(MATMUL_BYTES, ODB_BIT(ODB_F32)),
             ODB_NAMES("a,a_scale,a_zero_point,b,b_scale,b_zero_point,y_scale,y_zero_point", "y"),
             ODB_WORK(matmul, 0, 3), ODB_QUANTISED("MatMul", 6, 2, {0, 3}),
             ODB_TRAITS(ODB_IS_QUANTISED)),
    ODB_ONNX("QLinearMatMul", 21, ODB_ARITY(8, 8), ODB_ARITY(1, 1), MATMUL_QUANTIZED_FLAGS, NULL,
             matmul_quantized_infer, matmul_quantized_any,
             MATMUL_QUANTIZED(MATMUL_BYTES | ODB_T_FLOAT8, ODB_BIT(ODB_F32) | ODB_T_HALVES)),
    {.name = NULL},
};
