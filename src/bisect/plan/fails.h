/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether a model fails on a target. What one run shows at the outputs is not all there is to it: a
 * search also finds where an error that the tolerance allows tips a decision, and how far honest
 * runs come out, and lets off what is no worse. So a caller that has seen an output off in a run
 * (--over, samples, minimise) asks here, and has the answer of a search.
 */
#ifndef ODB_BISECT_PLAN_FAILS_H
#define ODB_BISECT_PLAN_FAILS_H

#include "bisect/bisect_options.h"
#include "run/feeds.h"
#include "reference/trace.h"

/* *fails: whether a search with these options would say that the outputs diverge; shown is the
 * worst of what a plain run of options->target showed, trace the reference's values for the feeds.
 * Runs the target only where shown is a kind of wrong that a search may let off. ODB_CANCELLED;
 * ODB_E_EXECUTOR: the target computes in float (in_float.h), so nothing can be said; a search that
 * does not end for another reason, or for want of time, leaves what was shown. */
enum odb_status odb_fails(bool *fails, const struct odb_model *model, const struct odb_feeds *feeds,
                          struct odb_trace *trace, const struct odb_bisect_options *options,
                          enum odb_verdict shown, struct odb_error *err) ODB_MUST_USE;

#endif
