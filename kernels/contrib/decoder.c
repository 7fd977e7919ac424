/* SPDX-License-Identifier: MIT
 *
 * DecoderAttention (com.microsoft 1): queries and keys come as [length][batch][width] and are
 * projected here; four flags, which are inputs, say where keys and values come from:
 *
 *     static_kv      they are of another sequence (the input key), else of the query's own
 *     use_past and has_layer_state
 *                    there is a cache: the keys, where they are static, else those before
 *     has_key_padding_mask
 *                    the mask counts: where it is true a key gets mask_filter_value
 *
 * Products and softmax are those of attention.h.
 */
#include <string.h>

#include "base/mem.h"
#include "kernels/contrib/contrib.h"
#include "kernels/contrib/heads.h"

enum {
    DECODER_QUERY,
    DECODER_KEY,
    DECODER_Q_WEIGHT,
    DECODER_KV_WEIGHT,
    DECODER_BIAS,
    DECODER_MASK,
    DECODER_KEYS,
    DECODER_VALUES,
    DECODER_STATIC,
    DECODER_USE_PAST,
    DECODER_STATE,
    DECODER_HAS_MASK
};

struct decoder {
    struct odb_attention a;
    struct odb_chain c;              /* projections, the mask, caches that are no outputs */
    bool fixed, cached, masked;      /* static_kv; keys or values come from the caches */
    size_t past, added;              /* keys */
    const struct odb_tensor *q, *kv; /* borrowed: c; kv may be NULL */
};

static enum odb_status decoder_flag(struct odb_kern *k, int i, bool *flag)
{
    int64_t v = 0;
    ODB_TRY(odb_heads_number(k, i, &v));
    *flag = v != 0;
    return ODB_OK;
}

static enum odb_status decoder_flags(struct odb_kern *k, struct decoder *d)
{
    bool use, state;
    ODB_TRY(decoder_flag(k, DECODER_STATIC, &d->fixed));
    ODB_TRY(decoder_flag(k, DECODER_USE_PAST, &use));
    ODB_TRY(decoder_flag(k, DECODER_STATE, &state));
    ODB_TRY(decoder_flag(k, DECODER_HAS_MASK, &d->masked));
    d->cached = use && state;
    return ODB_OK;
}

static enum odb_status decoder_check(struct odb_kern *k, int i, int rank, const int64_t *dims)
{
    const struct odb_tensor *t = odb_kern_in(k, i);
    if (!t || t->rank != rank || memcmp(t->dims, dims, (size_t)rank * sizeof *dims) != 0)
        return ODB_KERN_FAIL(k,
                             "input %d of DecoderAttention is missing or has another shape "
                             "than the query wants",
                             i);
    return ODB_OK;
}

static enum odb_status decoder_shape(struct odb_kern *k, struct decoder *d)
{
    const struct odb_tensor *q = k->in[DECODER_QUERY], *key = k->in[DECODER_KEY];
    struct odb_attention *a = &d->a;
    int64_t heads = odb_kern_int(k, "num_heads", 0);
    ODB_TRY(decoder_flags(k, d));
    if (heads < 1 || q->rank != 3 || q->dims[2] % heads)
        return ODB_KERN_FAIL(k, "the query must be [length,batch,width] of %lld heads",
                             (long long)heads);
    int64_t batch = q->dims[1], width = q->dims[2];
    if (key->rank != 3 || key->dims[1] != batch || key->dims[2] != width)
        return ODB_KERN_FAIL(k, "the key does not fit the query");
    ODB_TRY(decoder_check(k, DECODER_Q_WEIGHT, 2, (int64_t[]){width, width}));
    ODB_TRY(decoder_check(k, DECODER_KV_WEIGHT, 2, (int64_t[]){width, 2 * width}));
    ODB_TRY(decoder_check(k, DECODER_BIAS, 1, (int64_t[]){3 * width}));
    a->dtype = q->dtype;
    a->batch = (size_t)batch;
    a->heads = a->kv_heads = (size_t)heads;
    a->queries = (size_t)q->dims[0];
    a->size = a->v_size = (size_t)(width / heads);
    const struct odb_tensor *cache = odb_kern_in(k, DECODER_KEYS);
    if (d->cached && (!cache || cache->rank != 4))
        return ODB_KERN_FAIL(k, "use_past needs key_cache and value_cache");
    d->past = d->cached ? (size_t)cache->dims[2] : 0;
    for (int i = DECODER_KEYS; d->cached && i <= DECODER_VALUES; i++)
        ODB_TRY(decoder_check(k, i, 4, (int64_t[]){batch, heads, (int64_t)d->past, width / heads}));
    d->added = d->cached && d->fixed ? 0 : (size_t)(d->fixed ? key : q)->dims[0];
    a->keys = d->past + d->added;
    if (d->masked)
        ODB_TRY(decoder_check(k, DECODER_MASK, 2, (int64_t[]){batch, (int64_t)a->keys}));
    return ODB_OK;
}

static enum odb_status decoder_infer(struct odb_kern *k)
{
    struct decoder d = {.c = {.k = k}};
    ODB_TRY(decoder_shape(k, &d));
    ODB_TRY(odb_infer_same(k));
    for (int i = 1; i < 3; i++)
        ODB_TRY(odb_kern_outline(k, i, d.a.dtype, 4,
                                 (int64_t[]){(int64_t)d.a.batch, (int64_t)d.a.heads,
                                             (int64_t)d.a.keys, (int64_t)d.a.size}));
    return ODB_OK;
}

/* x W + the bias from element `at` on. */
static const struct odb_tensor *decoder_project(struct odb_chain *c, const struct odb_tensor *x,
                                                int weight, size_t at)
{
    const struct odb_tensor *product = ODB_STEP(c, "MatMul", 13, (x, c->k->in[weight]));
    return odb_heads_add_vector(c, product, c->k->in[DECODER_BIAS], at);
}

/* Vectors of a tensor [rows][batch][width]; the first head begins at column `at`. */
static struct odb_heads decoder_vectors(const struct decoder *d, const struct odb_tensor *t,
                                        size_t at)
{
    size_t width = (size_t)t->dims[2], element = odb_dtype_info(t->dtype)->bits / 8;
    return (struct odb_heads){(char *)t->data + at * element,
                              {.batch = width, .head = d->a.size, .row = d->a.batch * width}};
}

/* The cache with what is added, in output i where that is wanted. */
static enum odb_status decoder_cache(struct odb_kern *k, struct decoder *d, int i,
                                     const void **data)
{
    struct odb_attention *a = &d->a;
    const struct odb_tensor *past = d->cached ? k->in[DECODER_KEYS + i - 1] : NULL;
    struct odb_tensor *to = i < k->n_out ? k->out[i] : NULL;
    int64_t dims[] = {(int64_t)a->batch, (int64_t)a->heads, (int64_t)a->keys, (int64_t)a->size};
    if (!to)
        to = odb_chain_new(&d->c, a->dtype, 4, dims);
    ODB_TRY(d->c.status);
    struct odb_cache c = {.dtype = a->dtype,
                          .type = k->narrow,
                          .batch = a->batch,
                          .heads = a->heads,
                          .rows = a->keys,
                          .size = a->size,
                          .past = past ? past->data : NULL,
                          .past_rows = d->past,
                          .added_rows = d->added};
    if (d->kv)
        c.added = decoder_vectors(d, d->kv, i == 1 ? 0 : a->heads * a->size);
    odb_cache_fill(&c, to->data);
    *data = to->data;
    return ODB_OK;
}

static enum odb_status decoder_mask(struct odb_kern *k, struct decoder *d)
{
    const struct odb_tensor *mask = k->in[DECODER_MASK];
    double filter = odb_kern_float(k, "mask_filter_value", -10000);
    if (!d->masked)
        return ODB_OK;
    struct odb_tensor *plane = odb_chain_new(&d->c, d->a.dtype, 2, mask->dims);
    ODB_TRY(d->c.status);
    for (size_t i = 0; i < mask->count; i++)
        odb_store_f64(d->a.dtype, plane->data, i, odb_tensor_i64(mask, i) ? filter : 0);
    d->a.bias[0] = (struct odb_attention_plane){
        .data = plane->data, .batch = d->a.keys, .col = 1, .cols = d->a.keys};
    return ODB_OK;
}

static enum odb_status decoder_compute(struct odb_kern *k, struct decoder *d)
{
    struct odb_attention *a = &d->a;
    ODB_TRY(decoder_shape(k, d));
    d->q = decoder_project(&d->c, k->in[DECODER_QUERY], DECODER_Q_WEIGHT, 0);
    if (d->added)
        d->kv = decoder_project(&d->c, k->in[d->fixed ? DECODER_KEY : DECODER_QUERY],
                                DECODER_KV_WEIGHT, a->heads * a->size);
    ODB_TRY(d->c.status);
    ODB_TRY(decoder_cache(k, d, 1, &a->k));
    ODB_TRY(decoder_cache(k, d, 2, &a->v));
    ODB_TRY(decoder_mask(k, d));
    if (!k->out[0])
        return ODB_OK;
    a->sequential = k->sequential;
    a->q = d->q->data;
    a->q_steps = decoder_vectors(d, d->q, 0).steps;
    a->k_steps = a->v_steps = odb_heads_split(NULL, a->heads, a->keys, a->size).steps;
    a->y = k->out[0]->data;
    a->y_steps = a->q_steps;
    a->scale = odb_heads_scale(k, a->size);
    a->left = a->right = -1;
    return odb_attention_run(a, k->err);
}

static enum odb_status decoder_run(struct odb_kern *k)
{
    struct decoder d = {.c = {.k = k}};
    enum odb_status status = decoder_compute(k, &d);
    odb_chain_dispose(&d.c);
    return status;
}

static const struct odb_attr_spec decoder_attrs[] = {
    {"mask_filter_value", ODB_ATTR_FLOAT, "-10000.0", false},
    {"num_heads", ODB_ATTR_INT, NULL, true},
    {NULL}};

#define DECODER_T (ODB_T_FLOAT & ~ODB_BIT(ODB_F64))

const struct odb_op odb_ops_contrib_decoder[] = {
    ODB_MICROSOFT("DecoderAttention", ODB_ARITY(5, 12), ODB_ARITY(1, 3),
                  ODB_OP_REAL | ODB_OP_MATMUL, decoder_attrs, decoder_infer, decoder_run, DECODER_T,
                  ODB_AS(0), ODB_AS(0), ODB_AS(0), ODB_AS(0), ODB_T_BOOL, ODB_AS(0), ODB_AS(0),
                  ODB_T_BOOL, ODB_T_BOOL, ODB_T_BOOL, ODB_T_BOOL,
                  ODB_NAMES("query,key,q_weight,kv_weight,bias,key_padding_mask,key_cache,"
                            "value_cache,static_kv,use_past,has_layer_state,has_key_padding_mask",
                            "output,new_key_cache,new_value_cache")),
    {.name = NULL},
};
