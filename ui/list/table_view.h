/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A table as the rows of a view: texts in columns, each row with a command that Enter gives.
 */
#ifndef ODB_UI_LIST_TABLE_VIEW_H
#define ODB_UI_LIST_TABLE_VIEW_H

#include "base/mem.h"
#include "ui/list/sorted.h"
#include "ui/terminal/draw.h"
#include "ui/view/view.h"

struct odb_buf;
struct odb_command_call;
struct odb_value_report;

#define UI_CELLS 7

struct ui_cells_row {
    char *cells[UI_CELLS]; /* owned; NULL: empty */
    enum ui_glyph mark;
    enum ui_style style; /* of the mark and the first cell */
    char *enter;         /* owned: what Enter gives, with a blank or = at its end it is typed and
                            waits; NULL: nothing */
    bool asks;           /* it is typed and waits whatever its end is */
    char *what;          /* owned: {text} of the row for the view's own commands; NULL: none */
    int value;           /* that it is about, or ODB_NO_VALUE */
    const struct odb_value_report *report; /* borrowed: session; of the column with a bar */
};

struct ui_cells_column {
    const char *title;
    int most; /* columns; 0: the rest */
    enum ui_cut cut;
    enum ui_style style;
    bool spare; /* of the one that has the rest: is left out where there is little room */
    bool right; /* numbers end where the column does */
    int bar;    /* columns before its text in which the row's report is drawn as a bar */
};

struct ui_cells_rows {
    struct ui_cells_row *items; /* owned, and what is in each */
    size_t n, cap;
};

/* A view's own struct begins with this one; its open sets columns and empty, its prepare fills the
 * rows between begin and end, and its other functions are those below. */
struct ui_cells_view {
    struct ui_view view;
    const struct ui_cells_column *columns; /* borrowed; [UI_CELLS], title NULL ends them */
    const char *empty;                     /* said where there are no rows */
    struct ui_cells_rows all;
    ODB_VEC(size_t) kept; /* rows that the filter lets through */
    char *filter;         /* owned; NULL: none */
    struct ui_sorted order;
    /* Fills kept in a way of its own; NULL: rows that the filter lets through, sorted. */
    void (*arrange)(struct ui_cells_view *v);
    int widths[UI_CELLS], bars[UI_CELLS]; /* as they are drawn */
};

void ui_cells_begin(struct ui_cells_view *v);
/* Of rows that a view keeps aside; they are none then. */
void ui_cells_rows_dispose(struct ui_cells_rows *rows);
void ui_cells_add_take(struct ui_cells_view *v, struct ui_cells_row row);
void ui_cells_end(struct ui_cells_view *v, int cols);
/* Whether a cell of the row holds the text. */
bool ui_cells_row_matches(const struct ui_cells_row *row, const char *text);
/* By the column that the view is sorted by: for qsort_r() of indices in all; arg is the view. */
int ui_cells_compare(const void *a, const void *b, void *arg);
/* The row that is selected; NULL: there is none. */
const struct ui_cells_row *ui_cells_selected(const struct ui_view *view);

void ui_cells_close(struct ui_view *view);
int ui_cells_header(const struct ui_view *view, const struct ui_area *area, int rows);
const char *ui_cells_column(const struct ui_view *view, int row, int col);
size_t ui_cells_rows(const struct ui_view *view);
void ui_cells_draw_row(const struct ui_view *view, size_t row, const struct ui_area *area);
bool ui_cells_matches(const struct ui_view *view, size_t row, const char *text);
void ui_cells_subject(const struct ui_view *view, struct ui_subject *out);
void ui_cells_filter(struct ui_view *view, const char *text);
const char *ui_cells_filtered(const struct ui_view *view);
/* Answers `open` with the row's command, and `sort`. */
enum ui_answer ui_cells_act(struct ui_view *view, const struct odb_command_call *call,
                            struct odb_error *err);
/* " 3/7  filter: x" for titles. */
void ui_cells_count(const struct ui_view *view, struct odb_buf *out);

/* All but header, column and subject, for a view that has some of its own. */
#define UI_CELLS_ROWS_OPS                                                                          \
    .wraps = true, .counted = true, .rows = ui_cells_rows, .draw_row = ui_cells_draw_row,          \
    .matches = ui_cells_matches, .filter = ui_cells_filter, .filtered = ui_cells_filtered
#define UI_CELLS_OPS                                                                               \
    UI_CELLS_ROWS_OPS, .header = ui_cells_header, .column = ui_cells_column,                       \
                       .subject = ui_cells_subject

#endif
