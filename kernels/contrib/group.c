/* SPDX-License-Identifier: MIT
 *
 * Attention whose heads share keys and values, over caches (com.microsoft 1):
 * GroupQueryAttention and SparseAttention. Products and softmax are those of attention.h.
 *
 * Caches are [batch][heads][rows][size]; each batch entry has filled as many rows as it has keys.
 * Queries that are padding (a prompt shorter than the others) attend to what keys there are.
 */
#include <stdlib.h>
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "kernels/contrib/contrib.h"
#include "kernels/contrib/heads.h"
#include "kernels/attention/rotary.h"

/* Where an operator has which input; -1: it has none. */
struct group_inputs {
    int total, lengths, cos, sin, positions, bias, sink;
    int lengths_less; /* what is missing from a length to the number of keys */
};
static const struct group_inputs group_query = {6, 5, 7, 8, 9, 10, 11, 1};
static const struct group_inputs group_sparse = {7, 8, 9, 10, -1, -1, -1, 0};
enum { GROUP_PAST = 3, GROUP_ROWS = 5, GROUP_COLUMNS = 6 };

struct group {
    const struct group_inputs *at;
    struct odb_attention a;
    size_t total, past_rows, rows; /* keys at most; rows of the caches that come in and out */
    size_t turned;                 /* of a vector by rotary embedding; 0: none */
    int64_t *past, *keys;          /* owned; [batch] */
    double *sink;                  /* owned; [heads]; may be NULL */
    struct odb_chain c;            /* turned vectors, the mask, caches that are no outputs */
};

static void group_dispose(struct group *g)
{
    odb_work_give(g->past);
    odb_work_give(g->keys);
    odb_work_give(g->sink);
    odb_chain_dispose(&g->c);
}

/* NULL also where the operator has no such input. */
static const struct odb_tensor *group_in(const struct odb_kern *k, int i)
{
    return i < 0 ? NULL : odb_kern_in(k, i);
}

static bool group_is_sparse(const struct odb_kern *k)
{
    return strcmp(k->op->name, "SparseAttention") == 0;
}

/* --- shapes ----------------------------------------------------------------------------------- */

/* Q, K and V: apart, or side by side in the query. */
static enum odb_status group_heads_shape(struct odb_kern *k, struct group *g)
{
    const struct odb_tensor *q = k->in[0], *key = odb_kern_in(k, 1);
    const struct odb_tensor *value = odb_kern_in(k, 2);
    struct odb_attention *a = &g->a;
    int64_t heads = odb_kern_int(k, "num_heads", 0), shared = odb_kern_int(k, "kv_num_heads", 0);
    if (heads < 1 || shared < 1 || heads % shared || heads > INT32_MAX)
        return ODB_KERN_FAIL(k, "%lld heads cannot share %lld", (long long)heads,
                             (long long)shared);
    int64_t parts = key ? heads : heads + 2 * shared;
    if (q->rank != 3 || q->dims[2] % parts || !key != !value)
        return ODB_KERN_FAIL(k, "query, key and value do not have %lld and %lld heads",
                             (long long)heads, (long long)shared);
    int64_t size = q->dims[2] / parts;
    bool fits =
        !key || (key->rank == 3 && key->dims[0] == q->dims[0] && key->dims[1] == q->dims[1] &&
                 key->dims[2] == shared * size && odb_tensor_same_shape(key, value));
    if (!fits)
        return ODB_KERN_FAIL(k, "key and value must be [%lld,%lld,%lld]", (long long)q->dims[0],
                             (long long)q->dims[1], (long long)(shared * size));
    a->dtype = q->dtype;
    a->batch = (size_t)q->dims[0];
    a->queries = (size_t)q->dims[1];
    a->heads = (size_t)heads;
    a->kv_heads = (size_t)shared;
    a->size = a->v_size = (size_t)size;
    return ODB_OK;
}

static enum odb_status group_cache_shape(struct odb_kern *k, struct group *g)
{
    const struct odb_tensor *past = odb_kern_in(k, GROUP_PAST), *v = odb_kern_in(k, GROUP_PAST + 1);
    const struct odb_attention *a = &g->a;
    char text[200];
    bool fits =
        !past || (past->rank == 4 && past->dims[0] == (int64_t)a->batch &&
                  past->dims[1] == (int64_t)a->kv_heads && past->dims[3] == (int64_t)a->size);
    if (!past != !v || !fits || (past && !odb_tensor_same_shape(past, v)))
        return ODB_KERN_FAIL(k, "past_key and past_value must both be [%zu,%zu,rows,%zu]%s%s",
                             a->batch, a->kv_heads, a->size, past ? ", not " : "",
                             past ? odb_shape_text(past, text, sizeof text) : "");
    int64_t total = 0;
    if (!odb_kern_in(k, g->at->total) || !odb_kern_in(k, g->at->lengths))
        return ODB_KERN_FAIL(k, "the lengths of the keys are missing");
    ODB_TRY(odb_heads_number(k, g->at->total, &total));
    if (total < 0)
        return ODB_KERN_FAIL(k, "total_sequence_length is %lld", (long long)total);
    g->total = (size_t)total;
    g->past_rows = past ? (size_t)past->dims[2] : 0;
    g->rows = ODB_MAX(g->total, g->past_rows);
    g->a.keys = g->rows;
    return ODB_OK;
}

static enum odb_status group_rotary_shape(struct odb_kern *k, struct group *g)
{
    const struct odb_tensor *cos = odb_kern_in(k, g->at->cos), *sin = odb_kern_in(k, g->at->sin);
    if (!odb_kern_int(k, "do_rotary", 0))
        return ODB_OK;
    if (!cos || !sin || cos->rank != 2 || !odb_tensor_same_shape(cos, sin) ||
        (size_t)cos->dims[1] * 2 > g->a.size || cos->dims[1] == 0)
        return ODB_KERN_FAIL(k, "do_rotary needs cos_cache and sin_cache for vectors of %zu",
                             g->a.size);
    g->turned = (size_t)cos->dims[1] * 2;
    return ODB_OK;
}

/* Attributes and inputs that change what is computed, and are not known here. */
static enum odb_status group_refuse(struct odb_kern *k)
{
    for (int i = 12; i < k->n_in; i++)
        if (k->in[i])
            return ODB_KERN_UNSUPPORTED(k,
                                        "GroupQueryAttention with a quantised cache or "
                                        "normalised heads (input %d)",
                                        i);
    if (odb_kern_int(k, "sliding_window_cache", 0) || !odb_kern_int(k, "causal", 1))
        return ODB_KERN_UNSUPPORTED(k, "GroupQueryAttention with sliding_window_cache or "
                                       "without causal order");
    if (odb_kern_int(k, "qk_output", 0) || (k->n_out > 3 && k->wanted[3]))
        return ODB_KERN_UNSUPPORTED(k, "GroupQueryAttention with its scores as output");
    return ODB_OK;
}

static enum odb_status group_shape(struct odb_kern *k, struct group *g)
{
    g->at = group_is_sparse(k) ? &group_sparse : &group_query;
    ODB_TRY(group_refuse(k));
    ODB_TRY(group_heads_shape(k, g));
    ODB_TRY(group_cache_shape(k, g));
    return group_rotary_shape(k, g);
}

static enum odb_status group_infer(struct odb_kern *k)
{
    struct group g = {.c = {.k = k}};
    ODB_TRY(group_shape(k, &g));
    const struct odb_attention *a = &g.a;
    int64_t batch = (int64_t)a->batch, size = (int64_t)a->size;
    ODB_TRY(odb_kern_outline(k, 0, a->dtype, 3,
                             (int64_t[]){batch, (int64_t)a->queries, (int64_t)a->heads * size}));
    for (int i = 1; i < 3; i++)
        ODB_TRY(odb_kern_outline(k, i, a->dtype, 4,
                                 (int64_t[]){batch, (int64_t)a->kv_heads, (int64_t)g.rows, size}));
    return ODB_OK;
}

/* --- positions -------------------------------------------------------------------------------- */

/* How many keys each batch entry has, and had before. A call as long as everything is a prompt;
 * its shorter entries are padded on the right. */
static enum odb_status group_lengths(struct odb_kern *k, struct group *g)
{
    const struct odb_tensor *lengths = k->in[g->at->lengths];
    const struct odb_attention *a = &g->a;
    bool prompt = a->queries == g->total;
    if (lengths->count != a->batch)
        return ODB_KERN_FAIL(k, "%zu lengths for a batch of %zu", lengths->count, a->batch);
    g->past = odb_work_take(a->batch + 1, sizeof *g->past);
    g->keys = odb_work_take(a->batch + 1, sizeof *g->keys);
    if (!g->past || !g->keys)
        return odb_kern_no_memory(k);
    for (size_t b = 0; b < a->batch; b++) {
        g->keys[b] = odb_tensor_i64(lengths, b) + g->at->lengths_less;
        g->past[b] = prompt ? 0 : g->keys[b] - (int64_t)a->queries;
        if (g->keys[b] < 0 || g->keys[b] > (int64_t)g->rows || g->past[b] < 0 ||
            g->past[b] > (int64_t)g->past_rows ||
            g->past[b] + (int64_t)a->queries > (int64_t)g->rows)
            return ODB_KERN_FAIL(k, "%lld keys after %zu queries, in a cache of %zu",
                                 (long long)g->keys[b], a->queries, g->rows);
    }
    return ODB_OK;
}

/* Rows of the caches of cos and sin, [batch * queries]. Of the positions that are given for a
 * prompt only the first counts. */
static enum odb_status group_positions(struct odb_kern *k, const struct group *g, size_t *rows)
{
    const struct odb_tensor *given = group_in(k, g->at->positions);
    int64_t known = k->in[g->at->cos]->dims[0];
    size_t queries = g->a.queries;
    if (given && given->count != g->a.batch * queries)
        return ODB_KERN_FAIL(k, "%zu positions for %zu times %zu queries", given->count, g->a.batch,
                             queries);
    bool prompt = queries == g->total;
    for (size_t i = 0; i < g->a.batch * queries; i++) {
        int64_t after = given && !prompt ? 0 : (int64_t)(i % queries);
        int64_t at = given ? odb_tensor_i64(given, prompt ? 0 : i) : g->past[i / queries];
        if (__builtin_add_overflow(at, after, &at) || at < 0 || at >= known)
            return ODB_KERN_FAIL(k, "position %lld of %lld", (long long)at, (long long)known);
        rows[i] = (size_t)at;
    }
    return ODB_OK;
}

/* Turns heads vectors of every query; *vectors then lie in a tensor of the chain. */
static enum odb_status group_turn(struct odb_kern *k, struct group *g, const size_t *rows,
                                  size_t heads, struct odb_heads *vectors)
{
    const struct odb_attention *a = &g->a;
    int64_t dims[] = {(int64_t)a->batch, (int64_t)a->queries, (int64_t)(heads * a->size)};
    struct odb_tensor *own = odb_chain_new(&g->c, a->dtype, 3, dims);
    ODB_TRY(g->c.status);
    struct odb_heads turned = odb_heads_flat(own, 0, a->queries, heads * a->size, a->size);
    struct odb_rotary r = {.dtype = a->dtype,
                           .sequential = k->sequential,
                           .interleaved = odb_kern_int(k, "rotary_interleaved", 0) != 0,
                           .batch = a->batch,
                           .heads = heads,
                           .rows = a->queries,
                           .size = a->size,
                           .turned = g->turned,
                           .x = vectors->data,
                           .x_steps = vectors->steps,
                           .y = own->data,
                           .y_steps = turned.steps,
                           .cos = k->in[g->at->cos]->data,
                           .sin = k->in[g->at->sin]->data,
                           .positions = rows};
    odb_rotary_run(&r);
    *vectors = turned;
    return ODB_OK;
}

/* --- sparse blocks ---------------------------------------------------------------------------- */

/* Layouts of blocks as compressed rows: head h has layout h % layouts. */
static enum odb_status group_layout(struct odb_kern *k, size_t block, size_t *layouts,
                                    size_t *blocks)
{
    const struct odb_tensor *rows = k->in[GROUP_ROWS], *columns = k->in[GROUP_COLUMNS];
    if (!rows || !columns || rows->rank != 2 || columns->rank != 2 ||
        rows->dims[0] != columns->dims[0] || rows->dims[0] < 1 || rows->dims[1] < 2 || block < 1)
        return ODB_KERN_FAIL(k, "block_row_indices and block_col_indices are not [layouts,..]");
    *layouts = (size_t)rows->dims[0];
    *blocks = (size_t)rows->dims[1] - 1;
    for (size_t l = 0; l < *layouts; l++) {
        int64_t before = 0;
        for (size_t r = 0; r <= *blocks; r++) {
            int64_t at = odb_tensor_i64(rows, l * (*blocks + 1) + r);
            if (at < before || at > columns->dims[1] || (r == 0 && at != 0))
                return ODB_KERN_FAIL(k, "block_row_indices are not ascending");
            before = at;
        }
    }
    return ODB_OK;
}

/* A mask [batch][heads][queries][keys]: what a query's row of blocks leaves open. */
static enum odb_status group_mask(struct odb_kern *k, struct group *g)
{
    struct odb_attention *a = &g->a;
    size_t block = (size_t)ODB_MAX(odb_kern_int(k, "sparse_block_size", 0), 0);
    const struct odb_tensor *rows = k->in[GROUP_ROWS], *columns = k->in[GROUP_COLUMNS];
    size_t layouts = 0, blocks = 0;
    ODB_TRY(group_layout(k, block, &layouts, &blocks));
    if (a->heads % layouts)
        return ODB_KERN_FAIL(k, "%zu heads cannot take %zu layouts in turn", a->heads, layouts);
    int64_t dims[] = {(int64_t)a->batch, (int64_t)a->heads, (int64_t)a->queries, (int64_t)a->keys};
    struct odb_tensor *mask = NULL;
    ODB_TRY(odb_tensor_new(&mask, ODB_U8, 4, dims, k->err));
    odb_chain_take(&g->c, mask);
    for (size_t i = 0; i < a->batch * a->heads * a->queries; i++) {
        size_t q = i % a->queries, layout = i / a->queries % a->heads % layouts;
        size_t row = ((size_t)g->past[i / a->queries / a->heads] + q) / block;
        if (row >= blocks)
            return ODB_KERN_FAIL(k, "the layout ends before block %zu", row);
        unsigned char *open = (unsigned char *)mask->data + i * a->keys;
        size_t to = (size_t)odb_tensor_i64(rows, layout * (blocks + 1) + row + 1);
        for (size_t c = (size_t)odb_tensor_i64(rows, layout * (blocks + 1) + row); c < to; c++) {
            int64_t column = odb_tensor_i64(columns, layout * (size_t)columns->dims[1] + c);
            size_t from = (size_t)ODB_MAX(column, 0) * block;
            if (column >= 0 && from < a->keys)
                memset(open + from, 1, ODB_MIN(block, a->keys - from));
        }
    }
    size_t area = a->queries * a->keys;
    a->mask = (struct odb_attention_plane){.data = mask->data,
                                           .batch = a->heads * area,
                                           .head = area,
                                           .row = a->keys,
                                           .col = 1,
                                           .cols = a->keys};
    return ODB_OK;
}

/* --- running ---------------------------------------------------------------------------------- */

/* One more key for every head, whose value is zero. */
static enum odb_status group_sink(struct odb_kern *k, struct group *g)
{
    const struct odb_tensor *given = group_in(k, g->at->sink);
    if (!given && odb_kern_int(k, "smooth_softmax", -1) != 1)
        return ODB_OK;
    if (given && given->count != g->a.heads)
        return ODB_KERN_FAIL(k, "head_sink has %zu numbers for %zu heads", given->count,
                             g->a.heads);
    g->sink = odb_work_take(g->a.heads, sizeof *g->sink);
    if (!g->sink)
        return odb_kern_no_memory(k);
    for (size_t h = 0; given && h < g->a.heads; h++)
        g->sink[h] = odb_tensor_f64(given, h);
    g->a.sink = g->sink;
    return ODB_OK;
}

/* Appends to a cache, in output i where that is wanted, else in a tensor of the chain; *data is
 * where. What lies behind the last key is zero, but SparseAttention keeps it: it is meant to write
 * in place. */
static enum odb_status group_append(struct odb_kern *k, struct group *g, int i,
                                    const struct odb_heads *added, const void **data)
{
    const struct odb_attention *a = &g->a;
    const struct odb_tensor *past = odb_kern_in(k, GROUP_PAST + i - 1);
    struct odb_cache c = {.dtype = a->dtype,
                          .type = k->narrow,
                          .batch = a->batch,
                          .heads = a->kv_heads,
                          .rows = g->rows,
                          .size = a->size,
                          .past = past ? past->data : NULL,
                          .past_rows = g->past_rows,
                          .kept = group_is_sparse(k) ? NULL : g->past,
                          .at = g->past,
                          .added = *added,
                          .added_rows = a->queries};
    int64_t dims[] = {(int64_t)a->batch, (int64_t)a->kv_heads, (int64_t)g->rows, (int64_t)a->size};
    struct odb_tensor *to = i < k->n_out ? k->out[i] : NULL;
    if (!to)
        to = odb_chain_new(&g->c, a->dtype, 4, dims);
    ODB_TRY(g->c.status);
    odb_cache_fill(&c, to->data);
    *data = to->data;
    return ODB_OK;
}

static enum odb_status group_keys(struct odb_kern *k, struct group *g)
{
    struct odb_attention *a = &g->a;
    const struct odb_tensor *q = k->in[0], *key = odb_kern_in(k, 1);
    const struct odb_tensor *value = odb_kern_in(k, 2);
    size_t width = a->heads * a->size, kv_width = a->kv_heads * a->size;
    size_t all = key ? width : width + 2 * kv_width;
    struct odb_heads qs = odb_heads_flat(q, 0, a->queries, all, a->size), ks, vs;
    ks = key ? odb_heads_flat(key, 0, a->queries, kv_width, a->size)
             : odb_heads_flat(q, width, a->queries, all, a->size);
    vs = key ? odb_heads_flat(value, 0, a->queries, kv_width, a->size)
             : odb_heads_flat(q, width + kv_width, a->queries, all, a->size);
    if (g->turned) {
        size_t *rows = odb_work_take(a->batch * a->queries + 1, sizeof *rows);
        if (!rows)
            return odb_kern_no_memory(k);
        enum odb_status status = group_positions(k, g, rows);
        if (status == ODB_OK)
            status = group_turn(k, g, rows, a->heads, &qs);
        if (status == ODB_OK)
            status = group_turn(k, g, rows, a->kv_heads, &ks);
        odb_work_give(rows);
        ODB_TRY(status);
    }
    a->q = qs.data;
    a->q_steps = qs.steps;
    a->k_steps = a->v_steps = odb_heads_split(NULL, a->kv_heads, g->rows, a->size).steps;
    ODB_TRY(group_append(k, g, 1, &ks, &a->k));
    return group_append(k, g, 2, &vs, &a->v);
}

static enum odb_status group_compute(struct odb_kern *k, struct group *g)
{
    struct odb_attention *a = &g->a;
    ODB_TRY(odb_heads_left(k, &a->left));
    ODB_TRY(group_shape(k, g));
    ODB_TRY(group_lengths(k, g));
    ODB_TRY(group_keys(k, g));
    if (group_is_sparse(k))
        ODB_TRY(group_mask(k, g));
    else
        ODB_TRY(odb_heads_bias(k, g->at->bias, a, g->total, &a->bias[0]));
    ODB_TRY(group_sink(k, g));
    a->sequential = k->sequential;
    a->scale = odb_heads_scale(k, a->size);
    a->cap = odb_kern_float(k, "softcap", 0);
    a->offset = g->past;
    a->length = g->keys;
    a->right = 0;
    if (!k->out[0])
        return ODB_OK;
    a->y = k->out[0]->data;
    a->y_steps = odb_heads_flat(k->out[0], 0, a->queries, a->heads * a->size, a->size).steps;
    return odb_attention_run(a, k->err);
}

static enum odb_status group_run(struct odb_kern *k)
{
    struct group g = {.c = {.k = k}};
    enum odb_status status = group_compute(k, &g);
    group_dispose(&g);
    return status;
}

/* --- the table -------------------------------------------------------------------------------- */

#define GROUP_COMMON                                                                               \
    ODB_OPTIONAL_ATTR("do_rotary", INT, "0"), ODB_REQUIRED_ATTR("kv_num_heads", INT),              \
        ODB_REQUIRED_ATTR("num_heads", INT), ODB_OPTIONAL_ATTR("rotary_interleaved", INT, "0"),    \
        ODB_OPTIONAL_ATTR("scale", FLOAT, NULL)
static const struct odb_attr_spec group_query_attrs[] = {
    GROUP_COMMON,
    {"causal", ODB_ATTR_INT, "1", false},
    {"k_quant_type", ODB_ATTR_STRING, "NONE", false},
    {"kv_cache_bit_width", ODB_ATTR_INT, NULL, false},
    {"local_window_size", ODB_ATTR_INT, "-1", false},
    {"qk_norm_epsilon", ODB_ATTR_FLOAT, "1e-06", false},
    {"qk_output", ODB_ATTR_INT, "0", false},
    {"sliding_window_cache", ODB_ATTR_INT, "0", false},
    {"smooth_softmax", ODB_ATTR_INT, "-1", false},
    {"softcap", ODB_ATTR_FLOAT, "0.0", false},
    {"v_quant_type", ODB_ATTR_STRING, "NONE", false},
    {NULL}};
static const struct odb_attr_spec group_sparse_attrs[] = {
    GROUP_COMMON, {"sparse_block_size", ODB_ATTR_INT, NULL, true}, {NULL}};

#define GROUP_REAL (ODB_OP_REAL | ODB_OP_MATMUL)
#define GROUP_T (ODB_T_FLOAT & ~ODB_BIT(ODB_F64))
#define GROUP_M ODB_BIT(ODB_I32)

const struct odb_op odb_ops_contrib_group[] = {
    ODB_MICROSOFT("GroupQueryAttention", ODB_ARITY(1, 16), ODB_ARITY(1, 4), GROUP_REAL,
                  group_query_attrs, group_infer, group_run, GROUP_T, ODB_AS(0), ODB_AS(0),
                  ODB_AS(0), ODB_AS(0), GROUP_M, GROUP_M, ODB_AS(0), ODB_AS(0), ODB_BIT(ODB_I64),
                  ODB_AS(0), ODB_AS(0),
                  ODB_NAMES("query,key,value,past_key,past_value,seqlens_k,total_sequence_length,"
                            "cos_cache,sin_cache,position_ids,attention_bias,head_sink,k_scale,"
                            "v_scale,q_norm_weight,k_norm_weight",
                            "output,present_key,present_value,output_qk"),
                  ODB_HALVES(1, 1), ODB_WORK(attention_grouped),
                  ODB_FUSES(" Reshape MatMul ", ODB_WORDS_ATTENTION)),
    ODB_MICROSOFT("SparseAttention", ODB_ARITY(1, 11), ODB_ARITY(1, 3), GROUP_REAL,
                  group_sparse_attrs, group_infer, group_run, GROUP_T, ODB_AS(0), ODB_AS(0),
                  ODB_AS(0), ODB_AS(0), GROUP_M, GROUP_M, GROUP_M, GROUP_M, ODB_AS(0), ODB_AS(0),
                  ODB_NAMES("query,key,value,past_key,past_value,block_row_indices,"
                            "block_col_indices,total_sequence_length,key_total_sequence_lengths,"
                            "cos_cache,sin_cache",
                            "output,present_key,present_value")),
    {.name = NULL},
};
