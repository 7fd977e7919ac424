/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What can run a model here, and why the rest cannot. Looking for it asks other programs, which may
 * take long, so it is done once, when the list is first seen, by a thread that no other thread
 * waits for: a debugger that ends meanwhile leaves it behind.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "command/call/console.h"
#include "command/console/findings.h"
#include "command/verbs/look/verb_executors.h"
#include "executor/executor.h"
#include "executor/spec.h"
#include "model/model.h"
#include "session/session.h"
#include "system/thread.h"
#include "ui/list/table_view.h"
#include "ui/terminal/draw.h"
#include "ui/view/app.h"
#include "ui/view/mark.h"
#include "ui/view/view.h"

/* Belongs to the view and to the thread; the last of them frees it. */
struct executors_search {
    atomic_int users;
    atomic_bool done;
    int wake; /* owned: a byte written there asks for a new frame */
    struct odb_executor_state states[];
};

struct executors_view {
    struct ui_cells_view cells;
    struct executors_search *search; /* ref; NULL: not asked for yet */
};

static const struct ui_cells_column executors_columns[UI_CELLS + 1] = {
    {"executor", 12, UI_CUT_END, UI_STYLE_NAME},
    {"is", 10, UI_CUT_END, UI_STYLE_LABEL},
    {"found, or why not", 44, UI_CUT_MIDDLE, UI_STYLE_NORMAL},
    {"what it is", 0, UI_CUT_END, UI_STYLE_DIM, .spare = true},
    {NULL, 0, UI_CUT_END, UI_STYLE_NORMAL},
};

static void executors_release(struct executors_search *search)
{
    if (!search || atomic_fetch_sub(&search->users, 1) > 1)
        return;
    close(search->wake);
    free(search);
}

static void *executors_work(void *arg)
{
    struct executors_search *search = arg;
    size_t n;
    const struct odb_executor_ops *const *list = odb_executor_list(&n);
    for (size_t i = 0; i < n; i++)
        odb_executor_look(list[i], NULL, &search->states[i]);
    atomic_store(&search->done, true);
    ssize_t written = write(search->wake, "", 1);
    (void)written; /* a full pipe wakes as well */
    executors_release(search);
    return NULL;
}

/* Without a screen it is waited for. Signals are left to the other threads. Where no thread can be
 * had, the list stays as it is. */
static void executors_search(struct executors_view *v, size_t n)
{
    pthread_t thread;
    v->search = odb_xcalloc(1, sizeof *v->search + n * sizeof v->search->states[0]);
    v->search->wake = dup(v->cells.view.app->wake[1]);
    atomic_store(&v->search->users, 2);
    if (v->cells.view.app->linear) { /* what is printed does not change any more */
        executors_work(v->search);
        return;
    }
    if (odb_thread_start(&thread, executors_work, v->search))
        pthread_detach(thread);
    else
        executors_release(v->search);
}

static void executors_add(struct executors_view *v, const struct odb_executor_ops *ops,
                          const struct odb_executor_state *state)
{
    const struct odb_console *console = v->cells.view.app->console;
    const struct odb_executor_option *arg = odb_spec_part(ops->options, ":");
    bool target = odb_executor_row(odb_console_target(console)) == ops;
    bool reference = odb_executor_row(odb_console_reference(console)) == ops;
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

/* What was found of a target: Enter goes back to it. */
static void executors_add_known(struct executors_view *v, size_t i)
{
    const struct odb_session *session = v->cells.view.app->session;
    const struct odb_store_search *known = odb_session_known(session, i);
    bool shown = !i && odb_session_report(session);
    struct odb_buf text = ODB_BUF_INIT, of = ODB_BUF_INIT;
    odb_findings_put(known, &text);
    odb_buf_printf(&of, "%s vs %s, %s%s%s", known->target, known->reference, known->tolerance,
                   known->expect ? " expecting " : "", known->expect ? known->expect : "");
    ui_cells_add_take(&v->cells,
                      (struct ui_cells_row){.cells = {odb_xstrdup(known->target),
                                                      odb_xstrdup(shown ? "shown" : "searched"),
                                                      odb_buf_take(&text), odb_buf_take(&of)},
                                            .mark = ui_outcomes[known->outcome].mark,
                                            .style = ui_outcomes[known->outcome].style,
                                            .enter = odb_xasprintf("findings %zu", i + 1),
                                            .value = ODB_NO_VALUE});
}

static void executors_prepare(struct ui_view *view, int cols)
{
    struct executors_view *v = (struct executors_view *)view;
    size_t n;
    const struct odb_executor_ops *const *list = odb_executor_list(&n);
    if (!v->search)
        executors_search(v, n);
    bool done = atomic_load(&v->search->done);
    ui_cells_begin(&v->cells);
    for (size_t i = 0; i < odb_session_n_known(view->app->session); i++)
        executors_add_known(v, i);
    for (size_t i = 0; i < n; i++)
        executors_add(v, list[i], done ? &v->search->states[i] : NULL);
    ui_cells_end(&v->cells, cols);
}

static void executors_open(struct ui_view *view)
{
    struct executors_view *v = (struct executors_view *)view;
    v->cells.columns = executors_columns;
    v->cells.empty = "there are none";
}

static void executors_close(struct ui_view *view)
{
    executors_release(((struct executors_view *)view)->search);
    ui_cells_close(view);
}

static void executors_title(const struct ui_view *view, struct odb_buf *out)
{
    odb_buf_puts(out, "executors");
    ui_cells_count(view, out);
    odb_buf_puts(out, "  Enter makes one the target");
}

const struct ui_view_ops ui_executors_view = {
    .help = "what can run the model here, and why not",
    .size = sizeof(struct executors_view),
    .open = executors_open,
    .close = executors_close,
    .title = executors_title,
    .prepare = executors_prepare,
    .act = ui_cells_act,
    UI_CELLS_OPS,
};
