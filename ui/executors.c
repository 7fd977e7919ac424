/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What can run a model here, and why the rest cannot. Looking for libraries takes a while, so it is
 * done once, when the list is first seen, by a thread of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "command/executors.h"
#include "executor/spec.h"
#include "ui/app.h"
#include "ui/cells.h"

struct executors_view {
    struct ui_cells_view cells;
    struct odb_job *clerk;             /* owned */
    struct odb_executor_state *states; /* owned; the clerk's while it works */
    bool asked, answered;
};

static const struct ui_cells_column executors_columns[UI_CELLS + 1] = {
    {"executor", 12, UI_CUT_END, UI_STYLE_NAME},
    {"is", 10, UI_CUT_END, UI_STYLE_LABEL},
    {"found, or why not", 44, UI_CUT_MIDDLE, UI_STYLE_NORMAL},
    {"what it is", 0, UI_CUT_END, UI_STYLE_DIM},
    {NULL, 0, UI_CUT_END, UI_STYLE_NORMAL},
};

static void executors_work(void *states)
{
    struct odb_executor_state *out = states;
    size_t n;
    const struct odb_executor_ops *const *list = odb_executor_list(&n);
    for (size_t i = 0; i < n; i++)
        odb_executor_look(list[i], &out[i]);
}

static void executors_done(void *app)
{
    ui_app_wake(app);
}

/* Whether a spec is of this kind. */
static bool executors_is(const char *spec, const char *kind)
{
    size_t n = strcspn(spec, ":,@");
    return n == strlen(kind) && !strncmp(spec, kind, n);
}

static void executors_add(struct executors_view *v, const struct odb_executor_ops *ops,
                          const struct odb_executor_state *state)
{
    const struct odb_console *console = v->cells.view.app->console;
    const struct odb_executor_option *arg = odb_spec_part(ops->options, ":");
    bool target = executors_is(odb_console_target(console), ops->kind);
    bool reference = executors_is(odb_console_reference(console), ops->kind);
    bool more = odb_spec_part(ops->options, "@") || (arg && arg->needed);
    bool missing = state && state->why[0];
    const char *text = !state            ? "looking …"
                       : missing         ? state->why
                       : state->found[0] ? state->found
                                         : "available";
    ui_cells_add_take(
        &v->cells, (struct ui_cells_row){
                       .cells = {odb_xstrdup(ops->kind),
                                 odb_xstrdup(target      ? "target"
                                             : reference ? "reference"
                                                         : ""),
                                 odb_xstrdup(text), odb_xstrdup(ops->help)},
                       .mark = !state    ? UI_GLYPH_UNTESTED
                               : missing ? UI_GLYPH_FAIL
                                         : UI_GLYPH_PASS,
                       .style = !state    ? UI_STYLE_DIM
                                : missing ? UI_STYLE_BAD
                                          : UI_STYLE_GOOD,
                       .enter = missing ? odb_xasprintf("executors %s", ops->kind)
                                : more ? odb_xasprintf("set target %s%s", ops->kind, arg ? ":" : "")
                                       : odb_xasprintf("set target %s", ops->kind),
                       .value = ODB_NO_VALUE});
}

static void executors_prepare(struct ui_view *view, int cols)
{
    struct executors_view *v = (struct executors_view *)view;
    size_t n;
    const struct odb_executor_ops *const *list = odb_executor_list(&n);
    if (!v->asked) {
        v->states = odb_new_n(struct odb_executor_state, n);
        v->asked = odb_job_start(v->clerk, executors_work, v->states);
    }
    if (odb_job_collect(v->clerk))
        v->answered = true;
    ui_cells_begin(&v->cells);
    for (size_t i = 0; i < n; i++)
        executors_add(v, list[i], v->answered ? &v->states[i] : NULL);
    ui_cells_end(&v->cells, cols);
}

static void executors_open(struct ui_view *view)
{
    struct executors_view *v = (struct executors_view *)view;
    v->cells.columns = executors_columns;
    v->cells.empty = "there are none";
    v->clerk = odb_job_new(executors_done, view->app);
}

static void executors_close(struct ui_view *view)
{
    struct executors_view *v = (struct executors_view *)view;
    odb_job_free(v->clerk);
    free(v->states);
    ui_cells_close(view);
}

static void executors_title(const struct ui_view *view, struct odb_buf *out)
{
    odb_buf_puts(out, "executors");
    ui_cells_count(view, out);
    odb_buf_puts(out, "  Enter makes one the target");
}

const struct ui_view_ops ui_executors_view = {
    .name = "executors",
    .help = "what can run the model here, and why not",
    .size = sizeof(struct executors_view),
    .open = executors_open,
    .close = executors_close,
    .title = executors_title,
    .prepare = executors_prepare,
    .act = ui_cells_act,
    UI_CELLS_OPS,
};
