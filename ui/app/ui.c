/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The screen from its opening to its end.
 */
#include "ui/app/ui.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "command/call/console.h"
#include "interpret/cpu.h"
#include "session/session.h"
#include "system/job.h"
#include "ui/app/actions.h"
#include "ui/app/arrange.h"
#include "ui/app/loop.h"
#include "ui/app/plain_screen.h"
#include "ui/app/running.h"
#include "ui/fleet/fleet_commands.h"
#include "ui/list/jump.h"
#include "ui/terminal/draw.h"
#include "ui/terminal/terminal.h"
#include "ui/view/app.h"
#include "ui/view/keymap.h"
#include "ui/view/outline.h"
#include "ui/view/prompt.h"
#include "ui/view/saving.h"
#include "ui/views/view_sessions.h"
#include "ui/view/strip.h"

static const struct ui_known_view {
    const char *name;
    const struct ui_view_ops *ops;
} ui_views[UI_VIEW_COUNT] = {
#define UI_VIEW_ROW(id, word) [UI_VIEW_##id] = {#word, &ui_##word##_view},
    ODB_VIEW_LIST(UI_VIEW_ROW)
#undef UI_VIEW_ROW
};

static void ui_wake(void *app)
{
    ui_app_wake(app);
}

static void ui_open_views(struct ui_app *app)
{
    ui_constants_find(&app->constants, app->session);
    app->strip.constants = &app->constants;
    for (int id = 0; id < UI_VIEW_COUNT; id++) {
        struct ui_view *view = odb_xcalloc(1, ui_views[id].ops->size);
        view->ops = ui_views[id].ops;
        view->name = ui_views[id].name;
        view->app = app;
        app->views[id] = view;
        if (view->ops->open)
            view->ops->open(view);
    }
    app->stack[0] = app->focus = app->root;
    app->depth = 1;
}

static void ui_close(struct ui_app *app)
{
    atomic_store(&app->console->cancel, true);
    ui_prompt_close(app->prompt);
    ui_terminal_close(app->terminal);
    odb_job_free(app->job); /* waits until what runs has stopped */
    ui_saving_free(app->saving);
    ui_offer_close(app);
    if (app->running.call.command)
        ui_running_discard(&app->running);
    for (int id = 0; id < UI_VIEW_COUNT; id++) {
        if (app->views[id] && app->views[id]->ops->close)
            app->views[id]->ops->close(app->views[id]);
        free(app->views[id]);
    }
    ui_keymap_free(app->keymap);
    ui_strip_dispose(&app->strip);
    ui_constants_dispose(&app->constants);
    free(app->trail.items);
    free(app->ahead.items);
    ui_arrange_dispose(app);
    free(app->wanting);
    free(app->search);
    free(app->narrowed_before);
    free(app->message);
    free(app->displays);
    close(app->wake[0]);
    close(app->wake[1]);
}

/* Whether some output can be computed by the reference. */
static bool ui_reaches_output(const struct odb_session *session)
{
    const struct odb_graph *graph = odb_session_model(session)->graph;
    bool *marks = odb_new_n(bool, graph->n_nodes + 1), reached = false;
    for (size_t o = 0; o < graph->n_outputs && !reached; o++) {
        odb_graph_ancestors(graph, &graph->outputs[o], 1, NULL, marks);
        reached = true;
        for (size_t i = 0; i < graph->n_nodes && reached; i++)
            reached = !marks[i] || !*odb_cpu_unsupported(odb_session_cpu(session), (int)i);
    }
    free(marks);
    return reached;
}

/* What to do first, in one row: the title has the target where this has no room for it. */
static void ui_invite(struct ui_app *app)
{
    const char *target = odb_console_target(app->console);
    const char *reference = odb_console_reference(app->console), *keys = "? lists the keys";
    struct odb_buf text = ODB_BUF_INIT;
    odb_buf_printf(&text, "F finds where %s diverges from %s; %s", target, reference, keys);
    bool fits =
        app->linear || ui_text_width(app->terminal, odb_buf_text(&text)) <= app->terminal->cols;
    ui_app_say(app, UI_STYLE_MESSAGE, "%s finds where %s diverges from %s; %s",
               app->linear ? "bisect" : "F", fits ? target : "the target",
               fits ? reference : "the reference", app->linear ? "help lists the commands" : keys);
    odb_buf_dispose(&text);
}

/* False: it says why the target is of no use here, and nothing else is to be said. */
static bool ui_greet(struct ui_app *app)
{
    const struct odb_session *session = app->session;
    const char *target = odb_console_target(app->console);
    char why[512];
    size_t n = odb_session_model(session)->graph->n_nodes, unsupported = 0;
    for (size_t i = 0; i < n; i++)
        unsupported += *odb_cpu_unsupported(odb_session_cpu(session), (int)i) != 0;
    if (odb_session_report(session) && odb_session_report(session)->culprits.n)
        ui_app_jump(app, odb_session_report(session)->culprits.items[0].node);
    if (odb_session_report(session))
        ui_app_say(app, UI_STYLE_MESSAGE,
                   "the last search of this session is shown; F searches "
                   "again");
    else if (app->console->unended)
        ui_app_say(app, UI_STYLE_MESSAGE,
                   "the search of this session did not end; %s goes on with it",
                   app->linear ? "bisect" : "F");
    else if (!odb_executor_usable(target, why, sizeof why)) {
        ui_app_say(app, UI_STYLE_ERROR, "%s cannot be used here: %s; %s chooses another target",
                   target, why, app->linear ? "`set target`" : "T");
        return false;
    } else if (unsupported)
        ui_app_say(
            app, UI_STYLE_WARN, "the reference has no kernel for %zu of %zu nodes (U); %s",
            unsupported, n,
            ui_reaches_output(session)
                ? "what does not depend on them can be judged"
                : "it did not reach an output, so F cannot search, but r judges what it reaches");
    else
        ui_invite(app);
    return true;
}

/* Whether there can be no screen: where one was asked for, that is an error with a way out. */
static bool ui_is_linear(const struct odb_console *console)
{
    const char *term = getenv("TERM");
    return console->linear ||
           (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && !strcmp(term, "dumb"));
}

static enum odb_status ui_open_terminal(struct ui_app *app, struct odb_error *err)
{
    struct ui_terminal_options options = {.mouse = true, .ascii = getenv("ONNXDBG_ASCII") != NULL};
    if (ui_is_linear(app->console) && app->console->fleet) {
        odb_fail(err, ODB_E_USAGE, "this terminal (TERM=dumb) cannot show a fleet");
        return odb_error_remedy(err, "`onnxdbg fleet FILE` prints it");
    }
    if (ui_is_linear(app->console)) {
        app->linear = stdout;
        return ui_terminal_open_blind(&app->terminal, 24, 80, err);
    }
    ODB_TRY(ui_terminal_open(&app->terminal, &options, err));
    ui_prompt_open(&app->prompt, app->terminal, app->console);
    return ODB_OK;
}

enum odb_status ui_main(struct odb_console *console, struct odb_error *err)
{
    struct ui_app app = {.console = console,
                         .give = ui_running_give,
                         .session = console->session,
                         .before.depth = UI_DEPTH_ALL,
                         .interrupt = -1,
                         .frozen = getenv("ONNXDBG_FROZEN_CLOCK") != NULL};
    enum odb_status status;
    if (pipe2(app.wake, O_NONBLOCK | O_CLOEXEC) != 0)
        return odb_fail(err, ODB_E_IO, "no pipe can be made: %s", strerror(errno));
    app.job = odb_job_new(ui_wake, &app);
    app.saving = ui_saving_new(&app);
    struct odb_error keys = ODB_ERROR_INIT;
    enum odb_status read = ui_keymap_load(&app.keymap, &keys);
    ODB_TRY_OUT(ui_open_terminal(&app, err));
    if (console->fleet) {
        app.root = UI_VIEW_FLEET;
        app.takes = ui_fleet_takes;
        ui_fleet_trim_keys(app.keymap);
    }
    ui_open_views(&app);
    console->screen = ui_action;
    console->payload = &app;
    odb_session_set_wake(console->session, ui_wake, &app);
    bool usable = !console->fleet && ui_greet(&app);
    if (console->fleet)
        ui_app_say(&app, UI_STYLE_MESSAGE,
                   "Enter unfolds a cause, and opens a model with its session; ? lists the keys");
    if (!app.linear)
        ui_terminal_ask_background(app.terminal);
    for (size_t i = 0; i < app.keymap->starts.n; i++)
        ui_running_start(&app, &app.keymap->starts.items[i]);
    if (read != ODB_OK)
        ui_app_say_error(&app, &keys);
    if (usable)
        ui_offer_look(&app);
    if (app.linear)
        ui_linear_run(&app);
    else
        ui_loop_run(&app);
    if (app.interrupted)
        status = odb_fail(err, ODB_CANCELLED, "interrupted");
out:
    ui_close(&app);
    odb_session_set_wake(console->session, NULL, NULL);
    console->screen = NULL;
    console->payload = NULL;
    return status;
}
