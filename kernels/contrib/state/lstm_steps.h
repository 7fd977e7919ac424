/* SPDX-License-Identifier: MIT
 *
 * An LSTM that is run step by step, for operators that do something between its steps: what goes in
 * is made anew before each of them, as is the state. Each step is LSTM itself on the whole batch;
 * entries whose sequence has ended keep their state.
 */
#ifndef ODB_KERNELS_CONTRIB_LSTM_STEPS_H
#define ODB_KERNELS_CONTRIB_LSTM_STEPS_H

#include "kernels/core/chain.h"
#include "kernels/contrib/contrib.h"

struct odb_lstm {
    int64_t steps, batch, input, hidden, dirs;
    enum odb_dtype dtype;
    int64_t *len;                                   /* owned, [batch] */
    int64_t most;                                   /* largest of them */
    int dir;                                        /* now computed */
    bool reverse;                                   /* it */
    struct odb_tensor *w, *r, *bias, *peep, *h, *c; /* refs: of it; bias and peep may be NULL */
    int64_t step;                                   /* now computed */
};

/* Sizes of inputs 0 (X: steps, batch, input) and 2, whose rank is 3 and whose dimension `hidden_at`
 * is the hidden size; the attribute direction; numbers of elements of inputs 3 to 7, which are
 * those of LSTM. */
enum odb_status odb_lstm_read(struct odb_kern *k, struct odb_lstm *l, int hidden_at) ODB_MUST_USE;
/* Outputs as LSTM has them. */
enum odb_status odb_lstm_outline(struct odb_kern *k, const struct odb_lstm *l) ODB_MUST_USE;

/* The part of input i that belongs to the direction, of these dims; *out stays NULL where the input
 * is omitted. The caller's. */
enum odb_status odb_lstm_part(struct odb_kern *k, const struct odb_lstm *l, int i, int rank,
                              const int64_t *dims, struct odb_tensor **out) ODB_MUST_USE;

/* Number of the step of X that entry b takes now, or -1 behind its end. */
int64_t odb_lstm_time(const struct odb_lstm *l, int64_t b);
/* The entries' rows of x (steps, batch, width) that are taken now, as (1, batch, width), zero
 * behind their ends; the chain's. */
struct odb_tensor *odb_lstm_rows(struct odb_chain *c, const struct odb_lstm *l,
                                 const struct odb_tensor *x);
/* One step from the states h and l->c: puts what comes into l->h and l->c and output 0. */
void odb_lstm_take(struct odb_chain *c, struct odb_lstm *l, const struct odb_tensor *x,
                   const struct odb_tensor *h);

/* Runs all directions. begin() makes l->w and l->r of a direction, and what else the operator has;
 * step() calls odb_lstm_take() once; both have l as arg, which may begin a larger struct. Releases
 * what is in l. */
enum odb_status odb_lstm_run(struct odb_kern *k, struct odb_lstm *l,
                             enum odb_status (*begin)(struct odb_kern *k, struct odb_lstm *l),
                             odb_chain_fn step) ODB_MUST_USE;

/* Attributes that every LSTM has. */
extern const struct odb_attr_spec odb_lstm_attrs[];

#endif
