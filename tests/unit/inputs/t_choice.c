/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inputs/choice_int.h"

#include "inputs/input_choice.h"
#include "run/feeds.h"
#include "tests/help/models.h"

/* The kind of a dimension of an input with these dimensions. */
static enum choice_kind choice_kind_of(const char *param, enum odb_dtype dtype, int axis, int rank,
                                       const int64_t *dims)
{
    const struct odb_value value = {.name = "x",
                                    .type = {.known = true, .dtype = dtype, .rank = rank}};
    struct odb_input_known input = {.value = &value, .rank = rank};
    memcpy(input.dims, dims, (size_t)rank * sizeof *dims);
    return choice_size_kind(&input, axis, param);
}

#define OPEN4 4, ((const int64_t[]){-1, -1, -1, -1})
#define OPEN2 2, ((const int64_t[]){-1, -1})

static void test_choice__names(void **state)
{
    static const struct {
        const char *param;
        enum choice_kind kind;
    } names[] = {{"batch_size", CHOICE_BATCH},
                 {"batchSize", CHOICE_BATCH},
                 {"N", CHOICE_BATCH},
                 {"past_sequence_length", CHOICE_PAST},
                 {"sequence_length", CHOICE_LENGTH},
                 {"maxSeqLen", CHOICE_LENGTH},
                 {"T", CHOICE_LENGTH},
                 {"num_tokens", CHOICE_LENGTH},
                 {"H", CHOICE_EXTENT},
                 {"shape_w", CHOICE_EXTENT},
                 {"Height", CHOICE_EXTENT},
                 {"num_channels", CHOICE_CHANNELS},
                 {"audio_length", CHOICE_SAMPLES},
                 {"feature_size", CHOICE_FEATURES},
                 {"unk__12", CHOICE_BATCH}}; /* says nothing, so the place does */
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(names); i++)
        assert_int_equal(choice_kind_of(names[i].param, ODB_F32, 0, OPEN2), names[i].kind);
}

static void test_choice__places(void **state)
{
    static const int64_t rows[] = {1, -1, -1, 3};
    (void)state;
    assert_int_equal(choice_kind_of(NULL, ODB_F32, 0, OPEN4), CHOICE_BATCH);
    assert_int_equal(choice_kind_of(NULL, ODB_F32, 1, OPEN4), CHOICE_CHANNELS);
    assert_int_equal(choice_kind_of(NULL, ODB_F32, 3, OPEN4), CHOICE_EXTENT);
    assert_int_equal(choice_kind_of(NULL, ODB_F32, 1, 4, rows), CHOICE_EXTENT);
    assert_int_equal(choice_kind_of(NULL, ODB_I64, 1, OPEN2), CHOICE_LENGTH);
    assert_int_equal(choice_kind_of(NULL, ODB_F32, 1, OPEN2), CHOICE_FEATURES);
}

static void test_choice__sums(void **state)
{
    const struct choice_open open[] = {{.param = "past"}, {.param = "seq"}};
    const int64_t sizes[] = {3, 8};
    int64_t n = 0;
    (void)state;
    assert_true(choice_size_sum("past + seq", open, 2, sizes, &n));
    assert_int_equal(n, 11);
    assert_true(choice_size_sum("2*seq + 1", open, 2, sizes, &n));
    assert_int_equal(n, 17);
    assert_false(choice_size_sum("seq", open, 2, sizes, &n));
    assert_false(choice_size_sum("past + other", open, 2, sizes, &n));
    assert_false(choice_size_sum(NULL, open, 2, sizes, &n));
}

static struct odb_tensor *choice_ones(int64_t rows, int64_t columns)
{
    float *values = odb_new_n(float, (size_t)(rows * columns));
    struct odb_tensor *t = models_f32(2, (int64_t[]){rows, columns}, values);
    free(values);
    return t;
}

static void choice_weight_of(struct odb_builder *b, const char *name, int64_t rows, int64_t columns)
{
    struct odb_tensor *t = choice_ones(rows, columns);
    odb_build_weight(b, name, t);
    odb_tensor_unref(t);
}

static struct odb_input_choice choice_of(struct odb_builder *b)
{
    const struct odb_input_options options = ODB_INPUT_OPTIONS_INIT;
    struct odb_model *model = models_take(b);
    struct odb_input_choice choice;
    MODELS_OK(odb_inputs_choose(&choice, model, &options, true, &why));
    odb_model_free(model);
    return choice;
}

/* The weight of a MatMul says how many features there are, and what stands there is enough. */
static void test_choice__weight(void **state)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){1, -1});
    choice_weight_of(b, "w", 77, 5);
    odb_build_node(b, "MatMul", "m", "x w", "y");
    odb_build_output(b, "y");
    struct odb_input_choice choice = choice_of(b);
    (void)state;
    assert_string_equal(choice.text, "N1=77");
    assert_int_equal(choice.inputs.n, 0);
    odb_input_choice_dispose(&choice);
}

/* What indexes a table gets all of it, through a Cast; what only looks like an index does not. */
static void test_choice__index(void **state)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "ids", ODB_I32, 1, (int64_t[]){4});
    odb_build_input(b, "input_ids", ODB_I64, 1, (int64_t[]){6});
    choice_weight_of(b, "w", 50, 3);
    odb_build_node(b, "Cast", "c", "ids", "whole");
    odb_build_attr_int(b, "to", 7);
    odb_build_node(b, "Gather", "g", "w whole", "y");
    odb_build_node(b, "Abs", "a", "input_ids", "z");
    odb_build_output(b, "y");
    odb_build_output(b, "z");
    struct odb_input_choice choice = choice_of(b);
    (void)state;
    assert_string_equal(choice.text, "ids=range(0,49)");
    odb_input_choice_dispose(&choice);
}

/* A model that says all of itself is fed as ever. */
static void test_choice__nothing(void **state)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){1, 3});
    odb_build_node(b, "Abs", "a", "x", "y");
    odb_build_output(b, "y");
    struct odb_input_choice choice = choice_of(b);
    (void)state;
    assert_string_equal(choice.text, "");
    assert_int_equal(choice.dims.n + choice.inputs.n, 0);
    assert_null(choice.from);
    odb_input_choice_dispose(&choice);
}

/* What refuses is inside a body, where a wrong size may get further than the right one does as long
 * as another size is wrong. */
static void test_choice__body(void **state)
{
    struct odb_builder *b = odb_build_new("g", 17), *many = odb_build_new("many", 17);
    struct odb_builder *few = odb_build_new("few", 17);
    struct odb_tensor *limit = models_f32(0, NULL, (float[]){100});
    (void)state;
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){1, -1});
    odb_build_input(b, "s", ODB_F32, 3, (int64_t[]){1, 1, -1});
    choice_weight_of(b, "w", 64, 5);
    choice_weight_of(b, "v", 16, 5);
    odb_build_weight(b, "limit", limit);
    odb_build_node(many, "Abs", "", "x", "a");
    odb_build_node(many, "Neg", "", "a", "b");
    odb_build_node(many, "Exp", "", "b", "c");
    odb_build_node(many, "MatMul", "", "c w", "made");
    odb_build_output(many, "made");
    odb_build_node(few, "MatMul", "", "x w", "d");
    odb_build_node(few, "MatMul", "", "s v", "e");
    odb_build_node(few, "Add", "", "d e", "other");
    odb_build_output(few, "other");
    odb_build_node(b, "Size", "", "x", "size");
    odb_build_node(b, "Cast", "", "size", "real");
    odb_build_attr_int(b, "to", 1);
    odb_build_node(b, "Greater", "", "real limit", "large");
    odb_build_node(b, "If", "", "large", "y");
    odb_build_attr_graph(b, "then_branch", many);
    odb_build_attr_graph(b, "else_branch", few);
    odb_build_output(b, "y");
    odb_tensor_unref(limit);
    struct odb_input_choice choice = choice_of(b);
    assert_string_equal(choice.text, "N1=64 N2=16");
    odb_input_choice_dispose(&choice);
}

/* Nothing runs: the error says why, and which option to add. */
static void test_choice__in_vain(void **state)
{
    const struct odb_input_options options = ODB_INPUT_OPTIONS_INIT;
    struct odb_builder *b = odb_build_new("g", 17);
    struct odb_input_choice choice;
    struct odb_error err = ODB_ERROR_INIT;
    char text[2048];
    (void)state;
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){1, -1});
    choice_weight_of(b, "w", 7, 5);
    choice_weight_of(b, "v", 9, 5);
    odb_build_node(b, "MatMul", "m", "x w", "y");
    odb_build_node(b, "MatMul", "n", "x v", "z");
    odb_build_output(b, "y");
    odb_build_output(b, "z");
    struct odb_model *model = models_take(b);
    assert_int_equal(odb_inputs_choose(&choice, model, &options, true, &err), ODB_E_USAGE);
    odb_error_text(&err, text, sizeof text);
    assert_non_null(strstr(text, "the reference runs with none that was tried"));
    assert_non_null(strstr(text, "add --dim N1=1"));
    odb_input_choice_dispose(&choice);
    odb_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice__names),   cmocka_unit_test(test_choice__places),
        cmocka_unit_test(test_choice__sums),    cmocka_unit_test(test_choice__weight),
        cmocka_unit_test(test_choice__index),   cmocka_unit_test(test_choice__nothing),
        cmocka_unit_test(test_choice__in_vain), cmocka_unit_test(test_choice__body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
