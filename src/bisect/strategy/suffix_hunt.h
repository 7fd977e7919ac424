/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Searching over what follows a cut.
 */
#ifndef ODB_BISECT_STRATEGY_SUFFIX_HUNT_H
#define ODB_BISECT_STRATEGY_SUFFIX_HUNT_H

#include "bisect/findings.h"

/* The mirror of hunt_value(): what follows a cut runs on the target, fed with the
 * reference's values there, and the output that is wrong is read. */
enum odb_status suffix_hunt(const struct search_case *c, struct findings *f, int value,
                            struct odb_error *err) ODB_MUST_USE;

#endif
