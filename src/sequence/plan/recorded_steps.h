/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A recording of several steps: a folder for each, step_00000, step_00001, … or test_data_set_0, …,
 * as a host writes them that runs a model step by step. Each is a recording by itself.
 */
#ifndef ODB_SEQUENCE_PLAN_RECORDED_STEPS_H
#define ODB_SEQUENCE_PLAN_RECORDED_STEPS_H

#include "run/hooks.h"
#include "sequence/plan/sequence_plan.h"

struct odb_recorded_step {
    struct odb_tensor **in;  /* owned refs; [plan->inputs.n]; NULL: it was not recorded */
    struct odb_tensor **out; /* owned refs; [graph->n_outputs]; the same */
    bool *given;             /* owned; [plan->inputs.n] in was recorded, not put there since */
};

struct odb_recorded_steps {
    char **specs;                    /* owned; [n] "dump:FOLDER/step_00000" */
    size_t n;                        /* 0: the spec is no recording, or one of a single run */
    struct odb_recorded_step *items; /* owned; [n_read] */
    size_t n_read, n_in, n_out;
    struct odb_spill *spill; /* owned; NULL: nothing was read */
};

/* ODB_E_INPUT: steps are not numbered from 0 on, one after the other. */
enum odb_status odb_recorded_steps_find(struct odb_recorded_steps *out, const char *spec,
                                        struct odb_error *err) ODB_MUST_USE;
/* Inputs and outputs of the plan's steps, of which there are no more than n, all at once: what
 * memory has no room for is on disk. */
enum odb_status odb_recorded_steps_read(struct odb_recorded_steps *steps,
                                        const struct odb_plan *plan,
                                        const struct odb_search_hooks *hooks,
                                        struct odb_error *err) ODB_MUST_USE;
void odb_recorded_steps_dispose(struct odb_recorded_steps *steps);
/* The name of a step's folder. Returns buf. */
const char *odb_recorded_step_name(size_t step, char *buf, size_t size);

#endif
