/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A dump of every step of a sequence, with the executor's own states.
 */
#ifndef ODB_COMMAND_VERBS_FILE_DUMP_STEPS_H
#define ODB_COMMAND_VERBS_FILE_DUMP_STEPS_H

#include "run/feeds.h"

struct odb_command_call;

/* Dumps all outputs that the feeds give into a folder. */
typedef enum odb_status odb_dump_step_fn(void *payload, const char *folder,
                                         const struct odb_feeds *feeds, struct odb_error *err);

/* Makes root/step_00000 and so on, and root/plan.seq, as the options of the call say; what one step
 * gave goes into the next, and chooses its tokens, so that it is a recording as a host makes it.
 * ODB_E_EXECUTOR: a step did not give a state that the next one takes; ODB_E_USAGE: root has a step
 * more. */
enum odb_status odb_call__dump_steps(struct odb_command_call *call, const char *root,
                                     odb_dump_step_fn *dump, void *payload,
                                     struct odb_error *err) ODB_MUST_USE;

#endif
