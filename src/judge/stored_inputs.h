/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A target may compute in float and store integers, where its values are read. Then a node was not
 * fed what was read, but what that was rounded from, and its outputs are as far off as half steps
 * of its inputs move them. Whether a target goes on with what it stores is not known, so that a
 * node is never accused of so much.
 */
#ifndef ODB_JUDGE_STORED_INPUTS_H
#define ODB_JUDGE_STORED_INPUTS_H

#include "interpret/cpu.h"
#include "reference/trace.h"

/* How far an output comes out from the exact one, over its rms: at most, and on the mean. */
struct odb_reach {
    double max, mean;
};

/* Whether the target stores an input of the node as integers; in: [n_in]. */
bool odb_inputs_stored(const struct odb_node *node, struct odb_tensor *const *in);

/* How far half a step in each element of the stored inputs moves the outputs of a node, by runs in
 * which these go up or down at random. in, given and simulated are those of the replay, exact:
 * [n_out] what came of it in float64, or NULL. out: [n_out]. */
enum odb_status odb_inputs_reach(struct odb_reach *out, struct odb_trace *trace, int node,
                                 struct odb_tensor *const *in, struct odb_tensor *const *given,
                                 enum odb_simulated simulated, struct odb_tensor *const *exact,
                                 struct odb_error *err) ODB_MUST_USE;

/* The same of a value of a model that is fed such values, against golden. */
enum odb_status odb_feeds_reach(struct odb_reach *out, const struct odb_trace *trace, int value,
                                struct odb_error *err) ODB_MUST_USE;

#endif
