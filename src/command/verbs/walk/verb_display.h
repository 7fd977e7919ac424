/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Expressions that are shown at every stop of a walk.
 */
#ifndef ODB_COMMAND_VERBS_WALK_VERB_DISPLAY_H
#define ODB_COMMAND_VERBS_WALK_VERB_DISPLAY_H

struct odb_buf;
struct odb_command_call;

/* Appends "1: max(x)" and what it is now, for each of them that is enabled. */
void odb_call__put_displays(struct odb_command_call *call, struct odb_buf *out);

#endif
