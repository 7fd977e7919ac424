/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is written of a sequence, where steps and no node are at fault.
 */
#ifndef ODB_COMMAND_VERBS_FILE_EXPORT_STEPS_H
#define ODB_COMMAND_VERBS_FILE_EXPORT_STEPS_H

#include "sequence/plan/sequence_plan.h"

struct odb_command_call;

/* Whether the session's last search blames a carry, and the call has the plan; *step: from which
 * one on it leads astray. */
bool odb_call__carry_blamed(const struct odb_command_call *call, size_t *step);
/* Writes that step and the one before it, as the reference runs them, to test_data_set_1 and
 * test_data_set_0 of a folder that is not there or empty, and the plan beside them. */
enum odb_status odb_call__export_carry(struct odb_command_call *call, const char *dir, size_t step,
                                       struct odb_error *err) ODB_MUST_USE;

#endif
