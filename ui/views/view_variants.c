/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the selected node may have computed instead: every variant that was tried on what the target
 * fed it, the best first. Enter shows the elements of its output beside one another: the target's,
 * the reference's and the variant's. Where none fits an elementwise operator, the first row is its
 * curve, which Enter draws. Nothing is asked of the target: what the search has read is replayed,
 * in a job of its own.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/call/console.h"
#include "command/table/command.h"
#include "explain/beside.h"
#include "explain/measure/curve.h"
#include "explain/own/own_rows.h"
#include "model/model.h"
#include "session/session.h"
#include "system/job.h"
#include "tensor/grid.h"
#include "ui/list/jump.h"
#include "ui/list/list.h"
#include "ui/list/table_view.h"
#include "ui/terminal/draw.h"
#include "ui/view/app.h"
#include "ui/view/mark.h"
#include "ui/view/view.h"

#define VARIANTS_FACTOR 10          /* times the noise is agreement, as where a search explains */
#define VARIANTS_SECONDS 120        /* the user waits for this one node */
#define VARIANTS_BYTES (256u << 20) /* of values that one of them may be */
#define VARIANTS_ELEMENTS ((size_t)10000)
#define VARIANTS_COLS 72 /* of a curve that is drawn */
#define VARIANTS_ROWS 16
#define VARIANTS_WORDS 3 /* rows of what is said of it */

/* What the job reads and writes. While it is busy no other thread touches it, but for stop. */
struct variants_work {
    struct ui_app *app; /* borrowed */
    const struct odb_model *model;
    const struct odb_cpu *cpu;
    int node;
    struct odb_explain_pair pair; /* owned */
    struct odb_own_rows *own;     /* owned; the user's, NULL: none */
    char *variant;                /* owned: that is wanted beside the others; NULL: all are tried */
    atomic_bool stop;
    struct odb_explanations all; /* owned */
    struct odb_beside beside;    /* owned */
    enum odb_status status;
    struct odb_error why;
};

struct variants_view {
    struct ui_cells_view cells;
    struct odb_job *job; /* owned */
    struct variants_work work;
    int node;                    /* that is shown, or ODB_NO_NODE */
    unsigned long generation;    /* of the session when it was asked for */
    struct odb_explanations all; /* owned: what is known of it */
    struct odb_beside beside; /* owned: what is shown of a variant; target NULL: all are listed */
    bool drawn;               /* the curve is shown in their place */
    size_t row;               /* of that variant, or of the curve */
    char *why;                /* owned: why there is nothing to list; NULL: there is */
    bool stale;               /* the rows are to be made again */
};

static const struct ui_cells_column variants_columns[UI_CELLS + 1] = {
    {.title = "error left", .most = 10, .style = UI_STYLE_NUMBER, .right = true},
    {.title = "variant", .most = 30, .cut = UI_CUT_MIDDLE, .style = UI_STYLE_NAME},
    {.title = "the node computes", .cut = UI_CUT_END, .style = UI_STYLE_NORMAL},
    {.title = NULL},
};

static const struct ui_cells_column variants_elements[UI_CELLS + 1] = {
    {.title = "element", .most = 20, .style = UI_STYLE_NAME},
    {.title = "target", .most = 13, .style = UI_STYLE_NUMBER, .right = true},
    {.title = "reference", .most = 13, .style = UI_STYLE_NUMBER, .right = true},
    {.title = "variant", .most = 13, .style = UI_STYLE_NUMBER, .right = true},
    {.title = NULL},
};

static const struct ui_cells_column variants_drawing[UI_CELLS + 1] = {
    {.title = "y(x): * target, . reference", .cut = UI_CUT_END, .style = UI_STYLE_NORMAL},
    {.title = NULL},
};

/* --- the job ---------------------------------------------------------------------------------- */

static void variants_done(void *payload)
{
    ui_app_wake(payload);
}

static bool variants_cancelled(void *payload)
{
    return atomic_load(&((struct variants_work *)payload)->stop);
}

static void variants_work(void *arg)
{
    struct variants_work *w = arg;
    const struct odb_search_hooks hooks = {.cancelled = variants_cancelled, .payload = w};
    const struct odb_explain_question q = {.model = w->model,
                                           .cpu = w->cpu,
                                           .node = w->node,
                                           .in = w->pair.in,
                                           .out = w->pair.out,
                                           .given = w->pair.given,
                                           .own = w->own,
                                           .factor = VARIANTS_FACTOR,
                                           .seconds = VARIANTS_SECONDS,
                                           .trials = true,
                                           .hooks = &hooks};
    w->why = (struct odb_error)ODB_ERROR_INIT;
    w->status = w->variant ? odb_explain_beside(&w->beside, &q, w->variant, &w->why)
                           : odb_explain(&w->all, &q, &w->why);
}

static void variants_drop(struct variants_work *w)
{
    if (w->pair.in)
        odb_explain_pair_dispose(&w->pair, &w->model->graph->nodes[w->node]);
    odb_explanations_dispose(&w->all);
    odb_beside_dispose(&w->beside);
    odb_own_rows_free(w->own);
    free(w->variant);
    w->own = NULL;
    w->variant = NULL;
}

/* --- asking ----------------------------------------------------------------------------------- */

/* What the target had of a value: its own, or what both are given. */
static struct odb_tensor *variants_value(const struct odb_session *session, int value)
{
    if (value < 0)
        return NULL;
    struct odb_tensor *t = odb_session_target(session, value);
    bool made = odb_session_model(session)->graph->values[value].producer != ODB_NO_NODE;
    return t || made ? t : odb_session_reference(session, value);
}

/* All values of the target, where they are not too many. */
static void variants_given(struct odb_explain_pair *pair, const struct odb_session *session)
{
    size_t n = odb_session_model(session)->graph->n_values, bytes = 0;
    pair->given = odb_new_n(struct odb_tensor *, n);
    pair->n_given = n;
    for (size_t v = 0; v < n && bytes <= VARIANTS_BYTES; v++) {
        pair->given[v] = odb_session_target(session, (int)v);
        bytes += pair->given[v] ? odb_tensor_size(pair->given[v]) : 0;
    }
}

/* Why the target's value is not here. Where the target fails, nothing brings it. */
static char *variants_lacks(const struct odb_session *session, int node, int value)
{
    const char *name = odb_session_model(session)->graph->values[value].name;
    odb_session_lock(session);
    enum odb_verdict verdict = odb_session_node(session, node, NULL)->verdict;
    odb_session_unlock(session);
    if (verdict == ODB_VERDICT_CRASH || verdict == ODB_VERDICT_TIMEOUT ||
        verdict == ODB_VERDICT_REFUSED)
        return odb_xasprintf("the target gives no %s to compare with: %s; d tells more, x exports "
                             "a model that shows it",
                             name, odb_verdict_help(verdict));
    return odb_xasprintf("the target's %s was not read: F searches, s steps over the node", name);
}

/* What the node was fed and made; *why, the caller's, is what of that is not known. */
static void variants_pair(struct odb_explain_pair *pair, const struct odb_session *session,
                          int index, char **why)
{
    const struct odb_node *node = &odb_session_model(session)->graph->nodes[index];
    int lacks = node->n_out ? node->out[0] : ODB_NO_VALUE;
    pair->in = odb_new_n(struct odb_tensor *, node->n_in);
    pair->out = odb_new_n(struct odb_tensor *, node->n_out);
    for (int o = 0; o < node->n_out; o++) { /* one of them is enough */
        pair->out[o] = node->out[o] >= 0 ? odb_session_target(session, node->out[o]) : NULL;
        lacks = pair->out[o] ? ODB_NO_VALUE : lacks;
    }
    for (int i = 0; i < node->n_in; i++) {
        pair->in[i] = variants_value(session, node->in[i]);
        if (node->in[i] >= 0 && !pair->in[i] && lacks == ODB_NO_VALUE)
            lacks = node->in[i];
    }
    if (lacks != ODB_NO_VALUE)
        *why = variants_lacks(session, index, lacks);
}

static void variants_list(struct variants_view *v)
{
    odb_beside_dispose(&v->beside);
    v->drawn = false;
    v->cells.columns = variants_columns;
    v->stale = true;
}

static bool variants_lists(const struct variants_view *v)
{
    return !v->beside.target && !v->drawn;
}

static void variants_start(struct variants_view *v, char *variant)
{
    struct ui_app *app = v->cells.view.app;
    struct variants_work *w = &v->work;
    variants_drop(w);
    w->app = app;
    w->model = odb_session_model(app->session);
    w->cpu = odb_session_cpu(app->session);
    w->node = v->node;
    w->variant = variant;
    atomic_store(&w->stop, false);
    const char *rows = odb_console_get(app->console, ODB_OPTION_VARIANTS);
    w->why = (struct odb_error)ODB_ERROR_INIT;
    if (rows && odb_own_rows_read(&w->own, rows, &w->why) != ODB_OK)
        v->why = odb_xstrdup(w->why.what);
    else
        variants_pair(&w->pair, app->session, v->node, &v->why);
    if (v->why)
        return;
    variants_given(&w->pair, app->session);
    odb_job_start(v->job, variants_work, w);
    while (app->linear && odb_job_busy(v->job)) /* what is printed does not change any more */
        odb_job_collect(v->job);
}

/* Takes over what the job has found. */
static void variants_take(struct variants_view *v)
{
    struct variants_work *w = &v->work;
    if (w->variant && w->beside.target) {
        odb_beside_dispose(&v->beside);
        v->beside = w->beside;
        w->beside = (struct odb_beside){0};
        v->cells.columns = variants_elements;
    } else if (!w->variant) {
        odb_explanations_dispose(&v->all);
        v->all = w->all;
        w->all = (struct odb_explanations){0};
        v->why = v->all.right      ? odb_xstrdup("it makes what its operator says, within noise")
                 : v->all.trials.n ? NULL
                 : v->all.why_not  ? odb_xstrdup(v->all.why_not)
                 : w->why.what[0]  ? odb_xstrdup(w->why.what)
                                   : odb_xstrdup("nothing was tried");
    } else if (w->status != ODB_OK) {
        ui_app_say_error(v->cells.view.app, &w->why);
    }
    v->stale = true;
}

/* --- rows ------------------------------------------------------------------------------------- */

static void variants_add_trial(struct variants_view *v, const struct odb_trial *trial)
{
    char *left =
        isinf(trial->left) ? odb_xstrdup("other") : odb_xasprintf("%.3g %%", 100 * trial->left);
    ui_cells_add_take(&v->cells,
                      (struct ui_cells_row){
                          .cells = {left, odb_xstrdup(trial->variant), odb_xstrdup(trial->text)},
                          .mark = trial->agrees ? UI_GLYPH_PASS : UI_GLYPH_UNTESTED,
                          .style = trial->agrees ? UI_STYLE_GOOD : UI_STYLE_NUMBER,
                          .what = odb_xstrdup(trial->variant),
                          .value = ODB_NO_VALUE});
}

static void variants_add_element(struct variants_view *v, size_t i)
{
    const struct odb_beside *b = &v->beside;
    const struct odb_tensor *list[] = {b->target, b->reference, b->variant};
    struct ui_cells_row row = {.mark = UI_GLYPH_UNTESTED, .value = ODB_NO_VALUE};
    char index[128];
    row.cells[0] = odb_xstrdup(odb_index_text(b->target, i, index, sizeof index));
    for (int k = 0; k < 3; k++)
        row.cells[k + 1] = odb_xasprintf("%.7g", odb_tensor_f64(list[k], i));
    ui_cells_add_take(&v->cells, row);
}

static void variants_add_curve(struct variants_view *v)
{
    const char *text = v->all.curve->text;
    ui_cells_add_take(
        &v->cells,
        (struct ui_cells_row){.cells = {odb_xstrdup("-"), odb_xstrdup("curve"), odb_xstrdup(text)},
                              .mark = UI_GLYPH_UNTESTED,
                              .style = UI_STYLE_NUMBER,
                              .value = ODB_NO_VALUE});
}

static void variants_add_drawing(struct variants_view *v)
{
    struct odb_buf all = ODB_BUF_INIT;
    char *line, *rest;
    odb_curve_plot(v->all.curve, VARIANTS_COLS, VARIANTS_ROWS, &all);
    char *text = rest = odb_buf_take(&all);
    while ((line = strsep(&rest, "\n")))
        if (line[0])
            ui_cells_add_take(&v->cells, (struct ui_cells_row){.cells = {odb_xstrdup(line)},
                                                               .mark = UI_GLYPH_UNTESTED,
                                                               .style = UI_STYLE_NORMAL,
                                                               .value = ODB_NO_VALUE});
    free(text);
}

static void variants_fill(struct variants_view *v)
{
    size_t n = 0;
    ui_cells_begin(&v->cells);
    if (v->beside.target) {
        for (size_t i = 0; i < v->beside.target->count && n < VARIANTS_ELEMENTS; i++)
            if (odb_beside_shows(&v->beside, i)) {
                variants_add_element(v, i);
                n++;
            }
    } else if (v->drawn) {
        variants_add_drawing(v);
    } else if (!v->why) {
        if (v->all.curve)
            variants_add_curve(v);
        for (size_t i = 0; i < v->all.trials.n; i++)
            variants_add_trial(v, &v->all.trials.items[i]);
    }
    v->stale = false;
}

/* Asks for another node, or for the same after something was read of it. */
static void variants_follow(struct variants_view *v, int node, unsigned long generation)
{
    if (odb_job_busy(v->job)) {
        atomic_store(&v->work.stop, node != v->work.node);
        return;
    }
    free(v->why);
    v->why = node == ODB_NO_NODE ? odb_xstrdup("no node is selected") : NULL;
    odb_explanations_dispose(&v->all);
    v->node = node;
    v->generation = generation;
    v->row = 0;
    variants_list(v);
    if (node != ODB_NO_NODE)
        variants_start(v, NULL);
}

static void variants_prepare(struct ui_view *view, int cols)
{
    struct variants_view *v = (struct variants_view *)view;
    struct ui_app *app = view->app;
    int node = ui_app_node(app);
    bool collected = odb_job_collect(v->job), stopped = atomic_load(&v->work.stop);
    odb_session_lock(app->session);
    unsigned long generation = odb_session_generation(app->session);
    odb_session_unlock(app->session);
    if (collected && !stopped)
        variants_take(v);
    bool another = v->node != node;
    bool more = v->generation != generation && !ui_app_busy(app) && variants_lists(v);
    if (another || more || (collected && stopped))
        variants_follow(v, node, generation);
    if (app->linear && v->work.node == v->node && !v->why && !v->all.tried)
        variants_take(v);
    if (v->stale) {
        variants_fill(v);
        ui_cells_end(&v->cells, cols - 2);
        ui_list_select(view, variants_lists(v) ? v->row : 0);
        return;
    }
    ui_cells_end(&v->cells, cols - 2);
}

/* --- the view --------------------------------------------------------------------------------- */

static void variants_open(struct ui_view *view)
{
    struct variants_view *v = (struct variants_view *)view;
    v->node = v->work.node = ODB_NO_NODE;
    v->job = odb_job_new(variants_done, view->app);
    v->cells.columns = variants_columns;
    v->cells.empty = "";
}

static void variants_close(struct ui_view *view)
{
    struct variants_view *v = (struct variants_view *)view;
    atomic_store(&v->work.stop, true);
    odb_job_free(v->job);
    variants_drop(&v->work);
    odb_explanations_dispose(&v->all);
    odb_beside_dispose(&v->beside);
    free(v->why);
    ui_cells_close(view);
}

static void variants_title(const struct ui_view *view, struct odb_buf *out)
{
    const struct variants_view *v = (const struct variants_view *)view;
    const struct odb_graph *graph = odb_session_model(view->app->session)->graph;
    odb_buf_puts(out, "variants");
    if (v->node != ODB_NO_NODE) {
        odb_buf_puts(out, " of ");
        odb_node_put(graph, v->node, out);
    }
    if (odb_job_busy(v->job))
        odb_buf_puts(out, ": replaying …");
    else if (!v->why)
        ui_cells_count(view, out);
}

/* What is said of the curve. */
static int variants_words(const struct ui_view *view, const struct ui_area *area, int rows)
{
    const struct variants_view *v = (const struct variants_view *)view;
    int above = ODB_MIN(VARIANTS_WORDS, rows - 1);
    if (area) {
        struct ui_area words = *area, rest = *area;
        words.rows = above;
        rest.row += above;
        rest.rows -= above;
        ui_draw_words(&words, 0, UI_STYLE_LABEL, v->all.curve->text);
        (void)ui_cells_header(view, &rest, rows - above);
    }
    return above + ui_cells_header(view, NULL, rows - above);
}

/* What is shown, above the titles of the columns; or why there is nothing. */
static int variants_header(const struct ui_view *view, const struct ui_area *area, int rows)
{
    const struct variants_view *v = (const struct variants_view *)view;
    const char *text = v->beside.target ? v->beside.text : v->all.where;
    if (v->why)
        return area ? ui_draw_words(area, 0, UI_STYLE_WARN, v->why) : ODB_MIN(rows, 2);
    if (v->drawn)
        return variants_words(view, area, rows);
    if (rows < 4 || !text || !text[0])
        return ui_cells_header(view, area, rows);
    if (area) {
        struct ui_area rest = *area;
        char *line = odb_xasprintf(variants_lists(v) ? "wrong: %s" : "%s", text);
        ui_draw_field(area, 0, 1, area->cols - 2, UI_CUT_END, UI_STYLE_LABEL, line);
        free(line);
        rest.row++;
        rest.rows--;
        (void)ui_cells_header(view, &rest, rows - 1);
    }
    return 1 + ui_cells_header(view, NULL, rows - 1);
}

static const char *variants_column(const struct ui_view *view, int row, int col)
{
    return ui_cells_column(view, row > 0 ? row - 1 : row, col);
}

static void variants_subject(const struct ui_view *view, struct ui_subject *out)
{
    *out = (struct ui_subject){((const struct variants_view *)view)->node, ODB_NO_VALUE};
}

static enum ui_answer variants_act(struct ui_view *view, const struct odb_command_call *call,
                                   struct odb_error *err)
{
    struct variants_view *v = (struct variants_view *)view;
    const struct ui_cells_row *row = ui_cells_selected(view);
    enum odb_screen_id screen = call->command->screen;
    if (!variants_lists(v) &&
        (screen == ODB_SCREEN_BACK || screen == ODB_SCREEN_CANCEL || screen == ODB_SCREEN_LEFT)) {
        variants_list(v);
        return UI_DONE;
    }
    if (screen != ODB_SCREEN_OPEN || odb_call_arg(call, 0))
        return ui_cells_act(view, call, err);
    if (!variants_lists(v) || !row || odb_job_busy(v->job))
        return UI_DONE;
    v->row = view->selected;
    if (row->what) {
        variants_start(v, odb_xstrdup(row->what));
        return UI_DONE;
    }
    v->drawn = v->stale = true;
    v->cells.columns = variants_drawing;
    return UI_DONE;
}

static bool variants_busy(const struct ui_view *view)
{
    return odb_job_busy(((const struct variants_view *)view)->job);
}

const struct ui_view_ops ui_variants_view = {
    .help = "what the selected node may have computed instead",
    .size = sizeof(struct variants_view),
    .open = variants_open,
    .close = variants_close,
    .title = variants_title,
    .prepare = variants_prepare,
    .act = variants_act,
    .busy = variants_busy,
    .share = 55,
    .header = variants_header,
    .column = variants_column,
    .subject = variants_subject,
    UI_CELLS_ROWS_OPS,
};
