/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One ranking, as suspects.c (the plan), observe.c (what the target gave), replay.c (what a
 * deviation would have given), fit.c (how much of the one the other explains), screen.c (which are
 * worth all samples) and conclude.c (what may be said) share it.
 */
#ifndef ODB_SUSPECTS_SUSPECTS_INT_H
#define ODB_SUSPECTS_SUSPECTS_INT_H

#include "interpret/cpu.h"
#include "suspects/deviation.h"
#include "suspects/suspects.h"

#define SUSPECTS_SCREENED 4    /* samples that candidates are sifted and fitted on */
#define SUSPECTS_KEPT 24       /* candidates at least that are tried on all samples */
#define SUSPECTS_GRACE 10      /* seconds for a ranking after the user has stopped it */
#define SUSPECTS_ELEMENTS 8192 /* of all outputs that are compared; beyond, evenly spread ones */

/* One sample whose outputs can be compared. All vectors: [n] elements of all outputs of floats one
 * after the other, over the rms that the output has in the first sample. */
struct observed {
    size_t sample;              /* its index */
    bool differs;               /* an output is off */
    struct odb_tensor **values; /* owned refs; [n_values] in float64; NULL: had when needed */
    double *golden, *off;       /* owned: golden; the target's minus that */
    size_t n;
    double energy;   /* sum of off^2 */
    double rounding; /* the same of the reference in the model's own types */
    double weight;   /* of this sample's squares */
};

/* A value and a family, and what it comes to on the samples so far. */
struct candidate {
    int value;
    enum deviation family;
    double amount;
    double cross, square; /* LINEAR while sifted: sums of weight * off * response, response^2 */
    double missed, had;   /* sums of weight * (off - response)^2, weight * off^2 */
    double explained, least;
    bool dead; /* it does nothing, or cannot be replayed */
};

struct suspects {
    const struct odb_model *model;
    const struct odb_graph *graph;
    const struct odb_suspects_options *options;
    struct odb_samples *samples;
    struct odb_suspects *result;
    struct odb_cpu *cpu; /* owned */
    bool *leads;         /* owned; [n_nodes] to an output that is compared */
    double *scale;       /* owned; [n_outputs] 0: not compared */
    bool scaled;
    ODB_VEC(struct observed) seen;
    ODB_VEC(struct candidate) candidates;
    double start, deadline; /* of the clock: of the time there is; 0: there is no end */
    bool sifted;            /* every candidate was tried, and every amount fitted */
};

/* --- suspects.c ------------------------------------------------------------------------------- */

/* Whether so much of the time is over; it is cut short where the user stops it. */
bool suspects_late(struct suspects *s, double part);
/* Something was cancelled: whether that was the user's first word, so that it is worth another
 * try in the time that is left. */
bool suspects_stopping(struct suspects *s);

/* --- observe.c -------------------------------------------------------------------------------- */

/* Every sample on the target: verdicts into s->samples, differences into s->seen. */
enum odb_status suspects_observe(struct suspects *s, struct odb_error *err) ODB_MUST_USE;
/* The weights of what was seen. */
void suspects_weigh(struct suspects *s);

/* --- replay.c --------------------------------------------------------------------------------- */

/* All values of a sample in float64; *values is the caller's: [n_values] refs. */
enum odb_status suspects_compute(struct suspects *s, const struct odb_feeds *feeds,
                                 enum odb_precision precision, struct odb_tensor ***values,
                                 struct odb_error *err) ODB_MUST_USE;
void suspects_drop(const struct suspects *s, struct odb_tensor **values); /* NULL is fine */
/* The elements that are compared of the outputs that are, over their scale, into out (NULL: they
 * are counted). Returns how many there are. outputs: [n_values]. */
size_t suspects_read(const struct suspects *s, struct odb_tensor *const *outputs, double *out);
/* Whether the value can have these deviations at all. */
bool suspects_possible(const struct suspects *s, const struct observed *o, int value);
/* What the outputs change by, [o->n], the caller's; NULL: it cannot be told. o->values are there.
 * *status: cancelled, as the time after a stop is over, or ODB_OK. */
double *suspects_response(struct suspects *s, const struct observed *o, int value,
                          enum deviation family, double amount, enum odb_status *status,
                          struct odb_error *err);

/* --- fit.c ------------------------------------------------------------------------------------ */

/* Adds what the response to one sample misses. linear: of the first order, with any factor. */
void suspects_add(const struct suspects *s, struct candidate *c, const struct observed *o,
                  const double *response, bool linear);
void suspects_clear(struct candidate *c);

/* --- screen.c --------------------------------------------------------------------------------- */

enum odb_status suspects_list(struct suspects *s, struct odb_error *err) ODB_MUST_USE;
/* Sifts the candidates on some samples, fits their amounts, and tries what is left on all. */
enum odb_status suspects_screen(struct suspects *s, struct odb_error *err) ODB_MUST_USE;

/* --- conclude.c ------------------------------------------------------------------------------- */

/* The candidates, best first, as what may be said. */
void suspects_conclude(struct suspects *s);

#endif
