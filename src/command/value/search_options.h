/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The options of a search, as a call gives them.
 */
#ifndef ODB_COMMAND_VALUE_SEARCH_OPTIONS_H
#define ODB_COMMAND_VALUE_SEARCH_OPTIONS_H

#include "command/table/command.h"

struct odb_bisect_options;
struct odb_command_call;
struct odb_criterion;
struct odb_own_rows;

/* --tol, else the default. */
enum odb_status odb_call__tolerance(const struct odb_command_call *call, struct odb_criterion *out,
                                    struct odb_error *err) ODB_MUST_USE;
/* What --reference, --target, --tol, --expect, --strategy and --seed say; no hooks. */
enum odb_status odb_call__search_options(struct odb_command_call *call,
                                         struct odb_bisect_options *out,
                                         struct odb_error *err) ODB_MUST_USE;
/* The user's rows of variants that --variants names, kept in the session; NULL: none. Borrowed. */
enum odb_status odb_call__own_rows(struct odb_command_call *call, const struct odb_own_rows **out,
                                   struct odb_error *err) ODB_MUST_USE;
/* An option that is a number and not negative; *out stays where it is not given. */
enum odb_status odb_call__real(const struct odb_command_call *call, enum odb_option_id id,
                               double *out, struct odb_error *err) ODB_MUST_USE;

#endif
