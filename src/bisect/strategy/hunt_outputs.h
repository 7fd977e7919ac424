/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Searching for what made the outputs wrong, one after another.
 */
#ifndef ODB_BISECT_STRATEGY_HUNT_OUTPUTS_H
#define ODB_BISECT_STRATEGY_HUNT_OUTPUTS_H

#include "bisect/findings.h"

/* Searches for what made one value wrong. */
typedef enum odb_status hunt_output_fn(const struct search_case *c, struct findings *f, int value,
                                       struct odb_error *err);
/* Searches for every wrong output that no culprit explains yet, the worst first, and then for what
 * else was found to be wrong. */
enum odb_status hunt_outputs(const struct search_case *c, struct findings *f, hunt_output_fn *hunt,
                             struct odb_error *err) ODB_MUST_USE;
/* Whether an output is wrong that no culprit explains. */
bool hunt_outputs_left(const struct search_case *c, const struct findings *f);

#endif
