/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lines as cells with arms. Where a line crosses another it goes over it, so that a crossing is
 * never taken for a branch.
 */
#include "ui/graph/dag_int.h"

/* net 0: only lights what is there. */
static void dag_arm(struct ui_dag *dag, int row, int col, unsigned arms, int net, int value)
{
    if (row < 0 || row >= dag->rows || col < 0 || col >= dag->cols)
        return;
    struct ui_dag_cell *cell = &dag->cells[row * dag->cols + col];
    int *owner = &dag->plan->net_of[row * dag->cols + col];
    if (!net) {
        cell->lit |= (unsigned char)(arms & cell->arms);
        return;
    }
    bool over = cell->arms == (UI_DAG_LEFT | UI_DAG_RIGHT) && *owner != net &&
                !(arms & (UI_DAG_LEFT | UI_DAG_RIGHT));
    cell->arms = (unsigned char)(over ? arms : cell->arms | arms);
    cell->value = !over && *owner && *owner != net ? ODB_NO_VALUE : value;
    *owner = net;
}

static void dag_across(struct ui_dag *dag, const struct dag_wire *wire, int row, int net)
{
    int left = ODB_MIN(wire->out_col, wire->in_col), right = ODB_MAX(wire->out_col, wire->in_col);
    for (int col = left; col <= right; col++)
        dag_arm(dag, row, col, (col > left ? UI_DAG_LEFT : 0) | (col < right ? UI_DAG_RIGHT : 0),
                net, wire->value);
}

/* From row to end; open: it goes on at that end. */
static void dag_down(struct ui_dag *dag, const struct dag_wire *wire, int col, int row, int end,
                     unsigned open, int net)
{
    for (int at = row; at <= end; at++)
        dag_arm(dag, at, col,
                (at > row ? UI_DAG_UP : open & UI_DAG_UP) |
                    (at < end ? UI_DAG_DOWN : open & UI_DAG_DOWN),
                net, wire->value);
}

/* The parts of a wire: across 1, down 2; from the border of the box above to that below. */
static void dag_draw_wire(struct ui_dag *dag, const struct dag_wire *wire, unsigned parts, int net)
{
    const struct dag_plan *plan = dag->plan;
    const struct dag_slot *from = &plan->slots.items[wire->from],
                          *to = &plan->slots.items[wire->to];
    int first = plan->top[from->layer] + dag->text + 2, last = plan->top[to->layer] - 1;
    int turn = first + wire->track;
    if (wire->track < 0)
        turn = last;
    else if (parts & 1)
        dag_across(dag, wire, turn, net);
    if (!(parts & 2))
        return;
    if (from->box >= 0) /* out of the border */
        dag_arm(dag, first - 1, wire->out_col, UI_DAG_DOWN, net, wire->value);
    dag_down(dag, wire, wire->out_col, first, turn,
             wire->track < 0 ? UI_DAG_UP | UI_DAG_DOWN : UI_DAG_UP, net);
    if (wire->track >= 0)
        dag_down(dag, wire, wire->in_col, turn, last, UI_DAG_DOWN, net);
    if (to->box < 0) /* past a layer */
        dag_down(dag, wire, wire->in_col, last + 1, last + dag->text + 2, UI_DAG_UP | UI_DAG_DOWN,
                 net);
}

void ui_dag__lines(struct ui_dag *dag, bool arrows)
{
    struct dag_plan *plan = dag->plan;
    for (unsigned part = 1; part <= 2; part++) /* what goes down goes over what goes across */
        for (size_t i = 0; i < plan->wires.n; i++)
            dag_draw_wire(dag, &plan->wires.items[i], part, (int)ui_dag__net(plan, i) + 1);
    for (size_t i = 0; i < plan->wires.n; i++) {
        const struct dag_wire *wire = &plan->wires.items[i];
        const struct dag_slot *to = &plan->slots.items[wire->to];
        int row = plan->top[to->layer] - 1;
        if (arrows && to->box >= 0 && wire->in_col < dag->cols)
            dag->cells[row * dag->cols + wire->in_col].arrow = true;
    }
}

void ui_dag_light(struct ui_dag *dag, int box)
{
    const struct dag_plan *plan = dag->plan;
    for (int i = 0; i < dag->rows * dag->cols; i++)
        dag->cells[i].lit = 0;
    for (size_t e = 0; e < dag->edges.n; e++) {
        const struct ui_dag_edge *edge = &dag->edges.items[e];
        if (edge->from != box && edge->to != box)
            continue;
        for (size_t p = plan->path_first.items[e]; p + 1 < plan->path_first.items[e + 1]; p++)
            for (size_t i = 0; i < plan->wires.n; i++)
                if (plan->wires.items[i].from == plan->path.items[p] &&
                    plan->wires.items[i].to == plan->path.items[p + 1] &&
                    plan->wires.items[i].value == edge->value)
                    dag_draw_wire(dag, &plan->wires.items[i], 3, 0);
    }
}
