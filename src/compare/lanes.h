/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Loops over doubles in eight lanes, two vectors of four. The order of additions is thereby written
 * down, not left to the compiler or to the machine. Macros, because vectors in a signature would
 * tie the calling convention to the machine.
 */
#ifndef ODB_COMPARE_LANES_H
#define ODB_COMPARE_LANES_H

#include <stdint.h>

enum { ODB_LANES = 8 };

typedef double odb_vec __attribute__((vector_size(32)));
typedef int64_t odb_vec_mask __attribute__((vector_size(32)));

/* The same in memory as tensors have it, which is aligned for nothing. */
typedef double odb_vec_loose __attribute__((vector_size(32), aligned(1), may_alias));
typedef float odb_vec_floats __attribute__((vector_size(16), aligned(1), may_alias));

/* Four doubles from p on, which point to floats or doubles. */
#define VEC_OF_DOUBLES(p, i) ((odb_vec) * (const odb_vec_loose *)((const double *)(p) + (i)))
#define VEC_OF_FLOATS(p, i)                                                                        \
    __builtin_convertvector(*(const odb_vec_floats *)((const float *)(p) + (i)), odb_vec)

/* array: aligned to 32 bytes, i a multiple of 4. Comparisons give masks, -1 where true. */
#define VEC_AT(array, i) (*(const odb_vec *)((array) + (i)))
#define VEC_AND(x, mask) ((odb_vec)((odb_vec_mask)(x) & (mask)))
#define VEC_ABS(x) VEC_AND(x, (odb_vec_mask){} + INT64_MAX)
#define VEC_PICK(mask, x, y)                                                                       \
    ((odb_vec)(((mask) & (odb_vec_mask)(x)) | (~(mask) & (odb_vec_mask)(y))))
#define VEC_MAX(x, y) VEC_PICK((x) > (y), x, y)
#define VEC_MIN(x, y) VEC_PICK((x) < (y), x, y)
/* The two vectors of every step, as v. */
#define VEC_STEPS(n)                                                                               \
    for (size_t i = 0; i < (n); i += ODB_LANES)                                                    \
        for (size_t v = 0; v < 2; v++)

#endif
