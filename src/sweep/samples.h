/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Several samples of inputs: the model runs once on each, the worst is searched, and what the
 * search accuses is tried alone on the others. One trace at a time is held here.
 */
#ifndef ODB_SWEEP_SAMPLES_H
#define ODB_SWEEP_SAMPLES_H

#include "bisect/bisect_options.h"
#include "run/feeds.h"
#include "report/report.h"
#include "executor/transport/target_pool.h"

#define ODB_SAMPLES_DEAR 10 /* seconds of a load */

struct odb_sample {
    char *source;             /* owned: "seed 43", a folder */
    enum odb_verdict verdict; /* of its worst output; UNTESTABLE: the target refused */
    double error, noise;      /* of that output; NAN: not known */
    int value;                /* that output, or ODB_NO_VALUE */
    char *why;                /* owned: why it could not be run; NULL: it could */
    enum odb_status failed;   /* the status of that */
    bool searched;
    bool doubted;            /* it is off, and no search has looked whether rounding makes that */
    ODB_VEC(int) confirms;   /* culprits that fail alone on it */
    ODB_VEC(int) untestable; /* and those where that is unknown */
};

/* What runs of samples cost beside a search. */
struct odb_samples_cost {
    struct odb_target_stats target;
    size_t models;    /* at most, that one pass had of the target */
    size_t reference; /* runs of the reference over the model */
    double seconds, processor_seconds;
};

struct odb_samples {
    ODB_VEC(struct odb_sample) items; /* sources are filled in by the caller */
    /* Makes the inputs of one; the caller's. */
    enum odb_status (*feeds)(void *payload, size_t sample, struct odb_feeds **out,
                             struct odb_error *err);
    void *payload;
    struct odb_samples_cost spent; /* to judge and to confirm */
    bool reshapes; /* what is loaded for one runs the others, of other dimensions, as well; and what
                      refuses the first few refuses them all */
    /* Sees what the target gave of n outputs, and what was said of each. Optional. */
    void (*gave)(void *payload, size_t sample, const struct odb_value_report *reports,
                 const int *outputs, struct odb_tensor *const *had, size_t n);
};

/* Whether a is worse than b: crash, hang and NaN before other faults, those by error over noise,
 * before what passes, before what is not known. */
bool odb_sample_worse(const struct odb_sample *a, const struct odb_sample *b);
/* The first of the worst. */
size_t odb_samples_worst(const struct odb_sample *samples, size_t n);
/* Neither passes nor fails: nothing is known of the target there. */
bool odb_sample_unknown(const struct odb_sample *sample);

/* One plain run of the target on each, of a model that is loaded once if the target takes other
 * inputs then. Whether rounding makes what is off takes a search of each: where a load takes
 * ODB_SAMPLES_DEAR seconds that is left to the caller, and the sample is doubted. That a target
 * fails on one ends nothing; stopped, those not reached stay untested. */
enum odb_status odb_samples_judge(struct odb_samples *samples, const struct odb_model *model,
                                  const struct odb_bisect_options *options,
                                  struct odb_error *err) ODB_MUST_USE;
/* Tells of the loads and seconds that n samples take, of which so many are done since odb_clock()
 * was began: one load, or one for each where the target says refeed=no. */
void odb_samples_forecast(struct odb_pool *pool, size_t done, size_t n, double began,
                          const struct odb_search_hooks *hooks);
/* Runs each culprit that is one node alone on every sample, fed with the reference's values; of a
 * sample that was searched the search says it. */
enum odb_status odb_samples_try(struct odb_samples *samples, const struct odb_report *report,
                                const struct odb_bisect_options *options,
                                struct odb_error *err) ODB_MUST_USE;
/* Whether a culprit is one that is tried. */
bool odb_samples_tries(const struct odb_culprit *culprit);
/* Whether the node fails alone on it; whether that is unknown. Of nodes that were tried. */
bool odb_sample_confirms(const struct odb_sample *sample, int node);
bool odb_sample_leaves_open(const struct odb_sample *sample, int node);
/* Tries all samples, and appends what came of it to the report's summary and, as "samples", to its
 * JSON. */
enum odb_status odb_samples_confirm(struct odb_samples *samples, struct odb_report *report,
                                    const struct odb_bisect_options *options,
                                    struct odb_error *err) ODB_MUST_USE;
/* Adds it to what the report says that its search cost. */
void odb_samples_charge(struct odb_report *report, const struct odb_samples_cost *spent);
void odb_samples_dispose(struct odb_samples *samples);

#endif
