/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which nodes must stay in float32 so that a model in float16, bfloat16 or int8 passes on a target?
 * Nodes are ranked by what the type alone costs each of them on the reference's own values; the
 * fewest of the worst that have to stay are searched on the target, and then each of those is tried
 * without. What is written is loaded from its file again and judged before anything is claimed.
 *
 * Errors are relative here: the length of the difference over the length of what it should be,
 * sqrt(sum (e-b)^2 / sum b^2); infinite where NaN or Inf stand at other places.
 */
#ifndef ODB_PRECISION_PRECISION_H
#define ODB_PRECISION_PRECISION_H

#include "compare/criterion.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "reference/trace.h"

/* What one sample of inputs must do: all of them have to pass. */
struct odb_precision_case {
    const struct odb_feeds *feeds; /* borrowed */
    struct odb_trace *trace;       /* borrowed; of these feeds */
};

/* A data set of the caller's, judged as a whole in the tolerance's place. */
struct odb_precision_set {
    const char *text; /* borrowed: what must hold, for people */
    size_t n;
    enum odb_status (*feeds)(void *payload, size_t sample, struct odb_feeds **out,
                             struct odb_error *err);
    /* What the target made of a sample: outputs in the model's order. */
    enum odb_status (*take)(void *payload, size_t sample, const struct odb_feeds *feeds,
                            struct odb_tensor *const *outputs, struct odb_error *err);
    /* All samples were taken; reason: why it passes, or does not. */
    enum odb_status (*done)(void *payload, bool *passes, char *reason, size_t size,
                            struct odb_error *err);
    void *payload;
};

struct odb_precision_options {
    enum odb_dtype to;          /* ODB_F16, ODB_BF16, ODB_I8 */
    const char *const *targets; /* specs; the model passes if it does on all of them */
    size_t n_targets;
    bool spare; /* the last of several is left out where it refuses the model as it is */
    struct odb_criterion tolerance;
    const struct odb_precision_set
        *set;         /* borrowed; NULL: every case's outputs pass by tolerance */
    size_t probes;    /* of the target at most, the first two included */
    double seconds;   /* after which no more are begun; 0: no such limit */
    const char *path; /* of the model to write */
    struct odb_search_hooks hooks;
};

/* What is sensible where no tolerance is given: diff2 of 1 % for float16, of 5 % for types of 8
 * bits. */
struct odb_criterion odb_precision_tolerance(enum odb_dtype to);

/* "f16", "bf16", "int8" and their longer names; ODB_UNDEFINED for others. */
enum odb_dtype odb_precision_type(const char *name);

enum odb_precision_fate {
    ODB_FATE_NOTHING, /* nothing in it could be converted */
    ODB_FATE_FIXED,   /* cannot be converted: why says what is in the way */
    ODB_FATE_BEYOND,  /* one of its weights is beyond the type */
    ODB_FATE_KEPT,    /* has to stay */
    ODB_FATE_CONVERTED
};

struct odb_precision_node {
    enum odb_precision_fate fate;
    bool measured;
    double error; /* what the type costs it alone; the largest of all cases */
    char *why;    /* owned: why it stays; NULL: it does not */
};

/* One model on the target. */
struct odb_precision_probe {
    size_t kept; /* nodes that stay */
    bool passes;
    bool ran; /* it loaded and ran: the numbers count */
    enum odb_status status;
    double error;     /* of the worst output of all cases and targets */
    int value;        /* that output */
    size_t target;    /* that target's index; with reason, of the one that failed */
    char reason[400]; /* in the criterion's words, or the target's */
    double seconds;
    size_t bytes; /* of the model as it was sent */
};

struct odb_precision_result {
    const struct odb_model *model; /* borrowed */
    enum odb_dtype to;
    char **targets, *tolerance, *path; /* owned */
    char **descriptions;               /* owned: what the targets say of themselves */
    size_t n_targets;
    struct odb_precision_node *nodes; /* owned; [n_nodes] */
    size_t n_nodes;                   /* that could be converted or have a weight beyond */
    size_t n_free, n_kept, n_fixed, n_beyond;
    size_t n_no_golden; /* that float64 cannot run, in the case with the most: measured from the
                           reference */
    ODB_VEC(struct odb_precision_probe) probes;
    struct odb_precision_probe all, none; /* with all kept, with none */
    struct odb_precision_probe proof;     /* of the file; reason "" while there is none */
    bool minimal; /* each kept node was tried without, and the model failed */
    bool written; /* the file is there; without, even all kept fails, or the proof did */
    size_t bytes_before, bytes_after; /* of the model with its weights */
    size_t casts;                     /* nodes that were added */
    ODB_VEC(char *) notes;            /* owned lines: what its user should know */
    double seconds;
};

/* result->written says whether the model passes. Fails as a target does with the model as it is,
 * ODB_UNSUPPORTED where the reference has no output, or the model's opset no such type. *out is
 * NULL on failure. */
enum odb_status odb_precision_search(struct odb_precision_result **out,
                                     const struct odb_model *model,
                                     const struct odb_precision_case *cases, size_t n_cases,
                                     const struct odb_precision_options *options,
                                     struct odb_error *err) ODB_MUST_USE;
void odb_precision_result_free(struct odb_precision_result *result); /* NULL is fine */

void odb_precision_json(const struct odb_precision_result *result, struct odb_buf *out);

#endif
