/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the formulas of cost.c, cost_attention.c and cost_decoder.c have to look at, and where they
 * put what they found.
 */
#ifndef ODB_ANALYSIS_COST_INT_H
#define ODB_ANALYSIS_COST_INT_H

#include "analysis/cost.h"

/* largest, difference, exponential, sum, quotient: for each element of a softmax */
#define COST_SOFTMAX 5
/* two products and a sum: for each element that is turned */
#define COST_ROTARY 3

/* A node with the shapes of its inputs and outputs. */
struct cost_call {
    const struct odb_graph *graph;
    const struct odb_node *node;
    const struct odb_shapes *shapes;
    int a, b, bias; /* which inputs the formula is about, as the row says */
    uint64_t macs, flops;
};

/* NULL: left out, or not known. */
const struct odb_shape *cost_in(const struct cost_call *c, int i);
const struct odb_shape *cost_out(const struct cost_call *c, int i);
bool cost_has(const struct cost_call *c, int i); /* input i is not left out */
/* Product of the dimensions from that one on. */
uint64_t cost_dims(const struct odb_shape *shape, int from);
int64_t cost_attr(const struct cost_call *c, const char *name, int64_t fallback);
/* Whether a string attribute, which is `fallback` where it is left out, is that word. */
bool cost_says(const struct cost_call *c, const char *name, const char *fallback, const char *word);

/* Formulas. False where a shape that it needs is not known, or is none that the operator takes. */
bool cost_attention(struct cost_call *c);
/* com.microsoft: a: input of the mask, b: of the past, bias. */
bool cost_attention_fused(struct cost_call *c);
bool cost_attention_multi_head(struct cost_call *c);
bool cost_attention_grouped(struct cost_call *c);
bool cost_rotary(struct cost_call *c);
bool cost_experts(struct cost_call *c);
bool cost_recurrence(struct cost_call *c);
bool cost_taps(struct cost_call *c);
bool cost_fused_bits(struct cost_call *c);
bool cost_gemma_rotary(struct cost_call *c);

#endif
