/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The families quantised and group: what a kernel on integers does otherwise, which a model writes
 * as a group of DequantizeLinear, an operator on floats and QuantizeLinear. Only a group has these
 * rows.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "explain/catalogue/dots.h"
#include "explain/accused_group.h"
#include "explain/variant.h"

#define PRODUCTS "Conv|MatMul|Gemm"
#define QUANTISERS "QuantizeLinear|DequantizeLinear"

enum { QUANTISER_SCALE = 1, QUANTISER_ZERO = 2 }; /* inputs of one */

/* --- what a quantiser has --------------------------------------------------------------------- */

static const struct odb_tensor *quantiser_scale(const struct accused_group *g, size_t place)
{
    return group_is(g, place, QUANTISERS) ? accused_in(&g->inner[place], QUANTISER_SCALE) : NULL;
}

/* Element i of a parameter of which there is one for all, or one a channel; 0 without. */
static double quantiser_number(const struct odb_tensor *t, size_t i)
{
    return t && t->count ? odb_tensor_f64(t, t->count > 1 ? i % t->count : 0) : 0;
}

/* The type of what a QuantizeLinear makes. */
static enum odb_dtype quantised_codes(const struct accused_group *g, size_t place)
{
    const struct odb_tensor *t = g->inner[place].native[0];
    return t ? t->dtype : ODB_UNDEFINED;
}

/* Its zero point, where that is one for all; false: it is not. */
static bool quantiser_zero(const struct accused_group *g, size_t place, double *out)
{
    const struct odb_tensor *t = accused_in(&g->inner[place], QUANTISER_ZERO);
    *out = quantiser_number(t, 0);
    for (size_t i = 1; t && i < t->count; i++)
        if (odb_tensor_f64(t, i) != *out)
            return false;
    return true;
}

/* --- a product of integers -------------------------------------------------------------------- */

/* A node that multiplies what is dequantised. */
struct quantised_product {
    size_t a, b, bias; /* places of DequantizeLinear; g->n for the bias: it is none's */
    struct dots_codes codes;
    double *factor; /* owned; [n_factor] scale of a times scale of b */
};

/* False: the node at s is none. */
static bool product_find(const struct accused *s, struct quantised_product *p)
{
    const struct accused_group *g = s->group;
    *p = (struct quantised_product){0};
    if (!g || !variant_is_for(PRODUCTS, s->node->op_type))
        return false;
    p->a = group_before(g, s->place, 0);
    p->b = group_before(g, s->place, 1);
    p->bias = group_before(g, s->place, 2);
    p->bias = group_is(g, p->bias, "DequantizeLinear") ? p->bias : g->n;
    return group_is(g, p->a, "DequantizeLinear") && group_is(g, p->b, "DequantizeLinear");
}

bool quantised_is_product(const struct accused *s)
{
    struct quantised_product p;
    return product_find(s, &p);
}

/* Whether the scales of operand b are one for all, or one for each channel of what is made: one for
 * each term of a sum is no factor of that. */
static bool product_has_factors(const struct accused *s, const struct quantised_product *p)
{
    const struct accused *b = &s->group->inner[p->b];
    const struct odb_tensor *codes = accused_in(b, 0), *scale = accused_in(b, QUANTISER_SCALE);
    if (!codes || !scale || scale->rank > 1)
        return false;
    int64_t axis = accused_int(b, "axis", 1), channels = codes->rank - 1;
    if (strcmp(s->node->op_type, "Conv") == 0 || accused_int(s, "transB", 0))
        channels = 0;
    return scale->count == 1 || (axis < 0 ? axis + codes->rank : axis) == channels;
}

/* With its numbers, which are the caller's to free; false: it has others than those known here. */
static bool product_make(const struct accused *s, struct quantised_product *p)
{
    const struct accused_group *g = s->group;
    if (!product_find(s, p))
        return false;
    const struct odb_tensor *scale_a = quantiser_scale(g, p->a),
                            *scale_b = quantiser_scale(g, p->b);
    p->codes.a = accused_in(&g->inner[p->a], 0);
    p->codes.b = accused_in(&g->inner[p->b], 0);
    if (!p->codes.a || !p->codes.b || !scale_a || !scale_b || scale_a->count != 1 ||
        !product_has_factors(s, p) || !quantiser_zero(g, p->a, &p->codes.zero_a) ||
        !quantiser_zero(g, p->b, &p->codes.zero_b))
        return false;
    p->codes.pad = p->codes.zero_a;
    p->codes.n_factor = scale_b->count;
    p->factor = odb_new_n(double, scale_b->count + 1);
    for (size_t i = 0; i < scale_b->count; i++)
        p->factor[i] = quantiser_number(scale_a, 0) * quantiser_number(scale_b, i);
    p->codes.factor = p->factor;
    return true;
}

static bool product_is_8_bits(const struct accused_group *g, size_t place)
{
    const struct odb_tensor *t = accused_in(&g->inner[place], 0);
    return t && (t->dtype == ODB_U8 || t->dtype == ODB_I8);
}

/* --- sums of 16 bits -------------------------------------------------------------------------- */

static void quantised_sum_saturated(const void *payload, const dots_row *a, const dots_row *b,
                                    size_t k, double *sums)
{
    (void)payload;
    for (size_t i = 0; i < k; i++)
        for (size_t lane = 0; lane < DOTS_LANES; lane++)
            sums[lane] = dots_saturate_16(sums[lane] + a[i][lane] * b[i][lane]);
}

static void quantised_sum_wrapped(const void *payload, const dots_row *a, const dots_row *b,
                                  size_t k, double *sums)
{
    dots_sum_exact(payload, a, b, k, sums);
    for (size_t lane = 0; lane < DOTS_LANES; lane++)
        sums[lane] -= 65536 * floor((sums[lane] + 32768) / 65536);
}

static const struct quantised_sum {
    const char *name, *text;
    dots_sum *sum;
    bool orders;  /* in which order terms come makes a difference */
    bool shifted; /* signed operands may have become unsigned ones before */
    bool pads;    /* padding holds the code 0 */
} quantised_sums[] = {
    {"pairs of int16",
     "as if sums of two neighbouring products saturated at 32767, which 16 bits "
     "hold",
     dots_sum_pairs, true, true, false},
    {"padding 0", "as if padding held the integer 0, and not the zero point", dots_sum_exact, false,
     false, true},
    {"int16", "as if sums saturated at 32767, which 16 bits hold", quantised_sum_saturated, true,
     false, false},
    {"int16 wrapped", "as if sums wrapped at 16 bits", quantised_sum_wrapped, false, false, false},
};

/* Choice 4 k + 2 shifted + order. */
static enum choice quantised_choose_sum(const struct accused *s, size_t k, struct variant *v)
{
    struct quantised_product p;
    if (k / 4 >= ODB_COUNT(quantised_sums) || !product_find(s, &p))
        return CHOICE_END;
    const struct quantised_sum *sum = &quantised_sums[k / 4];
    bool shifts = k / 2 % 2, by_channel = k % 2;
    const struct odb_tensor *a = accused_in(&s->group->inner[p.a], 0);
    double zero;
    if ((shifts && !(sum->shifted && a && a->dtype == ODB_I8)) ||
        (by_channel && !(sum->orders && dots_have_orders(s))) ||
        !product_is_8_bits(s->group, p.a) || !product_is_8_bits(s->group, p.b))
        return CHOICE_SKIP;
    if (sum->pads &&
        (strcmp(s->node->op_type, "Conv") || !quantiser_zero(s->group, p.a, &zero) || zero == 0))
        return CHOICE_SKIP;
    v->at = (int)(k / 4);
    v->other = by_channel;
    v->n = shifts;
    odb_buf_printf(&v->name, "%s%s%s", sum->name, shifts ? ", unsigned" : "",
                   by_channel ? ", by channel" : "");
    odb_buf_puts(&v->text, sum->text);
    odb_buf_puts(&v->text, shifts ? ", of int8 made unsigned by adding 128" : "");
    odb_buf_puts(&v->text, by_channel ? ", channel by channel" : "");
    return CHOICE_MADE;
}

static enum odb_status quantised_result_sum(const struct variant *v, const struct accused *s,
                                            struct odb_tensor **out, struct odb_error *err)
{
    const struct quantised_sum *sum = &quantised_sums[v->at];
    struct quantised_product p;
    if (!product_make(s, &p))
        return ODB_SKIPPED;
    p.codes.plus_a = v->n ? 128 : 0;
    p.codes.pad = sum->pads ? 0 : p.codes.pad;
    const struct dots_how how = {sum->sum, NULL, v->other ? DOTS_CHANNELS : DOTS_TAPS, NULL,
                                 &p.codes};
    enum odb_status status = dots_make(s, &how, out, err);
    free(p.factor);
    return status;
}

/* --- the scale of a bias ---------------------------------------------------------------------- */

/* The product that adds what the node at s dequantises; NULL: there is none. */
static const struct accused *bias_of(const struct accused *s)
{
    size_t after = s->group ? group_after(s->group, s->place) : 0;
    struct quantised_product p;
    const struct accused *product =
        s->group && after < s->group->n ? &s->group->inner[after] : NULL;
    return product && product_find(product, &p) && p.bias == s->place ? product : NULL;
}

static enum choice quantised_choose_bias(const struct accused *s, size_t k, struct variant *v)
{
    const struct accused *product = k ? NULL : bias_of(s);
    struct quantised_product p;
    if (!product || !product_make(product, &p))
        return CHOICE_END;
    free(p.factor);
    odb_buf_puts(&v->name, "product of the operands' scales");
    odb_buf_puts(&v->text, "as if ");
    accused_put_input(s, QUANTISER_SCALE, &v->text);
    odb_buf_puts(&v->text, ", of the bias, were the product of the scales of both operands");
    return CHOICE_MADE;
}

static enum odb_status quantised_change_bias(const struct variant *v, const struct accused *s,
                                             struct change *c, struct odb_error *err)
{
    static const struct odb_attr first_axis = {.name = "axis", .type = ODB_ATTR_INT, .i = 0};
    const struct accused *product = bias_of(s);
    const struct odb_tensor *scale = c->in[QUANTISER_SCALE];
    struct quantised_product p;
    struct odb_tensor *t = NULL;
    (void)v;
    if (!product || !product_make(product, &p))
        return ODB_SKIPPED;
    bool channels = p.codes.n_factor > 1;
    int64_t n = (int64_t)p.codes.n_factor;
    enum odb_status status = odb_tensor_new(&t, scale->dtype, channels ? 1 : scale->rank,
                                            channels ? &n : scale->dims, err);
    for (size_t i = 0; status == ODB_OK && i < t->count; i++)
        odb_store_f64(t->dtype, t->data, i, p.factor[channels ? i : 0]);
    free(p.factor);
    if (status != ODB_OK)
        return status;
    change_input(c, QUANTISER_SCALE, t);
    if (channels)
        change_attr(c, &first_axis);
    return ODB_OK;
}

/* --- the parameters of another ---------------------------------------------------------------- */

/* Choice 2 k is the scale of the node at place k, 2 k + 1 its zero point. */
static enum choice quantised_choose_other(const struct accused *s, size_t k, struct variant *v)
{
    const struct accused_group *g = s->group;
    size_t place = k / 2;
    int i = k % 2 ? QUANTISER_ZERO : QUANTISER_SCALE;
    if (!g || place >= g->n)
        return CHOICE_END;
    const struct odb_tensor *own = accused_in(s, i);
    const struct odb_tensor *other =
        group_is(g, place, QUANTISERS) ? accused_in(&g->inner[place], i) : NULL;
    bool seen = false; /* a pair of quantisers has the same twice */
    for (size_t p = 0; p < place && !seen; p++)
        seen = group_is(g, p, QUANTISERS) && accused_in(&g->inner[p], i) && other &&
               odb_tensor_identical(accused_in(&g->inner[p], i), other);
    if (!own || !other || seen || own->dtype != other->dtype ||
        !odb_tensor_same_shape(own, other) || odb_tensor_identical(own, other))
        return CHOICE_SKIP;
    v->at = i;
    v->other = (int)place;
    odb_buf_printf(&v->name, "%s of #%d", i == QUANTISER_ZERO ? "zero point" : "scale",
                   g->nodes[place]);
    odb_buf_puts(&v->text, "as if ");
    accused_put_input(s, i, &v->text);
    odb_buf_puts(&v->text, " were that of ");
    odb_node_put(s->graph, g->nodes[place], &v->text);
    return CHOICE_MADE;
}

static enum odb_status quantised_change_other(const struct variant *v, const struct accused *s,
                                              struct change *c, struct odb_error *err)
{
    (void)err;
    change_input(c, v->at, odb_tensor_ref(accused_in(&s->group->inner[v->other], v->at)));
    return ODB_OK;
}

/* One scale for all channels; that it is the first's is a row for any input. */
static enum choice quantised_choose_tensor(const struct accused *s, size_t k, struct variant *v)
{
    static const char *const names[] = {"mean", "largest"};
    const struct odb_tensor *scale = s->group ? quantiser_scale(s->group, s->place) : NULL;
    double sum = 0;
    if (k >= ODB_COUNT(names) || !scale || scale->count < 2)
        return CHOICE_END;
    for (size_t i = 0; i < scale->count; i++) {
        double x = odb_tensor_f64(scale, i);
        v->a = fmax(v->a, x);
        sum += x;
    }
    v->a = k ? v->a : sum / (double)scale->count;
    odb_buf_puts(&v->name, names[k]);
    odb_buf_puts(&v->text, "as if ");
    accused_put_input(s, QUANTISER_SCALE, &v->text);
    odb_buf_printf(&v->text, " had the %s of its channels for all of them", names[k]);
    return CHOICE_MADE;
}

static double quantised_fill(const void *payload, size_t i, double x)
{
    (void)i;
    (void)x;
    return *(const double *)payload;
}

static enum odb_status quantised_change_tensor(const struct variant *v, const struct accused *s,
                                               struct change *c, struct odb_error *err)
{
    struct odb_tensor *t = NULL;
    (void)s;
    ODB_TRY(tensor_map(&t, c->in[QUANTISER_SCALE], quantised_fill, &v->a, err));
    change_input(c, QUANTISER_SCALE, t);
    return ODB_OK;
}

/* --- a fitted scale --------------------------------------------------------------------------- */

/* Codes of the target, less the zero point, where a quantiser ends the group, or a pair. */
struct fitted_codes {
    const odb_f64 *y;  /* what came out: codes, or what a pair makes of them */
    double step, zero; /* what one code is worth there; what has to go yet */
    double low, high;  /* the least and the greatest */
};

/* False: the group ends otherwise. */
static bool fitted_codes(const struct accused *s, struct fitted_codes *codes)
{
    const struct accused_group *g = s->group;
    const struct accused *last = &g->inner[g->n - 1];
    bool pair = g->n == g->tail + 2 && group_is(g, g->n - 1, "DequantizeLinear");
    bool alone = g->n == g->tail + 1 && group_is(g, g->n - 1, "QuantizeLinear");
    const struct odb_tensor *scale = quantiser_scale(g, g->n - 1),
                            *own = quantiser_scale(g, s->place);
    const struct odb_dtype_info *info = odb_dtype_info(quantised_codes(g, s->place));
    double zero;
    if (s->place != g->tail || !(pair || alone) || !scale || scale->count != 1 || !own ||
        own->count != 1 || !last->target.wide[0] ||
        last->target.wide[0]->count != s->in[0]->count || !quantiser_zero(g, g->n - 1, &zero))
        return false;
    double low = (info->class_ == ODB_CLASS_INT ? -ldexp(1, (int)info->bits - 1) : 0) - zero;
    *codes = (struct fitted_codes){.y = last->target.wide[0]->data,
                                   .step = pair ? odb_tensor_f64(scale, 0) : 1,
                                   .zero = pair ? 0 : zero,
                                   .low = low,
                                   .high = low + ldexp(1, (int)info->bits) - 1};
    return codes->step > 0;
}

/* Of the numbers between two, the one that has the fewest digits. */
static double fitted_round(double from, double to)
{
    double mid = (from + to) / 2;
    for (int digits = 1; digits < 8 && mid > 0; digits++) {
        double unit = pow(10, floor(log10(mid)) + 1 - digits), x = unit * nearbyint(mid / unit);
        if (x > from && x < to)
            return x;
    }
    return mid;
}

/* Each code says between what the number that the operand is divided by lies. */
static enum choice quantised_choose_fitted(const struct accused *s, size_t k, struct variant *v)
{
    struct fitted_codes codes;
    double from = 0, to = INFINITY;
    if (k || !s->group || !accused_in(s, 0) || !fitted_codes(s, &codes))
        return CHOICE_END;
    for (size_t i = 0; i < s->in[0]->count; i++) {
        double x = fabs(odb_tensor_f64(s->in[0], i));
        double code = nearbyint(codes.y[i] / codes.step) - codes.zero;
        if (!(fabs(code) >= 1) || code <= codes.low || code >= codes.high || !(x > 0))
            continue;
        from = fmax(from, x / (fabs(code) + 0.5));
        to = fmin(to, x / (fabs(code) - 0.5));
    }
    double scale = odb_tensor_f64(s->in[QUANTISER_SCALE], 0);
    v->a = fitted_round(from / scale, to / scale);
    if (!(from < to) || !isfinite(v->a) || fabs(v->a - 1) < 1e-6)
        return CHOICE_SKIP;
    odb_buf_puts(&v->text, "as if ");
    accused_put_input(s, QUANTISER_SCALE, &v->text);
    odb_buf_printf(&v->text, " were %.4g times what it is", v->a);
    return CHOICE_MADE;
}

static double quantised_times(const void *payload, size_t i, double x)
{
    (void)i;
    return x * *(const double *)payload;
}

static enum odb_status quantised_change_fitted(const struct variant *v, const struct accused *s,
                                               struct change *c, struct odb_error *err)
{
    struct odb_tensor *t = NULL;
    (void)s;
    ODB_TRY(tensor_map(&t, c->in[QUANTISER_SCALE], quantised_times, &v->a, err));
    change_input(c, QUANTISER_SCALE, t);
    return ODB_OK;
}

/* --- what sums are multiplied by -------------------------------------------------------------- */

/* The factor that makes codes of the output of sums of codes, as hardware without floats has it. */
static double multiplier_nearest(double x)
{
    return exp2(nearbyint(log2(x)));
}
static double multiplier_down(double x)
{
    return exp2(floor(log2(x)));
}
static double multiplier_up(double x)
{
    return exp2(ceil(log2(x)));
}
static double multiplier_bits(double x, int bits)
{
    int e;
    double m = frexp(x, &e);
    return ldexp(nearbyint(ldexp(m, bits)), e - bits);
}
static double multiplier_8(double x)
{
    return multiplier_bits(x, 8);
}
static double multiplier_7(double x)
{
    return multiplier_bits(x, 7);
}
static double multiplier_f16(double x)
{
    return multiplier_bits(x, 11);
}

static const struct quantised_multiplier {
    const char *name, *text;
    double (*f)(double x);
} quantised_multipliers[] = {
    {"shift", "as if it were quantised again by a shift: by the nearest power of two",
     multiplier_nearest},
    {"shift down", "as if it were quantised again by a shift: by the power of two below",
     multiplier_down},
    {"shift up", "as if it were quantised again by a shift: by the power of two above",
     multiplier_up},
    {"7 bits", "as if it were quantised again by a multiplier of 7 bits", multiplier_7},
    {"8 bits", "as if it were quantised again by a multiplier of 8 bits", multiplier_8},
    {"11 bits", "as if it were quantised again by a multiplier of 11 bits, as float16 has",
     multiplier_f16},
};

/* The scale of the quantiser that a product's result comes to, past nodes that only scale with it;
 * 0: there is none. */
static double multiplier_scale(const struct accused *s)
{
    const struct accused_group *g = s->group;
    size_t place = group_after(g, s->place);
    while (group_is(g, place, "Relu|LeakyRelu|MaxPool|Identity|Reshape|Transpose"))
        place = group_after(g, place);
    const struct odb_tensor *scale =
        group_is(g, place, "QuantizeLinear") ? quantiser_scale(g, place) : NULL;
    return scale && scale->count == 1 ? odb_tensor_f64(scale, 0) : 0;
}

static enum choice quantised_choose_multiplier(const struct accused *s, size_t k, struct variant *v)
{
    struct quantised_product p;
    if (k >= ODB_COUNT(quantised_multipliers) || !product_find(s, &p) || !(multiplier_scale(s) > 0))
        return CHOICE_END;
    return variant_made(v, k, quantised_multipliers[k].name, quantised_multipliers[k].text);
}

struct multiplier_factors {
    const double *factor; /* [n] */
    size_t n, inner;
};

static double multiplier_apply(const void *payload, size_t i, double x)
{
    const struct multiplier_factors *f = payload;
    return x * f->factor[f->n > 1 ? i / f->inner % f->n : 0];
}

static enum odb_status quantised_result_multiplier(const struct variant *v, const struct accused *s,
                                                   struct odb_tensor **out, struct odb_error *err)
{
    struct quantised_product p;
    double scale = multiplier_scale(s);
    if (!(scale > 0) || !product_make(s, &p))
        return ODB_SKIPPED;
    int axis = strcmp(s->node->op_type, "Conv") ? out[0]->rank - 1 : 1;
    struct multiplier_factors f = {p.factor, p.codes.n_factor, 1};
    size_t outer, n;
    tensor_around(out[0], axis, &outer, &n, &f.inner);
    for (size_t i = 0; i < f.n; i++)
        p.factor[i] = quantised_multipliers[v->at].f(p.factor[i] / scale) / (p.factor[i] / scale);
    struct odb_tensor *t = NULL;
    enum odb_status status =
        f.n > 1 && f.n != n ? ODB_SKIPPED : tensor_map(&t, out[0], multiplier_apply, &f, err);
    if (status == ODB_OK)
        tensor_replace(&out[0], t);
    free(p.factor);
    return status;
}

/* --- an activation on integers ---------------------------------------------------------------- */

static enum choice quantised_choose_activation(const struct accused *s, size_t k, struct variant *v)
{
    size_t after = s->group ? group_after(s->group, s->place) : 0;
    if (k || !s->group || !group_is(s->group, after, "QuantizeLinear"))
        return CHOICE_END;
    const struct odb_tensor *scale = quantiser_scale(s->group, after);
    double zero;
    bool is_signed = quantised_codes(s->group, after) == ODB_I8; /* else its least integer is 0 */
    if (!scale || scale->count != 1 || !quantiser_zero(s->group, after, &zero) || zero == 0 ||
        !is_signed)
        return CHOICE_END;
    v->a = -zero * odb_tensor_f64(scale, 0);
    odb_buf_puts(&v->name, "on integers");
    odb_buf_puts(&v->text, "as if it held the integers of the output against 0, and not against "
                           "their zero point");
    return CHOICE_MADE;
}

static double quantised_bound(const void *payload, size_t i, double x)
{
    const double *low = payload;
    (void)i;
    return fmax(x, *low);
}

static enum odb_status quantised_result_activation(const struct variant *v, const struct accused *s,
                                                   struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_tensor *x = accused_in(s, 0);
    return x ? tensor_map(&out[0], x, quantised_bound, &v->a, err) : ODB_SKIPPED;
}

/* --- the range of the output ------------------------------------------------------------------ */

static const struct quantised_range {
    enum odb_dtype dtype;
    double low, high;
} quantised_ranges[] = {
    {ODB_I8, -127, 127}, {ODB_I8, 0, 127}, {ODB_I8, -64, 63},
    {ODB_U8, 0, 127},    {ODB_U8, 1, 255}, {ODB_U8, 0, 254},
};

static enum choice quantised_choose_range(const struct accused *s, size_t k, struct variant *v)
{
    if (k >= ODB_COUNT(quantised_ranges) || !s->group)
        return CHOICE_END;
    if (!s->y[0] || s->y[0]->dtype != quantised_ranges[k].dtype)
        return CHOICE_SKIP;
    v->a = quantised_ranges[k].low;
    v->b = quantised_ranges[k].high;
    odb_buf_printf(&v->name, "%g to %g", v->a, v->b);
    odb_buf_printf(&v->text, "as if integers went from %g to %g", v->a, v->b);
    return CHOICE_MADE;
}

static double quantised_between(const void *payload, size_t i, double x)
{
    const struct variant *v = payload;
    (void)i;
    return fmin(fmax(x, v->a), v->b);
}

static enum odb_status quantised_result_range(const struct variant *v, const struct accused *s,
                                              struct odb_tensor **out, struct odb_error *err)
{
    struct odb_tensor *t = NULL;
    (void)s;
    ODB_TRY(tensor_map(&t, out[0], quantised_between, v, err));
    tensor_replace(&out[0], t);
    return ODB_OK;
}

/* --- a Cast between others -------------------------------------------------------------------- */

/* What reads it must take the other type, else the choice does not run. */
static enum choice quantised_choose_cast(const struct accused *s, size_t k, struct variant *v)
{
    if (k || !s->group || !accused_in(s, 0))
        return CHOICE_END;
    odb_buf_puts(&v->text, "as if a Cast were left out");
    return CHOICE_MADE;
}

static enum odb_status quantised_result_cast(const struct variant *v, const struct accused *s,
                                             struct odb_tensor **out, struct odb_error *err)
{
    (void)v;
    (void)err;
    out[0] = odb_tensor_ref(s->in[0]);
    return ODB_OK;
}

const struct variant_row variants_quantised[] = {
    {"Cast", "group/left out", quantised_choose_cast, NULL, quantised_result_cast, true, 0},
    {PRODUCTS, "quantised/sums=", quantised_choose_sum, NULL, quantised_result_sum, true, 0},
    {"DequantizeLinear", "quantised/bias scale=", quantised_choose_bias, quantised_change_bias,
     NULL, false, 0},
    {QUANTISERS, "quantised/", quantised_choose_other, quantised_change_other, NULL, false, 0},
    {QUANTISERS, "quantised/per channel=", quantised_choose_tensor, quantised_change_tensor, NULL,
     false, 0},
    {"QuantizeLinear", "quantised/scale fitted", quantised_choose_fitted, quantised_change_fitted,
     NULL, false, 1},
    {PRODUCTS, "quantised/multiplier=", quantised_choose_multiplier, NULL,
     quantised_result_multiplier, false, 0},
    {"Relu", "quantised/activation=", quantised_choose_activation, NULL,
     quantised_result_activation, true, 0},
    {"QuantizeLinear", "quantised/range=", quantised_choose_range, NULL, quantised_result_range,
     false, 0},
    {NULL, NULL, NULL, NULL, NULL, false, 0},
};
