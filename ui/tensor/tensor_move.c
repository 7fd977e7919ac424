/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Going places in a value: to an element, a plane, a part.
 *
 * The cursor is a cell of the numbers: its row is the selection of the list, its column the view's
 * own. Where the sides of a row stand beside one another it crosses from one to the next.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "command/call/call.h"
#include "command/table/command.h"
#include "ui/list/list.h"
#include "ui/tensor/tensor_int.h"
#include "ui/view/app.h"
#include "ui/view/view.h"

static int64_t move_count(const struct odb_command_call *call, int64_t fallback)
{
    const char *n = odb_call_arg(call, 0);
    return n ? strtoll(n, NULL, 10) : fallback;
}

/* --- the cursor ------------------------------------------------------------------------------- */

/* The grid whose cells the selection is among, and the row and line of it; NULL: none. */
static struct ui_tensor_grid *move_selected(struct ui_tensor *v, size_t *row, size_t *line)
{
    const struct ui_part *p = ui_tensor__part_at(v, v->view.selected);
    if (!p || p->id < UI_PART_GRID)
        return NULL;
    struct ui_tensor_grid *g = &v->grids[p->id - UI_PART_GRID];
    size_t heads = ui_tensor__heads(v, p->id), per = ui_tensor__lines_per_row(v, p->id);
    size_t at = v->view.selected - p->row;
    if (!g->n_sides || !g->at.planes || at < heads)
        return NULL;
    *row = (at - heads) / per;
    *line = (at - heads) % per;
    return *row < g->at.rows ? g : NULL;
}

void ui_tensor__follow(struct ui_tensor *v)
{
    size_t row, line;
    struct ui_tensor_grid *g = move_selected(v, &row, &line);
    if (!g)
        return;
    v->col = ODB_MIN(v->col, g->at.cols - 1);
    v->side = g->beside ? ODB_MIN(v->side, g->n_sides - 1) : (int)line;
    v->marked = odb_grid_cell(&g->at, row, v->col);
    v->marked_grid = (int)(g - v->grids);
}

/* Keeps the cursor's column among those that are drawn. */
static void move_show_col(struct ui_tensor *v, const struct ui_tensor_grid *g)
{
    const struct ui_part *part =
        ui_tensor__part(v, g == &v->grids[0] ? UI_PART_GRID : UI_PART_GRID_TARGET);
    size_t room = ui_tensor__grid_room(g, part->width), left = (size_t)v->view.left;
    if (v->col < left)
        left = v->col;
    else if (v->col - left >= room)
        left = v->col - room + 1;
    v->view.left = (int)ODB_MIN(left, (size_t)INT32_MAX);
}

static void move_cursor(struct ui_tensor *v, struct ui_tensor_grid *g, int64_t by)
{
    int64_t cols = (int64_t)g->at.cols, sides = g->beside ? g->n_sides : 1;
    int64_t at = (g->beside ? v->side * cols : 0) + (int64_t)v->col;
    at = ODB_MAX(ODB_MIN(at + by, sides * cols - 1), 0);
    v->col = (size_t)(at % cols);
    if (g->beside)
        v->side = (int)(at / cols);
    move_show_col(v, g);
    ui_tensor__follow(v);
}

/* Text, and numbers that the cursor is not in. */
static void move_scroll(struct ui_tensor *v, int64_t by)
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

static void move_sideways(struct ui_tensor *v, int64_t by)
{
    size_t row, line;
    struct ui_tensor_grid *g = move_selected(v, &row, &line);
    if (g)
        move_cursor(v, g, by);
    else
        move_scroll(v, by);
}

/* --- elements --------------------------------------------------------------------------------- */

/* The grid that has the cells of a side, NULL when nothing has. */
static struct ui_tensor_grid *move_grid(struct ui_tensor *v, enum ui_side side)
{
    struct ui_tensor_grid *g = &v->grids[v->paired ? 0 : side];
    return g->n_sides && g->at.planes ? g : NULL;
}

static int move_side(const struct ui_tensor_grid *g, enum ui_side side)
{
    for (int i = 0; i < g->n_sides; i++)
        if (g->sides[i] == side)
            return i;
    return 0;
}

/* All sides of the element under the cursor are to be seen. */
static void move_show_sides(struct ui_tensor *v, const struct ui_tensor_grid *g)
{
    size_t height = (size_t)ODB_MAX(v->view.height, 1);
    size_t last = v->view.selected + (g->beside ? 0 : (size_t)(g->n_sides - 1 - v->side));
    if (last >= v->view.top + height && last - v->view.selected < height)
        v->view.top = last - height + 1;
}

enum ui_answer ui_tensor__goto(struct ui_tensor *v, enum ui_side side, size_t at,
                               struct odb_error *err)
{
    struct ui_tensor_grid *g = move_grid(v, side == UI_DIFFERENCE ? UI_REFERENCE : side);
    size_t row;
    if (g && v->page >= UI_PAGE_CHANNELS) /* which have no numbers */
        ui_tensor__turn(v, UI_PAGE_NUMBERS);
    if (!g) {
        odb_fail(err, ODB_E_USAGE, "it has no cells to go to");
        return UI_FAILED;
    }
    enum ui_part_id id = g == &v->grids[0] ? UI_PART_GRID : UI_PART_GRID_TARGET;
    size_t room = ui_tensor__grid_room(g, ui_tensor__part(v, id)->width);
    size_t left = (size_t)v->view.left;
    if (v->marked == ODB_NOWHERE) /* the line about it takes one from the list */
        v->view.height--;
    odb_grid_at(&g->at, at, &g->at.plane, &row, &v->col);
    v->aimed = true;
    if (v->col < left || v->col - left >= room) /* with what is around it */
        v->view.left = (int)ODB_MIN(v->col - ODB_MIN(v->col, room / 2), (size_t)INT32_MAX);
    v->side = move_side(g, side);
    size_t line = row * ui_tensor__lines_per_row(v, id) + (g->beside ? 0 : (size_t)v->side);
    ui_list_select(&v->view, ui_tensor__part(v, id)->row + ui_tensor__heads(v, id) + line);
    ui_tensor__follow(v);
    move_show_sides(v, g);
    return UI_DONE;
}

void ui_tensor__aim(struct ui_tensor *v)
{
    struct ui_tensor_grid *g = &v->grids[0]; /* which may not be laid out yet */
    size_t row, col;
    if (v->aimed || !v->paired || !g->at.planes || !v->seen || !v->seen->n_worst)
        return;
    odb_grid_at(&g->at, v->seen->worst[0].at, &g->at.plane, &row, &col);
    v->aimed = true;
}

static enum ui_answer move_worst(struct ui_tensor *v, int64_t rank, struct odb_error *err)
{
    const struct odb_inspection *seen = v->seen;
    if (!seen && v->t[0] && v->t[1]) {
        odb_fail(err, ODB_E_USAGE, "that is not computed yet");
        return UI_FAILED;
    }
    if (!seen || !seen->comparable || rank < 1 || (size_t)rank > seen->n_worst) {
        if (!seen || !seen->comparable)
            odb_fail(err, ODB_E_USAGE, "there are no two sides to compare");
        else if (!seen->n_worst)
            odb_fail(err, ODB_E_USAGE, "no element differs");
        else
            odb_fail(err, ODB_E_USAGE, "the worst elements are 1 to %zu", seen->n_worst);
        return UI_FAILED;
    }
    if (ui_tensor__goto(v, UI_REFERENCE, seen->worst[rank - 1].at, err) == UI_FAILED)
        return UI_FAILED;
    v->rank = (size_t)rank - 1;
    ui_app_say(v->view.app, UI_STYLE_MESSAGE, "worst %lld of %zu", (long long)rank, seen->n_worst);
    return UI_DONE;
}

/* Given again and again, `worst` goes round. */
static int64_t move_next_worst(const struct ui_tensor *v)
{
    if (v->marked == ODB_NOWHERE || !v->seen || v->rank + 1 >= v->seen->n_worst)
        return 1;
    return (int64_t)v->rank + 2;
}

static enum ui_answer move_index(struct ui_tensor *v, const struct odb_command_call *call,
                                 struct odb_error *err)
{
    struct odb_buf text = ODB_BUF_INIT;
    enum ui_side side = v->t[UI_REFERENCE] ? UI_REFERENCE : UI_TARGET;
    enum ui_answer answer = UI_FAILED;
    size_t at;
    for (size_t i = 0; i < call->n_args && call->args[i]; i++)
        odb_buf_printf(&text, "%s%s", i ? " " : "", call->args[i]);
    if (!v->t[side])
        odb_fail(err, ODB_E_USAGE, "there are no values to go to");
    else if (odb_index_parse(&at, v->t[side], odb_buf_text(&text), err) == ODB_OK)
        answer = ui_tensor__goto(v, side, at, err);
    odb_buf_dispose(&text);
    return answer;
}

static enum ui_answer move_open_row(struct ui_tensor *v, struct odb_error *err)
{
    for (int i = 0; i < v->n_parts; i++) {
        const struct ui_part *p = &v->parts[i];
        size_t row = v->view.selected, line = row - p->row - 1, at;
        enum ui_side side;
        if (row <= p->row || row - p->row > p->lines)
            continue;
        if (p->id == UI_PART_WORST)
            return move_worst(v, (int64_t)(ui_tensor__first_worst(v) + line + 1), err);
        if (p->id == UI_PART_ODD && ui_tensor__odd_at(v, line, &at, &side))
            return ui_tensor__goto(v, side, at, err);
        side = v->t[UI_REFERENCE] ? UI_REFERENCE : UI_TARGET;
        if ((p->id == UI_PART_CHANNELS && ui_tensor__channel_at(v, line, &at)) ||
            (p->id == UI_PART_HEAT && ui_tensor__heat_at(v, line, &at)))
            return ui_tensor__goto(v, side, at, err);
    }
    return UI_DONE;
}

/* --- planes and parts ------------------------------------------------------------------------- */

void ui_tensor__reveal(struct ui_tensor *v)
{
    size_t top = v->view.top, end = top + (size_t)ODB_MAX(v->view.height, 1);
    const struct ui_part *first = NULL;
    ui_tensor__layout(v, v->cols);
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

static enum ui_answer move_plane(struct ui_tensor *v, int64_t by, struct odb_error *err)
{
    size_t planes = 0;
    bool moved = false;
    for (int i = 0; i < 2; i++)
        if (v->grids[i].n_sides) {
            planes = ODB_MAX(planes, v->grids[i].at.planes);
            moved |= odb_grid_step(&v->grids[i].at, by);
        }
    v->aimed = true;
    if (moved) {
        ui_tensor__reveal(v);
        return UI_DONE;
    }
    odb_fail(err, ODB_E_USAGE, planes > 1 ? "this is the %s plane" : "there is only one plane%s",
             planes > 1 ? (by < 0 ? "first" : "last") : "");
    return UI_FAILED;
}

/* From part to part, where those that stand side by side are one. */
static void move_section(struct ui_tensor *v, int64_t by)
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

enum ui_answer ui_tensor__move(struct ui_tensor *v, const struct odb_command_call *call,
                               struct odb_error *err)
{
    switch (call->command->screen) {
    case ODB_SCREEN_LEFT:
        move_sideways(v, -move_count(call, 1));
        return UI_DONE;
    case ODB_SCREEN_RIGHT:
        move_sideways(v, move_count(call, 1));
        return UI_DONE;
    case ODB_SCREEN_SECTION:
        move_section(v, move_count(call, 1));
        return UI_DONE;
    case ODB_SCREEN_PLANE:
        return move_plane(v, move_count(call, 1), err);
    case ODB_SCREEN_WORST:
        return move_worst(v, move_count(call, move_next_worst(v)), err);
    case ODB_SCREEN_INDEX:
        return move_index(v, call, err);
    case ODB_SCREEN_OPEN:
        return odb_call_arg(call, 0) ? UI_NOT_MINE : move_open_row(v, err);
    default:
        return UI_NOT_MINE;
    }
}
