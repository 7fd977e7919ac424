/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Minimising, as minimise.c (the plan), shrink.c (cuts of the model) and simplify.c (changes of
 * what is left) share it.
 */
#ifndef ODB_SHRINK_MINIMISE_INT_H
#define ODB_SHRINK_MINIMISE_INT_H

#include "judge/blame.h"
#include "run/feeds.h"
#include "shrink/minimise.h"
#include "probe/plainest.h"
#include "probe/probe.h"
#include "reference/trace.h"

/* Nodes of the model and the values that are read of them. */
struct minimise_cut {
    bool *nodes; /* owned; [n_nodes] */
    size_t n_nodes;
    int *values; /* owned; those that are read */
    size_t n_values;
    int shows;                  /* which of them shows it; ODB_NO_VALUE: crash, hang, refusal */
    struct odb_signature shown; /* and how */
};

/* What is left as a model of its own, with what it is fed. */
struct subject {
    struct odb_model *model; /* owned */
    struct odb_feeds *feeds; /* owned */
    size_t at;               /* which of its outputs shows the failure */
};

struct minimisation {
    const struct odb_model *whole;              /* borrowed: that model is a part of, or itself */
    const struct odb_model *model;              /* borrowed */
    const struct odb_graph *graph;              /* borrowed: model */
    const struct odb_feeds *feeds;              /* borrowed */
    const struct odb_minimise_options *options; /* borrowed */
    struct odb_minimised *out;                  /* the caller's */
    struct odb_trace *trace;                    /* owned, unless the options brought it */
    const bool *constant;                       /* borrowed; [n_values of whole] */
    struct odb_pool *pool;                      /* owned */
    struct odb_prober prober;                   /* of the whole model */
    struct odb_plainest plainest;               /* of what the target refuses */
    struct odb_judge judge;
    struct odb_signature sought; /* at value; moves with it */
    int value;                   /* that shows the failure; ODB_NO_VALUE: crash, hang, refusal */
    struct minimise_cut best;    /* the smallest that failed */
    struct minimise_cut good;    /* the largest that passed; nodes NULL: none was met */
    struct subject left;         /* model NULL: not cut out yet */
    struct subject proven;       /* as left was when a search last said that it fails; model NULL:
                                    nothing has been made simpler */
    struct odb_tensor **own;     /* owned refs; [n_values] of the target, that a subject is fed in
                                    the place of the reference's; NULL entries, and NULL: none */
    size_t limit;                /* probes that this search among cuts may take; 0: any */
    bool enough;                 /* it has taken them */
    bool over;                   /* the budget is used up */
    bool alone;                  /* left fails by itself in the way sought */
    bool strict;                 /* what fails among cuts is a search's to say */
    bool single;                 /* one node is asked: another shape or type is a fault of its own,
                                    whatever it comes to */
    bool unproven;               /* left has changed since proven was kept */
    bool explains;               /* left is one node: what fails is explained as well */
    size_t fits;                 /* variants that give what was asked about last */
    size_t variants;             /* the same of left: what loses the explanation, or has more of
                                    them, is no simpler to its reader; 0: there is none to lose */
    double start, step_start;
    size_t step_probes;
};

/* --- minimise.c ------------------------------------------------------------------------------- */

/* Before each probe: ODB_CANCELLED when the user or the budget says so. */
enum odb_status minimise_spend(struct minimisation *m, struct odb_error *err) ODB_MUST_USE;
void minimise_step_begin(struct minimisation *m, const char *name);
void minimise_step_end(struct minimisation *m, const char *name, const char *fmt, ...)
    ODB_PRINTF(3, 4);
void minimise_note(struct minimisation *m, const char *fmt, ...) ODB_PRINTF(2, 3);
/* What a value that the target gave shows. t may be NULL. */
enum odb_status minimise_shown(const struct odb_judge *judge, int value, const struct odb_tensor *t,
                               struct odb_signature *out, struct odb_error *err) ODB_MUST_USE;

/* What a probe shows that ended so, why saying how. One that is refused in the words sought (begin:
 * in any) is the failure only if the target runs it at its plainest: else what is left is no model
 * any more. */
enum odb_status minimise_ended(struct minimisation *m, const struct odb_prober *prober,
                               const struct odb_probe *probe, enum odb_status had,
                               const struct odb_error *why, bool begin, struct odb_signature *out,
                               struct odb_error *err) ODB_MUST_USE;

/* --- shrink.c --------------------------------------------------------------------------------- */

void minimise_cut_dispose(struct minimise_cut *cut);
/* Sets best to the outputs of last and the nodes from first on that they need; first ODB_NO_NODE:
 * to the whole model. Needs the trace. */
enum odb_status minimise_first_cut(struct minimisation *m, int first, int last,
                                   struct odb_error *err) ODB_MUST_USE;
/* Runs the model and takes its signature. out->failed: whether there is one. */
enum odb_status minimise_begin(struct minimisation *m, struct odb_error *err) ODB_MUST_USE;
/* Moves outputs back and inputs forward, and takes single nodes out. */
enum odb_status minimise_shrink(struct minimisation *m, struct odb_error *err) ODB_MUST_USE;
/* A cut as a model of its own. */
enum odb_status minimise_subject(const struct minimisation *m, const struct minimise_cut *cut,
                                 struct subject *out, struct odb_error *err) ODB_MUST_USE;

/* --- simplify.c ------------------------------------------------------------------------------- */

void subject_dispose(struct subject *subject);
/* Bytes of the weights that are used and of the inputs. */
size_t subject_bytes(const struct subject *subject);
/* Whether a search would say that it fails: what one run shows may be let off, see fails.h. True
 * where the reference cannot run it. */
enum odb_status subject_fails(bool *fails, const struct minimisation *m, const struct subject *s,
                              struct odb_error *err) ODB_MUST_USE;
/* Puts back what was left, where a search lets off what has become of it since it was proven;
 * *undone: so it was. */
enum odb_status minimise_prove(struct minimisation *m, bool *undone,
                               struct odb_error *err) ODB_MUST_USE;
/* Cuts out what is left, and makes it simple. */
enum odb_status minimise_simplify(struct minimisation *m, struct odb_error *err) ODB_MUST_USE;
/* Replaces weights, inputs and names by random ones. */
enum odb_status minimise_scramble(struct minimisation *m, struct odb_error *err) ODB_MUST_USE;

/* --- simple.c -------------------------------------------------------------------------------- */

/* A tensor of the same type and shape with simpler values. */
enum simple { SIMPLE_ZEROS, SIMPLE_ONES, SIMPLE_SMALL, SIMPLE_COUNT };
const char *simple_name(enum simple kind); /* "zeros", "ones", "small integers" */
/* *out NULL: it is as simple already, or nothing of the sort can be made of it. */
enum odb_status simple_tensor(struct odb_tensor **out, const struct odb_tensor *t, enum simple kind,
                              struct odb_error *err) ODB_MUST_USE;
/* Of small whole numbers alone. */
bool simple_is(const struct odb_tensor *t);
/* Random numbers of equal mean, standard deviation, share of zeros and signs. *out NULL: it has one
 * value only, or is of a type whose numbers are no weights. */
enum odb_status simple_scramble(struct odb_tensor **out, const struct odb_tensor *t, uint64_t seed,
                                struct odb_error *err) ODB_MUST_USE;
/* The first n places along an axis. */
enum odb_status simple_crop(struct odb_tensor **out, const struct odb_tensor *t, int axis,
                            int64_t n, struct odb_error *err) ODB_MUST_USE;

#endif
