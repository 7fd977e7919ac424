/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every node alone, fed with the reference's values.
 */
#ifndef ODB_BISECT_STRATEGY_ISOLATED_H
#define ODB_BISECT_STRATEGY_ISOLATED_H

#include "bisect/findings.h"

/* --strategy isolated. */
enum odb_status isolated_all(struct bisection *b, struct odb_error *err) ODB_MUST_USE;
/* The same on the reference's values, into the report; had: what the probe came to. */
enum odb_status isolated_node(struct bisection *b, int node, enum odb_status *had,
                              struct odb_error *err) ODB_MUST_USE;

#endif
