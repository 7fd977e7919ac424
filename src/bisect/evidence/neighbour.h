/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A second, different cut.
 */
#ifndef ODB_BISECT_EVIDENCE_NEIGHBOUR_H
#define ODB_BISECT_EVIDENCE_NEIGHBOUR_H

#include "bisect/findings.h"

/* Runs a culprit together with a neighbour, so that its inputs or outputs are not read. */
enum odb_status neighbour_ask(const struct search_case *c, struct findings *f,
                              struct odb_culprit *culprit, struct odb_error *err) ODB_MUST_USE;

#endif
