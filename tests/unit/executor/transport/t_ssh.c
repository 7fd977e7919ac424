/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Targets behind a real sshd on loopback, which this test starts for itself. What is the far side's
 * lies below $DIR/far: its cache, its temporary files.
 */
#include "executor/transport/link.h"

#include <dirent.h>
#include <signal.h>
#include <time.h>

#include "system/scratch.h"
#include "executor/kept/cache.h"
#include "executor/executor.h"
#include "executor/transport/target_pool.h"
#include "executor/transport/protocol.h"
#include "executor/transport/target.h"
#include "tests/help/executor_help.h"
#include "model/model.h"
#include "tests/help/sshd_help.h"
#include "tensor/format/npy.h"

#define NEEDS_SSHD(place)                                                                          \
    do {                                                                                           \
        if ((place)->sshd.why[0]) {                                                                \
            print_message("skipped: %s\n", (place)->sshd.why);                                     \
            skip();                                                                                \
        }                                                                                          \
    } while (0)

struct place {
    char dir[64], far[80], tmp[100], cache[100];
    struct help_sshd sshd;
};

/* --- surroundings ---------------------------------------------------------------------------- */

/* The far side's program with an environment of its own, before which shell lines may stand. */
static void far_side(const struct place *place, const char *before, const char *env)
{
    char text[1000];
    snprintf(text, sizeof text, "%s TMPDIR=%s ONNXDBG_CACHE=%s %s %s", before, place->tmp,
             place->cache, env, getenv("ONNXDBG_SERVE"));
    setenv("ONNXDBG_REMOTE_SERVE", text, 1);
}

static int group_setup(void **state)
{
    struct place *place = odb_new(struct place);
    help_find_serve();
    snprintf(place->dir, sizeof place->dir, "/tmp/t_ssh-XXXXXX");
    assert_non_null(mkdtemp(place->dir));
    help_sshd_start(&place->sshd, place->dir);
    *state = place;
    return 0;
}

static int group_teardown(void **state)
{
    struct place *place = *state;
    help_sshd_stop(&place->sshd);
    odb_scratch_remove(place->dir);
    free(place);
    return 0;
}

static int setup(void **state)
{
    struct place *place = *state;
    snprintf(place->far, sizeof place->far, "%s/far", place->dir);
    snprintf(place->tmp, sizeof place->tmp, "%s/tmp", place->far);
    snprintf(place->cache, sizeof place->cache, "%s/cache", place->far);
    mkdir(place->far, 0700);
    mkdir(place->tmp, 0700);
    far_side(place, "", "");
    help_sshd_use(&place->sshd, "config");
    return 0;
}

static size_t count(const char *path, const char *prefix)
{
    DIR *dir = opendir(path);
    size_t n = 0;
    for (const struct dirent *e; dir && (e = readdir(dir));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
             !strncmp(e->d_name, prefix, strlen(prefix));
    if (dir)
        closedir(dir);
    return n;
}

/* The command line of a process, its words parted by NUL; returns how long it is. */
static size_t far_words(const char *pid, char *text, size_t size)
{
    char path[300];
    snprintf(path, sizeof path, "/proc/%s/cmdline", pid);
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, size - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = '\0';
    return n;
}

static bool far_relays(const char *pid)
{
    char text[2000];
    size_t n = far_words(pid, text, sizeof text);
    return n > 8 && !memcmp(text + n - 8, "--relay", 8);
}

static void far_tell(const char *pid)
{
    char text[2000];
    for (size_t n = far_words(pid, text, sizeof text); n-- > 1;)
        text[n - 1] = text[n - 1] ? text[n - 1] : ' ';
    print_error("left behind: process %s, %s\n", pid, text);
}

enum { FAR_COUNT = 0, FAR_TELL = -1 };

/* Processes whose environment holds a text; those that relay get the signal, or all are told of. */
static int far_signal(const char *want, int number)
{
    DIR *proc = opendir("/proc");
    int n = 0;
    for (const struct dirent *e; (e = readdir(proc));) {
        char path[300], text[20000];
        snprintf(path, sizeof path, "/proc/%s/environ", e->d_name);
        FILE *f = e->d_name[0] >= '1' && e->d_name[0] <= '9' ? fopen(path, "r") : NULL;
        size_t len = f ? fread(text, 1, sizeof text, f) : 0;
        if (f)
            fclose(f);
        bool far = len > 0 && memmem(text, len, want, strlen(want)) != NULL;
        n += far;
        if (far && number == FAR_TELL)
            far_tell(e->d_name);
        else if (far && number && far_relays(e->d_name))
            kill((pid_t)strtol(e->d_name, NULL, 10), number);
    }
    closedir(proc);
    return n;
}

/* Of either side: ssh has this test's directory in its environment, and all that sshd starts as
 * well, from its shell on. One that is about to start is seen so. */
static int processes_left(const struct place *place)
{
    return far_signal(place->dir, FAR_COUNT);
}

/* After every test nobody is left, and no file but what is cached. */
static int teardown(void **state)
{
    struct place *place = *state;
    for (int i = 0;
         i < 400 && (processes_left(place) || count(place->tmp, "") || count(place->cache, "."));
         i++)
        usleep(50 * 1000);
    int processes = processes_left(place);
    size_t files = count(place->tmp, ""), runs = count(place->cache, ".");
    if (processes || files || runs)
        print_error("left behind: %d processes, %zu temporary files, %zu in the cache\n", processes,
                    files, runs);
    if (processes)
        far_signal(place->dir, FAR_TELL);
    odb_scratch_remove(place->far);
    unsetenv("ONNXDBG_REMOTE_SERVE");
    return processes || files || runs;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* --- what works ------------------------------------------------------------------------------ */

static void test_ssh__runs(void **state)
{
    const struct place *place = *state;
    struct odb_error err = ODB_ERROR_INIT;
    NEEDS_SSHD(place);
    struct odb_target *target = help_open_target("ssh:loopback,cpu,timeout=60");
    assert_non_null(strstr(odb_target_description(target), "CPU reference"));
    assert_non_null(strstr(odb_target_description(target), ", on loopback"));
    for (int i = 0; i < 3; i++) {
        help_load_chain(target);
        help_ok(help_run_chain(target, &err), &err);
        help_ok(help_run_chain(target, &err), &err);
    }
    assert_int_equal(odb_target_stats(target).starts, 1);
    assert_int_equal(odb_target_stats(target).relinks, 0);
    struct odb_account account = ODB_ACCOUNT_INIT;
    help_ok(odb_target_account(target, &account, &err), &err);
    odb_account_dispose(&account);
    odb_target_close(target);
    char spec[80];
    snprintf(spec, sizeof spec, "ssh:127.0.0.1:%d,cpu:f64", place->sshd.port);
    target = help_open_target(spec);
    help_load_chain(target);
    help_ok(help_run_chain(target, &err), &err);
    odb_target_close(target);
}

/* Large tensors, both ways, and the same again. */
static void test_ssh__large(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    int64_t n = 3 << 20;
    NEEDS_SSHD((struct place *)*state);
    struct odb_target *target = help_open_target("ssh:loopback,cpu");
    struct odb_builder *b = odb_build_new("large", 17);
    struct odb_buf bytes = ODB_BUF_INIT;
    odb_build_input(b, "x", ODB_F32, 1, &n);
    odb_build_node(b, "Identity", "i", "x", "y");
    odb_build_output_typed(b, "y", ODB_F32, 1, &n);
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    struct odb_load load = {.bytes = bytes.data, .size = bytes.len, .dir = "."};
    help_ok(odb_target_load(target, &load, &err), &err);
    struct odb_tensor *x, *y;
    help_ok(odb_tensor_new(&x, ODB_F32, 1, &n, &err), &err);
    for (int64_t i = 0; i < n; i++)
        ((float *)x->data)[i] = (float)i;
    struct odb_named in = {"x", x};
    const char *name = "y";
    for (int i = 0; i < 2; i++) {
        help_ok(odb_target_run(target, &in, 1, &name, 1, &y, &err), &err);
        assert_true(odb_tensor_identical(x, y));
        odb_tensor_unref(y);
    }
    odb_tensor_unref(x);
    odb_buf_dispose(&bytes);
    odb_target_close(target);
}

/* --- weights --------------------------------------------------------------------------------- */

#define WEIGHTS 100000

/* near/model.onnx: y = x + w, where w lies in a file beside it. */
static void make_weights(const struct place *place, float value)
{
    char path[200];
    int64_t n = WEIGHTS;
    struct odb_tensor *w;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_builder *b = odb_build_new("weights", 17);
    help_ok(odb_tensor_new(&w, ODB_F32, 1, &n, &err), &err);
    for (size_t i = 0; i < WEIGHTS; i++)
        ((float *)w->data)[i] = value;
    odb_build_input(b, "x", ODB_F32, 1, &n);
    odb_build_weight(b, "w", w);
    odb_build_node(b, "Add", "add", "x w", "y");
    odb_build_output_typed(b, "y", ODB_F32, 1, &n);
    snprintf(path, sizeof path, "%s/near", place->far);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/near/model.onnx", place->far);
    help_ok(odb_build_write(b, path, "w.bin", &err), &err);
    odb_build_free(b);
    odb_tensor_unref(w);
}

static void load_weights(const struct place *place, struct odb_target *target)
{
    char dir[200], path[220], bytes[8192];
    struct odb_error err = ODB_ERROR_INIT;
    snprintf(dir, sizeof dir, "%s/near", place->far);
    snprintf(path, sizeof path, "%s/model.onnx", dir);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    struct odb_load load = {.bytes = bytes, .size = fread(bytes, 1, sizeof bytes, f), .dir = dir};
    fclose(f);
    assert_in_range(load.size, 50, sizeof bytes - 1);
    help_ok(odb_target_load(target, &load, &err), &err);
}

static void expect_weights(struct odb_target *target, float value)
{
    int64_t n = WEIGHTS;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *x, *y;
    const char *name = "y";
    help_ok(odb_tensor_new(&x, ODB_F32, 1, &n, &err), &err);
    struct odb_named in = {"x", x};
    help_ok(odb_target_run(target, &in, 1, &name, 1, &y, &err), &err);
    for (size_t i = 0; i < WEIGHTS; i++)
        assert_true(((float *)y->data)[i] == value);
    odb_tensor_unref(x);
    odb_tensor_unref(y);
}

static void test_ssh__files_go_once(void **state)
{
    const struct place *place = *state;
    size_t size = WEIGHTS * sizeof(float);
    NEEDS_SSHD(place);
    make_weights(place, 3);
    struct odb_target *target = help_open_target("ssh:loopback,cpu");
    for (int i = 0; i < 3; i++) {
        load_weights(place, target);
        expect_weights(target, 3);
    }
    assert_int_equal(odb_target_stats(target).file_bytes, size);
    make_weights(place, 5); /* the same name, other bytes */
    load_weights(place, target);
    expect_weights(target, 5);
    assert_int_equal(odb_target_stats(target).file_bytes, 2 * size);
    odb_target_close(target);
    target = help_open_target("ssh:loopback,cpu"); /* another link: it is all there */
    load_weights(place, target);
    expect_weights(target, 5);
    make_weights(place, 3);
    load_weights(place, target);
    expect_weights(target, 3);
    assert_int_equal(odb_target_stats(target).file_bytes, 0);
    odb_target_close(target);
    assert_int_equal(count(place->cache, ""), 2);
}

/* No room that lasts: all the same, for as long as the link. */
static void test_ssh__no_cache(void **state)
{
    const struct place *place = *state;
    NEEDS_SSHD(place);
    far_side(place, "", "ONNXDBG_CACHE=/proc/no/such/place");
    make_weights(place, 3);
    for (size_t i = 0; i < 2; i++) {
        struct odb_target *target = help_open_target("ssh:loopback,cpu");
        load_weights(place, target);
        load_weights(place, target);
        expect_weights(target, 3);
        assert_int_equal(odb_target_stats(target).file_bytes, WEIGHTS * sizeof(float));
        odb_target_close(target);
    }
    assert_int_equal(count(place->cache, ""), 0);
}

/* --- disasters on the other side -------------------------------------------------------------- */

static void test_ssh__crash(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    NEEDS_SSHD((struct place *)*state);
    struct odb_target *target = help_open_target("ssh:loopback,fault:crash,node=second@cpu");
    for (int i = 0; i < 2; i++) {
        struct odb_buf words = ODB_BUF_INIT;
        help_load_chain(target);
        assert_int_equal(help_run_chain(target, &err), ODB_E_CRASH);
        help_has_text(&err, "the executor was killed by SIGSEGV while running");
        help_has_text(&err, "loopback: ");
        odb_target_words(target, &words);
        assert_string_equal(odb_buf_text(&words), "fault: crashing on purpose\n");
        odb_buf_dispose(&words);
        assert_int_equal(help_run_chain(target, &err), ODB_E_EXECUTOR);
        help_has_text(&err, "no model is loaded");
    }
    assert_int_equal(odb_target_stats(target).starts, 1); /* the link has nothing to do with it */
    assert_int_equal(odb_target_stats(target).relinks, 0);
    odb_target_close(target);
}

static void test_ssh__hang(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    NEEDS_SSHD((struct place *)*state);
    struct odb_target *target = help_open_target("ssh:loopback,fault:hang,node=#1@cpu,timeout=0.5");
    help_load_chain(target);
    double begin = seconds();
    assert_int_equal(help_run_chain(target, &err), ODB_E_TIMEOUT);
    assert_true(seconds() - begin < 5);
    help_has_text(&err, "no answer within 0.5 s while running");
    help_load_chain(target);
    assert_int_equal(odb_target_stats(target).starts, 1);
    odb_target_close(target);
}

static bool cancel_third(void *payload)
{
    return ++*(int *)payload == 3;
}

/* What was cancelled here ends there; teardown looks. */
static void test_ssh__cancel(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    int asked = 0;
    NEEDS_SSHD((struct place *)*state);
    struct odb_target *target = help_open_target("ssh:loopback,fault:hang,node=second@cpu");
    help_load_chain(target);
    odb_target_set_cancel(target, cancel_third, &asked);
    double begin = seconds();
    assert_int_equal(help_run_chain(target, &err), ODB_CANCELLED);
    assert_true(seconds() - begin < 3);
    odb_target_set_cancel(target, NULL, NULL);
    help_load_chain(target);
    odb_target_close(target);
}

/* A limit is kept where the child is. */
static void test_ssh__memory(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    int64_t one = 1, count = (int64_t)1 << 28;
    NEEDS_SSHD((struct place *)*state);
    if (SANITIZED)
        skip(); /* shadow memory is over any limit */
    struct odb_target *target = help_open_target("ssh:loopback,cpu:f64,mem=300M");
    struct odb_builder *b = odb_build_new("large", 17);
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_tensor *n, *y;
    odb_build_input(b, "n", ODB_I64, 1, &one);
    odb_build_node(b, "ConstantOfShape", "grow", "n", "y");
    odb_build_output_typed(b, "y", ODB_F32, 1, &count);
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    struct odb_load load = {.bytes = bytes.data, .size = bytes.len, .dir = "."};
    help_ok(odb_target_load(target, &load, &err), &err);
    help_ok(odb_tensor_copy_of(&n, ODB_I64, 1, &one, &count, &err), &err);
    struct odb_named in = {"n", n};
    const char *name = "y";
    assert_int_equal(odb_target_run(target, &in, 1, &name, 1, &y, &err), ODB_E_NOMEM);
    help_has_text(&err, "mem=300M in its spec limits its memory");
    odb_tensor_unref(n);
    odb_buf_dispose(&bytes);
    odb_target_close(target);
}

/* The debugger is killed while the other side works: that ends, and puts its things away; teardown
 * looks. No assertions: those of a copy of this process would run the tests behind it again. */
static void test_ssh__orphan(void **state)
{
    const struct place *place = *state;
    int told[2];
    char byte;
    NEEDS_SSHD(place);
    assert_int_equal(pipe(told), 0);
    pid_t debugger = fork();
    if (debugger == 0) {
        struct odb_target *target;
        struct odb_buf bytes = ODB_BUF_INIT;
        help_chain(&bytes, NULL);
        struct odb_load load = help_load(&bytes, 4);
        if (odb_target_open(&target, "ssh:loopback,fault:hang,node=second@cpu", NULL) == ODB_OK &&
            odb_target_load(target, &load, NULL) == ODB_OK && write(told[1], "x", 1) == 1)
            help_run_chain(target, NULL);
        _exit(1);
    }
    close(told[1]);
    assert_int_equal(read(told[0], &byte, 1), 1);
    close(told[0]);
    usleep(300 * 1000);
    assert_true(far_signal(place->sshd.mark, FAR_COUNT) >= 2);
    kill(debugger, SIGKILL);
    waitpid(debugger, NULL, 0);
}

/* --- links ------------------------------------------------------------------------------------ */

static void test_ssh__lost_link(void **state)
{
    const struct place *place = *state;
    struct odb_error err = ODB_ERROR_INIT;
    NEEDS_SSHD(place);
    make_weights(place, 3);
    struct odb_target *target = help_open_target("ssh:loopback,cpu");
    help_load_chain(target);
    kill(-odb_target_pid(target), SIGKILL); /* between load and run */
    help_ok(help_run_chain(target, &err), &err);
    assert_int_equal(odb_target_stats(target).relinks, 1);
    kill(-odb_target_pid(target), SIGTERM);
    load_weights(place, target);
    expect_weights(target, 3);
    kill(-odb_target_pid(target), SIGKILL);
    expect_weights(target, 3);
    assert_int_equal(odb_target_stats(target).relinks, 3);
    assert_int_equal(odb_target_stats(target).file_bytes, WEIGHTS * sizeof(float));
    odb_target_close(target);
}

/* A link that cannot be made again, and one that is lost again. */
static void test_ssh__lost_for_good(void **state)
{
    const struct place *place = *state;
    struct odb_error err = ODB_ERROR_INIT;
    NEEDS_SSHD(place);
    struct odb_target *target = help_open_target("ssh:loopback,cpu");
    help_load_chain(target);
    help_sshd_use(&place->sshd, "wrong-key");
    kill(-odb_target_pid(target), SIGKILL);
    assert_int_equal(help_run_chain(target, &err), ODB_E_IO);
    help_has_text(&err, "the link to loopback was lost while running");
    help_has_text(&err, "; and once more: no link to loopback; output: ");
    help_has_text(&err, "Permission denied");
    help_sshd_use(&place->sshd, "config");
    help_load_chain(target);
    help_ok(help_run_chain(target, &err), &err);
    odb_target_close(target);
}

/* The far side is killed whenever it is to run: the second loss is the verdict. */
static void test_ssh__lost_twice(void **state)
{
    const struct place *place = *state;
    struct odb_error err = ODB_ERROR_INIT;
    NEEDS_SSHD(place);
    far_side(place, "p=$$; (sleep 1.5; kill -9 $p) >/dev/null 2>&1 & exec env", "");
    struct odb_target *target = help_open_target("ssh:loopback,fault:hang,node=second@cpu");
    help_load_chain(target);
    assert_int_equal(help_run_chain(target, &err), ODB_E_IO);
    help_has_text(&err, "the link to loopback was lost while running");
    assert_int_equal(odb_target_stats(target).starts, 2);
    odb_target_close(target);
    sleep(2);                         /* the lines in the background */
    odb_scratch_remove(place->cache); /* nobody could put it away */
}

/* The far end itself is told to go: it puts its directory in the cache away, which teardown sees.
 */
static void test_ssh__far_end_told_to_go(void **state)
{
    struct place *place = *state;
    struct odb_error err = ODB_ERROR_INIT;
    NEEDS_SSHD(place);
    struct odb_target *target = help_open_target("ssh:loopback,cpu");
    help_load_chain(target);
    help_ok(help_run_chain(target, &err), &err);
    assert_int_equal(count(place->cache, ".run-"), 1);
    assert_true(far_signal(place->sshd.mark, SIGTERM) > 0);
    for (int i = 0; i < 100 && count(place->cache, ".run-"); i++)
        usleep(50 * 1000);
    assert_int_equal(count(place->cache, ".run-"), 0);
    odb_target_close(target);
}

/* --- what is not there ------------------------------------------------------------------------ */

static void test_ssh__recordings_lack_values(void **state)
{
    struct place *place = *state;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *y = help_floats(2, 4, help_x), *out[2];
    char path[200], spec[200];
    NEEDS_SSHD(place);
    snprintf(path, sizeof path, "%s/y.npy", place->far);
    snprintf(spec, sizeof spec, "ssh:loopback,dump:%s", place->far);
    help_ok(odb_npy_write(y, path, &err), &err);
    struct odb_target *target = help_open_target(spec);
    assert_true(odb_target_recorded(target));
    assert_true(odb_executor_recorded(spec));
    assert_true(odb_target_accounts(target));
    help_load_chain(target);
    help_ok(odb_target_run(target, NULL, 0, help_chain_outputs, 2, out, &err), &err);
    help_floats_equal(out[0], help_x, 8);
    assert_null(out[1]);
    odb_tensor_unref(out[0]);
    odb_tensor_unref(y);
    odb_target_close(target);
}

/* --- what does not even begin ----------------------------------------------------------------- */

static enum odb_status refused(const char *spec, struct odb_error *err)
{
    struct odb_target *target = NULL;
    *err = (struct odb_error)ODB_ERROR_INIT;
    double begin = seconds();
    enum odb_status status = odb_target_open(&target, spec, err);
    assert_null(target);
    assert_true(seconds() - begin < 10);
    return status;
}

static void test_ssh__specs(void **state)
{
    static const struct {
        const char *spec, *text;
    } cases[] = {
        {"ssh", "no host is named; write ssh:HOST,SPEC"},
        {"ssh:", "no host is named"},
        {"ssh:,cpu", "no host is named"},
        {"ssh:h", "no executor is named for the host"},
        {"ssh:h,", "nothing stands behind 'ssh:h,'"},
        {"ssh:-oProxyCommand=touch,cpu", "that is no host"},
        {"ssh:h:,cpu", "that is no host"},
        {"ssh:h:x,cpu", "that is no host"},
        {"ssh:h:22x,cpu", "that is no host"},
        {"ssh:h:222222,cpu", "that is no host"},
        {"ssh:::1,cpu", "that is no host"},
        {"ssh:[::1,cpu", "that is no host"},
        {"ssh:[],cpu", "that is no host"},
        {"ssh:[::1]22,cpu", "that is no host"},
        {"ssh:u@,cpu", "that is no host"},
        {"ssh:h,cpu,timeout=0", "timeout=0 is no time"},
        {"ssh:h,cpu,mem=x", "mem=x is no size"},
        {"fault:crash,node=x@ssh:h,cpu", "write ssh:HOST,fault:...@SPEC"},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_error err;
        assert_int_equal(refused(cases[i].spec, &err), ODB_E_USAGE);
        help_has_text(&err, cases[i].text);
    }
}

static void test_ssh__hosts(void **state)
{
    static const struct {
        const char *spec, *host, *port, *inner;
    } cases[] = {
        {"ssh:h,cpu", "h", NULL, "cpu"},
        {"ssh:h:2222,cpu:f64,timeout=3", "h", "2222", "cpu:f64,timeout=3"},
        {"ssh:me@h.example:22,fault:crash,node=x@cpu", "me@h.example", "22",
         "fault:crash,node=x@cpu"},
        {"ssh:[::1],cpu", "::1", NULL, "cpu"},
        {"ssh:me@[fe80::1%eth0]:22,cpu", "me@fe80::1%eth0", "22", "cpu"},
        {"ssh:a,ssh:b,cpu", "a", NULL, "ssh:b,cpu"},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_spec *spec;
        struct odb_link ssh;
        struct odb_error err = ODB_ERROR_INIT;
        help_ok(odb_spec_parse(&spec, cases[i].spec, &err), &err);
        help_ok(odb_link_parse(&ssh, spec, &err), &err);
        assert_string_equal(ssh.where, cases[i].host);
        assert_true(!ssh.port == !cases[i].port);
        if (ssh.port)
            assert_string_equal(ssh.port, cases[i].port);
        assert_string_equal(spec->inner, cases[i].inner);
        odb_link_dispose(&ssh);
        odb_spec_free(spec);
    }
}

static void test_ssh__no_link(void **state)
{
    const struct place *place = *state;
    struct odb_error err;
    char spec[80];
    NEEDS_SSHD(place);
    help_sshd_use(&place->sshd, "wrong-key");
    assert_int_equal(refused("ssh:loopback,cpu", &err), ODB_E_EXECUTOR);
    help_has_text(&err, "no link to loopback; output: ");
    help_has_text(&err, "Permission denied");
    help_has_text(&err, "ssh-copy-id loopback");
    help_sshd_use(&place->sshd, "wrong-host");
    assert_int_equal(refused("ssh:loopback,cpu", &err), ODB_E_EXECUTOR);
    help_has_text(&err, "Host key verification failed");
    help_has_text(&err, "accept it once by hand: ssh loopback");
    help_sshd_use(&place->sshd, "config");
    snprintf(spec, sizeof spec, "ssh:127.0.0.1:%d,cpu", sshd_free_port());
    assert_int_equal(refused(spec, &err), ODB_E_EXECUTOR);
    help_has_text(&err, "Connection refused");
    setenv("ONNXDBG_SSH", "/no/such/ssh", 1);
    assert_int_equal(refused("ssh:loopback,cpu", &err), ODB_E_EXECUTOR);
    help_has_text(&err, "/no/such/ssh");
}

static void test_ssh__no_serve(void **state)
{
    const struct place *place = *state;
    struct odb_error err;
    NEEDS_SSHD(place);
    setenv("ONNXDBG_REMOTE_SERVE", "/no/such/onnxdbg-serve", 1);
    assert_int_equal(refused("ssh:loopback,cpu", &err), ODB_E_EXECUTOR);
    help_has_text(&err, "loopback has no onnxdbg-serve");
    help_has_text(&err, "ONNXDBG_REMOTE_SERVE");
    setenv("ONNXDBG_REMOTE_SERVE", "sh -c 'echo usage: onnxdbg-serve SPEC >&2; exit 2'", 1);
    assert_int_equal(refused("ssh:loopback,cpu", &err), ODB_E_EXECUTOR);
    help_has_text(&err, "onnxdbg-serve on loopback exited with status 2");
    help_has_text(&err, "it has to be of this version, " ODB_VERSION);
    setenv("ONNXDBG_REMOTE_SERVE", "printf 'ODBX\\143\\0\\0\\0%16s' ''; sleep 2; true", 1);
    assert_int_equal(refused("ssh:loopback,cpu", &err), ODB_E_EXECUTOR);
    help_has_text(&err, "the other end speaks version 99");
    help_has_text(&err, "of the same version");
    far_side(place, "echo Welcome to the machine of somebody;", "");
    assert_int_equal(refused("ssh:loopback,cpu", &err), ODB_E_EXECUTOR);
    help_has_text(&err, "'Welcome to the machine o...'");
    help_has_text(&err, "this must print nothing: ssh loopback true");
}

/* The other side's words reach us with its name. */
static void test_ssh__says_no(void **state)
{
    struct odb_error err;
    NEEDS_SSHD((struct place *)*state);
    assert_int_equal(refused("ssh:loopback,cpu:f17", &err), ODB_E_USAGE);
    help_has_text(&err, "loopback: cpu:f17");
    assert_int_equal(refused("ssh:loopback,nonsense", &err), ODB_E_USAGE);
    help_has_text(&err, "there is no executor 'nonsense'");
}

/* No shell reads a spec. */
static void test_ssh__no_shell(void **state)
{
    const struct place *place = *state;
    struct odb_error err;
    char spec[600], trap[100];
    NEEDS_SSHD(place);
    snprintf(trap, sizeof trap, "%s/trap", place->dir);
    snprintf(spec, sizeof spec, "ssh:loopback,cpu:f64;touch %s;$(touch %s)`touch %s`'|\"", trap,
             trap, trap);
    assert_int_equal(refused(spec, &err), ODB_E_USAGE);
    assert_int_equal(access(trap, F_OK), -1);
    snprintf(spec, sizeof spec, "ssh:$(touch %s),cpu", trap);
    assert_int_equal(refused(spec, &err), ODB_E_EXECUTOR);
    assert_int_equal(access(trap, F_OK), -1);
}

/* What one worker of several hosts does, and what its host is called. */
struct errand {
    enum odb_status status;
    struct odb_error err;
    char spec[100];
};

static void run_errand(void *arg, struct odb_target *target)
{
    struct errand *errand = arg;
    snprintf(errand->spec, sizeof errand->spec, "%s", odb_target_spec(target));
    help_load_chain(target);
    usleep(200 * 1000); /* long enough for the other to take one as well */
    errand->status = help_run_chain(target, &errand->err);
}

static void test_ssh__several_hosts_share_the_work(void **state)
{
    const struct place *place = *state;
    struct errand errands[4] = {0};
    struct odb_pool_task *tasks[4];
    struct odb_pool *pool = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    char spec[100], second[100];
    size_t by_second = 0;
    NEEDS_SSHD(place);
    snprintf(spec, sizeof spec, "ssh:loopback+127.0.0.1:%d,cpu,timeout=60", place->sshd.port);
    snprintf(second, sizeof second, "ssh:127.0.0.1:%d,cpu,timeout=60", place->sshd.port);
    help_ok(odb_pool_open(&pool, spec, NULL, NULL, &err), &err);
    assert_int_equal(odb_pool_workers(pool), 2);
    for (int i = 0; i < 4; i++)
        tasks[i] = odb_pool_begin(pool, run_errand, &errands[i]);
    for (int i = 0; i < 4; i++) {
        odb_pool_wait(pool, tasks[i]);
        help_ok(errands[i].status, &errands[i].err);
        bool is_second = !strcmp(errands[i].spec, second);
        assert_true(is_second || !strcmp(errands[i].spec, "ssh:loopback,cpu,timeout=60"));
        by_second += is_second;
    }
    assert_string_equal(odb_pool_trouble(pool), "");
    assert_true(by_second >= 1 && by_second <= 3);
    odb_pool_close(pool);
}

/* The other does it all, and the user is told why. */
static void test_ssh__a_host_that_is_away_is_left_out(void **state)
{
    const struct place *place = *state;
    struct errand errands[3] = {0};
    struct odb_pool_task *tasks[3];
    struct odb_pool *pool = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    char spec[100];
    NEEDS_SSHD(place);
    snprintf(spec, sizeof spec, "ssh:loopback+127.0.0.1:%d,cpu,workers=2", sshd_free_port());
    help_ok(odb_pool_open(&pool, spec, NULL, NULL, &err), &err);
    for (int i = 0; i < 3; i++)
        tasks[i] = odb_pool_begin(pool, run_errand, &errands[i]);
    for (int i = 0; i < 3; i++) {
        odb_pool_wait(pool, tasks[i]);
        help_ok(errands[i].status, &errands[i].err);
        assert_string_equal(errands[i].spec, "ssh:loopback,cpu,workers=2");
    }
    while (!odb_pool_trouble(pool)[0])
        usleep(1000);
    assert_non_null(strstr(odb_pool_trouble(pool), "no link to 127.0.0.1"));
    odb_pool_close(pool);
}

#define CASE(name) cmocka_unit_test_setup_teardown(test_ssh__##name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(specs),
        CASE(hosts),
        CASE(runs),
        CASE(large),
        CASE(no_cache),
        CASE(files_go_once),
        CASE(crash),
        CASE(hang),
        CASE(memory),
        CASE(orphan),
        CASE(cancel),
        CASE(lost_link),
        CASE(lost_twice),
        CASE(lost_for_good),
        CASE(no_link),
        CASE(no_serve),
        CASE(says_no),
        CASE(no_shell),
        CASE(several_hosts_share_the_work),
        CASE(a_host_that_is_away_is_left_out),
        CASE(far_end_told_to_go),
        CASE(recordings_lack_values),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
