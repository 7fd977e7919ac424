/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the outputs would be if one node had made something else: the reference runs the nodes that
 * follow from it again, in order, and no others. A value that comes out as it was, bit for bit,
 * leads no further.
 */
#include <stdlib.h>

#include "sensitivity/sensitivity_int.h"

struct carrying {
    struct sensitivity *s;
    struct carried *carried;
    int stop;
    bool reached;
};

static void carry_put(struct sensitivity *s, int value, const struct odb_tensor *t)
{
    odb_tensor_unref(s->values[value]);
    s->values[value] = odb_tensor_ref(t);
}

/* Marks the readers of a value that is another now. Nodes that the reference has nothing of, or
 * that no output needs, stay. */
static void carry_mark(struct sensitivity *s, int value)
{
    const struct odb_value *v = &s->graph->values[value];
    for (size_t c = 0; c < v->n_consumers; c++) {
        int n = v->consumers[c];
        const struct odb_node *node = &s->graph->nodes[n];
        bool had = false;
        for (int o = 0; o < node->n_out; o++)
            had = had || (node->out[o] >= 0 && s->trace->ref[node->out[o]]);
        if (s->runs[n] || !had || s->next[n] == ODB_NO_NODE)
            continue;
        s->runs[n] = true;
        s->ran[s->n_ran++] = n;
        for (int o = 0; o < node->n_out; o++)
            if (node->out[o] >= 0)
                carry_put(s, node->out[o], NULL);
    }
}

/* What a node has made: what is as it was, and what is given to the model, leads nowhere. */
static void carry_made(struct sensitivity *s, const struct odb_node *node)
{
    for (int o = 0; o < node->n_out; o++) {
        int v = node->out[o];
        if (v < 0)
            continue;
        const struct odb_tensor *t = s->values[v], *ref = s->trace->ref[v];
        if (t == ref || (t && ref && odb_tensor_identical(t, ref)) || odb_trace_drawn(s->trace, v))
            carry_put(s, v, s->trace->ref[v]);
        else
            carry_mark(s, v);
    }
}

static void carry_see(const struct sensitivity *s, int value, struct carried *carried)
{
    if (s->values[value] != s->trace->ref[value])
        sensitivity_raise(&carried->end,
                          sensitivity_distance(s->values[value], s->trace->ref[value], value));
}

static enum odb_status carry_after(void *payload, int index, enum odb_status status,
                                   struct odb_error *err)
{
    struct carrying *c = payload;
    const struct odb_node *node = &c->s->graph->nodes[index];
    if (status != ODB_OK) {
        c->carried->failed = true;
        return status;
    }
    c->carried->reruns++;
    carry_made(c->s, node);
    if (index != c->stop)
        return ODB_OK;
    for (int o = 0; o < node->n_out; o++)
        if (node->out[o] >= 0)
            carry_see(c->s, node->out[o], c->carried);
    c->reached = true;
    return odb_fail(err, ODB_SKIPPED, "far enough");
}

static bool carry_cancelled(void *payload)
{
    const struct carrying *c = payload;
    return sensitivity_cancelled(c->s);
}

/* Everything is the reference's again. */
static void carry_restore(struct sensitivity *s, int index)
{
    for (size_t i = 0; i <= s->n_ran; i++) {
        int n = i < s->n_ran ? s->ran[i] : index;
        const struct odb_node *node = &s->graph->nodes[n];
        s->runs[n] = false;
        for (size_t k = 0; k < odb_node_n_reads(node) + (size_t)node->n_out; k++) {
            size_t reads = odb_node_n_reads(node);
            int v = k < reads ? odb_node_reads(node, k) : node->out[k - reads];
            if (v >= 0 && s->values[v] != s->trace->ref[v])
                carry_put(s, v, s->trace->ref[v]);
        }
    }
    s->n_ran = 0;
}

enum odb_status sensitivity_carry(struct sensitivity *s, int index, struct odb_tensor *const *out,
                                  int stop, struct carried *carried, struct odb_error *err)
{
    const struct odb_node *node = &s->graph->nodes[index];
    struct carrying c = {s, carried, stop, false};
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_cpu_run run = {.precision = s->trace->precision,
                              .seed = s->trace->seed,
                              .values = s->values,
                              .nodes = s->runs,
                              .free_dead = true,
                              .after = carry_after,
                              .payload = &c,
                              .cancelled = carry_cancelled};
    *carried = (struct carried){.end = sensitivity_no_error()};
    for (int o = 0; o < node->n_out; o++)
        if (node->out[o] >= 0 && out[o])
            carry_put(s, node->out[o], out[o]);
    carry_made(s, node);
    enum odb_status status = s->n_ran ? odb_cpu_execute(s->trace->cpu, &run, &why) : ODB_OK;
    for (size_t o = 0; o < s->graph->n_outputs && status == ODB_OK; o++)
        if (s->trace->ref[s->graph->outputs[o]])
            carry_see(s, s->graph->outputs[o], carried);
    if (status == ODB_OK)
        status = sensitivity_tell(s, s->values, &why);
    carry_restore(s, index);
    s->result->n_reruns += carried->reruns;
    if (status == ODB_OK || c.reached || (carried->failed && status != ODB_E_NOMEM))
        return ODB_OK;
    *err = why;
    return status;
}

enum odb_status sensitivity_measure(struct sensitivity *s, int index, int stop,
                                    struct carried *carried, struct odb_error *err)
{
    const struct odb_node *node = &s->graph->nodes[index];
    struct odb_tensor **out = odb_new_n(struct odb_tensor *, (size_t)node->n_out + 1);
    enum odb_status status = sensitivity_perturb(s, index, out, err);
    if (status == ODB_OK)
        status = sensitivity_carry(s, index, out, stop, carried, err);
    sensitivity_drop(out, node->n_out);
    free(out);
    return status;
}

void sensitivity_carry_begin(struct sensitivity *s)
{
    s->values = odb_new_n(struct odb_tensor *, s->graph->n_values + 1);
    s->runs = odb_new_n(bool, s->graph->n_nodes + 1);
    s->ran = odb_new_n(int, s->graph->n_nodes + 1);
    for (size_t v = 0; v < s->graph->n_values; v++)
        s->values[v] = odb_tensor_ref(s->trace->ref[v]);
}

void sensitivity_carry_end(struct sensitivity *s)
{
    for (size_t v = 0; s->values && v < s->graph->n_values; v++)
        odb_tensor_unref(s->values[v]);
    free(s->values);
    free(s->runs);
    free(s->ran);
}
