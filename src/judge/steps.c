/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A quantiser decides for each element, and near the middle between two steps an honest target may
 * decide otherwise than the reference. Few elements lie there, so noisy runs may meet none of those
 * that a target tipped. But a quantiser is monotone: what it makes of honest values lies between
 * what it makes of the least and of the greatest of them. So no run need meet anything.
 */
#include "judge/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define STEPS_ULPS 4  /* of an element that dividing and multiplying may take besides */
#define STEPS_FEW 100 /* one element of so many may be a step off */

/* From the quantiser's input on, as the reference does it. */
struct steps {
    struct odb_trace *trace;         /* borrowed */
    int value, x;                    /* the value; what the quantiser reads */
    bool *tail;                      /* owned; [n_nodes] the quantiser and what follows it */
    double scale;                    /* the largest of the quantiser's */
    const struct odb_tensor *before; /* borrowed: what x is, but for noise */
};

/* --- the quantiser -----------------------------------------------------------------------------
 */

static double steps_scale(const struct steps *s, const struct odb_node *quantiser)
{
    const struct odb_tensor *t = odb_trace_value(s->trace, quantiser->in[1]);
    double most = 0;
    for (size_t i = 0; t && t->kind == ODB_TENSOR && i < t->count; i++)
        most = fmax(most, fabs(odb_tensor_f64(t, i)));
    return most;
}

/* Whether what a node reads besides its first input is a weight, or of another type, as a shape and
 * an index are: no second number that was computed. */
static bool steps_reads_one(const struct odb_trace *trace, const struct odb_node *node)
{
    const struct odb_tensor *first = odb_trace_value(trace, node->in[0]);
    if (node->n_in < 2 || node->in[1] < 0)
        return true;
    const struct odb_tensor *other = odb_trace_value(trace, node->in[1]);
    return trace->model->graph->values[node->in[1]].init ||
           (first && other && other->dtype != first->dtype);
}

/* Nodes that keep the order of what they read, or turn it round, so that a bound stays a bound.
 * Sums, magnitudes and indices of the largest element do not. */
static bool steps_carries(const struct odb_trace *trace, int index)
{
    const struct odb_node *node = &trace->model->graph->nodes[index];
    const struct odb_op *op = odb_cpu_op(trace->cpu, index);
    if (!strcmp(node->op_type, "DequantizeLinear") || !strcmp(node->op_type, "Cast"))
        return true;
    if (!op || !(op->flags & ODB_OP_EXACT) || (op->flags & ODB_OP_BOUNDARY) || node->n_in > 2 ||
        node->n_out != 1 || node->in[0] < 0 || !strcmp(node->op_type, "Abs"))
        return false;
    const struct odb_tensor *in = odb_trace_value(trace, node->in[0]);
    const struct odb_tensor *out = odb_trace_value(trace, node->out[0]);
    return in && out && in->dtype == out->dtype && steps_reads_one(trace, node);
}

/* Finds the quantiser that the value comes from; false: there is none. */
static bool steps_find(struct steps *s)
{
    const struct odb_graph *graph = s->trace->model->graph;
    for (int v = s->value;;) {
        int producer = v < 0 ? ODB_NO_NODE : graph->values[v].producer;
        if (producer == ODB_NO_NODE)
            return false;
        const struct odb_node *node = &graph->nodes[producer];
        bool quantises = !strcmp(node->op_type, "QuantizeLinear");
        if (node->n_in < (quantises ? 2 : 1) || !(quantises || steps_carries(s->trace, producer)))
            return false;
        s->tail[producer] = true;
        v = node->in[0];
        if (!quantises)
            continue;
        s->x = v;
        s->scale = node->in[1] < 0 ? 0 : steps_scale(s, node);
        return s->trace->ref[v] && s->trace->golden[v];
    }
}

/* --- honest values -----------------------------------------------------------------------------
 */

/* What the tail makes of what is before it, moved by so much of noise and of steps. */
static enum odb_status steps_run(const struct steps *s, double by, double steps,
                                 struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_trace *trace = s->trace;
    size_t n = trace->model->graph->n_values;
    double eps = odb_dtype_info(trace->ref[s->x]->dtype)->eps;
    struct odb_tensor **values = odb_new_n(struct odb_tensor *, n), *x = NULL;
    struct odb_cpu_run run = {
        .precision = trace->precision, .seed = trace->seed, .values = values, .nodes = s->tail};
    enum odb_status status = odb_tensor_clone(&x, trace->ref[s->x], err);
    for (size_t i = 0; status == ODB_OK && i < x->count; i++) {
        double v = odb_tensor_f64(s->before, i), own = fabs(by) + STEPS_ULPS * eps * fabs(v);
        odb_store_f64(x->dtype, x->data, i, v + copysign(own, by) + steps * s->scale);
    }
    for (size_t v = 0; v < n; v++) {
        int producer = trace->model->graph->values[v].producer;
        if (producer == ODB_NO_NODE || !s->tail[producer])
            values[v] = odb_tensor_ref(odb_trace_value(trace, (int)v));
    }
    odb_tensor_unref(values[s->x]);
    values[s->x] = x;
    if (status == ODB_OK)
        status = odb_cpu_execute(trace->cpu, &run, err);
    *out = status == ODB_OK ? odb_tensor_ref(values[s->value]) : NULL;
    for (size_t v = 0; v < n; v++)
        odb_tensor_unref(values[v]);
    free(values);
    return status;
}

/* eps: of the type; what comes back as a float is rounded once more. */
static bool steps_between(double v, double a, double b, double eps)
{
    double slack = STEPS_ULPS * eps * fmax(fabs(a), fabs(b));
    return (v >= fmin(a, b) - slack && v <= fmax(a, b) + slack) ||
           (isnan(v) && (isnan(a) || isnan(b)));
}

/* Counts the elements of t that are not between what the tail makes of the least and the greatest;
 * *lo: the former, the caller's. False: it cannot. */
static enum odb_status steps_count(const struct steps *s, double by, double steps,
                                   const struct odb_tensor *t, size_t *off, struct odb_gap *apart,
                                   bool *known, struct odb_error *err)
{
    struct odb_tensor *lo = NULL, *hi = NULL;
    enum odb_status status = steps_run(s, -by, -steps, &lo, err);
    if (status == ODB_OK)
        status = steps_run(s, by, steps, &hi, err);
    *off = 0;
    *known = lo && hi && odb_tensor_same_shape(lo, t) && lo->dtype == t->dtype;
    double eps = odb_dtype_is_float(t->dtype) ? odb_dtype_info(t->dtype)->eps : 0;
    for (size_t i = 0; *known && i < t->count; i++)
        *off +=
            !steps_between(odb_tensor_f64(t, i), odb_tensor_f64(lo, i), odb_tensor_f64(hi, i), eps);
    if (*known)
        odb_gap_measure(apart, hi, lo);
    odb_tensor_unref(lo);
    odb_tensor_unref(hi);
    return status;
}

enum odb_status odb_steps_measure(struct odb_steps *out, struct odb_trace *trace, int value,
                                  const struct odb_tensor *before, const struct odb_tensor *t,
                                  double factor, struct odb_error *err)
{
    struct steps s = {
        .trace = trace, .value = value, .tail = odb_new_n(bool, trace->model->graph->n_nodes + 1)};
    enum odb_status status = ODB_OK;
    struct odb_gap gap, ignored;
    double noise = 0;
    *out = (struct odb_steps){.n = t->count};
    bool found = t->kind == ODB_TENSOR && steps_find(&s);
    s.before = found && !before ? trace->golden[s.x] : before;
    found = found && odb_tensor_same_shape(s.before, trace->ref[s.x]);
    if (found)
        status = odb_trace_noise(trace, s.x, INFINITY, factor, &noise, err);
    if (found && status == ODB_OK) {
        odb_gap_measure(&gap, trace->ref[s.x], trace->golden[s.x]);
        double by = factor * noise * gap.rms;
        if (isfinite(by))
            status = steps_count(&s, by, 0, t, &out->off, &gap, &out->known, err);
        out->spread = gap.error;
        if (status == ODB_OK && out->off)
            status = steps_count(&s, by, 1, t, &out->wide, &ignored, &out->known, err);
    }
    free(s.tail);
    return status;
}

bool odb_steps_honest(const struct odb_steps *steps)
{
    return steps->known && !steps->wide && steps->off * STEPS_FEW <= steps->n;
}
