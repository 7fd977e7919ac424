/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nodes that only carry a value on (Identity, Cast to a float type, QuantizeLinear, …) are looked
 * through: the value before them and the one behind them are of one class, and a class has one
 * partner. Quantised operators are read as the operators that they stand for.
 *
 * Names come first, in the order of the other model, so that what stands before a value has its
 * partners already and can speak for or against it. Then whatever both models have alike finds its
 * partner by value, and what is left by structure, forwards from pairs and backwards, round by
 * round as long as there is something new.
 */
#include "twomodels/align.h"

#include "twomodels/align_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "twomodels/blocked.h"

#define ALIGN_RIVAL 10 /* by value: the next best is farther than this times the best */

/* --- by map and by place ---------------------------------------------------------------------- */

static void align_map(struct align *al)
{
    for (size_t u = 0; u < al->a->n_values && al->s->mapped; u++) {
        const char *name = al->a->values[u].name;
        char *mapped = *name ? al->s->mapped(al->s->payload, name) : NULL;
        size_t index;
        if (mapped && !odb_map_get(al->b->by_name, mapped, &index) && !al->out->n_unknown++)
            al->out->unknown = name;
        else if (mapped)
            align_pair(al, (int)u, (int)index, ODB_PAIRED_MAP, 1);
        free(mapped);
    }
}

/* Inputs or outputs: by name, and the rest in order where as many are left. */
static void align_places(struct align *al, const int *us, size_t n, const int *ws, size_t k)
{
    size_t left_a = 0, left_b = 0, index;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < n; j++)
            if (odb_map_get(al->a->by_name, al->b->values[ws[i]].name, &index) &&
                (int)index == us[j])
                align_pair(al, us[j], ws[i], ODB_PAIRED_PLACE, 1);
    for (size_t j = 0; j < n; j++)
        left_a += al->out->other[us[j]] < 0;
    for (size_t i = 0; i < k; i++)
        left_b += al->out->original[ws[i]] < 0;
    for (size_t i = 0, j = 0; left_a == left_b && i < k && j < n; i++, j++) {
        while (i < k && al->out->original[ws[i]] >= 0)
            i++;
        while (j < n && al->out->other[us[j]] >= 0)
            j++;
        if (i < k && j < n)
            align_pair(al, us[j], ws[i], ODB_PAIRED_PLACE, left_a == 1 ? 0.95 : 0.9);
    }
}

static void align_borders(struct align *al)
{
    int *us = odb_new_n(int, al->a->n_inputs + 1), *ws = odb_new_n(int, al->b->n_inputs + 1);
    size_t n = odb_graph_feeds(al->a, us), k = odb_graph_feeds(al->b, ws);
    align_places(al, us, n, ws, k);
    align_places(al, al->a->outputs, al->a->n_outputs, al->b->outputs, al->b->n_outputs);
    free(us);
    free(ws);
}

/* --- by value --------------------------------------------------------------------------------- */

/* Two values of one side that one may stand for the other: which of them does not matter. */
static bool align_one_class(const struct odb_graph *g, int v, int w)
{
    return align_root(g, v) == align_root(g, w);
}

static bool align_open_value(const struct odb_graph *g, int v, const int *partners)
{
    return g->values[v].producer != ODB_NO_NODE && !g->values[v].init && partners[v] < 0;
}

/* The value of the original that w equals, and that nothing else comes near to. */
static int align_equal(const struct align *al, int w)
{
    int best = ODB_NO_VALUE;
    double least = INFINITY, second = INFINITY;
    for (size_t u = 0; u < al->a->n_values; u++) {
        double gap = al->a->values[u].producer == ODB_NO_NODE ? INFINITY : align_gap(al, (int)u, w);
        if (isnan(gap) || isinf(gap))
            continue;
        if (gap < least) {
            if (best < 0 || !align_one_class(al->a, best, (int)u))
                second = least;
            least = gap;
            best = (int)u;
        } else if (gap < second && !align_one_class(al->a, best, (int)u)) {
            second = gap;
        }
    }
    if (best >= 0 && !align_equals(al, best, w))
        return ODB_NO_VALUE;
    bool alone = second > ALIGN_RIVAL * fmax(least, al->s->near / ALIGN_RIVAL);
    return best >= 0 && align_near(al, least) && alone ? best : ODB_NO_VALUE;
}

static void align_values(struct align *al)
{
    int *equal = odb_new_n(int, al->b->n_values + 1); /* 1 + value of a */
    int *count = odb_new_n(int, al->a->n_values + 1);
    for (size_t w = 0; w < al->b->n_values && al->s->gap; w++) {
        if (!align_open_value(al->b, (int)w, al->out->original) || al->opaque[w] ||
            (align_carrier(al->b, (int)w) && !al->opaque[align_root(al->b, (int)w)]) ||
            align_has_partner(al, (int)w))
            continue;
        int u = align_equal(al, (int)w);
        if (u >= 0) {
            equal[w] = 1 + u;
            count[u]++;
        }
    }
    for (size_t w = 0; w < al->b->n_values; w++)
        if (equal[w] && count[equal[w] - 1] == 1)
            align_pair(al, equal[w] - 1, (int)w, ODB_PAIRED_VALUE, 1);
    free(equal);
    free(count);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* What is read is what counts: a partner that is only carried on (rounded, quantised and back)
 * gives way to what its readers have. */
static bool align_is_carried(const struct odb_graph *g, int v)
{
    bool carried = false;
    for (size_t c = 0; c < g->values[v].n_consumers; c++)
        carried |= align_carries(&g->nodes[g->values[v].consumers[c]]);
    return carried;
}

static void align_carry(struct align *al)
{
    bool quantised = false; /* itself: then it is quantised at other places than this one */
    for (size_t n = 0; n < al->a->n_nodes; n++)
        quantised |= !strcmp(al->a->nodes[n].op_type, "QuantizeLinear");
    for (size_t u = 0; u < al->a->n_values; u++) {
        int w = al->out->other[u];
        while (w >= 0 && !align_is_carried(al->a, (int)u) && al->b->values[w].n_consumers == 1 &&
               !al->b->values[w].is_output && al->b->values[w].producer != ODB_NO_NODE) {
            const struct odb_node *node = &al->b->nodes[al->b->values[w].consumers[0]];
            int next = align_carries(node) && node->in[0] == w ? node->out[0] : ODB_NO_VALUE;
            if (next < 0 || al->out->original[next] >= 0 || isinf(align_gap(al, (int)u, next)) ||
                (quantised && !strcmp(node->op_type, "QuantizeLinear")))
                break;
            al->out->original[w] = ODB_NO_VALUE;
            al->out->original[next] = (int)u;
            al->out->other[u] = w = next;
        }
    }
}

static void align_init(struct align *al)
{
    struct odb_alignment *out = al->out;
    *out = (struct odb_alignment){.n_values = al->a->n_values,
                                  .n_others = al->b->n_values,
                                  .n_nodes = al->b->n_nodes,
                                  .constants = al->s->constants,
                                  .other = odb_new_n(int, al->a->n_values + 1),
                                  .original = odb_new_n(int, al->b->n_values + 1),
                                  .how = odb_new_n(enum odb_paired, al->a->n_values + 1),
                                  .confidence = odb_new_n(double, al->a->n_values + 1),
                                  .node = odb_new_n(int, al->b->n_nodes + 1)};
    for (size_t u = 0; u < al->a->n_values; u++)
        out->other[u] = ODB_NO_VALUE;
    for (size_t w = 0; w < al->b->n_values; w++)
        out->original[w] = ODB_NO_VALUE;
    for (size_t m = 0; m < al->b->n_nodes; m++)
        out->node[m] = ODB_NO_NODE;
    al->stop_a = odb_new_n(bool, al->a->n_values + 1);
    al->stop_b = odb_new_n(bool, al->b->n_values + 1);
    al->opaque = odb_new_n(bool, al->b->n_values + 1);
    al->taken = odb_new_n(bool, al->a->n_nodes + 1);
    al->marks_a = odb_new_n(bool, al->a->n_nodes + 1);
    al->marks_b = odb_new_n(bool, al->b->n_nodes + 1);
    al->border_a = odb_new_n(int, al->a->n_values + 1);
    al->border_b = odb_new_n(int, al->b->n_values + 1);
}

void odb_align(struct odb_alignment *out, const struct odb_align_sides *sides)
{
    struct align al = {.s = sides, .a = sides->original, .b = sides->other, .out = out};
    align_init(&al);
    if (!sides->unblocked)
        odb_blocked_mark(al.b, al.opaque);
    align_map(&al);
    align_borders(&al);
    align_names(&al);
    align_values(&al);
    align_structure(&al);
    align_ask_numbers(&al);
    if (al.numbers_agree) {
        align_names(&al);
        align_structure(&al);
    }
    align_carry(&al);
    free(al.stop_a);
    free(al.stop_b);
    free(al.opaque);
    free(al.taken);
    free(al.marks_a);
    free(al.marks_b);
    free(al.border_a);
    free(al.border_b);
}

void odb_alignment_dispose(struct odb_alignment *a)
{
    free(a->other);
    free(a->original);
    free(a->how);
    free(a->confidence);
    free(a->node);
}

const char *odb_paired_name(enum odb_paired how)
{
    static const char *const names[] = {
#define ALIGN_PAIRED(name, text) [ODB_PAIRED_##name] = text,
        ODB_PAIRED_LIST(ALIGN_PAIRED)
#undef ALIGN_PAIRED
    };
    return names[how];
}
