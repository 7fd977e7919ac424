/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The view of one value: what the reference has, what the target has, and how they differ. This is
 * its row of functions, and what its commands change; tensor_int.h says what the other files hold.
 */
#include "ui/tensor/view_tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "command/call/call.h"
#include "command/table/command.h"
#include "model/model.h"
#include "session/session.h"
#include "system/job.h"
#include "ui/tensor/tensor_int.h"
#include "ui/terminal/terminal.h"
#include "ui/view/app.h"
#include "ui/view/saving.h"
#include "ui/view/view.h"

static void tensor_title(const struct ui_view *view, struct odb_buf *out)
{
    const struct ui_tensor *v = (const struct ui_tensor *)view;
    const struct odb_graph *graph = odb_session_model(view->app->session)->graph;
    char key[64];
    if (v->value == ODB_NO_VALUE)
        odb_buf_puts(out, "tensor");
    else if (graph->values[v->value].name[0])
        odb_buf_puts(out, graph->values[v->value].name);
    else
        odb_buf_puts(out, odb_value_key(graph, &graph->values[v->value], key, sizeof key));
}

/* Text is looked for in what is text: numbers are too many. */
static bool tensor_matches(const struct ui_view *view, size_t row, const char *text)
{
    const struct ui_tensor *v = (const struct ui_tensor *)view;
    for (int i = 0; i < v->n_parts; i++) {
        const struct ui_part *p = &v->parts[i];
        size_t line = row - p->row - 1;
        if (row <= p->row || row - p->row > p->lines)
            continue;
        if (p->id >= UI_PART_GRID)
            return ui_tensor__grid_matches(v, p->id, line, text);
        if (p->id >= UI_PART_TEXT)
            return odb_text_matches(v->texts[p->id - UI_PART_TEXT].lines.items[line], text);
    }
    return false;
}

static void tensor_subject(const struct ui_view *view, struct ui_subject *out)
{
    const struct ui_tensor *v = (const struct ui_tensor *)view;
    *out = (struct ui_subject){ODB_NO_NODE, v->value};
    if (v->value != ODB_NO_VALUE)
        out->node = odb_session_model(view->app->session)->graph->values[v->value].producer;
}

static void tensor_prepare(struct ui_view *view, int cols)
{
    struct ui_tensor *v = (struct ui_tensor *)view;
    if (view->room) /* which may be another than that of the last frame */
        view->height = ODB_MAX(view->room - view->header, 0);
    ui_tensor__fetch(v);
    ui_tensor__compute(v);
    ui_tensor__arrange(v, cols);
    ui_tensor__follow(v);
    ui_tensor__say_progress(v);
}

static size_t tensor_rows(const struct ui_view *view)
{
    return ((const struct ui_tensor *)view)->rows;
}

/* --- commands --------------------------------------------------------------------------------- */

static enum ui_answer tensor_slice(struct ui_tensor *v, const struct odb_command_call *call,
                                   struct odb_error *err)
{
    struct odb_buf text = ODB_BUF_INIT;
    struct odb_tensor *t[2] = {NULL, NULL};
    enum ui_answer answer = UI_FAILED;
    for (size_t i = 0; i < call->n_args && call->args[i]; i++)
        odb_buf_printf(&text, "%s%s", i ? " " : "", call->args[i]);
    bool whole = !*odb_buf_text(&text);
    if (!v->t[0] && !v->t[1]) {
        odb_fail(err, ODB_E_USAGE, "there are no values to cut");
    } else if (!whole && ui_tensor__is_large(v)) {
        free(v->cutting);
        v->cutting = odb_buf_take(&text);
        ui_tensor__compute(v);
        answer = UI_DONE;
    } else if (ui_tensor__cut(v, whole ? NULL : text.data, t, err) == ODB_OK) {
        free(v->slice);
        v->slice = whole ? NULL : odb_buf_take(&text);
        ui_tensor__take(v, t);
        ui_tensor__compute(v);
        ui_tensor__reveal(v);
        answer = UI_DONE;
    }
    odb_buf_dispose(&text);
    return answer;
}

/* The choice of that name among n, or the one behind the present. */
static int tensor_choose(const char *const *names, int n, int now, const char *name)
{
    for (int i = 0; name && i < n; i++)
        if (!strcmp(name, names[i]))
            return i;
    return (now + 1) % n;
}

static void tensor_mode(struct ui_tensor *v, const char *name)
{
    static const char *const names[] = {"reference", "target", "difference", "all"};
    v->mode = tensor_choose(names, ODB_COUNT(names), v->mode, name);
    ui_tensor__print(v);
    ui_tensor__reveal(v);
    if (!v->t[0] && !v->t[1])
        ui_app_say(v->view.app, UI_STYLE_WARN, "there are no values to show");
    else
        ui_app_say(v->view.app, UI_STYLE_MESSAGE, "shown: %s",
                   v->mode == UI_SIDES ? "reference, target and difference" : names[v->mode]);
}

static void tensor_measure(struct ui_tensor *v, const char *name)
{
    static const char *const names[] = {"difference", "relative", "ulp"};
    static const char *const words[] = {"target - reference", "(target - reference) / |reference|",
                                        "units in the last place"};
    v->measure = (enum ui_measure)tensor_choose(names, UI_MEASURES, (int)v->measure, name);
    ui_tensor__reveal(v);
    ui_app_say(v->view.app, UI_STYLE_MESSAGE, "measure %s: %s", names[v->measure],
               words[v->measure]);
}

static enum ui_answer tensor_format(struct ui_tensor *v, const char *name, struct odb_error *err)
{
    char text[16];
    struct odb_format format = {(enum odb_format_kind)((v->format.kind + 1) % ODB_FORMATS), 0};
    if (!name) /* with the digits that its name stands for */
        name = odb_format_kind_name(format.kind);
    if (odb_format_parse(&format, name, err) != ODB_OK)
        return UI_FAILED;
    v->format = format;
    ui_tensor__reveal(v);
    ui_app_say(v->view.app, UI_STYLE_MESSAGE, "format %s",
               odb_format_name(&v->format, text, sizeof text));
    return UI_DONE;
}

static void tensor_part(struct ui_tensor *v, const char *name)
{
    static const char *const names[] = {"all", "numbers", "channels", "heat"};
    int page = tensor_choose(names, UI_PAGES, (int)v->page, name);
    if (name && page == (int)v->page) /* the same once more leads back */
        page = UI_PAGE_ALL;
    ui_tensor__turn(v, (enum ui_page)page);
}

/* Esc: what takes its time, then what lies over the overview; then the view itself. */
static enum ui_answer tensor_cancel(struct ui_tensor *v)
{
    if (ui_app_busy(v->view.app) || ui_saving_path(v->view.app->saving))
        return UI_NOT_MINE;
    if (ui_tensor__stop(v))
        return UI_DONE;
    if (v->page == UI_PAGE_ALL)
        return UI_NOT_MINE;
    ui_tensor__turn(v, v->before);
    return UI_DONE;
}

static enum ui_answer tensor_act(struct ui_view *view, const struct odb_command_call *call,
                                 struct odb_error *err)
{
    struct ui_tensor *v = (struct ui_tensor *)view;
    tensor_prepare(view, v->cols ? v->cols : view->app->terminal->cols);
    switch (call->command->screen) {
    case ODB_SCREEN_MODE:
        tensor_mode(v, odb_call_arg(call, 0));
        return UI_DONE;
    case ODB_SCREEN_MEASURE:
        tensor_measure(v, odb_call_arg(call, 0));
        return UI_DONE;
    case ODB_SCREEN_FORMAT:
        return tensor_format(v, odb_call_arg(call, 0), err);
    case ODB_SCREEN_SLICE:
        return tensor_slice(v, call, err);
    case ODB_SCREEN_PART:
        tensor_part(v, odb_call_arg(call, 0));
        return UI_DONE;
    case ODB_SCREEN_CHANNELS:
        return ui_tensor__channels(v, odb_call_arg(call, 0), err);
    case ODB_SCREEN_ORDER:
        return ui_tensor__order(v, odb_call_arg(call, 0), err);
    case ODB_SCREEN_SORT:
        return ui_tensor__sort(v, odb_call_arg(call, 0));
    case ODB_SCREEN_CANCEL:
        return tensor_cancel(v);
    case ODB_SCREEN_REDRAW:
        v->stopped = 0;
        return UI_NOT_MINE;
    case ODB_SCREEN_WRITE:
    case ODB_SCREEN_COPY:
        return ui_tensor__save(v, call, err);
    default:
        break;
    }
    enum ui_answer answer = ui_tensor__find(v, call, err);
    return answer == UI_NOT_MINE ? ui_tensor__move(v, call, err) : answer;
}

/* --- the view --------------------------------------------------------------------------------- */

static void tensor_open(struct ui_view *view)
{
    struct ui_tensor *v = (struct ui_tensor *)view;
    v->value = ODB_NO_VALUE;
    v->mode = UI_SIDES;
    v->axis = -1;
    v->marked = ODB_NOWHERE;
    v->tolerance = ODB_CRITERION_DEFAULT;
    v->rms = NAN;
    v->job = odb_job_new(ui_tensor__done, view->app);
}

static void tensor_close(struct ui_view *view)
{
    struct ui_tensor *v = (struct ui_tensor *)view;
    ui_tensor__close_looks(v);
    for (int i = 0; i < 2; i++) {
        odb_tensor_unref(v->whole[i]);
        odb_tensor_unref(v->t[i]);
        ui_tensor__clear_text(&v->texts[i]);
    }
    free(v->slice);
}

void ui_tensor_show(struct ui_view *view, int value)
{
    struct ui_tensor *v = (struct ui_tensor *)view;
    struct odb_tensor *none[2] = {NULL, NULL};
    if (value == v->value)
        return;
    free(v->slice);
    free(v->cutting);
    v->slice = v->cutting = NULL;
    v->find = (struct ui_tensor_find){.active = false};
    v->page = UI_PAGE_ALL;
    ui_tensor__take(v, none);
    v->axis = -1;
    v->value = value;
    v->stale = true;
    v->marked = ODB_NOWHERE;
    v->aimed = false;
    v->col = v->rank = 0;
    v->side = 0;
    view->selected = view->top = 0;
    view->left = 0;
}

static bool tensor_busy(const struct ui_view *view)
{
    return odb_job_busy(((const struct ui_tensor *)view)->job);
}

const struct ui_view_ops ui_tensor_view = {
    .busy = tensor_busy,
    .help = "one value: numbers, errors, histograms",
    .share = 55,
    .size = sizeof(struct ui_tensor),
    .open = tensor_open,
    .close = tensor_close,
    .title = tensor_title,
    .prepare = tensor_prepare,
    .header = ui_tensor__header,
    .column = ui_tensor__column_at,
    .rows = tensor_rows,
    .draw_row = ui_tensor__draw_row,
    .matches = tensor_matches,
    .subject = tensor_subject,
    .act = tensor_act,
};
