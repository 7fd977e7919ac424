/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One measurement, as sensitivity_plan.c (the plan), local.c (one node in the type), carry.c (what
 * follows from it), estimate.c (what stands for it), shown.c (what a target did) and match.c (how
 * well the one told the other) share it.
 */
#ifndef ODB_SENSITIVITY_SENSITIVITY_INT_H
#define ODB_SENSITIVITY_SENSITIVITY_INT_H

#include "base/mem.h"
#include "model/write/convert.h"
#include "sensitivity/sensitivity.h"

struct sensitivity {
    const struct odb_model *model;
    const struct odb_graph *graph;
    const struct odb_feeds *feeds;
    const struct odb_trace *trace; /* the CPU's own */
    const struct odb_sensitivity_options *options;
    struct odb_sensitivity_result *result;
    struct odb_convert *convert; /* owned: int8; NULL: another type */
    enum odb_precision as;       /* in which a node computes; NATIVE: int8, by its operands */
    double start, deadline;      /* of the clock; deadline 0: none */
    double until;                /* the part of it that the work now at hand has; 0: none */
    /* carry.c: between two runs values are the reference's, and no node is marked. */
    struct odb_tensor **values; /* owned refs; [n_values] */
    bool *runs;                 /* owned; [n_nodes] */
    int *ran;                   /* owned; [n_nodes] the n_ran of them that are or were marked */
    size_t n_ran;
    /* What a run comes to; NULL: it is not wanted. */
    odb_sensitivity_made_fn *made;
    void *payload; /* borrowed; for made */
    size_t which;  /* likewise */
    /* estimate.c */
    int *next; /* owned; [n_nodes] the first node that all ways from here to the outputs go through;
                  n_nodes: there is none; ODB_NO_NODE: no way leads there */
};

/* The error of t; base NULL: the reference lacks it, which is no error. value: of both. */
struct odb_sensitivity_error sensitivity_distance(const struct odb_tensor *t,
                                                  const struct odb_tensor *base, int value);
/* An error that none is. */
struct odb_sensitivity_error sensitivity_no_error(void);
/* Raises an error to another one, if that is larger. */
void sensitivity_raise(struct odb_sensitivity_error *most, struct odb_sensitivity_error one);
/* Tells of the outputs among these values ([n_values]); NULL: they cannot be had. */
enum odb_status sensitivity_tell(struct sensitivity *s, struct odb_tensor *const *values,
                                 struct odb_error *err) ODB_MUST_USE;
/* Whether a tensor has floats. */
bool sensitivity_floats(const struct odb_tensor *t);
/* The user has stopped it, or what the time of this work is over. */
bool sensitivity_ends(struct sensitivity *s);
/* For the reference: a run that takes longer is given up. payload: a struct sensitivity. */
bool sensitivity_cancelled(void *payload);

/* --- local.c ---------------------------------------------------------------------------------- */

/* Whether the type changes anything in the node. */
bool sensitivity_computes(const struct sensitivity *s, int node);
/* The node in the type, on these inputs (as node->in, NULL: left out). out: [n_out] the caller's,
 * NULL on failure. */
enum odb_status sensitivity_in_type(const struct sensitivity *s, int node,
                                    struct odb_tensor *const *in, struct odb_tensor **out,
                                    struct odb_error *err) ODB_MUST_USE;
/* The same on the reference's values. */
enum odb_status sensitivity_perturb(const struct sensitivity *s, int node, struct odb_tensor **out,
                                    struct odb_error *err) ODB_MUST_USE;
/* Unrefs what a node made, and clears it. */
void sensitivity_drop(struct odb_tensor **out, int n);
/* Fills in local errors, and known of every node: LEFT where there is one. */
enum odb_status sensitivity_local(struct sensitivity *s, struct odb_error *err) ODB_MUST_USE;
/* All nodes in the type: the result's whole. */
enum odb_status sensitivity_whole(struct sensitivity *s, struct odb_error *err) ODB_MUST_USE;

/* --- carry.c ---------------------------------------------------------------------------------- */

struct carried {
    struct odb_sensitivity_error end; /* at the outputs, or at what the stop makes */
    size_t reruns;
    bool failed; /* a node that follows cannot be run on what it was given */
};

void sensitivity_carry_begin(struct sensitivity *s);
void sensitivity_carry_end(struct sensitivity *s);
/* What the reference makes with these in the place of a node's outputs. stop: the run ends behind
 * this node; n_nodes: it goes to the outputs. ODB_CANCELLED: the time is over. */
enum odb_status sensitivity_carry(struct sensitivity *s, int node, struct odb_tensor *const *out,
                                  int stop, struct carried *carried,
                                  struct odb_error *err) ODB_MUST_USE;
/* What a node comes to: with the node in the type. */
enum odb_status sensitivity_measure(struct sensitivity *s, int node, int stop,
                                    struct carried *carried, struct odb_error *err) ODB_MUST_USE;

/* --- estimate.c ------------------------------------------------------------------------------- */

/* Fills s->next in. */
void sensitivity_follow(struct sensitivity *s);
/* Estimates contributions, from the last node to the first, until the time is over. */
enum odb_status sensitivity_estimate(struct sensitivity *s, struct odb_error *err) ODB_MUST_USE;
/* How good estimates were, by those that were measured afterwards. */
void sensitivity_check_estimates(struct sensitivity *s);

/* --- shown.c ---------------------------------------------------------------------------------- */

/* Asks the target. That it fails is no failure: the result's target_why says so. */
enum odb_status sensitivity_shown(struct sensitivity *s, struct odb_error *err) ODB_MUST_USE;

/* --- match.c ---------------------------------------------------------------------------------- */

/* By a, larger first; then by b, then by node. */
struct sensitivity_rank {
    int node;
    double a, b;
};
void sensitivity_sort(struct sensitivity_rank *list, size_t n);
/* How well x tells y; NaN in either leaves a pair out. */
struct odb_sensitivity_match sensitivity_match(const double *x, const double *y, size_t n);

#endif
