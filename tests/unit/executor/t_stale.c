/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A target that keeps an input: which run is given what.
 */
#include "tests/help/executor_help.h"

#define RUNS 6

/* state and x, of one row each -> Add -> next; Neg of x -> y. */
static void stale_model(struct odb_buf *bytes)
{
    struct odb_builder *b = odb_build_new("state", 17);
    odb_build_input(b, "state", ODB_F32, 2, (int64_t[]){1, -1});
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){1, -1});
    odb_build_node(b, "Add", "add", "state x", "next");
    odb_build_node(b, "Neg", "neg", "x", "y");
    odb_build_output(b, "next");
    odb_build_output(b, "y");
    odb_build_bytes(b, bytes);
    odb_build_free(b);
}

/* Runs with x = 1 and a state of its own each, 10, 20, 30, …; or what next was in the run before,
 * as the caller holds it. Some more elements in run `wide`; -1: in none. */
static void expect_states(const char *spec, bool carries, int wide, const float *want)
{
    struct odb_executor *stale = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf bytes = ODB_BUF_INIT;
    const char *names[] = {"y", "next"};
    const float ones[] = {1, 1};
    stale_model(&bytes);
    help_ok(odb_executor_open(&stale, spec, &err), &err);
    struct odb_load load = {.bytes = bytes.data, .size = bytes.len, .dir = "."};
    for (int again = 0; again < 2; again++) { /* a new load forgets */
        float state[] = {10, 10};
        help_ok(odb_executor_load(stale, &load, &err), &err);
        for (int run = 0; run < RUNS; run++) {
            int64_t columns = run == wide ? 2 : 1;
            struct odb_tensor *out[2], *x = help_floats(1, columns, ones);
            struct odb_tensor *given = help_floats(1, columns, state);
            struct odb_named in[] = {{"state", given}, {"x", x}};
            help_ok(odb_executor_run(stale, in, 2, names, 2, out, &err), &err);
            double had = odb_tensor_f64(out[1], 0) - 1;
            if (had != (double)want[run])
                fail_msg("%s: run %d had %g, not %g", spec, run, had, (double)want[run]);
            assert_true(odb_tensor_f64(out[0], 0) == -1);
            state[0] = state[1] = carries ? (float)had + 1 : state[0] + 10;
            odb_tensor_unref(out[0]);
            odb_tensor_unref(out[1]);
            odb_tensor_unref(given);
            odb_tensor_unref(x);
        }
    }
    odb_buf_dispose(&bytes);
    odb_executor_close(stale);
}

static void test_stale__runs(void **state)
{
    expect_states("stale:state@cpu", false, -1, (float[]){10, 10, 20, 30, 40, 50});
    expect_states("stale:state,first@cpu", false, -1, (float[]){10, 10, 10, 10, 10, 10});
    expect_states("stale:state,after=3@cpu", false, -1, (float[]){10, 20, 30, 30, 40, 50});
    expect_states("stale:state,every=2@cpu", false, -1, (float[]){10, 20, 20, 40, 40, 60});
    expect_states("stale:state,first,every=3@cpu", false, -1, (float[]){10, 20, 30, 10, 50, 60});
    expect_states("stale:other@cpu", false, -1, (float[]){10, 20, 30, 40, 50, 60});
}

/* What has another shape cannot stand in. */
static void test_stale__shapes(void **state)
{
    expect_states("stale:state@cpu", false, 2, (float[]){10, 10, 30, 40, 40, 50});
    expect_states("stale:state,first@cpu", false, 2, (float[]){10, 10, 30, 10, 10, 10});
}

/* Only a caller that hands the state on is betrayed. */
static void test_stale__carry(void **state)
{
    expect_states("stale:state,carry=next@cpu", false, -1, (float[]){10, 20, 30, 40, 50, 60});
    expect_states("stale:state,carry=next@cpu", true, -1, (float[]){10, 10, 11, 11, 12, 12});
    expect_states("stale:state,carry=y@cpu", true, -1, (float[]){10, 11, 12, 13, 14, 15});
}

static void test_stale__wrong_spec(void **state)
{
    static const char *const bad[] = {"stale:h", "stale@cpu", "stale:h,every=0@cpu",
                                      "stale:h,until=2@cpu", "stale:h@nonsense"};
    for (size_t i = 0; i < ODB_COUNT(bad); i++) {
        struct odb_executor *stale = NULL;
        struct odb_error err = ODB_ERROR_INIT;
        assert_int_equal(odb_executor_open(&stale, bad[i], &err), ODB_E_USAGE);
        assert_null(stale);
    }
}

static void test_stale__describes(void **state)
{
    struct odb_executor *stale = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    char text[256];
    help_ok(odb_executor_open(&stale, "stale:state@cpu", &err), &err);
    odb_executor_describe(stale, text, sizeof text);
    assert_non_null(strstr(text, "planted"));
    assert_non_null(strstr(text, "state"));
    odb_executor_close(stale);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stale__runs),      cmocka_unit_test(test_stale__shapes),
        cmocka_unit_test(test_stale__carry),     cmocka_unit_test(test_stale__wrong_spec),
        cmocka_unit_test(test_stale__describes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
