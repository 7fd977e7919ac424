/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The steps of a sequence that was searched: what each takes, what its outputs were off by with the
 * reference's state and with the target's own, and the token that follows. Above them every output
 * has a row of marks, a column for each step, and so have nodes that were tried alone. Enter runs
 * one step and lists its nodes.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "command/table/command.h"
#include "report/step_rows.h"
#include "session/session.h"
#include "ui/list/list.h"
#include "ui/list/table_view.h"
#include "ui/terminal/draw.h"
#include "ui/view/app.h"
#include "ui/view/mark.h"
#include "ui/view/view.h"

#define STEPS_SHARE 3 /* of all rows the marks take at most one in so many */
#define STEPS_NAME 24 /* columns of an output's name there */

static const struct ui_cells_column steps_columns[UI_CELLS + 1] = {
    {.title = "step", .most = 6, .right = true},
    {.title = "takes", .most = 18, .style = UI_STYLE_LABEL},
    {.title = "forced", .most = 16, .style = UI_STYLE_NUMBER, .right = true, .bar = 8},
    {.title = "own state", .most = 9, .style = UI_STYLE_NUMBER, .right = true},
    {.title = "envelope", .most = 8, .style = UI_STYLE_DIM, .right = true},
    {.title = "token", .most = 22, .cut = UI_CUT_END, .style = UI_STYLE_NORMAL},
    {.title = "worst output", .cut = UI_CUT_MIDDLE, .style = UI_STYLE_NAME},
    {NULL},
};

/* --- the rows --------------------------------------------------------------------------------- */

static char *steps_number(struct odb_number number)
{
    char text[24];
    return odb_xstrdup(ui_number_text(number, text, sizeof text));
}

static char *steps_token(const struct odb_step_row *row)
{
    if (!row->chooses)
        return NULL;
    if (row->reference == row->target)
        return odb_xasprintf("%lld", (long long)row->reference);
    return odb_xasprintf("%lld, not %lld%s", (long long)row->target, (long long)row->reference,
                         row->tie ? ", a tie" : "");
}

static char *steps_worst(const struct odb_step_rows *steps, const struct odb_step_row *row)
{
    if (row->why)
        return odb_xasprintf("%s: %s", odb_verdict_name(row->forced.verdict), row->why);
    if (row->worst < 0 || row->forced.verdict == ODB_VERDICT_UNTESTED)
        return NULL;
    return row->place ? odb_xasprintf("%s, %s", steps->names[row->worst], row->place)
                      : odb_xstrdup(steps->names[row->worst]);
}

static void steps_add(struct ui_cells_view *v, const struct odb_step_rows *steps, size_t k)
{
    const struct odb_step_row *row = &steps->rows[k];
    ui_cells_add_take(
        v, (struct ui_cells_row){
               .cells = {odb_xasprintf("%zu", k),
                         row->past ? odb_xasprintf("%zu past + %zu", row->past, row->pieces)
                                   : odb_xasprintf("%zu", row->pieces),
                         steps_number(row->forced.error), steps_number(row->free),
                         steps_number(row->envelope), steps_token(row), steps_worst(steps, row)},
               .mark = ui_mark_glyph(&row->forced, (long)k == steps->onset, false),
               .style = ui_mark_style(&row->forced, (long)k == steps->onset),
               .enter = odb_xasprintf("run --at-step %zu", k),
               .value = ODB_NO_VALUE,
               .report = &row->forced});
}

static void steps_prepare(struct ui_view *view, int cols)
{
    struct ui_cells_view *v = (struct ui_cells_view *)view;
    const struct odb_session *session = view->app->session;
    odb_session_lock(session);
    const struct odb_step_rows *steps = odb_session_steps(session);
    bool new = !v->all.n &&steps && steps->onset >= 0;
    size_t onset = new ? (size_t)steps->onset : 0;
    ui_cells_begin(v);
    for (size_t k = 0; steps && k < steps->n; k++)
        steps_add(v, steps, k);
    ui_cells_end(v, cols - 2);
    odb_session_unlock(session);
    if (new)
        ui_list_select(view, onset);
}

/* --- the marks -------------------------------------------------------------------------------- */

/* The worst of the steps that one column stands for. */
static struct odb_value_report steps_mark(const struct odb_step_rows *steps, size_t output, int col,
                                          int cols)
{
    struct odb_value_report worst = {.verdict = ODB_VERDICT_UNTESTED};
    size_t from = steps->n * (size_t)col / (size_t)cols;
    size_t to = steps->n * ((size_t)col + 1) / (size_t)cols;
    for (size_t k = from; k < to; k++) {
        enum odb_verdict verdict = steps->rows[k].verdicts[output];
        if (odb_verdict_is_bad(verdict) || worst.verdict == ODB_VERDICT_UNTESTED)
            worst.verdict = verdict;
        if (odb_verdict_is_bad(verdict))
            break;
    }
    return worst;
}

static bool steps_is_bad(const struct odb_step_rows *steps, size_t output)
{
    for (size_t k = 0; k < steps->n; k++)
        if (odb_verdict_is_bad(steps->rows[k].verdicts[output]))
            return true;
    return false;
}

static void steps_draw_marks(const struct odb_step_rows *steps, size_t output,
                             const struct ui_area *area, int row)
{
    int cols = ODB_MIN(ODB_MAX(area->cols - STEPS_NAME - 4, 1), (int)steps->n);
    ui_draw_field(area, row, 3, STEPS_NAME, UI_CUT_MIDDLE, UI_STYLE_NAME, steps->names[output]);
    for (int col = 0; col < cols; col++) {
        struct odb_value_report mark = steps_mark(steps, output, col, cols);
        ui_draw_glyph(area, row, STEPS_NAME + 4 + col, ui_mark_style(&mark, false),
                      ui_mark_glyph(&mark, false, false));
    }
}

enum steps_kind { STEPS_WRONG, STEPS_NODE, STEPS_RIGHT, STEPS_KINDS };

static enum steps_kind steps_kind(const struct odb_step_rows *steps, size_t i)
{
    return i >= steps->n_outputs ? STEPS_NODE : steps_is_bad(steps, i) ? STEPS_WRONG : STEPS_RIGHT;
}

/* Outputs that are wrong somewhere come first, then nodes; what has no row is counted. Returns rows
 * taken. */
static int steps_marks(const struct odb_step_rows *steps, const struct ui_area *area, int room)
{
    size_t all = steps->n_outputs + steps->n_nodes;
    int row = 0, shown = ODB_MIN(room, (int)all);
    if (shown < (int)all && shown)
        shown--; /* for the count */
    for (int kind = 0; area && kind < STEPS_KINDS; kind++)
        for (size_t i = 0; i < all && row < shown; i++)
            if (steps_kind(steps, i) == (enum steps_kind)kind)
                steps_draw_marks(steps, i, area, row++);
    if (shown == (int)all || !room)
        return shown;
    if (area)
        ui_draw_printf(area, shown, 3, UI_STYLE_DIM, "and %zu more", all - (size_t)shown);
    return shown + 1;
}

static int steps_header(const struct ui_view *view, const struct ui_area *area, int rows)
{
    const struct odb_step_rows *steps = odb_session_steps(view->app->session);
    int marks = steps ? steps_marks(steps, area, rows / STEPS_SHARE - 1) : 0;
    if (!area)
        return marks + ui_cells_header(view, NULL, rows - marks);
    struct ui_area head = ui_area_part(area, marks, 0, 1, area->cols);
    return marks + ui_cells_header(view, &head, rows - marks);
}

/* --- as a view -------------------------------------------------------------------------------- */

static enum ui_answer steps_act(struct ui_view *view, const struct odb_command_call *call,
                                struct odb_error *err)
{
    enum ui_answer answer = ui_cells_act(view, call, err);
    if (answer == UI_DONE && call->command->screen == ODB_SCREEN_OPEN)
        ui_app_open(view->app, UI_VIEW_NODES);
    return answer;
}

static void steps_open(struct ui_view *view)
{
    struct ui_cells_view *v = (struct ui_cells_view *)view;
    v->columns = steps_columns;
    v->empty = "none were run; `bisect --steps N` runs them";
}

static void steps_title(const struct ui_view *view, struct odb_buf *out)
{
    const struct odb_step_rows *steps = odb_session_steps(view->app->session);
    odb_buf_puts(out, "steps");
    if (steps)
        odb_buf_printf(out, " on %s", steps->target);
    ui_cells_count(view, out);
}

const struct ui_view_ops ui_steps_view = {
    .help = "steps of a sequence",
    .size = sizeof(struct ui_cells_view),
    .open = steps_open,
    .close = ui_cells_close,
    .title = steps_title,
    .prepare = steps_prepare,
    .act = steps_act,
    .header = steps_header,
    .column = ui_cells_column,
    .subject = ui_cells_subject,
    UI_CELLS_ROWS_OPS,
};
