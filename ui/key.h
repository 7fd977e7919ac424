/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Keys by name, as the key file, the help and the hints write them: "j", "G", "Enter", "C-c",
 * "M-x", "PgDn", "F1", "Space", "S-Tab".
 */
#ifndef ODB_UI_KEY_H
#define ODB_UI_KEY_H

#include <stddef.h>

/* A code point, or one of these; either with the mark of Alt. Control keys are code points 1-26. */
enum {
    UI_KEY_NONE,
    UI_KEY_FIRST = 0x200000,
#define UI_KEY(id, name) UI_KEY_##id,
#include "ui/key.def"
#undef UI_KEY
    UI_KEY_LAST,
    UI_KEY_ALT = 0x400000
};

/* UI_KEY_NONE when there is no key of this name. */
int ui_key_parse(const char *name);
/* Writes the name; returns buf. */
const char *ui_key_name(int key, char *buf, size_t size);

#endif
