/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The main job: which node made the target diverge from the reference? bisect.c chooses among the
 * strategies; blame.c, search.c and probe.c are its hands; trace.c is what it believes.
 */
#ifndef ODB_BISECT_PLAN_BISECT_H
#define ODB_BISECT_PLAN_BISECT_H

#include "compare/criterion.h"
#include "run/feeds.h"
#include "bisect/bisect_options.h"
#include "report/report.h"
#include "model/model.h"

/* A report of a search with these options that has not begun; the caller's. */
struct odb_report *odb_bisect_report(const struct odb_model *model, const struct odb_feeds *feeds,
                                     const struct odb_bisect_options *options);

/* Whether a search with these options is going to read every value in one run, where the target
 * gives them: as long as all of them take no more than *memory bytes. */
bool odb_bisect_reads_all(const struct odb_bisect_options *options, uint64_t *memory);

/* Runs the search. The report is complete on ODB_OK; on ODB_CANCELLED and on executor failures it
 * holds what was known by then (and is still the caller's to free). *out is never NULL unless
 * memory or usage failed. ODB_UNSUPPORTED: no output can be reached by the reference. */
enum odb_status odb_bisect(struct odb_report **out, const struct odb_model *model,
                           const struct odb_feeds *feeds, const struct odb_bisect_options *options,
                           struct odb_error *err) ODB_MUST_USE;

#endif
