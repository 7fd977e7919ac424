/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where the model of a session file is.
 */
#ifndef ODB_COMMAND_CALL_SESSION_MODEL_H
#define ODB_COMMAND_CALL_SESSION_MODEL_H

#include "base/error.h"

/* The model that a session file is about, where it is now: where it was, or beside the session. The
 * caller's. Errors name the file. */
enum odb_status odb_sessions_model(char **out, const char *path,
                                   struct odb_error *err) ODB_MUST_USE;

#endif
