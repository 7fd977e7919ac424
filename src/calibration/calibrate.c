/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibration/calibrate.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "calibration/calibrate_int.h"
#include "interpret/cpu.h"
#include "model/read/load.h"
#include "model/write/external.h"

struct calibrate {
    const struct odb_model *model;
    const struct odb_graph *graph;
    const struct odb_calibrate_options *options;
    struct odb_cpu *cpu; /* owned */
    struct calibrate_plan plan;
    struct calibrate_range *ranges; /* owned; [n_values] */
    struct odb_tensor **values;     /* owned refs; [n_values] of the run */
    bool counts;                    /* the second pass: numbers are counted by bins */
    size_t sample;
    struct odb_calibrated *out;
    struct odb_error why; /* of a node that could not be run */
};

bool odb_calibrate_parse(enum odb_calibrate_method *out, const char *name)
{
    static const char *const names[] = {
#define CALIBRATE_NAME(id, name) name,
        ODB_CALIBRATE_LIST(CALIBRATE_NAME)
#undef CALIBRATE_NAME
    };
    for (size_t i = 0; i < ODB_COUNT(names); i++)
        if (!strcmp(names[i], name)) {
            *out = (enum odb_calibrate_method)i;
            return true;
        }
    return false;
}

/* --- ranges ----------------------------------------------------------------------------------- */

static void calibrate_widen(struct calibrate_range *range, const struct odb_tensor *t)
{
    const odb_f32 *x = t->data;
    for (size_t i = 0; i < t->count; i++) {
        if (!isfinite(x[i])) {
            range->wrong = true;
            continue;
        }
        range->lo = fmin(range->lo, (double)x[i]);
        range->hi = fmax(range->hi, (double)x[i]);
    }
    range->seen = true;
}

static void calibrate_count(struct calibrate_range *range, const struct odb_tensor *t)
{
    const odb_f32 *x = t->data;
    double scale = CALIBRATE_BINS / (range->hi - range->lo);
    if (range->wrong || !(range->hi > range->lo))
        return;
    if (!range->bins)
        range->bins = odb_new_n(uint64_t, CALIBRATE_BINS);
    for (size_t i = 0; i < t->count; i++) {
        double at = ((double)x[i] - range->lo) * scale;
        range->bins[at >= CALIBRATE_BINS ? CALIBRATE_BINS - 1 : at > 0 ? (size_t)at : 0]++;
    }
}

static void calibrate_see(struct calibrate *c, int value, const struct odb_tensor *t)
{
    if (!t || t->kind != ODB_TENSOR || t->dtype != ODB_F32 || c->plan.fate[value] != CALIBRATE_OWN)
        return;
    if (c->counts)
        calibrate_count(&c->ranges[value], t);
    else
        calibrate_widen(&c->ranges[value], t);
}

static enum odb_status calibrate_after(void *payload, int node, enum odb_status status,
                                       struct odb_error *err)
{
    struct calibrate *c = payload;
    const struct odb_node *n = &c->graph->nodes[node];
    odb_hooks_progress(&c->options->hooks, "calibration", node, (size_t)node + 1,
                       c->graph->n_nodes);
    if (status != ODB_OK && c->why.code == ODB_OK)
        c->why = *err;
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0)
            calibrate_see(c, n->out[o], c->values[n->out[o]]);
    return ODB_OK;
}

static bool calibrate_cancelled(void *payload)
{
    struct calibrate *c = payload;
    const struct odb_search_hooks *hooks = &c->options->hooks;
    return hooks->cancelled && hooks->cancelled(hooks->payload);
}

static enum odb_status calibrate_run(struct calibrate *c, const struct odb_feeds *feeds,
                                     struct odb_error *err)
{
    size_t n = c->graph->n_values;
    c->values = odb_new_n(struct odb_tensor *, n + 1);
    for (size_t f = 0; f < feeds->n; f++) {
        int v = feeds->items[f].value;
        c->values[v] = odb_tensor_ref(feeds->items[f].tensor);
        calibrate_see(c, v, c->values[v]);
    }
    struct odb_cpu_run run = {.seed = 42,
                              .values = c->values,
                              .free_dead = true,
                              .after = calibrate_after,
                              .payload = c,
                              .cancelled = calibrate_cancelled};
    enum odb_status status = odb_cpu_execute(c->cpu, &run, err);
    for (size_t v = 0; v < n; v++)
        odb_tensor_unref(c->values[v]);
    free(c->values);
    return status;
}

/* One pass over all samples. */
static enum odb_status calibrate_pass(struct calibrate *c, struct odb_error *err)
{
    for (size_t s = 0; s < c->options->n_samples; s++) {
        struct odb_feeds *feeds = NULL;
        ODB_TRY(odb_hooks_cancelled(&c->options->hooks, err));
        odb_hooks_phase(&c->options->hooks, "calibration", c->graph->n_nodes);
        ODB_TRY(c->options->feeds(c->options->payload, s, &feeds, err));
        enum odb_status status = calibrate_run(c, feeds, err);
        odb_feeds_free(feeds);
        ODB_TRY(status);
    }
    for (size_t v = 0; v < c->graph->n_values && !c->counts; v++) /* constants keep their range */
        calibrate_see(c, (int)v, c->graph->values[v].init);
    return ODB_OK;
}

/* --- scales ----------------------------------------------------------------------------------- */

static void calibrate_leave(struct calibrate *c, int value, const char *why)
{
    odb_push(&c->out->left, odb_xasprintf("%s: %s", c->graph->values[value].name, why));
}

/* 0 is always among the numbers; where it stands is a whole code. */
static void calibrate_activation(struct calibrate *c, int value, double lo, double hi)
{
    const struct odb_calibrate_options *o = c->options;
    struct odb_encoding e;
    double codes = ldexp(1, o->bits) - 1;
    odb_encoding_init(&e, c->graph->values[value].name, 1);
    lo = fmin(lo, 0);
    hi = fmax(hi, 0);
    if (o->symmetric) {
        hi = fmax(hi, -lo);
        lo = -hi;
        codes--; /* -127 to 127 */
    }
    e.bits = o->bits;
    e.symmetric = o->symmetric;
    e.scale[0] = (odb_f32)((hi - lo) / codes);
    if (!(e.scale[0] >= FLT_MIN)) /* nothing but zeros, as far as float goes */
        e.scale[0] = 1;
    e.lo[0] = fmax(nearbyint(lo / (double)e.scale[0]), -codes);
    e.hi[0] = e.lo[0] + codes;
    odb_encodings_add(c->out->encodings, &e);
    odb_encoding_dispose(&e);
    c->out->activations++;
}

static void calibrate_weight(struct calibrate *c, int value)
{
    const struct odb_tensor *t = calibrate_constant(c->graph, value);
    const struct odb_node *node = &c->graph->nodes[c->plan.of[value]];
    int axis = c->options->per_tensor ? ODB_ENCODING_NO_AXIS : calibrate_axis(node, t->rank);
    struct odb_encoding e;
    struct odb_encoding_walk w;
    double most = ldexp(1, c->options->weight_bits - 1) - 1;
    odb_encoding_init(&e, c->graph->values[value].name, axis < 0 ? 1 : (size_t)t->dims[axis]);
    e.bits = c->options->weight_bits;
    e.symmetric = true;
    e.axis = axis;
    const odb_f32 *x = t->data;
    bool finite = true;
    for (odb_encoding_walk(&w, &e, t); odb_encoding_next(&w);)
        for (size_t i = w.begin; i < w.begin + w.n; i++) {
            finite = finite && isfinite(x[i]);
            e.scale[w.at] = fmaxf(e.scale[w.at], fabsf(x[i]));
        }
    for (size_t k = 0; k < e.n; k++) {
        e.scale[k] = (odb_f32)((double)e.scale[k] / most);
        if (!(e.scale[k] >= FLT_MIN))
            e.scale[k] = 1;
        e.lo[k] = -most;
        e.hi[k] = most;
    }
    if (!finite || !t->count)
        calibrate_leave(c, value, "it is not finite");
    else if (odb_encodings_add(c->out->encodings, &e))
        c->out->weights++;
    odb_encoding_dispose(&e);
}

/* The codes of input times weight are added to the bias's: so those scales multiplied are its. */
static void calibrate_bias(struct calibrate *c, int value)
{
    const struct odb_node *node = &c->graph->nodes[c->plan.of[value]];
    const struct odb_tensor *t = calibrate_constant(c->graph, value);
    const struct odb_encoding *in =
        odb_encodings_find(c->out->encodings, c->graph->values[node->in[0]].name);
    const struct odb_encoding *weight =
        odb_encodings_find(c->out->encodings, c->graph->values[node->in[1]].name);
    struct odb_encoding e;
    if (!in || !weight || in->n != 1 || t->rank != 1 || (weight->n != 1 && weight->n != t->count)) {
        calibrate_leave(c, value,
                        "its node's input or weight has no encoding that gives its scale");
        return;
    }
    odb_encoding_init(&e, c->graph->values[value].name, weight->n);
    e.bits = 32;
    e.symmetric = true;
    e.axis = weight->n > 1 ? 0 : ODB_ENCODING_NO_AXIS;
    for (size_t k = 0; k < e.n; k++) {
        e.scale[k] = fminf(fmaxf(in->scale[0] * weight->scale[k], FLT_MIN), FLT_MAX);
        e.lo[k] = -0x1p31;
        e.hi[k] = 0x1p31 - 1;
    }
    if (odb_encodings_add(c->out->encodings, &e))
        c->out->biases++;
    odb_encoding_dispose(&e);
}

static void calibrate_share(struct calibrate *c, int value)
{
    const struct odb_encoding *from =
        odb_encodings_find(c->out->encodings, c->graph->values[c->plan.of[value]].name);
    struct odb_encoding e;
    if (!from || from->n != 1)
        return;
    odb_encoding_init(&e, c->graph->values[value].name, 1);
    e.bits = from->bits;
    e.symmetric = from->symmetric;
    e.scale[0] = from->scale[0];
    e.lo[0] = from->lo[0];
    e.hi[0] = from->hi[0];
    if (odb_encodings_add(c->out->encodings, &e))
        c->out->activations++;
    odb_encoding_dispose(&e);
}

static void calibrate_value(struct calibrate *c, int value)
{
    const struct calibrate_range *range = &c->ranges[value];
    double lo, hi;
    if (c->plan.fate[value] == CALIBRATE_SHARED)
        calibrate_share(c, value);
    if (c->plan.fate[value] != CALIBRATE_OWN || !range->seen)
        return;
    if (range->wrong) {
        calibrate_leave(c, value, "it is not finite");
        return;
    }
    calibrate_keep(range, c->options, &lo, &hi);
    calibrate_activation(c, value, lo, hi);
}

/* Inputs and constants first, then what nodes make, in order: what shares finds what it shares. */
static void calibrate_scales(struct calibrate *c)
{
    size_t n = c->graph->n_values;
    for (size_t v = 0; v < n; v++)
        if (c->graph->values[v].producer == ODB_NO_NODE)
            calibrate_value(c, (int)v);
    for (size_t i = 0; i < c->graph->n_nodes; i++)
        for (int o = 0; o < c->graph->nodes[i].n_out; o++)
            if (c->graph->nodes[i].out[o] >= 0)
                calibrate_value(c, c->graph->nodes[i].out[o]);
    for (size_t v = 0; v < n; v++)
        if (c->plan.fate[v] == CALIBRATE_WEIGHT)
            calibrate_weight(c, (int)v);
    for (size_t v = 0; v < n; v++)
        if (c->plan.fate[v] == CALIBRATE_BIAS)
            calibrate_bias(c, (int)v);
}

/* --- all of it -------------------------------------------------------------------------------- */

static enum odb_status calibrate_work(struct calibrate *c, struct odb_error *err)
{
    size_t n = c->graph->n_values;
    ODB_TRY(odb_model_require_data(c->model, err));
    ODB_TRY(odb_cpu_new(&c->cpu, c->model, err));
    bool *kept = odb_new_n(bool, n + 1);
    for (size_t v = 0; v < n; v++) {
        kept[v] = odb_cpu_kept(c->cpu, (int)v);
        c->ranges[v].lo = INFINITY;
        c->ranges[v].hi = -INFINITY;
    }
    calibrate_plan(&c->plan, c->graph, kept);
    free(kept);
    ODB_TRY(calibrate_pass(c, err));
    c->counts = true;
    if (c->options->method != ODB_CALIBRATE_MINMAX)
        ODB_TRY(calibrate_pass(c, err));
    calibrate_scales(c);
    if (!c->out->activations && c->why.code != ODB_OK) {
        *err = c->why;
        return err->code;
    }
    if (c->why.code != ODB_OK)
        odb_push(&c->out->left,
                 odb_xasprintf("what follows a node that cannot be run: %.300s", c->why.what));
    if (c->out->activations)
        return ODB_OK;
    return odb_fail(err, ODB_UNSUPPORTED, "the model computes no float that could be quantised");
}

enum odb_status odb_calibrate(struct odb_calibrated *out, const struct odb_model *model,
                              const struct odb_calibrate_options *options, struct odb_error *err)
{
    struct calibrate c = {.model = model,
                          .graph = model->graph,
                          .options = options,
                          .ranges = odb_new_n(struct calibrate_range, model->graph->n_values + 1),
                          .out = out,
                          .why = ODB_ERROR_INIT};
    *out = (struct odb_calibrated){.encodings = odb_new(struct odb_encodings)};
    enum odb_status status = calibrate_work(&c, err);
    odb_cpu_free(c.cpu);
    calibrate_plan_dispose(&c.plan);
    for (size_t v = 0; v < c.graph->n_values; v++)
        free(c.ranges[v].bins);
    free(c.ranges);
    if (status != ODB_OK)
        odb_calibrated_dispose(out);
    return status;
}

void odb_calibrated_dispose(struct odb_calibrated *calibrated)
{
    odb_encodings_free(calibrated->encodings);
    for (size_t i = 0; i < calibrated->left.n; i++)
        free(calibrated->left.items[i]);
    free(calibrated->left.items);
    *calibrated = (struct odb_calibrated){.encodings = NULL};
}
