/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/list/list.h"

#include <stdlib.h>

#include "base/mem.h"
#include "command/call/call.h"
#include "command/table/command.h"
#include "session/session.h"
#include "ui/terminal/draw.h"
#include "ui/view/app.h"
#include "ui/view/view.h"

#define LIST_WIDEST 100000 /* columns that can be scrolled out */

/* Keeps the selection among the rows, and on the screen. */
static void list_scroll(struct ui_view *view)
{
    size_t rows = view->ops->rows(view), height = (size_t)ODB_MAX(view->height, 1);
    if (view->selected >= rows)
        view->selected = rows ? rows - 1 : 0;
    if (view->top > view->selected)
        view->top = view->selected;
    if (view->selected - view->top >= height)
        view->top = view->selected - height + 1;
    if (view->top + height > rows)
        view->top = rows > height ? rows - height : 0;
}

/* A thumb in the rightmost column says where in a long list the screen is. */
static void list_draw_thumb(const struct ui_view *view, const struct ui_area *area, size_t rows)
{
    size_t height = (size_t)area->rows;
    size_t length = ODB_MAX(height * height / rows, (size_t)1);
    size_t from = view->top * (height - length) / (rows - height);
    for (size_t i = 0; i < length; i++)
        ui_draw_glyph(area, (int)(from + i), area->cols - 1, UI_STYLE_BORDER, UI_GLYPH_THUMB);
}

void ui_list_draw(struct ui_view *view, const struct ui_area *area, bool focused)
{
    const struct ui_view_ops *ops = view->ops;
    view->cols = area->cols;
    view->header = ops->header ? ops->header(view, NULL, area->rows) : 0;
    view->height = ODB_MAX(area->rows - view->header, 0);
    list_scroll(view);
    if (ops->draw) {
        ops->draw(view, area, focused);
        return;
    }
    struct ui_area head = ui_area_part(area, 0, 0, view->header, area->cols);
    if (view->header)
        ops->header(view, &head, area->rows);
    struct ui_area body = ui_area_part(area, view->header, 0, view->height, area->cols);
    size_t rows = ops->rows(view);
    bool thumb = rows > (size_t)body.rows && body.rows > 1;
    for (int i = 0; i < body.rows && view->top + (size_t)i < rows; i++) {
        struct ui_area line = ui_area_part(&body, i, 0, 1, body.cols - 2 * thumb);
        if (view->top + (size_t)i == view->selected)
            line.under = focused ? UI_STYLE_SELECTED : UI_STYLE_SELECTED_DIM;
        ui_draw_fill(&line, UI_STYLE_NORMAL);
        ops->draw_row(view, view->top + (size_t)i, &line);
    }
    if (thumb)
        list_draw_thumb(view, &body, rows);
}

void ui_list_select(struct ui_view *view, size_t row)
{
    odb_session_lock(view->app->session);
    size_t rows = view->ops->rows(view), height = (size_t)ODB_MAX(view->height, 1);
    view->selected = rows ? ODB_MIN(row, rows - 1) : 0;
    /* What was far away comes to the middle, with what is around it. */
    if (view->selected + 1 < view->top || view->selected > view->top + height)
        view->top = view->selected > height / 2 ? view->selected - height / 2 : 0;
    list_scroll(view);
    odb_session_unlock(view->app->session);
}

void ui_list_reveal(struct ui_view *view, size_t last)
{
    size_t height = (size_t)ODB_MAX(view->height, 1);
    odb_session_lock(view->app->session);
    if (last >= view->top + height)
        view->top = ODB_MIN(view->selected, last + 1 - height);
    list_scroll(view);
    odb_session_unlock(view->app->session);
}

bool ui_list_find(struct ui_view *view, const char *text, int direction, bool first)
{
    odb_session_lock(view->app->session);
    size_t rows = view->ops->rows(view), found = rows;
    bool able = view->ops->matches && *text && rows;
    for (size_t i = first ? 0 : 1; able && i <= rows && found == rows; i++) {
        size_t row =
            direction > 0 ? (view->selected + i) % rows : (view->selected + rows - i % rows) % rows;
        if (view->ops->matches(view, row, text))
            found = row;
    }
    odb_session_unlock(view->app->session);
    if (found < rows)
        ui_list_select(view, found);
    return found < rows;
}

/* "up 5": how far; 1 where it is not said. */
static int64_t list_count(const struct odb_command_call *call)
{
    const char *n = odb_call_arg(call, 0);
    return n ? strtoll(n, NULL, 10) : 1;
}

static void list_move(struct ui_view *view, int64_t by)
{
    int64_t to = (int64_t)view->selected + by;
    ui_list_select(view, to < 0 ? 0 : (size_t)to);
}

enum ui_answer ui_list_act(struct ui_view *view, const struct odb_command_call *call,
                           struct odb_error *err)
{
    int64_t page = ODB_MAX(view->height - 1, 1), half = ODB_MAX(view->height / 2, 1);
    switch (call->command->screen) {
    case ODB_SCREEN_UP:
        list_move(view, -list_count(call));
        return UI_DONE;
    case ODB_SCREEN_DOWN:
        list_move(view, list_count(call));
        return UI_DONE;
    case ODB_SCREEN_PAGE_UP:
        view->top -= ODB_MIN(view->top, (size_t)page);
        list_move(view, -page);
        return UI_DONE;
    case ODB_SCREEN_PAGE_DOWN:
        view->top += (size_t)page;
        list_move(view, page);
        return UI_DONE;
    case ODB_SCREEN_HALF_UP:
        view->top -= ODB_MIN(view->top, (size_t)half);
        list_move(view, -half);
        return UI_DONE;
    case ODB_SCREEN_HALF_DOWN:
        view->top += (size_t)half;
        list_move(view, half);
        return UI_DONE;
    case ODB_SCREEN_ROW:
        ui_list_select(view, (size_t)ODB_MAX(list_count(call) - 1, 0));
        return UI_DONE;
    case ODB_SCREEN_CENTRE:
        view->top = view->selected - ODB_MIN(view->selected, (size_t)half);
        ui_list_select(view, view->selected);
        return UI_DONE;
    case ODB_SCREEN_TOP:
        ui_list_select(view, 0);
        return UI_DONE;
    case ODB_SCREEN_BOTTOM:
        ui_list_select(view, SIZE_MAX);
        return UI_DONE;
    case ODB_SCREEN_LEFT:
        view->left -= (int)ODB_MIN(list_count(call) * 8, view->left);
        return UI_DONE;
    case ODB_SCREEN_RIGHT:
        if (!view->ops->wraps)
            view->left = (int)ODB_MIN(view->left + list_count(call) * 8, LIST_WIDEST);
        return UI_DONE;
    default:
        return UI_NOT_MINE;
    }
}
