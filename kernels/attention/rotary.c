/* SPDX-License-Identifier: MIT
 *
 * RotaryEmbedding (ai.onnx 23), and the turning that other operators do as well. Products and
 * their sum are taken in double for float.
 */
#include "kernels/attention/rotary.h"

#include <stdlib.h>
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "system/parallel.h"
#include "kernels/core/kern.h"
#include "kernels/core/real.h"

#define ODB_BODY "kernels/attention/rotary.real.h"
#include "kernels/core/real.h"
#include "kernels/core/row.h"

#define ROTARY_GRAIN (1u << 15)

void odb_rotary_run(const struct odb_rotary *r)
{
    if (r->heads * r->size == 0)
        return;
    odb_parallel_for(r->batch * r->rows, ROTARY_GRAIN / (r->heads * r->size + 1) + 1,
                     ODB_REAL_FN(r, r->dtype, rotary_rows), (void *)r);
}

/* --- RotaryEmbedding -------------------------------------------------------------------------- */

enum { ROTARY_X, ROTARY_COS, ROTARY_SIN, ROTARY_POSITIONS };

static enum odb_status rotary_sizes(struct odb_kern *k, struct odb_rotary *r)
{
    const struct odb_tensor *x = k->in[ROTARY_X];
    int64_t heads = odb_kern_int(k, "num_heads", 0);
    *r = (struct odb_rotary){.dtype = x->dtype,
                             .sequential = k->sequential,
                             .interleaved = odb_kern_int(k, "interleaved", 0) != 0};
    if (x->rank == 4) {
        size_t h = (size_t)x->dims[1], n = (size_t)x->dims[2], d = (size_t)x->dims[3];
        if (heads != 0 && (size_t)heads != h)
            return ODB_KERN_FAIL(k, "num_heads is %lld where X has %zu heads", (long long)heads, h);
        r->x_steps = (struct odb_attention_steps){h * n * d, n * d, d};
        r->heads = h;
        r->rows = n;
        r->size = d;
    } else if (x->rank == 3) {
        if (heads <= 0 || x->dims[2] % heads)
            return ODB_KERN_FAIL(k, "X of 3 dimensions needs num_heads; %lld does not divide %lld",
                                 (long long)heads, (long long)x->dims[2]);
        r->heads = (size_t)heads;
        r->rows = (size_t)x->dims[1];
        r->size = (size_t)(x->dims[2] / heads);
        r->x_steps =
            (struct odb_attention_steps){r->rows * (size_t)x->dims[2], r->size, (size_t)x->dims[2]};
    } else {
        return ODB_KERN_FAIL(k, "X has %d dimensions, not 3 or 4", x->rank);
    }
    r->y_steps = r->x_steps;
    r->batch = (size_t)x->dims[0];
    int64_t turned = odb_kern_int(k, "rotary_embedding_dim", 0);
    r->turned = turned == 0 ? r->size : (size_t)turned;
    if (turned < 0 || r->turned > r->size || r->turned % 2)
        return ODB_KERN_FAIL(k, "%zu of %zu elements cannot be turned in pairs", r->turned,
                             r->size);
    return ODB_OK;
}

/* The caches are (positions, half) where positions are given, else (batch, rows, half). */
static enum odb_status rotary_infer(struct odb_kern *k)
{
    struct odb_rotary r;
    ODB_TRY(rotary_sizes(k, &r));
    const struct odb_tensor *positions = odb_kern_in(k, ROTARY_POSITIONS);
    const struct odb_tensor *cosine = k->in[ROTARY_COS], *sine = k->in[ROTARY_SIN];
    int64_t batch = (int64_t)r.batch, rows = (int64_t)r.rows;
    bool fits = odb_tensor_same_shape(cosine, sine) && cosine->rank == (positions ? 2 : 3) &&
                cosine->dims[cosine->rank - 1] == (int64_t)r.turned / 2;
    if (fits && !positions)
        fits = cosine->dims[0] == batch && cosine->dims[1] == rows;
    if (!fits) {
        char a[200], b[200];
        return ODB_KERN_FAIL(k, "caches of shapes %s and %s do not fit %zu rows of %zu",
                             odb_shape_text(cosine, a, sizeof a), odb_shape_text(sine, b, sizeof b),
                             r.rows, r.turned);
    }
    if (positions &&
        (positions->rank != 2 || positions->dims[0] != batch || positions->dims[1] != rows)) {
        char text[200];
        return ODB_KERN_FAIL(k, "position_ids of shape %s for (%lld, %lld)",
                             odb_shape_text(positions, text, sizeof text), (long long)batch,
                             (long long)rows);
    }
    if (cosine->dtype != k->in[ROTARY_X]->dtype || sine->dtype != cosine->dtype)
        return ODB_KERN_FAIL(k, "X and the caches have different types");
    return odb_infer_same(k);
}

static enum odb_status rotary_run(struct odb_kern *k)
{
    struct odb_rotary r;
    ODB_TRY(rotary_sizes(k, &r));
    const struct odb_tensor *ids = odb_kern_in(k, ROTARY_POSITIONS);
    size_t *positions = ids ? odb_work_take(ids->count, sizeof *positions) : NULL;
    if (ids && !positions)
        return odb_kern_no_memory(k);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; ids && i < ids->count; i++) {
        int64_t at = odb_tensor_i64(ids, i), last = k->in[ROTARY_COS]->dims[0];
        if (at < 0 || at >= last)
            ODB_TRY_OUT(ODB_KERN_FAIL(k, "position %lld of caches for %lld", (long long)at,
                                      (long long)last));
        positions[i] = (size_t)at;
    }
    r.x = k->in[ROTARY_X]->data;
    r.cos = k->in[ROTARY_COS]->data;
    r.sin = k->in[ROTARY_SIN]->data;
    r.y = k->out[0]->data;
    r.positions = positions;
    odb_rotary_run(&r);
out:
    odb_work_give(positions);
    return status;
}

static const struct odb_attr_spec rotary_attrs[] = {
    {"interleaved", ODB_ATTR_INT, "0", false},
    {"num_heads", ODB_ATTR_INT, NULL, false},
    {"rotary_embedding_dim", ODB_ATTR_INT, "0", false},
    {NULL}};

const struct odb_op odb_ops_rotary[] = {
    ODB_ONNX("RotaryEmbedding", 23, ODB_ARITY(3, 4), ODB_ARITY(1, 1), ODB_OP_REAL, rotary_attrs,
             rotary_infer, rotary_run, ODB_T_FLOAT, ODB_AS(0), ODB_AS(0), ODB_BIT(ODB_I64),
             ODB_NAMES("X,cos_cache,sin_cache,position_ids", "Y"), ODB_HALVES(23, 23),
             ODB_WORK(rotary)),
    {.name = NULL},
};
