/* SPDX-License-Identifier: MIT
 *
 * Attention (ai.onnx 23 to 25): what its operands mean, in the terms of
 * kernels/attention/attention.h. The float types are computed with in the wider of the types of Q
 * and V; products sum as MatMul's, the softmax sums in double.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "kernels/attention/attention.h"
#include "kernels/core/kern.h"
#include "kernels/core/row.h"
#include "kernels/core/stride.h"

enum attend_in {
    ATTEND_Q,
    ATTEND_K,
    ATTEND_V,
    ATTEND_MASK,
    ATTEND_PAST_K,
    ATTEND_PAST_V,
    ATTEND_LENGTHS
};
enum attend_out { ATTEND_Y, ATTEND_PRESENT_K, ATTEND_PRESENT_V, ATTEND_SCORES };

/* Sizes of a call. */
struct attend {
    bool flat; /* heads stand beside each other in the last dimension */
    int64_t batch, heads, kv_heads;
    int64_t queries, fresh, past, keys; /* keys = past + fresh */
    int64_t size, v_size;
};

/* --- shapes ----------------------------------------------------------------------------------- */

/* Reads (batch, heads, positions, size) of an operand in either layout. */
static enum odb_status attend_dims(struct odb_kern *k, int input, const char *attr, int64_t *dims)
{
    const struct odb_tensor *t = k->in[input];
    int64_t heads = odb_kern_int(k, attr, 0);
    bool given = odb_kern_has(k, attr);
    if (t->rank != k->in[ATTEND_Q]->rank || (t->rank != 3 && t->rank != 4))
        return ODB_KERN_FAIL(k, "Q, K and V must all have 3 or all have 4 dimensions");
    if (t->rank == 4) {
        memcpy(dims, t->dims, 4 * sizeof *dims);
        if (given && (k->op->since >= 25 || heads != dims[1]))
            return ODB_KERN_FAIL(k, "%s is %lld, for operands that have a dimension of heads", attr,
                                 (long long)heads);
        return ODB_OK;
    }
    if (heads <= 0 || t->dims[2] % heads)
        return ODB_KERN_FAIL(k, "operands of 3 dimensions need %s; %lld does not divide %lld", attr,
                             (long long)heads, (long long)t->dims[2]);
    int64_t four[4] = {t->dims[0], heads, t->dims[1], t->dims[2] / heads};
    memcpy(dims, four, sizeof four);
    return ODB_OK;
}

static enum odb_status attend_past(struct odb_kern *k, struct attend *s)
{
    const struct odb_tensor *key = odb_kern_in(k, ATTEND_PAST_K);
    const struct odb_tensor *value = odb_kern_in(k, ATTEND_PAST_V);
    if (!key != !value)
        return ODB_KERN_FAIL(k, "past_key and past_value come together");
    if (odb_kern_in(k, ATTEND_LENGTHS) && key)
        return ODB_KERN_FAIL(k, "nonpad_kv_seqlen and past_key exclude each other");
    if (!key)
        return ODB_OK;
    if (key->rank != 4 || value->rank != 4 || key->dims[0] != s->batch ||
        value->dims[0] != s->batch || key->dims[1] != s->kv_heads ||
        value->dims[1] != s->kv_heads || key->dims[2] != value->dims[2] ||
        key->dims[3] != s->size || value->dims[3] != s->v_size) {
        char a[200], b[200];
        return ODB_KERN_FAIL(k, "past of shapes %s and %s does not fit",
                             odb_shape_text(key, a, sizeof a), odb_shape_text(value, b, sizeof b));
    }
    if (key->dtype != k->in[ATTEND_K]->dtype || value->dtype != k->in[ATTEND_V]->dtype)
        return ODB_KERN_FAIL(k, "past_key and past_value have the types of K and V");
    s->past = key->dims[2];
    return ODB_OK;
}

static enum odb_status attend_sizes(struct odb_kern *k, struct attend *s)
{
    int64_t q[4], key[4], value[4];
    *s = (struct attend){.flat = k->in[ATTEND_Q]->rank == 3};
    ODB_TRY(attend_dims(k, ATTEND_Q, "q_num_heads", q));
    ODB_TRY(attend_dims(k, ATTEND_K, "kv_num_heads", key));
    ODB_TRY(attend_dims(k, ATTEND_V, "kv_num_heads", value));
    if (q[0] != key[0] || q[0] != value[0] || key[1] != value[1] || key[2] != value[2] ||
        q[3] != key[3]) {
        char a[200], b[200], c[200];
        return ODB_KERN_FAIL(k, "Q, K and V of shapes %s, %s and %s do not fit",
                             odb_shape_text(k->in[ATTEND_Q], a, sizeof a),
                             odb_shape_text(k->in[ATTEND_K], b, sizeof b),
                             odb_shape_text(k->in[ATTEND_V], c, sizeof c));
    }
    if (q[1] != 0 && (key[1] == 0 || q[1] % key[1]))
        return ODB_KERN_FAIL(k, "%lld heads of queries do not share %lld heads of keys",
                             (long long)q[1], (long long)key[1]);
    if (k->in[ATTEND_Q]->dtype != k->in[ATTEND_K]->dtype)
        return ODB_KERN_FAIL(k, "Q and K have different types");
    s->batch = q[0];
    s->heads = q[1];
    s->kv_heads = key[1];
    s->queries = q[2];
    s->fresh = key[2];
    s->size = q[3];
    s->v_size = value[3];
    ODB_TRY(attend_past(k, s));
    if (__builtin_add_overflow(s->past, s->fresh, &s->keys))
        return ODB_KERN_FAIL(k, "too many keys");
    return ODB_OK;
}

/* The mask broadcasts to (batch, heads, queries, keys); since opset 24 keys may be missing at its
 * end, so that one column is the first key, not all. */
static enum odb_status attend_check_mask(struct odb_kern *k, const struct attend *s)
{
    const struct odb_tensor *t = odb_kern_in(k, ATTEND_MASK);
    int64_t dims[4] = {s->batch, s->heads, s->queries, s->keys};
    bool fits = !t || t->rank <= 4;
    for (int d = 0; t && fits && d < t->rank; d++) {
        int to = d + 4 - t->rank;
        fits = t->dims[d] == dims[to] || (to < 3 && t->dims[d] == 1) ||
               (to == 3 && (k->op->since >= 24 ? t->dims[d] < s->keys : t->dims[d] == 1));
    }
    if (fits)
        return ODB_OK;
    char text[200];
    return ODB_KERN_FAIL(k, "attn_mask of shape %s does not fit (%lld, %lld, %lld, %lld)",
                         odb_shape_text(t, text, sizeof text), (long long)dims[0],
                         (long long)dims[1], (long long)dims[2], (long long)dims[3]);
}

static enum odb_status attend_infer(struct odb_kern *k)
{
    struct attend s;
    const struct odb_tensor *lengths = odb_kern_in(k, ATTEND_LENGTHS);
    ODB_TRY(attend_sizes(k, &s));
    ODB_TRY(attend_check_mask(k, &s));
    if (lengths && (lengths->rank != 1 || lengths->dims[0] != s.batch))
        return ODB_KERN_FAIL(k, "nonpad_kv_seqlen has one element for each of %lld batch entries",
                             (long long)s.batch);
    if (lengths && k->op->since >= 25 && k->n_out > ATTEND_PRESENT_K &&
        (k->wanted[ATTEND_PRESENT_K] ||
         (k->n_out > ATTEND_PRESENT_V && k->wanted[ATTEND_PRESENT_V])))
        return ODB_KERN_FAIL(k, "nonpad_kv_seqlen excludes present_key and present_value");
    enum odb_dtype type = k->in[ATTEND_Q]->dtype;
    int64_t flat[3] = {s.batch, s.queries, s.heads * s.v_size};
    int64_t deep[4] = {s.batch, s.heads, s.queries, s.v_size};
    int64_t key[4] = {s.batch, s.kv_heads, s.keys, s.size};
    int64_t value[4] = {s.batch, s.kv_heads, s.keys, s.v_size};
    int64_t scores[4] = {s.batch, s.heads, s.queries, s.keys};
    ODB_TRY(odb_kern_outline(k, ATTEND_Y, type, s.flat ? 3 : 4, s.flat ? flat : deep));
    if (k->n_out > ATTEND_PRESENT_K)
        ODB_TRY(odb_kern_outline(k, ATTEND_PRESENT_K, type, 4, key));
    if (k->n_out > ATTEND_PRESENT_V)
        ODB_TRY(odb_kern_outline(k, ATTEND_PRESENT_V, k->in[ATTEND_V]->dtype, 4, value));
    if (k->n_out > ATTEND_SCORES)
        ODB_TRY(odb_kern_outline(k, ATTEND_SCORES, type, 4, scores));
    return ODB_OK;
}

/* --- operands --------------------------------------------------------------------------------- */

static struct odb_attention_steps attend_steps(bool flat, int64_t heads, int64_t rows, int64_t size)
{
    size_t h = (size_t)heads, n = (size_t)rows, d = (size_t)size;
    return flat ? (struct odb_attention_steps){n * h * d, d, h * d}
                : (struct odb_attention_steps){h * n * d, n * d, d};
}

/* Copies positions of (batch, heads, positions, size) into a cache, from position `at` on. */
static void attend_copy(struct odb_tensor *cache, int64_t at, const struct odb_tensor *t,
                        const struct odb_attention_steps *steps, int64_t rows)
{
    const int64_t *dims = cache->dims;
    size_t cell = odb_dtype_info(cache->dtype)->bits / 8;
    struct odb_stride s = {
        .rank = 4,
        .dims = {dims[0], dims[1], rows, dims[3]},
        .src = {(int64_t)steps->batch, (int64_t)steps->head, (int64_t)steps->row, 1}};
    odb_stride_dense(4, dims, s.dst);
    if (t->count)
        odb_stride_copy(&s, cell, (char *)cache->data + (size_t)(at * dims[3]) * cell, t->data);
}

/* All keys (values), past and fresh, as a new reference of type dtype, and their steps. Output
 * `present` is filled where it is wanted. */
static enum odb_status attend_cache(struct odb_kern *k, const struct attend *s, int fresh, int past,
                                    int present, enum odb_dtype dtype, struct odb_tensor **out,
                                    struct odb_attention_steps *steps)
{
    const struct odb_tensor *t = k->in[fresh], *old = odb_kern_in(k, past);
    struct odb_tensor *all = present < k->n_out ? odb_tensor_ref(k->out[present]) : NULL;
    int64_t size = fresh == ATTEND_K ? s->size : s->v_size;
    int64_t dims[4] = {s->batch, s->kv_heads, s->keys, size};
    *steps = attend_steps(s->flat, s->kv_heads, s->fresh, size);
    if (!all && !old)
        return odb_tensor_cast(out, t, dtype, k->err);
    if (!all)
        ODB_TRY(odb_tensor_new_raw(&all, t->dtype, 4, dims, k->err));
    attend_copy(all, s->past, t, steps, s->fresh);
    *steps = attend_steps(false, s->kv_heads, s->past, size);
    if (old)
        attend_copy(all, 0, old, steps, s->past);
    *steps = attend_steps(false, s->kv_heads, s->keys, size);
    enum odb_status status = odb_tensor_cast(out, all, dtype, k->err);
    odb_tensor_unref(all);
    return status;
}

/* attn_mask as bytes or, cast to dtype, as a bias; *held is the tensor that it points into. */
static enum odb_status attend_mask(struct odb_kern *k, const struct attend *s,
                                   struct odb_attention *a, struct odb_tensor **held)
{
    static const double nothing = 0; /* a mask of no keys has no data, but closes them all */
    const struct odb_tensor *t = odb_kern_in(k, ATTEND_MASK);
    if (!t)
        return ODB_OK;
    bool choice = t->dtype == ODB_BOOL;
    ODB_TRY(odb_tensor_cast(held, t, choice ? ODB_BOOL : a->dtype, k->err));
    size_t step[4] = {0}, size = 1, cols = (size_t)s->keys;
    for (int d = t->rank - 1; d >= 0; d--) {
        int to = d + 4 - t->rank;
        if (t->dims[d] != 1)
            step[to] = size;
        size *= (size_t)t->dims[d];
        if (to == 3 && k->op->since >= 24)
            cols = (size_t)t->dims[d];
    }
    *(choice ? &a->mask : &a->bias[0]) =
        (struct odb_attention_plane){.data = (*held)->count ? (*held)->data : &nothing,
                                     .batch = step[0],
                                     .head = step[1],
                                     .row = step[2],
                                     .col = step[3],
                                     .cols = cols};
    return ODB_OK;
}

/* Where each batch entry's queries stand, and how many of its keys count. places: [2 * batch]. */
static enum odb_status attend_places(struct odb_kern *k, const struct attend *s,
                                     struct odb_attention *a, int64_t *places)
{
    const struct odb_tensor *lengths = odb_kern_in(k, ATTEND_LENGTHS);
    for (int64_t b = 0; b < s->batch; b++) {
        int64_t n = lengths ? odb_tensor_i64(lengths, (size_t)b) : 0;
        if (n < 0 || n > s->keys)
            return ODB_KERN_FAIL(k, "nonpad_kv_seqlen has %lld where there are %lld keys",
                                 (long long)n, (long long)s->keys);
        places[b] = lengths ? n - s->queries : s->past;
        places[s->batch + b] = n;
    }
    a->offset = places;
    if (lengths)
        a->length = places + s->batch;
    a->left = a->right = -1;
    if (k->op->since >= 25) {
        a->left = odb_kern_int(k, "left_window_size", -1);
        a->right = odb_kern_int(k, "right_window_size", -1);
    }
    if (a->left < -1 || a->right < -1)
        return ODB_KERN_FAIL(k, "windows of %lld and %lld keys", (long long)a->left,
                             (long long)a->right);
    if (odb_kern_int(k, "is_causal", 0))
        a->right = 0;
    return ODB_OK;
}

static enum odb_status attend_options(struct odb_kern *k, const struct attend *s,
                                      struct odb_attention *a)
{
    a->scale = odb_kern_float(k, "scale", 1 / sqrt((double)ODB_MAX(s->size, 1)));
    a->cap = odb_kern_float(k, "softcap", 0);
    if (!(a->cap >= 0))
        return ODB_KERN_FAIL(k, "softcap is %g", a->cap);
    int64_t mode = odb_kern_int(k, "qk_matmul_output_mode", 0);
    if (mode < 0 || mode > 3)
        return ODB_KERN_FAIL(k, "unknown qk_matmul_output_mode %lld", (long long)mode);
    a->stage = (enum odb_attention_stage)mode;
    if (!odb_kern_has(k, "softmax_precision"))
        return ODB_OK;
    int64_t type = odb_kern_int(k, "softmax_precision", 0);
    if (type != ODB_F32 && type != ODB_F16 && type != ODB_F64 && type != ODB_BF16)
        return ODB_KERN_FAIL(k, "softmax_precision %lld is no float type", (long long)type);
    if (!k->carry_f64)
        a->softmax_type = (enum odb_dtype)type;
    return ODB_OK;
}

/* --- the operator ----------------------------------------------------------------------------- */

/* Output i to be written in dtype: a new reference. Where its own type is another, or it is not
 * wanted but needed, a tensor that attend_finish() converts. */
static enum odb_status attend_result(struct odb_kern *k, int i, enum odb_dtype dtype,
                                     struct odb_tensor **out)
{
    const struct odb_tensor *t = i < k->n_out ? k->out[i] : NULL;
    const struct odb_outline *line = i < k->n_out ? &k->outline[i] : NULL;
    if (t && t->dtype == dtype)
        *out = odb_tensor_ref(t);
    else if (t || i == ATTEND_Y)
        return odb_tensor_new_raw(out, dtype, line->rank, line->dims, k->err);
    return ODB_OK;
}

static void attend_finish(struct odb_kern *k, int i, const struct odb_tensor *t)
{
    struct odb_tensor *out = i < k->n_out ? k->out[i] : NULL;
    if (out && out != t)
        odb_convert(out->dtype, out->data, t->dtype, t->data, t->count);
}

enum {
    ATTEND_KEEP_Q,
    ATTEND_KEEP_K,
    ATTEND_KEEP_V,
    ATTEND_KEEP_MASK,
    ATTEND_KEEP_Y,
    ATTEND_KEEP_SCORES,
    ATTEND_KEPT
};

static enum odb_status attend_run(struct odb_kern *k)
{
    struct attend s;
    struct odb_tensor *kept[ATTEND_KEPT] = {NULL};
    ODB_TRY(attend_sizes(k, &s));
    bool wide = k->in[ATTEND_Q]->dtype == ODB_F64 || k->in[ATTEND_V]->dtype == ODB_F64;
    struct odb_attention a = {.dtype = wide ? ODB_F64 : ODB_F32,
                              .sequential = k->sequential,
                              .batch = (size_t)s.batch,
                              .heads = (size_t)s.heads,
                              .kv_heads = (size_t)s.kv_heads,
                              .queries = (size_t)s.queries,
                              .keys = (size_t)s.keys,
                              .size = (size_t)s.size,
                              .v_size = (size_t)s.v_size,
                              .q_steps = attend_steps(s.flat, s.heads, s.queries, s.size),
                              .y_steps = attend_steps(s.flat, s.heads, s.queries, s.v_size)};
    int64_t *places = odb_work_take(2 * (size_t)s.batch, sizeof *places);
    enum odb_status status;
    if (!places)
        return odb_kern_no_memory(k);
    ODB_TRY_OUT(attend_places(k, &s, &a, places));
    ODB_TRY_OUT(attend_options(k, &s, &a));
    ODB_TRY_OUT(odb_tensor_cast(&kept[ATTEND_KEEP_Q], k->in[ATTEND_Q], a.dtype, k->err));
    ODB_TRY_OUT(attend_cache(k, &s, ATTEND_K, ATTEND_PAST_K, ATTEND_PRESENT_K, a.dtype,
                             &kept[ATTEND_KEEP_K], &a.k_steps));
    ODB_TRY_OUT(attend_cache(k, &s, ATTEND_V, ATTEND_PAST_V, ATTEND_PRESENT_V, a.dtype,
                             &kept[ATTEND_KEEP_V], &a.v_steps));
    ODB_TRY_OUT(attend_mask(k, &s, &a, &kept[ATTEND_KEEP_MASK]));
    ODB_TRY_OUT(attend_result(k, ATTEND_Y, a.dtype, &kept[ATTEND_KEEP_Y]));
    ODB_TRY_OUT(attend_result(k, ATTEND_SCORES, a.dtype, &kept[ATTEND_KEEP_SCORES]));
    a.q = kept[ATTEND_KEEP_Q]->data;
    a.k = kept[ATTEND_KEEP_K]->data;
    a.v = kept[ATTEND_KEEP_V]->data;
    a.y = kept[ATTEND_KEEP_Y]->data;
    a.scores = kept[ATTEND_KEEP_SCORES] ? kept[ATTEND_KEEP_SCORES]->data : NULL;
    ODB_TRY_OUT(odb_attention_run(&a, k->err));
    attend_finish(k, ATTEND_Y, kept[ATTEND_KEEP_Y]);
    attend_finish(k, ATTEND_SCORES, kept[ATTEND_KEEP_SCORES]);
out:
    for (int i = 0; i < ATTEND_KEPT; i++)
        odb_tensor_unref(kept[i]);
    odb_work_give(places);
    return status;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec attend_attrs_23[] = {
    {"is_causal", ODB_ATTR_INT, "0", false},
    {"kv_num_heads", ODB_ATTR_INT, NULL, false},
    {"q_num_heads", ODB_ATTR_INT, NULL, false},
    {"qk_matmul_output_mode", ODB_ATTR_INT, "0", false},
    {"scale", ODB_ATTR_FLOAT, NULL, false},
    {"softcap", ODB_ATTR_FLOAT, "0", false},
    {"softmax_precision", ODB_ATTR_INT, NULL, false},
    {NULL}};

static const struct odb_attr_spec attend_attrs_25[] = {
    {"is_causal", ODB_ATTR_INT, "0", false},
    {"kv_num_heads", ODB_ATTR_INT, NULL, false},
    {"left_window_size", ODB_ATTR_INT, "-1", false},
    {"q_num_heads", ODB_ATTR_INT, NULL, false},
    {"qk_matmul_output_mode", ODB_ATTR_INT, "0", false},
    {"right_window_size", ODB_ATTR_INT, "-1", false},
    {"scale", ODB_ATTR_FLOAT, NULL, false},
    {"softcap", ODB_ATTR_FLOAT, "0", false},
    {"softmax_precision", ODB_ATTR_INT, NULL, false},
    {NULL}};

#define ATTEND_TYPES                                                                               \
    ODB_T_FLOAT, ODB_AS(0), ODB_T_FLOAT, ODB_T_NUMBER | ODB_T_BOOL, ODB_AS(0), ODB_AS(2),          \
        ODB_BIT(ODB_I64)
#define ATTEND_ROW(since, most, attrs, ...)                                                        \
    ODB_ONNX("Attention", since, ODB_ARITY(3, most), ODB_ARITY(1, 4), ODB_OP_REAL | ODB_OP_MATMUL, \
             attrs, attend_infer, attend_run, ATTEND_TYPES, __VA_ARGS__)

const struct odb_op odb_ops_attention[] = {
    ATTEND_ROW(23, 6, attend_attrs_23,
               ODB_NAMES("Q,K,V,attn_mask,past_key,past_value",
                         "Y,present_key,present_value,qk_matmul_output"),
               ODB_HALVES(23, 23), ODB_WORK(attention),
               ODB_FUSES(" Reshape MatMul ", ODB_WORDS_ATTENTION)),
    ATTEND_ROW(24, 7, attend_attrs_23,
               ODB_NAMES("Q,K,V,attn_mask,past_key,past_value,nonpad_kv_seqlen",
                         "Y,present_key,present_value,qk_matmul_output")),
    ATTEND_ROW(25, 7, attend_attrs_25),
    {.name = NULL},
};
