/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nodes by steps: one step is searched, and what it accuses is tried alone in a few of the other
 * wrong steps, fed with the reference's values there. Where it is right, something else is wrong.
 */
#ifndef ODB_SEQUENCE_OTHER_STEPS_H
#define ODB_SEQUENCE_OTHER_STEPS_H

#include "sequence/sequence_found.h"

/* Tries the culprits of the search of sequence->step in a few other wrong steps: the first with
 * other wrong outputs, the worst, the last, and some between. Of a recording nothing runs alone. */
enum odb_status odb_other_steps_try(struct odb_sequence *sequence, const struct odb_report *report,
                                    const struct odb_bisect_options *options,
                                    struct odb_error *err) ODB_MUST_USE;
/* The first of them in which no culprit is wrong alone; plan->steps: there is none, or it is not
 * known of one. */
size_t odb_other_steps_unexplained(const struct odb_sequence *sequence);
/* What that step's own search accuses first; ODB_NO_NODE: nothing. */
void odb_other_steps_found(struct odb_sequence *sequence, size_t step, int node);
/* How many nodes there is something to say of by steps: those that were tried, and what another
 * step's search accuses; which number i is; and of that: x wrong in that step, . right alone, - not
 * tried or not known. */
size_t odb_other_steps_nodes(const struct odb_sequence *sequence);
int odb_other_steps_node(const struct odb_sequence *sequence, size_t i);
char odb_other_steps_mark(const struct odb_sequence *sequence, size_t i, size_t step);
/* What came of it, in lines; nothing where nothing was tried. */
void odb_other_steps_put(const struct odb_sequence *sequence, struct odb_buf *out);

#endif
