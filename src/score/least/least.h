/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The least that costs the task: `minimise` with a metric for its criterion. What "still fails"
 * means is that the target loses more than a drop, as odb_score_loses() has it.
 *
 * First nodes: a set of them is left to the target, and the reference computes every other node on
 * what comes to it (mended, as score.h calls it). Those that searches accuse are tried first, what
 * costs most alone before the others; where all of them do not cost it, halves and parts of all
 * nodes are tried (delta debugging: Zeller and Hildebrandt 2002). In the end no node of the set can
 * be left out; that other nodes, and fewer, would do is not ruled out.
 *
 * Then samples: the fewest over which both the set and the model that is written still cost it. No
 * run is needed for that, as any choice of samples has a score (metric.h).
 *
 * What is written is a data set of these samples for the part of the model that begins with the
 * set, fed with the reference's values, or for all of the model where that part does not lose it;
 * it is scored again from its own files.
 */
#ifndef ODB_SCORE_LEAST_LEAST_H
#define ODB_SCORE_LEAST_LEAST_H

#include "score/score.h"
#include "shrink/repro.h"

#define ODB_LEAST_TRIES 200 /* sets that are run, at most */
#define ODB_LEAST_CUTS 8    /* nodes that are written as models of their own, at most */

struct odb_least_node {
    int node;
    double alone;   /* the loss where it alone is left to the target; NAN: not known */
    double without; /* of a node of the set, where it is mended as well: no more than the drop; NAN:
                       it cannot be run so, or was not tried */
    bool of_set;
    char *why; /* owned: why alone is not known; NULL: it is, or was not tried */
};

/* A node of the set as a model of its own, fed with what the reference has there. */
struct odb_least_cut {
    int node;
    char *dir;     /* owned: below that of the repro */
    char *summary; /* owned: what it showed, or why it was not written */
    bool reproduces;
};

struct odb_least {
    struct odb_score *score; /* owned: of all samples; its nodes are not known */
    double drop;
    bool fails;                           /* the target loses more; else what follows is empty */
    ODB_VEC(struct odb_least_node) nodes; /* of the set, then others that were accused */
    size_t n_set;
    double loss;  /* where the set is left to the target, of all samples */
    bool minimal; /* no node of it can be left out: each was tried */
    bool checked; /* the set was run once more, and lost as much */
    bool hunted;  /* what searches accuse did not cost it, so that all nodes were divided */
    size_t tries;
    ODB_VEC(size_t) samples; /* of the repro */
    double samples_loss;     /* of the set, over these */
    bool stopped;            /* by the budget or by the user, before the end */
    /* The repro. */
    bool written;
    size_t repro_nodes;      /* of its model */
    bool part;               /* it is not all of the model */
    char *whole_why;         /* owned: why it is all of it; NULL: it is a part */
    struct odb_score *again; /* owned: scored from its files; NULL: it was not */
    bool reproduces;
    ODB_VEC(struct odb_least_cut) cuts;
    ODB_VEC(char *) notes; /* owned lines: what was not done */
    struct odb_target_stats cost;
    double seconds;
};

struct odb_least_options {
    struct odb_score_options score; /* nodes, bare and resamples are not looked at */
    double drop;
    const char *dir;    /* created; must not exist or be empty */
    bool with_target;   /* as that of struct odb_repro_options */
    int64_t ir_version; /* 0: the model's */
};

/* *out is the caller's to free always. Errors are those of odb_score_make(), and of writing.
 * ODB_CANCELLED: by the user or the budget; once it is known that the target fails, what is known
 * by then is written even so, if written says so. */
enum odb_status odb_least_make(struct odb_least **out, const struct odb_model *model,
                               const struct odb_bisect_options *search,
                               const struct odb_least_options *options,
                               struct odb_error *err) ODB_MUST_USE;
void odb_least_free(struct odb_least *least); /* NULL is fine */
/* For people, and the JSON of onnxdbg-report(7). dir: as it was named. */
void odb_least_put(const struct odb_least *least, const char *dir, struct odb_buf *out);
void odb_least_json(const struct odb_least *least, const char *dir, struct odb_buf *out);

#endif
