/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "base/clock.h"
#include "command/call/call.h"
#include "command/call/console.h"
#include "command/call/parse.h"
#include "command/console/console_line.h"
#include "command/console/script.h"
#include "command/table/command.h"
#include "command/table/help.h"
#include "command/table/quoting.h"
#include "model/model.h"
#include "report/report.h"
#include "session/session.h"
#include "system/job.h"
#include "ui/app/actions.h"
#include "ui/terminal/key.h"
#include "ui/terminal/terminal.h"
#include "ui/view/app.h"
#include "ui/view/keymap.h"
#include "ui/view/saving.h"

/* --- small things ----------------------------------------------------------------------------- */

void ui_app_say(struct ui_app *app, enum ui_style style, const char *fmt, ...)
{
    va_list args;
    free(app->message);
    va_start(args, fmt);
    if (vasprintf(&app->message, fmt, args) < 0)
        app->message = NULL;
    va_end(args);
    app->message_style = style;
    if (app->linear && app->message && *app->message)
        fprintf(app->linear, "%s\n", app->message);
    app->linked = false;
    app->dirty = true;
}

void ui_app_say_error(struct ui_app *app, const struct odb_error *err)
{
    char text[2048];
    ui_app_say(app, UI_STYLE_ERROR, "%s%s%s", app->place ? app->place : "", app->place ? ": " : "",
               odb_error_text(err, text, sizeof text));
    app->failed = true;
    size_t n = strlen(err->remedy);
    if (app->prompt && !ui_prompt_active(app->prompt) && n > 8 &&
        !strncmp(err->remedy, "type `:", 7)) { /* then it is typed already */
        char *line = odb_xstrndup(err->remedy + 7, n - 8);
        app->asking = UI_ASK_COMMAND;
        ui_prompt_begin(app->prompt, UI_PROMPT_COMMAND, ":", line);
        free(line);
    }
}

enum odb_status ui_app_ask(struct ui_app *app, enum ui_prompt_kind kind, const char *label,
                           const char *text, struct odb_error *err)
{
    if (!app->prompt) {
        odb_fail(err, ODB_E_USAGE, "without a screen no question can be asked");
        return odb_error_remedy(err, "give the command with its words, as in `filter op:Conv`");
    }
    ui_prompt_begin(app->prompt, kind, label, text);
    return ODB_OK;
}

void ui_app_wake(struct ui_app *app)
{
    if (!atomic_exchange(&app->woken, true)) {
        ssize_t n = write(app->wake[1], "", 1);
        (void)n; /* a full pipe wakes as well */
    }
}

bool ui_app_busy(const struct ui_app *app)
{
    return odb_job_busy(app->job);
}

double ui_app_seconds(const struct ui_app *app, double seconds)
{
    return app->frozen ? 0 : seconds;
}

/* --- views ------------------------------------------------------------------------------------ */

struct ui_view *ui_app_view(const struct ui_app *app)
{
    return app->views[app->focus];
}

void ui_app_open(struct ui_app *app, enum ui_view_id id)
{
    int kept = 0;
    for (int i = 0; i < app->depth; i++) /* a view lies in the stack once */
        if (app->stack[i] != id || i == 0)
            app->stack[kept++] = app->stack[i];
    app->depth = id == UI_VIEW_NODES ? 1 : kept;
    if (id != UI_VIEW_NODES)
        app->stack[app->depth++] = id;
    app->focus = id;
    app->dirty = true;
}

bool ui_app_back(struct ui_app *app)
{
    if (app->depth == 1 && app->focus == UI_VIEW_NODES)
        return false;
    if (app->depth > 1)
        app->depth--;
    app->focus = app->stack[app->depth - 1];
    app->dirty = true;
    return true;
}

struct ui_subject ui_app_subject(const struct ui_app *app)
{
    const struct ui_view *view = ui_app_view(app);
    struct ui_subject subject = {ODB_NO_NODE, ODB_NO_VALUE};
    odb_session_lock(app->session);
    if (view->ops->subject)
        view->ops->subject(view, &subject);
    odb_session_unlock(app->session);
    return subject;
}

int ui_app_node(const struct ui_app *app)
{
    return ui_nodes_selected(app->views[UI_VIEW_NODES]);
}

/* Selects a node that may be hidden. */
static void app_select(struct ui_app *app, int node)
{
    struct ui_view *nodes = app->views[UI_VIEW_NODES];
    size_t at;
    ui_nodes_reveal(nodes, node);
    ui_nodes_goto(nodes, node);
    if (ui_app_node(app) != node && ui_nodes_filter_text(nodes) &&
        ui_nodes_filter(nodes, NULL, &at, NULL) == ODB_OK) {
        ui_nodes_goto(nodes, node);
        ui_app_say(app, UI_STYLE_MESSAGE, "the filter hid node #%d; all nodes are listed again",
                   node);
    }
}

void ui_app_jump(struct ui_app *app, int node)
{
    int from = ui_app_node(app);
    if (from == node) {
        ui_nodes_reveal(app->views[UI_VIEW_NODES], node);
        return;
    }
    if (from != ODB_NO_NODE)
        odb_push(&app->trail, from);
    app->ahead.n = 0;
    app_select(app, node);
}

bool ui_app_travel(struct ui_app *app, bool back)
{
    int from = ui_app_node(app);
    if (back ? !app->trail.n : !app->ahead.n)
        return false;
    int to = back ? app->trail.items[--app->trail.n] : app->ahead.items[--app->ahead.n];
    if (from != ODB_NO_NODE && back)
        odb_push(&app->ahead, from);
    else if (from != ODB_NO_NODE)
        odb_push(&app->trail, from);
    app_select(app, to);
    return true;
}

/* --- commands --------------------------------------------------------------------------------- */

/* A word for {node} or {value}; false when there is nothing under the cursor. */
static bool app_put_subject(struct ui_app *app, const char *name, size_t n, struct odb_buf *out)
{
    const struct odb_graph *graph = odb_session_model(app->session)->graph;
    struct ui_subject subject = ui_app_subject(app);
    if (n == 4 && !strncmp(name, "node", n) && subject.node != ODB_NO_NODE) {
        odb_buf_printf(out, "#%d", subject.node);
        return true;
    }
    if (n == 5 && !strncmp(name, "value", n) && subject.value != ODB_NO_VALUE) {
        const struct odb_value *value = &graph->values[subject.value];
        if (*value->name)
            odb_words_quote(out, value->name);
        else
            odb_buf_printf(out, "#%d:%d", value->producer, value->slot);
        return true;
    }
    return false;
}

static bool app_substitute(struct ui_app *app, const char *line, struct odb_buf *out)
{
    while (*line) {
        size_t n = strcspn(line, "{");
        odb_buf_add(out, line, n);
        line += n;
        if (!*line)
            break;
        n = strcspn(line, "}");
        bool known = !strncmp(line, "{node}", 6) || !strncmp(line, "{value}", 7);
        if (!known) {
            odb_buf_putc(out, *line++);
            continue;
        }
        if (!app_put_subject(app, line + 1, n - 1, out))
            return false;
        line += n + 1;
    }
    return true;
}

static void app_running_dispose(struct ui_running *running)
{
    odb_call_dispose(&running->call);
    free(running->argv);
    free(running->line);
    free(running->from);
    free(running->file_name);
    free(running->out);
    *running = (struct ui_running){0};
}

void ui_app_discard(struct ui_running *running)
{
    fclose(running->file);
    app_running_dispose(running);
}

/* Whether a command has changed the session. Those that may be given at any time do not, and must
 * not look: another may be changing it. */
static bool app_changed(const struct ui_app *app, const struct ui_running *running)
{
    return !(running->call.command->flags & ODB_COMMAND_ANYTIME) &&
           running->generation != odb_session_generation(app->session);
}

/* After a search the first culprit is selected, after a step the node where the target stands. */
static void app_follow(struct ui_app *app, const struct ui_running *running)
{
    const struct odb_session *session = app->session;
    int last = (int)odb_session_model(session)->graph->n_nodes - 1;
    if (!app_changed(app, running))
        return;
    const struct odb_report *report = odb_session_report(session);
    if (odb_session_at(session) != running->at && odb_session_at(session) != ODB_NO_NODE)
        ui_app_jump(app, ODB_MIN(odb_session_at(session), last));
    else if (running->call.command->flags & ODB_COMMAND_RECORDS && report && report->culprits.n)
        ui_app_jump(app, report->culprits.items[0].node);
}

/* A line goes below, more than that into a view of its own; but a search shows what it found. */
static void app_show_output(struct ui_app *app, const struct ui_running *running)
{
    const char *text = running->out ? running->out : "";
    size_t first = strcspn(text, "\n");
    bool more = text[first] && text[first + 1];
    bool reports = app_changed(app, running);
    if (app->linear) {
        fputs(text, app->linear);
        return;
    }
    if (*text)
        ui_output_show(app->views[UI_VIEW_OUTPUT], running->line, text);
    if (*text && running->status == ODB_CANCELLED &&
        !(running->call.command->flags & ODB_COMMAND_RESUMES))
        ui_app_open(app, UI_VIEW_OUTPUT); /* what there is by then, and where it was written */
    if (!*text || running->status != ODB_OK)
        return;
    ui_app_say(app, running->call.found ? UI_STYLE_WARN : UI_STYLE_MESSAGE, "%.*s",
               more && !reports ? 0 : (int)first, text);
    if (more && !reports)
        ui_app_open(app, UI_VIEW_OUTPUT);
    bool searched = running->call.command->flags & ODB_COMMAND_RECORDS;
    const struct odb_report *report = searched ? odb_session_report(app->session) : NULL;
    if (report && odb_report_hint(report))
        ui_app_say(app, UI_STYLE_WARN, "%.*s; %s", (int)first, text, odb_report_hint(report));
}

static void app_redirect(struct ui_app *app, struct ui_running *running)
{
    struct odb_error err = ODB_ERROR_INIT;
    if (ui_outside_write(running->file_name, running->out ? running->out : "", running->out_size,
                         running->over, &err) != ODB_OK)
        ui_app_say_error(app, &err);
    else
        ui_app_say(app, UI_STYLE_MESSAGE, "%zu bytes are in %s", running->out_size,
                   running->file_name);
}

/* Says what went wrong. The rest of a file is not given. */
static void app_fail(struct ui_app *app, struct ui_running *running)
{
    if (running->from) {
        odb_error_at(&running->err, "%s", running->from);
        odb_console_stop(app->console);
    }
    ui_app_say_error(app, &running->err);
}

static void app_finish(struct ui_app *app, struct ui_running *running)
{
    fclose(running->file);
    if (running->file_name && running->status == ODB_OK)
        app_redirect(app, running);
    else
        app_show_output(app, running);
    if (running->status == ODB_CANCELLED)
        odb_console_stop(app->console);
    if (running->status == ODB_CANCELLED)
        ui_app_say(app, UI_STYLE_WARN, "%s was stopped%s", running->call.command->name,
                   running->call.command->flags & ODB_COMMAND_RESUMES
                       ? "; what was found until then is kept, and the same command goes on from "
                         "there"
                       : "");
    else if (running->status != ODB_OK)
        app_fail(app, running);
    app_follow(app, running);
    if (running->status == ODB_OK)
        ui_tour_note(app, running->call.command->name);
    app_running_dispose(running);
    app->dirty = true;
}

static void app_work(void *arg)
{
    struct ui_running *running = arg;
    running->status = odb_call_run(&running->call, &running->err);
}

/* running stays where it is until the command has ended. */
static void app_start(struct ui_app *app, struct ui_running *running)
{
    const struct odb_command *command = running->call.command;
    running->file = open_memstream(&running->out, &running->out_size);
    running->call.out = running->call.log = running->file;
    if (!(command->flags & ODB_COMMAND_ANYTIME)) {
        running->generation = odb_session_generation(app->session);
        running->at = odb_session_at(app->session);
    }
    if (odb_call_has(&running->call, ODB_OPTION_HELP)) {
        struct odb_buf text = ODB_BUF_INIT;
        odb_help_command(command, &text);
        fputs(odb_buf_text(&text), running->file);
        odb_buf_dispose(&text);
        app_finish(app, running);
    } else if (command->flags & ODB_COMMAND_LONG) {
        atomic_store(&app->console->cancel, false);
        running->began = odb_clock();
        ui_app_say(app, UI_STYLE_MESSAGE, "%s …  %s stops it", running->line,
                   app->linear ? "Ctrl-C" : "Esc");
        if (!odb_job_start(app->job, app_work, running)) {
            ui_app_discard(running);
            ui_app_say(app, UI_STYLE_ERROR, "no thread can be started");
        }
    } else {
        app_work(running);
        app_finish(app, running);
    }
}

/* "> FILE COMMAND": takes the file's name off the line. "> FILE" alone is `write`. */
static const char *app_take_file(const char *line, struct ui_running *running, struct odb_buf *made)
{
    line += strspn(line, " \t");
    if (*line != '>')
        return line;
    running->over = line[1] == '!';
    const char *file = line + 1 + running->over;
    file += strspn(file, " \t");
    size_t n = strcspn(file, " \t");
    const char *rest = file + n + strspn(file + n, " \t");
    char *name = odb_xstrndup(file, n);
    if (*rest && n) {
        running->file_name = name;
        return rest;
    }
    odb_buf_puts(made, "write ");
    if (n)
        odb_words_quote(made, name);
    odb_buf_puts(made, running->over ? " over" : "");
    free(name);
    return odb_buf_text(made);
}

/* from: where the line stands in a file; NULL: in none. Taken. */
static void app_give(struct ui_app *app, const char *line, char *from)
{
    struct ui_running running = {.status = ODB_OK, .from = from};
    struct odb_buf text = ODB_BUF_INIT, made = ODB_BUF_INIT;
    app->dirty = true;
    if (!line[strspn(line, " \t")] && app->console->again)
        line = app->console->again;
    if (!line[strspn(line, " \t")]) {
        app_running_dispose(&running);
        return;
    }
    line = app_take_file(line, &running, &made);
    if (!app_substitute(app, line, &text)) {
        ui_app_say(app, UI_STYLE_WARN, "there is nothing under the cursor for `%s`", line);
        odb_buf_dispose(&text);
        odb_buf_dispose(&made);
        app_running_dispose(&running);
        return;
    }
    odb_buf_dispose(&made);
    running.line = odb_buf_take(&text);
    enum odb_status status = odb_console_parse(app->console, running.line, &running.argv,
                                               &running.call, ui_app_busy(app), &running.err);
    if (status == ODB_OK && running.file_name)
        status = ui_outside_text_file(running.file_name, &running.err);
    if (status != ODB_OK) {
        app_fail(app, &running);
        app_running_dispose(&running);
    } else if (running.call.command->flags & ODB_COMMAND_LONG) {
        app->running = running;
        app_start(app, &app->running);
    } else {
        app_start(app, &running);
    }
}

void ui_app_start(struct ui_app *app, const struct ui_start *start)
{
    app->place = start->place;
    ui_app_command(app, start->command);
    app->place = NULL;
}

void ui_app_command(struct ui_app *app, const char *line)
{
    app_give(app, line, NULL);
}

/* --- the loop --------------------------------------------------------------------------------- */

static void app_search_live(struct ui_app *app)
{
    struct ui_view *view = ui_app_view(app);
    const char *text = ui_prompt_text(app->prompt);
    if (app->asking == UI_ASK_FILTER) {
        ui_arrange_live(app);
    } else if (app->asking == UI_ASK_NARROW) {
        ui_narrow_live(app);
    } else if (app->asking == UI_ASK_SEARCH) {
        ui_list_select(view, app->search_origin);
        if (*text && !ui_list_find(view, text, 1, true))
            ui_app_say(app, UI_STYLE_WARN, "nothing holds '%s'", text);
        else
            ui_app_say(app, UI_STYLE_MESSAGE, "%s", "");
    }
}

static void app_asked(struct ui_app *app, bool given)
{
    char *text = odb_xstrdup(ui_prompt_text(app->prompt));
    switch (app->asking) {
    case UI_ASK_COMMAND:
        if (given)
            ui_app_command(app, text);
        break;
    case UI_ASK_SEARCH:
        if (given && *text) {
            free(app->search);
            app->search = odb_xstrdup(text);
        } else if (!given) {
            ui_list_select(ui_app_view(app), app->search_origin);
            ui_app_say(app, UI_STYLE_MESSAGE, "%s", "");
        }
        break;
    case UI_ASK_FILTER:
        ui_arrange_typed(app, given);
        break;
    case UI_ASK_NARROW:
        ui_narrow_typed(app, given);
        break;
    }
    free(text);
}

/* A message stands until the next key or click, that of a command on its way until it is done. */
static void app_unsay(struct ui_app *app)
{
    if (app->message && !ui_app_busy(app))
        ui_app_say(app, UI_STYLE_MESSAGE, "%s", "");
}

/* What a command with {key} in it becomes when the key is there. */
static void app_wanted(struct ui_app *app, int key)
{
    char name[16], *line = app->wanting, *at = strstr(line, "{key}");
    struct odb_buf text = ODB_BUF_INIT;
    app->wanting = NULL;
    if (key != UI_KEY_ESC) {
        odb_buf_add(&text, line, (size_t)(at - line));
        odb_words_quote(&text, ui_key_name(key, name, sizeof name));
        odb_buf_puts(&text, at + strlen("{key}"));
        ui_app_command(app, odb_buf_text(&text));
    }
    odb_buf_dispose(&text);
    free(line);
}

static void app_key(struct ui_app *app, int key)
{
    const char *view = ui_app_view(app)->name;
    char name[16];
    app_unsay(app);
    if (app->wanting) {
        app_wanted(app, key);
        return;
    }
    if (app->prefix && key == UI_KEY_ESC) {
        app->prefix = 0;
        return;
    }
    if (!app->prefix && ui_keymap_begins(app->keymap, view, key)) {
        app->prefix = key;
        return;
    }
    key = app->prefix ? ui_key_pair(app->prefix, key) : key;
    app->prefix = 0;
    const struct ui_binding *binding = ui_keymap_find(app->keymap, view, key);
    if (binding && strstr(binding->command, "{key}"))
        app->wanting = odb_xstrdup(binding->command);
    else if (binding)
        ui_app_command(app, binding->command);
    else
        ui_app_say(app, UI_STYLE_WARN, "the key %s does nothing here; ? lists the keys",
                   ui_key_name(key, name, sizeof name));
}

/* A click on the title of a column sorts by it, and once more the other way round. False: there is
 * none. */
static bool app_click_title(struct ui_app *app, const struct ui_view *view, int row, int col)
{
    odb_session_lock(app->session);
    const char *column = view->ops->column ? view->ops->column(view, row, col) : NULL;
    odb_session_unlock(app->session);
    struct odb_buf line = ODB_BUF_INIT;
    odb_buf_puts(&line, "sort ");
    odb_words_quote(&line, column ? column : "");
    if (column)
        ui_app_command(app, odb_buf_text(&line));
    odb_buf_dispose(&line);
    return column != NULL;
}

static void app_click(struct ui_app *app, const struct ui_event *event)
{
    int row, col, node = ui_layout_strip_at(app, event->row, event->col);
    struct ui_view *view = ui_layout_at(app, event->row, event->col, &row, &col);
    app_unsay(app);
    app->prefix = 0;
    app->dragging = ui_layout_divider_at(app, event->row, event->col) ? UI_DRAG_DIVIDER
                    : ui_layout_strip_end_at(app, event->row)         ? UI_DRAG_STRIP
                    : node != ODB_NO_NODE                             ? UI_DRAG_ALONG
                                                                      : UI_DRAG_NOTHING;
    if (node != ODB_NO_NODE)
        ui_app_jump(app, node);
    if (!view)
        return;
    for (int id = 0; id < UI_VIEW_COUNT; id++)
        if (app->views[id] == view)
            app->focus = (enum ui_view_id)id;
    if (app_click_title(app, view, row, col))
        return;
    size_t at = view->ops->at         ? view->ops->at(view, row, col)
                : row >= view->header ? view->top + (size_t)(row - view->header)
                                      : SIZE_MAX;
    if (at == SIZE_MAX)
        return;
    ui_list_select(view, at);
    if (event->twice)
        ui_app_command(app, "open");
}

/* The mouse moved with its button down. */
static void app_drag(struct ui_app *app, const struct ui_event *event)
{
    int node;
    switch (app->dragging) {
    case UI_DRAG_DIVIDER:
        app->divide = ODB_MAX(event->col, 1);
        break;
    case UI_DRAG_STRIP:
        app->strip_rows = ODB_MAX(app->terminal->rows - 2 - event->row, 2);
        break;
    case UI_DRAG_ALONG:
        node = ui_layout_strip_at(app, app->terminal->rows - 3, event->col);
        if (node != ODB_NO_NODE)
            ui_nodes_goto(app->views[UI_VIEW_NODES], node);
        break;
    case UI_DRAG_NOTHING:
        break;
    }
}

/* A theme that was asked for counts more than what the terminal says. */
static void app_background(struct ui_app *app, int light)
{
    if (!app->theme_is_set)
        app->terminal->background = light < 128 ? UI_BACKGROUND_DARK : UI_BACKGROUND_LIGHT;
}

static void app_wheel(struct ui_app *app, const struct ui_event *event)
{
    int row, col;
    struct ui_view *view = ui_layout_at(app, event->row, event->col, &row, &col);
    size_t by = view && view->ops->draw ? 1 : 3;
    if (!view)
        return;
    if (event->delta < 0)
        ui_list_select(view, view->selected > by ? view->selected - by : 0);
    else
        ui_list_select(view, view->selected + by);
}

static void app_event(struct ui_app *app, const struct ui_event *event)
{
    enum ui_prompt_answer answer;
    app->dirty = true;
    switch (event->what) {
    case UI_EVENT_KEY:
        app_key(app, event->key);
        break;
    case UI_EVENT_BYTE:
        answer = ui_prompt_byte(app->prompt, event->key);
        if (answer == UI_PROMPT_MORE)
            app_search_live(app);
        else
            app_asked(app, answer == UI_PROMPT_DONE);
        break;
    case UI_EVENT_CLICK:
        app_click(app, event);
        break;
    case UI_EVENT_WHEEL:
        app_wheel(app, event);
        break;
    case UI_EVENT_DRAG:
        app_drag(app, event);
        break;
    case UI_EVENT_RELEASE:
        app->dragging = UI_DRAG_NOTHING;
        break;
    case UI_EVENT_BACKGROUND:
        app_background(app, event->delta);
        break;
    case UI_EVENT_SUSPEND:
        ui_terminal_suspend(app->terminal);
        break;
    case UI_EVENT_QUIT:
        app->quit = app->interrupted = true;
        break;
    case UI_EVENT_RESIZE:
    case UI_EVENT_RESUMED:
    case UI_EVENT_NONE:
        break;
    }
}

#define APP_FRAME 0.04 /* seconds between frames that nobody's key asked for */
#define APP_TICK 250   /* milliseconds between frames while something runs */

/* Waits for keys, signals and other threads. True when a key or a signal came. */
static bool app_wait(struct ui_app *app)
{
    int fds[2];
    ui_terminal_fds(app->terminal, fds);
    struct pollfd polled[] = {{.fd = fds[0], .events = POLLIN},
                              {.fd = fds[1], .events = POLLIN},
                              {.fd = app->wake[0], .events = POLLIN}};
    double due = app->last_frame + APP_FRAME - odb_clock();
    int timeout = app->dirty ? (int)ODB_MAX(due * 1000, 0) + 1 : ui_app_busy(app) ? APP_TICK : -1;
    int n = poll(polled, ODB_COUNT(polled), timeout);
    if (n == 0 && ui_app_busy(app))
        app->dirty = true;
    if (n > 0 && polled[2].revents) {
        char drain[64];
        while (read(app->wake[0], drain, sizeof drain) == (ssize_t)sizeof drain)
            ;
        atomic_store(&app->woken, false); /* last: a byte that is drained leaves no mark behind */
        app->dirty = true;
    }
    return n > 0 && (polled[0].revents || polled[1].revents);
}

void ui_app_collect(struct ui_app *app)
{
    char *line, *from;
    if (odb_job_collect(app->job))
        app_finish(app, &app->running);
    ui_saving_collect(app->saving);
    while (!ui_app_busy(app) && !app->quit && (line = odb_console_next(app->console, &from))) {
        app_give(app, line, from);
        free(line);
    }
}

/* A pane that there is no room for any more gives the keys back. */
static void app_keep_focus(struct ui_app *app)
{
    enum ui_view_id seen[UI_VIEW_COUNT];
    int n = ui_layout_visible(app, seen), i = 0;
    while (i < n && seen[i] != app->focus)
        i++;
    if (i == n)
        app->focus = app->stack[app->depth - 1];
}

void ui_app_run(struct ui_app *app)
{
    struct ui_event event;
    app->dirty = true;
    while (!app->quit) {
        ui_app_collect(app);
        if (app->dirty && odb_clock() - app->last_frame >= APP_FRAME) {
            app_keep_focus(app);
            ui_layout_draw(app);
            app->dirty = false;
            app->last_frame = odb_clock();
        }
        bool input = app_wait(app);
        while (!app->quit && ui_terminal_read(app->terminal, &event))
            app_event(app, &event);
        if (input) /* what a key does is seen at once */
            app->last_frame = 0;
    }
}
