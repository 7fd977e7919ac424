/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How a picture of boxes and lines is laid out, step by step, each in a file of its own:
 *
 *   dag.c          which boxes there are, in which layers, and which edges
 *   dag_plan.c     an edge over several layers becomes wires from one layer to the next
 *   dag_order.c    from left to right in each layer, with few crossings
 *   dag_columns.c  columns of boxes and of lines that pass them
 *   dag_ports.c    columns where wires leave and enter boxes
 *   dag_tracks.c   rows between two layers in which wires go across
 *   dag_lines.c    cells
 *
 * dag_layout.c takes these steps one after the other.
 */
#ifndef ODB_UI_GRAPH_DAG_INT_H
#define ODB_UI_GRAPH_DAG_INT_H

#include "ui/graph/dag.h"

#define DAG_GAP 2 /* columns between slots */

struct dag_slot {
    int box;                /* -1: a line passes */
    int layer, from, value; /* of a line: box that it comes from, and the value that it is */
    int col, cols;
    double place; /* while slots are ordered and moved */
};

/* From a slot to one in the next layer. */
struct dag_wire {
    int from, to, value;
    int out_col, in_col, track; /* track -1: straight down */
};

struct dag_plan {
    ODB_VEC(struct dag_slot) slots;
    ODB_VEC(struct dag_wire) wires;
    ODB_VEC(int) * layers;      /* owned; [n] slots from left to right */
    int n, cols;                /* layers; columns that there are */
    ODB_VEC(int) path;          /* slots of every edge, one after the other */
    ODB_VEC(size_t) path_first; /* [n_edges + 1] in path */
    int *tracks, *top;          /* owned; [n] rows of lines below a layer; its first row */
    int *net_of; /* owned; per cell, while lines are drawn: 1 + wire of the net that was there */
};

/* --- dag_plan.c ------------------------------------------------------------------------------- */

/* Slot b is box b. *plan is the caller's. */
struct dag_plan *ui_dag__plan(const struct ui_dag *dag);
/* Adds a slot at the right end of its layer, and a wire, if there is none like it. */
int ui_dag__add_slot(struct dag_plan *plan, struct dag_slot slot);
void ui_dag__add_wire(struct dag_plan *plan, int from, int to, int value);
/* Wires that leave a slot with one value are a net: a line with branches. The first of them that
 * the wire at this index belongs to. */
size_t ui_dag__net(const struct dag_plan *plan, size_t wire);
/* The mean of fn over the neighbours of a slot on one side; what it is itself, where none is. */
double ui_dag__mean(const struct dag_plan *plan, int slot, bool up,
                    double (*fn)(const struct dag_slot *slot));
double ui_dag__middle(const struct dag_slot *slot);

/* --- dag_order.c ------------------------------------------------------------------------------ */

/* Wires that cross one another, all in all, where slots are numbered by their place. */
int ui_dag__crossings(const struct dag_plan *plan);
/* Orders every layer; boxes are numbered in that order. */
void ui_dag__order(struct ui_dag *dag, struct dag_plan *plan);

/* --- dag_columns.c ---------------------------------------------------------------------------- */

/* Things of these widths in a row, in their order, as near to where they want to be (their middle)
 * as they can: at least gap apart, between 0 and end, if there is room. */
void ui_dag__spread(int n, const double *wanted, const int *widths, int gap, int end, int *cols);
/* Gives every slot its columns, the one in the middle of the picture the middle ones. */
void ui_dag__columns(const struct ui_dag *dag, struct dag_plan *plan);

/* --- dag_ports.c ------------------------------------------------------------------------------ */

/* Where the wires below a layer leave its slots, and where they enter those of the next. */
void ui_dag__ports(struct dag_plan *plan, int layer);

/* --- dag_tracks.c ----------------------------------------------------------------------------- */

/* Gives every wire below a layer the row in which it goes across, so that no two nets share a
 * piece; moves ports where that is not to be had otherwise. Returns how many rows there are. */
int ui_dag__tracks(struct dag_plan *plan, int layer);

/* --- dag_lines.c ------------------------------------------------------------------------------ */

/* Draws all wires into cells, which there are. */
void ui_dag__lines(struct ui_dag *dag, bool arrows);

#endif
