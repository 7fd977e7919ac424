/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Programs as executors: shell scripts that copy files.
 */
#include "executor/transport/target.h"

#include "tests/help/executor_help.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <jansson.h>

#include "model/model.h"
#include "model/read/load.h"
#include "model/write/write.h"

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

static void write_script(const struct place *place, const char *first, const char *script,
                         mode_t mode)
{
    FILE *f = fopen(place->script, "w");
    assert_non_null(f);
    fprintf(f, "%s\n%s\n", first, script);
    fclose(f);
    chmod(place->script, mode);
}

/* What stands in spec behind the script's name. */
static struct odb_executor *open_with(const struct place *place, const char *script,
                                      const char *rest)
{
    struct odb_executor *executor = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    write_script(place, "#!/bin/sh", script, 0755);
    char *spec = odb_xasprintf("command:%s%s", place->script, rest);
    help_ok(odb_executor_open(&executor, spec, &err), &err);
    free(spec);
    return executor;
}

static struct odb_executor *open_script(const struct place *place, const char *script)
{
    return open_with(place, script, " first  a\\ b");
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
        {"cp in_0.npy out_0.npy; echo 'bad luck' >&2; exit 3", "status 3; output: bad luck",
         ODB_E_EXECUTOR},
        {"head -c 3000 /dev/zero | tr '\\0' x; echo end; kill -9 $$", "SIGKILL; output: x",
         ODB_E_CRASH},
        {"echo garbage > out_0.npy", "npy", ODB_E_FORMAT},
        {"head -c 20 in_0.npy >out_0.npy", "the header says it has", ODB_E_FORMAT},
        {"head -c 130 in_0.npy >out_0.npy", "3 elements of 4 bytes do not fit", ODB_E_FORMAT},
        {"sed 's/(3,)/(3000000000, 3000000000, 3)/' in_0.npy >out_0.npy",
         "out_0.npy: ", ODB_E_FORMAT},
        {": >out_0.npy", "not an .npy file", ODB_E_FORMAT},
        {"mkdir out_0.npy", "no regular file", ODB_E_EXECUTOR},
        {"mkfifo out_0.npy", "no regular file", ODB_E_EXECUTOR},
        {"ln -s /dev/zero out_0.npy", "no regular file", ODB_E_EXECUTOR},
        {"ln -s nowhere out_0.npy", "wrote no out_0.npy", ODB_E_EXECUTOR},
        {"cp in_0.npy out_1.npy; cp in_0.npy y.npy", "wrote no out_0.npy", ODB_E_EXECUTOR},
        {"no-such-command", "not found; 127 is how a shell says", ODB_E_EXECUTOR},
        {"exit 126", "had looked at no file of the run; 126 is how a shell says", ODB_E_EXECUTOR},
        {"kill -PIPE $$", "SIGPIPE", ODB_E_CRASH},
        {"rm -rf \"$PWD\"; exit 5", "status 5", ODB_E_EXECUTOR},
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

/* Links to files are files, whatever their type: what to make of that is the debugger's affair. */
static void test_command__other_files(void **state)
{
    static const char *const scripts[] = {
        "mkdir sub && cp in_0.npy sub/y.npy && ln -s sub/y.npy out_0.npy",
        "ln in_0.npy out_0.npy",
        "sed s/f4/i4/ in_0.npy >out_0.npy",
        "sed 's/(3,)/(1,3)/; s/ $//' in_0.npy >out_0.npy",
    };
    for (size_t i = 0; i < ODB_COUNT(scripts); i++) {
        struct odb_executor *executor = open_script(*state, scripts[i]);
        struct odb_error err = ODB_ERROR_INIT;
        bool same = false;
        load_identity(executor, ODB_F32, true);
        help_ok(run_identity(executor, ODB_F32, &same, &err), &err);
        assert_int_equal(same, i < 2);
        odb_executor_close(executor);
    }
}

/* What a program finds: no input, default signals, no other descriptors, a TMPDIR that goes. */
static void test_command__surroundings(void **state)
{
    static const char script[] = "read -r line && exit 3\n"
                                 "[ ! -e /proc/$$/fd/77 ] || exit 4\n"
                                 "yes | head -n 1 >/dev/null || exit 5\n"
                                 "case $PWD in \"$TMPDIR\"/*) ;; *) exit 6 ;; esac\n"
                                 "[ \"$ODB_TEST\" = passed ] || exit 7\n"
                                 "cp in_0.npy out_0.npy";
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(dup2(2, 77), 77);
    setenv("ODB_TEST", "passed", 1);
    signal(SIGPIPE, SIG_IGN);
    struct odb_executor *executor = open_script(*state, script);
    load_identity(executor, ODB_F32, true);
    help_ok(run_identity(executor, ODB_F32, NULL, &err), &err);
    odb_executor_close(executor);
    signal(SIGPIPE, SIG_DFL);
    unsetenv("ODB_TEST");
    close(77);
}

/* Floods cost no memory and no time, not even those of what a program leaves behind. */
static void test_command__floods(void **state)
{
    static const char *const scripts[] = {
        "head -c 20000000 /dev/zero; cp in_0.npy out_0.npy",
        "yes >&2 & echo $! >>../pids; cp in_0.npy out_0.npy",
    };
    const struct place *place = *state;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC), err_fd = dup(2);
    for (size_t i = 0; i < ODB_COUNT(scripts); i++) {
        struct odb_executor *executor = open_script(place, scripts[i]);
        struct odb_error err = ODB_ERROR_INIT;
        bool same = false;
        load_identity(executor, ODB_F32, true);
        dup2(null, 2);
        enum odb_status status = run_identity(executor, ODB_F32, &same, &err);
        dup2(err_fd, 2);
        help_ok(status, &err);
        assert_true(same);
        odb_executor_close(executor);
    }
    char path[100];
    int pid = 0, left = 0;
    snprintf(path, sizeof path, "%s/pids", place->tmp);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (; fscanf(f, "%d", &pid) == 1; left++)
        kill(pid, SIGKILL); /* one for each run of the script */
    fclose(f);
    unlink(path);
    assert_true(left > 0);
    close(null);
    close(err_fd);
}

/* A program that hangs ends with the child, and so do those that it started. */
static void test_command__hangs(void **state)
{
    const struct place *place = *state;
    struct odb_target *target;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_tensor *x = help_floats(2, 4, help_x), *out[2];
    struct odb_named in = {"x", x};
    char path[100];
    write_script(place, "#!/bin/sh", "sleep 300 & echo $$ $! >../../../pids; echo hm >&2; wait",
                 0755);
    help_find_serve();
    help_chain(&bytes, NULL);
    struct odb_load load = help_load(&bytes, 4);
    char *spec = odb_xasprintf("command:%s,timeout=0.5", place->script);
    help_ok(odb_target_open(&target, spec, &err), &err);
    help_ok(odb_target_load(target, &load, &err), &err);
    assert_int_equal(odb_target_run(target, &in, 1, help_chain_outputs, 2, out, &err),
                     ODB_E_TIMEOUT);
    snprintf(path, sizeof path, "%s/pids", place->dir);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (int pid; fscanf(f, "%d", &pid) == 1;)
        help_gone(pid);
    fclose(f);
    odb_target_close(target);
    odb_tensor_unref(x);
    odb_buf_dispose(&bytes);
    free(spec);
}

/* Bytes that are no UTF-8 cannot stand in JSON; files tell inputs and outputs apart all the same.
 */
static void test_command__names(void **state)
{
    const struct place *place = *state;
    struct odb_executor *executor =
        open_script(place, "cp io.json ../../io.json; cp in_0.npy out_0.npy");
    struct odb_builder *b = odb_build_new("names", 17);
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_error err = ODB_ERROR_INIT;
    const char *output = "y\"q\"\xc3\xa4";
    struct odb_tensor *x = help_floats(2, 4, help_x), *y;
    struct odb_named in = {"a\xff", x};
    odb_build_input(b, in.name, ODB_F32, 2, (int64_t[]){2, 4});
    odb_build_node(b, "Identity", "i", in.name, output);
    odb_build_output_typed(b, output, ODB_F32, 2, (int64_t[]){2, 4});
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    struct odb_load load = {.bytes = bytes.data, .size = bytes.len, .dir = "."};
    help_ok(odb_executor_load(executor, &load, &err), &err);
    help_ok(odb_executor_run(executor, &in, 1, &output, 1, &y, &err), &err);
    help_floats_equal(y, help_x, 8);
    char path[120], *names[2];
    snprintf(path, sizeof path, "%s/io.json", place->dir);
    json_t *io = json_load_file(path, 0, NULL);
    assert_int_equal(json_unpack(io, "{s:[{s:s}],s:[{s:s}]}", "inputs", "name", &names[0],
                                 "outputs", "name", &names[1]),
                     0);
    assert_string_equal(names[0], "a\\xff");
    assert_string_equal(names[1], output);
    json_decref(io);
    odb_tensor_unref(x);
    odb_tensor_unref(y);
    odb_buf_dispose(&bytes);
    odb_executor_close(executor);
}

/* Splitting, and the backslashes that the spec takes before. */
static void test_command__words(void **state)
{
    static const struct {
        const char *rest, *want;
    } cases[] = {
        {" one  two", "one|two|"},
        {" a\\ b", "a b|"},
        {" a\\\\\\\\b \\\\\\\\", "a\\b|\\|"},
        {" 'a' $HOME *", "'a'|$HOME|*|"},
        {" --x=1\\,2 me\\@home", "--x=1,2|me@home|"},
        {" \\n", "\\n|"},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        const struct place *place = *state;
        char path[100], got[200] = "";
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_executor *executor =
            open_with(place,
                      "for w; do [ \"$w\" = \"$PWD\" ] || printf '%s|' \"$w\"; done >../../words\n"
                      "cp in_0.npy out_0.npy",
                      cases[i].rest);
        load_identity(executor, ODB_F32, true);
        help_ok(run_identity(executor, ODB_F32, NULL, &err), &err);
        odb_executor_close(executor);
        snprintf(path, sizeof path, "%s/words", place->dir);
        FILE *f = fopen(path, "r");
        assert_non_null(f);
        got[fread(got, 1, sizeof got - 1, f)] = '\0';
        fclose(f);
        assert_string_equal(got, cases[i].want);
    }
}

/* Why a program could not be started, and what to do about it. */
static void test_command__not_started(void **state)
{
    static const struct {
        const char *first, *text;
        mode_t mode;
    } cases[] = {
        {"no first line", "begin with a line such as #!/bin/sh", 0755},
        {"#!/bin/sh", "make it executable (chmod +x)", 0644},
        {"#!/no/such/shell", "what its first line names is missing", 0755},
    };
    const struct place *place = *state;
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_executor *executor = open_script(place, "");
        struct odb_error err = ODB_ERROR_INIT;
        write_script(place, cases[i].first, "exit 0", cases[i].mode);
        load_identity(executor, ODB_F32, true);
        assert_int_equal(run_identity(executor, ODB_F32, NULL, &err), ODB_E_EXECUTOR);
        help_has_text(&err, cases[i].text);
        odb_executor_close(executor);
    }
}

/* keep= leaves everything of each model and of its last run, numbered. */
static void test_command__kept(void **state)
{
    static const char *const files[] = {"0001/model.onnx", "0001/io.json",  "0001/in_0.npy",
                                        "0001/out_0.npy",  "0002/in_0.npy", "0003/out_0.npy"};
    const struct place *place = *state;
    char path[200], *rest = odb_xasprintf(",keep=%s/kept/here", place->dir);
    for (int i = 0; i < 2; i++) {
        struct odb_executor *executor = open_with(place, "cp in_0.npy out_0.npy", rest);
        struct odb_error err = ODB_ERROR_INIT;
        for (int load = i; load < 2; load++) {
            load_identity(executor, ODB_F32, true);
            for (int run = 0; run < 2; run++)
                help_ok(run_identity(executor, ODB_F32, NULL, &err), &err);
        }
        odb_executor_close(executor);
    }
    for (size_t i = 0; i < ODB_COUNT(files); i++) {
        snprintf(path, sizeof path, "%s/kept/here/%s", place->dir, files[i]);
        assert_int_equal(access(path, F_OK), 0);
    }
    snprintf(path, sizeof path, "%s/kept/here/0004", place->dir);
    assert_int_equal(access(path, F_OK), -1);
    free(rest);
    struct odb_executor *executor;
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(odb_executor_open(&executor, "command:true,keep=", &err), ODB_E_USAGE);
    help_has_text(&err, "no directory is named");
}

/* No directory can be made in /proc, as in one that is full or belongs to others. */
static void test_command__not_kept(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_executor *executor = open_with(*state, "cp in_0.npy out_0.npy", ",keep=/proc");
    struct odb_buf bytes = ODB_BUF_INIT;
    help_chain(&bytes, NULL);
    struct odb_load load = help_load(&bytes, 4);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(odb_executor_load(executor, &load, &err), ODB_E_IO);
        help_has_text(&err, "/proc/0001");
    }
    odb_executor_close(executor);
    odb_buf_dispose(&bytes);
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

/* Loads what load_external() wrote, cut out of it. */
static void reload_external(const struct place *place, struct odb_executor *executor)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_model *model;
    struct odb_buf bytes = ODB_BUF_INIT;
    char path[120];
    snprintf(path, sizeof path, "%s/whole.onnx", place->dir);
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

/* Adds a weight of 4 KiB that lies in a file of its own. */
static void load_external(const struct place *place, struct odb_executor *executor,
                          const char *file)
{
    struct odb_builder *b = odb_build_new("external", 17);
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *w;
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
    reload_external(place, executor);
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
    load_external(*state, executor, "in_0.npy"); /* names of ours */
    check_weights(*state, "onnxdbg-weights-0.bin");
    load_external(*state, executor, "model.onnx.data");
    check_weights(*state, "onnxdbg-weights-0.bin");
    odb_executor_close(executor);
}

/* The file of that name beside the placed model. */
static struct stat stat_placed(const struct place *place, const char *file)
{
    char path[500] = "";
    struct stat st;
    DIR *dir = opendir(place->tmp);
    for (const struct dirent *e; (e = readdir(dir));)
        if (e->d_name[0] != '.')
            snprintf(path, sizeof path, "%s/%s/%s", place->tmp, e->d_name, file);
    closedir(dir);
    assert_int_equal(stat(path, &st), 0);
    return st;
}

static void scribble(const struct place *place, const char *file)
{
    char command[300];
    snprintf(command, sizeof command, "for f in %s/*/%s; do echo x >$f; done", place->tmp, file);
    assert_int_equal(system(command), 0);
}

/* One copy moves along from model to model, as long as nobody changes it or the original, which it
 * shares no name with. */
static void check_weights_once(const struct place *place, const char *file, const char *placed)
{
    struct odb_executor *executor = open_script(place, "exit 1");
    struct stat first, original;
    char path[100];
    snprintf(path, sizeof path, "%s/%s", place->dir, file);
    load_external(place, executor, file);
    first = stat_placed(place, placed);
    assert_int_equal(stat(path, &original), 0);
    assert_int_not_equal(first.st_ino, original.st_ino);
    assert_int_equal(first.st_nlink, 1);
    reload_external(place, executor);
    assert_int_equal(first.st_ino, stat_placed(place, placed).st_ino);
    check_weights(place, placed);
    scribble(place, placed);
    reload_external(place, executor);
    check_weights(place, placed);
    usleep(20 * 1000);
    load_external(place, executor, file); /* the original is written anew */
    check_weights(place, placed);
    odb_executor_close(executor);
}

static void test_command__weights_once(void **state)
{
    check_weights_once(*state, "w.data", "w.data");
    check_weights_once(*state, "model.onnx.data", "onnxdbg-weights-0.bin");
}

/* Writes the program that the manual shows from the line first on to a file in the directory. */
static char *write_example(const struct place *place, const char *first, const char *name)
{
    FILE *page = fopen("man/onnxdbg-command.7", "r");
    char *path = odb_xasprintf("%s/%s", place->dir, name), *line = NULL;
    size_t size = 0;
    bool within = false;
    assert_non_null(page);
    FILE *f = fopen(path, "w");
    while (getline(&line, &size, page) > 0) {
        within = within || (!strncmp(line, first, strlen(first)) && line[strlen(first)] == '\n');
        if (within && !strcmp(line, ".Ed\n"))
            break;
        if (within)
            fputs(line, f);
    }
    assert_true(within);
    free(line);
    fclose(f);
    fclose(page);
    chmod(path, 0755);
    return path;
}

/* The shell script before a program that fails twice. */
static void test_command__manual_shell(void **state)
{
    const struct place *place = *state;
    struct odb_executor *executor;
    struct odb_error err = ODB_ERROR_INIT;
    char *retry = write_example(place, "#!/bin/sh", "retry.sh");
    bool same = false;
    write_script(place, "#!/bin/sh",
                 "[ \"$1\" = \"$PWD\" ] && echo x >>tries && [ $(wc -l <tries) = 3 ] &&\n"
                 "cp in_0.npy out_0.npy",
                 0755);
    char *spec = odb_xasprintf("command:%s %s", retry, place->script);
    help_ok(odb_executor_open(&executor, spec, &err), &err);
    load_identity(executor, ODB_F32, true);
    help_ok(run_identity(executor, ODB_F32, &same, &err), &err);
    assert_true(same);
    odb_executor_close(executor);
    free(spec);
    free(retry);
}

static void test_command__manual_python(void **state)
{
    const struct place *place = *state;
    struct odb_executor *executor;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf bytes = ODB_BUF_INIT;
    if (system("/usr/bin/python3 -c 'import cv2, numpy' 2>/dev/null") != 0) {
        print_message("skipped: there is no /usr/bin/python3 with cv2 and numpy\n");
        skip();
    }
    char *run = write_example(place, "#!/usr/bin/python3", "run.py");
    char *spec = odb_xasprintf("command:%s", run);
    struct odb_tensor *x = help_floats(2, 4, help_x), *out[2];
    struct odb_named in = {"x", x};
    help_chain(&bytes, NULL);
    struct odb_load load = help_load(&bytes, 4);
    help_ok(odb_executor_open(&executor, spec, &err), &err);
    help_ok(odb_executor_load(executor, &load, &err), &err);
    help_ok(odb_executor_run(executor, &in, 1, help_chain_outputs, 2, out, &err), &err);
    help_floats_equal(out[0], (float[]){1, 2, 3, 4, 5, 6, 7, 8}, 8);
    help_floats_equal(out[1], (float[]){0, 8, 0, 32, 0, 72, 0, 128}, 8);
    odb_tensor_unref(x);
    odb_tensor_unref(out[0]);
    odb_tensor_unref(out[1]);
    odb_executor_close(executor);
    odb_buf_dispose(&bytes);
    free(spec);
    free(run);
}

#define CASE(name) cmocka_unit_test_setup_teardown(test_command__##name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(runs),          CASE(types_without_npy),
        CASE(failures),      CASE(other_files),
        CASE(surroundings),  CASE(floods),
        CASE(hangs),         CASE(names),
        CASE(words),         CASE(not_started),
        CASE(kept),          CASE(not_kept),
        CASE(no_program),    CASE(weights_beside),
        CASE(weights_once),  CASE(manual_shell),
        CASE(manual_python),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
