/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The search where the target is a recording.
 */
#ifndef ODB_BISECT_STRATEGY_RECORDED_H
#define ODB_BISECT_STRATEGY_RECORDED_H

#include "bisect/findings.h"

/* The search where the target is a recording: what was recorded is judged, and nothing is run.
 * judged, the caller's to dispose of: the case of what there is of the whole, from here on. */
enum odb_status recorded_plan(struct search_case_made *judged, const struct search_case *whole,
                              struct findings *f, struct odb_error *err) ODB_MUST_USE;

#endif
