/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a search came to, in one of three words. The exit status, the list of sessions, every form
 * of a report, the JSON and the screen have it from here, so that none can say otherwise: what has
 * no verdict is never a pass.
 */
#ifndef ODB_REPORT_OUTCOME_H
#define ODB_REPORT_OUTCOME_H

#include <stdbool.h>

#include "base/error.h"

struct odb_report;
struct json_t;

#define ODB_OUTCOME_LIST(X)                                                                        \
    X(NONE, "none", "there is no verdict; exit status 3, 4 or 130")                                \
    X(PASS, "pass", "nothing diverges; exit status 0")                                             \
    X(DIVERGES, "diverges", "an output is off, or a node is to blame; exit status 1")

enum odb_outcome {
#define ODB_OUTCOME_ENUM(name, word, help) ODB_OUTCOME_##name,
    ODB_OUTCOME_LIST(ODB_OUTCOME_ENUM)
#undef ODB_OUTCOME_ENUM
};
const char *odb_outcome_name(enum odb_outcome outcome);

/* Why there may be no verdict although the search came to its end. A new reason is a row here, and
 * odb_report_undecide() where it is seen. beats: it holds also where something diverges; else that
 * is the verdict then, and the reason a warning. */
#define ODB_UNDECIDED_LIST(X)                                                                      \
    /* name, beats */                                                                              \
    X(UNJUDGED, false) /* no value could be judged */                                              \
    X(INPUTS, false)   /* a recording lacks inputs, and does not fit those that were generated */  \
    X(PIECES, false)   /* the target refuses nodes: it never ran the whole model */                \
    X(REPEAT, false)   /* it ran the model, and failed to run it again */                          \
    X(SAMPLES, false)  /* other samples of inputs could not be judged */                           \
    X(FLOAT, true)     /* it is judged by few bits, and computes in float */                       \
    X(BLUNT, false)    /* what expected types or steps must lose is as large as the outputs are */ \
    X(ROUNDED, true)   /* the target stores integers, and what rounding carries hides faults */    \
    X(UNREAD, false)   /* values cannot be read on the target, and a fault may be in one of them */

enum odb_undecided {
#define ODB_UNDECIDED_ENUM(name, beats) ODB_UNDECIDED_##name,
    ODB_UNDECIDED_LIST(ODB_UNDECIDED_ENUM)
#undef ODB_UNDECIDED_ENUM
};

/* The verdict. It may be asked at any time, of a report read from a session as well. */
enum odb_outcome odb_report_outcome(const struct odb_report *report);
/* What a report says of itself that was written before: word is its "verdict"; NULL or unknown: it
 * is of a version without it, and what it knew counts. */
enum odb_outcome odb_outcome_told(const char *word, bool complete, bool found);
/* The same of the JSON of odb_report_json(). */
enum odb_outcome odb_outcome_of_json(const struct json_t *report);

/* Notes a reason why there may be no verdict. because: it in words, and by its code what the
 * command ends with where there is none for it. */
void odb_report_undecide(struct odb_report *report, enum odb_undecided why,
                         const struct odb_error *because);
/* Whether it has that reason. */
bool odb_report_undecided(const struct odb_report *report, enum odb_undecided why);
/* The search has come to its end, or to status, which err tells. Returns status; or, where that is
 * ODB_OK and there is no verdict all the same, the reason as an error. Once more with what came
 * after it, where that failed. */
enum odb_status odb_report_end(struct odb_report *report, enum odb_status status,
                               struct odb_error *err) ODB_MUST_USE;

#endif
