/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nodes that are wrong together: all that lies between values that were read.
 */
#ifndef ODB_BISECT_EVIDENCE_GROUP_H
#define ODB_BISECT_EVIDENCE_GROUP_H

#include "bisect/findings.h"
#include "report/report.h"

/* A fresh culprit: the nodes that make this value out of the nearest ones that were given ([n_values],
 * this one as well); the one that computes is named. Quantisers that only feed them or follow them
 * are not of the group. pin: the value that is made the reference's in their place. A single node is
 * accused as any other. Borrowed until the next is added. */
struct odb_culprit *group_accuse(const struct search_case *c, struct findings *f, int value, int pin,
                                 struct odb_tensor *const *given);
/* Runs a group that was not yet as a model of its own, fed with what the target had before it, and
 * the node that computes alone: verified where it fails likewise, and that node alone accused where
 * it fails by itself. Of a single node it asks nothing. */
enum odb_status group_verify(const struct search_case *c, struct findings *f, size_t index,
                             struct odb_error *err) ODB_MUST_USE;

#endif
