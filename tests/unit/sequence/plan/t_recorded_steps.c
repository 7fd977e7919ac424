/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which folders of a recording are its steps.
 */
#include "sequence/plan/recorded_steps.h"

#include <sys/stat.h>

#include "tests/help/models.h"

static char *steps_folder(const char *const *names, size_t n)
{
    char *root = models_folder();
    for (size_t i = 0; i < n; i++) {
        char *path = odb_xasprintf("%s/%s", root, names[i]);
        assert_int_equal(mkdir(path, 0700), 0);
        free(path);
    }
    return root;
}

/* In their order, each in the place of the folder. */
static void steps_are(const char *const *names, size_t n, const char *tail)
{
    struct odb_recorded_steps steps;
    char *root = steps_folder(names, n), *spec = odb_xasprintf("dump:%s%s", root, tail);
    MODELS_OK(odb_recorded_steps_find(&steps, spec, &why));
    assert_int_equal(steps.n, n);
    for (size_t i = 0; i < n; i++) {
        char *wanted = odb_xasprintf("dump:%s/%s%s", root, names[i], tail + (*tail == '/'));
        assert_string_equal(steps.specs[i], wanted);
        free(wanted);
    }
    odb_recorded_steps_dispose(&steps);
    free(spec);
    models_remove(root);
}

static void test_steps__folders(void **state)
{
    static const char *const padded[] = {"step_00000", "step_00001", "step_00002"};
    static const char *const sets[] = {"test_data_set_0", "test_data_set_1", "test_data_set_2",
                                       "test_data_set_3", "test_data_set_4", "test_data_set_5",
                                       "test_data_set_6", "test_data_set_7", "test_data_set_8",
                                       "test_data_set_9", "test_data_set_10"};
    (void)state;
    steps_are(padded, 3, "");
    steps_are(padded, 3, "/");
    steps_are(padded, 3, ",map=names.map");
    steps_are(sets, 11, "");
}

static void test_steps__gap(void **state)
{
    static const char *const names[] = {"step_00000", "step_00002"};
    struct odb_recorded_steps steps;
    struct odb_error err = ODB_ERROR_INIT;
    char *root = steps_folder(names, 2), *spec = odb_xasprintf("dump:%s", root);
    (void)state;
    assert_int_equal(odb_recorded_steps_find(&steps, spec, &err), ODB_E_INPUT);
    assert_string_equal(err.what, "step_00002 is there, and no folder of step 1");
    odb_recorded_steps_dispose(&steps);
    free(spec);
    models_remove(root);
}

static void test_steps__none(void **state)
{
    static const char *const names[] = {"inputs", "outputs"};
    struct odb_recorded_steps steps;
    char *root = steps_folder(names, 2), *spec = odb_xasprintf("dump:%s", root);
    (void)state;
    MODELS_OK(odb_recorded_steps_find(&steps, spec, &why));
    assert_int_equal(steps.n, 0);
    MODELS_OK(odb_recorded_steps_find(&steps, "cpu", &why));
    assert_int_equal(steps.n, 0);
    MODELS_OK(odb_recorded_steps_find(&steps, NULL, &why));
    assert_int_equal(steps.n, 0);
    free(spec);
    models_remove(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps__folders),
        cmocka_unit_test(test_steps__gap),
        cmocka_unit_test(test_steps__none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
