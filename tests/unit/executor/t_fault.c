/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Planted faults, in this process; the ones that end a process are in t_target.
 */
#include "tests/help/executor_help.h"

#include <math.h>

static struct odb_executor *open_fault(const char *spec)
{
    struct odb_executor *fault = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(odb_executor_open(&fault, spec, &err), &err);
    return fault;
}

/* Runs the chain of executor_help.h; probe as there; NULL x: the usual one. */
static enum odb_status run_chain(const char *spec, const char *probe, const float *x,
                                 struct odb_tensor **out, struct odb_error *err)
{
    struct odb_executor *fault = open_fault(spec);
    struct odb_buf bytes = ODB_BUF_INIT;
    const char *names[] = {"y", "side", probe};
    struct odb_tensor *t = help_floats(2, 4, x ? x : help_x);
    struct odb_named in = {"x", t};
    help_chain(&bytes, probe);
    struct odb_load load = help_load(&bytes, 4);
    enum odb_status status = odb_executor_load(fault, &load, err);
    for (int again = 0; again < 2 && status == ODB_OK; again++) {
        if (again)
            for (int i = 0; i < (probe ? 3 : 2); i++)
                odb_tensor_unref(out[i]);
        status = odb_executor_run(fault, &in, 1, names, probe ? 3 : 2, out, err);
    }
    odb_tensor_unref(t);
    odb_buf_dispose(&bytes);
    odb_executor_close(fault);
    return status;
}

static void free_outputs(struct odb_tensor **out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        odb_tensor_unref(out[i]);
}

/* Value b = |x| spoiled, so y = sqrt(b) and side = b - x; want: b as spoiled. */
static void expect_b(const char *spec, const double *want, double tolerance)
{
    struct odb_tensor *out[3];
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(run_chain(spec, "b", NULL, out, &err), &err);
    for (size_t i = 0; i < 8; i++) {
        double b = odb_tensor_f64(out[2], i), side = odb_tensor_f64(out[1], i);
        double y = odb_tensor_f64(out[0], i);
        if (isnan(want[i])) {
            assert_true(isnan(b) && isnan(y) && isnan(side));
            continue;
        }
        if (!(b == want[i] || fabs(b - want[i]) <= tolerance))
            fail_msg("%s: element %zu is %g, not %g", spec, i, b, want[i]);
        assert_true(b == side + (double)help_x[i] || isinf(b) ||
                    fabs(b - (side + (double)help_x[i])) < 1e-4);
        assert_true(fabs(y - sqrt(b)) < 1e-5 || isinf(b));
    }
    free_outputs(out, 3);
}

static void test_fault__kinds(void **state)
{
    double b[] = {1, 4, 9, 16, 25, 36, 49, 64}, want[8];
    double rms = 0;
    for (int i = 0; i < 8; i++)
        rms += b[i] * b[i] / 8;
    rms = sqrt(rms);
    for (int i = 0; i < 8; i++)
        want[i] = b[i] * 1.01;
    expect_b("fault:scale,node=second@cpu", want, 1e-5);
    for (int i = 0; i < 8; i++)
        want[i] = b[i] * 1.5;
    expect_b("fault:scale,node=second,amount=0.5@cpu", want, 0);
    for (int i = 0; i < 8; i++)
        want[i] = b[i] + 0.1 * rms;
    expect_b("fault:offset,node=#1,amount=0.1@cpu", want, 1e-5);
    for (int i = 0; i < 8; i++)
        want[i] = b[i] < 32 ? b[i] : 32;
    expect_b("fault:saturate,node=b@cpu", want, 0);
    expect_b("fault:swap,node=b@cpu", (double[]){9, 16, 1, 4, 49, 64, 25, 36}, 0);
    expect_b("fault:swap,count=2,node=b@cpu", (double[]){1, 4, 49, 16, 25, 36, 9, 64}, 0);
    expect_b("fault:nan,node=b@cpu", (double[]){1, 4, 9, 16, NAN, 36, 49, 64}, 0);
    expect_b("fault:nan,node=b,count=2@cpu", (double[]){1, 4, NAN, 16, 25, 36, NAN, 64}, 0);
    expect_b("fault:inf,node=b@cpu", (double[]){1, 4, 9, 16, INFINITY, 36, 49, 64}, 0);
    expect_b("fault:zero-channel,node=b@cpu", (double[]){0, 4, 9, 16, 0, 36, 49, 64}, 0);
    expect_b("fault:scale,node=second,amount=0@cpu", b, 0);
    expect_b("fault:noise,node=second,amount=0@cpu", b, 0);
}

static void test_fault__noise_is_seeded(void **state)
{
    struct odb_tensor *a[3], *b[3], *c[3];
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(run_chain("fault:noise,node=b,amount=0.01@cpu", "b", NULL, a, &err), &err);
    help_ok(run_chain("fault:noise,node=b,amount=0.01@cpu", "b", NULL, b, &err), &err);
    help_ok(run_chain("fault:noise,node=b,amount=0.01,seed=7@cpu", "b", NULL, c, &err), &err);
    assert_true(odb_tensor_identical(a[2], b[2]));
    assert_false(odb_tensor_identical(a[2], c[2]));
    for (size_t i = 0; i < 8; i++) {
        double clean = fabs((double)help_x[i]), off = fabs(odb_tensor_f64(a[2], i) - clean);
        assert_true(off > 0 && off < 0.05 * 64);
    }
    free_outputs(a, 3);
    free_outputs(b, 3);
    free_outputs(c, 3);
}

static void test_fault__round_bf16(void **state)
{
    static const float x[] = {1.00390625f, 3, 1.01f, -7.77f, 0, 65504, 1e-3f, 2};
    struct odb_tensor *out[3];
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(run_chain("fault:round-bf16,node=b@cpu", "b", x, out, &err), &err);
    for (size_t i = 0; i < 8; i++)
        assert_true(odb_tensor_f64(out[2], i) ==
                    (double)odb_bf16_to_f32(odb_f32_to_bf16(fabsf(x[i]))));
    free_outputs(out, 3);
}

/* The first and the last node, where one of the pieces is small or empty. */
static void test_fault__ends(void **state)
{
    struct odb_tensor *out[3];
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(run_chain("fault:scale,node=first,amount=1@cpu", NULL, NULL, out, &err), &err);
    help_floats_equal(out[1], (float[]){0, 16, 0, 64, 0, 144, 0, 256}, 8);
    free_outputs(out, 2);
    help_ok(run_chain("fault:scale,node=fourth,amount=1@cpu", NULL, NULL, out, &err), &err);
    help_floats_equal(out[0], (float[]){1, 2, 3, 4, 5, 6, 7, 8}, 8);
    help_floats_equal(out[1], (float[]){0, 16, 0, 64, 0, 144, 0, 256}, 8);
    free_outputs(out, 2);
}

static void test_fault__two_of_them(void **state)
{
    struct odb_tensor *out[3];
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(run_chain("fault:scale,node=first,amount=1@fault:scale,node=#1,amount=1@cpu", "b", NULL,
                      out, &err),
            &err);
    help_floats_equal(out[2], (float[]){4, 16, 36, 64, 100, 144, 196, 256}, 8);
    free_outputs(out, 3);
}

/* One row is as if it were alone: its own size, its own places. */
static void test_fault__row(void **state)
{
    expect_b("fault:scale,node=b,amount=1,row=0@cpu", (double[]){2, 8, 18, 32, 25, 36, 49, 64}, 0);
    expect_b("fault:scale,node=b,amount=1,row=1@cpu", (double[]){1, 4, 9, 16, 50, 72, 98, 128}, 0);
    expect_b("fault:scale,node=b,row=2@cpu", (double[]){1, 4, 9, 16, 25, 36, 49, 64}, 0);
    expect_b("fault:nan,node=b,row=0@cpu", (double[]){1, 4, NAN, 16, 25, 36, 49, 64}, 0);
    expect_b("fault:saturate,node=b,row=0@cpu", (double[]){1, 4, 8, 8, 25, 36, 49, 64}, 0);
    expect_b("fault:swap,node=b,row=1@cpu", (double[]){1, 4, 9, 16, 49, 64, 25, 36}, 0);
    expect_b("fault:zero-channel,node=b,row=1@cpu", (double[]){1, 4, 9, 16, 0, 36, 49, 64}, 0);
}

static void test_fault__cannot_be_planted(void **state)
{
    static const float zeros[8] = {0}, same[] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct odb_tensor *out[3];
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(run_chain("fault:scale,node=b@cpu", NULL, zeros, out, &err), ODB_E_INPUT);
    help_has_text(&err, "all zero");
    assert_int_equal(run_chain("fault:swap,node=b@cpu", NULL, same, out, &err), ODB_E_INPUT);
    help_has_text(&err, "change nothing");

    struct odb_executor *fault = open_fault("fault:scale,node=shape@cpu");
    struct odb_builder *b = odb_build_new("shape", 17);
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_tensor *x = help_floats(2, 4, help_x);
    struct odb_named in = {"x", x};
    const char *name = "s";
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){2, 4});
    odb_build_node(b, "Shape", "shape", "x", "s");
    odb_build_output(b, "s");
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    struct odb_load load = {.bytes = bytes.data, .size = bytes.len, .dir = ""};
    help_ok(odb_executor_load(fault, &load, &err), &err);
    assert_int_equal(odb_executor_run(fault, &in, 1, &name, 1, out, &err), ODB_E_INPUT);
    help_has_text(&err, "not float");
    odb_executor_close(fault);
    odb_buf_dispose(&bytes);
    odb_tensor_unref(x);
}

static void test_fault__wrong_spec(void **state)
{
    static const char *const bad[] = {"fault:scale,node=b",
                                      "fault:scale@cpu",
                                      "fault@cpu",
                                      "fault:melt,node=b@cpu",
                                      "fault:nan,node=b,count=0@cpu",
                                      "fault:nan,node=b,fused=1.5@cpu",
                                      "fault:scale,node=b,amount=x@cpu",
                                      "fault:scale,node=b,size=3@cpu",
                                      "fault:scale,node=b,dim=3@cpu",
                                      "fault:scale,node=b,dim=3:@cpu",
                                      "fault:scale,node=b,dim=3:9x@cpu",
                                      "fault:scale,node=b,dim=3:9-@cpu",
                                      "fault:scale,node=b,dim=3:9-10x@cpu",
                                      "fault:scale,node=b,dim=3:9-8@cpu",
                                      "fault:scale,node=b,dim=3:-1@cpu",
                                      "fault:scale,node=b,and=x:1@cpu",
                                      "fault:scale,node=b,row=-1@cpu",
                                      "fault:crash,node=b,dim=0:1@cpu",
                                      "fault:overwrite,node=b,from=a,row=1@cpu",
                                      "fault:scale,node=b@nonsense"};
    for (size_t i = 0; i < ODB_COUNT(bad); i++) {
        struct odb_executor *fault = NULL;
        struct odb_error err = ODB_ERROR_INIT;
        assert_int_equal(odb_executor_open(&fault, bad[i], &err), ODB_E_USAGE);
    }
    struct odb_tensor *out[3];
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(run_chain("fault:scale,node=nowhere@cpu", NULL, NULL, out, &err), ODB_E_USAGE);
    help_has_text(&err, "nowhere");
    assert_int_equal(run_chain("fault:scale,node=#9@cpu", NULL, NULL, out, &err), ODB_E_USAGE);
}

static void test_fault__hidden(void **state)
{
    static const float clean[] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct odb_tensor *out[3];
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(run_chain("fault:scale,node=b,amount=3,hidden@cpu", NULL, NULL, out, &err), &err);
    help_floats_equal(out[0], (float[]){2, 4, 6, 8, 10, 12, 14, 16}, 8);
    free_outputs(out, 2);
    help_ok(run_chain("fault:scale,node=b,amount=3,hidden@cpu", "b", NULL, out, &err), &err);
    help_floats_equal(out[0], clean, 8);
    free_outputs(out, 3);
    help_ok(run_chain("fault:scale,node=b,amount=3,hidden@cpu", "a", NULL, out, &err), &err);
    help_floats_equal(out[0], (float[]){2, 4, 6, 8, 10, 12, 14, 16}, 8);
    free_outputs(out, 3);
    assert_int_equal(run_chain("fault:scale,node=third,hidden@cpu", NULL, NULL, out, &err),
                     ODB_E_USAGE);
    help_has_text(&err, "hide");
}

/* A prefix of the chain that ends at an output, with the indices that it had in the whole. */
static float first_of_prefix(const char *spec, bool with_third)
{
    static const char *const originals[] = {"y", "side"};
    static const int original[] = {10, 11, 12};
    struct odb_executor *fault = open_fault(spec);
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_builder *b = odb_build_new("prefix", 17);
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_tensor *out, *x = help_floats(2, 4, help_x);
    struct odb_named in = {"x", x};
    const char *name = with_third ? "y" : "b";
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){2, 4});
    odb_build_node(b, "Neg", "first", "x", "a");
    odb_build_node(b, "Abs", "second", "a", "b");
    if (with_third)
        odb_build_node(b, "Sqrt", "third", "b", "y");
    odb_build_output_typed(b, name, ODB_F32, 2, (int64_t[]){2, 4});
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    struct odb_load load = {.bytes = bytes.data,
                            .size = bytes.len,
                            .dir = ".",
                            .node_index = original,
                            .n_nodes = with_third ? 3 : 2,
                            .original_outputs = originals,
                            .n_original_outputs = 2};
    help_ok(odb_executor_load(fault, &load, &err), &err);
    help_ok(odb_executor_run(fault, &in, 1, &name, 1, &out, &err), &err);
    float first = (float)odb_tensor_f64(out, 0);
    odb_tensor_unref(out);
    odb_tensor_unref(x);
    odb_buf_dispose(&bytes);
    odb_executor_close(fault);
    return first;
}

static void test_fault__prefixes(void **state)
{
    assert_true(first_of_prefix("fault:scale,node=#11,amount=3@cpu", true) == 2);
    assert_true(first_of_prefix("fault:scale,node=#11,amount=3@cpu", false) == 4);
    assert_true(first_of_prefix("fault:scale,node=#12,amount=1@cpu", false) == 1); /* not here */
    assert_true(first_of_prefix("fault:scale,node=#1,amount=1@cpu", true) == 1);
    assert_true(first_of_prefix("fault:scale,node=elsewhere@cpu", true) == 1);
}

static void test_fault__fused(void **state)
{
    static const char spec[] = "fault:scale,node=#11,amount=3,fused=1@cpu";
    assert_true(first_of_prefix(spec, true) == 2);
    assert_true(first_of_prefix(spec, false) == 1); /* the next node is not there */
    assert_true(first_of_prefix("fault:scale,node=#11,amount=3,fused=2@cpu", true) == 1);
    struct odb_tensor *out[3];
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(run_chain("fault:scale,node=#1,amount=3,fused=2@cpu", NULL, NULL, out, &err), &err);
    assert_true(odb_tensor_f64(out[0], 0) == 2);
    free_outputs(out, 2);
    help_ok(run_chain("fault:scale,node=#1,amount=3,fused=2@cpu", "b", NULL, out, &err), &err);
    assert_true(odb_tensor_f64(out[0], 0) == 1); /* looked at */
    free_outputs(out, 3);
    /* the node behind "third" does not read its value */
    help_ok(run_chain("fault:scale,node=#2,amount=3,fused=1@cpu", NULL, NULL, out, &err), &err);
    assert_true(odb_tensor_f64(out[0], 0) == 1);
    free_outputs(out, 2);
}

/* Shapes that change from run to run: downstream is built anew. */
static void test_fault__shapes_change(void **state)
{
    struct odb_executor *fault = open_fault("fault:scale,node=n,amount=1@cpu");
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_builder *b = odb_build_new("dynamic", 17);
    struct odb_buf bytes = ODB_BUF_INIT;
    const char *name = "y";
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){-1, -1});
    odb_build_node(b, "Neg", "n", "x", "a");
    odb_build_node(b, "Transpose", "t", "a", "y");
    odb_build_output(b, "y");
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    struct odb_load load = {.bytes = bytes.data, .size = bytes.len, .dir = "."};
    help_ok(odb_executor_load(fault, &load, &err), &err);
    for (int64_t rows = 1; rows <= 4; rows *= 2) {
        struct odb_tensor *y, *x = help_floats(rows, 2, help_x);
        struct odb_named in = {"x", x};
        help_ok(odb_executor_run(fault, &in, 1, &name, 1, &y, &err), &err);
        assert_int_equal(y->dims[0], 2);
        assert_int_equal(y->dims[1], rows);
        assert_true(odb_tensor_f64(y, (size_t)rows) == 8);
        odb_tensor_unref(y);
        odb_tensor_unref(x);
    }
    odb_buf_dispose(&bytes);
    odb_executor_close(fault);
}

/* y = -x of so many rows and columns; the first element tells whether the fault acts. */
static void expect_sizes(const char *where, int64_t rows, int64_t columns, bool acts)
{
    char *spec = odb_xasprintf("fault:scale,node=n,amount=1,%s@cpu", where);
    struct odb_executor *fault = open_fault(spec);
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_builder *b = odb_build_new("dynamic", 17);
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_tensor *y, *x = help_floats(rows, columns, help_x);
    struct odb_named in = {"x", x};
    const char *name = "y";
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){-1, -1});
    odb_build_node(b, "Neg", "n", "x", "y");
    odb_build_output(b, "y");
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    struct odb_load load = {.bytes = bytes.data, .size = bytes.len, .dir = "."};
    help_ok(odb_executor_load(fault, &load, &err), &err);
    help_ok(odb_executor_run(fault, &in, 1, &name, 1, &y, &err), &err);
    if (odb_tensor_f64(y, 0) != (acts ? -2 : -1))
        fail_msg("%s, %d by %d: %g", spec, (int)rows, (int)columns, odb_tensor_f64(y, 0));
    odb_tensor_unref(x);
    odb_tensor_unref(y);
    odb_buf_dispose(&bytes);
    odb_executor_close(fault);
    free(spec);
}

static void test_fault__sizes(void **state)
{
    expect_sizes("dim=1:4", 2, 4, true);
    expect_sizes("dim=1:4", 2, 3, false);
    expect_sizes("dim=0:4", 2, 4, false);
    expect_sizes("dim=-1:3-4", 2, 2, false);
    expect_sizes("dim=-1:3-4", 2, 3, true);
    expect_sizes("dim=-1:3-4", 2, 4, true);
    expect_sizes("dim=-2:1", 1, 4, true);
    expect_sizes("dim=-1:3-4,and=0:1", 2, 4, false);
    expect_sizes("dim=-1:3-4,and=0:1", 1, 4, true);
    expect_sizes("dim=-1:3-4,and=0:1", 1, 2, false);
    expect_sizes("dim=2:0-99", 2, 4, false); /* it has no such axis */
    expect_sizes("dim=-3:0-99", 2, 4, false);
    expect_sizes("dim=1:4,row=0", 2, 4, true);
    expect_sizes("dim=1:4,row=1", 2, 4, false);
}

static void test_fault__on_ort(void **state)
{
    if (!help_has_ort())
        skip();
    struct odb_tensor *out[3];
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(run_chain("fault:scale,node=b,amount=3@ort", "b", NULL, out, &err), &err);
    help_floats_equal(out[0], (float[]){2, 4, 6, 8, 10, 12, 14, 16}, 8);
    help_floats_equal(out[2], (float[]){4, 16, 36, 64, 100, 144, 196, 256}, 8);
    free_outputs(out, 3);
}

/* Acts in runs 3 and 6 of what is loaded, and counts anew for what is loaded next. */
static void test_fault__every(void **state)
{
    struct odb_executor *fault = open_fault("fault:scale,node=second,amount=1,every=3@cpu");
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_tensor *x = help_floats(2, 4, help_x), *y;
    struct odb_named in = {"x", x};
    help_chain(&bytes, NULL);
    struct odb_load load = help_load(&bytes, 4);
    for (int again = 0; again < 2; again++) {
        help_ok(odb_executor_load(fault, &load, &err), &err);
        for (int run = 1; run <= 7; run++) {
            help_ok(odb_executor_run(fault, &in, 1, (const char *[]){"y"}, 1, &y, &err), &err);
            assert_true(fabs(odb_tensor_f64(y, 1) - (run % 3 ? 2 : sqrt(8))) < 1e-5);
            odb_tensor_unref(y);
        }
    }
    odb_tensor_unref(x);
    odb_buf_dispose(&bytes);
    odb_executor_close(fault);
}

/* x -> Cast -> i -> Add -> y, of integers: y as the step leaves it. */
static void expect_steps(const char *spec, const int64_t *want)
{
    struct odb_executor *fault = open_fault(spec);
    struct odb_builder *b = odb_build_new("integers", 17);
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_tensor *x = help_floats(2, 4, (const float[8]){0}), *y;
    struct odb_named in = {"x", x};
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){2, 4});
    odb_build_node(b, "Cast", "first", "x", "i");
    odb_build_attr_int(b, "to", 7);
    odb_build_node(b, "Neg", "second", "i", "y");
    odb_build_output_typed(b, "y", ODB_I64, 2, (int64_t[]){2, 4});
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    struct odb_load load = {.bytes = bytes.data,
                            .size = bytes.len,
                            .dir = ".",
                            .node_index = help_identity,
                            .n_nodes = 2,
                            .original_outputs = help_chain_outputs,
                            .n_original_outputs = 1};
    help_ok(odb_executor_load(fault, &load, &err), &err);
    help_ok(odb_executor_run(fault, &in, 1, (const char *[]){"y"}, 1, &y, &err), &err);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(((const int64_t *)y->data)[i], want[i]);
    odb_tensor_unref(x);
    odb_tensor_unref(y);
    odb_buf_dispose(&bytes);
    odb_executor_close(fault);
}

static void test_fault__steps(void **state)
{
    struct odb_tensor *out[2];
    struct odb_error err = ODB_ERROR_INIT;
    expect_steps("fault:step,node=first@cpu", (const int64_t[]){0, 0, 0, 0, -1, 0, 0, 0});
    expect_steps("fault:step,node=second,amount=-3,count=2@cpu",
                 (const int64_t[]){0, 0, -3, 0, 0, 0, -3, 0});
    assert_int_equal(run_chain("fault:step,node=second@cpu", NULL, NULL, out, &err), ODB_E_INPUT);
    help_has_text(&err, "holds no integers");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fault__kinds),
        cmocka_unit_test(test_fault__noise_is_seeded),
        cmocka_unit_test(test_fault__round_bf16),
        cmocka_unit_test(test_fault__ends),
        cmocka_unit_test(test_fault__two_of_them),
        cmocka_unit_test(test_fault__row),
        cmocka_unit_test(test_fault__sizes),
        cmocka_unit_test(test_fault__cannot_be_planted),
        cmocka_unit_test(test_fault__wrong_spec),
        cmocka_unit_test(test_fault__hidden),
        cmocka_unit_test(test_fault__prefixes),
        cmocka_unit_test(test_fault__fused),
        cmocka_unit_test(test_fault__shapes_change),
        cmocka_unit_test(test_fault__on_ort),
        cmocka_unit_test(test_fault__every),
        cmocka_unit_test(test_fault__steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
