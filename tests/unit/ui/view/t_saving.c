/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/view/saving.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* cmocka.h wants those first. */
#include <cmocka.h>

#include "tensor/format/npy.h"
#include "tensor/format/npz.h"
#include "tests/help/models.h"
#include "ui/view/app.h"

/* As much of a screen as is told what becomes of a file. */
struct scene {
    struct ui_app app;
    char *folder; /* owned */
};

static int scene_open(void **state)
{
    struct scene *s = odb_new(struct scene);
    s->folder = models_folder();
    assert_int_equal(pipe2(s->app.wake, O_NONBLOCK | O_CLOEXEC), 0);
    s->app.saving = ui_saving_new(&s->app);
    *state = s;
    return 0;
}

static int scene_close(void **state)
{
    struct scene *s = *state;
    ui_saving_free(s->app.saving);
    free(s->app.message);
    close(s->app.wake[0]);
    close(s->app.wake[1]);
    models_remove(s->folder);
    free(s);
    return 0;
}

static char *scene_path(const struct scene *s, const char *name)
{
    return odb_xasprintf("%s/%s", s->folder, name);
}

static void scene_wait(struct scene *s)
{
    while (ui_saving_path(s->app.saving)) {
        struct pollfd wake = {.fd = s->app.wake[0], .events = POLLIN};
        poll(&wake, 1, 10);
        ui_saving_collect(s->app.saving);
    }
}

static struct odb_tensor *scene_tensor(size_t n, double by)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, ODB_F32, 1, (int64_t[]){(int64_t)n}, &err), ODB_OK);
    for (size_t i = 0; i < n; i++)
        odb_store_f64(ODB_F32, t->data, i, (double)(i % 1000) + by);
    return t;
}

static void scene_save(struct scene *s, const struct ui_save *what, const char *path)
{
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(ui_saving_begin(s->app.saving, what, path, &err), ODB_OK);
}

static void check_differences(const struct odb_tensor *t, size_t n)
{
    assert_int_equal(t->count, n);
    assert_int_equal(t->dtype, ODB_F64);
    for (size_t i = 0; i < n; i++)
        assert_true(odb_tensor_f64(t, i) == 0.25);
}

/* Large ones in the background, small ones at once. */
static void test_saving__differences_are_made_on_the_way(void **state)
{
    struct scene *s = *state;
    const size_t sizes[] = {5, 700001};
    for (size_t k = 0; k < ODB_COUNT(sizes); k++) {
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_tensor *ref = scene_tensor(sizes[k], 0), *target = scene_tensor(sizes[k], 0.25);
        struct odb_tensor *t = NULL;
        char *npy = scene_path(s, "d.npy"), *npz = scene_path(s, "all.npz");
        const struct ui_save what = {{ref, target}, UI_SAVE_DIFFERENCE, true, false};
        scene_save(s, &what, npy);
        scene_wait(s);
        assert_int_equal(odb_npy_read(&t, npy, &err), ODB_OK);
        check_differences(t, sizes[k]);
        odb_tensor_unref(t);
        scene_save(s, &what, npz);
        scene_wait(s);
        assert_non_null(strstr(s->app.message, "all sides of it"));
        struct odb_npz *archive = NULL;
        assert_int_equal(odb_npz_open(&archive, npz, &err), ODB_OK);
        assert_int_equal(odb_npz_count(archive), 3);
        assert_int_equal(odb_npz_read(&t, archive, "difference", &err), ODB_OK);
        check_differences(t, sizes[k]);
        odb_tensor_unref(t);
        assert_int_equal(odb_npz_read(&t, archive, "target", &err), ODB_OK);
        assert_true(odb_tensor_identical(t, target));
        odb_tensor_unref(t);
        odb_npz_close(archive);
        odb_tensor_unref(ref);
        odb_tensor_unref(target);
        free(npy);
        free(npz);
    }
}

/* A pipe that nobody reads is a file that takes long. */
static void test_saving__one_at_a_time_and_it_can_be_stopped(void **state)
{
    struct scene *s = *state;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *ref = scene_tensor(1 << 20, 0);
    char *pipe = scene_path(s, "slow.bin"), *other = scene_path(s, "other.npy"), text[256];
    const struct ui_save what = {{ref, NULL}, UI_SAVE_REFERENCE, false, false};
    assert_int_equal(mkfifo(pipe, 0600), 0);
    scene_save(s, &what, pipe);
    odb_tensor_unref(ref); /* it has its own */
    assert_string_equal(ui_saving_path(s->app.saving), pipe);
    assert_int_equal(ui_saving_begin(s->app.saving, &what, other, &err), ODB_E_USAGE);
    assert_non_null(strstr(odb_error_text(&err, text, sizeof text), "still being written"));
    ui_saving_stop(s->app.saving);
    int reader = open(pipe, O_RDONLY);
    scene_wait(s);
    close(reader);
    assert_non_null(strstr(s->app.message, "stopped; "));
    assert_int_not_equal(access(other, F_OK), 0);
    free(pipe);
    free(other);
}

static void test_saving__says_what_went_wrong(void **state)
{
    struct scene *s = *state;
    struct odb_tensor *ref = scene_tensor(1 << 20, 0);
    char *path = scene_path(s, "none/x.npy");
    const struct ui_save what = {{ref, NULL}, UI_SAVE_REFERENCE, false, false};
    scene_save(s, &what, path);
    scene_wait(s);
    assert_true(s->app.failed);
    assert_non_null(strstr(s->app.message, "none/x.npy"));
    odb_tensor_unref(ref);
    free(path);
}

#define SAVING_TEST(test) cmocka_unit_test_setup_teardown(test, scene_open, scene_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SAVING_TEST(test_saving__differences_are_made_on_the_way),
        SAVING_TEST(test_saving__one_at_a_time_and_it_can_be_stopped),
        SAVING_TEST(test_saving__says_what_went_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
