/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the reference does in a node with bodies, turn by turn.
 */
#ifndef ODB_REFERENCE_BODIES_RECORD_H
#define ODB_REFERENCE_BODIES_RECORD_H

#include "run/hooks.h"
#include "reference/trace.h"
#include "model/write/body_model.h"

/* What the reference is asked about a node's turns. */
struct bodies_record {
    int64_t wanted; /* keep what this turn is fed, and stop; ODB_ANY_TURN: run to the end */
    size_t turns;   /* begun */
    const struct odb_search_hooks *hooks; /* may cancel it; NULL: nothing can */
    const char *attr;                     /* of the body that ran last; borrowed: the model */
    bool got;
    struct odb_tensor **feeds; /* owned refs; of the turn that was wanted */
    size_t n_feeds;
    /* Which turn's states these are. */
    struct odb_tensor *const *states; /* borrowed; NULL: not wanted */
    size_t n_states, skip;            /* skip: outputs of the body before its states */
    double noise;                     /* of them */
    size_t like, n_like;              /* turns taken by then; how many turns are so */
};

void bodies_record_dispose(struct bodies_record *r);
/* Runs a node of the reference. given: as in odb_body_case_open(). first: stands in for its input
 * 0; NULL: nothing does. outs: [n_out] refs, the caller's. */
enum odb_status bodies_run(const struct odb_trace *trace, struct odb_tensor *const *given, int node,
                           const struct odb_tensor *first, struct bodies_record *record,
                           struct odb_tensor **outs, struct odb_error *err) ODB_MUST_USE;
/* What a node is fed with: given, or the trace's. Borrowed. */
const struct odb_tensor *bodies_value(const struct odb_trace *trace,
                                      struct odb_tensor *const *given, int value);
/* Whether two values are the same but for rounding. */
bool bodies_alike(const struct odb_tensor *a, const struct odb_tensor *b, double noise);
/* Unrefs n values, and frees their array. */
void bodies_drop(struct odb_tensor **values, size_t n);
/* The step into a body, as paths have it. Owned by the caller. */
char *bodies_step(const struct odb_node *node, const struct odb_body *body, int64_t turn);
/* Whether it runs in turns. */
bool bodies_has_turns(const struct odb_body *body);

#endif
