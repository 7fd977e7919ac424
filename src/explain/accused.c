/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/accused.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "reference/trace.h"

struct odb_tensor **accused_outputs(const struct accused *s)
{
    return odb_new_n(struct odb_tensor *, s->node->n_out);
}

void accused_drop(const struct accused *s, struct odb_tensor **out)
{
    for (int o = 0; out && o < s->node->n_out; o++) {
        odb_tensor_unref(out[o]);
        out[o] = NULL;
    }
}

/* Floats in the types of the target's. */
static enum odb_status accused_round(const struct accused *s, struct odb_tensor **out,
                                     struct odb_error *err)
{
    for (int o = 0; o < s->node->n_out; o++) {
        enum odb_dtype real = s->y[o] ? odb_tensor_real(s->y[o]) : ODB_UNDEFINED;
        struct odb_tensor *rounded = NULL;
        if (!out[o] || real == ODB_UNDEFINED || odb_tensor_real(out[o]) == ODB_UNDEFINED ||
            odb_tensor_real(out[o]) == real)
            continue;
        ODB_TRY(odb_tensor_cast_floats(&rounded, out[o], real, err));
        odb_tensor_unref(out[o]);
        out[o] = rounded;
    }
    return ODB_OK;
}

enum odb_status accused_run(const struct accused *s, enum odb_precision precision, uint64_t seed,
                            odb_cpu_change_fn *change, void *payload, struct odb_tensor **out,
                            struct odb_error *err)
{
    enum odb_status status = odb_cpu_node_changed(s->q->cpu, s->node->index, precision, seed, s->in,
                                                  change, payload, out, err);
    if (status == ODB_OK && precision == ODB_PREC_F64)
        status = accused_round(s, out, err);
    if (status != ODB_OK)
        accused_drop(s, out);
    return status;
}

/* What overflow and rounding give in a type of eight bits is for the operator's attributes to say:
 * there its own codes count, as in blame. */
static void accused_codes(struct accused *s)
{
    for (int o = 0; o < s->node->n_out; o++) {
        enum odb_dtype real = s->y[o] ? odb_tensor_real(s->y[o]) : ODB_UNDEFINED;
        if (real == ODB_UNDEFINED || odb_dtype_info(real)->bits > 8 || !s->native[o])
            continue;
        odb_tensor_unref(s->r[o]);
        s->r[o] = odb_tensor_ref(s->native[o]);
    }
}

/* Integers are decisions, and a tie in double is none in float: where the operator in the model's
 * own types decides more as the target did, its decisions count. */
static void accused_decide(struct accused *s)
{
    struct residual native;
    residual_measure(&native, &s->target, s->native);
    if (!s->base.comparable || !native.comparable || native.differ >= s->base.differ)
        return;
    for (int o = 0; o < s->node->n_out; o++) {
        if (!s->y[o] || !s->native[o] || odb_tensor_real(s->y[o]) != ODB_UNDEFINED)
            continue;
        odb_tensor_unref(s->r[o]);
        s->r[o] = odb_tensor_ref(s->native[o]);
    }
    residual_measure(&s->base, &s->target, s->r);
}

static double accused_floor(const struct accused *s)
{
    double floor = 0;
    for (int o = 0; o < s->node->n_out; o++)
        if (s->y[o])
            floor = fmax(floor, odb_noise_floor(s->target.rms[o], s->y[o]->dtype));
    return floor;
}

static int accused_shown(const struct accused *s)
{
    int shown = -1;
    double most = -1;
    for (int o = 0; o < s->node->n_out; o++) {
        struct odb_gap gap;
        if (!s->target.wide[o] || !s->r[o])
            continue;
        odb_gap_measure(&gap, s->y[o], s->r[o]);
        double error = gap.comparable && gap.pattern ? gap.error : INFINITY;
        if (error > most) {
            most = error;
            shown = o;
        }
    }
    return shown;
}

bool accused_wrong(const struct accused *s, int o, double y, double r)
{
    bool same = y == r || (isnan(y) && isnan(r));
    return !same && !(fabs(y - r) <= s->q->factor * s->floor * s->target.rms[o]);
}

static size_t accused_count(const struct accused *s)
{
    const struct odb_tensor *r = s->shown < 0 ? NULL : s->r[s->shown];
    size_t n = 0;
    if (!r || !odb_tensor_same_shape(r, s->y[s->shown]))
        return 0;
    const odb_f64 *y = s->target.wide[s->shown]->data;
    for (size_t i = 0; i < r->count; i++)
        n += accused_wrong(s, s->shown, y[i], odb_tensor_f64(r, i));
    return n;
}

enum odb_status accused_replay(struct accused *s, struct odb_error *err)
{
    s->r = accused_outputs(s);
    s->native = accused_outputs(s);
    if (!s->op || odb_cpu_random(s->q->cpu, s->q->node))
        return odb_fail(err, ODB_UNSUPPORTED, "no kernel of its own replays it");
    ODB_TRY(accused_run(s, ODB_PREC_F64, 0, NULL, NULL, s->r, err));
    return accused_run(s, ODB_PREC_NATIVE, 0, NULL, NULL, s->native, err);
}

void accused_init(struct accused *s, const struct odb_explain_question *q,
                  struct odb_tensor *const *in, struct odb_tensor *const *out)
{
    const struct odb_graph *graph = q->model->graph;
    const struct odb_node *node = &graph->nodes[q->node];
    *s = (struct accused){.q = q,
                          .graph = graph,
                          .node = node,
                          .op = odb_cpu_op(q->cpu, q->node),
                          .in = in,
                          .y = out};
}

enum odb_status accused_measure(struct accused *s, struct odb_error *err)
{
    accused_codes(s);
    ODB_TRY(measured_make(&s->target, s->y, s->r, s->node->n_out, err));
    s->floor = accused_floor(s);
    residual_measure(&s->base, &s->target, s->r);
    accused_decide(s);
    s->shown = accused_shown(s);
    s->n_wrong = accused_count(s);
    return ODB_OK;
}

enum odb_status accused_make(struct accused *s, const struct odb_explain_question *q,
                             struct odb_tensor *const *in, struct odb_tensor *const *out,
                             struct odb_error *err)
{
    accused_init(s, q, in, out);
    ODB_TRY(accused_replay(s, err));
    return accused_measure(s, err);
}

void accused_dispose(struct accused *s)
{
    accused_drop(s, s->r);
    accused_drop(s, s->native);
    free(s->r);
    free(s->native);
    measured_dispose(&s->target);
}
