/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The command that runs: from a line to a job, and from what it printed onto the screen.
 */
#include "ui/app/running.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "command/call/call.h"
#include "command/call/console.h"
#include "command/call/parse.h"
#include "command/value/call_run.h"
#include "command/console/console_line.h"
#include "command/console/script.h"
#include "command/table/command.h"
#include "command/table/help.h"
#include "command/table/quoting.h"
#include "model/model.h"
#include "report/report.h"
#include "session/files/autosave.h"
#include "session/session.h"
#include "system/blocks.h"
#include "system/job.h"
#include "ui/app/outside.h"
#include "ui/app/tour.h"
#include "ui/list/jump.h"
#include "ui/list/result.h"
#include "ui/list/text_view.h"
#include "ui/view/app.h"
#include "ui/view/keymap.h"
#include "ui/view/saving.h"
#include "ui/view/view.h"
#include "ui/views/view_sessions.h"

/* A word for {node} or {value}; false when there is none. A row that is about no node leaves {node}
 * to the list. */
static bool running_put_subject(struct ui_app *app, const char *name, size_t n, struct odb_buf *out)
{
    const struct odb_graph *graph = odb_session_model(app->session)->graph;
    struct ui_subject subject = ui_app_subject(app);
    int node = subject.node != ODB_NO_NODE ? subject.node : ui_app_node(app);
    if (n == 4 && !strncmp(name, "node", n) && node != ODB_NO_NODE) {
        odb_buf_printf(out, "#%d", node);
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

static bool running_substitute(struct ui_app *app, const char *line, struct odb_buf *out)
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
        if (!running_put_subject(app, line + 1, n - 1, out))
            return false;
        line += n + 1;
    }
    return true;
}

static void running_dispose(struct ui_running *running)
{
    odb_call_dispose(&running->call);
    free(running->argv);
    free(running->line);
    free(running->from);
    free(running->file_name);
    free(running->out);
    *running = (struct ui_running){0};
}

void ui_running_discard(struct ui_running *running)
{
    fclose(running->file);
    running_dispose(running);
}

/* Whether a command has changed the session. Those that may be given at any time do not, and must
 * not look: another may be changing it. */
static bool running_changed(const struct ui_app *app, const struct ui_running *running)
{
    return !(running->call.command->flags & ODB_COMMAND_ANYTIME) &&
           running->generation != odb_session_generation(app->session);
}

/* After a search the first culprit is selected, after a step the node where the target stands. */
static void running_follow(struct ui_app *app, const struct ui_running *running)
{
    const struct odb_session *session = app->session;
    int last = (int)odb_session_model(session)->graph->n_nodes - 1;
    if (!running_changed(app, running))
        return;
    const struct odb_report *report = odb_session_report(session);
    if (odb_session_at(session) != running->at && odb_session_at(session) != ODB_NO_NODE)
        ui_app_jump(app, ODB_MIN(odb_session_at(session), last));
    else if (running->call.command->flags & ODB_COMMAND_RECORDS && report && report->culprits.n)
        ui_app_jump(app, report->culprits.items[0].node);
}

/* The first line of what the command says, behind what it told on the way, if there is any. */
static const char *running_says(const char *text)
{
    const char *line = text;
    while (!strncmp(line, "onnxdbg: ", 9)) {
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return *line ? line : text;
}

/* The headline of a search, as far as it is what the command says, in one row. NULL: it is not, or
 * it accuses no node. */
static char *running_result(const struct ui_app *app, const char *says)
{
    const struct odb_report *report = odb_session_report(app->session);
    struct odb_buf headline = ODB_BUF_INIT, result = ODB_BUF_INIT;
    odb_report_headline(report, &headline);
    if (!strncmp(says, odb_buf_text(&headline), headline.len))
        ui_result_put(app, report, &result);
    odb_buf_dispose(&headline);
    if (result.len)
        return odb_buf_take(&result);
    odb_buf_dispose(&result);
    return NULL;
}

/* A line goes below, more than that into a view of its own; but a search shows what it found. */
static void running_show_output(struct ui_app *app, const struct ui_running *running)
{
    const char *text = running->out ? running->out : "", *says = running_says(text);
    size_t first = strcspn(says, "\n");
    bool more = says[first] && says[first + 1];
    bool reports = running_changed(app, running);
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
               more && !reports ? 0 : (int)first, says);
    if (more && !reports)
        ui_app_open(app, UI_VIEW_OUTPUT);
    bool searched = running->call.command->flags & ODB_COMMAND_RECORDS;
    const struct odb_report *report = searched ? odb_session_report(app->session) : NULL;
    if (!report)
        return;
    char *result = running_result(app, says);
    if (result)
        ui_app_say(app, UI_STYLE_WARN, "%s", result);
    free(result);
}

static void running_redirect(struct ui_app *app, struct ui_running *running)
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
static void running_fail(struct ui_app *app, struct ui_running *running)
{
    if (running->from) {
        odb_error_at(&running->err, "%s", running->from);
        odb_console_stop(app->console);
    }
    ui_app_say_error(app, &running->err);
}

static void running_finish(struct ui_app *app, struct ui_running *running)
{
    fclose(running->file);
    if (running->file_name && running->status == ODB_OK)
        running_redirect(app, running);
    else
        running_show_output(app, running);
    if (running->status == ODB_CANCELLED)
        odb_console_stop(app->console);
    if (running->status == ODB_CANCELLED)
        ui_app_say(app, UI_STYLE_WARN, "%s was stopped%s", running->call.command->name,
                   running->call.command->flags & ODB_COMMAND_RESUMES
                       ? "; what was found until then is kept, and the same command goes on from "
                         "there"
                       : "");
    else if (running->status != ODB_OK)
        running_fail(app, running);
    if (running->call.displays) {
        free(app->displays);
        app->displays = running->call.displays;
        running->call.displays = NULL;
    }
    running_follow(app, running);
    if (running->status == ODB_OK)
        ui_tour_note(app, running->call.command->name);
    running_dispose(running);
    app->dirty = true;
}

static void running_work(void *arg)
{
    struct ui_running *running = arg;
    running->status = odb_call_run(&running->call, &running->err);
    if (running->call.command->flags & ODB_COMMAND_LONG)
        odb_blocks_give_back();
}

/* A session that has something to lose gets a file, unless it has one. searches: it is going to. */
static void running_autosave(struct ui_app *app, bool searches)
{
    const struct odb_session *session = app->session;
    bool wanted =
        searches || odb_session_annotations(session)->items.n || odb_session_n_bookmarks(session);
    if (wanted && !odb_session_path(session) &&
        odb_autosave_is_on(odb_console_get(app->console, ODB_OPTION_AUTOSAVE), app->console->saves))
        odb_autosave_begin(app->console->session);
}

static void running_tell_unsaved(struct ui_app *app)
{
    char *unsaved = odb_session_take_unsaved(app->session);
    if (unsaved && app->linear)
        fprintf(stderr, "onnxdbg: %s\n", unsaved);
    else if (unsaved)
        ui_app_say(app, UI_STYLE_WARN, "%s", unsaved);
    free(unsaved);
}

/* running stays where it is until the command has ended. */
static void running_start(struct ui_app *app, struct ui_running *running)
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
        running_finish(app, running);
    } else if (command->flags & ODB_COMMAND_LONG) {
        atomic_store(&app->console->cancel, false);
        running->began = odb_clock();
        if (command->flags & ODB_COMMAND_RECORDS)
            running_autosave(app, true);
        ui_app_say(app, UI_STYLE_MESSAGE, "%s …  %s stops it", running->line,
                   app->linear ? "Ctrl-C" : "Esc");
        if (!odb_job_start(app->job, running_work, running)) {
            ui_running_discard(running);
            ui_app_say(app, UI_STYLE_ERROR, "no thread can be started");
        }
    } else {
        running_work(running);
        running_finish(app, running);
    }
}

/* "> FILE COMMAND": takes the file's name off the line. "> FILE" alone is `write`. */
static const char *running_take_file(const char *line, struct ui_running *running,
                                     struct odb_buf *made)
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

/* A number alone: a row, or the node that has this number in the list. */
static const char *running_number(const struct ui_app *app, const char *line, struct odb_buf *made)
{
    const char *digits = line + strspn(line, " \t");
    size_t n = strspn(digits, "0123456789");
    if (!n || digits[n + strspn(digits + n, " \t")])
        return line;
    odb_buf_printf(made, app->focus == UI_VIEW_NODES ? "goto '#%.*s'" : "row %.*s", (int)n, digits);
    return odb_buf_text(made);
}

/* from: where the line stands in a file; NULL: in none. Taken. */
static void running_give(struct ui_app *app, const char *line, char *from)
{
    struct ui_running running = {.status = ODB_OK, .from = from};
    struct odb_buf text = ODB_BUF_INIT, made = ODB_BUF_INIT, number = ODB_BUF_INIT;
    app->dirty = true;
    if (!line[strspn(line, " \t")] && app->console->again)
        line = app->console->again;
    if (!line[strspn(line, " \t")]) {
        running_dispose(&running);
        return;
    }
    line = running_take_file(running_number(app, line, &number), &running, &made);
    if (!running_substitute(app, line, &text)) {
        ui_app_say(app, UI_STYLE_WARN, "there is nothing under the cursor for `%s`", line);
        odb_buf_dispose(&text);
        odb_buf_dispose(&made);
        odb_buf_dispose(&number);
        running_dispose(&running);
        return;
    }
    odb_buf_dispose(&made);
    odb_buf_dispose(&number);
    running.line = odb_buf_take(&text);
    enum odb_status status = odb_console_parse(app->console, running.line, &running.argv,
                                               &running.call, ui_app_busy(app), &running.err);
    if (status == ODB_OK && app->takes && !app->takes(running.call.command)) {
        status = odb_fail(&running.err, ODB_E_USAGE, "%s is about one model",
                          running.call.command->name);
        odb_error_remedy(&running.err, "Enter opens the one that is selected");
    }
    if (status == ODB_OK && running.file_name)
        status = ui_outside_text_file(running.file_name, &running.err);
    if (status != ODB_OK) {
        running_fail(app, &running);
        running_dispose(&running);
    } else if (running.call.command->flags & ODB_COMMAND_LONG) {
        app->running = running;
        running_start(app, &app->running);
    } else {
        running_start(app, &running);
    }
}

void ui_running_start(struct ui_app *app, const struct ui_start *start)
{
    app->place = start->place;
    ui_app_command(app, start->command);
    app->place = NULL;
}

void ui_running_give(struct ui_app *app, const char *line)
{
    running_give(app, line, NULL);
}

void ui_running_collect(struct ui_app *app)
{
    char *line, *from;
    if (odb_job_collect(app->job))
        running_finish(app, &app->running);
    ui_saving_collect(app->saving);
    if (!ui_app_busy(app))
        running_autosave(app, false);
    running_tell_unsaved(app);
    ui_offer_collect(app);
    while (!ui_app_busy(app) && !app->quit && (line = odb_console_next(app->console, &from))) {
        running_give(app, line, from);
        free(line);
    }
}
