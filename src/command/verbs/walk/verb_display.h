/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Expressions that are shown at every stop of a walk.
 */
#ifndef ODB_COMMAND_VERBS_WALK_VERB_DISPLAY_H
#define ODB_COMMAND_VERBS_WALK_VERB_DISPLAY_H

#include <jansson.h>

struct odb_buf;
struct odb_command_call;

/* On a screen keeps what odb_call__put_displays() says for it, elsewhere appends that. */
void odb_call__tell_displays(struct odb_command_call *call, struct odb_buf *out);
/* Appends "1: max(x)" and what it is now, for each of them that is enabled. */
void odb_call__put_displays(struct odb_command_call *call, struct odb_buf *out);

/* The same as a list of objects. A new reference. */
json_t *odb_call__displays_json(struct odb_command_call *call);

#endif
