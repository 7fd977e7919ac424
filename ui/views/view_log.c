/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The search as it goes: every probe with its cut, what came of it, what it cost, and how many
 * suspects were left.
 */
#include "ui/views/view_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "command/call/call.h"
#include "command/table/command.h"
#include "model/model.h"
#include "session/session.h"
#include "ui/list/list.h"
#include "ui/list/sorted.h"
#include "ui/terminal/draw.h"
#include "ui/view/app.h"
#include "ui/view/mark.h"
#include "ui/view/view.h"

#define LOG_PHASES 9 /* a digit each; those behind are the last one's */

/* Probes of one kind, as their texts begin. */
struct log_phase {
    char *name; /* owned */
    size_t n;
    double seconds;
};

struct log_view {
    struct ui_view view;
    size_t seen;    /* rows at the last frame */
    size_t entries; /* of the log when kept was made */
    char *filter;   /* owned; NULL: none */
    struct log_phase phases[LOG_PHASES];
    int n_phases;
    ODB_VEC(unsigned char) phase_of; /* of each probe that was seen */
    double began;                    /* the search that they are of */
    struct ui_sorted order;
    ODB_VEC(size_t)
    kept; /* probes that the filter lets through, in order; not used without
             either */
};

/* In the order of log_compare(). */
enum log_column { LOG_AT, LOG_VERDICT, LOG_TOOK, LOG_LEFT, LOG_PROBE, LOG_COLUMNS };

static const char *const log_titles[] = {"at s", "verdict", "took s", "left", "probe"};
static const struct {
    int width, gap; /* of the screen's columns; the gap is behind it */
    bool spared;    /* where the screen is narrow, the text has its place */
} log_columns[] = {{7, 2, true}, {12, 1, false}, {6, 2, false}, {4, 2, true}, {0, 0, false}};

#define LOG_NARROW 60 /* columns */

static bool log_shows(enum log_column column, int cols)
{
    return cols >= LOG_NARROW || !log_columns[column].spared;
}

/* Where it begins in so many columns of the screen. */
static int log_place(enum log_column column, int cols)
{
    int place = 0;
    for (int c = 0; c < (int)column; c++)
        if (log_shows(c, cols))
            place += log_columns[c].width + log_columns[c].gap;
    return place;
}

/* A search that begins empties the log, and kept follows with the next frame. */
static bool log_chooses(const struct log_view *v)
{
    return v->filter || v->order.column;
}

static size_t log_rows(const struct ui_view *view)
{
    const struct log_view *v = (const struct log_view *)view;
    size_t n = odb_session_n_log(view->app->session);
    return !log_chooses(v) ? n : v->entries > n ? 0 : v->kept.n;
}

static const struct odb_probe_log *log_at(const struct ui_view *view, size_t row)
{
    const struct log_view *v = (const struct log_view *)view;
    return odb_session_log(view->app->session, log_chooses(v) ? v->kept.items[row] : row);
}

static bool log_entry_matches(const struct odb_probe_log *entry, const char *text)
{
    return odb_text_matches(entry->text, text) ||
           odb_text_matches(entry->ended ? odb_verdict_name(entry->verdict) : "running", text);
}

static int log_compare(const void *a, const void *b, void *arg)
{
    const struct log_view *v = arg;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const struct odb_probe_log *p = odb_session_log(v->view.app->session, x);
    const struct odb_probe_log *q = odb_session_log(v->view.app->session, y);
    const int orders[] = {
        (x > y) - (x < y),
        strcmp(p->ended ? odb_verdict_name(p->verdict) : "", /* what runs is first */
               q->ended ? odb_verdict_name(q->verdict) : ""),
        (p->seconds > q->seconds) - (p->seconds < q->seconds),
        (p->remaining > q->remaining) - (p->remaining < q->remaining),
        ui_sorted_compare(p->text, q->text, false),
    };
    int order = orders[v->order.column - 1];
    return order ? (v->order.descending ? -order : order) : orders[0];
}

/* Caller holds the session's lock. */
static void log_keep(struct log_view *v)
{
    const struct odb_session *session = v->view.app->session;
    v->kept.n = 0;
    v->entries = odb_session_n_log(session);
    for (size_t i = 0; log_chooses(v) && i < odb_session_n_log(session); i++)
        if (!v->filter || log_entry_matches(odb_session_log(session, i), v->filter))
            odb_push(&v->kept, i);
    if (v->order.column && v->kept.n)
        qsort_r(v->kept.items, v->kept.n, sizeof *v->kept.items, log_compare, v);
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

/* --- the timeline ----------------------------------------------------------------------------- */

#define LOG_SHARE 3 /* of all rows it takes at most one in so many */
#define LOG_LINE 10 /* column in which it begins */

/* "alone" of "alone: #7 Conv", "prefix" of "prefix up to #12". */
static int log_phase_length(const char *text)
{
    static const char *const ends[] = {" up to", " of", " with", " on", " for", " inputs"};
    size_t n = strcspn(text, ":;,#0123456789");
    for (size_t i = 0; i < ODB_COUNT(ends); i++) {
        while (n && text[n - 1] == ' ')
            n--;
        size_t len = strlen(ends[i]);
        if (n > len && !strncmp(text + n - len, ends[i], len))
            n -= len;
    }
    return (int)n;
}

/* The phase of a probe, a new one where none has its name. */
static int log_phase(struct log_view *v, const struct odb_probe_log *entry)
{
    size_t len = (size_t)log_phase_length(entry->text);
    for (int i = 0; i < v->n_phases; i++)
        if (!strncmp(v->phases[i].name, entry->text, len) && !v->phases[i].name[len])
            return i;
    if (v->n_phases == LOG_PHASES)
        return LOG_PHASES - 1;
    v->phases[v->n_phases].name = odb_xstrndup(entry->text, len);
    return v->n_phases++;
}

static void log_forget_phases(struct log_view *v)
{
    for (int i = 0; i < v->n_phases; i++)
        free(v->phases[i].name);
    v->n_phases = 0;
    v->phase_of.n = 0;
}

/* Each probe is looked at once, when it is new. Caller holds the session's lock. */
static void log_follow(struct log_view *v)
{
    const struct odb_session *session = v->view.app->session;
    size_t n = odb_session_n_log(session);
    double began = odb_session_progress(session)->began;
    if (v->began != began || n < v->phase_of.n)
        log_forget_phases(v);
    v->began = began;
    for (size_t i = v->phase_of.n; i < n; i++)
        odb_push(&v->phase_of, (unsigned char)log_phase(v, odb_session_log(session, i)));
}

/* Seconds of a probe; where the clock stands still all take as long. */
static double log_took(const struct ui_view *view, const struct odb_probe_log *entry)
{
    return view->app->frozen ? 1 : entry->seconds;
}

static enum ui_style log_phase_style(int phase)
{
    return phase % 2 ? UI_STYLE_OP : UI_STYLE_LABEL;
}

/* The search from its beginning to now: what the target was asked at each time. */
static void log_draw_line(const struct ui_view *view, double total, const struct ui_area *area)
{
    const struct log_view *v = (const struct log_view *)view;
    const struct odb_session *session = view->app->session;
    size_t n = ODB_MIN(odb_session_n_log(session), v->phase_of.n);
    int col = LOG_LINE, columns = ODB_MAX(area->cols - LOG_LINE, 1);
    double until = 0;
    ui_draw_text(area, 0, 1, UI_STYLE_LABEL, "timeline");
    for (size_t i = 0; i < n; i++) {
        int phase = v->phase_of.items[i];
        until += log_took(view, odb_session_log(session, i));
        int end = LOG_LINE + (int)(until / total * columns + 0.5);
        for (; col < end; col++)
            ui_draw_printf(area, 0, col, log_phase_style(phase), "%d", phase + 1);
    }
}

/* All phases with what they took; returns the seconds of all together. */
static double log_sum_up(const struct ui_view *view, struct log_phase phases[LOG_PHASES])
{
    const struct log_view *v = (const struct log_view *)view;
    const struct odb_session *session = view->app->session;
    size_t n = ODB_MIN(odb_session_n_log(session), v->phase_of.n);
    double total = 0;
    for (int i = 0; i < v->n_phases; i++)
        phases[i] = (struct log_phase){.name = v->phases[i].name};
    for (size_t i = 0; i < n; i++) {
        struct log_phase *phase = &phases[v->phase_of.items[i]];
        const struct odb_probe_log *entry = odb_session_log(session, i);
        phase->n++;
        phase->seconds += entry->seconds;
        total += log_took(view, entry);
    }
    return total;
}

/* Which digit is which, how many probes they were and how long they took, from a row on (-1: not
 * drawn); returns how many rows that takes in so many columns. */
static int log_put_phases(const struct ui_view *view, const struct log_phase *phases, int n,
                          int cols, const struct ui_area *area, int row)
{
    int col = LOG_LINE, rows = 1;
    for (int i = 0; i < n; i++) {
        char *text = odb_xasprintf("%d %s: %zu, %.2f s", i + 1, phases[i].name, phases[i].n,
                                   ui_app_seconds(view->app, phases[i].seconds));
        int width = ui_text_width(view->app->terminal, text);
        if (col > LOG_LINE && col + width > cols) {
            col = LOG_LINE;
            rows++;
        }
        if (row >= 0)
            ui_draw_text(area, row + rows - 1, col, log_phase_style(i), text);
        col += width + 2;
        free(text);
    }
    return rows;
}

/* Rows of the timeline with what it means; 0: there is no room, or nothing to show. */
static int log_timeline(const struct ui_view *view, const struct ui_area *area, int rows)
{
    struct log_phase phases[LOG_PHASES];
    double total = log_sum_up(view, phases);
    int n = ((const struct log_view *)view)->n_phases;
    int needs = n ? 1 + log_put_phases(view, phases, n, view->cols, area, area ? 1 : -1) : 0;
    if (area && total > 0)
        log_draw_line(view, total, area);
    return needs * LOG_SHARE <= rows ? needs : 0;
}

static int log_header(const struct ui_view *view, const struct ui_area *area, int rows)
{
    int timeline = log_timeline(view, NULL, rows);
    if (!area)
        return rows > 4 ? timeline + 1 : 0;
    const struct log_view *v = (const struct log_view *)view;
    struct ui_area head = ui_area_part(area, timeline, 0, 1, area->cols);
    if (timeline)
        log_timeline(view, area, rows);
    ui_draw_fill(&head, UI_STYLE_HEAD);
    for (int c = 0; c < LOG_COLUMNS; c++)
        if (log_shows(c, area->cols))
            ui_sorted_title(&v->order, c, log_titles[c], &head, log_place(c, area->cols),
                            log_columns[c].width, c != LOG_VERDICT && c != LOG_PROBE);
    return timeline + 1;
}

static const char *log_column(const struct ui_view *view, int row, int col)
{
    int c = LOG_PROBE;
    while (c > 0 && (!log_shows(c, view->cols) || col < log_place(c, view->cols)))
        c--;
    return row == view->header - 1 ? log_titles[c] : NULL;
}

static void log_draw_row(const struct ui_view *view, size_t row, const struct ui_area *area)
{
    const struct odb_probe_log *entry = log_at(view, row);
    const struct odb_value_report report = {.verdict = entry->verdict};
    const struct ui_app *app = view->app;
    int col = 0;
    if (log_shows(LOG_AT, area->cols))
        col =
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
    if (log_shows(LOG_LEFT, area->cols) && entry->remaining)
        col = ui_draw_printf(area, 0, col, UI_STYLE_NUMBER, "%4zu  ", entry->remaining);
    else if (log_shows(LOG_LEFT, area->cols))
        col = ui_draw_text(area, 0, col, UI_STYLE_DIM, "   -  ");
    ui_draw_field(area, 0, col, ODB_MAX(area->cols - col, 0), UI_CUT_MIDDLE, UI_STYLE_NAME,
                  entry->text);
}

/* How many probes, and while one runs how long the search is thought to take from there. */
static void log_title(const struct ui_view *view, struct odb_buf *out)
{
    const struct log_view *v = (const struct log_view *)view;
    const struct ui_app *app = view->app;
    const struct odb_search_progress *progress = odb_session_progress(app->session);
    double left = progress->expected - (odb_clock() - progress->began);
    odb_buf_printf(out, "search log: %zu probe%s", log_rows(view), log_rows(view) == 1 ? "" : "s");
    if (ui_app_busy(app) && progress->left)
        odb_buf_printf(out, ", %zu of about %zu load%s", progress->loaded,
                       ODB_MAX(progress->loaded, progress->loads),
                       odb_plural(ODB_MAX(progress->loaded, progress->loads)));
    if (ui_app_busy(app) && progress->expected > 0 && left > 0) {
        odb_buf_puts(out, ", about ");
        odb_buf_put_duration(out, ui_app_seconds(app, left));
        odb_buf_puts(out, " left");
    }
    if (ui_app_busy(app) && progress->left)
        odb_buf_printf(out, "; stopping now names #%d to #%d", progress->first_left,
                       progress->last_left);
    if (v->filter)
        odb_buf_printf(out, "  filter: %s", v->filter);
    ui_sorted_put(&v->order, log_titles, out);
}

/* The newest probe stays in sight, unless the user looks at an older one. */
static void log_prepare(struct ui_view *view, int cols)
{
    struct log_view *v = (struct log_view *)view;
    odb_session_lock(view->app->session);
    log_keep(v);
    log_follow(v);
    size_t rows = log_rows(view);
    odb_session_unlock(view->app->session);
    bool there = ui_app_view(view->app) != view || view->selected + 1 >= v->seen;
    bool follows = there && !v->order.column;
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

size_t ui_log_selected(const struct ui_view *view)
{
    const struct log_view *v = (const struct log_view *)view;
    if (view->selected >= log_rows(view))
        return SIZE_MAX;
    return log_chooses(v) ? v->kept.items[view->selected] : view->selected;
}

static enum ui_answer log_act(struct ui_view *view, const struct odb_command_call *call,
                              struct odb_error *err)
{
    struct log_view *v = (struct log_view *)view;
    if (call->command->screen == ODB_SCREEN_OPEN && !odb_call_arg(call, 0)) {
        ui_app_open(view->app, UI_VIEW_PROBE);
        return UI_DONE;
    }
    if (call->command->screen != ODB_SCREEN_SORT)
        return UI_NOT_MINE;
    odb_session_lock(view->app->session);
    size_t rows = log_rows(view), at = view->selected;
    size_t selected = log_chooses(v) && at < rows ? v->kept.items[at] : at;
    enum ui_answer answer =
        ui_sorted_act(view, &v->order, log_titles, ODB_COUNT(log_titles), call, err);
    log_keep(v);
    for (at = 0; log_chooses(v) && at < v->kept.n && v->kept.items[at] != selected; at++)
        ;
    odb_session_unlock(view->app->session);
    ui_list_select(view, log_chooses(v) ? at : selected);
    return answer;
}

static void log_close(struct ui_view *view)
{
    struct log_view *v = (struct log_view *)view;
    log_forget_phases(v);
    free(v->phase_of.items);
    free(v->filter);
    free(v->kept.items);
}

const struct ui_view_ops ui_log_view = {
    .help = "the probes of the search, and what each cost",
    .size = sizeof(struct log_view),
    .wraps = true,
    .title = log_title,
    .prepare = log_prepare,
    .header = log_header,
    .column = log_column,
    .act = log_act,
    .rows = log_rows,
    .draw_row = log_draw_row,
    .matches = log_matches,
    .subject = log_subject,
    .close = log_close,
    .filter = log_filter,
    .filtered = log_filtered,
};
