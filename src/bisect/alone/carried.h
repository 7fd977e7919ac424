/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A value within tolerance may hold an error all the same, and the node behind it shows that: a
 * Gather of small elements, an average of what cancels. Where such a node cannot be run alone, what
 * it was fed and made is replayed as it was read, in several runs if need be.
 */
#ifndef ODB_BISECT_EVIDENCE_CARRIED_H
#define ODB_BISECT_EVIDENCE_CARRIED_H

#include "bisect/findings.h"

/* What a node made of what it was fed. */
enum carried { CARRIED_UNKNOWN, CARRIED_RIGHT, CARRIED_WRONG };

/* By a replay of the node on its values as they were read; unknown where some were not. */
enum carried carried_replay(const struct search_case *c, const struct findings *f, int node);
/* Whether a value passes, and no element of it is off by much of itself: a small one among large
 * ones may be off by all of it, and the value be within tolerance. */
bool carried_none(const struct search_case *c, const struct findings *f, int value);
/* Marks the nodes that lead to this one by a way without a value that holds none, in left
 * ([n_nodes]); the node itself where there are no others. */
void carried_from(const struct search_case *c, struct findings *f, int node, bool *left);

#endif
