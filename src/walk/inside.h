/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A walk inside a node with bodies: one turn of a Loop, a Scan or a SequenceMap, the branch that an
 * If takes, or the body of a function that is called. The body is a model of its own, fed with what
 * the reference has there when the node is given what the target made before it; so reference and
 * target begin every turn at the same place.
 */
#ifndef ODB_WALK_INSIDE_H
#define ODB_WALK_INSIDE_H

#include "bisect/bisect_options.h"
#include "probe/body_case.h"
#include "run/hooks.h"
#include "reference/trace.h"
#include "walk/walk.h"

struct odb_inside {
    struct odb_inside *outer;      /* owned: the body around this one; NULL: the main graph is */
    struct odb_walk *around;       /* borrowed: the walk that it was entered from */
    int node;                      /* of that, which it is the body of */
    struct odb_body which;         /* of its bodies; borrowed from around's model */
    int64_t turn;                  /* ODB_ANY_TURN: there is but one */
    struct odb_body_case body;     /* owned */
    struct odb_trace *trace;       /* owned */
    struct odb_walk *walk;         /* owned */
    char *path;                    /* owned: "Loop_4[0]/If_2.then/" */
    struct odb_search_hooks hooks; /* of the call that is at work; they do not receive the values of
                                      the body, as they know the main graph */
};

/* Stands before the first node of a body of the node that `around` stands before. outer: the body
 * that `around` walks in, NULL for the main graph; taken on success. turn: ODB_ANY_TURN for the
 * first. ODB_E_USAGE: the node has no body, or does not come to that turn. */
enum odb_status odb_inside_enter(struct odb_inside **out, struct odb_inside *outer,
                                 struct odb_walk *around, int64_t turn,
                                 const struct odb_bisect_options *options,
                                 struct odb_error *err) ODB_MUST_USE;
/* Another turn in its place, in a new *inside. ODB_E_USAGE: there is none, and *inside stays. */
enum odb_status odb_inside_turn(struct odb_inside **inside, int64_t turn,
                                const struct odb_bisect_options *options,
                                struct odb_error *err) ODB_MUST_USE;
/* odb_walk_to() and odb_rejudge() there, for hooks that know the main graph. */
enum odb_status odb_inside_walk_to(struct odb_inside *inside, int stop,
                                   const struct odb_search_hooks *hooks,
                                   struct odb_error *err) ODB_MUST_USE;
enum odb_status odb_inside_rejudge(struct odb_inside *inside, const struct odb_criterion *tolerance,
                                   const struct odb_search_hooks *hooks,
                                   struct odb_error *err) ODB_MUST_USE;
/* Whether it is the body that these steps lead into from the main graph; a step that names no turn
 * means any. inside NULL: the main graph, into which no steps lead. */
bool odb_inside_is(const struct odb_inside *inside, const struct odb_body_step *steps, size_t n);
/* What was judged of each node that the walk has come past, of its first output; n_nodes: of the
 * body in its own model. */
void odb_inside_reports(const struct odb_inside *inside, size_t n_nodes,
                        struct odb_value_report *reports);
/* Frees the innermost and returns the one around it. NULL is fine. */
struct odb_inside *odb_inside_leave(struct odb_inside *inside);

#endif
