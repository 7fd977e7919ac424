/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every set that is kept was run and lost more than is allowed. A set that cannot be run is none.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "score/least/least_int.h"
#include "search/ddmin.h"

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

/* --- leaving out ------------------------------------------------------------------------------ */

struct leaving {
    struct leasting *l;
    int *list;       /* owned; [n] nodes of the set: what is likeliest to go stands at the end */
    double *without; /* owned; [n_nodes] what the others cost without it; NAN: not known */
    size_t n;
};

static enum odb_status leaving_ask(void *payload, bool *keep, enum odb_answer *answer,
                                   struct odb_error *err)
{
    struct leaving *v = payload;
    size_t gone = 0;
    int last = 0;
    bool fails;
    double loss;
    if (nodes_enough(v->l))
        return odb_fail(err, ODB_SKIPPED, "no more sets are tried");
    bool *set = nodes_none(v->l);
    for (size_t i = 0; i < v->n; i++) {
        set[v->list[i]] = keep[i];
        if (v->l->set[v->list[i]] && !keep[i]) {
            last = v->list[i];
            gone++;
        }
    }
    enum odb_status status = nodes_try(v->l, set, &fails, &loss, err);
    if (status == ODB_OK && gone == 1)
        v->without[last] = loss;
    *answer = status == ODB_OK && fails ? ODB_ANSWER_BAD : ODB_ANSWER_GOOD;
    free(set);
    return status;
}

/* Nodes in the model's order where nothing is known of them; else what costs least alone last. */
static void leaving_list(struct leaving *v)
{
    const struct leasting *l = v->l;
    if (l->out->hunted) {
        for (size_t i = 0; i < nodes_count(l); i++)
            if (l->set[i])
                v->list[v->n++] = (int)i;
        return;
    }
    for (size_t i = 0; i < l->out->nodes.n; i++) /* as nodes_gather sorted them */
        if (l->set[l->out->nodes.items[i].node])
            v->list[v->n++] = l->out->nodes.items[i].node;
}

/* The set's nodes as rows; those that no search accused are added. */
static void nodes_rows(struct leasting *l, const double *without)
{
    for (size_t n = 0; n < nodes_count(l); n++)
        if (l->set[n] && !nodes_known(l, (int)n))
            odb_push(&l->out->nodes, (struct odb_least_node){.node = (int)n, .alone = NAN});
    for (size_t i = 0; i < l->out->nodes.n; i++) {
        struct odb_least_node *one = &l->out->nodes.items[i];
        one->of_set = l->set[one->node];
        one->without = without[one->node];
    }
    nodes_sort(l);
}

static enum odb_status nodes_leave_out(struct leasting *l, struct odb_error *err)
{
    struct leaving v = {.l = l,
                        .list = odb_new_n(int, nodes_count(l) + 1),
                        .without = odb_new_n(double, nodes_count(l) + 1)};
    struct odb_error enough = ODB_ERROR_INIT;
    bool *keep = odb_new_n(bool, nodes_count(l) + 1);
    for (size_t i = 0; i < nodes_count(l); i++) {
        v.without[i] = NAN;
        keep[i] = true;
    }
    leaving_list(&v);
    enum odb_status status =
        odb_ddmin(keep, v.n, &(struct odb_ddmin){.ask = leaving_ask, .payload = &v}, &enough);
    l->out->minimal = status == ODB_OK;
    if (status == ODB_SKIPPED)
        status = ODB_OK;
    else if (status != ODB_OK)
        *err = enough;
    nodes_rows(l, v.without);
    free(keep);
    free(v.without);
    free(v.list);
    return status;
}

enum odb_status least_nodes(struct leasting *l, struct odb_error *err)
{
    bool fails = false;
    enum odb_status status = nodes_accused(l, &fails, err);
    l->out->hunted = status == ODB_OK && !fails;
    if (status == ODB_OK)
        status = nodes_leave_out(l, err);
    if (nodes_enough(l))
        least_note(l, odb_xasprintf("%d sets were tried, and no more are: fewer nodes may do",
                                    ODB_LEAST_TRIES));
    return status;
}
