/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A view is a list of rows, whatever it shows: nodes, the parts of one node, numbers, probes, text.
 * It says how many rows there are and draws one when asked, so a model of 50,000 nodes costs what
 * is on the screen. Moving, scrolling and searching are the same for all (list.c); what is special
 * about a view is its row of functions.
 *
 * Views read a const session, and change it only by giving commands. The session's lock is held
 * while rows, draw_row, header, matches and subject are called, and in no other call.
 */
#ifndef ODB_UI_VIEW_VIEW_H
#define ODB_UI_VIEW_VIEW_H

#include "command/table/command.h"

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
    bool whole;       /* it stands alone, on a wide screen too */
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

/* Of every view, where its file is. */
#define UI_VIEW_OPS(id, name) extern const struct ui_view_ops ui_##name##_view;
ODB_VIEW_LIST(UI_VIEW_OPS)
#undef UI_VIEW_OPS

#endif
