/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session/store.h"

#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/session_state.h"
#include "session/store_int.h"
#include "tests/help/models.h"
#include "model/read/load.h"

struct store_fixture {
    struct odb_model *model;
    struct odb_report *report;
    struct odb_store *store;
    char *folder, *path;
};

static struct odb_model *store_model(const char *op)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){2});
    odb_build_node(b, op, "a", "x", "h");
    odb_build_node(b, "Relu", "b", "h", "y");
    odb_build_output(b, "y");
    return models_take(b);
}

static const struct odb_bisect_options store_options = {
    .reference = "cpu", .target = "ort", .tolerance = {ODB_CRITERION_NOISE, {10, 0, 0}}};

static int store_setup(void **state)
{
    struct store_fixture *f = odb_new(struct store_fixture);
    f->model = store_model("Neg");
    f->folder = models_folder();
    f->path = odb_xasprintf("%s/s.odb", f->folder);
    f->report = odb_report_new(f->model);
    f->report->target = odb_xstrdup("ort");
    struct odb_value_report *y = &f->report->values[models_value(f->model, "y")];
    y->verdict = ODB_VERDICT_NAN;
    y->error = ODB_NUMBER(0.125);
    y->noise = ODB_NUMBER(NAN);
    y->gain = ODB_NUMBER(INFINITY);
    y->culprit = true;
    strcpy(y->reason, "NaN at 3");
    struct odb_culprit culprit = {
        .node = 1, .value = models_value(f->model, "y"), .kind = ODB_KIND_NAN, .segment = {1, 1}};
    culprit.text = odb_xstrdup("why");
    culprit.path = odb_xstrdup("loop[3]/conv");
    odb_push(&f->report->culprits, culprit);
    MODELS_OK(odb_store_open(&f->store, f->path, f->model, &why));
    *state = f;
    return 0;
}

static int store_teardown(void **state)
{
    struct store_fixture *f = *state;
    odb_store_close(f->store);
    odb_report_free(f->report);
    odb_model_free(f->model);
    free(f->path);
    models_remove(f->folder);
    free(f);
    return 0;
}

static void store_put(struct store_fixture *f)
{
    MODELS_OK(odb_store_begin(f->store, "bisect", &store_options, &why));
    MODELS_OK(odb_store_put(f->store, f->report, &why));
}

/* What the file has about a value; false: nothing. */
static bool store_value(struct store_fixture *f, int value, struct odb_value_report *out)
{
    struct odb_report *report;
    MODELS_OK(odb_store_read(f->store, 0, &report, &why));
    if (report)
        *out = report->values[value];
    odb_report_free(report);
    return report && out->verdict != ODB_VERDICT_UNTESTED;
}

/* A line per probe of the journal that was begun and never ended. */
static char *store_unfinished(const struct store_fixture *f)
{
    struct odb_buf out = ODB_BUF_INIT;
    sqlite3 *db;
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_open_v2(f->path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT text FROM journal WHERE verdict IS NULL", -1, &stmt, NULL),
        SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        odb_buf_printf(&out, "%s\n", sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return odb_buf_take(&out);
}

static void test_store__empty(void **state)
{
    struct store_fixture *f = *state;
    struct odb_value_report r;
    char *json;
    MODELS_OK(odb_store_last_report(f->store, &json, &why));
    assert_null(json);
    assert_false(store_value(f, 0, &r));
    char *text = store_unfinished(f);
    assert_string_equal(text, "");
    free(text);
}

static void test_store__stored_and_read_after_reopening(void **state)
{
    struct store_fixture *f = *state;
    struct odb_value_report r;
    store_put(f);
    odb_store_close(f->store);
    f->store = NULL;
    MODELS_OK(odb_store_open(&f->store, f->path, f->model, &why));
    assert_true(store_value(f, models_value(f->model, "y"), &r));
    assert_int_equal(r.verdict, ODB_VERDICT_NAN);
    assert_true(r.error.known && r.error.v == 0.125);
    assert_true(r.noise.known && isnan(r.noise.v));
    assert_true(r.gain.known && isinf(r.gain.v));
    assert_false(r.local_error.known);
    assert_true(r.culprit);
    assert_string_equal(r.reason, "NaN at 3");
    assert_false(store_value(f, models_value(f->model, "h"), &r)); /* untested */
    struct odb_report *read;
    MODELS_OK(odb_store_read(f->store, 0, &read, &why));
    assert_int_equal(read->culprits.n, 1);
    assert_string_equal(read->culprits.items[0].text, "why");
    assert_string_equal(read->culprits.items[0].path, "loop[3]/conv");
    odb_report_free(read);
    char *json;
    MODELS_OK(odb_store_last_report(f->store, &json, &why));
    json_t *root = json_loads(json, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(root, "target")), "ort");
    json_decref(root);
    free(json);
}

static void test_store__the_newest_counts(void **state)
{
    struct store_fixture *f = *state;
    int y = models_value(f->model, "y");
    struct odb_value_report r;
    store_put(f);
    f->report->values[y].verdict = ODB_VERDICT_PASS;
    store_put(f);
    assert_true(store_value(f, y, &r));
    assert_int_equal(r.verdict, ODB_VERDICT_PASS);
    /* one that was begun and never stored does not hide it */
    MODELS_OK(odb_store_begin(f->store, "bisect", &store_options, &why));
    assert_true(store_value(f, y, &r));
}

static void test_store__another_model(void **state)
{
    struct store_fixture *f = *state;
    struct odb_model *other = store_model("Abs");
    struct odb_store *store = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(odb_store_open(&store, f->path, other, &err), ODB_E_INPUT);
    assert_null(store);
    assert_non_null(strstr(err.what, "another model"));
    assert_non_null(strstr(err.where, "s.odb"));
    odb_model_free(other);
}

static void test_store__not_a_session(void **state)
{
    struct store_fixture *f = *state;
    struct odb_store *store = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    char *path = odb_xasprintf("%s/text", f->folder);
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 1000; i++)
        fputs("this is no database\n", file);
    fclose(file);
    assert_int_equal(odb_store_open(&store, path, f->model, &err), ODB_E_FORMAT);
    free(path);
    path = odb_xasprintf("%s/none/s.odb", f->folder);
    assert_int_equal(odb_store_open(&store, path, f->model, &err), ODB_E_IO);
    free(path);
}

static void test_store__another_schema(void **state)
{
    struct store_fixture *f = *state;
    struct odb_error err = ODB_ERROR_INIT;
    sqlite3 *db;
    odb_store_close(f->store);
    f->store = NULL;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(odb_store_open(&f->store, f->path, f->model, &err), ODB_E_INPUT);
    assert_null(f->store);
    assert_non_null(strstr(err.what, "schema 99"));
}

/* The probe that a process dies at is in the journal; the one that ended is not unfinished. */
static void test_store__the_journal_survives(void **state)
{
    struct store_fixture *f = *state;
    pid_t child = fork();
    if (child == 0) {
        struct odb_store *store = NULL;
        struct odb_search_event event = {.what = ODB_EVENT_PROBE_BEGIN, .text = "first", .node = 0};
        if (odb_store_open(&store, f->path, f->model, NULL) != ODB_OK ||
            odb_store_begin(store, "bisect", &store_options, NULL) != ODB_OK)
            _exit(1);
        odb_store_event(store, &event);
        event.what = ODB_EVENT_PROBE_END;
        event.verdict = ODB_VERDICT_PASS;
        odb_store_event(store, &event);
        event.what = ODB_EVENT_PROBE_BEGIN;
        event.text = "second";
        odb_store_event(store, &event);
        raise(SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    char *text = store_unfinished(f);
    assert_non_null(strstr(text, "second"));
    assert_null(strstr(text, "first"));
    free(text);
}

static void store_exec(const struct store_fixture *f, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* What cannot be written for a while, as on a disk that is full, costs the journal, not the report.
 * (No table here is as good as no room.) */
static void test_store__a_report_is_kept_where_the_journal_was_not(void **state)
{
    struct store_fixture *f = *state;
    struct odb_search_event event = {.what = ODB_EVENT_PROBE_BEGIN, .text = "first"};
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_value_report y;
    MODELS_OK(odb_store_begin(f->store, "bisect", &store_options, &why));
    store_exec(f, "ALTER TABLE journal RENAME TO full");
    odb_store_event(f->store, &event);
    assert_int_equal(odb_store_pause(f->store, &err), ODB_E_IO);
    assert_non_null(strstr(err.what, "journal"));
    assert_int_equal(odb_store_pause(f->store, NULL), ODB_E_IO);
    MODELS_OK(odb_store_put(f->store, f->report, &why));
    assert_true(store_value(f, models_value(f->model, "y"), &y));
    store_exec(f, "ALTER TABLE value RENAME TO fuller");
    assert_int_equal(odb_store_put(f->store, f->report, NULL), ODB_E_IO);
}

static void store_reopen(struct store_fixture *f)
{
    odb_store_close(f->store);
    f->store = NULL;
    MODELS_OK(odb_store_open(&f->store, f->path, f->model, &why));
}

/* A file from before searches could be gone on with. */
static void test_store__an_old_schema(void **state)
{
    static const char old[] = "DROP TABLE answer; ALTER TABLE search DROP COLUMN settings;"
                              "ALTER TABLE search DROP COLUMN pid;"
                              "ALTER TABLE search DROP COLUMN boot; PRAGMA user_version = 1";
    struct store_fixture *f = *state;
    struct odb_resumed resumed = {0};
    struct odb_value_report r;
    sqlite3 *db;
    store_put(f);
    odb_store_close(f->store);
    f->store = NULL;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, old, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    MODELS_OK(odb_store_open(&f->store, f->path, f->model, &why));
    assert_true(store_value(f, models_value(f->model, "y"), &r));
    assert_int_equal(r.verdict, ODB_VERDICT_NAN);
    MODELS_OK(odb_store_resume(f->store, "target ort\n", false, &resumed, &why));
    assert_false(resumed.resumed);
    store_put(f);
    MODELS_OK(odb_store_settle(f->store, "target ort\n", &why));
    store_reopen(f);
}

/* A search with an answer of values, one that is a crash, and a question that has none. */
static void store_stop_search(struct store_fixture *f, struct odb_tensor *t)
{
    struct odb_answers answers;
    struct odb_tensor *outputs[] = {t, NULL};
    struct odb_answered values = {ODB_OK, ODB_ERROR_INIT, outputs, 2};
    struct odb_answered crash = {ODB_E_CRASH, ODB_ERROR_INIT, NULL, 1};
    odb_fail(&crash.err, ODB_E_CRASH, "killed by SIGSEGV");
    MODELS_OK(odb_store_begin(f->store, "bisect", &store_options, &why));
    MODELS_OK(odb_store_settle(f->store, "target ort\ntolerance 10\n", &why));
    odb_store_answers(f->store, &answers, 0);
    answers.begin(answers.payload, "one", "first", 0);
    answers.keep(answers.payload, "one", &values);
    answers.begin(answers.payload, "two", "second", 1);
    answers.keep(answers.payload, "two", &crash);
    answers.begin(answers.payload, "three", "third", ODB_NO_NODE);
    answers.begin(answers.payload, "four", "fourth", ODB_NO_NODE);
    answers.forget(answers.payload, "four");
    store_reopen(f);
}

static void test_store__a_search_goes_on(void **state)
{
    static const char same[] = "target ort\ntolerance 10\n";
    struct store_fixture *f = *state;
    struct odb_resumed resumed = {0};
    struct odb_answers answers;
    struct odb_answered had = {0};
    struct odb_tensor *t;
    MODELS_OK(odb_tensor_copy_of(&t, ODB_F32, 1, (int64_t[]){2}, (float[]){1, NAN}, &why));
    odb_tensor_set_steps(t, 0, (double[]){0.5, 0.25}, 2);
    store_stop_search(f, t);
    MODELS_OK(odb_store_resume(f->store, same, false, &resumed, &why));
    assert_true(resumed.resumed);
    assert_int_equal(resumed.n, 2);
    assert_int_equal(resumed.running.n, 1);
    assert_string_equal(resumed.running.items[0], "third");
    odb_store_answers(f->store, &answers, resumed.n);
    assert_true(answers.find(answers.payload, "one", &had));
    assert_int_equal(had.status, ODB_OK);
    assert_int_equal(had.n, 2);
    assert_true(odb_tensor_identical(had.outputs[0], t));
    assert_true(odb_tensor_step(had.outputs[0], 0) == 0.5);
    assert_true(odb_tensor_step(had.outputs[0], 1) == 0.25);
    assert_null(had.outputs[1]);
    odb_answered_dispose(&had);
    assert_true(answers.find(answers.payload, "two", &had));
    assert_int_equal(had.status, ODB_E_CRASH);
    assert_string_equal(had.err.what, "killed by SIGSEGV");
    odb_answered_dispose(&had);
    assert_true(answers.find(answers.payload, "three", &had));
    assert_int_equal(had.status, ODB_SKIPPED);
    odb_answered_dispose(&had);
    assert_false(answers.find(answers.payload, "four", &had));
    odb_resumed_dispose(&resumed);
    /* and again, trying what was running */
    store_reopen(f);
    MODELS_OK(odb_store_resume(f->store, same, true, &resumed, &why));
    assert_int_equal(resumed.running.n, 0);
    odb_store_answers(f->store, &answers, resumed.n);
    assert_false(answers.find(answers.payload, "three", &had));
    odb_resumed_dispose(&resumed);
    /* one that has ended is none to go on with */
    MODELS_OK(odb_store_put(f->store, f->report, &why));
    MODELS_OK(odb_store_finish(f->store, &why));
    MODELS_OK(odb_store_resume(f->store, same, false, &resumed, &why));
    assert_false(resumed.resumed);
    odb_resumed_dispose(&resumed);
    odb_tensor_unref(t);
}

static void test_store__another_search_starts_anew(void **state)
{
    struct store_fixture *f = *state;
    struct odb_resumed resumed = {0};
    struct odb_tensor *t;
    MODELS_OK(odb_tensor_copy_of(&t, ODB_F32, 1, (int64_t[]){2}, (float[]){1, 2}, &why));
    store_stop_search(f, t);
    MODELS_OK(odb_store_resume(f->store, "target cpu\ntolerance 10\n", false, &resumed, &why));
    assert_false(resumed.resumed);
    assert_string_equal(resumed.other, "target (ort, now cpu)");
    odb_resumed_dispose(&resumed);
    odb_tensor_unref(t);
}

/* What is no search stands between: its answers are there all the same. */
static void test_store__a_search_goes_on_after_a_minimise(void **state)
{
    struct store_fixture *f = *state;
    struct odb_bisect_options options = {.reference = "cpu", .target = "ort"};
    struct odb_resumed resumed = {0};
    struct odb_tensor *t;
    MODELS_OK(odb_tensor_copy_of(&t, ODB_F32, 1, (int64_t[]){2}, (float[]){1, 2}, &why));
    store_stop_search(f, t);
    MODELS_OK(odb_store_begin(f->store, "minimise", &options, &why));
    MODELS_OK(odb_store_resume(f->store, "target ort\ntolerance 10\n", false, &resumed, &why));
    assert_true(resumed.resumed);
    assert_int_equal(resumed.n, 2);
    odb_resumed_dispose(&resumed);
    odb_tensor_unref(t);
}

/* A process that has this search, as the file says. */
static enum odb_status store_taken_by(struct store_fixture *f, pid_t pid)
{
    struct odb_resumed resumed = {0};
    struct odb_error err = ODB_ERROR_INIT;
    sqlite3 *db;
    char *sql = odb_xasprintf("UPDATE search SET pid = %d", (int)pid);
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    free(sql);
    enum odb_status status =
        odb_store_resume(f->store, "target ort\ntolerance 10\n", false, &resumed, &err);
    odb_resumed_dispose(&resumed);
    return status;
}

static void test_store__two_at_one_search(void **state)
{
    struct store_fixture *f = *state;
    struct odb_tensor *t;
    siginfo_t info;
    MODELS_OK(odb_tensor_copy_of(&t, ODB_F32, 1, (int64_t[]){2}, (float[]){1, 2}, &why));
    store_stop_search(f, t);
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    enum odb_status taken = store_taken_by(f, child);
    kill(child, SIGKILL);
    assert_int_equal(taken, ODB_E_INPUT);
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(store_taken_by(f, child), ODB_OK); /* dead, and not buried */
    assert_int_equal(waitpid(child, NULL, 0), child);
    odb_tensor_unref(t);
}

/* A process that has been killed, and is not gone yet. */
static void test_store__a_search_waits_for_one_that_goes(void **state)
{
    struct store_fixture *f = *state;
    struct odb_resumed resumed = {0};
    MODELS_OK(odb_store_begin(f->store, "bisect", &store_options, &why));
    MODELS_OK(odb_store_settle(f->store, "target ort\n", &why));
    pid_t child = fork();
    if (child == 0) {
        nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
        _exit(0);
    }
    char *sql = odb_xasprintf("UPDATE search SET pid = %d", (int)child);
    store_exec(f, sql);
    free(sql);
    MODELS_OK(
        odb_store_start(f->store, "bisect", &store_options, "target ort\n", false, &resumed, &why));
    assert_true(resumed.resumed);
    odb_resumed_dispose(&resumed);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* --- two threads ------------------------------------------------------------------------------ */

struct store_screen {
    struct odb_session *session;
    atomic_bool stop;
    atomic_int bookmarks;
};

/* What a screen's thread does while a command works: bookmarks and marks are set. */
static void *store_screen(void *arg)
{
    struct store_screen *screen = arg;
    const struct odb_annotation mark = {.kind = ODB_ANNOTATION_MARK, .place = "b", .node = 1};
    for (int i = 0; !atomic_load(&screen->stop); i++) {
        char letter = (char)('a' + i % 26);
        MODELS_OK(odb_session_bookmark(screen->session, letter, i % 2, &why));
        if (i % 8 == 0)
            MODELS_OK(odb_session_annotate(screen->session, &mark, NULL, &why));
        atomic_fetch_add(&screen->bookmarks, 1);
    }
    return NULL;
}

static int64_t store_count(const char *path, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return n;
}

/* Both threads use one connection: no probe's verdict goes to another row, and nothing that the
 * user put down is lost with a transaction of the engine's. */
static void test_store__bookmarks_while_a_search_runs(void **state)
{
    enum { PROBES = 100 };
    struct store_fixture *f = *state;
    struct store_screen screen = {0};
    struct odb_bisect_options options = store_options;
    struct odb_search_event event = {.node = 1, .text = "a probe", .verdict = ODB_VERDICT_PASS};
    pthread_t thread;
    odb_store_close(f->store);
    f->store = NULL;
    MODELS_OK(odb_session_open_take(&screen.session, store_model("Neg"), f->path, &why));
    MODELS_OK(odb_session_begin(screen.session, "bisect", &options, NULL, false, &why));
    assert_int_equal(pthread_create(&thread, NULL, store_screen, &screen), 0);
    for (int i = 0; i < PROBES; i++) {
        event.what = ODB_EVENT_PROBE_BEGIN;
        odb_session_event(screen.session, &event);
        while (atomic_load(&screen.bookmarks) < i / 3) /* on a busy machine it is late */
            sched_yield();
        event.what = ODB_EVENT_PROBE_END;
        odb_session_event(screen.session, &event);
    }
    struct odb_report *report = f->report;
    f->report = odb_report_new(f->model);
    MODELS_OK(odb_session_end_take(screen.session, report, false, &why));
    atomic_store(&screen.stop, true);
    pthread_join(thread, NULL);
    int64_t marks = (int64_t)screen.session->annotations.items.n;
    odb_session_close(screen.session);
    assert_true(atomic_load(&screen.bookmarks) > 26);
    assert_int_equal(store_count(f->path, "SELECT count(*) FROM journal WHERE verdict = 'pass'"),
                     PROBES);
    assert_int_equal(store_count(f->path, "SELECT count(*) FROM search"), 1);
    assert_int_equal(store_count(f->path, "SELECT count(*) FROM bookmark"), 26);
    assert_int_equal(store_count(f->path, "SELECT count(*) FROM kept"), marks);
    assert_int_equal(store_count(f->path, "SELECT count(*) FROM search WHERE report IS NOT NULL"),
                     1);
}

/* --- what cannot be read, what cannot be written -------------------------------------------- */

/* A page of a table is zeroed. */
static void store_spoil(struct store_fixture *f, const char *table)
{
    char *sql = odb_xasprintf("SELECT rootpage FROM sqlite_master WHERE name = '%s'", table);
    int64_t page = store_count(f->path, sql), size = store_count(f->path, "PRAGMA page_size");
    free(sql);
    assert_true(page > 1);
    FILE *file = fopen(f->path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, (page - 1) * size, SEEK_SET), 0);
    for (int64_t i = 0; i < size; i++)
        assert_int_equal(fputc(0, file), 0);
    assert_int_equal(fclose(file), 0);
}

static void test_store__settings_that_cannot_be_read_are_told(void **state)
{
    struct store_fixture *f = *state;
    struct odb_store_settings settings = {0}, read;
    struct odb_error err = ODB_ERROR_INIT;
    odb_push(&settings.list, (struct odb_store_setting){odb_xstrdup("seed"), odb_xstrdup("7")});
    MODELS_OK(odb_store_read_settings(f->store, &read, &why)); /* there is no table */
    assert_int_equal(read.list.n, 0);
    MODELS_OK(odb_store_put_settings(f->store, false, &settings, &why));
    MODELS_OK(odb_store_read_settings(f->store, &read, &why));
    assert_int_equal(read.list.n, 1);
    odb_store_settings_dispose(&read);
    odb_store_settings_dispose(&settings);
    store_exec(f, "PRAGMA wal_checkpoint(TRUNCATE)");
    sqlite3_db_release_memory(f->store->db); /* so that it reads the file again */
    store_spoil(f, "setting");
    assert_int_equal(odb_store_read_settings(f->store, &read, &err), ODB_E_FORMAT);
    assert_non_null(strstr(err.where, "session "));
    assert_int_equal(read.list.n, 0);
}

static void test_store__kernels_that_cannot_be_read_are_told(void **state)
{
    struct store_fixture *f = *state;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_session *session;
    char *options;
    setenv("ONNXDBG_KERNELS", "/lib/a.so", 1);
    MODELS_OK(odb_store_begin(f->store, "bisect", &store_options, &why));
    unsetenv("ONNXDBG_KERNELS");
    MODELS_OK(odb_store_kernels(f->store, &options, &why));
    assert_string_equal(options, "--kernels /lib/a.so");
    free(options);
    odb_store_close(f->store);
    f->store = NULL;
    store_spoil(f, "kernels");
    assert_int_equal(odb_session_open_take(&session, store_model("Neg"), f->path, &err),
                     ODB_E_FORMAT);
    assert_non_null(strstr(err.what, "malformed"));
}

/* What the user puts down is in the session and in its file, or in neither. */
static void test_store__what_the_file_does_not_take_is_not_kept(void **state)
{
    struct store_fixture *f = *state;
    const struct odb_annotation first = {.kind = ODB_ANNOTATION_MARK, .place = "#0"},
                                second = {.kind = ODB_ANNOTATION_MARK, .place = "#1"},
                                stop = {.kind = ODB_ANNOTATION_BREAK, .place = "#1"};
    struct odb_annotation_list none = {0};
    struct odb_session *session;
    bool had;
    int number;
    MODELS_OK(odb_session_open_take(&session, store_model("Neg"), f->path, &why));
    MODELS_OK(odb_session_annotate_at(session, &first, false, &had, &why));
    store_exec(f, "ALTER TABLE kept RENAME TO away; CREATE INDEX kept ON away (place)");
    assert_int_equal(odb_session_annotate_at(session, &second, false, &had, NULL), ODB_E_IO);
    assert_int_equal(odb_session_annotate_at(session, &first, true, &had, NULL), ODB_E_IO);
    assert_int_equal(odb_session_annotate(session, &stop, &number, NULL), ODB_E_IO);
    assert_int_equal(odb_session_annotations_take(session, &none, NULL), ODB_E_IO);
    assert_int_equal(session->annotations.items.n, 1);
    assert_int_equal(session->annotations.items.items[0].node, 0);
    assert_int_equal(session->tags[0], ODB_TAG_MARK);
    assert_int_equal(session->tags[1], 0);
    assert_false(session->breaks[1]);
    assert_int_equal(store_count(f->path, "SELECT count(*) FROM away"), 1);
    store_exec(f, "DROP INDEX kept; ALTER TABLE away RENAME TO kept");
    MODELS_OK(odb_session_annotate(session, &stop, &number, &why));
    assert_int_equal(number, 1); /* what was not kept has taken none */
    assert_true(session->breaks[1]);
    odb_session_close(session);
}

int main(void)
{
#define SESSION_TEST(name) cmocka_unit_test_setup_teardown(name, store_setup, store_teardown)
    const struct CMUnitTest tests[] = {
        SESSION_TEST(test_store__empty),
        SESSION_TEST(test_store__stored_and_read_after_reopening),
        SESSION_TEST(test_store__the_newest_counts),
        SESSION_TEST(test_store__another_model),
        SESSION_TEST(test_store__not_a_session),
        SESSION_TEST(test_store__another_schema),
        SESSION_TEST(test_store__the_journal_survives),
        SESSION_TEST(test_store__a_report_is_kept_where_the_journal_was_not),
        SESSION_TEST(test_store__an_old_schema),
        SESSION_TEST(test_store__a_search_goes_on),
        SESSION_TEST(test_store__a_search_goes_on_after_a_minimise),
        SESSION_TEST(test_store__another_search_starts_anew),
        SESSION_TEST(test_store__two_at_one_search),
        SESSION_TEST(test_store__a_search_waits_for_one_that_goes),
        SESSION_TEST(test_store__bookmarks_while_a_search_runs),
        SESSION_TEST(test_store__settings_that_cannot_be_read_are_told),
        SESSION_TEST(test_store__kernels_that_cannot_be_read_are_told),
        SESSION_TEST(test_store__what_the_file_does_not_take_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
