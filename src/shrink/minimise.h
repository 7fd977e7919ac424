/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A small model in place of a large one, which fails in the same way: what to send to the makers of
 * the target. Cuts come first (outputs moved back, inputs moved forward, then single nodes taken
 * out), fed with the reference's values; then what is left is made simple. A step is taken only
 * where the failure keeps its signature (signature.h).
 */
#ifndef ODB_SHRINK_MINIMISE_H
#define ODB_SHRINK_MINIMISE_H

#include "bisect/bisect_options.h"
#include "run/feeds.h"
#include "shrink/repro.h"
#include "judge/signature.h"

struct odb_minimise_options {
    struct odb_bisect_options search; /* reference, golden, target, tolerance, expect, seed, trace
                                         and hooks count; a budget that is spent ends it, which is
                                         no failure, and is lifted then */
    int first, last;                  /* nodes of the segment to begin with; first ODB_NO_NODE: the
                                         whole model */
    const char *dir;                  /* created; must not exist or be empty */
    bool scramble;                    /* weights and names become random ones */
    bool with_target;                 /* as that of struct odb_repro_options */
    int64_t ir_version;               /* 0: the model's */
};

/* How far a step came. */
struct odb_minimise_step {
    const char *name;    /* static */
    size_t nodes, bytes; /* after it; bytes of weights and inputs */
    size_t probes;
    double seconds;
    char text[200]; /* what it did; may be "" */
};

struct odb_minimised {
    bool own_values; /* begun with what the target fed the nodes: with the reference's values these
                        do not fail */
    bool failed;     /* there was something to minimise; else what follows is empty */
    struct odb_signature signature; /* at the start */
    ODB_VEC(struct odb_minimise_step) steps;
    ODB_VEC(char *) notes; /* owned: what else there is to say, a line each */
    bool stopped;          /* by the budget or by the user, before the end */
    size_t probes;
    size_t expected; /* probes, as was said once the failure was known */
    double seconds;
    size_t good_nodes;             /* of the largest good model; 0: none was met, or none written */
    bool written;                  /* the folder is there, and: */
    struct odb_repro_result repro; /* what it showed when it was run from a copy of its files */
};

/* Fills *out as far as it comes, which is the caller's to dispose of, on failure too.
 * ODB_CANCELLED: by the user; the smallest so far is written even so, if written says so, and is
 * not run again (repro.known). */
enum odb_status odb_minimise(struct odb_minimised *out, const struct odb_model *model,
                             const struct odb_feeds *feeds,
                             const struct odb_minimise_options *options,
                             struct odb_error *err) ODB_MUST_USE;
void odb_minimised_dispose(struct odb_minimised *minimised);

/* The signature, and a table of the steps. */
void odb_minimised_put(const struct odb_minimised *minimised, struct odb_buf *out);
/* The same as a JSON object. */
/* chosen: of the inputs, in a line; "": nothing. */
void odb_minimised_json(const struct odb_minimised *minimised, const char *chosen,
                        struct odb_buf *out);

#endif
