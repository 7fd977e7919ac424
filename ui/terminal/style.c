/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/terminal/style.h"

#include <string.h>

/* Columns of style.def. */
enum style_depth { STYLE_8, STYLE_256, STYLE_RGB, STYLE_DEPTHS };

static const struct style_row {
    struct {
        int fg, bg;
    } color[STYLE_DEPTHS];
    const char *attributes, *mono;
} style_rows[UI_STYLE_COUNT] = {
#define UI_STYLE(id, fg8, bg8, fg256, bg256, rgb_fg, rgb_bg, attributes, mono)                     \
    [UI_STYLE_##id] = {{{fg8, bg8}, {fg256, bg256}, {rgb_fg, rgb_bg}}, attributes, mono},
#include "ui/terminal/style.def"
#undef UI_STYLE
};

static const struct {
    const char *text, *ascii;
} style_glyphs[UI_GLYPH_COUNT] = {
#define UI_GLYPH(id, text, ascii) [UI_GLYPH_##id] = {text, ascii},
#include "ui/terminal/glyph.def"
#undef UI_GLYPH
};

/* A colour of middle lightness is dull on a selection, which is dark: one step lighter. */
static int style_lighter(int color, enum style_depth depth)
{
    if (depth == STYLE_RGB) {
        int lighter = 0;
        for (int shift = 0; shift < 24; shift += 8) {
            int part = (color >> shift & 0xff) + 0x40;
            lighter |= (part > 0xff ? 0xff : part) << shift;
        }
        return lighter;
    }
    /* A cube of six steps in red, green and blue, then the greys. */
    if (color >= 232)
        return color + 7 > 255 ? 255 : color + 7;
    for (int step = 1, place = color - 16; color >= 16 && step <= 36; step *= 6, place /= 6)
        color += place % 6 < 5 ? step : 0;
    return color;
}

static int style_darker(int color, enum style_depth depth)
{
    if (depth == STYLE_RGB)
        return (color >> 16 & 0xff) * 3 / 4 << 16 | (color >> 8 & 0xff) * 3 / 4 << 8 |
               (color & 0xff) * 3 / 4;
    if (color >= 232)
        return color - 6 < 232 ? 232 : color - 6;
    for (int step = 1, place = color - 16; color >= 16 && step <= 36; step *= 6, place /= 6)
        color -= place % 6 > 1 ? step : 0;
    return color;
}

/* Palettes differ, but on none of them yellow or cyan can be read on white, nor blue on black. */
static int style_of_palette(int color, int colors, enum ui_background background)
{
    if (background == UI_BACKGROUND_LIGHT)
        return color == 3 ? 5 : color == 6 ? 4 : color;
    if (colors >= 16 && color > 0 && color < 8)
        return color + 8; /* the second eight are light */
    return color == 4 ? 6 : color;
}

int ui_style_shade(int color, int colors, enum ui_background background)
{
    enum style_depth depth = colors > 256 ? STYLE_RGB : colors == 256 ? STYLE_256 : STYLE_8;
    if (color < 0 || background == UI_BACKGROUND_UNKNOWN)
        return color;
    if (depth == STYLE_8)
        return style_of_palette(color, colors, background);
    return background == UI_BACKGROUND_DARK ? style_lighter(color, depth)
                                            : style_darker(color, depth);
}

/* The style of the bar that a mark of this one stands in, whose background has to be the same. */
static enum ui_style style_bar(enum ui_style style)
{
    return style == UI_STYLE_OVER       ? UI_STYLE_BAD
           : style == UI_STYLE_OVER_DIM ? UI_STYLE_INHERITED
                                        : UI_STYLE_NORMAL;
}

struct ui_look ui_style_look(enum ui_style style, enum ui_style under, int colors)
{
    const struct style_row *row = &style_rows[style], *below = &style_rows[under];
    struct ui_look look = {.fg = -1, .bg = -1};
    if (colors > 0) {
        enum style_depth depth = colors > 256 ? STYLE_RGB : colors == 256 ? STYLE_256 : STYLE_8;
        look.fg = row->color[depth].fg;
        look.bg = row->color[depth].bg;
        int fg = below->color[depth].fg, bg = below->color[depth].bg;
        if (look.bg < 0 && bg >= 0) {
            look.bg = bg;
            /* Eight colours are too few for every pair of them to be readable. */
            if (look.fg < 0 || depth == STYLE_8)
                look.fg = fg;
            else
                look.fg = style_lighter(look.fg, depth);
        }
        if (style_bar(style) != UI_STYLE_NORMAL && depth != STYLE_8) {
            int bar = style_rows[style_bar(style)].color[depth].fg;
            look.bg = bg < 0 ? bar : style_lighter(bar, depth);
            look.shaded = bg < 0;
        }
    }
    const char *own = colors > 0 ? row->attributes : row->mono;
    const char *beneath = colors > 0 ? below->attributes : below->mono;
    look.bold = strchr(own, 'b') || strchr(beneath, 'b');
    look.dim = strchr(own, 'd') || strchr(beneath, 'd');
    look.reverse = strchr(own, 'r') || strchr(beneath, 'r');
    look.underline = strchr(own, 'u') || strchr(beneath, 'u');
    return look;
}

int ui_style_ramp(int step, int colors)
{
    static const int palette[UI_RAMP] = {17, 54, 90, 125, 161, 167, 208, 214, 221, 229};
    static const int rgb[UI_RAMP] = {0x160b39, 0x420a68, 0x6a176e, 0x932667, 0xbc3754,
                                     0xdd513a, 0xf37819, 0xfca50a, 0xf6d746, 0xfcffa4};
    return (colors > 256 ? rgb : palette)[step];
}

const char *ui_glyph_text(enum ui_glyph glyph, bool unicode)
{
    return unicode ? style_glyphs[glyph].text : style_glyphs[glyph].ascii;
}
