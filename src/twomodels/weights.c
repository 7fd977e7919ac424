/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What explains a difference is looked for in turn: the rounding of the other type, half a
 * quantisation step, another order, and a factor for each channel, as a normalisation leaves it
 * that was folded into the operator before it. Whatever is left is a difference.
 */
#include "twomodels/weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "twomodels/blocked.h"

#define WEIGHTS_SAMPLE 2048
#define WEIGHTS_DEPTH 8     /* nodes that became one */
#define WEIGHTS_TINY 1.1e-7 /* converters to float16 round what is smaller up to this */
#define WEIGHTS_FACTOR 1e-4 /* how far elements of a channel may be from its factor */

/* --- one constant ----------------------------------------------------------------------------- */

static const struct odb_tensor *weights_init(const struct odb_graph *graph, int value)
{
    const struct odb_value *behind = value < 0 ? NULL : odb_constant_behind(graph, value);
    return behind ? odb_constant_tensor(graph, behind) : NULL;
}

/* By the names that quantisers give: W_quantized, W_scale, W_zero_point. */
static void weights_by_name(struct odb_constant *out, const struct odb_graph *graph,
                            const char *name)
{
    static const char *const endings[] = {"_scale", "_zero_point"};
    static const char suffix[] = "_quantized";
    const struct odb_tensor **into[] = {&out->scale, &out->zero};
    size_t n = strlen(name), k = strlen(suffix), index;
    if (n <= k || strcmp(name + n - k, suffix) != 0)
        return;
    for (size_t i = 0; i < ODB_COUNT(endings); i++) {
        char *whole = odb_xasprintf("%.*s%s", (int)(n - k), name, endings[i]);
        char *after = odb_xasprintf("%s%s", name, endings[i]);
        if (odb_map_get(graph->by_name, whole, &index) ||
            odb_map_get(graph->by_name, after, &index))
            *into[i] = weights_init(graph, (int)index);
        free(whole);
        free(after);
    }
}

bool odb_constant_of(struct odb_constant *out, const struct odb_graph *graph, int value)
{
    *out = (struct odb_constant){.axis = 0};
    for (int v = value;;) {
        int producer = graph->values[v].producer;
        const struct odb_node *node = producer < 0 ? NULL : &graph->nodes[producer];
        if (graph->values[v].init || !node || node->n_in < 1 || node->in[0] < 0)
            break;
        if (!strcmp(node->op_type, "DequantizeLinear") && node->n_in > 1) {
            const struct odb_attr *axis = odb_attrs_find(&node->attrs, "axis");
            out->scale = weights_init(graph, node->in[1]);
            out->zero = node->n_in > 2 ? weights_init(graph, node->in[2]) : NULL;
            out->axis = axis ? (int)axis->i : 1;
        }
        v = node->in[0];
    }
    const struct odb_value *behind = odb_constant_behind(graph, value);
    const struct odb_tensor *t = behind ? odb_constant_tensor(graph, behind) : NULL;
    if (!t || t->kind != ODB_TENSOR || !t->data || t->dtype == ODB_STRING)
        return false;
    out->t = t;
    if (out->axis < 0)
        out->axis += out->t->rank;
    if (!out->scale && !odb_dtype_is_float(out->t->dtype))
        weights_by_name(out, graph, behind->name);
    return !out->scale || out->scale->data;
}

static size_t weights_channel(const struct odb_constant *c, size_t i)
{
    size_t inner = 1;
    if (!c->scale || c->scale->count < 2 || c->axis >= c->t->rank)
        return 0;
    for (int d = c->axis + 1; d < c->t->rank; d++)
        inner *= (size_t)c->t->dims[d];
    return inner ? (i / inner) % (size_t)c->t->dims[c->axis] : 0;
}

static double weights_step(const struct odb_constant *c, size_t i)
{
    size_t at = weights_channel(c, i);
    return !c->scale ? 0 : at < c->scale->count ? odb_tensor_f64(c->scale, at) : NAN;
}

double odb_constant_at(const struct odb_constant *c, size_t i)
{
    double v = odb_tensor_f64(c->t, i);
    if (!c->scale)
        return v;
    size_t at = weights_channel(c, i);
    if (c->zero && c->zero->data)
        v -= at < c->zero->count ? odb_tensor_f64(c->zero, at) : odb_tensor_f64(c->zero, 0);
    return v * weights_step(c, i);
}

/* --- two of them ------------------------------------------------------------------------------ */

struct weights {
    const struct odb_constant *a, *b;
    size_t n;
    bool turned; /* b is the transpose of a, which is a matrix */
};

static double weights_there(const struct weights *w, size_t i)
{
    if (w->turned) {
        size_t columns = (size_t)w->a->t->dims[1], rows = (size_t)w->a->t->dims[0];
        i = (i % columns) * rows + i / columns;
    }
    return odb_constant_at(w->b, i);
}

/* How far an element of b may be from this one of a. */
static double weights_allowance(const struct weights *w, size_t i, double here)
{
    enum odb_dtype a = w->a->t->dtype, b = w->b->t->dtype;
    if (w->b->scale)
        return 0.505 * fabs(weights_step(w->b, i)) + 1e-6 * fabs(here);
    if (a == b || !odb_dtype_is_float(b))
        return 0;
    double eps = odb_dtype_info(b)->eps;
    return eps * fabs(here) + (eps > 1e-6 ? WEIGHTS_TINY : 0);
}

static bool weights_fits(const struct weights *w, size_t i)
{
    double a = odb_constant_at(w->a, i), b = weights_there(w, i);
    return fabs(a - b) <= weights_allowance(w, i, a) || (isnan(a) && isnan(b)) || a == b;
}

static bool weights_can_turn(const struct odb_tensor *a, const struct odb_tensor *b)
{
    return a->rank == 2 && b->rank == 2 && a->dims[0] == b->dims[1] && a->dims[1] == b->dims[0] &&
           a->dims[0] > 1 && a->dims[1] > 1;
}

static bool weights_all_fit(const struct weights *w, size_t most)
{
    size_t step = w->n > most ? w->n / most : 1;
    for (size_t i = 0; i < w->n; i += step)
        if (!weights_fits(w, i))
            return false;
    return true;
}

bool odb_constants_alike(const struct odb_constant *a, const struct odb_constant *b)
{
    struct weights w = {a, b, a->t->count, false};
    if (a->t->count != b->t->count)
        return false;
    if (weights_all_fit(&w, WEIGHTS_SAMPLE))
        return true;
    w.turned = !b->scale && weights_can_turn(a->t, b->t);
    return w.turned && weights_all_fit(&w, WEIGHTS_SAMPLE);
}

static void weights_measure(const struct weights *w, struct odb_weight_pair *out)
{
    double squares = 0, worst = 0;
    out->n_off = 0;
    out->error = out->step = 0;
    for (size_t i = 0; i < w->n; i++) {
        double a = odb_constant_at(w->a, i), b = weights_there(w, i), gap = fabs(a - b);
        double step = weights_step(w->b, i);
        bool off = !weights_fits(w, i);
        squares += isfinite(a) ? a * a : 0;
        out->error = isnan(gap) && off ? INFINITY : fmax(out->error, isnan(gap) ? 0 : gap);
        out->step = fmax(out->step, fabs(step));
        out->n_off += off;
        if (off && (out->n_off == 1 || !(gap <= worst))) {
            worst = gap;
            out->at = i;
            out->here = a;
            out->there = b;
        }
    }
    double rms = w->n ? sqrt(squares / (double)w->n) : 0;
    out->relative = rms > 0 ? out->error / rms : out->error > 0 ? INFINITY : 0;
}

/* The factor of one channel, and whether all its elements have it. */
static bool weights_factor(const struct weights *w, size_t first, size_t n, size_t stride,
                           double *factor)
{
    double products = 0, squares = 0, most = 0;
    for (size_t k = 0; k < n; k++) {
        double a = odb_constant_at(w->a, first + k * stride);
        products += a * weights_there(w, first + k * stride);
        squares += a * a;
        most = fmax(most, fabs(a));
    }
    *factor = squares > 0 ? products / squares : 1;
    for (size_t k = 0; k < n; k++) {
        size_t i = first + k * stride;
        double a = odb_constant_at(w->a, i) * *factor, b = weights_there(w, i);
        if (!(fabs(a - b) <= WEIGHTS_FACTOR * fabs(*factor) * most + weights_allowance(w, i, a)))
            return false;
    }
    return true;
}

/* Whether channels of the first or the last axis are scaled, most of them. */
static bool weights_scaled(const struct weights *w)
{
    const struct odb_tensor *t = w->a->t;
    if (t->rank < 2 || !w->n)
        return false;
    for (int last = 0; last < 2; last++) {
        size_t channels = (size_t)t->dims[last ? t->rank - 1 : 0], each = w->n / channels;
        size_t changed = 0, c = 0;
        for (; each > 1 && c < channels; c++) {
            double factor;
            if (!weights_factor(w, last ? c : c * each, each, last ? channels : 1, &factor))
                break;
            changed += fabs(factor - 1) > WEIGHTS_FACTOR;
        }
        if (c == channels && channels > 1 && 2 * changed > channels)
            return true;
    }
    return false;
}

void odb_constants_compare(struct odb_weight_pair *out, const struct odb_constant *a,
                           const struct odb_constant *b)
{
    struct weights w = {a, b, a->t->count, false};
    bool retyped = a->t->dtype != b->t->dtype;
    out->fate = ODB_FATE_DIFFERENT;
    if (a->t->count != b->t->count) {
        out->error = out->relative = INFINITY;
        out->n_off = a->t->count;
        return;
    }
    weights_measure(&w, out);
    if (!out->n_off) {
        out->fate = b->scale ? ODB_FATE_QUANTISED : retyped ? ODB_FATE_RETYPED : ODB_FATE_SAME;
        return;
    }
    struct weights turned = {a, b, w.n, !b->scale && weights_can_turn(a->t, b->t)};
    if (turned.turned && weights_all_fit(&turned, w.n)) {
        weights_measure(&turned, out);
        out->fate = ODB_FATE_MOVED;
    } else if (weights_scaled(&w)) {
        out->fate = ODB_FATE_SCALED;
    }
}

/* --- all of them ------------------------------------------------------------------------------ */

struct weights_list {
    const struct odb_graph *a, *b;
    const struct odb_alignment *alignment;
    int *node;            /* owned; [nodes of a] the node of b that does the same */
    struct odb_map *seen; /* owned: digest of a constant of b -> 1 + value; 0: several */
    ODB_VEC(struct odb_weight_pair) pairs;
};

/* Shape, type and a sample of the bytes. */
static void weights_digest(const struct odb_tensor *t, char *buf, size_t size)
{
    uint64_t hash = 1469598103934665603u;
    const unsigned char *p = t->data;
    size_t step = t->bytes > 8 * WEIGHTS_SAMPLE ? t->bytes / (8 * WEIGHTS_SAMPLE) : 1;
    for (size_t i = 0; i < t->bytes; i += step)
        hash = (hash ^ p[i]) * 1099511628211u;
    snprintf(buf, size, "%d %zu %llx", (int)t->dtype, t->count, (unsigned long long)hash);
}

static bool weights_stored(const struct odb_value *value)
{
    return value->init && value->init->kind == ODB_TENSOR && value->init->data &&
           value->init->dtype != ODB_STRING && value->name[0];
}

static const struct odb_tensor *weights_unblocked(const struct weights_list *l, int constant)
{
    return l->alignment->constants ? l->alignment->constants[constant] : NULL;
}

/* The value of the original that a node of the other makes, or what carries that on. */
static int weights_made(const struct weights_list *l, const struct odb_node *node)
{
    for (int w = node->n_out ? node->out[0] : ODB_NO_VALUE; w >= 0;) {
        const struct odb_value *value = &l->b->values[w];
        const struct odb_node *next =
            value->n_consumers == 1 ? &l->b->nodes[value->consumers[0]] : NULL;
        if (l->alignment->original[w] >= 0)
            return l->alignment->original[w];
        w = next && odb_blocked_node(next) && !strcmp(next->op_type, "ReorderOutput")
                ? next->out[0]
                : ODB_NO_VALUE;
    }
    return ODB_NO_VALUE;
}

/* The node that several begin with which became one: of its operator, and the others one by one
 * behind it, of values without partners. */
static int weights_begin(const struct weights_list *l, const struct odb_node *node)
{
    int u = weights_made(l, node);
    for (int depth = 0; u >= 0 && depth < WEIGHTS_DEPTH; depth++) {
        int n = l->a->values[u].producer;
        if (n < 0 || !strcmp(l->a->nodes[n].op_type, node->op_type))
            return n;
        const struct odb_node *at = &l->a->nodes[n];
        u = ODB_NO_VALUE;
        for (int i = 0, computed = 0; i < at->n_in; i++)
            if (at->in[i] >= 0 && l->alignment->other[at->in[i]] < 0 &&
                !odb_constant_behind(l->a, at->in[i]))
                u = computed++ ? ODB_NO_VALUE : at->in[i];
    }
    return ODB_NO_NODE;
}

static void weights_index(struct weights_list *l)
{
    char key[80];
    l->seen = odb_map_new();
    for (size_t w = 0; w < l->b->n_values; w++) {
        if (!weights_stored(&l->b->values[w]) || l->b->values[w].init->count < 2)
            continue;
        const struct odb_tensor *unblocked = weights_unblocked(l, (int)w);
        weights_digest(unblocked ? unblocked : l->b->values[w].init, key, sizeof key);
        if (!odb_map_add(l->seen, key, 1 + w))
            odb_map_set(l->seen, key, 0);
    }
    for (size_t n = 0; n < l->a->n_nodes; n++)
        l->node[n] = ODB_NO_NODE;
    for (size_t m = 0; m < l->b->n_nodes; m++)
        if (l->alignment->node[m] >= 0)
            l->node[l->alignment->node[m]] = (int)m;
    for (size_t m = 0; m < l->b->n_nodes; m++) {
        int n = l->alignment->node[m] < 0 ? weights_begin(l, &l->b->nodes[m]) : ODB_NO_NODE;
        if (n >= 0 && l->node[n] < 0)
            l->node[n] = (int)m;
    }
}

/* A constant of the other model: what is stored in blocks is in the usual order here. */
static bool weights_there_of(const struct weights_list *l, int value, struct odb_constant *out)
{
    bool known = odb_constant_of(out, l->b, value);
    const struct odb_tensor *unblocked =
        known ? weights_unblocked(l, odb_constant_behind(l->b, value)->index) : NULL;
    if (unblocked)
        out->t = unblocked;
    return known;
}

/* What stands in the other model where this node reads the constant. */
static int weights_by_slot(const struct weights_list *l, int u)
{
    for (size_t c = 0; c < l->a->values[u].n_consumers; c++) {
        const struct odb_node *x = &l->a->nodes[l->a->values[u].consumers[c]];
        const struct odb_node *y = l->node[x->index] < 0 ? NULL : &l->b->nodes[l->node[x->index]];
        for (int i = 0; y && i < x->n_in && i < y->n_in; i++)
            if (x->in[i] == u && y->in[i] >= 0 && !strcmp(x->op_type, y->op_type) &&
                odb_constant_behind(l->b, y->in[i]))
                return y->in[i];
    }
    return ODB_NO_VALUE;
}

static int weights_by_value_name(const struct weights_list *l, const char *name)
{
    static const char *const endings[] = {"_DequantizeLinear_Output", "_DequantizeLinear", "",
                                          "_quantized"};
    size_t index;
    for (size_t i = 0; i < ODB_COUNT(endings); i++) {
        char *whole = odb_xasprintf("%s%s", name, endings[i]);
        bool found = odb_map_get(l->b->by_name, whole, &index);
        free(whole);
        if (found && odb_constant_behind(l->b, (int)index))
            return (int)index;
    }
    return ODB_NO_VALUE;
}

static int weights_find(const struct weights_list *l, int u)
{
    char key[80];
    size_t found;
    int v = weights_by_slot(l, u);
    if (v < 0)
        v = weights_by_value_name(l, l->a->values[u].name);
    if (v < 0 && l->a->values[u].init->count > 1) {
        weights_digest(l->a->values[u].init, key, sizeof key);
        v = odb_map_get(l->seen, key, &found) && found ? (int)found - 1 : ODB_NO_VALUE;
    }
    return v;
}

static void weights_add(struct weights_list *l, int u)
{
    struct odb_weight_pair pair = {.original = u, .other = ODB_NO_VALUE, .fate = ODB_FATE_MISSING};
    struct odb_constant a, b;
    pair.read = weights_find(l, u);
    if (pair.read >= 0 && odb_constant_of(&a, l->a, u) && weights_there_of(l, pair.read, &b) &&
        (b.scale || odb_dtype_is_float(b.t->dtype))) {
        pair.other = odb_constant_behind(l->b, pair.read)->index;
        odb_constants_compare(&pair, &a, &b);
    }
    odb_push(&l->pairs, pair);
}

/* Computed by the original, stored in the other. */
static void weights_add_folded(struct weights_list *l, const struct odb_value *stored,
                               struct odb_tensor *const *computed)
{
    size_t u;
    struct odb_constant b;
    if (!odb_map_get(l->a->by_name, stored->name, &u) || l->a->values[u].init ||
        l->a->values[u].producer == ODB_NO_NODE || !computed || !computed[u] ||
        computed[u]->kind != ODB_TENSOR || computed[u]->dtype == ODB_STRING ||
        !odb_constant_of(&b, l->b, stored->index))
        return;
    struct odb_constant a = {.t = computed[u]};
    if (!odb_dtype_is_float(a.t->dtype)) /* codes against codes */
        b.scale = b.zero = NULL;
    struct odb_weight_pair pair = {
        .original = (int)u, .other = stored->index, .read = stored->index};
    odb_constants_compare(&pair, &a, &b);
    if (pair.fate != ODB_FATE_DIFFERENT || pair.relative < 1e-5) /* computed in another order */
        pair.fate = ODB_FATE_FOLDED;
    odb_push(&l->pairs, pair);
}

struct odb_weight_pair *odb_weights_compare(const struct odb_graph *original,
                                            const struct odb_graph *other,
                                            const struct odb_alignment *alignment,
                                            struct odb_tensor *const *computed, size_t *n)
{
    struct weights_list l = {original, other, alignment, odb_new_n(int, original->n_nodes + 1),
                             NULL,     {0}};
    weights_index(&l);
    for (size_t u = 0; u < original->n_values; u++) {
        const struct odb_value *value = &original->values[u];
        if (weights_stored(value) && value->n_consumers && odb_dtype_is_float(value->init->dtype))
            weights_add(&l, (int)u);
    }
    for (size_t w = 0; w < other->n_values; w++)
        if (weights_stored(&other->values[w]))
            weights_add_folded(&l, &other->values[w], computed);
    odb_map_free(l.seen);
    free(l.node);
    *n = l.pairs.n;
    return l.pairs.items;
}

const char *odb_fate_name(enum odb_fate fate)
{
    static const char *const names[] = {
#define WEIGHTS_FATE(name, text) [ODB_FATE_##name] = text,
        ODB_FATE_LIST(WEIGHTS_FATE)
#undef WEIGHTS_FATE
    };
    return names[fate];
}
