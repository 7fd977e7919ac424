/* SPDX-License-Identifier: MIT
 *
 * Operators of com.microsoft on int8 matrices that say how their elements lie in memory, in the
 * orders of cuBLAS: QuantizeWithOrder, DequantizeWithOrder, QOrderedMatMul, QOrderedGelu and
 * QOrderedLayerNormalization. A tensor's shape is that of the matrix, whatever its order. Values
 * are rounded to the nearest level, ties to the even one. Orders whose tiles are a tensor core's
 * own are refused.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/contrib/contrib.h"

enum ordered_order { ORDERED_COL, ORDERED_ROW, ORDERED_COL32 };
enum { ORDERED_TILE = 32 }; /* columns of a tile, whose rows lie one behind another */

/* The order that an attribute names; row by row where it is absent. */
static enum odb_status ordered_read(struct odb_kern *k, const char *attr,
                                    const struct odb_tensor *t, enum ordered_order *order)
{
    int64_t v = odb_kern_int(k, attr, ORDERED_ROW);
    *order = ORDERED_ROW;
    if (v < ORDERED_COL || v > ORDERED_COL32)
        return v > 4 || v < 0 ? ODB_KERN_FAIL(k, "%s %lld is no order", attr, (long long)v)
                              : ODB_KERN_UNSUPPORTED(k, "%s %lld, tiles of one kind of device",
                                                     attr, (long long)v);
    if (v == ORDERED_COL32 && t->rank && t->dims[t->rank - 1] % ORDERED_TILE)
        return ODB_KERN_FAIL(k, "%s %lld needs columns by the %d, not %lld", attr, (long long)v,
                             ORDERED_TILE, (long long)t->dims[t->rank - 1]);
    *order = (enum ordered_order)v;
    return ODB_OK;
}

/* Where element i of t, counted row by row, lies in that order. */
static size_t ordered_at(const struct odb_tensor *t, enum ordered_order order, size_t i)
{
    size_t columns = t->rank > 0 ? (size_t)t->dims[t->rank - 1] : 1;
    size_t rows = t->rank > 1 ? (size_t)t->dims[t->rank - 2] : 1, matrix = rows * columns;
    size_t from = i / matrix * matrix, row = i % matrix / columns, column = i % columns;
    if (order == ORDERED_COL)
        return from + column * rows + row;
    if (order == ORDERED_COL32)
        return from + (column / ORDERED_TILE * rows + row) * ORDERED_TILE + column % ORDERED_TILE;
    return i;
}

static odb_i8 ordered_level(double v)
{
    v = rint(v);
    return (odb_i8)(!(v > -128) ? -128 : v > 127 ? 127 : v);
}

/* ODB_E_OPERATOR unless input i is one number, or `many`. */
static enum odb_status ordered_scales(struct odb_kern *k, int i, size_t many)
{
    ODB_TRY(ODB_NEED(k, i));
    size_t n = k->in[i]->count;
    return n == 1 || n == many ? ODB_OK
                               : ODB_KERN_FAIL(k, "input %d must be one scale, not %zu", i, n);
}

static double ordered_scale(const struct odb_kern *k, int i)
{
    return odb_tensor_f64(k->in[i], 0);
}

/* --- QuantizeWithOrder, DequantizeWithOrder --------------------------------------------------- */

static enum odb_status ordered_quantize_infer(struct odb_kern *k)
{
    enum ordered_order from, to;
    ODB_TRY(ordered_read(k, "order_input", k->in[0], &from));
    ODB_TRY(ordered_read(k, "order_output", k->in[0], &to));
    ODB_TRY(ordered_scales(k, 1, 1));
    enum odb_dtype dtype = ODB_I8;
    if (k->in[0]->dtype == ODB_I8) {
        int64_t named = odb_kern_int(k, "to", ODB_F32);
        if (named != ODB_F32 && named != ODB_F16)
            return ODB_KERN_FAIL(k, "to %lld is neither float nor float16", (long long)named);
        dtype = k->carry_f64 ? ODB_F64 : (enum odb_dtype)named;
    }
    return odb_kern_outline(k, 0, dtype, k->in[0]->rank, k->in[0]->dims);
}

static enum odb_status ordered_quantize_run(struct odb_kern *k)
{
    enum ordered_order from, to;
    const struct odb_tensor *x = k->in[0];
    struct odb_tensor *y = k->out[0];
    double scale = ordered_scale(k, 1);
    ODB_TRY(ordered_read(k, "order_input", x, &from));
    ODB_TRY(ordered_read(k, "order_output", x, &to));
    for (size_t i = 0; i < x->count; i++) {
        double v = odb_tensor_f64(x, ordered_at(x, from, i));
        size_t at = ordered_at(y, to, i);
        if (y->dtype == ODB_I8)
            ((odb_i8 *)y->data)[at] = ordered_level(v / scale);
        else
            odb_store_f64(y->dtype, y->data, at, v * scale);
    }
    return ODB_OK;
}

/* --- QOrderedMatMul --------------------------------------------------------------------------- */

enum {
    ORDERED_A,
    ORDERED_A_SCALE,
    ORDERED_B,
    ORDERED_B_SCALE,
    ORDERED_Y_SCALE,
    ORDERED_BIAS,
    ORDERED_C,
    ORDERED_C_SCALE
};

/* Sizes of the product: of each of the batch (rows, inner) by (inner, columns). */
struct ordered_product {
    size_t batch, rows, inner, columns;
    bool one_b, one_c; /* for the whole batch */
};

static enum odb_status ordered_product_read(struct odb_kern *k, struct ordered_product *p)
{
    enum ordered_order a_order, b_order, y_order;
    const struct odb_tensor *a = k->in[ORDERED_A], *b = k->in[ORDERED_B];
    const struct odb_tensor *c = odb_kern_in(k, ORDERED_C);
    ODB_TRY(ordered_read(k, "order_A", a, &a_order));
    ODB_TRY(ordered_read(k, "order_B", b, &b_order));
    ODB_TRY(ordered_read(k, "order_Y", a, &y_order));
    if (a_order != ORDERED_ROW || b_order != ORDERED_COL || y_order != ORDERED_ROW)
        return ODB_KERN_UNSUPPORTED(k, "QOrderedMatMul but for A and Y by rows and B by columns");
    if (a->rank < 2 || a->rank > 3 || b->rank < 2 || b->rank > 3 ||
        b->dims[b->rank - 2] != a->dims[a->rank - 1])
        return ODB_KERN_FAIL(k, "A and B are no matrices of (rows, inner) and (inner, columns)");
    *p = (struct ordered_product){.batch = a->rank == 3 ? (size_t)a->dims[0] : 1,
                                  .rows = (size_t)a->dims[a->rank - 2],
                                  .inner = (size_t)a->dims[a->rank - 1],
                                  .columns = (size_t)b->dims[b->rank - 1],
                                  .one_b = b->rank == 2 || b->dims[0] == 1};
    if (!p->one_b && (size_t)b->dims[0] != p->batch)
        return ODB_KERN_FAIL(k, "B is a batch of another size than A");
    ODB_TRY(ordered_scales(k, ORDERED_A_SCALE, 1));
    ODB_TRY(ordered_scales(k, ORDERED_B_SCALE, p->columns));
    ODB_TRY(ordered_scales(k, ORDERED_Y_SCALE, 1));
    ODB_TRY(odb_kern_expect(k, ORDERED_BIAS, 1, &b->dims[b->rank - 1]));
    if (!c)
        return ODB_OK;
    p->one_c = c->rank == 2 || (c->rank == 3 && c->dims[0] == 1);
    if (c->count != (p->one_c ? 1 : p->batch) * p->rows * p->columns || c->rank < 2 ||
        (size_t)c->dims[c->rank - 1] != p->columns)
        return ODB_KERN_FAIL(k, "C has another shape than the product");
    return ordered_scales(k, ORDERED_C_SCALE, 1);
}

static enum odb_status ordered_matmul_infer(struct odb_kern *k)
{
    struct ordered_product p;
    int64_t dims[3];
    ODB_TRY(ordered_product_read(k, &p));
    memcpy(dims, k->in[ORDERED_A]->dims, sizeof dims);
    dims[k->in[ORDERED_A]->rank - 1] = (int64_t)p.columns;
    return odb_kern_outline(k, 0, ODB_I8, k->in[ORDERED_A]->rank, dims);
}

static enum odb_status ordered_matmul_run(struct odb_kern *k)
{
    struct ordered_product p;
    ODB_TRY(ordered_product_read(k, &p));
    const odb_i8 *a = k->in[ORDERED_A]->data, *b = k->in[ORDERED_B]->data;
    const struct odb_tensor *bias = odb_kern_in(k, ORDERED_BIAS), *c = odb_kern_in(k, ORDERED_C);
    const struct odb_tensor *scales = k->in[ORDERED_B_SCALE];
    struct odb_tensor *y = k->out[0];
    double y_scale = ordered_scale(k, ORDERED_Y_SCALE);
    for (size_t i = 0; i < y->count; i++) {
        size_t column = i % p.columns, row = i / p.columns, batch = row / p.rows;
        const odb_i8 *left = a + row * p.inner;
        const odb_i8 *right = b + ((p.one_b ? 0 : batch) * p.columns + column) * p.inner;
        int64_t sum = 0;
        for (size_t j = 0; j < p.inner; j++)
            sum += left[j] * right[j];
        double v = (double)sum * ordered_scale(k, ORDERED_A_SCALE) *
                   odb_tensor_f64(scales, scales->count == 1 ? 0 : column) / y_scale;
        v += bias ? odb_tensor_f64(bias, column) : 0;
        if (c)
            v += (double)odb_tensor_i64(c, p.one_c ? i % (p.rows * p.columns) : i) *
                 ordered_scale(k, ORDERED_C_SCALE) / y_scale;
        ((odb_i8 *)y->data)[i] = ordered_level(v);
    }
    return ODB_OK;
}

/* --- QOrderedGelu, QOrderedLayerNormalization ------------------------------------------------- */

static enum odb_status ordered_same_order(struct odb_kern *k)
{
    enum ordered_order x, y;
    ODB_TRY(ordered_read(k, "order_X", k->in[0], &x));
    ODB_TRY(ordered_read(k, "order_Y", k->in[0], &y));
    if (x != y && odb_kern_has(k, "order_X") && odb_kern_has(k, "order_Y"))
        return ODB_KERN_FAIL(k, "order_X and order_Y are not the same");
    return ODB_OK;
}

static enum odb_status ordered_gelu_infer(struct odb_kern *k)
{
    ODB_TRY(ordered_same_order(k));
    ODB_TRY(ordered_scales(k, 1, 1));
    ODB_TRY(ordered_scales(k, 2, 1));
    return odb_infer_same(k);
}

static enum odb_status ordered_gelu_run(struct odb_kern *k)
{
    const odb_i8 *x = k->in[0]->data;
    for (size_t i = 0; i < k->out[0]->count; i++) {
        double v = x[i] * ordered_scale(k, 1);
        v = 0.5 * v * (1 + erf(v / sqrt(2)));
        ((odb_i8 *)k->out[0]->data)[i] = ordered_level(v / ordered_scale(k, 2));
    }
    return ODB_OK;
}

enum { ORDERED_NORM_X, ORDERED_NORM_SCALE, ORDERED_GAMMA, ORDERED_BETA, ORDERED_NORM_Y_SCALE };

static enum odb_status ordered_norm_infer(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    int axis;
    ODB_TRY(ordered_same_order(k));
    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "axis", -1), x->rank, false, &axis));
    if (axis != x->rank - 1 || odb_kern_int(k, "order_X", ORDERED_ROW) != ORDERED_ROW)
        return ODB_KERN_UNSUPPORTED(k, "QOrderedLayerNormalization but of rows that lie so");
    ODB_TRY(ordered_scales(k, ORDERED_NORM_SCALE, 1));
    ODB_TRY(ordered_scales(k, ORDERED_NORM_Y_SCALE, 1));
    ODB_TRY(odb_kern_expect(k, ORDERED_GAMMA, 1, &x->dims[axis]));
    ODB_TRY(odb_kern_expect(k, ORDERED_BETA, 1, &x->dims[axis]));
    return odb_infer_same(k);
}

static void ordered_norm_row(const struct odb_kern *k, const odb_i8 *x, size_t n, odb_i8 *y)
{
    const struct odb_tensor *gamma = k->in[ORDERED_GAMMA], *beta = k->in[ORDERED_BETA];
    double scale = ordered_scale(k, ORDERED_NORM_SCALE), mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        mean += x[i] * scale / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (x[i] * scale - mean) * (x[i] * scale - mean) / (double)n;
    double by = 1 / sqrt(squares + odb_kern_float(k, "epsilon", 1e-5));
    for (size_t i = 0; i < n; i++) {
        double v = (x[i] * scale - mean) * by * odb_tensor_f64(gamma, i);
        v += beta ? odb_tensor_f64(beta, i) : 0;
        y[i] = ordered_level(v / ordered_scale(k, ORDERED_NORM_Y_SCALE));
    }
}

static enum odb_status ordered_norm_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    size_t n = (size_t)x->dims[x->rank - 1];
    for (size_t i = 0; n && i < x->count; i += n)
        ordered_norm_row(k, (const odb_i8 *)x->data + i, n, (odb_i8 *)k->out[0]->data + i);
    return ODB_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec ordered_quantize_attrs[] = {
    {"order_input", ODB_ATTR_INT, NULL, true}, {"order_output", ODB_ATTR_INT, NULL, true}, {NULL}};
static const struct odb_attr_spec ordered_dequantize_attrs[] = {
    {"order_input", ODB_ATTR_INT, NULL, true},
    {"order_output", ODB_ATTR_INT, NULL, true},
    {"to", ODB_ATTR_INT, NULL, true},
    {NULL}};
static const struct odb_attr_spec ordered_matmul_attrs[] = {{"order_A", ODB_ATTR_INT, NULL, true},
                                                            {"order_B", ODB_ATTR_INT, NULL, true},
                                                            {"order_Y", ODB_ATTR_INT, NULL, true},
                                                            {NULL}};
static const struct odb_attr_spec ordered_gelu_attrs[] = {
    {"order_X", ODB_ATTR_INT, NULL, false}, {"order_Y", ODB_ATTR_INT, NULL, false}, {NULL}};
static const struct odb_attr_spec ordered_norm_attrs[] = {
    {"axis", ODB_ATTR_INT, "-1", false},
    {"epsilon", ODB_ATTR_FLOAT, "1e-05", false},
    {"order_X", ODB_ATTR_INT, "1", false},
    {"order_Y", ODB_ATTR_INT, "1", false},
    {NULL}};

#define ORDERED_FLOATS (ODB_BIT(ODB_F32) | ODB_BIT(ODB_F16))
#define ORDERED_I8 ODB_BIT(ODB_I8)
#define ORDERED_F32 ODB_BIT(ODB_F32)
#define ORDERED_ROUNDS ODB_OP_REAL | ODB_OP_BOUNDARY

const struct odb_op odb_ops_contrib_ordered[] = {
    ODB_MICROSOFT("QuantizeWithOrder", ODB_ARITY(2, 2), ODB_ARITY(1, 1), ORDERED_ROUNDS,
                  ordered_quantize_attrs, ordered_quantize_infer, ordered_quantize_run,
                  ORDERED_FLOATS, ORDERED_F32, ODB_NAMES("input,scale_input", "output"),
                  ODB_TRAITS(ODB_IS_QUANTISED)),
    ODB_MICROSOFT("DequantizeWithOrder", ODB_ARITY(2, 2), ODB_ARITY(1, 1), ODB_OP_REAL,
                  ordered_dequantize_attrs, ordered_quantize_infer, ordered_quantize_run,
                  ORDERED_I8, ORDERED_F32, ODB_NAMES("input,scale_input", "output"),
                  ODB_TRAITS(ODB_IS_QUANTISED)),
    ODB_MICROSOFT("QOrderedMatMul", ODB_ARITY(5, 8), ODB_ARITY(1, 1), ORDERED_ROUNDS,
                  ordered_matmul_attrs, ordered_matmul_infer, ordered_matmul_run, ORDERED_I8,
                  ORDERED_F32, ODB_AS(0), ODB_AS(1), ODB_AS(1), ODB_AS(1), ODB_AS(0), ODB_AS(1),
                  ODB_NAMES("A,scale_A,B,scale_B,scale_Y,bias,C,scale_C", "Y"),
                  ODB_QUANTISED("MatMul", 4, 2, {0, 2}), ODB_TRAITS(ODB_IS_QUANTISED),
                  ODB_WORK(matmul, 0, 2, 5)),
    ODB_MICROSOFT("QOrderedGelu", ODB_ARITY(3, 3), ODB_ARITY(1, 1), ORDERED_ROUNDS,
                  ordered_gelu_attrs, ordered_gelu_infer, ordered_gelu_run, ORDERED_I8, ORDERED_F32,
                  ODB_AS(1), ODB_NAMES("X,scale_X,scale_Y", "Y"), ODB_TRAITS(ODB_IS_QUANTISED)),
    ODB_MICROSOFT("QOrderedLayerNormalization", ODB_ARITY(3, 5), ODB_ARITY(1, 1), ORDERED_ROUNDS,
                  ordered_norm_attrs, ordered_norm_infer, ordered_norm_run, ORDERED_I8, ORDERED_F32,
                  ORDERED_FLOATS, ODB_AS(2), ORDERED_F32,
                  ODB_NAMES("X,scale_X,scale,B,scale_Y", "Y"), ODB_TRAITS(ODB_IS_QUANTISED)),
    {.name = NULL},
};
