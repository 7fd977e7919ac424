/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What --against says: another model of the same network.
 */
#ifndef ODB_COMMAND_VERBS_SEARCH_AGAINST_OPTION_H
#define ODB_COMMAND_VERBS_SEARCH_AGAINST_OPTION_H

#include "twomodels/against.h"

struct odb_command_call;

struct odb_call_against {
    struct odb_model *model;     /* owned; NULL: there is no --against */
    struct odb_renames *renames; /* owned: of --map */
    char *label;                 /* owned: what the report calls it */
    struct odb_against how;
};

/* Opens the other model and makes the options those of a search against it: what it is called, on
 * what it runs, and what may be expected of it. Without --against nothing changes. *out is to be
 * disposed of after failure, too. */
enum odb_status odb_call__against(struct odb_command_call *call, struct odb_call_against *out,
                                  struct odb_bisect_options *options,
                                  struct odb_error *err) ODB_MUST_USE;
void odb_call__against_dispose(struct odb_call_against *against);

#endif
