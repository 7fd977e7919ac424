/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is believed: every value of the model as the reference computes it, the same in float64
 * (golden), and how far rounding alone may carry an honest implementation from golden (noise).
 * Made once per model and inputs; every probe is judged by it.
 *
 * All distances are relative: max|e-b| / rms(b) over elements finite on both sides, b golden.
 */
#ifndef ODB_REFERENCE_TRACE_H
#define ODB_REFERENCE_TRACE_H

#include "base/clock.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "interpret/cpu.h"
#include "model/model.h"
#include "tensor/spill.h"

/* Distance of one tensor from another. */
struct odb_gap {
    bool comparable;    /* tensors of one shape; the numbers below are else 0 */
    bool same;          /* equal element by element, -0 = +0, NaN = NaN; any kind and type */
    bool pattern;       /* NaN and Inf stand at the same places, Inf with the same sign */
    double error, mean; /* max and mean |e-b| over rms(b); 0 for equal; Inf where rms(b) = 0 */
    double rms;         /* of the finite elements of b */
};
void odb_gap_measure(struct odb_gap *out, const struct odb_tensor *e, const struct odb_tensor *b);

/* The least normal number of float, double and bfloat16, relative to rms: below that honest
 * processors give zeros (flush to zero). 0 for other types: float16's least is 6e-5, and what is
 * smaller counts. */
double odb_flushed(double rms, enum odb_dtype dtype);

/* The least noise there is, relative to rms: eight units in the last place of rms for float and
 * double, whose functions honest implementations approximate to several; one for narrower types,
 * which they compute in float and round once (eight of float16 would hide a fault of 1 %). And
 * never less than odb_flushed(). 0 for types that are no floats. */
double odb_noise_floor(double rms, enum odb_dtype dtype);

/* A weight that is not the one that was recorded. */
struct odb_recalled {
    int value;
    struct odb_tensor *t; /* owned ref: the recorded one, in the model's type and shape; NULL: it
                             has another */
    char text[100];       /* how the model's differs: "channel 3, 1.2 times" */
};

struct odb_trace {
    const struct odb_model *model;         /* borrowed */
    const struct odb_feeds *feeds;         /* borrowed */
    struct odb_cpu *cpu;                   /* owned */
    enum odb_precision precision;          /* of the reference */
    enum odb_precision expect;             /* NATIVE: none */
    const struct odb_encodings *encodings; /* borrowed; NULL: none */
    bool part; /* its outputs are not the model's: the part's reader knows
                  whether it does harm that they leave the expected type's
                  range */
    uint64_t seed;
    struct odb_tensor **ref;       /* owned refs; [n_values]; NULL: not computed */
    struct odb_tensor **golden;    /* float64; falls back to ref; non-floats are ref's own */
    struct odb_tensor **expected;  /* owned refs; in the expected precision, only where NaN and
                                      Inf stand elsewhere than in ref (overflow); else NULL */
    bool *boundary;                /* golden would have decided otherwise */
    bool *split;                   /* NaN and Inf stand elsewhere in golden than in ref */
    bool *stepped;                 /* owned; [n_values] it is rounded to an encoding's steps, or
                                      hangs on what is; NULL: nothing is */
    bool *dynamic;                 /* shape depends on data, not only on the inputs' shapes */
    char **why;                    /* owned; [n_nodes] why the reference has no value, or NULL */
    bool *only;                    /* owned; [n_nodes] that are run; NULL: all */
    size_t end;                    /* behind the last node that is run */
    size_t n_unsupported;          /* nodes without a kernel or behind one */
    size_t n_no_golden;            /* nodes with a reference value that float64 cannot run: their
                                      golden is the reference itself */
    bool *pinned;                  /* owned; [n_values] held to a value: odb_trace_drawn() is true
                                      of them; NULL: none are */
    const bool *fed;               /* borrowed from the search that goes on; [n_values] values that
                                      the target is fed because it refuses the nodes that make them:
                                      as if drawn; NULL: none is */
    double *noise;                 /* [n_values] as far as it is known; see odb_trace_noise();
                                      Inf: golden is all zero where honest results are not */
    double *noise_mean;            /* owned; [n_values] the same of mean distances, where encodings
                                      round: a few elements are a step off by rights, and not all
                                      of them; NULL: nothing rounds */
    double *took;                  /* owned; [n_nodes] seconds of the reference's run on each node;
                                      0: not known, as where an executor is the reference */
    int noisy_runs;                /* made so far, three at most */
    size_t walks;                  /* over the model, all kinds; of own: own's */
    struct odb_search_hooks hooks; /* of the caller that judges by it now: noisy runs take long */
    const char *phase;             /* borrowed: what that is at, announced again after a noisy run;
                                      NULL: nothing */
    struct odb_spent made;         /* until it was, the next two included */
    struct odb_spent golden_made;  /* the run in float64 */
    struct odb_spent noise_made;   /* what is known without noisy runs, or cannot wait */
    struct odb_spent noisy, replayed; /* so far: noisy runs, and odb_trace_replay() */
    struct odb_spill *spill;          /* owned: takes the reference's values */
    struct odb_spill *aside;          /* owned: takes golden's, and a target's from its prober */
    uint64_t touched, most;           /* bytes looked at since pages were given back, and at most */
    uint64_t looked;                  /* the same since those of aside were */
    /* Where an executor gives the reference or golden (reference_from.c). */
    struct odb_trace *own;    /* owned: what the CPU computes by itself, which has the noise; NULL:
                                 no executor does, and so are the others */
    struct odb_tensor **told; /* owned refs; [n_values] what it gave of what errors are measured
                                 from; NULL: it lacks that */
    const char *teller;       /* static: "reference" or "golden", whichever that is */
    char *reference_spec;     /* owned: its spec */
    ODB_VEC(char *) notes;    /* owned: what there is to say of it, a line each */
    ODB_VEC(struct odb_recalled)
    recalled; /* owned: weights, where it is a recording that has them
                 and that is the reference */
};

/* A value that is not computed, or not believed: reference, golden and target go on from this. The
 * other outputs of its node are held to what the reference makes. */
struct odb_trace_pin {
    int value;                       /* made by a node */
    const struct odb_tensor *tensor; /* borrowed; NULL: what the reference makes */
};

struct odb_trace_options {
    const struct odb_trace_pin *pins; /* borrowed: until the trace is made; NULL: none */
    size_t n_pins;
    const char *reference_from, *golden_from; /* specs of executors that give the values; NULL: the
                                                 CPU, in the precisions below */
    struct odb_cpu *cpu;      /* borrowed: of the model, to be shared; NULL, or with encodings: the
                                 trace has its own */
    const bool *only;         /* [n_nodes] that are run; borrowed until the trace is made, by
                                 odb_reference_up_to(); NULL: all */
    bool no_golden;           /* the reference alone is wanted: nothing can be judged by it */
    bool golden_is_reference; /* errors are measured from the reference as it is */
    enum odb_precision reference, golden;
    enum odb_precision expect;             /* NATIVE: none */
    const struct odb_encodings *encodings; /* borrowed: of what a target rounds to steps, as the
                                              reference and golden then do; for as long as the trace
                                              lives; NULL: none */
    uint64_t seed;
    struct odb_search_hooks hooks;
    /* Called once the CPU has made the reference, and after each node of golden, until it returns
     * true; by the thread that makes the trace. NULL: it is not called. */
    bool (*referenced)(void *payload, const struct odb_trace *trace);
    void *payload;
};

#define ODB_TRACE_OPTIONS_INIT                                                                     \
    {                                                                                              \
        .golden = ODB_PREC_F64                                                                     \
    }

/* Runs the reference and golden on the CPU; reference_from and golden_from are NULL:
 * odb_reference_make() asks executors. A failing operator is no error: its outputs stay NULL. */
enum odb_status odb_trace_make(struct odb_trace **out, const struct odb_model *model,
                               const struct odb_feeds *feeds,
                               const struct odb_trace_options *options,
                               struct odb_error *err) ODB_MUST_USE;
/* A node has been computed or judged: what it looked at of the values aside, and of other mapped
 * files where memory is short, need not stay in memory. */
void odb_trace_touched(struct odb_trace *trace, int node);
void odb_trace_free(struct odb_trace *trace);

/* What noisy run k begins with, over the model or of an operator alone: then a part that is one
 * node is judged in the same way as a value and as a node. */
#define ODB_NOISY_SEED(trace, k) ((trace)->seed + 1 + (uint64_t)(k))

/* The noise of a value, as far as judging this error needs it. Up to three noisy runs over the
 * whole model are made, and only when an error exceeds factor times what is known without them: an
 * honest and accurate target never pays for them. */
enum odb_status odb_trace_noise(struct odb_trace *trace, int value, double error, double factor,
                                double *noise, struct odb_error *err) ODB_MUST_USE;

/* How often the reference has run over the model for it, all kinds of runs. */
size_t odb_trace_walks(const struct odb_trace *trace);
/* One operator on other inputs than the reference's: odb_cpu_node_simulated(). */
enum odb_status odb_trace_replay(struct odb_trace *trace, int node, enum odb_precision precision,
                                 uint64_t seed, struct odb_tensor *const *in,
                                 struct odb_tensor *const *captured, enum odb_simulated simulated,
                                 struct odb_tensor **out, struct odb_error *err) ODB_MUST_USE;

/* What a value looks like, for a cut: the CPU's own, where an executor may have given anything. May
 * be NULL. */
const struct odb_tensor *odb_trace_like(const struct odb_trace *trace, int value);

/* True for a random draw that the reference made, and for what is pinned or fed: had once, and fed
 * to every probe. */
bool odb_trace_drawn(const struct odb_trace *trace, int value);
/* Marks values that hang on weights alone: neither on an input of the model, nor on a draw, nor on
 * what the user pinned. [n_values], the caller's. */
bool *odb_trace_constant(const struct odb_trace *trace);
/* Marks, besides the nodes that are marked, the nodes that make them weights that they read, out of
 * weights alone: a part that is to do what it does in the whole model needs them, for a target may
 * fuse them with it. constant: what odb_trace_constant() gave. */
void odb_trace_add_weights(const struct odb_trace *trace, const bool *constant, bool *nodes);

/* Says of how many nodes float64 has nothing, so that errors are measured from the reference. The
 * caller's; NULL: of none. */
char *odb_trace_no_golden(const struct odb_trace *trace);

/* Value as it goes into a probe: feed, initializer, or the reference's. Borrowed; may be NULL. */
const struct odb_tensor *odb_trace_value(const struct odb_trace *trace, int value);

#endif
