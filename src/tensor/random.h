/* SPDX-License-Identifier: MIT
 *
 * Random numbers that other people's scripts drew before us: the very streams of NumPy's
 * RandomState(seed) (MT19937) and default_rng(seed) (PCG64), bit for bit, so that a result can be
 * compared with an old run. And one hash, for jitter that must not depend on any order.
 */
#ifndef ODB_TENSOR_RANDOM_H
#define ODB_TENSOR_RANDOM_H

#include <stdint.h>

#include "base/wide.h"

struct odb_mt19937 {
    uint32_t key[624];
    int pos;
};

/* numpy.random.RandomState(seed) */
void odb_mt19937_seed(struct odb_mt19937 *r, uint32_t seed);
uint32_t odb_mt19937_u32(struct odb_mt19937 *r);
/* random_sample(): [0, 1), 53 bits */
double odb_mt19937_double(struct odb_mt19937 *r);
/* uniform(lo, hi) */
double odb_mt19937_uniform(struct odb_mt19937 *r, double lo, double hi);
/* randint(low, high) with the default int64: [low, high), low < high */
int64_t odb_mt19937_randint(struct odb_mt19937 *r, int64_t low, int64_t high);

struct odb_pcg64 {
    struct odb_wide state, inc;
    uint32_t half; /* upper half of the last 64 bits that a 32-bit draw split */
    int has_half;
};

/* numpy.random.default_rng(seed) */
void odb_pcg64_seed(struct odb_pcg64 *r, uint64_t seed);
uint64_t odb_pcg64_u64(struct odb_pcg64 *r);
/* random(): [0, 1), 53 bits */
double odb_pcg64_double(struct odb_pcg64 *r);
/* uniform(lo, hi) */
double odb_pcg64_uniform(struct odb_pcg64 *r, double lo, double hi);
/* integers(low, high, endpoint=True): [low, high], low <= high */
int64_t odb_pcg64_integers(struct odb_pcg64 *r, int64_t low, int64_t high);

/* A well-mixed function of x: odb_mix64(seed + i) gives number i of a stream without the numbers
 * before it. */
static inline uint64_t odb_mix64(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

#endif
