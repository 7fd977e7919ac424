/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What follows a cut, fed with the reference's values there.
 */
#ifndef ODB_BISECT_ALONE_SUFFIX_H
#define ODB_BISECT_ALONE_SUFFIX_H

#include "bisect/node_dag.h"
#include "bisect/failure.h"
#include "bisect/findings.h"

struct suffix {
    const struct search_case *c; /* borrowed */
    struct findings *f;          /* borrowed */
    int value;                   /* that is wrong */
    struct odb_dag dag;          /* owned: the graph turned round */
    bool *up;                    /* owned; [n] the value's ancestors, turned round */
    bool *suspects;              /* owned; [n] those of them that are left */
    struct failure *failure;     /* borrowed */
    bool apart;                  /* none of them stands before a node that does not repeat itself */
};

int suffix_turn(const struct suffix *s, int node);
void suffix_add_weights(const struct search_case *c, bool *nodes);
/* The first of the nodes that make weights for this one; the node itself where none does. */
int suffix_first_weight(const struct search_case *c, int node);
struct suffix suffix_new(const struct search_case *c, struct findings *f, int value,
                         struct failure *failure);
void suffix_dispose(struct suffix *s);
/* The nodes of a cut and what depends on them, as far as the wrong value depends on that;
 * [n_nodes], owned by the caller. */
bool *suffix_from(const struct suffix *s, const int *nodes, size_t n);
enum odb_status suffix_search(struct suffix *s, const double *suspicion,
                              struct odb_search_result *result, struct odb_error *err) ODB_MUST_USE;

/* Whether the value is wrong in the same way where no node runs that is known not to repeat itself,
 * nor what stands before it. */
enum odb_status suffix_fails_apart(const struct search_case *c, struct findings *f, int value,
                                   bool *fails, struct odb_error *err) ODB_MUST_USE;
/* The node that makes a wrong value is right alone: the first before it that must run together with
 * all that leads from there for the value to be wrong in the same way. ODB_NO_NODE: none does, fed
 * with the reference's values and unobserved. */
enum odb_status suffix_lead(const struct search_case *c, struct findings *f, int value, int *node,
                            struct odb_error *err) ODB_MUST_USE;

#endif
