/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The family number: the same operation in other arithmetic. Operands and results go through
 * another type, sums are taken in one, values are rounded another way.
 */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/simd.h"
#include "explain/catalogue/dots.h"
#include "explain/catalogue/stepwise.h"
#include "explain/catalogue/number.h"
#include "explain/variant.h"

/* --- types ------------------------------------------------------------------------------------ */

/* How a number becomes one of another type. */
enum number_how { NUMBER_CAST, NUMBER_TF32, NUMBER_TRUNCATED, NUMBER_GRID, NUMBER_FLUSHED };

static const struct number_type {
    const char *name, *text;
    enum number_how how;
    enum odb_dtype dtype;    /* NUMBER_CAST */
    enum odb_dtype_class of; /* what it is done to */
    bool usual;              /* what hardware does unless it is told otherwise */
} number_types[] = {
    {"tf32", "TF32", NUMBER_TF32, ODB_UNDEFINED, ODB_CLASS_FLOAT, true},
    {"f16", "float16", NUMBER_CAST, ODB_F16, ODB_CLASS_FLOAT, true},
    {"bf16", "bfloat16", NUMBER_CAST, ODB_BF16, ODB_CLASS_FLOAT, true},
    {"bf16 truncated", "bfloat16 by cutting bits off", NUMBER_TRUNCATED, ODB_UNDEFINED,
     ODB_CLASS_FLOAT, false},
    {"f8e4m3", "float8e4m3", NUMBER_CAST, ODB_F8E4M3FN, ODB_CLASS_FLOAT, false},
    {"f8e5m2", "float8e5m2", NUMBER_CAST, ODB_F8E5M2, ODB_CLASS_FLOAT, false},
    {"int8", "an int8 grid of its largest element", NUMBER_GRID, ODB_UNDEFINED, ODB_CLASS_FLOAT,
     false},
    {"f32", "float", NUMBER_CAST, ODB_F32, ODB_CLASS_FLOAT, false},
    {"flushed", "a type without subnormals", NUMBER_FLUSHED, ODB_UNDEFINED, ODB_CLASS_FLOAT, false},
    {"int32", "int32", NUMBER_CAST, ODB_I32, ODB_CLASS_INT, false},
    {"float of int64", "float", NUMBER_CAST, ODB_F32, ODB_CLASS_INT, false},
};

const struct number_type *number_type_named(const char *name)
{
    for (size_t k = 0; k < ODB_COUNT(number_types); k++) {
        const char *a = number_types[k].name, *b = name;
        while (*a && (*a == *b || (*a == ' ' && *b == '-'))) {
            a++;
            b++;
        }
        if (!*a && !*b)
            return &number_types[k];
    }
    return NULL;
}

bool number_fits(const struct number_type *type, const struct odb_tensor *t)
{
    const struct odb_dtype_info *info = t ? odb_dtype_info(t->dtype) : NULL;
    if (!t || t->kind != ODB_TENSOR || !t->data || info->class_ != type->of)
        return false;
    if (type->of == ODB_CLASS_INT)
        return t->dtype == ODB_I64;
    bool wider = !type->dtype || info->bits > odb_dtype_info(type->dtype)->bits;
    return wider && (type->how != NUMBER_TF32 || info->bits >= 32);
}

static double number_flush(const void *payload, size_t i, double x)
{
    const struct odb_tensor *t = payload;
    (void)i;
    return fabs(x) < (t->dtype == ODB_F16 ? 0x1p-14 : 0x1p-126) ? 0 : x;
}

static double number_truncate(const void *payload, size_t i, double x)
{
    float f = (float)x;
    uint32_t bits;
    (void)payload;
    (void)i;
    memcpy(&bits, &f, sizeof bits);
    bits &= 0xffff0000u;
    memcpy(&f, &bits, sizeof f);
    return isnan(x) ? x : (double)f;
}

static double number_tf32(const void *payload, size_t i, double x)
{
    odb_f32 f = (odb_f32)x;
    (void)payload;
    (void)i;
    odb_round_tf32(&f, 1);
    return (double)f;
}

static double number_grid(const void *payload, size_t i, double x)
{
    double step = *(const double *)payload;
    (void)i;
    return isfinite(x) && step > 0 ? step * nearbyint(x / step) : x;
}

enum odb_status number_through(const struct number_type *type, const struct odb_tensor *t,
                               struct odb_tensor **out, struct odb_error *err)
{
    struct odb_tensor *narrow = NULL;
    double step = 0;
    if (type->how == NUMBER_FLUSHED)
        return tensor_map(out, t, number_flush, t, err);
    if (type->how == NUMBER_TRUNCATED)
        return tensor_map(out, t, number_truncate, NULL, err);
    if (type->how == NUMBER_TF32)
        return tensor_map(out, t, number_tf32, NULL, err);
    if (type->how == NUMBER_GRID) {
        for (size_t i = 0; i < t->count; i++)
            step = fmax(step, fabs(odb_tensor_f64(t, i)) / 127);
        return tensor_map(out, t, number_grid, &step, err);
    }
    ODB_TRY(odb_tensor_cast(&narrow, t, type->dtype, err));
    enum odb_status status = odb_tensor_cast(out, narrow, t->dtype, err);
    odb_tensor_unref(narrow);
    return status;
}

/* --- operands --------------------------------------------------------------------------------- */

bool number_steers(const struct accused *s, int i)
{
    const struct odb_facts *facts = odb_facts_of(s->node->domain, s->node->op_type);
    return i < 32 && ((facts->steering | facts->parameters) >> i & 1);
}

/* Inputs of a product that are multiplied; what is added to it may keep its type. */
#define NUMBER_FACTORS 2

/* Choice 2 k takes the operands alone, 2 k + 1 what is added to their product as well. */
static enum choice number_choose_operands(const struct accused *s, size_t k, struct variant *v)
{
    if (k / 2 >= ODB_COUNT(number_types))
        return CHOICE_END;
    const struct number_type *type = &number_types[k / 2];
    bool adds = variant_is_for("Conv|FusedConv|ConvTranspose|Gemm|FusedGemm", s->node->op_type) &&
                s->node->n_in > NUMBER_FACTORS && s->in[NUMBER_FACTORS];
    bool any = false;
    v->other = adds && k % 2 == 0 ? NUMBER_FACTORS : s->node->n_in;
    for (int i = 0; i < v->other; i++)
        any |= !number_steers(s, i) && number_fits(type, s->in[i]);
    if (!any || (k % 2 && !adds) || (type->how == NUMBER_TF32 && !(s->op->flags & ODB_OP_MATMUL)))
        return CHOICE_SKIP;
    v->at = (int)(k / 2);
    odb_buf_printf(&v->name, "%s%s", type->name, k % 2 ? ", bias too" : "");
    odb_buf_printf(&v->text, "as if its operands%s were rounded to %s", k % 2 ? " and bias" : "",
                   type->text);
    if (type->usual && (s->op->flags & ODB_OP_MATMUL))
        odb_buf_printf(&v->text, ", a default of some hardware (--expect %s accepts it)",
                       type->name);
    return CHOICE_MADE;
}

static enum odb_status number_change_operands(const struct variant *v, const struct accused *s,
                                              struct change *c, struct odb_error *err)
{
    for (int i = 0; i < ODB_MIN(c->call->n_in, v->other); i++) {
        struct odb_tensor *t = NULL;
        if (number_steers(s, i) || !number_fits(&number_types[v->at], c->in[i]))
            continue;
        ODB_TRY(number_through(&number_types[v->at], c->in[i], &t, err));
        change_input(c, i, t);
    }
    return ODB_OK;
}

/* One operand alone: weights, or what is multiplied by them. */
static enum choice number_choose_operand(const struct accused *s, size_t k, struct variant *v)
{
    size_t n = ODB_COUNT(number_types);
    int i = (int)(k / n);
    const struct number_type *type = &number_types[k % n];
    if (i >= ODB_MIN(s->node->n_in, 3) || s->node->n_in < 2)
        return CHOICE_END;
    if (number_steers(s, i) || !number_fits(type, s->in[i]))
        return CHOICE_SKIP;
    v->at = (int)(k % n);
    v->other = i;
    odb_buf_printf(&v->name, "%s,%d", type->name, i);
    odb_buf_puts(&v->text, "as if ");
    accused_put_input(s, i, &v->text);
    odb_buf_printf(&v->text, " were rounded to %s", type->text);
    return CHOICE_MADE;
}

static enum odb_status number_change_operand(const struct variant *v, const struct accused *s,
                                             struct change *c, struct odb_error *err)
{
    struct odb_tensor *t = NULL;
    (void)s;
    ODB_TRY(number_through(&number_types[v->at], c->in[v->other], &t, err));
    change_input(c, v->other, t);
    return ODB_OK;
}

/* --- results ---------------------------------------------------------------------------------- */

static enum choice number_choose_results(const struct accused *s, size_t k, struct variant *v)
{
    if (k >= ODB_COUNT(number_types))
        return CHOICE_END;
    const struct number_type *type = &number_types[k];
    bool any = false;
    for (int o = 0; o < s->node->n_out; o++)
        any |= s->y[o] && number_fits(type, s->r[o]);
    if (!any)
        return CHOICE_SKIP;
    v->at = (int)k;
    odb_buf_puts(&v->name, type->name);
    odb_buf_printf(&v->text, "as if its results were rounded to %s", type->text);
    return CHOICE_MADE;
}

static enum odb_status number_result(const struct variant *v, const struct accused *s,
                                     struct odb_tensor **out, struct odb_error *err)
{
    for (int o = 0; o < s->node->n_out; o++) {
        struct odb_tensor *t = NULL;
        if (!number_fits(&number_types[v->at], out[o]))
            continue;
        ODB_TRY(number_through(&number_types[v->at], out[o], &t, err));
        tensor_replace(&out[o], t);
    }
    return ODB_OK;
}

/* Operands and results. */
static enum choice number_choose_both(const struct accused *s, size_t k, struct variant *v)
{
    enum choice choice = number_choose_operands(s, k, v);
    odb_buf_clear(&v->text);
    if (choice == CHOICE_MADE && number_types[v->at].how == NUMBER_TF32)
        choice = CHOICE_SKIP;
    if (choice == CHOICE_MADE)
        odb_buf_printf(&v->text, "as if its operands%s and results were rounded to %s",
                       k % 2 ? ", bias" : "", number_types[k / 2].text);
    return choice;
}

/* --- sums ------------------------------------------------------------------------------------- */

static const struct number_sum {
    const char *name, *text;
    enum odb_dtype in;
    size_t block; /* so many terms are added exactly before the sum is rounded */
} number_sums[] = {
    {"f16", "as if products were added in float16", ODB_F16, 1},
    {"bf16", "as if products were added in bfloat16", ODB_BF16, 1},
    {"f16,4", "as if products were added in float16, four at a time", ODB_F16, 4},
    {"f16,8", "as if products were added in float16, eight at a time", ODB_F16, 8},
    {"f16,16", "as if products were added in float16, sixteen at a time", ODB_F16, 16},
    {"bf16,4", "as if products were added in bfloat16, four at a time", ODB_BF16, 4},
    {"bf16,8", "as if products were added in bfloat16, eight at a time", ODB_BF16, 8},
    {"bf16,16", "as if products were added in bfloat16, sixteen at a time", ODB_BF16, 16},
};

/* Ends a choice with one of the orders of terms, which is v->other. */
static enum choice number_choose_order(const struct accused *s, size_t k, struct variant *v)
{
    if (k == DOTS_CHANNELS && !dots_have_orders(s))
        return CHOICE_SKIP;
    v->other = (int)k;
    odb_buf_puts(&v->name, k == DOTS_CHANNELS ? ", by channel" : "");
    odb_buf_puts(&v->text, k == DOTS_CHANNELS ? ", channel by channel" : "");
    return CHOICE_MADE;
}

static enum dots_order number_order(const struct variant *v)
{
    return v->other ? DOTS_CHANNELS : DOTS_TAPS;
}

static enum choice number_choose_sum(const struct accused *s, size_t k, struct variant *v)
{
    if (k / 2 >= ODB_COUNT(number_sums) || !s->y[0] || !odb_dtype_is_float(s->y[0]->dtype) ||
        quantised_is_product(s))
        return CHOICE_END;
    v->at = (int)(k / 2);
    odb_buf_puts(&v->name, number_sums[k / 2].name);
    odb_buf_puts(&v->text, number_sums[k / 2].text);
    return number_choose_order(s, k % 2, v);
}

/* The number of a type that is nearest to x, half to even: what is left when a number has been
 * added whose unit in the last place is the type's at x. */
static inline double number_nearest(double x, int digits, int64_t least, double max)
{
    int64_t bits, magic;
    double big, near;
    memcpy(&bits, &x, sizeof bits);
    magic = bits & INT64_C(0x7ff) << 52; /* the exponent; below the least one units grow no less */
    magic = ODB_MAX(magic, least) + ((int64_t)(52 - digits) << 52) + (INT64_C(1) << 51);
    memcpy(&big, &magic, sizeof big);
    near = (x + big) - big;
    near = fabs(near) > max ? copysign(INFINITY, near) : near;
    return fabs(x) <= DBL_MAX ? near : x;
}

static ODB_SIMD void number_sum(const void *payload, const dots_row *a, const dots_row *b, size_t k,
                                double *sums)
{
    const struct number_sum *how = payload;
    const struct odb_dtype_info *in = odb_dtype_info(how->in);
    const int digits = -ilogb(in->eps);
    const int64_t least = (int64_t)(1023 + ilogb(in->tiny) + digits) << 52;
    const double max = in->max;
    for (size_t i = 0; i < k; i += how->block) {
        dots_row part = {0};
        for (size_t j = i; j < ODB_MIN(i + how->block, k); j++)
            for (size_t lane = 0; lane < DOTS_LANES; lane++)
                part[lane] += a[j][lane] * b[j][lane];
        for (size_t lane = 0; lane < DOTS_LANES; lane++)
            sums[lane] = number_nearest(sums[lane] + part[lane], digits, least, max);
    }
}

static enum odb_status number_result_sum(const struct variant *v, const struct accused *s,
                                         struct odb_tensor **out, struct odb_error *err)
{
    return dots_make(
        s, &(struct dots_how){number_sum, &number_sums[v->at], number_order(v), NULL, NULL}, out,
        err);
}

/* Terms at the end that do not fill a tile are left out. */
static const size_t number_tiles[] = {4, 8, 16, 32, 64};

static enum choice number_choose_tail(const struct accused *s, size_t k, struct variant *v)
{
    if (k / 2 >= ODB_COUNT(number_tiles))
        return CHOICE_END;
    v->n = number_tiles[k / 2];
    odb_buf_printf(&v->name, "%zu", v->n);
    odb_buf_printf(&v->text, "as if sums ended with the last full tile of %zu terms", v->n);
    return number_choose_order(s, k % 2, v);
}

static void number_sum_tiles(const void *payload, const dots_row *a, const dots_row *b, size_t k,
                             double *sums)
{
    dots_sum_exact(NULL, a, b, k - k % *(const size_t *)payload, sums);
}

static enum odb_status number_result_tail(const struct variant *v, const struct accused *s,
                                          struct odb_tensor **out, struct odb_error *err)
{
    return dots_make(s, &(struct dots_how){number_sum_tiles, &v->n, number_order(v), NULL, NULL},
                     out, err);
}

/* --- integers --------------------------------------------------------------------------------- */

static enum choice number_choose_pairs(const struct accused *s, size_t k, struct variant *v)
{
    if (k > DOTS_CHANNELS)
        return CHOICE_END;
    odb_buf_puts(&v->name, "int16");
    odb_buf_puts(&v->text, "as if sums of two neighbouring products saturated at 32767, which 16 "
                           "bits hold");
    return number_choose_order(s, k, v);
}

static enum odb_status number_result_pairs(const struct variant *v, const struct accused *s,
                                           struct odb_tensor **out, struct odb_error *err)
{
    return dots_make(s, &(struct dots_how){dots_sum_pairs, NULL, number_order(v), NULL, NULL}, out,
                     err);
}

/* --- rounding --------------------------------------------------------------------------------- */

static double number_half_away(double x)
{
    return round(x);
}

static double number_half_up(double x)
{
    return floor(x + 0.5);
}

static const struct number_rounding {
    const char *name, *text;
    double (*round)(double x);
} number_roundings[] = {
    {"half away", "rounded half away from zero", number_half_away},
    {"half up", "rounded half up", number_half_up},
    {"truncated", "truncated toward zero", trunc},
    {"floor", "rounded down", floor},
    {"ceil", "rounded up", ceil},
    {"half even", "rounded to the nearest, half to even", nearbyint},
};

/* What an integer type makes of numbers beyond it. */
static const struct number_beyond {
    const char *name, *text;
} number_beyonds[] = {{"", ""},
                      {",wraps", ", and wrapped at the ends of its type"},
                      {",saturates", ", and saturated at the ends of its type"}};

static enum choice number_choose_rounding(const struct accused *s, size_t k, struct variant *v)
{
    size_t n = ODB_COUNT(number_roundings), beyond = k / n;
    const struct odb_tensor *y = s->y[0], *x = accused_in(s, 0);
    bool integers = y && odb_dtype_is_integer(y->dtype);
    if (beyond >= ODB_COUNT(number_beyonds) || (beyond && !integers))
        return CHOICE_END;
    if (!x || !y || !odb_dtype_is_float(x->dtype) ||
        (!integers && strcmp(s->node->op_type, "Round")))
        return CHOICE_END;
    v->at = (int)(k % n);
    v->other = (int)beyond;
    odb_buf_printf(&v->name, "%s%s", number_roundings[k % n].name, number_beyonds[beyond].name);
    odb_buf_printf(&v->text, "as if %s%s", number_roundings[k % n].text,
                   number_beyonds[beyond].text);
    return CHOICE_MADE;
}

/* Element i of a parameter that there is one of, or one for each place on axis; 0 without. */
static double number_parameter(const struct odb_tensor *t, const struct odb_tensor *x, int axis,
                               size_t i)
{
    size_t outer, n, inner;
    if (!t || t->count == 1 || axis < 0 || axis >= x->rank)
        return t ? odb_tensor_f64(t, 0) : 0;
    tensor_around(x, axis, &outer, &n, &inner);
    return odb_tensor_f64(t, i / inner % n);
}

static double number_bound(enum odb_dtype dtype, int beyond, double x)
{
    const struct odb_dtype_info *info = odb_dtype_info(dtype);
    double lo = info->class_ == ODB_CLASS_INT ? -ldexp(1, (int)info->bits - 1) : 0;
    double span = ldexp(1, (int)info->bits);
    if (beyond == 1) {
        double wrapped = fmod(x - lo, span);
        return lo + (wrapped < 0 ? wrapped + span : wrapped);
    }
    return isnan(x) ? 0 : fmin(fmax(x, lo), lo + span - 1);
}

static enum odb_status number_result_rounding(const struct variant *v, const struct accused *s,
                                              struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_tensor *x = accused_in(s, 0), *y = s->y[0];
    bool quantises = !strcmp(s->node->op_type, "QuantizeLinear");
    const struct odb_tensor *scale = quantises ? accused_in(s, 1) : NULL;
    const struct odb_tensor *zero = quantises ? accused_in(s, 2) : NULL;
    int64_t axis = accused_int(s, "axis", 1);
    if (!x || (quantises && (!scale || accused_int(s, "block_size", 0))) || x->count != y->count ||
        (scale && scale->rank > 1))
        return ODB_SKIPPED;
    axis += axis < 0 ? x->rank : 0;
    ODB_TRY(odb_tensor_new(out, y->dtype, y->rank, y->dims, err));
    for (size_t i = 0; i < x->count; i++) {
        double q = odb_tensor_f64(x, i);
        if (quantises) /* float divided by float, as the operator says */
            q = (double)((float)q / (float)number_parameter(scale, x, (int)axis, i));
        q = number_roundings[v->at].round(q) + number_parameter(zero, x, (int)axis, i);
        bool integers = odb_dtype_is_integer(y->dtype);
        int beyond = v->other ? v->other : quantises ? 2 : 1;
        odb_store_f64(y->dtype, (*out)->data, i, integers ? number_bound(y->dtype, beyond, q) : q);
    }
    return ODB_OK;
}

/* Times the reciprocal of the scale, which is rounded, in place of a quotient. */
static enum choice number_choose_reciprocal(const struct accused *s, size_t k, struct variant *v)
{
    const struct odb_tensor *x = accused_in(s, 0), *scale = accused_in(s, 1);
    if (k || !x || !scale || x->dtype != ODB_F32 || scale->dtype != ODB_F32 || scale->rank > 1 ||
        accused_int(s, "block_size", 0))
        return CHOICE_END;
    odb_buf_puts(&v->text, "as if it multiplied by 1 / scale, rounded to float");
    return CHOICE_MADE;
}

struct number_scaled {
    const struct odb_tensor *scale, *x;
    int axis;
};

static double number_times_reciprocal(const void *payload, size_t i, double v)
{
    const struct number_scaled *by = payload;
    float reciprocal = 1 / (float)number_parameter(by->scale, by->x, by->axis, i);
    return (double)((float)v * reciprocal);
}

static double number_one(const void *payload, size_t i, double v)
{
    (void)payload;
    (void)i;
    (void)v;
    return 1;
}

static enum odb_status number_change_reciprocal(const struct variant *v, const struct accused *s,
                                                struct change *c, struct odb_error *err)
{
    struct odb_tensor *x = NULL, *scale = NULL;
    int64_t axis = accused_int(s, "axis", 1);
    (void)v;
    struct number_scaled by = {c->in[1], c->in[0], (int)axis};
    by.axis += axis < 0 ? c->in[0]->rank : 0;
    ODB_TRY(tensor_map(&x, c->in[0], number_times_reciprocal, &by, err));
    change_input(c, 0, x);
    ODB_TRY(tensor_map(&scale, c->in[1], number_one, NULL, err));
    change_input(c, 1, scale);
    return ODB_OK;
}

/* How a product is quantised again. */
static enum choice number_choose_requantised(const struct accused *s, size_t k, struct variant *v)
{
    if (k >= ODB_COUNT(number_roundings) || !dots_requantise(s))
        return CHOICE_END;
    if (number_roundings[k].round == nearbyint)
        return CHOICE_SKIP;
    v->at = (int)k;
    odb_buf_puts(&v->name, number_roundings[k].name);
    odb_buf_printf(&v->text, "as if its results were %s when they are quantised again",
                   number_roundings[k].text);
    return CHOICE_MADE;
}

static enum odb_status number_result_requantised(const struct variant *v, const struct accused *s,
                                                 struct odb_tensor **out, struct odb_error *err)
{
    const struct dots_how how = {dots_sum_exact, NULL, DOTS_TAPS, number_roundings[v->at].round,
                                 NULL};
    return dots_make(s, &how, out, err);
}

/* --- functions -------------------------------------------------------------------------------- */

/* Approximations of a function of one number. */
static double number_gelu_sigmoid(double x)
{
    return x / (1 + exp(-1.702 * x));
}
static double number_gelu_tanh(double x)
{
    return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}
static double number_gelu_erf(double x)
{
    return 0.5 * x * (1 + erf(x * M_SQRT1_2));
}
static double number_erf_tanh(double x) /* gelu_tanh(sqrt(2) x), of which Gelu takes erf(x) */
{
    return tanh(0.7978845608028654 * M_SQRT2 * x * (1 + 2 * 0.044715 * x * x));
}
static double number_hard_sigmoid_6(double x)
{
    return fmin(fmax(x / 6 + 0.5, 0), 1);
}
static double number_hard_sigmoid_5(double x)
{
    return fmin(fmax(0.2 * x + 0.5, 0), 1);
}
static double number_softplus_naive(double x)
{
    return (double)logf(1 + expf((float)x));
}
static double number_softplus_20(double x)
{
    return x > 20 ? x : log1p(exp(x));
}
static double number_hard_tanh(double x)
{
    return fmin(fmax(x, -1), 1);
}
static double number_swish_hard(double x)
{
    return x * number_hard_sigmoid_6(x);
}
static double number_relu(double x)
{
    return fmax(x, 0);
}
static double number_relu6(double x)
{
    return fmin(fmax(x, 0), 6);
}
static double number_abs_sqrt(double x)
{
    return sqrt(fabs(x));
}

static const struct number_function {
    const char *ops, *name, *text;
    double (*f)(double x);
} number_functions[] = {
    {"Gelu|FastGelu|QuickGelu", "tanh", "as its approximation with tanh", number_gelu_tanh},
    {"Gelu|FastGelu|QuickGelu", "erf", "as its exact form with erf", number_gelu_erf},
    {"Gelu|FastGelu|QuickGelu", "sigmoid", "as x * sigmoid(1.702 x)", number_gelu_sigmoid},
    {"Sigmoid|HardSigmoid", "hard", "as the hard sigmoid clip(x / 6 + 0.5, 0, 1)",
     number_hard_sigmoid_6},
    {"Sigmoid|HardSigmoid", "hard 0.2", "as the hard sigmoid clip(0.2 x + 0.5, 0, 1)",
     number_hard_sigmoid_5},
    {"Tanh", "hard", "as clip(x, -1, 1)", number_hard_tanh},
    {"Softplus", "naive", "as log(1 + exp(x)) in float, which overflows", number_softplus_naive},
    {"Softplus", "threshold", "as x from 20 on", number_softplus_20},
    {"Swish|Mish|HardSwish", "hard", "as x * clip(x / 6 + 0.5, 0, 1)", number_swish_hard},
    {"LeakyRelu|Elu|Celu|Selu|PRelu|ThresholdedRelu|HardSwish|Clip|Gelu|Swish|Sigmoid", "relu",
     "as Relu", number_relu},
    {"Relu|LeakyRelu|Clip", "relu6", "as Relu6, clip(x, 0, 6)", number_relu6},
    {"Erf", "tanh", "as tanh(1.12838 (x + 0.089443 x^3)), of Gelu's approximation",
     number_erf_tanh},
    {"Sqrt", "of abs", "as the root of |x|", number_abs_sqrt},
};

static enum choice number_choose_function(const struct accused *s, size_t k, struct variant *v)
{
    const struct odb_tensor *x = accused_in(s, 0);
    if (k >= ODB_COUNT(number_functions) || !x || !odb_dtype_is_float(x->dtype))
        return CHOICE_END;
    const struct number_function *f = &number_functions[k];
    if (!variant_is_for(f->ops, s->node->op_type) ||
        (s->node->n_in > 1 && s->in[1] && !strcmp(s->node->op_type, "FastGelu")))
        return CHOICE_SKIP;
    return variant_made(v, k, f->name, f->text);
}

static enum odb_status number_result_function(const struct variant *v, const struct accused *s,
                                              struct odb_tensor **out, struct odb_error *err)
{
    struct odb_tensor *wide = NULL, *made = NULL;
    const struct odb_tensor *x = accused_in(s, 0), *y = s->y[0];
    if (!x || !y || x->count != y->count)
        return ODB_SKIPPED;
    ODB_TRY(odb_tensor_cast(&wide, x, ODB_F64, err));
    enum odb_status status = tensor_apply(&made, wide, number_functions[v->at].f, err);
    if (status == ODB_OK)
        status = odb_tensor_cast(out, made, y->dtype, err);
    odb_tensor_unref(wide);
    odb_tensor_unref(made);
    return status;
}

/* Operands beyond c are taken for c. */
static const double number_clamps[] = {3, 4, 5, 6, 8, 9, 10, 18, 20};

static enum choice number_choose_clamp(const struct accused *s, size_t k, struct variant *v)
{
    const struct odb_tensor *x = accused_in(s, 0);
    if (k >= ODB_COUNT(number_clamps) || !x)
        return CHOICE_END;
    v->a = number_clamps[k];
    odb_buf_printf(&v->name, "%g", v->a);
    odb_buf_printf(&v->text, "as if X were cut off at -%g and %g", v->a, v->a);
    return CHOICE_MADE;
}

static double number_clamp(const void *payload, size_t i, double x)
{
    const struct variant *v = payload;
    (void)i;
    return isnan(x) ? x : fmin(fmax(x, -v->a), v->a);
}

static enum odb_status number_change_clamp(const struct variant *v, const struct accused *s,
                                           struct change *c, struct odb_error *err)
{
    struct odb_tensor *t = NULL;
    (void)s;
    ODB_TRY(tensor_map(&t, c->in[0], number_clamp, v, err));
    change_input(c, 0, t);
    return ODB_OK;
}

/* --- division of integers --------------------------------------------------------------------- */

static const struct number_division {
    const char *name, *text;
    double (*round)(double x);
} number_divisions[] = {
    {"floor", "rounded down", floor},
    {"ceil", "rounded up", ceil},
    {"half even", "rounded to the nearest", nearbyint},
};

static enum choice number_choose_division(const struct accused *s, size_t k, struct variant *v)
{
    const struct odb_tensor *y = s->y[0];
    if (k >= ODB_COUNT(number_divisions) || !y || !odb_dtype_is_integer(y->dtype))
        return CHOICE_END;
    v->at = (int)k;
    odb_buf_puts(&v->name, number_divisions[k].name);
    odb_buf_printf(&v->text, "as if quotients were %s", number_divisions[k].text);
    return CHOICE_MADE;
}

/* Quotients by the operator in double, which has no remainders to cut off. */
static enum odb_status number_change_division(const struct variant *v, const struct accused *s,
                                              struct change *c, struct odb_error *err)
{
    (void)v;
    (void)s;
    for (int i = 0; i < 2; i++) {
        struct odb_tensor *t = NULL;
        ODB_TRY(odb_tensor_cast(&t, c->in[i], ODB_F64, err));
        change_input(c, i, t);
    }
    return ODB_OK;
}

static enum odb_status number_result_division(const struct variant *v, const struct accused *s,
                                              struct odb_tensor **out, struct odb_error *err)
{
    struct odb_tensor *whole = NULL, *t = NULL;
    ODB_TRY(tensor_apply(&whole, out[0], number_divisions[v->at].round, err));
    enum odb_status status = odb_tensor_cast(&t, whole, s->y[0]->dtype, err);
    odb_tensor_unref(whole);
    if (status == ODB_OK)
        tensor_replace(&out[0], t);
    return status;
}

const struct variant_row variants_number[] = {
    {"", "number/operands=", number_choose_operands, number_change_operands, NULL, false, 0},
    {"", "number/results=", number_choose_results, NULL, number_result, false, 0},
    {"", "number/all=", number_choose_both, number_change_operands, number_result, false, 0},
    {"QuantizeLinear|Round|Cast", "number/rounding=", number_choose_rounding, NULL,
     number_result_rounding, true, 0},
    {"QuantizeLinear", "number/reciprocal", number_choose_reciprocal, number_change_reciprocal,
     NULL, false, 0},
    {"", "number/function=", number_choose_function, NULL, number_result_function, true, 0},
    {"Sigmoid|Tanh|Exp|Erf|Softplus|Gelu|Swish|Mish|Elu|Softmax|LogSoftmax",
     "number/clamp=", number_choose_clamp, number_change_clamp, NULL, false, 0},
    {STEPWISE_OPS, "number/steps=", stepwise_choose, NULL, stepwise_result, true, 0},
    {"MatMulInteger|ConvInteger|QLinearMatMul|QLinearConv", "number/pairs=", number_choose_pairs,
     NULL, number_result_pairs, true, 0},
    {"MatMul|Gemm|Conv|ConvTranspose|Mul|Add|Sub|Div|MatMulNBits",
     "number/operand=", number_choose_operand, number_change_operand, NULL, false, 0},
    {"MatMul|Gemm|Conv", "number/sum=", number_choose_sum, NULL, number_result_sum, true, 0},
    {DOTS_OPS, "number/tiles=", number_choose_tail, NULL, number_result_tail, true, 0},
    {"QLinearMatMul|QLinearConv", "number/requantised=", number_choose_requantised, NULL,
     number_result_requantised, true, 0},
    {"Div", "number/quotients=", number_choose_division, number_change_division,
     number_result_division, false, 0},
    {NULL, NULL, NULL, NULL, NULL, false, 0},
};
