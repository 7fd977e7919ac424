/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The search core: a directed acyclic graph, and an oracle that says of a node whether everything
 * up to it is good. It does no input or output and knows nothing of models, so that it can be
 * tested on thousands of made-up graphs.
 */
#ifndef ODB_ENGINE_SEARCH_H
#define ODB_ENGINE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum odb_answer { ODB_ANSWER_GOOD, ODB_ANSWER_BAD, ODB_ANSWER_UNTESTABLE };

/* Nodes 0 … n-1 in topological order; the parents of i are parents[start[i] … start[i+1]). */
struct odb_dag {
    size_t n;
    const size_t *start; /* [n + 1] */
    const int *parents;
};

struct odb_oracle {
    enum odb_status (*ask)(void *payload, int node, enum odb_answer *answer, struct odb_error *err);
    /* The node is going to be asked, or, after the first of a row of calls, may be: whoever can
     * answer several questions at once begins with it. False: no more for now. NULL: nobody can. */
    bool (*ahead)(void *payload, int node);
    /* Its answer is there, so that nobody need guess what comes after it. NULL with ahead. */
    bool (*at_hand)(void *payload, int node);
    void *payload;
};

/* The suspects that are left once node has this answer; left may be NULL or suspects itself. An
 * answer that would clear all contradicts the others, and leaves them all. Returns their number. */
size_t odb_search_narrow(const struct odb_dag *dag, const bool *suspects, int node,
                         enum odb_answer answer, bool *left);

/* Narrows suspects, which holds the culprit on entry: the ancestors of a node known to be bad, that
 * node included. As in git bisect, a bad answer leaves the node's ancestors, a good one clears
 * them; the node asked next is the one that halves the suspects best. On return one suspect is
 * left, or those that no testable node can tell apart. *probes counts the oracle's answers. A
 * status other than ODB_OK from the oracle ends the search and is returned. Working ahead changes
 * neither what is asked nor the order. */
enum odb_status odb_search(const struct odb_dag *dag, bool *suspects,
                           const struct odb_oracle *oracle, size_t *probes,
                           struct odb_error *err) ODB_MUST_USE;

#endif
