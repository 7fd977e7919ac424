/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Errors that follow from what the tolerance allows of the inputs.
 */
#ifndef ODB_BISECT_EVIDENCE_TOLERATED_H
#define ODB_BISECT_EVIDENCE_TOLERATED_H

#include "bisect/findings.h"

/* Values that are wrong, at nodes that are right about their own inputs: lets those pass that
 * follow from errors in the inputs which the tolerance allows, and what follows from them. */
enum odb_status tolerated_values(const struct search_case *c, struct findings *f,
                                 struct odb_error *err) ODB_MUST_USE;

#endif
