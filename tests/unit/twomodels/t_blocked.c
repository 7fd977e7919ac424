/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Blocks of channels, put in order and made again; and what an optimised model shows when its
 * blocks are undone.
 */
#include "probe/run_values.h"
#include "twomodels/blocked.h"

#include "model/write/build.h"
#include "tests/help/against_help.h"
#include "model/read/load.h"

static struct odb_tensor *counted(int64_t n, int64_t c, int64_t h, int64_t w)
{
    struct odb_tensor *t = NULL;
    MODELS_OK(odb_tensor_new(&t, ODB_F32, 4, (int64_t[]){n, c, h, w}, &why));
    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(ODB_F32, t->data, i, (double)i + 1);
    return t;
}

static void test_blocked__the_last_block_is_filled_with_zeros(void **state)
{
    struct odb_tensor *t = counted(2, 5, 2, 3), *made = NULL, *undone = NULL, *back = NULL;
    (void)state;
    MODELS_OK(odb_blocked_make(&made, t, 4, &why));
    assert_int_equal(made->dims[1], 8);
    /* n, block, place, channel within */
    assert_true(odb_tensor_f64(made, 1) == 7);   /* second channel, first place */
    assert_true(odb_tensor_f64(made, 4) == 2);   /* first channel, second place */
    assert_true(odb_tensor_f64(made, 24) == 25); /* fifth channel begins the second block */
    assert_true(odb_tensor_f64(made, 25) == 0);
    assert_true(odb_tensor_f64(made, 48) == 31); /* the second picture */
    MODELS_OK(odb_blocked_undo(&undone, made, 4, &why));
    MODELS_OK(odb_blocked_crop(&back, undone, 5, &why));
    assert_true(odb_tensor_identical(back, t));
    odb_tensor_unref(t);
    odb_tensor_unref(made);
    odb_tensor_unref(undone);
    odb_tensor_unref(back);
}

static void test_blocked__what_cannot_be_in_blocks_is_left_alone(void **state)
{
    struct odb_tensor *t = counted(1, 6, 2, 2), *flat = NULL, *out = NULL;
    (void)state;
    MODELS_OK(odb_blocked_undo(&out, t, 4, &why));
    assert_null(out);
    MODELS_OK(odb_tensor_reshape(&flat, t, 2, (int64_t[]){4, 6}, &why));
    MODELS_OK(odb_blocked_undo(&out, flat, 2, &why));
    assert_null(out);
    odb_tensor_unref(flat);
    odb_tensor_unref(t);
}

/* Element (filter, channel, place) of 8 filters of 4 channels and 3 places, in blocks of 4. */
static size_t filter_at(size_t filter, size_t channel, size_t place, bool channels_too)
{
    return channels_too ? ((filter / 4 * 3 + place) * 4 + channel) * 4 + filter % 4
                        : ((filter / 4 * 2 + channel) * 3 + place) * 4 + filter % 4;
}

static void test_blocked__filters_of_few_channels_and_of_many(void **state)
{
    (void)state;
    for (int many = 0; many < 2; many++) {
        struct odb_tensor *stored = counted(8, many ? 4 : 2, 1, 3), *filter = NULL;
        size_t channels = many ? 3 : 2; /* the fourth is filled up */
        for (size_t i = 0; i < stored->count; i++)
            odb_store_f64(ODB_F32, stored->data, i, 0);
        for (size_t f = 0; f < 7; f++) /* and so is the eighth filter */
            for (size_t c = 0; c < channels; c++)
                for (size_t p = 0; p < 3; p++)
                    odb_store_f64(ODB_F32, stored->data, filter_at(f, c, p, many),
                                  (double)(100 * f + 10 * c + p + 1));
        MODELS_OK(odb_blocked_filter(&filter, stored, 4, &why));
        assert_int_equal(filter->dims[0], 7);
        assert_int_equal(filter->dims[1], channels);
        for (size_t i = 0; i < filter->count; i++) {
            size_t p = i % 3, c = i / 3 % channels, f = i / 3 / channels;
            assert_true(odb_tensor_f64(filter, i) == (double)(100 * f + 10 * c + p + 1));
        }
        odb_tensor_unref(stored);
        odb_tensor_unref(filter);
    }
}

static void test_blocked__marks_go_from_reorder_to_reorder(void **state)
{
    struct odb_builder *b = odb_build_new("g", 17);
    bool marks[16];
    (void)state;
    odb_build_opset(b, ODB_BLOCKED_DOMAIN, 1);
    odb_build_input(b, "x", ODB_F32, 4, (int64_t[]){1, 8, 2, 2});
    odb_build_node(b, "Relu", "", "x", "r");
    odb_build_node(b, ODB_BLOCKED_DOMAIN "::ReorderInput", "", "r", "i");
    odb_build_node(b, "Relu", "", "i", "j");
    odb_build_node(b, ODB_BLOCKED_DOMAIN "::ReorderOutput", "", "j", "o");
    odb_build_node(b, "Add", "", "o r", "y");
    odb_build_output(b, "y");
    struct odb_model *model = models_take(b);
    assert_int_equal(odb_blocked_mark(model->graph, marks), 2);
    assert_true(marks[models_value(model, "i")] && marks[models_value(model, "j")]);
    assert_false(marks[models_value(model, "r")] || marks[models_value(model, "o")]);
    odb_model_free(model);
}

static void test_blocked__a_target_that_has_no_blocks(void **state)
{
    int64_t block = 1;
    (void)state;
    help_find_serve();
    MODELS_OK(odb_blocked_ask(&block, "cpu", NULL, &why));
    assert_int_equal(block, 0);
}

/* What is wrapped around it makes no difference to its kernels. */
static void test_blocked__a_target_within_another(void **state)
{
    int64_t block = 0, wrapped = 0;
    (void)state;
    help_find_serve();
    if (!help_has_ort())
        skip();
    MODELS_OK(odb_blocked_ask(&block, "ort", NULL, &why));
    MODELS_OK(odb_blocked_ask(&wrapped, "fault:scale,node=nowhere@ort", NULL, &why));
    assert_int_equal(block, wrapped);
}

/* --- an optimised model ----------------------------------------------------------------------- */

#define LAYERS 4
#define CHANNELS 24 /* no whole number of blocks */

/* Conv, Relu, layer by layer; the third is added to the first before its Relu. */
static struct odb_model *pictures(int spoilt)
{
    struct odb_builder *b = odb_build_new("pictures", 13);
    char in[16] = "x", words[64], w[16], c[16], r[16];
    odb_build_input(b, "x", ODB_F32, 4, (int64_t[]){1, 3, 6, 6});
    for (int l = 0; l < LAYERS; l++) {
        struct odb_tensor *t = counted(CHANNELS, l ? CHANNELS : 3, 3, 3);
        for (size_t i = 0; i < t->count; i++)
            odb_store_f64(ODB_F32, t->data, i,
                          (double)((i * 7 + (size_t)l * 5) % 23) / 115 - 0.09 +
                              (l == spoilt && i == 40 ? 1.5 : 0));
        snprintf(w, sizeof w, "w%d", l);
        snprintf(c, sizeof c, "c%d", l);
        snprintf(r, sizeof r, l + 1 == LAYERS ? "y" : "r%d", l);
        odb_build_weight(b, w, t);
        odb_tensor_unref(t);
        snprintf(words, sizeof words, "%s %s", in, w);
        odb_build_node(b, "Conv", "", words, c);
        odb_build_attr_ints(b, "pads", 4, (int64_t[]){1, 1, 1, 1});
        if (l == 2)
            odb_build_node(b, "Add", "", "c2 r0", "sum");
        odb_build_node(b, "Relu", "", l == 2 ? "sum" : c, r);
        snprintf(in, sizeof in, "%s", r);
    }
    odb_build_output(b, "y");
    return models_take(b);
}

/* The model with a spoilt layer, as ONNX Runtime optimises it. */
static struct odb_model *optimised(struct odb_model *model, const struct odb_feeds *feeds,
                                   const char *folder)
{
    char *path = odb_xasprintf("%s/optimised.onnx", folder);
    char *spec = odb_xasprintf("ort,optimized=%s", path), text[400];
    struct odb_tensor *y = NULL;
    struct odb_model *out = NULL;
    MODELS_OK(odb_run_values(model, feeds, spec, model->graph->outputs, 1, &y, text, sizeof text,
                             NULL, &why));
    MODELS_OK(odb_model_open(&out, path, &why));
    MODELS_OK(odb_model_require_data(out, &why));
    odb_tensor_unref(y);
    odb_model_free(model);
    free(spec);
    free(path);
    return out;
}

static size_t blocked_nodes(const struct odb_model *model)
{
    size_t n = 0;
    for (size_t m = 0; m < model->graph->n_nodes; m++)
        n += odb_blocked_node(&model->graph->nodes[m]);
    return n;
}

/* Every layer is judged by itself, so a fault is seen at the end of its own; what it is, is seen in
 * the weights. */
static void test_blocked__a_fault_in_each_layer_of_an_optimised_model(void **state)
{
    static const char *const ends[LAYERS] = {"r0", "r1", "r2", "y"};
    (void)state;
    help_find_serve();
    if (!help_has_ort())
        skip();
    for (int spoilt = -1; spoilt < LAYERS; spoilt++) {
        struct search s;
        char weight[32], *folder = models_folder();
        search_open(&s, pictures(-1), 4, (int64_t[]){1, 3, 6, 6});
        struct odb_model *other = optimised(pictures(spoilt), &s.feeds, folder);
        bool none = !blocked_nodes(other); /* this processor's kernels have none */
        MODELS_OK(search_try(&s, other, "ort,opt=disabled", &why));
        for (int l = 0; l < LAYERS && !none; l++)
            if (s.report->values[models_value(s.original, ends[l])].verdict == ODB_VERDICT_UNTESTED)
                fail_msg("%s has no partner:\n%s", ends[l], s.report->summary);
        assert_int_equal(s.report->culprits.n, spoilt >= 0);
        if (spoilt >= 0 && !none) {
            const struct odb_culprit *culprit = &s.report->culprits.items[0];
            snprintf(weight, sizeof weight, "Weight w%d is another one in 1 ", spoilt);
            assert_int_equal(culprit->value, models_value(s.original, ends[spoilt]));
            assert_true(culprit->verified);
            if (!strstr(culprit->text, weight))
                fail_msg("no '%s' in: %s", weight, culprit->text);
        }
        search_close(&s);
        models_remove(folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocked__the_last_block_is_filled_with_zeros),
        cmocka_unit_test(test_blocked__what_cannot_be_in_blocks_is_left_alone),
        cmocka_unit_test(test_blocked__filters_of_few_channels_and_of_many),
        cmocka_unit_test(test_blocked__marks_go_from_reorder_to_reorder),
        cmocka_unit_test(test_blocked__a_target_that_has_no_blocks),
        cmocka_unit_test(test_blocked__a_target_within_another),
        cmocka_unit_test(test_blocked__a_fault_in_each_layer_of_an_optimised_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
