/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which segment is at fault, where not every value is known: segments lie between the values that
 * were given, and the reference runs each of them on the values at its beginning. What the value at
 * its end is off from that is the segment's own.
 */
#ifndef ODB_JUDGE_SEGMENT_H
#define ODB_JUDGE_SEGMENT_H

#include "judge/blame.h"
#include "reference/trace.h"
#include "run/value_report.h"

/* The nodes between a value and the given values before it. */
struct odb_segment {
    int value;
    int first, last; /* nodes; there may be others between them */
    size_t n_nodes;
    bool *nodes; /* owned; [n_nodes of the graph] */
    int *border; /* owned: values that the nodes read and do not make, in order */
    size_t n_border;
    bool closed; /* all of the border is given, fed or an initializer, and nothing is drawn */
};

/* given[]: [n_values]; feeds and initializers are found by themselves, unless they are there. The
 * value is made by a node. */
void odb_segment_init(struct odb_segment *segment, const struct odb_trace *trace, int value,
                      struct odb_tensor *const *given);
void odb_segment_dispose(struct odb_segment *segment);

/* Local error, local noise, inherited error, gain and culprit of the outputs of a node that are
 * given, as odb_judge_node() has them, of the node where its inputs are given and of the segment
 * before it where they are not. Numbers stay unknown where the reference cannot run it. */
enum odb_status odb_judge_segments(const struct odb_judge *judge, int node,
                                   struct odb_tensor *const *given,
                                   struct odb_value_report *reports,
                                   struct odb_error *err) ODB_MUST_USE;

/* Puts the reference's values into given[] ([n_values], owned refs) where nothing was given, no
 * input and no draw goes into them; derived[] ([n_values]) marks them. */
void odb_segment_derive(const struct odb_trace *trace, struct odb_tensor **given, bool *derived);
/* What the reference, in its own precision, makes of what was given before the value, which may be
 * weights in the place of the model's. NULL: it cannot. Owned by the caller. */
struct odb_tensor *odb_segment_replay(const struct odb_trace *trace, int value,
                                      struct odb_tensor *const *given);

#endif
