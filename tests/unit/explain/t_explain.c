/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Explanations of one node. What the target made is what the reference makes of the same node with
 * something changed, so the change is to be found; that the truth is other code's is for
 * tests/check-explain.
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
#include "explain/measure/other_order.h"
#include "model/read/load.h"
#include "model/write/build.h"

#define MOST 20 /* inputs of a node */

/* A node, what it is fed, and what the target made of that. */
struct scene {
    struct odb_model *model;
    struct odb_cpu *cpu;
    struct odb_tensor *in[MOST];
    struct odb_tensor *out[1];
    double seconds; /* 0: no limit */
    bool trials;    /* all that is tried is wanted */
    bool (*alone)(void *, struct odb_tensor *const *, struct odb_explain_pair *);
    struct odb_explanations found;
};

/* Numbers from -1 to 1 that look random, and are the same each time. */
static struct odb_tensor *numbers(uint64_t seed, int rank, const int64_t *dims)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, ODB_F32, rank, dims, NULL), ODB_OK);
    for (size_t i = 0; i < t->count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        odb_store_f64(ODB_F32, t->data, i, (double)(seed >> 40) / (1 << 23) - 1);
    }
    return t;
}

/* A convolution of 3 x 3 over an image with 4 channels; dilation 0: the attribute is left out. */
static struct odb_builder *conv(int64_t dilation, const int64_t *pads)
{
    struct odb_builder *b = odb_build_new("conv", 17);
    odb_build_input(b, "x", ODB_F32, 4, (int64_t[]){1, 4, 11, 9});
    odb_build_input(b, "w", ODB_F32, 4, (int64_t[]){6, 4, 3, 3});
    odb_build_input(b, "b", ODB_F32, 1, (int64_t[]){6});
    odb_build_node(b, "Conv", "node", "x w b", "y");
    if (dilation)
        odb_build_attr_ints(b, "dilations", 2, (int64_t[]){dilation, dilation});
    odb_build_attr_ints(b, "pads", 4, pads);
    odb_build_output(b, "y");
    return b;
}

static struct odb_builder *softmax(int64_t axis)
{
    struct odb_builder *b = odb_build_new("softmax", 17);
    odb_build_input(b, "x", ODB_F32, 3, (int64_t[]){3, 5, 7});
    odb_build_node(b, "Softmax", "node", "x", "y");
    odb_build_attr_int(b, "axis", axis);
    odb_build_output(b, "y");
    return b;
}

static struct odb_model *open_model(struct odb_builder *b)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_model *model = NULL;
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    assert_int_equal(odb_model_open_bytes(&model, bytes.data, bytes.len, NULL, ".", "test", NULL),
                     ODB_OK);
    odb_buf_dispose(&bytes);
    return model;
}

static void scene_open(struct scene *s, struct odb_builder *b)
{
    memset(s, 0, sizeof *s);
    s->model = open_model(b);
    assert_int_equal(odb_cpu_new(&s->cpu, s->model, NULL), ODB_OK);
    const struct odb_node *node = &s->model->graph->nodes[0];
    for (int i = 0; i < node->n_in; i++) {
        const struct odb_type *type = &s->model->graph->values[node->in[i]].type;
        int64_t dims[ODB_MAX_RANK];
        for (int k = 0; k < type->rank; k++)
            dims[k] = type->dims[k].value;
        s->in[i] = numbers((uint64_t)i + 1, type->rank, dims);
    }
}

/* What the node of another model makes of these inputs. */
static struct odb_tensor *made_by(struct odb_builder *b, struct odb_tensor *const *in)
{
    struct odb_model *model = open_model(b);
    struct odb_cpu *cpu = NULL;
    struct odb_tensor *out[1];
    assert_int_equal(odb_cpu_new(&cpu, model, NULL), ODB_OK);
    assert_int_equal(odb_cpu_node(cpu, 0, ODB_PREC_NATIVE, 0, in, NULL, out, NULL), ODB_OK);
    odb_cpu_free(cpu);
    odb_model_free(model);
    return out[0];
}

static void scene_explain(struct scene *s, bool (*again)(void *, size_t, struct odb_explain_pair *),
                          void *payload)
{
    struct odb_explain_question q = {.model = s->model,
                                     .cpu = s->cpu,
                                     .node = 0,
                                     .in = s->in,
                                     .out = s->out,
                                     .factor = 10,
                                     .seconds = s->seconds,
                                     .trials = s->trials,
                                     .again = again,
                                     .alone = s->alone,
                                     .payload = payload};
    assert_int_equal(odb_explain(&s->found, &q, NULL), ODB_OK);
}

static void scene_close(struct scene *s)
{
    odb_explanations_dispose(&s->found);
    for (int i = 0; i < MOST; i++)
        odb_tensor_unref(s->in[i]);
    odb_tensor_unref(s->out[0]);
    odb_cpu_free(s->cpu);
    odb_model_free(s->model);
}

/* The best explanation is this, or one of a class with it. */
static void assert_best(const struct scene *s, const char *variant, enum odb_fit fit)
{
    assert_true(s->found.tried);
    assert_true(s->found.items.n > 0);
    const struct odb_explanation *best = &s->found.items.items[0];
    bool named = !strcmp(best->variant, variant);
    for (size_t m = 0; m < best->members.n; m++)
        named = named || !strcmp(best->members.items[m], variant);
    if (!named || best->fit != fit)
        print_message("%s (%s)\n", best->variant, odb_fit_name(best->fit));
    assert_true(named);
    assert_int_equal(best->fit, fit);
}

static const int64_t padded[] = {2, 2, 2, 2}, lopsided[] = {2, 1, 0, 1};

static void test_explain__what_is_right_is_said_to_be(void **state)
{
    struct scene s;
    (void)state;
    scene_open(&s, conv(2, padded));
    s.out[0] = made_by(conv(2, padded), s.in);
    scene_explain(&s, NULL, NULL);
    assert_true(s.found.right);
    assert_int_equal(s.found.items.n, 0);
    scene_close(&s);
}

static void test_explain__ignored_dilations(void **state)
{
    struct scene s;
    (void)state;
    scene_open(&s, conv(2, padded));
    s.out[0] = made_by(conv(0, (int64_t[]){1, 1, 1, 1}), s.in);
    scene_explain(&s, NULL, NULL);
    assert_false(s.found.right);
    assert_best(&s, "attribute/dilations=default, centred", ODB_FIT_EXACT);
    scene_close(&s);
}

static void test_explain__pads_of_the_other_end(void **state)
{
    struct scene s;
    (void)state;
    scene_open(&s, conv(0, lopsided));
    s.out[0] = made_by(conv(0, (int64_t[]){0, 1, 2, 1}), s.in);
    scene_explain(&s, NULL, NULL);
    assert_best(&s, "attribute/pads=begin and end exchanged", ODB_FIT_CLASS);
    scene_close(&s);
}

static void test_explain__another_axis(void **state)
{
    struct scene s;
    (void)state;
    scene_open(&s, softmax(2));
    s.out[0] = made_by(softmax(1), s.in);
    scene_explain(&s, NULL, NULL);
    assert_best(&s, "attribute/axis=1", ODB_FIT_EXACT);
    scene_close(&s);
}

static struct odb_builder *quantise(void)
{
    struct odb_builder *b = odb_build_new("quantise", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){200});
    odb_build_input(b, "scale", ODB_F32, 0, NULL);
    odb_build_node(b, "QuantizeLinear", "node", "x scale", "y");
    odb_build_output(b, "y");
    return b;
}

/* Quotients that are ties in float are none in double. */
static void test_explain__what_float_decides_is_right(void **state)
{
    struct scene s;
    (void)state;
    scene_open(&s, quantise());
    odb_store_f64(ODB_F32, s.in[1]->data, 0, 0.1);
    for (size_t i = 0; i < s.in[0]->count; i++)
        odb_store_f64(ODB_F32, s.in[0]->data, i, ((double)i + 0.5) * (double)0.1f);
    s.out[0] = made_by(quantise(), s.in);
    scene_explain(&s, NULL, NULL);
    assert_true(s.found.right);
    assert_int_equal(s.found.items.n, 0);
    scene_close(&s);
}

static void test_explain__a_missing_bias(void **state)
{
    struct scene s;
    struct odb_tensor *none[MOST] = {NULL};
    (void)state;
    scene_open(&s, conv(0, padded));
    none[0] = s.in[0];
    none[1] = s.in[1];
    s.out[0] = made_by(conv(0, padded), none);
    scene_explain(&s, NULL, NULL);
    assert_best(&s, "input/B=missing", ODB_FIT_CLASS); /* a bias of 0 is the same */
    scene_close(&s);
}

/* Spoils an output; fn: what becomes of a number. */
static struct odb_tensor *spoilt(struct odb_tensor *t, double (*fn)(size_t i, double x))
{
    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(t->dtype, t->data, i, fn(i, odb_tensor_f64(t, i)));
    return t;
}

static double one_percent(size_t i, double x)
{
    (void)i;
    return 1.01 * x;
}

static double noise(size_t i, double x)
{
    return x + 0.05 * sin(12.9898 * (double)i * (double)i);
}

static double first_twelve_zero(size_t i, double x)
{
    return i < 12 ? 0 : x;
}

static double first_two_zero(size_t i, double x)
{
    return i < 2 ? 0 : x;
}

static void test_explain__a_factor_is_no_factor_by_channel(void **state)
{
    struct scene s;
    (void)state;
    scene_open(&s, conv(0, padded));
    s.out[0] = spoilt(made_by(conv(0, padded), s.in), one_percent);
    scene_explain(&s, NULL, NULL);
    assert_best(&s, "output/scale", ODB_FIT_EXACT);
    assert_non_null(strstr(s.found.items.items[0].text, "1.01 times"));
    scene_close(&s);
}

static void test_explain__noise_is_nothing_known(void **state)
{
    struct scene s;
    (void)state;
    scene_open(&s, conv(0, padded));
    s.out[0] = spoilt(made_by(conv(0, padded), s.in), noise);
    scene_explain(&s, NULL, NULL);
    assert_true(s.found.tried);
    assert_int_equal(s.found.items.n, 0);
    scene_close(&s);
}

static void test_explain__where_it_is_wrong(void **state)
{
    struct scene s;
    (void)state;
    scene_open(&s, softmax(2));
    s.out[0] = spoilt(made_by(softmax(2), s.in), first_twelve_zero);
    scene_explain(&s, NULL, NULL);
    assert_string_equal(s.found.where, "12 of 105 elements: only at place 0 of axis 0 (3 places), "
                                       "in places 0 to 1 of 5 of axis 1");
    scene_close(&s);
}

/* Of an image of 13 x 11. */
static double noise_at_border(size_t i, double x)
{
    size_t row = i / 11 % 13, column = i % 11;
    return row == 0 || row == 12 || column == 0 || column == 10 ? noise(i + 1, x) : x;
}

static void assert_said(const struct scene *s, const char *text)
{
    struct odb_buf said = ODB_BUF_INIT;
    odb_explanations_put(&s->found, &said);
    assert_string_equal(odb_buf_text(&said), text);
    odb_buf_dispose(&said);
}

static void test_explain__what_nothing_explains_has_its_place(void **state)
{
    struct scene s;
    (void)state;
    scene_open(&s, conv(0, padded));
    s.out[0] = spoilt(made_by(conv(0, padded), s.in), noise_at_border);
    scene_explain(&s, NULL, NULL);
    assert_int_equal(s.found.items.n, 0);
    assert_said(&s, "No variant gives it; 264 of 858 elements are wrong, only at the "
                    "border, 1 element deep. ");
    scene_close(&s);
}

static void test_explain__another_shape_is_where_it_is_wrong(void **state)
{
    struct scene s;
    (void)state;
    scene_open(&s, conv(0, padded));
    s.out[0] = made_by(conv(0, (int64_t[]){2, 2, 2, 1}), s.in);
    scene_explain(&s, NULL, NULL);
    assert_string_equal(s.found.where,
                        "another shape: (1, 6, 13, 10) where the reference has (1, 6, 13, 11)");
    scene_close(&s);
}

static void test_explain__a_class_is_said_in_words(void **state)
{
    struct scene s;
    (void)state;
    scene_open(&s, conv(0, lopsided));
    s.out[0] = made_by(conv(0, (int64_t[]){1, 1, 1, 1}), s.in);
    scene_explain(&s, NULL, NULL);
    assert_best(&s, "attribute/pads=begin 1", ODB_FIT_CLASS);
    assert_said(&s, "It behaves as if auto_pad were \"SAME_UPPER\" (within noise, on these inputs "
                    "alone), or as if auto_pad were \"SAME_LOWER\", or as if pads were [1, 1, 1, "
                    "1] (half of both), or as if padding began with 1 element on each axis instead "
                    "of [2, 1]; these inputs do not tell which. ");
    scene_close(&s);
}

/* Whatever gives two numbers may be luck: it is named, and not as the one thing that does. */
static void test_explain__few_wrong_elements_are_never_exact(void **state)
{
    struct scene s;
    (void)state;
    scene_open(&s, softmax(2));
    s.out[0] = spoilt(made_by(softmax(2), s.in), first_two_zero);
    scene_explain(&s, NULL, NULL);
    assert_true(s.found.items.n > 0);
    for (size_t i = 0; i < s.found.items.n; i++)
        assert_int_not_equal(s.found.items.items[i].fit, ODB_FIT_EXACT);
    scene_close(&s);
}

/* What the time allowed is told, with that it was not all; and none of it as exact. */
static void test_explain__out_of_time_is_said(void **state)
{
    struct scene s;
    (void)state;
    scene_open(&s, softmax(2));
    s.out[0] = made_by(softmax(1), s.in);
    s.seconds = 1e-9;
    scene_explain(&s, NULL, NULL);
    assert_true(s.found.unfinished);
    assert_non_null(strstr(s.found.why_not, "were over after"));
    for (size_t i = 0; i < s.found.items.n; i++)
        assert_int_not_equal(s.found.items.items[i].fit, ODB_FIT_EXACT);
    scene_close(&s);
}

/* --- other inputs ------------------------------------------------------------------------------
 */

/* Another input of softmax(2), of which the target makes what axis 1 does, or what it should. */
static bool again_with(struct odb_explain_pair *out, size_t k, int64_t axis)
{
    if (k)
        return false;
    out->in = odb_new_n(struct odb_tensor *, 1);
    out->out = odb_new_n(struct odb_tensor *, 1);
    out->in[0] = numbers(77, 3, (int64_t[]){3, 5, 7});
    out->out[0] = made_by(softmax(axis), out->in);
    return true;
}

static bool again_alike(void *payload, size_t k, struct odb_explain_pair *out)
{
    (void)payload;
    return again_with(out, k, 1);
}

static bool again_otherwise(void *payload, size_t k, struct odb_explain_pair *out)
{
    (void)payload;
    return again_with(out, k, 0);
}

static bool again_right(void *payload, size_t k, struct odb_explain_pair *out)
{
    (void)payload;
    return again_with(out, k, 2);
}

static void test_explain__what_holds_elsewhere_is_confirmed(void **state)
{
    struct scene s;
    (void)state;
    scene_open(&s, softmax(2));
    s.out[0] = made_by(softmax(1), s.in);
    scene_explain(&s, again_alike, NULL);
    assert_best(&s, "attribute/axis=1", ODB_FIT_EXACT);
    assert_int_equal(s.found.items.items[0].confirmed, 1);
    scene_close(&s);
}

/* Of which the first element is 0. */
static bool again_first_zero(void *payload, size_t k, struct odb_explain_pair *out)
{
    (void)payload;
    if (k > 1)
        return false;
    out->in = odb_new_n(struct odb_tensor *, 1);
    out->out = odb_new_n(struct odb_tensor *, 1);
    out->in[0] = numbers(77 + k, 3, (int64_t[]){3, 5, 7});
    out->out[0] = made_by(softmax(2), out->in);
    odb_store_f64(ODB_F32, out->out[0]->data, 0, 0);
    return true;
}

/* Three elements are luck as one is, though they are of three inputs. */
static void test_explain__a_few_elements_elsewhere_are_few(void **state)
{
    struct scene s;
    (void)state;
    scene_open(&s, softmax(2));
    s.out[0] = made_by(softmax(2), s.in);
    odb_store_f64(ODB_F32, s.out[0]->data, 0, 0);
    scene_explain(&s, again_first_zero, NULL);
    assert_true(s.found.items.n > 0);
    assert_int_equal(s.found.items.items[0].confirmed, 2);
    assert_int_equal(s.found.items.items[0].fit, ODB_FIT_CLASS);
    scene_close(&s);
}

static void test_explain__what_does_not_hold_elsewhere_is_not_exact(void **state)
{
    struct scene s;
    (void)state;
    scene_open(&s, softmax(2));
    s.out[0] = made_by(softmax(1), s.in);
    scene_explain(&s, again_otherwise, NULL);
    assert_best(&s, "attribute/axis=1", ODB_FIT_PARTLY);
    scene_close(&s);
}

/* Where the target makes what the operator says, a variant that makes something else is wrong. */
static void test_explain__a_target_that_is_right_elsewhere_refutes(void **state)
{
    struct scene s;
    (void)state;
    scene_open(&s, softmax(2));
    s.out[0] = made_by(softmax(1), s.in);
    scene_explain(&s, again_right, NULL);
    assert_best(&s, "attribute/axis=1", ODB_FIT_PARTLY);
    assert_int_equal(s.found.items.items[0].confirmed, 0);
    assert_int_equal(s.found.items.items[0].refuted, 1);
    scene_close(&s);
}

/* --- two at once ------------------------------------------------------------------------------ */

/* Other inputs of conv(2, padded), of which fn makes the target's output. */
static bool again_conv(struct odb_explain_pair *out, size_t k,
                       struct odb_tensor *(*fn)(struct odb_tensor *const *in))
{
    if (k > 1)
        return false;
    out->in = odb_new_n(struct odb_tensor *, 3);
    out->out = odb_new_n(struct odb_tensor *, 1);
    out->in[0] = numbers(70 + k, 4, (int64_t[]){1, 4, 11, 9});
    out->in[1] = numbers(80 + k, 4, (int64_t[]){6, 4, 3, 3});
    out->in[2] = numbers(90 + k, 1, (int64_t[]){6});
    out->out[0] = fn(out->in);
    return true;
}

/* Dilations are ignored, and the bias. */
static struct odb_tensor *two_changes(struct odb_tensor *const *in)
{
    struct odb_tensor *without[MOST] = {in[0], in[1]};
    return made_by(conv(0, (int64_t[]){1, 1, 1, 1}), without);
}

/* Dilations are ignored, and all is one percent too large. */
static struct odb_tensor *change_and_scale(struct odb_tensor *const *in)
{
    return spoilt(made_by(conv(0, (int64_t[]){1, 1, 1, 1}), in), one_percent);
}

static bool again_two_changes(void *payload, size_t k, struct odb_explain_pair *out)
{
    (void)payload;
    return again_conv(out, k, two_changes);
}

static bool again_change_and_scale(void *payload, size_t k, struct odb_explain_pair *out)
{
    (void)payload;
    return again_conv(out, k, change_and_scale);
}

static void test_explain__two_changes_of_a_call(void **state)
{
    struct scene s;
    (void)state;
    scene_open(&s, conv(2, padded));
    s.out[0] = two_changes(s.in);
    scene_explain(&s, again_two_changes, NULL);
    assert_best(&s, "attribute/dilations=default, centred + input/B=missing",
                ODB_FIT_CLASS); /* a bias of 0 is the same */
    assert_int_equal(s.found.items.items[0].confirmed, 2);
    assert_non_null(strstr(s.found.items.items[0].text, ", and as if input B"));
    scene_close(&s);
}

static void test_explain__a_change_of_a_call_and_a_factor(void **state)
{
    struct scene s;
    (void)state;
    scene_open(&s, conv(2, padded));
    s.out[0] = change_and_scale(s.in);
    scene_explain(&s, again_change_and_scale, NULL);
    assert_best(&s, "attribute/dilations=default, centred + output/scale", ODB_FIT_EXACT);
    assert_int_equal(s.found.items.items[0].confirmed, 2);
    assert_non_null(strstr(s.found.items.items[0].text, "1.01 times"));
    scene_close(&s);
}

/* Where nothing else is asked, two at once may be luck. */
static void test_explain__two_at_once_are_not_sure_by_themselves(void **state)
{
    struct scene s;
    (void)state;
    scene_open(&s, conv(2, padded));
    s.out[0] = change_and_scale(s.in);
    scene_explain(&s, NULL, NULL);
    assert_best(&s, "attribute/dilations=default, centred + output/scale", ODB_FIT_CLASS);
    scene_close(&s);
}

static struct odb_builder *space(const char *mode)
{
    struct odb_builder *b = odb_build_new("space", 13);
    odb_build_input(b, "x", ODB_F32, 4, (int64_t[]){1, 8, 3, 5});
    odb_build_node(b, "DepthToSpace", "node", "x", "y");
    odb_build_attr_int(b, "blocksize", 2);
    odb_build_attr_string(b, "mode", mode);
    odb_build_output(b, "y");
    return b;
}

/* That an attribute is ignored, and that it has its default. */
static void test_explain__the_same_in_other_words_is_said_once(void **state)
{
    struct scene s;
    (void)state;
    scene_open(&s, space("CRD"));
    s.out[0] = made_by(space("DCR"), s.in);
    scene_explain(&s, NULL, NULL);
    assert_best(&s, "attribute/mode=default", ODB_FIT_EXACT);
    assert_int_equal(s.found.items.items[0].members.n, 0);
    scene_close(&s);
}

/* min: -0.5, or it is ignored. */
static struct odb_builder *clip(bool min)
{
    struct odb_builder *b = odb_build_new("clip", 6);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){5, 7});
    odb_build_node(b, "Clip", "node", "x", "y");
    if (min)
        odb_build_attr_float(b, "min", -0.5f);
    odb_build_attr_float(b, "max", 2);
    odb_build_output(b, "y");
    return b;
}

static size_t clip_asked; /* times */

static bool clip_alone(void *payload, struct odb_tensor *const *in, struct odb_explain_pair *out)
{
    const bool *right = payload;
    clip_asked++;
    out->in = odb_new_n(struct odb_tensor *, 1);
    out->out = odb_new_n(struct odb_tensor *, 1);
    out->in[0] = odb_tensor_ref(in[0]);
    out->out[0] = made_by(clip(*right), in);
    return true;
}

/* Numbers below 1 do not show whether the upper end is kept: is the lower end alone lost, or the
 * whole node? Larger ones do, unless the node alone is another kernel, which is right. */
static void test_explain__inputs_are_made_that_tell_apart(void **state)
{
    (void)state;
    for (int right = 0; right < 3; right++) {
        struct scene s;
        bool is_right = right == 1;
        clip_asked = 0;
        scene_open(&s, clip(true));
        s.out[0] = made_by(clip(false), s.in);
        s.alone = right < 2 ? clip_alone : NULL;
        scene_explain(&s, NULL, &is_right);
        assert_best(&s, "attribute/min=default", right ? ODB_FIT_CLASS : ODB_FIT_EXACT);
        assert_best(&s, right ? "elsewhere/skipped=0" : "attribute/min=default",
                    right ? ODB_FIT_CLASS : ODB_FIT_EXACT);
        assert_int_equal(s.found.items.items[0].apart > 0, !right);
        assert_int_equal(clip_asked > 0, right < 2);
        scene_close(&s);
    }
}

/* Else a fault that holds on the same inputs again would be taken for one that holds on others. */
static void test_explain__one_number_has_no_other_order(void **state)
{
    const int64_t dims[] = {2, 3};
    struct odb_tensor *t = numbers(1, 2, dims), *other = odb_explain_other_order(t, 7);
    (void)state;
    assert_false(odb_tensor_identical(other, t));
    odb_tensor_unref(other);
    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(ODB_F32, t->data, i, 0.5);
    other = odb_explain_other_order(t, 7);
    assert_ptr_equal(other, t);
    odb_tensor_unref(other);
    odb_tensor_unref(t);
}

/* Each of its inputs may be missing, doubled, in another order: more than 200 in all. */
static struct odb_builder *concat(void)
{
    struct odb_builder *b = odb_build_new("concat", 17);
    const char *names = "a b c d e f g h i j k l m n o p q r s t";
    for (size_t i = 0; i < MOST; i++)
        odb_build_input(b, (char[]){names[2 * i], '\0'}, ODB_F32, 2, (int64_t[]){3, 4});
    odb_build_node(b, "Concat", "node", names, "y");
    odb_build_attr_int(b, "axis", 0);
    odb_build_output(b, "y");
    return b;
}

static void test_explain__the_least_likely_are_left_out_and_counted(void **state)
{
    (void)state;
    for (int all = 0; all <= 1; all++) {
        struct scene s;
        scene_open(&s, concat());
        s.trials = all;
        s.out[0] = made_by(concat(), s.in);
        for (size_t i = 0; i < s.out[0]->count; i++)
            odb_store_f64(ODB_F32, s.out[0]->data, i,
                          odb_tensor_f64(s.out[0], i) + sin(7.0 * (double)(i * i % 101)));
        scene_explain(&s, NULL, NULL);
        assert_int_equal(s.found.items.n, 0);
        assert_true(s.found.variants > 200); /* passes over the output are not counted */
        assert_true(all ? s.found.untried == 0 : s.found.untried > 0);
        assert_true(s.found.pairs > 0);
        assert_false(s.found.unfinished);
        scene_close(&s);
    }
}

/* That no other agrees is known of all, then. */
static void test_explain__once_one_agrees_all_are_tried(void **state)
{
    struct scene s;
    (void)state;
    scene_open(&s, concat());
    s.out[0] = spoilt(made_by(concat(), s.in), one_percent);
    scene_explain(&s, NULL, NULL);
    assert_best(&s, "output/scale", ODB_FIT_EXACT);
    assert_true(s.found.variants > 200);
    assert_int_equal(s.found.untried, 0);
    assert_int_equal(s.found.pairs, 0);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_explain__what_is_right_is_said_to_be),
        cmocka_unit_test(test_explain__ignored_dilations),
        cmocka_unit_test(test_explain__pads_of_the_other_end),
        cmocka_unit_test(test_explain__another_axis),
        cmocka_unit_test(test_explain__what_float_decides_is_right),
        cmocka_unit_test(test_explain__a_missing_bias),
        cmocka_unit_test(test_explain__a_factor_is_no_factor_by_channel),
        cmocka_unit_test(test_explain__noise_is_nothing_known),
        cmocka_unit_test(test_explain__where_it_is_wrong),
        cmocka_unit_test(test_explain__what_nothing_explains_has_its_place),
        cmocka_unit_test(test_explain__another_shape_is_where_it_is_wrong),
        cmocka_unit_test(test_explain__a_class_is_said_in_words),
        cmocka_unit_test(test_explain__few_wrong_elements_are_never_exact),
        cmocka_unit_test(test_explain__out_of_time_is_said),
        cmocka_unit_test(test_explain__what_holds_elsewhere_is_confirmed),
        cmocka_unit_test(test_explain__a_few_elements_elsewhere_are_few),
        cmocka_unit_test(test_explain__what_does_not_hold_elsewhere_is_not_exact),
        cmocka_unit_test(test_explain__a_target_that_is_right_elsewhere_refutes),
        cmocka_unit_test(test_explain__two_changes_of_a_call),
        cmocka_unit_test(test_explain__a_change_of_a_call_and_a_factor),
        cmocka_unit_test(test_explain__two_at_once_are_not_sure_by_themselves),
        cmocka_unit_test(test_explain__the_same_in_other_words_is_said_once),
        cmocka_unit_test(test_explain__inputs_are_made_that_tell_apart),
        cmocka_unit_test(test_explain__one_number_has_no_other_order),
        cmocka_unit_test(test_explain__the_least_likely_are_left_out_and_counted),
        cmocka_unit_test(test_explain__once_one_agrees_all_are_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
