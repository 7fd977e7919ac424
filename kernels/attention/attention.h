/* SPDX-License-Identifier: MIT
 *
 * Scaled dot-product attention, for every operator that has it inside. Operands are described by
 * strides, so that packed projections, caches and both layouts of heads need no copy.
 *
 *     scores  = scale * Q K^T               stage ODB_ATTENTION_RAW
 *     scores  = cap * tanh(scores / cap)    ODB_ATTENTION_CAPPED
 *     scores += biases, -inf where closed   ODB_ATTENTION_BIASED
 *     weights = softmax(scores)             ODB_ATTENTION_SOFTMAX
 *     Y       = weights V
 */
#ifndef ODB_KERNELS_ATTENTION_ATTENTION_H
#define ODB_KERNELS_ATTENTION_ATTENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "tensor/dtype.h"

/* Elements from one batch entry, head, position to the next. A position's vector of one head is
 * contiguous. */
struct odb_attention_steps {
    size_t batch, head, row;
};

/* Something said of every score. Steps in elements; 0 repeats. data NULL: nothing is said. */
struct odb_attention_plane {
    const void *data; /* borrowed */
    size_t batch, head, row, col;
    size_t cols; /* keys that it speaks of; those after them are closed */
};

enum odb_attention_stage {
    ODB_ATTENTION_RAW,
    ODB_ATTENTION_CAPPED,
    ODB_ATTENTION_BIASED,
    ODB_ATTENTION_SOFTMAX
};

/* All pointers are borrowed; those of type void hold elements of dtype. Zeroes are good defaults
 * but for scale, left and right. Query head h attends to key head h / (heads / kv_heads). */
struct odb_attention {
    enum odb_dtype dtype; /* F32 or F64 */
    bool sequential;      /* noisy mode: as in struct odb_kern */
    size_t batch, heads, kv_heads;
    size_t queries, keys;
    size_t size, v_size; /* of a head's vector in Q and K, in V and Y */
    const void *q, *k, *v;
    void *y;
    struct odb_attention_steps q_steps, k_steps, v_steps, y_steps;
    double scale;
    double cap; /* 0: none */

    struct odb_attention_plane bias[2]; /* added */
    struct odb_attention_plane mask;    /* bytes; 0 closes a key to a query */

    /* Query i of batch entry b stands at p = i + offset[b]; it attends to key j only if
     * start[b] <= j < length[b], p - left <= j <= p + right. */
    const int64_t *offset; /* [batch]; NULL: all 0; may be negative */
    const int64_t *start;  /* [batch]; NULL: all 0 */
    const int64_t *length; /* [batch]; NULL: keys */
    int64_t left, right;   /* -1: no limit; right 0: causal */

    const double *sink; /* [heads]: score of one more key, whose value is zero; NULL: none */
    enum odb_dtype softmax_type; /* scores and weights are rounded to it; ODB_UNDEFINED: dtype */
    bool closed_is_nan; /* a query to which all keys are closed gets NaN, as softmax has it; else 0
                         */

    void *scores; /* wanted as well: [batch][heads][queries][keys] at `stage`; NULL: not */
    enum odb_attention_stage stage;
};

/* Computes it, over threads; results do not depend on their number. Sums of products as in
 * odb_gemm_run(), those of the softmax in double (in the element type if sequential). Keys that are
 * closed still make NaN of NaN and infinities, as adding -inf and multiplying by 0 do.
 * Fails only for want of memory. */
enum odb_status odb_attention_run(const struct odb_attention *a,
                                  struct odb_error *err) ODB_MUST_USE;

#endif
