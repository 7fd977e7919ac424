/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What --steps, --carry, --sequence and the like say: bisect runs the model step by step, finds the
 * step, and searches that one.
 */
#ifndef ODB_COMMAND_VERBS_SEARCH_SEQUENCE_OPTION_H
#define ODB_COMMAND_VERBS_SEARCH_SEQUENCE_OPTION_H

#include "sequence/sequence_found.h"

struct odb_command_call;
struct odb_report;

struct odb_call_sequence {
    bool given; /* there is more than one step */
    bool begun; /* and so is the session's search: what the target answers is kept */
    struct odb_command_call *call;
    struct odb_recorded_steps recorded; /* the target's; of none if it runs */
    struct odb_plan *plan;              /* owned */
    struct odb_streams *streams;        /* owned */
    struct odb_sequence found;
};

/* Makes the plan, runs its steps, prints what came of them (unless JSON is printed), and makes the
 * feeds of the step that is to be searched the session's. A target with recorded steps becomes
 * that of the step. Without options of a sequence, and without such a target, nothing changes. *out
 * is to be disposed of always, and stays where it is. */
enum odb_status odb_call__sequence(struct odb_command_call *call, struct odb_call_sequence *out,
                                   struct odb_bisect_options *options,
                                   struct odb_error *err) ODB_MUST_USE;
/* Whether the nodes of that step are to be searched: else the steps alone decide. */
bool odb_call__sequence_searches(const struct odb_call_sequence *sequence);
/* After the search of the step, by the same options: what it accuses is tried in other wrong steps,
 * and one of them that has another cause is searched. What cannot be had is a note of the report.
 */
void odb_call__sequence_others(struct odb_call_sequence *sequence, struct odb_report *report,
                               const struct odb_bisect_options *options);
/* What the steps came to belongs to the report, and what could not be judged. */
void odb_call__sequence_report(struct odb_call_sequence *sequence, struct odb_report *report);
void odb_call__sequence_dispose(struct odb_call_sequence *sequence);

#endif
