/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Opens what a command is about.
 */
#ifndef ODB_COMMAND_CALL_CALL_OPEN_H
#define ODB_COMMAND_CALL_CALL_OPEN_H

#include "base/error.h"

struct odb_command_call;
struct odb_model;

/* Opens the model that the call is about, with the session of --session; or, where a command that
 * takes a session is given one in the model's place, that and its model. */
enum odb_status odb_call__open_model(struct odb_command_call *call, const char *path,
                                     struct odb_error *err) ODB_MUST_USE;
/* Opens the first argument (an ODB_ARG_SOURCE) as a model unless it is a tensor file. */
enum odb_status odb_call__open_source(struct odb_command_call *call,
                                      struct odb_error *err) ODB_MUST_USE;
/* Opens a model that the user has named, with the links that --follow-links allows, and at a
 * console those that its own model was opened with. */
enum odb_status odb_call_read_model(struct odb_model **out, const struct odb_command_call *call,
                                    const char *path, struct odb_error *err) ODB_MUST_USE;

#endif
