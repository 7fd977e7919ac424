/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where a walk halts: a breakpoint without a condition before its node, one with a condition and a
 * watchpoint behind the node whose values fulfil it.
 *
 * A stretch runs in one piece up to the next place where it must halt whatever the values are. Then
 * the values are asked, in order, and where a condition holds the walk goes back to behind that
 * node. So conditions cost no runs, and nodes are fused by the target as they would be without.
 *
 * A node with bodies is run as one, unless a breakpoint is about a node in them. A condition that
 * is about any node asks the node around a body first: where that fulfils it, the walk goes back to
 * before it, so that its bodies can be looked into.
 */
#ifndef ODB_COMMAND_VERBS_WALK_STOPS_H
#define ODB_COMMAND_VERBS_WALK_STOPS_H

#include "session/annotations.h"

struct odb_session;

struct odb_stop {
    int number; /* of the breakpoint or watchpoint; 0: none stopped the walk */
    enum odb_annotation_kind kind;
    int node;       /* behind which it stopped; ODB_NO_NODE: before the one where the walk is */
    char text[160]; /* the condition; "": none */
    bool look;      /* nothing stopped it, but the walk is before a node whose bodies are to be
                       looked into */
};

/* Walks on to a node (not with it) or the first stop before, in the body that the walk is in or in
 * the main graph. standing: a breakpoint at the node where the walk is does not count again. whole:
 * of this node the bodies were looked into, or cannot be; ODB_NO_NODE: of none. */
enum odb_status odb_stops_walk(struct odb_session *session, int bound, bool standing, int whole,
                               const struct odb_search_hooks *hooks, struct odb_stop *stop,
                               struct odb_error *err) ODB_MUST_USE;
/* Whether some breakpoint or watchpoint may stop a walk in that step of a sequence, as far as can
 * be said before it runs. */
bool odb_stops_may(struct odb_session *session, long step);
/* The walk has come to a node, or into a body: whether a breakpoint is there. */
enum odb_status odb_stops_here(struct odb_session *session, struct odb_stop *stop,
                               struct odb_error *err) ODB_MUST_USE;
/* The first node before bound, from where the walk is, in whose bodies a breakpoint is, but not
 * `whole`; *turn: from 0 on the first at which. ODB_NO_NODE: there is none. */
int odb_stops_below(const struct odb_session *session, int bound, int whole, int64_t *turn);
/* Of the body that the walk is in: whether a breakpoint is in a turn later than this one, and in
 * which. all: any turn counts. */
bool odb_stops_later(const struct odb_session *session, bool all, int64_t *turn);
/* Whether a breakpoint is in the body that the walk is in, in this turn. */
bool odb_stops_inside(const struct odb_session *session);

#endif
