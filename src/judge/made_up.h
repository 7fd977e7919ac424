/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inputs of the model that were generated here, and that a recording lacks. It may have been made
 * with others. If a value that is made of such an input and of nothing else but recorded values is
 * off, then the input may be to blame as well as a node, and whatever comes after it cannot be held
 * against the reference's run. What follows from recorded values alone is judged all the same.
 */
#ifndef ODB_JUDGE_MADE_UP_H
#define ODB_JUDGE_MADE_UP_H

#include <stdbool.h>

#include "run/feeds.h"
#include "run/value_report.h"

struct odb_made_up {
    const struct odb_graph *graph; /* borrowed */
    int *direct; /* owned; [n_values] such an input that the value is made of with no recorded value
                    in between; ODB_NO_VALUE: there is none */
    int *behind; /* owned; [n_values] such an input anywhere before it, likewise */
};

/* given[]: [n_values] what was recorded. Feeds that were generated count, unless given[] has
 * another tensor for them. */
void odb_made_up_init(struct odb_made_up *made_up, const struct odb_graph *graph,
                      const struct odb_feeds *feeds, struct odb_tensor *const *given);
void odb_made_up_dispose(struct odb_made_up *made_up);

/* What is left of a value's report once such an input is in doubt: nothing of a value behind it,
 * but for a culprit by recorded values, which keeps its local numbers alone. False: it stands
 * behind none, and is as it was. */
bool odb_made_up_doubt(const struct odb_made_up *made_up, int value,
                       struct odb_value_report *report);
/* Why there is no verdict on what target names, with the remedy; the names of all such inputs. */
enum odb_status odb_made_up_fail(const struct odb_made_up *made_up, const char *target,
                                 struct odb_error *err);

#endif
