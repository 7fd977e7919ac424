/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pairs by structure: the same operator behind values that are paired, or before them.
 */
#include "twomodels/align_int.h"

#include <math.h>
#include <string.h>

int align_known_input(const struct align *al, int m)
{
    struct align_call call = align_call(&al->b->nodes[m]);
    for (int i = 0; i < call.n_in; i++)
        if (call.in[i] >= 0 && align_partner(al, call.in[i]) >= 0)
            return call.in[i];
    return ODB_NO_VALUE;
}

/* What the two nodes make is not the same: there is more in m. */
static bool align_folded_into(const struct align *al, int n, int m)
{
    const struct odb_node *x = &al->a->nodes[n], *y = &al->b->nodes[m];
    return x->n_out == 1 && y->n_out == 1 && x->out[0] >= 0 && y->out[0] >= 0 &&
           align_before_fold(al, x->out[0], y->out[0]);
}

/* The node among those that read the same as m which does the same as m, if there is one alone. */
static int align_like(const struct align *al, int m, int in, double *confidence)
{
    int list[ALIGN_CANDIDATES], rivals[ALIGN_CANDIDATES], best = ODB_NO_NODE, top = -1, ties = 0;
    int n = align_consumers(al->a, align_root(al->a, align_partner(al, in)), list, 0);
    for (int i = 0; i < n; i++) {
        struct align_fit fit = align_fit(al, list[i], m);
        if (al->taken[list[i]] || !fit.possible || !fit.yes || fit.unknown || list[i] == best ||
            align_folded_into(al, list[i], m))
            continue;
        int score = align_score(al, &fit, list[i], m);
        ties = score == top ? ties + 1 : score > top ? 0 : ties;
        best = score > top ? list[i] : best;
        top = ODB_MAX(top, score);
    }
    if (best < 0 || ties)
        return ODB_NO_NODE;
    int k = align_consumers(al->b, align_root(al->b, in), rivals, 0);
    for (int i = 0; i < k; i++) {
        if (rivals[i] == m || al->out->node[rivals[i]] >= 0)
            continue;
        struct align_fit fit = align_fit(al, best, rivals[i]);
        if (fit.possible && fit.yes && !fit.unknown &&
            align_score(al, &fit, best, rivals[i]) >= top)
            return ODB_NO_NODE;
    }
    *confidence = top >= 6 ? 0.95 : top >= 4 ? 0.85 : 0.8;
    return best;
}

/* How many of the nodes are still without one that does the same; *last is the last of them. */
static int align_left(const struct align *al, const int *list, int n, bool other, int *last)
{
    int left = 0;
    for (int i = 0; i < n; i++) {
        bool known = other ? al->out->node[list[i]] >= 0 : al->taken[list[i]];
        *last = known ? *last : list[i];
        left += !known;
    }
    return left;
}

/* Another operator stands where the original has this one: of all that read the same value they
 * alone are left, and what they make is read alike. */
static bool align_replaced(struct align *al, int m)
{
    int list[ALIGN_CANDIDATES], last_a = ODB_NO_NODE, last_b = ODB_NO_NODE;
    int in = al->out->node[m] < 0 ? align_known_input(al, m) : ODB_NO_VALUE;
    if (in < 0 || align_carries(&al->b->nodes[m]) || align_fusion(&al->b->nodes[m]))
        return false;
    int k = align_consumers(al->b, align_root(al->b, in), list, 0);
    if (align_left(al, list, k, true, &last_b) != 1 || last_b != m)
        return false;
    int n = align_consumers(al->a, align_root(al->a, align_partner(al, in)), list, 0);
    if (align_left(al, list, n, false, &last_a) != 1)
        return false;
    const struct odb_node *x = &al->a->nodes[last_a], *y = &al->b->nodes[m];
    if (!strcmp(align_call(x).op, align_call(y).op) || x->n_in != y->n_in || x->n_out != 1 ||
        y->n_out != 1 || align_fusion(x) || align_carries(x) || align_has_partner(al, y->out[0]) ||
        isinf(align_gap(al, x->out[0], y->out[0])) ||
        !align_same_readers(al, x->out[0], y->out[0]) ||
        !align_same_border(al, x->out[0], y->out[0]))
        return false;
    al->out->node[m] = last_a;
    al->taken[last_a] = true;
    return align_pair(al, x->out[0], y->out[0], ODB_PAIRED_STRUCTURE, 0.7);
}

/* A node of the other does the same as one of the original. */
static bool align_nodes(struct align *al, int n, int m, double confidence)
{
    const struct odb_node *x = &al->a->nodes[n], *y = &al->b->nodes[m];
    bool any = al->out->node[m] != n;
    al->out->node[m] = n;
    al->taken[n] = true;
    for (int o = 0; o < x->n_out && o < y->n_out; o++) {
        int u = x->out[o], w = y->out[o];
        if (u >= 0 && w >= 0 && !align_has_partner(al, w) && !isinf(align_gap(al, u, w)))
            any |= align_pair(al, u, w, ODB_PAIRED_STRUCTURE, confidence);
    }
    return any;
}

/* The node of the original that makes the partner of what m makes, where it is the same operator.
 */
static int align_maker(const struct align *al, int m)
{
    const struct odb_node *node = &al->b->nodes[m];
    int partner = node->n_out && node->out[0] >= 0 ? al->out->original[node->out[0]] : ODB_NO_VALUE;
    int n = partner < 0 ? ODB_NO_NODE : al->a->values[align_root(al->a, partner)].producer;
    return n >= 0 && !strcmp(align_call(&al->a->nodes[n]).op, align_call(node).op) ? n
                                                                                   : ODB_NO_NODE;
}

static bool align_forward(struct align *al, int m)
{
    double confidence = 1;
    int n = align_maker(al, m);
    if (al->out->node[m] >= 0 || align_carries(&al->b->nodes[m]))
        return false;
    if (n < 0 || al->taken[n]) {
        int in = align_known_input(al, m);
        n = in < 0 ? ODB_NO_NODE : align_like(al, m, in, &confidence);
    }
    return n >= 0 && align_nodes(al, n, m, confidence);
}

/* Whether two values may be made by the same operator, of the same constants. */
static bool align_akin(const struct align *al, int x, int y)
{
    int n = x < 0 ? ODB_NO_NODE : al->a->values[align_root(al->a, x)].producer;
    int m = y < 0 ? ODB_NO_NODE : al->b->values[align_root(al->b, y)].producer;
    if (n < 0 || m < 0)
        return false;
    struct align_fit fit = align_fit(al, n, m);
    return fit.possible && !fit.differ && align_same_attrs(&al->a->nodes[n], &al->b->nodes[m]);
}

/* In which order two unknown inputs of an operator that commutes belong together, where one order
 * alone is possible. */
static bool align_order(const struct align *al, const struct align_call *x,
                        const struct align_call *y, bool *swapped)
{
    bool straight = align_akin(al, x->in[0], y->in[0]) && align_akin(al, x->in[1], y->in[1]);
    bool crossed = align_akin(al, x->in[0], y->in[1]) && align_akin(al, x->in[1], y->in[0]);
    *swapped = crossed;
    return straight != crossed;
}

bool align_agree(const struct align *al, int x, int y)
{
    int n = al->a->values[align_root(al->a, x)].producer;
    int m = al->b->values[align_root(al->b, y)].producer;
    const struct odb_fusion *fusion = m < 0 ? NULL : align_fusion(&al->b->nodes[m]);
    bool fused = n >= 0 && fusion && align_holds(fusion->ends, al->a->nodes[n].op_type);
    if (isinf(align_gap(al, x, y)))
        return false;
    return fused || (n >= 0 && m >= 0 && align_fit(al, n, m).possible) ||
           align_same_readers(al, x, y);
}

/* What goes into two nodes that do the same, where that is beyond doubt: one input is not known, or
 * the order tells, or what makes them, and no constant differs. */
static bool align_inputs(struct align *al, int n, int m)
{
    struct align_call x = align_call(&al->a->nodes[n]), y = align_call(&al->b->nodes[m]);
    struct align_fit fit = align_fit(al, n, m);
    bool any = false, pair = x.n_in == 2 && y.n_in == 2;
    if (!fit.possible || fit.differ || !fit.unknown || (fit.unknown > 1 && x.n_in != y.n_in))
        return false;
    if (fit.unknown > 1 && align_commutes(x.op) && !(pair && align_order(al, &x, &y, &fit.swapped)))
        return false;
    for (int i = 0; i < x.n_in && i < y.n_in; i++) {
        int k = fit.swapped && i < 2 ? 1 - i : i;
        if (align_slot(al, x.in[i], y.in[k]) == ALIGN_UNKNOWN && align_agree(al, x.in[i], y.in[k]))
            any |= align_pair(al, x.in[i], y.in[k], ODB_PAIRED_STRUCTURE, 0.8);
    }
    return any;
}

/* What two nodes that do the same read of nodes that are constants. */
static bool align_constants(struct align *al, int n, int m)
{
    struct align_call x = align_call(&al->a->nodes[n]), y = align_call(&al->b->nodes[m]);
    bool any = false, swapped = align_fit(al, n, m).swapped;
    for (int i = 0; i < x.n_in && i < y.n_in; i++) {
        int u = x.in[i], w = y.in[swapped && i < 2 ? 1 - i : i];
        if (u < 0 || w < 0 || al->out->other[u] >= 0 || al->a->values[u].producer == ODB_NO_NODE ||
            al->b->values[w].producer == ODB_NO_NODE || !odb_constant_behind(al->a, u) ||
            align_has_partner(al, w))
            continue;
        if (align_slot(al, u, w) == ALIGN_ALIKE)
            any |= align_pair(al, u, w, ODB_PAIRED_STRUCTURE, 0.8);
    }
    return any;
}

static bool align_backward(struct align *al, int m)
{
    if (al->out->node[m] < 0) {
        for (int o = 0; o < al->b->nodes[m].n_out; o++) { /* what carries its output on may tell */
            int w = al->b->nodes[m].out[o], u = ODB_NO_VALUE, readers = 0;
            for (; w >= 0 && u < 0 && readers < ALIGN_CHAIN; readers++) {
                const struct odb_value *value = &al->b->values[w];
                const struct odb_node *next =
                    value->n_consumers == 1 ? &al->b->nodes[value->consumers[0]] : NULL;
                u = al->out->original[w];
                w = next && align_carries(next) && next->in[0] == w ? next->out[0] : ODB_NO_VALUE;
            }
            int n = u < 0 ? ODB_NO_NODE : al->a->values[align_root(al->a, u)].producer;
            if (n >= 0 && !al->taken[n] && align_fit(al, n, m).possible) {
                al->out->node[m] = n;
                al->taken[n] = true;
            }
        }
    }
    int n = al->out->node[m];
    bool constants = n >= 0 && align_constants(al, n, m);
    return (n >= 0 && align_inputs(al, n, m)) || constants;
}

void align_structure(struct align *al)
{
    for (bool any = true; any;) {
        any = false;
        for (size_t m = 0; m < al->b->n_nodes; m++)
            any |= align_forward(al, (int)m) || align_fused(al, (int)m);
        for (size_t m = al->b->n_nodes; m-- > 0;)
            any |= align_backward(al, (int)m) || align_fused_input(al, (int)m);
        for (size_t m = 0; m < al->b->n_nodes && !any; m++)
            any = align_replaced(al, (int)m);
    }
}
