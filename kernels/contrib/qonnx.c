/* SPDX-License-Identifier: MIT
 *
 * The quantisers of QONNX, whose results are floats on a grid: to the integers of a width that is
 * an input, and back, in one step,
 *
 *     Quant, IntQuant    y = (round(clamp(x / scale + zeropt, least, most)) - zeropt) * scale
 *     BipolarQuant       y = x >= 0 ? scale : -scale
 *
 * as docs/qonnx-custom-ops of github.com/fastmachinelearning/qonnx defines them, and its reference
 * for a signed width of 1, which is bipolar. Each has the domains that exporters have written.
 */
#include <math.h>
#include <strings.h>

#include "kernels/core/row.h"
#include "kernels/core/stride.h"

/* --- one number ------------------------------------------------------------------------------- */

enum qonnx_rounding {
    QONNX_ROUND,
    QONNX_CEIL,
    QONNX_FLOOR,
    QONNX_UP,
    QONNX_DOWN,
    QONNX_HALF_UP,
    QONNX_HALF_DOWN,
    QONNX_ROUNDINGS
};

static const char *const qonnx_roundings[] = {"ROUND", "CEIL",    "FLOOR",    "UP",
                                              "DOWN",  "HALF_UP", "HALF_DOWN"};

/* Up and down are away from 0 and towards it. */
static double qonnx_round(enum qonnx_rounding how, double v)
{
    double whole = trunc(v), rest = fabs(v - whole), away = whole + copysign(1, v);
    switch (how) {
    case QONNX_CEIL:
        return ceil(v);
    case QONNX_FLOOR:
        return floor(v);
    case QONNX_UP:
        return rest > 0 ? away : whole;
    case QONNX_DOWN:
        return whole;
    case QONNX_HALF_UP:
        return rest >= 0.5 ? away : whole;
    case QONNX_HALF_DOWN:
        return rest > 0.5 ? away : whole;
    default:
        return rint(v); /* ties to even */
    }
}

struct qonnx_grid {
    bool bipolar;
    double least, most;
    enum qonnx_rounding how;
};

/* Every step is rounded to the type that is computed in. */
#define QONNX_QUANT(F)                                                                             \
    static F qonnx_quant_##F(const struct qonnx_grid *grid, F x, F scale, F zero)                  \
    {                                                                                              \
        F q = x / scale;                                                                           \
        q = q + zero;                                                                              \
        if (grid->bipolar) {                                                                       \
            q = q >= 0 ? 1 : -1;                                                                   \
        } else {                                                                                   \
            q = q > (F)grid->most ? (F)grid->most : q < (F)grid->least ? (F)grid->least : q;       \
            q = (F)qonnx_round(grid->how, q);                                                      \
        }                                                                                          \
        q = q - zero;                                                                              \
        return q * scale;                                                                          \
    }
QONNX_QUANT(float)
QONNX_QUANT(double)

/* --- a tensor --------------------------------------------------------------------------------- */

/* How far to go in t for a step along each axis of the output, to which it broadcasts. */
static enum odb_status qonnx_steps(struct odb_kern *k, const struct odb_tensor *t, int64_t *steps)
{
    const struct odb_tensor *x = k->in[0];
    int64_t step = 1;
    bool fits = t->rank <= x->rank || t->count == 1;
    for (int d = x->rank - 1, from = t->rank - 1; d >= 0; d--, from--) {
        int64_t dim = from >= 0 ? t->dims[from] : 1;
        fits &= dim == 1 || dim == x->dims[d];
        steps[d] = dim == 1 ? 0 : step;
        step *= dim;
    }
    char shape[200], whole[200];
    return fits ? ODB_OK
                : ODB_KERN_FAIL(k, "scale or zero point of shape %s does not fit %s",
                                odb_shape_text(t, shape, sizeof shape),
                                odb_shape_text(x, whole, sizeof whole));
}

static size_t qonnx_place(const int64_t *at, const int64_t *steps, int rank)
{
    int64_t place = 0;
    for (int d = 0; d < rank; d++)
        place += at[d] * steps[d];
    return (size_t)place;
}

static enum odb_status qonnx_apply(struct odb_kern *k, const struct qonnx_grid *grid)
{
    const struct odb_tensor *x = k->in[0], *scale = k->in[1], *zero = k->in[2];
    struct odb_tensor *y = k->out[0];
    int64_t at[ODB_MAX_RANK], scales[ODB_MAX_RANK], zeros[ODB_MAX_RANK];
    ODB_TRY(qonnx_steps(k, scale, scales));
    ODB_TRY(qonnx_steps(k, zero, zeros));
    for (size_t i = 0; i < x->count; i++) {
        odb_stride_coordinates(x->rank, x->dims, i, at);
        double v = odb_tensor_f64(x, i);
        double s = odb_tensor_f64(scale, qonnx_place(at, scales, x->rank));
        double z = odb_tensor_f64(zero, qonnx_place(at, zeros, x->rank));
        if (y->dtype == ODB_F64)
            ((double *)y->data)[i] = qonnx_quant_double(grid, v, s, z);
        else
            ((float *)y->data)[i] = qonnx_quant_float(grid, (float)v, (float)s, (float)z);
    }
    return ODB_OK;
}

static enum odb_status qonnx_infer(struct odb_kern *k)
{
    return odb_kern_outline(k, 0, k->in[0]->dtype, k->in[0]->rank, k->in[0]->dims);
}

static enum odb_status qonnx_rounding(struct odb_kern *k, enum qonnx_rounding *how)
{
    const char *mode = odb_kern_string(k, "rounding_mode", "ROUND");
    for (int i = 0; i < QONNX_ROUNDINGS; i++)
        if (!strcasecmp(mode, qonnx_roundings[i])) {
            *how = (enum qonnx_rounding)i;
            return ODB_OK;
        }
    return ODB_KERN_FAIL(k, "rounding_mode '%s' is not known", mode);
}

static enum odb_status qonnx_quant_run(struct odb_kern *k)
{
    const struct odb_tensor *bits = k->in[3];
    bool is_signed = odb_kern_int(k, "signed", 1) != 0, narrow = odb_kern_int(k, "narrow", 0) != 0;
    struct qonnx_grid grid = {0};
    double width = bits->count == 1 ? odb_tensor_f64(bits, 0) : 0;
    if (!(width >= 1 && width <= 64 && width == floor(width)))
        return ODB_KERN_FAIL(k, "bitwidth is not one whole number from 1 to 64");
    grid.bipolar = is_signed && width == 1;
    grid.least = is_signed ? -exp2(width - 1) + narrow : 0;
    grid.most = is_signed ? exp2(width - 1) - 1 : exp2(width) - 1 - narrow;
    ODB_TRY(qonnx_rounding(k, &grid.how));
    return qonnx_apply(k, &grid);
}

static enum odb_status qonnx_bipolar_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0], *scale = k->in[1];
    struct odb_tensor *y = k->out[0];
    int64_t at[ODB_MAX_RANK], scales[ODB_MAX_RANK];
    ODB_TRY(qonnx_steps(k, scale, scales));
    for (size_t i = 0; i < x->count; i++) {
        odb_stride_coordinates(x->rank, x->dims, i, at);
        double s = odb_tensor_f64(scale, qonnx_place(at, scales, x->rank));
        odb_store_f64(y->dtype, y->data, i, odb_tensor_f64(x, i) >= 0 ? s : -s);
    }
    return ODB_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec qonnx_attrs[] = {
    {"narrow", ODB_ATTR_INT, "0", false},
    {"rounding_mode", ODB_ATTR_STRING, "ROUND", false},
    {"signed", ODB_ATTR_INT, "1", false},
    {NULL}};

#define QONNX_FLOAT (ODB_BIT(ODB_F32) | ODB_BIT(ODB_F64))
#define QONNX_ROWS(domain)                                                                         \
    ODB_ROW(domain, "BipolarQuant", 1, ODB_ARITY(2, 2), ODB_ARITY(1, 1),                           \
            ODB_OP_REAL | ODB_OP_BOUNDARY, NULL, qonnx_infer, qonnx_bipolar_run, QONNX_FLOAT,      \
            QONNX_FLOAT, ODB_NAMES("X,scale", "Y")),                                               \
        ODB_ROW(domain, "IntQuant", 1, ODB_ARITY(4, 4), ODB_ARITY(1, 1),                           \
                ODB_OP_REAL | ODB_OP_BOUNDARY, qonnx_attrs, qonnx_infer, qonnx_quant_run,          \
                QONNX_FLOAT, QONNX_FLOAT, ODB_T_NUMBER, ODB_T_NUMBER,                              \
                ODB_NAMES("X,scale,zeropt,bitwidth", "Y")),                                        \
        ODB_ROW(domain, "Quant", 1, ODB_ARITY(4, 4), ODB_ARITY(1, 1),                              \
                ODB_OP_REAL | ODB_OP_BOUNDARY, qonnx_attrs, qonnx_infer, qonnx_quant_run,          \
                QONNX_FLOAT, QONNX_FLOAT, ODB_T_NUMBER, ODB_T_NUMBER,                              \
                ODB_NAMES("X,scale,zeropt,bitwidth", "Y"))

const struct odb_op odb_ops_qonnx[] = {
    QONNX_ROWS("finn.custom_op.general"),
    QONNX_ROWS("onnx.brevitas"),
    QONNX_ROWS("qonnx.custom_op.general"),
    {.name = NULL},
};
