/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibration/encoding_loss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "compare/decibels.h"
#include "interpret/cpu.h"
#include "run/hooks.h"

#define LOSS_DEAD 3 /* dB: half of it is lost */

struct loss {
    struct odb_loss *out;
    const struct odb_trace *trace;
    struct odb_tensor *const *given;
    const struct odb_search_hooks *hooks;
    struct odb_tensor **values; /* owned refs; [n_values] of the float run */
};

/* --- one encoding ----------------------------------------------------------------------------- */

/* What one scale does to the numbers that it is for. */
struct loss_scale {
    double lo, hi;       /* of the numbers */
    double signal;       /* sum of squares */
    double noise, least; /* by the encoding, and by a scale that fits the range */
    double first, last;  /* multiples that were met */
    size_t clipped, n;
};

static double loss_nearest(double x, double scale, double lo, double hi)
{
    if (!(scale > 0))
        return 0;
    double k = nearbyint(x / scale);
    return (k < lo ? lo : k > hi ? hi : k) * scale;
}

/* The steps between that would suit these numbers, as many as the encoding's. */
static double loss_fit(const struct odb_encoding *e, size_t at, const struct loss_scale *s,
                       double *lo, double *hi)
{
    double codes = e->hi[at] - e->lo[at], a = fmin(s->lo, 0), b = fmax(s->hi, 0);
    if (e->symmetric) {
        b = fmax(b, -a);
        a = -b;
        codes -= fmod(codes, 2); /* as many on both sides */
    }
    double scale = codes > 0 ? (b - a) / codes : 0;
    *lo = scale > 0 ? nearbyint(a / scale) : 0;
    *hi = *lo + codes;
    return scale;
}

static void loss_look(struct loss_scale *s, const struct odb_tensor *t,
                      const struct odb_encoding_walk *w)
{
    for (size_t i = w->begin; i < w->begin + w->n; i++) {
        double x = odb_tensor_f64(t, i);
        if (!isfinite(x))
            continue;
        s->lo = s->n ? fmin(s->lo, x) : x;
        s->hi = s->n ? fmax(s->hi, x) : x;
        s->signal += x * x;
        s->n++;
    }
}

static void loss_weigh(struct loss_scale *s, const struct odb_encoding *e,
                       const struct odb_tensor *t, const struct odb_encoding_walk *w)
{
    double scale = (double)e->scale[w->at], lo = e->lo[w->at], hi = e->hi[w->at], flo, fhi;
    double fit = loss_fit(e, w->at, s, &flo, &fhi);
    for (size_t i = w->begin; i < w->begin + w->n; i++) {
        double x = odb_tensor_f64(t, i);
        if (!isfinite(x))
            continue;
        double own = loss_nearest(x, scale, lo, hi), best = loss_nearest(x, fit, flo, fhi);
        double k = scale > 0 ? own / scale : 0;
        s->noise += (own - x) * (own - x);
        s->least += (best - x) * (best - x);
        s->first = fmin(s->first, k);
        s->last = fmax(s->last, k);
        s->clipped += scale > 0 ? x < (lo - 0.5) * scale || x > (hi + 0.5) * scale : x != 0;
    }
}

static bool loss_is_worse(double own, double best)
{
    return own < ODB_LOSS_LITTLE && best - own >= ODB_LOSS_WORSE;
}

/* The channel that loses most against what it could have, among those that matter to the value. */
static void loss_channels(struct odb_loss_value *v, const struct loss_scale *scales, size_t n,
                          double signal)
{
    double worst = 0;
    for (size_t k = 0; k < n; k++) {
        const struct loss_scale *s = &scales[k];
        double own = odb_decibels_of(s->signal, s->noise),
               best = odb_decibels_of(s->signal, s->least);
        if (s->signal * (double)n < 1e-3 * signal || !loss_is_worse(own, best) ||
            own >= ODB_LOSS_FAR || best - own <= worst)
            continue;
        worst = fmin(best, 1000) - own;
        v->channel = k;
        v->channel_bad = n > 1;
        v->dead = own < LOSS_DEAD;
        v->bad = true;
    }
}

static void loss_encoding(struct odb_loss_value *v, const struct odb_encoding *e,
                          const struct odb_tensor *t)
{
    struct loss_scale *scales = odb_new_n(struct loss_scale, e->n), sum = {0};
    struct odb_encoding_walk w;
    for (odb_encoding_walk(&w, e, t); odb_encoding_next(&w);)
        loss_look(&scales[w.at], t, &w);
    for (odb_encoding_walk(&w, e, t); odb_encoding_next(&w);)
        loss_weigh(&scales[w.at], e, t, &w);
    for (size_t k = 0; k < e->n; k++) {
        const struct loss_scale *s = &scales[k];
        sum.signal += s->signal;
        sum.noise += s->noise;
        sum.least += s->least;
        sum.clipped += s->clipped;
        sum.n += s->n;
        v->steps = fmax(v->steps, s->last - s->first + 1);
        v->of = fmax(v->of, e->hi[k] - e->lo[k] + 1);
    }
    v->own = odb_decibels_of(sum.signal, sum.noise);
    v->best = odb_decibels_of(sum.signal, sum.least);
    v->clipped = sum.n ? (double)sum.clipped / (double)sum.n : 0;
    v->bad = loss_is_worse(v->own, v->best);
    v->dead = v->bad && v->own < LOSS_DEAD;
    loss_channels(v, scales, e->n, sum.signal);
    free(scales);
}

/* --- values ----------------------------------------------------------------------------------- */

/* x: the value in float. */
static void loss_value(struct loss *l, int value, const struct odb_tensor *x)
{
    struct odb_error ignored;
    const struct odb_value *about = &l->trace->model->graph->values[value];
    const struct odb_encoding *e = odb_cpu_encoding(l->trace->cpu, value);
    bool weight = about->init && about->producer == ODB_NO_NODE;
    struct odb_loss_value v = {.value = value, .own = INFINITY, .best = INFINITY};
    if (!x || x->kind != ODB_TENSOR || !odb_dtype_is_float(x->dtype) || !x->data || (weight && !e))
        return;
    v.simulated = v.target = v.apart = NAN;
    v.encoded = e && e->type == ODB_UNDEFINED && odb_encoding_check(e, x, &ignored) == ODB_OK;
    l->out->encoded += e && !weight;
    l->out->in_float += !e && !odb_cpu_kept(l->trace->cpu, value);
    if (v.encoded)
        loss_encoding(&v, e, x);
    if (about->producer != ODB_NO_NODE) {
        v.simulated = odb_decibels(l->trace->ref[value], x);
        v.target = l->given ? odb_decibels(l->given[value], x) : NAN;
        v.apart = l->given ? odb_decibels(l->given[value], l->trace->ref[value]) : NAN;
    }
    l->out->bad |= v.bad;
    if (about->is_output && about->producer != ODB_NO_NODE) {
        l->out->far |= v.simulated < ODB_LOSS_FAR;
        odb_push(&l->out->outputs, v);
    }
    odb_push(&l->out->values, v);
}

static enum odb_status loss_after(void *payload, int node, enum odb_status status,
                                  struct odb_error *err)
{
    struct loss *l = payload;
    const struct odb_node *n = &l->trace->model->graph->nodes[node];
    odb_hooks_progress(l->hooks, "float", node, (size_t)node + 1, l->trace->model->graph->n_nodes);
    for (int o = 0; o < n->n_out && status == ODB_OK; o++)
        if (n->out[o] >= 0)
            loss_value(l, n->out[o], l->values[n->out[o]]);
    return ODB_OK;
}

static bool loss_cancelled(void *payload)
{
    struct loss *l = payload;
    return l->hooks->cancelled && l->hooks->cancelled(l->hooks->payload);
}

/* Faults first, then by what the encoding costs. */
static int loss_order(const void *a, const void *b)
{
    const struct odb_loss_value *x = a, *y = b;
    if (x->bad != y->bad)
        return x->bad ? -1 : 1;
    double p = x->bad ? x->own - fmin(x->best, 1000) : x->own;
    double q = y->bad ? y->own - fmin(y->best, 1000) : y->own;
    return p < q ? -1 : p > q ? 1 : x->value - y->value;
}

static void loss_names(struct odb_loss *out, const struct odb_trace *trace)
{
    out->model = trace->model;
    out->encodings = trace->encodings;
    for (size_t i = 0; i < out->encodings->list.n; i++) {
        const char *name = out->encodings->list.items[i].name;
        if (!odb_graph_value(trace->model->graph, name))
            odb_push(&out->unknown, name);
    }
}

enum odb_status odb_loss_measure(struct odb_loss *out, const struct odb_trace *trace,
                                 struct odb_tensor *const *given,
                                 const struct odb_search_hooks *hooks, struct odb_error *err)
{
    const struct odb_graph *graph = trace->model->graph;
    struct odb_cpu *cpu = NULL;
    struct loss l = {out, trace, given, hooks, odb_new_n(struct odb_tensor *, graph->n_values + 1)};
    *out = (struct odb_loss){.bad = false};
    loss_names(out, trace);
    odb_hooks_phase(hooks, "float", graph->n_nodes);
    enum odb_status status = odb_cpu_new(&cpu, trace->model, err);
    for (size_t f = 0; f < trace->feeds->n && status == ODB_OK; f++) {
        int v = trace->feeds->items[f].value;
        l.values[v] = odb_tensor_ref(trace->feeds->items[f].tensor);
        loss_value(&l, v, l.values[v]);
    }
    for (size_t v = 0; v < graph->n_values && status == ODB_OK; v++)
        if (graph->values[v].producer == ODB_NO_NODE && !l.values[v])
            loss_value(&l, (int)v, graph->values[v].init);
    struct odb_cpu_run run = {.precision = trace->precision,
                              .seed = trace->seed,
                              .values = l.values,
                              .free_dead = true,
                              .after = loss_after,
                              .payload = &l,
                              .cancelled = loss_cancelled};
    if (status == ODB_OK)
        status = odb_cpu_execute(cpu, &run, err);
    for (size_t v = 0; v < graph->n_values; v++)
        odb_tensor_unref(l.values[v]);
    free(l.values);
    odb_cpu_free(cpu);
    if (status != ODB_OK)
        odb_loss_dispose(out);
    else if (out->values.n)
        qsort(out->values.items, out->values.n, sizeof *out->values.items, loss_order);
    return status;
}

void odb_loss_dispose(struct odb_loss *loss)
{
    free(loss->values.items);
    free(loss->outputs.items);
    free(loss->unknown.items);
    *loss = (struct odb_loss){.bad = false};
}
