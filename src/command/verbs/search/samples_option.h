/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What --samples says, or a folder of several sets: which inputs bisect and suspects search.
 */
#ifndef ODB_COMMAND_VERBS_SEARCH_SAMPLES_OPTION_H
#define ODB_COMMAND_VERBS_SEARCH_SAMPLES_OPTION_H

#include "sweep/samples.h"

struct odb_command_call;
struct odb_suspects;

struct odb_call_samples {
    bool given; /* there are several */
    struct odb_command_call *call;
    char **sets; /* owned; NULL: seeds */
    struct odb_samples found;
    struct odb_suspects *ranked; /* owned: what judged them; NULL: each was but judged */
};

/* Judges the samples, prints what came of it (unless JSON is printed), and makes the inputs of the
 * worst the session's; call->found says whether one diverges. Where the target gives only outputs,
 * they are ranked at once, with one load; if that was stopped, so is the command. Without several
 * nothing changes. *out is to be disposed of always, and stays where it is. */
enum odb_status odb_call__samples(struct odb_command_call *call, struct odb_call_samples *out,
                                  const struct odb_bisect_options *options,
                                  struct odb_error *err) ODB_MUST_USE;
/* The samples alone, for a verb that judges them itself: as many as usual where the call does not
 * say, one where all inputs are given. */
enum odb_status odb_call__samples_of(struct odb_command_call *call, struct odb_call_samples *out,
                                     size_t usual, struct odb_error *err) ODB_MUST_USE;
/* How many diverge, and each. */
void odb_call__samples_print(struct odb_call_samples *samples);
/* What the search found, on the others. That this fails is a note in the report. */
void odb_call__samples_confirm(struct odb_call_samples *samples, struct odb_report *report,
                               const struct odb_bisect_options *options);
/* That others diverge, and those of which nothing is known, belong to the report of the one that
 * was searched. */
void odb_call__samples_report(const struct odb_call_samples *samples, struct odb_report *report);
void odb_call__samples_dispose(struct odb_call_samples *samples);

#endif
