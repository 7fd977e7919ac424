/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is drawn has a meaning; how a meaning looks is said in one table, per depth of colour. A
 * meaning that matters is never told by colour alone: glyph.def has its mark.
 */
#ifndef ODB_UI_STYLE_H
#define ODB_UI_STYLE_H

enum ui_style {
#define UI_STYLE(id, ...) UI_STYLE_##id,
#include "ui/style.def"
#undef UI_STYLE
    UI_STYLE_COUNT
};

/* Signs that have no place on every terminal: UTF-8, and what stands for it in ASCII. */
enum ui_glyph {
#define UI_GLYPH(id, text, ascii) UI_GLYPH_##id,
#include "ui/glyph.def"
#undef UI_GLYPH
    UI_GLYPH_COUNT
};

#endif
