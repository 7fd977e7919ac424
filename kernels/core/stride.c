/* SPDX-License-Identifier: MIT
 *
 * Nearly every copy that a model asks for is one of three once dimensions that lie behind each
 * other are merged: runs that are contiguous on both sides (memcpy), a matrix turned round
 * (destination contiguous along one dimension, source along another: done in small tiles, so that
 * the lines of both stay in the cache), and the rest, a line of cells with a stride on either
 * side. A contiguous run of up to 16 bytes is treated as one larger cell, which makes the heads of
 * attention and the channels of images fall into the first two.
 */
#include "kernels/core/stride.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "system/parallel.h"

#define STRIDE_TILE 32                   /* cells along the turned dimension at a time */
#define STRIDE_LINE ((size_t)64 * 1024)  /* bytes of a run or line at a time */
#define STRIDE_BLOCK ((size_t)64 * 1024) /* bytes worth a thread */

struct stride_plan;

/* Copies n steps of the blocked dimension. */
typedef void (*stride_fn)(const struct stride_plan *p, unsigned char *dst, const unsigned char *src,
                          size_t n);

/* All strides in bytes. The outer dimensions are stepped through one by one; the last of them
 * counts blocks of the blocked dimension. */
struct stride_plan {
    struct odb_stride s;          /* outer dimensions */
    size_t size;                  /* bytes per cell */
    ptrdiff_t dst_step, src_step; /* of the blocked dimension */
    size_t len, block;            /* its length, and how much of it fn takes at a time */
    ptrdiff_t src_line;           /* tiles: source stride along the contiguous destination */
    size_t line;                  /* tiles: cells along it */
    stride_fn fn;
    unsigned char *to;
    const unsigned char *from;
};

struct stride_cell16 {
    odb_u64 lo, hi;
} __attribute__((aligned(1), may_alias));

static void stride_run(const struct stride_plan *p, unsigned char *dst, const unsigned char *src,
                       size_t n)
{
    memcpy(dst, src, n * p->size);
}

/* One line with a stride on either side, and one tile: n rows along which the source is
 * contiguous, p->line columns along which the destination is. */
#define STRIDE_LOOPS(bits, type)                                                                   \
    static void stride_line_##bits(const struct stride_plan *p, unsigned char *dst,                \
                                   const unsigned char *src, size_t n)                             \
    {                                                                                              \
        ptrdiff_t ds = p->dst_step, ss = p->src_step;                                              \
                                                                                                   \
        for (size_t i = 0; i < n; i++)                                                             \
            *(type *)(dst + (ptrdiff_t)i * ds) = *(const type *)(src + (ptrdiff_t)i * ss);         \
    }                                                                                              \
                                                                                                   \
    static void stride_tile_##bits(const struct stride_plan *p, unsigned char *dst,                \
                                   const unsigned char *src, size_t n)                             \
    {                                                                                              \
        ptrdiff_t ds = p->dst_step, ss = p->src_line;                                              \
                                                                                                   \
        for (size_t c0 = 0; c0 < p->line; c0 += 16) {                                              \
            size_t cols = ODB_MIN(p->line - c0, (size_t)16);                                       \
            for (size_t r = 0; r < n; r++) {                                                       \
                type *to = (type *)(dst + (ptrdiff_t)r * ds) + c0;                                 \
                const unsigned char *from = src + r * sizeof(type) + (ptrdiff_t)c0 * ss;           \
                for (size_t c = 0; c < cols; c++)                                                  \
                    to[c] = *(const type *)(from + (ptrdiff_t)c * ss);                             \
            }                                                                                      \
        }                                                                                          \
    }

STRIDE_LOOPS(8, odb_u8)
STRIDE_LOOPS(16, odb_u16)
STRIDE_LOOPS(32, odb_u32)
STRIDE_LOOPS(64, odb_u64)
STRIDE_LOOPS(128, struct stride_cell16)

static stride_fn stride_pick(size_t size, bool tile)
{
    switch (size) {
    case 1:
        return tile ? stride_tile_8 : stride_line_8;
    case 2:
        return tile ? stride_tile_16 : stride_line_16;
    case 4:
        return tile ? stride_tile_32 : stride_line_32;
    case 8:
        return tile ? stride_tile_64 : stride_line_64;
    default:
        return tile ? stride_tile_128 : stride_line_128;
    }
}

/* Drops dimensions of one cell, merges neighbours that are one run on both sides, and turns
 * strides into bytes. False when there is nothing to copy. */
static bool stride_normalise(struct odb_stride *out, const struct odb_stride *s, size_t size)
{
    int n = 0;

    for (int i = 0; i < s->rank; i++) {
        int64_t dst = s->dst[i] * (int64_t)size, src = s->src[i] * (int64_t)size;
        if (s->dims[i] == 0)
            return false;
        if (s->dims[i] == 1)
            continue;
        if (n > 0 && out->dst[n - 1] == dst * s->dims[i] && out->src[n - 1] == src * s->dims[i]) {
            out->dims[n - 1] *= s->dims[i];
            out->dst[n - 1] = dst;
            out->src[n - 1] = src;
            continue;
        }
        out->dims[n] = s->dims[i];
        out->dst[n] = dst;
        out->src[n] = src;
        n++;
    }
    if (n == 0) {
        out->dims[0] = 1;
        out->dst[0] = out->src[0] = (int64_t)size;
        n = 1;
    }
    out->rank = n;
    return true;
}

/* Takes dimension i out of the outer ones and makes it the blocked one. */
static void stride_take(struct stride_plan *p, int i, size_t block)
{
    struct odb_stride *s = &p->s;

    p->len = (size_t)s->dims[i];
    p->block = ODB_MAX(block, (size_t)1);
    p->dst_step = (ptrdiff_t)s->dst[i];
    p->src_step = (ptrdiff_t)s->src[i];
    for (; i + 1 < s->rank; i++) {
        s->dims[i] = s->dims[i + 1];
        s->dst[i] = s->dst[i + 1];
        s->src[i] = s->src[i + 1];
    }
    s->dims[i] = (int64_t)((p->len + p->block - 1) / p->block);
    s->dst[i] = p->dst_step * (int64_t)p->block;
    s->src[i] = p->src_step * (int64_t)p->block;
}

/* A short run that is contiguous on both sides becomes one larger cell. */
static void stride_widen(struct stride_plan *p)
{
    struct odb_stride *s = &p->s;
    int last = s->rank - 1;

    if (last == 0 || s->dst[last] != (int64_t)p->size || s->src[last] != (int64_t)p->size)
        return;
    size_t run = p->size * (size_t)s->dims[last];
    if (run > 16 || (run & (run - 1)) != 0)
        return;
    p->size = run;
    s->rank--;
}

/* The dimension along which the source is contiguous while the last one is so in the destination;
 * -1: none, or not worth tiles. */
static int stride_turned(const struct stride_plan *p)
{
    const struct odb_stride *s = &p->s;
    int last = s->rank - 1;

    if (s->dst[last] != (int64_t)p->size || s->dims[last] < 4)
        return -1;
    for (int i = 0; i < last; i++)
        if (s->src[i] == (int64_t)p->size && s->dims[i] >= 4)
            return i;
    return -1;
}

static void stride_choose(struct stride_plan *p)
{
    struct odb_stride *s = &p->s;

    stride_widen(p);
    int last = s->rank - 1, size = (int)p->size, turned = stride_turned(p);
    if (s->dst[last] == size && s->src[last] == size) {
        p->fn = stride_run;
        stride_take(p, last, STRIDE_LINE / p->size);
    } else if (turned >= 0) {
        p->fn = stride_pick(p->size, true);
        p->line = (size_t)s->dims[last];
        p->src_line = (ptrdiff_t)s->src[last];
        s->rank--;
        stride_take(p, turned, STRIDE_TILE);
    } else {
        int longest = last;
        for (int i = 0; i < last && s->dims[last] < 8; i++)
            if (s->dims[i] > s->dims[longest])
                longest = i;
        p->fn = stride_pick(p->size, false);
        stride_take(p, longest, STRIDE_LINE / p->size);
    }
}

static void stride_body(void *arg, size_t begin, size_t end)
{
    const struct stride_plan *p = arg;
    const struct odb_stride *s = &p->s;
    int64_t at[ODB_STRIDE_RANK];
    int last = s->rank - 1;
    ptrdiff_t dst = 0, src = 0;
    size_t rest = begin;

    for (int i = last; i >= 0; i--) {
        at[i] = (int64_t)(rest % (size_t)s->dims[i]);
        rest /= (size_t)s->dims[i];
        dst += (ptrdiff_t)(at[i] * s->dst[i]);
        src += (ptrdiff_t)(at[i] * s->src[i]);
    }
    for (size_t n = begin; n < end; n++) {
        p->fn(p, p->to + dst, p->from + src,
              ODB_MIN(p->block, p->len - (size_t)at[last] * p->block));
        for (int i = last; i >= 0; i--) {
            dst += (ptrdiff_t)s->dst[i];
            src += (ptrdiff_t)s->src[i];
            if (++at[i] < s->dims[i])
                break;
            dst -= (ptrdiff_t)(s->dims[i] * s->dst[i]);
            src -= (ptrdiff_t)(s->dims[i] * s->src[i]);
            at[i] = 0;
        }
    }
}

void odb_stride_dense(int rank, const int64_t *dims, int64_t *strides)
{
    int64_t step = 1;

    for (int i = rank - 1; i >= 0; i--) {
        strides[i] = step;
        step *= ODB_MAX(dims[i], (int64_t)1);
    }
}

void odb_stride_copy(const struct odb_stride *s, size_t size, void *dst, const void *src)
{
    struct stride_plan p = {.size = size, .to = dst, .from = src, .line = 1};

    if (!stride_normalise(&p.s, s, size))
        return;
    stride_choose(&p);
    size_t n = odb_dims_product(p.s.dims, 0, p.s.rank);
    size_t bytes = ODB_MIN(p.block, p.len) * p.line * p.size;
    odb_parallel_for(n, ODB_MAX(STRIDE_BLOCK / bytes, (size_t)1), stride_body, &p);
}
