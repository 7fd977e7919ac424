/* SPDX-License-Identifier: MIT
 *
 * LongformerAttention (com.microsoft): a token attends to those at most `window` tokens away and to
 * the global ones; a global token attends to all, with queries, keys and values of matrices of its
 * own. The mask is added to the scores. Rows of masked tokens are zero, as in the models that the
 * operator comes from.
 */
#include <math.h>
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "kernels/core/chain.h"
#include "kernels/contrib/contrib.h"

enum { LONG_X, LONG_W, LONG_BIAS, LONG_MASK, LONG_GLOBAL_W, LONG_GLOBAL_BIAS, LONG_GLOBAL };

struct longformer {
    int64_t batch, length, hidden, heads, window;
};

static enum odb_status longformer_read(struct odb_kern *k, struct longformer *l)
{
    const struct odb_tensor *x = k->in[LONG_X];
    *l = (struct longformer){.heads = odb_kern_int(k, "num_heads", 0),
                             .window = odb_kern_int(k, "window", 0)};
    if (x->rank != 3 || l->heads < 1 || x->dims[2] % l->heads || l->window < 1 ||
        l->window > INT32_MAX || x->dims[1] % (2 * l->window))
        return ODB_KERN_FAIL(
            k,
            "LongformerAttention needs (batch, length, heads * size), and a length "
            "of whole pairs of windows of %lld",
            (long long)l->window);
    l->batch = x->dims[0];
    l->length = x->dims[1];
    l->hidden = x->dims[2];
    const int64_t tokens[] = {l->batch, l->length}, weights[] = {l->hidden, 3 * l->hidden};
    for (int i = LONG_W; i <= LONG_GLOBAL_W; i += LONG_GLOBAL_W - LONG_W) {
        ODB_TRY(odb_kern_expect(k, i, 2, weights));
        ODB_TRY(odb_kern_expect(k, i + 1, 1, weights + 1));
    }
    ODB_TRY(odb_kern_expect(k, LONG_MASK, 2, tokens));
    return odb_kern_expect(k, LONG_GLOBAL, 2, tokens);
}

/* Whether token i is a global one, or masked. */
static bool longformer_global(const struct odb_kern *k, size_t i)
{
    return odb_tensor_i64(k->in[LONG_GLOBAL], i) != 0;
}

static bool longformer_masked(const struct odb_kern *k, size_t i)
{
    return odb_tensor_f64(k->in[LONG_MASK], i) < 0;
}

/* 0 where a token (row) may attend to another (column) besides the mask, -inf where it may not:
 * (batch, 1, length, length). Only rows that are global, or only the others, are to be used. */
static const struct odb_tensor *longformer_bias(struct odb_chain *c, const struct longformer *l,
                                                bool global)
{
    int64_t dims[] = {l->batch, 1, l->length, l->length};
    struct odb_tensor *t = odb_chain_new(c, c->k->in[LONG_X]->dtype, 4, dims);
    size_t n = (size_t)l->length;
    for (size_t i = 0; t && !c->infer && i < t->count; i++) {
        size_t token = i / n, batch = token / n, key = batch * n + i % n;
        int64_t apart = (int64_t)(token % n) - (int64_t)(i % n);
        bool near = apart <= l->window && -apart <= l->window;
        double mask = odb_tensor_f64(c->k->in[LONG_MASK], key);
        odb_store_f64(t->dtype, t->data, i,
                      global || near || longformer_global(c->k, key) ? mask : -INFINITY);
    }
    return t;
}

/* Attention of all tokens, with one set of matrices: (batch, length, hidden). */
static const struct odb_tensor *longformer_attend(struct odb_chain *c, const struct longformer *l,
                                                  int weights, bool global)
{
    const struct odb_tensor *x = c->k->in[LONG_X], *part[3], *y;
    int64_t size = l->hidden / l->heads, split[] = {l->batch, l->length, l->heads, size};
    y = ODB_STEP(c, "MatMul", 13, (x, c->k->in[weights]));
    y = ODB_STEP(c, "Add", 14, (y, c->k->in[weights + 1]));
    struct odb_step s = {.op = "Split",
                         .opset = 18,
                         .in = {y},
                         .attrs = ODB_ATTRS(ODB_ATTR_I("axis", 2), ODB_ATTR_I("num_outputs", 3))};
    odb_chain_steps(c, &s, 3, part);
    for (int i = 0; i < 3 && odb_chain_ok(c); i++) {
        part[i] = odb_chain_reshape(c, part[i], 4, split);
        if (odb_chain_ok(c))
            part[i] = odb_chain_permute(c, part[i],
                                        i == 1 ? (int64_t[]){0, 2, 3, 1} : (int64_t[]){0, 2, 1, 3});
    }
    y = ODB_STEP(c, "MatMul", 13, (part[0], part[1]));
    y = ODB_STEP(c, "Mul", 14, (y, odb_chain_number(c, x->dtype, 1 / sqrt((double)size))));
    y = ODB_STEP(c, "Add", 14, (y, longformer_bias(c, l, global)));
    y = ODB_STEP_WITH(c, "Softmax", 13, (y), ODB_ATTRS(ODB_ATTR_I("axis", -1)));
    y = ODB_STEP(c, "MatMul", 13, (y, part[2]));
    y = odb_chain_ok(c) ? odb_chain_permute(c, y, (int64_t[]){0, 2, 1, 3}) : NULL;
    return odb_chain_ok(c) ? odb_chain_reshape(c, y, 3, x->dims) : NULL;
}

static enum odb_status longformer_infer(struct odb_kern *k)
{
    struct longformer l;
    ODB_TRY(longformer_read(k, &l));
    return odb_infer_same(k);
}

static enum odb_status longformer_run(struct odb_kern *k)
{
    struct longformer l;
    struct odb_chain c = {.k = k};
    bool any = false;
    ODB_TRY(longformer_read(k, &l));
    size_t tokens = (size_t)(l.batch * l.length), row = tokens ? k->out[0]->bytes / tokens : 0;
    for (size_t i = 0; i < tokens; i++)
        any = any || longformer_global(k, i);
    const struct odb_tensor *local = longformer_attend(&c, &l, LONG_W, false), *global = NULL;
    if (any)
        global = longformer_attend(&c, &l, LONG_GLOBAL_W, true);
    for (size_t i = 0; odb_chain_ok(&c) && i < tokens; i++) {
        const struct odb_tensor *from = longformer_global(k, i) ? global : local;
        char *to = (char *)k->out[0]->data + i * row;
        if (longformer_masked(k, i))
            memset(to, 0, row);
        else
            memcpy(to, (const char *)from->data + i * row, row);
    }
    odb_chain_dispose(&c);
    return c.status;
}

static const struct odb_attr_spec longformer_attrs[] = {
    {"num_heads", ODB_ATTR_INT, NULL, true}, {"window", ODB_ATTR_INT, NULL, true}, {NULL}};

const struct odb_op odb_ops_longformer[] = {
    ODB_MICROSOFT("LongformerAttention", ODB_ARITY(7, 7), ODB_ARITY(1, 1),
                  ODB_OP_REAL | ODB_OP_MATMUL, longformer_attrs, longformer_infer, longformer_run,
                  ODB_BIT(ODB_F32) | ODB_BIT(ODB_F16), ODB_AS(0), ODB_AS(0), ODB_AS(0), ODB_AS(0),
                  ODB_AS(0), ODB_BIT(ODB_I32),
                  ODB_NAMES("input,weight,bias,mask,global_weight,global_bias,global", "output"),
                  ODB_HALVES(1, 0), ODB_WORK(depends)),
    {.name = NULL},
};
