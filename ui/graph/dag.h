/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A node and what stands around it, as a picture: boxes in layers, those that make its inputs above
 * it, those that read its outputs below, and lines between them. Nothing here knows of a screen, of
 * verdicts or of the session: graph in, rectangles and lines out, the same for the same graph.
 *
 * A layer is how far a box is from the one in the middle, by the longest way over boxes that are
 * drawn, so lines always lead downwards; but never farther than the depth, so lines between two
 * boxes of the outermost layer are left out. Weights have no boxes: they would be half of the
 * picture. What there is no room for stands folded in one box per layer.
 */
#ifndef ODB_UI_GRAPH_DAG_H
#define ODB_UI_GRAPH_DAG_H

#include "base/mem.h"
#include "model/model.h"

enum ui_dag_kind {
    UI_DAG_NODE,
    UI_DAG_INPUT,  /* of the model, or a value from outside of this graph */
    UI_DAG_OUTPUT, /* of the model */
    UI_DAG_MORE    /* boxes of this layer that there is no room for */
};

/* What a box stands for. */
struct ui_dag_item {
    enum ui_dag_kind kind;
    int node;  /* NODE; else ODB_NO_NODE */
    int value; /* INPUT, OUTPUT; else ODB_NO_VALUE */
};

struct ui_dag_box {
    struct ui_dag_item is;
    int layer; /* 0: the one in the middle; above it negative */
    int row, col, rows, cols;
    int above, below; /* neighbours on either side that are not drawn, weights left out */
    ODB_VEC(struct ui_dag_item) folded; /* MORE: what it stands for */
};

/* Something leads from one box down to another; value ODB_NO_VALUE: several. */
struct ui_dag_edge {
    int from, to; /* boxes */
    int value;
};

/* Directions in which a line leaves a cell. */
#define UI_DAG_UP 1u
#define UI_DAG_RIGHT 2u
#define UI_DAG_DOWN 4u
#define UI_DAG_LEFT 8u

struct ui_dag_cell {
    unsigned char arms; /* of lines: UI_DAG_UP | …; 0: nothing */
    unsigned char lit;  /* those of them that belong to a line of the box given to light() */
    bool arrow;         /* a line ends here, at the box below */
    int value;          /* that the line is; ODB_NO_VALUE: several */
};

struct ui_dag {
    ODB_VEC(struct ui_dag_box) boxes; /* layer by layer from the top, from left to right */
    int centre;                       /* box in the middle */
    ODB_VEC(struct ui_dag_edge) edges;
    struct ui_dag_cell *cells; /* owned; [rows * cols] */
    int rows, cols;
    int widest;            /* as in the options */
    int text;              /* lines in a box: 1 to 3 */
    struct dag_plan *plan; /* owned: how the lines run, for light() */
};

struct ui_dag_options {
    int depth;      /* layers on either side; at least 1 */
    int rows, cols; /* room; rows may be exceeded, cols never */
    int widest;     /* columns of a box with room beside it; less than that of short texts: that */
    /* Which of two boxes should rather be seen where one is folded: the greater number; NULL: the
     * one with the lower index. */
    int (*weight)(const void *payload, int node);
    const void *payload; /* borrowed */
    int turned;          /* layer of which others are drawn than the first ones; 0: none */
    size_t turn;         /* how many of those it skips; they are folded with the rest */
};

#define UI_DAG_NARROWEST 16 /* columns of a box, unless even one does not fit */

/* *dag is to be disposed of; centre must be a node. */
void ui_dag_make(struct ui_dag *dag, const struct odb_graph *graph, int centre,
                 const struct ui_dag_options *options);
void ui_dag_dispose(struct ui_dag *dag); /* idempotent; zeroed is fine */

/* The box of what is folded in a layer; -1: nothing is. */
int ui_dag_more(const struct ui_dag *dag, int layer);
/* The box of a node; -1: it has none. */
int ui_dag_find(const struct ui_dag *dag, int node);
/* The box that a key leads to: UP along a line to what makes an input, DOWN to a reader, LEFT and
 * RIGHT in the layer; `last` is where one came from, and goes before others that are as good.
 * -1: there is none. */
int ui_dag_walk(const struct ui_dag *dag, int box, unsigned direction, int last);
/* The box that covers a cell, -1: none. */
int ui_dag_at(const struct ui_dag *dag, int row, int col);
/* Marks the lines that end at a box, and no others. */
void ui_dag_light(struct ui_dag *dag, int box);

/* --- between dag.c, which says what is drawn, and dag_layout.c, which says where -------------- */

/* Places boxes and lines; needs boxes, edges and centre. */
void ui_dag__layout(struct ui_dag *dag, const struct ui_dag_options *options);
void ui_dag__plan_free(struct dag_plan *plan); /* NULL is fine */
/* How many boxes a layer has room for, when so many lines pass through it. */
int ui_dag__room(int cols, int passing);

#endif
