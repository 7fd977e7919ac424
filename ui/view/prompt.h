/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The line at the bottom: readline edits it, the table of commands completes it, a file remembers
 * it. Commands and searches have histories of their own. readline keeps its state in globals, so
 * there is one prompt in a process.
 */
#ifndef ODB_UI_VIEW_PROMPT_H
#define ODB_UI_VIEW_PROMPT_H

#include <stdbool.h>

struct odb_console;
struct ui_area;
struct ui_prompt;
struct ui_terminal;

enum ui_prompt_kind { UI_PROMPT_COMMAND, UI_PROMPT_SEARCH, UI_PROMPT_FILTER, UI_PROMPT_KIND_COUNT };
enum ui_prompt_answer { UI_PROMPT_MORE, UI_PROMPT_DONE, UI_PROMPT_CANCELLED };

/* The history is read from $XDG_STATE_HOME/onnxdbg (~/.local/state/onnxdbg); a prompt without one
 * is no error. */
void ui_prompt_open(struct ui_prompt **out, struct ui_terminal *terminal,
                    const struct odb_console *console);
/* Writes the history, beside and renamed. NULL is fine. */
void ui_prompt_close(struct ui_prompt *prompt);

/* Begins a line that has this text already. The terminal is raw until it is done. */
void ui_prompt_begin(struct ui_prompt *prompt, enum ui_prompt_kind kind, const char *label,
                     const char *text);
bool ui_prompt_active(const struct ui_prompt *prompt);
/* A byte of input. DONE: Enter; the line is remembered. CANCELLED: Esc, C-c, C-g, or Backspace on
 * the empty line. In a search through the history (C-r) Esc and C-g end the search only. */
enum ui_prompt_answer ui_prompt_byte(struct ui_prompt *prompt, int byte);
/* The line as it is, or was when it was done. Borrowed. */
const char *ui_prompt_text(const struct ui_prompt *prompt);

/* Draws the line into one row, scrolled so that the cursor is in it; returns the cursor's
 * column. */
int ui_prompt_draw(const struct ui_prompt *prompt, const struct ui_area *area);
/* Rows that the candidates of the last Tab want above the line; 0: none to show. */
int ui_prompt_popup_rows(const struct ui_prompt *prompt);
void ui_prompt_draw_popup(const struct ui_prompt *prompt, const struct ui_area *area);

#endif
