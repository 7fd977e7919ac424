/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where a walk halts: a breakpoint without a condition before its node, one with a condition and a
 * watchpoint behind the node whose values fulfil it.
 *
 * A stretch runs in one piece up to the next place where it must halt whatever the values are. Then
 * the values are asked, in order, and where a condition holds the walk goes back to behind that
 * node. So conditions cost no runs, and nodes are fused by the target as they would be without.
 */
#ifndef ODB_COMMAND_STOPS_H
#define ODB_COMMAND_STOPS_H

#include "session/session.h"

struct odb_stop {
    int number; /* of the breakpoint or watchpoint; 0: none stopped the walk */
    enum odb_kept_kind kind;
    int node;       /* behind which it stopped; ODB_NO_NODE: before the one where the walk is */
    char text[160]; /* the condition; "": none */
};

/* Walks on to a node (not with it) or the first stop before, in the body that the walk is in or in
 * the main graph. standing: a breakpoint at the node where the walk is does not count again. */
enum odb_status odb_stops_walk(struct odb_session *session, int bound, bool standing,
                               const struct odb_search_hooks *hooks, struct odb_stop *stop,
                               struct odb_error *err) ODB_MUST_USE;

#endif
