/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every set that is kept was run and lost more than is allowed. A set that cannot be run is none.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "score/least/least_int.h"

static size_t nodes_count(const struct leasting *l)
{
    return l->scorer.model->graph->n_nodes;
}

static bool *nodes_none(const struct leasting *l)
{
    return odb_new_n(bool, nodes_count(l) + 1);
}

static bool nodes_enough(struct leasting *l)
{
    return l->out->tries >= ODB_LEAST_TRIES;
}

/* Tries a set, which becomes the smallest where it fails. */
static enum odb_status nodes_try(struct leasting *l, const bool *set, bool *fails, double *loss,
                                 struct odb_error *err)
{
    ODB_TRY(least_try(l, set, loss, NULL, NULL, err));
    *fails = least_fails(l, *loss);
    if (!*fails)
        return ODB_OK;
    memcpy(l->set, set, nodes_count(l) * sizeof *set);
    l->out->loss = *loss;
    return ODB_OK;
}

/* --- what is accused -------------------------------------------------------------------------- */

static bool nodes_known(const struct leasting *l, int node)
{
    for (size_t i = 0; i < l->out->nodes.n; i++)
        if (l->out->nodes.items[i].node == node)
            return true;
    return !l->needed[node];
}

/* What each costs alone that a search has accused since. */
static enum odb_status nodes_alone(struct leasting *l, struct odb_error *err)
{
    char text[1000];
    for (size_t i = 0; i < l->scorer.accused.n && !nodes_enough(l); i++) {
        int node = l->scorer.accused.items[i];
        struct odb_error why = ODB_ERROR_INIT;
        struct odb_least_node one = {.node = node, .without = NAN};
        if (nodes_known(l, node))
            continue;
        bool *set = nodes_none(l);
        set[node] = true;
        enum odb_status status = least_try(l, set, &one.alone, NULL, &why, err);
        free(set);
        ODB_TRY(status);
        if (why.code != ODB_OK)
            one.why = odb_xstrdup(odb_error_text(&why, text, sizeof text));
        odb_push(&l->out->nodes, one);
    }
    return ODB_OK;
}

static int nodes_dearest(const void *a, const void *b)
{
    const struct odb_least_node *x = a, *y = b;
    double p = isnan(x->alone) ? -INFINITY : x->alone, q = isnan(y->alone) ? -INFINITY : y->alone;
    if (x->of_set != y->of_set)
        return y->of_set - x->of_set;
    return p != q ? (p < q) - (p > q) : x->node - y->node;
}

static void nodes_sort(struct leasting *l)
{
    if (l->out->nodes.n)
        qsort(l->out->nodes.items, l->out->nodes.n, sizeof *l->out->nodes.items, nodes_dearest);
}

/* The dearest, and the next, until they cost it together. */
static enum odb_status nodes_gather(struct leasting *l, bool *fails, struct odb_error *err)
{
    bool *set = nodes_none(l);
    enum odb_status status = ODB_OK;
    double loss;
    nodes_sort(l);
    for (size_t i = 0; i < l->out->nodes.n && status == ODB_OK && !*fails && !nodes_enough(l);
         i++) {
        set[l->out->nodes.items[i].node] = true;
        status = nodes_try(l, set, fails, &loss, err);
    }
    free(set);
    return status;
}

static enum odb_status nodes_accused(struct leasting *l, bool *fails, struct odb_error *err)
{
    bool any = true;
    *fails = false;
    while (any && !*fails) {
        size_t before = l->scorer.accused.n;
        ODB_TRY(score_search(&l->scorer, &any, err));
        if (l->scorer.accused.n == before)
            continue;
        ODB_TRY(nodes_alone(l, err));
        ODB_TRY(nodes_gather(l, fails, err));
    }
    return ODB_OK;
}

/* --- all nodes -------------------------------------------------------------------------------- */

static size_t nodes_list(const struct leasting *l, int *list)
{
    size_t n = 0;
    for (size_t i = 0; i < nodes_count(l); i++)
        if (l->set[i])
            list[n++] = (int)i;
    return n;
}

/* The p-th of so many parts of the list, or all but it. */
static enum odb_status nodes_part(struct leasting *l, const int *list, size_t n, size_t p,
                                  size_t parts, bool but, bool *fails, struct odb_error *err)
{
    bool *set = nodes_none(l);
    double loss;
    for (size_t i = 0; i < n; i++)
        set[list[i]] = (i >= p * n / parts && i < (p + 1) * n / parts) != but;
    enum odb_status status = nodes_try(l, set, fails, &loss, err);
    free(set);
    return status;
}

/* Parts of what is left, then all but one of them; when none fails, smaller parts. */
static enum odb_status nodes_divide(struct leasting *l, struct odb_error *err)
{
    int *list = odb_new_n(int, nodes_count(l) + 1);
    size_t n = nodes_list(l, list), parts = 2;
    enum odb_status status = ODB_OK;
    while (n > 1 && parts <= n && status == ODB_OK && !nodes_enough(l)) {
        bool fails = false, but = false;
        for (int all_but = 0; all_but < 2 && !fails && status == ODB_OK; all_but++) {
            but = all_but;
            for (size_t p = 0; p < parts && !fails && status == ODB_OK && !nodes_enough(l); p++)
                status = nodes_part(l, list, n, p, parts, but, &fails, err);
        }
        parts = !fails             ? (parts == n ? n + 1 : ODB_MIN(2 * parts, n))
                : but && parts > 2 ? parts - 1
                                   : 2;
        n = nodes_list(l, list);
    }
    free(list);
    return status;
}

/* --- leaving out ------------------------------------------------------------------------------ */

/* The set's nodes as rows; those that no search accused are added. */
static void nodes_rows(struct leasting *l)
{
    for (size_t n = 0; n < nodes_count(l); n++)
        if (l->set[n] && !nodes_known(l, (int)n))
            odb_push(&l->out->nodes,
                     (struct odb_least_node){.node = (int)n, .alone = NAN, .without = NAN});
    for (size_t i = 0; i < l->out->nodes.n; i++)
        l->out->nodes.items[i].of_set = l->set[l->out->nodes.items[i].node];
    nodes_sort(l);
}

/* Those that cost least alone are tried first; again after each that goes, as others may go then.
 */
static enum odb_status nodes_leave_out(struct leasting *l, struct odb_error *err)
{
    bool *set = nodes_none(l), again = true;
    enum odb_status status = ODB_OK;
    while (again && status == ODB_OK && !nodes_enough(l)) {
        again = false;
        l->out->minimal = true;
        nodes_rows(l);
        for (size_t i = l->out->nodes.n; i-- > 0 && status == ODB_OK && !again;) {
            struct odb_least_node *one = &l->out->nodes.items[i];
            if (!one->of_set)
                continue;
            if (nodes_enough(l)) {
                l->out->minimal = false;
                break;
            }
            memcpy(set, l->set, nodes_count(l) * sizeof *set);
            set[one->node] = false;
            status = nodes_try(l, set, &again, &one->without, err);
        }
    }
    l->out->minimal = l->out->minimal && !again && status == ODB_OK;
    free(set);
    return status;
}

enum odb_status least_nodes(struct leasting *l, struct odb_error *err)
{
    bool fails;
    enum odb_status status = nodes_accused(l, &fails, err);
    l->out->hunted = status == ODB_OK && !fails;
    if (l->out->hunted)
        status = nodes_divide(l, err);
    if (status == ODB_OK)
        status = nodes_leave_out(l, err);
    if (nodes_enough(l))
        least_note(l, odb_xasprintf("%d sets were tried, and no more are: fewer nodes may do",
                                    ODB_LEAST_TRIES));
    nodes_rows(l);
    return status;
}
