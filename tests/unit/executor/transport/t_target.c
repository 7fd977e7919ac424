/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executor/transport/target.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "executor.pb-c.h"
#include "executor/transport/protocol.h"
#include "tests/help/executor_help.h"

/* --- surroundings ---------------------------------------------------------------------------- */

struct place {
    char dir[64]; /* TMPDIR of the test: nothing may be left there */
    char *serve;  /* the real one */
    size_t fds;
};

static size_t count_entries(const char *path)
{
    DIR *dir = opendir(path);
    size_t n = 0;
    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir));)
        n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

static int setup(void **state)
{
    struct place *place = odb_new(struct place);
    help_find_serve();
    snprintf(place->dir, sizeof place->dir, "/tmp/t_target-XXXXXX");
    assert_non_null(mkdtemp(place->dir));
    setenv("TMPDIR", place->dir, 1);
    place->serve = odb_xstrdup(getenv("ONNXDBG_SERVE"));
    place->fds = count_entries("/proc/self/fd");
    *state = place;
    return 0;
}

/* After every test: no child, no descriptor, no file is left. */
static int teardown(void **state)
{
    struct place *place = *state;
    static const char *const made[] = {"stand-in", "replies"};
    for (size_t i = 0; i < ODB_COUNT(made); i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", place->dir, made[i]);
        unlink(path);
    }
    setenv("ONNXDBG_SERVE", place->serve, 1);
    int left = waitpid(-1, NULL, WNOHANG);
    int bad = left >= 0 || errno != ECHILD || count_entries("/proc/self/fd") != place->fds ||
              rmdir(place->dir) < 0;
    if (bad)
        print_error("something is left behind: child %d, descriptors %zu of %zu\n", left,
                    count_entries("/proc/self/fd"), place->fds);
    unsetenv("TMPDIR");
    free(place->serve);
    free(place);
    return bad;
}

/* A shell script that plays the child. */
static void stand_in(const struct place *place, const char *script)
{
    char path[128];
    snprintf(path, sizeof path, "%s/stand-in", place->dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\n%s\n", script);
    fclose(f);
    chmod(path, 0755);
    setenv("ONNXDBG_SERVE", path, 1);
}

static enum odb_status run_chain(struct odb_target *target, struct odb_tensor *outputs[2],
                                 struct odb_error *err)
{
    struct odb_tensor *x = help_floats(2, 4, help_x);
    struct odb_named in = {"x", x};
    enum odb_status status = odb_target_run(target, &in, 1, help_chain_outputs, 2, outputs, err);
    odb_tensor_unref(x);
    return status;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* --- what works ------------------------------------------------------------------------------ */

static const float chain_y[] = {1, 2, 3, 4, 5, 6, 7, 8};
static const float chain_side[] = {0, 8, 0, 32, 0, 72, 0, 128};

static void test_target__runs(void **state)
{
    struct odb_target *target = help_open_target("cpu,timeout=60");
    struct odb_tensor *out[2];
    struct odb_error err = ODB_ERROR_INIT;
    assert_non_null(strstr(odb_target_description(target), "CPU reference"));
    assert_string_equal(odb_target_spec(target), "cpu,timeout=60");
    help_load_chain(target);
    for (int i = 0; i < 3; i++) {
        help_ok(run_chain(target, out, &err), &err);
        help_floats_equal(out[0], chain_y, 8);
        help_floats_equal(out[1], chain_side, 8);
        odb_tensor_unref(out[0]);
        odb_tensor_unref(out[1]);
    }
    struct odb_target_stats stats = odb_target_stats(target);
    assert_int_equal(stats.starts, 1);
    assert_int_equal(stats.loads, 1);
    assert_int_equal(stats.runs, 3);
    assert_true(stats.model_bytes > 100);
    odb_target_close(target);
    odb_target_close(NULL);
}

/* An Identity of n floats, so that sizes on both sides of the inline limit are met. */
static void load_identity(struct odb_target *target, int64_t n)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_builder *b = odb_build_new("identity", 17);
    odb_build_input(b, "x", ODB_F32, 1, &n);
    odb_build_input(b, "z", ODB_F32, 1, &n);
    odb_build_node(b, "Identity", "i", "x", "y");
    odb_build_node(b, "Identity", "j", "z", "w");
    odb_build_output_typed(b, "y", ODB_F32, 1, &n);
    odb_build_output_typed(b, "w", ODB_F32, 1, &n);
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    struct odb_load load = {.bytes = bytes.data, .size = bytes.len, .dir = ""};
    help_ok(odb_target_load(target, &load, &err), &err);
    odb_buf_dispose(&bytes);
}

static void test_target__sizes(void **state)
{
    static const int64_t sizes[] = {0, 1, 1000, 16384, 16385, 300000};
    static const char *const names[] = {"y", "w"};
    struct odb_target *target = help_open_target("cpu");
    struct odb_error err = ODB_ERROR_INIT;
    for (size_t s = 0; s < ODB_COUNT(sizes); s++) {
        struct odb_tensor *x, *z, *out[2];
        help_ok(odb_tensor_new(&x, ODB_F32, 1, &sizes[s], &err), &err);
        help_ok(odb_tensor_new(&z, ODB_F32, 1, &sizes[s], &err), &err);
        for (int64_t i = 0; i < sizes[s]; i++) {
            ((float *)x->data)[i] = (float)i;
            ((float *)z->data)[i] = (float)-i;
        }
        load_identity(target, sizes[s]);
        struct odb_named in[] = {{"x", x}, {"z", z}};
        for (int again = 0; again < 3; again++) {
            if (again == 2) { /* one other tensor, one of the run before */
                struct odb_tensor *other;
                help_ok(odb_tensor_clone(&other, x, &err), &err);
                if (sizes[s])
                    ((float *)other->data)[0] = 5;
                odb_tensor_unref(x);
                in[0].tensor = x = other;
            }
            help_ok(odb_target_run(target, in, 2, names, 2, out, &err), &err);
            assert_true(odb_tensor_identical(out[0], x));
            assert_true(odb_tensor_identical(out[1], z));
            odb_tensor_unref(out[0]);
            odb_tensor_unref(out[1]);
        }
        odb_tensor_unref(x);
        odb_tensor_unref(z);
    }
    odb_target_close(target);
}

/* --- two models ------------------------------------------------------------------------------ */

/* A user's file with one operator. */
static void load_file(struct odb_target *target, const char *path, const char *op, bool beside)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_builder *b = odb_build_new(op, 17);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){1, 1});
    odb_build_node(b, op, "only", "x", "y");
    odb_build_output_typed(b, "y", ODB_F32, 2, (int64_t[]){1, 1});
    odb_build_bytes(b, &bytes);
    help_ok(odb_build_write(b, path, NULL, &err), &err);
    odb_build_free(b);
    struct odb_load load = {
        .bytes = bytes.data, .size = bytes.len, .dir = "", .path = path, .beside = beside};
    help_ok(odb_target_load(target, &load, &err), &err);
    odb_buf_dispose(&bytes);
}

static double value_of_two(struct odb_target *target)
{
    static const char *const names[] = {"y"};
    struct odb_tensor *x = help_floats(1, 1, (float[]){2}), *y = NULL;
    struct odb_named in = {"x", x};
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(odb_target_run(target, &in, 1, names, 1, &y, &err), &err);
    double value = odb_tensor_f64(y, 0);
    odb_tensor_unref(x);
    odb_tensor_unref(y);
    return value;
}

/* The user's file stays as long as what is loaded says so, and is never mistaken for that. */
static void test_target__a_model_beside(void **state)
{
    const struct place *place = *state;
    char first[128], second[128];
    struct odb_error err = ODB_ERROR_INIT;
    if (!help_has_ort())
        skip();
    snprintf(first, sizeof first, "%s/stand-in", place->dir);
    snprintf(second, sizeof second, "%s/replies", place->dir);
    struct odb_target *target = help_open_target("ort");
    assert_true(odb_target_beside(target));
    assert_false(odb_target_turn_to(target, first));
    load_file(target, first, "Neg", false);
    assert_true(odb_target_turn_to(target, first));
    load_file(target, second, "Sqrt", true);
    assert_true(fabs(value_of_two(target) - sqrt(2)) < 1e-6);
    assert_true(odb_target_turn_to(target, first));
    assert_true(value_of_two(target) == -2);
    assert_true(odb_target_turn_to(target, NULL));
    assert_true(fabs(value_of_two(target) - sqrt(2)) < 1e-6);
    load_file(target, second, "Reciprocal", true); /* in the place of the second */
    assert_true(odb_target_turn_to(target, first));
    assert_true(value_of_two(target) == -2);
    assert_true(odb_target_turn_to(target, second));
    assert_true(value_of_two(target) == 0.5);
    load_file(target, second, "Abs", false);
    assert_false(odb_target_turn_to(target, first));
    assert_true(value_of_two(target) == 2);
    load_file(target, first, "Neg", true); /* beside the second now */
    assert_true(odb_target_turn_to(target, second));
    assert_true(value_of_two(target) == 2);
    kill(odb_target_pid(target), SIGKILL);
    struct odb_tensor *none[2];
    assert_int_equal(run_chain(target, none, &err), ODB_E_NOMEM); /* as the kernel kills */
    assert_false(odb_target_turn_to(target, first));
    assert_false(odb_target_turn_to(target, second));
    load_file(target, first, "Neg", true); /* a fresh child holds nothing */
    assert_false(odb_target_turn_to(target, second));
    assert_true(value_of_two(target) == -2);
    assert_int_equal(odb_target_stats(target).starts, 2);
    odb_target_close(target);
}

/* What holds one model loads another in its place, though it may stay. */
static void test_target__no_model_beside(void **state)
{
    const struct place *place = *state;
    char first[128], second[128];
    snprintf(first, sizeof first, "%s/stand-in", place->dir);
    snprintf(second, sizeof second, "%s/replies", place->dir);
    struct odb_target *target = help_open_target("cpu");
    assert_false(odb_target_beside(target));
    load_file(target, first, "Neg", false);
    load_file(target, second, "Abs", true);
    assert_false(odb_target_turn_to(target, first));
    assert_true(value_of_two(target) == 2);
    odb_target_close(target);
}

/* --- refusals -------------------------------------------------------------------------------- */

static void test_target__wrong_spec(void **state)
{
    static const char *const bad[] = {"nonsense",
                                      "cpu:f17",
                                      "cpu,option=1",
                                      "cpu@cpu",
                                      "cpu,timeout=0",
                                      "cpu,timeout=soon",
                                      "",
                                      "fault:scale,node=x@cpu:f17"};
    for (size_t i = 0; i < ODB_COUNT(bad); i++) {
        struct odb_target *target = NULL;
        struct odb_error err = ODB_ERROR_INIT;
        assert_int_equal(odb_target_open(&target, bad[i], &err), ODB_E_USAGE);
        assert_null(target);
        assert_true(err.what[0] != '\0');
    }
}

static void test_target__says_no(void **state)
{
    struct odb_target *target = help_open_target("cpu");
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *out[2];
    struct odb_load load = {.bytes = "garbage", .size = 7, .dir = "."};
    assert_int_equal(run_chain(target, out, &err), ODB_E_EXECUTOR);
    help_has_text(&err, "no model is loaded");
    assert_int_equal(odb_target_load(target, &load, &err), ODB_E_EXECUTOR);
    help_load_chain(target);
    assert_int_equal(odb_target_run(target, NULL, 0, help_chain_outputs, 2, out, &err),
                     ODB_E_INPUT);
    help_has_text(&err, "'x'");
    assert_null(out[0]);
    help_ok(run_chain(target, out, &err), &err); /* and is none the worse for it */
    odb_tensor_unref(out[0]);
    odb_tensor_unref(out[1]);
    assert_int_equal(odb_target_stats(target).starts, 1);
    load.dir = "no/such/place";
    assert_int_equal(odb_target_load(target, &load, &err), ODB_E_IO);
    odb_target_close(target);
}

static void test_target__no_program(void **state)
{
    struct odb_target *target = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    setenv("ONNXDBG_SERVE", "/no/such/program", 1);
    assert_int_equal(odb_target_open(&target, "cpu", &err), ODB_E_EXECUTOR);
    help_has_text(&err, "ONNXDBG_SERVE");
}

/* --- disasters ------------------------------------------------------------------------------- */

static void test_target__crash(void **state)
{
    struct odb_target *target = help_open_target("fault:crash,node=second@cpu");
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *out[2];
    for (size_t i = 1; i <= 2; i++) {
        help_load_chain(target);
        assert_int_equal(run_chain(target, out, &err), ODB_E_CRASH);
        help_has_text(&err, "SIGSEGV");
        help_has_text(&err, "crashing on purpose");
        help_has_text(&err, "while running");
        assert_int_equal(odb_target_stats(target).starts, i);
        assert_int_equal(run_chain(target, out, &err), ODB_E_EXECUTOR); /* nothing is loaded */
    }
    odb_target_close(target);
}

static void test_target__hang(void **state)
{
    struct odb_target *target = help_open_target("fault:hang,node=#1@cpu,timeout=0.5");
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *out[2];
    help_load_chain(target);
    double begin = seconds();
    assert_int_equal(run_chain(target, out, &err), ODB_E_TIMEOUT);
    assert_true(seconds() - begin < 3);
    help_has_text(&err, "0.5 s");
    help_load_chain(target);
    assert_int_equal(odb_target_stats(target).starts, 2);
    odb_target_close(target);
}

static bool cancel_third(void *payload)
{
    return ++*(int *)payload == 3;
}

static void test_target__cancel(void **state)
{
    struct odb_target *target = help_open_target("fault:hang,node=second@cpu");
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *out[2];
    int asked = 0;
    help_load_chain(target);
    odb_target_set_cancel(target, cancel_third, &asked);
    double begin = seconds();
    assert_int_equal(run_chain(target, out, &err), ODB_CANCELLED);
    assert_int_equal(asked, 3);
    assert_true(seconds() - begin < 2);
    odb_target_close(target);
}

/* A framework loads, a machine does not answer: nobody has to wait for the end of that. */
static void test_target__cancel_at_its_start(void **state)
{
    const struct place *place = *state;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_target *target = NULL;
    int asked = 0;
    stand_in(place, "sleep 60");
    double begin = seconds();
    assert_int_equal(odb_target_open_until(&target, "cpu", cancel_third, &asked, &err),
                     ODB_CANCELLED);
    help_has_text(&err, "cancelled while starting");
    assert_null(target);
    assert_int_equal(asked, 3);
    assert_true(seconds() - begin < 2);
}

static enum odb_status open_stand_in(void **state, const char *script, struct odb_error *err)
{
    struct odb_target *target = NULL;
    stand_in(*state, script);
    enum odb_status status = odb_target_open(&target, "cpu,timeout=2", err);
    assert_null(target);
    return status;
}

static void test_target__exit(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(open_stand_in(state, "echo out; echo 'no licence' >&2; exit 3", &err),
                     ODB_E_EXECUTOR);
    help_has_text(&err, "exited with status 3");
    help_has_text(&err, "out no licence");
}

static void test_target__flood(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(open_stand_in(state,
                                   "head -c 20000000 /dev/zero | tr '\\0' x >&2;"
                                   "printf '\\033[31mthe end\\n\\n'; kill -ABRT $$",
                                   &err),
                     ODB_E_EXECUTOR);
    help_has_text(&err, "SIGABRT");
    help_has_text(&err, "xxx\\x1b[31mthe end");
    assert_true(strlen(err.what) < 600);
}

static void test_target__garbage(void **state)
{
    /* printf's octal numbers: 24 bytes of header, then what it promises or not */
#define ZERO4 "\\0\\0\\0\\0"
    static const char *const replies[] = {
        "this is not a message of any kind",
        "ODBX\\002\\0\\0\\0" ZERO4 "\\0\\0\\0\\200" ZERO4 ZERO4, /* promises 2^63 bytes */
        "ODBX\\002\\0\\001\\0" ZERO4 ZERO4
        "\\001\\0\\0\\0" ZERO4, /* a descriptor, and none comes */
        "ODBX\\002\\0\\0\\0\\003\\0\\0\\0" ZERO4 ZERO4 ZERO4 "abc", /* no reply */
        "ODBX\\002\\0\\0\\0" ZERO4 ZERO4 ZERO4 ZERO4,               /* an empty reply */
        "ODBX\\003\\0\\0\\0" ZERO4 ZERO4 ZERO4 ZERO4,               /* another version */
    };
#undef ZERO4
    for (size_t i = 0; i < ODB_COUNT(replies); i++) {
        struct odb_error err = ODB_ERROR_INIT;
        double begin = seconds();
        char script[200];
        snprintf(script, sizeof script, "printf '%s' >&3; sleep 60", replies[i]);
        assert_int_equal(open_stand_in(state, script, &err), ODB_E_EXECUTOR);
        help_has_text(&err, "a broken message while starting");
        assert_true(seconds() - begin < 1.5);
    }
}

static void test_target__short_message(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(open_stand_in(state, "printf ODBX >&3", &err), ODB_E_EXECUTOR);
    help_has_text(&err, "exited with status 0");
}

/* timeout= is for loads and runs: a framework may take longer to start. */
static void test_target__slow_start(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    double begin = seconds();
    assert_int_equal(open_stand_in(state, "sleep 3; exit 5", &err), ODB_E_EXECUTOR);
    help_has_text(&err, "exited with status 5");
    assert_true(seconds() - begin >= 3);
}

/* The socket stays open in a process left behind: the death must be seen all the same. */
/* Killed by somebody before it has said a word: that is no fault of the target, and it is started
 * once more; but not for ever. */
static void test_target__killed_at_its_start(void **state)
{
    const struct place *place = *state;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_target *target;
    char script[512];
    snprintf(script, sizeof script, "[ -e %s/once ] || { : >%s/once; kill -9 $$; }\nexec %s \"$@\"",
             place->dir, place->dir, place->serve);
    stand_in(place, script);
    target = help_open_target("cpu");
    help_load_chain(target);
    assert_int_equal(odb_target_stats(target).starts, 2);
    odb_target_close(target);
    snprintf(script, sizeof script, "echo . >>%s/again; kill -9 $$", place->dir);
    stand_in(place, script);
    assert_int_equal(odb_target_open(&target, "cpu", &err), ODB_E_NOMEM);
    help_has_text(&err, "the executor was killed by SIGKILL while starting");
    snprintf(script, sizeof script, "%s/again", place->dir);
    struct stat st;
    assert_int_equal(stat(script, &st), 0);
    assert_int_equal(st.st_size, 4); /* twice */
    unlink(script);
    snprintf(script, sizeof script, "%s/once", place->dir);
    unlink(script);
}

static void test_target__left_behind(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    double begin = seconds();
    assert_int_equal(open_stand_in(state, "sleep 60 & exit 9", &err), ODB_E_EXECUTOR);
    help_has_text(&err, "exited with status 9");
    assert_true(seconds() - begin < 1.5);
}

/* --- values that lie ------------------------------------------------------------------------- */

static void put_frame(FILE *f, const Odb__Wire__Reply *reply)
{
    unsigned char head[24] = {'O', 'D', 'B', 'X', ODB_WIRE_VERSION}, body[8192];
    size_t size = odb__wire__reply__get_packed_size(reply);
    assert_true(size <= sizeof body);
    odb__wire__reply__pack(reply, body);
    memcpy(head + 8, &size, sizeof size);
    fwrite(head, 1, sizeof head, f);
    fwrite(body, 1, size, f);
}

/* A child that answers everything right until it gives these values. */
static void stand_in_with_values(const struct place *place, Odb__Wire__Tensor **values, size_t n)
{
    char path[128], script[200];
    Odb__Wire__Ready ready = ODB__WIRE__READY__INIT;
    Odb__Wire__Done done = ODB__WIRE__DONE__INIT;
    Odb__Wire__Values list = ODB__WIRE__VALUES__INIT;
    Odb__Wire__Reply reply = ODB__WIRE__REPLY__INIT;
    snprintf(path, sizeof path, "%s/replies", place->dir);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    reply.say_case = ODB__WIRE__REPLY__SAY_READY;
    reply.ready = &ready;
    reply.id = 1;
    put_frame(f, &reply);
    reply.say_case = ODB__WIRE__REPLY__SAY_DONE;
    reply.done = &done;
    reply.id = 2;
    put_frame(f, &reply);
    list.outputs = values;
    list.n_outputs = n;
    reply.say_case = ODB__WIRE__REPLY__SAY_VALUES;
    reply.values = &list;
    reply.id = 3;
    put_frame(f, &reply);
    fclose(f);
    snprintf(script, sizeof script, "cat %s >&3; sleep 60", path);
    stand_in(place, script);
}

static void expect_broken(const struct place *place, Odb__Wire__Tensor **values, size_t n)
{
    struct odb_tensor *out[2];
    struct odb_error err = ODB_ERROR_INIT;
    stand_in_with_values(place, values, n);
    struct odb_target *target = help_open_target("cpu,timeout=5");
    help_load_chain(target);
    assert_int_equal(run_chain(target, out, &err), ODB_E_EXECUTOR);
    help_has_text(&err, "a broken message while running");
    assert_null(out[0]);
    assert_null(out[1]);
    odb_target_close(target);
}

static void test_target__lying_values(void **state)
{
    int64_t one = 1, huge = (int64_t)1 << 60, many = (int64_t)1 << 40;
    int64_t dims[20] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    float number = 1;
    Odb__Wire__Blob inside = ODB__WIRE__BLOB__INIT, outside = ODB__WIRE__BLOB__INIT;
    Odb__Wire__Tensor good = ODB__WIRE__TENSOR__INIT, bad, nested[40];
    Odb__Wire__Tensor *pair[40] = {&good, &bad};
    inside.inline_.data = (uint8_t *)&number;
    inside.inline_.len = sizeof number;
    outside.attached = 1;
    outside.offset = 64;
    outside.size = 4;
    good.dtype = ODB_F32;
    good.dims = &one;
    good.n_dims = 1;
    good.data = &inside;
    const struct {
        uint32_t kind, dtype, n_items;
        int64_t *dims;
        size_t n_dims;
        Odb__Wire__Blob *data;
    } cases[] = {
        {0, ODB_F32, 0, &huge, 1, &inside},    {0, ODB_F32, 0, &one, 1, NULL},
        {0, ODB_F32, 0, dims, 20, &inside},    {0, ODB_F32, 0, &one, 1, &outside},
        {0, ODB_STRING, 0, &many, 1, &inside}, {0, ODB_STRING, 0, &one, 1, &inside},
        {0, 77, 0, &one, 1, &inside},          {0, ODB_UNDEFINED, 0, &one, 1, &inside},
        {9, ODB_F32, 0, &one, 1, &inside},     {ODB_SEQUENCE, 0, 4000000000u, NULL, 0, NULL},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        odb__wire__tensor__init(&bad);
        bad.kind = cases[i].kind;
        bad.dtype = cases[i].dtype;
        bad.n_items = cases[i].n_items;
        bad.dims = cases[i].dims;
        bad.n_dims = cases[i].n_dims;
        bad.data = cases[i].data;
        expect_broken(*state, pair, 2);
    }
    expect_broken(*state, pair, 1); /* one too few */
    bad = good;
    pair[2] = &good;
    expect_broken(*state, pair, 3); /* one too many */
    for (size_t i = 1; i < 40; i++) {
        nested[i] = (Odb__Wire__Tensor)ODB__WIRE__TENSOR__INIT;
        nested[i].kind = ODB_SEQUENCE;
        nested[i].n_items = i < 39;
        pair[i] = &nested[i];
    }
    expect_broken(*state, pair, 40);
}

/* How many processes have this text in their command line. */
static int processes_with(const char *text)
{
    DIR *proc = opendir("/proc");
    int n = 0;
    for (const struct dirent *e; (e = readdir(proc));) {
        char path[300], line[4096];
        snprintf(path, sizeof path, "/proc/%s/cmdline", e->d_name);
        FILE *f = fopen(path, "r");
        size_t len = f ? fread(line, 1, sizeof line - 1, f) : 0;
        if (f)
            fclose(f);
        n += len > 0 && memmem(line, len, text, strlen(text)) != NULL;
    }
    closedir(proc);
    return n;
}

/* Loads a model, tells so, and never comes back from running it. No assertions: those of a copy of
 * this process would run the tests behind it again. */
static _Noreturn void be_debugger(int tell)
{
    struct odb_target *target;
    struct odb_tensor *out[2];
    struct odb_buf bytes = ODB_BUF_INIT;
    help_chain(&bytes, NULL);
    struct odb_load load = help_load(&bytes, 4);
    if (odb_target_open(&target, "fault:hang,node=second@cpu", NULL) == ODB_OK &&
        odb_target_load(target, &load, NULL) == ODB_OK && write(tell, "x", 1) == 1 &&
        run_chain(target, out, NULL) != ODB_OK)
        _exit(0);
    _exit(1);
}

/* The debugger is killed while its child hangs: the child and its files go, too. */
static void test_target__orphan(void **state)
{
    const struct place *place = *state;
    int told[2];
    assert_int_equal(pipe(told), 0);
    pid_t debugger = fork();
    if (debugger == 0)
        be_debugger(told[1]);
    char byte;
    close(told[1]);
    assert_int_equal(read(told[0], &byte, 1), 1);
    close(told[0]);
    usleep(200 * 1000);
    assert_int_equal(processes_with(place->dir), 1);
    kill(debugger, SIGKILL);
    waitpid(debugger, NULL, 0);
    for (int i = 0; i < 50 && processes_with(place->dir) > 0; i++)
        usleep(100 * 1000);
    assert_int_equal(processes_with(place->dir), 0);
    assert_int_equal(count_entries(place->dir), 0);
}

static void test_target__limit(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        double seconds;
    } cases[] = {
        {"cpu", 600},
        {"cpu,timeout=5", 5},
        {"fault:hang,node=#0@cpu,timeout=7", 7},
        {"fault:hang,node=#0,timeout=3@cpu,timeout=7", 3},
        {"cpu,timeout=-3", 0},
        {"cpu,timeout=soon", 0},
        {"", 0},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++)
        assert_true(odb_target_limit(cases[i].spec) == cases[i].seconds);
}

#define CASE(name) cmocka_unit_test_setup_teardown(test_target__##name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(runs),           CASE(sizes),           CASE(wrong_spec),
        CASE(says_no),        CASE(no_program),      CASE(crash),
        CASE(hang),           CASE(cancel),          CASE(cancel_at_its_start),
        CASE(exit),           CASE(flood),           CASE(garbage),
        CASE(short_message),  CASE(slow_start),      CASE(left_behind),
        CASE(orphan),         CASE(lying_values),    CASE(killed_at_its_start),
        CASE(a_model_beside), CASE(no_model_beside), CASE(limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
