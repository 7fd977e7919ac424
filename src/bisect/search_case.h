/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is searched: a model, what it is fed, what is believed of it, and whom to ask. It is made
 * once, by the functions below, and const for everybody from then on. A model of which something is
 * left out, or held to the reference's values, is another case, derived from the first.
 */
#ifndef ODB_BISECT_SEARCH_CASE_H
#define ODB_BISECT_SEARCH_CASE_H

#include "bisect/bisect_options.h"
#include "judge/blame.h"
#include "probe/probe.h"

struct odb_culprit;

struct search_case {
    const struct odb_model *model;            /* borrowed */
    const struct odb_graph *graph;            /* borrowed: model */
    const struct odb_feeds *feeds;            /* borrowed */
    const struct odb_bisect_options *options; /* borrowed */
    struct odb_trace
        *trace;             /* borrowed: what is believed; it makes noise where that is asked for */
    struct odb_judge judge; /* by the trace and the options' tolerance */
    struct odb_pool *pool;  /* borrowed: the target's; NULL: nothing is run */
    struct odb_prober *prober; /* borrowed: the one thing that acts */
    const int *outputs; /* values that a node computes: the model's outputs, or what stands for
                           them */
    size_t n_outputs;
    const bool
        *drawn;      /* [n_values] fed and never judged: random draws, and what is fed or pinned */
    const bool *fed; /* [n_values] what nodes beyond the target make; NULL: none */
    const bool *beyond; /* [n_nodes] that the target refuses, and behind them what the reference
                           cannot make up for; NULL: none */
    const bool *pinned; /* [n_values] held to the reference's values; NULL: none */
    const struct search_case *unpinned; /* the case without pins; NULL: it is this one */
    struct odb_spent start; /* odb_spent_now() when the search began, the reference included */
};

/* A case, and what it is made of. Its owner must not move it. */
struct search_case_made {
    struct search_case is;
    struct odb_prober prober;   /* of the first case and of one with pins */
    struct odb_trace *trace;    /* owned; NULL: the options brought it, or another case has it */
    struct odb_pool *pool;      /* owned; NULL: another case has it */
    int *outputs;               /* owned; NULL: another case's */
    bool *drawn, *fed, *beyond; /* owned; likewise */
};

/* The model, what it is fed and the options, which are borrowed, and nothing else. */
void search_case_begin(struct search_case_made *out, const struct odb_model *model,
                       const struct odb_feeds *feeds, const struct odb_bisect_options *options);
/* The trace, which is made unless the options bring it, and what follows from it. */
enum odb_status search_case_trace(struct search_case_made *made,
                                  struct odb_error *err) ODB_MUST_USE;
/* The target is started; or the options bring a recording, and none is. */
enum odb_status search_case_connect(struct search_case_made *made,
                                    struct odb_error *err) ODB_MUST_USE;
/* The same case with outputs and nodes of its own to change, until it is searched. */
void search_case_part(struct search_case_made *out, const struct search_case *of);
/* These outputs, which are taken over, stand for those that there were. */
void search_case_set_outputs(struct search_case_made *made, int *outputs, size_t n);
/* The same case with values ([n_values], borrowed) held to the reference's. */
void search_case_pin(struct search_case_made *out, const struct search_case *of,
                     const bool *pinned);
/* Frees what it owns, and gives a borrowed trace back as it was; zero is fine. */
void search_case_dispose(struct search_case_made *made);

/* The node's first named output, ODB_NO_VALUE when it has none. */
int case_output_of(const struct search_case *c, int node);
/* Whether all that a node makes hangs on weights alone: it goes along with the nodes that read it.
 */
bool case_is_weight(const struct search_case *c, int node);
/* Nodes, weights aside, that a target may make one kernel of; more are a part of the model. */
#define CASE_KERNEL 12
/* The node whose outputs are made the reference's in the place of what a culprit makes: itself, or,
 * of a group, the last before the quantiser at its end, so that none is taken apart. */
int case_pin_of(const struct search_case *c, const struct odb_culprit *who);

#endif
