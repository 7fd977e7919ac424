/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Views as text: rows are drawn on paper (draw.h), one after the other. curses belongs to the
 * screen's thread, and the rows belong to the view, which a key may change; so the keys wait
 * meanwhile, all but Esc.
 */
#include "ui/app/paper.h"

#include "base/buf.h"
#include "base/clock.h"
#include "session/session.h"
#include "ui/app/layout.h"
#include "ui/terminal/draw.h"
#include "ui/terminal/terminal.h"
#include "ui/view/app.h"
#include "ui/view/pace.h"

#define PAPER_MOST 1000000 /* rows that are still printed */
#define PAPER_LOOK 0.02    /* seconds between two looks whether Esc was pressed */
#define PAPER_TELL 0.1     /* and between two words on how far it is */

static void paper_row(struct ui_view *view, size_t row, struct odb_buf *out)
{
    struct ui_area line = ui_canvas_area(view->app->terminal);
    odb_session_lock(view->app->session);
    if (row < view->ops->rows(view))
        view->ops->draw_row(view, row, &line);
    odb_session_unlock(view->app->session);
    ui_canvas_line(view->app->terminal, 0, out);
}

static void paper_header(struct ui_view *view, int cols, struct odb_buf *out)
{
    const struct ui_view_ops *ops = view->ops;
    odb_session_lock(view->app->session);
    int rows = ops->header ? ops->header(view, NULL, 100) : 0;
    odb_session_unlock(view->app->session);
    if (!rows || !ui_canvas_open(view->app->terminal, rows, cols))
        return;
    struct ui_area head = ui_canvas_area(view->app->terminal);
    odb_session_lock(view->app->session);
    ops->header(view, &head, 100);
    odb_session_unlock(view->app->session);
    for (int i = 0; i < rows; i++)
        ui_canvas_line(view->app->terminal, i, out);
    ui_canvas_close(view->app->terminal);
}

/* A picture as it is seen. */
static void paper_picture(struct ui_view *view, struct odb_buf *out)
{
    struct ui_terminal *terminal = view->app->terminal;
    int rows = view->height;
    if (rows < 1 || !ui_canvas_open(terminal, rows, terminal->cols))
        return;
    struct ui_area area = ui_canvas_area(terminal);
    odb_session_lock(view->app->session);
    view->ops->draw(view, &area, true);
    odb_session_unlock(view->app->session);
    for (int i = 0; i < rows; i++)
        ui_canvas_line(terminal, i, out);
    ui_canvas_close(terminal);
}

/* The line of messages says how far it is; the rest of the screen stands still. */
static void paper_tell(struct ui_view *view, const struct ui_pace *pace)
{
    struct ui_app *app = view->app;
    struct odb_buf text = ODB_BUF_INIT;
    if (app->linear)
        return;
    odb_buf_printf(&text, "the rows of the view %s:", view->name);
    ui_pace_put(pace, &text);
    ui_app_say(app, UI_STYLE_MESSAGE, "%s …  Esc stops it", odb_buf_text(&text));
    odb_buf_dispose(&text);
    ui_layout_tell(app);
}

static bool paper_stopped(const struct ui_app *app)
{
    return app->linear ? ui_app_interrupted(app) : ui_terminal_escaped(app->terminal);
}

/* Rows from *row on, until it is time for something else. */
static void paper_some(struct ui_view *view, int cols, size_t *row, size_t rows,
                       struct odb_buf *out)
{
    double began = odb_clock();
    if (!ui_canvas_open(view->app->terminal, 1, cols)) {
        *row = rows;
        return;
    }
    while (*row < rows && odb_clock() - began < PAPER_LOOK)
        paper_row(view, (*row)++, out);
    ui_canvas_close(view->app->terminal);
}

static enum odb_status paper_rows(struct ui_view *view, int cols, size_t rows, struct odb_buf *out,
                                  struct odb_error *err)
{
    struct ui_pace pace;
    double told = odb_clock();
    ui_pace_begin(&pace, view->app);
    for (size_t row = 0; row < rows;) {
        paper_some(view, cols, &row, rows, out);
        if (row < rows && paper_stopped(view->app))
            return odb_fail(err, ODB_CANCELLED, "stopped");
        ui_pace_stop(&pace, row, rows);
        if (odb_clock() - told < PAPER_TELL)
            continue;
        told = odb_clock();
        paper_tell(view, &pace);
    }
    return ODB_OK;
}

enum odb_status ui_paper_print(struct ui_view *view, int cols, struct odb_buf *out,
                               struct odb_error *err)
{
    if (view->ops->draw) {
        paper_picture(view, out);
        return ODB_OK;
    }
    int left = view->left, height = view->height;
    odb_session_lock(view->app->session);
    size_t rows = view->ops->rows(view);
    odb_session_unlock(view->app->session);
    if (rows > PAPER_MOST) {
        odb_fail(err, ODB_E_USAGE, "these are too many rows to be written as text");
        return odb_error_remedy(err, "a filter or a slice makes them fewer; `print --save FILE` "
                                     "writes numbers as numbers");
    }
    view->left = 0;
    view->height = (int)rows; /* there is no thumb beside it */
    paper_header(view, cols, out);
    enum odb_status status = paper_rows(view, cols, rows, out, err);
    view->left = left;
    view->height = height;
    return status;
}

void ui_paper_print_row(struct ui_view *view, int cols, struct odb_buf *out)
{
    if (!ui_canvas_open(view->app->terminal, 1, cols))
        return;
    paper_row(view, view->selected, out);
    ui_canvas_close(view->app->terminal);
}
