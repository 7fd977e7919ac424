/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The failure that a search over values is about, and whether what a probe shows is that one. Two
 * faults in one model are two failures, and a cut may show the one that was not asked for.
 *
 * At the value where it was seen that is plain: the same kind of verdict, an error of the same
 * size. At a cut before it says little, because errors shrink and grow on their way, and NaN comes
 * and goes. So what the target has at the cut is carried on by the reference, and what comes out
 * where the failure was seen decides.
 */
#ifndef ODB_BISECT_FAILURE_H
#define ODB_BISECT_FAILURE_H

#include "bisect/question.h"
#include "search/search.h"
#include "run/value_report.h"

struct failure {
    const struct search_case *c; /* borrowed */
    struct findings *f;          /* borrowed */
    int value;                   /* where it was seen; ODB_NO_VALUE: whatever is wrong is it */
    struct odb_signature sought;
    size_t others; /* probes that showed another one */
    int other;     /* the node at the first of their cuts */
    char how[80];  /* what that showed */
};

/* The failure that a value shows by its verdict, report, and t, what the target gave; t may be
 * NULL. Where the report has nothing wrong, whatever is wrong is it. */
struct failure failure_at(const struct search_case *c, struct findings *f, int value,
                          const struct odb_value_report *report, const struct odb_tensor *t);
/* The one that a value shows: an output in the plain run of the model, another one as the report
 * has it. */
struct failure failure_of(const struct search_case *c, struct findings *f, int value);

/* What a probe that read the failure's value says. Another failure is good: this one is not there.
 */
enum odb_answer failure_shown(struct failure *x, int node, const struct odb_value_report *report,
                              const struct odb_tensor *t);
/* What a cut says of each of its nodes, where evidence has only that some of its outputs is wrong:
 * good where that is another failure, which then is one of f->others. May run the target. */
enum odb_status failure_weigh(struct failure *x, const struct question *q,
                              struct odb_evidence *evidence, struct odb_error *err) ODB_MUST_USE;
/* The target died at a cut that ends in node, which it did not do on the whole model. */
void failure_died(struct failure *x, int node, enum odb_status had);
/* Says in the report how many probes showed another failure, if some did. */
void failure_warn(const struct failure *x);
/* What these values of given ([n_values]), put into the reference's run, come to where the failure
 * was seen. untestable: that cannot be had. */
enum odb_status failure_carried(const struct failure *x, const int *values, size_t n,
                                struct odb_tensor *const *given, struct odb_value_report *report,
                                struct odb_error *err) ODB_MUST_USE;
/* A node that is wrong by itself: a note where what it gives does not come to the failure, once the
 * reference carries it on. */
enum odb_status failure_explain(const struct failure *x, int node,
                                struct odb_error *err) ODB_MUST_USE;

#endif
