/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One comparison of two models, as the files against*.c share it.
 */
#ifndef ODB_TWOMODELS_AGAINST_INT_H
#define ODB_TWOMODELS_AGAINST_INT_H

#include <jansson.h>

#include "twomodels/against.h"
#include "bisect/bisect_options.h"
#include "run/feeds.h"
#include "report/report.h"
#include "reference/trace.h"
#include "run/value_report.h"

#define AGAINST_NAMED 0.7 /* pairs less sure than this have nothing but a name in common */

#define AGAINST_COUNT(name, text) +1
enum {
    AGAINST_PAIRED = 0 ODB_PAIRED_LIST(AGAINST_COUNT),
    AGAINST_FATES = 0 ODB_FATE_LIST(AGAINST_COUNT)
};
#undef AGAINST_COUNT

struct against {
    const struct odb_against *how;            /* borrowed */
    const struct odb_model *model;            /* borrowed: the original */
    const struct odb_feeds *feeds;            /* borrowed: its */
    const struct odb_bisect_options *options; /* borrowed */
    const struct odb_graph *a, *b;
    struct odb_trace *trace;   /* borrowed: options */
    struct odb_feeds there;    /* owned items: of the other model */
    struct odb_tensor **had;   /* owned refs; [values of other] as it made them */
    struct odb_tensor **plain; /* owned refs; [values of other] the same as numbers that compare: no
                                  longer quantised, in float32 where they were narrower */
    struct odb_tensor **given; /* owned refs; [values of original] in the original's types */
    struct odb_tensor **unobserved; /* owned refs; [values of original] outputs, where a run that
                                       reads nothing else may give others; NULL: as given */
    bool *blocked;                  /* owned; [values of other] kept in blocks; see blocked.h */
    size_t n_blocked;
    int64_t block; /* size of one; 0: not known, so that such values have no partners */
    struct odb_tensor **constants; /* owned refs; [values of other] of those in blocks */
    signed char *tells; /* owned; [values of original] 1: its values can be distinguished from
                           others'; -1: they cannot; 0: not looked at */
    double *rms;        /* owned; [values of original] with tells */
    double near;
    bool quantised; /* more than the original is */
    struct odb_alignment alignment;
    struct odb_weight_pair *weights; /* owned */
    size_t n_weights;
    bool *stop_a, *stop_b; /* owned: values with a partner */
    char *description;     /* owned: of the target */
    size_t loads, runs;
};

/* The parts that make a value of the original and its partner out of other pairs. */
struct against_region {
    bool *here, *there;      /* owned marks: nodes of the original and of the other */
    int *in_here, *in_there; /* owned: values at their beginnings */
    size_t n_in_here, n_in_there;
    int value;               /* of the other: at the end; ODB_NO_VALUE */
    enum odb_checked alone;  /* confirms: the other's part is wrong on the original's values */
    enum odb_checked pinned; /* confirms: with the original's value there the outputs pass */
    struct odb_value_report numbers; /* of the other's part alone */
    size_t odd_opsets;               /* nodes of another opset than the original's */
    struct odb_buf words;            /* what differs within, in words */
};

/* --- against.c -------------------------------------------------------------------------------- */

/* What the map calls a value of the original in the other; payload: struct against. The caller's to
 * free(); NULL: nothing. */
char *against_mapped(void *payload, const char *name);

/* --- against_values.c ------------------------------------------------------------------------- */

/* The one number that stands behind a value of the other; NULL: it has several, or none. */
const struct odb_tensor *against_number(const struct against *x, int value);
/* A tensor of a value of the other as a number that compares. */
enum odb_status against_plain_of(const struct against *x, int w, const struct odb_tensor *t,
                                 struct odb_tensor **out, struct odb_error *err) ODB_MUST_USE;
/* The same in the type that the original has for u, where both are numbers of a kind, and without
 * the channels that fill its last block. */
enum odb_status against_cast(const struct against *x, int u, const struct odb_tensor *plain,
                             struct odb_tensor **out, struct odb_error *err) ODB_MUST_USE;
/* Pairs values and weights, and fills in what is given to the search. Needs x->had. */
enum odb_status against_align(struct against *x, struct odb_error *err) ODB_MUST_USE;

/* --- against_region.c ------------------------------------------------------------------------- */

/* Of value u of the original, up to the pairs before it. */
void against_region_init(const struct against *x, struct against_region *r, int u);
void against_region_dispose(struct against_region *r);

/* --- against_evidence.c ----------------------------------------------------------------------- */

/* Runs the other's part on the original's values, into r. */
enum odb_status against_alone(struct against *x, struct against_region *r,
                              struct odb_error *err) ODB_MUST_USE;
/* Runs the other model with the original's value in the place of that at the region's end, into r;
 * for one that is accused alone. */
enum odb_status against_pinned(struct against *x, struct against_region *r,
                               const struct odb_report *report, struct odb_error *err) ODB_MUST_USE;
/* What both have come to: checks, confidence and its reason. */
void against_trust(const struct against *x, struct odb_culprit *c, const struct against_region *r);

/* --- against_steps.c -------------------------------------------------------------------------- */

/* Whether t is within the steps of what the original's part makes of the original's values. known:
 * that can be decided. */
enum odb_status against_steps_of(const struct against *x, const struct against_region *r, int u,
                                 const struct odb_tensor *t, bool *known, bool *misfits,
                                 struct odb_error *err) ODB_MUST_USE;
/* Accuses what quantisation steps do not explain, and acquits what they do. */
enum odb_status against_steps(struct against *x, struct odb_report *report,
                              struct odb_error *err) ODB_MUST_USE;

/* --- against_words.c -------------------------------------------------------------------------- */

/* What is said of a region: weights and attributes that are others, into its words. */
void against_weights_within(const struct against *x, struct against_region *r);
void against_attrs_within(const struct against *x, struct against_region *r);
/* What one part reads and the other does not. */
void against_border_within(const struct against *x, struct against_region *r);
/* The first value within that has one name in both models, and another shape in the other. */
void against_shape_within(const struct against *x, struct against_region *r);
/* The culprit's paragraph. */
void against_words(const struct against *x, const struct odb_culprit *c,
                   const struct against_region *r, struct odb_buf *out);
/* Values of the original that are judged at all: made by nodes, and not of constants alone.
 * by[AGAINST_PAIRED]: how many are paired in each way. */
size_t against_count(const struct against *x, size_t by[]);
void against_sum_pairs(const struct against *x, struct odb_buf *out);
/* In which order elements are kept, where that is not the usual one. */
void against_sum_layout(const struct against *x, struct odb_buf *out);
void against_sum_weights(const struct against *x, struct odb_buf *out);

/* --- against_json.c --------------------------------------------------------------------------- */

json_t *against_json_region(const struct against *x, const struct odb_culprit *c,
                            const struct against_region *r);
json_t *against_json_pairs(const struct against *x);
json_t *against_json_weights(const struct against *x);

#endif
