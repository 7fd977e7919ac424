/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ONNX Runtime in this process. Without the library the tests are skipped.
 */
#include "tests/help/executor_help.h"

#include <dirent.h>
#include <pthread.h>
#include <unistd.h>

#include "system/file.h"
#include "system/scratch.h"
#include "executor/ort/ort_int.h"
#include "executor/transport/target.h"
#include "model/model.h"
#include "model/read/load.h"
#include "model/write/write.h"

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

/* Old versions compute square roots of squares a little off. */
static void nearly_equal(const struct odb_tensor *t, const float *want, size_t n)
{
    assert_non_null(t);
    assert_int_equal(t->count, n);
    for (size_t i = 0; i < n; i++)
        assert_float_equal(odb_tensor_f64(t, i), want[i], 1e-6f * (1 + want[i]));
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
    static const char *const specs[] = {"ort",
                                        "ort,opt=disabled",
                                        "ort,opt=basic,threads=2",
                                        "ort,opt=extended,mode=parallel",
                                        "ort,ep=cpu,arena=off,mem_pattern=off",
                                        "ort,config.session.disable_prepacking=1,provider=CPU",
                                        "ort,mode=parallel,inter_threads=2,deterministic=off"};
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
            nearly_equal(out[0], y, 8);
            nearly_equal(out[1], side, 8);
            odb_tensor_unref(out[0]);
            odb_executor_close(again ? ort : NULL);
            nearly_equal(out[1], side, 8); /* values outlive the session */
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
    static const struct {
        const char *spec, *text;
    } bad[] = {
        {"ort:x", "takes no argument"},
        {"ort,opt=some", "layout"},
        {"ort,threads=-1", "threads=-1"},
        {"ort,threads=a", "no number"},
        {"ort,inter_threads=0.5", "whole number"},
        {"ort,mode=quick", "parallel"},
        {"ort,arena=maybe", "off"},
        {"ort,library=no-such-file", "no-such-file"},
        {"ort,x=1", "'x'"},
        {"ort,cuda", "'cuda'"},
        {"ort,ep=", "no execution provider"},
        {"ort,ep=cpu,webgpu", "behind the CPU"},
        {"ort,ep=webgpu,WebGpuExecutionProvider", "twice"},
        {"ort,cuda.device_id=0", "no provider that is named"},
        {"ort,ep=webgpu,cpu,cuda.device_id=0", "no provider that is named"},
        {"ort,profile=", "no file"},
    };
    for (size_t i = 0; i < ODB_COUNT(bad); i++) {
        struct odb_executor *ort = NULL;
        struct odb_error err = ODB_ERROR_INIT;
        assert_int_equal(odb_executor_open(&ort, bad[i].spec, &err), ODB_E_USAGE);
        help_has_text(&err, bad[i].text);
    }
}

/* Providers that no build has, in any spelling, and a library that is none. */
static void test_ort__not_in_this_build(void **state)
{
    static const struct {
        const char *spec, *text;
    } bad[] = {
        {"ort,ep=Bogus", "Bogus"},
        {"ort,ep=cpu_but_bogus,cpu", "cpu_but_bogus"},
        {"ort,ep=cannExecutionProvider,cpu", "was built with"},
        {"ort,ep=CANN,cann.device_id=0", "was built with"},
        {"ort,provider=snpe", "was built with"},
    };
    NEED_ORT();
    for (size_t i = 0; i < ODB_COUNT(bad); i++) {
        struct odb_executor *ort = NULL;
        struct odb_error err = ODB_ERROR_INIT;
        assert_int_equal(odb_executor_open(&ort, bad[i].spec, &err), ODB_E_EXECUTOR);
        help_has_text(&err, bad[i].text);
    }
    struct odb_executor *ort = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(odb_executor_open(&ort, "ort,library=/etc/passwd,/dev/null", &err),
                     ODB_E_EXECUTOR);
    help_has_text(&err, "library=/etc/passwd");
}

/* --- finding it --------------------------------------------------------------------------------
 */

/* A variable of the environment, for as long as a test needs it another way. */
static char *take_env(const char *name, const char *value)
{
    const char *was = getenv(name);
    char *kept = was ? odb_xstrdup(was) : NULL;
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
    return kept;
}

static void give_env(const char *name, char *was)
{
    if (was)
        setenv(name, was, 1);
    else
        unsetenv(name);
    free(was);
}

static void test_ort__not_found(void **state)
{
    struct odb_executor *ort = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    char why[1024] = "";
    char *was = take_env("ONNXDBG_ORT", "/no/such/library.so");
    odb_executor_available(odb_executor_find("ort"), NULL, why, sizeof why);
    assert_non_null(strstr(why, "/no/such/library.so"));
    assert_int_equal(odb_executor_open(&ort, "ort", &err), ODB_E_EXECUTOR);
    help_has_text(&err, "ONNXDBG_ORT");
    setenv("ONNXDBG_ORT", "/proc", 1); /* a directory without */
    assert_int_equal(odb_executor_open(&ort, "ort", &err), ODB_E_EXECUTOR);
    help_has_text(&err, "no directory with one: /proc");
    setenv("ONNXDBG_ORT", "libm.so.6", 1);
    assert_int_equal(odb_executor_open(&ort, "ort", &err), ODB_E_EXECUTOR);
    help_has_text(&err, "no ONNX Runtime");
    struct odb_runtime runtime = odb_executor_runtime(odb_executor_find("ort"), NULL);
    assert_false(odb_executor_find("ort")->found(&runtime, why, sizeof why));
    assert_non_null(strstr(why, "no ONNX Runtime"));
    give_env("ONNXDBG_ORT", was);
}

/* A library that says it is version 1.11. False: there is no compiler. */
static bool make_old_library(const char *path)
{
    char *source = odb_xasprintf("%s.c", path);
    char *command = odb_xasprintf("cc -shared -fPIC -o '%s' '%s'", path, source);
    FILE *f = fopen(source, "w");
    assert_non_null(f);
    fputs("static const char *version(void) { return \"1.11.0\"; }\n"
          "static const struct { const void *api; const char *(*version)(void); } base = {0, "
          "version};\n"
          "const void *OrtGetApiBase(void) { return &base; }\n",
          f);
    fclose(f);
    bool made = system(command) == 0;
    free(source);
    free(command);
    return made;
}

/* A directory may stand for the library, a Python environment is looked into, and a version that is
 * too old is refused by name. */
static void test_ort__places(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    char *dir, why[1024];
    help_ok(odb_scratch_new(&dir, &err), &err);
    char *capi = odb_xasprintf("%s/lib/python3.11/site-packages/onnxruntime/capi", dir);
    char *library = odb_xasprintf("%s/libonnxruntime.so.1.11.0", capi);
    char *command = odb_xasprintf("mkdir -p '%s'", capi);
    assert_int_equal(system(command), 0);
    if (!make_old_library(library)) {
        odb_scratch_remove(dir);
        print_message("skipped: there is no C compiler\n");
        skip();
    }
    char *was = take_env("ONNXDBG_ORT", capi), *venv = take_env("VIRTUAL_ENV", NULL);
    for (int by_env = 0; by_env < 2; by_env++) {
        struct odb_executor *ort = NULL;
        odb_executor_available(odb_executor_find("ort"), NULL, why, sizeof why);
        assert_string_equal(why, ""); /* files are believed */
        struct odb_runtime runtime = odb_executor_runtime(odb_executor_find("ort"), NULL);
        if (!odb_executor_find("ort")->found(&runtime, why, sizeof why)) {
            assert_non_null(strstr(why, "1.11.0"));
            assert_non_null(strstr(why, library));
            assert_non_null(strstr(why, "1.16"));
            assert_int_equal(odb_executor_open(&ort, "ort", &err), ODB_E_EXECUTOR);
            help_has_text(&err, "1.11.0");
        } else { /* the loader's path comes first, and has one */
            assert_int_equal(by_env, 1);
        }
        unsetenv("ONNXDBG_ORT");
        setenv("VIRTUAL_ENV", dir, 1);
    }
    struct odb_executor *ort = NULL;
    char *spec = odb_xasprintf("ort,runtime=%s/lib/python3.11/site-packages", dir);
    assert_int_equal(odb_executor_open(&ort, spec, &err), ODB_E_EXECUTOR);
    help_has_text(&err, "1.11.0");
    assert_int_equal(odb_executor_here("ort,runtime=/no/such/library.so", &err), ODB_E_USAGE);
    help_has_text(&err, "there is no file or folder /no/such/library.so");
    free(spec);
    give_env("ONNXDBG_ORT", was);
    give_env("VIRTUAL_ENV", venv);
    odb_scratch_remove(dir);
    free(dir);
    free(capi);
    free(library);
    free(command);
}

/* Two libraries, by names relative to the working directory, of which the executor knows. */
static void test_ort__custom_operators(void **state)
{
    NEED_ORT();
    static const float want[] = {4, -16, 36, -64, 100, -144, 196, -256};
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *x = help_floats(2, 4, help_x), *out;
    const char *name = "z";
    char here[4096], *dir;
    assert_non_null(getcwd(here, sizeof here));
    help_ok(odb_scratch_new(&dir, &err), &err);
    for (int i = 0; i < 2; i++) {
        char *command = odb_xasprintf("cc -w -shared -fPIC -DDOMAIN='\"%s\"' -o '%s/lib,%d.so' "
                                      "tests/ort_custom_op.c",
                                      i ? "other" : "test", dir, i);
        bool made = system(command) == 0;
        free(command);
        if (made)
            continue;
        print_message("skipped: there is no C compiler\n");
        skip();
    }
    assert_int_equal(chdir(dir), 0);
    struct odb_executor *ort = open_ort("ort,library=lib\\,0.so,./lib\\,1.so");
    assert_int_equal(chdir(here), 0);
    struct odb_builder *b = odb_build_new("custom", 17);
    odb_build_opset(b, "test", 1);
    odb_build_opset(b, "other", 1);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){2, 4});
    odb_build_node(b, "test::Twice", "first", "x", "y");
    odb_build_node(b, "other::Twice", "second", "y", "z");
    odb_build_output_typed(b, "z", ODB_F32, 2, (int64_t[]){2, 4});
    help_ok(load_built(ort, b, &err), &err);
    struct odb_named in = {"x", x};
    help_ok(odb_executor_run(ort, &in, 1, &name, 1, &out, &err), &err);
    help_floats_equal(out, want, 8);
    odb_tensor_unref(out);
    odb_tensor_unref(x);
    odb_executor_close(ort);
    odb_scratch_remove(dir);
    free(dir);
}

/* --- values ------------------------------------------------------------------------------------
 */

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
        {99, 17, "Relu", ODB_F32, ODB_UNSUPPORTED, "Unsupported model IR version: 99",
         "--ir-version="},
        {8, 99, "Relu", ODB_F32, ODB_UNSUPPORTED, "is till opset", "older opset"},
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

/* --- files, accounts, cancelling ---------------------------------------------------------------
 */

static size_t count_entries(const char *dir)
{
    DIR *d = opendir(dir);
    size_t n = 0;
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

/* Both are those of the first model, have the names that were asked for, and nothing else is left.
 */
static void test_ort__writes_files(void **state)
{
    NEED_ORT();
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_tensor *out[2], *x = help_floats(2, 4, help_x);
    struct odb_named in = {"x", x};
    struct odb_model *model;
    char *dir, head = 0;
    help_ok(odb_scratch_new(&dir, &err), &err);
    char *tmp = take_env("TMPDIR", dir);
    char *spec = odb_xasprintf("ort,profile=%s/p.json,optimized=%s/o.onnx,opt=basic", dir, dir);
    char *profile = odb_xasprintf("%s/p.json", dir), *optimized = odb_xasprintf("%s/o.onnx", dir);
    struct odb_executor *ort = open_ort(spec);
    help_chain(&bytes, NULL);
    struct odb_load load = help_load(&bytes, 4);
    help_ok(odb_executor_load(ort, &load, &err), &err);
    help_ok(odb_executor_run(ort, &in, 1, help_chain_outputs, 2, out, &err), &err);
    odb_tensor_unref(out[0]);
    odb_tensor_unref(out[1]);
    struct odb_builder *b = odb_build_new("other", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){2});
    odb_build_node(b, "Relu", "r", "x", "y");
    odb_build_output(b, "y");
    help_ok(load_built(ort, b, &err), &err);
    odb_executor_close(ort);
    help_ok(odb_model_open(&model, optimized, &err), &err);
    assert_int_equal(model->graph->n_nodes, 4);
    odb_model_free(model);
    FILE *f = fopen(profile, "r");
    assert_non_null(f);
    assert_int_equal(fread(&head, 1, 1, f), 1);
    assert_int_equal(head, '[');
    fclose(f);
    assert_int_equal(count_entries(dir), 2);
    give_env("TMPDIR", tmp);
    odb_scratch_remove(dir);
    odb_tensor_unref(x);
    odb_buf_dispose(&bytes);
    free(dir);
    free(spec);
    free(profile);
    free(optimized);
}

static void test_ort__cannot_write(void **state)
{
    NEED_ORT();
    struct odb_executor *ort = open_ort("ort,optimized=/no/such/folder/o.onnx");
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf bytes = ODB_BUF_INIT;
    help_chain(&bytes, NULL);
    struct odb_load load = help_load(&bytes, 4);
    assert_int_not_equal(odb_executor_load(ort, &load, &err), ODB_OK);
    help_has_text(&err, "/no/such/folder/o.onnx");
    odb_buf_dispose(&bytes);
    odb_executor_close(ort);
}

/* The file that the bytes are of is what is opened, as long as it still holds them. */
static void test_ort__opens_the_file(void **state)
{
    NEED_ORT();
    static const char *const held[] = {NULL, "something else", ""}; /* NULL: the model */
    struct odb_executor *ort = open_ort("ort");
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf bytes = ODB_BUF_INIT;
    char *dir;
    help_ok(odb_scratch_new(&dir, &err), &err);
    char *path = odb_xasprintf("%s/m.onnx", dir);
    help_chain(&bytes, NULL);
    struct odb_load load = help_load(&bytes, 4);
    load.path = path;
    for (size_t i = 0; i < ODB_COUNT(held); i++) {
        const void *data = held[i] ? held[i] : bytes.data;
        size_t size = held[i] ? strlen(held[i]) : bytes.len;
        help_ok(odb_file_write(path, data, size, &err), &err);
        help_ok(odb_executor_load(ort, &load, &err), &err);
        assert_int_equal(((struct ort *)ort->self)->file != NULL, held[i] == NULL);
    }
    load.path = dir; /* no file at all */
    help_ok(odb_executor_load(ort, &load, &err), &err);
    assert_null(((struct ort *)ort->self)->file);
    odb_executor_close(ort);
    odb_scratch_remove(dir);
    odb_buf_dispose(&bytes);
    free(path);
    free(dir);
}

/* Weights in another file, which optimisers read: the working directory is where it lies. */
static void test_ort__external_weights(void **state)
{
    NEED_ORT();
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_model *model;
    static float w[64 * 64];
    char *dir, here[4096];
    const char *y = "y";
    for (size_t i = 0; i < ODB_COUNT(w); i++)
        w[i] = (float)(i % 65 == 0); /* the unit matrix */
    assert_non_null(getcwd(here, sizeof here));
    help_ok(odb_scratch_new(&dir, &err), &err);
    struct odb_builder *b = odb_build_new("external", 17);
    struct odb_tensor *t = help_floats(64, 64, w), *x = help_floats(1, 64, w), *out;
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){1, 64});
    odb_build_weight(b, "w", t);
    odb_build_node(b, "Transpose", "t", "w", "wt"); /* folded away */
    odb_build_node(b, "MatMul", "m", "x wt", "y");
    odb_build_output(b, "y");
    char *path = odb_xasprintf("%s/m.onnx", dir);
    help_ok(odb_build_write(b, path, "m.data", &err), &err);
    odb_build_free(b);
    help_ok(odb_model_open(&model, path, &err), &err);
    struct odb_port in = {.value = odb_graph_value(model->graph, "x")->index},
                    port = {.value = odb_graph_value(model->graph, "y")->index};
    struct odb_extract what = {.inputs = &in,
                               .n_inputs = 1,
                               .outputs = &port,
                               .n_outputs = 1,
                               .weights = ODB_WEIGHTS_REFERENCE};
    help_ok(odb_model_extract(model, &what, &bytes, &err), &err);
    assert_true(bytes.len < sizeof w); /* the weight is not among them */
    assert_int_equal(chdir(dir), 0);
    static const char *const specs[] = {"ort", "ort,opt=disabled"};
    for (size_t i = 0; i < ODB_COUNT(specs); i++) {
        struct odb_executor *ort = open_ort(specs[i]);
        struct odb_load load = {.bytes = bytes.data, .size = bytes.len, .dir = dir};
        struct odb_account account = ODB_ACCOUNT_INIT;
        help_ok(odb_executor_load(ort, &load, &err), &err);
        help_ok(odb_executor_run(ort, &(struct odb_named){"x", x}, 1, &y, 1, &out, &err), &err);
        assert_true(odb_tensor_identical(x, out));
        odb_tensor_unref(out);
        help_ok(odb_executor_account(ort, &account, &err), &err);
        assert_true(account.places.n > 0);
        assert_int_equal(account.notes.n, 0);
        odb_account_dispose(&account);
        odb_executor_close(ort);
    }
    assert_int_equal(chdir(here), 0);
    odb_scratch_remove(dir);
    odb_model_free(model);
    odb_tensor_unref(t);
    odb_tensor_unref(x);
    odb_buf_dispose(&bytes);
    free(path);
    free(dir);
}

static bool has_note(const struct odb_account *account, const char *part)
{
    for (size_t i = 0; i < account->notes.n; i++)
        if (strstr(account->notes.items[i], part))
            return true;
    for (size_t i = 0; i < account->notes.n; i++)
        print_message("note: %s\n", account->notes.items[i]);
    return false;
}

static void test_ort__account(void **state)
{
    NEED_ORT();
    struct odb_executor *ort = open_ort("ort,opt=disabled");
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_account account = ODB_ACCOUNT_INIT;
    char *dir;
    assert_int_equal(odb_executor_account(ort, &account, &err), ODB_E_EXECUTOR); /* no model */
    help_ok(odb_scratch_new(&dir, &err), &err);
    char *tmp = take_env("TMPDIR", dir);
    help_chain(&bytes, NULL);
    struct odb_load load = help_load(&bytes, 4);
    help_ok(odb_executor_load(ort, &load, &err), &err);
    help_ok(odb_executor_account(ort, &account, &err), &err);
    assert_int_equal(account.places.n, 4);
    assert_string_equal(account.places.items[0].node, "first");
    assert_string_equal(account.places.items[0].op_type, "Neg");
    assert_string_equal(account.places.items[0].where, "CPUExecutionProvider");
    assert_int_equal(account.notes.n, 0);
    assert_non_null(strstr(odb_buf_text(&account.text), "Sqrt"));
    assert_int_equal(count_entries(dir), 0);
    odb_account_dispose(&account);
    give_env("TMPDIR", tmp);
    odb_scratch_remove(dir);
    odb_buf_dispose(&bytes);
    odb_executor_close(ort);
    free(dir);
}

/* One session is both: it tells while it is made, and runs. What cannot be loaded is refused in the
 * same words, once. */
static void test_ort__account_at_once(void **state)
{
    static const float y[] = {1, 2, 3, 4, 5, 6, 7, 8};
    NEED_ORT();
    struct odb_executor *ort = open_ort("ort");
    struct odb_error err = ODB_ERROR_INIT, again = ODB_ERROR_INIT;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_account told = ODB_ACCOUNT_INIT, account = ODB_ACCOUNT_INIT;
    struct odb_tensor *out[2], *x = help_floats(2, 4, help_x);
    struct odb_named in = {"x", x};
    char *dir;
    help_ok(odb_scratch_new(&dir, &err), &err);
    char *tmp = take_env("TMPDIR", dir);
    help_chain(&bytes, NULL);
    struct odb_load load = help_load(&bytes, 4);
    help_ok(odb_executor_load(ort, &load, &err), &err);
    assert_int_equal(count_entries(dir), 0);
    help_ok(odb_executor_account(ort, &account, &err), &err);
    load.account = true;
    help_ok(odb_executor_load(ort, &load, &err), &err);
    assert_int_equal(count_entries(dir), 1); /* the graph */
    help_ok(odb_executor_run(ort, &in, 1, help_chain_outputs, 2, out, &err), &err);
    nearly_equal(out[0], y, 8);
    odb_tensor_unref(out[0]);
    odb_tensor_unref(out[1]);
    help_ok(odb_executor_account(ort, &told, &err), &err);
    assert_string_equal(odb_buf_text(&told.text), odb_buf_text(&account.text));
    assert_string_equal(odb_buf_text(&told.groups), odb_buf_text(&account.groups));
    assert_int_equal(told.places.n, account.places.n);
    assert_int_equal(told.notes.n, 0);
    load.size /= 2;
    assert_int_equal(odb_executor_load(ort, &load, &err), ODB_E_EXECUTOR);
    load.account = false;
    assert_int_equal(odb_executor_load(ort, &load, &again), ODB_E_EXECUTOR);
    assert_string_equal(err.what, again.what);
    assert_int_equal(count_entries(dir), 0);
    odb_account_dispose(&told);
    odb_account_dispose(&account);
    give_env("TMPDIR", tmp);
    odb_scratch_remove(dir);
    odb_buf_dispose(&bytes);
    odb_tensor_unref(x);
    odb_executor_close(ort);
    free(dir);
}

/* The CPU provider has no Erf for float16, and computes it between Casts; Identity is not touched.
 */
static void test_ort__account_of_half(void **state)
{
    NEED_ORT();
    struct odb_executor *ort = open_ort("ort");
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_account account = ODB_ACCOUNT_INIT;
    struct odb_builder *b = odb_build_new("half", 17);
    odb_build_input(b, "x", ODB_F16, 1, (int64_t[]){4});
    odb_build_node(b, "Erf", "e", "x", "z");
    odb_build_node(b, "Sin", "s", "z", "w");
    odb_build_node(b, "Reshape", "r", "w shape", "y");
    struct odb_tensor *shape;
    help_ok(odb_tensor_copy_of(&shape, ODB_I64, 1, (int64_t[]){2}, (int64_t[]){2, 2}, &err), &err);
    odb_build_weight(b, "shape", shape);
    odb_build_output_typed(b, "y", ODB_F16, 2, (int64_t[]){2, 2});
    odb_tensor_unref(shape);
    help_ok(load_built(ort, b, &err), &err);
    help_ok(odb_executor_account(ort, &account, &err), &err);
    assert_true(has_note(&account, "3 nodes of the model's half precision run in float32"));
    assert_true(has_note(&account, "Erf, Sin, Reshape"));
    odb_account_dispose(&account);
    odb_executor_close(ort);
}

/* A provider that has no kernel for anything in the model leaves it to the CPU, which is said. */
static void test_ort__account_of_webgpu(void **state)
{
    NEED_ORT();
    struct odb_executor *ort = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_account account = ODB_ACCOUNT_INIT;
    char text[2048];
    if (odb_executor_open(&ort, "ort,ep=webgpu,cpu,opt=disabled", &err) != ODB_OK) {
        print_message("skipped: %s\n", odb_error_text(&err, text, sizeof text));
        skip();
    }
    struct odb_builder *b = odb_build_new("det", 17);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){3, 3});
    odb_build_node(b, "Det", "d", "x", "y");
    odb_build_output_typed(b, "y", ODB_F32, 0, NULL);
    help_ok(load_built(ort, b, &err), &err);
    help_ok(odb_executor_account(ort, &account, &err), &err);
    assert_true(has_note(&account, "webgpu was asked for, but everything runs on the CPU: 1 node"));
    odb_account_dispose(&account);
    odb_executor_close(ort);
}

/* Counts to a billion, which takes minutes. */
static void endless_loop(struct odb_buf *bytes)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_builder *b = odb_build_new("endless", 17), *body = odb_build_new("body", 17);
    struct odb_tensor *m;
    odb_build_input(body, "i", ODB_I64, 0, NULL);
    odb_build_input(body, "go", ODB_BOOL, 0, NULL);
    odb_build_input(body, "s", ODB_F32, 2, (int64_t[]){2, 4});
    odb_build_node(body, "Identity", "", "go", "go_on");
    odb_build_node(body, "Abs", "", "s", "t");
    odb_build_output_typed(body, "go_on", ODB_BOOL, 0, NULL);
    odb_build_output_typed(body, "t", ODB_F32, 2, (int64_t[]){2, 4});
    help_ok(odb_tensor_copy_of(&m, ODB_I64, 0, NULL, (int64_t[]){1000000000}, &err), &err);
    odb_build_weight(b, "m", m);
    odb_tensor_unref(m);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){2, 4});
    odb_build_node(b, "Loop", "loop", "m - x", "y");
    odb_build_attr_graph(b, "body", body);
    odb_build_output_typed(b, "y", ODB_F32, 2, (int64_t[]){2, 4});
    odb_build_bytes(b, bytes);
    odb_build_free(b);
}

static void *cancel_soon(void *arg)
{
    usleep(100 * 1000);
    assert_true(odb_executor_cancel(arg));
    return NULL;
}

static void test_ort__cancel(void **state)
{
    NEED_ORT();
    struct odb_executor *ort = open_ort("ort");
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_tensor *x = help_floats(2, 4, help_x), *out;
    struct odb_named in = {"x", x};
    pthread_t thread;
    const char *y = "y";
    endless_loop(&bytes);
    struct odb_load load = help_load(&bytes, 1);
    help_ok(odb_executor_load(ort, &load, &err), &err);
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, ort), 0);
    assert_int_equal(odb_executor_run(ort, &in, 1, &y, 1, &out, &err), ODB_E_EXECUTOR);
    help_has_text(&err, "terminate flag");
    pthread_join(thread, NULL);
    odb_executor_close(ort);
    odb_tensor_unref(x);
    odb_buf_dispose(&bytes);
}

static bool cancel_at_once(void *payload)
{
    return true;
}

/* The child is told before it is killed: the profile, written when all is put away, is there. */
static void test_ort__cancelled_child(void **state)
{
    NEED_ORT();
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_target *target;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_tensor *x = help_floats(2, 4, help_x), *out;
    struct odb_named in = {"x", x};
    const char *y = "y";
    char *dir;
    help_find_serve();
    help_ok(odb_scratch_new(&dir, &err), &err);
    char *spec = odb_xasprintf("ort,profile=%s/p.json", dir);
    help_ok(odb_target_open(&target, spec, &err), &err);
    endless_loop(&bytes);
    struct odb_load load = help_load(&bytes, 1);
    help_ok(odb_target_load(target, &load, &err), &err);
    odb_target_set_cancel(target, cancel_at_once, NULL);
    assert_int_equal(odb_target_run(target, &in, 1, &y, 1, &out, &err), ODB_CANCELLED);
    odb_target_close(target);
    assert_int_equal(count_entries(dir), 1);
    odb_scratch_remove(dir);
    odb_tensor_unref(x);
    odb_buf_dispose(&bytes);
    free(spec);
    free(dir);
}

/* The log is the process's, and outlives the executor that opened it. */
static void test_ort__two_of_them(void **state)
{
    NEED_ORT();
    struct odb_executor *first = open_ort("ort"), *second = open_ort("ort,opt=disabled");
    struct odb_error err = ODB_ERROR_INIT;
    odb_executor_close(first);
    struct odb_builder *b = odb_build_new("refused", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){2});
    odb_build_node(b, "NoSuchOp", "n", "x", "y");
    odb_build_output_typed(b, "y", ODB_F32, 1, (int64_t[]){2});
    assert_int_equal(load_built(second, b, &err), ODB_UNSUPPORTED);
    odb_executor_close(second);
}

/* It keeps some bytes of a run that was told to end. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libonnxruntime";
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ort__runs),
        cmocka_unit_test(test_ort__wrong_options),
        cmocka_unit_test(test_ort__not_in_this_build),
        cmocka_unit_test(test_ort__not_found),
        cmocka_unit_test(test_ort__places),
        cmocka_unit_test(test_ort__custom_operators),
        cmocka_unit_test(test_ort__types),
        cmocka_unit_test(test_ort__strings),
        cmocka_unit_test(test_ort__sequences),
        cmocka_unit_test(test_ort__missing_input),
        cmocka_unit_test(test_ort__refusals),
        cmocka_unit_test(test_ort__writes_files),
        cmocka_unit_test(test_ort__cannot_write),
        cmocka_unit_test(test_ort__opens_the_file),
        cmocka_unit_test(test_ort__external_weights),
        cmocka_unit_test(test_ort__account),
        cmocka_unit_test(test_ort__account_at_once),
        cmocka_unit_test(test_ort__account_of_half),
        cmocka_unit_test(test_ort__account_of_webgpu),
        cmocka_unit_test(test_ort__two_of_them),
        cmocka_unit_test(test_ort__cancel),
        cmocka_unit_test(test_ort__cancelled_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
