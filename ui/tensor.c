/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The numbers of one value: what the reference has, what the target has, and how they differ.
 *
 * Numbers are read as they come on the screen. What has to look at all of them is computed by a
 * job of the view's own, for which nothing waits; small tensors are not worth one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/print.h"
#include "ui/app.h"
#include "ui/tensor_int.h"

#define TENSOR_GAP 2             /* columns between parts */
#define TENSOR_AT_ONCE (1 << 16) /* elements that are computed at once */

/* --- computing -------------------------------------------------------------------------------- */

static void tensor_done(void *payload)
{
    ui_app_wake(payload);
}

static bool tensor_cancelled(void *payload)
{
    return atomic_load((atomic_bool *)payload);
}

static void tensor_work(void *arg)
{
    struct ui_tensor_work *work = arg;
    work->status = odb_inspect(&work->result, work->t[UI_REFERENCE], work->t[UI_TARGET],
                               tensor_cancelled, &work->cancel, &work->err);
}

static void tensor_worked(struct ui_tensor *v)
{
    struct ui_tensor_work *work = &v->work;
    char text[1024];
    for (int i = 0; i < 2; i++) {
        odb_tensor_unref(work->t[i]);
        work->t[i] = NULL;
    }
    if (atomic_load(&work->cancel))
        return;
    if (work->status == ODB_OK)
        v->seen = &work->result;
    else
        v->failure = odb_xstrdup(odb_error_text(&work->err, text, sizeof text));
    if (v->seen && !v->slice)
        v->rms = v->seen->metrics.rms;
}

/* Takes what was computed, and has computed what is shown now. */
static void tensor_compute(struct ui_tensor *v)
{
    struct ui_tensor_work *work = &v->work;
    if (odb_job_collect(v->job))
        tensor_worked(v);
    if (v->seen || v->failure || odb_job_busy(v->job) || (!v->t[0] && !v->t[1]))
        return;
    size_t count = 0;
    for (int i = 0; i < 2; i++) {
        work->t[i] = odb_tensor_ref(v->t[i]);
        if (v->t[i])
            count += v->t[i]->kind == ODB_TENSOR ? v->t[i]->count : SIZE_MAX / 2;
    }
    work->err = (struct odb_error)ODB_ERROR_INIT;
    atomic_store(&work->cancel, false);
    if (count > TENSOR_AT_ONCE && odb_job_start(v->job, tensor_work, work))
        return;
    tensor_work(work);
    tensor_worked(v);
}

/* --- what is shown ---------------------------------------------------------------------------- */

/* As a new reference, or NULL when its values are not here. */
static struct odb_tensor *tensor_with_values(const struct odb_tensor *t)
{
    bool has = t && (t->kind != ODB_TENSOR || t->data || !t->count);
    return has ? odb_tensor_ref(t) : NULL;
}

static enum odb_status tensor_cut(const struct ui_tensor *v, const char *slice,
                                  struct odb_tensor *out[2], struct odb_error *err)
{
    for (int i = 0; i < 2; i++) {
        out[i] = tensor_with_values(v->whole[i]);
        if (!out[i] || !slice)
            continue;
        struct odb_tensor *whole = out[i];
        out[i] = NULL;
        enum odb_status status = odb_slice(&out[i], whole, slice, err);
        odb_tensor_unref(whole);
        if (status != ODB_OK) {
            odb_tensor_unref(out[0]);
            return status;
        }
    }
    return ODB_OK;
}

static void tensor_clear_text(struct ui_tensor_text *text)
{
    for (size_t i = 0; i < text->lines.n; i++)
        free(text->lines.items[i]);
    free(text->lines.items);
    *text = (struct ui_tensor_text){{0}};
}

/* Sequences and their like are shown as they are printed. */
static void tensor_print(struct ui_tensor *v)
{
    for (int i = 0; i < 2; i++) {
        struct odb_buf out = ODB_BUF_INIT;
        bool wanted = v->mode >= UI_DIFFERENCE || v->mode == i || !v->t[!i];
        tensor_clear_text(&v->texts[i]);
        if (!wanted || !v->t[i] || v->t[i]->kind == ODB_TENSOR)
            continue;
        odb_print_tensor(&out, v->t[i], NULL);
        for (const char *p = odb_buf_text(&out), *end; *p; p = end + (*end == '\n')) {
            end = p + strcspn(p, "\n");
            odb_push(&v->texts[i].lines, odb_xstrndup(p, (size_t)(end - p)));
        }
        odb_buf_dispose(&out);
    }
}

/* Takes over what is to be shown. Where one looks stays, unless the shape is another. */
static void tensor_show_take(struct ui_tensor *v, struct odb_tensor *t[2])
{
    bool same = true;
    atomic_store(&v->work.cancel, true);
    v->seen = NULL;
    free(v->failure);
    v->failure = NULL;
    for (int i = 0; i < 2; i++) {
        same &= !v->t[i] || (t[i] && odb_tensor_same_shape(v->t[i], t[i]));
        odb_tensor_unref(v->t[i]);
        v->t[i] = t[i];
    }
    v->paired = t[0] && t[1] && t[0]->kind == ODB_TENSOR && t[1]->kind == ODB_TENSOR &&
                odb_tensor_same_shape(t[0], t[1]);
    for (int i = 0; i < 2; i++) {
        size_t plane = v->grids[i].at.plane;
        v->grids[i] = (struct ui_tensor_grid){.n_sides = 0};
        if (t[i])
            odb_grid_init(&v->grids[i].at, t[i]);
        if (same && plane < v->grids[i].at.planes)
            v->grids[i].at.plane = plane;
    }
    if (!same) {
        v->view.left = 0;
        v->marked = ODB_NOWHERE;
    }
    tensor_print(v);
}

/* Reads what the session has for the value now. */
static void tensor_fetch(struct ui_tensor *v)
{
    const struct odb_session *session = v->view.app->session;
    struct odb_tensor *whole[2], *t[2];
    if (v->value == ODB_NO_VALUE)
        return;
    if (odb_criterion_parse(&v->tolerance, odb_console_tolerance(v->view.app->console), NULL))
        v->tolerance = ODB_CRITERION_DEFAULT;
    odb_session_lock(session);
    bool stale = v->stale || v->generation != session->generation;
    v->generation = session->generation;
    v->report = session->values[v->value];
    odb_session_unlock(session);
    if (!stale)
        return;
    whole[0] = odb_session_reference(session, v->value);
    whole[1] = odb_session_target(session, v->value);
    bool same = !v->stale && whole[0] == v->whole[0] && whole[1] == v->whole[1];
    v->stale = false;
    for (int i = 0; i < 2; i++) {
        odb_tensor_unref(v->whole[i]);
        v->whole[i] = whole[i];
    }
    if (same)
        return;
    v->rms = NAN;
    if (tensor_cut(v, v->slice, t, NULL) != ODB_OK) {
        free(v->slice);
        v->slice = NULL;
        if (tensor_cut(v, NULL, t, NULL) != ODB_OK)
            return;
    }
    tensor_show_take(v, t);
}

/* --- layout ----------------------------------------------------------------------------------- */

/* Rows of the list that belong to a line's number: those of one row of a grid go together. */
static size_t tensor_lines_per_row(const struct ui_tensor *v, enum ui_part_id id)
{
    if (id < UI_PART_GRID)
        return 1;
    const struct ui_tensor_grid *g = &v->grids[id - UI_PART_GRID];
    return g->beside || !g->n_sides ? 1 : (size_t)g->n_sides;
}

static size_t tensor_heads(const struct ui_tensor *v, enum ui_part_id id)
{
    return id < UI_PART_GRID ? 1 : 1 + (size_t)v->grids[id - UI_PART_GRID].heads;
}

/* What a band of parts leaves of the screen goes to those that have bars, else to the last. */
static void tensor_stretch(struct ui_part *parts, int n, int spare)
{
    int bars = 0;
    for (int i = 0; i < n; i++)
        bars += parts[i].id == UI_PART_VALUES || parts[i].id == UI_PART_DECADES;
    for (int i = 0, moved = 0; i < n; i++) {
        bool last = i == n - 1,
             bar = parts[i].id == UI_PART_VALUES || parts[i].id == UI_PART_DECADES;
        int more = last ? spare - moved : bar ? spare / bars : 0;
        parts[i].col += moved;
        parts[i].width += more;
        moved += more;
    }
}

/* Places parts from the left as long as there is room, then below. */
static void tensor_place(struct ui_tensor *v, int cols)
{
    int first = 0, col = 0;
    size_t row = 0, height = 0;
    v->n_parts = 0;
    v->rows = 0;
    for (int id = 0; id < UI_PARTS; id++) {
        const struct ui_part_kind *kind = &ui_tensor__kinds[id];
        size_t lines = kind->lines(v, (enum ui_part_id)id);
        if (!lines)
            continue;
        int width = kind->width ? ODB_MIN(kind->width(v), cols) : cols;
        if (col && col + width > cols) {
            tensor_stretch(v->parts + first, v->n_parts - first, cols - col + TENSOR_GAP);
            row += height + 2;
            col = 0;
            height = 0;
            first = v->n_parts;
        }
        v->parts[v->n_parts++] = (struct ui_part){(enum ui_part_id)id, row, lines, col, width};
        col += width + TENSOR_GAP;
        height = ODB_MAX(height, lines);
        v->rows = row + 1 + height;
    }
    tensor_stretch(v->parts + first, v->n_parts - first, cols - col + TENSOR_GAP);
}

static const struct ui_part *tensor_part(const struct ui_tensor *v, enum ui_part_id id)
{
    for (int i = 0; i < v->n_parts; i++)
        if (v->parts[i].id == id)
            return &v->parts[i];
    return NULL;
}

/* The first part that has a row of the list; NULL: a blank. */
static const struct ui_part *tensor_part_at(const struct ui_tensor *v, size_t row)
{
    for (int i = 0; i < v->n_parts; i++)
        if (row >= v->parts[i].row && row - v->parts[i].row <= v->parts[i].lines)
            return &v->parts[i];
    return NULL;
}

/* Lays everything out anew, and keeps the selection where it was, though what is above it may have
 * grown. */
static void tensor_layout(struct ui_tensor *v, int cols)
{
    const struct ui_part *before = tensor_part_at(v, v->view.selected), *after;
    struct ui_part was = before ? *before : (struct ui_part){.id = UI_PARTS};
    size_t line = before ? v->view.selected - was.row : 0, heads = 0, screen;
    bool body = before && line >= (heads = tensor_heads(v, was.id));
    if (body)
        line = (line - heads) / tensor_lines_per_row(v, was.id);
    v->cols = cols;
    v->tall = v->view.height ? v->view.height >= 36 : v->view.app->terminal->rows >= 40;
    cols = ODB_MAX(cols - 1, 1); /* the last one may have the list's thumb */
    ui_tensor__grid_layout(v, cols);
    tensor_place(v, cols);
    after = tensor_part(v, was.id);
    if (!after)
        return;
    if (body)
        line = line * tensor_lines_per_row(v, was.id) + tensor_heads(v, was.id);
    screen = v->view.selected - ODB_MIN(v->view.top, v->view.selected);
    v->view.selected = after->row + ODB_MIN(line, after->lines);
    v->view.top = v->view.selected - ODB_MIN(screen, v->view.selected);
}

static void tensor_prepare(struct ui_view *view, int cols)
{
    struct ui_tensor *v = (struct ui_tensor *)view;
    tensor_fetch(v);
    tensor_compute(v);
    tensor_layout(v, cols);
}

/* --- drawing ---------------------------------------------------------------------------------- */

static size_t tensor_rows(const struct ui_view *view)
{
    return ((const struct ui_tensor *)view)->rows;
}

static void tensor_draw_row(const struct ui_view *view, size_t row, const struct ui_area *area)
{
    const struct ui_tensor *v = (const struct ui_tensor *)view;
    for (int i = 0; i < v->n_parts; i++) {
        const struct ui_part *p = &v->parts[i];
        struct ui_area part = ui_area_part(area, 0, p->col, 1, p->width);
        if (row == p->row)
            ui_tensor__kinds[p->id].title(v, p->id, &part);
        else if (row > p->row && row - p->row <= p->lines)
            ui_tensor__kinds[p->id].draw(v, p->id, row - p->row - 1, &part);
    }
}

/* The titles, or the labels, of the rows at the top, when they are out of sight. */
static void tensor_draw_lost(const struct ui_tensor *v, const struct ui_area *area)
{
    size_t top = v->view.top;
    for (int i = 0; i < v->n_parts; i++) {
        const struct ui_part *p = &v->parts[i];
        const struct ui_part_kind *kind = &ui_tensor__kinds[p->id];
        struct ui_area part = ui_area_part(area, 0, p->col, 1, p->width);
        if (top <= p->row || top - p->row > p->lines)
            continue;
        size_t heads = tensor_heads(v, p->id);
        if (p->id >= UI_PART_GRID && heads > 1 && top - p->row >= heads)
            kind->draw(v, p->id, heads - 2, &part);
        else
            kind->title(v, p->id, &part);
    }
}

/* "float[1,64,56,56]" */
static const char *tensor_type(const struct odb_tensor *t, char *buf, size_t size)
{
    static const char *const kinds[] = {"tensor", "sequence", "optional", "sparse", "map"};
    struct odb_buf text = ODB_BUF_INIT_MAX(size);
    if (t->kind != ODB_TENSOR)
        odb_buf_printf(&text, "%s ", kinds[t->kind]);
    if (t->kind != ODB_TENSOR && t->kind != ODB_SPARSE)
        odb_buf_printf(&text, "of %zu", t->n_items);
    else
        odb_buf_printf(&text, "%s[", odb_dtype_info(t->dtype)->name);
    for (int i = 0; i < t->rank; i++)
        odb_buf_printf(&text, "%s%lld", i ? "," : "", (long long)t->dims[i]);
    if (t->kind == ODB_TENSOR || t->kind == ODB_SPARSE)
        odb_buf_putc(&text, ']');
    snprintf(buf, size, "%s", odb_buf_text(&text));
    odb_buf_dispose(&text);
    return buf;
}

/* The plane in view, at the right; returns the columns that are left. */
static int tensor_draw_plane(const struct ui_tensor *v, const struct ui_area *area, int row)
{
    const struct odb_grid *grid = &v->grids[v->t[0] && v->grids[0].n_sides ? 0 : 1].at;
    char plane[ODB_MAX_RANK * 24], text[ODB_MAX_RANK * 24 + 64];
    if (!grid->t || grid->planes < 2)
        return area->cols;
    odb_grid_plane_text(grid, plane, sizeof plane);
    snprintf(text, sizeof text, "%s  %zu/%zu", plane, grid->plane, grid->planes);
    int width = (int)strlen(text);
    if (width > area->cols / 2)
        return area->cols;
    ui_draw_text(area, row, area->cols - width, UI_STYLE_LABEL, text);
    return area->cols - width - 2;
}

/* Type and shape, and where the value is from. */
static void tensor_draw_type(const struct ui_tensor *v, const struct ui_area *area, int row)
{
    const struct odb_graph *graph = v->view.app->session->model->graph;
    const struct odb_value *value = &graph->values[v->value];
    const struct odb_tensor *t = v->whole[0] ? v->whole[0] : v->whole[1];
    char text[ODB_MAX_RANK * 24 + 64], label[128];
    const char *declared = value->type.known ? value->type.text : "type not known";
    int end = tensor_draw_plane(v, area, row);
    int col =
        ui_draw_text(area, row, 0, UI_STYLE_TYPE, t ? tensor_type(t, text, sizeof text) : declared);
    if (v->slice) {
        const struct odb_tensor *part = v->t[0] ? v->t[0] : v->t[1];
        col = ui_draw_printf(area, row, col, UI_STYLE_HEAD, "  %s", v->slice);
        if (part)
            col = ui_draw_printf(area, row, col, UI_STYLE_TYPE, " %s",
                                 tensor_type(part, text, sizeof text));
    }
    if (value->producer != ODB_NO_NODE) {
        const struct odb_node *node = &graph->nodes[value->producer];
        col = ui_draw_printf(area, row, col, UI_STYLE_DIM, "  of #%d ", node->index);
        col = ui_draw_text(area, row, col, UI_STYLE_OP, node->op_type);
        ui_draw_field(area, row, col + 1, end - col - 1, UI_CUT_MIDDLE, UI_STYLE_NAME,
                      node->name_is_unique ? odb_node_label(node, label, sizeof label) : "");
    }
}

/* The reason has the numbers in it where there is one. */
static void tensor_draw_verdict(const struct ui_tensor *v, const struct ui_area *area, int row)
{
    const struct odb_value_report *report = &v->report;
    const struct {
        const char *name;
        struct odb_number number;
    } numbers[] = {{"error", report->error}, {"noise", report->noise}};
    const char *tolerance = odb_console_tolerance(v->view.app->console);
    enum ui_style style = ui_mark_style(report, report->culprit);
    const struct odb_value *value = &v->view.app->session->model->graph->values[v->value];
    char text[32];
    if (value->producer == ODB_NO_NODE) {
        ui_draw_printf(area, row, 0, UI_STYLE_DIM, "%s: the reference and the target get the same",
                       value->init ? "a weight" : "an input");
        return;
    }
    int col = ui_draw_glyph(area, row, 0, style, ui_mark_glyph(report, report->culprit, false));
    col = ui_draw_printf(area, row, col + 1, ui_mark_style(report, false), "%s  ",
                         odb_verdict_name(report->verdict));
    if (report->reason[0])
        col = ui_draw_printf(area, row, col, UI_STYLE_NORMAL, "%s  ", report->reason);
    for (size_t i = 0; !report->reason[0] && i < ODB_COUNT(numbers); i++)
        if (numbers[i].number.known) {
            col = ui_draw_printf(area, row, col, UI_STYLE_LABEL, "%s ", numbers[i].name);
            col = ui_draw_printf(area, row, col, UI_STYLE_NUMBER, "%s  ",
                                 ui_number_text(numbers[i].number, text, sizeof text));
        }
    int width = ui_text_width(area->terminal, tolerance) + (int)strlen("tolerance ");
    if (col + width <= area->cols) {
        col = ui_draw_text(area, row, area->cols - width, UI_STYLE_LABEL, "tolerance ");
        ui_draw_text(area, row, col, UI_STYLE_NUMBER, tolerance);
    }
}

/* Why a side has nothing to show; "": it has, or never will. */
static const char *tensor_lacks(const struct ui_tensor *v, enum ui_side side)
{
    const struct odb_session *session = v->view.app->session;
    const struct odb_value *value = &session->model->graph->values[v->value];
    if (v->t[side])
        return "";
    if (v->whole[side])
        return "its values are not here: a file of weights is missing";
    if (side == UI_TARGET && value->producer == ODB_NO_NODE)
        return "";
    if (side == UI_REFERENCE && session->trace && value->producer != ODB_NO_NODE) {
        const char *why = session->trace->why[value->producer];
        return why ? why : "not computed";
    }
    if (side == UI_REFERENCE && value->producer == ODB_NO_NODE)
        return "not made yet; `run` or `bisect` makes one, `set input` gives one";
    if (side == UI_REFERENCE)
        return "not computed yet; `run` or `bisect` computes it";
    return session->report || session->at != ODB_NO_NODE
               ? "not had: the target did not show it"
               : "not had yet; `bisect` or `continue` gets it";
}

/* Lines about what stands in the way of a comparison; draws them where area is not NULL. */
static int tensor_draw_notes(const struct ui_tensor *v, const struct ui_area *area, int row)
{
    const struct odb_tensor *a = v->whole[0], *b = v->whole[1];
    int rows = 0;
    for (int side = 0; side < 2; side++) {
        const char *why = tensor_lacks(v, (enum ui_side)side);
        if (*why && area)
            ui_draw_text(area, row + rows,
                         ui_draw_printf(area, row + rows, 0, UI_STYLE_LABEL,
                                        "%s: ", ui_side_name((enum ui_side)side)),
                         UI_STYLE_UNKNOWN, why);
        rows += *why != 0;
    }
    if (a && b && (a->kind != b->kind || a->dtype != b->dtype || !odb_tensor_same_shape(a, b))) {
        char text[ODB_MAX_RANK * 24 + 64];
        if (area)
            ui_draw_printf(area, row + rows, 0, UI_STYLE_BAD, "the target has %s",
                           tensor_type(b, text, sizeof text));
        rows++;
    }
    return rows;
}

static int tensor_header(const struct ui_view *view, const struct ui_area *area, int rows)
{
    const struct ui_tensor *v = (const struct ui_tensor *)view;
    if (v->value == ODB_NO_VALUE) {
        if (area)
            ui_draw_text(area, 0, 1, UI_STYLE_DIM, "no value was opened yet");
        return 1;
    }
    int notes = tensor_draw_notes(v, NULL, 0), n = 2 + notes + 1;
    if (area) {
        struct ui_area lost = ui_area_part(area, n - 1, 0, 1, area->cols - 1);
        tensor_draw_type(v, area, 0);
        tensor_draw_verdict(v, area, 1);
        tensor_draw_notes(v, area, 2);
        tensor_draw_lost(v, &lost);
    }
    return n;
}

static void tensor_title(const struct ui_view *view, struct odb_buf *out)
{
    const struct ui_tensor *v = (const struct ui_tensor *)view;
    const struct odb_graph *graph = view->app->session->model->graph;
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
            return ui_text_matches(v->texts[p->id - UI_PART_TEXT].lines.items[line], text);
    }
    return false;
}

static void tensor_subject(const struct ui_view *view, struct ui_subject *out)
{
    const struct ui_tensor *v = (const struct ui_tensor *)view;
    *out = (struct ui_subject){ODB_NO_NODE, v->value};
    if (v->value != ODB_NO_VALUE)
        out->node = view->app->session->model->graph->values[v->value].producer;
}

/* --- commands --------------------------------------------------------------------------------- */

static int64_t tensor_count(const struct odb_command_call *call, int64_t fallback)
{
    const char *n = odb_call_arg(call, 0);
    return n ? strtoll(n, NULL, 10) : fallback;
}

/* The grid that has the cells of a side, NULL when nothing has. */
static struct ui_tensor_grid *tensor_grid(struct ui_tensor *v, enum ui_side side)
{
    struct ui_tensor_grid *g = &v->grids[v->paired ? 0 : side];
    return g->n_sides && g->at.planes ? g : NULL;
}

/* Moves the grid, and the selection, to an element. */
static enum ui_answer tensor_goto(struct ui_tensor *v, enum ui_side side, size_t at,
                                  struct odb_error *err)
{
    struct ui_tensor_grid *g = tensor_grid(v, side);
    size_t row, col;
    if (!g) {
        odb_fail(err, ODB_E_USAGE, "it has no cells to go to");
        return UI_FAILED;
    }
    enum ui_part_id id = g == &v->grids[0] ? UI_PART_GRID : UI_PART_GRID_TARGET;
    const struct ui_part *part = tensor_part(v, id);
    size_t room = ui_tensor__grid_room(g, part->width), left = (size_t)v->view.left;
    odb_grid_at(&g->at, at, &g->at.plane, &row, &col);
    if (col < left || col - left >= room)
        v->view.left = (int)ODB_MIN(col - ODB_MIN(col, room / 2), (size_t)INT32_MAX);
    v->marked = at;
    v->marked_grid = (int)(g - v->grids);
    ui_list_select(&v->view, part->row + tensor_heads(v, id) + row * tensor_lines_per_row(v, id));
    return UI_DONE;
}

static enum ui_answer tensor_worst(struct ui_tensor *v, int64_t rank, struct odb_error *err)
{
    const struct odb_inspection *seen = v->seen;
    char place[ODB_MAX_RANK * 24], text[UI_SIDES][UI_CELL_TEXT] = {""};
    if (!seen && v->t[0] && v->t[1]) {
        odb_fail(err, ODB_E_USAGE, "that is not computed yet");
        return UI_FAILED;
    }
    if (!seen || !seen->comparable || rank < 0 || (size_t)rank >= seen->n_worst) {
        if (!seen || !seen->comparable)
            odb_fail(err, ODB_E_USAGE, "there are no two sides to compare");
        else if (!seen->n_worst)
            odb_fail(err, ODB_E_USAGE, "no element differs");
        else
            odb_fail(err, ODB_E_USAGE, "the worst elements are 0 to %zu", seen->n_worst - 1);
        return UI_FAILED;
    }
    size_t at = seen->worst[rank].at;
    if (tensor_goto(v, UI_REFERENCE, at, err) == UI_FAILED)
        return UI_FAILED;
    v->rank = (size_t)rank;
    for (int side = 0; side < 2; side++)
        ui_tensor__cell(v, (enum ui_side)side, at, text[side]);
    ui_app_say(v->view.app, UI_STYLE_MESSAGE, "worst %zu: %s  reference %s  target %s", v->rank,
               odb_index_text(v->t[UI_REFERENCE], at, place, sizeof place), text[UI_REFERENCE],
               text[UI_TARGET]);
    return UI_DONE;
}

/* Given again and again, `worst` goes round. */
static int64_t tensor_next_worst(const struct ui_tensor *v)
{
    if (v->marked == ODB_NOWHERE || !v->seen || v->rank + 1 >= v->seen->n_worst)
        return 0;
    return (int64_t)v->rank + 1;
}

static enum ui_answer tensor_open_row(struct ui_tensor *v, struct odb_error *err)
{
    for (int i = 0; i < v->n_parts; i++) {
        const struct ui_part *p = &v->parts[i];
        size_t row = v->view.selected, line = row - p->row - 1, at;
        enum ui_side side;
        if (row <= p->row || row - p->row > p->lines)
            continue;
        if (p->id == UI_PART_WORST)
            return tensor_worst(v, (int64_t)(ui_tensor__first_worst(v) + line), err);
        if (p->id == UI_PART_ODD && ui_tensor__odd_at(v, line, &at, &side))
            return tensor_goto(v, side, at, err);
    }
    return UI_DONE;
}

/* What changes the numbers is to be seen. */
static void tensor_reveal(struct ui_tensor *v)
{
    size_t top = v->view.top, end = top + (size_t)ODB_MAX(v->view.height, 1);
    const struct ui_part *first = NULL;
    tensor_layout(v, v->cols);
    for (int i = 0; i < v->n_parts; i++) {
        const struct ui_part *p = &v->parts[i];
        if (p->id < UI_PART_TEXT)
            continue;
        if (p->row + 1 < end && p->row + p->lines >= top)
            return;
        first = first ? first : p;
    }
    if (!first)
        return;
    v->view.top = first->row;
    ui_list_select(&v->view, first->row);
}

static enum ui_answer tensor_plane(struct ui_tensor *v, int64_t by, struct odb_error *err)
{
    size_t planes = 0;
    bool moved = false;
    for (int i = 0; i < 2; i++)
        if (v->grids[i].n_sides) {
            planes = ODB_MAX(planes, v->grids[i].at.planes);
            moved |= odb_grid_step(&v->grids[i].at, by);
        }
    if (moved) {
        tensor_reveal(v);
        return UI_DONE;
    }
    odb_fail(err, ODB_E_USAGE, planes > 1 ? "this is the %s plane" : "there is only one plane%s",
             planes > 1 ? (by < 0 ? "first" : "last") : "");
    return UI_FAILED;
}

static enum ui_answer tensor_slice(struct ui_tensor *v, const struct odb_command_call *call,
                                   struct odb_error *err)
{
    struct odb_buf text = ODB_BUF_INIT;
    struct odb_tensor *t[2] = {NULL, NULL};
    for (size_t i = 0; i < call->n_args && call->args[i]; i++)
        odb_buf_printf(&text, "%s%s", i ? " " : "", call->args[i]);
    bool whole = !*odb_buf_text(&text);
    if (!v->t[0] && !v->t[1])
        odb_fail(err, ODB_E_USAGE, "there are no values to cut");
    else if (tensor_cut(v, whole ? NULL : text.data, t, err) == ODB_OK) {
        free(v->slice);
        v->slice = whole ? NULL : odb_buf_take(&text);
        tensor_show_take(v, t);
        tensor_compute(v);
        tensor_reveal(v);
        odb_buf_dispose(&text);
        return UI_DONE;
    }
    odb_buf_dispose(&text);
    return UI_FAILED;
}

static void tensor_mode(struct ui_tensor *v, const char *name)
{
    static const char *const names[] = {"reference", "target", "difference", "all"};
    v->mode = (v->mode + 1) % (int)ODB_COUNT(names);
    for (size_t i = 0; name && i < ODB_COUNT(names); i++)
        if (!strcmp(name, names[i]))
            v->mode = (int)i;
    tensor_print(v);
    tensor_reveal(v);
    ui_app_say(v->view.app, UI_STYLE_MESSAGE, "mode %s", names[v->mode]);
}

/* From part to part, where those that stand side by side are one. */
static void tensor_section(struct ui_tensor *v, int64_t by)
{
    size_t starts[UI_PARTS], n = 0, at = 0;
    for (int i = 0; i < v->n_parts; i++)
        if (!n || starts[n - 1] != v->parts[i].row)
            starts[n++] = v->parts[i].row;
    if (!n)
        return;
    while (at + 1 < n && starts[at + 1] <= v->view.selected)
        at++;
    int64_t to = (int64_t)at + ODB_MAX(ODB_MIN(by, UI_PARTS), -UI_PARTS);
    if (by < 0 && v->view.selected > starts[at])
        to++;
    size_t row = starts[ODB_MAX(ODB_MIN(to, (int64_t)n - 1), 0)];
    v->view.top = row;
    ui_list_select(&v->view, row);
}

static void tensor_scroll(struct ui_tensor *v, int64_t by)
{
    size_t most = 0;
    for (int i = 0; i < 2; i++) {
        if (v->grids[i].n_sides && !v->grids[i].beside && v->grids[i].at.cols)
            most = ODB_MAX(most, v->grids[i].at.cols - 1);
        for (size_t k = 0; k < v->texts[i].lines.n; k++)
            most = ODB_MAX(most, strlen(v->texts[i].lines.items[k]));
    }
    int64_t to = ODB_MIN((int64_t)v->view.left + by, (int64_t)ODB_MIN(most, (size_t)INT32_MAX));
    v->view.left = (int)ODB_MAX(to, 0);
}

static enum ui_answer tensor_act(struct ui_view *view, const struct odb_command_call *call,
                                 struct odb_error *err)
{
    struct ui_tensor *v = (struct ui_tensor *)view;
    tensor_prepare(view, v->cols ? v->cols : view->app->terminal->cols);
    switch (call->command->screen) {
    case ODB_SCREEN_LEFT:
        tensor_scroll(v, -tensor_count(call, 1));
        return UI_DONE;
    case ODB_SCREEN_RIGHT:
        tensor_scroll(v, tensor_count(call, 1));
        return UI_DONE;
    case ODB_SCREEN_MODE:
        tensor_mode(v, odb_call_arg(call, 0));
        return UI_DONE;
    case ODB_SCREEN_SECTION:
        tensor_section(v, tensor_count(call, 1));
        return UI_DONE;
    case ODB_SCREEN_PLANE:
        return tensor_plane(v, tensor_count(call, 1), err);
    case ODB_SCREEN_SLICE:
        return tensor_slice(v, call, err);
    case ODB_SCREEN_WORST:
        return tensor_worst(v, tensor_count(call, tensor_next_worst(v)), err);
    case ODB_SCREEN_OPEN:
        return odb_call_arg(call, 0) ? UI_NOT_MINE : tensor_open_row(v, err);
    default:
        return UI_NOT_MINE;
    }
}

/* --- the view --------------------------------------------------------------------------------- */

static void tensor_open(struct ui_view *view)
{
    struct ui_tensor *v = (struct ui_tensor *)view;
    v->value = ODB_NO_VALUE;
    v->mode = UI_SIDES;
    v->marked = ODB_NOWHERE;
    v->tolerance = ODB_CRITERION_DEFAULT;
    v->rms = NAN;
    v->job = odb_job_new(tensor_done, view->app);
}

static void tensor_close(struct ui_view *view)
{
    struct ui_tensor *v = (struct ui_tensor *)view;
    atomic_store(&v->work.cancel, true);
    odb_job_free(v->job);
    for (int i = 0; i < 2; i++) {
        odb_tensor_unref(v->work.t[i]);
        odb_tensor_unref(v->whole[i]);
        odb_tensor_unref(v->t[i]);
        tensor_clear_text(&v->texts[i]);
    }
    free(v->slice);
    free(v->failure);
}

void ui_tensor_show(struct ui_view *view, int value)
{
    struct ui_tensor *v = (struct ui_tensor *)view;
    struct odb_tensor *none[2] = {NULL, NULL};
    if (value == v->value)
        return;
    free(v->slice);
    v->slice = NULL;
    tensor_show_take(v, none);
    v->value = value;
    v->stale = true;
    v->marked = ODB_NOWHERE;
    v->rank = 0;
    view->selected = view->top = 0;
    view->left = 0;
}

const struct ui_view_ops ui_tensor_view = {
    .name = "tensor",
    .size = sizeof(struct ui_tensor),
    .open = tensor_open,
    .close = tensor_close,
    .title = tensor_title,
    .prepare = tensor_prepare,
    .header = tensor_header,
    .rows = tensor_rows,
    .draw_row = tensor_draw_row,
    .matches = tensor_matches,
    .subject = tensor_subject,
    .act = tensor_act,
};
