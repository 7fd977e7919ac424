/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bisection of a partial order. The information of a question is how evenly its two answers would
 * split the suspects: a node with a of the s suspects among its ancestors leaves a of them when
 * bad and s - a when good.
 *
 * Counting ancestors exactly takes s^2 bits. Above SEARCH_EXACT suspects the middle of the
 * topological order is asked instead, which is exact for chains and halves the rest soon enough.
 */
#include "engine/search.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define SEARCH_EXACT 4096
#define SEARCH_AHEAD 128 /* questions that are thought of at once: more than there are workers */

/* Marks node and its ancestors. */
static void search_ancestors(const struct odb_dag *dag, int node, bool *marks)
{
    memset(marks, 0, dag->n * sizeof *marks);
    marks[node] = true;
    for (int i = node; i >= 0; i--) /* parents stand before their children */
        for (size_t p = dag->start[i]; marks[i] && p < dag->start[i + 1]; p++)
            marks[dag->parents[p]] = true;
}

/* The untested suspect nearest to the middle of the order, -1 when there is none. */
static int search_middle(const struct odb_dag *dag, const bool *suspects, const bool *closed,
                         size_t count)
{
    int best = -1;
    size_t rank = 0, best_distance = SIZE_MAX;
    for (size_t i = 0; i < dag->n; i++) {
        if (!suspects[i])
            continue;
        rank++;
        size_t distance = rank * 2 > count ? rank * 2 - count : count - rank * 2;
        if (!closed[i] && distance < best_distance) {
            best = (int)i;
            best_distance = distance;
        }
    }
    return best;
}

/* The untested suspect whose suspect ancestors are nearest to half of all. */
static int search_best(const struct odb_dag *dag, const bool *suspects, const bool *closed,
                       size_t count)
{
    size_t words = (count + 63) / 64, rank = 0, best_split = 0;
    uint64_t *bits = odb_xcalloc(count * words, sizeof *bits); /* rows by rank among suspects */
    size_t *rank_of = odb_new_n(size_t, dag->n);
    int best = -1;
    for (size_t i = 0; i < dag->n; i++) {
        if (!suspects[i])
            continue;
        uint64_t *row = bits + rank * words;
        row[rank / 64] |= (uint64_t)1 << rank % 64;
        rank_of[i] = rank++;
        for (size_t p = dag->start[i]; p < dag->start[i + 1]; p++) {
            int parent = dag->parents[p];
            for (size_t w = 0; suspects[parent] && w < words; w++)
                row[w] |= bits[rank_of[parent] * words + w];
        }
        size_t ancestors = 0;
        for (size_t w = 0; w < words; w++)
            ancestors += (size_t)__builtin_popcountll(row[w]);
        size_t split = ODB_MIN(ancestors, count - ancestors);
        if (!closed[i] && split > best_split) {
            best = (int)i;
            best_split = split;
        }
    }
    free(bits);
    free(rank_of);
    return best;
}

size_t odb_search_narrow(const struct odb_dag *dag, const bool *suspects, int node,
                         enum odb_answer answer, bool *left)
{
    bool *above = odb_new_n(bool, dag->n);
    size_t total = 0, count = 0;
    search_ancestors(dag, node, above);
    for (size_t i = 0; i < dag->n; i++) {
        total += suspects[i];
        count += suspects[i] && above[i] == (answer == ODB_ANSWER_BAD);
    }
    bool all = answer == ODB_ANSWER_UNTESTABLE || count == 0;
    for (size_t i = 0; left && i < dag->n; i++)
        left[i] = suspects[i] && (all || above[i] == (answer == ODB_ANSWER_BAD));
    free(above);
    return all ? total : count;
}

/* --- working ahead -----------------------------------------------------------------------------
 */

/* What is known at some point of a search. */
struct search_state {
    bool *suspects, *closed; /* owned */
    int node;                /* asked next, -1: nobody */
};

static void search_state_dispose(struct search_state *state)
{
    free(state->suspects);
    free(state->closed);
}

/* The untested suspect to ask next, -1 where there is nothing left to find out. */
static int search_next(const struct odb_dag *dag, const bool *suspects, const bool *closed)
{
    size_t count = 0;
    for (size_t i = 0; i < dag->n; i++)
        count += suspects[i];
    return count <= 1             ? -1
           : count > SEARCH_EXACT ? search_middle(dag, suspects, closed, count)
                                  : search_best(dag, suspects, closed, count);
}

/* Where the search will stand once the state's node has this answer. */
static struct search_state search_after(const struct odb_dag *dag, const struct search_state *state,
                                        enum odb_answer answer)
{
    struct search_state next = {odb_new_n(bool, dag->n),
                                odb_xmemdup(state->closed, dag->n * sizeof *state->closed), -1};
    next.closed[state->node] = true;
    odb_search_narrow(dag, state->suspects, state->node, answer, next.suspects);
    next.node = search_next(dag, next.suspects, next.closed);
    return next;
}

/* Tells the oracle of the node asked next, then of those asked after either answer, and so on: the
 * tree of what may come, level by level, as far as the oracle goes along. */
static void search_ahead(const struct odb_dag *dag, const bool *suspects, const bool *closed,
                         int node, const struct odb_oracle *oracle)
{
    struct search_state tree[SEARCH_AHEAD];
    size_t n = 1;
    if (!oracle->ahead || oracle->at_hand(oracle->payload, node) ||
        !oracle->ahead(oracle->payload, node))
        return;
    tree[0] = (struct search_state){odb_xmemdup(suspects, dag->n * sizeof *suspects),
                                    odb_xmemdup(closed, dag->n * sizeof *closed), node};
    bool more = true;
    for (size_t at = 0; at < n && more; at++)
        for (int bad = 0; bad < 2 && n < SEARCH_AHEAD && more && tree[at].node >= 0; bad++) {
            tree[n] = search_after(dag, &tree[at], bad ? ODB_ANSWER_BAD : ODB_ANSWER_GOOD);
            more = tree[n].node < 0 || oracle->ahead(oracle->payload, tree[n].node);
            n++;
        }
    while (n > 0)
        search_state_dispose(&tree[--n]);
}

enum odb_status odb_search(const struct odb_dag *dag, bool *suspects,
                           const struct odb_oracle *oracle, size_t *probes, struct odb_error *err)
{
    bool *closed = odb_new_n(bool, dag->n); /* asked before, or tells nothing */
    enum odb_status status = ODB_OK;
    int node;
    *probes = 0;
    while ((node = search_next(dag, suspects, closed)) >= 0) {
        enum odb_answer answer = ODB_ANSWER_UNTESTABLE;
        search_ahead(dag, suspects, closed, node, oracle);
        closed[node] = true;
        status = oracle->ask(oracle->payload, node, &answer, err);
        if (status != ODB_OK)
            break;
        ++*probes;
        odb_search_narrow(dag, suspects, node, answer, suspects);
    }
    free(closed);
    return status;
}
