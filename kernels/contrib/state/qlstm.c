/* SPDX-License-Identifier: MIT
 *
 * DynamicQuantizeLSTM (com.microsoft): an LSTM whose weights are bytes, and whose inputs and states
 * are quantized to bytes over their own range: the inputs once, the states of the batch before
 * every step. Each step is LSTM itself, on numbers that were quantized and brought back: sums of
 * their products are the scaled sums of the integers' products.
 */
#include <string.h>

#include "base/mem.h"
#include "kernels/contrib/state/lstm_steps.h"

struct qlstm {
    struct odb_lstm l;
    struct odb_tensor *x; /* ref: quantized and brought back */
};

static enum odb_status qlstm_read(struct odb_kern *k, struct odb_lstm *l)
{
    ODB_TRY(ODB_NEED(k, 0, 1, 2, 8, 9, 10, 11));
    ODB_TRY(odb_lstm_read(k, l, 1));
    const struct odb_tensor *w = k->in[1], *r = k->in[2];
    if (w->rank != 3 || w->dims[0] != l->dirs || r->dims[0] != l->dirs || w->dims[1] != l->input ||
        w->dims[2] != 4 * l->hidden || r->dims[2] != 4 * l->hidden ||
        odb_kern_int(k, "hidden_size", l->hidden) != l->hidden)
        return ODB_KERN_FAIL(k, "W and R do not fit X and hidden_size");
    for (int i = 8; i < 12; i++)
        if (k->in[i]->count != (size_t)l->dirs &&
            k->in[i]->count != (size_t)(l->dirs * 4 * l->hidden))
            return ODB_KERN_FAIL(k, "input %d has %zu elements", i, k->in[i]->count);
    return ODB_OK;
}

static enum odb_status qlstm_infer(struct odb_kern *k)
{
    struct odb_lstm l;
    ODB_TRY(qlstm_read(k, &l));
    return odb_lstm_outline(k, &l);
}

/* Weights in input i of (dirs, rows, 4 hidden), scaled, as (1, 4 hidden, rows). */
static enum odb_status qlstm_weights(struct odb_kern *k, const struct odb_lstm *l, int i,
                                     int64_t rows, int scale, struct odb_tensor **out)
{
    const struct odb_tensor *t = k->in[i], *scales = k->in[scale], *zeros = k->in[scale + 1];
    size_t columns = (size_t)(4 * l->hidden), n = (size_t)rows, dir = (size_t)l->dir;
    ODB_TRY(
        odb_tensor_new_raw(out, l->dtype, 3, (const int64_t[]){1, 4 * l->hidden, rows}, k->err));
    for (size_t j = 0; j < columns; j++) {
        double s =
            odb_tensor_f64(scales, scales->count == (size_t)l->dirs ? dir : dir * columns + j);
        int64_t z =
            odb_tensor_i64(zeros, zeros->count == (size_t)l->dirs ? dir : dir * columns + j);
        for (size_t row = 0; row < n; row++) {
            int64_t v = odb_tensor_i64(t, (dir * n + row) * columns + j) - z;
            odb_store_f64(l->dtype, (*out)->data, j * n + row, (double)v * s);
        }
    }
    return ODB_OK;
}

/* t as bytes over its range, brought back. */
static const struct odb_tensor *qlstm_coarse(struct odb_chain *c, const struct odb_tensor *t)
{
    const struct odb_tensor *q[3];
    odb_chain_steps(
        c, &(const struct odb_step){.op = "DynamicQuantizeLinear", .opset = 11, .in = {t}}, 3, q);
    return ODB_STEP(c, "DequantizeLinear", 13, (q[0], q[1], q[2]));
}

static void qlstm_inputs(struct odb_chain *c)
{
    struct qlstm *q = c->arg;
    const struct odb_lstm *l = &q->l;
    struct odb_tensor *x =
        odb_chain_new(c, l->dtype, 3, (const int64_t[]){l->most, l->batch, l->input});
    if (!x)
        return;
    memcpy(x->data, c->k->in[0]->data, x->bytes);
    const struct odb_tensor *coarse = qlstm_coarse(c, x);
    q->x = odb_chain_ok(c) ? odb_tensor_ref(coarse) : NULL;
}

static enum odb_status qlstm_begin(struct odb_kern *k, struct odb_lstm *l)
{
    struct qlstm *q = (struct qlstm *)l;
    if (!q->x)
        ODB_TRY(odb_chain_run_with(k, qlstm_inputs, q));
    ODB_TRY(qlstm_weights(k, l, 1, l->input, 8, &l->w));
    return qlstm_weights(k, l, 2, l->hidden, 10, &l->r);
}

/* States of entries that have ended are taken for zeros, which are in every range. */
static void qlstm_step(struct odb_chain *c)
{
    struct qlstm *q = c->arg;
    struct odb_lstm *l = &q->l;
    struct odb_tensor *h = odb_chain_new(c, l->dtype, 3, l->h->dims);
    size_t row = l->batch ? l->h->bytes / (size_t)l->batch : 0;
    for (int64_t b = 0; h && row && b < l->batch; b++) {
        size_t at = (size_t)b * row;
        if (odb_lstm_time(l, b) < 0)
            memset((char *)h->data + at, 0, row);
        else
            memcpy((char *)h->data + at, (const char *)l->h->data + at, row);
    }
    const struct odb_tensor *x = q->x ? odb_lstm_rows(c, l, q->x) : NULL;
    odb_lstm_take(c, l, x, qlstm_coarse(c, h));
}

static enum odb_status qlstm_run(struct odb_kern *k)
{
    struct qlstm q = {.x = NULL};
    ODB_TRY(qlstm_read(k, &q.l));
    enum odb_status status = odb_lstm_run(k, &q.l, qlstm_begin, qlstm_step);
    odb_tensor_unref(q.x);
    return status;
}

#define Q8 (ODB_BIT(ODB_I8) | ODB_BIT(ODB_U8))
#define QF ODB_BIT(ODB_F32)

const struct odb_op odb_ops_qlstm[] = {
    ODB_MICROSOFT(
        "DynamicQuantizeLSTM", ODB_ARITY(1, 12), ODB_ARITY(0, 3), ODB_OP_REAL | ODB_OP_MATMUL,
        odb_lstm_attrs, qlstm_infer, qlstm_run, QF, Q8, ODB_AS(1), QF, ODB_BIT(ODB_I32), QF, QF, QF,
        QF, ODB_AS(1), QF, ODB_AS(1),
        ODB_NAMES(
            "X,W,R,B,sequence_lens,initial_h,initial_c,P,W_scale,W_zero_point,R_scale,R_zero_point",
            "Y,Y_h,Y_c"),
        ODB_TRAITS(ODB_IS_QUANTISED)),
    {.name = NULL},
};
