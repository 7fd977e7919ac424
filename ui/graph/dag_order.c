/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From left to right: slots are sorted by where their neighbours are, layer by layer, down and up
 * again, and the order with the fewest crossings is kept.
 */
#include <stdlib.h>
#include <string.h>

#include "ui/graph/dag_int.h"

#define DAG_ROUNDS 8

static double dag_place_of(const struct dag_slot *slot)
{
    return slot->place;
}

static void dag_number(struct dag_plan *plan, int layer)
{
    for (size_t i = 0; i < plan->layers[layer].n; i++)
        plan->slots.items[plan->layers[layer].items[i]].place = (double)i;
}

int ui_dag__crossings(const struct dag_plan *plan)
{
    const struct dag_slot *slots = plan->slots.items;
    int crossings = 0;
    for (size_t i = 0; i < plan->wires.n; i++)
        for (size_t k = 0; k < i; k++) {
            const struct dag_wire *a = &plan->wires.items[i], *b = &plan->wires.items[k];
            if (slots[a->from].layer != slots[b->from].layer)
                continue;
            double above = slots[a->from].place - slots[b->from].place;
            double below = slots[a->to].place - slots[b->to].place;
            crossings += above * below < 0;
        }
    return crossings;
}

/* Sorts a layer by where the neighbours on one side are. What is folded stays at the right. */
static void dag_sort_layer(const struct ui_dag *dag, struct dag_plan *plan, int layer, bool up)
{
    int *items = plan->layers[layer].items;
    size_t n = plan->layers[layer].n;
    double *keys = odb_new_n(double, plan->slots.n);
    for (size_t i = 0; i < n; i++) {
        int box = plan->slots.items[items[i]].box;
        bool more = box >= 0 && dag->boxes.items[box].is.kind == UI_DAG_MORE;
        keys[items[i]] = more ? 1e9 : ui_dag__mean(plan, items[i], up, dag_place_of);
    }
    for (size_t i = 1; i < n; i++) { /* few of them, and equal ones stay as they are */
        int item = items[i];
        size_t k = i;
        for (; k > 0 && keys[items[k - 1]] > keys[item]; k--)
            items[k] = items[k - 1];
        items[k] = item;
    }
    free(keys);
    dag_number(plan, layer);
}

/* Whether what is folded would leave its place at the right. */
static bool dag_may_swap(const struct ui_dag *dag, const struct dag_plan *plan, const int *items)
{
    int right = plan->slots.items[items[1]].box;
    return right < 0 || dag->boxes.items[right].is.kind != UI_DAG_MORE;
}

static void dag_swap(int *items)
{
    int left = items[0];
    items[0] = items[1];
    items[1] = left;
}

/* Changes places with the one beside, as long as that saves crossings. */
static void dag_swap_pairs(const struct ui_dag *dag, struct dag_plan *plan)
{
    int crossings = ui_dag__crossings(plan);
    for (bool better = crossings > 0; better;) {
        better = false;
        for (int l = 0; l < plan->n; l++)
            for (size_t i = 0; i + 1 < plan->layers[l].n; i++) {
                int *items = plan->layers[l].items + i;
                if (!dag_may_swap(dag, plan, items))
                    continue;
                dag_swap(items);
                dag_number(plan, l);
                int now = ui_dag__crossings(plan);
                if (now < crossings) {
                    crossings = now;
                    better = true;
                    continue;
                }
                dag_swap(items);
                dag_number(plan, l);
            }
    }
}

/* Layers as the places of their slots say. */
static void dag_restore(struct dag_plan *plan, const double *places)
{
    for (size_t i = 0; i < plan->slots.n; i++)
        plan->slots.items[i].place = places[i];
    for (int l = 0; l < plan->n; l++) {
        int *sorted = odb_new_n(int, plan->layers[l].n);
        for (size_t i = 0; i < plan->layers[l].n; i++) {
            int item = plan->layers[l].items[i];
            sorted[(size_t)plan->slots.items[item].place] = item;
        }
        free(plan->layers[l].items);
        plan->layers[l].items = sorted;
    }
}

/* Boxes get the order in which they are read. */
static void dag_renumber(struct ui_dag *dag, struct dag_plan *plan)
{
    size_t n = dag->boxes.n, at = 0;
    struct ui_dag_box *boxes = odb_new_n(struct ui_dag_box, n);
    int *index = odb_new_n(int, n);
    for (int l = 0; l < plan->n; l++)
        for (size_t i = 0; i < plan->layers[l].n; i++) {
            struct dag_slot *slot = &plan->slots.items[plan->layers[l].items[i]];
            if (slot->box < 0)
                continue;
            boxes[at] = dag->boxes.items[slot->box];
            index[slot->box] = (int)at;
            slot->box = (int)at++;
        }
    memcpy(dag->boxes.items, boxes, n * sizeof *boxes);
    for (size_t e = 0; e < dag->edges.n; e++) {
        dag->edges.items[e].from = index[dag->edges.items[e].from];
        dag->edges.items[e].to = index[dag->edges.items[e].to];
    }
    dag->centre = index[dag->centre];
    free(boxes);
    free(index);
}

void ui_dag__order(struct ui_dag *dag, struct dag_plan *plan)
{
    double *best = odb_new_n(double, plan->slots.n);
    int least = -1;
    for (int l = 0; l < plan->n; l++)
        dag_number(plan, l);
    for (int round = 0; round < DAG_ROUNDS && least; round++) {
        for (int l = 1; l < plan->n; l++)
            dag_sort_layer(dag, plan, round % 2 ? plan->n - 1 - l : l, round % 2 == 0);
        int crossings = ui_dag__crossings(plan);
        if (least >= 0 && crossings >= least)
            continue;
        least = crossings;
        for (size_t i = 0; i < plan->slots.n; i++)
            best[i] = plan->slots.items[i].place;
    }
    dag_restore(plan, best);
    free(best);
    dag_swap_pairs(dag, plan);
    dag_renumber(dag, plan);
}
