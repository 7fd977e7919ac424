/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the outputs would be if one value were off: the nodes behind it are run again in float64,
 * and all else is as it was.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "interpret/cpu.h"
#include "run/feeds.h"
#include "suspects/suspects_int.h"

struct replaying {
    const struct suspects *s;
    struct odb_tensor **values; /* [n_values] borrowed */
};

/* float64 everywhere but where the model itself rounds: a Cast does as it says. A node that fails
 * leaves its values out. */
static enum odb_status replay_after(void *payload, int node, enum odb_status status,
                                    struct odb_error *err)
{
    const struct replaying *r = payload;
    const struct odb_node *n = &r->s->graph->nodes[node];
    struct odb_tensor *t = n->n_out && n->out[0] >= 0 ? r->values[n->out[0]] : NULL, *own;
    if (status != ODB_OK || strncmp(n->op_type, "Cast", 4) || !t || t->dtype != ODB_F64 ||
        (t->declared != ODB_F16 && t->declared != ODB_BF16))
        return status == ODB_CANCELLED ? status : ODB_OK;
    ODB_TRY(odb_tensor_clone(&own, t, err));
    odb_round_f64(t->declared, own->data, own->count);
    odb_tensor_unref(t);
    r->values[n->out[0]] = own;
    return ODB_OK;
}

static bool replay_cancelled(void *payload)
{
    const struct replaying *r = payload;
    const struct odb_search_hooks *hooks = &r->s->options->search->hooks;
    if (r->s->result->stopped)
        return odb_clock() > r->s->deadline;
    return hooks->cancelled && hooks->cancelled(hooks->payload);
}

/* nodes: those that run, and what they leave behind goes; NULL: all run, and all stays. */
static enum odb_status replay_execute(const struct suspects *s, enum odb_precision precision,
                                      struct odb_tensor **values, const bool *nodes,
                                      struct odb_error *err)
{
    struct replaying replaying = {s, values};
    struct odb_cpu_run run = {.precision = precision,
                              .seed = s->options->search->seed,
                              .values = values,
                              .nodes = nodes,
                              .free_dead = nodes != NULL,
                              .after = replay_after,
                              .payload = &replaying,
                              .cancelled = replay_cancelled};
    return odb_cpu_execute(s->cpu, &run, err);
}

static enum odb_status replay_all(struct suspects *s, const struct odb_feeds *feeds,
                                  enum odb_precision precision, struct odb_tensor ***values,
                                  struct odb_error *err)
{
    struct odb_tensor **all = odb_new_n(struct odb_tensor *, s->graph->n_values + 1);
    for (size_t f = 0; f < feeds->n; f++)
        all[feeds->items[f].value] = odb_tensor_ref(feeds->items[f].tensor);
    enum odb_status status = replay_execute(s, precision, all, NULL, err);
    if (status == ODB_OK)
        *values = all;
    else
        suspects_drop(s, all);
    return status;
}

enum odb_status suspects_compute(struct suspects *s, const struct odb_feeds *feeds,
                                 enum odb_precision precision, struct odb_tensor ***values,
                                 struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = replay_all(s, feeds, precision, values, &why);
    if (status == ODB_CANCELLED && suspects_stopping(s))
        status = replay_all(s, feeds, precision, values, &why);
    if (status != ODB_OK)
        *err = why;
    return status;
}

void suspects_drop(const struct suspects *s, struct odb_tensor **values)
{
    for (size_t v = 0; values && v < s->graph->n_values; v++)
        odb_tensor_unref(values[v]);
    free(values);
}

/* So many elements lie between two that are compared. */
static size_t replay_stride(size_t count, size_t outputs)
{
    size_t most = ODB_MAX(SUSPECTS_ELEMENTS / outputs, (size_t)1);
    return (count + most - 1) / most;
}

size_t suspects_read(const struct suspects *s, struct odb_tensor *const *outputs, double *out)
{
    size_t n = 0;
    for (size_t o = 0; o < s->graph->n_outputs; o++) {
        const struct odb_tensor *t = outputs[s->graph->outputs[o]];
        if (!(s->scale[o] > 0) || !t || t->kind != ODB_TENSOR || !t->data)
            continue;
        size_t step = ODB_MAX(replay_stride(t->count, s->graph->n_outputs), (size_t)1);
        for (size_t i = 0; i < t->count; i += step, n++)
            if (out)
                out[n] = odb_tensor_f64(t, i) / s->scale[o];
    }
    return n;
}

bool suspects_possible(const struct suspects *s, const struct observed *o, int value)
{
    const struct odb_value *v = &s->graph->values[value];
    const struct odb_tensor *t = o->values[value];
    return v->producer != ODB_NO_NODE && s->leads[v->producer] && t && t->kind == ODB_TENSOR &&
           t->data && t->count && t->dtype == ODB_F64 && !odb_cpu_kept(s->cpu, value);
}

/* Marks the nodes that the value leads to, as far as they lead to outputs. */
static bool *replay_behind(const struct suspects *s, int value)
{
    bool *nodes = odb_new_n(bool, s->graph->n_nodes + 1);
    bool *moved = odb_new_n(bool, s->graph->n_values + 1);
    moved[value] = true;
    for (size_t n = 0; n < s->graph->n_nodes; n++) {
        const struct odb_node *node = &s->graph->nodes[n];
        for (size_t i = 0; i < odb_node_n_reads(node) && !nodes[n] && s->leads[n]; i++)
            nodes[n] = odb_node_reads(node, i) >= 0 && moved[odb_node_reads(node, i)];
        for (int i = 0; i < node->n_out && nodes[n]; i++)
            if (node->out[i] >= 0)
                moved[node->out[i]] = true;
    }
    free(moved);
    return nodes;
}

/* Values before the nodes that run again; theirs are not there. */
static struct odb_tensor **replay_before(const struct suspects *s, const struct observed *o,
                                         const bool *nodes)
{
    struct odb_tensor **values = odb_new_n(struct odb_tensor *, s->graph->n_values + 1);
    for (size_t v = 0; v < s->graph->n_values; v++) {
        int producer = s->graph->values[v].producer;
        if (producer == ODB_NO_NODE || !nodes[producer])
            values[v] = odb_tensor_ref(o->values[v]);
    }
    return values;
}

/* The node's first input, where it is a float64 like its output. */
static const struct odb_tensor *replay_input(const struct suspects *s, const struct observed *o,
                                             int value)
{
    const struct odb_node *node = &s->graph->nodes[s->graph->values[value].producer];
    return node->n_in && node->in[0] >= 0 ? o->values[node->in[0]] : NULL;
}

/* The outputs' values with this one in its place, less golden; NULL: they cannot be had. */
static double *replay_moved(struct suspects *s, const struct observed *o, int value,
                            struct odb_tensor *moved, enum odb_status *status,
                            struct odb_error *err)
{
    double *response = NULL;
    bool *nodes = replay_behind(s, value);
    struct odb_tensor **values = replay_before(s, o, nodes);
    odb_tensor_unref(values[value]);
    values[value] = odb_tensor_ref(moved);
    *status = replay_execute(s, ODB_PREC_F64, values, nodes, err);
    s->result->n_replays++;
    if (*status == ODB_OK && suspects_read(s, values, NULL) == o->n) {
        response = odb_new_n(double, o->n + 1);
        suspects_read(s, values, response);
        for (size_t i = 0; i < o->n; i++)
            response[i] -= o->golden[i];
    }
    suspects_drop(s, values);
    free(nodes);
    return response;
}

double *suspects_response(struct suspects *s, const struct observed *o, int value,
                          enum deviation family, double amount, enum odb_status *status,
                          struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    *status = ODB_OK;
    struct odb_tensor *moved =
        deviation_apply(family, amount, o->values[value], replay_input(s, o, value));
    if (!moved)
        return odb_new_n(double, o->n + 1);
    double *response = replay_moved(s, o, value, moved, status, &why);
    if (*status == ODB_CANCELLED && suspects_stopping(s))
        response = replay_moved(s, o, value, moved, status, &why);
    odb_tensor_unref(moved);
    *err = *status == ODB_OK ? *err : why;
    return response;
}
