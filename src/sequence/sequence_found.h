/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A sequence of runs on a target: which step is wrong, and what that says of the fault, before any
 * node is searched. Every step can be given the state and the pieces of the reference (it is
 * forced), so that steps are judged one by one; or the target's own state (it is free).
 */
#ifndef ODB_SEQUENCE_SEQUENCE_FOUND_H
#define ODB_SEQUENCE_SEQUENCE_FOUND_H

#include "sequence/reference/consistency.h"
#include "sequence/reference/rollout.h"
#include "sequence/schedule.h"
#include "sweep/samples.h"

/* id, word of the JSON, whether the sequence diverges, whether a node of a step is to be searched
 */
#define ODB_SEQUENCE_LIST(X)                                                                       \
    X(NONE, "none", false, false) /* the search was stopped */                                     \
    X(PASS, "pass", false, false)                                                                  \
    X(DRIFT, "drift", false, false)      /* rounding, carried on */                                \
    X(SCHEDULE, "schedule", true, false) /* the host that recorded them feeds them otherwise */    \
    X(MODEL, "model", true, false)       /* the model contradicts itself on the reference */       \
    X(MEMORY, "memory", true, false)     /* the target keeps something from run to run */          \
    X(CARRY, "carry", true, false)       /* its own state leads it astray, and no step alone */    \
    X(ALL, "all", true, true)            /* every step */                                          \
    X(STEP, "step", true, true)          /* one step: its data */                                  \
    X(PREFILL, "prefill", true, true)    /* only where many pieces come at once */                 \
    X(DECODE, "decode", true, true)      /* only behind a state */                                 \
    X(LENGTH, "length", true, true)      /* from a length on, however it was reached */            \
    X(ONSET, "onset", true, true)        /* from a step on */                                      \
    X(SOME, "some", true, true)          /* some steps */

enum odb_sequence_verdict {
#define ODB_SEQUENCE_ENUM(name, word, diverges, searched) ODB_SEQUENCE_##name,
    ODB_SEQUENCE_LIST(ODB_SEQUENCE_ENUM)
#undef ODB_SEQUENCE_ENUM
};
/* What a step gave of one output. */
struct odb_step_output {
    enum odb_verdict verdict; /* forced */
    double error, noise;      /* forced, relative to rms; NAN: not known */
    double apart;             /* forced: from the reference's, as free is; NAN: not judged */
    double mean;              /* forced: signed mean of the error, over rms; NAN */
    double free;              /* free: error against the reference's; NAN: not run */
    double power;             /* sum of the reference's squares; NAN: it is no signal (sound, say):
                                 a state, a logit, not float */
    double noise_power;       /* the same of the target less the reference, forced; NAN: not run */
    double free_power;        /* and free */
    char *place;              /* owned: forced, where in it the error stands; NULL: all over */
    unsigned char bits[32];   /* SHA-256 of what was given when forced */
};

/* The token that the logits choose, last row, forced. */
struct odb_step_token {
    bool known;
    int64_t reference, target;
    double margin, noise; /* best less second of the reference; and what rounding does there */
    double kl;            /* nats: of the target's probabilities from the reference's; NAN: a logit
                             is Inf */
    int shared;           /* how many of the reference's five best are among the target's */
    double nll,
        reference_nll; /* nats: of the token that the next step is fed; NAN: there is none */
};

struct odb_sequence_seen {
    bool judged;                     /* forced */
    struct odb_step_output *outputs; /* owned; [n_outputs] */
    struct odb_step_token token;
    bool old_changed;   /* an output that appends differs, forced, from what it was fed */
    bool moved;         /* other bits when the steps were run in another order */
    double moved_error; /* and how far off it was then */
    bool tried;         /* what the searched step accuses was tried alone here */
    double envelope;    /* of the worst output, free, for rounding of the forced size; NAN */
};

struct odb_sequence {
    const struct odb_plan *plan;               /* borrowed */
    struct odb_streams *streams;               /* borrowed */
    const struct odb_recorded_steps *recorded; /* borrowed: the target; NULL: it runs */
    struct odb_schedule schedule;              /* of recorded: as the plan has it, or not */
    struct odb_rollout *rollout;               /* owned; NULL: SCHEDULE, where nothing is run */
    struct odb_consistency consistency;
    struct odb_samples forced;      /* a sample for each step */
    struct odb_sequence_seen *seen; /* owned; [plan->steps] */
    int logits;                     /* number of the output; -1: none is */
    enum odb_sequence_verdict verdict;
    size_t step;             /* first wrong; MODEL: where it contradicts itself */
    int output;              /* number of the output there; -1: none alone */
    int carry;               /* CARRY: the input whose state it is; -1: none alone */
    struct odb_buf evidence; /* lines: what was looked at, and what it said */
    enum odb_verdict whole;  /* of the same pieces in one step; UNTESTED: it was not asked */
    size_t ran_free;         /* steps that ran with the target's own state: the first ones */
    bool reordered;
    bool unknown;    /* the target failed where it was asked, so that nothing is known there */
    bool alternates; /* every second step is wrong */
    size_t at_least, at_most; /* of the steps behind others those that take so many pieces or more,
                                 or so many or fewer, are wrong, and no others; 0: it is not so */
    bool stopped;             /* a formula ended the sequence with its last step */
    size_t own; /* with own tokens: the step that the target's first other token goes to; 0: it
                   chose none */
    int64_t own_token, reference_token; /* then: its, and the reference's */
    ODB_VEC(int) blamed;                /* owned: what was tried alone in other wrong steps */
    bool other_searched;                /* a step in which none of that is wrong */
    size_t other_step;                  /* then: which */
    int other_node;                     /* and what it accuses; ODB_NO_NODE: nothing */
    struct odb_samples_cost spent;      /* for all of this */
};

#endif
