/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a narrower type costs a task, before any target is asked: the reference's score over a data
 * set, and what is lost with one node in the type, and with all (sensitivity.h says how a node is
 * computed in a type).
 */
#ifndef ODB_SCORE_TYPE_COST_H
#define ODB_SCORE_TYPE_COST_H

#include "score/score.h"
#include "sensitivity/sensitivity.h"

struct json_t;

/* With a node in the type, or all of them. */
struct odb_type_cost_row {
    int node;                   /* ODB_NO_NODE: all */
    double score;               /* NAN: not known */
    struct odb_score_gain loss; /* what is lost: more than 0 is worse */
    size_t failed;              /* samples on which it could not be run, which count in no score */
};

struct odb_type_cost {
    const struct odb_metric *metric; /* borrowed */
    double reference;                /* its score */
    size_t samples, used;            /* used: with a share, by the reference and all rows */
    struct odb_type_cost_row *rows;  /* owned; [n]: all nodes, then each of those that were named */
    size_t n;
};

/* nodes [n_nodes]: ODB_SCORE_NODES at most. options: as of a score; its nodes are not looked at.
 * *out is NULL on failure. ODB_UNSUPPORTED: the metric is not defined for these samples. */
enum odb_status odb_type_cost(struct odb_type_cost **out, const struct odb_model *model,
                              const struct odb_bisect_options *search,
                              const struct odb_score_options *options, enum odb_dtype to,
                              const int *nodes, size_t n_nodes, struct odb_error *err) ODB_MUST_USE;
void odb_type_cost_free(struct odb_type_cost *cost); /* NULL is fine */
/* Appends what the text of `sensitivity` says of it. */
void odb_type_cost_put(const struct odb_type_cost *cost, const struct odb_graph *graph,
                       enum odb_dtype to, struct odb_buf *out);
struct json_t *odb_type_cost_json(const struct odb_type_cost *cost); /* the caller's */

#endif
