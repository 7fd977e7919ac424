/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nodes that are wrong together, as a target makes one kernel of them.
 */
#ifndef ODB_BISECT_APART_KERNEL_GROUP_H
#define ODB_BISECT_APART_KERNEL_GROUP_H

#include "bisect/findings.h"
#include "report/report.h"

/* A fresh culprit: the marked nodes [n_nodes], which were run apart and make this value wrong. The
 * one that computes is named; quantisers that only feed them or follow them are not of the group.
 * pin: the value that is made the reference's in their place. A single node is accused as any
 * other. Borrowed until the next is added. */
struct odb_culprit *group_accuse(const struct search_case *c, struct findings *f, const bool *nodes,
                                 int value, int pin);
/* Runs the node that computes alone: where it fails by itself, it is accused alone. */
enum odb_status group_verify(const struct search_case *c, struct findings *f, size_t index,
                             struct odb_error *err) ODB_MUST_USE;
/* Regions with quantisers, which some search came to, are told as groups as well; of others it is
 * kept what ran together. */
void group_name_all(const struct search_case *c, struct findings *f);

#endif
