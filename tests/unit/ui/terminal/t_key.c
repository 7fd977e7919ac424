/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/terminal/key.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

static const struct {
    const char *name;
    int key;
} key_pairs[] = {
    {"j", 'j'},
    {"G", 'G'},
    {"-", '-'},
    {"<", '<'},
    {"\xc3\xa9", 0xe9},
    {"\xf0\x9f\x90\x9b", 0x1f41b},
    {"Enter", UI_KEY_ENTER},
    {"Tab", UI_KEY_TAB},
    {"Esc", UI_KEY_ESC},
    {"Space", ' '},
    {"C-a", 1},
    {"C-c", 3},
    {"C-h", 8},
    {"C-z", 26},
    {"C-\\", 28},
    {"C-_", 31},
    {"M-x", 'x' | UI_KEY_ALT},
    {"M--", '-' | UI_KEY_ALT},
    {"M-C-a", 1 | UI_KEY_ALT},
    {"M-Up", UI_KEY_UP | UI_KEY_ALT},
    {"M-Enter", UI_KEY_ENTER | UI_KEY_ALT},
#define UI_KEY(id, name, ...) {name, UI_KEY_##id},
#include "ui/terminal/key.def"
#undef UI_KEY
};

static void test_key__names_both_ways(void **state)
{
    char buf[32];
    for (size_t i = 0; i < ODB_COUNT(key_pairs); i++) {
        assert_int_equal(ui_key_parse(key_pairs[i].name), key_pairs[i].key);
        assert_string_equal(ui_key_name(key_pairs[i].key, buf, sizeof buf), key_pairs[i].name);
    }
}

static void test_key__every_control_key(void **state)
{
    char buf[32];
    for (int key = 1; key < 32; key++)
        assert_int_equal(ui_key_parse(ui_key_name(key, buf, sizeof buf)),
                         key == '\n' ? UI_KEY_ENTER : key);
}

static void test_key__other_spellings(void **state)
{
    static const struct {
        const char *name;
        int key;
    } pairs[] = {{"enter", UI_KEY_ENTER},
                 {"RETURN", UI_KEY_ENTER},
                 {"pageup", UI_KEY_PGUP},
                 {"PgDn", UI_KEY_PGDN},
                 {"C-A", 1},
                 {"c-a", 1},
                 {"C-i", UI_KEY_TAB},
                 {"C-m", UI_KEY_ENTER},
                 {"C-j", UI_KEY_ENTER},
                 {"C-[", UI_KEY_ESC},
                 {"C-?", UI_KEY_BACKSPACE},
                 {"f12", UI_KEY_F12},
                 {"m-X", 'X' | UI_KEY_ALT},
                 {"za", 'z' << 24 | 'a'},
                 {"C-wz", ('w' - 'a' + 1) << 24 | 'z'},
                 {"'\xc3\xa9", '\'' << 24 | 0xe9}};
    for (size_t i = 0; i < ODB_COUNT(pairs); i++)
        assert_int_equal(ui_key_parse(pairs[i].name), pairs[i].key);
}

static void test_key__pairs(void **state)
{
    char name[16];
    int key = ui_key_parse("za");
    assert_int_equal(ui_key_first(key), 'z');
    assert_int_equal(ui_key_first('a'), 0);
    assert_int_equal(ui_key_first('a' | UI_KEY_ALT), 0);
    assert_int_equal(ui_key_first(UI_KEY_F12 | UI_KEY_ALT), 0);
    assert_string_equal(ui_key_name(key, name, sizeof name), "za");
    assert_string_equal(ui_key_name(ui_key_parse("C-wz"), name, sizeof name), "C-wz");
    assert_int_equal(ui_key_parse("C-iz"), UI_KEY_NONE); /* which is Tab */
    assert_int_equal(ui_key_pair(key, 'b'), UI_KEY_NONE);
    assert_int_equal(ui_key_pair('b', key), UI_KEY_NONE);
    assert_int_equal(ui_key_pair(UI_KEY_F1, 'b'), UI_KEY_NONE);
}

static void test_key__no_such_key(void **state)
{
    static const char *const names[] = {"",           " ",     "jjj", "C-",   "C-aaa",       "C-1",
                                        "M-",         "M-M-x", "F13", "\xff", "\xc3",        "Upp",
                                        "C-\xc3\xa9", "\x7f",  "\n",  "C-@",  "\xed\xa0\x80"};
    for (size_t i = 0; i < ODB_COUNT(names); i++)
        assert_int_equal(ui_key_parse(names[i]), UI_KEY_NONE);
}

static void test_key__names_fit(void **state)
{
    char buf[4] = "zzz";
    assert_string_equal(ui_key_name(UI_KEY_BACKSPACE | UI_KEY_ALT, buf, sizeof buf), "M-B");
    assert_string_equal(ui_key_name(UI_KEY_NONE, buf, sizeof buf), "?");
    assert_string_equal(ui_key_name(UI_KEY_LAST, buf, sizeof buf), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key__names_both_ways), cmocka_unit_test(test_key__every_control_key),
        cmocka_unit_test(test_key__other_spellings), cmocka_unit_test(test_key__pairs),
        cmocka_unit_test(test_key__no_such_key),     cmocka_unit_test(test_key__names_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
