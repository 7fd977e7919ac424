/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How sure a culprit is.
 */
#ifndef ODB_BISECT_EVIDENCE_CONFIDENCE_H
#define ODB_BISECT_EVIDENCE_CONFIDENCE_H

#include "bisect/findings.h"

/* Sets confidence and its reason of all culprits, by the rules at the top of confidence.c. */
void confidence_all(const struct search_case *c, struct findings *f);

#endif
