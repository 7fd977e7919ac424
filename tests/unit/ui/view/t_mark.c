/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Words, marks and scales, as far as they can be told without a terminal.
 */
#include <locale.h>
#include <math.h>

#include "base/utf8.h"
#include "compare/verdict.h"
#include "run/value_report.h"
#include "tests/help/executor_help.h"
#include "ui/terminal/draw.h"
#include "ui/terminal/terminal.h"
#include "ui/view/mark.h"
#include "ui/view/view.h"

static void test_mark__scale(void **state)
{
    assert_true(ui_error_share(1e-8) == 0);
    assert_true(ui_error_share(0) == 0);
    assert_true(ui_error_share(1) == 1);
    assert_true(ui_error_share(HUGE_VAL) == 1);
    assert_true(ui_error_share(NAN) == 1); /* not a number is as wrong as it gets */
    assert_true(fabs(ui_error_share(1e-4) - 0.5) < 1e-12);
    assert_true(ui_error_share(1e-5) < ui_error_share(1e-3));
}

static void test_mark__search_minds_capitals_only_if_given(void **state)
{
    assert_true(odb_text_matches("/Encoder/attn", "encoder"));
    assert_true(odb_text_matches("/Encoder/attn", "Enc"));
    assert_false(odb_text_matches("/encoder/attn", "Enc"));
    assert_false(odb_text_matches("conv", "convolution"));
}

/* Every word of the text comes once, in order, and no line is too long. */
static void test_mark__lines(void **state)
{
    const struct ui_terminal terminal = {.rows = 24, .cols = 80, .unicode = true};
    const char *text = "one two  three\nfour averyveryverylongword five\n\nsix a/scopes/name";
    static const char *const expected[] = {"one two",  "three", "four", "averyvery", "verylongw",
                                           "ord five", "",      "six",  "a/scopes/", "name"};
    size_t gap, at = 0;
    for (const char *p = text; *p; p += gap) {
        size_t n = ui_text_line(&terminal, p, 9, &gap);
        char *line = odb_xstrndup(p, n);
        assert_true(at < ODB_COUNT(expected));
        assert_string_equal(line, expected[at++]);
        free(line);
        p += n;
    }
    assert_int_equal(at, ODB_COUNT(expected));
}

/* What has no row is told by an ellipsis behind a word. */
static void test_mark__words_that_go_on(void **state)
{
    static const struct {
        const char *text, *rows;
        int drawn;
        int cols;
    } cases[] = {
        {"as many words as two rows can hold", "as many words as two\nrows can hold\n", 2, 20},
        {"as many words as two rows have room for, surely",
         "as many words as two\nrows have room …\n", 2, 20},
        {"as many words as two rows have columns", "as many words as two\nrows have columns\n", 2,
         20},
        {"one row", "one row\n\n", 1, 20},
        {"where nearly nothing", "where\nnearly\n", 2, 8}};
    struct ui_terminal *terminal;
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(ui_terminal_open_blind(&terminal, 24, 80, &err), ODB_OK);
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_buf rows = ODB_BUF_INIT;
        assert_true(ui_canvas_open(terminal, 2, cases[i].cols));
        struct ui_area area = ui_canvas_area(terminal);
        assert_int_equal(ui_draw_words(&area, 0, UI_STYLE_NORMAL, cases[i].text), cases[i].drawn);
        ui_canvas_line(terminal, 0, &rows);
        ui_canvas_line(terminal, 1, &rows);
        assert_string_equal(odb_buf_text(&rows), cases[i].rows);
        ui_canvas_close(terminal);
        odb_buf_dispose(&rows);
    }
    ui_terminal_close(terminal);
}

static void test_mark__numbers(void **state)
{
    char buf[32];
    assert_string_equal(ui_number_text((struct odb_number){false, 1}, buf, sizeof buf), "");
    assert_string_equal(ui_number_text(ODB_NUMBER(0), buf, sizeof buf), "0");
    assert_string_equal(ui_number_text(ODB_NUMBER(0.000032), buf, sizeof buf), "3.2e-05");
    assert_string_equal(ui_number_text(ODB_NUMBER(HUGE_VAL), buf, sizeof buf), "inf");
    assert_string_equal(ui_number_text(ODB_NUMBER(1e300), buf, sizeof buf), "1.0e+300");
}

static void test_mark__glyphs(void **state)
{
    struct odb_value_report report = {.verdict = ODB_VERDICT_UNTESTED};
    assert_int_equal(ui_mark_glyph(&report, false, true), UI_GLYPH_UNSUPPORTED);
    assert_int_equal(ui_mark_glyph(&report, false, false), UI_GLYPH_UNTESTED);
    report.verdict = ODB_VERDICT_FAIL;
    assert_int_equal(ui_mark_glyph(&report, false, true), UI_GLYPH_FAIL);
    assert_int_equal(ui_mark_glyph(&report, true, false), UI_GLYPH_CULPRIT);
    assert_int_equal(ui_mark_style(&report, false), UI_STYLE_BAD);
}

int main(void)
{
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mark__scale),
        cmocka_unit_test(test_mark__search_minds_capitals_only_if_given),
        cmocka_unit_test(test_mark__lines),
        cmocka_unit_test(test_mark__words_that_go_on),
        cmocka_unit_test(test_mark__numbers),
        cmocka_unit_test(test_mark__glyphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
