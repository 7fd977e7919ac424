/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A target that gives nothing but the model's outputs: which node's error would explain how they
 * differ, on many inputs? Every node is tried with every family of deviations (deviation.def),
 * replayed by the reference in float64. What comes of it is a ranking, with a probability that
 * planted faults gave it (odds.h), and no verdict about a node: nothing of the node was read.
 */
#ifndef ODB_SUSPECTS_SUSPECTS_H
#define ODB_SUSPECTS_SUSPECTS_H

#include "base/buf.h"
#include "bisect/bisect_options.h"
#include "sweep/samples.h"

struct odb_suspects_options {
    const struct odb_bisect_options *search; /* borrowed: target, reference, tolerance, hooks */
    double seconds;                          /* for all of it; 0: any number */
};

/* A node, and the deviation of one of its outputs that explains most. */
struct odb_suspect {
    int node, value;
    const char *family; /* static: "scale" */
    const char *words;  /* static: what that says of the node's output */
    double amount;      /* of the family; NAN: it has none */
    double explained;   /* of the squared differences, over all samples: 1 for all of them; of
                           the places of NaN and Inf where these differ */
    double least;       /* the same of the sample where it explains least */
    bool likely;        /* none explains more, as far as can be told from rounding */
};

struct odb_suspects {
    const struct odb_model *model;    /* borrowed */
    char *target;                     /* owned: its spec */
    ODB_VEC(struct odb_suspect) list; /* best first, one of each node; empty: the outputs agree */
    size_t n_likely;                  /* that explain equally well: the first of the list */
    double next;        /* what the best of all others explains; 0: there is no other */
    double rounding;    /* the part of the differences that rounding may account for */
    double probability; /* that the culprit is one of n_likely; NAN: nothing differs or is
                           explained, or trials say nothing of such a ranking */
    bool single;        /* one node explains all, and no other does */
    bool explains;      /* the likely ones explain so much that they are worth naming */
    bool pattern;       /* NaN and Inf stand elsewhere: their places were explained */
    bool stopped;       /* by the user: it is of what was seen by then */
    bool complete;      /* every node that could be was tried, with every family, on all samples */
    size_t n_samples;   /* inputs */
    size_t n_run;       /* of them the target was asked: all, unless it was stopped or late */
    size_t n_used;      /* of those what is explained is summed over */
    size_t n_differ, n_unknown; /* of n_run: whose outputs are off, that could not be judged */
    size_t n_tried, n_untried;  /* nodes; not tried: no floats, or no kernel behind */
    size_t n_left;              /* nodes that were not reached */
    size_t n_replays, loads, runs;
    double seconds;
};

/* Judges every sample as odb_samples_judge() does, with one load of the model, and ranks the nodes
 * where outputs differ. Fails as the target does on the first sample; a crash or a hang there is
 * what diverges, and nothing is asked again. Out of time, or stopped by the hooks, it ranks what it
 * has seen by then, in seconds, and is not complete; ODB_CANCELLED where that is nothing. */
enum odb_status odb_suspects(struct odb_suspects **out, const struct odb_model *model,
                             struct odb_samples *samples,
                             const struct odb_suspects_options *options,
                             struct odb_error *err) ODB_MUST_USE;
void odb_suspects_free(struct odb_suspects *suspects); /* NULL is fine */

/* chosen: of the inputs, in a line; "": nothing. */
void odb_suspects_json(const struct odb_suspects *suspects, const struct odb_samples *samples,
                       const char *chosen, struct odb_buf *out);
void odb_suspects_put(const struct odb_suspects *suspects, struct odb_buf *out);
/* The ranking beside what a search found: in its text, and as "suspects" in its JSON. */
void odb_suspects_report(const struct odb_suspects *suspects, const struct odb_samples *samples,
                         struct odb_report *report);

#endif
