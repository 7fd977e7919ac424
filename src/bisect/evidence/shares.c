/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where no single node is to blame, or several are: how much of the error of an output each brings.
 * A node's own deviation (the target's value less the reference operator's on the same inputs) is
 * put into golden, and the reference carries it to the output. What arrives, projected on the error
 * that is there, is the node's share; as long as errors are small, shares add up to one.
 *
 * The nodes whose own deviation is largest are asked first, for as long as the whole takes no
 * longer than some runs of the reference.
 */
#include "bisect/evidence/shares.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "run/hooks.h"
#include "report/report.h"
#include "reference/trace.h"
#include "run/value_report.h"

#define SHARES_NODES 24
#define SHARES_KEPT 10
#define SHARES_LEAST 0.01
#define SHARES_SECONDS 1.0

struct shares {
    const struct search_case *c; /* borrowed */
    struct findings *f;          /* borrowed */
    int output;
    bool *up;      /* owned; [n_nodes] before the output */
    double *error; /* owned; [count] of the output */
    size_t count;
    double norm; /* of error, squared */
};

/* t less u; false: they cannot be compared, or a place is not finite. */
static bool shares_difference(const struct odb_tensor *t, const struct odb_tensor *u, double *out)
{
    for (size_t i = 0; i < t->count; i++) {
        out[i] = odb_tensor_f64(t, i) - odb_tensor_f64(u, i);
        if (!isfinite(out[i]))
            return false;
    }
    return true;
}

static bool shares_comparable(const struct odb_tensor *t, const struct odb_tensor *u)
{
    return t && u && t->kind == ODB_TENSOR && u->kind == ODB_TENSOR && t->count > 0 &&
           odb_tensor_same_shape(t, u) && odb_tensor_real(t) != ODB_UNDEFINED &&
           odb_tensor_real(u) != ODB_UNDEFINED;
}

/* The output that is off the most and can be taken apart. */
static int shares_output(const struct search_case *c, const struct findings *f)
{
    int worst = ODB_NO_VALUE;
    for (size_t o = 0; o < c->n_outputs; o++) {
        int v = c->outputs[o];
        if (f->verdicts[o].verdict == ODB_VERDICT_FAIL && f->given[v] &&
            shares_comparable(f->given[v], c->trace->golden[v]) &&
            (worst < 0 || f->values[v].error.v > f->values[worst].error.v))
            worst = v;
    }
    return worst;
}

static int shares_by_error(const void *a, const void *b)
{
    const struct odb_contribution *x = a, *y = b;
    return x->share < y->share ? 1 : x->share > y->share ? -1 : x->node - y->node;
}

/* Nodes before the output by their own deviation, times what they make of nothing else. */
static size_t shares_candidates(const struct shares *s, struct odb_contribution *list)
{
    const struct search_case *c = s->c;
    const struct findings *f = s->f;
    size_t count = 0;
    for (size_t n = 0; n < c->graph->n_nodes; n++) {
        double most = 0;
        for (int o = 0; o < c->graph->nodes[n].n_out && s->up[n]; o++) {
            int v = c->graph->nodes[n].out[o];
            const struct odb_value_report *report = v < 0 ? NULL : &f->values[v];
            if (report && report->local_error.known && isfinite(report->local_error.v))
                most = fmax(most, report->local_error.v);
        }
        if (most > 0)
            list[count++] = (struct odb_contribution){(int)n, most};
    }
    qsort(list, count, sizeof *list, shares_by_error);
    return ODB_MIN(count, (size_t)SHARES_NODES);
}

/* Golden outputs of the node with its own deviation added, into values; false: not to be had. */
static bool shares_deviate(const struct shares *s, int index, struct odb_tensor **values)
{
    const struct search_case *c = s->c;
    const struct findings *f = s->f;
    const struct odb_node *node = &c->graph->nodes[index];
    struct odb_tensor **in = odb_new_n(struct odb_tensor *, node->n_in);
    struct odb_tensor **exact = odb_new_n(struct odb_tensor *, node->n_out);
    struct odb_error ignored = ODB_ERROR_INIT;
    bool had = true;
    for (int i = 0; i < node->n_in; i++) {
        int v = node->in[i];
        in[i] = v < 0         ? NULL
                : f->given[v] ? f->given[v]
                              : (struct odb_tensor *)odb_trace_value(c->trace, v);
        had = had && (v < 0 || in[i]);
    }
    had = had && odb_cpu_node(c->trace->cpu, index, ODB_PREC_F64, c->trace->seed, in, f->given,
                              exact, &ignored) == ODB_OK;
    for (int o = 0; o < node->n_out && had; o++) {
        int v = node->out[o];
        struct odb_tensor *sum = NULL;
        if (v < 0 || !shares_comparable(f->given[v], exact[o]) ||
            !shares_comparable(exact[o], c->trace->golden[v]) ||
            odb_tensor_new(&sum, ODB_F64, exact[o]->rank, exact[o]->dims, &ignored) != ODB_OK)
            continue;
        double *d = (double *)sum->data;
        had = shares_difference(f->given[v], exact[o], d);
        for (size_t i = 0; i < sum->count; i++)
            d[i] += odb_tensor_f64(c->trace->golden[v], i);
        odb_tensor_unref(values[v]);
        values[v] = sum;
    }
    for (int o = 0; o < node->n_out; o++)
        odb_tensor_unref(exact[o]);
    free(exact);
    free(in);
    return had;
}

/* Nodes between this one and the output, without itself. */
static bool *shares_way(const struct shares *s, int index)
{
    const struct odb_graph *graph = s->c->graph;
    bool *behind = odb_new_n(bool, graph->n_nodes);
    behind[index] = true;
    for (size_t n = (size_t)index + 1; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        for (size_t i = 0; i < odb_node_n_reads(node) && s->up[n]; i++) {
            int v = odb_node_reads(node, i);
            int producer = v < 0 ? ODB_NO_NODE : graph->values[v].producer;
            behind[n] |= producer != ODB_NO_NODE && behind[producer];
        }
    }
    behind[index] = false;
    return behind;
}

/* The share that the node's own deviation has in the output's error. */
static struct odb_number shares_of(const struct shares *s, int index)
{
    const struct search_case *c = s->c;
    size_t n = c->graph->n_values;
    struct odb_tensor **values = odb_new_n(struct odb_tensor *, n);
    struct odb_number share = {0};
    struct odb_error ignored = ODB_ERROR_INIT;
    bool *way = shares_way(s, index), *keep = odb_new_n(bool, n);
    keep[s->output] = true;
    for (size_t v = 0; v < n; v++) {
        int producer = c->graph->values[v].producer;
        const struct odb_tensor *t =
            producer == ODB_NO_NODE ? odb_trace_value(c->trace, (int)v) : c->trace->golden[v];
        values[v] = t && (producer == ODB_NO_NODE || !way[producer]) ? odb_tensor_ref(t) : NULL;
    }
    struct odb_cpu_run run = {.precision = ODB_PREC_F64,
                              .seed = c->trace->seed,
                              .values = values,
                              .nodes = way,
                              .free_dead = true,
                              .overwrite = true,
                              .keep = keep,
                              .cancelled = c->options->hooks.cancelled,
                              .payload = c->options->hooks.payload};
    if (shares_deviate(s, index, values) &&
        odb_cpu_execute(c->trace->cpu, &run, &ignored) == ODB_OK &&
        shares_comparable(values[s->output], c->trace->golden[s->output])) {
        double *carried = odb_new_n(double, s->count), sum = 0;
        if (shares_difference(values[s->output], c->trace->golden[s->output], carried)) {
            for (size_t i = 0; i < s->count; i++)
                sum += carried[i] * s->error[i];
            share = ODB_NUMBER(sum / s->norm);
        }
        free(carried);
    }
    for (size_t v = 0; v < n; v++)
        odb_tensor_unref(values[v]);
    free(values);
    free(keep);
    free(way);
    return share;
}

static enum odb_status shares_ask(struct shares *s, struct odb_error *err)
{
    const struct search_case *c = s->c;
    struct findings *f = s->f;
    struct odb_contribution *list = odb_new_n(struct odb_contribution, c->graph->n_nodes);
    size_t n = shares_candidates(s, list), had = 0;
    double end = odb_clock() + fmax(SHARES_SECONDS, 2 * c->trace->made.seconds);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < n && status == ODB_OK && odb_clock() < end; i++) {
        status = odb_hooks_cancelled(&c->options->hooks, err);
        struct odb_number share =
            status == ODB_OK ? shares_of(s, list[i].node) : (struct odb_number){0};
        if (share.known && isfinite(share.v) && fabs(share.v) >= SHARES_LEAST)
            list[had++] = (struct odb_contribution){list[i].node, share.v};
        odb_hooks_progress(&c->options->hooks, "shares", list[i].node, i + 1, n);
    }
    qsort(list, had, sizeof *list, shares_by_error);
    for (size_t i = 0; i < had && i < SHARES_KEPT && status == ODB_OK; i++)
        findings_contribute(f, list[i]);
    free(list);
    return status;
}

enum odb_status shares_fill(const struct search_case *c, struct findings *f, struct odb_error *err)
{
    struct shares s = {.c = c, .f = f, .output = shares_output(c, f)};
    enum odb_status status = ODB_OK;
    if (s.output == ODB_NO_VALUE)
        return ODB_OK;
    const struct odb_tensor *t = f->given[s.output];
    s.up = odb_new_n(bool, c->graph->n_nodes);
    s.count = t->count;
    s.error = odb_new_n(double, s.count);
    odb_graph_ancestors(c->graph, &s.output, 1, c->drawn, s.up);
    bool finite = shares_difference(t, c->trace->golden[s.output], s.error);
    for (size_t i = 0; i < s.count; i++)
        s.norm += s.error[i] * s.error[i];
    if (finite && s.norm > 0) {
        findings_contributions_to(f, s.output);
        findings_step_begin(f, "shares");
        status = shares_ask(&s, err);
        if (status == ODB_OK)
            findings_step_end(f, "shares", "what the error of each node brings to the output");
    }
    free(s.error);
    free(s.up);
    return status;
}
