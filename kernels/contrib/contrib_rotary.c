/* SPDX-License-Identifier: MIT
 *
 * Rotary position embedding as ONNX Runtime has it (com.microsoft 1): RotaryEmbedding,
 * MRotaryEmbedding and GemmaRotaryEmbedding. Two products and a sum per element, in the element
 * type.
 */
#include "kernels/attention/rotary.h"

#include <math.h>
#include <stdlib.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "kernels/contrib/contrib.h"

enum { ROTARY_X, ROTARY_POSITIONS, ROTARY_COS, ROTARY_SIN };

/* What the shapes and attributes say. */
static enum odb_status rotary_shape(struct odb_kern *k, struct odb_rotary *r)
{
    const struct odb_tensor *x = k->in[ROTARY_X], *cos = k->in[ROTARY_COS];
    int64_t heads = odb_kern_int(k, "num_heads", 0);
    int64_t turned = odb_kern_int(k, "rotary_embedding_dim", 0);
    if (x->rank != 3 && x->rank != 4)
        return ODB_KERN_FAIL(k, "%s needs an input of 3 or 4 dimensions, not %d", k->op->name,
                             x->rank);
    if (cos->rank != 2 || !odb_tensor_same_shape(cos, k->in[ROTARY_SIN]))
        return ODB_KERN_FAIL(k, "cos_cache and sin_cache must be two matrices of one shape");
    if (turned > 0 && heads < 1)
        return ODB_KERN_FAIL(k, "rotary_embedding_dim needs num_heads");
    if (odb_kern_float(k, "scale", 1) != 1)
        return ODB_KERN_UNSUPPORTED(k, "%s with a scale", k->op->name);
    bool split = x->rank == 4; /* [batch][heads][rows][size], else [batch][rows][heads * size] */
    int64_t hidden = split ? x->dims[1] * x->dims[3] : x->dims[2];
    int64_t size = split ? x->dims[3] : turned > 0 ? hidden / heads : cos->dims[1] * 2;
    heads = split ? x->dims[1] : size > 0 ? hidden / size : 0;
    turned = turned > 0 ? turned : size;
    if (heads * size != hidden || turned > size || turned != cos->dims[1] * 2)
        return ODB_KERN_FAIL(k, "vectors of %lld do not go with caches %lld wide",
                             (long long)hidden, (long long)cos->dims[1]);
    r->batch = (size_t)x->dims[0];
    r->heads = (size_t)heads;
    r->rows = (size_t)x->dims[split ? 2 : 1];
    r->size = (size_t)size;
    r->turned = (size_t)turned;
    r->x_steps = (struct odb_attention_steps){.batch = r->rows * (size_t)hidden,
                                              .head = split ? r->rows * r->size : r->size,
                                              .row = split ? r->size : (size_t)hidden};
    r->y_steps = r->x_steps;
    return ODB_OK;
}

static enum odb_status rotary_infer(struct odb_kern *k)
{
    struct odb_rotary r = {0};
    ODB_TRY(rotary_shape(k, &r));
    const struct odb_tensor *p = k->in[ROTARY_POSITIONS];
    bool each = p->rank == 2 && p->dims[0] == (int64_t)r.batch && p->dims[1] == (int64_t)r.rows;
    if (!each && p->count != 1)
        return ODB_KERN_FAIL(k, "position_ids must be one number, or [batch,length]");
    return odb_infer_same(k);
}

/* [batch * rows]: one position each, or the rows count on from the one that is given. */
static enum odb_status rotary_positions(struct odb_kern *k, const struct odb_rotary *r,
                                        size_t *positions)
{
    const struct odb_tensor *p = k->in[ROTARY_POSITIONS];
    int64_t known = k->in[ROTARY_COS]->dims[0];
    bool each = p->rank == 2 && p->dims[0] == (int64_t)r->batch && p->dims[1] == (int64_t)r->rows;
    for (size_t i = 0; i < r->batch * r->rows; i++) {
        int64_t at = odb_tensor_i64(p, each ? i : 0), after = each ? 0 : (int64_t)(i % r->rows);
        if (__builtin_add_overflow(at, after, &at) || at < 0 || at >= known)
            return ODB_KERN_FAIL(k, "position %lld of %lld", (long long)at, (long long)known);
        positions[i] = (size_t)at;
    }
    return ODB_OK;
}

static enum odb_status rotary_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[ROTARY_X];
    struct odb_rotary r = {.dtype = x->dtype,
                           .sequential = k->sequential,
                           .interleaved = odb_kern_int(k, "interleaved", 0) != 0,
                           .x = x->data,
                           .y = k->out[0]->data,
                           .cos = k->in[ROTARY_COS]->data,
                           .sin = k->in[ROTARY_SIN]->data};
    ODB_TRY(rotary_shape(k, &r));
    size_t *positions = odb_work_take(r.batch * r.rows + 1, sizeof *positions);
    if (!positions)
        return odb_kern_no_memory(k);
    enum odb_status status = rotary_positions(k, &r, positions);
    r.positions = positions;
    if (status == ODB_OK && x->count)
        odb_rotary_run(&r);
    odb_work_give(positions);
    return status;
}

/* --- MRotaryEmbedding ------------------------------------------------------------------------- */

enum { ROTARY_AXES = 3 }; /* a token's place in time, height and width */

/* Which of a token's three positions column j of a row of the caches is taken from. */
static size_t rotary_axis_of(const int64_t *section, bool interleaved, size_t j)
{
    if (!interleaved)
        return (int64_t)j < section[0] ? 0 : (int64_t)j < section[0] + section[1] ? 1 : 2;
    size_t axis = j % ROTARY_AXES;
    return axis && (int64_t)j < section[axis] * ROTARY_AXES ? axis : 0;
}

static enum odb_status rotary_m_infer(struct odb_kern *k)
{
    struct odb_rotary r = {0};
    if (odb_kern_int(k, "is_packed_batching", 0))
        return ODB_KERN_UNSUPPORTED(k, "MRotaryEmbedding with is_packed_batching");
    ODB_TRY(rotary_shape(k, &r));
    const struct odb_tensor *p = k->in[ROTARY_POSITIONS];
    int64_t heads = odb_kern_int(k, "num_heads", 0), layout = odb_kern_int(k, "mrope_layout", 0);
    size_t n = 0;
    const int64_t *section = odb_kern_ints(k, "mrope_section", &n);
    if (k->in[ROTARY_X]->rank == 3 ? heads != (int64_t)r.heads : heads && heads != (int64_t)r.heads)
        return ODB_KERN_FAIL(k, "num_heads is %lld, and vectors of %zu make %zu heads",
                             (long long)heads, r.size, r.heads);
    if (p->rank != 3 || p->dims[0] != ROTARY_AXES || p->dims[1] != (int64_t)r.batch ||
        p->dims[2] != (int64_t)r.rows)
        return ODB_KERN_FAIL(k, "position_ids must be (3, batch, length)");
    if (layout != 0 && layout != 1)
        return ODB_KERN_FAIL(k, "mrope_layout must be 0 or 1, not %lld", (long long)layout);
    bool fits = n == ROTARY_AXES && section[0] >= 0 && section[1] >= 0 && section[2] >= 0;
    int64_t sum = 0;
    for (size_t i = 0; fits && i < n; i++)
        fits = !__builtin_add_overflow(sum, section[i], &sum);
    if (!fits || sum != (int64_t)r.turned / 2)
        return ODB_KERN_FAIL(k, "mrope_section must be three numbers that add up to %zu",
                             r.turned / 2);
    return odb_infer_same(k);
}

/* A row of cosines (and of sines) for each token: each column from the row of one of its
 * positions. */
static enum odb_status rotary_m_rows(struct odb_kern *k, const struct odb_rotary *r, void *cos,
                                     void *sin)
{
    const struct odb_tensor *p = k->in[ROTARY_POSITIONS], *from = k->in[ROTARY_COS];
    size_t n = 0, tokens = r->batch * r->rows, half = r->turned / 2;
    const int64_t *section = odb_kern_ints(k, "mrope_section", &n);
    bool interleaved = odb_kern_int(k, "mrope_layout", 0) == 1;
    for (size_t i = 0; i < tokens * half; i++) {
        size_t axis = rotary_axis_of(section, interleaved, i % half);
        int64_t at = odb_tensor_i64(p, axis * tokens + i / half);
        if (at < 0 || at >= from->dims[0])
            return ODB_KERN_FAIL(k, "position %lld of %lld", (long long)at,
                                 (long long)from->dims[0]);
        size_t cell = (size_t)at * half + i % half;
        odb_store_f64(r->dtype, cos, i, odb_tensor_f64(from, cell));
        odb_store_f64(r->dtype, sin, i, odb_tensor_f64(k->in[ROTARY_SIN], cell));
    }
    return ODB_OK;
}

static enum odb_status rotary_m_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[ROTARY_X];
    struct odb_rotary r = {.dtype = x->dtype,
                           .sequential = k->sequential,
                           .interleaved = odb_kern_int(k, "interleaved", 0) != 0,
                           .x = x->data,
                           .y = k->out[0]->data};
    ODB_TRY(rotary_shape(k, &r));
    size_t n = r.batch * r.rows * (r.turned / 2) + 1;
    double *cos = odb_work_take(n, sizeof *cos), *sin = odb_work_take(n, sizeof *sin);
    enum odb_status status = cos && sin ? rotary_m_rows(k, &r, cos, sin) : odb_kern_no_memory(k);
    r.cos = cos;
    r.sin = sin;
    if (status == ODB_OK && x->count)
        odb_rotary_run(&r);
    odb_work_give(cos);
    odb_work_give(sin);
    return status;
}

/* --- GemmaRotaryEmbedding --------------------------------------------------------------------- */

/* Angles [batch,rows,size]; q, q turned by a quarter, k and k turned [batch,heads,rows,size]. */
static enum odb_status rotary_gemma_infer(struct odb_kern *k)
{
    const struct odb_tensor *angles = k->in[0], *q = k->in[1];
    bool fits = angles->rank == 3 && q->rank == 4 && angles->dims[0] == q->dims[0] &&
                angles->dims[1] == q->dims[2] && angles->dims[2] == q->dims[3];
    for (int i = 2; i < 5; i++)
        fits = fits && k->in[i]->dtype == q->dtype &&
               odb_tensor_same_shape(k->in[i], k->in[i < 3 ? 1 : 3]);
    fits = fits && k->in[3]->rank == 4 && k->in[3]->dims[0] == q->dims[0] &&
           k->in[3]->dims[2] == q->dims[2] && k->in[3]->dims[3] == q->dims[3];
    if (!fits)
        return ODB_KERN_FAIL(k, "GemmaRotaryEmbedding needs angles [batch,length,size] and four "
                                "tensors [batch,heads,length,size]");
    for (int i = 0; i < k->n_out; i++)
        ODB_TRY(odb_kern_outline_like(k, i, i ? 3 : 1));
    return ODB_OK;
}

/* y = x cos(angle) + turned sin(angle), the functions rounded to the type of x. */
static enum odb_status rotary_gemma_run(struct odb_kern *k)
{
    const struct odb_tensor *angles = k->in[0];
    for (int o = 0; o < k->n_out; o++) {
        const struct odb_tensor *x = k->in[1 + 2 * o], *turned = k->in[2 + 2 * o];
        struct odb_tensor *y = k->out[o];
        size_t plane = y ? (size_t)(y->dims[2] * y->dims[3]) : 0,
               heads = y ? (size_t)y->dims[1] : 0;
        for (size_t i = 0; y && i < y->count; i++) {
            double angle = odb_tensor_f64(angles, i / (plane * heads) * plane + i % plane);
            odb_store_f64(y->dtype, y->data, i,
                          odb_tensor_f64(x, i) * cos(angle) +
                              odb_tensor_f64(turned, i) * sin(angle));
        }
    }
    return ODB_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec rotary_attrs[] = {
    {"interleaved", ODB_ATTR_INT, "0", false}, {"is_packed_batching", ODB_ATTR_INT, "0", false},
    {"num_heads", ODB_ATTR_INT, "0", false},   {"rotary_embedding_dim", ODB_ATTR_INT, "0", false},
    {"scale", ODB_ATTR_FLOAT, "1.0", false},   {NULL}};

static const struct odb_attr_spec rotary_m_attrs[] = {
    {"interleaved", ODB_ATTR_INT, "0", false},  {"is_packed_batching", ODB_ATTR_INT, "0", false},
    {"mrope_layout", ODB_ATTR_INT, "0", false}, {"mrope_section", ODB_ATTR_INTS, NULL, true},
    {"num_heads", ODB_ATTR_INT, "0", false},    {"rotary_embedding_dim", ODB_ATTR_INT, "0", false},
    {"scale", ODB_ATTR_FLOAT, "1.0", false},    {NULL}};

#define ROTARY_FLOATS (ODB_T_FLOAT & ~ODB_BIT(ODB_F64))

const struct odb_op odb_ops_contrib_rotary[] = {
    ODB_MICROSOFT("RotaryEmbedding", ODB_ARITY(4, 4), ODB_ARITY(1, 1), ODB_OP_REAL, rotary_attrs,
                  rotary_infer, rotary_run, ROTARY_FLOATS, ODB_BIT(ODB_I64), ODB_AS(0),
                  ODB_NAMES("input,position_ids,cos_cache,sin_cache", "output"), ODB_HALVES(1, 1),
                  ODB_WORK(rotary)),
    ODB_MICROSOFT("MRotaryEmbedding", ODB_ARITY(4, 4), ODB_ARITY(1, 1), ODB_OP_REAL, rotary_m_attrs,
                  rotary_m_infer, rotary_m_run, ROTARY_FLOATS, ODB_BIT(ODB_I64), ODB_AS(0),
                  ODB_NAMES("input,position_ids,cos_cache,sin_cache", "output"), ODB_HALVES(1, 1),
                  ODB_WORK(rotary)),
    ODB_MICROSOFT("GemmaRotaryEmbedding", ODB_ARITY(5, 5), ODB_ARITY(1, 2), ODB_OP_REAL, NULL,
                  rotary_gemma_infer, rotary_gemma_run, ROTARY_FLOATS, ROTARY_FLOATS,
                  ODB_NAMES("emb,q,q_rot,k,k_rot", "output1,output2"), ODB_WORK(gemma_rotary)),
    {.name = NULL},
};
