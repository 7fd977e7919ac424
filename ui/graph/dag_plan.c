/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is laid out: slots in layers, and wires from one layer to the next. A box has a slot; so has
 * a line that passes a layer, one for all that it leads to.
 */
#include <stdlib.h>

#include "ui/graph/dag_int.h"

void ui_dag__plan_free(struct dag_plan *plan)
{
    if (!plan)
        return;
    for (int l = 0; l < plan->n; l++)
        free(plan->layers[l].items);
    free(plan->layers);
    free(plan->slots.items);
    free(plan->wires.items);
    free(plan->path.items);
    free(plan->path_first.items);
    free(plan->tracks);
    free(plan->top);
    free(plan->net_of);
    free(plan);
}

int ui_dag__add_slot(struct dag_plan *plan, struct dag_slot slot)
{
    int index = (int)plan->slots.n;
    odb_push(&plan->slots, slot);
    odb_push(&plan->layers[slot.layer], index);
    return index;
}

/* The slot where this line passes a layer: one for all that it leads to. */
static int dag_passing(struct dag_plan *plan, int layer, int from, int value)
{
    for (size_t i = 0; i < plan->layers[layer].n; i++) {
        const struct dag_slot *slot = &plan->slots.items[plan->layers[layer].items[i]];
        if (slot->box < 0 && slot->from == from && slot->value == value)
            return plan->layers[layer].items[i];
    }
    struct dag_slot line = {.box = -1, .layer = layer, .from = from, .value = value, .cols = 1};
    return ui_dag__add_slot(plan, line);
}

void ui_dag__add_wire(struct dag_plan *plan, int from, int to, int value)
{
    for (size_t i = 0; i < plan->wires.n; i++)
        if (plan->wires.items[i].from == from && plan->wires.items[i].to == to &&
            plan->wires.items[i].value == value)
            return;
    odb_push(&plan->wires, (struct dag_wire){.from = from, .to = to, .value = value, .track = -1});
}

struct dag_plan *ui_dag__plan(const struct ui_dag *dag)
{
    struct dag_plan *plan = odb_new(struct dag_plan);
    int first = 0, last = 0;
    for (size_t b = 0; b < dag->boxes.n; b++) {
        first = ODB_MIN(first, dag->boxes.items[b].layer);
        last = ODB_MAX(last, dag->boxes.items[b].layer);
    }
    plan->n = last - first + 1;
    plan->cols = dag->cols;
    plan->layers = odb_xcalloc((size_t)plan->n, sizeof *plan->layers);
    plan->tracks = odb_new_n(int, (size_t)plan->n);
    plan->top = odb_new_n(int, (size_t)plan->n + 1);
    for (size_t b = 0; b < dag->boxes.n; b++) /* slot b is box b */
        ui_dag__add_slot(
            plan, (struct dag_slot){.box = (int)b, .layer = dag->boxes.items[b].layer - first});
    for (size_t e = 0; e < dag->edges.n; e++) {
        const struct ui_dag_edge *edge = &dag->edges.items[e];
        int at = edge->from, to = plan->slots.items[edge->to].layer;
        odb_push(&plan->path_first, plan->path.n);
        odb_push(&plan->path, at);
        for (int l = plan->slots.items[at].layer + 1; l <= to; l++) {
            int next = l == to ? edge->to : dag_passing(plan, l, edge->from, edge->value);
            ui_dag__add_wire(plan, at, next, edge->value);
            odb_push(&plan->path, next);
            at = next;
        }
    }
    odb_push(&plan->path_first, plan->path.n);
    return plan;
}

double ui_dag__mean(const struct dag_plan *plan, int slot, bool up,
                    double (*fn)(const struct dag_slot *slot))
{
    double sum = 0;
    int n = 0;
    for (size_t i = 0; i < plan->wires.n; i++) {
        const struct dag_wire *wire = &plan->wires.items[i];
        if ((up ? wire->to : wire->from) != slot)
            continue;
        sum += fn(&plan->slots.items[up ? wire->from : wire->to]);
        n++;
    }
    return n ? sum / n : fn(&plan->slots.items[slot]);
}

double ui_dag__middle(const struct dag_slot *slot)
{
    return slot->col + slot->cols / 2;
}

size_t ui_dag__net(const struct dag_plan *plan, size_t at)
{
    const struct dag_wire *wires = plan->wires.items;
    size_t first = 0;
    while (wires[first].from != wires[at].from || wires[first].value != wires[at].value)
        first++;
    return first;
}
