/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Prefixes in order.
 */
#ifndef ODB_BISECT_STRATEGY_LINEAR_H
#define ODB_BISECT_STRATEGY_LINEAR_H

#include "bisect/findings.h"

/* Prefixes in order, a step apart, then every node within the step where they become bad. */
enum odb_status linear_hunt(const struct search_case *c, struct findings *f, int value,
                            struct odb_error *err) ODB_MUST_USE;
/* Nodes from cut to cut where n are suspects. */
size_t linear_step(const struct search_case *c, size_t n);

#endif
