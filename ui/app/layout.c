/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where everything stands. From top to bottom: the title; the views; on narrow screens a few lines
 * about the selected node, or, while a search runs, about its last probes; the strip; the line of
 * messages; the keys, or the prompt.
 *
 * Narrow screens show the view on top of the stack. Wide ones show the nodes at the left, and at
 * the right whatever lies on top of them, the selected node if nothing does; tall ones the log as
 * well.
 */
#include "ui/app/layout.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "command/call/console.h"
#include "command/table/command.h"
#include "executor/transport/target.h"
#include "interpret/cpu.h"
#include "model/model.h"
#include "report/report.h"
#include "session/session.h"
#include "ui/app/tour.h"
#include "ui/fleet/view_fleet.h"
#include "ui/list/checklist.h"
#include "ui/list/jump.h"
#include "ui/list/list.h"
#include "ui/list/short_name.h"
#include "ui/list/view_nodes.h"
#include "ui/terminal/draw.h"
#include "ui/terminal/key.h"
#include "ui/terminal/terminal.h"
#include "ui/view/app.h"
#include "ui/view/keymap.h"
#include "ui/view/mark.h"
#include "ui/view/prompt.h"
#include "ui/view/saving.h"
#include "ui/view/strip.h"
#include "ui/views/node_folded.h"

#define LAYOUT_WIDE 120   /* columns from which on two views stand side by side */
#define LAYOUT_TALL 36    /* rows from which on the log stands below the second */
#define LAYOUT_ROOM 60    /* columns from which on more than one hint keeps its place */
#define LAYOUT_LEAST 24   /* columns that a view beside another has at least */
#define LAYOUT_MESSAGE 4  /* rows of the longest message */
#define LAYOUT_LIST 4     /* rows that a view keeps when a message is longer */
#define LAYOUT_TARGET 18  /* columns that a target keeps in the title */
#define LAYOUT_MODEL 6    /* and a model, where a target has no more than these */
#define LAYOUT_FILTER 12  /* and a filter at most, where there is little room */
#define LAYOUT_TOUR 2     /* rows of what to do next */
#define LAYOUT_LONG 10    /* seconds after which the title says how long a run may take */
#define LAYOUT_DISPLAYS 4 /* rows of expressions at a stop, at most */
#define LAYOUT_ABOUT 4    /* rows about the selected node, the line above included */

struct pane {
    enum ui_view_id id;
    struct ui_area title, area; /* title.rows 0: none */
};

struct layout {
    struct ui_area all, about, displays, strip, tour;
    struct pane panes[UI_VIEW_COUNT];
    int n;
    int divider; /* column of the line between panes; 0: none */
};

/* --- geometry --------------------------------------------------------------------------------- */

static void layout_pane(struct layout *layout, enum ui_view_id id, const struct ui_area *area,
                        bool titled)
{
    struct pane *pane = &layout->panes[layout->n++];
    pane->id = id;
    pane->title = ui_area_part(area, 0, 0, titled, area->cols);
    pane->area = ui_area_part(area, titled, 0, area->rows - titled, area->cols);
}

static void layout_wide(const struct ui_app *app, struct layout *layout, const struct ui_area *main)
{
    enum ui_view_id second = app->depth > 1 ? app->stack[app->depth - 1] : UI_VIEW_NODE;
    int share = app->views[second]->ops->share, rows = main->rows;
    int left = main->cols * (100 - (share ? share : 45)) / 100;
    if (app->divide) /* both stay wide enough to be seen */
        left = ODB_MIN(ODB_MAX(app->divide, LAYOUT_LEAST), main->cols - LAYOUT_LEAST);
    bool log = odb_session_n_log(app->session) && second != UI_VIEW_LOG &&
               app->terminal->rows >= LAYOUT_TALL;
    /* A log to which nothing is added is a line, until it is looked at. */
    int below_rows = !log                                            ? 0
                     : ui_app_busy(app) || app->focus == UI_VIEW_LOG ? rows - rows * 2 / 3
                                                                     : 1;
    struct ui_area nodes = ui_area_part(main, 0, 0, rows, left);
    struct ui_area right =
        ui_area_part(main, 0, left + 1, rows - below_rows, main->cols - left - 1);
    struct ui_area below = ui_area_part(main, right.rows, left + 1, rows - right.rows, right.cols);
    layout->divider = left;
    layout_pane(layout, UI_VIEW_NODES, &nodes, true);
    layout_pane(layout, second, &right, true);
    if (log)
        layout_pane(layout, UI_VIEW_LOG, &below, true);
}

static int layout_message_rows(const struct ui_app *app)
{
    const struct ui_terminal *terminal = app->terminal;
    size_t gap;
    int lines = 0;
    for (const char *p = app->message ? app->message : ""; *p && lines < LAYOUT_MESSAGE;
         lines++, p += gap)
        p += ui_text_line(terminal, p, terminal->cols, &gap);
    return lines;
}

/* Bytes of the first expression and what it is: the next one begins a line with its number. */
static size_t layout_display(const char *text)
{
    const char *p = text;
    do {
        p += strcspn(p, "\n");
        p += *p == '\n';
    } while (*p && !(isdigit((unsigned char)*p) && p[strspn(p, "0123456789")] == ':'));
    return (size_t)(p - text);
}

/* Rows of what is displayed where the target stands, one for each expression. */
static int layout_display_rows(const struct ui_app *app)
{
    int rows = 0;
    if (app->zoomed || odb_session_at(app->session) == ODB_NO_NODE || app->terminal->rows < 16)
        return 0;
    for (const char *p = app->displays; p && *p && rows < LAYOUT_DISPLAYS; rows++)
        p += layout_display(p);
    return rows;
}

static void layout_make(const struct ui_app *app, struct layout *layout)
{
    *layout = (struct layout){.all = ui_area_all(app->terminal)};
    const struct ui_area *all = &layout->all;
    enum ui_view_id top = app->stack[app->depth - 1];
    if (app->zoomed)
        top = app->focus;
    bool fleet = app->root == UI_VIEW_FLEET;
    bool wide = all->cols >= LAYOUT_WIDE && !app->zoomed && !app->views[top]->ops->whole && !fleet;
    int strip = all->rows >= 16 ? ODB_MIN(ODB_MAX(all->rows / 6, 3), 8) : 0;
    strip = app->zoomed ? 0 : strip;
    if (app->strip_rows && strip)
        strip = ODB_MAX(ODB_MIN(app->strip_rows, all->rows / 2), 2);
    int about = !wide && !app->zoomed && all->rows >= 20 && top == UI_VIEW_NODES ? LAYOUT_ABOUT : 0;
    if (fleet || (!wide && top != UI_VIEW_NODES && all->rows < 30))
        strip = 0;
    int tour = app->tour && all->rows >= 12 ? LAYOUT_TOUR : 0;
    int more = ODB_MAX(layout_message_rows(app) - 1, 0); /* than the row that a message has */
    int displays = layout_display_rows(app);
    int rows = all->rows - 3 - strip - about - displays - tour;
    rows = ODB_MAX(rows - ODB_MIN(more, ODB_MAX(rows - LAYOUT_LIST, 0)), 0);
    struct ui_area main = ui_area_part(all, 1, 0, rows, all->cols);
    layout->about = ui_area_part(all, 1 + rows, 0, about, all->cols);
    layout->displays = ui_area_part(all, 1 + rows + about, 0, displays, all->cols);
    layout->strip = ui_area_part(all, 1 + rows + about + displays, 0, strip, all->cols);
    layout->tour = ui_area_part(all, all->rows - 1 - tour, 0, tour, all->cols);
    if (wide)
        layout_wide(app, layout, &main);
    else
        layout_pane(layout, top, &main, top != UI_VIEW_NODES);
}

int ui_layout_visible(const struct ui_app *app, enum ui_view_id *list)
{
    struct layout layout;
    odb_session_lock(app->session);
    layout_make(app, &layout);
    odb_session_unlock(app->session);
    for (int i = 0; i < layout.n; i++)
        list[i] = layout.panes[i].id;
    return layout.n;
}

/* --- title ------------------------------------------------------------------------------------ */

/* The file, with the folder that it is in where there is room; the folder alone of model.onnx, as
 * very many are called. */
static void layout_put_model(const struct ui_app *app, bool folder, struct odb_buf *out)
{
    const char *path = odb_session_model(app->session)->path, *at = strrchr(path, '/');
    const char *file = at ? at + 1 : path;
    while (at && at > path && *--at != '/')
        ;
    const char *from = at ? at + (*at == '/') : path;
    if (from < file - 1 && !strcmp(file, "model.onnx"))
        odb_buf_add(out, from, (size_t)(file - 1 - from));
    else
        odb_buf_puts(out, folder ? from : file);
}

/* How long a run of the target may take, where one takes long: until then it may hang or not. */
static void layout_put_limit(const struct ui_app *app, struct odb_buf *out)
{
    const char *target = odb_session_of(app->session);
    if (!target || odb_session_waits(app->session) < LAYOUT_LONG)
        return;
    double limit = odb_target_limit(target);
    if (limit > 0)
        odb_buf_printf(out, "; a run may take %.0f s", limit);
}

void ui_layout_state(const struct ui_app *app, struct odb_buf *out)
{
    const struct odb_session *session = app->session;
    const struct odb_search_progress *progress = odb_session_progress(session);
    double now = odb_clock();
    if (ui_app_busy(app)) {
        odb_buf_printf(out, "%s", app->running.call.command->name);
        double spent = now - app->running.began; /* progress may still be the last command's */
        bool ours = ODB_MAX(progress->began, progress->phase_began) >= app->running.began;
        if (ours && progress->phase[0])
            odb_buf_printf(out, ": %s", progress->phase);
        if (ours && progress->total)
            odb_buf_printf(out, " %zu/%zu", progress->done, progress->total);
        if (ours && progress->done && progress->done < progress->total)
            odb_buf_printf(
                out, ", %.0f s left",
                ui_app_seconds(app, (now - progress->phase_began) / (double)progress->done *
                                        (double)(progress->total - progress->done)));
        odb_buf_printf(out, " (%.0f s", ui_app_seconds(app, spent));
        if (ours)
            layout_put_limit(app, out);
        odb_buf_putc(out, ')');
        return;
    }
    size_t before = out->len;
    ui_saving_put(app->saving, out);
    if (out->len > before)
        return;
    const struct odb_report *report = odb_session_report(session);
    const char *steps;
    size_t step;
    if (app->counts.off || app->counts.pass)
        odb_buf_printf(out, "%zu off, %zu pass", app->counts.off, app->counts.pass);
    else if (report && (steps = odb_report_steps(report, &step)))
        odb_buf_printf(out, "steps: %s at %zu", steps, step); /* and no node */
    else
        odb_buf_puts(out, odb_session_n_log(session) ? "nothing judged" : "nothing run yet");
    if (app->counts.culprits)
        odb_buf_printf(out, ", %zu culprit%s", app->counts.culprits,
                       app->counts.culprits == 1 ? "" : "s");
}

static void layout_count(struct ui_app *app)
{
    const struct odb_session *session = app->session;
    if (!ui_upkeep_is_due(&app->counts.upkeep, session, ui_app_turn(app)))
        return;
    ui_upkeep_begin(&app->counts.upkeep, session);
    app->counts.off = app->counts.pass = app->counts.culprits = 0;
    for (size_t i = 0; i < odb_session_model(session)->graph->n_nodes; i++) {
        const struct odb_value_report *report = odb_session_node(session, (int)i, NULL);
        app->counts.off += odb_verdict_is_bad(report->verdict);
        app->counts.pass += report->verdict == ODB_VERDICT_PASS;
        app->counts.culprits += report->culprit || odb_session_culprit(session, (int)i);
    }
    ui_upkeep_end(&app->counts.upkeep, &app->turn);
}

/* What the title says of the model and its settings, and leaves out where there is no room: each
 * level what the one before does, and more. */
enum layout_less { LESS_NOTHING, LESS_FOLDER, LESS_NODES, LESS_TOLERANCE, LESS_REFERENCE };

/* The target that the marks are of; where there are none, the one that is set. */
static const char *layout_target(const struct ui_app *app)
{
    const char *of = odb_session_of(app->session);
    bool marks = of && (ui_app_busy(app) || odb_session_report(app->session));
    char *set = odb_console_target_spec(app->console);
    const char *target = marks && strcmp(of, set) != 0 ? of : odb_console_target(app->console);
    free(set);
    return target;
}

static void layout_put_title(const struct ui_app *app, enum layout_less less, int model, int target,
                             struct odb_buf *out)
{
    const struct ui_view *nodes = app->views[UI_VIEW_NODES];
    const char *expect = odb_console_get(app->console, ODB_OPTION_EXPECT);
    const char *filter = ui_nodes_filter_text(nodes);
    size_t n = odb_session_model(app->session)->graph->n_nodes;
    struct odb_buf pins = ODB_BUF_INIT, name = ODB_BUF_INIT;
    layout_put_model(app, less < LESS_FOLDER, &name);
    odb_buf_putc(out, ' ');
    ui_text_put_cut(app->terminal, odb_buf_text(&name), model, out);
    odb_buf_dispose(&name);
    odb_buf_puts(out, "  ");
    if (filter && less < LESS_NODES)
        odb_buf_printf(out, "'%s' in %zu of ", filter, nodes->ops->rows(nodes));
    if (less < LESS_NODES)
        odb_buf_printf(out, "%zu node%s  ", n, odb_plural(n));
    ui_text_put_cut(app->terminal, layout_target(app), target, out);
    if (less < LESS_REFERENCE)
        odb_buf_printf(out, " vs %s", odb_console_reference(app->console));
    if (filter && less >= LESS_NODES) {
        odb_buf_puts(out, "  '");
        ui_text_put_cut(app->terminal, filter, LAYOUT_FILTER, out);
        odb_buf_printf(out, "' in %zu", nodes->ops->rows(nodes));
    }
    if (less < LESS_TOLERANCE)
        odb_buf_printf(out, "  %s", odb_console_tolerance(app->console));
    if (expect)
        odb_buf_printf(out, " expecting %s", expect);
    odb_session_put_pins(app->session, &pins);
    if (pins.len)
        odb_buf_printf(out, "  pinned: %s", odb_buf_text(&pins));
    odb_buf_dispose(&pins);
}

/* The same with target and model cut, so that no more than room columns are taken. Returns how many
 * more are. */
static int layout_cut_title(const struct ui_app *app, enum layout_less less, int room,
                            struct odb_buf *out)
{
    struct odb_buf file = ODB_BUF_INIT;
    odb_buf_clear(out);
    layout_put_title(app, less, INT_MAX, INT_MAX, out);
    int over = ui_text_width(app->terminal, odb_buf_text(out)) - room;
    int whole = ui_text_width(app->terminal, layout_target(app));
    int target = ODB_MAX(whole - over, ODB_MIN(whole, LAYOUT_TARGET));
    over -= whole - target;
    layout_put_model(app, false, &file);
    int name = ui_text_width(app->terminal, odb_buf_text(&file));
    int model = ODB_MAX(name - ODB_MAX(over, 0), ODB_MIN(name, LAYOUT_MODEL));
    odb_buf_dispose(&file);
    odb_buf_clear(out);
    layout_put_title(app, less, model, target, out);
    return ui_text_width(app->terminal, odb_buf_text(out)) - room;
}

/* The same in so many columns. What tells the target stays the longest: a target is cut in its
 * middle, as it begins with its kind and ends with what it wraps. */
static void layout_fit_title(const struct ui_app *app, int room, struct odb_buf *out)
{
    for (int less = LESS_NOTHING; less <= LESS_TOLERANCE; less++) {
        odb_buf_clear(out);
        layout_put_title(app, less, INT_MAX, INT_MAX, out);
        if (ui_text_width(app->terminal, odb_buf_text(out)) <= room)
            return;
    }
    if (layout_cut_title(app, LESS_TOLERANCE, room, out) > 0)
        layout_cut_title(app, LESS_REFERENCE, room, out);
}

/* What came of the models stays whole; the target is cut in its middle. */
static void layout_fleet_title(const struct ui_app *app, const struct ui_area *line)
{
    const struct ui_view *fleet = app->views[UI_VIEW_FLEET];
    struct odb_buf head = ODB_BUF_INIT, counts = ODB_BUF_INIT;
    ui_fleet_put_head(fleet, &head);
    ui_fleet_put_counts(fleet, &counts);
    int width = ODB_MIN(ui_text_width(app->terminal, odb_buf_text(&counts)), line->cols);
    int room = ODB_MAX(line->cols - width - 4, 0);
    ui_draw_fill(line, UI_STYLE_TITLE);
    ui_draw_field(line, 0, 1, room, UI_CUT_MIDDLE, UI_STYLE_TITLE, odb_buf_text(&head));
    ui_draw_field(line, 0, line->cols - width - 1, width, UI_CUT_END, UI_STYLE_TITLE,
                  odb_buf_text(&counts));
    odb_buf_dispose(&head);
    odb_buf_dispose(&counts);
}

static void layout_title(const struct ui_app *app, const struct layout *layout)
{
    struct ui_area line = ui_area_part(&layout->all, 0, 0, 1, layout->all.cols);
    struct odb_buf left = ODB_BUF_INIT, state = ODB_BUF_INIT, right = ODB_BUF_INIT;
    if (app->root == UI_VIEW_FLEET) {
        layout_fleet_title(app, &line);
        return;
    }
    ui_layout_state(app, &state);
    ui_draw_fill(&line, UI_STYLE_TITLE);
    ui_text_put_cut(app->terminal, odb_buf_text(&state), line.cols * 2 / 3, &right);
    int width = ui_text_width(app->terminal, odb_buf_text(&right));
    int room = ODB_MAX(line.cols - width - 3, 0);
    layout_fit_title(app, room, &left);
    ui_draw_field(&line, 0, 0, room, UI_CUT_END, UI_STYLE_TITLE, odb_buf_text(&left));
    ui_draw_field(&line, 0, room + 2, width, UI_CUT_END, UI_STYLE_TITLE, odb_buf_text(&right));
    odb_buf_dispose(&left);
    odb_buf_dispose(&state);
    odb_buf_dispose(&right);
}

/* --- the lines about the selection ------------------------------------------------------------ */

static void layout_rule(const struct ui_area *area, int row, enum ui_style style, const char *text)
{
    struct odb_buf title = ODB_BUF_INIT;
    ui_text_put_cut(area->terminal, text, ODB_MAX(area->cols - 4, 0), &title);
    ui_draw_hline(area, row, 0, area->cols, UI_STYLE_BORDER);
    int col = ui_draw_text(area, row, 1, UI_STYLE_BORDER, " ");
    col = ui_draw_text(area, row, col, style, odb_buf_text(&title));
    ui_draw_text(area, row, col, UI_STYLE_BORDER, " ");
    odb_buf_dispose(&title);
}

static void layout_probes(const struct ui_app *app, const struct ui_area *about)
{
    struct ui_view *log = app->views[UI_VIEW_LOG];
    size_t rows = log->ops->rows(log), shown = ODB_MIN(rows, (size_t)about->rows - 1);
    layout_rule(about, 0, UI_STYLE_LABEL, "search; Esc stops it, l shows all of it");
    for (size_t i = 0; i < shown; i++) {
        struct ui_area line = ui_area_part(about, 1 + (int)i, 0, 1, about->cols);
        log->ops->draw_row(log, rows - shown + i, &line);
    }
}

static int layout_numbers(const struct odb_value_report *report, double factor,
                          const struct ui_area *area, int row, int col)
{
    struct odb_named_number numbers[ODB_REPORT_NUMBERS];
    odb_report_numbers(report, numbers);
    for (size_t i = 0; i < ODB_REPORT_NUMBERS; i++) {
        char text[32], times[32];
        bool is_noise = !strcmp(numbers[i].name, "noise");
        if (!numbers[i].number.known || !strcmp(numbers[i].name, "mean"))
            continue;
        ui_number_text(numbers[i].number, text, sizeof text);
        snprintf(times, sizeof times, is_noise && factor > 0 ? " x%g" : "", factor);
        if (col + (int)(strlen(numbers[i].name) + 1 + strlen(text) + strlen(times)) > area->cols)
            break; /* a part of a number is another number */
        col = ui_draw_printf(area, row, col, UI_STYLE_LABEL, "%s ", numbers[i].name);
        col = ui_draw_text(area, row, col, UI_STYLE_NUMBER, text);
        col = ui_draw_text(area, row, col, UI_STYLE_DIM, times);
        col = ui_draw_text(area, row, col, UI_STYLE_NORMAL, "  ");
    }
    return col;
}

/* Why it is accused, but for the numbers, which stand above. */
static void layout_checklist(const struct ui_app *app, const struct odb_culprit *culprit,
                             const struct ui_area *area)
{
    struct ui_checklist list;
    int row = 0;
    ui_checklist_make(&list, app, culprit);
    for (size_t i = 0; i < list.n; i++)
        if (list.lines[i].line != UI_CHECKLIST_ERROR && row < area->rows) {
            struct ui_area rest = ui_area_part(area, row, 0, area->rows - row, area->cols);
            row += ui_draw_words(&rest, 0, list.lines[i].style, odb_buf_text(&list.lines[i].text));
        }
    ui_checklist_dispose(&list);
}

/* A node and what it makes, in so many columns. What it makes goes first, then scopes of its name;
 * the operator and the type stay. */
static void layout_put_subject(const struct ui_app *app, int node, int value, int room,
                               struct odb_buf *out)
{
    const struct odb_graph *graph = odb_session_model(app->session)->graph;
    const struct ui_terminal *terminal = app->terminal;
    char separator = ui_nodes_outline(app->views[UI_VIEW_NODES])->separator;
    struct odb_buf whole = ODB_BUF_INIT, name = ODB_BUF_INIT, made = ODB_BUF_INIT,
                   type = ODB_BUF_INIT;
    odb_node_put(graph, node, &whole);
    odb_buf_put_shown(&name, graph->nodes[node].name);
    odb_buf_put_shown(&made, graph->values[value].name);
    odb_session_put_type(app->session, value, &type);
    size_t head = strcspn(odb_buf_text(&whole), " ") + 1;
    const char *op = odb_buf_text(&whole) + head + name.len;
    int rest = room - (int)head - ui_text_width(terminal, op) - 1 -
               ui_text_width(terminal, odb_buf_text(&type));
    int spare = rest - ui_text_width(terminal, odb_buf_text(&name)) - 3;
    bool both = spare >= ui_short_name_least(odb_buf_text(&made), separator, terminal);
    odb_buf_add(out, odb_buf_text(&whole), head);
    if (both || !name.len)
        odb_buf_puts(out, odb_buf_text(&name));
    else
        ui_short_name_fit(odb_buf_text(&name), separator, terminal, ODB_MAX(rest, 1), out);
    odb_buf_puts(out, op);
    if (both) {
        odb_buf_puts(out, " > ");
        ui_short_name_fit(odb_buf_text(&made), separator, terminal, spare, out);
    }
    odb_buf_printf(out, "%s%s", type.len ? " " : "", odb_buf_text(&type));
    odb_buf_dispose(&whole);
    odb_buf_dispose(&name);
    odb_buf_dispose(&made);
    odb_buf_dispose(&type);
}

static void layout_about(const struct ui_app *app, const struct ui_area *about)
{
    const struct odb_session *session = app->session;
    struct odb_buf title = ODB_BUF_INIT;
    int node = ui_app_node(app), value;
    if (node == ODB_NO_NODE) {
        layout_rule(about, 0, UI_STYLE_LABEL, "no node is listed; & changes the filter");
        return;
    }
    struct ui_row row = ui_nodes_row(app->views[UI_VIEW_NODES]);
    bool folded = row.n > 1;
    node = row.worst;
    const struct odb_value_report *report = odb_session_node(session, node, &value);
    const struct odb_culprit *culprit = odb_session_culprit(session, node);
    if (folded) {
        ui_folded_title(app, &row, &title);
        odb_buf_puts(&title, ", worst ");
    }
    if (value != ODB_NO_VALUE && !folded)
        layout_put_subject(app, node, value, about->cols - 4, &title);
    else
        odb_node_put(odb_session_model(session)->graph, node, &title);
    layout_rule(about, 0, UI_STYLE_NAME, odb_buf_text(&title));
    odb_buf_dispose(&title);
    const char *why =
        odb_session_cpu(session) ? odb_cpu_unsupported(odb_session_cpu(session), node) : "";
    bool is_culprit = culprit || report->culprit;
    int col = ui_draw_glyph(about, 1, 0, ui_mark_style(report, is_culprit),
                            ui_mark_glyph(report, is_culprit, *why));
    const char *word = culprit ? odb_diagnosis_name(culprit->kind)
                       : *why  ? "no kernel"
                               : odb_verdict_name(report->verdict);
    col = ui_draw_printf(about, 1, col, ui_mark_style(report, false), " %s  ", word);
    layout_numbers(report, ui_noise_factor(app->console), about, 1, col);
    const char *text = *why ? why : report->reason;
    if (!*text)
        text = odb_verdict_help(report->verdict);
    struct ui_area words = ui_area_part(about, 2, 2, about->rows - 2, about->cols - 3);
    if (culprit)
        layout_checklist(app, culprit, &words);
    else
        ui_draw_words(&words, 0, UI_STYLE_NORMAL, text);
}

/* Of what is long the beginning; `display` prints all of it. */
static void layout_displays(const struct ui_app *app, const struct ui_area *area)
{
    const char *p = app->displays;
    for (int row = 0; row < area->rows; row++) {
        size_t n = layout_display(p);
        struct odb_buf line = ODB_BUF_INIT, text = ODB_BUF_INIT;
        for (size_t i = 0; i + 1 < n; i++) /* without the last line feed */
            odb_buf_puts(&line, p[i] == '\n' ? "  " : (char[]){p[i], '\0'});
        p += n;
        ui_text_put_cut(area->terminal, odb_buf_text(&line), area->cols, &text);
        ui_draw_text(area, row, 0, UI_STYLE_NUMBER, odb_buf_text(&text));
        odb_buf_dispose(&line);
        odb_buf_dispose(&text);
    }
}

/* --- the foot --------------------------------------------------------------------------------- */

/* Columns that a hint takes; 0: there is none to be shown now. */
static int layout_hint(const struct ui_app *app, const struct ui_binding *binding, bool own)
{
    const char *view = ui_app_view(app)->name;
    char name[16];
    if (!binding->hint || strcmp(binding->view, own ? view : "all") ||
        ui_key_first(binding->key) != app->prefix ||
        ui_keymap_find(app->keymap, view, binding->key) != binding)
        return 0;
    return ui_text_width(app->terminal, ui_key_name(binding->key, name, sizeof name)) +
           ui_text_width(app->terminal, binding->hint) + 3;
}

/* The keys that lead to all others keep their places. */
static bool layout_hint_stays(const struct ui_app *app, const struct ui_binding *binding)
{
    return !strcmp(binding->command, "view help") ||
           (!strcmp(binding->command, "view") && app->terminal->cols >= LAYOUT_ROOM);
}

/* Keys of the view, in the order of the key file, as far as there is room. */
static void layout_hints(const struct ui_app *app, const struct ui_area *line)
{
    const struct ui_keymap *keymap = app->keymap;
    int col = 0, kept = 0;
    for (size_t i = 0; i < keymap->bindings.n; i++)
        if (layout_hint_stays(app, &keymap->bindings.items[i]))
            kept += layout_hint(app, &keymap->bindings.items[i], false);
    ui_draw_fill(line, UI_STYLE_HINT);
    for (int own = 1; own >= 0; own--)
        for (size_t i = 0; i < keymap->bindings.n; i++) {
            const struct ui_binding *binding = &keymap->bindings.items[i];
            int width = layout_hint(app, binding, own);
            bool stays = layout_hint_stays(app, binding);
            char name[16];
            kept -= stays ? width : 0;
            if (!width || col + width > line->cols - kept)
                continue;
            ui_key_name(binding->key, name, sizeof name);
            col = ui_draw_printf(line, 0, col, UI_STYLE_HINT_KEY, " %s", name);
            col = ui_draw_printf(line, 0, col, UI_STYLE_HINT, " %s ", binding->hint);
        }
}

/* One line; a longer message takes rows of the list, and of what is below that only on a small
 * screen: all of it can be read. */
static void layout_message(const struct ui_app *app, const struct ui_area *all)
{
    const char *text = app->message ? app->message : "";
    int lines = layout_message_rows(app);
    struct ui_area area = ui_area_part(all, all->rows - 1 - lines, 0, lines, all->cols);
    ui_draw_fill(&area, app->message_style);
    ui_draw_words(&area, 0, app->message_style, text);
}

static void layout_tour(const struct ui_app *app, const struct ui_area *area)
{
    struct odb_buf text = ODB_BUF_INIT;
    if (!area->rows)
        return;
    ui_tour_text(app, &text);
    ui_draw_fill(area, UI_STYLE_MATCH);
    ui_draw_words(area, 0, UI_STYLE_MATCH, odb_buf_text(&text));
    odb_buf_dispose(&text);
}

/* A file that the message tells of is a link, where terminals have them. */
static void layout_link(struct ui_app *app)
{
    const char *text = app->message ? app->message : "";
    int row = app->terminal->rows - 2;
    if (app->tour || app->linked || app->message_style != UI_STYLE_MESSAGE ||
        ui_text_width(app->terminal, text) > app->terminal->cols)
        return;
    app->linked = true;
    for (const char *p = text; *p; p += strspn(p, " ")) {
        size_t n = strcspn(p, " "), len = n;
        while (len && strchr(",;:", p[len - 1]))
            len--;
        char *word = odb_xstrndup(p, len), *before = odb_xstrndup(text, (size_t)(p - text));
        char *path = strpbrk(word, "/.") ? realpath(word, NULL) : NULL;
        if (path)
            ui_terminal_link(app->terminal, row, ui_text_width(app->terminal, before), word, path);
        free(path);
        free(before);
        free(word);
        p += n;
    }
}

static void layout_foot(const struct ui_app *app, const struct layout *layout, int *row, int *col)
{
    const struct ui_area *all = &layout->all;
    struct ui_area last = ui_area_part(all, all->rows - 1, 0, 1, all->cols);
    struct ui_area above = ui_area_part(all, 0, 0, all->rows - layout->tour.rows, all->cols);
    layout_message(app, &above);
    *row = -1;
    if (!ui_prompt_active(app->prompt)) {
        layout_hints(app, &last);
        return;
    }
    int rows = ODB_MIN(ui_prompt_popup_rows(app->prompt), ODB_MAX(all->rows - 3, 0));
    struct ui_area popup = ui_area_part(all, all->rows - 1 - rows, 0, rows, all->cols);
    if (rows) {
        ui_draw_fill(&popup, UI_STYLE_NORMAL);
        ui_prompt_draw_popup(app->prompt, &popup);
    }
    *row = all->rows - 1;
    *col = ui_prompt_draw(app->prompt, &last);
}

/* --- frames ----------------------------------------------------------------------------------- */

/* Where in the view the selection is, at the end of the line that has the title. */
static void layout_position(const struct ui_view *view, const struct ui_area *area, int used)
{
    size_t rows = view->ops->rows(view);
    if (view->ops->counted || view->ops->draw || view->height < 1 || rows <= (size_t)view->height)
        return;
    size_t at = ODB_MIN(view->selected, rows - 1) + 1;
    char *text = odb_xasprintf(" %zu/%zu %zu%% ", at, rows, at * 100 / rows);
    int width = ui_text_width(area->terminal, text);
    if (used + width + 1 < area->cols)
        ui_draw_text(area, 0, area->cols - width - 1, UI_STYLE_LABEL, text);
    free(text);
}

static void layout_pane_draw(const struct ui_app *app, const struct pane *pane)
{
    struct ui_view *view = app->views[pane->id];
    bool focused = pane->id == app->focus;
    ui_list_draw(view, &pane->area, focused);
    if (!pane->title.rows)
        return;
    struct odb_buf title = ODB_BUF_INIT;
    view->ops->title(view, &title);
    layout_rule(&pane->title, 0, focused ? UI_STYLE_TITLE : UI_STYLE_LABEL, odb_buf_text(&title));
    layout_position(view, &pane->title, 3 + ui_text_width(app->terminal, odb_buf_text(&title)));
    odb_buf_dispose(&title);
}

void ui_layout_draw(struct ui_app *app)
{
    struct layout layout;
    int row, col = 0;
    odb_session_lock(app->session);
    layout_make(app, &layout);
    odb_session_unlock(app->session);
    for (int i = 0; i < layout.n; i++) {
        struct ui_view *view = app->views[layout.panes[i].id];
        view->room = layout.panes[i].area.rows;
        if (view->ops->prepare)
            view->ops->prepare(view, layout.panes[i].area.cols);
    }
    ui_terminal_clear(app->terminal);
    odb_session_lock(app->session);
    layout_count(app);
    layout_title(app, &layout);
    for (int i = 0; i < layout.n; i++)
        layout_pane_draw(app, &layout.panes[i]);
    if (layout.divider)
        ui_draw_vline(&layout.all, 1, layout.divider, layout.panes[0].area.rows + 1,
                      UI_STYLE_BORDER);
    if (layout.about.rows && ui_app_busy(app) && odb_session_n_log(app->session))
        layout_probes(app, &layout.about);
    else if (layout.about.rows)
        layout_about(app, &layout.about);
    layout_displays(app, &layout.displays);
    if (layout.strip.rows)
        ui_strip_draw(app, ui_noise_factor(app->console), ui_app_node(app), &layout.strip);
    odb_session_unlock(app->session);
    layout_tour(app, &layout.tour);
    layout_foot(app, &layout, &row, &col);
    ui_terminal_flush(app->terminal, row, col);
    layout_link(app);
}

void ui_layout_tell(struct ui_app *app)
{
    struct layout layout;
    odb_session_lock(app->session);
    layout_make(app, &layout);
    odb_session_unlock(app->session);
    struct ui_area above =
        ui_area_part(&layout.all, 0, 0, layout.all.rows - layout.tour.rows, layout.all.cols);
    layout_message(app, &above);
    ui_terminal_flush(app->terminal, -1, 0);
}

static bool layout_inside(const struct ui_area *area, int row, int col)
{
    return row >= area->row && row < area->row + area->rows && col >= area->col &&
           col < area->col + area->cols;
}

int ui_layout_divider(const struct ui_app *app)
{
    struct layout layout;
    odb_session_lock(app->session);
    layout_make(app, &layout);
    odb_session_unlock(app->session);
    return layout.divider;
}

bool ui_layout_divider_at(struct ui_app *app, int row, int col)
{
    struct layout layout;
    odb_session_lock(app->session);
    layout_make(app, &layout);
    odb_session_unlock(app->session);
    return layout.divider && col == layout.divider && row > 0 &&
           row <= layout.panes[0].area.rows + 1;
}

bool ui_layout_strip_end_at(struct ui_app *app, int row)
{
    struct layout layout;
    odb_session_lock(app->session);
    layout_make(app, &layout);
    odb_session_unlock(app->session);
    return layout.strip.rows > 0 && row == layout.strip.row - 1 && !layout.about.rows &&
           !layout.displays.rows;
}

int ui_layout_strip_at(struct ui_app *app, int row, int col)
{
    struct layout layout;
    int node = ODB_NO_NODE;
    odb_session_lock(app->session);
    layout_make(app, &layout);
    if (layout_inside(&layout.strip, row, col))
        node = ui_strip_node(&app->strip, app->session, col - (layout.strip.cols - app->strip.n));
    odb_session_unlock(app->session);
    return node;
}

struct ui_view *ui_layout_at(struct ui_app *app, int row, int col, int *view_row, int *view_col)
{
    struct layout layout;
    odb_session_lock(app->session);
    layout_make(app, &layout);
    odb_session_unlock(app->session);
    for (int i = 0; i < layout.n; i++)
        if (layout_inside(&layout.panes[i].area, row, col) ||
            layout_inside(&layout.panes[i].title, row, col)) {
            *view_row = row - layout.panes[i].area.row;
            *view_col = col - layout.panes[i].area.col;
            return app->views[layout.panes[i].id];
        }
    return NULL;
}
