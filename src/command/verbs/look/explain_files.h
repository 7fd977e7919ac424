/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `explain --op`: a call that is known from files alone, of no model and no target.
 */
#ifndef ODB_COMMAND_VERBS_LOOK_EXPLAIN_FILES_H
#define ODB_COMMAND_VERBS_LOOK_EXPLAIN_FILES_H

#include "base/error.h"

#define EXPLAIN_FACTOR 10 /* times the noise is agreement, as in --tol noise */

struct odb_command_call;

/* Seconds of --explain-budget, else as long as the user may wait for one node. */
double explain_seconds(const struct odb_command_call *call);
enum odb_status explain_files(struct odb_command_call *call, struct odb_error *err) ODB_MUST_USE;

#endif
