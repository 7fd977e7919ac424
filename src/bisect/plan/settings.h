/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Does it go away? Where an output is wrong and somebody is accused of it, the model as it is runs
 * once under each setting of the target that is known to make a difference (the executor's row),
 * and that the spec does not have. A load each, and all together at most as long as the search.
 */
#ifndef ODB_BISECT_PLAN_SETTINGS_H
#define ODB_BISECT_PLAN_SETTINGS_H

#include "bisect/findings.h"

/* Fills the report's settings. What a setting does is no failure of the search. */
enum odb_status settings_try(const struct search_case *c, struct findings *f,
                             struct odb_error *err) ODB_MUST_USE;

/* The spec with a setting of its executor, behind a transport as well. NULL: it does not apply, or
 * the spec says so already. Owned by the caller. */
char *settings_spec(const char *spec, const struct odb_executor_setting *setting);

#endif
