/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A question is worth what its answer tells for what it costs. Three families of cuts are looked
 * at: the ancestors of one node, and the beginnings of two topological orders, by index and depth
 * first. The nodes that end a beginning are its frontier; where the graph is wide there are many,
 * and where one node dominates all that follows there is one, and the cut is cheap.
 *
 * A beginning with half of the suspects always exists, whatever the shape of the graph. So every
 * question can leave at most half of them, and cheaper ones are taken only while the loads that
 * were promised allow for it.
 */
#include "search/cut.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "search/search.h"

#define CUT_WORK 200000 /* edges looked at for single nodes, about */
#define CUT_LEAST 16    /* single nodes looked at, if there are as many */
#define CUT_READ (1. / 16)

/* --- what nodes cost -------------------------------------------------------------------------- */

static double cut_load(const struct cut_plan *plan)
{
    return plan->options->load > 0 ? plan->options->load : 1;
}

static double cut_build(const struct cut_plan *plan, int node)
{
    return plan->options->build ? plan->options->build[node]
                                : cut_load(plan) / (double)plan->dag->n;
}

static double cut_read(const struct cut_plan *plan, int node)
{
    return plan->options->read ? plan->options->read[node] : cut_load(plan) * CUT_READ;
}

static double cut_suspicion(const struct cut_plan *plan, int node)
{
    return plan->options->suspicion ? plan->options->suspicion[node] : 1;
}

/* --- orders ----------------------------------------------------------------------------------- */

/* Depth first, from the last node: what a node needs stands right before it, so that beginnings
 * have few open ends. */
static void cut_order(const struct odb_dag *dag, int *order)
{
    struct {
        int node;
        size_t next;
    } *stack = odb_xcalloc(dag->n + 1, sizeof *stack);
    bool *seen = odb_new_n(bool, dag->n + 1);
    size_t n = 0;
    for (size_t root = dag->n; root-- > 0;) {
        size_t depth = 0;
        if (!seen[root]) {
            seen[root] = true;
            stack[depth].node = (int)root;
            stack[depth++].next = dag->start[root];
        }
        while (depth > 0) {
            int node = stack[depth - 1].node;
            if (stack[depth - 1].next == dag->start[node + 1]) {
                order[n++] = node;
                depth--;
                continue;
            }
            int parent = dag->parents[stack[depth - 1].next++];
            if (seen[parent])
                continue;
            seen[parent] = true;
            stack[depth].node = parent;
            stack[depth++].next = dag->start[parent];
        }
    }
    free(seen);
    free(stack);
}

void cut_plan_init(struct cut_plan *plan, const struct odb_dag *dag,
                   const struct odb_search_options *options)
{
    *plan = (struct cut_plan){dag, options, odb_new_n(int, dag->n + 1)};
    cut_order(dag, plan->order);
}

void cut_plan_dispose(struct cut_plan *plan)
{
    free(plan->order);
}

/* --- scores ----------------------------------------------------------------------------------- */

/* A choice among cuts, and the best by now. */
struct cut_choice {
    const struct cut_plan *plan;
    const bool *suspects;
    const unsigned char *marks;
    size_t count, loads; /* suspects, and loads that there may be */
    double weight;       /* of all suspects */
    bool fits;           /* the best keeps within the loads */
    size_t worst;        /* suspects that it may leave */
    double score;
    const int *order; /* the best is a beginning of this, so long; NULL: a single node */
    size_t length;
    int node; /* -1: there is no best */
};

/* A set of nodes that holds the ancestors of its members. */
struct cut_set {
    unsigned *in; /* owned; [n] round when it is a member */
    unsigned round;
    bool *front; /* owned; [n] chosen, and nothing in the set comes after it */
    int *stack;  /* owned */
    size_t n_front, inside;
    double weight, build, read;
};

static struct cut_set cut_set_new(const struct odb_dag *dag)
{
    return (struct cut_set){.in = odb_new_n(unsigned, dag->n + 1),
                            .front = odb_new_n(bool, dag->n + 1),
                            .stack = odb_new_n(int, dag->n + 1)};
}

static void cut_set_dispose(struct cut_set *set)
{
    free(set->in);
    free(set->front);
    free(set->stack);
}

static void cut_set_clear(struct cut_set *set, const struct odb_dag *dag)
{
    if (set->n_front)
        memset(set->front, 0, dag->n * sizeof *set->front);
    set->round++;
    set->n_front = set->inside = 0;
    set->weight = set->build = set->read = 0;
}

/* Adds a node that is not in the set yet, to be read, with its ancestors. */
static void cut_set_add(struct cut_set *set, const struct cut_choice *c, int node)
{
    const struct odb_dag *dag = c->plan->dag;
    size_t depth = 0;
    set->stack[depth++] = node;
    set->in[node] = set->round;
    while (depth > 0) {
        int at = set->stack[--depth];
        set->build += cut_build(c->plan, at);
        if (c->suspects[at]) {
            set->inside++;
            set->weight += cut_suspicion(c->plan, at);
        }
        for (size_t p = dag->start[at]; p < dag->start[at + 1]; p++) {
            int parent = dag->parents[p];
            if (set->front[parent]) {
                set->front[parent] = false;
                set->n_front--;
                set->read -= cut_read(c->plan, parent);
            }
            if (set->in[parent] != set->round) {
                set->in[parent] = set->round;
                set->stack[depth++] = parent;
            }
        }
    }
    set->front[node] = true;
    set->n_front++;
    set->read += cut_read(c->plan, node);
}

static double cut_bits(double p)
{
    return p <= 0 || p >= 1 ? 0 : -p * log2(p) - (1 - p) * log2(1 - p);
}

/* Takes the set for the best, if it is. */
static bool cut_weigh(struct cut_choice *c, const struct cut_set *set)
{
    size_t worst = ODB_MAX(set->inside, c->count - set->inside);
    if (worst == c->count) /* it tells nothing */
        return false;
    bool fits = odb_search_loads(worst) < c->loads;
    double score = cut_bits(set->weight / c->weight) / (cut_load(c->plan) + set->build + set->read);
    bool better = c->node < 0       ? true
                  : fits != c->fits ? fits
                  : fits            ? score > c->score * (1 + 1e-9)
                                    : worst < c->worst;
    if (!better)
        return false;
    c->fits = fits;
    c->worst = worst;
    c->score = score;
    return true;
}

/* --- the families ----------------------------------------------------------------------------- */

static bool cut_is_open(const struct cut_choice *c, int node, unsigned but)
{
    return c->suspects[node] && !(c->marks[node] & but);
}

/* The ancestors of one node, and only that read. */
static void cut_set_single(struct cut_set *set, const struct cut_choice *c, int node)
{
    cut_set_clear(set, c->plan->dag);
    cut_set_add(set, c, node);
    set->front[node] = false; /* the next begins with less to clear */
    set->n_front = 0;
}

/* Some of the suspects that may be asked, each alone: every step-th from first to end. */
static void cut_try_some(struct cut_choice *c, struct cut_set *set, size_t first, size_t end,
                         size_t step)
{
    size_t rank = 0;
    for (size_t i = 0; i < c->plan->dag->n && rank < end; i++) {
        if (!cut_is_open(c, (int)i, CUT_CLOSED))
            continue;
        if (rank >= first && (rank - first) % step == 0) {
            cut_set_single(set, c, (int)i);
            if (cut_weigh(c, set)) {
                c->node = (int)i;
                c->length = rank;
            }
        }
        rank++;
    }
}

/* All of them, or, where they are many, some, and then some more around the best. */
static void cut_try_singles(struct cut_choice *c, struct cut_set *set)
{
    const struct odb_dag *dag = c->plan->dag;
    size_t n = 0, most = ODB_MAX((size_t)CUT_LEAST, CUT_WORK / (dag->n + dag->start[dag->n] + 1));
    for (size_t i = 0; i < dag->n; i++)
        n += cut_is_open(c, (int)i, CUT_CLOSED);
    size_t step = n / most + 1;
    cut_try_some(c, set, step / 2, n, step);
    if (step > 1 && c->node >= 0)
        cut_try_some(c, set, c->length > step ? c->length - step : 0, c->length + step,
                     2 * step / CUT_LEAST + 1);
}

/* Puts the suspects of an order into the set, one by one: so many of them, or all. */
static void cut_try_order(struct cut_choice *c, struct cut_set *set, const int *order,
                          size_t length, bool weigh)
{
    size_t n = 0;
    cut_set_clear(set, c->plan->dag);
    for (size_t i = 0; i < c->plan->dag->n && n < length; i++) {
        if (!cut_is_open(c, order[i], CUT_CLOSED | CUT_APART))
            continue;
        cut_set_add(set, c, order[i]);
        n++;
        if (weigh && cut_weigh(c, set)) {
            c->node = order[i];
            c->order = order;
            c->length = n;
        }
    }
}

/* The frontier of the best. */
static size_t cut_take(struct cut_choice *c, struct cut_set *set, int **nodes)
{
    size_t n = 0;
    if (c->node < 0)
        return 0;
    if (!c->order) {
        *nodes = odb_new_n(int, 1);
        (*nodes)[0] = c->node;
        return 1;
    }
    cut_try_order(c, set, c->order, c->length, false);
    *nodes = odb_new_n(int, set->n_front);
    for (size_t i = 0; i < c->plan->dag->n; i++)
        if (set->front[i])
            (*nodes)[n++] = (int)i;
    return n;
}

static struct cut_choice cut_choice_new(const struct cut_plan *plan, const bool *suspects,
                                        const unsigned char *marks, size_t loads)
{
    struct cut_choice c = {
        .plan = plan, .suspects = suspects, .marks = marks, .loads = loads, .node = -1};
    for (size_t i = 0; i < plan->dag->n; i++)
        if (suspects[i]) {
            c.count++;
            c.weight += cut_suspicion(plan, (int)i);
        }
    return c;
}

size_t cut_choose(const struct cut_plan *plan, const bool *suspects, const unsigned char *marks,
                  size_t loads, int **nodes)
{
    struct cut_choice c = cut_choice_new(plan, suspects, marks, loads);
    *nodes = NULL;
    if (c.count <= 1)
        return 0;
    struct cut_set set = cut_set_new(plan->dag);
    int *by_index = odb_new_n(int, plan->dag->n);
    for (size_t i = 0; i < plan->dag->n; i++)
        by_index[i] = (int)i;
    cut_try_singles(&c, &set);
    cut_try_order(&c, &set, plan->order, plan->dag->n, true);
    cut_try_order(&c, &set, by_index, plan->dag->n, true);
    size_t n = cut_take(&c, &set, nodes);
    free(by_index);
    cut_set_dispose(&set);
    return n;
}

int cut_choose_beside(const struct cut_plan *plan, const bool *suspects, const unsigned char *marks)
{
    struct cut_choice c = cut_choice_new(plan, suspects, marks, 0);
    struct cut_set set = cut_set_new(plan->dag);
    for (size_t i = 0; i < plan->dag->n; i++) {
        if (suspects[i] || (marks[i] & CUT_CLOSED))
            continue;
        cut_set_single(&set, &c, (int)i);
        if (set.inside && cut_weigh(&c, &set))
            c.node = (int)i;
    }
    cut_set_dispose(&set);
    return c.node;
}
