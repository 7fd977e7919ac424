/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Keys by name, as the key file, the help and the hints write them: "j", "G", "Enter", "C-c",
 * "M-x", "PgDn", "F1", "Space", "S-Tab"; "za" is z and then a, "C-wz" Ctrl-W and then z.
 */
#ifndef ODB_UI_TERMINAL_KEY_H
#define ODB_UI_TERMINAL_KEY_H

#include <stddef.h>

/* A code point, or one of these; either with the mark of Alt. Control keys are code points 1-31:
 * Tab is 9, Esc is 27, and Enter is 13 (a line feed is read as Enter too). Backspace is a key of
 * its own, whatever the terminal sends for it. */
enum {
    UI_KEY_NONE,
    UI_KEY_TAB = 9,
    UI_KEY_ENTER = 13,
    UI_KEY_ESC = 27,
    UI_KEY_FIRST = 0x200000,
#define UI_KEY(id, ...) UI_KEY_##id,
#include "ui/terminal/key.def"
#undef UI_KEY
    UI_KEY_LAST,
    UI_KEY_ALT = 0x400000
};

/* UI_KEY_NONE when there is no key of this name. Names longer than one character may be written in
 * small or capital letters. */
int ui_key_parse(const char *name);
/* A key that is pressed after another, a character of ASCII or a control key, as one key: "za". */
int ui_key_pair(int first, int key);
/* The first of a pair; 0: it is none. */
int ui_key_first(int key);

/* Writes the name, which parses to the same key; returns buf. */
const char *ui_key_name(int key, char *buf, size_t size);

#endif
