/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What no output shows and nothing verified.
 */
#ifndef ODB_BISECT_PLAN_UNSEEN_H
#define ODB_BISECT_PLAN_UNSEEN_H

#include "bisect/findings.h"

/* Makes notes of the culprits that no output shows and that were not verified, unless the options
 * are strict. */
void unseen_set_aside(const struct search_case *c, struct findings *f);

#endif
