/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the inputs of a model were made with, kept in the session file.
 */
#ifndef ODB_COMMAND_CALL_INPUT_SETTINGS_H
#define ODB_COMMAND_CALL_INPUT_SETTINGS_H

#include <stdbool.h>

#include "base/error.h"

struct odb_command_call;
struct odb_console;

/* What the inputs were made with is kept in the session's file, where there is
 * one: with the search that has begun, or for as long as there is none. */
enum odb_status odb_call__input_settings_keep(const struct odb_command_call *call, bool search,
                                              struct odb_error *err) ODB_MUST_USE;
/* Settings become those that the file has, before the console runs any command; as far as they
 * may (trust_store.h), and what may not is said. */
enum odb_status odb_console_input_settings_restore(struct odb_console *console,
                                                   struct odb_command_call *call,
                                                   struct odb_error *err) ODB_MUST_USE;
/* The same for a command of the shell: options that it has and that are not given. ODB_E_USAGE:
 * the user has to give one himself. */
enum odb_status odb_call__input_settings_restore(struct odb_command_call *call,
                                                 struct odb_error *err) ODB_MUST_USE;

/* Where the session's newest inputs were chosen and not given, that choice is the call's, as if the
 * user had given it: call->chosen says so. For a call that gives nothing of inputs. */
enum odb_status odb_call__input_settings_chosen(struct odb_command_call *call,
                                                struct odb_error *err) ODB_MUST_USE;

#endif
