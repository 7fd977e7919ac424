/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The search as it goes: every probe with its cut, what came of it, what it cost, and how many
 * suspects were left.
 */
#include <stdio.h>

#include "ui/app.h"

struct log_view {
    struct ui_view view;
    size_t seen; /* rows at the last frame */
};

static size_t log_rows(const struct ui_view *view)
{
    return view->app->session->log.n;
}

static const struct odb_probe_log *log_at(const struct ui_view *view, size_t row)
{
    return &view->app->session->log.items[row];
}

static int log_header(const struct ui_view *view, const struct ui_area *area, int rows)
{
    if (!area)
        return rows > 4;
    ui_draw_fill(area, UI_STYLE_HEAD);
    ui_draw_field(area, 0, 0, area->cols, UI_CUT_END, UI_STYLE_HEAD,
                  "   at s  verdict      took s  left  probe");
    return 1;
}

static void log_draw_row(const struct ui_view *view, size_t row, const struct ui_area *area)
{
    const struct odb_probe_log *entry = log_at(view, row);
    const struct odb_value_report report = {.verdict = entry->verdict};
    const struct ui_app *app = view->app;
    int col =
        ui_draw_printf(area, 0, 0, UI_STYLE_DIM, "%7.2f  ", ui_app_seconds(app, entry->began));
    if (entry->ended) {
        col = ui_draw_glyph(area, 0, col, ui_mark_style(&report, false),
                            ui_mark_glyph(&report, false, false));
        col = ui_draw_printf(area, 0, col, ui_mark_style(&report, false), " %-11s",
                             odb_verdict_name(entry->verdict));
        col = ui_draw_printf(area, 0, col, UI_STYLE_NUMBER, "%6.2f  ",
                             ui_app_seconds(app, entry->seconds));
    } else {
        col = ui_draw_printf(area, 0, col, UI_STYLE_WARN, "%-13s%6s  ", "running", "");
    }
    if (entry->remaining)
        col = ui_draw_printf(area, 0, col, UI_STYLE_NUMBER, "%4zu  ", entry->remaining);
    else
        col = ui_draw_text(area, 0, col, UI_STYLE_DIM, "   -  ");
    ui_draw_field(area, 0, col, ODB_MAX(area->cols - col, 0), UI_CUT_MIDDLE, UI_STYLE_NAME,
                  entry->text);
}

static void log_title(const struct ui_view *view, struct odb_buf *out)
{
    odb_buf_printf(out, "search log: %zu probe%s", log_rows(view), log_rows(view) == 1 ? "" : "s");
}

/* The newest probe stays in sight, unless somebody looks at an older one. */
static void log_prepare(struct ui_view *view, int cols)
{
    struct log_view *v = (struct log_view *)view;
    odb_session_lock(view->app->session);
    size_t rows = log_rows(view);
    odb_session_unlock(view->app->session);
    bool follows = ui_app_view(view->app) != view || view->selected + 1 >= v->seen;
    if (rows && rows != v->seen && follows)
        ui_list_select(view, rows - 1);
    v->seen = rows;
}

static bool log_matches(const struct ui_view *view, size_t row, const char *text)
{
    return ui_text_matches(log_at(view, row)->text, text) ||
           ui_text_matches(odb_verdict_name(log_at(view, row)->verdict), text);
}

static void log_subject(const struct ui_view *view, struct ui_subject *out)
{
    *out = (struct ui_subject){ODB_NO_NODE, ODB_NO_VALUE};
    if (view->selected < log_rows(view))
        out->node = log_at(view, view->selected)->node;
}

const struct ui_view_ops ui_log_view = {
    .name = "log",
    .help = "the probes of the search, and what each cost",
    .size = sizeof(struct log_view),
    .wraps = true,
    .title = log_title,
    .prepare = log_prepare,
    .header = log_header,
    .rows = log_rows,
    .draw_row = log_draw_row,
    .matches = log_matches,
    .subject = log_subject,
};
