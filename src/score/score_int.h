/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shared by score.c (what is scored and mended), mend.c and left.c (runs), resample.c (what chance
 * makes of a score), and the room score/least.
 */
#ifndef ODB_SCORE_SCORE_INT_H
#define ODB_SCORE_SCORE_INT_H

#include "probe/probe.h"
#include "reference/trace.h"
#include "score/score.h"
#include "tensor/spill.h"

/* What is kept of a sample. */
struct score_kept {
    struct odb_tensor **right; /* owned refs; [n_outputs] of the reference */
    struct odb_tensor **fed;   /* owned refs; [n_list] what the target's nodes were fed; NULL: not
                                  read yet */
    bool has;                  /* a share on reference and target */
};

struct scorer {
    const struct odb_model *model;           /* borrowed, like all that the caller gave */
    const struct odb_bisect_options *search; /* whose hooks are asked */
    const struct odb_score_options *options;
    struct odb_score *out;
    struct odb_pool *pool;      /* owned */
    struct odb_prober prober;   /* initialised once there is a trace */
    struct odb_trace *like;     /* owned: of the first sample: what values look like, and what hangs
                                   on weights alone */
    struct odb_feeds *fed;      /* owned: that it is of */
    struct odb_spill *spill;    /* owned */
    struct score_kept *samples; /* owned; [n] */
    struct odb_share *right;    /* owned; [n] shares of the reference, */
    struct odb_share *run;      /* and of the target as it is */
    int *list;                  /* owned; [n_list] values that nodes to be mended are fed */
    size_t n_list;
    int *outputs; /* owned; [n_outputs] of the model, as the metric has them */
    size_t n_outputs;
    ODB_VEC(int) accused; /* by searches, those of regions as well */
};

/* Nodes that are mended together, in the order of the graph. */
struct score_set {
    int nodes[ODB_SCORE_NODES];
    size_t n;
};

/* --- score.c ---------------------------------------------------------------------------------- */

/* Makes s->out, which is the caller's to free, and s, which is to be disposed of: both always. */
void score_begin(struct scorer *s, const struct odb_model *model,
                 const struct odb_bisect_options *search, const struct odb_score_options *options);
/* The scores of reference and target. Errors as of odb_score_make(). */
enum odb_status score_both(struct scorer *s, struct odb_error *err) ODB_MUST_USE;
/* A search of the sample that is off most, of those that are not searched yet; what it accuses goes
 * into s->accused. *any: there was one, and fewer were searched than are at most. */
enum odb_status score_search(struct scorer *s, bool *any, struct odb_error *err) ODB_MUST_USE;
void score_end(struct scorer *s);
struct odb_share *score_shares(const struct scorer *s);            /* [n], the caller's */
void score_drop(const struct scorer *s, struct odb_share *shares); /* NULL is fine */

/* --- mend.c ----------------------------------------------------------------------------------- */

/* Whether it is no word of the target or the reference on one sample, and ends all. */
bool score_fatal(enum odb_status status);
/* Tells which sample it is at, asks whether to go on, and makes its inputs: the caller's. */
enum odb_status score_enter(struct scorer *s, const char *phase, size_t i, struct odb_feeds **feeds,
                            struct odb_error *err) ODB_MUST_USE;
/* What the reference makes of these values, which is the caller's to free. */
enum odb_status score_reference(struct odb_trace **out, const struct odb_model *model,
                                const struct odb_bisect_options *search,
                                const struct odb_feeds *feeds, const int *values, size_t n,
                                struct odb_error *err) ODB_MUST_USE;
/* The reference and the target on every sample: what both make of the outputs, and their shares. A
 * sample that one of them does not run has no share. */
enum odb_status score_run(struct scorer *s, struct odb_error *err);
/* Reads what the nodes of the set are fed on the target, of each sample that has a share. */
enum odb_status score_read(struct scorer *s, const struct score_set *set, struct odb_error *err);
/* Shares ([n]) with a set mended, whose nodes were read. ODB_E_EXECUTOR and others: it cannot be,
 * on some sample. */
enum odb_status score_mend(struct scorer *s, const struct score_set *set, struct odb_share *shares,
                           struct odb_error *err);

/* --- left.c ----------------------------------------------------------------------------------- */

/* Marks what the metric's outputs hang on; [n_nodes]. */
void score_needed(const struct scorer *s, bool *nodes);
/* Shares ([n]) where the nodes of the set ([n_nodes] marks) are left to the target, and all others
 * are mended: the reference computes them. ODB_E_EXECUTOR and others: that cannot be, on some
 * sample. */
enum odb_status score_leave(struct scorer *s, const bool *set, struct odb_share *shares,
                            struct odb_error *err) ODB_MUST_USE;

/* --- resample.c ------------------------------------------------------------------------------- */

/* The score of all samples that have a share. */
enum odb_status score_of(struct scorer *s, const struct odb_share *shares, double *out,
                         struct odb_error *err);
/* How much better b is than a, and what resamples make of that. */
enum odb_status score_gain(struct scorer *s, const struct odb_share *a, const struct odb_share *b,
                           struct odb_score_gain *out, struct odb_error *err);

#endif
