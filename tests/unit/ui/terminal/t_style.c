/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/terminal/style.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>
#include <locale.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/utf8.h"

enum { STYLE_RGB = 1 << 24 };

static const char *const style_names[] = {
#define UI_STYLE(id, ...) #id,
#include "ui/terminal/style.def"
#undef UI_STYLE
};

/* The colours that terminals have in common begin at 16. */
static int style_rgb_of_256(int color)
{
    static const int steps[] = {0, 95, 135, 175, 215, 255};
    assert_in_range(color, 16, 255);
    if (color >= 232)
        return (8 + 10 * (color - 232)) * 0x10101;
    color -= 16;
    return steps[color / 36] << 16 | steps[color / 6 % 6] << 8 | steps[color % 6];
}

static double style_luminance(int rgb)
{
    static const double weights[] = {0.0722, 0.7152, 0.2126};
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double part = (rgb >> 8 * i & 0xff) / 255.0;
        sum += weights[i] * (part <= 0.03928 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4));
    }
    return sum;
}

/* As the accessibility guidelines of the web define it: 1 … 21. */
static double style_contrast(int a, int b)
{
    double x = style_luminance(a) + 0.05, y = style_luminance(b) + 0.05;
    return x > y ? x / y : y / x;
}

static void style_assert_readable(int style, int under, int colors)
{
    struct ui_look look = ui_style_look((enum ui_style)style, (enum ui_style)under, colors);
    int fg = look.fg, bg = look.bg;
    if (colors == 256) {
        fg = fg < 0 ? fg : style_rgb_of_256(fg);
        bg = bg < 0 ? bg : style_rgb_of_256(bg);
    }
    if (fg < 0 && bg < 0)
        return;
    if (fg < 0)
        fail_msg("%s has a background without a foreground", style_names[style]);
    double least = bg >= 0 ? style_contrast(fg, bg)
                           : fmin(style_contrast(fg, 0), style_contrast(fg, 0xffffff));
    if (least < (bg >= 0 ? 4 : 3))
        fail_msg("%s on %s: contrast %.2f with %d colours", style_names[style], style_names[under],
                 least, colors);
}

static void test_style__readable_on_dark_and_light(void **state)
{
    static const int unders[] = {UI_STYLE_NORMAL, UI_STYLE_SELECTED, UI_STYLE_SELECTED_DIM};
    for (int style = 0; style < UI_STYLE_COUNT; style++) {
        for (size_t i = 0; i < ODB_COUNT(unders); i++) {
            style_assert_readable(style, unders[i], 256);
            style_assert_readable(style, unders[i], STYLE_RGB);
        }
    }
}

/* --- eyes that see no green, or no red -------------------------------------------------------- */

/* Of light: red, green, blue; what is left of it without one kind of cones (Machado, Oliveira and
 * Fernandes, 2009, severity 1). */
static const double style_eyes[][3][3] = {
    {{0.367322, 0.860646, -0.227968},
     {0.280085, 0.672501, 0.047413},
     {-0.011820, 0.042940, 0.968881}},
    {{0.152286, 1.052583, -0.204868},
     {0.114503, 0.786281, 0.099216},
     {-0.003882, -0.048116, 1.051998}},
};

/* In CIELAB, where a step of one is about the least that is seen. */
static void style_seen(int rgb, const double eye[3][3], double lab[3])
{
    static const double xyz[3][3] = {{0.4339, 0.3762, 0.1899}, /* white is 1, 1, 1 */
                                     {0.2126, 0.7152, 0.0722},
                                     {0.0177, 0.1095, 0.8728}};
    double light[3], left[3] = {0}, f[3];
    for (int i = 0; i < 3; i++) {
        double part = (rgb >> 8 * (2 - i) & 0xff) / 255.0;
        light[i] = part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4);
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            left[i] += eye[i][k] * light[k];
        left[i] = fmin(fmax(left[i], 0), 1);
    }
    for (int i = 0; i < 3; i++) {
        double t = xyz[i][0] * left[0] + xyz[i][1] * left[1] + xyz[i][2] * left[2];
        f[i] = t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116;
    }
    lab[0] = 116 * f[1] - 16;
    lab[1] = 500 * (f[0] - f[1]);
    lab[2] = 200 * (f[1] - f[2]);
}

static void style_assert_apart(int colors, enum ui_background background)
{
    int good = ui_style_look(UI_STYLE_GOOD, UI_STYLE_NORMAL, colors).fg;
    int bad = ui_style_look(UI_STYLE_BAD, UI_STYLE_NORMAL, colors).fg;
    good = ui_style_shade(good, colors, background);
    bad = ui_style_shade(bad, colors, background);
    for (size_t eye = 0; eye < ODB_COUNT(style_eyes); eye++) {
        double a[3], b[3];
        style_seen(colors == 256 ? style_rgb_of_256(good) : good, style_eyes[eye], a);
        style_seen(colors == 256 ? style_rgb_of_256(bad) : bad, style_eyes[eye], b);
        double apart = hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
        if (!(apart >= 35))
            fail_msg("good and bad are %.0f apart for eye %zu with %d colours on background %d",
                     apart, eye, colors, (int)background);
    }
}

static void test_style__good_and_bad_without_red_or_green(void **state)
{
    static const enum ui_background backgrounds[] = {UI_BACKGROUND_UNKNOWN, UI_BACKGROUND_DARK,
                                                     UI_BACKGROUND_LIGHT};
    for (size_t i = 0; i < ODB_COUNT(backgrounds); i++) {
        style_assert_apart(256, backgrounds[i]);
        style_assert_apart(STYLE_RGB, backgrounds[i]);
    }
}

/* Where the background is known, colours stand off it more, not less. */
static void test_style__shaded(void **state)
{
    static const struct {
        enum ui_background background;
        int rgb;
    } grounds[] = {{UI_BACKGROUND_DARK, 0}, {UI_BACKGROUND_LIGHT, 0xffffff}};
    for (int style = 0; style < UI_STYLE_COUNT; style++)
        for (size_t g = 0; g < ODB_COUNT(grounds); g++)
            for (int colors = 256; colors <= STYLE_RGB; colors += STYLE_RGB - 256) {
                struct ui_look look = ui_style_look((enum ui_style)style, UI_STYLE_NORMAL, colors);
                if (look.fg < 0 || look.bg >= 0)
                    continue;
                int fg = ui_style_shade(look.fg, colors, grounds[g].background);
                int before = colors == 256 ? style_rgb_of_256(look.fg) : look.fg;
                int after = colors == 256 ? style_rgb_of_256(fg) : fg;
                double now = style_contrast(after, grounds[g].rgb);
                if (now < style_contrast(before, grounds[g].rgb) || now < 4)
                    fail_msg("%s: contrast %.2f", style_names[style], now);
                assert_int_equal(ui_style_shade(look.fg, colors, UI_BACKGROUND_UNKNOWN), look.fg);
            }
    assert_int_equal(ui_style_shade(1, 16, UI_BACKGROUND_DARK), 9);
    assert_int_equal(ui_style_shade(1, 16, UI_BACKGROUND_LIGHT), 1);
    assert_int_equal(ui_style_shade(1, 8, UI_BACKGROUND_DARK), 1);
    assert_int_equal(ui_style_shade(-1, 256, UI_BACKGROUND_DARK), -1);
}

/* A mark in a bar has the bar's own colour behind it, whatever is known and lies under it. */
static void test_style__marks_in_bars(void **state)
{
    static const enum ui_style marks[][2] = {{UI_STYLE_OVER, UI_STYLE_BAD},
                                             {UI_STYLE_OVER_DIM, UI_STYLE_INHERITED}};
    static const enum ui_style unders[] = {UI_STYLE_NORMAL, UI_STYLE_SELECTED};
    for (size_t m = 0; m < ODB_COUNT(marks); m++)
        for (size_t u = 0; u < ODB_COUNT(unders); u++)
            for (int colors = 256; colors <= STYLE_RGB; colors += STYLE_RGB - 256) {
                struct ui_look mark = ui_style_look(marks[m][0], unders[u], colors);
                struct ui_look bar = ui_style_look(marks[m][1], unders[u], colors);
                assert_int_equal(mark.bg, bar.fg);
                assert_int_equal(mark.shaded, bar.bg < 0);
                for (int g = UI_BACKGROUND_DARK; mark.shaded && g <= UI_BACKGROUND_LIGHT; g++) {
                    int bg = ui_style_shade(mark.bg, colors, (enum ui_background)g);
                    int rgb = colors == 256 ? style_rgb_of_256(bg) : bg;
                    int fg = colors == 256 ? style_rgb_of_256(mark.fg) : mark.fg;
                    if (style_contrast(fg, rgb) < 3)
                        fail_msg("%s: contrast %.2f", style_names[marks[m][0]],
                                 style_contrast(fg, rgb));
                }
            }
}

/* What xterm, the Linux console, GNOME and Windows make of the first sixteen. */
static const int style_palettes[][16] = {
    {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5, 0x7f7f7f,
     0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff},
    {0x000000, 0xaa0000, 0x00aa00, 0xaa5500, 0x0000aa, 0xaa00aa, 0x00aaaa, 0xaaaaaa, 0x555555,
     0xff5555, 0x55ff55, 0xffff55, 0x5555ff, 0xff55ff, 0x55ffff, 0xffffff},
    {0x2e3436, 0xcc0000, 0x4e9a06, 0xc4a000, 0x3465a4, 0x75507b, 0x06989a, 0xd3d7cf, 0x555753,
     0xef2929, 0x8ae234, 0xfce94f, 0x729fcf, 0xad7fa8, 0x34e2e2, 0xeeeeec},
    {0x0c0c0c, 0xc50f1f, 0x13a10e, 0xc19c00, 0x0037da, 0x881798, 0x3a96dd, 0xcccccc, 0x767676,
     0xe74856, 0x16c60c, 0xf9f1a5, 0x3b78ff, 0xb4009e, 0x61d6d6, 0xf2f2f2}};

/* Among eight and sixteen colours, where the background is known: nothing is yellow on white or
 * blue on black. */
static void test_style__readable_in_palettes(void **state)
{
    static const struct {
        enum ui_background background;
        int rgb;
        double least;
    } grounds[] = {{UI_BACKGROUND_DARK, 0, 2.3}, {UI_BACKGROUND_LIGHT, 0xffffff, 3.9}};
    for (int style = 0; style < UI_STYLE_COUNT; style++)
        for (size_t g = 0; g < ODB_COUNT(grounds); g++)
            for (size_t p = 0; p < ODB_COUNT(style_palettes); p++)
                for (int colors = 8; colors <= 16; colors += 8) {
                    const int *palette = style_palettes[p];
                    struct ui_look look =
                        ui_style_look((enum ui_style)style, UI_STYLE_NORMAL, colors);
                    if (look.fg < 0)
                        continue;
                    int fg = look.bg < 0 ? ui_style_shade(look.fg, colors, grounds[g].background)
                                         : look.fg;
                    double now = style_contrast(palette[fg],
                                                look.bg < 0 ? grounds[g].rgb : palette[look.bg]);
                    if (now < (look.bg < 0 ? grounds[g].least : 3))
                        fail_msg("%s, %d colours, palette %zu, on %06x: contrast %.2f",
                                 style_names[style], colors, p, (unsigned)grounds[g].rgb, now);
                }
}

static void test_style__what_lies_under(void **state)
{
    struct ui_look plain = ui_style_look(UI_STYLE_BAD, UI_STYLE_NORMAL, 256);
    struct ui_look on = ui_style_look(UI_STYLE_BAD, UI_STYLE_SELECTED, 256);
    struct ui_look bar = ui_style_look(UI_STYLE_SELECTED, UI_STYLE_NORMAL, 256);
    assert_int_equal(plain.bg, -1);
    assert_int_equal(on.bg, bar.bg);
    assert_true(on.fg != plain.fg && on.fg != bar.fg);
    /* A text without a colour takes the selection's, one with a background keeps its own. */
    assert_int_equal(ui_style_look(UI_STYLE_NAME, UI_STYLE_SELECTED, 256).fg, bar.fg);
    struct ui_look culprit = ui_style_look(UI_STYLE_CULPRIT, UI_STYLE_NORMAL, 256);
    struct ui_look kept = ui_style_look(UI_STYLE_CULPRIT, UI_STYLE_SELECTED, 256);
    assert_int_equal(kept.bg, culprit.bg);
    assert_int_equal(kept.fg, culprit.fg);
    /* Among eight colours there is one for the whole row. */
    struct ui_look bar8 = ui_style_look(UI_STYLE_SELECTED, UI_STYLE_NORMAL, 8);
    struct ui_look on8 = ui_style_look(UI_STYLE_BAD, UI_STYLE_SELECTED, 8);
    assert_int_equal(on8.fg, bar8.fg);
    assert_int_equal(on8.bg, bar8.bg);
}

static void test_style__without_colours(void **state)
{
    for (int style = 0; style < UI_STYLE_COUNT; style++) {
        struct ui_look look = ui_style_look((enum ui_style)style, UI_STYLE_SELECTED, 0);
        assert_int_equal(look.fg, -1);
        assert_int_equal(look.bg, -1);
        assert_true(look.reverse);
    }
    assert_true(ui_style_look(UI_STYLE_NAME, UI_STYLE_SELECTED_DIM, 0).underline);
    assert_true(ui_style_look(UI_STYLE_BAD, UI_STYLE_NORMAL, 0).bold);
}

static void test_style__colours_exist(void **state)
{
    for (int style = 0; style < UI_STYLE_COUNT; style++) {
        for (int under = 0; under < UI_STYLE_COUNT; under++) {
            static const int limits[] = {8, 256, STYLE_RGB};
            for (size_t i = 0; i < ODB_COUNT(limits); i++) {
                struct ui_look look =
                    ui_style_look((enum ui_style)style, (enum ui_style)under, limits[i]);
                assert_true(look.fg >= -1 && look.fg < limits[i]);
                assert_true(look.bg >= -1 && look.bg < limits[i]);
                /* True colour: the first eight numbers are the palette's. */
                if (limits[i] == STYLE_RGB)
                    assert_true((look.fg < 0 || look.fg > 7) && (look.bg < 0 || look.bg > 7));
            }
        }
    }
}

static void test_style__glyphs_are_a_cell(void **state)
{
    assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
    for (int glyph = 0; glyph < UI_GLYPH_COUNT; glyph++) {
        const char *text = ui_glyph_text((enum ui_glyph)glyph, true);
        uint32_t point;
        assert_int_equal(odb_utf8_read(text, strlen(text), &point), strlen(text));
        assert_int_equal(wcwidth((wchar_t)point), 1);
        const char *ascii = ui_glyph_text((enum ui_glyph)glyph, false);
        assert_int_equal(strlen(ascii), 1);
        assert_in_range(ascii[0], ' ', '~');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_style__readable_on_dark_and_light),
        cmocka_unit_test(test_style__good_and_bad_without_red_or_green),
        cmocka_unit_test(test_style__shaded),
        cmocka_unit_test(test_style__marks_in_bars),
        cmocka_unit_test(test_style__readable_in_palettes),
        cmocka_unit_test(test_style__what_lies_under),
        cmocka_unit_test(test_style__without_colours),
        cmocka_unit_test(test_style__colours_exist),
        cmocka_unit_test(test_style__glyphs_are_a_cell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
