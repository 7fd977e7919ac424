/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One search: what is known of it, and the report that is written of it.
 */
#ifndef ODB_BISECT_FINDINGS_H
#define ODB_BISECT_FINDINGS_H

#include "judge/blame.h"
#include "bisect/bisect_options.h"
#include "probe/probe.h"
#include "report/report.h"
#include "judge/signature.h"

/* How far runs come out from golden. */
struct odb_spread {
    double error, mean;
};

struct bisection {
    const struct odb_model *model;            /* borrowed */
    const struct odb_graph *graph;            /* borrowed: model */
    const struct odb_feeds *feeds;            /* borrowed */
    const struct odb_bisect_options *options; /* borrowed */
    struct odb_report *report;                /* the caller's */
    struct odb_trace *trace;                  /* owned, unless the options brought it */
    struct odb_pool *pool;                    /* owned: the target's */
    struct odb_prober prober;
    struct odb_judge judge;
    int *outputs; /* owned: graph outputs that a node computes */
    size_t n_outputs;
    struct odb_spread *decided; /* owned; [n_values] of runs that decide for themselves; NULL: not
                                   made yet */
    struct odb_tensor **plain;  /* owned refs; [n_outputs] */
    struct odb_value_report *verdicts; /* owned; [n_outputs] of the plain run */
    struct odb_signature sought;       /* how the plain run fails; pass: it does not */
    struct odb_tensor **given;         /* owned refs; [n_values] the target's values as known: feeds
                                          and draws from the start, all after a probed run */
    bool *drawn;                       /* owned; [n_values] random draws: fed, never judged */
    bool *reaching;                    /* owned; [n_nodes] before outputs that are off; NULL: not
                                          worked out yet */
    bool probed;     /* every value was read, in runs that reproduce the plain one */
    bool hidden;     /* a run with values read was made and did not reproduce it */
    bool judged;     /* some values were read in a run that is evidence, and nodes judged by them */
    uint64_t memory; /* bytes that values read in one run may take */
    struct probed_ask *probed_ahead; /* owned: the run with every value read, which another worker
                                        is at; NULL: none is */
    ODB_VEC(int) others; /* values that are wrong in another way than the failure that was sought */
    bool *beyond; /* owned; [n_nodes] that the target refuses, and behind them what the reference
                     cannot make up for; NULL: none */
    bool *fed;    /* owned; [n_values] what those make, which is fed: drawn, as well; NULL: none */
    struct odb_error refusal;       /* of the prefix that was refused last; no code: none was */
    struct odb_error refused_why;   /* of the one that ends in the first of these nodes */
    double start;                   /* of the search, the reference included */
    double load, run;               /* seconds of the plain run */
    struct odb_value_report *told;  /* owned; [n_values] local errors of what an executor gave as
                                       the reference; NULL: none did, or nobody has looked yet */
    struct odb_tensor **told_given; /* owned refs; [n_values] what it had */
    struct odb_target_stats inside; /* loads and runs of searches in bodies, and their seconds */
    double inside_seconds;
    int *exchanged;             /* owned; [n_values] outputs: which output's values they hold, else
                                   ODB_NO_VALUE */
    struct odb_tensor **second; /* owned refs; [n_values], by output: the first repetition */
    double repeat_seconds;      /* spent on repetitions */
    double repeat_run;          /* what the last of them took */
    bool doubted;               /* repeat_doubt() has run */
    bool looked;                /* repeat_by_chance() has made its runs */
    bool unsteady;              /* of two equal runs one was wrong, and the other was not */
    double step_start;
    struct odb_target_stats step_stats;
};

/* Every use of the target or the reference happens within a step of the report. */
void findings_step_begin(struct bisection *b, const char *phase);
void findings_step_end(struct bisection *b, const char *step, const char *why, ...)
    ODB_PRINTF(3, 4);
/* A step within another one: what the outer one has spent until then, and goes on from. */
struct findings_pause {
    size_t loads, runs;
    double seconds;
};
struct findings_pause findings_step_pause(const struct bisection *b);
void findings_step_resume(struct bisection *b, struct findings_pause spent);
/* Announces what goes on within a step. */
void findings_phase(struct bisection *b, const char *phase, size_t total);
/* Tells whoever looks on what the report says of a value. */
void findings_tell(struct bisection *b, int value);
/* Into the report: what the target made of a value that is judged. */
void findings_keep(struct bisection *b, int value, struct odb_tensor *t);
/* A fresh culprit in the report; value may be ODB_NO_VALUE. Borrowed until the next is added. */
struct odb_culprit *findings_accuse(struct bisection *b, int node, int value,
                                    enum odb_diagnosis kind);
/* What a node is accused of that makes this value, by its verdict and by what it holds. */
enum odb_diagnosis findings_kind(const struct bisection *b, int value);
enum odb_diagnosis findings_kind_of(enum odb_verdict verdict, const struct odb_tensor *given,
                                    const struct odb_tensor *reference);
/* Whether a node that is accused already stands before the value. */
bool findings_explain(const struct bisection *b, int value);
/* So many loads and seconds more are to come, for this; in the report and told. */
void findings_expect(struct bisection *b, const char *what, size_t loads, double seconds);

#endif
