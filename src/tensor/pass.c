/* SPDX-License-Identifier: MIT */
#include "tensor/pass.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/simd.h"
#include "system/parallel.h"
#include "tensor/spill.h"

enum {
    PASS_LOOKED = 4 << 20, /* places, about, until pages of a value on disk are given back */
    PASS_LINE = 64,        /* bytes that two processors do not write at once without loss */
    PASS_SMALL = 768       /* bytes of shares that cost no allocation */
};

/* --- numbers ---------------------------------------------------------------------------------- */

struct odb_numbers odb_numbers_of(const struct odb_tensor *t)
{
    if (!t || t->kind != ODB_TENSOR || !t->data)
        return (struct odb_numbers){.per_element = 1};
    enum odb_dtype type = odb_dtype_part(t->dtype);
    size_t per_element = type == t->dtype ? 1 : 2;
    return (struct odb_numbers){.data = t->data,
                                .type = type,
                                .n = t->count * per_element,
                                .per_element = per_element,
                                .storage = t->storage};
}

struct odb_numbers odb_numbers_of_elements(const struct odb_tensor *t)
{
    struct odb_numbers numbers = odb_numbers_of(t);
    numbers.magnitudes = numbers.per_element == 2;
    numbers.n /= numbers.per_element;
    numbers.per_element = 1;
    return numbers;
}

void odb_numbers_load(const struct odb_numbers *numbers, size_t first, size_t n, double *out)
{
    enum odb_dtype type = numbers->type;
    unsigned bits = odb_dtype_info(type)->bits;
    if (numbers->magnitudes) {
        for (size_t i = first; i < first + n; i++)
            *out++ = hypot(odb_load_f64(type, numbers->data, 2 * i),
                           odb_load_f64(type, numbers->data, 2 * i + 1));
    } else if (first * bits % 8 || !bits) { /* within a byte, or a string */
        for (size_t i = first; i < first + n; i++)
            *out++ = bits ? odb_load_f64(type, numbers->data, i) : NAN;
    } else {
        size_t offset = first / 8 * bits + first % 8 * bits / 8;
        odb_convert(ODB_F64, out, type, (const char *)numbers->data + offset, n);
    }
}

bool odb_numbers_same(const struct odb_numbers *a, const struct odb_numbers *b, size_t first,
                      size_t n)
{
    size_t bits = odb_dtype_info(a->type)->bits << a->magnitudes;
    size_t offset = first / 8 * bits + first % 8 * bits / 8;
    return bits && first % 8 * bits % 8 == 0 && a->type == b->type &&
           a->magnitudes == b->magnitudes &&
           !memcmp((const char *)a->data + offset, (const char *)b->data + offset,
                   (n * bits + 7) / 8);
}

ODB_SIMD bool odb_all_finite(const double *v, size_t n)
{
    int64_t odd = 0;
    for (size_t i = 0; i < n; i++)
        odd |= !(fabs(v[i]) <= DBL_MAX);
    return !odd;
}

/* --- passes ----------------------------------------------------------------------------------- */

/* A run; and of it, the blocks that are next. */
struct pass_run {
    const struct odb_pass *pass;
    char *shares;  /* NULL: there are none */
    size_t stride; /* bytes from one to the next */
    size_t shares_n, items;
    size_t begin, end;
};

static size_t pass_blocks(const struct odb_pass *pass)
{
    size_t n = pass->end - pass->begin;
    return n / pass->block + (n % pass->block != 0);
}

size_t odb_pass_shares(const struct odb_pass *pass)
{
    size_t blocks = pass_blocks(pass);
    return pass->shares ? ODB_MIN(pass->shares, blocks) : blocks;
}

static void *pass_share(const struct pass_run *run, size_t i)
{
    return run->shares ? run->shares + i * run->stride : NULL;
}

static void pass_chunks(const struct odb_pass *pass, void *share, size_t begin, size_t end)
{
    struct odb_chunk c;
    for (c.first = begin; c.first < end; c.first += c.n) {
        c.n = ODB_MIN(end - c.first, ODB_PASS_CHUNK);
        for (int k = 0; k < 2; k++) {
            const struct odb_numbers *side = pass->sides[k];
            c.has[k] = side && side->n > c.first ? ODB_MIN(side->n - c.first, c.n) : 0;
            if (c.has[k])
                odb_numbers_load(side, c.first, c.has[k], c.v[k]);
        }
        pass->chunk(pass->job, share, &c);
    }
}

static void pass_block(void *arg, size_t begin, size_t end)
{
    const struct pass_run *run = arg;
    const struct odb_pass *pass = run->pass;
    begin += run->begin;
    end += run->begin;
    void *share = pass_share(run, (begin - pass->begin) / pass->block % run->shares_n);
    if (pass->whole)
        pass->whole(pass->job, share, begin, end);
    else
        pass_chunks(pass, share, begin, end);
}

/* What was looked at of values on disk: two as large as they may be have no room in memory. */
static void pass_let_go(const struct odb_pass *pass, size_t begin, size_t end)
{
    for (int k = 0; k < 2; k++) {
        const struct odb_numbers *side = pass->sides[k];
        if (!side || !odb_spill_has(side->storage) || begin >= side->n)
            continue;
        size_t bits = (size_t)odb_dtype_info(side->type)->bits << side->magnitudes;
        size_t first = begin / 8 * bits, last = ODB_MIN(end, side->n) / 8 * bits;
        odb_spill_let_go(side->storage, (const char *)side->data + first, last - first);
    }
}

static enum odb_status pass_steps(struct pass_run *run, struct odb_pass *pass,
                                  struct odb_error *err)
{
    size_t all = pass->end - pass->begin, at_once = pass->at_once ? pass->at_once : pass->shares;
    size_t step = at_once ? at_once * pass->block : all, total = pass->total ? pass->total : all;
    bool large = all > 2 * (size_t)PASS_LOOKED;
    if (large)
        step = ODB_MIN(step, ODB_MAX((size_t)PASS_LOOKED / pass->block, 1) * pass->block);
    for (run->begin = pass->begin; run->begin < pass->end; run->begin += step) {
        size_t n = ODB_MIN(pass->end - run->begin, step);
        ODB_TRY(odb_progress_step(pass->progress, pass->done, total, err));
        odb_parallel_for(n, pass->block, pass_block, run);
        if (large)
            pass_let_go(pass, run->begin, run->begin + n);
        pass->done += n;
    }
    return ODB_OK;
}

/* Shares in a room that is all zero, from the next line on. */
static void pass_start(struct pass_run *run, char *room)
{
    const struct odb_pass *pass = run->pass;
    run->shares = room + (PASS_LINE - (uintptr_t)room % PASS_LINE) % PASS_LINE;
    for (size_t i = 0; i < run->shares_n && pass->none; i++)
        for (size_t k = 0; k < run->items; k++)
            memcpy(run->shares + i * run->stride + k * pass->item, pass->none, pass->item);
}

static void pass_join(const struct pass_run *run, char *total)
{
    size_t item = run->pass->item;
    for (size_t i = 0; i < run->shares_n; i++)
        for (size_t k = 0; k < run->items; k++)
            run->pass->join(total + k * item, run->shares + i * run->stride + k * item);
}

enum odb_status odb_pass_run(struct odb_pass *pass, void *total, struct odb_error *err)
{
    struct pass_run run = {.pass = pass, .shares = pass->kept};
    char small[PASS_SMALL], *large = NULL;
    bool joined = pass->item && !pass->kept;
    ODB_ASSERT(!pass->item || !pass->shares || pass->at_once <= pass->shares);
    ODB_ASSERT(!pass->chunk || pass->block % ODB_PASS_CHUNK == 0);
    run.shares_n = odb_pass_shares(pass);
    run.items = pass->items ? pass->items : 1;
    run.stride = run.items * pass->item;
    if (joined) { /* each share on lines of its own */
        run.stride = (run.stride + PASS_LINE - 1) / PASS_LINE * PASS_LINE;
        size_t bytes = run.shares_n * run.stride + PASS_LINE;
        large = bytes > sizeof small ? odb_new_n(char, bytes) : NULL;
        pass_start(&run, large ? large : memset(small, 0, sizeof small));
    }
    enum odb_status status = pass_steps(&run, pass, err);
    if (joined && status == ODB_OK)
        pass_join(&run, total);
    free(large);
    return status;
}

void odb_pass_all(struct odb_pass *pass, void *total)
{
    pass->progress = NULL;
    ODB_ASSERT(odb_pass_run(pass, total, NULL) == ODB_OK);
}
