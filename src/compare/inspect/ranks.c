/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The largest elements of a row are few, and the others are to be passed over by vectors. Elements
 * are laid out in columns, and the k-th largest of the columns' largest ones is a bound: k elements
 * are at least that. Columns that reach it are looked through. Numbers are compared as integers of
 * 32 bits, which float and narrower types have exactly and others to their leading bits.
 */
#include "compare/inspect/ranks.h"

#include <math.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/simd.h"
#include "compare/ulp.h"
#include "tensor/pass.h"

enum {
    RANKS_GRAIN = 1 << 16, /* elements that are looked at in one go */
    RANKS_COLUMNS = 32
};

struct ranks_job {
    struct odb_numbers side[2];
    size_t len, k; /* of a row */
};

struct ranks_part {
    size_t same, shared;
};

/* The k largest elements of a row so far, the largest first: integers in the order of the values,
 * NaN above all. */
struct ranks_top {
    size_t n, k;
    int64_t key[ODB_RANKS_MOST];
    size_t at[ODB_RANKS_MOST];
};

/* A part of a row. */
struct ranks_keys {
    bool exact; /* lead is all there is, and full is not filled */
    int32_t lead[ODB_PASS_CHUNK];
    int64_t full[ODB_PASS_CHUNK];
};

static bool ranks_above(const struct ranks_top *top, size_t i, int64_t key, size_t at)
{
    return key > top->key[i] || (key == top->key[i] && at < top->at[i]);
}

/* In any order of elements. */
static void ranks_put(struct ranks_top *top, int64_t key, size_t at)
{
    if (top->n == top->k && !ranks_above(top, top->n - 1, key, at))
        return;
    size_t i = top->n < top->k ? top->n++ : top->n - 1;
    for (; i && ranks_above(top, i - 1, key, at); i--) {
        top->key[i] = top->key[i - 1];
        top->at[i] = top->at[i - 1];
    }
    top->key[i] = key;
    top->at[i] = at;
}

static ODB_SIMD void ranks_order_floats(const odb_u32 *bits, size_t n, int32_t *key)
{
    for (size_t i = 0; i < n; i++) {
        int32_t size = (int32_t)(bits[i] & INT32_MAX), place = bits[i] >> 31 ? -size : size;
        key[i] = size > 0x7f800000 ? INT32_MAX : place;
    }
}

static ODB_SIMD void ranks_order_doubles(const double *v, size_t n, int64_t *key)
{
    for (size_t i = 0; i < n; i++)
        key[i] = v[i] != v[i] ? INT64_MAX : odb_ulp_place(v[i]);
}

/* Of 64 bits, which are more than a double can tell apart. */
static ODB_SIMD void ranks_order_integers(const odb_u64 *v, uint64_t flip, size_t n, int64_t *key)
{
    for (size_t i = 0; i < n; i++)
        key[i] = (int64_t)(v[i] ^ flip);
}

static ODB_SIMD void ranks_lead(const int64_t *full, size_t n, int32_t *lead)
{
    for (size_t i = 0; i < n; i++)
        lead[i] = (int32_t)(full[i] >> 32);
}

static void ranks_load(const struct odb_numbers *t, size_t first, size_t n, struct ranks_keys *keys)
{
    double v[ODB_PASS_CHUNK];
    unsigned bits = odb_dtype_info(t->type)->bits;
    keys->exact = odb_dtype_is_float(t->type) && (bits == 16 || bits == 32);
    if (keys->exact) {
        odb_convert(ODB_F32, v, t->type, (const char *)t->data + first * bits / 8, n);
        ranks_order_floats((const odb_u32 *)v, n, keys->lead);
        return;
    }
    if (t->type == ODB_I64 || t->type == ODB_U64) {
        uint64_t flip = t->type == ODB_U64 ? (uint64_t)1 << 63 : 0;
        ranks_order_integers((const odb_u64 *)t->data + first, flip, n, keys->full);
    } else {
        odb_numbers_load(t, first, n, v);
        ranks_order_doubles(v, n, keys->full);
    }
    ranks_lead(keys->full, n, keys->lead);
}

static ODB_SIMD void ranks_columns(const int32_t *lead, size_t n, int32_t *most)
{
    for (size_t i = 0; i < n; i += RANKS_COLUMNS)
        for (size_t c = 0; c < RANKS_COLUMNS; c++)
            most[c] = ODB_MAX(most[c], lead[i + c]);
}

/* The k-th largest; INT32_MIN: they are fewer. */
static ODB_SIMD int32_t ranks_bound(const int32_t *most, size_t k)
{
    int32_t bound = INT32_MIN;
    for (size_t c = 0; c < RANKS_COLUMNS; c++) {
        uint32_t reach = 0;
        for (size_t i = 0; i < RANKS_COLUMNS; i++)
            reach += most[i] >= most[c];
        bound = reach >= k ? ODB_MAX(bound, most[c]) : bound;
    }
    return bound;
}

/* n elements from a place of the row on. */
static void ranks_take(struct ranks_top *top, struct ranks_keys *keys, size_t first, size_t n)
{
    int32_t most[RANKS_COLUMNS], bound;
    size_t padding = (RANKS_COLUMNS - n % RANKS_COLUMNS) % RANKS_COLUMNS;
    for (size_t i = n; i < n + padding; i++)
        keys->lead[i] = INT32_MIN;
    for (size_t c = 0; c < RANKS_COLUMNS; c++)
        most[c] = INT32_MIN;
    ranks_columns(keys->lead, n + padding, most);
    bound = n > RANKS_COLUMNS ? ranks_bound(most, top->k) : INT32_MIN;
    if (top->n == top->k) {
        int64_t least = top->key[top->n - 1];
        bound = ODB_MAX(bound, (int32_t)(keys->exact ? least : least >> 32));
    }
    for (size_t c = 0; c < RANKS_COLUMNS; c++)
        for (size_t i = c; i < n && most[c] >= bound; i += RANKS_COLUMNS)
            if (keys->lead[i] >= bound)
                ranks_put(top, keys->exact ? keys->lead[i] : keys->full[i], first + i);
}

static void ranks_row(struct ranks_top *top, const struct odb_numbers *t, size_t first, size_t len)
{
    struct ranks_keys keys;
    for (size_t done = 0, n; done < len; done += n) {
        n = ODB_MIN(len - done, ODB_PASS_CHUNK);
        ranks_load(t, first + done, n, &keys);
        ranks_take(top, &keys, done, n);
    }
}

static size_t ranks_shared(const struct ranks_top *a, const struct ranks_top *b)
{
    size_t shared = 0;
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < b->n; k++)
            shared += a->at[i] == b->at[k];
    return shared;
}

static void ranks_rows(const void *arg, void *share, size_t begin, size_t end)
{
    const struct ranks_job *job = arg;
    struct ranks_part *part = share;
    for (size_t row = begin; row < end; row++) {
        struct ranks_top top[2];
        if (odb_numbers_same(&job->side[0], &job->side[1], row * job->len, job->len)) {
            part->same++;
            part->shared += job->k;
            continue;
        }
        for (int side = 0; side < 2; side++) {
            top[side].n = 0;
            top[side].k = job->k;
            ranks_row(&top[side], &job->side[side], row * job->len, job->len);
        }
        part->same += top[0].at[0] == top[1].at[0];
        part->shared += ranks_shared(&top[0], &top[1]);
    }
}

static void ranks_join(void *total, const void *share)
{
    struct ranks_part *to = total;
    const struct ranks_part *from = share;
    to->same += from->same;
    to->shared += from->shared;
}

static bool ranks_has_order(const struct odb_tensor *t)
{
    return t && t->kind == ODB_TENSOR && t->data && t->count && t->dtype != ODB_STRING &&
           odb_dtype_info(t->dtype)->class_ != ODB_CLASS_COMPLEX;
}

bool odb_ranks(struct odb_ranks *out, const struct odb_tensor *evaluated,
               const struct odb_tensor *base, size_t k)
{
    *out = (struct odb_ranks){0};
    if (!ranks_has_order(evaluated) || !ranks_has_order(base) ||
        !odb_tensor_same_shape(evaluated, base))
        return false;
    struct ranks_job job = {.side = {odb_numbers_of(evaluated), odb_numbers_of(base)}};
    struct ranks_part sum = {0};
    job.len = base->rank ? (size_t)base->dims[base->rank - 1] : 1;
    job.k = ODB_MIN(ODB_MIN(k, job.len), (size_t)ODB_RANKS_MOST);
    struct odb_pass pass = {.end = base->count / job.len,
                            .block = ODB_MAX((size_t)RANKS_GRAIN / job.len, (size_t)1),
                            .item = sizeof sum,
                            .job = &job,
                            .whole = ranks_rows,
                            .join = ranks_join};
    odb_pass_all(&pass, &sum);
    out->rows = pass.end;
    out->argmax = (double)sum.same / (double)out->rows;
    out->top = (double)sum.shared / (double)(out->rows * job.k);
    return true;
}
