/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Programs as executors: shell scripts that copy files.
 */
#include "executor_help.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>

#include <jansson.h>

#include "model/model.h"

/* A directory for scripts and models, and a place for temporary files that must be empty after. */
struct place {
    char dir[64], tmp[80], script[80];
};

static int setup(void **state)
{
    struct place *place = odb_new(struct place);
    snprintf(place->dir, sizeof place->dir, "/tmp/t_command-XXXXXX");
    assert_non_null(mkdtemp(place->dir));
    snprintf(place->tmp, sizeof place->tmp, "%s/tmp", place->dir);
    snprintf(place->script, sizeof place->script, "%s/program", place->dir);
    mkdir(place->tmp, 0700);
    setenv("TMPDIR", place->tmp, 1);
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
    free(place);
    return bad;
}

static struct odb_executor *open_script(const struct place *place, const char *script)
{
    struct odb_executor *executor = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    FILE *f = fopen(place->script, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\n%s\n", script);
    fclose(f);
    chmod(place->script, 0755);
    char *spec = odb_xasprintf("command:%s first  a\\ b", place->script);
    help_ok(odb_executor_open(&executor, spec, &err), &err);
    free(spec);
    return executor;
}

/* Identity of a vector of three. */
static void load_identity(struct odb_executor *executor, enum odb_dtype dtype, bool typed)
{
    struct odb_builder *b = odb_build_new("identity", 17);
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_error err = ODB_ERROR_INIT;
    odb_build_input(b, "x", dtype, 1, (int64_t[]){3});
    odb_build_node(b, "Identity", "i", "x", "y");
    if (typed)
        odb_build_output_typed(b, "y", dtype, 1, (int64_t[]){3});
    else
        odb_build_output(b, "y");
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    struct odb_load load = {.bytes = bytes.data, .size = bytes.len, .dir = "."};
    help_ok(odb_executor_load(executor, &load, &err), &err);
    odb_buf_dispose(&bytes);
}

static enum odb_status run_identity(struct odb_executor *executor, enum odb_dtype dtype, bool *same,
                                    struct odb_error *err)
{
    const char *name = "y";
    struct odb_tensor *x, *y;
    help_ok(odb_tensor_new(&x, dtype, 1, (int64_t[]){3}, err), err);
    for (size_t i = 0; i < 3; i++)
        odb_store_f64(dtype, x->data, i, (double)i - 1);
    struct odb_named in = {"x", x};
    enum odb_status status = odb_executor_run(executor, &in, 1, &name, 1, &y, err);
    if (same && status == ODB_OK)
        *same = odb_tensor_identical(x, y);
    odb_tensor_unref(x);
    odb_tensor_unref(y);
    return status;
}

static void test_command__runs(void **state)
{
    static const char script[] =
        "[ \"$1\" = first ] && [ \"$2\" = 'a b' ] && [ $# = 3 ] || exit 5\n"
        "[ \"$3\" = \"$PWD\" ] && [ -s model.onnx ] || exit 6\n"
        "[ ! -e out_0.npy ] || exit 7\n"
        "cp io.json ../../io.json\n"
        "cp in_0.npy out_0.npy\necho noise";
    const struct place *place = *state;
    struct odb_executor *executor = open_script(place, script);
    struct odb_error err = ODB_ERROR_INIT;
    bool same = false;
    load_identity(executor, ODB_F32, true);
    for (int i = 0; i < 2; i++) {
        help_ok(run_identity(executor, ODB_F32, &same, &err), &err);
        assert_true(same);
    }
    odb_executor_close(executor);

    char path[120];
    snprintf(path, sizeof path, "%s/io.json", place->dir);
    json_t *io = json_load_file(path, 0, NULL);
    int schema;
    const char *model, *name[2], *file[2], *dtype[2];
    json_t *shape;
    assert_int_equal(json_unpack(io, "{s:i,s:s,s:[{s:s,s:s,s:s,s:o}],s:[{s:s,s:s,s:s}]}", "schema",
                                 &schema, "model", &model, "inputs", "name", &name[0], "file",
                                 &file[0], "dtype", &dtype[0], "shape", &shape, "outputs", "name",
                                 &name[1], "file", &file[1], "dtype", &dtype[1]),
                     0);
    assert_int_equal(schema, 1);
    assert_string_equal(model, "model.onnx");
    assert_string_equal(name[0], "x");
    assert_string_equal(file[0], "in_0.npy");
    assert_string_equal(dtype[0], "float");
    assert_int_equal(json_array_size(shape), 1);
    assert_int_equal(json_integer_value(json_array_get(shape, 0)), 3);
    assert_string_equal(name[1], "y");
    assert_string_equal(file[1], "out_0.npy");
    assert_string_equal(dtype[1], "float");
    json_decref(io);
}

static void test_command__types_without_npy(void **state)
{
    struct odb_executor *executor = open_script(*state, "cp in_0.pb out_0.pb");
    struct odb_error err = ODB_ERROR_INIT;
    bool same = false;
    for (int typed = 0; typed < 2; typed++) { /* without a type, the program decides */
        load_identity(executor, ODB_BF16, typed);
        help_ok(run_identity(executor, ODB_BF16, &same, &err), &err);
        assert_true(same);
    }
    odb_executor_close(executor);
}

static void test_command__failures(void **state)
{
    static const struct {
        const char *script, *text;
        enum odb_status status;
    } cases[] = {
        {"exit 0", "wrote no out_0.npy", ODB_E_EXECUTOR},
        {"cp in_0.npy out_0.npy; echo 'bad luck' >&2; exit 3", "status 3; its last words: bad luck",
         ODB_E_EXECUTOR},
        {"head -c 3000 /dev/zero | tr '\\0' x; echo end; kill -9 $$", "SIGKILL; its last words: x",
         ODB_E_CRASH},
        {"echo garbage > out_0.npy", "npy", ODB_E_FORMAT},
        {"sleep 5 & exit 4", "status 4", ODB_E_EXECUTOR}, /* not waited for */
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_executor *executor = open_script(*state, cases[i].script);
        struct odb_error err = ODB_ERROR_INIT;
        load_identity(executor, ODB_F32, true);
        assert_int_equal(run_identity(executor, ODB_F32, NULL, &err), cases[i].status);
        help_has_text(&err, cases[i].text);
        odb_executor_close(executor);
    }
}

static void test_command__no_program(void **state)
{
    struct odb_executor *executor = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(odb_executor_open(&executor, "command", &err), ODB_E_USAGE);
    assert_int_equal(odb_executor_open(&executor, "command:  ", &err), ODB_E_USAGE);
    help_ok(odb_executor_open(&executor, "command:no-such-program-here", &err), &err);
    load_identity(executor, ODB_F32, true);
    assert_int_equal(run_identity(executor, ODB_F32, NULL, &err), ODB_E_EXECUTOR);
    help_has_text(&err, "no-such-program-here");
    odb_executor_close(executor);
}

/* Adds a weight of 4 KiB that lies in a file of its own. */
static void load_external(const struct place *place, struct odb_executor *executor,
                          const char *file)
{
    struct odb_builder *b = odb_build_new("external", 17);
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *w;
    struct odb_model *model;
    struct odb_buf bytes = ODB_BUF_INIT;
    char path[120];
    help_ok(odb_tensor_new(&w, ODB_F32, 1, (int64_t[]){1024}, &err), &err);
    for (size_t i = 0; i < 1024; i++)
        odb_store_f64(ODB_F32, w->data, i, (double)i);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){1});
    odb_build_weight(b, "w", w);
    odb_build_node(b, "Add", "a", "x w", "y");
    odb_build_output_typed(b, "y", ODB_F32, 1, (int64_t[]){1024});
    snprintf(path, sizeof path, "%s/whole.onnx", place->dir);
    help_ok(odb_build_write(b, path, file, &err), &err);
    odb_build_free(b);
    odb_tensor_unref(w);
    help_ok(odb_model_open(&model, path, &err), &err);
    int y = odb_graph_value(model->graph, "y")->index,
        x = odb_graph_value(model->graph, "x")->index;
    struct odb_port in = {.value = x}, out = {.value = y};
    struct odb_extract what = {.inputs = &in,
                               .n_inputs = 1,
                               .outputs = &out,
                               .n_outputs = 1,
                               .weights = ODB_WEIGHTS_REFERENCE};
    help_ok(odb_model_extract(model, &what, &bytes, &err), &err);
    struct odb_load load = {.bytes = bytes.data, .size = bytes.len, .dir = place->dir};
    help_ok(odb_executor_load(executor, &load, &err), &err);
    odb_model_free(model);
    odb_buf_dispose(&bytes);
}

/* What the program would find: the model opens where it stands, with its weights. */
static void check_weights(const struct place *place, const char *file)
{
    char pattern[120], path[500] = "";
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_model *model;
    struct stat st;
    DIR *dir = opendir(place->tmp);
    for (const struct dirent *e; (e = readdir(dir));)
        if (e->d_name[0] != '.')
            snprintf(path, sizeof path, "%s/%s/model.onnx", place->tmp, e->d_name);
    closedir(dir);
    help_ok(odb_model_open(&model, path, &err), &err);
    const struct odb_tensor *w = odb_graph_value(model->graph, "w")->init;
    assert_non_null(w->data);
    assert_true(odb_tensor_f64(w, 1023) == 1023);
    odb_model_free(model);
    snprintf(pattern, sizeof pattern, "%s", file);
    strcpy(strrchr(path, '/') + 1, pattern);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size >= 4096);
}

static void test_command__weights_beside(void **state)
{
    struct odb_executor *executor = open_script(*state, "exit 1");
    load_external(*state, executor, "my weights.data");
    check_weights(*state, "my weights.data");
    load_external(*state, executor, "in_0.npy"); /* a name of ours: they move */
    check_weights(*state, "weights.bin");
    odb_executor_close(executor);
}

#define CASE(name) cmocka_unit_test_setup_teardown(test_command__##name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(runs), CASE(types_without_npy), CASE(failures), CASE(no_program), CASE(weights_beside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
