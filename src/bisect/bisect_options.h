/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a search is asked to do: by whom and against whom, how far off is wrong, and which way.
 */
#ifndef ODB_BISECT_BISECT_OPTIONS_H
#define ODB_BISECT_BISECT_OPTIONS_H

#include "compare/criterion.h"
#include "executor/capabilities.h"
#include "run/hooks.h"
#include "bisect/strategy.h"

struct odb_ahead;
struct odb_answers;
struct odb_encodings;
struct odb_own_rows;
struct odb_tensor;
struct odb_trace;
struct odb_trace_options;

struct odb_bisect_options {
    const char *reference; /* spec: cpu in one of its precisions, or an executor that is asked */
    const char *golden;    /* likewise; NULL: cpu:f64, or the reference itself if it is asked */
    const char *target;    /* spec; required */
    struct odb_criterion tolerance;
    const char *expect;                    /* "f16", "bf16", "tf32", "int8", or NULL */
    const struct odb_encodings *encodings; /* borrowed: with "int8", what the reference keeps to;
                                              else NULL */
    int repeat; /* runs of the model as it is; 0: as many as fit, see repeat.c */
    enum odb_strategy strategy;
    bool prove;      /* test every cut before the culprits */
    bool strict;     /* what no output shows and nothing verified is a culprit, and no note */
    bool no_enter;   /* nodes with bodies are taken as one */
    bool no_checks;  /* the accused is not asked about any further */
    bool no_explain; /* nor what it computed instead */
    double explain_seconds; /* for that, at most; 0: a fifth of the search, 2 at least */
    const struct odb_own_rows *own_rows; /* borrowed: the user's, of variants; NULL: none */
    const char *known;  /* borrowed: variants of operators that others have been found with, as in
                           struct odb_explain_question; NULL: none */
    bool no_opinion;    /* no third executor is asked about the first culprit */
    bool part;          /* the model was cut out of another: with encodings, a target that
                           computes it in float is wrong there */
    size_t max_outputs; /* of one model, that the target was found to give in an earlier search
                           of the session; 0: that is not known */
    enum odb_cuts cuts; /* the parts of the model that it was found to take then; ANY: the same
                         */
    size_t step;        /* LINEAR: nodes from cut to cut; 0: as many as make the fewest cuts */
    uint64_t seed;      /* of noisy runs and jitter */
    struct odb_trace *trace; /* borrowed: the reference's values, made before for the same model,
                                feeds, reference and expect; NULL: made here, once per search */
    struct odb_ahead *ahead; /* borrowed: the target, which was begun before; NULL: it is begun when
                                it is asked first */
    const struct odb_answers
        *answers;      /* borrowed: what the target answered to the same search, stopped before its
                          end, and will; NULL: answers are not kept */
    const char *scope; /* borrowed: where the model stands in the one that the answers are of:
                          "Loop_4[3]/"; NULL: it is that one */
    const char *pass;  /* borrowed: which run over the steps of a sequence it is, "forced": each has
                          answers of its own, and asks again what was running when the program
                          ended; NULL: it is none */
    struct odb_tensor *const *recorded; /* borrowed; [n_values] what the target made is had already,
                                           and it is not opened: target is but what it is called;
                                           NULL: it is asked */
    struct odb_tensor *const *unobserved; /* borrowed; [n_values] beside recorded: outputs as they
                                             are where nothing else is read, NULL: as recorded */
    struct odb_search_hooks hooks;
};

/* How a search makes its trace. */
enum odb_status odb_bisect_trace_options(const struct odb_bisect_options *options,
                                         struct odb_trace_options *out,
                                         struct odb_error *err) ODB_MUST_USE;
/* What errors are measured from: a spec, borrowed from the options or static. */
const char *odb_bisect_golden(const struct odb_bisect_options *options);

#endif
