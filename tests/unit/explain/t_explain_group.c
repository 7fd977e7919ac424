/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Explanations of a group of nodes: a convolution between quantisers, of which only what goes in
 * and what comes out is known. The target's kernel is the same network with something changed, or
 * sums of integers that are taken here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "explain/explanations.h"
#include "model/read/load.h"
#include "model/write/build.h"

enum { CHANNELS = 8, OUTS = 4, SIDE = 6, KERNEL = 3, TAPS = KERNEL * KERNEL };

/* A network: x -> Quantize -> Dequantize -> Conv -> Relu -> Quantize -> Dequantize -> y. */
struct net {
    float scale_x, scale_w, scale_b, scale_y; /* of DequantizeLinear */
    float requantised;                        /* the scale of the last QuantizeLinear */
    int zero_x, zero_y;
    bool no_zero_x; /* the first DequantizeLinear has none */
    bool no_relu;
};

static const struct net honest = {0.02f, 0.011f, 0.0005f, 0.13f, 0.13f, 120, 100, false, false};

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 40;
}

static void add_float(struct odb_builder *b, const char *name, float x)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, ODB_F32, 0, NULL, NULL), ODB_OK);
    odb_store_f64(ODB_F32, t->data, 0, (double)x);
    odb_build_weight(b, name, t);
    odb_tensor_unref(t);
}

static void add_zero(struct odb_builder *b, const char *name, int x)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, ODB_U8, 0, NULL, NULL), ODB_OK);
    odb_store_f64(ODB_U8, t->data, 0, x);
    odb_build_weight(b, name, t);
    odb_tensor_unref(t);
}

/* Integers from -most to most. */
static struct odb_tensor *integers(enum odb_dtype dtype, int rank, const int64_t *dims, int most)
{
    struct odb_tensor *t = NULL;
    uint64_t seed = 11;
    assert_int_equal(odb_tensor_new(&t, dtype, rank, dims, NULL), ODB_OK);
    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(dtype, t->data, i,
                      (double)(next_random(&seed) % (2 * (uint64_t)most + 1)) - most);
    return t;
}

static struct odb_tensor *kernel(void)
{
    return integers(ODB_I8, 4, (int64_t[]){OUTS, CHANNELS, KERNEL, KERNEL}, 127);
}

static void add_integers(struct odb_builder *b, const char *name, struct odb_tensor *t)
{
    odb_build_weight(b, name, t);
    odb_tensor_unref(t);
}

static struct odb_model *model_of(const struct net *n)
{
    struct odb_builder *b = odb_build_new("group", 17);
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_model *model = NULL;
    odb_build_input(b, "x", ODB_F32, 4, (int64_t[]){1, CHANNELS, SIDE, SIDE});
    add_float(b, "scale_x", n->scale_x);
    add_float(b, "scale_w", n->scale_w);
    add_float(b, "scale_b", n->scale_b);
    add_float(b, "scale_y", n->scale_y);
    add_float(b, "requantised", n->requantised);
    add_zero(b, "zero_x", n->zero_x);
    add_zero(b, "zero_y", n->zero_y);
    add_integers(b, "w", kernel());
    add_integers(b, "b", integers(ODB_I32, 1, (int64_t[]){OUTS}, 9000));
    odb_build_node(b, "QuantizeLinear", "qx", "x scale_x zero_x", "xq");
    odb_build_node(b, "DequantizeLinear", "dx", n->no_zero_x ? "xq scale_x" : "xq scale_x zero_x",
                   "xd");
    odb_build_node(b, "DequantizeLinear", "dw", "w scale_w", "wd");
    odb_build_node(b, "DequantizeLinear", "db", "b scale_b", "bd");
    odb_build_node(b, "Conv", "conv", "xd wd bd", "c");
    odb_build_attr_ints(b, "pads", 4, (int64_t[]){1, 1, 1, 1});
    odb_build_node(b, n->no_relu ? "Identity" : "Relu", "act", "c", "r");
    odb_build_node(b, "QuantizeLinear", "qy", "r requantised zero_y", "yq");
    odb_build_node(b, "DequantizeLinear", "dy", "yq scale_y zero_y", "y");
    odb_build_output(b, "y");
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    assert_int_equal(odb_model_open_bytes(&model, bytes.data, bytes.len, NULL, ".", "test", NULL),
                     ODB_OK);
    odb_buf_dispose(&bytes);
    return model;
}

static int value_of(const struct odb_model *model, const char *name)
{
    for (size_t v = 0; v < model->graph->n_values; v++)
        if (!strcmp(model->graph->values[v].name, name))
            return (int)v;
    fail();
    return ODB_NO_VALUE;
}

/* What a network makes of x. */
static struct odb_tensor *made_by(const struct net *n, const struct odb_tensor *x)
{
    struct odb_model *model = model_of(n);
    struct odb_cpu *cpu = NULL;
    struct odb_tensor **values = odb_new_n(struct odb_tensor *, model->graph->n_values);
    assert_int_equal(odb_cpu_new(&cpu, model, NULL), ODB_OK);
    values[value_of(model, "x")] = odb_tensor_ref(x);
    struct odb_cpu_run run = {.precision = ODB_PREC_NATIVE, .values = values};
    assert_int_equal(odb_cpu_execute(cpu, &run, NULL), ODB_OK);
    struct odb_tensor *y = odb_tensor_ref(values[value_of(model, "y")]);
    assert_non_null(y);
    for (size_t v = 0; v < model->graph->n_values; v++)
        odb_tensor_unref(values[v]);
    free(values);
    odb_cpu_free(cpu);
    odb_model_free(model);
    return y;
}

/* Numbers on the grid of the first quantiser. */
static struct odb_tensor *input_of(uint64_t seed)
{
    struct odb_tensor *x = NULL;
    assert_int_equal(odb_tensor_new(&x, ODB_F32, 4, (int64_t[]){1, CHANNELS, SIDE, SIDE}, NULL),
                     ODB_OK);
    for (size_t i = 0; i < x->count; i++)
        odb_store_f64(ODB_F32, x->data, i,
                      (double)honest.scale_x *
                          ((double)(next_random(&seed) % 256) - honest.zero_x));
    return x;
}

/* --- asking ----------------------------------------------------------------------------------- */

/* What the target makes of x. */
typedef struct odb_tensor *target_fn(const struct odb_tensor *x);

struct scene {
    struct odb_model *model;
    struct odb_cpu *cpu;
    struct odb_tensor **fed;
    struct odb_tensor *y;
    target_fn *target;
    struct odb_explanations found;
};

static bool scene_again(void *payload, size_t k, struct odb_explain_pair *out)
{
    struct scene *s = payload;
    int x = value_of(s->model, "x");
    out->given = odb_new_n(struct odb_tensor *, s->model->graph->n_values);
    out->n_given = s->model->graph->n_values;
    out->out = odb_new_n(struct odb_tensor *, 1);
    out->given[x] = input_of(100 + k);
    out->out[0] = s->target(out->given[x]);
    return true;
}

static void scene_explain(struct scene *s, const struct net *n, target_fn *target)
{
    *s = (struct scene){.model = model_of(n), .target = target};
    int x = value_of(s->model, "x");
    assert_int_equal(odb_cpu_new(&s->cpu, s->model, NULL), ODB_OK);
    s->fed = odb_new_n(struct odb_tensor *, s->model->graph->n_values);
    s->fed[x] = input_of(5);
    s->y = target(s->fed[x]);
    struct odb_explain_question q = {.model = s->model,
                                     .cpu = s->cpu,
                                     .out = &s->y,
                                     .given = s->fed,
                                     .group = true,
                                     .exit = value_of(s->model, "y"),
                                     .factor = 10,
                                     .again = scene_again,
                                     .payload = s};
    assert_int_equal(odb_graph_find_node(s->model->graph, "conv", &q.node, NULL), ODB_OK);
    assert_int_equal(odb_explain(&s->found, &q, NULL), ODB_OK);
    assert_true(s->found.tried);
}

static void scene_close(struct scene *s)
{
    odb_explanations_dispose(&s->found);
    for (size_t v = 0; v < s->model->graph->n_values; v++)
        odb_tensor_unref(s->fed[v]);
    free(s->fed);
    odb_tensor_unref(s->y);
    odb_cpu_free(s->cpu);
    odb_model_free(s->model);
}

/* The best explanation is this of that node, or one of a class with it. */
static void assert_best(const struct scene *s, const char *variant, const char *node,
                        enum odb_fit fit)
{
    int index;
    char name[200];
    assert_int_equal(odb_graph_find_node(s->model->graph, node, &index, NULL), ODB_OK);
    snprintf(name, sizeof name, "%s of #%d", variant, index);
    assert_true(s->found.items.n > 0);
    const struct odb_explanation *best = &s->found.items.items[0];
    bool named = !strcmp(best->variant, name);
    for (size_t m = 0; m < best->members.n; m++)
        named = named || !strcmp(best->members.items[m], name);
    if (!named || best->fit != fit) {
        print_message("%s (%s)\n", best->variant, odb_fit_name(best->fit));
        for (size_t m = 0; m < best->members.n; m++)
            print_message("  %s\n", best->members.items[m]);
    }
    assert_true(named);
    assert_int_equal(best->fit, fit);
    assert_int_equal(best->confirmed, 2);
}

/* --- targets ---------------------------------------------------------------------------------- */

static struct odb_tensor *target_honest(const struct odb_tensor *x)
{
    return made_by(&honest, x);
}

static struct odb_tensor *target_no_zero(const struct odb_tensor *x)
{
    struct net n = honest;
    n.no_zero_x = true;
    return made_by(&n, x);
}

static struct odb_tensor *target_bias(const struct odb_tensor *x)
{
    struct net n = honest;
    n.scale_b = n.scale_x * n.scale_w;
    return made_by(&n, x);
}

static struct odb_tensor *target_no_relu(const struct odb_tensor *x)
{
    struct net n = honest;
    n.no_relu = true;
    return made_by(&n, x);
}

/* Of two nodes of the group. */
static struct odb_tensor *target_two(const struct odb_tensor *x)
{
    struct net n = honest;
    n.no_relu = true;
    n.scale_b = n.scale_x * n.scale_w;
    return made_by(&n, x);
}

/* 0.02 * 0.011 / 0.13 is between 2^-10 and 2^-9. */
static struct odb_tensor *target_shift(const struct odb_tensor *x)
{
    struct net n = honest;
    n.requantised = n.scale_x * n.scale_w * 512;
    return made_by(&n, x);
}

/* Sums of products of integers, of which pairs saturate where asked for: as a kernel takes them,
 * tap by tap, and quantised again by one factor in float. */
static struct odb_tensor *integers_of(const struct odb_tensor *x, bool saturates)
{
    struct odb_tensor *y = NULL, *w = kernel();
    struct odb_tensor *bias = integers(ODB_I32, 1, (int64_t[]){OUTS}, 9000);
    float factor = honest.scale_x * honest.scale_w / honest.scale_y;
    assert_int_equal(odb_tensor_new(&y, ODB_F32, 4, (int64_t[]){1, OUTS, SIDE, SIDE}, NULL),
                     ODB_OK);
    for (int e = 0; e < OUTS * SIDE * SIDE; e++) {
        int out = e / (SIDE * SIDE), row = e / SIDE % SIDE, column = e % SIDE, n = 0;
        long terms[CHANNELS * TAPS], sum = 0, weights = 0;
        for (int tap = 0; tap < TAPS; tap++)
            for (int c = 0; c < CHANNELS; c++) {
                int i = row + tap / KERNEL - 1, j = column + tap % KERNEL - 1;
                bool in = i >= 0 && i < SIDE && j >= 0 && j < SIDE;
                long b = (long)odb_tensor_f64(w, (size_t)((out * CHANNELS + c) * TAPS + tap));
                double v = in ? odb_tensor_f64(x, (size_t)((c * SIDE + i) * SIDE + j)) : 0;
                long code = lround(v / (double)honest.scale_x) + honest.zero_x;
                terms[n++] = code * b;
                weights += b;
            }
        for (int k = 0; k < n; k += 2) {
            long pair = terms[k] + terms[k + 1];
            sum += saturates && pair > 32767 ? 32767 : saturates && pair < -32768 ? -32768 : pair;
        }
        sum -= honest.zero_x * weights;
        float real = (float)sum * factor +
                     (float)odb_tensor_f64(bias, (size_t)out) * honest.scale_b / honest.scale_y;
        double q = nearbyint((double)(real > 0 ? real : 0)) + honest.zero_y;
        odb_store_f64(ODB_F32, y->data, (size_t)e,
                      (double)honest.scale_y * (fmin(q, 255) - honest.zero_y));
    }
    odb_tensor_unref(w);
    odb_tensor_unref(bias);
    return y;
}

static struct odb_tensor *target_integers(const struct odb_tensor *x)
{
    return integers_of(x, false);
}

static struct odb_tensor *target_pairs(const struct odb_tensor *x)
{
    return integers_of(x, true);
}

static struct odb_tensor *target_noise(const struct odb_tensor *x)
{
    struct odb_tensor *y = made_by(&honest, x);
    for (size_t i = 0; i < y->count; i++)
        odb_store_f64(ODB_F32, y->data, i,
                      odb_tensor_f64(y, i) +
                          (double)honest.scale_y * nearbyint(4 * sin(12.9898 * (double)(i * i))));
    return y;
}

/* --- tests ------------------------------------------------------------------------------------ */

static void test_explain_group__an_honest_kernel_is_right(void **state)
{
    struct scene s;
    (void)state;
    scene_explain(&s, &honest, target_honest);
    assert_true(s.found.right);
    assert_int_equal(s.found.items.n, 0);
    scene_close(&s);
}

/* It quantises again by one factor, in float: a few elements are a step off. */
static void test_explain_group__a_kernel_on_integers_is_right(void **state)
{
    struct scene s;
    (void)state;
    scene_explain(&s, &honest, target_integers);
    assert_true(s.found.right);
    scene_close(&s);
}

static void test_explain_group__a_missing_zero_point(void **state)
{
    struct scene s;
    (void)state;
    scene_explain(&s, &honest, target_no_zero);
    assert_best(&s, "input/x_zero_point=missing", "dx", ODB_FIT_CLASS); /* 0 is the same */
    assert_non_null(strstr(s.found.items.items[0].text, ", in #1 dx (DequantizeLinear)"));
    scene_close(&s);
}

static void test_explain_group__the_scale_of_the_bias(void **state)
{
    struct scene s;
    (void)state;
    scene_explain(&s, &honest, target_bias);
    assert_best(&s, "quantised/bias scale=product of the operands' scales", "db", ODB_FIT_EXACT);
    scene_close(&s);
}

static void test_explain_group__an_activation_left_out(void **state)
{
    struct scene s;
    (void)state;
    scene_explain(&s, &honest, target_no_relu);
    assert_best(&s, "elsewhere/skipped=0", "act", ODB_FIT_EXACT);
    scene_close(&s);
}

static void test_explain_group__two_nodes_at_once(void **state)
{
    struct scene s;
    char name[200];
    int db, act;
    (void)state;
    scene_explain(&s, &honest, target_two);
    assert_int_equal(odb_graph_find_node(s.model->graph, "db", &db, NULL), ODB_OK);
    assert_int_equal(odb_graph_find_node(s.model->graph, "act", &act, NULL), ODB_OK);
    snprintf(name, sizeof name,
             "elsewhere/skipped=0 of #%d + quantised/bias scale=product of the operands' scales",
             act);
    assert_best(&s, name, "db", ODB_FIT_EXACT);
    scene_close(&s);
}

static void test_explain_group__quantised_again_by_a_shift(void **state)
{
    struct scene s;
    (void)state;
    scene_explain(&s, &honest, target_shift);
    assert_best(&s, "quantised/multiplier=shift", "conv", ODB_FIT_CLASS); /* rounded up, too */
    scene_close(&s);
}

static void test_explain_group__pairs_that_saturate(void **state)
{
    struct scene s;
    (void)state;
    scene_explain(&s, &honest, target_pairs);
    assert_best(&s, "quantised/sums=pairs of int16", "conv", ODB_FIT_EXACT);
    scene_close(&s);
}

static const struct net narrow = {0.02f, 0.0009f, 0.0005f, 0.011f, 0.011f, 120, 100, false, false};

/* The bias has the scale of the weights. */
static struct odb_tensor *target_other(const struct odb_tensor *x)
{
    struct net n = narrow;
    n.scale_b = n.scale_w;
    return made_by(&n, x);
}

static void test_explain_group__the_scale_of_another(void **state)
{
    struct scene s;
    char name[200];
    int dw;
    (void)state;
    scene_explain(&s, &narrow, target_other);
    assert_int_equal(odb_graph_find_node(s.model->graph, "dw", &dw, NULL), ODB_OK);
    snprintf(name, sizeof name, "quantised/scale of #%d", dw);
    assert_best(&s, name, "db", ODB_FIT_EXACT);
    scene_close(&s);
}

static struct odb_tensor *target_fitted(const struct odb_tensor *x)
{
    struct net n = honest;
    n.requantised = 0.117f;
    return made_by(&n, x);
}

static void test_explain_group__a_scale_of_its_own(void **state)
{
    struct scene s;
    (void)state;
    scene_explain(&s, &honest, target_fitted);
    assert_best(&s, "quantised/scale fitted", "qy", ODB_FIT_EXACT);
    assert_non_null(strstr(s.found.items.items[0].text, " were 0.9 times what it is"));
    scene_close(&s);
}

/* Without a bias, twice the scale of the input is twice that of the weights. */
static const struct net unbiased = {0.02f, 0.011f, 1e-12f, 0.13f, 0.13f, 120, 100, false, false};

static struct odb_tensor *target_doubled(const struct odb_tensor *x)
{
    struct net n = unbiased;
    n.scale_w *= 2;
    return made_by(&n, x);
}

static void test_explain_group__the_value_to_read_next(void **state)
{
    struct scene s;
    struct odb_buf text = ODB_BUF_INIT;
    (void)state;
    scene_explain(&s, &unbiased, target_doubled);
    assert_best(&s, "input/x_scale=doubled", "dx", ODB_FIT_CLASS);
    assert_best(&s, "input/x_scale=doubled", "dw", ODB_FIT_CLASS);
    const struct odb_explanation *best = s.found.items.items;
    assert_string_equal(best->read, "xd");
    assert_true(best->told > 0 && best->told <= best->members.n);
    odb_explanation_put_next(&s.found, best, &text);
    assert_non_null(strstr(odb_buf_text(&text), "reading xd next would tell "));
    odb_buf_dispose(&text);
    scene_close(&s);
}

static void test_explain_group__noise_is_nothing_known(void **state)
{
    struct scene s;
    (void)state;
    scene_explain(&s, &honest, target_noise);
    assert_false(s.found.right);
    assert_int_equal(s.found.items.n, 0);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_explain_group__an_honest_kernel_is_right),
        cmocka_unit_test(test_explain_group__a_kernel_on_integers_is_right),
        cmocka_unit_test(test_explain_group__a_missing_zero_point),
        cmocka_unit_test(test_explain_group__the_scale_of_the_bias),
        cmocka_unit_test(test_explain_group__an_activation_left_out),
        cmocka_unit_test(test_explain_group__two_nodes_at_once),
        cmocka_unit_test(test_explain_group__quantised_again_by_a_shift),
        cmocka_unit_test(test_explain_group__pairs_that_saturate),
        cmocka_unit_test(test_explain_group__the_scale_of_another),
        cmocka_unit_test(test_explain_group__a_scale_of_its_own),
        cmocka_unit_test(test_explain_group__the_value_to_read_next),
        cmocka_unit_test(test_explain_group__noise_is_nothing_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
