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

/* array: aligned to 32 bytes, i a multiple of 4. Comparisons give masks, -1 where true. */
#define VEC_AT(array, i) (*(const odb_vec *)((array) + (i)))
#define VEC_AND(x, mask) ((__typeof__(x))((__typeof__(mask))(x) & (mask)))
#define VEC_ABS(x) VEC_AND(x, (odb_vec_mask){} + INT64_MAX)
#define VEC_PICK(mask, x, y)                                                                       \
    ((__typeof__(x))(((mask) & (__typeof__(mask))(x)) | (~(mask) & (__typeof__(mask))(y))))
#define VEC_MAX(x, y) VEC_PICK((x) > (y), x, y)
#define VEC_MIN(x, y) VEC_PICK((x) < (y), x, y)
/* The two vectors of every step, as v. */
#define VEC_STEPS(n)                                                                               \
    for (size_t i = 0; i < (n); i += ODB_LANES)                                                    \
        for (size_t v = 0; v < 2; v++)

#endif
