/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Walking on, for the commands that do.
 */
#ifndef ODB_COMMAND_VERBS_WALK_VERB_STEP_H
#define ODB_COMMAND_VERBS_WALK_VERB_STEP_H

#include "base/error.h"

struct odb_command_call;

/* Ways to walk: commands of these names. */
enum odb_go {
    ODB_GO_RUN,
    ODB_GO_CONTINUE,
    ODB_GO_STEP,
    ODB_GO_NEXT,
    ODB_GO_UNTIL,
    ODB_GO_FINISH,
    ODB_GO_RESTART
};

/* Walks the target on, and says where it stands. arg: how many nodes, or which; NULL: one. */
enum odb_status odb_call__walk(struct odb_command_call *call, enum odb_go how, const char *arg,
                               struct odb_error *err) ODB_MUST_USE;

#endif
