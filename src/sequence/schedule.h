/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a host fed, held against the plan, before anything is run: a state is what the step before
 * gave, and masks, positions and lengths are what their formulas make. A host that feeds anything
 * else is at fault, and no node is.
 */
#ifndef ODB_SEQUENCE_SCHEDULE_H
#define ODB_SEQUENCE_SCHEDULE_H

#include "sequence/plan/recorded_steps.h"
#include "sequence/reference/rollout.h"

struct odb_schedule {
    int input;      /* number of plan->inputs: the first that is fed otherwise; -1: none is */
    size_t step;    /* the first in which it is */
    size_t wrong;   /* in how many it is */
    bool on;        /* in all from that one on, more than one */
    size_t others;  /* other inputs that are fed otherwise, from whatever step on */
    size_t checked; /* inputs of steps that were recorded and held against the plan */
    size_t untold;  /* that were recorded, and nothing tells what was due */
    size_t assumed; /* that were not recorded, and taken as the plan has them */
    char *how;      /* owned: "7 where 6 is due" */
    char *unknown;  /* owned: why the plan could not be followed, the first time; NULL: it could */
};

/* Compares numbers exactly, with 0 as -0 and NaN as NaN; where two types are recorded of what
 * should be one, finite ones within the coarser.
 * What was not recorded of the inputs is put in its place in recorded, as far as the plan and the
 * recorded outputs tell it, and all is cast to the types of the model. ODB_E_INPUT: an input cannot
 * take what was recorded. */
enum odb_status odb_schedule_check(struct odb_schedule *out, const struct odb_plan *plan,
                                   struct odb_streams *streams, struct odb_recorded_steps *recorded,
                                   struct odb_error *err) ODB_MUST_USE;
void odb_schedule_dispose(struct odb_schedule *schedule);
/* In the place of what the plan makes: what was fed, as odb_schedule_check() left it. payload: the
 * struct odb_recorded_steps. */
enum odb_status odb_schedule_fed(void *payload, size_t step, size_t input, struct odb_tensor **fed,
                                 struct odb_error *err);
/* The feeds of a step as they were recorded; the caller's. NULL: the reference has to make some. */
struct odb_feeds *odb_schedule_feeds(const struct odb_plan *plan,
                                     const struct odb_recorded_steps *recorded, size_t step);
/* "the host feeds position_ids otherwise than the plan says, from step 6 on: 7 where 6 is due". */
void odb_schedule_put(const struct odb_schedule *schedule, const struct odb_plan *plan,
                      struct odb_buf *out);

#endif
