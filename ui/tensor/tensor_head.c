/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The lines above the parts: type, verdict, what stands in the way of a comparison, and the element
 * under the cursor.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "command/call/console.h"
#include "model/model.h"
#include "session/session.h"
#include "ui/tensor/tensor_int.h"
#include "ui/terminal/draw.h"
#include "ui/terminal/key.h"
#include "ui/view/app.h"
#include "ui/view/keymap.h"
#include "ui/view/mark.h"

/* "float[1,64,56,56]" */
static const char *head_type(const struct odb_tensor *t, char *buf, size_t size)
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
static int head_draw_plane(const struct ui_tensor *v, const struct ui_area *area, int row)
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
static void head_draw_type(const struct ui_tensor *v, const struct ui_area *area, int row)
{
    const struct odb_graph *graph = odb_session_model(v->view.app->session)->graph;
    const struct odb_value *value = &graph->values[v->value];
    const struct odb_tensor *t = v->whole[0] ? v->whole[0] : v->whole[1];
    char text[ODB_MAX_RANK * 24 + 64], label[128];
    const char *declared = value->type.known ? value->type.shown : "type not known";
    int end = head_draw_plane(v, area, row);
    int col =
        ui_draw_text(area, row, 0, UI_STYLE_TYPE, t ? head_type(t, text, sizeof text) : declared);
    if (v->slice) {
        const struct odb_tensor *part = v->t[0] ? v->t[0] : v->t[1];
        col = ui_draw_printf(area, row, col, UI_STYLE_HEAD, "  %s", v->slice);
        if (part)
            col = ui_draw_printf(area, row, col, UI_STYLE_TYPE, " %s",
                                 head_type(part, text, sizeof text));
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
static void head_draw_verdict(const struct ui_tensor *v, const struct ui_area *area, int row)
{
    const struct odb_value_report *report = &v->report;
    const struct {
        const char *name;
        struct odb_number number;
    } numbers[] = {{"error", report->error}, {"noise", report->noise}};
    const char *tolerance = odb_console_tolerance(v->view.app->console);
    enum ui_style style = ui_mark_style(report, report->culprit);
    const struct odb_value *value =
        &odb_session_model(v->view.app->session)->graph->values[v->value];
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

/* Why what was never asked for is not here, and the key that gets it. Appends. */
static void head_put_lacks(const struct ui_tensor *v, const char *why, const char *command,
                           struct odb_buf *out)
{
    char name[16];
    const struct ui_app *app = v->view.app;
    int key = app->linear ? 0 : ui_keymap_key(app->keymap, v->view.name, command);
    odb_buf_puts(out, why);
    if (key)
        odb_buf_printf(out, "; %s computes it", ui_key_name(key, name, sizeof name));
    else
        odb_buf_printf(out, "; `%s` computes it", command);
}

/* Why a side has nothing to show; nothing: it has, or never will. Appends. */
static void head_lacks(const struct ui_tensor *v, enum ui_side side, struct odb_buf *out)
{
    const struct odb_session *session = v->view.app->session;
    const struct odb_value *value = &odb_session_model(session)->graph->values[v->value];
    const struct odb_trace *trace = odb_session_held_trace(session);
    bool made = value->producer != ODB_NO_NODE, searched = odb_session_report(session) != NULL;
    const char *kept = "not here, as a session keeps no values";
    if (v->t[side] || (side == UI_TARGET && !made))
        return;
    if (v->whole[side])
        odb_buf_puts(out, "its values are not here: a file of weights is missing");
    else if (!made)
        odb_buf_puts(out, "not made yet; `run` or `bisect` makes one, `set input` gives one");
    else if (side == UI_REFERENCE && trace)
        odb_buf_puts(out,
                     trace->why[value->producer] ? trace->why[value->producer] : "not computed");
    else if (side == UI_REFERENCE)
        head_put_lacks(v, searched ? kept : "not computed yet", "run", out);
    else if (odb_session_gave(session))
        odb_buf_puts(out, "not had: the target did not show it");
    else
        head_put_lacks(v, searched ? kept : "not had yet", "run", out);
}

/* Lines about what stands in the way of a comparison; draws them where area is not NULL. */
static int head_draw_notes(const struct ui_tensor *v, const struct ui_area *area, int row)
{
    const struct odb_tensor *a = v->whole[0], *b = v->whole[1];
    int rows = 0;
    for (int side = 0; side < 2; side++) {
        struct odb_buf why = ODB_BUF_INIT;
        head_lacks(v, (enum ui_side)side, &why);
        if (why.len && area)
            ui_draw_text(area, row + rows,
                         ui_draw_printf(area, row + rows, 0, UI_STYLE_LABEL,
                                        "%s: ", ui_side_name((enum ui_side)side)),
                         UI_STYLE_UNKNOWN, odb_buf_text(&why));
        rows += why.len != 0;
        odb_buf_dispose(&why);
    }
    if (a && b && (a->kind != b->kind || a->dtype != b->dtype || !odb_tensor_same_shape(a, b))) {
        char text[ODB_MAX_RANK * 24 + 64];
        if (area)
            ui_draw_printf(area, row + rows, 0, UI_STYLE_BAD, "the target has %s",
                           head_type(b, text, sizeof text));
        rows++;
    }
    return rows;
}

int ui_tensor__header(const struct ui_view *view, const struct ui_area *area, int rows)
{
    const struct ui_tensor *v = (const struct ui_tensor *)view;
    if (v->value == ODB_NO_VALUE) {
        if (area)
            ui_draw_text(area, 0, 1, UI_STYLE_DIM, "no value was opened yet");
        return 1;
    }
    bool marked = v->marked != ODB_NOWHERE;
    int notes = head_draw_notes(v, NULL, 0), n = 2 + notes + marked + 1;
    if (area) {
        struct ui_area lost = ui_area_part(area, n - 1, 0, 1, area->cols - 1);
        head_draw_type(v, area, 0);
        head_draw_verdict(v, area, 1);
        head_draw_notes(v, area, 2);
        struct ui_area cell = ui_area_part(area, n - 2, 0, 1, area->cols);
        if (marked)
            ui_tensor__draw_marked(v, &cell);
        ui_tensor__draw_lost(v, &lost);
    }
    return n;
}
