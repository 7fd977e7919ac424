/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/inspect/ranks.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/simd.h"
#include "compare/ulp.h"
#include "tensor/pass.h"

enum {
    RANKS_GRAIN = 1 << 16, /* elements that are looked at in one go */
    RANKS_STEP = 16        /* of which most have none that is among the largest */
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

static void ranks_put(struct ranks_top *top, int64_t key, size_t at)
{
    if (top->n == top->k && key <= top->key[top->n - 1])
        return;
    size_t i = top->n < top->k ? top->n++ : top->n - 1;
    for (; i && key > top->key[i - 1]; i--) {
        top->key[i] = top->key[i - 1];
        top->at[i] = top->at[i - 1];
    }
    top->key[i] = key;
    top->at[i] = at;
}

static int64_t ranks_key(double v)
{
    return v != v ? INT64_MAX : odb_ulp_place(v);
}

/* What no element up to is among the largest; NaN: they are fewer yet, or all NaN. */
static double ranks_least(const struct ranks_top *top)
{
    return top->n < top->k ? (double)NAN : odb_ulp_at_place(top->key[top->n - 1]);
}

static ODB_SIMD bool ranks_any_above(const double *v, size_t n, double least)
{
    int64_t above = 0;
    for (size_t i = 0; i < n; i++)
        above |= !(v[i] <= least);
    return above;
}

/* Integers of 64 bits, which are more than a double can tell apart. */
static void ranks_wide_row(struct ranks_top *top, const struct odb_numbers *t, size_t first,
                           size_t len)
{
    const odb_u64 *v = t->data;
    uint64_t flip = t->type == ODB_U64 ? (uint64_t)1 << 63 : 0;
    for (size_t i = 0; i < len; i++)
        ranks_put(top, (int64_t)(v[first + i] ^ flip), i);
}

static void ranks_row(struct ranks_top *top, const struct odb_numbers *t, size_t first, size_t len)
{
    double v[ODB_PASS_CHUNK];
    for (size_t done = 0, n; done < len; done += n) {
        n = ODB_MIN(len - done, ODB_PASS_CHUNK);
        odb_numbers_load(t, first + done, n, v);
        double least = ranks_least(top);
        for (size_t i = 0, step; i < n; i += step) {
            step = ODB_MIN(n - i, (size_t)RANKS_STEP);
            if (!ranks_any_above(v + i, step, least))
                continue;
            for (size_t k = i; k < i + step; k++)
                if (!(v[k] <= least)) {
                    ranks_put(top, ranks_key(v[k]), done + k);
                    least = ranks_least(top);
                }
        }
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
        for (int side = 0; side < 2; side++) {
            top[side].n = 0;
            top[side].k = job->k;
            bool wide = job->side[side].type == ODB_I64 || job->side[side].type == ODB_U64;
            (wide ? ranks_wide_row : ranks_row)(&top[side], &job->side[side], row * job->len,
                                                job->len);
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
