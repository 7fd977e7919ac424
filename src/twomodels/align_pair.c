/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two values become a pair, unless something speaks against it.
 */
#include "twomodels/align_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double align_gap(const struct align *al, int u, int w)
{
    return al->s->gap ? al->s->gap(al->s->payload, u, w) : NAN;
}

bool align_near(const struct align *al, double gap)
{
    return !isnan(gap) && gap <= al->s->near;
}

bool align_equals(const struct align *al, int u, int w)
{
    return (!al->s->tells || al->s->tells(al->s->payload, u)) &&
           align_near(al, align_gap(al, u, w));
}

/* Whether w is not what the original has for u, but what it has for another value: then it is
 * hardly u with an error. */
static bool align_is_another(const struct align *al, int u, int w)
{
    double gap = align_gap(al, u, w);
    if (isnan(gap) || align_near(al, gap))
        return false;
    for (size_t v = 0; v < al->a->n_values; v++)
        if ((int)v != u && al->a->values[v].producer != ODB_NO_NODE &&
            align_near(al, align_gap(al, (int)v, w)))
            return true;
    return false;
}

bool align_free(const struct align *al, int u, int w)
{
    return al->out->other[u] == ODB_NO_VALUE && al->out->original[w] == ODB_NO_VALUE &&
           !al->opaque[w];
}

/* What is quantised in the other is what the original has behind the nodes that quantise it, where
 * it has such. */
static int align_quantised_end(const struct odb_graph *g, int u)
{
    int end = u;
    while (g->values[u].n_consumers == 1 && !g->values[u].is_output) {
        const struct odb_node *node = &g->nodes[g->values[u].consumers[0]];
        bool back = !strcmp(node->op_type, "DequantizeLinear");
        if ((!back && strcmp(node->op_type, "QuantizeLinear") != 0) || node->in[0] != u ||
            node->out[0] < 0)
            break;
        u = node->out[0];
        end = back ? u : end;
    }
    return end;
}

static bool align_is_quantised_next(const struct odb_graph *g, int u)
{
    bool quantised = false;
    for (size_t c = 0; c < g->values[u].n_consumers; c++)
        quantised |= !strcmp(g->nodes[g->values[u].consumers[c]].op_type, "QuantizeLinear");
    return quantised;
}

bool align_pair(struct align *al, int u, int w, enum odb_paired how, double confidence)
{
    int scale, zero;
    if (u >= 0 && w >= 0 && how != ODB_PAIRED_MAP && how != ODB_PAIRED_PLACE &&
        odb_quantised_by(al->b, w, &scale, &zero)) {
        u = align_quantised_end(al->a, u);
        if (align_is_quantised_next(al->a, u)) /* to codes that stay codes: this is before that */
            return false;
    }
    if (u < 0 || w < 0 || !align_free(al, u, w))
        return false;
    if (how != ODB_PAIRED_MAP && how != ODB_PAIRED_PLACE && align_is_another(al, u, w))
        return false;
    al->out->other[u] = w;
    al->out->original[w] = u;
    al->out->how[u] = how;
    al->out->confidence[u] = align_near(al, align_gap(al, u, w)) ? 1 : confidence;
    al->stop_a[u] = al->stop_b[w] = true;
    return true;
}

int align_partner(const struct align *al, int w)
{
    for (;;) {
        const struct odb_node *carrier;
        if (al->out->original[w] >= 0)
            return al->out->original[w];
        if (!(carrier = align_carrier(al->b, w)))
            return ODB_NO_VALUE;
        w = carrier->in[0];
    }
}

bool align_has_partner(const struct align *al, int w)
{
    if (align_partner(al, w) >= 0)
        return true;
    for (size_t c = 0; c < al->b->values[w].n_consumers; c++) {
        const struct odb_node *node = &al->b->nodes[al->b->values[w].consumers[c]];
        if (align_carries(node) && node->in[0] == w && node->out[0] >= 0 &&
            al->out->original[node->out[0]] >= 0)
            return true;
    }
    return false;
}

bool align_same_readers(const struct align *al, int u, int w)
{
    char *a = align_signature(al->a, u), *b = align_signature(al->b, w);
    bool same = !strcmp(a, b);
    free(a);
    free(b);
    return same;
}

bool align_same_border(struct align *al, int u, int w)
{
    size_t n = odb_region(al->a, u, al->stop_a, al->marks_a, al->border_a);
    size_t k = odb_region(al->b, w, al->stop_b, al->marks_b, al->border_b);
    size_t met = 0;
    for (size_t i = 0; i < k; i++) {
        int partner = al->out->original[al->border_b[i]];
        bool there = false;
        for (size_t j = 0; j < n && !there; j++)
            there = al->border_a[j] == partner;
        met += there;
    }
    return n && n == k && met == n;
}
