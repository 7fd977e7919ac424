/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The filter of a view that has one of its own: rows that hold a text.
 */
#include "ui/app/narrow.h"

#include <stdlib.h>

#include "ui/view/action.h"
#include "ui/view/app.h"
#include "ui/view/prompt.h"

enum odb_status ui_narrow(struct ui_view *view, const struct odb_command_call *call,
                          struct odb_error *err)
{
    struct ui_app *app = view->app;
    const char *now = view->ops->filtered(view);
    if (call->n_args) {
        char *text = ui_action_words(call);
        view->ops->filter(view, text);
        free(text);
        return ODB_OK;
    }
    free(app->narrowed_before);
    app->narrowed_before = odb_xstrdup(now ? now : "");
    app->narrowed = view;
    app->asking = UI_ASK_NARROW;
    return ui_app_ask(app, UI_PROMPT_SEARCH, "filter: ", now ? now : "", err);
}

void ui_narrow_live(struct ui_app *app)
{
    app->narrowed->ops->filter(app->narrowed, ui_prompt_text(app->prompt));
}

void ui_narrow_typed(struct ui_app *app, bool given)
{
    app->narrowed->ops->filter(app->narrowed,
                               given ? ui_prompt_text(app->prompt) : app->narrowed_before);
}
