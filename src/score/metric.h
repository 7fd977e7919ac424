/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Metrics: what a data set of outputs is worth, in one number. A sample has a share in it, and any
 * choice of samples has a score made of their shares, so that a choice costs no run.
 *
 *     top1, top5, topK[:OUTPUT][,axis=N]    the label is among the K classes with the highest score
 *     wer[:OUTPUT][,blank=N][,vocab=FILE]   edits over words, or over token ids
 *     perplexity[:OUTPUT]                   exp of the mean of -ln p(next token)
 *     snr[:OUTPUT]                          10 lg of the signal's energy over the difference's, dB
 *     map[,boxes=NAME][,scores=NAME][,classes=NAME][,format=xyxy|xywh|cxcywh|yxyx][,unit]
 *     python:FILE.py[:CLASS]                a class with add(outputs, label) and score()
 *
 * Without labels the reference's own outputs are what is right, but for perplexity, whose labels
 * are the tokens that the model is fed.
 */
#ifndef ODB_SCORE_METRIC_H
#define ODB_SCORE_METRIC_H

#include "executor/executor.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "score/labels.h"

struct odb_boxes;
struct odb_metric;

/* What a sample is: borrowed all of it. */
struct odb_metric_sample {
    size_t index;
    const char *source; /* "seed 43", a folder, a picture */
    const struct odb_feeds *feeds;
    struct odb_tensor *const *outputs;   /* [n_outputs of the model] */
    struct odb_tensor *const *reference; /* the same, as the reference makes them */
};

/* What it adds: sums, of which a score is made. */
struct odb_share {
    double sum, of;          /* hits, edits, energy; of so many places, words, energy */
    struct odb_boxes *boxes; /* owned: what was detected and what is there; NULL: no such metric */
    size_t own;              /* python: which of those that the class was given */
};
void odb_share_dispose(struct odb_share *share);
/* Whether both say the same of their sample. */
bool odb_share_same(const struct odb_share *a, const struct odb_share *b);

struct odb_metric_kind {
    const char *name;
    const struct odb_executor_option *options;
    const char *help;
    const char *unit;  /* behind a score: "%" */
    const char *diff;  /* behind a difference: "points" */
    const char *right; /* without labels: "the tokens that it is fed"; NULL: the reference's own
                          outputs */
    double factor;     /* of what is shown: 100 */
    bool lower;        /* less is better */
    bool text;         /* labels are texts */
    bool one;          /* it is about one output */
    bool dear;         /* a score takes long: fewer resamples */
    enum odb_status (*open)(struct odb_metric *metric, struct odb_error *err); /* may be NULL */
    enum odb_status (*take)(struct odb_metric *metric, const struct odb_metric_sample *sample,
                            struct odb_share *out, struct odb_error *err);
    enum odb_status (*score)(struct odb_metric *metric, const struct odb_share *shares,
                             const size_t *picked, size_t n, double *out, struct odb_error *err);
};

struct odb_metric {
    const struct odb_metric_kind *kind; /* static */
    char *text;                         /* owned: as given */
    struct odb_spec *spec;              /* owned */
    const struct odb_graph *graph;      /* borrowed */
    struct odb_search_hooks hooks;
    size_t output;             /* which of the model's; of those that take one */
    long k, axis;              /* of the kind's own */
    struct odb_labels *labels; /* owned; NULL: the reference is right */
    struct odb_lines words;    /* owned: vocab; none: ids are words */
    struct odb_target *own;    /* owned: python */
    int ends[3];               /* map: outputs of boxes, scores, classes; -1: none */
};

/* labels: a file; NULL: none. ODB_E_USAGE names what there is. *out is NULL on failure. */
enum odb_status odb_metric_open(struct odb_metric **out, const char *text, const char *labels,
                                const struct odb_graph *graph, const struct odb_search_hooks *hooks,
                                struct odb_error *err) ODB_MUST_USE;
void odb_metric_close(struct odb_metric *metric); /* NULL is fine */
/* What one sample adds; out is to be disposed of. ODB_E_INPUT where an output or a label is not as
 * the metric takes it. */
enum odb_status odb_metric_take(struct odb_metric *metric, const struct odb_metric_sample *sample,
                                struct odb_share *out, struct odb_error *err) ODB_MUST_USE;
/* The score of the picked samples, one of which may be picked more than once, in the metric's own
 * measure (0.915); NAN: none is defined. */
enum odb_status odb_metric_score(struct odb_metric *metric, const struct odb_share *shares,
                                 const size_t *picked, size_t n, double *out,
                                 struct odb_error *err) ODB_MUST_USE;
/* Whether it looks at this output of the model. */
bool odb_metric_reads(const struct odb_metric *metric, size_t output);
/* Whether less is better; of a class of the user's once it has scored. */
bool odb_metric_lower(const struct odb_metric *metric);
/* How much better b is than a, as it is shown; NAN where one is. Equal infinities differ by 0. */
double odb_metric_better(const struct odb_metric *metric, double a, double b);
/* Of the output that a metric is about: the label's numbers, or NULL where the reference is right;
 * the caller's. whole: ODB_E_INPUT where one of them is no whole number. */
enum odb_status odb_metric_label(const struct odb_metric *metric,
                                 const struct odb_metric_sample *sample, bool whole,
                                 struct odb_tensor **out, struct odb_error *err) ODB_MUST_USE;

/* Of kinds whose score is the sum of their shares over what they are shares of. */
enum odb_status odb_metric__ratio(struct odb_metric *m, const struct odb_share *shares,
                                  const size_t *picked, size_t n, double *out,
                                  struct odb_error *err) ODB_MUST_USE;

/* The kinds, ending with one without a name; "top" stands for all of its numbers. */
extern const struct odb_metric_kind *const odb_metric_kinds[];
extern const struct odb_metric_kind odb_metric_top, odb_metric_wer, odb_metric_perplexity,
    odb_metric_snr, odb_metric_map, odb_metric_python;

#endif
