/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is held against a culprit besides having been found, and for it. Each file asks one
 * question:
 *
 *     repeat.c       do equal runs give equal bits, and where do they begin to differ?
 *     held.c         does a wrong value hold what belongs to another one?
 *     whole.c        how much of the model must be there for it to fail?
 *     tolerated.c    does an error follow from what the tolerance allows of the inputs?
 *     decided.c      do runs that round and select otherwise come out as far off?
 *     sensitivity.c  how much does the reference operator make of the same error in its inputs?
 *     neighbour.c    does it fail in a second, different cut?
 *     pinned.c       do the outputs pass once the culprits' values are the reference's?
 *     third.c        what does another executor make of it?
 *     shares.c       how much of an output's error does each node bring?
 *     confidence.c   how sure is all that?
 *     rank.c         which culprit comes first, and which is listed twice?
 */
#ifndef ODB_BISECT_PLAN_EVIDENCE_H
#define ODB_BISECT_PLAN_EVIDENCE_H

#include "bisect/findings.h"
#include "report/report.h"
#include "run/value_report.h"

/* All of these questions about the culprits of a search that has come to its end. */
enum odb_status evidence_of_death(const struct search_case *c, struct findings *f,
                                  struct odb_error *err) ODB_MUST_USE;
/* What is done about culprits, whichever step found them. */
enum odb_status evidence_confirm(const struct search_case *c, struct findings *f,
                                 struct odb_error *err) ODB_MUST_USE;
/* What another executor makes of the first of them, and how sure all that is then. At the very end:
 * it may have begun long before it is there to be asked (third_begin()). */
enum odb_status evidence_conclude(const struct search_case *c, struct findings *f,
                                  struct odb_error *err) ODB_MUST_USE;

#endif
