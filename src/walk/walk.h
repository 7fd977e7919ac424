/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Walking: the target runs the model from the top in stretches, and stands still between them, as a
 * program does in a debugger. At every stop the reference and the target stand at the same cut, and
 * all that the target made so far has been seen and judged.
 */
#ifndef ODB_WALK_WALK_H
#define ODB_WALK_WALK_H

#include "bisect/bisect_options.h"
#include "judge/blame.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "probe/plainest.h"
#include "probe/probe.h"
#include "reference/trace.h"
#include "run/value_report.h"

struct odb_walk {
    const struct odb_model *model;   /* borrowed */
    struct odb_trace *trace;         /* borrowed */
    int at;                          /* nodes before it have run */
    struct odb_value_report *values; /* owned; [n_values] */
    struct odb_tensor **given;       /* owned refs; [n_values] what the target made; NULL where it
                                        was not had */
    bool *fed_by_reference;          /* owned; [n_values] a later stretch was fed the reference's
                                        value, because the target's could not be read */
    struct odb_criterion tolerance;
    struct odb_pool *pool; /* owned: its child lives from stretch to stretch */
    struct odb_prober prober;
    struct odb_plainest plainest; /* of what the target refuses */
};

/* At the beginning, with nothing run. trace: of the same model and feeds; it must outlive the walk,
 * as the model and the feeds must. Of options, target and tolerance count, and are not kept. */
enum odb_status odb_walk_open(struct odb_walk **out, const struct odb_model *model,
                              const struct odb_feeds *feeds, struct odb_trace *trace,
                              const struct odb_bisect_options *options,
                              struct odb_error *err) ODB_MUST_USE;
void odb_walk_close(struct odb_walk *walk); /* NULL is fine */

/* Runs the nodes from where the walk stands up to stop (not with it; beyond the end means the end),
 * in one piece, fed with what the target made before, and judges every value and every node on the
 * way. Then at is stop. A stretch that fails leaves at where it was, with the status of the probe
 * (odb_probe_run()) and the stretch in err; if it was a single node, its outputs get the verdict.
 * hooks (may be NULL) are those of this call. */
enum odb_status odb_walk_to(struct odb_walk *walk, int stop, const struct odb_search_hooks *hooks,
                            struct odb_error *err) ODB_MUST_USE;

/* Back to where the nodes from `at` on have not run: what was seen of them is forgotten. Nothing
 * where the walk has not come that far. */
void odb_walk_back(struct odb_walk *walk, int at);
/* Another trace of the same model from now on, of which nodes before `at` have the same values. */
void odb_walk_retrace(struct odb_walk *walk, struct odb_trace *trace, int at);
/* Back to the beginning; what was seen is forgotten, the child lives on. */
void odb_walk_restart(struct odb_walk *walk);

#endif
