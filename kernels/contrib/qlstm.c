/* SPDX-License-Identifier: MIT
 *
 * DynamicQuantizeLSTM (com.microsoft): an LSTM whose weights are bytes, and whose inputs and states
 * are quantized to bytes over their own range: the inputs once, the states of the batch before
 * every step. Each step is LSTM itself, on numbers that were quantized and brought back: sums of
 * their products are the scaled sums of the integers' products.
 */
#include <stdlib.h>
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "kernels/core/chain.h"
#include "kernels/contrib/contrib.h"

struct qlstm {
    int64_t steps, batch, input, hidden, dirs;
    enum odb_dtype dtype;
    int64_t *len;                                   /* owned, [batch] */
    int64_t most;                                   /* largest of them */
    struct odb_tensor *x;                           /* ref: quantized and brought back */
    int dir;                                        /* now computed */
    bool reverse;                                   /* it */
    struct odb_tensor *w, *r, *bias, *peep, *h, *c; /* refs: of it; bias and peep may be NULL */
    int64_t step;
};

static enum odb_status qlstm_read(struct odb_kern *k, struct qlstm *q)
{
    const char *direction = odb_kern_string(k, "direction", "forward");
    ODB_TRY(ODB_NEED(k, 0, 1, 2, 8, 9, 10, 11));
    const struct odb_tensor *x = k->in[0], *w = k->in[1], *r = k->in[2];
    bool both = strcmp(direction, "bidirectional") == 0;
    if (!both && strcmp(direction, "forward") != 0 && strcmp(direction, "reverse") != 0)
        return ODB_KERN_FAIL(k, "direction is \"%s\"", direction);
    if (both && (odb_kern_has(k, "activation_alpha") || odb_kern_has(k, "activation_beta")))
        return ODB_KERN_UNSUPPORTED(k, "numbers for the activations of two directions");
    if (x->rank != 3 || w->rank != 3 || r->rank != 3)
        return ODB_KERN_FAIL(k, "X, W and R have 3 dimensions");
    *q = (struct qlstm){.steps = x->dims[0],
                        .batch = x->dims[1],
                        .input = x->dims[2],
                        .hidden = r->dims[1],
                        .dirs = 1 + both,
                        .dtype = x->dtype,
                        .reverse = strcmp(direction, "reverse") == 0};
    if (w->dims[0] != q->dirs || r->dims[0] != q->dirs || w->dims[1] != q->input ||
        w->dims[2] != 4 * q->hidden || r->dims[2] != 4 * q->hidden ||
        odb_kern_int(k, "hidden_size", q->hidden) != q->hidden)
        return ODB_KERN_FAIL(k, "W and R do not fit X and hidden_size");
    for (int i = 8; i < 12; i++)
        if (k->in[i]->count != (size_t)q->dirs &&
            k->in[i]->count != (size_t)(q->dirs * 4 * q->hidden))
            return ODB_KERN_FAIL(k, "input %d has %zu elements", i, k->in[i]->count);
    const size_t state = (size_t)(q->dirs * q->batch * q->hidden);
    const size_t want[] = {[3] = (size_t)(q->dirs * 8 * q->hidden),
                           [4] = (size_t)q->batch,
                           [5] = state,
                           [6] = state,
                           [7] = (size_t)(q->dirs * 3 * q->hidden)};
    for (int i = 3; i < 8; i++)
        if (k->in[i] && k->in[i]->count != want[i])
            return ODB_KERN_FAIL(k, "input %d has %zu elements; %zu are needed", i, k->in[i]->count,
                                 want[i]);
    return ODB_OK;
}

static enum odb_status qlstm_infer(struct odb_kern *k)
{
    struct qlstm q;
    ODB_TRY(qlstm_read(k, &q));
    int64_t all[] = {q.steps, q.dirs, q.batch, q.hidden};
    ODB_TRY(odb_kern_outline(k, 0, q.dtype, 4, all));
    ODB_TRY(odb_kern_outline(k, 1, q.dtype, 3, all + 1));
    return odb_kern_outline(k, 2, q.dtype, 3, all + 1);
}

/* --- operands --------------------------------------------------------------------------------- */

/* The part of input i that belongs to the direction, as (1, dims…); NULL where it is omitted. */
static enum odb_status qlstm_part(struct odb_kern *k, const struct qlstm *q, int i, int rank,
                                  const int64_t *dims, struct odb_tensor **out)
{
    const struct odb_tensor *t = odb_kern_in(k, i);
    if (!t)
        return ODB_OK;
    ODB_TRY(odb_tensor_new_raw(out, q->dtype, rank, dims, k->err));
    size_t part = t->count / (size_t)q->dirs, size = odb_dtype_info(t->dtype)->bits / 8;
    odb_convert(q->dtype, (*out)->data, t->dtype,
                (const char *)t->data + (size_t)q->dir * part * size, part);
    return ODB_OK;
}

/* Weights in input i of (dirs, rows, 4 hidden), scaled, as (1, 4 hidden, rows). */
static enum odb_status qlstm_weights(struct odb_kern *k, const struct qlstm *q, int i, int64_t rows,
                                     int scale, struct odb_tensor **out)
{
    const struct odb_tensor *t = k->in[i], *scales = k->in[scale], *zeros = k->in[scale + 1];
    size_t columns = (size_t)(4 * q->hidden), n = (size_t)rows, dir = (size_t)q->dir;
    ODB_TRY(
        odb_tensor_new_raw(out, q->dtype, 3, (const int64_t[]){1, 4 * q->hidden, rows}, k->err));
    for (size_t j = 0; j < columns; j++) {
        double s =
            odb_tensor_f64(scales, scales->count == (size_t)q->dirs ? dir : dir * columns + j);
        int64_t z =
            odb_tensor_i64(zeros, zeros->count == (size_t)q->dirs ? dir : dir * columns + j);
        for (size_t row = 0; row < n; row++) {
            int64_t v = odb_tensor_i64(t, (dir * n + row) * columns + j) - z;
            odb_store_f64(q->dtype, (*out)->data, j * n + row, (double)v * s);
        }
    }
    return ODB_OK;
}

static void qlstm_release(struct qlstm *q)
{
    struct odb_tensor **refs[] = {&q->w, &q->r, &q->bias, &q->peep, &q->h, &q->c};
    for (size_t i = 0; i < ODB_COUNT(refs); i++) {
        odb_tensor_unref(*refs[i]);
        *refs[i] = NULL;
    }
}

static enum odb_status qlstm_direction(struct odb_kern *k, struct qlstm *q)
{
    const int64_t state[] = {1, q->batch, q->hidden};
    ODB_TRY(qlstm_weights(k, q, 1, q->input, 8, &q->w));
    ODB_TRY(qlstm_weights(k, q, 2, q->hidden, 10, &q->r));
    ODB_TRY(qlstm_part(k, q, 3, 2, (const int64_t[]){1, 8 * q->hidden}, &q->bias));
    ODB_TRY(qlstm_part(k, q, 7, 2, (const int64_t[]){1, 3 * q->hidden}, &q->peep));
    ODB_TRY(qlstm_part(k, q, 5, 3, state, &q->h));
    ODB_TRY(qlstm_part(k, q, 6, 3, state, &q->c));
    if (!q->h)
        ODB_TRY(odb_tensor_new(&q->h, q->dtype, 3, state, k->err));
    if (!q->c)
        ODB_TRY(odb_tensor_new(&q->c, q->dtype, 3, state, k->err));
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

/* --- steps ------------------------------------------------------------------------------------ */

/* Bytes of one number, of a row of x, of a row of states. */
static size_t qlstm_size(const struct qlstm *q)
{
    return odb_dtype_info(q->dtype)->bits / 8;
}

/* Number of the step of x that entry b takes now, or -1 behind its end. */
static int64_t qlstm_time(const struct qlstm *q, int64_t b)
{
    if (q->step >= q->len[b])
        return -1;
    return q->reverse ? q->len[b] - 1 - q->step : q->step;
}

static void qlstm_inputs(struct odb_chain *c)
{
    struct qlstm *q = c->arg;
    struct odb_tensor *x =
        odb_chain_new(c, q->dtype, 3, (const int64_t[]){q->most, q->batch, q->input});
    if (!x)
        return;
    memcpy(x->data, c->k->in[0]->data, x->bytes);
    const struct odb_tensor *coarse = qlstm_coarse(c, x);
    q->x = odb_chain_ok(c) ? odb_tensor_ref(coarse) : NULL;
}

/* The node's attributes for one direction: its activations, and nothing of directions. */
static size_t qlstm_attrs(const struct odb_kern *k, const struct qlstm *q, struct odb_attr *attrs)
{
    size_t n = 0;
    for (size_t i = 0; i < k->attrs.n; i++) {
        struct odb_attr a = k->attrs.items[i];
        bool list = a.type == ODB_ATTR_STRINGS && strcmp(a.name, "activations") == 0;
        if (strcmp(a.name, "direction") == 0)
            continue;
        if (list && q->dirs == 2) {
            a.n /= 2;
            a.strings += (size_t)q->dir * a.n;
        }
        attrs[n++] = a;
    }
    return n;
}

/* Puts what a step gave into the states and results of the entries that took it. */
static void qlstm_keep(const struct odb_kern *k, const struct qlstm *q,
                       const struct odb_tensor *const *out)
{
    size_t row = (size_t)q->hidden * qlstm_size(q);
    for (int64_t b = 0; b < q->batch; b++) {
        int64_t time = qlstm_time(q, b);
        size_t at = (size_t)b * row;
        if (time < 0)
            continue;
        memcpy((char *)q->h->data + at, (const char *)out[1]->data + at, row);
        memcpy((char *)q->c->data + at, (const char *)out[2]->data + at, row);
        if (k->out[0])
            memcpy((char *)k->out[0]->data +
                       (size_t)((time * q->dirs + q->dir) * q->batch + b) * row,
                   (const char *)out[1]->data + at, row);
    }
}

static void qlstm_step(struct odb_chain *c)
{
    struct qlstm *q = c->arg;
    const struct odb_tensor *out[3];
    size_t row = (size_t)q->input * qlstm_size(q), state = (size_t)q->hidden * qlstm_size(q);
    struct odb_tensor *x = odb_chain_new(c, q->dtype, 3, (const int64_t[]){1, q->batch, q->input});
    struct odb_tensor *h = odb_chain_new(c, q->dtype, 3, (const int64_t[]){1, q->batch, q->hidden});
    struct odb_attr *attrs = odb_new_n(struct odb_attr, c->k->attrs.n + 1);
    for (int64_t b = 0; x && h && b < q->batch; b++) {
        int64_t time = qlstm_time(q, b);
        char *to_x = (char *)x->data + (size_t)b * row, *to_h = (char *)h->data + (size_t)b * state;
        memset(to_x, 0, row); /* zeros are in every range */
        memset(to_h, 0, state);
        if (time < 0)
            continue;
        memcpy(to_x, (char *)q->x->data + (size_t)(time * q->batch + b) * row, row);
        memcpy(to_h, (char *)q->h->data + (size_t)b * state, state);
    }
    const struct odb_tensor *coarse = qlstm_coarse(c, h);
    odb_chain_steps(
        c,
        &(const struct odb_step){.op = "LSTM",
                                 .opset = 14,
                                 .in = {x, q->w, q->r, q->bias, NULL, coarse, q->c, q->peep},
                                 .attrs = {attrs, qlstm_attrs(c->k, q, attrs)}},
        3, out);
    if (odb_chain_ok(c))
        qlstm_keep(c->k, q, out);
    free(attrs);
}

static enum odb_status qlstm_lengths(struct odb_kern *k, struct qlstm *q)
{
    q->len = odb_work_take((size_t)q->batch, sizeof *q->len);
    if (!q->len)
        return odb_kern_no_memory(k);
    for (int64_t b = 0; b < q->batch; b++) {
        q->len[b] = odb_kern_in(k, 4) ? odb_tensor_i64(k->in[4], (size_t)b) : q->steps;
        if (q->len[b] < 0 || q->len[b] > q->steps)
            return ODB_KERN_FAIL(k, "sequence %lld has %lld of %lld steps", (long long)b,
                                 (long long)q->len[b], (long long)q->steps);
        q->most = ODB_MAX(q->most, q->len[b]);
    }
    return ODB_OK;
}

static enum odb_status qlstm_run(struct odb_kern *k)
{
    struct qlstm q;
    enum odb_status status = ODB_OK;
    ODB_TRY(qlstm_read(k, &q));
    ODB_TRY_OUT(qlstm_lengths(k, &q));
    if (k->out[0] && k->out[0]->bytes)
        memset(k->out[0]->data, 0, k->out[0]->bytes);
    ODB_TRY_OUT(odb_chain_run_with(k, qlstm_inputs, &q));
    for (q.dir = 0; q.dir < q.dirs; q.dir++) {
        q.reverse = q.reverse || q.dir == 1;
        ODB_TRY_OUT(qlstm_direction(k, &q));
        for (q.step = 0; q.step < q.most; q.step++)
            ODB_TRY_OUT(odb_chain_run_with(k, qlstm_step, &q));
        for (int i = 1; i < k->n_out; i++)
            if (k->out[i] && q.h->bytes)
                memcpy((char *)k->out[i]->data + (size_t)q.dir * q.h->bytes,
                       (i == 1 ? q.h : q.c)->data, q.h->bytes);
        qlstm_release(&q);
    }
out:
    qlstm_release(&q);
    odb_tensor_unref(q.x);
    odb_work_give(q.len);
    return status;
}

static const struct odb_attr_spec qlstm_attr_specs[] = {
    {"activation_alpha", ODB_ATTR_FLOATS, NULL, false},
    {"activation_beta", ODB_ATTR_FLOATS, NULL, false},
    {"activations", ODB_ATTR_STRINGS, NULL, false},
    {"clip", ODB_ATTR_FLOAT, NULL, false},
    {"direction", ODB_ATTR_STRING, "forward", false},
    {"hidden_size", ODB_ATTR_INT, NULL, false},
    {"input_forget", ODB_ATTR_INT, "0", false},
    {NULL}};

#define Q8 (ODB_BIT(ODB_I8) | ODB_BIT(ODB_U8))
#define QF ODB_BIT(ODB_F32)

const struct odb_op odb_ops_qlstm[] = {
    ODB_MICROSOFT(
        "DynamicQuantizeLSTM", ODB_ARITY(1, 12), ODB_ARITY(0, 3), ODB_OP_REAL | ODB_OP_MATMUL,
        qlstm_attr_specs, qlstm_infer, qlstm_run, QF, Q8, ODB_AS(1), QF, ODB_BIT(ODB_I32), QF, QF,
        QF, QF, ODB_AS(1), QF, ODB_AS(1),
        ODB_NAMES(
            "X,W,R,B,sequence_lens,initial_h,initial_c,P,W_scale,W_zero_point,R_scale,R_zero_point",
            "Y,Y_h,Y_c"),
        ODB_TRAITS(ODB_IS_QUANTISED)),
    {.name = NULL},
};
