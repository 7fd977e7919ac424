/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A target that refuses nodes: the rest of the model.
 */
#ifndef ODB_BISECT_REFUSAL_REFUSED_H
#define ODB_BISECT_REFUSAL_REFUSED_H

#include "bisect/findings.h"

/* Runs a case as it is: plain_run(). */
typedef enum odb_status refused_run_fn(const struct search_case *c, struct findings *f,
                                       struct odb_error *err);

/* The plain run was refused: finds the nodes that are, and makes it without them, what they make
 * being the reference's. rest, the caller's to dispose of: the case of all the others, which is
 * searched from here on. The plain run's status; ODB_OK without outputs: every node was asked
 * alone.
 */
enum odb_status refused_around(struct search_case_made *rest, const struct search_case *whole,
                               struct findings *f, enum odb_status refusal, refused_run_fn *run,
                               struct odb_error *err) ODB_MUST_USE;
/* Marks what could not be tested for it, and counts what was. */
void refused_mark(const struct search_case *c, struct findings *f);

#endif
