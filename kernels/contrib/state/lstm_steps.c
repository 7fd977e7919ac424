/* SPDX-License-Identifier: MIT
 *
 * An LSTM step by step. See lstm_steps.h.
 */
#include <stdlib.h>
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "kernels/contrib/state/lstm_steps.h"

/* --- shapes ----------------------------------------------------------------------------------- */

enum odb_status odb_lstm_read(struct odb_kern *k, struct odb_lstm *l, int hidden_at)
{
    const char *direction = odb_kern_string(k, "direction", "forward");
    const struct odb_tensor *x = k->in[0], *r = odb_kern_in(k, 2);
    bool both = strcmp(direction, "bidirectional") == 0;
    if (!both && strcmp(direction, "forward") != 0 && strcmp(direction, "reverse") != 0)
        return ODB_KERN_FAIL(k, "direction is \"%s\"", direction);
    if (both && (odb_kern_has(k, "activation_alpha") || odb_kern_has(k, "activation_beta")))
        return ODB_KERN_UNSUPPORTED(k, "numbers for the activations of two directions");
    if (x->rank != 3 || !r || r->rank != 3)
        return ODB_KERN_FAIL(k, "X and R have 3 dimensions");
    *l = (struct odb_lstm){.steps = x->dims[0],
                           .batch = x->dims[1],
                           .input = x->dims[2],
                           .hidden = r->dims[hidden_at],
                           .dirs = 1 + both,
                           .dtype = x->dtype,
                           .reverse = strcmp(direction, "reverse") == 0};
    const size_t state = (size_t)(l->dirs * l->batch * l->hidden);
    const size_t want[] = {[3] = (size_t)(l->dirs * 8 * l->hidden),
                           [4] = (size_t)l->batch,
                           [5] = state,
                           [6] = state,
                           [7] = (size_t)(l->dirs * 3 * l->hidden)};
    for (int i = 3; i < 8; i++)
        if (odb_kern_in(k, i) && k->in[i]->count != want[i])
            return ODB_KERN_FAIL(k, "input %d has %zu elements; %zu are needed", i, k->in[i]->count,
                                 want[i]);
    return ODB_OK;
}

enum odb_status odb_lstm_outline(struct odb_kern *k, const struct odb_lstm *l)
{
    int64_t all[] = {l->steps, l->dirs, l->batch, l->hidden};
    for (int i = 0; i < k->n_out && i < 3; i++)
        ODB_TRY(odb_kern_outline(k, i, l->dtype, i ? 3 : 4, i ? all + 1 : all));
    return ODB_OK;
}

enum odb_status odb_lstm_part(struct odb_kern *k, const struct odb_lstm *l, int i, int rank,
                              const int64_t *dims, struct odb_tensor **out)
{
    const struct odb_tensor *t = odb_kern_in(k, i);
    if (!t)
        return ODB_OK;
    ODB_TRY(odb_tensor_new_raw(out, l->dtype, rank, dims, k->err));
    size_t part = t->count / (size_t)l->dirs, size = odb_dtype_info(t->dtype)->bits / 8;
    odb_convert(l->dtype, (*out)->data, t->dtype,
                (const char *)t->data + (size_t)l->dir * part * size, part);
    return ODB_OK;
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Bytes of one number. */
static size_t lstm_size(const struct odb_lstm *l)
{
    return odb_dtype_info(l->dtype)->bits / 8;
}

int64_t odb_lstm_time(const struct odb_lstm *l, int64_t b)
{
    if (l->step >= l->len[b])
        return -1;
    return l->reverse ? l->len[b] - 1 - l->step : l->step;
}

struct odb_tensor *odb_lstm_rows(struct odb_chain *c, const struct odb_lstm *l,
                                 const struct odb_tensor *x)
{
    size_t row = (size_t)x->dims[2] * lstm_size(l);
    struct odb_tensor *t =
        odb_chain_new(c, l->dtype, 3, (const int64_t[]){1, l->batch, x->dims[2]});
    for (int64_t b = 0; t && row && b < l->batch; b++) {
        int64_t time = odb_lstm_time(l, b);
        if (time < 0)
            memset((char *)t->data + (size_t)b * row, 0, row);
        else
            memcpy((char *)t->data + (size_t)b * row,
                   (const char *)x->data + (size_t)(time * l->batch + b) * row, row);
    }
    return t;
}

/* The node's attributes for one direction: its activations, and nothing of directions. */
static size_t lstm_attrs(const struct odb_kern *k, const struct odb_lstm *l, struct odb_attr *attrs)
{
    size_t n = 0;
    for (size_t i = 0; i < k->attrs.n; i++) {
        struct odb_attr a = k->attrs.items[i];
        bool list = a.type == ODB_ATTR_STRINGS && strcmp(a.name, "activations") == 0;
        if (strcmp(a.name, "direction") == 0)
            continue;
        if (list && l->dirs == 2) {
            a.n /= 2;
            a.strings += (size_t)l->dir * a.n;
        }
        attrs[n++] = a;
    }
    return n;
}

/* Puts what a step gave into the states and results of the entries that took it. */
static void lstm_keep(const struct odb_kern *k, const struct odb_lstm *l,
                      const struct odb_tensor *const *out)
{
    size_t row = (size_t)l->hidden * lstm_size(l);
    for (int64_t b = 0; b < l->batch; b++) {
        int64_t time = odb_lstm_time(l, b);
        size_t at = (size_t)b * row;
        if (time < 0)
            continue;
        memcpy((char *)l->h->data + at, (const char *)out[1]->data + at, row);
        memcpy((char *)l->c->data + at, (const char *)out[2]->data + at, row);
        if (k->n_out > 0 && k->out[0])
            memcpy((char *)k->out[0]->data +
                       (size_t)((time * l->dirs + l->dir) * l->batch + b) * row,
                   (const char *)out[1]->data + at, row);
    }
}

void odb_lstm_take(struct odb_chain *c, struct odb_lstm *l, const struct odb_tensor *x,
                   const struct odb_tensor *h)
{
    const struct odb_tensor *out[3];
    struct odb_attr *attrs = odb_new_n(struct odb_attr, c->k->attrs.n + 1);
    odb_chain_steps(c,
                    &(const struct odb_step){.op = "LSTM",
                                             .opset = 14,
                                             .in = {x, l->w, l->r, l->bias, NULL, h, l->c, l->peep},
                                             .attrs = {attrs, lstm_attrs(c->k, l, attrs)}},
                    3, out);
    if (odb_chain_ok(c))
        lstm_keep(c->k, l, out);
    free(attrs);
}

/* --- a run ------------------------------------------------------------------------------------ */

static enum odb_status lstm_lengths(struct odb_kern *k, struct odb_lstm *l)
{
    l->len = odb_work_take((size_t)l->batch, sizeof *l->len);
    if (!l->len)
        return odb_kern_no_memory(k);
    for (int64_t b = 0; b < l->batch; b++) {
        l->len[b] = odb_kern_in(k, 4) ? odb_tensor_i64(k->in[4], (size_t)b) : l->steps;
        if (l->len[b] < 0 || l->len[b] > l->steps)
            return ODB_KERN_FAIL(k, "sequence %lld has %lld of %lld steps", (long long)b,
                                 (long long)l->len[b], (long long)l->steps);
        l->most = ODB_MAX(l->most, l->len[b]);
    }
    return ODB_OK;
}

static void lstm_release(struct odb_lstm *l)
{
    struct odb_tensor **refs[] = {&l->w, &l->r, &l->bias, &l->peep, &l->h, &l->c};
    for (size_t i = 0; i < ODB_COUNT(refs); i++) {
        odb_tensor_unref(*refs[i]);
        *refs[i] = NULL;
    }
}

/* What both directions have beside weights: bias, peepholes, states. */
static enum odb_status lstm_direction(struct odb_kern *k, struct odb_lstm *l)
{
    const int64_t state[] = {1, l->batch, l->hidden};
    ODB_TRY(odb_lstm_part(k, l, 3, 2, (const int64_t[]){1, 8 * l->hidden}, &l->bias));
    ODB_TRY(odb_lstm_part(k, l, 7, 2, (const int64_t[]){1, 3 * l->hidden}, &l->peep));
    ODB_TRY(odb_lstm_part(k, l, 5, 3, state, &l->h));
    ODB_TRY(odb_lstm_part(k, l, 6, 3, state, &l->c));
    if (!l->h)
        ODB_TRY(odb_tensor_new(&l->h, l->dtype, 3, state, k->err));
    return l->c ? ODB_OK : odb_tensor_new(&l->c, l->dtype, 3, state, k->err);
}

enum odb_status odb_lstm_run(struct odb_kern *k, struct odb_lstm *l,
                             enum odb_status (*begin)(struct odb_kern *k, struct odb_lstm *l),
                             odb_chain_fn step)
{
    enum odb_status status = ODB_OK;
    ODB_TRY_OUT(lstm_lengths(k, l));
    if (k->n_out > 0 && k->out[0] && k->out[0]->bytes)
        memset(k->out[0]->data, 0, k->out[0]->bytes);
    for (l->dir = 0; l->dir < l->dirs; l->dir++) {
        l->reverse = l->reverse || l->dir == 1;
        ODB_TRY_OUT(lstm_direction(k, l));
        ODB_TRY_OUT(begin(k, l));
        for (l->step = 0; l->step < l->most; l->step++)
            ODB_TRY_OUT(odb_chain_run_with(k, step, l));
        for (int i = 1; i < k->n_out; i++)
            if (k->out[i] && l->h->bytes)
                memcpy((char *)k->out[i]->data + (size_t)l->dir * l->h->bytes,
                       (i == 1 ? l->h : l->c)->data, l->h->bytes);
        lstm_release(l);
    }
out:
    lstm_release(l);
    odb_work_give(l->len);
    l->len = NULL;
    return status;
}

const struct odb_attr_spec odb_lstm_attrs[] = {{"activation_alpha", ODB_ATTR_FLOATS, NULL, false},
                                               {"activation_beta", ODB_ATTR_FLOATS, NULL, false},
                                               {"activations", ODB_ATTR_STRINGS, NULL, false},
                                               {"clip", ODB_ATTR_FLOAT, NULL, false},
                                               {"direction", ODB_ATTR_STRING, "forward", false},
                                               {"hidden_size", ODB_ATTR_INT, NULL, false},
                                               {"input_forget", ODB_ATTR_INT, "0", false},
                                               {NULL}};
