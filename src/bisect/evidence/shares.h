/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How much of an output's error each node brings.
 */
#ifndef ODB_BISECT_EVIDENCE_SHARES_H
#define ODB_BISECT_EVIDENCE_SHARES_H

#include "bisect/findings.h"

/* Fills the report's contributions to the worst output. */
enum odb_status shares_fill(const struct search_case *c, struct findings *f,
                            struct odb_error *err) ODB_MUST_USE;

#endif
