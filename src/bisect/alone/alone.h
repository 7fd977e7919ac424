/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One node alone on the target.
 */
#ifndef ODB_BISECT_ALONE_ALONE_H
#define ODB_BISECT_ALONE_ALONE_H

#include "bisect/question.h"
#include "report/report.h"
#include "run/value_report.h"

/* What one node does alone on given inputs: its outputs by slot, and the judge's word on them in
 * reports ([n_values], only the node's outputs are meaningful). */
struct alone {
    bool tried;                       /* it was asked; else all is zero */
    enum odb_status had;              /* of the probe */
    struct odb_error why;             /* where that is not ODB_OK */
    struct odb_tensor **out;          /* owned refs; [n_out] */
    struct odb_value_report *reports; /* owned; [n_values] */
    bool judged; /* false: the reference operator cannot be replayed on these inputs */
    bool guilty;
};

/* Asks q, which is freed: a node alone on given inputs; and judges it. The status is the probe's;
 * out is the caller's to dispose of, whatever it is. */
enum odb_status alone_run(const struct search_case *c, struct findings *f, struct question *q,
                          struct alone *out, struct odb_error *err) ODB_MUST_USE;
/* Whether it can be asked: it has an output, the reference has that too, and draws nothing; and it
 * was not left out of what the target is asked for. */
bool alone_possible(const struct search_case *c, int node);
void alone_dispose(struct alone *alone, int n_out); /* all zero is fine */

#endif
