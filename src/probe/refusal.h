/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A target says no to a model that the reference runs. It lacks something where it says so whatever
 * its options are; it is at fault where it runs the model with another of its options. Both look
 * alike, so both are asked: the same target without what it optimises is odb_executor_plain().
 */
#ifndef ODB_PROBE_REFUSAL_H
#define ODB_PROBE_REFUSAL_H

#include <stdbool.h>

#include "base/error.h"

/* The target says no: to this model, and to every caller that asks again. */
bool odb_probe_refused(enum odb_status status);

/* Whether a program has refused a model without a look at it: so it will any other. */
bool odb_refusal_is_blind(enum odb_status status, const struct odb_error *err);

/* Whether a refusal says nothing of the model: the target, where it runs, got no memory, found no
 * device or no library of its own. False for a status that is no refusal. */
bool odb_refusal_is_local(enum odb_status status, const struct odb_error *err);

/* Whether a refusal is a fault once the same target with other options was seen to run the model.
 * False for one that is local, and for a status that is none. */
bool odb_refusal_may_be_fault(enum odb_status status, const struct odb_error *err);

/* For a command that can do nothing with a refusal: names the one that can, where err has no remedy
 * of its own. Returns the status. */
enum odb_status odb_refusal_remedy(enum odb_status status, struct odb_error *err);

#endif
