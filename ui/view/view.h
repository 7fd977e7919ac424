/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A view is a list of rows, whatever it shows: nodes, the parts of one node, numbers, probes, text.
 * It says how many rows there are and draws one when asked, so a model of 50,000 nodes costs what
 * is on the screen. Moving, scrolling and searching are the same for all (list.c); what is special
 * about a view is its row of functions.
 *
 * Views read a const session, and change it only by giving commands. The session's lock is held
 * while rows, draw_row, header, matches and subject are called, and by nobody else.
 */
#ifndef ODB_UI_VIEW_VIEW_H
#define ODB_UI_VIEW_VIEW_H

#include "command/table/command.h"
#include "run/value_report.h"
#include "ui/terminal/style.h"

struct odb_buf;
struct odb_command_call;
struct odb_console;
struct ui_app;
struct ui_area;
struct ui_dag_item;
struct ui_outline;
struct ui_terminal;
struct ui_view;

/* What is under the cursor; ODB_NO_NODE and ODB_NO_VALUE where nothing is. */
struct ui_subject {
    int node, value;
};

/* What becomes of a command that was offered to a view. */
enum ui_answer { UI_NOT_MINE, UI_DONE, UI_FAILED };

struct ui_view_ops {
    const char *help; /* what it shows, in a few words */
    size_t size;      /* of the view's own struct, which begins with a struct ui_view */
    bool wraps;       /* rows are text: there is nothing to the right of the screen */
    bool counted;     /* its title says which row of how many is selected; for others the line that
                         has the title does, while they are longer than the screen */
    int share;        /* percent of a wide screen that it takes beside the nodes; 0: 45 */
    /* All are optional but title, rows and draw_row. */
    void (*open)(struct ui_view *view);
    void (*close)(struct ui_view *view);
    void (*title)(const struct ui_view *view, struct odb_buf *out);
    /* Before each frame, without the lock: to fetch what a frame needs, to follow the selection of
     * the nodes. cols: of the area that it will be drawn into; a list that is longer than the
     * screen takes the last two for its thumb. */
    void (*prepare)(struct ui_view *view, int cols);
    /* Rows above the list that do not scroll: drawn when area is not NULL; returns how many. */
    int (*header)(const struct ui_view *view, const struct ui_area *area, int rows);
    /* What `sort` calls the column whose title stands at a cell of the area; NULL: none does. */
    const char *(*column)(const struct ui_view *view, int row, int col);
    size_t (*rows)(const struct ui_view *view);
    void (*draw_row)(const struct ui_view *view, size_t row, const struct ui_area *area);
    /* Of a view whose rows do not stand below one another: draws all of them (draw_row then is for
     * what leaves the screen), and says which one covers a cell of its area (SIZE_MAX: none). */
    void (*draw)(const struct ui_view *view, const struct ui_area *area, bool focused);
    size_t (*at)(const struct ui_view *view, int row, int col);
    bool (*matches)(const struct ui_view *view, size_t row, const char *text);
    void (*subject)(const struct ui_view *view, struct ui_subject *out);
    /* Whether it still computes what it shows; it wakes the screen then. */
    bool (*busy)(const struct ui_view *view);
    /* Lists only rows that hold this text (NULL and "": all), and what that is (NULL: nothing); a
     * view without these leaves filtering to the nodes. Called without the lock. */
    void (*filter)(struct ui_view *view, const char *text);
    const char *(*filtered)(const struct ui_view *view);
    /* A command of screen.def that means something of its own here. Without the lock. */
    enum ui_answer (*act)(struct ui_view *view, const struct odb_command_call *call,
                          struct odb_error *err);
};

struct ui_view {
    const struct ui_view_ops *ops;
    const char *name;   /* static: in `view NAME` and in the key file */
    struct ui_app *app; /* borrowed */
    size_t selected, top;
    int left;   /* columns that are scrolled out */
    int height; /* rows of the list as drawn last */
    int header; /* rows above it */
    int cols;   /* of the area as drawn last */
    int room;   /* rows of the area that the next frame draws it into; known before prepare */
};

/* --- words and marks (mark.c) ----------------------------------------------------------------- */

/* Bytes of the first line of text, broken so that it takes at most cols columns, at a blank if that
 * can be, and of what separates it from the next line. */
size_t ui_text_line(const struct ui_terminal *terminal, const char *text, int cols, size_t *gap);
/* Lines of text broken to the area's width, as many as it has rows; returns how many were drawn. */
int ui_draw_words(const struct ui_area *area, int row, enum ui_style style, const char *text);
/* How a node or value is marked. unsupported: the reference cannot run it. */
enum ui_glyph ui_mark_glyph(const struct odb_value_report *report, bool culprit, bool unsupported);
enum ui_style ui_mark_style(const struct odb_value_report *report, bool culprit);
/* The share (0 … 1) of an error on the scale that all bars have: 1e-8 to 1. */
double ui_error_share(double error);
/* "3.2e-05", 7 columns; "" when it is not known. Returns buf. */
const char *ui_number_text(struct odb_number number, char *buf, size_t size);
/* An error on the scale of all bars, with noise and tolerance (factor times noise) marked. */
void ui_draw_error(const struct ui_area *area, int row, int col, int width,
                   const struct odb_value_report *report, double factor);
/* The factor of a tolerance "noise:F"; 0 for any other. */
double ui_noise_factor(const struct odb_console *console);

/* --- list.c ----------------------------------------------------------------------------------- */

void ui_list_draw(struct ui_view *view, const struct ui_area *area, bool focused);
/* Selects a row, as near to it as there is one. */
void ui_list_select(struct ui_view *view, size_t row);
/* The next row from where the selection is that matches, going on at the other end; direction 1 or
 * -1; first: the selected row may be it. False when there is none. */
bool ui_list_find(struct ui_view *view, const char *text, int direction, bool first);
/* Moves and scrolls; UI_NOT_MINE for any other command. */
enum ui_answer ui_list_act(struct ui_view *view, const struct odb_command_call *call,
                           struct odb_error *err);

/* --- paper.c ---------------------------------------------------------------------------------- */

/* Appends all rows as text, as they are drawn into so many columns, with what stands above them.
 * Takes the lock row by row, says how far it is, and looks for Esc: ODB_CANCELLED. ODB_E_USAGE:
 * there are too many. */
enum odb_status ui_paper_print(struct ui_view *view, int cols, struct odb_buf *out,
                               struct odb_error *err) ODB_MUST_USE;
/* Appends the selected row alone. */
void ui_paper_print_row(struct ui_view *view, int cols, struct odb_buf *out);

/* --- the views -------------------------------------------------------------------------------- */

#define UI_VIEW_OPS(id, name) extern const struct ui_view_ops ui_##name##_view;
ODB_VIEW_LIST(UI_VIEW_OPS)
#undef UI_VIEW_OPS

/* view_nodes.c; rows of the list do not change behind the screen's back, so no lock is needed. */
int ui_nodes_selected(const struct ui_view *view); /* ODB_NO_NODE when the list is empty */
void ui_nodes_goto(struct ui_view *view, int node);
/* Lists what the filter lets through, NULL or "": everything. *at as in odb_filter_parse(). */
enum odb_status ui_nodes_filter(struct ui_view *view, const char *text, size_t *at,
                                struct odb_error *err) ODB_MUST_USE;
const char *ui_nodes_filter_text(const struct ui_view *view);
/* Whoever changes it calls ui_nodes_remake(). */
struct ui_outline *ui_nodes_outline(struct ui_view *view);
void ui_nodes_remake(struct ui_view *view);
/* Unfolds what a node is in; false: nothing was folded. */
bool ui_nodes_reveal(struct ui_view *view, int node);
/* view_tensor.c: another value is shown from now on. */
void ui_tensor_show(struct ui_view *view, int value);
/* view_choose.c: the views, or nodes and values of the graph, are there to choose from now on. */
void ui_choose_views(struct ui_view *view);
void ui_choose_nodes(struct ui_view *view, const struct ui_dag_item *items, size_t n);
/* view_log.c: the entry of the session's log that is selected; SIZE_MAX: none. Caller holds the
 * lock. */
size_t ui_log_selected(const struct ui_view *view);
/* text_view.c: other text is shown from now on; label is its title. */
void ui_output_show(struct ui_view *view, const char *label, const char *text);

#endif
