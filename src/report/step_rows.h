/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The steps of a sequence, as the JSON of a report has them ("sequence" in onnxdbg-report(7)), for
 * those who list them.
 */
#ifndef ODB_REPORT_STEP_ROWS_H
#define ODB_REPORT_STEP_ROWS_H

#include "report/report.h"

struct odb_step_row {
    size_t past, pieces;
    /* With the state of the reference, of the output that is worst: verdict, error and noise alone.
     * UNTESTED: it was not judged. */
    struct odb_value_report forced;
    struct odb_number free;     /* error of the worst output with the target's own state */
    struct odb_number envelope; /* what rounding comes to there */
    enum odb_verdict *verdicts; /* owned; [n_outputs + n_nodes]; where it could not be run, the
                                   step's */
    int worst;                  /* number of that output; -1: none */
    char *place;                /* owned: where in it the error stands; NULL: all over */
    char *why;                  /* owned: why it could not be run; NULL: it could */
    bool chooses;               /* its logits choose a token */
    int64_t reference, target;  /* then: which */
    bool tie;                   /* then: the two best lie within twice what rounding does */
};

struct odb_step_rows {
    char *target;                 /* owned: of which all this is */
    char *text;                   /* owned: the sentence */
    size_t n_outputs, n_nodes, n; /* nodes: that were tried alone in wrong steps */
    char **names;                 /* owned: of outputs, then of nodes ("#52 name") */
    struct odb_step_row *rows;    /* owned; [n] */
    long onset;                   /* the first wrong step; -1: none is */
    int node;                     /* the first culprit there; ODB_NO_NODE: none */
};

/* Of a report of a sequence, the caller's; NULL: it has none, or is not understood. */
struct odb_step_rows *odb_step_rows_read(const struct odb_report *report);
void odb_step_rows_free(struct odb_step_rows *steps); /* NULL is fine */

#endif
