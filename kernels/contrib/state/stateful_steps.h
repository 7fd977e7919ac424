/* SPDX-License-Identifier: MIT
 *
 * What the operators of com.microsoft that carry a state along a sequence share. All steps belong
 * to a chain: after a failure they do nothing and give NULL.
 */
#ifndef ODB_KERNELS_CONTRIB_STATEFUL_STEPS_H
#define ODB_KERNELS_CONTRIB_STATEFUL_STEPS_H

#include "kernels/core/chain.h"
#include "kernels/contrib/contrib.h"

enum { ODB_STATEFUL_OPSET = 27, ODB_STATEFUL_MOST_SLOTS = 8 };

#define ODB_STATEFUL_FLOATS (ODB_T_FLOAT & ~ODB_BIT(ODB_F64))
#define ODB_STATEFUL_F32 ODB_BIT(ODB_F32)
#define ODB_STATEFUL_I32 ODB_BIT(ODB_I32)

/* --- pieces ----------------------------------------------------------------------------------- */

/* t[from:to] along an axis; NULL stays NULL. */
const struct odb_tensor *odb_stateful_slice(struct odb_chain *c, const struct odb_tensor *t,
                                            int axis, int64_t from, int64_t to);
const struct odb_tensor *
odb_stateful_concat(struct odb_chain *c, const struct odb_tensor *const *parts, int n, int axis);
struct odb_tensor *odb_stateful_zeros(struct odb_chain *c, enum odb_dtype dtype, int rank,
                                      const int64_t *dims);
/* Fails unless t, which may be NULL, has this shape; what names it in the message. */
void odb_stateful_check(struct odb_chain *c, const struct odb_tensor *t, const char *what, int rank,
                        const int64_t *dims);
/* (batch, steps, heads * size): each head as often as `times`, copies side by side. */
const struct odb_tensor *odb_stateful_spread(struct odb_chain *c, const struct odb_tensor *t,
                                             int64_t heads, int64_t times);

/* --- slots ------------------------------------------------------------------------------------ */

/* The attribute state_window: how many states are kept, 0 for the last one alone. */
int64_t odb_stateful_slots(struct odb_chain *c);
/* The last of a state's slots, as a state (rank, dims) of its own; without slots the state. */
const struct odb_tensor *odb_stateful_past(struct odb_chain *c, const struct odb_tensor *past,
                                           int64_t slots, int rank, const int64_t *dims);
/* Puts the states after the last n tokens behind zeros, one in each slot. */
const struct odb_tensor *odb_stateful_window(struct odb_chain *c,
                                             const struct odb_tensor *const *states, int n,
                                             int64_t slots, enum odb_dtype dtype, int rank,
                                             const int64_t *dims);

/* --- sequences of any length in one tensor ---------------------------------------------------- */

/* Copies the chain's t to output i, from row `at` of its first dimension on. */
void odb_stateful_put(struct odb_chain *c, int i, size_t at, const struct odb_tensor *t);

/* --- LinearAttention -------------------------------------------------------------------------- */

enum {
    ODB_LINEAR_Q,
    ODB_LINEAR_K,
    ODB_LINEAR_V,
    ODB_LINEAR_PAST,
    ODB_LINEAR_DECAY,
    ODB_LINEAR_BETA,
    ODB_LINEAR_INPUTS
};

/* Heads of queries, and of keys and values. */
struct odb_linear_heads {
    int64_t q, kv;
};

/* Whether the attribute update_rule has a part: "gated", "delta". */
bool odb_linear_has(const struct odb_kern *k, const char *part);
/* One call of ai.onnx's operator on in[ODB_LINEAR_INPUTS]: out[0] the result, out[1] the state. */
void odb_linear_step(struct odb_chain *c, const struct odb_tensor *const *in,
                     struct odb_linear_heads heads, const struct odb_tensor **out);

#endif
