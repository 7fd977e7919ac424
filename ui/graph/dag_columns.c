/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Columns: slots move towards the middle of what they are connected to, as far as those beside them
 * let them, and lines that pass are made straight.
 */
#include <stdlib.h>

#include "ui/graph/dag_int.h"

#define DAG_WIDEST 34 /* columns of a box of short texts; odd widths have a middle */

void ui_dag__spread(int n, const double *wanted, const int *widths, int gap, int end, int *cols)
{
    int *right = odb_new_n(int, (size_t)n);
    for (int i = 0; i < n; i++) { /* each as far left as it may, */
        int want = (int)wanted[i] - widths[i] / 2;
        cols[i] = ODB_MAX(want, i ? cols[i - 1] + widths[i - 1] + gap : 0);
    }
    for (int i = n - 1, most = end; i >= 0; i--) {
        cols[i] = ODB_MIN(cols[i], most - widths[i]);
        most = cols[i] - gap;
    }
    for (int i = n - 1, most = end; i >= 0; i--) { /* as far right, */
        right[i] = ODB_MIN((int)wanted[i] - widths[i] / 2, most - widths[i]);
        most = right[i] - gap;
    }
    for (int i = 0, least = 0; i < n; i++) {
        right[i] = ODB_MAX(right[i], least);
        least = right[i] + widths[i] + gap;
    }
    for (int i = 0; i < n; i++) /* and in the middle between the two */
        cols[i] = ODB_MAX((cols[i] + right[i]) / 2, 0);
    free(right);
}

static void dag_widths(struct dag_plan *plan, int cols, int widest)
{
    for (int l = 0; l < plan->n; l++) {
        int boxes = 0, n = (int)plan->layers[l].n;
        for (int i = 0; i < n; i++)
            boxes += plan->slots.items[plan->layers[l].items[i]].box >= 0;
        int width = boxes ? (cols - (n - boxes) - (n - 1) * DAG_GAP) / boxes : 1;
        width = ODB_MIN(width, ODB_MAX(widest, DAG_WIDEST)) - 1;
        width = ODB_MIN(ODB_MAX(width | 1, 3), ODB_MAX(cols, 1));
        for (int i = 0; i < n; i++) {
            struct dag_slot *slot = &plan->slots.items[plan->layers[l].items[i]];
            slot->cols = slot->box >= 0 ? width : 1;
        }
    }
}

/* side: neighbours that slots want to be near: -1 those above, 1 those below, 0 none. */
static void dag_move_layer(const struct ui_dag *dag, struct dag_plan *plan, int layer, int side)
{
    size_t n = plan->layers[layer].n;
    const int *items = plan->layers[layer].items;
    double *wanted = odb_new_n(double, n);
    int *widths = odb_new_n(int, n), *cols = odb_new_n(int, n);
    for (size_t i = 0; i < n; i++) {
        const struct dag_slot *slot = &plan->slots.items[items[i]];
        widths[i] = slot->cols;
        if (slot->box == dag->centre)
            wanted[i] = dag->cols / 2;
        else if (side)
            wanted[i] = ui_dag__mean(plan, items[i], side < 0, ui_dag__middle);
        else
            wanted[i] = dag->cols * ((double)i + 0.5) / (double)n;
    }
    ui_dag__spread((int)n, wanted, widths, DAG_GAP, dag->cols, cols);
    for (size_t i = 0; i < n; i++)
        plan->slots.items[items[i]].col = cols[i];
    free(wanted);
    free(widths);
    free(cols);
}

/* Moves a passing line to the column that it has in the next layer, or the one before, if nothing
 * stands there. */
static void dag_straighten(const struct ui_dag *dag, struct dag_plan *plan, int layer, bool up)
{
    const int *items = plan->layers[layer].items;
    size_t n = plan->layers[layer].n;
    for (size_t i = 0; i < n; i++) {
        struct dag_slot *slot = &plan->slots.items[items[i]];
        const struct dag_slot *before = i ? &plan->slots.items[items[i - 1]] : NULL;
        const struct dag_slot *behind = i + 1 < n ? &plan->slots.items[items[i + 1]] : NULL;
        int least = before ? before->col + before->cols + 1 : 0;
        int most = behind ? behind->col - 2 : dag->cols - 1;
        for (size_t w = 0; slot->box < 0 && w < plan->wires.n; w++) {
            const struct dag_wire *wire = &plan->wires.items[w];
            const struct dag_slot *other = &plan->slots.items[up ? wire->from : wire->to];
            if ((up ? wire->to : wire->from) == items[i] && other->box < 0 && other->col >= least &&
                other->col <= most)
                slot->col = other->col;
        }
    }
}

void ui_dag__columns(const struct ui_dag *dag, struct dag_plan *plan)
{
    int middle = 0;
    for (size_t i = 0; i < plan->slots.n; i++)
        if (plan->slots.items[i].box == dag->centre)
            middle = plan->slots.items[i].layer;
    dag_widths(plan, dag->cols, dag->widest);
    for (int l = 0; l < plan->n; l++)
        dag_move_layer(dag, plan, l, 0);
    for (int round = 0; round < 3; round++) {
        for (int l = 0; l < plan->n; l++)
            dag_move_layer(dag, plan, l, -1);
        for (int l = plan->n - 1; l >= 0; l--)
            dag_move_layer(dag, plan, l, 1);
        for (int l = middle - 1; l >= 0; l--)
            dag_move_layer(dag, plan, l, 1);
        for (int l = middle; l < plan->n; l++)
            dag_move_layer(dag, plan, l, -1);
    }
    for (int l = 0; l < plan->n; l++)
        dag_straighten(dag, plan, l, true);
    for (int l = plan->n - 1; l >= 0; l--)
        dag_straighten(dag, plan, l, false);
}
