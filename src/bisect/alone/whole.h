/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Wrong in the whole model and right alone. How much of the model must be there for it?
 */
#ifndef ODB_BISECT_ALONE_WHOLE_H
#define ODB_BISECT_ALONE_WHOLE_H

#include "bisect/findings.h"
#include "report/report.h"

/* The culprit passes alone, and no part that leads to it is wrong. Runs the model as it is more
 * often (repeat_doubt()), and, where it repeats itself, looks for the smallest stretch of nodes
 * with this one that fails, all outputs that it makes kept: what is at fault need not lead to what
 * it spoils. Sets kind, segment, verified and what passes. */
enum odb_status whole_culprit(const struct search_case *c, struct findings *f,
                              struct odb_culprit *culprit, struct odb_error *err) ODB_MUST_USE;

/* A region of so many nodes, all that leads from its first to its last, fails. Where that is wide,
 * the stretch of the model's order from the one to the other is cut down as far as it fails still:
 * what is at fault may be two nodes in it that do not lead to each other. */
enum odb_status whole_region(const struct search_case *c, struct findings *f,
                             struct odb_culprit *culprit, size_t nodes,
                             struct odb_error *err) ODB_MUST_USE;

/* An output is wrong, and nothing that it depends on fails, fed with the reference's values and
 * unobserved: the same for the nodes that bring it about. Accuses. */
enum odb_status whole_output(const struct search_case *c, struct findings *f, int value,
                             struct odb_error *err) ODB_MUST_USE;

#endif
