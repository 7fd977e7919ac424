/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How much work a node is, by formulas over shapes: which one is a fact of the operator
 * (kernels/core/facts.h).
 *
 *   MACs    multiplications whose products are summed: convolutions and products of matrices
 *   FLOPs   twice the MACs, and one for each further operation on a float; a function (Exp, Erf,
 *           Sigmoid) counts as one
 *
 * Moves, selections, comparisons and integers cost neither, but for products of integers, which are
 * MACs. A node without a number is not known, which is never the same as none.
 */
#ifndef ODB_ANALYSIS_COST_H
#define ODB_ANALYSIS_COST_H

#include "reference/shapes.h"

struct odb_cost {
    bool known; /* false: a shape that is needed is not known, or there is no formula */
    uint64_t macs, flops;
    bool sized; /* the sizes of all that it reads and makes are known, and so the bytes */
    uint64_t reads, writes; /* bytes of inputs that are no weights, and of outputs */
    uint64_t weights;       /* bytes of weights that it reads */
};

struct odb_cost_sum {
    uint64_t macs, flops;                 /* of the nodes that are known */
    size_t unknown;                       /* nodes without a number */
    size_t bodies;                        /* of these, nodes with bodies and calls of functions */
    uint64_t parameters, parameter_bytes; /* elements and bytes of the initializers */
    uint64_t activations;                 /* bytes of all values that nodes make */
    uint64_t peak;   /* most bytes of inputs and values that live at once, weights aside: a
                        value lives until its last reader has run */
    int peak_node;   /* where; ODB_NO_NODE: nowhere */
    size_t sizeless; /* values that nodes make whose size is not known, and is not in it */
};

/* nodes: [n_nodes], the caller's to free(). */
void odb_cost_model(struct odb_cost **nodes, struct odb_cost_sum *sum,
                    const struct odb_model *model, const struct odb_shapes *shapes);

#endif
