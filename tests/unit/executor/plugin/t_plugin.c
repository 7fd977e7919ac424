/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Executors from shared libraries: one that is wrong in every way that can be caught
 * (tests/plugin/wrong_executor.c). tests/check-plugin has the libraries that are none.
 */
#include "executor/transport/target.h"

#include <dlfcn.h>
#include <time.h>

#include "tests/help/executor_help.h"

static const float ones[] = {1, 2, 3, 4, 5, 6, 7, 8};

static const char *library(void)
{
    static char path[4200];
    char build[4096];
    help_find_serve();
    snprintf(path, sizeof path, "%s/wrong_executor.so", help_build_folder(build, sizeof build));
    return path;
}

static char *spec_of(const char *options)
{
    return odb_xasprintf("plugin:%s%s", library(), options);
}

static struct odb_executor *open_wrong(const char *options)
{
    struct odb_executor *executor = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    char *spec = spec_of(options);
    help_ok(odb_executor_open(&executor, spec, &err), &err);
    free(spec);
    return executor;
}

static enum odb_status load_chain(struct odb_executor *executor, struct odb_error *err)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    help_chain(&bytes, NULL);
    struct odb_load load = help_load(&bytes, 4);
    enum odb_status status = odb_executor_load(executor, &load, err);
    odb_buf_dispose(&bytes);
    return status;
}

static enum odb_status run_chain(struct odb_executor *executor, size_t n, struct odb_tensor **out,
                                 struct odb_error *err)
{
    struct odb_tensor *x = help_floats(2, 4, help_x);
    struct odb_named in = {"x", x};
    enum odb_status status = odb_executor_run(executor, &in, 1, help_chain_outputs, n, out, err);
    odb_tensor_unref(x);
    return status;
}

static int *done_count(void)
{
    void *handle = dlopen(library(), RTLD_NOW); /* once more the same */
    assert_non_null(handle);
    int *count = dlsym(handle, "wrong_executor_done");
    assert_non_null(count);
    dlclose(handle);
    return count;
}

static void test_plugin__gives(void **state)
{
    struct odb_executor *executor = open_wrong("");
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *out[2], *kept;
    int *done = done_count();
    help_ok(load_chain(executor, &err), &err);
    *done = 0;
    help_ok(run_chain(executor, 2, out, &err), &err);
    assert_int_equal(*done, 0); /* the numbers are still those of the library */
    help_floats_equal(out[0], ones, 8);
    kept = odb_tensor_ref(out[1]);
    odb_tensor_unref(out[0]);
    odb_tensor_unref(out[1]);
    assert_int_equal(*done, 1);
    odb_tensor_unref(kept);
    assert_int_equal(*done, 2);
    help_ok(run_chain(executor, 1, out, &err), &err); /* the other one is not wanted */
    assert_int_equal(*done, 3);
    odb_tensor_unref(out[0]);
    assert_int_equal(*done, 4);
    odb_executor_close(executor);
}

static void test_plugin__fills(void **state)
{
    struct odb_executor *executor = open_wrong(",do=fills");
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *out[1];
    help_ok(load_chain(executor, &err), &err);
    help_ok(run_chain(executor, 1, out, &err), &err);
    help_floats_equal(out[0], help_x, 8);
    odb_tensor_unref(out[0]);
    odb_executor_close(executor);
}

static void test_plugin__wanted(void **state)
{
    static const float both[8] = {1, 1}, second[8] = {0, 1};
    struct odb_executor *executor = open_wrong(",do=wanted");
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *out[2], *x = help_floats(2, 4, help_x);
    struct odb_named in = {"x", x};
    help_ok(load_chain(executor, &err), &err);
    help_ok(run_chain(executor, 2, out, &err), &err);
    help_floats_equal(out[0], both, 8);
    odb_tensor_unref(out[0]);
    odb_tensor_unref(out[1]);
    help_ok(odb_executor_run(executor, &in, 1, help_chain_outputs + 1, 1, out, &err), &err);
    help_floats_equal(out[0], second, 8);
    odb_tensor_unref(out[0]);
    odb_tensor_unref(x);
    odb_executor_close(executor);
}

static void test_plugin__wrongs(void **state)
{
    static const struct {
        const char *act, *text;
        enum odb_status status; /* 0: ODB_E_EXECUTOR */
    } wrongs[] = {
        {"nothing", "it gives no output 'y'"},
        {"silent", "execute() returned 7 without a reason"},
        {"fails", "first line second line; a way out", ODB_UNSUPPORTED},
        {"bare", "an unknown code"},
        {"type", "it gives output 'y' as double, and the model says float"},
        {"no-type", "it gives output 'y' a type 99 of kind 0 that is none"},
        {"output-rank", "output 'y': a tensor of rank 17", ODB_E_INPUT},
        {"output-bare", "output 'y': a rank without dims"},
        {"output-huge", "too large for memory", ODB_E_NOMEM},
        {"index", "it gives output 2, and the model has 2"},
        {"twice", "it gives output 'y' twice"},
        {"late-graph", "it calls graph() outside of load_model()"},
        {"string", "it writes string 0 of output 0, which is not there"},
        {"early-note", "it calls note() outside of account()"},
        {"short", "output 'y': 28 bytes where shape (2, 4), float, needs 32", ODB_E_INPUT},
        {"no-elements", "output 'y': what it gives has a size without elements"},
        {"no-dims", "what it gives has a rank without dims"},
        {"negative", "dimension 1 is negative: -4", ODB_E_INPUT},
        {"huge", "too large for memory", ODB_E_NOMEM},
        {"deep", "it gives output 'y' as an optional anything, and the model says float"},
        {"sequence", "it gives output 'y' as a sequence of anything, and the model says float"},
        {"kind", "it gives output 'y' a type 1 of kind 9 that is none"},
        {"null", "it gives output 'y' a type -1 of kind -1 that is none"},
        {"rank", "what it gives has an impossible rank"},
    };
    int *done = done_count();
    for (size_t i = 0; i < ODB_COUNT(wrongs); i++) {
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_tensor *out[2];
        char *options = odb_xasprintf(",do=%s", wrongs[i].act);
        struct odb_executor *executor = open_wrong(options);
        help_ok(load_chain(executor, &err), &err);
        *done = 0;
        enum odb_status status = run_chain(executor, 2, out, &err);
        if (status != (wrongs[i].status ? wrongs[i].status : ODB_E_EXECUTOR))
            fail_msg("%s: status %d", wrongs[i].act, status);
        help_has_text(&err, "wrong: ");
        help_has_text(&err, wrongs[i].text);
        assert_null(strchr(err.what, '\n'));
        assert_null(out[0]);
        odb_executor_close(executor);
        free(options);
    }
}

/* What no type of the model contradicts, because there is none. */
static void test_plugin__wrong_containers(void **state)
{
    static const struct {
        const char *act, *text;
    } wrongs[] = {
        {"deep", "endless nesting"}, {"two", "two values in one"}, {"one", "a pair that is none"}};
    for (size_t i = 0; i < ODB_COUNT(wrongs); i++) {
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_builder *b = odb_build_new("untyped", 17);
        struct odb_buf bytes = ODB_BUF_INIT;
        struct odb_tensor *out[1];
        char *options = odb_xasprintf(",do=%s", wrongs[i].act);
        struct odb_executor *executor = open_wrong(options);
        odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){2, 4});
        odb_build_node(b, "Identity", "i", "x", "y");
        odb_build_output(b, "y");
        odb_build_bytes(b, &bytes);
        odb_build_free(b);
        struct odb_load load = {.bytes = bytes.data, .size = bytes.len, .dir = "."};
        help_ok(odb_executor_load(executor, &load, &err), &err);
        assert_int_equal(run_chain(executor, 1, out, &err), ODB_E_EXECUTOR);
        help_has_text(&err, wrongs[i].text);
        odb_executor_close(executor);
        odb_buf_dispose(&bytes);
        free(options);
    }
}

static void test_plugin__wrong_loads(void **state)
{
    static const struct {
        const char *act, *text;
    } wrongs[] = {{"load-silent", "load_model() returned -3 without a reason"},
                  {"load-fails", "wrong: the compiler gave up"},
                  {"load-output", "it calls output() outside of execute()"}};
    for (size_t i = 0; i < ODB_COUNT(wrongs); i++) {
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_tensor *out[2];
        char *options = odb_xasprintf(",do=%s", wrongs[i].act);
        struct odb_executor *executor = open_wrong(options);
        assert_int_equal(load_chain(executor, &err), ODB_E_EXECUTOR);
        help_has_text(&err, wrongs[i].text);
        assert_int_equal(run_chain(executor, 2, out, &err), ODB_E_EXECUTOR);
        help_has_text(&err, "no model is loaded");
        odb_executor_close(executor);
        free(options);
    }
}

static void test_plugin__wrong_inits(void **state)
{
    static const struct {
        const char *spec, *text;
        enum odb_status status;
    } wrongs[] = {
        {",do=init-fails", "wrong: no device; plug one in", ODB_E_EXECUTOR},
        {",do=init-silent", "init() returned 1 without a reason", ODB_E_EXECUTOR},
        {"@cpu", "wraps no other executor", ODB_E_USAGE},
        {".no", "it cannot be opened: No such file", ODB_E_USAGE},
    };
    struct odb_executor *executor = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    for (size_t i = 0; i < ODB_COUNT(wrongs); i++) {
        char *spec = spec_of(wrongs[i].spec);
        err = (struct odb_error)ODB_ERROR_INIT;
        assert_int_equal(odb_executor_open(&executor, spec, &err), wrongs[i].status);
        help_has_text(&err, wrongs[i].text);
        free(spec);
    }
    assert_int_equal(odb_executor_open(&executor, "plugin", &err), ODB_E_USAGE);
    assert_null(executor);
}

static void test_plugin__options(void **state)
{
    char text[200];
    struct odb_executor *executor =
        open_wrong(",a=1\\,2,flag,timeout=9,do=options,workers=2,b\\=c=\\@");
    odb_executor_describe(executor, text, sizeof text);
    assert_string_equal(text, "[a|1,2][flag|][b=c|@]11");
    odb_executor_close(executor);
    executor = open_wrong(",do=quiet");
    odb_executor_describe(executor, text, sizeof text);
    assert_string_equal(text, "wrong");
    odb_executor_close(executor);
    executor = open_wrong(",a=1\n2");
    odb_executor_describe(executor, text, sizeof text);
    assert_string_equal(text, "[a|1 2]");
    odb_executor_close(executor);
}

static void test_plugin__inputs(void **state)
{
    struct odb_executor *executor = open_wrong("");
    struct odb_tensor *out[1], *x = help_floats(2, 4, help_x), *flat = help_floats(1, 8, help_x);
    struct odb_tensor *d;
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(odb_tensor_cast(&d, x, ODB_F64, &err), &err);
    const struct {
        const char *name, *output, *text;
        const struct odb_tensor *tensor;
    } wrongs[] = {
        {"x", "y", "input 'x' is double, and the model takes float", d},
        {"x", "y", "input 'x' has the shape (1, 8), and the model takes float[2, 4]", flat},
        {"a", "y", "the model has no input 'a'", x},
        {NULL, "y", "there is no value for the input 'x'", x},
        {"x", "b", "the model has no output 'b'", x},
    };
    help_ok(load_chain(executor, &err), &err);
    for (size_t i = 0; i < ODB_COUNT(wrongs); i++) {
        struct odb_named in = {wrongs[i].name, wrongs[i].tensor};
        err = (struct odb_error)ODB_ERROR_INIT;
        assert_int_equal(
            odb_executor_run(executor, &in, in.name != NULL, &wrongs[i].output, 1, out, &err),
            ODB_E_INPUT);
        help_has_text(&err, wrongs[i].text);
    }
    odb_executor_close(executor);
    odb_tensor_unref(x);
    odb_tensor_unref(flat);
    odb_tensor_unref(d);
}

/* Every kind of attribute, a body that uses a value from outside, weights, what is not declared. */
static struct odb_builder *build_sight(void)
{
    struct odb_builder *b = odb_build_new("sight", 17);
    struct odb_builder *body = odb_build_new("body", 17), *other = odb_build_new("other", 17);
    struct odb_tensor *w = help_floats(1, 2, (const float[]){3, 4});
    odb_build_opset(b, "my", 3);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){-1, 4});
    odb_build_input(b, "c", ODB_BOOL, 0, NULL);
    odb_build_weight(b, "w", w);
    odb_build_node(b, "my::Op", "n0", "x - w", "a -");
    odb_build_attr_int(b, "i", -5);
    odb_build_attr_float(b, "f", 0.5F);
    odb_build_attr_string(b, "s", "text");
    odb_build_attr_ints(b, "ints", 2, (int64_t[]){1, 2});
    odb_build_attr_floats(b, "floats", 2, (float[]){1.5F, 2.5F});
    odb_build_attr_strings(b, "strings", "one two");
    odb_build_attr_tensor(b, "t", w);
    odb_build_attr_type(b, "type", ODB_I64, true);
    odb_build_node(body, "Neg", "inner", "a", "r");
    odb_build_output(body, "r");
    odb_build_node(other, "Abs", "inner2", "a", "r");
    odb_build_output(other, "r");
    odb_build_node(b, "If", "n1", "c", "y");
    odb_build_attr_graph(b, "then_branch", body);
    odb_build_attr_graph(b, "else_branch", other);
    odb_build_output_typed(b, "y", ODB_F32, 2, (int64_t[]){-1, 4});
    odb_tensor_unref(w);
    return b;
}

static const char sight[] = "1 bytes, 1\n"
                            "x 0:1(-1N0,4)\n"
                            "c 0:9()\n"
                            "y 0:1(-1N0,4)\n"
                            "graph sight\n";

static void test_plugin__graph(void **state)
{
    static const char *const parts[] = {
        "\nw 0:1(1,2) = 0:1(1,2) 3 4\n",
        "\na 0:0(?)\n",
        "i=-5 f=0.5 s=text ints=1,2, floats=1.5,2.5, strings=one,two, t=0:1(1,2) 3 4",
        "type=seq(int64[]) 7",
        "then_branch={\ngraph body\n",
        "Neg|17|",
        "\nin 0\nin 1\nout ",
    };
    struct odb_executor *executor = open_wrong(",do=look");
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_account account = ODB_ACCOUNT_INIT;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_builder *b = build_sight();
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    struct odb_load load = {.bytes = bytes.data, .size = bytes.len, .dir = "."};
    help_ok(odb_executor_load(executor, &load, &err), &err);
    help_ok(odb_executor_account(executor, &account, &err), &err);
    const char *text = odb_buf_text(&account.text);
    if (strncmp(text, sight, strlen(sight)) != 0)
        fail_msg("the model is seen as %s", text);
    for (size_t i = 0; i < ODB_COUNT(parts); i++)
        if (!strstr(text, parts[i]))
            fail_msg("'%s' is not in: %s", parts[i], text);
    int x, w, a, outer;
    assert_int_equal(
        sscanf(strstr(text, "n0|my|Op|3|"), "n0|my|Op|3| %d -1 %d -> %d -1", &x, &w, &a), 3);
    assert_int_equal(sscanf(strstr(text, "\na 0:0(?) outer"), "\na 0:0(?) outer %d", &outer), 1);
    assert_int_equal(outer, a);
    assert_null(strstr(text, "crooked"));
    assert_int_equal(account.places.n, 1);
    assert_string_equal(account.places.items[0].where, "npu:0");
    assert_string_equal(account.notes.items[0], "a note of 2 lines");
    odb_account_dispose(&account);
    odb_executor_close(executor);
    odb_buf_dispose(&bytes);
}

static void test_plugin__bad_account(void **state)
{
    struct odb_executor *executor = open_wrong(",do=bad-account");
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_account account = ODB_ACCOUNT_INIT;
    help_ok(load_chain(executor, &err), &err);
    assert_int_equal(odb_executor_account(executor, &account, &err), ODB_E_EXECUTOR);
    help_has_text(&err, "the books are lost");
    odb_account_dispose(&account);
    odb_executor_close(executor);
}

/* --- in a child ------------------------------------------------------------------------------- */

static bool cancel_second(void *payload)
{
    return ++*(int *)payload == 2;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Runs the chain in a child that will not end by itself, and gives it up. What release() wrote
 * into the file goes to said; "" when there is none. */
static void cancel_in_child(const char *act, char *said, size_t size)
{
    char file[] = "/tmp/t_plugin-XXXXXX";
    struct odb_target *target;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *x = help_floats(2, 4, help_x), *out[2];
    struct odb_named in = {"x", x};
    struct odb_buf bytes = ODB_BUF_INIT;
    int asked = 0;
    close(mkstemp(file));
    unlink(file);
    char *options = odb_xasprintf(",do=%s,file=%s", act, file);
    char *spec = spec_of(options);
    help_ok(odb_target_open(&target, spec, &err), &err);
    help_chain(&bytes, NULL);
    struct odb_load load = help_load(&bytes, 4);
    help_ok(odb_target_load(target, &load, &err), &err);
    odb_target_set_cancel(target, cancel_second, &asked);
    double begin = seconds();
    assert_int_equal(odb_target_run(target, &in, 1, help_chain_outputs, 2, out, &err),
                     ODB_CANCELLED);
    assert_true(seconds() - begin < 5);
    odb_target_set_cancel(target, NULL, NULL);
    FILE *f = fopen(file, "r");
    size_t n = f ? fread(said, 1, size - 1, f) : 0;
    said[n] = '\0';
    if (f)
        fclose(f);
    unlink(file);
    help_ok(odb_target_load(target, &load, &err), &err); /* another child */
    odb_target_close(target);
    unlink(file);
    odb_buf_dispose(&bytes);
    odb_tensor_unref(x);
    free(options);
    free(spec);
}

static void test_plugin__cancel(void **state)
{
    char said[200];
    cancel_in_child("wait", said, sizeof said);
    assert_string_equal(said, "stopped 1, released\n");
    setenv("WRONG_EXECUTOR_DEAF", "1", 1);
    cancel_in_child("ask", said, sizeof said);
    assert_string_equal(said, "asked, released\n");
    cancel_in_child("hang", said, sizeof said);
    assert_string_equal(said, "");
    unsetenv("WRONG_EXECUTOR_DEAF");
}

static void test_plugin__crash(void **state)
{
    struct odb_target *target;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *x = help_floats(2, 4, help_x), *out[2];
    struct odb_named in = {"x", x};
    struct odb_buf bytes = ODB_BUF_INIT;
    char *spec = spec_of(",do=crash");
    help_ok(odb_target_open(&target, spec, &err), &err);
    help_chain(&bytes, NULL);
    struct odb_load load = help_load(&bytes, 4);
    help_ok(odb_target_load(target, &load, &err), &err);
    assert_int_equal(odb_target_run(target, &in, 1, help_chain_outputs, 2, out, &err), ODB_E_CRASH);
    help_has_text(&err, "SIGABRT");
    help_has_text(&err, "the device is on fire");
    odb_target_close(target);
    odb_buf_dispose(&bytes);
    odb_tensor_unref(x);
    free(spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plugin__gives),
        cmocka_unit_test(test_plugin__fills),
        cmocka_unit_test(test_plugin__wanted),
        cmocka_unit_test(test_plugin__wrongs),
        cmocka_unit_test(test_plugin__wrong_containers),
        cmocka_unit_test(test_plugin__wrong_loads),
        cmocka_unit_test(test_plugin__wrong_inits),
        cmocka_unit_test(test_plugin__options),
        cmocka_unit_test(test_plugin__inputs),
        cmocka_unit_test(test_plugin__graph),
        cmocka_unit_test(test_plugin__bad_account),
        cmocka_unit_test(test_plugin__cancel),
        cmocka_unit_test(test_plugin__crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
