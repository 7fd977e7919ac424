/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/view/keymap.h"

#include <sys/stat.h>

#include "tests/help/executor_help.h"
#include "ui/terminal/key.h"

struct keymap_home {
    char dir[64], file[120];
};

static int keymap_setup(void **state)
{
    struct keymap_home *home = odb_new(struct keymap_home);
    char path[100];
    snprintf(home->dir, sizeof home->dir, "/tmp/t_keymap-XXXXXX");
    assert_non_null(mkdtemp(home->dir));
    snprintf(path, sizeof path, "%s/onnxdbg", home->dir);
    mkdir(path, 0700);
    snprintf(home->file, sizeof home->file, "%s/onnxdbgrc", path);
    setenv("XDG_CONFIG_HOME", home->dir, 1);
    *state = home;
    return 0;
}

static int keymap_teardown(void **state)
{
    struct keymap_home *home = *state;
    char command[sizeof home->dir + 8];
    snprintf(command, sizeof command, "rm -rf %s", home->dir);
    free(home);
    return system(command);
}

static void keymap_write(const struct keymap_home *home, const char *text)
{
    FILE *f = fopen(home->file, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static const char *keymap_command(const struct ui_keymap *keymap, const char *view, const char *key)
{
    const struct ui_binding *binding = ui_keymap_find(keymap, view, ui_key_parse(key));
    return binding ? binding->command : NULL;
}

static struct ui_keymap *keymap_load(enum odb_status expected, struct odb_error *err)
{
    struct ui_keymap *keymap = NULL;
    assert_int_equal(ui_keymap_load(&keymap, err), expected);
    assert_non_null(keymap);
    return keymap;
}

/* Every command that a built-in key gives is one of the table: load() refuses others. */
static void test_keymap__built_in(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct ui_keymap *keymap = keymap_load(ODB_OK, &err);
    assert_string_equal(keymap_command(keymap, "nodes", "F"), "bisect");
    assert_string_equal(keymap_command(keymap, "nodes", "b"), "toggle {node}");
    assert_string_equal(keymap_command(keymap, "help", "j"), "down"); /* of "all" */
    assert_string_equal(keymap_command(keymap, "tensor", "Left"), "left");
    assert_null(keymap_command(keymap, "nodes", "F12"));
    const struct ui_binding *find = ui_keymap_find(keymap, "nodes", 'F');
    assert_string_equal(find->hint, "find fault");
    const struct ui_binding *output = ui_keymap_find(keymap, "nodes", 'o');
    assert_string_equal(output->hint, "to output"); /* and behind a semicolon words for the help */
    assert_string_equal(output->words, "go to the first node that reads it");
    const struct ui_binding *strip = ui_keymap_find(keymap, "nodes", 'L');
    assert_null(strip->hint);
    assert_non_null(strip->words);
    ui_keymap_free(keymap);
}

static void test_keymap__user_file_comes_on_top(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    keymap_write(*state, "# mine\n\n"
                         "bind nodes F12 continue\n"
                         "  bind all j page-down   # far\n"
                         "bind nodes F filter '#' # x\n");
    struct ui_keymap *keymap = keymap_load(ODB_OK, &err);
    assert_string_equal(keymap_command(keymap, "nodes", "F12"), "continue");
    assert_string_equal(keymap_command(keymap, "log", "j"), "page-down");
    assert_string_equal(keymap_command(keymap, "nodes", "F"), "filter '#'");
    assert_string_equal(keymap_command(keymap, "nodes", "k"), "up");
    ui_keymap_free(keymap);
}

static void test_keymap__wrong_lines_are_named(void **state)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"bind nodes\n", "line 1"},
        {"\nbind nowhere j down\n", "line 2"},
        {"bind nodes Hyper-j down\n", "no key 'Hyper-j'"},
        {"bind nodes j fly\n", "no command 'fly'"},
        {"bind nodes j check x\n", "no command 'check'"}, /* of the shell alone */
        {"bind nodes j 'down\n", "line 1"},
        {"bind nodes j\n", "no command is bound"},
        {"unbind nodes j\n", "'unbind' is no binding"},
    };
    for (size_t i = 0; i < ODB_COUNT(wrong); i++) {
        struct odb_error err = ODB_ERROR_INIT;
        keymap_write(*state, wrong[i].text);
        struct ui_keymap *keymap = keymap_load(ODB_E_USAGE, &err);
        help_has_text(&err, wrong[i].says);
        assert_string_equal(keymap_command(keymap, "nodes", "F"), "bisect");
        ui_keymap_free(keymap);
    }
}

static void test_keymap__commands_and_what_is_behind_an_error(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    keymap_write(*state, "theme light  # as my terminal is\nbisect\nbind nodes j fly\n"
                         "bind nodes F12 continue\ncolumns name error\n");
    struct ui_keymap *keymap = keymap_load(ODB_E_USAGE, &err);
    help_has_text(&err, "line 2");
    help_has_text(&err, "takes too long");
    assert_string_equal(keymap_command(keymap, "nodes", "F12"), "continue");
    assert_int_equal(keymap->starts.n, 2);
    assert_string_equal(keymap->starts.items[0].command, "theme light");
    assert_string_equal(keymap->starts.items[1].command, "columns name error");
    assert_non_null(strstr(keymap->starts.items[1].place, "onnxdbgrc: line 5"));
    ui_keymap_free(keymap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_keymap__built_in, keymap_setup, keymap_teardown),
        cmocka_unit_test_setup_teardown(test_keymap__user_file_comes_on_top, keymap_setup,
                                        keymap_teardown),
        cmocka_unit_test_setup_teardown(test_keymap__wrong_lines_are_named, keymap_setup,
                                        keymap_teardown),
        cmocka_unit_test_setup_teardown(test_keymap__commands_and_what_is_behind_an_error,
                                        keymap_setup, keymap_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
