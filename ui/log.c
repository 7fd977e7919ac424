/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The search as it goes: every probe with its cut, what came of it, what it cost, and how many
 * suspects were left.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "ui/app.h"

struct log_view {
    struct ui_view view;
    size_t seen;          /* rows at the last frame */
    char *filter;         /* owned; NULL: none */
    ODB_VEC(size_t) kept; /* probes that it lets through */
};

/* A search that begins empties the log, and kept follows with the next frame. */
static size_t log_rows(const struct ui_view *view)
{
    const struct log_view *v = (const struct log_view *)view;
    size_t n = view->app->session->log.n, kept = v->kept.n;
    while (v->filter && kept && v->kept.items[kept - 1] >= n)
        kept--;
    return v->filter ? kept : n;
}

static const struct odb_probe_log *log_at(const struct ui_view *view, size_t row)
{
    const struct log_view *v = (const struct log_view *)view;
    return &view->app->session->log.items[v->filter ? v->kept.items[row] : row];
}

static bool log_entry_matches(const struct odb_probe_log *entry, const char *text)
{
    return ui_text_matches(entry->text, text) ||
           ui_text_matches(entry->ended ? odb_verdict_name(entry->verdict) : "running", text);
}

/* Caller holds the session's lock. */
static void log_keep(struct log_view *v)
{
    const struct odb_session *session = v->view.app->session;
    v->kept.n = 0;
    for (size_t i = 0; v->filter && i < session->log.n; i++)
        if (log_entry_matches(&session->log.items[i], v->filter))
            odb_push(&v->kept, i);
}

static void log_filter(struct ui_view *view, const char *text)
{
    struct log_view *v = (struct log_view *)view;
    char *filter = text && *text ? odb_xstrdup(text) : NULL;
    free(v->filter);
    v->filter = filter;
    odb_session_lock(view->app->session);
    log_keep(v);
    odb_session_unlock(view->app->session);
    ui_list_select(view, view->selected);
}

static const char *log_filtered(const struct ui_view *view)
{
    return ((const struct log_view *)view)->filter;
}

static void log_close(struct ui_view *view)
{
    struct log_view *v = (struct log_view *)view;
    free(v->filter);
    free(v->kept.items);
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

/* How many probes, and while one runs how long the search is thought to take from there. */
static void log_title(const struct ui_view *view, struct odb_buf *out)
{
    const struct log_view *v = (const struct log_view *)view;
    const struct ui_app *app = view->app;
    const struct odb_progress *progress = &app->session->progress;
    double left = progress->expected - (odb_clock() - progress->began);
    odb_buf_printf(out, "search log: %zu probe%s", log_rows(view), log_rows(view) == 1 ? "" : "s");
    if (ui_app_busy(app) && progress->expected > 0 && left > 0)
        odb_buf_printf(out, ", about %.0f s left", ui_app_seconds(app, left));
    if (v->filter)
        odb_buf_printf(out, "  filter: %s", v->filter);
}

/* The newest probe stays in sight, unless somebody looks at an older one. */
static void log_prepare(struct ui_view *view, int cols)
{
    struct log_view *v = (struct log_view *)view;
    odb_session_lock(view->app->session);
    log_keep(v);
    size_t rows = log_rows(view);
    odb_session_unlock(view->app->session);
    bool follows = ui_app_view(view->app) != view || view->selected + 1 >= v->seen;
    if (rows && rows != v->seen && follows)
        ui_list_select(view, rows - 1);
    v->seen = rows;
}

static bool log_matches(const struct ui_view *view, size_t row, const char *text)
{
    return log_entry_matches(log_at(view, row), text);
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
    .close = log_close,
    .filter = log_filter,
    .filtered = log_filtered,
};
