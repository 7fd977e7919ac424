/* SPDX-License-Identifier: MIT
 *
 * Activation functions of neural networks. Where the textbook formula loses digits (ln(1 + e^x),
 * e^x - 1, 1 - tanh) an equal one that does not is computed; the transcendental part of a float is
 * taken in double and rounded once, but for Sigmoid, which models spend much time in (floatmath.h).
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/core/floatmath.h"
#include "kernels/core/row.h"

/* --- formulas --------------------------------------------------------------------------------- */

/* In double, for both element types; the exponential comes with the call, as fine as the result
 * wants it. */
typedef double (*act_exp_fn)(double);

/* Never overflows: the exponential is that of a negative number. */
ODB_INLINE double act_sigmoid(double x, act_exp_fn e)
{
    double small = e(-fabs(x));
    return (x >= 0 ? 1 : small) / (1 + small);
}

ODB_INLINE double act_sigmoid_of(double x)
{
    return act_sigmoid(x, exp);
}

ODB_INLINE double act_softplus(double x, act_exp_fn e)
{
    return (x > 0 ? x : 0) + log1p(e(-fabs(x)));
}

/* tanh(ln(1 + e^x)) is ((1 + e^x)^2 - 1) / ((1 + e^x)^2 + 1), and 1 to all digits from 20 on. */
ODB_INLINE double act_mish(double x, act_exp_fn e)
{
    double grown = e(x > 20 ? 20 : x), n = grown * (grown + 2);
    return x * (n / (n + 2));
}

ODB_INLINE double act_elu(double x, double alpha, double above, act_exp_fn expm1_fn)
{
    double below = alpha * expm1_fn(x);
    return x < 0 ? below : above;
}

/* max(0, x) + min(0, alpha (e^(x / alpha) - 1)), for an alpha of either sign; keeps NaN. */
ODB_INLINE double act_celu(double x, double alpha, act_exp_fn expm1_fn)
{
    double below = alpha * expm1_fn(x / alpha);
    return (x < 0 ? 0 : x) + (below > 0 ? 0 : below);
}

ODB_INLINE double act_gelu(double x, act_exp_fn erfc_fn)
{
    return 0.5 * x * erfc_fn(-x * M_SQRT1_2);
}

/* 1 + tanh(y) is 2 sigmoid(2 y). */
ODB_INLINE double act_gelu_tanh(double x, act_exp_fn e)
{
    return x * act_sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x), e);
}

/* Cut to [0, 1]; keeps NaN. */
ODB_INLINE double act_unit(double x)
{
    x = x < 0 ? 0 : x;
    return x > 1 ? 1 : x;
}

/* --- loops ------------------------------------------------------------------------------------ */

/* The operator's two constants; expressions see them as p and q, in the element type. */
struct act_constants {
    double p, q;
};

#define ACT_LOOP(t, T, ctype, name, ...)                                                           \
    ODB_INLINE ctype act_##name##_##T(const ctype a, const ctype p, const ctype q)                 \
    {                                                                                              \
        (void)p, (void)q;                                                                          \
        return (ctype)(__VA_ARGS__);                                                               \
    }                                                                                              \
    ODB_SIMD static void ew_##name##_##T(size_t n, const void *const *in, const int *step,         \
                                         void *out, const void *arg)                               \
    {                                                                                              \
        const ctype p = (ctype)((const struct act_constants *)arg)->p;                             \
        const ctype q = (ctype)((const struct act_constants *)arg)->q;                             \
        const odb_##t *x = in[0];                                                                  \
        odb_##t *y = out;                                                                          \
        (void)step;                                                                                \
        ODB_EW_EACH(i, n)                                                                          \
            y[i] = act_##name##_##T(x[i], p, q);                                                   \
    }

/* first and second name the attributes behind p and q; their defaults stand in the rows. */
#define ACT(name, TYPES, first, second, ...)                                                       \
    TYPES(ACT_LOOP, name, __VA_ARGS__)                                                             \
    static const odb_ew_loop ew_##name[ODB_DTYPE_COUNT] = {TYPES(ODB_EW_SLOT, name)};              \
    static enum odb_status ew_run_##name(struct odb_kern *k)                                       \
    {                                                                                              \
        struct act_constants c = {odb_kern_float(k, first, 0), odb_kern_float(k, second, 0)};      \
        return odb_ew_run(k, ew_##name, &c);                                                       \
    }
#define ACT_SIGNED(X, ...)                                                                         \
    ODB_EW_FLOATS(X, __VA_ARGS__)                                                                  \
    ODB_EW_SIGNED(X, __VA_ARGS__)

#define ACT_E ODB_BY_TYPE(a, exp)
#define ACT_EXPM1 ODB_BY_TYPE(a, expm1)
#define ACT_ERFC ODB_BY_TYPE(a, erfc)

ACT(relu, ACT_SIGNED, "", "", a < 0 ? 0 : a)
ACT(leaky_relu, ODB_EW_FLOATS, "alpha", "", (a * (a < 0 ? p : 1)))
ACT(thresholded_relu, ODB_EW_FLOATS, "alpha", "", a > p ? a : 0)
ACT(hard_sigmoid, ODB_EW_FLOATS, "alpha", "beta", act_unit((p * a) + q))
ACT(hard_swish, ODB_EW_FLOATS, "", "", (a * act_unit(a / 6.0 + 0.5)))
ACT(softsign, ODB_EW_FLOATS, "", "", a / (1 + (a < 0 ? -a : a)))
ACT(elu, ODB_EW_FLOATS, "alpha", "", act_elu(a, p, a, ACT_EXPM1))
ACT(selu, ODB_EW_FLOATS, "alpha", "gamma", ((double)q * act_elu(a, p, a, ACT_EXPM1)))
ACT(celu, ODB_EW_FLOATS, "alpha", "", act_celu(a, p, ACT_EXPM1))
#define ACT_SIGMOID(a) _Generic(a, float : odb_single_sigmoid, double : act_sigmoid_of)(a)
ACT(sigmoid, ODB_EW_FLOATS, "", "", ACT_SIGMOID(a))
ACT(softplus, ODB_EW_FLOATS, "", "", act_softplus(a, ACT_E))
ACT(mish, ODB_EW_FLOATS, "", "", act_mish(a, ACT_E))
ACT(swish, ODB_EW_FLOATS, "alpha", "", (a * act_sigmoid((double)p * a, ACT_E)))
ACT(gelu, ODB_EW_FLOATS, "", "", act_gelu(a, ACT_ERFC))
ACT(gelu_tanh, ODB_EW_FLOATS, "", "", act_gelu_tanh(a, ACT_E))

/* --- what others compute ---------------------------------------------------------------------- */

/* The textbook formulas, rounded to the element type step by step. They lose digits where results
 * are small against 1, and honest implementations use them: noisy mode does what those do. The tanh
 * of runtimes is a quotient of polynomials, which is off by up to two units in the last place of 1:
 * adding 3 rounds to these. */
#define ACT_T(x) ((__typeof__(a))(x))
#define ACT_TANH(x) (2 * act_sigmoid(2.0 * (x), ACT_E) - 1)
#define ACT_TEXTBOOK_TANH(x) (ACT_T(ACT_T(ACT_TANH(x)) + 3) - 3)
#define ACT_TEXTBOOK_SIGMOID(x) (ACT_T(0.5) + ACT_T(0.5) * ACT_TEXTBOOK_TANH(ACT_T(0.5) * (x)))

/* act_NAME(): the exact formula, or in noisy mode the textbook's. */
#define ACT_WITH_TEXTBOOK(name, first, ...)                                                        \
    ACT(name##_textbook, ODB_EW_FLOATS, first, "", __VA_ARGS__)                                    \
    static enum odb_status act_run_##name(struct odb_kern *k)                                      \
    {                                                                                              \
        return k->sequential ? ew_run_##name##_textbook(k) : ew_run_##name(k);                     \
    }

ACT_WITH_TEXTBOOK(sigmoid, "", ACT_TEXTBOOK_SIGMOID(a))
ACT_WITH_TEXTBOOK(swish, "alpha", a *ACT_TEXTBOOK_SIGMOID(p *a))
ACT_WITH_TEXTBOOK(gelu, "", ACT_T(0.5) * a * (1 + ACT_T(erf(a * ACT_T(M_SQRT1_2)))))
ACT_WITH_TEXTBOOK(gelu_tanh, "",
                  a *ACT_TEXTBOOK_SIGMOID(ACT_T(1.5957691216057308) *
                                          (a + ACT_T(0.044715) * a * a * a)))

static enum odb_status act_gelu_of(struct odb_kern *k)
{
    const char *approximate = odb_kern_string(k, "approximate", "none");
    if (strcmp(approximate, "tanh") == 0)
        return act_run_gelu_tanh(k);
    if (strcmp(approximate, "none") == 0)
        return act_run_gelu(k);
    return ODB_KERN_FAIL(k, "attribute approximate must be none or tanh, not '%s'", approximate);
}

/* --- Shrink ----------------------------------------------------------------------------------- */

/* Below 0, 0 or above: where the integer of that sign and size lies from v, exactly. */
static int act_order(bool negative, uint64_t size, double v)
{
    if (negative)
        return -act_order(false, size, -v);
    if (!(v >= 0 && v < 0x1p64))
        return v >= 0 ? -1 : v < 0;
    uint64_t whole = (uint64_t)v;
    return size != whole ? (size < whole ? -1 : 1) : -(v > (double)whole);
}

/* The sum of an integer and a fraction, exactly: cut towards zero, and wrapped. */
static uint64_t act_shrink_int(bool negative, uint64_t size, const struct act_constants *c)
{
    double bias = act_order(negative, size, -c->p) < 0  ? c->q
                  : act_order(negative, size, c->p) > 0 ? -c->q
                                                        : NAN;
    double whole = floor(bias), rest = isfinite(bias) ? fmod(whole, 0x1p64) : 0;
    if (!isfinite(bias))
        return 0;
    return (negative ? -size : size) + (rest < 0 ? -(uint64_t)-rest : (uint64_t)rest) +
           (whole != bias && act_order(negative, size, -bias) < 0);
}

#define ACT_SHRINK ((const struct act_constants *)arg)
ODB_EW_FLOATS(ODB_EW_LOOP1_SAME, shrink,
              (a < -ACT_SHRINK->p  ? a + ACT_SHRINK->q
               : a > ACT_SHRINK->p ? a - ACT_SHRINK->q
                                   : 0))
ODB_EW_SIGNED(ODB_EW_LOOP1_SAME, shrink,
              act_shrink_int(a < 0, a < 0 ? -(uint64_t)a : (uint64_t)a, ACT_SHRINK))
ODB_EW_UNSIGNED(ODB_EW_LOOP1_SAME, shrink, act_shrink_int(false, a, ACT_SHRINK))
static const odb_ew_loop ew_shrink[ODB_DTYPE_COUNT] = {ODB_EW_FLOATS(ODB_EW_SLOT, shrink)
                                                           ODB_EW_INTS(ODB_EW_SLOT, shrink)};

static enum odb_status act_shrink(struct odb_kern *k)
{
    struct act_constants c = {odb_kern_float(k, "lambd", 0.5), odb_kern_float(k, "bias", 0)};
    return odb_ew_run(k, ew_shrink, &c);
}

/* --- two operands ----------------------------------------------------------------------------- */

#define ACT_PAIR(name, of_float)                                                                   \
    ODB_EW_FLOATS(ODB_EW_LOOP2_SAME, name, of_float)                                               \
    static const odb_ew_loop ew_##name[ODB_DTYPE_COUNT] = {ODB_EW_FLOATS(ODB_EW_SLOT, name)};
ACT_PAIR(gate, a *b)
ACT_PAIR(bias_gelu, act_gelu((double)a + b, ACT_ERFC))
ACT_PAIR(fast_gelu, act_gelu_tanh((double)a + b, ACT_E))
ODB_EW_BINARY(prelu, a < 0 ? a * b : a, a < 0 ? ODB_U(a) * ODB_U(b) : ODB_U(a), a)

static enum odb_status act_bias_gelu(struct odb_kern *k)
{
    return odb_ew_run(k, ew_bias_gelu, NULL);
}

/* The bias is optional. */
static enum odb_status act_fast_gelu(struct odb_kern *k)
{
    return k->n_in == 1 ? ew_run_gelu_tanh(k) : odb_ew_run(k, ew_fast_gelu, NULL);
}

/* Swish of the gate, times the value; no broadcasting. */
static enum odb_status act_infer_swiglu(struct odb_kern *k)
{
    char a[200], b[200];
    if (!odb_tensor_same_shape(k->in[0], k->in[1]))
        return ODB_KERN_FAIL(k, "SwiGLU wants equal shapes, not %s and %s",
                             odb_shape_text(k->in[0], a, sizeof a),
                             odb_shape_text(k->in[1], b, sizeof b));
    return odb_ew_infer(k);
}

static enum odb_status act_swiglu(struct odb_kern *k)
{
    struct act_constants c = {.p = odb_kern_float(k, "alpha", 1)};
    odb_ew_loop loop = ew_swish[k->in[0]->dtype];
    if (!k->out[0])
        return ODB_OK;
    const struct odb_tensor *pair[2] = {k->out[0], k->in[1]};
    if (!loop)
        return ODB_KERN_UNSUPPORTED(k, "no SwiGLU kernel for type %s",
                                    odb_dtype_info(k->in[0]->dtype)->name);
    odb_ew_apply(loop, 1, k->in, k->out[0], &c);
    odb_ew_apply(ew_gate[k->out[0]->dtype], 2, pair, k->out[0], NULL);
    return ODB_OK;
}

/* The slope in the rank of x. Before opset 7 it was one number, or one per channel; since then it
 * broadcasts, but may not make the result larger. */
static enum odb_status act_slope_shape(struct odb_kern *k, int *rank, int64_t *dims)
{
    const struct odb_tensor *x = k->in[0], *slope = k->in[1];
    char text_x[200], text_slope[200];
    bool per_channel = k->op->since < 7 && slope->rank == 1 && slope->count > 1 && x->rank > 1;
    struct odb_tensor placed = {.rank = per_channel ? x->rank : slope->rank};
    for (int d = 0; d < placed.rank; d++)
        placed.dims[d] = per_channel ? (d == 1 ? slope->dims[0] : 1) : slope->dims[d];
    *rank = placed.rank;
    memcpy(dims, placed.dims, sizeof placed.dims);
    bool fits = placed.rank <= x->rank;
    for (int d = 0; d < placed.rank && fits; d++)
        fits = placed.dims[d] == 1 || placed.dims[d] == x->dims[x->rank - placed.rank + d];
    if (!fits)
        return ODB_KERN_FAIL(k, "slope %s does not broadcast to %s",
                             odb_shape_text(slope, text_slope, sizeof text_slope),
                             odb_shape_text(x, text_x, sizeof text_x));
    return ODB_OK;
}

static enum odb_status act_infer_prelu(struct odb_kern *k)
{
    int rank;
    int64_t dims[ODB_MAX_RANK];
    if (!odb_ew_same_type(k, 0, 1))
        return ODB_KERN_FAIL(k, "X is %s and slope is %s; PRelu wants one type",
                             odb_dtype_info(k->in[0]->dtype)->name,
                             odb_dtype_info(k->in[1]->dtype)->name);
    ODB_TRY(act_slope_shape(k, &rank, dims));
    return odb_infer_same(k);
}

static enum odb_status act_prelu(struct odb_kern *k)
{
    int rank;
    int64_t dims[ODB_MAX_RANK];
    const struct odb_tensor *slope = k->in[1];
    struct odb_tensor *placed = NULL;
    ODB_TRY(act_slope_shape(k, &rank, dims));
    ODB_TRY(odb_tensor_reshape(&placed, slope, rank, dims, k->err));
    k->in[1] = placed;
    enum odb_status status = odb_ew_run(k, ew_prelu, NULL);
    k->in[1] = slope;
    odb_tensor_unref(placed);
    return status;
}

/* --- the table -------------------------------------------------------------------------------- */

#define ACT_ATTRS(of, ...)                                                                         \
    static const struct odb_attr_spec act_##of##_attrs[] = {__VA_ARGS__, {.name = NULL}};
#define ACT_ATTR(name, def) ODB_OPTIONAL_ATTR(name, FLOAT, def)
ACT_ATTRS(leaky, ODB_EW_CONSUMED, ACT_ATTR("alpha", "0.01"))
ACT_ATTRS(alpha, ODB_EW_CONSUMED, ACT_ATTR("alpha", "1.0"))
ACT_ATTRS(hard, ODB_EW_CONSUMED, ACT_ATTR("alpha", "0.2"), ACT_ATTR("beta", "0.5"))
ACT_ATTRS(selu_1, ODB_EW_CONSUMED, ACT_ATTR("alpha", "1.6732"), ACT_ATTR("gamma", "1.0507"))
ACT_ATTRS(selu, ACT_ATTR("alpha", "1.67326319217681884765625"),
          ACT_ATTR("gamma", "1.05070102214813232421875"))
ACT_ATTRS(shrink, ACT_ATTR("bias", "0.0"), ACT_ATTR("lambd", "0.5"))
ACT_ATTRS(gelu, {"approximate", ODB_ATTR_STRING, "none", false})
ACT_ATTRS(quick, ACT_ATTR("alpha", "1.702"))

#define ACT_ROW(name, first, flags, run, ...)                                                      \
    ODB_EW_ROW(name, first, 1, ODB_T_FLOAT, ODB_OP_REAL | ODB_OP_OVERWRITE | (flags),              \
               odb_infer_same, run, __VA_ARGS__)
/* As old as ONNX: opset 1 had consumed_inputs, the first of attrs. */
#define ACT_OLD(name, run, first_attrs, ...)                                                       \
    ACT_ROW(name, 1, 0, run, .attrs = first_attrs, __VA_ARGS__),                                   \
        ACT_ROW(name, 6, 0, run, .attrs = (first_attrs) + 1)
#define ACT_MICROSOFT(op_name, least, most, op_infer, op_run, ...)                                 \
    {                                                                                              \
        .domain = "com.microsoft", .name = op_name, .since = 1, .min_in = least, .max_in = most,   \
        .min_out = 1, .max_out = 1, .flags = ODB_OP_REAL, .types = {ODB_T_FLOAT},                  \
        .infer = op_infer, .run = op_run, __VA_ARGS__                                              \
    }

#define RELU_FLAGS (ODB_OP_EXACT | ODB_OP_REAL | ODB_OP_OVERWRITE)

const struct odb_op odb_ops_activation[] = {
    ODB_EW_ROW("Relu", 1, 1, ODB_T_FLOAT | ODB_T_SIGNED, RELU_FLAGS, odb_infer_same, ew_run_relu,
               .attrs = odb_ew_consumed_attrs, ODB_NAMES("X", "Y"), ODB_HALVES(1, 13),
               ODB_WORK(per_output, 1)),
    ODB_EW_ROW("Relu", 6, 1, ODB_T_FLOAT | ODB_T_SIGNED, RELU_FLAGS, odb_infer_same, ew_run_relu),
    ACT_OLD("LeakyRelu", ew_run_leaky_relu, act_leaky_attrs, ODB_NAMES("X", "Y"), ODB_HALVES(1, 16),
            ODB_WORK(per_output, 1)),
    ACT_ROW("ThresholdedRelu", 1, ODB_OP_EXACT | ODB_OP_BOUNDARY, ew_run_thresholded_relu,
            .attrs = act_alpha_attrs + 1, ODB_NAMES("X", "Y"), ODB_HALVES(10, 22),
            ODB_WORK(per_output, 1), ODB_TRAITS(ODB_IS_NONSTANDARD), ODB_STANDARD(10)),
    ODB_EW_ROW("Shrink", 9, 1, ODB_T_NUMBER, ODB_OP_REAL | ODB_OP_BOUNDARY, odb_infer_same,
               act_shrink, .attrs = act_shrink_attrs, ODB_NAMES("input", "output"),
               ODB_HALVES(9, 0)),
    ACT_OLD("HardSigmoid", ew_run_hard_sigmoid, act_hard_attrs, ODB_NAMES("X", "Y"),
            ODB_HALVES(1, 22), ODB_WORK(per_output, 1)),
    ACT_ROW("HardSwish", 14, 0, ew_run_hard_swish, ODB_NAMES("X", "Y"), ODB_HALVES(14, 22),
            ODB_WORK(per_output, 1), ODB_FUSES(" Mul Div ", " Mul Div Add Clip HardSigmoid ")),
    ACT_ROW("Softsign", 1, 0, ew_run_softsign, ODB_NAMES("input", "output"), ODB_HALVES(1, 22),
            ODB_WORK(per_output, 1)),
    ACT_ROW("Softplus", 1, 0, ew_run_softplus, ODB_NAMES("X", "Y"), ODB_HALVES(1, 22),
            ODB_WORK(per_output, 1)),
    ACT_OLD("Sigmoid", act_run_sigmoid, odb_ew_consumed_attrs, ODB_NAMES("X", "Y"),
            ODB_HALVES(1, 13), ODB_WORK(per_output, 1), ODB_TRAITS(ODB_IS_OF_ONE)),
    ACT_OLD("Elu", ew_run_elu, act_alpha_attrs, ODB_NAMES("X", "Y"), ODB_HALVES(1, 22),
            ODB_WORK(per_output, 1)),
    ACT_ROW("Selu", 1, 0, ew_run_selu, .attrs = act_selu_1_attrs, ODB_NAMES("X", "Y"),
            ODB_HALVES(1, 22), ODB_WORK(per_output, 1)),
    ACT_ROW("Selu", 6, 0, ew_run_selu, .attrs = act_selu_attrs),
    ACT_ROW("Celu", 12, 0, ew_run_celu, .attrs = act_alpha_attrs + 1, ODB_NAMES("X", "Y"),
            ODB_HALVES(28, 28), ODB_WORK(per_output, 1)),
    ACT_ROW("Mish", 18, 0, ew_run_mish, ODB_NAMES("X", "Y"), ODB_HALVES(18, 22),
            ODB_WORK(per_output, 1), ODB_FUSES(" Mul ", " Mul Softplus Tanh Exp Log Add ")),
    ACT_ROW("Swish", 24, 0, act_run_swish, .attrs = act_alpha_attrs + 1, ODB_NAMES("X", "Y"),
            ODB_HALVES(24, 24), ODB_WORK(per_output, 1)),
    ACT_ROW("Gelu", 20, 0, act_gelu_of, .attrs = act_gelu_attrs, ODB_NAMES("X", "Y"),
            ODB_HALVES(20, 20), ODB_WORK(per_output, 1), ODB_FUSES(" Mul ", ODB_WORDS_GELU)),
    ODB_EW_ROW("PRelu", 1, 2, ODB_T_FLOAT, ODB_OP_REAL, act_infer_prelu, act_prelu,
               .attrs = odb_ew_consumed_attrs, ODB_NAMES("X,slope", "Y"), ODB_HALVES(7, 16),
               ODB_WORK(per_output, 1)),
    ODB_EW_ROW("PRelu", 6, 2, ODB_T_FLOAT, ODB_OP_REAL, act_infer_prelu, act_prelu),
    ODB_EW_ROW("PRelu", 7, 2, ODB_T_FLOAT | ODB_T_INT, ODB_OP_REAL, act_infer_prelu, act_prelu),
    ODB_EW_ROW("SwiGLU", 28, 2, ODB_T_FLOAT, ODB_OP_REAL, act_infer_swiglu, act_swiglu,
               .attrs = act_alpha_attrs + 1, ODB_NAMES("A,B", "Y"), ODB_HALVES(28, 28)),
    ACT_MICROSOFT("Gelu", 1, 1, odb_infer_same, act_run_gelu, ODB_NAMES("X", "Y"), ODB_HALVES(1, 1),
                  ODB_WORK(per_output, 1), ODB_FUSES(" Mul ", ODB_WORDS_GELU)),
    ACT_MICROSOFT("QuickGelu", 1, 1, odb_infer_same, act_run_swish, .attrs = act_quick_attrs,
                  ODB_NAMES("X", "Y"), ODB_HALVES(1, 1), ODB_WORK(per_output, 1),
                  ODB_FUSES(" Mul ", " Mul Sigmoid ")),
    ACT_MICROSOFT("BiasGelu", 2, 2, odb_ew_infer, act_bias_gelu, ODB_NAMES("A,B", "C"),
                  ODB_HALVES(1, 1), ODB_WORK(per_output, 2),
                  ODB_FUSES(" Mul Gelu ", ODB_WORDS_GELU)),
    ACT_MICROSOFT("FastGelu", 1, 2, odb_ew_infer, act_fast_gelu, ODB_NAMES("X,bias", "Y"),
                  ODB_HALVES(1, 1), ODB_WORK(per_input_with, 1, 1, 1),
                  ODB_FUSES(" Mul Gelu ", ODB_WORDS_GELU)),
    {.name = NULL},
};
