/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The search core: a directed acyclic graph, and an oracle that says of a cut whether everything
 * before it is good. It does no input or output and knows nothing of models, so that it can be
 * tested on thousands of made-up graphs.
 *
 * A cut is a set of nodes that holds the ancestors of its members, given by its frontier: nodes of
 * which none stands before another. One question is one load of the target, and answers for each
 * node of the frontier. The mirror of all this, where values of the reference are fed at the cut
 * and the rest is run, is the same search over odb_dag_reverse(), with joint answers: the rest is
 * bad while the culprit is in it.
 */
#ifndef ODB_SEARCH_SEARCH_H
#define ODB_SEARCH_SEARCH_H

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

/* The same edges the other way round: node i is n - 1 - i there. Its arrays are the caller's. */
struct odb_dag odb_dag_reverse(const struct odb_dag *dag);
void odb_dag_dispose(struct odb_dag *dag); /* where its arrays are its own */
/* Marks the ancestors of all that is marked, [n]. */
void odb_dag_close(const struct odb_dag *dag, bool *marks);

/* The first of marks [n]; n: none is. */
static inline size_t odb_first_mark(const bool *marks, size_t n)
{
    size_t first = 0;
    while (first < n && !marks[first])
        first++;
    return first;
}

static inline size_t odb_count_marks(const bool *marks, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += marks[i];
    return count;
}

/* Loads that tell so many suspects apart: ceil(log2(n)). */
size_t odb_search_loads(size_t n);

struct odb_cut {
    const int *nodes; /* the frontier, ascending */
    size_t n;
};

/* What the oracle says of a node. */
struct odb_evidence {
    enum odb_answer answer;
    double error; /* over what is tolerated: beyond 1 it is bad; NAN: not known */
};

/* What is known of a node; all zero: nothing. */
struct odb_known {
    unsigned good, bad, mute; /* how often the answer was this */
    double error;             /* the last; NAN: not known */
};

struct odb_oracle {
    /* One load; evidence[i] is of what stands before cut->nodes[i], that node included. */
    enum odb_status (*ask)(void *payload, const struct odb_cut *cut, struct odb_evidence *evidence,
                           struct odb_error *err);
    /* The cut is going to be asked, or, after the first of a row of calls, may be: an oracle that
     * can answer several questions at once begins with it. False: no more for now. NULL: it
     * cannot. */
    bool (*ahead)(void *payload, const struct odb_cut *cut);
    /* Its answer is there, so that the search need not guess what comes after it. NULL with
     * ahead. */
    bool (*at_hand)(void *payload, const struct odb_cut *cut);
    /* Is the one suspect that is left wrong by itself, on its own inputs? Not with joint answers.
     * NULL: the oracle cannot answer that. */
    enum odb_status (*confirm)(void *payload, int node, enum odb_answer *answer,
                               struct odb_error *err);
    void *payload;
};

/* All zero: every node is as suspicious and as large as the next. */
struct odb_search_options {
    const double *suspicion; /* [n] > 0; NULL: all alike */
    const double *build;     /* [n] what a node adds to the cost of a load; NULL: all alike, and all
                                of them together as much as a load costs in any case */
    const double *read;      /* [n] what reading its outputs adds; NULL: little */
    double load;             /* what any load costs; 0: 1 */
    size_t spare;            /* loads more than promised, that likelier or cheaper cuts may cost */
    bool joint; /* one answer for all of the cut, evidence[0]: it runs or it does not */
    bool flaky; /* answers are known to change: each is asked for several times */
    struct odb_known
        *known; /* [n] out: what was heard of every node by itself; NULL: it is not wanted */
};

struct odb_search_result {
    size_t loads;      /* questions that were answered, repeated ones included */
    size_t repeats;    /* of them: asked before */
    bool dips;         /* some answer is good and one before it is bad: the error is masked, and
                          comes back */
    bool flaky;        /* the same question had two answers */
    bool confirmed;    /* the suspect left was asked by itself, and is bad */
    bool acquitted;    /* it is good then, and no other node was found */
    double confidence; /* that no answer that was counted on is wrong by chance: 1 unless flaky */
};

/* Narrows suspects, which holds a culprit on entry: the ancestors of what is known to be bad. As in
 * git bisect, a bad answer leaves the ancestors, a good one clears them; the cut asked next has the
 * most to tell for what it costs, among those that keep the number of loads within
 * ceil(log2(suspects)) and a few. On return one suspect is left, or the fewest that no testable cut
 * can tell apart. The one that is left has parents that were asked and are good, unless they cannot
 * be asked. One that is acquitted all the same has brought back what was masked before it, or is
 * wrong only together with others: a search of what leads to it, turned round, finds them. A status
 * other than ODB_OK from the oracle ends the search and is returned. Working ahead changes neither
 * what is asked nor the order. options may be NULL. */
enum odb_status odb_search(const struct odb_dag *dag, bool *suspects,
                           const struct odb_oracle *oracle,
                           const struct odb_search_options *options,
                           struct odb_search_result *result, struct odb_error *err) ODB_MUST_USE;

/* The suspects that are left once the cut has these answers; left may be NULL or suspects itself.
 * Answers that would clear all contradict others, and leave them all. Returns their number. */
size_t odb_search_narrow(const struct odb_dag *dag, const bool *suspects, const struct odb_cut *cut,
                         const struct odb_evidence *evidence, bool joint, bool *left);

#endif
