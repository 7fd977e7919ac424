/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Models compiled by onnx-mlir. The real compiler is not packaged: tests/mlir has a stand-in, and
 * shell scripts here stand before it and misbehave.
 */
#include "executor/transport/target.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "system/file.h"
#include "executor/kept/cache.h"
#include "executor/onnx_mlir/onnx_mlir_int.h"
#include "tests/help/executor_help.h"
#include "model/read/load.h"
#include "model/write/write.h"

/* home/bin/onnx-mlir is ours, tmp must be empty after a test, kept is the cache. */
struct place {
    char dir[64], home[80], compiler[120], tmp[80], kept[80], log[80];
    char real[4300]; /* the stand-in */
};

static void write_file(const char *path, const char *text, mode_t mode)
{
    struct odb_error err = ODB_ERROR_INIT;
    unlink(path);
    help_ok(odb_file_write(path, text, strlen(text), &err), &err);
    chmod(path, mode);
}

/* A compiler that says in the log that it was called, unless for its version, and goes on. */
static void stand_before(const struct place *place, const char *script)
{
    char *text = odb_xasprintf("#!/bin/sh\n[ \"$1\" = --version ] || echo \"$*\" >>%s\n%s\n"
                               "exec %s \"$@\"\n",
                               place->log, script, place->real);
    write_file(place->compiler, text, 0755);
    free(text);
}

static int setup(void **state)
{
    struct place *place = odb_new(struct place);
    struct odb_error err = ODB_ERROR_INIT;
    char bin[100];
    help_find_serve();
    snprintf(place->dir, sizeof place->dir, "/tmp/t_onnx_mlir-XXXXXX");
    assert_non_null(mkdtemp(place->dir));
    snprintf(place->home, sizeof place->home, "%s/home", place->dir);
    snprintf(place->compiler, sizeof place->compiler, "%s/bin/onnx-mlir", place->home);
    snprintf(place->tmp, sizeof place->tmp, "%s/tmp", place->dir);
    snprintf(place->kept, sizeof place->kept, "%s/kept", place->dir);
    snprintf(place->log, sizeof place->log, "%s/log", place->dir);
    snprintf(bin, sizeof bin, "%s/bin", place->home);
    help_ok(odb_file_mkdir(bin, &err), &err);
    mkdir(place->tmp, 0700);
    setenv("TMPDIR", place->tmp, 1);
    setenv("ONNX_MLIR_HOME", place->home, 1);
    ssize_t n = readlink("/proc/self/exe", place->real, sizeof place->real - 100);
    place->real[n > 0 ? n : 0] = '\0';
    for (int up = 0; up < 3; up++)
        *strrchr(place->real, '/') = '\0';
    strcat(place->real, "/mlir/bin/onnx-mlir");
    stand_before(place, "");
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    struct place *place = *state;
    char command[200];
    int bad = rmdir(place->tmp); /* nothing is left behind */
    snprintf(command, sizeof command, "rm -rf %s", place->dir);
    bad |= system(command);
    unsetenv("TMPDIR");
    unsetenv("ONNX_MLIR_HOME");
    free(place);
    return bad;
}

/* How often the compiler was called for a model. */
static size_t calls(const struct place *place)
{
    FILE *f = fopen(place->log, "r");
    size_t n = 0;
    for (int c; f && (c = getc(f)) != EOF;)
        n += c == '\n';
    if (f)
        fclose(f);
    return n;
}

/* spec: what stands behind the kind and the cache, ",entry=x"; flags: ":-O3", or "". */
static struct odb_executor *open_mlir(const struct place *place, const char *flags,
                                      const char *options)
{
    struct odb_executor *executor = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    char *spec = odb_xasprintf("onnx-mlir%s,cache=%s%s", flags, place->kept, options);
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

static const float want_y[] = {1, 2, 3, 4, 5, 6, 7, 8};
static const float want_side[] = {0, 8, 0, 32, 0, 72, 0, 128};

/* Outputs of the chain, in another order than the model's. */
static enum odb_status run_chain(struct odb_executor *executor, struct odb_error *err)
{
    const char *names[] = {"side", "y"};
    struct odb_tensor *x = help_floats(2, 4, help_x), *out[2];
    struct odb_named in = {"x", x};
    enum odb_status status = odb_executor_run(executor, &in, 1, names, 2, out, err);
    if (status == ODB_OK) {
        help_floats_equal(out[0], want_side, 8);
        help_floats_equal(out[1], want_y, 8);
    }
    odb_tensor_unref(x);
    odb_tensor_unref(out[0]);
    odb_tensor_unref(out[1]);
    return status;
}

static void load_and_run(struct odb_executor *executor)
{
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(load_chain(executor, &err), &err);
    help_ok(run_chain(executor, &err), &err);
}

/* What it says of the loaded model, text and notes. */
static char *account_of(struct odb_executor *executor)
{
    struct odb_account account = ODB_ACCOUNT_INIT;
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(odb_executor_account(executor, &account, &err), &err);
    for (size_t i = 0; i < account.notes.n; i++)
        odb_buf_printf(&account.text, "\nnote: %s", account.notes.items[i]);
    char *text = odb_xstrdup(odb_buf_text(&account.text));
    odb_account_dispose(&account);
    return text;
}

static void expect_account(struct odb_executor *executor, const char *part)
{
    char *text = account_of(executor);
    if (!strstr(text, part))
        fail_msg("'%s' is not in: %s", part, text);
    free(text);
}

/* --- finding it ------------------------------------------------------------------------------ */

static void test_onnx_mlir__home(void **state)
{
    const struct place *place = *state;
    struct odb_executor *executor = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    char why[1024], text[300];
    const struct odb_executor_ops *ops = odb_executor_find("onnx-mlir");
    assert_non_null(ops);
    odb_executor_available(ops, NULL, why, sizeof why);
    assert_string_equal(why, "");
    executor = open_mlir(place, ":-O3", "");
    odb_executor_describe(executor, text, sizeof text);
    assert_string_equal(text, "onnx-mlir version 0.0 (stand-in), onnx version 1.17.0, with -O3");
    odb_executor_close(executor);

    unsetenv("ONNX_MLIR_HOME");
    odb_executor_available(ops, NULL, why, sizeof why);
    assert_non_null(strstr(why, "ONNX_MLIR_HOME"));
    assert_non_null(strstr(why, "bin/ and lib/"));
    assert_int_equal(odb_executor_open(&executor, "onnx-mlir", &err), ODB_E_EXECUTOR);
    help_has_text(&err, "ONNX_MLIR_HOME is not set; set it to the parent of onnx-mlir's bin/");
    snprintf(text, sizeof text, "onnx-mlir,home=%s,cache=off", place->home);
    help_ok(odb_executor_open(&executor, text, &err), &err);
    odb_executor_close(executor);
    assert_int_equal(odb_executor_open(&executor, "onnx-mlir,home=/nowhere", &err), ODB_E_EXECUTOR);
    help_has_text(&err, "/nowhere/bin/onnx-mlir: there is no compiler");
}

static void test_onnx_mlir__broken_compiler(void **state)
{
    const struct place *place = *state;
    struct odb_executor *executor = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    write_file(place->compiler,
               "#!/bin/sh\necho 'onnx-mlir: error while loading shared libraries: libx.so'\nexit "
               "127\n",
               0755);
    assert_int_equal(odb_executor_open(&executor, "onnx-mlir", &err), ODB_E_EXECUTOR);
    help_has_text(&err, "status 127: onnx-mlir: error while loading shared libraries: libx.so");
    write_file(place->compiler, "#!/no/such/shell\n", 0755);
    assert_int_equal(odb_executor_open(&executor, "onnx-mlir", &err), ODB_E_EXECUTOR);
    help_has_text(&err, "cannot be started");
    write_file(place->compiler, "", 0644);
    assert_int_equal(odb_executor_open(&executor, "onnx-mlir", &err), ODB_E_EXECUTOR);
    help_has_text(&err, "ermission");
}

/* --- running --------------------------------------------------------------------------------- */

static void test_onnx_mlir__interfaces(void **state)
{
    static const struct {
        const char *flags, *options, *note;
    } cases[] = {
        {"", "", "run through run_main_graph, inputs and outputs by name"},
        {"", ",entry=run_main_graph_model", "run through run_main_graph_model, inputs"},
        {":--stand-in=2021", "", "run through run_main_graph, inputs and outputs in the model's"},
        {":--stand-in=2020", "", "run through _dyn_entry_point_main_graph, inputs and outputs in"},
        {":--stand-in=spread", "", "run_main_graph"},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_executor *executor = open_mlir(*state, cases[i].flags, cases[i].options);
        load_and_run(executor);
        load_and_run(executor);
        expect_account(executor, cases[i].note);
        odb_executor_close(executor);
    }
}

static void test_onnx_mlir__habits(void **state)
{
    static const struct {
        const char *flags, *text;
        enum odb_status status;
    } cases[] = {
        {":--stand-in=null", "run_main_graph() failed: Operation not permitted (errno 1)",
         ODB_E_EXECUTOR},
        {":--stand-in=fewer", "run_main_graph() gave 1 outputs, and the model has 2",
         ODB_E_EXECUTOR},
        {":--stand-in=type", "output 'side': onnx-mlir's element type 20", ODB_UNSUPPORTED},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_executor *executor = open_mlir(*state, cases[i].flags, "");
        help_ok(load_chain(executor, &err), &err);
        assert_int_equal(run_chain(executor, &err), cases[i].status);
        help_has_text(&err, cases[i].text);
        odb_executor_close(executor);
    }
}

static void test_onnx_mlir__entry(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_executor *executor = open_mlir(*state, "", ",entry=run_other");
    for (int i = 0; i < 2; i++) { /* compiled, and kept */
        assert_int_equal(load_chain(executor, &err), ODB_E_USAGE);
        help_has_text(&err, "no entry point 'run_other'; name one with entry=NAME: it has "
                            "run_main_graph, run_main_graph_model");
    }
    assert_int_equal(run_chain(executor, &err), ODB_E_EXECUTOR);
    help_has_text(&err, "no model is loaded");
    odb_executor_close(executor);
    assert_int_equal(calls(*state), 1);
}

/* Wrong inputs never come to compiled code. */
static void test_onnx_mlir__inputs(void **state)
{
    static const int64_t wide[] = {2, 5}, right[] = {2, 4};
    struct odb_executor *executor = open_mlir(*state, "", "");
    struct odb_tensor *shape, *type, *good = help_floats(2, 4, help_x), *out;
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(odb_tensor_new(&shape, ODB_F32, 2, wide, &err), &err);
    help_ok(odb_tensor_new(&type, ODB_F64, 2, right, &err), &err);
    const struct {
        struct odb_named in;
        const char *output, *text;
        size_t n;
    } cases[] = {
        {{"x", shape}, "y", "not compiled for the shape (2, 5) of 'x'", 1},
        {{"x", type}, "y", "compiled for float in 'x', not double", 1},
        {{"x", good}, "z", "has no output 'z'", 1},
        {{"w", good}, "y", "has no input 'w'", 1},
        {{"x", good}, "y", "no value for the input 'x'", 0},
    };
    help_ok(load_chain(executor, &err), &err);
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        assert_int_equal(
            odb_executor_run(executor, &cases[i].in, cases[i].n, &cases[i].output, 1, &out, &err),
            ODB_E_INPUT);
        help_has_text(&err, cases[i].text);
    }
    help_ok(run_chain(executor, &err), &err);
    odb_tensor_unref(shape);
    odb_tensor_unref(type);
    odb_tensor_unref(good);
    odb_executor_close(executor);
}

static void test_onnx_mlir__only_numbers(void **state)
{
    struct odb_executor *executor = open_mlir(*state, "", "");
    for (int sequence = 0; sequence < 2; sequence++) {
        struct odb_builder *b = odb_build_new("words", 17);
        struct odb_buf bytes = ODB_BUF_INIT;
        struct odb_error err = ODB_ERROR_INIT;
        odb_build_input(b, "x", sequence ? ODB_F32 : ODB_STRING, 1, (int64_t[]){3});
        if (sequence) {
            odb_build_node(b, "SequenceConstruct", "s", "x", "y");
            odb_build_output_typed(b, "y", ODB_F32, 1, (int64_t[]){3});
            odb_build_wrap(b, "y", ODB_SEQUENCE);
        } else {
            odb_build_node(b, "Identity", "i", "x", "y");
            odb_build_output_typed(b, "y", ODB_STRING, 1, (int64_t[]){3});
        }
        odb_build_bytes(b, &bytes);
        odb_build_free(b);
        struct odb_load load = {.bytes = bytes.data, .size = bytes.len, .dir = "."};
        assert_int_equal(odb_executor_load(executor, &load, &err), ODB_UNSUPPORTED);
        help_has_text(&err, "onnx-mlir passes tensors of numbers");
        odb_buf_dispose(&bytes);
    }
    odb_executor_close(executor);
    assert_int_equal(calls(*state), 0);
}

/* Signatures hold names as they are, which is no JSON then. */
static void test_onnx_mlir__names(void **state)
{
    static const char *const names[] = {"a\"b", "back\\slash", "n\xc3\xa4me"};
    struct odb_executor *executor = open_mlir(*state, "", "");
    for (size_t i = 0; i < ODB_COUNT(names); i++) {
        struct odb_builder *b = odb_build_new("names", 17);
        struct odb_buf bytes = ODB_BUF_INIT;
        struct odb_error err = ODB_ERROR_INIT;
        const char *output = "y";
        odb_build_input(b, names[i], ODB_F32, 2, (int64_t[]){2, 4});
        odb_build_node(b, "Neg", "n", names[i], "y");
        odb_build_output_typed(b, "y", ODB_F32, 2, (int64_t[]){2, 4});
        odb_build_bytes(b, &bytes);
        odb_build_free(b);
        struct odb_load load = {.bytes = bytes.data, .size = bytes.len, .dir = "."};
        help_ok(odb_executor_load(executor, &load, &err), &err);
        struct odb_tensor *x = help_floats(2, 4, help_x), *y;
        struct odb_named in = {names[i], x};
        help_ok(odb_executor_run(executor, &in, 1, &output, 1, &y, &err), &err);
        assert_true(odb_tensor_f64(y, 1) == 4);
        odb_tensor_unref(x);
        odb_tensor_unref(y);
        odb_buf_dispose(&bytes);
    }
    odb_executor_close(executor);
}

/* --- the compiler fails ---------------------------------------------------------------------- */

static void test_onnx_mlir__compiler_fails(void **state)
{
    static const struct {
        const char *script, *text;
        enum odb_status status;
    } cases[] = {
        {"echo; echo 'loc(\"second\"): error: failed to legalize'; echo bye; exit 3",
         "exited with status 3: loc(\"second\"): error: failed to legalize", ODB_E_EXECUTOR},
        {"yes warning | head -c 3000000; echo 'nothing goes'; exit 1", "status 1: nothing goes",
         ODB_E_EXECUTOR},
        {"exit 9", "onnx-mlir exited with status 9", ODB_E_EXECUTOR},
        {"echo 'x.cpp:3: Assertion `a\" failed.'; echo stack; kill -ABRT $$",
         "was killed by SIGABRT: x.cpp:3: Assertion `a\" failed.", ODB_E_CRASH},
        {"exit 0", "made no model.so; give it no flags", ODB_E_EXECUTOR},
        {"mkdir \"${1%.onnx}.so\"; exit 0", "made no model.so", ODB_E_EXECUTOR},
        {"echo junk >\"${1%.onnx}.so\"; exit 0", "cannot be loaded", ODB_E_IO},
    };
    const struct place *place = *state;
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_error err = ODB_ERROR_INIT;
        char *script = odb_xasprintf("[ \"$1\" = --version ] || { %s; }", cases[i].script);
        stand_before(place, script);
        struct odb_executor *executor = open_mlir(place, "", "");
        assert_int_equal(load_chain(executor, &err), cases[i].status);
        help_has_text(&err, cases[i].text);
        stand_before(place, "");
        load_and_run(executor); /* none the worse for it */
        odb_executor_close(executor);
        free(script);
    }
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_executor *executor = open_mlir(place, ":-O3 --no-such\\ flag", "");
    assert_int_equal(load_chain(executor, &err), ODB_E_EXECUTOR);
    help_has_text(&err, "Unknown command line argument '--no-such flag'");
    odb_executor_close(executor);
}

/* A compiler that hangs goes with the child, and so do the files. */
static void test_onnx_mlir__compiler_hangs(void **state)
{
    const struct place *place = *state;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_target *target;
    struct odb_buf bytes = ODB_BUF_INIT;
    char *spec = odb_xasprintf("onnx-mlir,timeout=1,cache=%s", place->kept);
    char *script = odb_xasprintf("[ \"$1\" = --version ] || { sleep 300 & echo $$ $! >%s/pids;"
                                 " echo 'one moment' >&2; wait; }",
                                 place->dir);
    stand_before(place, script);
    help_chain(&bytes, NULL);
    struct odb_load load = help_load(&bytes, 4);
    help_ok(odb_target_open(&target, spec, &err), &err);
    assert_int_equal(odb_target_load(target, &load, &err), ODB_E_TIMEOUT);
    help_has_text(&err, "no answer within 1 s");
    char path[100];
    snprintf(path, sizeof path, "%s/pids", place->dir);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (int pid; fscanf(f, "%d", &pid) == 1;)
        help_gone(pid);
    fclose(f);
    stand_before(place, "");
    help_ok(odb_target_load(target, &load, &err), &err);
    odb_target_close(target);
    odb_buf_dispose(&bytes);
    free(script);
    free(spec);
}

/* A library that crashes is a verdict, and the next load starts afresh. */
static void test_onnx_mlir__library_crashes(void **state)
{
    const struct place *place = *state;
    const char *name = "y";
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_target *target;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_tensor *x = help_floats(2, 4, help_x), *y;
    struct odb_named in = {"x", x};
    char *spec = odb_xasprintf("onnx-mlir:--stand-in=crash,cache=%s", place->kept);
    help_chain(&bytes, NULL);
    struct odb_load load = help_load(&bytes, 4);
    help_ok(odb_target_open(&target, spec, &err), &err);
    for (int i = 0; i < 2; i++) {
        help_ok(odb_target_load(target, &load, &err), &err);
        assert_int_equal(odb_target_run(target, &in, 1, &name, 1, &y, &err), ODB_E_CRASH);
        help_has_text(&err, "SIGSEGV");
    }
    assert_int_equal(calls(place), 1);
    odb_target_close(target);
    odb_tensor_unref(x);
    odb_buf_dispose(&bytes);
    free(spec);
}

/* --- what is kept ---------------------------------------------------------------------------- */

static size_t entries(const char *path)
{
    DIR *dir = opendir(path);
    size_t n = 0;
    for (const struct dirent *e; dir && (e = readdir(dir));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (dir)
        closedir(dir);
    return n;
}

/* Loads the chain with an executor of its own; how many compilations that took. */
static size_t cost(const struct place *place, const char *flags, const char *options)
{
    size_t before = calls(place);
    struct odb_executor *executor = open_mlir(place, flags, options);
    load_and_run(executor);
    odb_executor_close(executor);
    return calls(place) - before;
}

static void test_onnx_mlir__kept(void **state)
{
    const struct place *place = *state;
    struct odb_executor *executor;
    assert_int_equal(cost(place, "", ""), 1);
    assert_int_equal(cost(place, "", ""), 0);
    assert_int_equal(cost(place, ":-O3", ""), 1);
    assert_int_equal(cost(place, ":-O3", ",entry=run_main_graph_model"), 0);
    setenv("ONNX_MLIR_FLAGS", "-O2", 1);
    assert_int_equal(cost(place, "", ""), 1);
    unsetenv("ONNX_MLIR_FLAGS");
    assert_int_equal(entries(place->kept), 3);
    usleep(20 * 1000);
    stand_before(place, "# built anew");
    assert_int_equal(cost(place, "", ""), 1);
    executor = open_mlir(place, "", ",ir=off");
    load_and_run(executor);
    expect_account(executor, "note: compiled before, and taken from");
    odb_executor_close(executor);
}

/* Files that flags name count with their content. */
static void test_onnx_mlir__kept_for_files(void **state)
{
    const struct place *place = *state;
    char path[100], *flags = odb_xasprintf(":--stand-in=%s/habit", place->dir);
    snprintf(path, sizeof path, "%s/habit", place->dir);
    write_file(path, "a", 0644);
    assert_int_equal(cost(place, flags, ""), 1);
    assert_int_equal(cost(place, flags, ""), 0);
    usleep(20 * 1000);
    write_file(path, "b", 0644);
    assert_int_equal(cost(place, flags, ""), 1);
    free(flags);
}

static void test_onnx_mlir__not_kept(void **state)
{
    const struct place *place = *state;
    struct odb_executor *executor = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(odb_executor_open(&executor, "onnx-mlir,cache=off", &err), &err);
    load_and_run(executor);
    load_and_run(executor);
    expect_account(executor, "note: compiled in");
    help_ok(run_chain(executor, &err), &err); /* the IR took nothing away */
    odb_executor_close(executor);
    assert_int_equal(calls(place), 3);
    executor = open_mlir(place, "", "");
    assert_int_equal(rmdir(place->kept), 0); /* while it works */
    write_file(place->kept, "in the way", 0644);
    load_and_run(executor);
    expect_account(executor, "note: not kept for the next time: ");
    odb_executor_close(executor);
    char *spec = odb_xasprintf("onnx-mlir,cache=%s", place->kept);
    assert_int_equal(odb_executor_open(&executor, spec, &err), ODB_E_IO);
    help_has_text(&err, place->kept);
    free(spec);
}

/* A broken library in the cache is made anew. */
static void test_onnx_mlir__kept_badly(void **state)
{
    const struct place *place = *state;
    char command[300];
    assert_int_equal(cost(place, "", ""), 1);
    snprintf(command, sizeof command, "for f in %s/*/files/model.so; do echo junk >$f; done",
             place->kept);
    assert_int_equal(system(command), 0);
    assert_int_equal(cost(place, "", ""), 1);
    assert_int_equal(cost(place, "", ""), 0);
    snprintf(command, sizeof command, "rm %s/*/files/model.so", place->kept);
    assert_int_equal(system(command), 0);
    assert_int_equal(cost(place, "", ""), 1);
    assert_int_equal(entries(place->kept), 1);
}

/* Several processes that compile the same model at the same time. */
static void test_onnx_mlir__kept_by_many(void **state)
{
    const struct place *place = *state;
    pid_t pids[4];
    stand_before(place, "[ \"$1\" = --version ] || sleep 0.3");
    for (size_t i = 0; i < ODB_COUNT(pids); i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            struct odb_error err = ODB_ERROR_INIT;
            struct odb_executor *executor = open_mlir(place, "", "");
            bool ok = load_chain(executor, &err) == ODB_OK && run_chain(executor, &err) == ODB_OK;
            odb_executor_close(executor);
            _exit(ok ? 0 : 1);
        }
    }
    for (size_t i = 0; i < ODB_COUNT(pids); i++) {
        int how;
        assert_int_equal(waitpid(pids[i], &how, 0), pids[i]);
        assert_int_equal(how, 0);
    }
    assert_int_equal(entries(place->kept), 1);
    assert_int_equal(cost(place, "", ""), 0);
}

/* --- weights --------------------------------------------------------------------------------- */

/* y = x + w, w in a file beside; what it is fed and gives. */
static void load_weights(const struct place *place, struct odb_executor *executor, double w)
{
    struct odb_builder *b = odb_build_new("external", 17);
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *weights;
    struct odb_model *model;
    struct odb_buf bytes = ODB_BUF_INIT;
    char path[120];
    help_ok(odb_tensor_new(&weights, ODB_F32, 1, (int64_t[]){1024}, &err), &err);
    for (size_t i = 0; i < 1024; i++)
        odb_store_f64(ODB_F32, weights->data, i, w);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){1});
    odb_build_weight(b, "w", weights);
    odb_build_node(b, "Add", "a", "x w", "y");
    odb_build_output_typed(b, "y", ODB_F32, 1, (int64_t[]){1024});
    snprintf(path, sizeof path, "%s/whole.onnx", place->dir);
    help_ok(odb_build_write(b, path, "w.data", &err), &err);
    odb_build_free(b);
    odb_tensor_unref(weights);
    help_ok(odb_model_open(&model, path, &err), &err);
    struct odb_port in = {.value = odb_graph_value(model->graph, "x")->index},
                    out = {.value = odb_graph_value(model->graph, "y")->index};
    struct odb_extract what = {.inputs = &in,
                               .n_inputs = 1,
                               .outputs = &out,
                               .n_outputs = 1,
                               .weights = ODB_WEIGHTS_REFERENCE};
    help_ok(odb_model_extract(model, &what, &bytes, &err), &err);
    odb_model_free(model);
    struct odb_load load = {.bytes = bytes.data, .size = bytes.len, .dir = place->dir};
    help_ok(odb_executor_load(executor, &load, &err), &err);
    odb_buf_dispose(&bytes);
}

static void test_onnx_mlir__weights(void **state)
{
    const struct place *place = *state;
    struct odb_executor *executor = open_mlir(place, "", "");
    struct odb_tensor *x = help_floats(1, 1, (float[]){1}), *y;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *flat;
    const char *name = "y";
    help_ok(odb_tensor_copy_of(&flat, ODB_F32, 1, (int64_t[]){1}, x->data, &err), &err);
    struct odb_named in = {"x", flat};
    for (int i = 0; i < 4; i++) { /* other weights in a file of the same name and size */
        load_weights(place, executor, i / 2 + 1);
        help_ok(odb_executor_run(executor, &in, 1, &name, 1, &y, &err), &err);
        assert_true(odb_tensor_f64(y, 1023) == i / 2 + 2);
        odb_tensor_unref(y);
        usleep(20 * 1000);
    }
    odb_tensor_unref(x);
    odb_tensor_unref(flat);
    odb_executor_close(executor);
}

/* --- what it says ---------------------------------------------------------------------------- */

static void test_onnx_mlir__ir(void **state)
{
    const struct place *place = *state;
    struct odb_executor *executor = open_mlir(place, "", "");
    load_and_run(executor);
    expect_account(executor, "Neg");
    expect_account(executor, "note: compiled in");
    load_and_run(executor); /* from the cache: the model is put down again */
    expect_account(executor, "Neg");
    odb_executor_close(executor);
    executor = open_mlir(place, "", ",ir=off");
    load_and_run(executor);
    char *text = account_of(executor);
    assert_null(strstr(text, "Neg"));
    free(text);
    odb_executor_close(executor);
    stand_before(place, "case $* in *--EmitMLIR*) echo 'error: no such stage'; exit 2 ;; esac");
    executor = open_mlir(place, "", ",ir=mlir");
    load_and_run(executor);
    expect_account(executor, "note: no IR: ");
    expect_account(executor, "status 2: error: no such stage");
    load_and_run(executor);
    odb_executor_close(executor);
}

/* The compiler's command line comes from the child's child to the user. */
static void test_onnx_mlir__verbose(void **state)
{
    const struct place *place = *state;
    struct odb_target *target = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf bytes = ODB_BUF_INIT;
    char path[100], text[4000] = "", *spec = odb_xasprintf("onnx-mlir:-O3,cache=%s", place->kept);
    help_chain(&bytes, NULL);
    struct odb_load load = help_load(&bytes, 4);
    snprintf(path, sizeof path, "%s/said", place->dir);
    int said = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600), kept = dup(2);
    setenv("VERBOSE", "1", 1);
    dup2(said, 2);
    enum odb_status status = odb_target_open(&target, spec, &err);
    if (status == ODB_OK)
        status = odb_target_load(target, &load, &err);
    odb_target_close(target);
    dup2(kept, 2);
    unsetenv("VERBOSE");
    help_ok(status, &err);
    ssize_t n = pread(said, text, sizeof text - 1, 0);
    close(said);
    close(kept);
    assert_true(n > 0);
    assert_ptr_equal(strstr(text, place->compiler), text);
    assert_non_null(strstr(text, "bin/onnx-mlir -O3 /"));
    assert_non_null(strstr(text, "/model.onnx\n"));
    odb_buf_dispose(&bytes);
    free(spec);
}

#define CASE(name) cmocka_unit_test_setup_teardown(test_onnx_mlir__##name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(home),           CASE(broken_compiler), CASE(interfaces),
        CASE(habits),         CASE(entry),           CASE(inputs),
        CASE(only_numbers),   CASE(names),           CASE(compiler_fails),
        CASE(compiler_hangs), CASE(library_crashes), CASE(kept),
        CASE(kept_for_files), CASE(not_kept),        CASE(kept_badly),
        CASE(kept_by_many),   CASE(weights),         CASE(ir),
        CASE(verbose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
