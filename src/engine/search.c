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

enum odb_status odb_search(const struct odb_dag *dag, bool *suspects, odb_oracle_fn oracle,
                           void *payload, size_t *probes, struct odb_error *err)
{
    bool *closed = odb_new_n(bool, dag->n); /* asked before, or tells nothing */
    enum odb_status status = ODB_OK;
    *probes = 0;
    for (;;) {
        size_t count = 0;
        for (size_t i = 0; i < dag->n; i++)
            count += suspects[i];
        if (count <= 1)
            break;
        int node = count > SEARCH_EXACT ? search_middle(dag, suspects, closed, count)
                                        : search_best(dag, suspects, closed, count);
        if (node < 0)
            break;
        enum odb_answer answer = ODB_ANSWER_UNTESTABLE;
        closed[node] = true;
        status = oracle(payload, node, &answer, err);
        if (status != ODB_OK)
            break;
        ++*probes;
        odb_search_narrow(dag, suspects, node, answer, suspects);
    }
    free(closed);
    return status;
}
