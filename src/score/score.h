/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a fault costs the task. The model runs on the reference and on the target for every sample
 * of a data set, and both are scored by a metric. Then nodes are mended, one by one and together:
 * what the reference operator makes of what the target fed the node stands in place of what the
 * target's node made, and the rest runs on the target. How much that gives back of what the target
 * lost is the node's cost.
 *
 * Mending a node leaves errors from before it as they are, so that a node that only passes one on
 * costs nothing. (A value that is pinned to the reference's would hide them, too.)
 *
 * Every score comes with what chance makes of it: the 2.5th and 97.5th percentile over resamples of
 * the samples with replacement (percentile bootstrap: Efron and Tibshirani 1993, chapter 13), the
 * same resamples for all scores that are held against each other.
 */
#ifndef ODB_SCORE_SCORE_H
#define ODB_SCORE_SCORE_H

#include "bisect/bisect_options.h"
#include "executor/transport/target.h"
#include "report/report.h"
#include "score/metric.h"

struct json_t;

#define ODB_SCORE_NODES 8 /* mended, at most */

/* A difference of two scores as it is shown: points, dB. NAN: it is not defined. */
struct odb_score_gain {
    double is, low, high; /* that of all samples, and the percentiles */
};

struct odb_score_node {
    int node;
    double error;                /* that the search found at its output; NAN: it was named */
    struct odb_score_gain alone; /* what mending it gives back */
    struct odb_score_gain with;  /* mended with all that stand before it in the list */
    double score;                /* with it and all before it mended */
    size_t changed;              /* samples whose share is another once it is mended; SIZE_MAX: the
                                    metric does not tell */
    char *why;                   /* owned: why it could not be mended; NULL: it could */
};

struct odb_score_sample {
    char *source; /* owned */
    char *why;    /* owned: why it has no share; NULL: it has */
    enum odb_status failed;
    bool changed;  /* its share is another on the target than on the reference */
    double error;  /* of the worst output: |t - r| over |r|, lengths; NAN: unknown */
    bool searched; /* for culprits */
};

struct odb_score {
    const struct odb_model *model;                /* borrowed */
    char *metric, *target, *description, *labels; /* owned; labels NULL: the reference is right */
    const char *unit, *diff, *right;              /* static; right as in struct odb_metric_kind */
    double factor;                                /* of what is shown of a score */
    bool lower;                                   /* less is better */
    bool tells;                                   /* which samples score otherwise is known */
    ODB_VEC(struct odb_score_sample) samples;
    size_t used, differ; /* samples with a share, and those in which reference and target differ */
    double reference, run;      /* scores: of the reference, and of the target as it is */
    struct odb_score_gain loss; /* what the target loses: more than 0 is worse */
    ODB_VEC(struct odb_score_node)
    nodes;         /* what costs most first; those that could not be mended
                      last */
    char *failure; /* owned: why the scores are not known; NULL: they are */
    bool stopped; /* by the user or the budget, once both scores were known: nodes may be missing */
    bool accused; /* the nodes are what searches found; else the caller named them */
    ODB_VEC(char *) notes; /* owned lines */
    struct odb_target_stats cost;
    size_t searches;
    double seconds;
};

struct odb_score_options {
    struct odb_metric *metric; /* borrowed */
    const int *nodes;          /* borrowed: that are mended; n_nodes 0: what searches accuse */
    size_t n_nodes;
    size_t n; /* of samples */
    /* Where the inputs of one are from, and they; both the caller's. */
    char *(*source)(void *payload, size_t sample);
    enum odb_status (*feeds)(void *payload, size_t sample, struct odb_feeds **out,
                             struct odb_error *err);
    void *payload;
    bool bare;        /* both scores and no more: nothing is searched or mended */
    size_t resamples; /* 0: 1,000, or 200 where a score is dear */
};

/* *out is the caller's to free always. ODB_CANCELLED where it was stopped. ODB_E_INPUT where an
 * output or a label does not fit the metric. A sample that the target, or the reference, does not
 * run has no share, and ends nothing; ODB_E_EXECUTOR, and others, where none has one. */
enum odb_status odb_score_make(struct odb_score **out, const struct odb_model *model,
                               const struct odb_bisect_options *search,
                               const struct odb_score_options *options,
                               struct odb_error *err) ODB_MUST_USE;
void odb_score_free(struct odb_score *score); /* NULL is fine */

/* Whether the target loses more than so much (as the metric is shown). A millionth of the
 * reference's score is rounding, and counts for nothing. */
bool odb_score_loses(const struct odb_score *score, double drop);

/* The same of any loss. */
bool odb_score_beyond(const struct odb_score *score, double loss, double drop);

/* What both have, and how many samples that is: the head of what follows. */
void odb_score_put_scores(const struct odb_score *score, struct odb_buf *out);
/* For people, and the JSON of onnxdbg-report(7). */
void odb_score_put(const struct odb_score *score, struct odb_buf *out);
void odb_score_json(const struct odb_score *score, struct odb_buf *out);
struct json_t *odb_score_object(const struct odb_score *score); /* the same; the caller's */

#endif
