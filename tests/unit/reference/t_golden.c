/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Golden is float64 between the roundings that the model itself asks for, and does those: a Cast to
 * a type that holds less is part of what the model computes.
 */
#include <math.h>

#include "bisect/plan/bisect.h"
#include "report/outcome.h"
#include "reference/trace.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"
#include "model/read/load.h"

static const double golden_x[4] = {0.1, -1.7, 3.3, 12345.678};

struct golden {
    struct odb_model *model;
    struct odb_feed feed;
    struct odb_feeds feeds;
    struct odb_trace *trace;
};

static void golden_open(struct golden *g, struct odb_builder *b, struct odb_tensor *x)
{
    struct odb_trace_options how = ODB_TRACE_OPTIONS_INIT;
    g->model = models_take(b);
    g->feed = (struct odb_feed){.value = models_value(g->model, "x"), .tensor = x};
    g->feeds = (struct odb_feeds){&g->feed, 1, NULL};
    MODELS_OK(odb_trace_make(&g->trace, g->model, &g->feeds, &how, &why));
}

static void golden_close(struct golden *g)
{
    odb_trace_free(g->trace);
    odb_tensor_unref(g->feed.tensor);
    odb_model_free(g->model);
}

static struct odb_tensor *golden_doubles(void)
{
    struct odb_tensor *t = NULL;
    MODELS_OK(odb_tensor_copy_of(&t, ODB_F64, 1, (int64_t[]){4}, golden_x, &why));
    return t;
}

static double golden_at(const struct golden *g, const char *name, size_t i)
{
    return odb_tensor_f64(g->trace->golden[models_value(g->model, name)], i);
}

/* x, n elements of a type, to one that holds less and back, and what that loses: d = w - x, where
 * w is x by way of f. */
static struct odb_builder *golden_round_trip(enum odb_dtype type, enum odb_dtype less, int64_t n)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", type, 1, &n);
    odb_build_node(b, "Cast", "down", "x", "f");
    odb_build_attr_int(b, "to", less);
    odb_build_node(b, "Cast", "up", "f", "w");
    odb_build_attr_int(b, "to", type);
    odb_build_node(b, "Sub", "sub", "w x", "d");
    odb_build_output(b, "d");
    return b;
}

static void test_golden__a_cast_to_less_rounds(void **state)
{
    struct golden g;
    (void)state;
    golden_open(&g, golden_round_trip(ODB_F64, ODB_F32, 4), golden_doubles());
    for (size_t i = 0; i < 4; i++) {
        assert_true(golden_at(&g, "f", i) == (double)(float)golden_x[i]);
        assert_true(golden_at(&g, "d", i) == (double)(float)golden_x[i] - golden_x[i]);
    }
    golden_close(&g);
}

/* Through float16 on the way; and a Cast to what the model has anyway, which rounds nothing. */
static void test_golden__between_casts_it_stays_in_double(void **state)
{
    static const float x[4] = {0.1f, -1.7f, 3.3f, 1234.5f};
    struct odb_builder *b = odb_build_new("g", 17);
    struct golden g;
    (void)state;
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){4});
    odb_build_node(b, "Mul", "square", "x x", "s");
    odb_build_node(b, "Cast", "same", "s", "c");
    odb_build_attr_int(b, "to", ODB_F32);
    odb_build_node(b, "Cast", "half", "s", "h");
    odb_build_attr_int(b, "to", ODB_F16);
    odb_build_node(b, "Cast", "wide", "h", "y");
    odb_build_attr_int(b, "to", ODB_F32);
    odb_build_output(b, "c");
    odb_build_output(b, "y");
    golden_open(&g, b, models_f32(1, (int64_t[]){4}, x));
    for (size_t i = 0; i < 4; i++) {
        double square = (double)x[i] * x[i];
        uint16_t half[1];
        odb_store_f64(ODB_F16, half, 0, square);
        assert_true(golden_at(&g, "c", i) == square);
        assert_true(golden_at(&g, "y", i) == odb_load_f64(ODB_F16, half, 0) ||
                    (isinf(golden_at(&g, "y", i)) && square > 65504));
    }
    golden_close(&g);
}

/* To float8 as its values lie: three bits behind the leading one, and no number beyond 448. */
static void test_golden__a_quantiser_to_float8_rounds(void **state)
{
    static const float x[4] = {0.1f, -1.7f, 3.3f, 12345.678f}, one = 1;
    static const double rounded[4] = {0.1015625, -1.75, 3.25, 448};
    struct odb_builder *b = odb_build_new("g", 19);
    struct odb_tensor *zero = NULL, *scale = models_f32(0, NULL, &one);
    struct golden g;
    (void)state;
    MODELS_OK(odb_tensor_new(&zero, ODB_F8E4M3FN, 0, NULL, &why));
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){4});
    odb_build_weight(b, "scale", scale);
    odb_build_weight(b, "zero", zero);
    odb_tensor_unref(scale);
    odb_tensor_unref(zero);
    odb_build_node(b, "QuantizeLinear", "down", "x scale zero", "q");
    odb_build_node(b, "DequantizeLinear", "up", "q scale zero", "y");
    odb_build_output(b, "y");
    golden_open(&g, b, models_f32(1, (int64_t[]){4}, x));
    for (size_t i = 0; i < 4; i++)
        assert_true(golden_at(&g, "y", i) == rounded[i]);
    golden_close(&g);
}

/* Whoever leaves both Casts out has 0 where the model has what they lose. */
static void test_golden__casts_that_are_left_out_are_a_divergence(void **state)
{
    static const double zeros[4] = {0};
    struct odb_model *model = models_take(golden_round_trip(ODB_F64, ODB_F32, 4));
    struct odb_feed feed = {.value = models_value(model, "x"), .tensor = golden_doubles()};
    struct odb_feeds feeds = {&feed, 1, NULL};
    (void)state;
    for (int honest = 0; honest < 2; honest++) {
        struct odb_tensor **recorded = odb_new_n(struct odb_tensor *, model->graph->n_values);
        struct odb_report *report = NULL;
        double right[4];
        for (size_t i = 0; i < 4; i++)
            right[i] = (double)(float)golden_x[i] - golden_x[i];
        MODELS_OK(odb_tensor_copy_of(&recorded[models_value(model, "d")], ODB_F64, 1,
                                     (int64_t[]){4}, honest ? right : zeros, &why));
        MODELS_OK(odb_bisect(&report, model, &feeds,
                             &(struct odb_bisect_options){.reference = "cpu",
                                                          .target = "recorded",
                                                          .recorded = recorded,
                                                          .tolerance = ODB_CRITERION_DEFAULT},
                             &why));
        assert_int_equal(odb_report_outcome(report),
                         honest ? ODB_OUTCOME_PASS : ODB_OUTCOME_DIVERGES);
        odb_report_free(report);
        odb_tensor_unref(recorded[models_value(model, "d")]);
        free(recorded);
    }
    odb_tensor_unref(feed.tensor);
    odb_model_free(model);
}

/* The same through float16, whose borders an honest run may cross: a few elements may be off by a
 * step, and all of them may not. */
static void test_golden__casts_through_half_that_are_left_out_as_well(void **state)
{
    static const float x[8] = {0.1f, -1.7f, 3.3f, 12.34f, 0.77f, -9.1f, 5.55f, 2.2f};
    static const float zeros[8] = {0};
    struct odb_report *report = NULL;
    (void)state;
    struct odb_model *model = models_take(golden_round_trip(ODB_F32, ODB_F16, 8));
    struct odb_feed feed = {.value = models_value(model, "x"),
                            .tensor = models_f32(1, (int64_t[]){8}, x)};
    struct odb_feeds feeds = {&feed, 1, NULL};
    struct odb_tensor **recorded = odb_new_n(struct odb_tensor *, model->graph->n_values);
    struct odb_tensor **given = &recorded[models_value(model, "d")];
    *given = models_f32(1, (int64_t[]){8}, zeros);
    MODELS_OK(odb_bisect(&report, model, &feeds,
                         &(struct odb_bisect_options){.reference = "cpu",
                                                      .target = "recorded",
                                                      .recorded = recorded,
                                                      .tolerance = ODB_CRITERION_DEFAULT},
                         &why));
    assert_int_equal(odb_report_outcome(report), ODB_OUTCOME_DIVERGES);
    odb_report_free(report);
    odb_tensor_unref(*given);
    free(recorded);
    odb_tensor_unref(feed.tensor);
    odb_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden__a_cast_to_less_rounds),
        cmocka_unit_test(test_golden__a_quantiser_to_float8_rounds),
        cmocka_unit_test(test_golden__between_casts_it_stays_in_double),
        cmocka_unit_test(test_golden__casts_that_are_left_out_are_a_divergence),
        cmocka_unit_test(test_golden__casts_through_half_that_are_left_out_as_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
