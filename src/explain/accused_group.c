/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/accused_group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "explain/variant.h"
#include "reference/trace.h"

#define GROUP_NOISY_RUNS 3
#define GROUP_NOISY_SEED 0x5eed0100u

/* --- its nodes -------------------------------------------------------------------------------- */

bool group_is(const struct accused_group *g, size_t place, const char *ops)
{
    return place < g->n && variant_is_for(ops, g->graph->nodes[g->nodes[place]].op_type);
}

static size_t group_place(const struct accused_group *g, int node)
{
    size_t place = 0;
    while (place < g->n && g->nodes[place] != node)
        place++;
    return place;
}

size_t group_before(const struct accused_group *g, size_t place, int i)
{
    const struct odb_node *node = &g->graph->nodes[g->nodes[place]];
    int value = i < node->n_in ? node->in[i] : ODB_NO_VALUE;
    return value < 0 ? g->n : group_place(g, g->graph->values[value].producer);
}

size_t group_after(const struct accused_group *g, size_t place)
{
    size_t after = g->n;
    for (size_t p = 0; p < g->n; p++)
        for (int i = 0; i < g->graph->nodes[g->nodes[p]].n_in; i++) {
            if (group_before(g, p, i) != place || after == p)
                continue;
            if (after < g->n)
                return g->n;
            after = p;
        }
    return after;
}

/* Marks what must run for the value to be had from what was fed; false: something is lacking. */
static bool group_mark(const struct accused_group *g, int value, bool *marks)
{
    const struct odb_value *v = &g->graph->values[value];
    if (g->q->given[value] || v->init)
        return true;
    if (v->producer == ODB_NO_NODE)
        return false;
    const struct odb_node *node = &g->graph->nodes[v->producer];
    if (marks[node->index])
        return true;
    marks[node->index] = true;
    bool all = odb_cpu_op(g->q->cpu, node->index) && !odb_cpu_random(g->q->cpu, node->index);
    for (int i = 0; i < node->n_in && all; i++)
        all = node->in[i] < 0 || group_mark(g, node->in[i], marks);
    return all;
}

static bool group_moves(const struct accused_group *g, int node)
{
    const struct odb_op *op = odb_cpu_op(g->q->cpu, node);
    const char *type = g->graph->nodes[node].op_type;
    return (op->flags & ODB_OP_EXACT) || variant_is_for("DequantizeLinear|Cast", type);
}

/* The quantiser that decides what comes out and what follows it, last first; how many there are. */
static size_t group_tail(const struct accused_group *g, const bool *marks, int *tail)
{
    int value = g->exit;
    for (size_t n = 0; n < GROUP_MOST; n++) {
        int node = g->graph->values[value].producer;
        if (node == ODB_NO_NODE || !marks[node])
            return 0;
        tail[n] = node;
        value = g->graph->nodes[node].in[0];
        if (!strcmp(g->graph->nodes[node].op_type, "QuantizeLinear"))
            return n + 1;
        if (value < 0 || !group_moves(g, node))
            return 0;
    }
    return 0;
}

/* The nodes in the order of the graph, but for the tail, which comes last. */
static enum odb_status group_list(struct accused_group *g, struct odb_error *err)
{
    bool *marks = odb_new_n(bool, g->graph->n_nodes + 1);
    int tail[GROUP_MOST];
    size_t n = 0;
    bool all = group_mark(g, g->exit, marks);
    size_t n_tail = all ? group_tail(g, marks, tail) : 0;
    for (size_t i = 0; i < n_tail; i++)
        marks[tail[i]] = false;
    for (int i = 0; i < (int)g->graph->n_nodes; i++) {
        n += marks[i];
        if (marks[i] && n + n_tail <= GROUP_MOST)
            g->nodes[n - 1] = i;
    }
    free(marks);
    if (!all)
        return odb_fail(err, ODB_UNSUPPORTED, "no kernels of their own replay its nodes");
    if (!(n + n_tail) || n + n_tail > GROUP_MOST)
        return odb_fail(err, ODB_UNSUPPORTED, "it has %zu nodes, of %d at most", n + n_tail,
                        GROUP_MOST);
    g->tail = n;
    for (size_t i = n_tail; i-- > 0;)
        g->nodes[n++] = tail[i];
    g->n = n;
    g->decided = n_tail ? g->graph->nodes[g->nodes[g->tail]].in[0] : g->exit;
    if (g->graph->nodes[g->nodes[n - 1]].n_out != 1)
        return odb_fail(err, ODB_UNSUPPORTED, "its last node has several outputs");
    return ODB_OK;
}

/* --- running ---------------------------------------------------------------------------------- */

static struct odb_tensor *group_value(const struct accused_group *g, struct odb_tensor **values,
                                      int value)
{
    struct odb_tensor *t = value < 0 ? NULL : values[value];
    if (value >= 0 && !t)
        t = g->q->given[value];
    return value >= 0 && !t ? (struct odb_tensor *)g->graph->values[value].init : t;
}

static void group_drop(const struct accused_group *g, struct odb_tensor **values)
{
    for (size_t v = 0; values && v < g->graph->n_values; v++)
        odb_tensor_unref(values[v]);
    free(values);
}

/* Floats in the types of the node's operands, for what computes without a kernel. */
static void group_narrow(const struct accused *inner, struct odb_tensor **in)
{
    for (int i = 0; i < inner->node->n_in; i++) {
        enum odb_dtype real = inner->in[i] ? odb_tensor_real(inner->in[i]) : ODB_UNDEFINED;
        struct odb_tensor *t = NULL;
        bool narrows = in[i] && real != ODB_UNDEFINED && in[i]->dtype != real &&
                       odb_tensor_cast_floats(&t, in[i], real, NULL) == ODB_OK;
        in[i] = narrows ? t : odb_tensor_ref(in[i]);
    }
}

/* Whether a variant, or one of a pair, changes the node at a place. */
static bool group_changes(const struct variant *v, size_t place)
{
    return v && (v->place == place || (v->under && v->under->place == place));
}

/* The first place that is changed; 0 without a variant. */
static size_t group_first(const struct variant *v)
{
    return !v ? 0 : v->under ? ODB_MIN(v->place, v->under->place) : v->place;
}

static enum odb_status group_changed(const struct accused_group *g, const struct variant *v,
                                     size_t place, enum odb_precision precision, uint64_t seed,
                                     struct odb_tensor *const *in, struct odb_tensor **out,
                                     struct odb_error *err)
{
    const struct accused *inner = &g->inner[place];
    struct accused view = *inner;
    struct odb_tensor **own = odb_xmemdup(in, ((size_t)inner->node->n_in + 1) * sizeof *own);
    if (variant_makes(v))
        group_narrow(inner, own);
    view.in = own;
    enum odb_status status = variant_replay(v, &view, precision, seed, out, err);
    if (status == ODB_OK)
        status = variant_finish(v, &view, out, err);
    for (int i = 0; i < inner->node->n_in && variant_makes(v); i++)
        odb_tensor_unref(own[i]);
    free(own);
    return status;
}

/* Runs the nodes of [from, to), one of them changed by v (NULL: none), into values. */
static enum odb_status group_stretch(const struct accused_group *g, const struct variant *v,
                                     enum odb_precision precision, uint64_t seed, size_t from,
                                     size_t to, struct odb_tensor **values, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    for (size_t p = from; p < to && status == ODB_OK; p++) {
        const struct odb_node *node = &g->graph->nodes[g->nodes[p]];
        struct odb_tensor **in = odb_new_n(struct odb_tensor *, node->n_in + 1);
        struct odb_tensor **out = odb_new_n(struct odb_tensor *, node->n_out + 1);
        for (int i = 0; i < node->n_in; i++)
            in[i] = group_value(g, values, node->in[i]);
        status = group_changes(v, p) ? group_changed(g, v, p, precision, seed, in, out, err)
                                     : odb_cpu_node(g->q->cpu, node->index, precision, seed + p, in,
                                                    NULL, out, err);
        for (int o = 0; o < node->n_out; o++) {
            if (status == ODB_OK && node->out[o] >= 0)
                tensor_replace(&values[node->out[o]], odb_tensor_ref(out[o]));
            odb_tensor_unref(out[o]);
        }
        free(in);
        free(out);
    }
    return status;
}

/* What the reference makes before the place, where that is known for the precision; *from: where to
 * begin. The caller's. */
static struct odb_tensor **group_begin(const struct accused_group *g, size_t place,
                                       enum odb_precision precision, size_t *from)
{
    struct odb_tensor **values = odb_new_n(struct odb_tensor *, g->graph->n_values + 1);
    struct odb_tensor *const *known = precision == ODB_PREC_NATIVE ? g->native
                                      : precision == ODB_PREC_F64  ? g->exact
                                                                   : NULL;
    *from = known ? place : 0;
    for (size_t p = 0; p < *from; p++) {
        const struct odb_node *node = &g->graph->nodes[g->nodes[p]];
        for (int o = 0; o < node->n_out; o++)
            if (node->out[o] >= 0)
                values[node->out[o]] = odb_tensor_ref(known[node->out[o]]);
    }
    return values;
}

/* What comes out, in the type of the target's. */
static enum odb_status group_exit(const struct accused *s, struct odb_tensor *const *values,
                                  struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_tensor *t = values[s->group->exit], *y = s->y[0];
    enum odb_dtype real = y ? odb_tensor_real(y) : ODB_UNDEFINED;
    if (t && real != ODB_UNDEFINED && odb_tensor_real(t) != ODB_UNDEFINED &&
        odb_tensor_real(t) != real)
        return odb_tensor_cast_floats(&out[0], t, real, err);
    out[0] = odb_tensor_ref(t);
    return ODB_OK;
}

enum odb_status group_run(const struct accused *s, const struct variant *v,
                          enum odb_precision precision, uint64_t seed, struct odb_tensor **out,
                          struct odb_error *err)
{
    const struct accused_group *g = s->group;
    size_t from;
    struct odb_tensor **values = group_begin(g, group_first(v), precision, &from);
    out[0] = NULL;
    enum odb_status status = group_stretch(g, v, precision, seed, from, g->n, values, err);
    if (status == ODB_OK)
        status = group_exit(s, values, out, err);
    group_drop(g, values);
    return status;
}

struct odb_tensor **group_values(const struct accused *s, const struct variant *v)
{
    const struct accused_group *g = s->group;
    size_t from;
    struct odb_tensor **values = group_begin(g, group_first(v), ODB_PREC_F64, &from);
    if (group_stretch(g, v, ODB_PREC_F64, 0, from, g->n, values, NULL) == ODB_OK)
        return values;
    group_drop(g, values);
    return NULL;
}

void group_values_free(const struct accused *s, struct odb_tensor **values)
{
    group_drop(s->group, values);
}

/* --- what noise does to what decides ---------------------------------------------------------- */

bool group_decides(const struct accused *s)
{
    return s->group && s->group->tail < s->group->n;
}

/* What the tail reads; the caller's. */
static struct odb_tensor *group_decided(const struct accused_group *g, const struct variant *v,
                                        enum odb_precision precision, uint64_t seed)
{
    size_t from;
    struct odb_tensor **values = group_begin(g, ODB_MIN(group_first(v), g->tail), precision, &from),
                      *t = NULL;
    if (group_stretch(g, v, precision, seed, from, g->tail, values, NULL) == ODB_OK)
        t = odb_tensor_ref(group_value(g, values, g->decided));
    group_drop(g, values);
    return t;
}

/* How far honest computations come out apart before the tail, over the root mean square of that. */
static double group_noise(const struct accused *s, const struct variant *v,
                          struct odb_tensor *const *exact, double *rms)
{
    struct measured by;
    double noise = s->floor;
    bool measures = measured_make(&by, exact, exact, 1, NULL) == ODB_OK;
    for (uint64_t run = 0; run <= GROUP_NOISY_RUNS && measures; run++) {
        struct odb_tensor *t = group_decided(s->group, v, run ? ODB_PREC_NOISY : ODB_PREC_NATIVE,
                                             GROUP_NOISY_SEED + run * GROUP_MOST);
        struct odb_tensor *wide = NULL;
        struct residual far = {0};
        if (!run && t)
            noise = fmax(noise, odb_noise_floor(by.rms[0], t->dtype));
        if (t && odb_tensor_cast_floats(&wide, t, exact[0]->dtype, NULL) == ODB_OK)
            residual_measure(&far, &by, &wide);
        noise = far.comparable ? fmax(noise, far.max) : noise;
        odb_tensor_unref(wide);
        odb_tensor_unref(t);
    }
    *rms = measures ? by.rms[0] : 1;
    measured_dispose(&by);
    return noise;
}

static double group_add(const void *payload, size_t i, double x)
{
    (void)i;
    return x + *(const double *)payload;
}

/* What the tail makes of its operand, moved by so much. */
static enum odb_status group_moved(const struct accused *s, const struct variant *v,
                                   const struct odb_tensor *decided, double by,
                                   struct odb_tensor **out, struct odb_error *err)
{
    const struct accused_group *g = s->group;
    size_t from;
    struct odb_tensor **values = group_begin(g, g->tail, ODB_PREC_F64, &from), *moved = NULL;
    enum odb_status status = tensor_map(&moved, decided, group_add, &by, err);
    if (status == ODB_OK) {
        struct odb_tensor *fed = values[g->decided];
        odb_tensor_unref(fed);
        values[g->decided] = moved;
        status = group_stretch(g, v, ODB_PREC_F64, 0, g->tail, g->n, values, err);
    }
    if (status == ODB_OK)
        status = group_exit(s, values, out, err);
    group_drop(g, values);
    return status;
}

enum odb_status group_band(const struct accused *s, const struct variant *v,
                           struct odb_tensor **low, struct odb_tensor **high, double *noise,
                           struct odb_error *err)
{
    struct odb_tensor *decided = NULL, *exact = group_decided(s->group, v, ODB_PREC_F64, 0);
    double rms;
    if (!exact || !odb_dtype_is_float(exact->dtype)) {
        odb_tensor_unref(exact);
        return ODB_SKIPPED;
    }
    enum odb_status status = odb_tensor_cast(&decided, exact, ODB_F64, err);
    odb_tensor_unref(exact);
    if (status != ODB_OK)
        return status;
    *noise = group_noise(s, v, &decided, &rms);
    double by = s->q->factor * *noise * rms;
    status = group_moved(s, v, decided, -by, low, err);
    if (status == ODB_OK)
        status = group_moved(s, v, decided, by, high, err);
    odb_tensor_unref(decided);
    return status;
}

/* --- making ----------------------------------------------------------------------------------- */

/* A node as the reference runs it. */
static enum odb_status group_inner(struct accused_group *g, size_t place, struct odb_error *err)
{
    const struct odb_node *node = &g->graph->nodes[g->nodes[place]];
    struct accused *inner = &g->inner[place];
    struct odb_tensor **in = odb_new_n(struct odb_tensor *, node->n_in + 1);
    *inner = (struct accused){.q = g->q,
                              .graph = g->graph,
                              .node = node,
                              .op = odb_cpu_op(g->q->cpu, node->index),
                              .in = in,
                              .group = g,
                              .place = place,
                              .shown = node->out[0] < 0 ? -1 : 0,
                              .base = {.comparable = true}};
    for (int i = 0; i < node->n_in; i++)
        in[i] = group_value(g, g->native, node->in[i]);
    inner->native = accused_outputs(inner);
    for (int o = 0; o < node->n_out; o++)
        inner->native[o] = node->out[o] < 0 ? NULL : g->native[node->out[o]];
    inner->y = inner->r = inner->native;
    return measured_make(&inner->target, inner->y, inner->r, node->n_out, err);
}

/* Runs it as the reference does, and looks at each of its nodes. */
static enum odb_status group_replay(struct accused_group *g, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    ODB_TRY(group_list(g, err));
    g->native = odb_new_n(struct odb_tensor *, g->graph->n_values + 1);
    g->exact = odb_new_n(struct odb_tensor *, g->graph->n_values + 1);
    ODB_TRY(group_stretch(g, NULL, ODB_PREC_NATIVE, 0, 0, g->n, g->native, err));
    ODB_TRY(group_stretch(g, NULL, ODB_PREC_F64, 0, 0, g->n, g->exact, err));
    for (size_t p = 0; p < g->n && status == ODB_OK; p++)
        status = group_inner(g, p, err);
    g->main = group_place(g, g->q->node);
    g->main = g->main < g->n ? g->main : 0;
    return status;
}

static void group_inner_dispose(struct accused *inner)
{
    measured_dispose(&inner->target);
    free(inner->native);
}

/* The last node is seen as what came out. */
static void group_end(const struct accused *of)
{
    struct accused *last = &of->group->inner[of->place];
    group_inner_dispose(last);
    *last = *of;
    of->group->ended = true;
}

enum odb_status group_make(struct accused *of, const struct odb_explain_question *q,
                           struct odb_tensor *const *out, struct odb_error *err)
{
    accused_init(of, q, NULL, out);
    struct accused_group *g = of->group = odb_new(struct accused_group);
    g->q = q;
    g->graph = of->graph;
    g->exit = q->exit;
    ODB_TRY(group_replay(g, err));
    const struct accused *last = &g->inner[g->n - 1];
    of->place = g->n - 1;
    of->node = last->node;
    of->op = last->op;
    of->in = last->in;
    of->r = accused_outputs(of);
    of->native = accused_outputs(of);
    of->native[0] = odb_tensor_ref(g->native[g->exit]);
    ODB_TRY(group_exit(of, g->exact, of->r, err));
    ODB_TRY(accused_measure(of, err));
    group_end(of);
    return ODB_OK;
}

void group_dispose(struct accused *of)
{
    struct accused_group *g = of->group;
    for (size_t p = 0; g && p < g->n; p++) {
        if (!g->ended || p + 1 < g->n) /* that one has what is of's */
            group_inner_dispose(&g->inner[p]);
        free((void *)g->inner[p].in);
    }
    if (g) {
        group_drop(g, g->native);
        group_drop(g, g->exact);
    }
    free(g);
    accused_dispose(of);
}

enum odb_status accused_of(struct accused *s, const struct odb_explain_question *q,
                           struct odb_tensor *const *in, struct odb_tensor *const *out,
                           struct odb_error *err)
{
    return q->group ? group_make(s, q, out, err) : accused_make(s, q, in, out, err);
}
