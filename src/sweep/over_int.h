/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shared by over.c (which spec is asked), over_ask.c (what it shows) and over_tell.c (what all of
 * them came to).
 */
#ifndef ODB_SWEEP_OVER_INT_H
#define ODB_SWEEP_OVER_INT_H

#include "sweep/over.h"

struct over {
    const struct odb_over *what;
    const struct odb_model *model;
    const struct odb_feeds *feeds;
    const struct odb_bisect_options *options;
    struct odb_over_found *out;
    int *outputs; /* owned */
    size_t n_outputs;
    bool weighs;             /* a twin is being asked, which has none of its own */
    enum odb_verdict sought; /* what all options together show, where that is a failure; else pass:
                                any failure will do */
};

/* --- over_ask.c ------------------------------------------------------------------------------- */

/* Asks a spec, once. What the target says of it is no failure of the search. Takes spec and label.
 */
enum odb_status over_run_take(struct over *o, char *spec, char *label, enum odb_answer *answer,
                              struct odb_error *err);
enum odb_answer over_answer(const struct over *o, enum odb_verdict verdict);
/* NULL: it was not asked. */
const struct odb_over_run *over_find(const struct over *o, const char *spec);
/* When all are asked: a refusal by a target that was never seen to run the model says nothing, and
 * one that was is at fault. */
enum odb_status over_weigh_refusals(struct over *o, struct odb_error *err);

/* --- over_tell.c ------------------------------------------------------------------------------ */

void over_tell_levels(struct over *o, const struct odb_over_change *change);
enum odb_status over_tell_set(struct over *o, bool *on, enum odb_over_outcome outcome,
                              struct odb_error *err);
/* How a spec of a subset is called, where it is long; NULL: as it is. Owned by the caller. */
char *over_label(const struct over *o, const bool *on);

#endif
