/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nodes that a target makes one kernel of, between values that can be read: they are replayed one
 * after the other, and one of them may be changed.
 */
#ifndef ODB_EXPLAIN_ACCUSED_GROUP_H
#define ODB_EXPLAIN_ACCUSED_GROUP_H

#include "explain/accused.h"

struct variant;

#define GROUP_MOST 64 /* nodes of a group */

struct accused_group {
    const struct odb_explain_question *q; /* borrowed */
    const struct odb_graph *graph;        /* borrowed */
    int nodes[GROUP_MOST];                /* in the order in which they run */
    size_t n, main;                       /* main: the place of the one that computes */
    size_t tail; /* nodes from here on are the quantiser that decides what comes out, and what only
                    moves or widens its integers; n: there is none */
    int exit;    /* the value that comes out */
    bool ended;  /* the last of inner is the whole's */
    int decided; /* what the tail reads; the exit without one */
    struct odb_tensor **native, **exact; /* owned refs; [n_values] what the reference makes */
    struct accused inner[GROUP_MOST]; /* each node, fed by the reference; the last one's output is
                                         the target's */
};

/* of: what comes out, as the call of the group's last node. ODB_UNSUPPORTED: no kernels replay the
 * group. To be disposed of always. */
enum odb_status group_make(struct accused *of, const struct odb_explain_question *q,
                           struct odb_tensor *const *out, struct odb_error *err) ODB_MUST_USE;
void group_dispose(struct accused *of);

/* What is asked of: a group, or a node alone (accused_make()). For group_dispose(), always. */
enum odb_status accused_of(struct accused *s, const struct odb_explain_question *q,
                           struct odb_tensor *const *in, struct odb_tensor *const *out,
                           struct odb_error *err) ODB_MUST_USE;

/* Whether a quantiser decides at the end: then noise is which steps honest numbers fall on. */
bool group_decides(const struct accused *s);

/* What comes out with one node changed (v NULL: none); out: [1], the caller's. */
enum odb_status group_run(const struct accused *s, const struct variant *v,
                          enum odb_precision precision, uint64_t seed, struct odb_tensor **out,
                          struct odb_error *err) ODB_MUST_USE;
/* The same twice, where what the last quantiser reads is as far down, and up, as honest
 * computations go; noise: how far that is, over its root mean square. */
enum odb_status group_band(const struct accused *s, const struct variant *v,
                           struct odb_tensor **low, struct odb_tensor **high, double *noise,
                           struct odb_error *err) ODB_MUST_USE;

/* All that its nodes make with one changed, in double: [n_values of the graph] refs. NULL: nothing
 * does. For group_values_free(). */
struct odb_tensor **group_values(const struct accused *s, const struct variant *v);
void group_values_free(const struct accused *s, struct odb_tensor **values);

/* --- what rows ask of a group ----------------------------------------------------------------- */

/* The place of the node that makes input i of the node at a place; g->n: none of the group does. */
size_t group_before(const struct accused_group *g, size_t place, int i);
/* The place of the only node that reads what the node at a place makes; g->n: there is none. */
size_t group_after(const struct accused_group *g, size_t place);
bool group_is(const struct accused_group *g, size_t place, const char *ops);

#endif
