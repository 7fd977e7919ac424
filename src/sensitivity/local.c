/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One node in the type, on the reference's values; and all of them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sensitivity/sensitivity_int.h"

/* --- what computes ---------------------------------------------------------------------------- */

bool sensitivity_floats(const struct odb_tensor *t)
{
    return t && odb_tensor_real(t) != ODB_UNDEFINED;
}

static bool local_counts(const struct sensitivity *s, int value)
{
    return value >= 0 && sensitivity_floats(odb_trace_value(s->trace, value)) &&
           !odb_cpu_kept(s->trace->cpu, value);
}

/* Whether the reference has something of it. */
static bool local_had(const struct sensitivity *s, const struct odb_node *node)
{
    for (int o = 0; o < node->n_out; o++)
        if (node->out[o] >= 0 && s->trace->ref[node->out[o]])
            return true;
    return false;
}

static bool local_given(const struct sensitivity *s, const struct odb_node *node)
{
    for (int o = 0; o < node->n_out; o++)
        if (node->out[o] >= 0 && odb_trace_drawn(s->trace, node->out[o]))
            return true;
    return false;
}

bool sensitivity_computes(const struct sensitivity *s, int index)
{
    const struct odb_node *node = &s->graph->nodes[index];
    if (odb_node_is_constant(node) || local_given(s, node) || !local_had(s, node))
        return false;
    if (s->convert)
        return odb_convert_class(s->convert, index) == ODB_CONVERT_FREE;
    for (size_t i = 0; i < odb_node_n_reads(node); i++)
        if (local_counts(s, odb_node_reads(node, i)))
            return true;
    for (int o = 0; o < node->n_out; o++)
        if (local_counts(s, node->out[o]))
            return true;
    return false;
}

/* --- one node --------------------------------------------------------------------------------- */

void sensitivity_drop(struct odb_tensor **out, int n)
{
    for (int o = 0; o < n; o++) {
        odb_tensor_unref(out[o]);
        out[o] = NULL;
    }
}

/* What becomes of the operands on their way through int8. */
static enum odb_status local_convert(const struct sensitivity *s, int index,
                                     struct odb_tensor *const *in, struct odb_tensor **out,
                                     struct odb_error *err)
{
    const struct odb_node *node = &s->graph->nodes[index];
    for (int i = 0; i < node->n_in; i++)
        if (in[i])
            ODB_TRY(odb_convert_operand(s->convert, index, i, in[i], &out[i], err));
    return ODB_OK;
}

enum odb_status sensitivity_in_type(const struct sensitivity *s, int index,
                                    struct odb_tensor *const *in, struct odb_tensor **out,
                                    struct odb_error *err)
{
    const struct odb_node *node = &s->graph->nodes[index];
    struct odb_tensor **narrow = odb_new_n(struct odb_tensor *, (size_t)node->n_in + 1);
    enum odb_status status = s->convert ? local_convert(s, index, in, narrow, err) : ODB_OK;
    memset(out, 0, (size_t)node->n_out * sizeof *out);
    if (status == ODB_OK)
        status = odb_cpu_node(s->trace->cpu, index, s->as, s->trace->seed, s->convert ? narrow : in,
                              s->trace->ref, out, err);
    if (status != ODB_OK)
        sensitivity_drop(out, node->n_out);
    sensitivity_drop(narrow, node->n_in);
    free(narrow);
    return status;
}

enum odb_status sensitivity_perturb(const struct sensitivity *s, int index, struct odb_tensor **out,
                                    struct odb_error *err)
{
    const struct odb_node *node = &s->graph->nodes[index];
    struct odb_tensor **in = odb_new_n(struct odb_tensor *, (size_t)node->n_in + 1);
    for (int i = 0; i < node->n_in; i++)
        in[i] = node->in[i] < 0 ? NULL : odb_tensor_ref(odb_trace_value(s->trace, node->in[i]));
    enum odb_status status = sensitivity_in_type(s, index, in, out, err);
    sensitivity_drop(in, node->n_in);
    free(in);
    return status;
}

/* A node that cannot be run in the type is no failure. */
static enum odb_status local_measure(struct sensitivity *s, int index, struct odb_error *err)
{
    const struct odb_node *node = &s->graph->nodes[index];
    struct odb_sensitive *about = &s->result->nodes[index];
    struct odb_tensor **out = odb_new_n(struct odb_tensor *, (size_t)node->n_out + 1);
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = sensitivity_perturb(s, index, out, &why);
    about->known = status == ODB_OK ? ODB_SENSITIVITY_LEFT : ODB_SENSITIVITY_UNRUN;
    about->local = sensitivity_no_error();
    for (int o = 0; o < node->n_out && status == ODB_OK; o++)
        if (node->out[o] >= 0)
            sensitivity_raise(
                &about->local,
                sensitivity_distance(out[o], s->trace->ref[node->out[o]], node->out[o]));
    sensitivity_drop(out, node->n_out);
    free(out);
    if (status != ODB_OK)
        about->local.error = NAN;
    else if (about->local.error == 0 || s->next[index] == ODB_NO_NODE) {
        about->known = ODB_SENSITIVITY_MEASURED; /* nothing changes, or nothing that is read */
        about->contribution = sensitivity_no_error();
    }
    if (status != ODB_CANCELLED && status != ODB_E_NOMEM)
        return ODB_OK;
    *err = why;
    return status;
}

enum odb_status sensitivity_local(struct sensitivity *s, struct odb_error *err)
{
    const char *phase = "local errors";
    struct odb_sensitivity_result *r = s->result;
    odb_hooks_phase(&s->options->hooks, phase, s->graph->n_nodes);
    for (size_t n = 0; n < s->graph->n_nodes; n++) {
        struct odb_sensitive *about = &r->nodes[n];
        about->local.error = about->contribution.error = about->estimate = NAN;
        about->expected = about->foretold = about->shown = about->carried = NAN;
        about->local.value = about->contribution.value = ODB_NO_VALUE;
        if (!sensitivity_computes(s, (int)n))
            continue;
        r->n_computes++;
        about->known = ODB_SENSITIVITY_LEFT;
        if (!sensitivity_ends(s))
            ODB_TRY(local_measure(s, (int)n, err));
        odb_hooks_progress(&s->options->hooks, phase, (int)n, n + 1, s->graph->n_nodes);
    }
    return ODB_OK;
}

/* --- all nodes -------------------------------------------------------------------------------- */

struct local_whole {
    struct sensitivity *s;
    struct odb_tensor **values; /* [n_values] */
};

/* int8: the node again, by operands on their way through it. */
static enum odb_status local_narrow(struct local_whole *w, int index, struct odb_error *err)
{
    const struct odb_node *node = &w->s->graph->nodes[index];
    struct odb_tensor **in = odb_new_n(struct odb_tensor *, (size_t)node->n_in + 1);
    struct odb_tensor **out = odb_new_n(struct odb_tensor *, (size_t)node->n_out + 1);
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] >= 0) {
            const struct odb_tensor *t = w->values[node->in[i]];
            in[i] = odb_tensor_ref(t ? t : odb_trace_value(w->s->trace, node->in[i]));
        }
    enum odb_status status = sensitivity_in_type(w->s, index, in, out, err);
    for (int o = 0; o < node->n_out && status == ODB_OK; o++)
        if (node->out[o] >= 0 && out[o]) {
            odb_tensor_unref(w->values[node->out[o]]);
            w->values[node->out[o]] = odb_tensor_ref(out[o]);
        }
    sensitivity_drop(in, node->n_in);
    sensitivity_drop(out, node->n_out);
    free(in);
    free(out);
    return status;
}

static enum odb_status local_after(void *payload, int index, enum odb_status status,
                                   struct odb_error *err)
{
    struct local_whole *w = payload;
    if (status != ODB_OK)
        return local_had(w->s, &w->s->graph->nodes[index]) ? status : ODB_OK;
    if (w->s->convert && sensitivity_computes(w->s, index))
        return local_narrow(w, index, err);
    return ODB_OK;
}

static bool local_cancelled(void *payload)
{
    const struct local_whole *w = payload;
    return sensitivity_cancelled(w->s);
}

enum odb_status sensitivity_whole(struct sensitivity *s, struct odb_error *err)
{
    struct odb_sensitivity_result *r = s->result;
    struct odb_error why = ODB_ERROR_INIT;
    struct local_whole w = {s, odb_new_n(struct odb_tensor *, s->graph->n_values + 1)};
    struct odb_cpu_run run = {.precision = s->convert ? s->trace->precision : s->as,
                              .seed = s->trace->seed,
                              .values = w.values,
                              .free_dead = true,
                              .after = local_after,
                              .payload = &w,
                              .cancelled = local_cancelled};
    odb_hooks_phase(&s->options->hooks, "all nodes in the type", 0);
    for (size_t v = 0; v < s->graph->n_values; v++)
        if (s->trace->ref[v] &&
            (s->graph->values[v].producer == ODB_NO_NODE || odb_trace_drawn(s->trace, (int)v)))
            w.values[v] = odb_tensor_ref(s->trace->ref[v]);
    enum odb_status status = odb_cpu_execute(s->trace->cpu, &run, &why);
    r->whole = sensitivity_no_error();
    for (size_t o = 0; o < s->graph->n_outputs && status == ODB_OK; o++) {
        int v = s->graph->outputs[o];
        if (w.values[v] || s->graph->values[v].producer != ODB_NO_NODE)
            sensitivity_raise(&r->whole, sensitivity_distance(w.values[v], s->trace->ref[v], v));
    }
    if (status == ODB_OK)
        status = sensitivity_tell(s, w.values, &why);
    for (size_t v = 0; v < s->graph->n_values; v++)
        odb_tensor_unref(w.values[v]);
    free(w.values);
    if (status == ODB_OK)
        return ODB_OK;
    r->whole.error = NAN;
    r->whole_why = odb_xstrdup(status == ODB_CANCELLED ? "the time was up" : why.what);
    if (status == ODB_E_NOMEM)
        *err = why;
    return status == ODB_E_NOMEM ? status : ODB_OK;
}
