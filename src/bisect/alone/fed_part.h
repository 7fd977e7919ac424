/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A part of the model that makes one value, fed with the reference's values.
 */
#ifndef ODB_BISECT_ALONE_FED_PART_H
#define ODB_BISECT_ALONE_FED_PART_H

#include "bisect/findings.h"
#include "report/report.h"

/* Whether the marked nodes ([n_nodes], weights need no mark), of which the last makes the value,
 * make it wrong: it is held against what the reference makes of the same feeds, which is stricter
 * than against the whole model's noise. One that cannot be run is not wrong. */
enum odb_status fed_part_fails(const struct search_case *c, const bool *nodes, int value,
                               bool *fails, struct odb_error *err) ODB_MUST_USE;
/* The accused is right alone. In a quantised model it may be the end of a kernel that reads
 * integers: then what leads to it from the integers that quantisers make fails, and *found, the
 * culprit is that region. Else nothing changes. */
enum odb_status fed_part_from_integers(const struct search_case *c, struct odb_culprit *culprit,
                                       bool *found, struct odb_error *err) ODB_MUST_USE;
/* The marked nodes fail: takes out nodes from the first on, as far as those left fail still. */
enum odb_status fed_part_cut_front(const struct search_case *c, bool *nodes, int value,
                                   struct odb_error *err) ODB_MUST_USE;

#endif
