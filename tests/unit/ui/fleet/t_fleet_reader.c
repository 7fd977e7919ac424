/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The file of a fleet as a screen reads it: in a thread, while another process writes, damaged, of
 * another version, empty. What it says of progress.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "fleet/fleet_file.h"
#include "system/scratch.h"
#include "tests/help/models.h"
#include "ui/fleet/fleet_progress.h"
#include "ui/view/app.h"

#define READER_WAIT 20.0 /* seconds for what takes a moment */

/* A folder with a file of so many models, each of which was asked. */
struct shown {
    char *dir, *path;               /* owned */
    struct ui_app *app;             /* owned: zeroes, but for the pipe that wakes it */
    struct ui_fleet_reader *reader; /* owned */
};

static void fleet_of(struct odb_fleet *fleet, size_t n)
{
    fleet->target = odb_xstrdup("cpu");
    fleet->options = odb_xstrdup("");
    fleet->root = odb_xstrdup("zoo");
    for (size_t i = 0; i < n; i++)
        odb_push(&fleet->models,
                 (struct odb_fleet_model){.name = odb_xasprintf("m%03zu", i),
                                          .path = odb_xasprintf("zoo/m%03zu.onnx", i),
                                          .stage = ODB_FLEET_ASKED,
                                          .verdict = ODB_FLEET_PASS});
}

static void shown_write(const struct shown *s, struct odb_fleet *fleet)
{
    struct odb_fleet_file *file;
    struct odb_fleet none = {0};
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(odb_fleet_file_open(&file, s->path, true, &none, &err), ODB_OK);
    assert_int_equal(odb_fleet_file_put(file, fleet, &err), ODB_OK);
    odb_fleet_file_close(file);
    odb_fleet_dispose(&none);
    odb_fleet_dispose(fleet);
}

static void shown_begin(struct shown *s, size_t n)
{
    struct odb_fleet fleet = {0};
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(odb_scratch_new(&s->dir, &err), ODB_OK);
    s->path = odb_xasprintf("%s/a.fleet", s->dir);
    s->app = odb_new(struct ui_app);
    assert_int_equal(pipe(s->app->wake), 0);
    fleet_of(&fleet, n);
    shown_write(s, &fleet);
    s->reader = ui_fleet_reader_new(s->app, s->path);
}

static void shown_end(struct shown *s)
{
    ui_fleet_reader_free(s->reader);
    odb_scratch_remove(s->dir);
    close(s->app->wake[0]);
    close(s->app->wake[1]);
    free(s->app);
    free(s->path);
    free(s->dir);
}

/* Looks until something was read. */
static struct ui_fleet_known *shown_wait(struct shown *s, bool anyway)
{
    struct ui_fleet_known *known = NULL;
    double end = odb_clock() + READER_WAIT;
    ui_fleet_reader_look(s->reader, anyway);
    while (!(known = ui_fleet_reader_take(s->reader)) && odb_clock() < end) {
        usleep(1000);
        ui_fleet_reader_look(s->reader, false);
    }
    return known;
}

/* Reads at once, and says whether that failed with these words. */
static void shown_fails(struct shown *s, const char *words)
{
    struct ui_fleet_known *known = ui_fleet_reader_now(s->reader);
    assert_int_not_equal(known->status, ODB_OK);
    assert_int_equal(known->fleet.models.n, 0);
    assert_int_equal(known->causes.list.n, 0);
    if (!strstr(known->err.what, words))
        fail_msg("'%s' lacks '%s'", known->err.what, words);
    ui_fleet_known_free(known);
}

/* Puts words of equal length in the place of others, in the bytes of the file. */
static void shown_patch(const struct shown *s, const char *old, const char *with)
{
    FILE *f = fopen(s->path, "r+");
    char *bytes = NULL;
    size_t n = 0, size = 0;
    for (int c; (c = fgetc(f)) != EOF; bytes[n++] = (char)c)
        if (n == size)
            bytes = realloc(bytes, size = 2 * size + 4096);
    char *at = memmem(bytes, n, old, strlen(old));
    assert_non_null(at);
    memcpy(at, with, strlen(with));
    rewind(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
    free(bytes);
}

static void test_reader__reads_once_and_again_where_it_changed(void **state)
{
    struct shown s;
    (void)state;
    shown_begin(&s, 3);
    struct ui_fleet_known *known = shown_wait(&s, false);
    assert_int_equal(known->status, ODB_OK);
    assert_int_equal(known->fleet.models.n, 3);
    assert_string_equal(known->fleet.models.items[2].name, "m002");
    ui_fleet_reader_drop(s.reader, known);
    for (double end = odb_clock() + 1.2; odb_clock() < end; usleep(10000))
        ui_fleet_reader_look(s.reader, false);
    assert_null(ui_fleet_reader_take(s.reader));
    known = shown_wait(&s, true);
    assert_int_equal(known->fleet.models.n, 3);
    ui_fleet_reader_drop(s.reader, known);
    struct odb_fleet more = {0};
    fleet_of(&more, 5);
    shown_write(&s, &more);
    known = shown_wait(&s, false);
    assert_non_null(known);
    assert_int_equal(known->fleet.models.n, 5);
    assert_false(ui_fleet_reader_runs(s.reader));
    ui_fleet_known_free(known);
    shown_end(&s);
}

static void test_reader__an_empty_fleet_is_one(void **state)
{
    struct shown s;
    (void)state;
    shown_begin(&s, 0);
    struct ui_fleet_known *known = ui_fleet_reader_now(s.reader);
    struct ui_fleet_progress progress = {0};
    assert_int_equal(known->status, ODB_OK);
    assert_int_equal(known->fleet.models.n, 0);
    ui_fleet_progress_see(&progress, known);
    assert_int_equal(progress.total, 0);
    assert_true(isnan(ui_fleet_progress_left(&progress, odb_clock())));
    ui_fleet_known_free(known);
    shown_end(&s);
}

static void test_reader__what_is_no_fleet_is_said(void **state)
{
    struct shown s;
    (void)state;
    shown_begin(&s, 2);
    shown_patch(&s, "compiles", "compilez");
    shown_fails(&s, "no file of a fleet");
    shown_end(&s);
    shown_begin(&s, 2);
    assert_int_equal(truncate(s.path, 5000), 0);
    shown_fails(&s, "");
    assert_int_equal(truncate(s.path, 0), 0);
    shown_fails(&s, "no file of a fleet");
    assert_int_equal(unlink(s.path), 0);
    shown_fails(&s, "");
    shown_end(&s);
}

/* A damaged row is a model that is asked again. */
static void test_reader__a_report_that_is_none(void **state)
{
    struct shown s;
    struct odb_fleet fleet = {0};
    (void)state;
    shown_begin(&s, 0);
    fleet_of(&fleet, 2);
    fleet.models.items[1].report = json_pack("{s:s}", "verdict", "abcdefgh");
    shown_write(&s, &fleet);
    shown_patch(&s, "\"abcdefgh\"}", "\"abcdefgh\"]");
    struct ui_fleet_known *known = ui_fleet_reader_now(s.reader);
    assert_int_equal(known->status, ODB_OK);
    assert_int_equal(known->fleet.models.items[0].stage, ODB_FLEET_ASKED);
    assert_int_equal(known->fleet.models.items[1].stage, ODB_FLEET_NEW);
    assert_int_equal(known->fleet.models.items[1].verdict, ODB_FLEET_QUEUED);
    ui_fleet_known_free(known);
    shown_end(&s);
}

static void test_reader__names_are_as_they_are(void **state)
{
    static const char *const odd[] = {"a\tb", "c\n\x1b[31md", "e\xff'", "f\";DROP TABLE member"};
    struct shown s;
    struct odb_fleet fleet = {0};
    (void)state;
    shown_begin(&s, 0);
    fleet_of(&fleet, 4);
    for (size_t i = 0; i < 4; i++) {
        free(fleet.models.items[i].name);
        fleet.models.items[i].name = odb_xstrdup(odd[i]);
    }
    shown_write(&s, &fleet);
    struct ui_fleet_known *known = ui_fleet_reader_now(s.reader);
    assert_int_equal(known->status, ODB_OK);
    assert_int_equal(known->fleet.models.n, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(known->fleet.models.items[i].name, odd[i]);
    ui_fleet_known_free(known);
    shown_end(&s);
}

/* Writes one model after the other until it is killed, or time is up. */
static void shown_writer(const struct shown *s)
{
    struct odb_fleet_file *file;
    struct odb_fleet fleet = {0}, more = {0};
    struct odb_error err = ODB_ERROR_INIT;
    fleet_of(&more, 1);
    alarm((unsigned)READER_WAIT);
    if (odb_fleet_file_open(&file, s->path, false, &fleet, &err) != ODB_OK)
        _exit(1);
    for (unsigned i = 0;; i++) {
        struct odb_fleet_model *model = &more.models.items[0];
        model->seconds = i;
        free(model->name);
        model->name = odb_xasprintf("new%06u", i);
        if (odb_fleet_file_put_model(file, model, &err) != ODB_OK)
            _exit(2);
        usleep(2000);
    }
}

static void test_reader__while_another_process_writes(void **state)
{
    struct shown s;
    (void)state;
    shown_begin(&s, 3);
    pid_t writer = fork();
    if (!writer)
        shown_writer(&s);
    size_t before = 0, grew = 0;
    double end = odb_clock() + READER_WAIT;
    while (grew < 5 && odb_clock() < end) {
        struct ui_fleet_known *known = ui_fleet_reader_now(s.reader);
        if (known->status != ODB_OK)
            fail_msg("%s", known->err.what);
        assert_true(known->fleet.models.n >= before);
        grew += known->fleet.models.n > before;
        before = known->fleet.models.n;
        ui_fleet_known_free(known);
    }
    assert_int_equal(waitpid(writer, NULL, WNOHANG), 0);
    kill(writer, SIGKILL);
    waitpid(writer, NULL, 0);
    assert_true(grew >= 5);
    struct ui_fleet_known *known = ui_fleet_reader_now(s.reader);
    assert_int_equal(known->status, ODB_OK);
    ui_fleet_known_free(known);
    shown_end(&s);
}

/* --- progress --------------------------------------------------------------------------------- */

/* Of ten models so many were asked, and of those that fail so many searched. */
static void progress_see(struct ui_fleet_progress *progress, size_t asked, size_t fail,
                         size_t searched)
{
    struct ui_fleet_known known = {0};
    fleet_of(&known.fleet, 10);
    for (size_t i = 0; i < 10; i++) {
        struct odb_fleet_model *model = &known.fleet.models.items[i];
        model->stage = i < searched ? ODB_FLEET_SEARCHED
                       : i < asked  ? ODB_FLEET_ASKED
                                    : ODB_FLEET_NEW;
        model->verdict = i < fail ? ODB_FLEET_DIVERGES : ODB_FLEET_PASS;
        model->report = i < asked ? json_object() : NULL;
    }
    ui_fleet_progress_see(progress, &known);
    odb_fleet_dispose(&known.fleet);
}

static void test_progress__parts_come_one_after_the_other(void **state)
{
    struct ui_fleet_progress progress = {0};
    (void)state;
    progress_see(&progress, 4, 2, 0);
    assert_int_equal(progress.part, 0);
    assert_int_equal(progress.done, 4);
    assert_int_equal(progress.total, 10);
    progress_see(&progress, 10, 3, 1);
    assert_int_equal(progress.part, 1);
    assert_int_equal(progress.done, 1);
    assert_int_equal(progress.total, 3);
    progress_see(&progress, 10, 3, 3);
    assert_int_equal(progress.part, 2);
    assert_int_equal(progress.total, 0);
}

static void test_progress__time_left_is_that_of_what_was_seen(void **state)
{
    struct ui_fleet_progress progress = {0};
    (void)state;
    progress_see(&progress, 4, 0, 0);
    assert_true(isnan(ui_fleet_progress_left(&progress, progress.since + 100)));
    progress_see(&progress, 6, 0, 0);
    assert_int_equal(progress.from, 4);
    progress.last = progress.since + 10; /* two in ten seconds: four take twenty */
    assert_true(fabs(ui_fleet_progress_left(&progress, progress.last) - 20) < 1e-9);
    assert_true(fabs(ui_fleet_progress_left(&progress, progress.last + 5) - 15) < 1e-9);
    assert_true(ui_fleet_progress_left(&progress, progress.last + 90) == 1);
    progress_see(&progress, 3, 0, 0); /* another run, or one that began anew */
    assert_int_equal(progress.from, 3);
    assert_true(isnan(ui_fleet_progress_left(&progress, odb_clock())));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reader__reads_once_and_again_where_it_changed),
        cmocka_unit_test(test_reader__an_empty_fleet_is_one),
        cmocka_unit_test(test_reader__what_is_no_fleet_is_said),
        cmocka_unit_test(test_reader__a_report_that_is_none),
        cmocka_unit_test(test_reader__names_are_as_they_are),
        cmocka_unit_test(test_reader__while_another_process_writes),
        cmocka_unit_test(test_progress__parts_come_one_after_the_other),
        cmocka_unit_test(test_progress__time_left_is_that_of_what_was_seen),
    };
    return cmocka_run_group_tests_name("fleet_reader", tests, NULL, NULL);
}
