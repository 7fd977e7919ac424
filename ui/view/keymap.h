/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which key gives which command in which view. The bindings are text, share/onnxdbgrc, built into
 * the program; the user's file comes on top. Help and hints read what is bound.
 */
#ifndef ODB_UI_VIEW_KEYMAP_H
#define ODB_UI_VIEW_KEYMAP_H

#include "base/mem.h"

struct ui_binding {
    char *view; /* owned: name of a view, or "all" */
    int key;
    char *command; /* owned */
    char *hint;    /* owned: one word for the line at the bottom; NULL: none */
    char *words;   /* owned: what it does, for the help; NULL: what the command's help says */
};

/* A line that is no binding: a command for the beginning. */
struct ui_start {
    char *command; /* owned */
    char *place;   /* owned: "FILE: line N" */
};

struct ui_keymap {
    ODB_VEC(struct ui_binding) bindings;
    ODB_VEC(struct ui_start) starts;
};

/* The built-in keys, and those of $XDG_CONFIG_HOME/onnxdbg/onnxdbgrc (~/.config/…) on top, where
 * there is one. *out is there also where that file is wrong: ODB_E_USAGE names the first such
 * line, and all others count. */
enum odb_status ui_keymap_load(struct ui_keymap **out, struct odb_error *err) ODB_MUST_USE;
void ui_keymap_free(struct ui_keymap *keymap); /* NULL is fine */

/* Adds what a text of lines `bind VIEW KEY COMMAND  # hint`, or COMMAND, says; name stands in
 * messages. A key that is bound already in the view is bound anew. */
enum odb_status ui_keymap_read(struct ui_keymap *keymap, const char *name, const char *text,
                               struct odb_error *err) ODB_MUST_USE;
/* The view's own binding, else that of "all"; NULL when the key has none. Borrowed. */
const struct ui_binding *ui_keymap_find(const struct ui_keymap *keymap, const char *view, int key);

/* A key that gives this very command there; 0: none does. */
int ui_keymap_key(const struct ui_keymap *keymap, const char *view, const char *command);

/* Whether a key is the first of two there, and nothing alone. */
bool ui_keymap_begins(const struct ui_keymap *keymap, const char *view, int key);

#endif
