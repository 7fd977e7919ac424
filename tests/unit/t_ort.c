/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ONNX Runtime in this process. Without the library the tests are skipped.
 */
#include "executor_help.h"

#include <unistd.h>

#define NEED_ORT()                                                                                 \
    do {                                                                                           \
        if (!help_has_ort())                                                                       \
            skip();                                                                                \
    } while (0)

static struct odb_executor *open_ort(const char *spec)
{
    struct odb_executor *ort = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(odb_executor_open(&ort, spec, &err), &err);
    return ort;
}

static enum odb_status load_built(struct odb_executor *ort, struct odb_builder *take,
                                  struct odb_error *err)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    odb_build_bytes(take, &bytes);
    odb_build_free(take);
    struct odb_load load = {.bytes = bytes.data, .size = bytes.len, .dir = "."};
    enum odb_status status = odb_executor_load(ort, &load, err);
    odb_buf_dispose(&bytes);
    return status;
}

static void test_ort__runs(void **state)
{
    static const float y[] = {1, 2, 3, 4, 5, 6, 7, 8}, side[] = {0, 8, 0, 32, 0, 72, 0, 128};
    static const char *const specs[] = {"ort", "ort,opt=disabled", "ort,opt=basic,threads=2",
                                        "ort,opt=extended,mode=parallel"};
    NEED_ORT();
    for (size_t i = 0; i < ODB_COUNT(specs); i++) {
        struct odb_executor *ort = open_ort(specs[i]);
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_buf bytes = ODB_BUF_INIT;
        struct odb_tensor *out[2], *x = help_floats(2, 4, help_x);
        struct odb_named in = {"x", x};
        char text[200];
        help_chain(&bytes, NULL);
        struct odb_load load = help_load(&bytes, 4);
        for (int again = 0; again < 2; again++) {
            help_ok(odb_executor_load(ort, &load, &err), &err);
            help_ok(odb_executor_run(ort, &in, 1, help_chain_outputs, 2, out, &err), &err);
            help_floats_equal(out[0], y, 8);
            help_floats_equal(out[1], side, 8);
            odb_tensor_unref(out[0]);
            odb_executor_close(again ? ort : NULL);
            help_floats_equal(out[1], side, 8); /* values outlive the session */
            odb_tensor_unref(out[1]);
        }
        ort = open_ort(specs[i]);
        odb_executor_describe(ort, text, sizeof text);
        assert_memory_equal(text, "ONNX Runtime 1.", 15);
        odb_executor_close(ort);
        odb_tensor_unref(x);
        odb_buf_dispose(&bytes);
    }
}

static void test_ort__wrong_options(void **state)
{
    static const char *const bad[] = {"ort:x",         "ort,opt=some",   "ort,threads=-1",
                                      "ort,threads=a", "ort,mode=quick", "ort,library=no-such-file",
                                      "ort,x=1"};
    for (size_t i = 0; i < ODB_COUNT(bad); i++) {
        struct odb_executor *ort = NULL;
        struct odb_error err = ODB_ERROR_INIT;
        assert_int_equal(odb_executor_open(&ort, bad[i], &err), ODB_E_USAGE);
        assert_true(err.what[0] != '\0');
    }
    NEED_ORT();
    struct odb_executor *ort = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(odb_executor_open(&ort, "ort,provider=Bogus", &err), ODB_E_EXECUTOR);
    help_has_text(&err, "Bogus");
}

static void test_ort__not_found(void **state)
{
    struct odb_executor *ort = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    char why[256] = "";
    char *was = getenv("ONNXDBG_ORT") ? odb_xstrdup(getenv("ONNXDBG_ORT")) : NULL;
    setenv("ONNXDBG_ORT", "/no/such/library.so", 1);
    odb_executor_find("ort")->available(why, sizeof why);
    assert_non_null(strstr(why, "/no/such/library.so"));
    assert_int_equal(odb_executor_open(&ort, "ort", &err), ODB_E_EXECUTOR);
    help_has_text(&err, "ONNXDBG_ORT");
    setenv("ONNXDBG_ORT", "libm.so.6", 1);
    assert_int_equal(odb_executor_open(&ort, "ort", &err), ODB_E_EXECUTOR);
    help_has_text(&err, "no ONNX Runtime");
    if (was)
        setenv("ONNXDBG_ORT", was, 1);
    else
        unsetenv("ONNXDBG_ORT");
    free(was);
}

/* Identity of every element type that it has a kernel for. */
static void test_ort__types(void **state)
{
    NEED_ORT();
    struct odb_executor *ort = open_ort("ort,opt=disabled");
    for (int d = ODB_F32; d <= ODB_BF16; d++) {
        enum odb_dtype dtype = (enum odb_dtype)d;
        struct odb_error err = ODB_ERROR_INIT;
        const char *name = "y";
        if (dtype == ODB_STRING || dtype == ODB_C64 || dtype == ODB_C128)
            continue;
        struct odb_builder *b = odb_build_new("identity", 17);
        odb_build_input(b, "x", dtype, 2, (int64_t[]){2, 3});
        odb_build_node(b, "Identity", "i", "x", "y");
        odb_build_output_typed(b, "y", dtype, 2, (int64_t[]){2, 3});
        help_ok(load_built(ort, b, &err), &err);
        struct odb_tensor *x, *y;
        help_ok(odb_tensor_new(&x, dtype, 2, (int64_t[]){2, 3}, &err), &err);
        for (size_t i = 0; i < 6; i++)
            odb_store_i64(dtype, x->data, i, (int64_t)i % 2);
        struct odb_named in = {"x", x};
        help_ok(odb_executor_run(ort, &in, 1, &name, 1, &y, &err), &err);
        assert_true(odb_tensor_identical(x, y));
        odb_tensor_unref(x);
        odb_tensor_unref(y);
    }
    odb_executor_close(ort);
}

static void test_ort__strings(void **state)
{
    NEED_ORT();
    struct odb_executor *ort = open_ort("ort");
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *x, *y;
    const char *name = "y";
    struct odb_builder *b = odb_build_new("strings", 17);
    odb_build_input(b, "x", ODB_STRING, 1, (int64_t[]){3});
    odb_build_node(b, "Identity", "i", "x", "y");
    odb_build_output(b, "y");
    help_ok(load_built(ort, b, &err), &err);
    help_ok(odb_tensor_new(&x, ODB_STRING, 1, (int64_t[]){3}, &err), &err);
    help_ok(odb_tensor_set_string(x, 0, "gr\xc3\xbc\xc3\x9f", 6, &err), &err);
    help_ok(odb_tensor_set_string(x, 2, "last", 4, &err), &err);
    struct odb_named in = {"x", x};
    help_ok(odb_executor_run(ort, &in, 1, &name, 1, &y, &err), &err);
    assert_true(odb_tensor_identical(x, y));
    odb_tensor_unref(y);
    help_ok(odb_tensor_set_string(x, 1, "a\0b", 3, &err), &err);
    assert_int_equal(odb_executor_run(ort, &in, 1, &name, 1, &y, &err), ODB_E_INPUT);
    help_has_text(&err, "zero byte");
    odb_tensor_unref(x);
    odb_executor_close(ort);
}

/* A sequence comes out, and goes in again. */
static void test_ort__sequences(void **state)
{
    NEED_ORT();
    struct odb_executor *ort = open_ort("ort");
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *x = help_floats(2, 4, help_x), *out[2];
    static const char *const names[] = {"s", "n"};
    struct odb_builder *b = odb_build_new("sequence", 17);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){2, 4});
    odb_build_node(b, "SequenceConstruct", "c", "x x", "s");
    odb_build_node(b, "SequenceLength", "l", "s", "n");
    odb_build_output(b, "s");
    odb_build_output(b, "n");
    help_ok(load_built(ort, b, &err), &err);
    struct odb_named in = {"x", x};
    help_ok(odb_executor_run(ort, &in, 1, names, 2, out, &err), &err);
    assert_int_equal(out[0]->kind, ODB_SEQUENCE);
    assert_int_equal(out[0]->n_items, 2);
    assert_true(odb_tensor_identical(out[0]->items[1], x));
    assert_int_equal(odb_tensor_i64(out[1], 0), 2);
    odb_tensor_unref(out[0]);
    odb_tensor_unref(out[1]);
    odb_tensor_unref(x);
    odb_executor_close(ort);
}

static void test_ort__missing_input(void **state)
{
    NEED_ORT();
    struct odb_executor *ort = open_ort("ort");
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_tensor *out[2], *x = help_floats(4, 2, help_x);
    struct odb_named in = {"x", x};
    help_chain(&bytes, NULL);
    struct odb_load load = help_load(&bytes, 4);
    assert_int_equal(odb_executor_run(ort, &in, 1, help_chain_outputs, 2, out, &err),
                     ODB_E_EXECUTOR); /* no model */
    help_ok(odb_executor_load(ort, &load, &err), &err);
    assert_int_equal(odb_executor_run(ort, NULL, 0, help_chain_outputs, 2, out, &err), ODB_E_INPUT);
    help_has_text(&err, "'x'");
    assert_int_equal(odb_executor_run(ort, &in, 1, help_chain_outputs, 2, out, &err),
                     ODB_E_EXECUTOR);
    help_has_text(&err, "invalid dimensions for input: x");
    assert_null(out[0]);
    odb_tensor_unref(x);
    odb_buf_dispose(&bytes);
    odb_executor_close(ort);
}

/* What it refuses reaches the user in its own words, without its source paths, with a remedy. */
static void test_ort__refusals(void **state)
{
    NEED_ORT();
    static const struct {
        int64_t ir, opset;
        const char *op;
        enum odb_dtype dtype;
        enum odb_status status;
        const char *text, *remedy;
    } cases[] = {
        {99, 17, "Relu", ODB_F32, ODB_E_EXECUTOR, "Unsupported model IR version: 99", "ir_version"},
        {8, 99, "Relu", ODB_F32, ODB_E_EXECUTOR, "is till opset", "older opset"},
        {8, 17, "Erf", ODB_F64, ODB_UNSUPPORTED, "Could not find an implementation for Erf",
         "no kernel"},
        {8, 17, "NoSuchOp", ODB_F32, ODB_UNSUPPORTED, "No Op registered for NoSuchOp", "opset"},
        {8, 17, "my.domain::Foo", ODB_F32, ODB_UNSUPPORTED, "my.domain:Foo", "library=FILE"},
    };
    struct odb_executor *ort = open_ort("ort");
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_error err = ODB_ERROR_INIT;
        char text[2048];
        struct odb_builder *b = odb_build_new("refused", cases[i].opset);
        odb_build_ir_version(b, cases[i].ir);
        if (strstr(cases[i].op, "::"))
            odb_build_opset(b, "my.domain", 1);
        odb_build_input(b, "x", cases[i].dtype, 1, (int64_t[]){2});
        odb_build_node(b, cases[i].op, "n", "x", "y");
        odb_build_output_typed(b, "y", cases[i].dtype, 1, (int64_t[]){2});
        assert_int_equal(load_built(ort, b, &err), cases[i].status);
        help_has_text(&err, cases[i].text);
        assert_non_null(strstr(err.remedy, cases[i].remedy));
        odb_error_text(&err, text, sizeof text);
        assert_null(strstr(text, "onnxruntime_src"));
        assert_null(strstr(text, ".cc:"));
    }
    odb_executor_close(ort);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ort__runs),          cmocka_unit_test(test_ort__wrong_options),
        cmocka_unit_test(test_ort__not_found),     cmocka_unit_test(test_ort__types),
        cmocka_unit_test(test_ort__strings),       cmocka_unit_test(test_ort__sequences),
        cmocka_unit_test(test_ort__missing_input), cmocka_unit_test(test_ort__refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
