/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where boxes and lines stand, after Sugiyama, in the steps that dag_int.h lists.
 */
#include "ui/graph/dag_int.h"

int ui_dag__room(int cols, int passing)
{
    return (cols - passing * (1 + DAG_GAP) + DAG_GAP) / (UI_DAG_NARROWEST + DAG_GAP);
}

/* --- rows ------------------------------------------------------------------------------------- */

/* From roomy to tight: lines of text in a box, and whether lines end in arrows. */
static const struct {
    int text, arrow;
} dag_sizes[] = {{3, 1}, {2, 1}, {1, 1}, {1, 0}};

static int dag_rows(const struct dag_plan *plan, size_t size)
{
    int rows = plan->n * (dag_sizes[size].text + 2);
    for (int l = 0; l + 1 < plan->n; l++)
        rows += ODB_MAX(plan->tracks[l] + dag_sizes[size].arrow, 1);
    return rows;
}

static int dag_place_rows(struct ui_dag *dag, struct dag_plan *plan, int room)
{
    size_t size = 0;
    while (size < ODB_COUNT(dag_sizes) - 1 && dag_rows(plan, size) > room)
        size++;
    if (dag_rows(plan, size) > room) /* it has to be scrolled anyway */
        size = 1;
    dag->text = dag_sizes[size].text;
    dag->rows = dag_rows(plan, size);
    for (int l = 0, row = 0; l < plan->n; l++) {
        plan->top[l] = row;
        row += dag->text + 2 + ODB_MAX(plan->tracks[l] + dag_sizes[size].arrow, 1);
    }
    for (size_t i = 0; i < plan->slots.n; i++) {
        const struct dag_slot *slot = &plan->slots.items[i];
        if (slot->box < 0)
            continue;
        struct ui_dag_box *box = &dag->boxes.items[slot->box];
        box->row = plan->top[slot->layer];
        box->col = slot->col;
        box->rows = dag->text + 2;
        box->cols = slot->cols;
    }
    return dag_sizes[size].arrow;
}

void ui_dag__layout(struct ui_dag *dag, const struct ui_dag_options *options)
{
    dag->cols = ODB_MAX(options->cols, 1);
    dag->widest = options->widest;
    struct dag_plan *plan = dag->plan = ui_dag__plan(dag);
    ui_dag__order(dag, plan);
    ui_dag__columns(dag, plan);
    for (int l = 0; l + 1 < plan->n; l++) {
        ui_dag__ports(plan, l);
        plan->tracks[l] = ui_dag__tracks(plan, l);
    }
    bool arrows = dag_place_rows(dag, plan, options->rows);
    size_t n = (size_t)dag->rows * (size_t)dag->cols;
    dag->cells = odb_new_n(struct ui_dag_cell, n);
    plan->net_of = odb_new_n(int, n);
    for (size_t i = 0; i < n; i++)
        dag->cells[i].value = ODB_NO_VALUE;
    ui_dag__lines(dag, arrows);
}
