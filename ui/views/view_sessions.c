/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The session files in the current folder and in that of the model, and those that were saved by
 * themselves: what was searched, when, and what came of it. They are read when something in these
 * folders has changed.
 */
#include "ui/views/view_sessions.h"

#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "command/call/console.h"
#include "command/console/findings.h"
#include "command/console/sessions.h"
#include "command/table/command.h"
#include "command/table/quoting.h"
#include "model/model.h"
#include "session/files/autosave.h"
#include "session/files/stored.h"
#include "session/session.h"
#include "system/job.h"
#include "ui/list/table_view.h"
#include "ui/terminal/draw.h"
#include "ui/terminal/terminal.h"
#include "ui/view/app.h"
#include "ui/view/mark.h"
#include "ui/view/prompt.h"
#include "ui/view/view.h"

#define OFFER_TARGET 12 /* columns that a target keeps in the line that offers its session */

struct sessions_view {
    struct ui_cells_view cells;
    struct timespec changed[3];      /* the folders, when they were read */
    const struct odb_report *report; /* of the session that is open, then; never looked into */
};

static const struct ui_cells_column sessions_columns[UI_CELLS + 1] = {
    {"session", 28, UI_CUT_MIDDLE, UI_STYLE_NAME}, {"model", 20, UI_CUT_MIDDLE, UI_STYLE_NORMAL},
    {"began (UTC)", 16, UI_CUT_END, UI_STYLE_DIM}, {"found", 24, UI_CUT_END, UI_STYLE_NORMAL},
    {"target", 0, UI_CUT_MIDDLE, UI_STYLE_DIM},
};

static void sessions_add(struct sessions_view *v, const struct odb_stored *s)
{
    struct odb_buf result = ODB_BUF_INIT, enter = ODB_BUF_INIT;
    const char *model = s->model ? s->model : "?", *base = strrchr(model, '/');
    odb_sessions_put_result(s, &result);
    odb_buf_puts(&enter, "session ");
    odb_words_quote(&enter, s->path);
    ui_cells_add_take(
        &v->cells,
        (struct ui_cells_row){
            .cells = {odb_xstrdup(odb_autosave_is(s->path) ? "saved by itself" : s->path),
                      odb_xstrdup(base ? base + 1 : model),
                      s->began
                          ? odb_xasprintf("%.16s",
                                          v->cells.view.app->frozen ? "2000-01-01 00:00" : s->began)
                          : NULL,
                      odb_buf_take(&result), s->target ? odb_xstrdup(s->target) : NULL},
            .mark = ui_outcomes[s->outcome].mark,
            .style = ui_outcomes[s->outcome].style,
            .enter = odb_buf_take(&enter),
            .what = odb_xstrdup(s->path),
            .value = ODB_NO_VALUE});
}

static void sessions_add_take(struct sessions_view *v, char **paths, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct odb_stored stored;
        if (odb_stored_read(&stored, paths[i], NULL) == ODB_OK)
            sessions_add(v, &stored);
        odb_stored_dispose(&stored);
    }
    odb_stored_list_free(paths, n);
}

static void sessions_read(struct sessions_view *v, const char *folder)
{
    char **paths = NULL;
    size_t n = 0;
    if (odb_stored_list(&paths, &n, folder, NULL) == ODB_OK)
        sessions_add_take(v, paths, n);
}

static void sessions_read_own(struct sessions_view *v)
{
    char **paths;
    size_t n;
    odb_autosave_list(&paths, &n);
    sessions_add_take(v, paths, n);
}

static bool sessions_changed(struct timespec *seen, const char *folder)
{
    struct stat st = {.st_mode = 0};
    if (stat(folder, &st) != 0)
        return false;
    bool changed = st.st_mtim.tv_sec != seen->tv_sec || st.st_mtim.tv_nsec != seen->tv_nsec;
    *seen = st.st_mtim;
    return changed;
}

static void sessions_prepare(struct ui_view *view, int cols)
{
    struct sessions_view *v = (struct sessions_view *)view;
    char *model = odb_xstrdup(odb_session_model(view->app->session)->path);
    const char *folder = *model ? dirname(model) : ".";
    bool here = sessions_changed(&v->changed[0], ".");
    bool there = strcmp(folder, ".") && sessions_changed(&v->changed[1], folder);
    char *saved = odb_autosave_folder();
    bool own = saved && sessions_changed(&v->changed[2], saved);
    own |= v->report != odb_session_report(view->app->session);
    v->report = odb_session_report(view->app->session);
    free(saved);
    if (here || there || own) {
        ui_cells_begin(&v->cells);
        sessions_read(v, ".");
        if (strcmp(folder, ".") != 0)
            sessions_read(v, folder);
        sessions_read_own(v);
    }
    free(model);
    ui_cells_end(&v->cells, cols);
}

/* --- the offer -------------------------------------------------------------------------------- */

struct ui_offer {
    struct odb_job *job;           /* owned */
    const struct odb_model *model; /* borrowed */
    struct odb_autosave_found found;
    bool looked; /* and found belongs to the screen's thread */
    bool said, gone;
};

static void offer_look(void *arg)
{
    struct ui_offer *offer = arg;
    odb_autosave_find(&offer->found, offer->model);
}

static void offer_wake(void *app)
{
    ui_app_wake(app);
}

/* In one row, as far as a target can be cut. */
static void offer_put(const struct ui_app *app, const char *age, struct odb_buf *out)
{
    const struct odb_stored *stored = &app->offer->found.stored;
    struct odb_buf rest = ODB_BUF_INIT;
    odb_buf_puts(&rest, ": ");
    odb_sessions_put_result(stored, &rest);
    odb_buf_printf(&rest, "; %s opens it", app->linear ? "session" : "Enter");
    odb_buf_printf(out, "searched %s, ", age);
    int room = app->terminal->cols - (int)out->len - (int)rest.len;
    ui_text_put_cut(app->terminal, stored->target ? stored->target : "?",
                    app->linear ? INT_MAX : ODB_MAX(room, OFFER_TARGET), out);
    odb_buf_puts(out, odb_buf_text(&rest));
    odb_buf_dispose(&rest);
}

static void offer_say(struct ui_app *app)
{
    struct odb_buf age = ODB_BUF_INIT, text = ODB_BUF_INIT;
    odb_findings_put_age(app->offer->found.stored.when, &age);
    if (app->offer->found.changed)
        odb_buf_printf(&text,
                       "the model has changed since it was searched %s; %s lists that session",
                       odb_buf_text(&age), app->linear ? "view sessions" : "K");
    else
        offer_put(app, odb_buf_text(&age), &text);
    ui_app_say(app, UI_STYLE_MESSAGE, "%s", odb_buf_text(&text));
    odb_buf_dispose(&age);
    odb_buf_dispose(&text);
}

void ui_offer_collect(struct ui_app *app)
{
    struct ui_offer *offer = app->offer;
    if (!offer || offer->said)
        return;
    if (odb_job_collect(offer->job))
        offer->looked = true;
    if (!offer->looked)
        return;
    offer->said = true;
    offer->gone |= ui_app_busy(app) || app->console->pending.n || !offer->found.stored.path;
    if (!offer->gone)
        offer_say(app);
}

void ui_offer_look(struct ui_app *app)
{
    if (odb_session_path(app->session) ||
        !odb_autosave_is_on(odb_console_get(app->console, ODB_OPTION_AUTOSAVE),
                            app->console->saves))
        return;
    struct ui_offer *offer = app->offer = odb_new(struct ui_offer);
    offer->model = odb_session_model(app->session);
    offer->job = odb_job_new(offer_wake, app);
    if (!app->linear && odb_job_start(offer->job, offer_look, offer))
        return;
    offer_look(offer);
    offer->looked = true;
    ui_offer_collect(app);
}

const char *ui_offer_path(const struct ui_app *app)
{
    const struct ui_offer *offer = app->offer;
    return offer && offer->looked && !offer->found.changed ? offer->found.stored.path : NULL;
}

bool ui_offer_stands(const struct ui_app *app)
{
    return ui_offer_path(app) && app->offer->said && !app->offer->gone;
}

void ui_offer_withdraw(struct ui_app *app)
{
    if (app->offer)
        app->offer->gone = true;
}

void ui_offer_close(struct ui_app *app)
{
    if (!app->offer)
        return;
    odb_job_free(app->offer->job);
    odb_autosave_found_dispose(&app->offer->found);
    free(app->offer);
    app->offer = NULL;
}

/* --- the view --------------------------------------------------------------------------------- */

/* Types the command that deletes the file, so that Enter is the yes to it. */
static enum ui_answer sessions_act(struct ui_view *view, const struct odb_command_call *call,
                                   struct odb_error *err)
{
    const struct ui_cells_row *row = ui_cells_selected(view);
    if (call->command->screen != ODB_SCREEN_DROP)
        return ui_cells_act(view, call, err);
    if (!row) {
        odb_fail(err, ODB_E_USAGE, "there is no session here to delete");
        return UI_FAILED;
    }
    struct odb_buf line = ODB_BUF_INIT;
    odb_buf_puts(&line, "sessions --delete ");
    odb_words_quote(&line, row->what);
    view->app->asking = UI_ASK_COMMAND;
    enum odb_status status =
        ui_app_ask(view->app, UI_PROMPT_COMMAND, "really? :", odb_buf_text(&line), err);
    odb_buf_dispose(&line);
    return status == ODB_OK ? UI_DONE : UI_FAILED;
}

static void sessions_open(struct ui_view *view)
{
    struct ui_cells_view *v = (struct ui_cells_view *)view;
    v->columns = sessions_columns;
    v->empty = "none here; --session FILE begins one";
}

static void sessions_title(const struct ui_view *view, struct odb_buf *out)
{
    odb_buf_puts(out, "sessions");
    ui_cells_count(view, out);
}

const struct ui_view_ops ui_sessions_view = {
    .help = "searches kept in files, and what they found",
    .size = sizeof(struct sessions_view),
    .open = sessions_open,
    .close = ui_cells_close,
    .title = sessions_title,
    .prepare = sessions_prepare,
    .act = sessions_act,
    UI_CELLS_OPS,
};
