/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which node is at fault: one node's output on the target against the reference operator applied to
 * the very inputs that the target's node had. Everything that names a culprit goes through here.
 */
#ifndef ODB_JUDGE_BLAME_H
#define ODB_JUDGE_BLAME_H

#include "compare/criterion.h"
#include "run/probe_kind.h"
#include "run/hooks.h"
#include "reference/trace.h"
#include "run/value_report.h"

/* What the judge goes by. */
struct odb_judge {
    struct odb_trace *trace;               /* borrowed */
    const struct odb_criterion *tolerance; /* borrowed */
    struct odb_all_seen *compared; /* borrowed: what it judges is noted there; NULL: nowhere */
};

/* Verdict, error, error_mean, noise and boundary of a value that the target gave, against golden
 * (reference for exact types). t NULL: untested. Makes the noisy runs when they are needed. */
enum odb_status odb_judge_value(const struct odb_judge *judge, int value,
                                const struct odb_tensor *t, struct odb_value_report *out,
                                struct odb_error *err) ODB_MUST_USE;

/* Local error, local noise, inherited error, gain and culprit of every output of a node.
 * given[]: [n_values] the target's values; feeds and initializers are found by themselves.
 * out[]: [n_out] the node's outputs on the target; NULL where not had. reports[]: [n_values].
 * Numbers stay unknown where there is no kernel, an input was not had, or the kernel refuses. */
enum odb_status odb_judge_node(const struct odb_judge *judge, int node,
                               struct odb_tensor *const *given, struct odb_tensor *const *out,
                               struct odb_value_report *reports,
                               struct odb_error *err) ODB_MUST_USE;

/* Blame in one run: given[] holds the target's values of one probed run. Judges the nodes from
 * first up to stop (not with it) from the top, the outputs of each first and then the node, into
 * reports[] ([n_values]). */
enum odb_status odb_blame(const struct odb_judge *judge, int first, int stop,
                          struct odb_tensor *const *given, struct odb_value_report *reports,
                          const struct odb_search_hooks *hooks, struct odb_error *err) ODB_MUST_USE;

/* Judges what was had once more by another tolerance: given[] ([n_values], as in odb_report and
 * odb_walk) against the trace, and the nodes that it may accuse or acquit. Nothing is asked of the
 * target. Values that were not had keep their verdicts; when cancelled, so do those not reached. */
enum odb_status odb_rejudge(const struct odb_judge *judge, struct odb_tensor *const *given,
                            struct odb_value_report *reports, const struct odb_search_hooks *hooks,
                            struct odb_error *err) ODB_MUST_USE;

#endif
