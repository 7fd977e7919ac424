/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The sequence of runs that the options of a call say, and the inputs of one of its steps.
 */
#ifndef ODB_COMMAND_VALUE_CALL_SEQUENCE_H
#define ODB_COMMAND_VALUE_CALL_SEQUENCE_H

#include "sequence/plan/recorded_steps.h"
#include "sequence/reference/rollout.h"

struct odb_command_call;

/* Whether the call says anything of a sequence. */
bool odb_call__plan_given(const struct odb_command_call *call);
/* The same of the user, with this call: settings of a console aside. */
bool odb_call__plan_said(const struct odb_command_call *call);
/* Whether the user names, with this call, one step of it. */
bool odb_call__step_given(const struct odb_command_call *call);
/* The plan that its options make; the caller's. recorded: NULL: none are. Without --steps there are
 * as many as were recorded, or as the folder of --inputs-from has sets of inputs; and each takes as
 * many pieces as it has there, unless --chunks or --prefill say otherwise of sets. As
 * odb_plan_make(), and ODB_E_USAGE where less were recorded. */
enum odb_status odb_call__plan(struct odb_command_call *call,
                               const struct odb_recorded_steps *recorded, struct odb_plan **out,
                               struct odb_error *err) ODB_MUST_USE;
/* Writes folder/plan.seq, for --sequence. */
enum odb_status odb_call__plan_write(const struct odb_plan *plan, const char *folder,
                                     struct odb_error *err) ODB_MUST_USE;
/* What a plan takes from outside: recorded, where that is not NULL, else as the call's input
 * settings say, of which each set in the folder of --inputs-from is a step's; the caller's, and the
 * plan stays where it is. The target of the call becomes that of the first recorded step. */
enum odb_status odb_call__streams(struct odb_command_call *call, const struct odb_plan *plan,
                                  const struct odb_recorded_steps *recorded,
                                  struct odb_streams **out, struct odb_error *err) ODB_MUST_USE;
/* The steps of a sequence as the reference has them. */
struct odb_call_steps {
    struct odb_plan *plan;       /* owned; NULL: not made */
    struct odb_streams *streams; /* owned */
    struct odb_rollout *rollout; /* owned */
};
/* Makes the plan, and runs the steps from 0 to --at-step, or to the last; with all, to the last in
 * any case. *step: which of them is meant. out is zeroed by the caller, who disposes of it, on
 * failure too. ODB_E_USAGE: there is no such step, or the plan lacks something. */
enum odb_status odb_call__steps(struct odb_command_call *call, bool all, struct odb_call_steps *out,
                                size_t *step, struct odb_error *err) ODB_MUST_USE;
void odb_call__steps_dispose(struct odb_call_steps *steps);
/* The feeds of --at-step, or of the last step, on the reference; the caller's. Errors are
 * those of odb_call__steps(). */
enum odb_status odb_call__step_feeds(struct odb_command_call *call, struct odb_feeds **out,
                                     struct odb_error *err) ODB_MUST_USE;

#endif
