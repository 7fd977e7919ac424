/* SPDX-License-Identifier: MIT
 *
 * Rotary position embedding, for every operator that has it inside.
 */
#ifndef ODB_KERNELS_ATTENTION_ROTARY_H
#define ODB_KERNELS_ATTENTION_ROTARY_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/attention/attention.h"

/* Each head's vector x of each position is turned: pairs (x1, x2) of its first `turned` elements
 * become (c x1 - s x2, s x1 + c x2); the others are copied. All pointers are borrowed; those of
 * type void hold elements of dtype. y may be x. */
struct odb_rotary {
    enum odb_dtype dtype; /* F32 or F64 */
    bool sequential;      /* noisy mode: as in struct odb_kern */
    bool interleaved;     /* pairs are neighbours; else halves of the turned part */
    size_t batch, heads, rows;
    size_t size, turned; /* of a vector; turned is even */
    const void *x;
    void *y;
    struct odb_attention_steps x_steps, y_steps;
    const void *cos, *sin;   /* rows of turned / 2 */
    const size_t *positions; /* [batch * rows]: which of those rows; NULL: in this order */
};

/* Fills y, on several threads; the result does not depend on their number. */
void odb_rotary_run(const struct odb_rotary *r);

#endif
