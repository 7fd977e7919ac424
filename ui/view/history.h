/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lines that were given, kept in a file between one time and the next. Several debuggers may run
 * at once: the file is read again before it is written, and only what is new is added to it.
 */
#ifndef ODB_UI_VIEW_HISTORY_H
#define ODB_UI_VIEW_HISTORY_H

#include "base/mem.h"

struct ui_history {
    ODB_VEC(char *) lines; /* owned; oldest first, at most UI_HISTORY_MOST */
    ODB_VEC(char *) fresh; /* owned: those the file does not have yet */
    char *path;            /* owned; NULL: kept nowhere */
};

#define UI_HISTORY_MOST 1000

/* Reads the file of this name below $XDG_STATE_HOME/onnxdbg or ~/.local/state/onnxdbg. */
void ui_history_open(struct ui_history *history, const char *name);
/* Adds a line, unless it is blank or the last one again. */
void ui_history_add(struct ui_history *history, const char *line);
/* Writes what is new, if anything is, and frees everything. A file that cannot be written is no
 * error: the history is a convenience. */
void ui_history_close(struct ui_history *history);

#endif
