/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the list of nodes shows is changed here: by a filter, an order, scopes that are folded. Each
 * change can be taken back.
 */
#include "ui/app/arrange.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/call/call.h"
#include "command/call/console.h"
#include "command/console/verb_undo.h"
#include "command/table/command.h"
#include "session/session.h"
#include "ui/app/narrow.h"
#include "ui/list/jump.h"
#include "ui/list/list.h"
#include "ui/list/view_nodes.h"
#include "ui/terminal/draw.h"
#include "ui/view/action.h"
#include "ui/view/app.h"
#include "ui/view/outline.h"
#include "ui/view/prompt.h"

#define ARRANGE_MOST 100 /* changes that can be taken back */

static struct ui_view *arrange_nodes(const struct ui_app *app)
{
    return app->views[UI_VIEW_NODES];
}

static struct ui_arrangement *arrange_how(const struct ui_app *app)
{
    return &ui_nodes_outline(arrange_nodes(app))->how;
}

/* --- taking back ------------------------------------------------------------------------------ */

static void arrange_forget(struct ui_arrangements *list)
{
    for (size_t i = 0; i < list->n; i++)
        ui_arrangement_dispose(&list->items[i]);
    list->n = 0;
}

void ui_arrange_dispose(struct ui_app *app)
{
    arrange_forget(&app->undo);
    arrange_forget(&app->redo);
    free(app->undo.items);
    free(app->redo.items);
    ui_arrangement_dispose(&app->before);
}

static void arrange_push_take(struct ui_arrangements *list, struct ui_arrangement how,
                              unsigned long when)
{
    how.when = when;
    if (list->n == ARRANGE_MOST) {
        ui_arrangement_dispose(&list->items[0]);
        memmove(list->items, list->items + 1, --list->n * sizeof *list->items);
    }
    odb_push(list, how);
}

/* `undo` and `redo` go by time, over all that can be taken back. */
static void arrange_tell(struct ui_app *app)
{
    struct odb_undo *undo = &app->console->undo;
    undo->list_undo = app->undo.n ? app->undo.items[app->undo.n - 1].when : 0;
    undo->list_redo = app->redo.n ? app->redo.items[app->redo.n - 1].when : 0;
}

/* It is about to change, or has: so it was before. */
static void arrange_note_take(struct ui_app *app, struct ui_arrangement before)
{
    arrange_push_take(&app->undo, before, odb_console_changed(app->console));
    arrange_forget(&app->redo);
    arrange_tell(app);
}

void ui_arrange_note(struct ui_app *app)
{
    struct ui_arrangement now;
    ui_arrangement_copy(&now, arrange_how(app));
    arrange_note_take(app, now);
}

/* It did not change after all. */
static void arrange_unnote(struct ui_app *app)
{
    ui_arrangement_dispose(&app->undo.items[--app->undo.n]);
    arrange_tell(app);
}

static void arrange_put_take(struct ui_app *app, struct ui_arrangement how)
{
    struct ui_outline *outline = ui_nodes_outline(arrange_nodes(app));
    size_t at;
    char *filter = how.filter;
    int node = ui_app_node(app);
    how.filter = NULL;
    ui_arrangement_dispose(&outline->how);
    outline->how = how;
    if (ui_outline_filter(outline, filter, &at, NULL) != ODB_OK)
        outline->how.filter = NULL; /* it was parsed once: cannot be */
    free(filter);
    ui_nodes_remake(arrange_nodes(app));
    ui_nodes_goto(arrange_nodes(app), node);
}

static enum odb_status arrange_swap(struct ui_app *app, struct ui_arrangements *from,
                                    struct ui_arrangements *to, const char *what,
                                    struct odb_error *err)
{
    struct ui_arrangement now;
    if (!from->n)
        return odb_fail(err, ODB_E_USAGE, "no change of the list can be %s", what);
    ui_arrangement_copy(&now, arrange_how(app));
    arrange_push_take(to, now, ++app->console->undo.changes);
    arrange_put_take(app, from->items[--from->n]);
    arrange_tell(app);
    return ODB_OK;
}

UI_ACTION(undo_view)
{
    return arrange_swap(app, &app->undo, &app->redo, "taken back", err);
}

UI_ACTION(redo_view)
{
    return arrange_swap(app, &app->redo, &app->undo, "made again", err);
}

/* --- filter ----------------------------------------------------------------------------------- */

#define ARRANGE_LABEL "filter: "

/* What is wrong, below a line at whose column `at` it is. */
static void arrange_say_where(struct ui_app *app, size_t at, const struct odb_error *err)
{
    char text[512];
    const char *line = ui_prompt_text(app->prompt);
    char *before = odb_xstrndup(line, ODB_MIN(at, strlen(line)));
    int col = (int)strlen(ARRANGE_LABEL) + ui_text_width(app->terminal, before);
    odb_error_text(err, text, sizeof text);
    int room = app->terminal->cols - col - 2;
    if (col < app->terminal->cols - 1 && ui_text_width(app->terminal, text) <= room)
        ui_app_say(app, UI_STYLE_WARN, "%*s%s %s", col, "",
                   ui_glyph_text(UI_GLYPH_ARROW_DOWN, app->terminal->unicode), text);
    else /* no room behind the place */
        ui_app_say(app, UI_STYLE_WARN, "column %zu: %s", at + 1, text);
    free(before);
}

void ui_arrange_live(struct ui_app *app)
{
    struct odb_error err = ODB_ERROR_INIT;
    size_t at = 0;
    if (ui_nodes_filter(arrange_nodes(app), ui_prompt_text(app->prompt), &at, &err) != ODB_OK)
        arrange_say_where(app, at, &err);
    else
        ui_app_say(app, UI_STYLE_MESSAGE, "%s", "");
    ui_nodes_goto(arrange_nodes(app), app->filter_origin);
}

void ui_arrange_typed(struct ui_app *app, bool given)
{
    struct odb_error err = ODB_ERROR_INIT;
    size_t at = 0;
    struct ui_arrangement before = app->before;
    app->before = (struct ui_arrangement){.depth = UI_DEPTH_ALL};
    enum odb_status status =
        given ? ui_nodes_filter(arrange_nodes(app), ui_prompt_text(app->prompt), &at, &err)
              : ODB_OK;
    if (!given || status != ODB_OK) {
        arrange_put_take(app, before);
        ui_nodes_goto(arrange_nodes(app), app->filter_origin);
        if (status != ODB_OK)
            ui_app_say_error(app, &err);
        return;
    }
    arrange_note_take(app, before);
}

UI_ACTION(filter)
{
    const char *now = ui_nodes_filter_text(arrange_nodes(app));
    if (ui_app_view(app)->ops->filter)
        return ui_narrow(ui_app_view(app), call, err);
    if (call->n_args) {
        char *text = ui_action_words(call);
        size_t at = 0;
        ui_arrange_note(app);
        enum odb_status status = ui_nodes_filter(arrange_nodes(app), text, &at, err);
        if (status != ODB_OK) {
            arrange_unnote(app);
            odb_error_at(err, "column %zu of '%.60s'", at + 1, text);
        }
        free(text);
        return status;
    }
    ui_app_open(app, UI_VIEW_NODES);
    app->asking = UI_ASK_FILTER;
    ui_arrangement_dispose(&app->before);
    ui_arrangement_copy(&app->before, arrange_how(app));
    app->filter_origin = ui_app_node(app);
    return ui_app_ask(app, UI_PROMPT_FILTER, ARRANGE_LABEL, now ? now : "", err);
}

/* --- order ------------------------------------------------------------------------------------ */

/* What `sort COLUMN ORDER` asks for. A column given again is turned round; numbers begin with the
 * largest. */
static enum odb_status arrange_order(const struct odb_command_call *call,
                                     const struct ui_arrangement *now, enum ui_sort *sort,
                                     bool *descending, struct odb_error *err)
{
    const char *name = odb_call_arg(call, 0), *order = odb_call_arg(call, 1);
    int found = UI_SORT_COUNT;
    if (!name) {
        *sort = now->sort == UI_SORT_INDEX ? UI_SORT_VERDICT : UI_SORT_INDEX;
        *descending = *sort != UI_SORT_INDEX;
        return ODB_OK;
    }
    if (!strcmp(name, "reverse")) {
        *sort = now->sort;
        *descending = !now->descending;
        return ODB_OK;
    }
    for (int i = 0; i < UI_SORT_COUNT; i++)
        if (!strcmp(name, ui_sort_name((enum ui_sort)i)))
            found = i;
    if (found == UI_SORT_COUNT) {
        odb_fail(err, ODB_E_USAGE, "nodes have no column '%.40s'", name);
        return odb_error_remedy(err, "choose one of %s", ODB_SORTS);
    }
    *sort = (enum ui_sort)found;
    if (order)
        *descending = !strcmp(order, "desc");
    else
        *descending = *sort == now->sort ? !now->descending : *sort >= UI_SORT_ERROR;
    return ODB_OK;
}

UI_ACTION(sort)
{
    struct ui_arrangement *how = arrange_how(app);
    enum ui_sort sort = how->sort;
    bool descending = how->descending, listed = odb_call_arg(call, 0) != NULL;
    ODB_TRY(arrange_order(call, how, &sort, &descending, err));
    if (sort == how->sort && descending == how->descending)
        return ODB_OK;
    ui_arrange_note(app);
    how->sort = sort;
    how->descending = descending;
    ui_nodes_remake(arrange_nodes(app));
    if (!listed && sort != UI_SORT_INDEX) /* to the worst */
        ui_list_select(arrange_nodes(app), 0);
    ui_app_say(app, UI_STYLE_MESSAGE, "sorted by %s%s", ui_sort_name(sort),
               !descending               ? ""
               : sort == UI_SORT_VERDICT ? ", the worst first"
                                         : ", largest first");
    return ODB_OK;
}

/* --- scopes ----------------------------------------------------------------------------------- */

/* Down to which depth scopes are open after `fold HOW`; -1: it is no way to fold. */
static int arrange_depth(const struct ui_outline *outline, const char *how)
{
    int now = ODB_MIN(outline->how.depth, outline->deepest);
    if (!strcmp(how, "all"))
        return outline->trunk_depth;
    if (!strcmp(how, "none"))
        return UI_DEPTH_ALL;
    if (!strcmp(how, "more"))
        return ODB_MAX(now - 1, ODB_MIN(outline->trunk_depth, now));
    if (!strcmp(how, "less"))
        return now + 1 >= outline->deepest ? UI_DEPTH_ALL : now + 1;
    if (how[strspn(how, "0123456789")])
        return -1;
    unsigned long depth = strtoul(how, NULL, 10);
    return depth < UI_DEPTH_ALL ? (int)depth : UI_DEPTH_ALL;
}

static enum odb_status arrange_fold_row(struct ui_app *app, const char *how, struct odb_error *err)
{
    struct ui_view *nodes = arrange_nodes(app);
    struct ui_outline *outline = ui_nodes_outline(nodes);
    const struct odb_graph *graph = odb_session_model(app->session)->graph;
    size_t row = ui_nodes_outline_row(nodes);
    bool folded = ui_outline_row(outline, graph, row).n > 1;
    bool fold = !strcmp(how, "close") || (!strcmp(how, "toggle") && !folded);
    if (ui_nodes_fold_body(nodes, how) || ui_outline_fold(outline, graph, row, fold))
        return ODB_OK;
    return odb_fail(err, ODB_E_USAGE,
                    !fold    ? "nothing is folded in this row"
                    : folded ? "no scope is around this one"
                             : "this node's name has no scope, such as /encoder/…");
}

UI_ACTION(fold)
{
    const char *how = odb_call_arg(call, 0) ? odb_call_arg(call, 0) : "toggle";
    static const char *const rows[] = {"toggle", "open", "close", NULL};
    struct ui_outline *outline = ui_nodes_outline(arrange_nodes(app));
    bool about_row = false;
    for (size_t i = 0; rows[i]; i++)
        about_row |= !strcmp(how, rows[i]);
    int node = ui_app_node(app);
    ui_arrange_note(app);
    enum odb_status status = ODB_OK;
    if (about_row) {
        status = arrange_fold_row(app, how, err);
    } else {
        ui_outline_look(outline, odb_session_model(app->session)->graph);
        int depth = arrange_depth(outline, how);
        if (depth < 0) {
            status = odb_fail(err, ODB_E_USAGE, "'%.40s' is no way to fold", how);
            odb_error_remedy(err, "choose toggle, open, close, all, none, more, less or a depth");
        } else if (!outline->deepest && !app->constants.n) {
            status = odb_fail(err, ODB_E_USAGE,
                              "no name in this model has a scope, such as "
                              "/encoder/…");
        } else {
            bool none = !strcmp(how, "none") ||
                        (!strcmp(how, "less") && outline->how.depth >= outline->deepest);
            ui_outline_depth(outline, depth, none);
        }
    }
    if (status != ODB_OK) {
        arrange_unnote(app);
        return status;
    }
    ui_nodes_remake(arrange_nodes(app));
    if (!about_row)
        ui_nodes_goto(arrange_nodes(app), node);
    return ODB_OK;
}
