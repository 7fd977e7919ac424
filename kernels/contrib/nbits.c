/* SPDX-License-Identifier: MIT
 *
 * Weights in a few bits, in blocks that have a scale each: MatMulNBits, MatMulBnb4, MatMulFpQ4 and
 * GatherBlockQuantized (com.microsoft). Weights are written out as floats, each rounded once, and
 * multiplied as MatMul does. accuracy_level lets a target round the other operand, too: the
 * reference does so in noisy mode alone, which says how far that may lead.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "system/parallel.h"
#include "kernels/core/chain.h"
#include "kernels/contrib/contrib.h"
#include "kernels/core/simd.h"

#define NBITS_GRAIN 64 /* rows of weights */

/* Number i of a row of numbers of `bits` bits, low ones first. */
ODB_INLINE int32_t nbits_at(const odb_u8 *row, size_t i, unsigned bits)
{
    size_t at = i * bits;
    return row[at / 8] >> at % 8 & ((1 << bits) - 1);
}

/* --- MatMulNBits ------------------------------------------------------------------------------ */

/* weights (n, blocks, bytes of a block), scales (n, blocks), zero points (n, bytes of all blocks'),
 * or as floats (n, blocks); group[i] is the block whose scale counts for column i. */
struct nbits {
    const struct odb_tensor *weights, *scales, *zeros, *group; /* borrowed; the last may be NULL */
    int64_t k, n, block, blocks;
    unsigned bits;
    struct odb_tensor *out; /* borrowed: (n, k) */
};

static void nbits_rows(void *arg, size_t begin, size_t end)
{
    const struct nbits *w = arg;
    size_t blob = (size_t)(w->block * w->bits / 8), blocks = (size_t)w->blocks;
    size_t zero_row = (blocks * w->bits + 7) / 8;
    for (size_t row = begin; row < end; row++) {
        const odb_u8 *weights = (const odb_u8 *)w->weights->data + row * blocks * blob;
        for (size_t i = 0; i < (size_t)w->k; i++) {
            size_t b = w->group ? (size_t)odb_tensor_i64(w->group, i) : i / (size_t)w->block;
            double zero = 1 << (w->bits - 1);
            if (w->zeros && w->zeros->dtype == ODB_U8)
                zero = nbits_at((const odb_u8 *)w->zeros->data + row * zero_row, b, w->bits);
            else if (w->zeros)
                zero = odb_tensor_f64(w->zeros, row * blocks + b);
            double v = (nbits_at(weights, i, w->bits) - zero) *
                       odb_tensor_f64(w->scales, row * blocks + b);
            odb_store_f64(w->out->dtype, w->out->data, row * (size_t)w->k + i, v);
        }
    }
}

static void nbits_read(struct odb_chain *c, struct nbits *w)
{
    struct odb_kern *k = c->k;
    int64_t bits = odb_kern_int(k, "bits", 4);
    *w = (struct nbits){.weights = k->in[1],
                        .scales = k->in[2],
                        .zeros = odb_kern_in(k, 3),
                        .group = odb_kern_in(k, 4),
                        .k = odb_kern_int(k, "K", 0),
                        .n = odb_kern_int(k, "N", 0),
                        .block = odb_kern_int(k, "block_size", 0),
                        .bits = (unsigned)bits};
    if (bits != 2 && bits != 4 && bits != 8)
        ODB_CHAIN_UNSUPPORTED(c, "weights of %lld bits", (long long)bits);
    else if (w->block < 16 || w->block & (w->block - 1) || w->k < 1 || w->n < 1 ||
             w->block > (1 << 24) || w->k > (1 << 30) || w->n > (1 << 30))
        ODB_CHAIN_FAIL(c, "K %lld, N %lld and block_size %lld make no sense", (long long)w->k,
                       (long long)w->n, (long long)w->block);
    else if (odb_kern_int(k, "weight_prepacked", 0))
        ODB_CHAIN_UNSUPPORTED(c, "weights that were packed for one device");
    if (!odb_chain_ok(c))
        return;
    w->blocks = (w->k + w->block - 1) / w->block;
    size_t n = (size_t)w->n, blocks = (size_t)w->blocks;
    if (w->weights->count != n * blocks * (size_t)(w->block * bits / 8) ||
        w->scales->count != n * blocks)
        ODB_CHAIN_FAIL(c, "%zu bytes of weights and %zu scales for %zu rows of %zu blocks",
                       w->weights->count, w->scales->count, n, blocks);
    size_t zeros =
        w->zeros && w->zeros->dtype == ODB_U8 ? n * ((blocks * w->bits + 7) / 8) : n * blocks;
    if (w->zeros && w->zeros->count != zeros)
        ODB_CHAIN_FAIL(c, "%zu zero points where %zu are needed", w->zeros->count, zeros);
    if (w->group && w->group->count < (size_t)w->k)
        ODB_CHAIN_FAIL(c, "g_idx has %zu numbers for %lld columns", w->group->count,
                       (long long)w->k);
    for (size_t i = 0; odb_chain_ok(c) && w->group && !c->infer && i < (size_t)w->k; i++) {
        int64_t b = odb_tensor_i64(w->group, i);
        if (b < 0 || b >= w->blocks)
            ODB_CHAIN_FAIL(c, "g_idx[%zu] is %lld of %lld blocks", i, (long long)b,
                           (long long)w->blocks);
    }
}

/* a times weights, which are the rows of the second operand transposed, plus bias. */
static void nbits_product(struct odb_chain *c, const struct odb_tensor *a,
                          const struct odb_tensor *weights, bool transposed,
                          const struct odb_tensor *bias)
{
    if (transposed && odb_chain_ok(c))
        weights = odb_chain_permute(c, weights, (const int64_t[]){1, 0});
    const struct odb_tensor *y = ODB_STEP(c, "MatMul", 13, (a, weights));
    if (bias)
        y = ODB_STEP(c, "Add", 14, (y, bias));
    odb_chain_give(c, 0, y);
}

/* Rows of a as a target of accuracy level 4 may take them: in each block to signed bytes. */
static void nbits_coarsen(struct odb_tensor *a, size_t row, size_t block)
{
    for (size_t i = 0; i < a->count; i++) {
        size_t in_row = i % row, n = ODB_MIN(block, row - in_row);
        double most = 0;
        if (in_row % block)
            continue;
        for (size_t j = i; j < i + n; j++)
            most = fmax(most, fabs(odb_tensor_f64(a, j)));
        for (size_t j = i; most > 0 && j < i + n; j++)
            odb_store_f64(a->dtype, a->data, j,
                          rint(odb_tensor_f64(a, j) * 127 / most) * most / 127);
    }
}

/* The operand that is not quantized, or in noisy mode what its accuracy level leaves of it. */
static const struct odb_tensor *nbits_operand(struct odb_chain *c, int64_t block)
{
    static const enum odb_dtype narrow[] = {[2] = ODB_F16, [3] = ODB_BF16};
    const struct odb_tensor *a = c->k->in[0];
    int64_t level = odb_kern_int(c->k, "accuracy_level", 0);
    if (!c->k->sequential || c->infer || !odb_chain_ok(c) || level < 2 || level > 4 || !a->count)
        return a;
    struct odb_tensor *coarse = odb_chain_new(c, a->dtype, a->rank, a->dims);
    if (!coarse)
        return NULL;
    memcpy(coarse->data, a->data, a->bytes);
    if (level == 4)
        nbits_coarsen(coarse, (size_t)a->dims[a->rank - 1], (size_t)block);
    else if (a->dtype == ODB_F32)
        odb_round_f32(narrow[level], coarse->data, coarse->count);
    return coarse;
}

static void nbits_matmul(struct odb_chain *c)
{
    struct nbits w;
    nbits_read(c, &w);
    w.out = odb_chain_new(c, c->k->in[0]->dtype, 2, (const int64_t[]){w.n, w.k});
    if (w.out && !c->infer)
        odb_parallel_for((size_t)w.n, NBITS_GRAIN, nbits_rows, &w);
    nbits_product(c, nbits_operand(c, w.block), w.out, true, odb_kern_in(c->k, 5));
}
ODB_CHAIN(nbits_matmul)

/* --- MatMulBnb4 ------------------------------------------------------------------------------- */

/* What the 16 codes stand for, in units of the block's largest magnitude: of FP4 and NF4. */
static const float nbits_codes[2][16] = {
    {0.0f, 5.208333333e-03f, 0.66666667f, 1.0f, 0.33333333f, 0.5f, 0.16666667f, 0.25f, -0.0f,
     -5.208333333e-03f, -0.66666667f, -1.0f, -0.33333333f, -0.5f, -0.16666667f, -0.25f},
    {-1.0f, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f,
     -0.28444138169288635f, -0.18477343022823334f, -0.09105003625154495f, 0.0f,
     0.07958029955625534f, 0.16093020141124725f, 0.24611230194568634f, 0.33791524171829224f,
     0.44070982933044434f, 0.5626170039176941f, 0.7229568362236023f, 1.0f}};

/* Weights (n, k), two to a byte, the first in the high bits; one scale per block of them all. */
static void nbits_bnb4(struct odb_chain *c)
{
    struct odb_kern *k = c->k;
    const struct odb_tensor *weights = k->in[1], *scales = k->in[2];
    int64_t rows = odb_kern_int(k, "N", 0), columns = odb_kern_int(k, "K", 0);
    int64_t block = odb_kern_int(k, "block_size", 0), type = odb_kern_int(k, "quant_type", 0);
    if (rows < 1 || columns < 1 || rows > (1 << 30) || columns > (1 << 30) || block < 16 ||
        block & (block - 1) || type < 0 || type > 1) {
        ODB_CHAIN_FAIL(c, "K %lld, N %lld, block_size %lld and quant_type %lld make no sense",
                       (long long)columns, (long long)rows, (long long)block, (long long)type);
        return;
    }
    size_t n = (size_t)(rows * columns);
    if (weights->count != (n + 1) / 2 || scales->count != (n + (size_t)block - 1) / (size_t)block)
        ODB_CHAIN_FAIL(c, "%zu bytes of weights and %zu scales for %zu weights", weights->count,
                       scales->count, n);
    struct odb_tensor *out = odb_chain_new(c, k->in[0]->dtype, 2, (const int64_t[]){rows, columns});
    for (size_t i = 0; out && !c->infer && i < n; i++) {
        int code = ((const odb_u8 *)weights->data)[i / 2] >> (i % 2 ? 0 : 4) & 15;
        odb_store_f64(out->dtype, out->data, i,
                      nbits_codes[type][code] * odb_tensor_f64(scales, i / (size_t)block));
    }
    nbits_product(c, k->in[0], out, odb_kern_int(k, "transB", 1) != 0, NULL);
}
ODB_CHAIN(nbits_bnb4)

/* --- MatMulFpQ4 ------------------------------------------------------------------------------- */

/* Columns of b one after the other, each in blobs: a float scale, a zero point (type 1 only; else
 * 8), and codes, of which each 32 lie in 16 bytes: the first 16 in the low bits. */
static void nbits_fpq4(struct odb_chain *c)
{
    struct odb_kern *k = c->k;
    int64_t type = odb_kern_int(k, "blk_quant_type", 1), shape[2];
    size_t given;
    c->status = odb_kern_values(k, 2, shape, 2, &given);
    if (odb_chain_ok(c) && (given != 2 || shape[0] < 1 || shape[1] < 1 || type < 0 || type > 2))
        ODB_CHAIN_FAIL(c, "B_shape of %zu numbers and blk_quant_type %lld make no sense", given,
                       (long long)type);
    if (!odb_chain_ok(c))
        return;
    size_t rows = (size_t)shape[0], columns = (size_t)shape[1], block = type == 2 ? 64 : 32;
    size_t head = type == 1 ? 5 : 4, blob = head + block / 2, blocks = (rows + block - 1) / block;
    size_t bytes;
    if (!odb_size_mul(blob, columns, &bytes) || !odb_size_mul(bytes, blocks, &bytes) ||
        k->in[1]->count != bytes)
        ODB_CHAIN_FAIL(c, "%zu bytes for a matrix of %zu by %zu", k->in[1]->count, rows, columns);
    struct odb_tensor *out = odb_chain_new(c, k->in[0]->dtype, 2, shape);
    for (size_t i = 0; out && !c->infer && i < out->count; i++) {
        size_t row = i / columns, column = i % columns, at = row % block;
        const odb_u8 *data = k->in[1]->data;
        data += (column * blocks + row / block) * blob;
        int zero = type == 1 ? data[4] : 8;
        int code = data[head + at / 32 * 16 + at % 16] >> (at % 32 < 16 ? 0 : 4) & 15;
        odb_store_f64(out->dtype, out->data, i, (code - zero) * (double)*(const odb_f32 *)data);
    }
    nbits_product(c, k->in[0], out, false, NULL);
}
ODB_CHAIN(nbits_fpq4)

/* --- GatherBlockQuantized --------------------------------------------------------------------- */

struct nbits_gather {
    int axis, along; /* gathered; quantized */
    int64_t block;   /* elements of a block */
    int64_t packed;  /* elements to a byte of uint8 data; else 1 */
    unsigned bits;   /* of those */
    int rank;
    int64_t dims[ODB_MAX_RANK]; /* of data, unpacked */
};

static enum odb_status nbits_gather_read(struct odb_kern *k, struct nbits_gather *g)
{
    const struct odb_tensor *data = k->in[0], *scales = k->in[2], *zeros = odb_kern_in(k, 3);
    bool bytes = data->dtype == ODB_U8, real = odb_dtype_is_float(data->dtype);
    int64_t bits = odb_kern_int(k, "bits", 4);
    *g = (struct nbits_gather){.block = odb_kern_int(k, "block_size", 128),
                               .packed = 1,
                               .rank = data->rank,
                               .bits = (unsigned)bits};
    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "gather_axis", 0), data->rank, false, &g->axis));
    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "quantize_axis", 1), data->rank, false, &g->along));
    if ((bytes && bits != 2 && bits != 4 && bits != 8) || (!bytes && !real && bits != 4))
        return ODB_KERN_UNSUPPORTED(k, "%lld bits in %s", (long long)bits,
                                    odb_dtype_info(data->dtype)->name);
    if (bytes && (g->along != data->rank - 1 || g->axis == g->along))
        return ODB_KERN_UNSUPPORTED(k, "bytes gathered along axis %d, quantized along axis %d",
                                    g->axis, g->along);
    if (bytes)
        g->packed = 8 / bits;
    memcpy(g->dims, data->dims, sizeof g->dims);
    if (__builtin_mul_overflow(g->dims[g->along], g->packed, &g->dims[g->along]))
        return ODB_KERN_FAIL(k, "%lld bytes of %lld bits", (long long)data->dims[g->along],
                             (long long)bits);
    if (real && g->block == 0)
        g->block = ODB_MAX(g->dims[g->along], 1);
    if (g->block < (real ? 1 : 16) || scales->rank != data->rank || (real && zeros))
        return ODB_KERN_FAIL(k, "blocks of %lld, scales of rank %d for data of rank %d",
                             (long long)g->block, scales->rank, data->rank);
    for (int d = 0; d < data->rank; d++) {
        int64_t whole = g->dims[d] / g->block, rest = g->dims[d] % g->block != 0;
        int64_t want = d == g->along ? whole + rest : g->dims[d];
        int64_t zero = d == g->along ? want / g->packed + (want % g->packed != 0) : want;
        if ((scales->dims[d] != want && !(real && d != g->along && scales->dims[d] == 1)) ||
            (zeros && (zeros->rank != data->rank || zeros->dims[d] != zero)))
            return ODB_KERN_FAIL(k,
                                 "dimension %d of scales or zero points does not fit blocks "
                                 "of %lld",
                                 d, (long long)g->block);
    }
    return ODB_OK;
}

static enum odb_status nbits_gather_infer(struct odb_kern *k)
{
    const struct odb_tensor *indices = k->in[1];
    struct nbits_gather g;
    int64_t dims[2 * ODB_MAX_RANK];
    int rank = 0;
    ODB_TRY(nbits_gather_read(k, &g));
    for (int d = 0; d < g.axis; d++)
        dims[rank++] = g.dims[d];
    for (int d = 0; d < indices->rank; d++)
        dims[rank++] = indices->dims[d];
    for (int d = g.axis + 1; d < g.rank; d++)
        dims[rank++] = g.dims[d];
    return odb_kern_outline(k, 0, k->in[2]->dtype, rank, dims);
}

/* The element of data at coordinates `at`, less its zero point, times its scale. */
static double nbits_gather_value(const struct odb_kern *k, const struct nbits_gather *g,
                                 const int64_t *at)
{
    const struct odb_tensor *data = k->in[0], *scales = k->in[2], *zeros = odb_kern_in(k, 3);
    size_t element = 0, scale = 0, zero = 0;
    for (int d = 0; d < g->rank; d++) {
        int64_t part = d == g->along ? at[d] / g->block : at[d];
        element = element * (size_t)g->dims[d] + (size_t)at[d];
        scale = scale * (size_t)scales->dims[d] + (size_t)(scales->dims[d] == 1 ? 0 : part);
        if (zeros)
            zero = zero * (size_t)(zeros->dims[d] * (d == g->along ? g->packed : 1)) + (size_t)part;
    }
    double value, from = 0;
    if (data->dtype == ODB_U8) {
        value = nbits_at(data->data, element, g->bits);
        from = zeros ? nbits_at(zeros->data, zero, g->bits) : 1 << (g->bits - 1);
    } else {
        value = odb_tensor_f64(data, element);
        from = zeros ? odb_tensor_f64(zeros, zero) : 0;
    }
    return (value - from) * odb_tensor_f64(scales, scale);
}

/* Indices out of range give zeros. */
static enum odb_status nbits_gather_run(struct odb_kern *k)
{
    const struct odb_tensor *indices = k->in[1];
    struct odb_tensor *y = k->out[0];
    struct nbits_gather g;
    ODB_TRY(nbits_gather_read(k, &g));
    size_t inner = odb_dims_product(g.dims, g.axis + 1, g.rank);
    int64_t limit = g.dims[g.axis], at[ODB_MAX_RANK];
    for (size_t i = 0; i < y->count; i++) {
        size_t rest = i % inner, outer = i / inner / indices->count;
        int64_t index = odb_tensor_i64(indices, i / inner % indices->count);
        index += index < 0 ? limit : 0;
        for (int d = g.rank - 1; d > g.axis; rest /= (size_t)g.dims[d--])
            at[d] = (int64_t)(rest % (size_t)g.dims[d]);
        for (int d = g.axis - 1; d >= 0; outer /= (size_t)g.dims[d--])
            at[d] = (int64_t)(outer % (size_t)g.dims[d]);
        at[g.axis] = index;
        bool there = index >= 0 && index < limit;
        odb_store_f64(y->dtype, y->data, i, there ? nbits_gather_value(k, &g, at) : 0);
    }
    return ODB_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec nbits_attrs[] = {{"K", ODB_ATTR_INT, NULL, true},
                                                   {"N", ODB_ATTR_INT, NULL, true},
                                                   {"accuracy_level", ODB_ATTR_INT, "0", false},
                                                   {"bits", ODB_ATTR_INT, "4", false},
                                                   {"block_size", ODB_ATTR_INT, NULL, true},
                                                   {"weight_prepacked", ODB_ATTR_INT, "0", false},
                                                   {NULL}};
static const struct odb_attr_spec nbits_bnb4_attrs[] = {{"K", ODB_ATTR_INT, NULL, true},
                                                        {"N", ODB_ATTR_INT, NULL, true},
                                                        {"block_size", ODB_ATTR_INT, NULL, true},
                                                        {"quant_type", ODB_ATTR_INT, NULL, true},
                                                        {"training_mode", ODB_ATTR_INT, "0", false},
                                                        {"transB", ODB_ATTR_INT, "1", false},
                                                        {NULL}};
static const struct odb_attr_spec nbits_fpq4_attrs[] = {
    {"blk_quant_type", ODB_ATTR_INT, "1", false}, {NULL}};
static const struct odb_attr_spec nbits_gather_attrs[] = {
    {"bits", ODB_ATTR_INT, "4", false},
    {"block_size", ODB_ATTR_INT, "128", false},
    {"gather_axis", ODB_ATTR_INT, "0", false},
    {"quantize_axis", ODB_ATTR_INT, "1", false},
    {NULL}};

#define NBITS_HALF (ODB_BIT(ODB_F32) | ODB_T_HALVES)
#define NBITS_BYTES ODB_BIT(ODB_U8)
#define NBITS_FLAGS (ODB_OP_REAL | ODB_OP_MATMUL)

const struct odb_op odb_ops_nbits[] = {
    ODB_MICROSOFT("MatMulNBits", ODB_ARITY(3, 6), ODB_ARITY(1, 1), NBITS_FLAGS, nbits_attrs,
                  nbits_matmul_infer, nbits_matmul_run, NBITS_HALF, NBITS_BYTES, ODB_AS(0),
                  NBITS_BYTES | NBITS_HALF, ODB_BIT(ODB_I32), ODB_AS(0),
                  ODB_NAMES("A,B,scales,zero_points,g_idx,bias", "Y"), ODB_HALVES(1, 0),
                  ODB_WORK(matmul_bits, 0, 1, 5), ODB_TRAITS(ODB_IS_QUANTISED)),
    ODB_MICROSOFT("MatMulBnb4", ODB_ARITY(3, 3), ODB_ARITY(1, 1), NBITS_FLAGS, nbits_bnb4_attrs,
                  nbits_bnb4_infer, nbits_bnb4_run, NBITS_HALF, NBITS_BYTES, ODB_AS(0),
                  ODB_NAMES("A,B,absmax", "Y"), ODB_WORK(matmul, 0, 1)),
    ODB_MICROSOFT("MatMulFpQ4", ODB_ARITY(3, 3), ODB_ARITY(1, 1), NBITS_FLAGS, nbits_fpq4_attrs,
                  nbits_fpq4_infer, nbits_fpq4_run, ODB_BIT(ODB_F32), NBITS_BYTES, ODB_BIT(ODB_I64),
                  ODB_NAMES("A,B,B_shape", "Y"), ODB_WORK(matmul, 0, 1)),
    ODB_MICROSOFT(
        "GatherBlockQuantized", ODB_ARITY(3, 4), ODB_ARITY(1, 1), ODB_OP_REAL, nbits_gather_attrs,
        nbits_gather_infer, nbits_gather_run,
        NBITS_BYTES | ODB_BIT(ODB_I4) | ODB_BIT(ODB_U4) | ODB_T_FLOAT8 | ODB_BIT(ODB_F4E2M1),
        ODB_T_INDEX, NBITS_HALF, ODB_AS(0), ODB_NAMES("data,indices,scales,zero_points", "output")),
    {.name = NULL},
};
