/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every node alone, fed with the reference's values.
 */
#ifndef ODB_BISECT_STRATEGY_ISOLATED_H
#define ODB_BISECT_STRATEGY_ISOLATED_H

#include "bisect/findings.h"

/* The same on the reference's values, into the report; had: what the probe came to. */
enum odb_status isolated_node(const struct search_case *c, struct findings *f, int node,
                              enum odb_status *had, struct odb_error *err) ODB_MUST_USE;

#endif
