/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How things were before commands changed them.
 */
#ifndef ODB_COMMAND_CONSOLE_VERB_UNDO_H
#define ODB_COMMAND_CONSOLE_VERB_UNDO_H

struct odb_console;

/* verb_undo.c: keeps how things are now, if that has changed since it was kept last. */
void odb_undo_remember(struct odb_console *console);
/* The screen's list is about to change: what was undone before cannot be redone. Returns when that
 * is, for list_undo. */
unsigned long odb_console_changed(struct odb_console *console);

#endif
