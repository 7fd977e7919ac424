/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What views and actions ask of the screen as a whole: messages, questions, and which view is on
 * top.
 */
#include "ui/view/app.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/buf.h"
#include "command/table/table.h"
#include "model/model.h"
#include "session/session.h"
#include "system/job.h"
#include "ui/view/prompt.h"
#include "ui/view/view.h"

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

/* Bytes of an option that the prompt keeps, behind its dashes, at the beginning of a text; 0: none.
 */
static size_t app_setting(const char *text)
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz-");
    for (int id = 0; id < ODB_OPTION_COUNT && n; id++) {
        const struct odb_option *option = odb_option_row((enum odb_option_id)id);
        if (option->setting != ODB_SETTING_NONE && strlen(option->name) == n &&
            !strncmp(option->name, text, n))
            return n;
    }
    return 0;
}

char *ui_app_words(const char *text)
{
    struct odb_buf out = ODB_BUF_INIT;
    bool shell = strstr(text, "onnxdbg ") != NULL; /* there it is meant for a shell */
    for (const char *p = text; *p; p++) {
        bool begins = p == text || strchr(" (`", p[-1]);
        size_t n = !shell && begins && !strncmp(p, "--", 2) ? app_setting(p + 2) : 0;
        if (n) {
            odb_buf_printf(&out, ":set %.*s", (int)n, p + 2);
            p += 1 + n;
        } else {
            odb_buf_putc(&out, *p == '\n' ? ' ' : *p);
        }
    }
    return odb_buf_take(&out);
}

void ui_app_say_error(struct ui_app *app, const struct odb_error *err)
{
    char text[2048];
    char *words = ui_app_words(odb_error_text(err, text, sizeof text));
    ui_app_say(app, UI_STYLE_ERROR, "%s%s%s", app->place ? app->place : "", app->place ? ": " : "",
               words);
    free(words);
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

const struct ui_turn *ui_app_turn(const struct ui_app *app)
{
    return ui_app_busy(app) ? &app->turn : NULL;
}

double ui_app_seconds(const struct ui_app *app, double seconds)
{
    return app->frozen ? 0 : seconds;
}

struct ui_view *ui_app_view(const struct ui_app *app)
{
    return app->views[app->focus];
}

bool ui_app_has(const struct ui_app *app, enum ui_view_id id)
{
    static const enum ui_view_id of_fleets[] = {UI_VIEW_FLEET, UI_VIEW_HELP, UI_VIEW_OUTPUT,
                                                UI_VIEW_CHOOSE};
    if (app->root != UI_VIEW_FLEET)
        return id != UI_VIEW_FLEET;
    for (size_t i = 0; i < ODB_COUNT(of_fleets); i++)
        if (of_fleets[i] == id)
            return true;
    return false;
}

void ui_app_open(struct ui_app *app, enum ui_view_id id)
{
    int kept = 0;
    for (int i = 0; i < app->depth; i++) /* a view lies in the stack once */
        if (app->stack[i] != id || i == 0)
            app->stack[kept++] = app->stack[i];
    app->depth = id == app->root ? 1 : kept;
    if (id != app->root)
        app->stack[app->depth++] = id;
    app->focus = id;
    app->dirty = true;
}

bool ui_app_back(struct ui_app *app)
{
    if (app->depth == 1 && app->focus == app->root)
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

void ui_app_command(struct ui_app *app, const char *line)
{
    app->give(app, line);
}

bool ui_app_interrupted(const struct ui_app *app)
{
    struct signalfd_siginfo info;
    bool any = false;
    while (app->interrupt >= 0 && read(app->interrupt, &info, sizeof info) > 0)
        any = true;
    return any;
}
