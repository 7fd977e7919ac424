/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A culprit with bodies, as bodies.c (the search inside) shares it with what that asks.
 */
#ifndef ODB_BISECT_BODY_BODIES_INT_H
#define ODB_BISECT_BODY_BODIES_INT_H

#include "bisect/body/bodies.h"
#include "reference/bodies_record.h"
#include "bisect/findings.h"
#include "probe/body_case.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "report/report.h"
#include "reference/trace.h"

/* One culprit with bodies. */
struct bodies {
    const struct search_case *c; /* borrowed */
    struct findings *f;          /* borrowed */
    bodies_search_fn *search;    /* what searches a body */
    struct odb_culprit *culprit; /* borrowed: the report */
    const struct odb_node *node;
    struct odb_tensor *const *given; /* borrowed: what the node is fed */
    struct odb_search_hooks hooks;   /* of what goes on inside */
    char *where;                     /* owned: what the hooks say it is about */
    struct odb_model *owner;         /* owned: the node alone */
    struct odb_feeds *feeds;         /* owned: of it */
    struct odb_tensor **ref;         /* owned refs; [n_out] what the reference makes of it */
    struct odb_tensor **had;         /* owned refs; [n_out] what the target does */
    size_t n_out, turns, n_state;    /* turns: that the reference takes */
    bool *tried;                     /* owned; [turns] the body of this turn alone is right */
    size_t n_tried, n_right;
    bool *right;          /* owned; [turns] tried, and nothing is wrong */
    struct odb_body body; /* that the reference runs */
    double noise;         /* of what the node gives, as far as it is known */
    bool done;            /* a body was found to be wrong */
    struct odb_buf words;
};

/* --- bodies_target.c -------------------------------------------------------------------------- */

/* The hooks of what goes on inside: told as of the node outside. */
void bodies_event(void *payload, const struct odb_search_event *event);
bool bodies_cancelled(void *payload);
/* Whether this is how the culprit is wrong. */
bool bodies_bad(const struct bodies *s, enum odb_verdict verdict);
/* What the target makes of a model, judged as a plain run is, and nothing more. outputs: what it
 * gives for values, or NULL. What cannot be asked is untestable. */
enum odb_status bodies_ask(struct bodies *s, const struct odb_model *model,
                           const struct odb_feeds *feeds, const int *values, size_t n,
                           const char *what, struct odb_tensor **outputs, enum odb_verdict *verdict,
                           struct odb_error *err) ODB_MUST_USE;
/* Outputs that a node of the graph makes; list has room for all. Returns how many. */
size_t bodies_made(const struct odb_graph *graph, int *list);
/* Makes s->owner, the node as a model by itself. */
enum odb_status bodies_owner(struct bodies *s, struct odb_error *err) ODB_MUST_USE;
/* Whether the node is this operator of ONNX. */
bool bodies_is(const struct bodies *s, const char *op_type);
/* Whether an input of the node is read in this one place. */
bool bodies_reads_once(const struct bodies *s, int input);
/* The len elements of an axis that begin at at; len 0: the one there, without the axis. */
enum odb_status bodies_take(struct odb_tensor **out, const struct odb_tensor *t, int64_t axis,
                            int64_t at, int64_t len, struct odb_error *err) ODB_MUST_USE;
/* What the owner is fed for k turns; ODB_ANY_TURN: for all. Owned by the caller. */
enum odb_status bodies_owner_feeds(const struct bodies *s, int64_t k, struct odb_feeds **out,
                                   struct odb_error *err) ODB_MUST_USE;
/* Runs the owner on the target once; s->had is what it gives. */
enum odb_status bodies_alone(struct bodies *s, enum odb_verdict *verdict,
                             struct odb_error *err) ODB_MUST_USE;

/* --- bodies_turns.c --------------------------------------------------------------------------- */

/* Finds which turn's body it is, or that it is none of them. */
enum odb_status bodies_turns(struct bodies *s, struct odb_error *err) ODB_MUST_USE;
/* If: the branch that is taken, or that the target takes the other one. */
enum odb_status bodies_branch(struct bodies *s, struct odb_error *err) ODB_MUST_USE;

/* --- bodies.c --------------------------------------------------------------------------------- */

/* Tries the body of one turn alone, and searches it where it is wrong, after these words. */
enum odb_status bodies_try(struct bodies *s, int64_t turn, const char *say,
                           struct odb_error *err) ODB_MUST_USE;

#endif
