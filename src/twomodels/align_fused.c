/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One node in one model for several of the other: what an optimiser has fused ends where its
 * pattern does.
 */
#include "twomodels/align_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define ALIGN_REGION 96 /* nodes of a pattern that is fused */

const struct odb_fusion *align_fusion(const struct odb_node *node)
{
    const struct odb_fusion *fusion = &odb_facts_of(NULL, align_call(node).op)->fusion;
    return fusion->ends ? fusion : NULL;
}

bool align_foldable(const struct align *al, int u, int w)
{
    int m = al->b->values[align_root(al->b, w)].producer;
    const struct odb_fusion *fusion = m < 0 ? NULL : align_fusion(&al->b->nodes[m]);
    if (!fusion || align_next(al->a, u) < 0)
        return false;
    const struct odb_node *reader = &al->a->nodes[al->a->values[u].consumers[0]];
    return align_holds(fusion->ends, reader->op_type) &&
           strcmp(align_head(reader->op_type), align_head(align_call(&al->b->nodes[m]).op)) != 0;
}

bool align_before_fold(const struct align *al, int u, int w)
{
    int n = al->a->values[u].producer, m = al->b->values[align_root(al->b, w)].producer;
    if (n < 0 || !align_foldable(al, u, w))
        return false;
    struct align_fit fit = align_fit(al, n, m);
    if (fit.possible && !fit.differ)
        return false; /* the same weights: nothing has been folded into them */
    int next = align_next(al->b, w);
    return next < 0 || strcmp(al->a->nodes[al->a->values[u].consumers[0]].op_type,
                              al->b->nodes[al->b->values[next].producer].op_type) != 0;
}

/* The node that a fused one begins with, behind the partner of what it makes. */
static int align_begin_of(const struct align *al, int m)
{
    const struct odb_node *node = &al->b->nodes[m];
    const struct odb_fusion *fusion = align_fusion(node);
    int u = node->n_out && node->out[0] >= 0 ? al->out->original[node->out[0]] : ODB_NO_VALUE;
    for (int depth = 0; fusion && u >= 0 && depth < ALIGN_CHAIN; depth++) {
        int n = al->a->values[align_root(al->a, u)].producer;
        if (n < 0 || al->taken[n])
            break;
        const struct odb_node *at = &al->a->nodes[n];
        if (!strcmp(align_head(align_call(at).op), align_head(align_call(node).op)))
            return depth ? n : ODB_NO_NODE;
        if (!align_holds(fusion->ends, at->op_type))
            break;
        u = ODB_NO_VALUE; /* the one input that is computed */
        for (int i = 0; i < at->n_in; i++)
            if (at->in[i] >= 0 && !odb_constant_behind(al->a, at->in[i]))
                u = u < 0 ? at->in[i] : ODB_NO_VALUE;
    }
    return ODB_NO_NODE;
}

bool align_fused_input(struct align *al, int m)
{
    int n = align_begin_of(al, m);
    if (n < 0)
        return false;
    struct align_call x = align_call(&al->a->nodes[n]), y = align_call(&al->b->nodes[m]);
    return x.n_in > 1 && y.n_in > 1 && align_slot(al, x.in[1], y.in[1]) == ALIGN_ALIKE &&
           align_slot(al, x.in[0], y.in[0]) == ALIGN_UNKNOWN && align_agree(al, x.in[0], y.in[0]) &&
           align_pair(al, x.in[0], y.in[0], ODB_PAIRED_STRUCTURE, 0.8);
}

/* Whether the nodes that make u of m's partners are a pattern that may have become m, and nothing
 * within is read elsewhere. */
static bool align_pattern(struct align *al, const struct odb_fusion *fusion, int u, int m)
{
    int w = al->b->nodes[m].out[0];
    if (!align_same_border(al, u, w))
        return false;
    for (size_t n = 0; n < al->a->n_nodes; n++) {
        const struct odb_node *node = &al->a->nodes[n];
        if (!al->marks_a[n] || odb_node_is_constant(node))
            continue;
        if (!align_carries(node) && !align_holds(fusion->holds, node->op_type))
            return false;
        for (int o = 0; o < node->n_out; o++) {
            if (node->out[o] < 0 || node->out[o] == u)
                continue;
            const struct odb_value *value = &al->a->values[node->out[o]];
            for (size_t c = 0; c < value->n_consumers; c++)
                if (!al->marks_a[value->consumers[c]])
                    return false;
            if (value->is_output)
                return false;
        }
    }
    return align_same_readers(al, u, w);
}

/* Nodes behind a value that a pattern may hold, breadth first. */
static size_t align_reach(const struct align *al, const struct odb_fusion *fusion, int from,
                          int *list)
{
    size_t n = 0;
    bool *met = odb_new_n(bool, al->a->n_nodes + 1);
    for (size_t at = 0; at <= n && n < ALIGN_REGION; at++) {
        int v = at ? al->a->nodes[list[at - 1]].out[0] : from;
        for (size_t c = 0; v >= 0 && c < al->a->values[v].n_consumers && n < ALIGN_REGION; c++) {
            int reader = al->a->values[v].consumers[c];
            const struct odb_node *node = &al->a->nodes[reader];
            if (met[reader] || node->n_out < 1 ||
                !(align_carries(node) || align_holds(fusion->holds, node->op_type)))
                continue;
            met[reader] = true;
            list[n++] = reader;
        }
    }
    free(met);
    return n;
}

bool align_fused(struct align *al, int m)
{
    const struct odb_node *node = &al->b->nodes[m];
    const struct odb_fusion *fusion = align_fusion(node);
    int list[ALIGN_REGION], found = ODB_NO_VALUE, equal = ODB_NO_VALUE, n_found = 0, n_equal = 0;
    int in = fusion ? align_known_input(al, m) : ODB_NO_VALUE;
    if (in < 0 || al->out->node[m] >= 0 || node->n_out < 1 || node->out[0] < 0 ||
        align_has_partner(al, node->out[0]) || al->opaque[node->out[0]])
        return false;
    size_t n = align_reach(al, fusion, align_root(al->a, align_partner(al, in)), list);
    for (size_t i = 0; i < n; i++) {
        int u = al->a->nodes[list[i]].out[0];
        if (u < 0 || al->out->other[u] >= 0 ||
            !align_holds(fusion->ends, al->a->nodes[list[i]].op_type))
            continue;
        double gap = align_gap(al, u, node->out[0]);
        if (isinf(gap) || !align_pattern(al, fusion, u, m))
            continue;
        found = u;
        n_found++;
        if (align_near(al, gap)) {
            equal = u;
            n_equal++;
        }
    }
    int u = n_equal == 1 ? equal : n_found == 1 ? found : ODB_NO_VALUE;
    return align_pair(al, u, node->out[0], ODB_PAIRED_FUSED, 0.85);
}
