/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Targets behind programs that pass standard input and output on: how the command line is made,
 * what each way to fail says, and how several share the work when one is lost. The child's program
 * is $SERVE in the specs here, and $DIR a folder of the test's own.
 */
#include "executor/transport/link.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "executor/executor.h"
#include "executor/transport/target.h"
#include "executor/transport/target_pool.h"
#include "system/scratch.h"
#include "tests/help/executor_help.h"

static char *via_dir;

/* Owned by the caller. */
static char *via_spec(const char *text)
{
    struct odb_buf out = ODB_BUF_INIT;
    for (const char *p = text; *p; p++) {
        bool serve = !strncmp(p, "$SERVE", 6), dir = !strncmp(p, "$DIR", 4);
        if (!serve && !dir) {
            odb_buf_putc(&out, *p);
            continue;
        }
        odb_buf_puts(&out, serve ? getenv("ONNXDBG_SERVE") : via_dir);
        p += serve ? 5 : 3;
    }
    return odb_buf_take(&out);
}

static struct odb_target *via_open(const char *text)
{
    char *spec = via_spec(text);
    struct odb_target *target = help_open_target(spec);
    free(spec);
    return target;
}

/* An executable in $DIR. */
static void via_write(const char *name, const char *text)
{
    char *path = odb_xasprintf("%s/%s", via_dir, name), *lines = via_spec(text);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\n%s\n", lines);
    assert_int_equal(fclose(f), 0);
    chmod(path, 0700);
    free(path);
    free(lines);
}

static int via_setup(void **state)
{
    help_find_serve();
    assert_int_equal(odb_scratch_new(&via_dir, NULL), ODB_OK);
    char *cache = odb_xasprintf("%s/cache", via_dir);
    setenv("ONNXDBG_CACHE", cache, 1);
    free(cache);
    return 0;
}

static int via_teardown(void **state)
{
    odb_scratch_remove(via_dir);
    free(via_dir);
    return 0;
}

static enum odb_status via_load(struct odb_target *target, struct odb_error *err)
{
    struct odb_buf model = ODB_BUF_INIT;
    help_chain(&model, NULL);
    struct odb_load load = {.bytes = model.data, .size = model.len};
    enum odb_status status = odb_target_load(target, &load, err);
    odb_buf_dispose(&model);
    return status;
}

/* --- the command line ------------------------------------------------------------------------- */

static void test_via__command_lines(void **state)
{
    static const struct {
        const char *spec, *words; /* with | between them */
    } cases[] = {
        {"via:srun -G1 onnxdbg-serve,ort", "srun|-G1|onnxdbg-serve|--relay"},
        {"via:kubectl exec -i pod --,ort", "kubectl|exec|-i|pod|--|onnxdbg-serve|--relay"},
        {"via:adb shell,cpu", "adb|shell|onnxdbg-serve|--relay"},
        {"via:qemu-arm -L /usr/arm ./onnxdbg-serve-arm,cpu",
         "qemu-arm|-L|/usr/arm|./onnxdbg-serve-arm|--relay"},
        {"via:/opt/onnxdbg-serve,cpu", "/opt/onnxdbg-serve|--relay"},
        {"via:/opt/onnxdbg-serve/bin/x,cpu", "/opt/onnxdbg-serve/bin/x|onnxdbg-serve|--relay"},
        {"via:su -c onnxdbg-serve\\ --relay me,cpu", "su|-c|onnxdbg-serve --relay|me"},
        {"via:onnxdbg-serve --relay -x,cpu", "onnxdbg-serve|--relay|-x"},
        {"via:  a   b  ,cpu", "a|b|onnxdbg-serve|--relay"},
        {"via:a b\\ c\\\\\\ d,cpu", "a|b c\\|d|onnxdbg-serve|--relay"},
        {"via:a --k=v@w,cpu", "a|--k=v@w|onnxdbg-serve|--relay"},
        {"via:a x\\,y,cpu,threads=1", "a|x,y|onnxdbg-serve|--relay"},
        {"via:a $HOME \"b\" 'c d',cpu", "a|$HOME|\"b\"|'c|d'|onnxdbg-serve|--relay"},
        {"via:g++ +x,cpu", "g++|+x|onnxdbg-serve|--relay"},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_spec *spec;
        struct odb_link link;
        struct odb_argv argv = {0};
        struct odb_buf words = ODB_BUF_INIT;
        help_ok(odb_spec_parse(&spec, cases[i].spec, &err), &err);
        help_ok(odb_link_parse(&link, spec, &err), &err);
        link.transport->argv(&link, &argv);
        for (size_t k = 0; k < argv.list.n; k++)
            odb_buf_printf(&words, "%s%s", k ? "|" : "", argv.list.items[k]);
        assert_string_equal(odb_buf_text(&words), cases[i].words);
        odb_buf_dispose(&words);
        odb_argv_dispose(&argv);
        odb_link_dispose(&link);
        odb_spec_free(spec);
    }
}

static void test_via__several_places(void **state)
{
    static const struct {
        const char *spec, *specs[3];
    } cases[] = {
        {"cpu,threads=1", {"cpu,threads=1"}},
        {"ssh:a,cpu", {"ssh:a,cpu"}},
        {"ssh:me@a+b:22,cpu:f64", {"ssh:me@a,cpu:f64", "ssh:b:22,cpu:f64"}},
        {"ssh:ssh:22+ssh,cpu", {"ssh:ssh:22,cpu", "ssh:ssh,cpu"}},
        {"via:a b,cpu", {"via:a b,cpu"}},
        {"via:a + b --x=1\\,2 + c++ d,cpu,mem=1G",
         {"via:a,cpu,mem=1G", "via:b --x=1\\,2,cpu,mem=1G", "via:c++ d,cpu,mem=1G"}},
        {"via:srun -G1 + ssh:board:22,ort", {"via:srun -G1,ort", "ssh:board:22,ort"}},
        {"via:a,via:b + c,cpu", {"via:a,via:b + c,cpu"}},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_spec *spec;
        size_t n = 0;
        help_ok(odb_spec_parse(&spec, cases[i].spec, &err), &err);
        for (; n < 3 && cases[i].specs[n]; n++) {
            char *text = odb_link_spec(spec, n);
            assert_string_equal(text, cases[i].specs[n]);
            free(text);
        }
        assert_int_equal(odb_link_count(spec), n);
        odb_spec_free(spec);
    }
}

/* --- what works ------------------------------------------------------------------------------- */

static void test_via__runs(void **state)
{
    static const char *const specs[] = {
        "via:$SERVE,cpu",
        "via:$SERVE --relay,cpu:f64,timeout=60",
        "via:env -i $SERVE,cpu",
        "via:sh -c exec\\ \"$@\" sh $SERVE,cpu",
        "via:sh -c $SERVE\\ --relay\\ |\\ cat,cpu",
        "via:nice sh -c cat\\ |\\ $SERVE\\ --relay,cpu",
        "via:$SERVE,via:$SERVE,cpu",
    };
    struct odb_error err = ODB_ERROR_INIT;
    for (size_t i = 0; i < ODB_COUNT(specs); i++) {
        struct odb_target *target = via_open(specs[i]);
        assert_non_null(strstr(odb_target_description(target), "CPU reference"));
        assert_non_null(strstr(odb_target_description(target), ", via "));
        for (int k = 0; k < 2; k++) {
            help_load_chain(target);
            help_ok(help_run_chain(target, &err), &err);
        }
        assert_int_equal(odb_target_stats(target).starts, 1);
        assert_null(odb_target_away(target));
        odb_target_close(target);
    }
}

/* --- what does not even begin ----------------------------------------------------------------- */

static void test_via__no_answer(void **state)
{
    static const struct {
        const char *spec;
        enum odb_status status;
        const char *texts[3];
    } cases[] = {
        {"via:", ODB_E_USAGE, {"no command is named", "write via:COMMAND,SPEC"}},
        {"via:  ,cpu", ODB_E_USAGE, {"no command is named"}},
        {"via:a", ODB_E_USAGE, {"no executor is named for the command"}},
        {"via:a,", ODB_E_USAGE, {"nothing stands behind 'via:a,'"}},
        {"via:a + b,cpu", ODB_E_USAGE, {"several commands are for"}},
        {"fault:nan,node=x@via:a,cpu",
         ODB_E_USAGE,
         {"via: stands at the very beginning of a spec"}},
        {"via:$SERVE,cpu:f17", ODB_E_USAGE, {"onnxdbg-serve: cpu:f17"}},
        {"via:$SERVE,nonsense", ODB_E_USAGE, {"there is no executor 'nonsense'"}},
        {"via:$DIR/none -x,cpu",
         ODB_E_EXECUTOR,
         {"/none cannot be started: No such file", "name a program that is in PATH"}},
        {"via:env $DIR/onnxdbg-serve,cpu",
         ODB_E_EXECUTOR,
         {"ended with status 127 before onnxdbg-serve answered; output: env: ", "127 is how many",
          "/onnxdbg-serve --version"}},
        {"via:$DIR/no-pod exec -i pod --,cpu",
         ODB_E_EXECUTOR,
         {"ended with status 3 before onnxdbg-serve answered; output: no such pod: pod",
          "exec -i pod -- onnxdbg-serve --version"}},
        {"via:$DIR/quiet,cpu",
         ODB_E_EXECUTOR,
         {"'$DIR/quiet' ended with status 0 before onnxdbg-serve answered; this has to print"}},
        {"via:$DIR/killed,cpu", ODB_E_EXECUTOR, {"was killed by SIGKILL before"}},
        {"via:$DIR/deaf,cpu", ODB_E_EXECUTOR, {"closed its standard output before"}},
        {"via:$DIR/banner $SERVE,cpu",
         ODB_E_EXECUTOR,
         {"no message of onnxdbg-serve: 'Welcome to the cluster.", "this must print nothing before",
          "/banner $SERVE --version"}},
        {"via:$DIR/hi $SERVE,cpu", ODB_E_EXECUTOR, {"no message of onnxdbg-serve: 'hi\\x0aODB"}},
        {"via:$DIR/usage,cpu", ODB_E_EXECUTOR, {"output: usage: onnxdbg-serve SPEC"}},
    };
    via_write("no-pod", "echo \"no such pod: $3\" >&2; exit 3");
    via_write("quiet", "exit 0");
    via_write("killed", "kill -9 $$");
    via_write("deaf", "exec >/dev/null <&-; sleep 20");
    via_write("banner", "echo 'Welcome to the cluster. Behave.'; exec \"$@\"");
    via_write("hi", "echo hi; exec \"$@\"");
    via_write("usage", "echo 'usage: onnxdbg-serve SPEC' >&2; exit 2");
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_target *target = NULL;
        struct odb_error err = ODB_ERROR_INIT;
        char *spec = via_spec(cases[i].spec);
        assert_int_equal(odb_target_open(&target, spec, &err), cases[i].status);
        assert_null(target);
        for (size_t k = 0; k < 3 && cases[i].texts[k]; k++) {
            char *text = via_spec(cases[i].texts[k]);
            help_has_text(&err, text);
            free(text);
        }
        free(spec);
    }
}

/* --- what happens over there ------------------------------------------------------------------ */

static void test_via__crash_and_hang(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_target *target = via_open("via:env $SERVE,fault:crash,node=second@cpu");
    help_load_chain(target);
    assert_int_equal(help_run_chain(target, &err), ODB_E_CRASH);
    help_has_text(&err, "killed by SIGSEGV");
    assert_null(odb_target_away(target));
    help_load_chain(target);
    odb_target_close(target);
    target = via_open("via:env $SERVE,fault:hang,node=#1@cpu,timeout=0.5");
    help_load_chain(target);
    double begin = odb_clock();
    assert_int_equal(help_run_chain(target, &err), ODB_E_TIMEOUT);
    assert_true(odb_clock() - begin < 9); /* the other end's own clock, not the link's */
    odb_target_close(target);
}

static void test_via__lost_and_made_again(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_target *target = via_open("via:env $SERVE,cpu");
    help_load_chain(target);
    kill(-odb_target_pid(target), SIGKILL);
    help_ok(help_run_chain(target, &err), &err);
    assert_int_equal(odb_target_stats(target).relinks, 1);
    assert_null(odb_target_away(target));
    odb_target_close(target);
}

/* What cannot be had again is neither a crash nor a refusal, now or at the next question. */
static void test_via__lost_for_good(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    via_write("door", "exec \"$@\"");
    struct odb_target *target = via_open("via:$DIR/door $SERVE,cpu");
    help_load_chain(target);
    via_write("door", "echo the door is shut >&2; exit 5");
    kill(-odb_target_pid(target), SIGKILL);
    assert_int_equal(help_run_chain(target, &err), ODB_E_IO);
    help_has_text(&err, "the link through ");
    help_has_text(&err, " was lost while running");
    help_has_text(&err, "; and once more: ");
    help_has_text(&err, "ended with status 5 before onnxdbg-serve answered; output: the door is");
    assert_non_null(strstr(odb_target_away(target), "the door is shut"));
    assert_int_equal(via_load(target, &err), ODB_E_IO);
    assert_non_null(odb_target_away(target));
    via_write("door", "exec \"$@\"");
    help_load_chain(target);
    assert_null(odb_target_away(target));
    help_ok(help_run_chain(target, &err), &err);
    odb_target_close(target);
}

/* A relay that dies of every question is lost twice, and asked no third time. */
static void test_via__dies_midway(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    via_write("brief", "(sleep 0.7; kill -9 $$) >/dev/null 2>&1 </dev/null & exec \"$@\"");
    struct odb_target *target = via_open("via:$DIR/brief $SERVE,fault:hang,node=second@cpu");
    help_load_chain(target);
    assert_int_equal(help_run_chain(target, &err), ODB_E_IO);
    help_has_text(&err, "was lost while running");
    assert_int_equal(odb_target_stats(target).starts, 2);
    assert_non_null(odb_target_away(target));
    odb_target_close(target);
}

/* --- several that share the work -------------------------------------------------------------- */

struct errand {
    enum odb_status status;
    struct odb_error err;
    const char *lose; /* the relay that is shut before its run; NULL: none */
    char spec[200];
    int times;
};

/* The relay that it names is shut while this is at work there. */
static void errand_run(void *arg, struct odb_target *target)
{
    struct errand *errand = arg;
    snprintf(errand->spec, sizeof errand->spec, "%s", odb_target_spec(target));
    errand->times++;
    errand->status = via_load(target, &errand->err);
    if (errand->status != ODB_OK)
        return;
    if (errand->lose && strstr(errand->spec, errand->lose)) {
        via_write(errand->lose, "echo shut >&2; exit 5");
        kill(-odb_target_pid(target), SIGKILL);
    }
    usleep(100 * 1000); /* long enough for the other to take one as well */
    errand->status = help_run_chain(target, &errand->err);
}

static struct odb_pool *via_pool(const char *text)
{
    struct odb_pool *pool = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    char *spec = via_spec(text);
    via_write("one", "exec \"$@\"");
    via_write("two", "exec \"$@\"");
    help_ok(odb_pool_open(&pool, spec, NULL, NULL, &err), &err);
    free(spec);
    return pool;
}

#define ERRANDS 8

/* Each is done once, and none is lost, whichever dies. */
static void test_via__a_lost_one_leaves_its_work(void **state)
{
    struct odb_pool *pool = via_pool("via:$DIR/one $SERVE + $DIR/two $SERVE,cpu,threads=1");
    struct errand errands[ERRANDS] = {0};
    struct odb_pool_task *tasks[ERRANDS];
    int by[2] = {0, 0}, again = 0;
    assert_int_equal(odb_pool_workers(pool), 2);
    for (int i = 0; i < ERRANDS; i++) {
        errands[i].lose = i >= 2 ? "two" : NULL;
        tasks[i] = odb_pool_begin(pool, errand_run, &errands[i]);
    }
    for (int i = 0; i < ERRANDS; i++) {
        odb_pool_wait(pool, tasks[i]);
        help_ok(errands[i].status, &errands[i].err);
        by[strstr(errands[i].spec, "/two ") != NULL]++;
        again += errands[i].times - 1;
    }
    assert_int_equal(again, 1);
    assert_true(by[0] >= ERRANDS - 2 && by[1] <= 2);
    assert_non_null(strstr(odb_pool_trouble(pool), "; output: shut"));
    odb_pool_close(pool);
}

/* The last one has no other to leave it to. */
static void test_via__the_last_one_says_why(void **state)
{
    struct odb_pool *pool = via_pool("via:$DIR/one $SERVE + $DIR/two $SERVE,cpu,threads=1");
    struct errand first = {0}, last = {.lose = "one"};
    odb_pool_wait(pool, odb_pool_begin(pool, errand_run, &first));
    help_ok(first.status, &first.err);
    for (int i = 0; i < 40 && last.status == ODB_OK; i++) {
        odb_pool_wait(pool, odb_pool_begin(pool, errand_run, &last));
        last.lose = i % 2 ? "one" : "two";
    }
    assert_int_equal(last.status, ODB_E_IO);
    help_has_text(&last.err, "; output: shut");
    assert_int_equal(odb_pool_idle(pool), 0);
    odb_pool_close(pool);
}

/* The owner's own question goes to another, which is opened for that. */
static void test_via__the_owner_goes_elsewhere(void **state)
{
    struct odb_pool *pool = via_pool("via:$DIR/one $SERVE + $DIR/none + $DIR/two $SERVE,cpu");
    struct errand own = {.lose = "one"};
    errand_run(&own, odb_pool_target(pool));
    assert_int_equal(own.status, ODB_E_IO);
    assert_true(odb_pool_elsewhere(pool));
    assert_false(odb_pool_elsewhere(pool)); /* it has asked nothing there */
    errand_run(&own, odb_pool_target(pool));
    help_ok(own.status, &own.err);
    assert_non_null(strstr(own.spec, "/two "));
    assert_false(odb_pool_elsewhere(pool));
    own.lose = "two";
    errand_run(&own, odb_pool_target(pool));
    assert_int_equal(own.status, ODB_E_IO);
    assert_false(odb_pool_elsewhere(pool)); /* there is no other */
    via_write("two", "exec \"$@\"");
    own.lose = NULL;
    errand_run(&own, odb_pool_target(pool));
    help_ok(own.status, &own.err);
    odb_pool_close(pool);
}

static void test_via__the_first_may_be_away(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_pool *pool = via_pool("via:$DIR/none + $DIR/two $SERVE,cpu,workers=4");
    struct errand own = {0};
    assert_int_equal(odb_pool_workers(pool), 4);
    assert_int_equal(odb_pool_idle(pool), 2);
    errand_run(&own, odb_pool_target(pool));
    help_ok(own.status, &own.err);
    assert_non_null(strstr(odb_pool_trouble(pool), "/none cannot be started"));
    odb_pool_close(pool);
    pool = NULL;
    char *spec = via_spec("via:$DIR/none + $DIR/nor-this,cpu");
    assert_int_equal(odb_pool_open(&pool, spec, NULL, NULL, &err), ODB_E_EXECUTOR);
    help_has_text(&err, "/none cannot be started");
    free(spec);
}

/* A file from a stranger starts none of it. */
static void test_via__is_not_followed(void **state)
{
    assert_true(odb_executor_trusted("cpu"));
    assert_false(odb_executor_trusted("via:env,cpu"));
    assert_false(odb_executor_trusted("via:env + env,cpu:f16"));
    assert_false(odb_executor_trusted("fault:nan,node=x@via:env,cpu"));
    assert_false(odb_executor_trusted("cpu,plain=via:env\\,cpu"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_via__command_lines),
        cmocka_unit_test(test_via__several_places),
        cmocka_unit_test(test_via__runs),
        cmocka_unit_test(test_via__no_answer),
        cmocka_unit_test(test_via__crash_and_hang),
        cmocka_unit_test(test_via__lost_and_made_again),
        cmocka_unit_test(test_via__lost_for_good),
        cmocka_unit_test(test_via__dies_midway),
        cmocka_unit_test(test_via__a_lost_one_leaves_its_work),
        cmocka_unit_test(test_via__the_last_one_says_why),
        cmocka_unit_test(test_via__the_owner_goes_elsewhere),
        cmocka_unit_test(test_via__the_first_may_be_away),
        cmocka_unit_test(test_via__is_not_followed),
    };
    return cmocka_run_group_tests(tests, via_setup, via_teardown);
}
