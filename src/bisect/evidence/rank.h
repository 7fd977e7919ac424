/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Culprits in order of the evidence against them.
 */
#ifndef ODB_BISECT_EVIDENCE_RANK_H
#define ODB_BISECT_EVIDENCE_RANK_H

#include "bisect/findings.h"

/* Puts culprits in order of the evidence against them: verified ones first, regions that
 * nothing but the search speaks against behind them, and last what a narrower type must lose; of
 * equal regions, those that come first in the model. Those go that are listed twice, and regions
 * that a check has cleared, while another culprit is verified; notes say which. */
void rank_culprits(struct findings *f);

#endif
