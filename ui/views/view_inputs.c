/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the model is fed: its inputs with where each comes from, its open dimensions, the seed. They
 * are the settings of the command line; Enter types the command that changes one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "command/call/console.h"
#include "command/table/command.h"
#include "command/table/quoting.h"
#include "command/table/table.h"
#include "model/model.h"
#include "session/session.h"
#include "ui/list/table_view.h"
#include "ui/terminal/draw.h"
#include "ui/view/app.h"
#include "ui/view/view.h"

static const struct ui_cells_column inputs_columns[UI_CELLS + 1] = {
    {"input", 32, UI_CUT_MIDDLE, UI_STYLE_NAME},
    {"type", 30, UI_CUT_MIDDLE, UI_STYLE_TYPE},
    {"where it comes from", 0, UI_CUT_MIDDLE, UI_STYLE_NORMAL},
    {NULL, 0, UI_CUT_END, UI_STYLE_NORMAL},
};

/* "set SETTING NAME=VALUE" with the value that is set (NULL: none); what has to be quoted is, and
 * the quote stays open, so that it can be gone on with. */
static char *inputs_command(const char *setting, const char *name, const char *value)
{
    struct odb_buf out = ODB_BUF_INIT;
    char *word = odb_xasprintf("%s=%s", name, value ? value : "");
    odb_buf_printf(&out, "set %s ", setting);
    odb_words__put(&out, word, odb_words__style(word), true);
    free(word);
    return odb_buf_take(&out);
}

/* The value of the setting NAME=VALUE; NULL: it is not set. Borrowed. */
static const char *inputs_setting(const struct odb_console *console, enum odb_option_id id,
                                  const char *name)
{
    size_t n = strlen(name);
    for (size_t i = console->settings.n; i > 0; i--) {
        const struct odb_setting *setting = &console->settings.items[i - 1];
        if (setting->id == id && !strncmp(setting->value, name, n) && setting->value[n] == '=')
            return setting->value + n + 1;
    }
    return NULL;
}

static char *inputs_source(const struct ui_app *app, int value, bool *made)
{
    const struct odb_session *session = app->session;
    const char *name = odb_session_model(session)->graph->values[value].name;
    const char *set = inputs_setting(app->console, ODB_OPTION_INPUT, name);
    const char *from = odb_console_get(app->console, ODB_OPTION_INPUTS_FROM);
    *made = false;
    for (size_t i = 0; odb_session_feeds(session) && i < odb_session_feeds(session)->n; i++)
        if (odb_session_feeds(session)->items[i].value == value) {
            *made = true;
            return odb_xstrdup(odb_session_feeds(session)->items[i].source);
        }
    if (set)
        return odb_xasprintf("%s (not read yet)", set);
    if (from)
        return odb_xasprintf("from %s (not read yet)", from);
    return odb_xstrdup("generated (not made yet)");
}

static void inputs_add_value(struct ui_cells_view *v, int value)
{
    const struct ui_app *app = v->view.app;
    struct odb_buf type = ODB_BUF_INIT;
    const char *name = odb_session_model(app->session)->graph->values[value].name;
    const char *set = inputs_setting(app->console, ODB_OPTION_INPUT, name);
    bool made;
    odb_session_put_type(app->session, value, &type);
    char *source = inputs_source(app, value, &made);
    ui_cells_add_take(
        v, (struct ui_cells_row){.cells = {odb_xstrdup(name), odb_buf_take(&type), source},
                                 .mark = made ? UI_GLYPH_PASS : UI_GLYPH_UNTESTED,
                                 .style = made ? UI_STYLE_NORMAL : UI_STYLE_DIM,
                                 .enter = inputs_command("input", name, set),
                                 .asks = true,
                                 .value = value});
}

/* A dimension of what a value is fed; -1: nothing was made yet. */
static int64_t inputs_fed(const struct odb_session *session, int value, int axis)
{
    for (size_t i = 0; odb_session_feeds(session) && i < odb_session_feeds(session)->n; i++) {
        const struct odb_tensor *t = odb_session_feeds(session)->items[i].tensor;
        if (odb_session_feeds(session)->items[i].value == value && t->kind == ODB_TENSOR &&
            axis < t->rank)
            return t->dims[axis];
    }
    return -1;
}

/* fed: its number in what was made; -1: nothing was. */
static void inputs_add_dim(struct ui_cells_view *v, const char *name, int64_t fed)
{
    const char *set = inputs_setting(v->view.app->console, ODB_OPTION_DIM, name);
    bool known = set || fed >= 0;
    ui_cells_add_take(v, (struct ui_cells_row){
                             .cells = {odb_xasprintf("dim %s", name), NULL,
                                       set        ? odb_xstrdup(set)
                                       : fed >= 0 ? odb_xasprintf("%lld (as fed)", (long long)fed)
                                                  : odb_xstrdup("not set")},
                             .mark = known ? UI_GLYPH_PASS : UI_GLYPH_UNTESTABLE,
                             .style = known ? UI_STYLE_NORMAL : UI_STYLE_WARN,
                             .enter = inputs_command("dim", name, set),
                             .asks = true,
                             .value = ODB_NO_VALUE});
}

/* Dimensions without a number: those that have a name once, others as INPUT[AXIS]. */
static void inputs_add_dims(struct ui_cells_view *v, const int *feeds, size_t n)
{
    const struct odb_graph *graph = odb_session_model(v->view.app->session)->graph;
    ODB_VEC(const char *) seen = {0};
    for (size_t i = 0; i < n; i++) {
        const struct odb_type *type = &graph->values[feeds[i]].type;
        for (int d = 0; d < type->rank; d++) {
            const char *param = type->dims[d].value < 0 ? type->dims[d].param : "";
            bool there = type->dims[d].value >= 0;
            for (size_t s = 0; s < seen.n && param && *param && !there; s++)
                there = !strcmp(seen.items[s], param);
            if (there)
                continue;
            char *axis = odb_xasprintf("%s[%d]", graph->values[feeds[i]].name, d);
            inputs_add_dim(v, param && *param ? param : axis,
                           inputs_fed(v->view.app->session, feeds[i], d));
            if (param && *param)
                odb_push(&seen, param);
            free(axis);
        }
    }
    free(seen.items);
}

static void inputs_add_setting(struct ui_cells_view *v, enum odb_option_id id, const char *usual)
{
    const struct odb_option *row = odb_option_row(id);
    const char *set = odb_console_get(v->view.app->console, id);
    struct odb_buf enter = ODB_BUF_INIT;
    odb_buf_printf(&enter, "set %s ", row->name);
    if (set)
        odb_words__put(&enter, set, odb_words__style(set), true);
    ui_cells_add_take(v, (struct ui_cells_row){.cells = {odb_xstrdup(row->name), NULL,
                                                         odb_xstrdup(set ? set : usual)},
                                               .mark = UI_GLYPH_DOT,
                                               .style = UI_STYLE_LABEL,
                                               .enter = odb_buf_take(&enter),
                                               .asks = true,
                                               .value = ODB_NO_VALUE});
}

static void inputs_prepare(struct ui_view *view, int cols)
{
    struct ui_cells_view *v = (struct ui_cells_view *)view;
    const struct odb_graph *graph = odb_session_model(view->app->session)->graph;
    int *feeds = odb_new_n(int, graph->n_inputs + 1);
    size_t n = odb_graph_feeds(graph, feeds);
    odb_session_lock(view->app->session);
    ui_cells_begin(v);
    for (size_t i = 0; i < n; i++)
        inputs_add_value(v, feeds[i]);
    inputs_add_dims(v, feeds, n);
    inputs_add_setting(v, ODB_OPTION_SEED, "42");
    inputs_add_setting(v, ODB_OPTION_INPUTS_FROM, "not set");
    ui_cells_end(v, cols - 2);
    odb_session_unlock(view->app->session);
    free(feeds);
}

static void inputs_open(struct ui_view *view)
{
    struct ui_cells_view *v = (struct ui_cells_view *)view;
    v->columns = inputs_columns;
    v->empty = "the model has none";
}

static void inputs_title(const struct ui_view *view, struct odb_buf *out)
{
    odb_buf_puts(out, "inputs");
    ui_cells_count(view, out);
}

const struct ui_view_ops ui_inputs_view = {
    .help = "what the model is fed, and where that comes from",
    .size = sizeof(struct ui_cells_view),
    .open = inputs_open,
    .close = ui_cells_close,
    .title = inputs_title,
    .prepare = inputs_prepare,
    .act = ui_cells_act,
    UI_CELLS_OPS,
};
