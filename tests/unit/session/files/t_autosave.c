/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sessions that save themselves: where, for whom, how many, and what is offered of them.
 */
#include "session/files/autosave.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/read/load.h"
#include "session/session_state.h"
#include "session/store_int.h"
#include "system/lock.h"
#include "tests/help/models.h"

struct place {
    char *home;   /* $XDG_STATE_HOME */
    char *folder; /* of the sessions */
};

static void place_open(struct place *p)
{
    p->home = models_folder();
    setenv("XDG_STATE_HOME", p->home, 1);
    p->folder = odb_xasprintf("%s/onnxdbg/sessions", p->home);
}

static void place_close(struct place *p)
{
    models_remove(p->home);
    free(p->folder);
}

/* A model in a file of the place, whose node is called so. */
static struct odb_model *place_model(const struct place *p, const char *file, const char *node)
{
    struct odb_model *model;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_builder *b = odb_build_new("g", 17);
    char *path = odb_xasprintf("%s/%s", p->home, file);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Tanh", node, "x", "y");
    odb_build_output(b, "y");
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    MODELS_OK(odb_file_write(path, bytes.data, bytes.len, &why));
    MODELS_OK(odb_model_open_linked(&model, path, ODB_LINKS_NEAR, &why));
    odb_buf_dispose(&bytes);
    free(path);
    return model;
}

static struct odb_session *place_session(const struct place *p, const char *file, const char *node)
{
    struct odb_session *session;
    MODELS_OK(odb_session_open_take(&session, place_model(p, file, node), NULL, &why));
    return session;
}

/* A search that found nothing. */
static void place_search(struct odb_session *session, const char *target)
{
    struct odb_bisect_options options = {.target = target, .reference = "cpu"};
    struct odb_report *report = odb_report_new(session->model);
    MODELS_OK(odb_criterion_parse(&options.tolerance, "noise", &why));
    MODELS_OK(odb_session_begin(session, "bisect", &options, NULL, false, &why));
    report->target = odb_xstrdup(target);
    report->reference = odb_xstrdup("cpu");
    report->tolerance = odb_xstrdup("noise");
    report->complete = true;
    MODELS_OK(odb_session_end_take(session, report, false, &why));
}

/* A session of a model that was searched and closed. */
static void place_searched(const struct place *p, const char *file, const char *node,
                           const char *target)
{
    struct odb_session *session = place_session(p, file, node);
    odb_autosave_begin(session);
    place_search(session, target);
    assert_null(odb_session_take_unsaved(session));
    odb_session_close(session);
}

static size_t place_count(void)
{
    char **paths;
    size_t n;
    odb_autosave_list(&paths, &n);
    odb_stored_list_free(paths, n);
    return n;
}

static void place_offers(const struct place *p, const char *file, const char *node,
                         const char *target, bool changed)
{
    struct odb_autosave_found found;
    struct odb_model *model = place_model(p, file, node);
    odb_autosave_find(&found, model);
    if (target) {
        assert_non_null(found.stored.path);
        assert_string_equal(found.stored.target, target);
        assert_int_equal(found.changed, changed);
    } else {
        assert_null(found.stored.path);
    }
    odb_autosave_found_dispose(&found);
    odb_model_free(model);
}

/* What cannot be saved is told once, and all that is done goes on. */
static void place_refuses(const struct place *p, const char *expected)
{
    struct odb_session *session = place_session(p, "m.onnx", "n");
    for (int i = 0; i < 2; i++) {
        odb_autosave_begin(session);
        assert_null(session->store);
        char *text = odb_session_take_unsaved(session);
        if (i) {
            assert_null(text);
            continue;
        }
        assert_non_null(text);
        if (!strstr(text, expected))
            fail_msg("it says: %s", text);
        free(text);
    }
    place_search(session, "cpu");
    assert_non_null(odb_session_report(session));
    odb_session_close(session);
}

static mode_t place_mode(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode & 07777;
}

/* --- who may look ----------------------------------------------------------------------------- */

static void test_autosave__files_are_for_the_user_alone(void **state)
{
    struct place p;
    mode_t before = umask(0);
    place_open(&p);
    struct odb_session *session = place_session(&p, "m.onnx", "n");
    odb_autosave_begin(session);
    place_search(session, "cpu");
    const char *file = odb_session_path(session);
    char *folder = odb_xstrndup(file, (size_t)(strrchr(file, '/') - file));
    char *log = odb_xasprintf("%s-wal", file), *above = odb_xasprintf("%s/onnxdbg", p.home);
    assert_int_equal(place_mode(above), 0700);
    assert_int_equal(place_mode(p.folder), 0700);
    assert_int_equal(place_mode(folder), 0700);
    assert_int_equal(place_mode(file), 0600);
    assert_int_equal(place_mode(log), 0600);
    odb_session_close(session);
    free(above);
    free(log);
    free(folder);
    place_close(&p);
    umask(before);
}

static void test_autosave__nothing_goes_where_others_may_write(void **state)
{
    struct place p;
    place_open(&p);
    place_searched(&p, "m.onnx", "n", "cpu");
    chmod(p.folder, 0777);
    place_refuses(&p, "other users may write to it");
    assert_int_equal(place_count(), 0);
    place_offers(&p, "m.onnx", "n", NULL, false);
    chmod(p.folder, 0700);
    assert_int_equal(place_count(), 1);
    char *above = odb_xasprintf("%s/onnxdbg", p.home);
    chmod(above, 0770);
    place_refuses(&p, "other users may write to it");
    chmod(above, 0700);
    if (geteuid() == 0) {
        assert_int_equal(chown(p.folder, 65534, 65534), 0);
        place_refuses(&p, "it belongs to another user");
        assert_int_equal(chown(p.folder, 0, 0), 0);
    }
    free(above);
    place_close(&p);
}

/* A link in the place of a session is none, wherever it leads. */
static void test_autosave__links_are_not_followed(void **state)
{
    struct place p;
    place_open(&p);
    place_searched(&p, "m.onnx", "n", "cpu");
    char **paths;
    size_t n;
    odb_autosave_list(&paths, &n);
    assert_int_equal(n, 1);
    char *folder = odb_xstrndup(paths[0], (size_t)(strrchr(paths[0], '/') - paths[0]));
    char *elsewhere = odb_xasprintf("%s/elsewhere", p.home);
    assert_int_equal(rename(folder, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, folder), 0);
    assert_int_equal(place_count(), 0);
    place_offers(&p, "m.onnx", "n", NULL, false);
    odb_stored_list_free(paths, n);
    free(elsewhere);
    free(folder);
    place_close(&p);
}

static void test_autosave__a_folder_that_cannot_be_is_told_once(void **state)
{
    struct place p;
    place_open(&p);
    char *above = odb_xasprintf("%s/onnxdbg", p.home);
    MODELS_OK(odb_file_write(above, "", 0, &why));
    place_refuses(&p, above);
    unlink(above);
    mkdir(above, 0700);
    MODELS_OK(odb_file_write(p.folder, "", 0, &why));
    place_refuses(&p, "it is no folder");
    free(above);
    place_close(&p);
}

/* --- how many --------------------------------------------------------------------------------- */

/* A folder of an older session, of so many bytes. */
static void place_fake(const struct place *p, int i, off_t size)
{
    char *folder = odb_xasprintf("%s/%016x-%016x-abcd%02d", p->folder, i, i, i);
    char *file = odb_xasprintf("%s/session.odb", folder);
    struct timespec old[2] = {{.tv_sec = 1000000 + i}, {.tv_sec = 1000000 + i}};
    assert_int_equal(mkdir(folder, 0700), 0);
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fclose(f);
    assert_int_equal(truncate(file, size), 0);
    utimensat(AT_FDCWD, file, old, 0);
    utimensat(AT_FDCWD, folder, old, 0);
    free(file);
    free(folder);
}

static bool place_has(const struct place *p, int i)
{
    char *folder = odb_xasprintf("%s/%016x-%016x-abcd%02d", p->folder, i, i, i);
    bool has = access(folder, F_OK) == 0;
    free(folder);
    return has;
}

static void test_autosave__the_oldest_make_room(void **state)
{
    struct place p;
    place_open(&p);
    place_searched(&p, "m.onnx", "n", "cpu");
    for (int i = 0; i < ODB_AUTOSAVE_MOST + 5; i++)
        place_fake(&p, i, 10);
    char *held = odb_xasprintf("%s/%016x-%016x-abcd%02d", p.folder, 1, 1, 1);
    int lock;
    MODELS_OK(odb_lock_folder(&lock, held, &why)); /* a program works in it */
    place_searched(&p, "m.onnx", "n", "cpu");
    assert_int_equal(place_count(), ODB_AUTOSAVE_MOST + 1);
    assert_false(place_has(&p, 0));
    assert_true(place_has(&p, 1));
    assert_false(place_has(&p, 6));
    assert_true(place_has(&p, 7));
    assert_true(place_has(&p, ODB_AUTOSAVE_MOST + 4));
    close(lock);
    free(held);
    place_close(&p);
}

static void test_autosave__all_of_them_are_bounded(void **state)
{
    struct place p;
    place_open(&p);
    place_searched(&p, "m.onnx", "n", "cpu");
    for (int i = 0; i < 4; i++)
        place_fake(&p, i, (off_t)ODB_AUTOSAVE_BYTES / 3);
    place_searched(&p, "m.onnx", "n", "cpu");
    assert_int_equal(place_count(), 4);
    assert_false(place_has(&p, 1));
    assert_true(place_has(&p, 2));
    place_close(&p);
}

/* --- what is offered -------------------------------------------------------------------------- */

static void test_autosave__the_newest_of_the_model_is_offered(void **state)
{
    struct place p;
    place_open(&p);
    place_offers(&p, "m.onnx", "n", NULL, false);
    place_searched(&p, "m.onnx", "n", "cpu");
    place_searched(&p, "other.onnx", "another", "cpu:bf16");
    place_offers(&p, "m.onnx", "n", "cpu", false);
    place_offers(&p, "copy.onnx", "n", "cpu", false); /* the model counts, and not its name */
    struct odb_session *session = place_session(&p, "m.onnx", "n");
    odb_autosave_begin(session);
    place_offers(&p, "m.onnx", "n", "cpu", false); /* nothing was searched in the newest */
    place_search(session, "cpu:f16");
    place_offers(&p, "m.onnx", "n", "cpu", false); /* and this program works in it */
    odb_session_close(session);
    place_offers(&p, "m.onnx", "n", "cpu:f16", false);
    place_close(&p);
}

static void test_autosave__a_model_that_has_changed_is_told(void **state)
{
    struct place p;
    place_open(&p);
    place_searched(&p, "m.onnx", "n", "cpu");
    place_offers(&p, "m.onnx", "renamed", "cpu", true);
    place_offers(&p, "new.onnx", "renamed", NULL, false);
    place_close(&p);
}

static void test_autosave__can_be_off(void **state)
{
    for (int otherwise = 0; otherwise < 2; otherwise++) {
        unsetenv("ONNXDBG_AUTOSAVE");
        assert_int_equal(odb_autosave_is_on(NULL, otherwise), otherwise);
        assert_false(odb_autosave_is_on("off", otherwise));
        setenv("ONNXDBG_AUTOSAVE", "off", 1);
        assert_false(odb_autosave_is_on(NULL, otherwise));
        assert_true(odb_autosave_is_on("on", otherwise));
        setenv("ONNXDBG_AUTOSAVE", "", 1);
        assert_int_equal(odb_autosave_is_on(NULL, otherwise), otherwise);
    }
    unsetenv("ONNXDBG_AUTOSAVE");
}

/* --- working in one --------------------------------------------------------------------------- */

/* What was put down before there was a file is in it. */
static void test_autosave__has_what_was_put_down_before(void **state)
{
    struct place p;
    place_open(&p);
    struct odb_session *again, *session = place_session(&p, "m.onnx", "n");
    MODELS_OK(odb_session_annotate(
        session, &(struct odb_annotation){.kind = ODB_ANNOTATION_MARK, .place = "n"}, NULL, &why));
    MODELS_OK(odb_session_bookmark(session, 'a', 0, &why));
    odb_autosave_begin(session);
    char *path = odb_xstrdup(odb_session_path(session));
    odb_session_close(session);
    MODELS_OK(odb_session_open_take(&again, place_model(&p, "m.onnx", "n"), path, &why));
    assert_int_equal(odb_session_annotations(again)->items.n, 1);
    assert_int_equal(odb_session_bookmarked(again, 'a'), 0);
    odb_session_close(again);
    free(path);
    place_close(&p);
}

static void test_autosave__one_program_works_in_one(void **state)
{
    struct place p;
    struct odb_error err = ODB_ERROR_INIT;
    place_open(&p);
    struct odb_session *again, *session = place_session(&p, "m.onnx", "n");
    odb_autosave_begin(session);
    place_search(session, "cpu");
    char *path = odb_xstrdup(odb_session_path(session));
    MODELS_OK(odb_session_open_take(&again, place_model(&p, "m.onnx", "n"), path, &why));
    assert_int_equal(odb_autosave_claim(again, &err), ODB_E_IO);
    odb_session_close(again);
    assert_int_equal(odb_autosave_delete(path, &err), ODB_E_IO);
    odb_session_close(session);
    MODELS_OK(odb_session_open_take(&again, place_model(&p, "m.onnx", "n"), path, &why));
    MODELS_OK(odb_autosave_claim(again, &why));
    assert_true(again->by_itself);
    odb_session_close(again);
    MODELS_OK(odb_autosave_delete(path, &why));
    assert_int_equal(place_count(), 0);
    assert_int_equal(rmdir(p.folder), 0); /* nothing is left of it */
    free(path);
    place_close(&p);
}

/* A file that takes no more stops no search: that is told once. */
static void test_autosave__a_full_disk_stops_nothing(void **state)
{
    struct place p;
    place_open(&p);
    struct odb_session *session = place_session(&p, "m.onnx", "n");
    odb_autosave_begin(session);
    place_search(session, "cpu");
    MODELS_OK(odb_store__exec(session->store, "PRAGMA query_only = 1", &why));
    place_search(session, "cpu:f16");
    assert_string_equal(odb_session_report(session)->target, "cpu:f16");
    char *text = odb_session_take_unsaved(session);
    assert_non_null(text);
    free(text);
    MODELS_OK(odb_session_annotate(
        session, &(struct odb_annotation){.kind = ODB_ANNOTATION_MARK, .place = "n"}, NULL, &why));
    MODELS_OK(odb_session_bookmark(session, 'a', 0, &why));
    assert_int_equal(odb_session_annotations(session)->items.n, 1);
    assert_null(odb_session_take_unsaved(session));
    odb_session_close(session);
    place_offers(&p, "m.onnx", "n", "cpu", false); /* which is whole */
    place_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_autosave__files_are_for_the_user_alone),
        cmocka_unit_test(test_autosave__nothing_goes_where_others_may_write),
        cmocka_unit_test(test_autosave__links_are_not_followed),
        cmocka_unit_test(test_autosave__a_folder_that_cannot_be_is_told_once),
        cmocka_unit_test(test_autosave__the_oldest_make_room),
        cmocka_unit_test(test_autosave__all_of_them_are_bounded),
        cmocka_unit_test(test_autosave__the_newest_of_the_model_is_offered),
        cmocka_unit_test(test_autosave__a_model_that_has_changed_is_told),
        cmocka_unit_test(test_autosave__can_be_off),
        cmocka_unit_test(test_autosave__has_what_was_put_down_before),
        cmocka_unit_test(test_autosave__one_program_works_in_one),
        cmocka_unit_test(test_autosave__a_full_disk_stops_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
