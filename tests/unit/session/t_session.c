/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a session keeps beside what a search finds: what the target said of the model, and which
 * kernels the searches in its file were made with.
 */
#include "session/session_state.h"

#include <math.h>
#include <stdatomic.h>
#include <unistd.h>

#include "tests/help/models.h"
#include "model/read/load.h"

static struct odb_model *session_model(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){2});
    odb_build_node(b, "Neg", "first", "x", "h");
    odb_build_node(b, "Relu", "", "h", "i");
    odb_build_node(b, "Abs", "last", "i", "y");
    odb_build_output(b, "y");
    return models_take(b);
}

static struct odb_session *session_open(const char *path)
{
    struct odb_session *session;
    MODELS_OK(odb_session_open_take(&session, session_model(), path, &why));
    return session;
}

static struct odb_account session_account(const char *where)
{
    struct odb_account account = ODB_ACCOUNT_INIT;
    odb_account_place(&account, "fused", "FusedNeg", "elsewhere");
    odb_account_place(&account, "first", "Neg", where);
    odb_account_place(&account, "", "Relu", where);
    odb_account_note(&account, "%s is slow", where);
    odb_buf_puts(&account.text, "its words\n");
    return account;
}

static void test_session__knows_where_nodes_run(void **state)
{
    struct odb_session *session = session_open(NULL);
    unsigned long before = session->generation;
    assert_null(odb_session_place(session, 0));
    struct odb_account account = session_account("gpu:0");
    odb_session_account_take(session, &account);
    assert_int_equal(account.places.n, 0); /* it was taken */
    assert_true(session->generation > before);
    assert_string_equal(odb_session_place(session, 0), "gpu:0");
    assert_null(odb_session_place(session, 1)); /* a name of nobody's is no name */
    assert_null(odb_session_place(session, 2));
    account = session_account("gpu:1");
    odb_session_account_take(session, &account);
    assert_string_equal(odb_session_place(session, 0), "gpu:1");
    odb_session_forget(session); /* another target */
    assert_null(odb_session_place(session, 0));
    assert_int_equal(session->account.text.len, 0);
    odb_session_close(session);
}

/* A report brings what was said while the search ran. */
static void test_session__takes_the_account_of_a_search(void **state)
{
    struct odb_session *session = session_open(NULL);
    struct odb_report *report = odb_report_new(session->model);
    report->account = session_account("npu");
    MODELS_OK(odb_session_end_take(session, report, false, &why));
    assert_string_equal(odb_session_place(session, 0), "npu");
    assert_string_equal(odb_buf_text(&session->account.text), "its words\n");
    MODELS_OK(odb_session_end_take(session, odb_report_new(session->model), false, &why));
    assert_null(odb_session_place(session, 0));
    odb_session_close(session);
}

/* Steps go on with one log, whose times are since the first of them. */
static void test_session__log_has_one_beginning(void **state)
{
    struct odb_session *session = session_open(NULL);
    struct odb_search_event begin = {
        .what = ODB_EVENT_PROBE_BEGIN, .node = ODB_NO_NODE, .value = ODB_NO_VALUE, .text = "run"};
    struct odb_search_event end = begin;
    end.what = ODB_EVENT_PROBE_END;
    for (int i = 0; i < 2; i++) {
        odb_session_start(session);
        odb_session_event(session, &begin);
        odb_session_event(session, &end);
        usleep(2000);
    }
    assert_int_equal(odb_session_n_log(session), 2);
    assert_true(odb_session_log(session, 0)->began < odb_session_log(session, 1)->began - 0.0019);
    odb_session_close(session);
}

static void test_session__places_are_counted(void **state)
{
    struct odb_account account = session_account("a");
    struct odb_account none = ODB_ACCOUNT_INIT;
    struct odb_place_count *counts;
    struct odb_buf text = ODB_BUF_INIT;
    assert_int_equal(odb_account_count(&account, &counts), 2);
    assert_string_equal(counts[0].where, "a");
    assert_int_equal(counts[0].n, 2);
    assert_int_equal(counts[1].n, 1);
    free(counts);
    odb_account_put_places(&account, &text);
    assert_string_equal(odb_buf_text(&text), "2 nodes on a, 1 on elsewhere");
    odb_buf_clear(&text);
    odb_account_put_places(&none, &text);
    assert_string_equal(odb_buf_text(&text), "");
    odb_buf_dispose(&text);
    odb_account_dispose(&account);
}

/* Searches, and leaves what a file says was found. */
static void session_search(const char *path, const char *kernels)
{
    struct odb_session *session = session_open(path);
    struct odb_bisect_options options = {
        .reference = "cpu", .target = "cpu:f16", .tolerance = ODB_CRITERION_DEFAULT};
    if (kernels)
        setenv("ONNXDBG_KERNELS", kernels, 1);
    else
        unsetenv("ONNXDBG_KERNELS");
    MODELS_OK(odb_session_begin(session, "bisect", &options, NULL, false, &why));
    MODELS_OK(odb_session_end_take(session, odb_report_new(session->model), false, &why));
    odb_session_close(session);
    unsetenv("ONNXDBG_KERNELS");
}

/* What the file asks for where these are loaded. */
static void session_lacks(const char *path, const char *loaded, const char *want)
{
    struct odb_model *model = session_model();
    struct odb_store *store;
    MODELS_OK(odb_store_open(&store, path, model, &why));
    setenv("ONNXDBG_KERNELS", loaded, 1);
    char *options;
    MODELS_OK(odb_store_kernels(store, &options, &why));
    unsetenv("ONNXDBG_KERNELS");
    if (want)
        assert_string_equal(options, want);
    else
        assert_null(options);
    free(options);
    odb_store_close(store);
    odb_model_free(model);
}

/* Nothing is loaded because a file says so: the user is told what to type. */
static void test_session__remembers_kernels(void **state)
{
    char *folder = models_folder(), *path = odb_xasprintf("%s/s.odb", folder);
    session_search(path, NULL);
    struct odb_session *session = session_open(path);
    assert_null(session->missing_kernels);
    odb_session_close(session);

    session_search(path, "/lib/a.so:/lib/b c.so");
    session = session_open(path);
    assert_string_equal(session->missing_kernels, "--kernels /lib/a.so --kernels /lib/b c.so");
    assert_int_equal(session->report->warnings.n, 1);
    assert_non_null(strstr(session->report->warnings.items[0], "start with --kernels /lib/a.so"));
    odb_session_close(session);

    session_lacks(path, "/lib/b c.so:/lib/other.so", "--kernels /lib/a.so");
    session_lacks(path, "/lib/a.so:/lib/b c.so", NULL);
    session_lacks(path, "/lib/a.so.2:/lib/b", "--kernels /lib/a.so --kernels /lib/b c.so");

    session_search(path, NULL); /* the newest search counts */
    session = session_open(path);
    assert_null(session->missing_kernels);
    odb_session_close(session);
    free(path);
    models_remove(folder);
}

/* The least of the runs counts, and what a child makes up does not. */
static void test_session__knows_how_long_nodes_took(void **state)
{
    struct odb_session *session = session_open(NULL);
    struct odb_took took[] = {{0, 0.5}, {2, 0.25}, {3, 1},       {-1, 1},
                              {1, NAN}, {1, -1},   {1, INFINITY}};
    struct odb_times times = {{took, ODB_COUNT(took), 0}};
    const struct odb_search_event end = {
        .what = ODB_EVENT_PROBE_END, .text = "plain", .node = ODB_NO_NODE, .times = &times};
    odb_session_event(session, &end);
    took[0].seconds = 0.125;
    took[1].seconds = 2;
    odb_session_event(session, &end);
    assert_true(odb_session_target_took(session, 0) == 0.125);
    assert_true(odb_session_target_took(session, 1) == 0);
    assert_true(odb_session_target_took(session, 2) == 0.25);
    assert_true(odb_session_reference_took(session, 0) == 0); /* it has not run */
    odb_session_forget(session);                              /* another target */
    assert_true(odb_session_target_took(session, 0) == 0);
    odb_session_close(session);
}

static void test_session__keeps_bookmarks(void **state)
{
    char *folder = models_folder(), *path = odb_xasprintf("%s/s.db", folder);
    struct odb_session *session = session_open(path);
    MODELS_OK(odb_session_bookmark(session, 'a', 1, &why));
    MODELS_OK(odb_session_bookmark(session, 'b', 0, &why));
    MODELS_OK(odb_session_bookmark(session, 'a', 0, &why)); /* another place for it */
    MODELS_OK(odb_session_bookmark(session, 'c', 1, &why));
    MODELS_OK(odb_session_bookmark(session, 'b', ODB_NO_NODE, &why));
    odb_session_close(session);
    session = session_open(path);
    assert_int_equal(odb_session_bookmarked(session, 'a'), 0);
    assert_int_equal(odb_session_bookmarked(session, 'b'), ODB_NO_NODE);
    assert_int_equal(odb_session_bookmarked(session, 'c'), 1);
    odb_session_close(session);
    session = session_open(NULL);
    MODELS_OK(odb_session_bookmark(session, 'a', 1, &why));
    assert_int_equal(odb_session_bookmarked(session, 'a'), 1);
    odb_session_close(session);
    free(path);
    models_remove(folder);
}

struct session_reader {
    const struct odb_session *session;
    atomic_bool has_read;
};

static void *session_read_pins(void *payload)
{
    struct session_reader *reader = payload;
    struct odb_session_pins pins;
    MODELS_OK(odb_session__pins(reader->session, "cpu", &pins, &why));
    odb_session__pins_dispose(&pins);
    atomic_store(&reader->has_read, true);
    return NULL;
}

/* A search reads them while the screen's thread puts down breakpoints in the same list. */
static void test_session__pins_are_read_under_the_lock(void **state)
{
    struct odb_session *session = session_open(NULL);
    struct session_reader reader = {.session = session};
    pthread_t thread;
    odb_session_lock(session);
    assert_int_equal(pthread_create(&thread, NULL, session_read_pins, &reader), 0);
    usleep(100 * 1000);
    assert_false(atomic_load(&reader.has_read));
    odb_session_unlock(session);
    pthread_join(thread, NULL);
    assert_true(atomic_load(&reader.has_read));
    odb_session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session__knows_where_nodes_run),
        cmocka_unit_test(test_session__takes_the_account_of_a_search),
        cmocka_unit_test(test_session__log_has_one_beginning),
        cmocka_unit_test(test_session__places_are_counted),
        cmocka_unit_test(test_session__remembers_kernels),
        cmocka_unit_test(test_session__knows_how_long_nodes_took),
        cmocka_unit_test(test_session__keeps_bookmarks),
        cmocka_unit_test(test_session__pins_are_read_under_the_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
