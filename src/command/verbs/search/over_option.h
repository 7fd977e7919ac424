/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What --over says: several specs, of which the search takes the one that brings the error.
 */
#ifndef ODB_COMMAND_VERBS_SEARCH_OVER_OPTION_H
#define ODB_COMMAND_VERBS_SEARCH_OVER_OPTION_H

#include "sweep/over.h"

struct odb_command_call;
struct odb_report;

struct odb_call_over {
    bool given; /* there is --over */
    bool spent; /* and nothing of the budget is left */
    struct odb_over what;
    struct odb_over_found found;
};

/* Runs the model under the specs, prints what came of it (unless JSON is printed), and makes the
 * spec that fails the options' target; call->found says whether one does. Without --over nothing
 * changes. *out is to be disposed of after failure, too. */
enum odb_status odb_call__over(struct odb_command_call *call, struct odb_call_over *out,
                               struct odb_bisect_options *options,
                               struct odb_error *err) ODB_MUST_USE;
/* With --over-only: the JSON of it, where that was asked for. */
enum odb_status odb_call__over_publish(struct odb_command_call *call,
                                       const struct odb_call_over *over,
                                       struct odb_error *err) ODB_MUST_USE;
/* Without it: what it came to belongs to the report of the search that follows. */
void odb_call__over_report(const struct odb_call_over *over, struct odb_report *report);
void odb_call__over_dispose(struct odb_call_over *over);

#endif
