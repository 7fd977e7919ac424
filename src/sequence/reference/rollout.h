/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The steps of a plan on the reference: what each is fed and what it gives. A state that only grows
 * is kept once, as it is at the end; all that a step had of it is a part of that. What memory has
 * no room for is on disk.
 */
#ifndef ODB_SEQUENCE_ROLLOUT_H
#define ODB_SEQUENCE_ROLLOUT_H

#include "run/hooks.h"
#include "sequence/plan/stream.h"

/* One step. Tensors are NULL where they are part of a state that grows. */
struct odb_sequence_step {
    size_t past, pieces;     /* of the feeds: those of the steps before, and its own */
    struct odb_tensor **in;  /* owned refs; [plan->inputs.n] */
    struct odb_tensor **out; /* owned refs; [graph->n_outputs] */
};

struct odb_rollout {
    const struct odb_plan *plan; /* borrowed */
    struct odb_streams *streams; /* borrowed */
    ODB_VEC(struct odb_sequence_step) steps;
    struct odb_tensor **grown; /* owned refs; [plan->inputs.n] of a carry that appends, and leaves
                                  what was there bit for bit, what it has come to while it did;
                                  steps have the shapes of their parts of it. NULL: none */
    struct odb_spill *spill;   /* owned */
    bool *slides;              /* owned; [plan->inputs.n] a carry that grew to a length, and from
                                  then on loses as much as it takes */
    bool *broken;              /* owned; [plan->inputs.n] a carry that appends and does not */
    int broken_input;          /* a carry that appends and does not, first in this step; else -1 */
    size_t broken_step;
    bool stopped; /* the plan's formula held after the last of the steps */
};

/* What a step is fed, from what the step before it was fed and gave (NULL: it is the first); its
 * own pieces are [past, past + n). in: [plan->inputs.n], refs of the caller's, on failure of those
 * that could be made all the same; NULL as well where the step before has no such output.
 * ODB_E_INPUT: a formula fails, or gives what the input cannot take. */
enum odb_status odb_step_feed(struct odb_tensor **in, const struct odb_plan *plan,
                              const struct odb_streams *streams, size_t step, size_t past, size_t n,
                              const struct odb_sequence_step *before,
                              struct odb_error *err) ODB_MUST_USE;
/* What comes after step number at as the plan has it, of what that was fed and gave: whether its
 * formula ends the sequence there, and a token that the logits choose, which goes into the
 * streams; without logits none does. */
enum odb_status odb_step_follow(const struct odb_plan *plan, struct odb_streams *streams, size_t at,
                                const struct odb_sequence_step *step, bool *stops,
                                struct odb_error *err) ODB_MUST_USE;
/* What an input of a step is made of, changed before the step takes it; the caller's. */
typedef enum odb_status odb_rollout_change_fn(void *payload, size_t step, size_t input,
                                              struct odb_tensor **fed, struct odb_error *err);
/* Runs the reference step by step, in native precision. chunks: how many pieces each step takes, n
 * of them; NULL: as the plan says. As the plan says, and without change, the steps end where its
 * formula does, and tokens that are to be chosen by the logits go into the streams. change: of
 * every input of every step; NULL: none. ODB_UNSUPPORTED: it has no kernel for a node. */
enum odb_status odb_rollout_make(struct odb_rollout **out, const struct odb_plan *plan,
                                 struct odb_streams *streams, const size_t *chunks, size_t n,
                                 odb_rollout_change_fn *change, void *payload,
                                 const struct odb_search_hooks *hooks,
                                 struct odb_error *err) ODB_MUST_USE;
void odb_rollout_free(struct odb_rollout *rollout); /* NULL is fine */
/* Whether input number i was the same in each of several steps; and whether all inputs were, so
 * that the steps are one. */
bool odb_rollout_same(const struct odb_rollout *rollout, size_t i);
bool odb_rollout_repeats(const struct odb_rollout *rollout);
/* The feeds of a step, the caller's, and what it gave of output number o, a ref of the caller's. */
enum odb_status odb_rollout_feeds(struct odb_feeds **out, const struct odb_rollout *rollout,
                                  size_t step, struct odb_error *err) ODB_MUST_USE;
enum odb_status odb_rollout_output(struct odb_tensor **out, const struct odb_rollout *rollout,
                                   size_t step, size_t o, struct odb_error *err) ODB_MUST_USE;
/* "step 6 (5 past + 1 new)"; "step 6" where nothing is counted. Returns buf. */
const char *odb_plan_step_text(const struct odb_plan *plan, size_t step, char *buf, size_t size);
/* The input that carries output number o, as a number of plan->inputs; -1: none does. */
int odb_plan_carrier(const struct odb_plan *plan, size_t o);
void odb_step_dispose(struct odb_sequence_step *step, size_t n_in, size_t n_out);

#endif
