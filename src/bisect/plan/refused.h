/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A target that refuses nodes: the rest of the model.
 */
#ifndef ODB_BISECT_PLAN_REFUSED_H
#define ODB_BISECT_PLAN_REFUSED_H

#include "bisect/findings.h"

/* The plain run was refused: finds the nodes that are, and makes it without them, what they make
 * being the reference's. Its status; ODB_OK without outputs: every node was asked alone. */
enum odb_status refused_around(struct bisection *b, enum odb_status refusal,
                               struct odb_error *err) ODB_MUST_USE;
/* Marks what could not be tested for it, and counts what was. */
void refused_mark(struct bisection *b);

#endif
