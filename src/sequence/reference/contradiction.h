/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where in the model one step and all pieces at once part ways.
 */
#ifndef ODB_SEQUENCE_CONTRADICTION_H
#define ODB_SEQUENCE_CONTRADICTION_H

#include "sequence/reference/rollout.h"

/* *node: the first that gives, in this step, other values for its pieces than it gives for them
 * where all come in one step, of inputs that agree; ODB_NO_NODE: none can be told. */
enum odb_status odb_contradiction_find(int *node, const struct odb_rollout *steps, size_t step,
                                       const struct odb_rollout *whole,
                                       const struct odb_search_hooks *hooks,
                                       struct odb_error *err) ODB_MUST_USE;

#endif
