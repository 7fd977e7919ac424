/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/inspect/ranks.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "system/parallel.h"

enum { RANKS_CHUNK = 1024, RANKS_GRAIN = 1 << 16 };

struct ranks_job {
    const struct odb_tensor *t[2];
    size_t rows, len, k, grain;
    struct ranks_part {
        size_t same, shared;
    } * parts; /* owned */
};

/* The k largest elements of a row so far, the largest first. */
struct ranks_top {
    size_t n, k;
    long double v[ODB_RANKS_MOST];
    size_t at[ODB_RANKS_MOST];
};

static bool ranks_larger(long double a, long double b)
{
    return a > b || (a != a && b == b);
}

static void ranks_put(struct ranks_top *top, long double v, size_t at)
{
    if (top->n == top->k && !ranks_larger(v, top->v[top->n - 1]))
        return;
    size_t i = top->n < top->k ? top->n++ : top->n - 1;
    for (; i && ranks_larger(v, top->v[i - 1]); i--) {
        top->v[i] = top->v[i - 1];
        top->at[i] = top->at[i - 1];
    }
    top->v[i] = v;
    top->at[i] = at;
}

/* Integers of 64 bits are more than a double can tell apart. */
static bool ranks_is_wide(const struct odb_tensor *t)
{
    return t->dtype == ODB_I64 || t->dtype == ODB_U64;
}

/* What no element up to is among the largest; NaN: they are fewer yet. */
static double ranks_least(const struct ranks_top *top)
{
    return top->n == top->k ? (double)top->v[top->n - 1] : (double)NAN;
}

static void ranks_row(struct ranks_top *top, const struct odb_tensor *t, size_t first, size_t len)
{
    double v[RANKS_CHUNK];
    unsigned bits = odb_dtype_info(t->dtype)->bits;
    bool wide = ranks_is_wide(t), whole = bits >= 8;
    for (size_t done = 0, n; done < len; done += n) {
        n = ODB_MIN(len - done, (size_t)RANKS_CHUNK);
        if (whole && !wide)
            odb_convert(ODB_F64, v, t->dtype, (const char *)t->data + (first + done) * (bits / 8),
                        n);
        double least = ranks_least(top);
        for (size_t i = 0; i < n; i++) {
            if (whole && !wide && v[i] <= least)
                continue;
            int64_t x = wide ? odb_load_i64(t->dtype, t->data, first + done + i) : 0;
            ranks_put(top,
                      t->dtype == ODB_U64 ? (long double)(uint64_t)x
                      : wide              ? (long double)x
                      : whole             ? (long double)v[i]
                                          : (long double)odb_tensor_f64(t, first + done + i),
                      done + i);
            least = ranks_least(top);
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

static void ranks_rows(void *arg, size_t begin, size_t end)
{
    struct ranks_job *job = arg;
    struct ranks_part *part = &job->parts[begin / job->grain];
    for (size_t row = begin; row < end; row++) {
        struct ranks_top top[2];
        for (int side = 0; side < 2; side++) {
            top[side].n = 0;
            top[side].k = job->k;
            ranks_row(&top[side], job->t[side], row * job->len, job->len);
        }
        part->same += top[0].at[0] == top[1].at[0];
        part->shared += ranks_shared(&top[0], &top[1]);
    }
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
    struct ranks_job job = {.t = {evaluated, base}};
    job.len = base->rank ? (size_t)base->dims[base->rank - 1] : 1;
    job.rows = base->count / job.len;
    job.k = ODB_MIN(ODB_MIN(k, job.len), (size_t)ODB_RANKS_MOST);
    job.grain = ODB_MAX((size_t)RANKS_GRAIN / job.len, (size_t)1);
    size_t parts = (job.rows + job.grain - 1) / job.grain;
    struct ranks_part sum = {0};
    job.parts = odb_new_n(struct ranks_part, parts);
    odb_parallel_for(job.rows, job.grain, ranks_rows, &job);
    for (size_t i = 0; i < parts; i++) {
        sum.same += job.parts[i].same;
        sum.shared += job.parts[i].shared;
    }
    free(job.parts);
    out->rows = job.rows;
    out->argmax = (double)sum.same / (double)job.rows;
    out->top = (double)sum.shared / (double)(job.rows * job.k);
    return true;
}
