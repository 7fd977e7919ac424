/* SPDX-License-Identifier: MIT
 *
 * Numbers of 128 bits, where the compiler has none (for processors of 32 bits) as where it has. All
 * modulo 2^128.
 */
#ifndef ODB_BASE_WIDE_H
#define ODB_BASE_WIDE_H

#include <stdint.h>

struct odb_wide {
    uint64_t high, low;
};

static inline struct odb_wide odb_wide_add(struct odb_wide a, struct odb_wide b)
{
    uint64_t low = a.low + b.low;
    return (struct odb_wide){a.high + b.high + (low < a.low), low};
}

/* All 128 bits of the product, from those of halves: (a1 a0) * (b1 b0). */
static inline struct odb_wide odb_wide_product(uint64_t a, uint64_t b)
{
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t least = a0 * b0, middle = a1 * b0 + (least >> 32),
             carried = a0 * b1 + (uint32_t)middle;
    return (struct odb_wide){a1 * b1 + (middle >> 32) + (carried >> 32),
                             carried << 32 | (uint32_t)least};
}

static inline struct odb_wide odb_wide_mul(struct odb_wide a, struct odb_wide b)
{
    struct odb_wide p = odb_wide_product(a.low, b.low);
    p.high += a.high * b.low + a.low * b.high;
    return p;
}

#endif
