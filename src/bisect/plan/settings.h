/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Does it go away? Where an output is wrong and a node is accused of it, the model as it is runs
 * once under each setting of the target that is known to make a difference (the executor's row),
 * and that the spec does not have; several times where equal runs differ in whether they are right.
 * A load each, and all together at most as long as the search.
 */
#ifndef ODB_BISECT_PLAN_SETTINGS_H
#define ODB_BISECT_PLAN_SETTINGS_H

#include "bisect/findings.h"

/* odb_fails(), which says whether a search lets off what a run shows. */
typedef enum odb_status settings_fails(bool *fails, const struct odb_model *model,
                                       const struct odb_feeds *feeds, struct odb_trace *trace,
                                       const struct odb_bisect_options *options,
                                       enum odb_verdict shown, struct odb_error *err);

/* Fills the report's settings. What a setting does is no failure of the search. */
enum odb_status settings_try(const struct search_case *c, struct findings *f, settings_fails *fails,
                             struct odb_error *err) ODB_MUST_USE;

/* The spec with a setting of its executor, behind a transport as well. NULL: it does not apply, or
 * the spec says so already. Owned by the caller. */
char *settings_spec(const char *spec, const struct odb_executor_setting *setting);

#endif
