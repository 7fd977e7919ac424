/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the commands of screen.def do. A command is offered to the view that has the keys, then to
 * what all lists can do, then to the screen as a whole, whose functions are the table at the end.
 */
#include "ui/app/actions.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/call/console.h"
#include "command/console/reopen.h"
#include "command/table/command.h"
#include "command/value/names.h"
#include "model/model.h"
#include "model/write/body_model.h"
#include "session/session.h"
#include "ui/app/arrange.h"
#include "ui/app/layout.h"
#include "ui/app/appearance.h"
#include "ui/app/outside.h"
#include "ui/app/tour.h"
#include "ui/fleet/view_fleet.h"
#include "ui/list/body_view.h"
#include "ui/list/jump.h"
#include "ui/list/list.h"
#include "ui/list/view_nodes.h"
#include "ui/tensor/view_tensor.h"
#include "ui/terminal/terminal.h"
#include "ui/view/action.h"
#include "ui/terminal/key.h"
#include "ui/view/app.h"
#include "ui/view/keymap.h"
#include "ui/view/prompt.h"
#include "ui/view/saving.h"
#include "ui/view/view.h"
#include "ui/views/view_bookmark.h"
#include "ui/views/view_choose.h"
#include "ui/views/view_sessions.h"

static size_t action_count(const struct odb_command_call *call)
{
    const char *n = odb_call_arg(call, 0);
    return n ? strtoul(n, NULL, 10) : 0;
}

/* --- going places ----------------------------------------------------------------------------- */

static enum odb_status action_goto(struct ui_app *app, const struct odb_command_call *call,
                                   struct odb_error *err)
{
    int node;
    const char *text = call->args[0];
    struct odb_body_path path;
    enum odb_status status =
        odb_body_find_node(odb_session_model(app->session)->graph, text, &path, &node, err);
    if (status == ODB_OK && path.n) {
        ui_app_jump(app, path.steps[0].node);
        ui_body_show(app, &path, node);
        return ODB_OK;
    }
    if (status != ODB_OK && text[strspn(text, "0123456789")] == '\0') { /* as the list shows it */
        char *index = odb_xasprintf("#%s", text);
        status = odb_graph_find_node(odb_session_model(app->session)->graph, index, &node, err);
        free(index);
    }
    if (status == ODB_OK)
        ui_app_jump(app, node);
    return status;
}

/* The node that something is done from: under the cursor, else the one selected in the list. */
static int action_node(const struct ui_app *app)
{
    struct ui_subject subject = ui_app_subject(app);
    return subject.node != ODB_NO_NODE ? subject.node : ui_app_node(app);
}

static enum odb_status action_producer(struct ui_app *app, const struct odb_command_call *call,
                                       struct odb_error *err)
{
    const struct odb_graph *graph = odb_session_model(app->session)->graph;
    int from = action_node(app), found = ODB_NO_NODE;
    size_t wanted = action_count(call), seen = 0;
    bool by_slot = odb_call_arg(call, 0) != NULL;
    if (from == ODB_NO_NODE)
        return odb_fail(err, ODB_E_USAGE, "no node is selected");
    const struct odb_node *node = &graph->nodes[from];
    for (int i = 0; i < node->n_in && found == ODB_NO_NODE; i++) {
        int producer =
            node->in[i] == ODB_NO_VALUE ? ODB_NO_NODE : graph->values[node->in[i]].producer;
        if (by_slot ? (size_t)i == wanted : producer != ODB_NO_NODE && seen++ == 0)
            found = producer;
    }
    if (found == ODB_NO_NODE)
        return odb_fail(err, ODB_E_USAGE, "no node makes %s of #%d",
                        by_slot ? "this input" : "an input", from);
    ui_app_jump(app, found);
    return ODB_OK;
}

static enum odb_status action_consumer(struct ui_app *app, const struct odb_command_call *call,
                                       struct odb_error *err)
{
    const struct odb_graph *graph = odb_session_model(app->session)->graph;
    size_t left = action_count(call);
    int from = action_node(app);
    if (from == ODB_NO_NODE)
        return odb_fail(err, ODB_E_USAGE, "no node is selected");
    const struct odb_node *node = &graph->nodes[from];
    for (int o = 0; o < node->n_out; o++) {
        if (node->out[o] == ODB_NO_VALUE)
            continue;
        const struct odb_value *value = &graph->values[node->out[o]];
        if (left < value->n_consumers) {
            ui_app_jump(app, value->consumers[left]);
            if (value->n_consumers > 1)
                ui_app_say(app, UI_STYLE_MESSAGE,
                           "one of %zu nodes that read it; `consumer N` goes to another",
                           value->n_consumers);
            return ODB_OK;
        }
        left -= value->n_consumers;
    }
    return odb_fail(err, ODB_E_USAGE, "no %snode reads what #%d makes",
                    odb_call_arg(call, 0) ? "such " : "", from);
}

/* The next node that way that is accused, or whose verdict is bad. */
static int action_next(const struct ui_app *app, int step, bool accused)
{
    const struct odb_session *session = app->session;
    int n = (int)odb_session_model(session)->graph->n_nodes, at = ui_app_node(app);
    int found = ODB_NO_NODE;
    odb_session_lock(session);
    for (int i = 1; i <= n && found == ODB_NO_NODE; i++) {
        int node = ((at + step * i) % n + n) % n;
        const struct odb_value_report *report = odb_session_node(session, node, NULL);
        bool culprit = report->culprit || odb_session_culprit(session, node);
        if (culprit || (!accused && odb_verdict_is_bad(report->verdict)))
            found = node;
    }
    odb_session_unlock(session);
    return found;
}

static enum odb_status action_culprit(struct ui_app *app, int step, struct odb_error *err)
{
    int found = action_next(app, step, true);
    if (found == ODB_NO_NODE && action_next(app, step, false) == ODB_NO_NODE)
        return odb_fail(err, ODB_E_USAGE, "no node that was looked at diverges");
    if (found == ODB_NO_NODE) {
        odb_fail(err, ODB_E_USAGE, "no node is accused");
        return odb_error_remedy(err, "`next-divergence` goes to those that are off");
    }
    if (found == ui_app_node(app))
        ui_app_say(app, UI_STYLE_MESSAGE,
                   "this is the only culprit; `filter off` lists what it led to");
    ui_app_jump(app, found);
    return ODB_OK;
}

static enum odb_status action_next_culprit(struct ui_app *app, const struct odb_command_call *call,
                                           struct odb_error *err)
{
    return action_culprit(app, 1, err);
}

static enum odb_status action_prev_culprit(struct ui_app *app, const struct odb_command_call *call,
                                           struct odb_error *err)
{
    return action_culprit(app, -1, err);
}

static enum odb_status action_divergence(struct ui_app *app, int step, struct odb_error *err)
{
    int found = action_next(app, step, false);
    if (found == ODB_NO_NODE)
        return odb_fail(err, ODB_E_USAGE, "no node that was looked at diverges");
    ui_app_jump(app, found);
    return ODB_OK;
}

static enum odb_status action_next_divergence(struct ui_app *app,
                                              const struct odb_command_call *call,
                                              struct odb_error *err)
{
    return action_divergence(app, 1, err);
}

static enum odb_status action_prev_divergence(struct ui_app *app,
                                              const struct odb_command_call *call,
                                              struct odb_error *err)
{
    return action_divergence(app, -1, err);
}

/* --- views ------------------------------------------------------------------------------------ */

static enum odb_status action_open(struct ui_app *app, const struct odb_command_call *call,
                                   struct odb_error *err)
{
    struct ui_subject subject = ui_app_subject(app);
    const char *name = odb_call_arg(call, 0);
    if (name)
        ODB_TRY(odb_call__find_value(odb_session_model(app->session)->graph, name, &subject.value,
                                     err));
    if (!name && (app->focus == UI_VIEW_NODES || subject.value == ODB_NO_VALUE)) {
        bool itself = app->focus == UI_VIEW_NODE && subject.node == ui_app_node(app);
        if (subject.node == ODB_NO_NODE || itself)
            return odb_fail(err, ODB_E_USAGE, "there is nothing to look into in this row");
        ui_app_jump(app, subject.node);
        ui_app_open(app, UI_VIEW_NODE);
        return ODB_OK;
    }
    ui_tensor_show(app->views[UI_VIEW_TENSOR], subject.value);
    ui_app_open(app, UI_VIEW_TENSOR);
    return ODB_OK;
}

static enum odb_status action_back(struct ui_app *app, const struct odb_command_call *call,
                                   struct odb_error *err)
{
    if (ui_app_back(app))
        return ODB_OK;
    if (!ui_app_travel(app, true))
        return odb_fail(err, ODB_E_USAGE, "there is nowhere to go back to; q leaves");
    return ODB_OK;
}

static enum odb_status action_jump_back(struct ui_app *app, const struct odb_command_call *call,
                                        struct odb_error *err)
{
    if (!ui_app_travel(app, true))
        return odb_fail(err, ODB_E_USAGE, "there was no jump before this place");
    return ODB_OK;
}

static enum odb_status action_jump_forward(struct ui_app *app, const struct odb_command_call *call,
                                           struct odb_error *err)
{
    if (!ui_app_travel(app, false))
        return odb_fail(err, ODB_E_USAGE, "nothing was gone back from");
    return ODB_OK;
}

/* Esc: whatever is going on stops, one thing at a time. */
static enum odb_status action_cancel(struct ui_app *app, const struct odb_command_call *call,
                                     struct odb_error *err)
{
    struct ui_view *nodes = app->views[UI_VIEW_NODES];
    size_t at;
    if (ui_app_busy(app)) {
        atomic_store(&app->console->cancel, true);
        ui_app_say(app, UI_STYLE_WARN, "stopping …");
    } else if (ui_saving_path(app->saving)) {
        ui_saving_stop(app->saving);
    } else if (!ui_app_back(app) && ui_nodes_filter_text(nodes)) {
        return ui_nodes_filter(nodes, NULL, &at, err);
    }
    return ODB_OK;
}

/* What is under the cursor: of a node, the output that its verdict is from, or the first. */
static int action_value(const struct ui_app *app, const struct ui_subject *subject)
{
    const struct odb_session *session = app->session;
    int value = subject->value;
    if (value != ODB_NO_VALUE || subject->node == ODB_NO_NODE)
        return value;
    const struct odb_node *node = &odb_session_model(session)->graph->nodes[subject->node];
    odb_session_lock(session);
    odb_session_node(session, subject->node, &value);
    odb_session_unlock(session);
    for (int o = 0; o < node->n_out && value == ODB_NO_VALUE; o++)
        value = node->out[o];
    return value;
}

/* Where no value has been opened yet, the view of values shows what is under the cursor. */
static void action_choose_value(struct ui_app *app)
{
    struct ui_view *tensor = app->views[UI_VIEW_TENSOR];
    struct ui_subject shown, subject = ui_app_subject(app);
    tensor->ops->subject(tensor, &shown);
    if (shown.value != ODB_NO_VALUE)
        return;
    int value = action_value(app, &subject);
    if (value != ODB_NO_VALUE)
        ui_tensor_show(tensor, value);
}

/* Reference and target of what the selected node makes, whatever was looked at before. */
static enum odb_status action_show_diff(struct ui_app *app, struct odb_error *err)
{
    struct ui_subject subject = {ui_app_node(app), ODB_NO_VALUE};
    int value = action_value(app, &subject);
    if (value == ODB_NO_VALUE)
        return odb_fail(err, ODB_E_USAGE, "no node that makes a value is selected");
    ui_tensor_show(app->views[UI_VIEW_TENSOR], value);
    ui_app_open(app, UI_VIEW_TENSOR);
    ui_app_command(app, "mode all");
    return ODB_OK;
}

static enum odb_status action_show(struct ui_app *app, const struct odb_command_call *call,
                                   struct odb_error *err)
{
    const char *name = odb_call_arg(call, 0);
    if (!name || !strcmp(name, app->views[UI_VIEW_CHOOSE]->name)) {
        ui_choose_views(app->views[UI_VIEW_CHOOSE]);
        ui_app_open(app, UI_VIEW_CHOOSE);
        return ODB_OK;
    }
    if (!strcmp(name, "diff") && app->root != UI_VIEW_FLEET)
        return action_show_diff(app, err);
    if (!strcmp(name, app->views[UI_VIEW_TENSOR]->name))
        action_choose_value(app);
    for (int id = 0; id < UI_VIEW_COUNT; id++)
        if (!strcmp(app->views[id]->name, name) && ui_app_has(app, (enum ui_view_id)id)) {
            ui_app_open(app, (enum ui_view_id)id);
            return ODB_OK;
        }
    odb_fail(err, ODB_E_USAGE, "there is no view %s of a %s", name,
             app->root == UI_VIEW_FLEET ? "fleet" : "model");
    return odb_error_remedy(err, app->root == UI_VIEW_FLEET ? "Enter opens a model"
                                                            : "`onnxdbg FILE.fleet` opens a fleet");
}

static enum odb_status action_focus(struct ui_app *app, const struct odb_command_call *call,
                                    struct odb_error *err)
{
    enum ui_view_id list[UI_VIEW_COUNT];
    int n = ui_layout_visible(app, list);
    for (int i = 0; i < n; i++)
        if (list[i] == app->focus) {
            app->focus = list[(i + 1) % n];
            break;
        }
    if (n == 1)
        ui_app_say(app, UI_STYLE_MESSAGE, "the other views are one key away; ? lists the keys");
    return ODB_OK;
}

static enum odb_status action_zoom(struct ui_app *app, const struct odb_command_call *call,
                                   struct odb_error *err)
{
    char name[16];
    int key = ui_keymap_key(app->keymap, "all", "zoom");
    app->zoomed = !app->zoomed;
    if (app->zoomed && key)
        ui_app_say(app, UI_STYLE_MESSAGE, "%s shows the rest of the screen again",
                   ui_key_name(key, name, sizeof name));
    app->dirty = true;
    return ODB_OK;
}

/* --- finding ---------------------------------------------------------------------------------- */

static enum odb_status action_find(struct ui_app *app, const char *text, int direction,
                                   struct odb_error *err)
{
    if (!text || !*text)
        return odb_fail(err, ODB_E_USAGE, "nothing was searched for yet");
    if (!ui_list_find(ui_app_view(app), text, direction, false))
        return odb_fail(err, ODB_E_USAGE, "nothing else that is listed holds '%.80s'", text);
    return ODB_OK;
}

static enum odb_status action_search(struct ui_app *app, const struct odb_command_call *call,
                                     struct odb_error *err)
{
    char *text = ui_action_words(call);
    if (call->n_args) {
        free(app->search);
        app->search = text;
        return action_find(app, text, 1, err);
    }
    free(text);
    app->asking = UI_ASK_SEARCH;
    app->search_origin = ui_app_view(app)->selected;
    return ui_app_ask(app, UI_PROMPT_SEARCH, "/", "", err);
}

static enum odb_status action_next_match(struct ui_app *app, const struct odb_command_call *call,
                                         struct odb_error *err)
{
    return action_find(app, app->search, 1, err);
}

static enum odb_status action_prev_match(struct ui_app *app, const struct odb_command_call *call,
                                         struct odb_error *err)
{
    return action_find(app, app->search, -1, err);
}

/* --- the rest --------------------------------------------------------------------------------- */

static enum odb_status action_prompt(struct ui_app *app, const struct odb_command_call *call,
                                     struct odb_error *err)
{
    char *words = ui_action_words(call);
    char *text = *words ? odb_xasprintf("%s ", words) : odb_xstrdup("");
    app->asking = UI_ASK_COMMAND;
    enum odb_status status = ui_app_ask(app, UI_PROMPT_COMMAND, ":", text, err);
    free(text);
    free(words);
    return status;
}

static enum odb_status action_redraw(struct ui_app *app, const struct odb_command_call *call,
                                     struct odb_error *err)
{
    ui_terminal_redraw(app->terminal);
    return ODB_OK;
}

static enum odb_status action_suspend(struct ui_app *app, const struct odb_command_call *call,
                                      struct odb_error *err)
{
    ui_terminal_suspend(app->terminal);
    return ODB_OK;
}

/* A file that is written in the background would be given up. */
static enum odb_status action_spares(const struct ui_app *app, struct odb_error *err)
{
    if (!ui_saving_path(app->saving))
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "%s is still being written", ui_saving_path(app->saving));
    return odb_error_remedy(err, "wait, or stop that with Esc");
}

static enum odb_status action_quit(struct ui_app *app, const struct odb_command_call *call,
                                   struct odb_error *err)
{
    ODB_TRY(action_spares(app, err));
    bool fleet = ui_fleet_runs(app->views[UI_VIEW_FLEET]);
    if ((ui_app_busy(app) || fleet) && !app->linear && !odb_call_arg(call, 0)) {
        char *question = odb_xasprintf("%s runs; leave? :",
                                       fleet ? "the fleet" : app->running.call.command->name);
        app->asking = UI_ASK_COMMAND;
        enum odb_status status = ui_app_ask(app, UI_PROMPT_COMMAND, question, "quit over", err);
        free(question);
        return status;
    }
    app->quit = true;
    return ODB_OK;
}

static enum odb_status action_close(struct ui_app *app, const struct odb_command_call *call,
                                    struct odb_error *err)
{
    return ui_app_back(app) ? ODB_OK : action_quit(app, call, err);
}

/* ui_main() ends, and its caller begins anew. */
static enum odb_status action_session(struct ui_app *app, const struct odb_command_call *call,
                                      struct odb_error *err)
{
    const char *path = odb_call_arg(call, 0) ? odb_call_arg(call, 0) : ui_offer_path(app);
    if (!path) {
        odb_fail(err, ODB_E_USAGE, "session needs the name of a session file");
        return odb_error_remedy(err, "`view sessions` lists those that are here");
    }
    if (ui_app_busy(app)) {
        odb_fail(err, ODB_E_USAGE, "%s still runs", app->running.call.command->name);
        return odb_error_remedy(err, "Esc stops it; then the session can be opened");
    }
    ODB_TRY(action_spares(app, err));
    ODB_TRY(odb_sessions_reopen(app->console, path, odb_call_arg(call, 1) != NULL, err));
    app->quit = true;
    return ODB_OK;
}

static const ui_action_fn actions[ODB_SCREEN_COUNT] = {
    [ODB_SCREEN_GOTO] = action_goto,
    [ODB_SCREEN_PRODUCER] = action_producer,
    [ODB_SCREEN_CONSUMER] = action_consumer,
    [ODB_SCREEN_NEXT_CULPRIT] = action_next_culprit,
    [ODB_SCREEN_PREV_CULPRIT] = action_prev_culprit,
    [ODB_SCREEN_NEXT_DIVERGENCE] = action_next_divergence,
    [ODB_SCREEN_PREV_DIVERGENCE] = action_prev_divergence,
    [ODB_SCREEN_OPEN] = action_open,
    [ODB_SCREEN_BACK] = action_back,
    [ODB_SCREEN_SHOW] = action_show,
    [ODB_SCREEN_SESSION] = action_session,
    [ODB_SCREEN_FOCUS] = action_focus,
    [ODB_SCREEN_ZOOM] = action_zoom,
    [ODB_SCREEN_JUMP_BACK] = action_jump_back,
    [ODB_SCREEN_JUMP_FORWARD] = action_jump_forward,
    [ODB_SCREEN_FILTER] = ui_action_filter,
    [ODB_SCREEN_SORT] = ui_action_sort,
    [ODB_SCREEN_FOLD] = ui_action_fold,
    [ODB_SCREEN_UNDO_VIEW] = ui_action_undo_view,
    [ODB_SCREEN_REDO_VIEW] = ui_action_redo_view,
    [ODB_SCREEN_WRITE] = ui_action_write,
    [ODB_SCREEN_PAGE] = ui_action_page,
    [ODB_SCREEN_EDIT] = ui_action_edit,
    [ODB_SCREEN_COPY] = ui_action_copy,
    [ODB_SCREEN_THEME] = ui_action_theme,
    [ODB_SCREEN_MOUSE] = ui_action_mouse,
    [ODB_SCREEN_COLUMNS] = ui_action_columns,
    [ODB_SCREEN_DIVIDE] = ui_action_divide,
    [ODB_SCREEN_STRIP] = ui_action_strip,
    [ODB_SCREEN_TOUR] = ui_action_tour,
    [ODB_SCREEN_BOOKMARK] = ui_action_bookmark,
    [ODB_SCREEN_RECALL] = ui_action_recall,
    [ODB_SCREEN_SEARCH] = action_search,
    [ODB_SCREEN_NEXT_MATCH] = action_next_match,
    [ODB_SCREEN_PREV_MATCH] = action_prev_match,
    [ODB_SCREEN_PROMPT] = action_prompt,
    [ODB_SCREEN_CANCEL] = action_cancel,
    [ODB_SCREEN_REDRAW] = action_redraw,
    [ODB_SCREEN_SUSPEND] = action_suspend,
    [ODB_SCREEN_CLOSE] = action_close,
    [ODB_SCREEN_QUIT] = action_quit,
};

enum odb_status ui_action(void *payload, struct odb_command_call *call, struct odb_error *err)
{
    struct ui_app *app = payload;
    struct ui_view *view = ui_app_view(app);
    ui_action_fn action = actions[call->command->screen];
    enum ui_answer answer = view->ops->act ? view->ops->act(view, call, err) : UI_NOT_MINE;
    if (answer == UI_NOT_MINE)
        answer = ui_list_act(view, call, err);
    if (answer != UI_NOT_MINE)
        return answer == UI_DONE ? ODB_OK : err->code;
    if (action)
        return action(app, call, err);
    return odb_fail(err, ODB_E_USAGE, "%s means nothing in the view %s", call->command->name,
                    view->name);
}
