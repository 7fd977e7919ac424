/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pictures of made-up boxes and edges, for tests of the steps of their layout.
 */
#ifndef ODB_TESTS_DAG_HELP_H
#define ODB_TESTS_DAG_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
/* cmocka.h wants those first. */
#include <cmocka.h>

#include "ui/graph/dag_int.h"

/* Boxes by their layers, the first one in the middle of the picture. */
static inline void dag_begin(struct ui_dag *dag, int cols, const int *layers, size_t n)
{
    *dag = (struct ui_dag){.cols = cols};
    for (size_t i = 0; i < n; i++)
        odb_push(&dag->boxes, (struct ui_dag_box){.is = {UI_DAG_NODE, (int)i, ODB_NO_VALUE},
                                                  .layer = layers[i]});
}

#define DAG_BEGIN(dag, cols, ...)                                                                  \
    dag_begin(dag, cols, (const int[]){__VA_ARGS__}, sizeof(const int[]){__VA_ARGS__} / sizeof(int))

static inline void dag_edge(struct ui_dag *dag, int from, int to, int value)
{
    odb_push(&dag->edges, (struct ui_dag_edge){from, to, value});
}

static inline const struct dag_slot *dag_slot_at(const struct ui_dag *dag, int layer, size_t i)
{
    assert_true(i < dag->plan->layers[layer].n);
    return &dag->plan->slots.items[dag->plan->layers[layer].items[i]];
}

/* The node of box i in a layer; -1: a line passes there. */
static inline int dag_node_at(const struct ui_dag *dag, int layer, size_t i)
{
    int box = dag_slot_at(dag, layer, i)->box;
    return box < 0 ? -1 : dag->boxes.items[box].is.node;
}

#endif
