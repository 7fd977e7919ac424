/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A yardstick that is too blunt.
 */
#ifndef ODB_BISECT_PLAN_BLUNT_H
#define ODB_BISECT_PLAN_BLUNT_H

#include "bisect/findings.h"

/* Where outputs cannot fail, because computing in the expected type, or half a step of the integers
 * that the target stores them as, loses as much as they are large: that the search can decide
 * nothing, if none can fail; else a warning. */
void blunt_check(const struct search_case *c, struct findings *f);

#endif
