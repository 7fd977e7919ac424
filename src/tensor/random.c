/* SPDX-License-Identifier: MIT
 *
 * Three things must agree with NumPy: how a seed becomes a state, how a state becomes bits, and
 * how many bits a bounded integer takes. The last differs between the generations: the old one
 * masks and rejects, the new one multiplies (Lemire), and both take 32-bit draws wherever the
 * range has room in them.
 */
#include "tensor/random.h"

/* --- MT19937 ---------------------------------------------------------------------------------- */

enum { MT_N = 624, MT_M = 397 };

void odb_mt19937_seed(struct odb_mt19937 *r, uint32_t seed)
{
    r->key[0] = seed;
    for (uint32_t i = 1; i < MT_N; i++)
        r->key[i] = 1812433253u * (r->key[i - 1] ^ r->key[i - 1] >> 30) + i;
    r->pos = MT_N;
}

static void mt_refill(struct odb_mt19937 *r)
{
    for (int i = 0; i < MT_N; i++) {
        uint32_t y = (r->key[i] & 0x80000000u) | (r->key[(i + 1) % MT_N] & 0x7fffffffu);
        r->key[i] = r->key[(i + MT_M) % MT_N] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    r->pos = 0;
}

uint32_t odb_mt19937_u32(struct odb_mt19937 *r)
{
    if (r->pos >= MT_N)
        mt_refill(r);
    uint32_t y = r->key[r->pos++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

double odb_mt19937_double(struct odb_mt19937 *r)
{
    uint32_t a = odb_mt19937_u32(r) >> 5, b = odb_mt19937_u32(r) >> 6;
    return (a * 67108864.0 + b) / 9007199254740992.0;
}

double odb_mt19937_uniform(struct odb_mt19937 *r, double lo, double hi)
{
    double range = hi - lo;
    return lo + range * odb_mt19937_double(r);
}

int64_t odb_mt19937_randint(struct odb_mt19937 *r, int64_t low, int64_t high)
{
    uint64_t range = (uint64_t)high - (uint64_t)low - 1;
    if (range == 0)
        return low;
    uint64_t mask = UINT64_MAX >> __builtin_clzll(range), v;
    do {
        v = odb_mt19937_u32(r);
        if (range > UINT32_MAX)
            v = v << 32 | odb_mt19937_u32(r);
        v &= mask;
    } while (v > range);
    return (int64_t)((uint64_t)low + v);
}

/* --- PCG64 ------------------------------------------------------------------------------------ */

enum { SEED_POOL = 4 };

struct seed_hash {
    uint32_t constant, factor;
};

static uint32_t seed_hash(struct seed_hash *h, uint32_t v)
{
    v ^= h->constant;
    h->constant *= h->factor;
    v *= h->constant;
    return v ^ v >> 16;
}

static uint32_t seed_mix(uint32_t x, uint32_t y)
{
    uint32_t v = 0xca01f9ddu * x - 0x4973f715u * y;
    return v ^ v >> 16;
}

/* SeedSequence(seed).generate_state(4, uint64) */
static void seed_expand(uint64_t seed, uint64_t out[4])
{
    uint32_t pool[SEED_POOL], words[8];
    struct seed_hash in = {0x43b0d7e5u, 0x931e8875u}, gen = {0x8b51f9ddu, 0x58f38dedu};
    const uint32_t entropy[SEED_POOL] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (int i = 0; i < SEED_POOL; i++)
        pool[i] = seed_hash(&in, entropy[i]);
    for (int src = 0; src < SEED_POOL; src++)
        for (int dst = 0; dst < SEED_POOL; dst++)
            if (src != dst)
                pool[dst] = seed_mix(pool[dst], seed_hash(&in, pool[src]));
    for (int i = 0; i < 8; i++)
        words[i] = seed_hash(&gen, pool[i % SEED_POOL]);
    for (int i = 0; i < 4; i++)
        out[i] = words[2 * i] | (uint64_t)words[2 * i + 1] << 32;
}

static void pcg64_step(struct odb_pcg64 *r)
{
    const struct odb_wide multiplier = {2549297995355413924u, 4865540595714422341u};
    r->state = odb_wide_add(odb_wide_mul(r->state, multiplier), r->inc);
}

void odb_pcg64_seed(struct odb_pcg64 *r, uint64_t seed)
{
    uint64_t s[4];
    seed_expand(seed, s);
    *r = (struct odb_pcg64){.inc = {s[2] << 1 | s[3] >> 63, s[3] << 1 | 1}};
    pcg64_step(r);
    r->state = odb_wide_add(r->state, (struct odb_wide){s[0], s[1]});
    pcg64_step(r);
}

uint64_t odb_pcg64_u64(struct odb_pcg64 *r)
{
    pcg64_step(r);
    uint64_t folded = r->state.high ^ r->state.low;
    unsigned turn = (unsigned)(r->state.high >> 58);
    return folded >> turn | folded << (-turn & 63);
}

static uint32_t pcg64_u32(struct odb_pcg64 *r)
{
    r->has_half = !r->has_half;
    if (!r->has_half)
        return r->half;
    uint64_t v = odb_pcg64_u64(r);
    r->half = (uint32_t)(v >> 32);
    return (uint32_t)v;
}

double odb_pcg64_double(struct odb_pcg64 *r)
{
    return (double)(odb_pcg64_u64(r) >> 11) * (1.0 / 9007199254740992.0);
}

double odb_pcg64_uniform(struct odb_pcg64 *r, double lo, double hi)
{
    double range = hi - lo;
    return lo + range * odb_pcg64_double(r);
}

/* [0, range] without bias: the upper half of draw * (range + 1), drawn again while the lower half
 * says that this result had one chance too many. */
static uint32_t pcg64_below32(struct odb_pcg64 *r, uint32_t range)
{
    uint32_t n = range + 1;
    if (n == 0)
        return pcg64_u32(r);
    uint64_t m = (uint64_t)pcg64_u32(r) * n;
    if ((uint32_t)m < n)
        for (uint32_t least = -n % n; (uint32_t)m < least;)
            m = (uint64_t)pcg64_u32(r) * n;
    return (uint32_t)(m >> 32);
}

static uint64_t pcg64_below64(struct odb_pcg64 *r, uint64_t range)
{
    uint64_t n = range + 1;
    if (n == 0)
        return odb_pcg64_u64(r);
    struct odb_wide m = odb_wide_product(odb_pcg64_u64(r), n);
    if (m.low < n)
        for (uint64_t least = -n % n; m.low < least;)
            m = odb_wide_product(odb_pcg64_u64(r), n);
    return m.high;
}

int64_t odb_pcg64_integers(struct odb_pcg64 *r, int64_t low, int64_t high)
{
    uint64_t range = (uint64_t)high - (uint64_t)low;
    if (range == 0)
        return low;
    uint64_t v = range <= UINT32_MAX ? pcg64_below32(r, (uint32_t)range) : pcg64_below64(r, range);
    return (int64_t)((uint64_t)low + v);
}
