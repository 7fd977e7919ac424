/* SPDX-License-Identifier: MIT
 *
 * AttnLSTM (com.microsoft): an LSTM that reads, beside its input, what it attends to in a memory
 * (Bahdanau). After each step the state is the query: every row of the memory has the score
 * v . tanh(row MW + state QW), and the softmax of the scores weighs the rows. The context that
 * comes of it, or with AW the state and the context times AW, goes into the next step behind the
 * input.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/contrib/state/lstm_steps.h"

enum { ATTN_W = 1, ATTN_R, ATTN_QW = 8, ATTN_MW, ATTN_V, ATTN_MEMORY, ATTN_LENGTHS, ATTN_AW };

/* Of one direction are the refs. */
struct attn {
    struct odb_lstm l;
    int64_t rows, depth, score, wide;    /* of the memory, of a score's vector, of what is added */
    struct odb_tensor *qw, *mw, *v, *aw; /* refs; aw may be NULL */
    struct odb_tensor *keys, *mask,
        *state; /* refs: memory times MW, 0 or -inf, what is attended to */
};

/* --- shapes ----------------------------------------------------------------------------------- */

static enum odb_status attn_read(struct odb_kern *k, struct attn *a)
{
    *a = (struct attn){.rows = 0};
    ODB_TRY(ODB_NEED(k, ATTN_W, ATTN_R, ATTN_QW, ATTN_MW, ATTN_V, ATTN_MEMORY));
    ODB_TRY(odb_lstm_read(k, &a->l, 2));
    const struct odb_lstm *l = &a->l;
    const struct odb_tensor *memory = k->in[ATTN_MEMORY], *mw = k->in[ATTN_MW],
                            *aw = odb_kern_in(k, ATTN_AW);
    if (memory->rank != 3 || mw->rank != 3 || (aw && aw->rank != 3))
        return ODB_KERN_FAIL(k, "M, MW and AW have 3 dimensions");
    a->rows = memory->dims[1];
    a->depth = memory->dims[2];
    a->score = mw->dims[2];
    a->wide = aw ? aw->dims[2] : a->depth;
    ODB_TRY(odb_kern_expect(k, ATTN_W, 3, (int64_t[]){l->dirs, 4 * l->hidden, l->input + a->wide}));
    ODB_TRY(odb_kern_expect(k, ATTN_R, 3, (int64_t[]){l->dirs, 4 * l->hidden, l->hidden}));
    ODB_TRY(odb_kern_expect(k, ATTN_QW, 3, (int64_t[]){l->dirs, l->hidden, a->score}));
    ODB_TRY(odb_kern_expect(k, ATTN_MW, 3, (int64_t[]){l->dirs, a->depth, a->score}));
    ODB_TRY(odb_kern_expect(k, ATTN_V, 2, (int64_t[]){l->dirs, a->score}));
    ODB_TRY(odb_kern_expect(k, ATTN_MEMORY, 3, (int64_t[]){l->batch, a->rows, a->depth}));
    ODB_TRY(odb_kern_expect(k, ATTN_LENGTHS, 1, (int64_t[]){l->batch}));
    if (odb_kern_int(k, "hidden_size", l->hidden) != l->hidden)
        return ODB_KERN_FAIL(k, "R does not fit hidden_size");
    return odb_kern_expect(k, ATTN_AW, 3, (int64_t[]){l->dirs, a->depth + l->hidden, a->wide});
}

static enum odb_status attn_infer(struct odb_kern *k)
{
    struct attn a;
    ODB_TRY(attn_read(k, &a));
    return odb_lstm_outline(k, &a.l);
}

/* --- a direction ------------------------------------------------------------------------------ */

static void attn_release(struct attn *a)
{
    struct odb_tensor **refs[] = {&a->qw, &a->mw, &a->v, &a->aw, &a->keys, &a->mask, &a->state};
    for (size_t i = 0; i < ODB_COUNT(refs); i++) {
        odb_tensor_unref(*refs[i]);
        *refs[i] = NULL;
    }
}

/* What is added to the scores: -inf behind each memory's end. */
static enum odb_status attn_mask(struct odb_kern *k, struct attn *a)
{
    const struct odb_tensor *lengths = odb_kern_in(k, ATTN_LENGTHS);
    ODB_TRY(odb_tensor_new(&a->mask, a->l.dtype, 2, (int64_t[]){a->l.batch, a->rows}, k->err));
    for (int64_t b = 0; lengths && b < a->l.batch; b++) {
        int64_t n = odb_tensor_i64(lengths, (size_t)b);
        if (n < 1 || n > a->rows)
            return ODB_KERN_FAIL(k, "memory %lld has %lld of %lld rows", (long long)b, (long long)n,
                                 (long long)a->rows);
        for (int64_t i = n; i < a->rows; i++)
            odb_store_f64(a->l.dtype, a->mask->data, (size_t)(b * a->rows + i), -INFINITY);
    }
    return ODB_OK;
}

static void attn_keys(struct odb_chain *c)
{
    struct attn *a = c->arg;
    const struct odb_tensor *keys = ODB_STEP(c, "MatMul", 13, (c->k->in[ATTN_MEMORY], a->mw));
    a->keys = odb_chain_ok(c) ? odb_tensor_ref(keys) : NULL;
}

static enum odb_status attn_begin(struct odb_kern *k, struct odb_lstm *l)
{
    struct attn *a = (struct attn *)l;
    int64_t both[] = {1, 4 * l->hidden, l->input + a->wide};
    attn_release(a);
    ODB_TRY(odb_lstm_part(k, l, ATTN_W, 3, both, &l->w));
    both[2] = l->hidden;
    ODB_TRY(odb_lstm_part(k, l, ATTN_R, 3, both, &l->r));
    ODB_TRY(odb_lstm_part(k, l, ATTN_QW, 2, (int64_t[]){l->hidden, a->score}, &a->qw));
    ODB_TRY(odb_lstm_part(k, l, ATTN_MW, 2, (int64_t[]){a->depth, a->score}, &a->mw));
    ODB_TRY(odb_lstm_part(k, l, ATTN_V, 2, (int64_t[]){a->score, 1}, &a->v));
    ODB_TRY(odb_lstm_part(k, l, ATTN_AW, 2, (int64_t[]){a->depth + l->hidden, a->wide}, &a->aw));
    ODB_TRY(odb_tensor_new(&a->state, l->dtype, 3, (int64_t[]){1, l->batch, a->wide}, k->err));
    ODB_TRY(attn_mask(k, a));
    return odb_chain_run_with(k, attn_keys, a);
}

/* --- a step ----------------------------------------------------------------------------------- */

static const struct odb_tensor *attn_join(struct odb_chain *c, const struct odb_tensor *x,
                                          const struct odb_tensor *y)
{
    return ODB_STEP_WITH(c, "Concat", 13, (x, y), ODB_ATTRS(ODB_ATTR_I("axis", -1)));
}

static void attn_step(struct odb_chain *c)
{
    struct attn *a = c->arg;
    int64_t batch = a->l.batch, rows = a->rows;
    const struct odb_tensor *x = odb_lstm_rows(c, &a->l, c->k->in[0]), *h, *t;
    odb_lstm_take(c, &a->l, attn_join(c, x, a->state), a->l.h);
    if (!odb_chain_ok(c))
        return;
    h = odb_chain_reshape(c, a->l.h, 2, (int64_t[]){batch, a->l.hidden});
    t = ODB_STEP(c, "MatMul", 13, (h, a->qw));
    t = odb_chain_ok(c) ? odb_chain_reshape(c, t, 3, (int64_t[]){batch, 1, a->score}) : NULL;
    t = ODB_STEP(c, "Tanh", 13, (ODB_STEP(c, "Add", 14, (a->keys, t))));
    t = ODB_STEP(c, "MatMul", 13, (t, a->v));
    t = odb_chain_ok(c) ? odb_chain_reshape(c, t, 2, (int64_t[]){batch, rows}) : NULL;
    t = ODB_STEP(c, "Add", 14, (t, a->mask));
    t = ODB_STEP_WITH(c, "Softmax", 13, (t), ODB_ATTRS(ODB_ATTR_I("axis", -1)));
    t = odb_chain_ok(c) ? odb_chain_reshape(c, t, 3, (int64_t[]){batch, 1, rows}) : NULL;
    t = ODB_STEP(c, "MatMul", 13, (t, c->k->in[ATTN_MEMORY]));
    t = odb_chain_ok(c) ? odb_chain_reshape(c, t, 2, (int64_t[]){batch, a->depth}) : NULL;
    if (a->aw)
        t = ODB_STEP(c, "MatMul", 13, (attn_join(c, h, t), a->aw));
    t = odb_chain_ok(c) ? odb_chain_reshape(c, t, 3, (int64_t[]){1, batch, a->wide}) : NULL;
    if (!odb_chain_ok(c))
        return;
    odb_tensor_unref(a->state);
    a->state = odb_tensor_ref(t);
}

static enum odb_status attn_run(struct odb_kern *k)
{
    struct attn a;
    ODB_TRY(attn_read(k, &a));
    enum odb_status status = odb_lstm_run(k, &a.l, attn_begin, attn_step);
    attn_release(&a);
    return status;
}

/* --- the table -------------------------------------------------------------------------------- */

#define ATTN_FLOATS (ODB_BIT(ODB_F32) | ODB_BIT(ODB_F64))

const struct odb_op odb_ops_contrib_attn_lstm[] = {
    ODB_MICROSOFT(
        "AttnLSTM", ODB_ARITY(3, 14), ODB_ARITY(0, 3), ODB_OP_REAL | ODB_OP_MATMUL, odb_lstm_attrs,
        attn_infer, attn_run, ATTN_FLOATS, ODB_AS(0), ODB_AS(0), ODB_AS(0), ODB_BIT(ODB_I32),
        ODB_AS(0), ODB_AS(0), ODB_AS(0), ODB_AS(0), ODB_AS(0), ODB_AS(0), ODB_AS(0), ODB_AS(4),
        ODB_AS(0),
        ODB_NAMES("X,W,R,B,sequence_lens,initial_h,initial_c,P,QW,MW,V,M,memory_seq_lens,AW",
                  "Y,Y_h,Y_c")),
    {.name = NULL},
};
