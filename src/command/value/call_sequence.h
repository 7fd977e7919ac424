/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The sequence of runs that the options of a call say, and the inputs of one of its steps.
 */
#ifndef ODB_COMMAND_VALUE_CALL_SEQUENCE_H
#define ODB_COMMAND_VALUE_CALL_SEQUENCE_H

#include "sequence/rollout.h"

struct odb_command_call;

/* Whether the call says anything of a sequence. */
bool odb_call__plan_given(const struct odb_command_call *call);
/* Whether the user names, with this call, one step of it. */
bool odb_call__step_given(const struct odb_command_call *call);
/* The plan that its options make; the caller's. As odb_plan_make(). */
enum odb_status odb_call__plan(const struct odb_command_call *call, struct odb_plan **out,
                               struct odb_error *err) ODB_MUST_USE;
/* What a plan takes from outside, made as the call's input settings say; the caller's, and the plan
 * stays where it is. */
enum odb_status odb_call__streams(struct odb_command_call *call, const struct odb_plan *plan,
                                  struct odb_streams **out, struct odb_error *err) ODB_MUST_USE;
/* The feeds of --at-step, or of the last step, on the reference; the caller's. ODB_E_USAGE: there
 * is no such step, or the plan lacks something. */
enum odb_status odb_call__step_feeds(struct odb_command_call *call, struct odb_feeds **out,
                                     struct odb_error *err) ODB_MUST_USE;

#endif
