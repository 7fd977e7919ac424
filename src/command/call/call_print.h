/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a command prints.
 */
#ifndef ODB_COMMAND_CALL_CALL_PRINT_H
#define ODB_COMMAND_CALL_CALL_PRINT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

struct odb_buf;
struct odb_command_call;

/* Writes the text to the call's out and empties the buffer. */
void odb_call__print(struct odb_command_call *call, struct odb_buf *text);
/* Whether --json asks for JSON in a file, or in place of the text. */
bool odb_call__json(const struct odb_command_call *call, bool *instead);
/* Puts the JSON that --json asked for where it said, and empties the buffer. */
enum odb_status odb_call__publish(struct odb_command_call *call, struct odb_buf *json,
                                  struct odb_error *err) ODB_MUST_USE;
/* Adds "chosen", what was chosen for inputs, where the command makes any and the object lacks it.
 */
void odb_call__json_chosen(const struct odb_command_call *call, json_t *json);
/* Gives what a command has found: JSON where --json says, and the text unless JSON takes its place.
 * Takes the reference over, which may be NULL where it is not asked for, and empties the buffer. */
enum odb_status odb_call__give(struct odb_command_call *call, json_t *json, struct odb_buf *text,
                               struct odb_error *err) ODB_MUST_USE;
/* Appends a line, cut to so many columns of a terminal; 0: not cut. text is shown safely already.
 */
void odb_call__put_line(struct odb_buf *out, const char *text, int width);
/* "onnxdbg: warning: TEXT" on the call's log, shown safely. */
void odb_call__warn(struct odb_command_call *call, const char *text);

#endif
