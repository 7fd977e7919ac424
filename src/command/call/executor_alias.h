/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Settings are checked before they are kept.
 */
#ifndef ODB_COMMAND_CALL_EXECUTOR_ALIAS_H
#define ODB_COMMAND_CALL_EXECUTOR_ALIAS_H

#include "base/error.h"

struct odb_console;
struct odb_option;

/* Checks a value that a session is going to use later: a spec must name an executor that there is,
 * or be an alias of one; console may be NULL. */
enum odb_status odb_call__check_setting(const struct odb_console *console,
                                        const struct odb_option *row, const char *value,
                                        struct odb_error *err) ODB_MUST_USE;

#endif
