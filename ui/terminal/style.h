/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is drawn has a meaning; how a meaning looks is said in one table, per depth of colour. A
 * meaning that matters is never told by colour alone: glyph.def has its mark.
 */
#ifndef ODB_UI_TERMINAL_STYLE_H
#define ODB_UI_TERMINAL_STYLE_H

#include <stdbool.h>

enum ui_style {
#define UI_STYLE(id, ...) UI_STYLE_##id,
#include "ui/terminal/style.def"
#undef UI_STYLE
    UI_STYLE_COUNT
};

/* What the terminal's own colours are. */
enum ui_background { UI_BACKGROUND_UNKNOWN, UI_BACKGROUND_DARK, UI_BACKGROUND_LIGHT };

/* Signs that have no place on every terminal: UTF-8, and what stands for it in ASCII. */
enum ui_glyph {
#define UI_GLYPH(id, text, ascii) UI_GLYPH_##id,
#include "ui/terminal/glyph.def"
#undef UI_GLYPH
    UI_GLYPH_COUNT
};

/* What is sent to a terminal. Colours: -1 is the terminal's own. */
struct ui_look {
    int fg, bg;
    bool bold, dim, reverse, underline;
    bool shaded; /* bg is the colour of a bar: it is shaded as a foreground is */
};

/* How a style looks on a terminal of so many colours (as in struct ui_terminal) where another lies
 * under it: that one's attributes stay, and its background unless the style has one. Colours are
 * lighter on such a background. */
struct ui_look ui_style_look(enum ui_style style, enum ui_style under, int colors);

/* A foreground without a background of its own, or what a bar has, lighter on dark, darker on
 * light. */
int ui_style_shade(int color, int colors, enum ui_background background);

/* A step of a scale that fills cells, from dark to light: it is told by its lightness, whatever
 * colours one sees. For at least 256 colours. */
#define UI_RAMP 10
int ui_style_ramp(int step, int colors);

/* One cell wide, in UTF-8 or ASCII. Static. */
const char *ui_glyph_text(enum ui_glyph glyph, bool unicode);

#endif
