/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shared by least.c (the plan), least_nodes.c (which nodes), least_samples.c (which samples) and
 * least_repro.c (what is written).
 */
#ifndef ODB_SCORE_LEAST_LEAST_INT_H
#define ODB_SCORE_LEAST_LEAST_INT_H

#include "score/least/least.h"
#include "score/score_int.h"

/* A set of nodes that was left to the target. */
struct least_tried {
    bool *set;   /* owned; [n_nodes] */
    double loss; /* NAN: it could not be run, or has no score */
};

struct leasting {
    struct scorer scorer;
    const struct odb_least_options *options; /* borrowed */
    struct odb_least *out;                   /* the caller's */
    ODB_VEC(struct least_tried) tried;
    bool *needed;             /* owned; [n_nodes] what the metric's outputs hang on */
    bool *set;                /* owned; [n_nodes] the smallest that loses it by now */
    struct odb_share *shares; /* owned; [samples] of it; NULL: as the target's own */
    bool *part;               /* owned; [n_nodes] of the model that is written */
    struct odb_share *parts;  /* owned; [samples] of that; NULL: as the target's own */
};

/* Whether so much is more than is allowed. */
bool least_fails(const struct leasting *l, double loss);
/* What the reference is better than these shares, over the picked samples. */
enum odb_status least_loss(struct leasting *l, const struct odb_share *shares, const size_t *picked,
                           size_t n, double *loss, struct odb_error *err) ODB_MUST_USE;
void least_note(struct leasting *l, char *line); /* taken */

/* Leaves a set to the target, unless that was tried before. *shares: [samples], the caller's; may
 * be NULL. why: where it cannot be run, in which case loss is NAN; may be NULL. ODB_CANCELLED, and
 * what is no word of the target's. */
enum odb_status least_try(struct leasting *l, const bool *set, double *loss,
                          struct odb_share **shares, struct odb_error *why,
                          struct odb_error *err) ODB_MUST_USE;

/* --- least_nodes.c: makes l->set small, beginning with all that is needed --------------------- */
enum odb_status least_nodes(struct leasting *l, struct odb_error *err) ODB_MUST_USE;
/* --- least_samples.c: chooses out->samples ---------------------------------------------------- */
enum odb_status least_samples(struct leasting *l, struct odb_error *err) ODB_MUST_USE;
/* --- least_repro.c: which part of the model is written; writes it ------------------------------
 */
enum odb_status least_part(struct leasting *l, struct odb_error *err) ODB_MUST_USE;
enum odb_status least_write(struct leasting *l, struct odb_error *err) ODB_MUST_USE;

#endif
