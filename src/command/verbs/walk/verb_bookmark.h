/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `bookmark` without a screen.
 */
#ifndef ODB_COMMAND_VERBS_WALK_VERB_BOOKMARK_H
#define ODB_COMMAND_VERBS_WALK_VERB_BOOKMARK_H

#include "base/error.h"

struct odb_command_call;

/* `bookmark` with a letter and a node, or with nothing, which lists them. */
enum odb_status odb_annotating_bookmark(struct odb_command_call *call,
                                        struct odb_error *err) ODB_MUST_USE;

#endif
