/* SPDX-License-Identifier: MIT
 *
 * Queries are taken in blocks, so that a block's scores stay in the cache and memory grows with
 * the number of keys only. Per block there are two matrix products and a softmax of every row
 * between them; what a block may not see at all (later keys, keys outside a window, unused parts of
 * a cache) is not computed. The textbook adds -inf to such scores and multiplies their values by
 * zero, which is the same unless there is a NaN or an infinity among them: that is looked up first.
 *
 * Products sum as odb_gemm_run() does; the softmax sums in double.
 */
#include "kernels/attention/attention.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "system/parallel.h"
#include "kernels/core/floatmath.h"
#include "kernels/linear/matmul.h"
#include "kernels/linear/product.h"
#include "kernels/core/real.h"
#include "kernels/reduce/softmax.h"
#include "kernels/core/workspace.h"

struct attention_job {
    const struct odb_attention *a;
    size_t rows, blocks; /* queries in a block; blocks in a head */
    atomic_bool whole;   /* no key may be left out */
    atomic_bool failed;
};

/* A query, and the keys whose scores are computed. */
struct attention_place {
    size_t b, h, i;
    size_t lo, hi;
};

static size_t attention_at(const struct odb_attention_steps *steps, size_t b, size_t h, size_t row)
{
    return b * steps->batch + h * steps->head + row * steps->row;
}

static size_t attention_plane_at(const struct odb_attention_plane *plane, size_t b, size_t h,
                                 size_t row)
{
    return b * plane->batch + h * plane->head + row * plane->row;
}

#define ATTENTION_FAR ((int64_t)1 << 56) /* further than any key; sums of a few do not overflow */

/* Keys [*first, *last) that some query of [i, i + n) may attend to, for all that positions say. */
static void attention_bounds(const struct odb_attention *a, size_t b, size_t i, size_t n,
                             size_t *first, size_t *last)
{
    int64_t low = a->start ? a->start[b] : 0, keys = (int64_t)a->keys, high = keys;
    int64_t p = (int64_t)i + (a->offset ? a->offset[b] : 0);
    if (a->length)
        high = ODB_MIN(high, a->length[b]);
    if (a->left >= 0)
        low = ODB_MAX(low, p - ODB_MIN(a->left, ATTENTION_FAR));
    if (a->right >= 0)
        high = ODB_MIN(high, p + (int64_t)n + ODB_MIN(a->right, ATTENTION_FAR));
    low = ODB_MAX(low, 0);
    *first = low < high ? (size_t)low : 0;
    *last = low < high ? (size_t)high : 0;
}

#define ODB_BODY "kernels/attention/attention.real.h"
#include "kernels/core/real.h"

#define ATTENTION_SCORES (1u << 19) /* of a block: as many as the cache holds */
#define ATTENTION_MIN_ROWS 16       /* each block packs the keys again */
#define ATTENTION_MAX_ROWS 192
#define ATTENTION_WORK (1u << 20) /* multiplications that are worth a thread's while */

static size_t attention_grain(double work)
{
    return (size_t)(ATTENTION_WORK / (work + 1)) + 1;
}

enum odb_status odb_attention_run(const struct odb_attention *a, struct odb_error *err)
{
    struct attention_job job = {.a = a};
    size_t heads = a->batch * a->heads, fit = ATTENTION_SCORES / (a->keys + 1);
    if (heads == 0 || a->queries == 0)
        return ODB_OK;
    job.rows = ODB_MIN(ODB_MAX(fit, ATTENTION_MIN_ROWS), ATTENTION_MAX_ROWS);
    job.rows = ODB_MIN(job.rows, a->queries);
    job.blocks = (a->queries + job.rows - 1) / job.rows;
    bool limited = a->left >= 0 || a->right >= 0 || a->start || a->length;
    atomic_init(&job.failed, false);
    atomic_init(&job.whole, !limited || a->scores || a->closed_is_nan);
    double work = (double)(a->size + a->v_size) * (double)a->keys;
    if (!atomic_load(&job.whole))
        odb_parallel_for(heads, attention_grain(work), ODB_REAL_FN(a, a->dtype, attention_scan),
                         &job);
    odb_parallel_for(heads * job.blocks, attention_grain(work * (double)job.rows),
                     ODB_REAL_FN(a, a->dtype, attention_blocks), &job);
    if (atomic_load(&job.failed))
        return odb_fail(err, ODB_E_NOMEM, "no memory to compute attention in");
    return ODB_OK;
}
