/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "precision/precision_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/hooks.h"
#include "reference/trace.h"
#include "executor/executor.h"

/* --- the local error of every node ------------------------------------------------------------ */

/* What the type makes of a node on the values of one run. */
static enum odb_status precision_replay(struct precision *p, const struct odb_trace *trace,
                                        int index, struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_node *node = &p->graph->nodes[index];
    enum odb_precision as = p->options->to == ODB_F16    ? ODB_PREC_F16
                            : p->options->to == ODB_BF16 ? ODB_PREC_BF16
                                                         : ODB_PREC_NATIVE;
    struct odb_tensor **in = odb_new_n(struct odb_tensor *, (size_t)node->n_in + 1);
    enum odb_status status = ODB_OK;
    for (int i = 0; i < node->n_in && status == ODB_OK; i++) {
        const struct odb_tensor *t = node->in[i] < 0 ? NULL : odb_trace_value(trace, node->in[i]);
        if (node->in[i] >= 0)
            status = odb_convert_operand(p->convert, index, i, t, &in[i], err);
    }
    if (status == ODB_OK)
        status = odb_cpu_node(trace->cpu, index, as, trace->seed, in, NULL, out, err);
    for (int i = 0; i < node->n_in; i++)
        odb_tensor_unref(in[i]);
    free(in);
    return status;
}

static enum odb_status precision_measure_case(struct precision *p, const struct odb_trace *trace,
                                              int index, struct odb_error *err)
{
    const struct odb_node *node = &p->graph->nodes[index];
    struct odb_precision_node *about = &p->result->nodes[index];
    struct odb_tensor **out = odb_new_n(struct odb_tensor *, (size_t)node->n_out + 1);
    enum odb_status status = precision_replay(p, trace, index, out, err);
    bool ran = status == ODB_OK;
    for (int o = 0; ran && o < node->n_out; o++) {
        const struct odb_tensor *ref =
            node->out[o] < 0 ? NULL : odb_trace_value(trace, node->out[o]);
        if (!ref || !out[o])
            continue;
        about->error = fmax(about->error, odb_relative_distance(out[o], ref));
        about->measured = true;
    }
    for (int o = 0; o < node->n_out; o++)
        odb_tensor_unref(out[o]);
    free(out);
    return status == ODB_CANCELLED || status == ODB_E_NOMEM ? status : ODB_OK;
}

/* Worst first: what could not be measured is as bad as can be. */
static int precision_worse(const struct odb_precision_node *nodes, int a, int b)
{
    double x = nodes[a].measured ? nodes[a].error : INFINITY;
    double y = nodes[b].measured ? nodes[b].error : INFINITY;
    return x > y ? -1 : x < y ? 1 : a - b;
}

static void precision_sort(const struct odb_precision_node *nodes, int *order, size_t n, int *room)
{
    size_t half = n / 2, i = 0, k = half, at = 0;
    if (n < 2)
        return;
    precision_sort(nodes, order, half, room);
    precision_sort(nodes, order + half, n - half, room);
    while (i < half || k < n)
        room[at++] = k == n || (i < half && precision_worse(nodes, order[i], order[k]) <= 0)
                         ? order[i++]
                         : order[k++];
    memcpy(order, room, n * sizeof *order);
}

enum odb_status precision_rank(struct precision *p, struct odb_error *err)
{
    const char *phase = "local errors";
    odb_hooks_phase(&p->options->hooks, phase, p->n_free);
    for (size_t i = 0; i < p->n_free; i++) {
        ODB_TRY(odb_hooks_cancelled(&p->options->hooks, err));
        for (size_t c = 0; c < p->n_cases; c++)
            ODB_TRY(precision_measure_case(p, p->cases[c].trace, p->order[i], err));
        odb_hooks_progress(&p->options->hooks, phase, p->order[i], i + 1, p->n_free);
    }
    int *room = odb_new_n(int, p->n_free + 1);
    precision_sort(p->result->nodes, p->order, p->n_free, room);
    free(room);
    return ODB_OK;
}

/* --- why ------------------------------------------------------------------------------------- */

static double precision_reach(const struct precision *p, int value)
{
    double most = 0;
    for (size_t c = 0; value >= 0 && c < p->n_cases; c++) {
        const struct odb_tensor *t = odb_trace_value(p->cases[c].trace, value);
        if (!t || t->kind != ODB_TENSOR || t->dtype != ODB_F32)
            continue;
        const odb_f32 *x = t->data;
        for (size_t i = 0; i < t->count; i++)
            if (isfinite(x[i]) && fabs(x[i]) > fabs(most))
                most = x[i];
    }
    return most;
}

/* The value of the node that leaves the type's range; ODB_NO_VALUE: none does. */
static int precision_leaves(const struct precision *p, const struct odb_node *node, double *reach)
{
    double max = odb_dtype_info(p->options->to)->max;
    for (int i = 0; i < node->n_in + node->n_out; i++) {
        int v = i < node->n_out ? node->out[i] : node->in[i - node->n_out];
        *reach = precision_reach(p, v);
        if (fabs(*reach) > max)
            return v;
    }
    return ODB_NO_VALUE;
}

static char *precision_why(const struct precision *p, int index)
{
    const struct odb_node *node = &p->graph->nodes[index];
    const struct odb_precision_node *about = &p->result->nodes[index];
    const struct odb_dtype_info *type = odb_dtype_info(p->options->to);
    double reach = 0;
    int beyond = p->options->to == ODB_I8 ? ODB_NO_VALUE : precision_leaves(p, node, &reach);
    if (beyond != ODB_NO_VALUE)
        return odb_xasprintf("overflow: %s reaches %.6g, beyond %.6g",
                             p->graph->values[beyond].name, reach, type->max);
    if (!about->measured)
        return odb_xstrdup("the reference cannot run it in this type");
    if (isinf(about->error))
        return odb_xstrdup("NaN, Inf or another choice where float32 has none");
    if (p->options->to != ODB_I8 && about->error > 16 * type->eps)
        return odb_xasprintf("ill-conditioned: rounding by %.2g becomes an error of %.2g",
                             type->eps / 2, about->error);
    return odb_xstrdup(p->options->to == ODB_I8 ? "quantising alone" : "rounding alone");
}

void precision_conclude(struct precision *p)
{
    struct odb_precision_result *r = p->result;
    for (size_t n = 0; n < p->graph->n_nodes; n++) {
        struct odb_precision_node *about = &r->nodes[n];
        enum odb_convert_class class = odb_convert_class(p->convert, (int)n);
        const char *why = odb_convert_why(p->convert, (int)n);
        if (class == ODB_CONVERT_NOTHING)
            continue;
        if (class == ODB_CONVERT_STAYS) {
            bool beyond = odb_convert_beyond(p->convert, (int)n);
            about->fate = beyond ? ODB_FATE_BEYOND : ODB_FATE_FIXED;
            about->why = odb_xstrdup(why);
            r->n_beyond += beyond;
            r->n_fixed += !beyond;
        } else {
            about->fate = p->keep[n] ? ODB_FATE_KEPT : ODB_FATE_CONVERTED;
            about->why = p->keep[n] ? precision_why(p, (int)n) : NULL;
            r->n_kept += p->keep[n];
        }
    }
    r->n_free = p->n_free;
    r->n_nodes = r->n_free + r->n_beyond;
}

/* A target that passes where a value leaves the type does not compute that value in the type. Only
 * the reference is known to round wherever the model says so. */
static void precision_masked(struct precision *p)
{
    const struct odb_dtype_info *type = odb_dtype_info(p->options->to);
    int first = ODB_NO_VALUE;
    double reach = 0, most = 0;
    size_t n = 0;
    for (size_t t = 0; t < p->options->n_targets; t++)
        if (odb_executor_is_reference(p->options->targets[t]))
            return;
    for (size_t i = 0; p->options->to != ODB_I8 && i < p->graph->n_nodes; i++) {
        int v = p->result->nodes[i].fate == ODB_FATE_CONVERTED
                    ? precision_leaves(p, &p->graph->nodes[i], &reach)
                    : ODB_NO_VALUE;
        if (v == ODB_NO_VALUE)
            continue;
        first = n ? first : v;
        most = n++ ? most : reach;
    }
    if (n)
        precision_note(p, odb_xasprintf("%zu of the nodes converted read or make what %s cannot "
                                        "hold (%s reaches %.6g), and the target passes all the "
                                        "same: it does not compute them in that type, and what "
                                        "does will overflow. --target cpu finds a model for it",
                                        n, type->name, p->graph->values[first].name, most));
}

/* Many kept nodes of which none is worse than the type is with every node. */
static void precision_diffuse(struct precision *p)
{
    const struct odb_dtype_info *type = odb_dtype_info(p->options->to);
    double worst = 0;
    if (p->options->to == ODB_I8 || p->result->n_kept < PRECISION_FEW)
        return;
    for (size_t n = 0; n < p->graph->n_nodes; n++)
        if (p->result->nodes[n].fate == ODB_FATE_KEPT)
            worst =
                fmax(worst, p->result->nodes[n].measured ? p->result->nodes[n].error : INFINITY);
    if (worst <= 16 * type->eps)
        precision_note(p, odb_xasprintf("no kept node stands out: alone, the type costs none of "
                                        "them more than %.2g, and the errors of many add up; a "
                                        "tolerance a little wider may need far fewer",
                                        worst));
}

void precision_remark(struct precision *p)
{
    if (p->result->written)
        precision_masked(p);
    precision_diffuse(p);
}
