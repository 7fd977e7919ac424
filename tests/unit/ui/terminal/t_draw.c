/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/help/terminal_help.h"

#include <locale.h>
#include <signal.h>

#include "ui/terminal/draw.h"

enum { DRAW_ROWS = 6, DRAW_COLS = 20 };

static int draw_open(void **state, const char *locale, const char *term, bool ascii)
{
    struct pty *pty = odb_new(struct pty);
    *state = pty;
    setenv("NO_COLOR", "", 1);
    assert_non_null(setlocale(LC_CTYPE, locale));
    pty_open(pty, term, DRAW_ROWS, DRAW_COLS, &(struct ui_terminal_options){.ascii = ascii});
    return 0;
}

static int draw_setup(void **state)
{
    return draw_open(state, "C.UTF-8", "xterm-256color", false);
}

static int draw_setup_c(void **state)
{
    return draw_open(state, "C", "xterm-256color", false);
}

static int draw_setup_ascii(void **state)
{
    return draw_open(state, "C.UTF-8", "xterm-256color", true);
}

static int draw_setup_vt100(void **state)
{
    return draw_open(state, "C.UTF-8", "vt100", false);
}

static int draw_teardown(void **state)
{
    pty_close(*state);
    free(*state);
    return 0;
}

static struct ui_area draw_area(void **state)
{
    struct pty *pty = *state;
    return ui_area_all(pty->terminal);
}

static void draw_expect(int row, const char *expected)
{
    assert_string_equal(pty_row(row), expected);
}

static attr_t draw_attributes_at(int row, int col, int *pair)
{
    cchar_t cell;
    wchar_t chars[CCHARW_MAX + 1];
    attr_t attributes;
    short narrow;
    assert_int_equal(mvin_wch(row, col, &cell), OK);
    assert_int_equal(getcchar(&cell, chars, &attributes, &narrow, pair), OK);
    return attributes & (A_BOLD | A_DIM | A_REVERSE | A_UNDERLINE);
}

static const struct {
    const char *text, *shown, *ascii;
    int cols;
} draw_texts[] = {
    {"", "", "", 0},
    {"plain", "plain", "plain", 5},
    {"e\xcc\x81z", "e\xcc\x81z", "e\\u{301}z", 2},
    {"\xc3\xa9", "\xc3\xa9", "\\u{e9}", 1},
    {"\xe4\xb8\xad\xe6\x96\x87", "\xe4\xb8\xad\xe6\x96\x87", "\\u{4e2d}\\u{6587}", 4},
    {"\xe2\x80\xae"
     "a",
     "\\u{202e}a", "\\u{202e}a", 9},
    {"a\xe2\x80\x8b", "a\\u{200b}", "a\\u{200b}", 9},
    {"\xc2\x85", "\\u{85}", "\\u{85}", 6},
    {"\x1b[2J", "\\x1b[2J", "\\x1b[2J", 7},
    {"\n\t\x7f", "\\x0a\\x09\\x7f", "\\x0a\\x09\\x7f", 12},
    {"\xff\xc3", "\\xff\\xc3", "\\xff\\xc3", 8},
    {"\xc0\x80", "\\xc0\\x80", "\\xc0\\x80", 8},
    {"\xed\xa0\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80", 12},
    {"\xcc\x81", "\\u{301}", "\\u{301}", 7},
    {"\xe2\x9a\xa0\xef\xb8\x8f", "\xe2\x9a\xa0\\u{fe0f}", "\\u{26a0}\\u{fe0f}", 9},
    {"\xf0\x9f\x90\x9b!", "\xf0\x9f\x90\x9b!", "\\u{1f41b}!", 3},
    {"\xf3\xa0\x81\x81", "\\u{e0041}", "\\u{e0041}", 9},
};

static void test_draw__texts(void **state)
{
    struct ui_area area = draw_area(state);
    for (size_t i = 0; i < ODB_COUNT(draw_texts); i++) {
        ui_terminal_clear(area.terminal);
        assert_int_equal(ui_text_width(area.terminal, draw_texts[i].text), draw_texts[i].cols);
        assert_int_equal(ui_draw_text(&area, 2, 0, UI_STYLE_NORMAL, draw_texts[i].text),
                         draw_texts[i].cols);
        draw_expect(2, draw_texts[i].shown);
        ui_terminal_flush(area.terminal, -1, -1);
    }
}

static void test_draw__texts_in_ascii(void **state)
{
    struct ui_area area = draw_area(state);
    assert_false(area.terminal->unicode);
    for (size_t i = 0; i < ODB_COUNT(draw_texts); i++) {
        char shown[64];
        ui_terminal_clear(area.terminal);
        snprintf(shown, sizeof shown, "%.*s", DRAW_COLS, draw_texts[i].ascii);
        ui_draw_text(&area, 0, 0, UI_STYLE_NORMAL, draw_texts[i].text);
        draw_expect(0, shown);
    }
    ui_terminal_clear(area.terminal);
    ui_draw_glyph(&area, 0, 0, UI_STYLE_GOOD, UI_GLYPH_PASS);
    ui_draw_bar(&area, 1, 0, 10, 0.5, UI_STYLE_BAD);
    ui_draw_bar(&area, 2, 0, 10, 1e-9, UI_STYLE_BAD);
    draw_expect(0, "+");
    draw_expect(1, "#####");
    draw_expect(2, "#");
}

static void test_draw__many_combining(void **state)
{
    struct ui_area area = draw_area(state);
    char text[64] = "a";
    for (int i = 0; i < 6; i++)
        strcat(text, "\xcc\x81");
    /* As many as a cell holds; the others are spelled out. */
    int cols = ui_draw_text(&area, 0, 0, UI_STYLE_NORMAL, text);
    assert_int_equal(cols, ui_text_width(area.terminal, text));
    draw_expect(0, "a\xcc\x81\xcc\x81\xcc\x81\xcc\x81\\u{301}\\u{301}");
}

static void test_draw__cut_at_the_edges(void **state)
{
    struct ui_area area = draw_area(state);
    assert_int_equal(ui_draw_text(&area, 0, 18, UI_STYLE_NORMAL, "abc"), 20);
    draw_expect(0, "                  ab");
    /* A wide character does not go into the last column. */
    assert_int_equal(ui_draw_text(&area, 1, 18, UI_STYLE_NORMAL, "x\xe4\xb8\xad"), 20);
    draw_expect(1, "                  x");
    assert_int_equal(ui_draw_text(&area, 2, -2, UI_STYLE_NORMAL, "abcd"), 2);
    draw_expect(2, "cd");
    assert_int_equal(ui_draw_text(&area, 3, -1, UI_STYLE_NORMAL,
                                  "\xe4\xb8\xad"
                                  "b"),
                     2);
    draw_expect(3, " b");
    assert_int_equal(ui_draw_text(&area, 4, -9, UI_STYLE_NORMAL, "abcd"), 0);
    assert_int_equal(ui_draw_text(&area, 4, 25, UI_STYLE_NORMAL, "abcd"), 20);
    ui_draw_text(&area, -1, 0, UI_STYLE_NORMAL, "abcd");
    ui_draw_text(&area, DRAW_ROWS, 0, UI_STYLE_NORMAL, "abcd");
    draw_expect(4, "");
    assert_int_equal(ui_draw_text(&area, 5, 0, UI_STYLE_NORMAL, "the last cell is filled"), 20);
    draw_expect(5, "the last cell is fil");
    ui_terminal_flush(area.terminal, 5, 19);
}

static void test_draw__wide_over_wide(void **state)
{
    struct ui_area area = draw_area(state);
    ui_draw_text(&area, 0, 0, UI_STYLE_NORMAL, "\xe4\xb8\xad\xe6\x96\x87");
    ui_draw_text(&area, 0, 1, UI_STYLE_NORMAL, "x");
    draw_expect(0, " x\xe6\x96\x87");
    ui_draw_text(&area, 0, 1, UI_STYLE_NORMAL, "\xe4\xb8\xad");
    draw_expect(0, " \xe4\xb8\xad");
    ui_draw_text(&area, 0, 0, UI_STYLE_NORMAL, "\xe6\x96\x87");
    draw_expect(0, "\xe6\x96\x87");
}

static void test_draw__area_parts(void **state)
{
    struct ui_area area = draw_area(state);
    struct ui_area part = ui_area_part(&area, 1, 15, 3, 10);
    assert_int_equal(part.rows, 3);
    assert_int_equal(part.cols, 5);
    assert_int_equal(ui_draw_text(&part, 0, 0, UI_STYLE_NORMAL, "abcdefgh"), 5);
    draw_expect(1, "               abcde");
    struct ui_area inner = ui_area_part(&part, -1, -2, 3, 4);
    assert_int_equal(inner.row, 1);
    assert_int_equal(inner.col, 15);
    assert_int_equal(inner.rows, 2);
    assert_int_equal(inner.cols, 2);
    ui_draw_fill(&inner, UI_STYLE_SELECTED);
    draw_expect(1, "                 cde");
    struct ui_area none = ui_area_part(&area, 50, 50, 3, 3);
    assert_int_equal(none.rows * none.cols, 0);
    none = ui_area_part(&area, 2, 2, -3, -3);
    assert_int_equal(none.rows + none.cols, 0);
    ui_draw_fill(&none, UI_STYLE_BAD);
    ui_draw_text(&none, 0, 0, UI_STYLE_BAD, "no");
    ui_draw_bar(&none, 0, 0, 9, 1, UI_STYLE_BAD);
    ui_draw_mark(&none, 0, 0, 9, UI_STYLE_BAD);
    draw_expect(2, "");
}

static void test_draw__fields(void **state)
{
    struct ui_area area = draw_area(state);
    ui_draw_text(&area, 0, 0, UI_STYLE_NORMAL, "####################");
    assert_int_equal(ui_draw_field(&area, 0, 1, 6, UI_CUT_END, UI_STYLE_NAME, "abc"), 7);
    draw_expect(0, "#abc   #############");
    ui_draw_field(&area, 1, 0, 7, UI_CUT_END, UI_STYLE_NAME, "abcdefghij");
    draw_expect(1, "abcdef\xe2\x80\xa6");
    ui_draw_field(&area, 1, 0, 7, UI_CUT_MIDDLE, UI_STYLE_NAME, "abcdefghij");
    draw_expect(1, "abc\xe2\x80\xa6hij");
    ui_terminal_clear(area.terminal);
    ui_draw_field(&area, 1, 0, 6, UI_CUT_MIDDLE, UI_STYLE_NAME, "abcdefghij");
    draw_expect(1, "ab\xe2\x80\xa6hij");
    ui_draw_field(&area, 2, 0, 1, UI_CUT_END, UI_STYLE_NAME, "abcdefghij");
    draw_expect(2, "\xe2\x80\xa6");
    assert_int_equal(ui_draw_field(&area, 2, 3, 0, UI_CUT_END, UI_STYLE_NAME, "abc"), 3);
    draw_expect(2, "\xe2\x80\xa6");
    /* Half a character is a blank on both sides of the ellipsis. */
    ui_draw_field(&area, 3, 0, 4, UI_CUT_END, UI_STYLE_NAME,
                  "\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad");
    draw_expect(3, "\xe4\xb8\xad \xe2\x80\xa6");
    ui_draw_field(&area, 3, 0, 4, UI_CUT_MIDDLE, UI_STYLE_NAME,
                  "\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad");
    draw_expect(3, " \xe2\x80\xa6\xe4\xb8\xad");
    assert_int_equal(ui_draw_right(&area, 4, 2, 6, UI_STYLE_NUMBER, "12"), 8);
    draw_expect(4, "      12");
    ui_draw_right(&area, 4, 0, 4, UI_STYLE_NUMBER, "123456");
    draw_expect(4, "123\xe2\x80\xa6  12");
    assert_int_equal(ui_draw_printf(&area, 5, 0, UI_STYLE_NAME, "%d of %s", 3, "many"), 9);
    draw_expect(5, "3 of many");
}

static void draw_cut(const struct ui_terminal *terminal, const char *text, int cols,
                     const char *expected)
{
    struct odb_buf out = ODB_BUF_INIT;
    ui_text_put_cut(terminal, text, cols, &out);
    assert_string_equal(odb_buf_text(&out), expected);
    odb_buf_dispose(&out);
}

static void test_draw__cuts_texts(void **state)
{
    const struct ui_terminal *terminal = draw_area(state).terminal;
    draw_cut(terminal, "abcdefghij", 10, "abcdefghij");
    draw_cut(terminal, "abcdefghij", 7, "abc\xe2\x80\xa6hij");
    draw_cut(terminal, "abcdefghij", 2, "\xe2\x80\xa6j");
    draw_cut(terminal, "abcdefghij", 1, "\xe2\x80\xa6");
    draw_cut(terminal, "\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad", 5,
             "\xe4\xb8\xad\xe2\x80\xa6\xe4\xb8\xad");
    assert_string_equal(ui_text_end(terminal, "abc", 3), "abc");
    assert_string_equal(ui_text_end(terminal, "abc", 0), "");
    assert_string_equal(ui_text_end(terminal, "a\xe4\xb8\xad", 1), ""); /* no half of one */
}

static void test_draw__bars(void **state)
{
    struct ui_area area = draw_area(state);
    static const struct {
        double share;
        const char *shown;
    } bars[] = {{0, ""},
                {-1, ""},
                {0.0 / 0.0, ""},
                {1e-30, "\xe2\x96\x8f"},
                {0.5, "\xe2\x96\x88\xe2\x96\x88"},
                {0.28125, "\xe2\x96\x88\xe2\x96\x8f"},
                {1, "\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88"},
                {1e300, "\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88"}};
    for (size_t i = 0; i < ODB_COUNT(bars); i++) {
        ui_draw_bar(&area, 0, 0, 4, bars[i].share, UI_STYLE_NOISE);
        draw_expect(0, bars[i].shown);
    }
    ui_draw_column(&area, 5, 0, 3, 0.5, UI_STYLE_NOISE);
    draw_expect(5, "\xe2\x96\x88");
    draw_expect(4, "\xe2\x96\x84");
    draw_expect(3, "");
    ui_draw_column(&area, 2, 19, 9, 1, UI_STYLE_NOISE); /* grows out of the screen */
    ui_draw_hline(&area, 1, -2, 4, UI_STYLE_BORDER);
    draw_expect(1, "\xe2\x94\x80\xe2\x94\x80                 \xe2\x96\x88");
    ui_draw_vline(&area, 2, 4, 100, UI_STYLE_BORDER);
    draw_expect(3, "    \xe2\x94\x82");
}

static void test_draw__styles_and_marks(void **state)
{
    struct ui_area area = draw_area(state);
    int plain, mark, under, own;
    assert_int_equal(area.terminal->colors, 256);
    ui_draw_text(&area, 0, 0, UI_STYLE_BAD, "found \xe4\xb8\xad here");
    assert_true(draw_attributes_at(0, 0, &plain) & A_BOLD);
    ui_draw_mark(&area, 0, 2, 3, UI_STYLE_MATCH);
    assert_false(draw_attributes_at(0, 2, &mark) & A_BOLD);
    assert_int_not_equal(mark, plain);
    draw_attributes_at(0, 5, &own);
    assert_int_equal(own, plain);
    draw_expect(0, "found \xe4\xb8\xad here");
    area.under = UI_STYLE_SELECTED;
    ui_draw_text(&area, 1, 0, UI_STYLE_BAD, "x");
    draw_attributes_at(1, 0, &under);
    assert_int_not_equal(under, plain);
    int fg, bg, bar_fg, bar_bg;
    assert_int_equal(extended_pair_content(under, &fg, &bg), OK);
    ui_draw_fill(&area, UI_STYLE_NORMAL);
    draw_attributes_at(2, 3, &under);
    assert_int_equal(extended_pair_content(under, &bar_fg, &bar_bg), OK);
    assert_int_equal(bg, bar_bg);
    assert_int_not_equal(fg, bar_fg);
    ui_draw_mark(&area, 0, -5, 100, UI_STYLE_MATCH);
    ui_terminal_flush(area.terminal, -1, -1);
}

/* A mark that covers half of a wide character covers all of it. */
static void test_draw__mark_of_half_a_character(void **state)
{
    struct ui_area area = draw_area(state);
    int left, right;
    for (int col = 1; col <= 2; col++) {
        ui_terminal_clear(area.terminal);
        ui_draw_text(&area, 0, 1, UI_STYLE_NAME, "\xe4\xb8\xad.");
        ui_draw_mark(&area, 0, col, 1, UI_STYLE_MATCH);
        ui_terminal_flush(area.terminal, -1, -1);
        draw_expect(0, " \xe4\xb8\xad.");
        draw_attributes_at(0, 1, &left);
        draw_attributes_at(0, 3, &right);
        assert_int_not_equal(left, 0);
        assert_int_equal(right, 0);
    }
}

static void test_draw__no_colour_on_vt100(void **state)
{
    struct ui_area area = draw_area(state);
    int pair;
    assert_int_equal(area.terminal->colors, 0);
    ui_draw_text(&area, 0, 0, UI_STYLE_CULPRIT, "x");
    assert_int_equal(draw_attributes_at(0, 0, &pair), A_BOLD | A_REVERSE);
    assert_int_equal(pair, 0);
}

/* Moving a selection costs two rows, not a screen. */
static void test_draw__few_bytes(void **state)
{
    struct pty *pty = *state;
    pty_resize(pty, 24, 80);
    raise(SIGWINCH);
    struct ui_event event;
    assert_true(ui_terminal_read(pty->terminal, &event));
    assert_int_equal(event.what, UI_EVENT_RESIZE);
    size_t sent[4];
    for (int frame = 0; frame < 4; frame++) {
        struct ui_area area = draw_area(state);
        ui_terminal_clear(area.terminal);
        for (int row = 0; row < area.rows; row++) {
            struct ui_area line = ui_area_part(&area, row, 0, 1, area.cols);
            line.under = row == 5 + (frame + 1) / 2 ? UI_STYLE_SELECTED : UI_STYLE_NORMAL;
            ui_draw_fill(&line, UI_STYLE_NORMAL);
            ui_draw_printf(&line, 0, 1, UI_STYLE_NUMBER, "%4d", row * 37);
            ui_draw_text(&line, 0, 7, UI_STYLE_OP, "MatMul");
            ui_draw_text(&line, 0, 20, UI_STYLE_NAME, "/encoder/layer.3/attention/query");
            ui_draw_glyph(&line, 0, 70, UI_STYLE_GOOD, UI_GLYPH_PASS);
        }
        ui_terminal_flush(area.terminal, -1, -1);
        sent[frame] = pty_read(pty);
    }
    assert_in_range(sent[1], 1, 500);
    assert_int_equal(sent[2], 0); /* the same frame again */
}

#define DRAW_TEST(name, setup) cmocka_unit_test_setup_teardown(name, setup, draw_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DRAW_TEST(test_draw__texts, draw_setup),
        {"test_draw__texts_in_locale_c", test_draw__texts_in_ascii, draw_setup_c, draw_teardown,
         NULL},
        DRAW_TEST(test_draw__texts_in_ascii, draw_setup_ascii),
        DRAW_TEST(test_draw__many_combining, draw_setup),
        DRAW_TEST(test_draw__cut_at_the_edges, draw_setup),
        DRAW_TEST(test_draw__wide_over_wide, draw_setup),
        DRAW_TEST(test_draw__area_parts, draw_setup),
        DRAW_TEST(test_draw__fields, draw_setup),
        DRAW_TEST(test_draw__cuts_texts, draw_setup),
        DRAW_TEST(test_draw__bars, draw_setup),
        DRAW_TEST(test_draw__styles_and_marks, draw_setup),
        DRAW_TEST(test_draw__mark_of_half_a_character, draw_setup),
        DRAW_TEST(test_draw__no_colour_on_vt100, draw_setup_vt100),
        DRAW_TEST(test_draw__few_bytes, draw_setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
