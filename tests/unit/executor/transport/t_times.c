/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How long each node took: of the reference, and of a target that tells, through a child.
 */
#include "executor/transport/target.h"
#include "reference/trace.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"

#define TIMES_NODES 3

/* Loads three nodes, of which the last is not asked for, as those that the debugged model has at 4,
 * 7 and 9; and expects times of these and no others. */
static void times_of(const char *spec, const int *want, size_t n)
{
    static const int origin[TIMES_NODES] = {4, 7, 9};
    const char *output = "v1";
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_target *target = NULL;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_tensor *x = models_f32(1, (int64_t[]){8}, (float[8]){1, 2, 3}), *y;
    struct odb_named in = {"x", x};
    struct odb_builder *b = models_chain(TIMES_NODES);
    odb_build_output(b, output);
    odb_build_output(b, "y");
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    struct odb_load load = {.bytes = bytes.data,
                            .size = bytes.len,
                            .dir = ".",
                            .node_index = origin,
                            .n_nodes = TIMES_NODES};
    help_ok(odb_target_open(&target, spec, &err), &err);
    help_ok(odb_target_load(target, &load, &err), &err);
    assert_int_equal(odb_target_times(target)->list.n, 0);
    for (int run = 0; run < 2; run++) { /* those of the run before are gone */
        help_ok(odb_target_run(target, &in, 1, &output, 1, &y, &err), &err);
        const struct odb_times *times = odb_target_times(target);
        assert_int_equal(times->list.n, n);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(times->list.items[i].node, want[i]);
            assert_true(times->list.items[i].seconds > 0 && times->list.items[i].seconds < 60);
        }
        odb_tensor_unref(y);
    }
    odb_tensor_unref(x);
    odb_buf_dispose(&bytes);
    odb_target_close(target);
}

static void test_times__target(void **state)
{
    times_of("cpu", (int[]){4, 7}, 2);
    times_of("cpu:f16", (int[]){4, 7}, 2);
    times_of("stale:x@cpu", (int[]){4, 7}, 2);
    times_of("fault:scale,node=n0,amount=0.5@cpu", (int[]){4, 7}, 2); /* in two pieces */
}

/* Only the run that gives the reference's values counts: noisy runs are as many as it takes. */
static void test_times__reference(void **state)
{
    struct odb_builder *b = models_chain(TIMES_NODES);
    struct odb_trace_options how = ODB_TRACE_OPTIONS_INIT;
    struct odb_trace *trace;
    odb_build_node(b, "NoSuchOperator", "unknown", "y", "z");
    odb_build_output(b, "y");
    odb_build_output(b, "z");
    struct odb_model *model = models_take(b);
    struct odb_feed feed = {.value = models_value(model, "x"),
                            .tensor = models_f32(1, (int64_t[]){8}, (float[8]){1, 2, 3})};
    struct odb_feeds feeds = {&feed, 1, NULL};
    MODELS_OK(odb_trace_make(&trace, model, &feeds, &how, &why));
    double took[TIMES_NODES], noise;
    for (int i = 0; i < TIMES_NODES; i++) {
        took[i] = trace->took[i];
        assert_true(took[i] > 0 && took[i] < 60);
    }
    assert_true(trace->took[TIMES_NODES] == 0); /* it did not run */
    MODELS_OK(odb_trace_noise(trace, models_value(model, "y"), 1, 10, &noise, &why));
    assert_true(trace->noisy_runs > 0);
    for (int i = 0; i < TIMES_NODES; i++)
        assert_true(trace->took[i] == took[i]);
    odb_trace_free(trace);
    odb_tensor_unref(feed.tensor);
    odb_model_free(model);
}

int main(void)
{
    help_find_serve();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times__target),
        cmocka_unit_test(test_times__reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
