/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The inputs of the model, made as the options of a call say.
 */
#ifndef ODB_COMMAND_VALUE_CALL_FEEDS_H
#define ODB_COMMAND_VALUE_CALL_FEEDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct odb_command_call;
struct odb_feeds;

/* Inputs as --input, --inputs-from, --dim and --seed say, made once in the session; their warnings
 * are printed. Borrowed. */
enum odb_status odb_call__feeds(struct odb_command_call *call, const struct odb_feeds **out,
                                struct odb_error *err) ODB_MUST_USE;
/* Fresh ones, from a folder or file or NULL, with so much more than --seed; the caller's. */
enum odb_status odb_call__make_feeds(struct odb_command_call *call, const char *from,
                                     uint32_t shift, struct odb_feeds **out,
                                     struct odb_error *err) ODB_MUST_USE;
/* They are the session's from now on, and what there is to say of them is said. */
void odb_call__feed_take(struct odb_command_call *call, struct odb_feeds *feeds);
/* Says what there is to say of them: whence, and warnings. */
void odb_call__feed_tell(struct odb_command_call *call, const struct odb_feeds *feeds);
/* What was chosen of them, in a line: "batch=1 sequence=8"; "": nothing. Borrowed: the call or its
 * session. */
const char *odb_call__chosen(const struct odb_command_call *call);
/* Says that as well. */
void odb_call__chosen_tell(struct odb_command_call *call);
/* Whether the set of inputs is one that was chosen, beside the model. */
bool odb_call__set_is_chosen(const struct odb_command_call *call);

#endif
