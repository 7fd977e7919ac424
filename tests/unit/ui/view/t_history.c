/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/view/history.h"

#include <sys/stat.h>

#include "tests/help/models.h"

static int history_setup(void **state)
{
    *state = models_folder();
    setenv("XDG_STATE_HOME", *state, 1);
    return 0;
}

static int history_teardown(void **state)
{
    models_remove(*state);
    return 0;
}

/* The lines, separated by "|". */
static void history_has(const struct ui_history *history, const char *want)
{
    struct odb_buf all = ODB_BUF_INIT;
    for (size_t i = 0; i < history->lines.n; i++)
        odb_buf_printf(&all, "%s%s", i ? "|" : "", history->lines.items[i]);
    assert_string_equal(odb_buf_text(&all), want);
    odb_buf_dispose(&all);
}

static bool history_stat(const char *folder, const char *name, struct stat *st)
{
    char *path = odb_xasprintf("%s/%s", folder, name);
    bool there = stat(path, st) == 0;
    free(path);
    return there;
}

static void test_history__keeps(void **state)
{
    struct ui_history history;
    struct stat st;
    ui_history_open(&history, "history");
    history_has(&history, "");
    ui_history_add(&history, "one");
    ui_history_add(&history, "one");
    ui_history_add(&history, " \t");
    ui_history_add(&history, "");
    ui_history_add(&history, "t\xff ' \\");
    ui_history_add(&history, "two\nlines");
    ui_history_add(&history, "one");
    history_has(&history, "one|t\xff ' \\|one");
    ui_history_close(&history);
    assert_true(history_stat(*state, "onnxdbg", &st));
    assert_int_equal(st.st_mode & 0777, 0700);
    ui_history_open(&history, "history");
    history_has(&history, "one|t\xff ' \\|one");
    ui_history_close(&history);
    ui_history_open(&history, "searches"); /* another file */
    history_has(&history, "");
    ui_history_close(&history);
}

static void test_history__nothing_new(void **state)
{
    struct ui_history history;
    struct stat st;
    ui_history_open(&history, "history");
    ui_history_close(&history);
    assert_false(history_stat(*state, "onnxdbg", &st));
}

static void test_history__two_at_once(void **state)
{
    struct ui_history a, b;
    ui_history_open(&a, "history");
    ui_history_open(&b, "history");
    ui_history_add(&a, "same");
    ui_history_add(&a, "from a");
    ui_history_add(&b, "from a");
    ui_history_add(&b, "from b");
    ui_history_close(&a);
    ui_history_close(&b);
    ui_history_open(&a, "history");
    history_has(&a, "same|from a|from b");
    ui_history_close(&a);
}

static void test_history__the_oldest_go(void **state)
{
    struct ui_history history;
    char line[20];
    ui_history_open(&history, "history");
    for (int i = 0; i < UI_HISTORY_MOST + 5; i++) {
        snprintf(line, sizeof line, "line %d", i);
        ui_history_add(&history, line);
    }
    assert_int_equal(history.lines.n, UI_HISTORY_MOST);
    ui_history_close(&history);
    ui_history_open(&history, "history");
    assert_int_equal(history.lines.n, UI_HISTORY_MOST);
    assert_string_equal(history.lines.items[0], "line 5");
    ui_history_close(&history);
}

static void test_history__where(void **state)
{
    struct ui_history history;
    struct stat st;
    char *home = getenv("HOME") ? odb_xstrdup(getenv("HOME")) : NULL;
    setenv("HOME", *state, 1);
    setenv("XDG_STATE_HOME", "not/absolute", 1);
    ui_history_open(&history, "history");
    ui_history_add(&history, "x");
    ui_history_close(&history);
    assert_true(history_stat(*state, ".local/state/onnxdbg/history", &st));
    unsetenv("HOME");
    ui_history_open(&history, "history");
    ui_history_add(&history, "kept nowhere");
    history_has(&history, "kept nowhere");
    ui_history_close(&history);
    setenv("XDG_STATE_HOME", "/dev/null/no", 1);
    ui_history_open(&history, "history");
    ui_history_add(&history, "x");
    ui_history_close(&history); /* cannot be written, and does not matter */
    if (home)
        setenv("HOME", home, 1);
    free(home);
}

#define HISTORY_TEST(name) cmocka_unit_test_setup_teardown(name, history_setup, history_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HISTORY_TEST(test_history__keeps),       HISTORY_TEST(test_history__nothing_new),
        HISTORY_TEST(test_history__two_at_once), HISTORY_TEST(test_history__the_oldest_go),
        HISTORY_TEST(test_history__where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
