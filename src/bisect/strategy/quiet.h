/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reading what does not disturb.
 */
#ifndef ODB_BISECT_STRATEGY_QUIET_H
#define ODB_BISECT_STRATEGY_QUIET_H

#include "bisect/findings.h"

/* Reading every value hides what is wrong: looks for values that can be read and leave the outputs
 * as they are, judges what lies between them, and accuses the groups of nodes that are wrong. What
 * no group explains is left to others, and so is all of a model without such values. */
enum odb_status quiet_look(const struct search_case *c, struct findings *f,
                           struct odb_error *err) ODB_MUST_USE;

#endif
