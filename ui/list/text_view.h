/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lines of text as the rows of a view.
 */
#ifndef ODB_UI_LIST_TEXT_VIEW_H
#define ODB_UI_LIST_TEXT_VIEW_H

#include <stdarg.h>

#include "base/mem.h"
#include "ui/view/mark.h"
#include "ui/view/view.h"

struct ui_area;

struct ui_text_line {
    char *text; /* owned */
    enum ui_style style;
    int indent;
    int node, value; /* that it is about, or ODB_NO_NODE, ODB_NO_VALUE */
};

/* A view's own struct may begin with this one; its rows, draw_row, matches, subject and close are
 * then those below. */
struct ui_text_view {
    struct ui_view view;
    ODB_VEC(struct ui_text_line) lines;
    char *filter;         /* owned; NULL: all lines are shown */
    ODB_VEC(size_t) kept; /* lines that it lets through */
};

void ui_text_clear(struct ui_text_view *view);
/* Adds a line, or as many as cols asks for (0: one, however long). node and value as above. */
void ui_text_add(struct ui_text_view *view, int cols, enum ui_style style, int indent, int node,
                 int value, const char *text);
/* The same of a text that is yet to be formatted. */
void ui_text_addv(struct ui_text_view *view, int cols, enum ui_style style, int indent, int node,
                  int value, const char *fmt, va_list args);

/* The same for a line that begins with columns: what does not fit goes on below the last, which
 * begins `hang` columns behind the indentation. */
void ui_text_add_hanging(struct ui_text_view *view, int cols, enum ui_style style, int indent,
                         int hang, int node, const char *text);

size_t ui_text_rows(const struct ui_view *view);
/* The line that is selected, of all; SIZE_MAX: there is none. */
size_t ui_text_selected(const struct ui_view *view);
void ui_text_draw_row(const struct ui_view *view, size_t row, const struct ui_area *area);
bool ui_text_row_matches(const struct ui_view *view, size_t row, const char *text);
void ui_text_subject(const struct ui_view *view, struct ui_subject *out);
void ui_text_close(struct ui_view *view);
void ui_text_filter(struct ui_view *view, const char *text);
const char *ui_text_filtered(const struct ui_view *view);
/* What a view of lines has in its row, and one whose lines may be filtered beside that. */
#define UI_TEXT_LINES                                                                              \
    .rows = ui_text_rows, .draw_row = ui_text_draw_row, .matches = ui_text_row_matches
#define UI_TEXT_FILTERED                                                                           \
    .subject = ui_text_subject, .filter = ui_text_filter, .filtered = ui_text_filtered
/* Other text is shown from now on; label is its title. */
void ui_output_show(struct ui_view *view, const char *label, const char *text);

#endif
