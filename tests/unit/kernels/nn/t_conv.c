/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Convolutions against their definition, written down once below for any rank.
 */
#include "kernels/nn/window.h"

#include "tests/help/op_case.h"

#define CONV(text, ...) OP("Conv", 22, text, __VA_ARGS__)
#define TRANSPOSE(text, ...) OP("ConvTranspose", 22, text, __VA_ARGS__)

/* --- the definition --------------------------------------------------------------------------- */

static int64_t attr_int(const struct op_attrs *attrs, const char *name, size_t i, int64_t fallback)
{
    const struct odb_attr *a = odb_attrs_find(&(struct odb_attrs){attrs->items, attrs->n}, name);
    return !a ? fallback : a->type == ODB_ATTR_INTS ? a->ints[i] : a->i;
}

/* Element of coordinate `at` (row-major) of dims; -1 outside. */
static int64_t element(int rank, const int64_t *dims, const int64_t *at)
{
    int64_t e = 0;
    for (int d = 0; d < rank; d++) {
        if (at[d] < 0 || at[d] >= dims[d])
            return -1;
        e = e * dims[d] + at[d];
    }
    return e;
}

static void coordinates(int rank, const int64_t *dims, int64_t e, int64_t *at)
{
    for (int d = rank - 1; d >= 0; d--) {
        at[d] = e % dims[d];
        e /= dims[d];
    }
}

struct operands {
    struct op_attrs attrs;
    struct odb_tensor *x, *w, *b;
    const struct odb_tensor *y; /* shape of the result */
    bool transposed;
};

/* Calls fn for each pair (element of the small side, of the large side) that a tap joins: for a
 * convolution y is small and x large, for a transposed one the other way round. */
static double *define(const struct operands *o)
{
    const struct odb_tensor *small = o->transposed ? o->x : o->y;
    const struct odb_tensor *large = o->transposed ? o->y : o->x;
    double *sum = odb_new_n(double, o->y->count + 1);
    int rank = o->x->rank - 2;
    int64_t group = attr_int(&o->attrs, "group", 0, 1), taps = 1;
    for (int d = 0; d < rank; d++)
        taps *= o->w->dims[d + 2];
    for (size_t i = 0; o->b && i < o->y->count; i++) {
        int64_t at[ODB_MAX_RANK] = {0};
        coordinates(o->y->rank, o->y->dims, (int64_t)i, at);
        sum[i] = odb_tensor_f64(o->b, (size_t)at[1]);
    }
    for (size_t s = 0; s < small->count; s++)
        for (int64_t other = 0; other < o->w->dims[1]; other++)
            for (int64_t t = 0; t < taps; t++) {
                int64_t at[ODB_MAX_RANK] = {0}, tap[ODB_MAX_RANK] = {0};
                coordinates(rank + 2, small->dims, (int64_t)s, at);
                coordinates(rank, o->w->dims + 2, t, tap);
                int64_t channel = at[1], per_group = small->dims[1] / group;
                at[1] = channel / per_group * o->w->dims[1] + other;
                for (int d = 0; d < rank; d++)
                    at[d + 2] = at[d + 2] * attr_int(&o->attrs, "strides", (size_t)d, 1) +
                                tap[d] * attr_int(&o->attrs, "dilations", (size_t)d, 1) -
                                attr_int(&o->attrs, "pads", (size_t)d, 0);
                int64_t l = element(rank + 2, large->dims, at);
                if (l < 0)
                    continue;
                size_t x = o->transposed ? s : (size_t)l, y = o->transposed ? (size_t)l : s;
                size_t w = (size_t)((channel * o->w->dims[1] + other) * taps + t);
                sum[y] += odb_tensor_f64(o->x, x) * odb_tensor_f64(o->w, w);
            }
    return sum;
}

static void check_call(const struct op_call *c, double tol)
{
    struct operands o = {.x = op_tensor(c->in[0]),
                         .w = op_tensor(c->in[1]),
                         .b = c->in[2] ? op_tensor(c->in[2]) : NULL,
                         .transposed = strcmp(c->op, "ConvTranspose") == 0};
    struct odb_tensor *best = op_in_double(c);
    op_parse_attrs(c->attrs, &o.attrs);
    o.y = best;
    double *want = define(&o);
    for (size_t i = 0; i < best->count; i++)
        if (!(fabs(want[i] - odb_tensor_f64(best, i)) <= 1e-12))
            fail_msg("%s %s %s: element %zu is %.17g, expected %.17g", c->op, c->in[0], c->attrs, i,
                     odb_tensor_f64(best, i), want[i]);
    free(want);
    odb_tensor_unref(best);
    odb_tensor_unref(o.x);
    odb_tensor_unref(o.w);
    odb_tensor_unref(o.b);
    op_expect_modes(c, tol);
    op_expect_any_threads(c);
}

/* --- Conv ------------------------------------------------------------------------------------- */

static void test_conv__against_the_definition(void **state)
{
    static const struct op_call calls[] = {
        /* columns */
        CONV(NULL, {"float[2,3,9,8] random 1", "float[5,3,3,3] random 2", "float[5] random 3"}),
        CONV("pads=1,1,1,1", {"float[1,4,7,7] random 1", "float[6,4,3,3] random 2"}),
        CONV("pads=0,2,1,3 strides=2,3", {"float[1,3,11,10] random 1", "float[4,3,3,2] random 2"}),
        CONV("pads=4,4,4,4 dilations=3,2 group=2",
             {"float[2,4,9,9] random 1", "float[6,2,3,3] random 2", "float[6] random 3"}),
        CONV("pads=3,3 strides=2,", {"float[1,5,40] random 1", "float[9,5,7] random 2"}),
        CONV("pads=1,0,1,0,1,2", {"float[1,2,5,4,6] random 1", "float[8,2,2,3,3] random 2"}),
        CONV("strides=2,2", {"float[1,8,9,9] random 1", "float[8,8,1,1] random 2"}),
        CONV("pads=5,5,5,5", {"float[1,8,2,2] random 1", "float[8,8,3,3] random 2"}),
        CONV("pads=-1,-1,-1,-1", {"float[1,8,7,7] random 1", "float[8,8,3,3] random 2"}),
        CONV("pads=1,1,1,1", {"float[1,64,30,30] random 1", "float[20,64,3,3] random 2"}),
        CONV("pads=1,1,1,1", {"float[1,256,8,8] random 1", "float[40,256,3,3] random 2"}),
        CONV("pads=1,1,1,1", {"float[1,3,2,3] random 1", "float[7,3,3,3] random 2"}),
        CONV("strides=5,5", {"float[1,8,3,3] random 1", "float[8,8,3,3] random 2"}),
        /* pointwise */
        CONV(NULL, {"float[2,12,6,5] random 1", "float[7,12,1,1] random 2", "float[7] random 3"}),
        CONV("group=3", {"float[2,12,6,5] random 1", "float[9,4,1,1] random 2"}),
        CONV(NULL, {"float[1,40,300] random 1", "float[150,40,1] random 2"}),
        /* direct */
        CONV("group=6 pads=1,1,1,1",
             {"float[2,6,9,7] random 1", "float[6,1,3,3] random 2", "float[6] random 3"}),
        CONV("group=6 pads=1,0,0,1 strides=2,2",
             {"float[1,6,10,9] random 1", "float[6,1,3,3] random 2"}),
        CONV("group=3 pads=2,4,2,4 strides=3,2 dilations=2,3",
             {"float[1,3,14,13] random 1", "float[6,1,3,3] random 2", "float[6] random 3"}),
        CONV("group=4 pads=2,2 strides=4,", {"float[2,4,33] random 1", "float[4,1,5] random 2"}),
        CONV("group=2 pads=1,1,1,1,1,1 strides=1,2,1",
             {"float[1,2,4,5,6] random 1", "float[2,1,3,3,3] random 2"}),
        CONV("group=2 pads=1,1,1,1", {"float[1,6,5,5] random 1", "float[2,3,3,3] random 2"}),
        CONV("group=2 pads=-1,0,0,-2 strides=2,1",
             {"float[1,2,8,8] random 1", "float[2,1,2,2] random 2"}),
        CONV("group=2 pads=3,3,3,3", {"float[1,2,1,1] random 1", "float[2,1,2,2] random 2"}),
        CONV("group=2 strides=9,9", {"float[1,2,5,5] random 1", "float[2,1,5,5] random 2"}),
        CONV("strides=2,2", {"float[1,1,64,64] random 1", "float[1,1,5,5] random 2"})};
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(calls); i++)
        check_call(&calls[i], 2e-5);
}

/* --- random shapes ---------------------------------------------------------------------------- */

/* Appends ",v". */
static void append(char *text, size_t size, int64_t v)
{
    size_t n = strlen(text);
    snprintf(text + n, size - n, ",%lld", (long long)v);
}

/* A convolution whose window fits, of few enough multiplications for the definition. */
static void check_random(uint64_t *state, const char *op, int64_t most_channels)
{
    char x[200], w[200], b[60], attrs[400], strides[80] = "", dilations[80] = "", before[80] = "",
                                            after[80] = "";
    static const int64_t groups[] = {1, 1, 1, 2, 3};
    bool transposed = strcmp(op, "ConvTranspose") == 0;
    int rank = (int)op_between(state, 1, 3);
    int64_t group = groups[op_between(state, 0, 4)], in = op_between(state, 1, most_channels);
    int64_t out = op_between(state, 1, 20), depthwise = op_between(state, 0, 5) == 0;
    if (depthwise)
        group = in, in = 1, out = op_between(state, 1, 2);
    snprintf(x, sizeof x, "float[%d,%lld", (int)op_between(state, 1, 2), (long long)(in * group));
    snprintf(w, sizeof w, "float[%lld,%lld", (long long)(transposed ? in * group : out * group),
             (long long)(transposed ? out : in));
    snprintf(b, sizeof b, "float[%lld] random 3", (long long)(out * group));
    for (int d = 0; d < rank; d++) {
        int64_t kernel = op_between(state, 1, rank == 1 ? 7 : 3);
        int64_t dilation = op_between(state, 1, 2);
        int64_t extent = (kernel - 1) * dilation + 1, pads = op_between(state, 0, 2);
        int64_t size = op_between(state, extent, rank == 1 ? 90 : rank == 2 ? 22 : 8);
        append(x, sizeof x, size);
        append(w, sizeof w, kernel);
        append(strides, sizeof strides, op_between(state, 1, 3));
        append(dilations, sizeof dilations, dilation);
        append(before, sizeof before, transposed ? pads % extent : pads);
        append(after, sizeof after, transposed ? 0 : op_between(state, 0, 2));
    }
    snprintf(x + strlen(x), 20, "] random 1");
    snprintf(w + strlen(w), 20, "] random 2");
    snprintf(attrs, sizeof attrs, "group=%lld strides=%s, dilations=%s, pads=%s,%s,",
             (long long)group, strides + 1, dilations + 1, before + 1, after + 1);
    struct op_call call = {.op = op, .opset = 22, .attrs = attrs, .in = {x, w, b}};
    if (op_between(state, 0, 1))
        call.in[2] = NULL;
    check_call(&call, 3e-5);
}

static void test_conv__random_shapes(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (int i = 0; i < 120; i++)
        check_random(&seed, "Conv", i % 4 ? 6 : 60);
}

static void test_conv__transposed_random_shapes(void **state)
{
    uint64_t seed = 2;
    (void)state;
    for (int i = 0; i < 40; i++)
        check_random(&seed, "ConvTranspose", 6);
}

/* Beyond one chain of products, one cut of the weights, one span, one part, one block of lines. */
static void test_conv__large_shapes(void **state)
{
    static const struct op_call calls[] = {
        CONV("pads=1,1,1,1",
             {"float[1,300,7,7] random 1", "float[300,300,3,3] random 2", "float[300] random 3"}),
        CONV("pads=1,1,1,1", {"float[1,300,15,15] random 1", "float[20,300,3,3] random 2"}),
        CONV(NULL, {"float[1,700,13,13] random 1", "float[70,700,1,1] random 2"}),
        CONV("strides=2,2", {"float[1,64,31,31] random 1", "float[40,64,1,1] random 2"}),
        CONV("pads=1,1,1,1 strides=2,2",
             {"float[1,24,150,170] random 1", "float[5,24,3,3] random 2"}),
        CONV("pads=30,30,30,30 dilations=15,15",
             {"float[1,20,33,33] random 1", "float[9,20,5,5] random 2"}),
        CONV("pads=3,3", {"float[1,20,9000] random 1", "float[3,20,7] random 2"})};
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(calls); i++)
        check_call(&calls[i], 2e-4);
}

/* A sum of n products in float, 256 to a chain, is off by no more than so many half units in the
 * last place of the sum of the products' absolutes. */
static void test_conv__error_bound(void **state)
{
    const struct op_call call =
        CONV("pads=1,1,1,1", {"float[1,256,9,9] random 1", "float[16,256,3,3] random 2"});
    struct odb_tensor *y[1];
    (void)state;
    assert_int_equal(op_run_text(&call, 1, y, NULL), ODB_OK);
    struct odb_tensor *exact = op_in_double(&call);
    double chains = 256 * 9 / 256.0, bound = (256 + chains) * 0x1p-24 * 256 * 9 / 4, worst = 0;
    for (size_t i = 0; i < exact->count; i++)
        worst = fmax(worst, fabs(odb_tensor_f64(exact, i) - odb_tensor_f64(y[0], i)));
    assert_true(worst > 0 && worst < bound / 20); /* errors cancel: most of the bound is not used */
    odb_tensor_unref(exact);
    odb_tensor_unref(y[0]);
}

static void test_conv__auto_pad(void **state)
{
    (void)state;
    OP_EXPECT(0, CONV("auto_pad=SAME_UPPER", {"float[1,1,4] 1 2 3 4", "float[1,1,2] 1 10"}),
              "float[1,1,4] 21 32 43 4");
    OP_EXPECT(0, CONV("auto_pad=SAME_LOWER", {"float[1,1,4] 1 2 3 4", "float[1,1,2] 1 10"}),
              "float[1,1,4] 10 21 32 43");
    OP_EXPECT(0, CONV("auto_pad=VALID pads=1,1", {"float[1,1,4] 1 2 3 4", "float[1,1,2] 1 10"}),
              "float[1,1,3] 21 32 43");
    OP_EXPECT(0,
              CONV("auto_pad=SAME_UPPER strides=3,", {"float[1,1,4] 1 2 3 4", "float[1,1,2] 1 10"}),
              "float[1,1,2] 21 4");
    OP_EXPECT(0,
              CONV("auto_pad=SAME_UPPER dilations=2, group=2",
                   {"float[1,2,3] 1 2 3 4 5 6", "float[2,1,2] 1 10 1 10"}),
              "float[1,2,3] 20 31 2 50 64 5");
}

static void test_conv__empty(void **state)
{
    (void)state;
    OP_EXPECT(0, CONV(NULL, {"float[0,2,3,3]", "float[4,2,3,3] random 1"}), "float[0,4,1,1]");
    OP_EXPECT(0, CONV("pads=1,1", {"float[1,1,0]", "float[1,1,2] 1 2", "float[1] 5"}),
              "float[1,1,1] 5");
    OP_EXPECT(0, CONV("pads=1,1 group=2", {"float[1,2,0]", "float[2,1,2] 1 2 3 4", "float[2] 5 6"}),
              "float[1,2,1] 5 6");
    OP_EXPECT(0, CONV(NULL, {"float[1,0,2]", "float[2,0,1]", "float[2] 5 6"}),
              "float[1,2,2] 5 5 6 6");
    OP_EXPECT(0, CONV(NULL, {"float[1,1,2] 1 2", "float[0,1,1]"}), "float[1,0,2]");
    OP_EXPECT(0, TRANSPOSE(NULL, {"float[1,0,2]", "float[0,1,2]", "float[1] 5"}),
              "float[1,1,3] 5 5 5");
}

static void test_conv__nan_and_infinity_stay_where_they_are(void **state)
{
    (void)state;
    OP_EXPECT(0, CONV("pads=1,1", {"float[1,1,5] 1 nan 1 1 inf", "float[1,1,3] 1 1 1"}),
              "float[1,1,5] nan nan nan inf inf");
    OP_EXPECT(0,
              CONV("pads=1,1", {"float[1,2,4] 1 nan 1 1 0 0 0 0", "float[2,2,3] 1 1 1 1 1 1 "
                                                                  "1 1 1 1 1 1"}),
              "float[1,2,4] nan nan nan 2 nan nan nan 2");
}

static void test_conv__halves_are_rounded_once(void **state)
{
    (void)state;
    /* 1 + 2^-11 + 2^-11 is 1 when each sum is rounded to float16 */
    OP_EXPECT(
        0,
        CONV("group=1", {"float16[1,3,1] 1 0.00048828125 0.00048828125", "float16[1,3,1] 1 1 1"}),
        "float16[1,1,1] 1.0009765625");
    OP_EXPECT(0, CONV(NULL, {"bfloat16[1,1,2] 1 2", "bfloat16[1,1,1] 3"}), "bfloat16[1,1,2] 3 6");
}

static void test_conv__refuses(void **state)
{
    static const struct op_call calls[] = {
        CONV(NULL, {"float[1,3,4] random 1", "float[2,2,1] random 2"}),
        CONV("group=2", {"float[1,4,4] random 1", "float[3,2,1] random 2"}),
        CONV("group=0", {"float[1,4,4] random 1", "float[3,2,1] random 2"}),
        CONV(NULL, {"float[1,3,4] random 1", "float[2,3,1,1] random 2"}),
        CONV(NULL, {"float[1,3] random 1", "float[2,3] random 2"}),
        CONV(NULL, {"float[1,1,2] random 1", "float[1,1,3] random 2"}),
        CONV("kernel_shape=2,", {"float[1,1,5] random 1", "float[1,1,3] random 2"}),
        CONV("strides=0,", {"float[1,1,5] random 1", "float[1,1,3] random 2"}),
        CONV("strides=1,1", {"float[1,1,5] random 1", "float[1,1,3] random 2"}),
        CONV("dilations=-1,", {"float[1,1,5] random 1", "float[1,1,3] random 2"}),
        CONV("pads=1,", {"float[1,1,5] random 1", "float[1,1,3] random 2"}),
        CONV("auto_pad=SAME", {"float[1,1,5] random 1", "float[1,1,3] random 2"}),
        CONV(NULL, {"float[1,1,5] random 1", "float[2,1,3] random 2", "float[3] 1 2 3"}),
        CONV(NULL, {"float[1,1,5] random 1", "double[2,1,3] random 2"})};
    (void)state;
    op_expect_errors(calls, ODB_COUNT(calls));
    op_expect_error(&(struct op_call)CONV("pads=2000000000,2000000000,2000000000,2000000000",
                                          {"float[1,1,1,1] 1", "float[1,1,1,1] 1"}),
                    ODB_UNSUPPORTED);
}

/* --- ConvTranspose ---------------------------------------------------------------------------- */

static void test_conv__transposed_against_the_definition(void **state)
{
    static const struct op_call calls[] = {
        TRANSPOSE(NULL,
                  {"float[2,3,4,5] random 1", "float[3,4,3,3] random 2", "float[4] random 3"}),
        TRANSPOSE("strides=2,2 pads=1,1,1,1 output_padding=1,1",
                  {"float[1,6,5,4] random 1", "float[6,3,3,3] random 2"}),
        TRANSPOSE("strides=3,2 pads=0,1,2,0 dilations=2,3",
                  {"float[1,3,5,4] random 1", "float[3,2,3,2] random 2"}),
        TRANSPOSE("group=3 strides=2,2",
                  {"float[2,6,3,3] random 1", "float[6,2,4,4] random 2", "float[6] random 3"}),
        TRANSPOSE("strides=4,", {"float[1,3,6] random 1", "float[3,5,3] random 2"}),
        TRANSPOSE("strides=2,1,2 pads=1,0,0,1,1,1",
                  {"float[1,2,3,2,3] random 1", "float[2,3,2,3,3] random 2"}),
        TRANSPOSE("pads=5,5 strides=2,", {"float[1,3,9] random 1", "float[3,1,3] random 2"}),
        TRANSPOSE("strides=2,2 pads=1,1,1,1",
                  {"float[1,40,30,30] random 1", "float[40,60,4,4] random 2"})};
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(calls); i++)
        check_call(&calls[i], 2e-5);
}

static void test_conv__transposed_shapes(void **state)
{
    (void)state;
    /* one pad, at the beginning */
    OP_EXPECT(0,
              TRANSPOSE("strides=2, output_shape=4,", {"float[1,1,2] 1 2", "float[1,1,3] 1 1 1"}),
              "float[1,1,4] 1 3 2 2");
    OP_EXPECT(0,
              TRANSPOSE("strides=2, output_shape=4, auto_pad=SAME_UPPER",
                        {"float[1,1,2] 1 2", "float[1,1,3] 1 1 1"}),
              "float[1,1,4] 1 1 3 2");
    OP_EXPECT(
        0, TRANSPOSE("strides=2, auto_pad=SAME_UPPER", {"float[1,1,2] 1 2", "float[1,1,3] 1 1 1"}),
        "float[1,1,4] 1 1 3 2");
    OP_EXPECT(0, TRANSPOSE("strides=2, auto_pad=VALID", {"float[1,1,2] 1 2", "float[1,1,3] 1 1 1"}),
              "float[1,1,5] 1 1 3 2 2");
    OP_EXPECT(0, TRANSPOSE("strides=2, output_padding=1,", {"float[1,1,2] 1 2", "float[1,1,1] 1"}),
              "float[1,1,4] 1 0 2 0");
    OP_EXPECT(0, TRANSPOSE("output_shape=1,1,7", {"float[1,1,2] 1 2", "float[1,1,1] 1"}),
              "float[1,1,7] 1 2 0 0 0 0 0");
    op_expect_error(&(struct op_call)TRANSPOSE("pads=9,9", {"float[1,1,2] 1 2", "float[1,1,1] 1"}),
                    ODB_E_OPERATOR);
    op_expect_error(&(struct op_call)TRANSPOSE(NULL, {"float[1,2,2] 1 2 3 4", "float[1,1,1] 1"}),
                    ODB_E_OPERATOR);
}

/* --- 8-bit ------------------------------------------------------------------------------------ */

static void test_conv__integers_of_8_bits(void **state)
{
    (void)state;
    OP_EXPECT(
        0,
        OP("ConvInteger", 10, "pads=1,1", {"uint8[1,1,3] 2 3 4", "uint8[1,1,2] 1 2", "uint8[] 1"}),
        "int32[1,1,4] 2 5 8 3");
    OP_EXPECT(0,
              OP("ConvInteger", 10, "group=2",
                 {"int8[1,2,2] 1 2 3 4", "int8[2,1,1] 5 6", "int8[] 0", "int8[2] 1 2"}),
              "int32[1,2,2] 4 8 12 16");
    OP_EXPECT(0,
              OP("QLinearConv", 10, NULL,
                 {"uint8[1,1,2] 10 20", "float[] 0.5", "uint8[] 2", "int8[2,1,1] 3 -3",
                  "float[2] 1 2", "int8[2] 1 1", "float[] 4", "uint8[] 7", "int32[2] 100 100"}),
              "uint8[1,2,2] 21 24 24 14");
    op_expect_error(
        &(struct op_call)OP("QLinearConv", 10, NULL,
                            {"uint8[1,1,2] 10 20", "float[] 1", "uint8[] 2", "int8[2,1,1] 3 -3",
                             "float[3] 1 2 3", "int8[] 1", "float[] 4", "uint8[] 7"}),
        ODB_E_OPERATOR);
}

/* The largest sums that float is trusted with, and larger ones; int32 is what they wrap in. */
static void test_conv__integers_are_exact(void **state)
{
    const char *ends[] = {"uint8[] 255", "int8[] -128"};
    (void)state;
    for (int64_t channels = 257; channels <= 259; channels++)
        for (int sign = 0; sign < 2; sign++) {
            char x[3000], w[3000], want[60];
            snprintf(x, sizeof x, "uint8[1,%lld,1]", (long long)channels);
            snprintf(w, sizeof w, "%s[1,%lld,1]", sign ? "int8" : "uint8", (long long)channels);
            for (int64_t i = 0; i < channels; i++) {
                strcat(x, " 0");
                strcat(w, i == 7 ? (sign ? " 126" : " 1") : sign ? " 127" : " 0");
            }
            int64_t sum = (channels - 1) * 255 * 255 + 254 * 255;
            snprintf(want, sizeof want, "int32[1,1,1] %lld", (long long)(sign ? -sum : sum));
            OP_EXPECT(0, OP("ConvInteger", 10, NULL, {x, w, "uint8[] 255", ends[sign]}), want);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conv__against_the_definition),
        cmocka_unit_test(test_conv__random_shapes),
        cmocka_unit_test(test_conv__transposed_random_shapes),
        cmocka_unit_test(test_conv__large_shapes),
        cmocka_unit_test(test_conv__error_bound),
        cmocka_unit_test(test_conv__auto_pad),
        cmocka_unit_test(test_conv__empty),
        cmocka_unit_test(test_conv__nan_and_infinity_stay_where_they_are),
        cmocka_unit_test(test_conv__halves_are_rounded_once),
        cmocka_unit_test(test_conv__refuses),
        cmocka_unit_test(test_conv__transposed_against_the_definition),
        cmocka_unit_test(test_conv__transposed_shapes),
        cmocka_unit_test(test_conv__integers_of_8_bits),
        cmocka_unit_test(test_conv__integers_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
