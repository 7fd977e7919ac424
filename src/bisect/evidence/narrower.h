/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether the target computes in a narrower type.
 */
#ifndef ODB_BISECT_EVIDENCE_NARROWER_H
#define ODB_BISECT_EVIDENCE_NARROWER_H

#include "bisect/findings.h"

/* Marks the culprits that are off by no more than computing in a narrower type must lose, where
 * that is so of most of them: the type goes into the report. Nothing is asked of the target. Only
 * where the tolerance is noise and no type is expected. ODB_CANCELLED. */
enum odb_status narrower_look(const struct search_case *c, struct findings *f,
                              struct odb_error *err) ODB_MUST_USE;

#endif
