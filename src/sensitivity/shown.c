/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a target showed. It runs once with every value read. The local error of a node there is what
 * the target made against the operator in float64 on what the target fed it: that is the node's
 * own. Where the target computes in the type, its inputs have the type already, so what is expected
 * is the error of the node in the type on inputs that are rounded before. The target's own error
 * is then put where the reference has none, and carried to the outputs.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/transport/target_pool.h"
#include "probe/probe.h"
#include "run/hooks.h"
#include "sensitivity/sensitivity_int.h"

#define SHOWN_FACTOR 10 /* times what is expected: far worse than the type explains */

struct shown {
    struct sensitivity *s;
    struct odb_tensor **given; /* owned refs; [n_values] what the target made */
    bool *constant;            /* owned; [n_values] hangs on weights alone */
};

/* --- asking ----------------------------------------------------------------------------------- */

static enum odb_status shown_ask(struct shown *h, struct odb_error *err)
{
    const struct sensitivity *s = h->s;
    struct odb_prober prober;
    struct odb_pool *pool = NULL;
    int *list = odb_new_n(int, s->graph->n_values + 1);
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, s->graph->n_values + 1);
    enum odb_status status = odb_probe_pool(&pool, s->options->target, &s->options->hooks, err);
    if (status == ODB_OK) {
        odb_prober_init(&prober, s->model, s->feeds, s->trace, pool, s->options->hooks);
        struct odb_probe probe = {.what = "the whole model, every value read",
                                  .node = ODB_NO_NODE,
                                  .values = list,
                                  .n_values = odb_probe_list(&prober, list),
                                  .outputs = had};
        status = odb_probe_run(&prober, &probe, err);
        for (size_t i = 0; i < probe.n_values; i++)
            h->given[list[i]] = had[i];
        s->result->description = odb_xstrdup(odb_target_description(odb_pool_target(pool)));
        odb_prober_dispose(&prober);
        odb_pool_close(pool);
    }
    free(list);
    free(had);
    return status;
}

/* --- local errors ----------------------------------------------------------------------------- */

/* As the target's node had it; NULL: that is not known. Borrowed. */
static const struct odb_tensor *shown_input(const struct shown *h, int value)
{
    bool made = h->s->graph->values[value].producer != ODB_NO_NODE;
    if (made && !h->constant[value] && !odb_trace_drawn(h->s->trace, value))
        return h->given[value];
    return h->given[value] ? h->given[value] : odb_trace_value(h->s->trace, value);
}

/* The inputs of a node on the target; false: one was not had. */
static bool shown_inputs(const struct shown *h, const struct odb_node *node, struct odb_tensor **in)
{
    for (size_t i = 0; i < odb_node_n_reads(node); i++) {
        int v = odb_node_reads(node, i);
        const struct odb_tensor *t = v < 0 ? NULL : shown_input(h, v);
        if (v >= 0 && !t)
            return false;
        if (i < (size_t)node->n_in)
            in[i] = odb_tensor_ref(t);
    }
    return true;
}

/* Of the floats among its outputs. */
static double shown_distance(const struct odb_node *node, struct odb_tensor *const *had,
                             struct odb_tensor *const *base)
{
    double most = NAN;
    for (int o = 0; o < node->n_out; o++)
        if (had[o] && base[o] && sensitivity_floats(base[o]))
            most = fmax(most, sensitivity_distance(had[o], base[o], o).error);
    return most;
}

/* The operator in float64 on these. */
static enum odb_status shown_exact(const struct shown *h, int index, struct odb_tensor *const *in,
                                   struct odb_tensor *const *captured, struct odb_tensor **out,
                                   struct odb_error *err)
{
    const struct odb_trace *trace = h->s->trace;
    return odb_cpu_node(trace->cpu, index, ODB_PREC_F64, trace->seed, in, captured, out, err);
}

/* The reference's value with the target's own error in it; *out is NULL on failure. */
static enum odb_status shown_move(const struct odb_tensor *ref, const struct odb_tensor *had,
                                  const struct odb_tensor *exact, struct odb_tensor **out,
                                  struct odb_error *err)
{
    struct odb_tensor *wide;
    if (ref->dtype == ODB_F64) /* which a cast would not copy */
        ODB_TRY(odb_tensor_clone(&wide, ref, err));
    else
        ODB_TRY(odb_tensor_cast_floats(&wide, ref, ODB_F64, err));
    odb_f64 *x = wide->data;
    for (size_t i = 0; i < ref->count; i++)
        x[i] += odb_tensor_f64(had, i) - odb_tensor_f64(exact, i);
    enum odb_status status = odb_tensor_cast_floats(out, wide, ref->dtype, err);
    odb_tensor_unref(wide);
    return status;
}

/* The same of all outputs of a node that are floats; false: it cannot be told. */
static bool shown_moved(const struct shown *h, const struct odb_node *node,
                        struct odb_tensor *const *had, struct odb_tensor *const *exact,
                        struct odb_tensor **moved)
{
    struct odb_error why = ODB_ERROR_INIT;
    for (int o = 0; o < node->n_out; o++) {
        const struct odb_tensor *ref = node->out[o] < 0 ? NULL : h->s->trace->ref[node->out[o]];
        if (!ref || !sensitivity_floats(ref))
            continue;
        if (!had[o] || !exact[o] || ref->kind != ODB_TENSOR ||
            !odb_tensor_same_shape(ref, had[o]) || !odb_tensor_same_shape(ref, exact[o]) ||
            shown_move(ref, had[o], exact[o], &moved[o], &why) != ODB_OK)
            return false;
    }
    return true;
}

/* One node of the target: its local error; carry: what that comes to, as well. */
static enum odb_status shown_node(const struct shown *h, int index, bool carry,
                                  struct odb_error *err)
{
    const struct odb_node *node = &h->s->graph->nodes[index];
    struct odb_sensitive *about = &h->s->result->nodes[index];
    size_t n_out = (size_t)node->n_out;
    struct odb_tensor **in = odb_new_n(struct odb_tensor *, (size_t)node->n_in + 1);
    struct odb_tensor **out = odb_new_n(struct odb_tensor *, 3 * n_out + 1);
    struct odb_tensor **exact = out + n_out, **moved = out + 2 * n_out;
    struct odb_error why = ODB_ERROR_INIT;
    struct carried carried;
    enum odb_status status = ODB_OK;
    for (int o = 0; o < node->n_out; o++)
        out[o] = node->out[o] < 0 ? NULL : odb_tensor_ref(h->given[node->out[o]]);
    bool ran =
        shown_inputs(h, node, in) && shown_exact(h, index, in, h->given, exact, &why) == ODB_OK;
    if (ran)
        about->shown = shown_distance(node, out, exact);
    if (ran && carry && shown_moved(h, node, out, exact, moved)) {
        status = sensitivity_carry(h->s, index, moved, (int)h->s->graph->n_nodes, &carried, err);
        if (status == ODB_OK && !carried.failed)
            about->carried = carried.end.error;
    }
    sensitivity_drop(in, node->n_in);
    sensitivity_drop(out, 3 * node->n_out);
    free(in);
    free(out);
    return status;
}

/* The reference's inputs as the type has them, but for weights. */
static enum odb_status shown_round(const struct shown *h, const struct odb_node *node,
                                   struct odb_tensor **in, struct odb_error *err)
{
    const struct sensitivity *s = h->s;
    for (int i = 0; i < node->n_in; i++) {
        int v = node->in[i];
        const struct odb_tensor *t = v < 0 ? NULL : odb_trace_value(s->trace, v);
        in[i] = odb_tensor_ref(t);
        if (!t || h->constant[v] || odb_cpu_kept(s->trace->cpu, v) || t->kind != ODB_TENSOR ||
            t->dtype != ODB_F32 || s->convert || s->graph->values[v].init)
            continue;
        odb_tensor_unref(in[i]);
        in[i] = NULL;
        ODB_TRY(odb_tensor_clone(&in[i], t, err));
        odb_round_f32(s->options->to, in[i]->data, in[i]->count);
    }
    return ODB_OK;
}

/* What a target that computes in the type is expected to show. */
static enum odb_status shown_expect(const struct shown *h, int index, struct odb_error *err)
{
    const struct sensitivity *s = h->s;
    const struct odb_node *node = &s->graph->nodes[index];
    size_t n_out = (size_t)node->n_out;
    struct odb_tensor **in = odb_new_n(struct odb_tensor *, (size_t)node->n_in + 1);
    struct odb_tensor **out = odb_new_n(struct odb_tensor *, 2 * n_out + 1);
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = shown_round(h, node, in, &why);
    if (status == ODB_OK)
        status = sensitivity_in_type(s, index, in, out, &why);
    if (status == ODB_OK)
        status = shown_exact(h, index, in, s->trace->ref, out + n_out, &why);
    if (status == ODB_OK)
        s->result->nodes[index].expected = shown_distance(node, out, out + n_out);
    sensitivity_drop(in, node->n_in);
    sensitivity_drop(out, 2 * node->n_out);
    free(in);
    free(out);
    if (status == ODB_E_NOMEM)
        *err = why;
    return status == ODB_E_NOMEM ? status : ODB_OK;
}

/* --- all of them ------------------------------------------------------------------------------ */

static enum odb_status shown_local(const struct shown *h, struct odb_error *err)
{
    const char *phase = "local errors of the target";
    struct sensitivity *s = h->s;
    odb_hooks_phase(&s->options->hooks, phase, s->graph->n_nodes);
    for (size_t n = 0; n < s->graph->n_nodes && !sensitivity_ends(s); n++) {
        if (s->result->nodes[n].known == ODB_SENSITIVITY_NOTHING)
            continue;
        ODB_TRY(shown_node(h, (int)n, false, err));
        ODB_TRY(shown_expect(h, (int)n, err));
        odb_hooks_progress(&s->options->hooks, phase, (int)n, n + 1, s->graph->n_nodes);
    }
    return ODB_OK;
}

/* Those first that are thought to come to most. */
static enum odb_status shown_carry(const struct shown *h, struct odb_error *err)
{
    const char *phase = "what they come to";
    struct sensitivity *s = h->s;
    struct sensitivity_rank *list = odb_new_n(struct sensitivity_rank, s->graph->n_nodes + 1);
    size_t count = 0;
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < s->result->n_ranked; i++) {
        int n = s->result->order[i];
        const struct odb_sensitive *about = &s->result->nodes[n];
        double gain = about->local.error > 0 && isfinite(about->local.error)
                          ? about->contribution.error / about->local.error
                          : 1;
        if (isfinite(about->shown))
            list[count++] = (struct sensitivity_rank){n, about->shown * gain, about->shown};
    }
    sensitivity_sort(list, count);
    odb_hooks_phase(&s->options->hooks, phase, count);
    for (size_t i = 0; i < count && status == ODB_OK && !sensitivity_ends(s); i++) {
        status = shown_node(h, list[i].node, true, err);
        odb_hooks_progress(&s->options->hooks, phase, list[i].node, i + 1, count);
    }
    free(list);
    return status == ODB_CANCELLED && sensitivity_ends(s) ? ODB_OK : status;
}

/* What the node of a target that computes all in the type comes to: it grows as the node alone
 * does, whose inputs are rounded as well. */
static double shown_foretold(const struct odb_sensitive *about)
{
    bool known = about->known >= ODB_SENSITIVITY_ESTIMATED && !isnan(about->expected);
    if (!known || about->expected == 0)
        return known ? 0 : NAN;
    if (isinf(about->local.error) || isinf(about->expected) || isinf(about->contribution.error))
        return about->contribution.error;
    return about->local.error > 0 ? about->contribution.error * about->expected / about->local.error
                                  : NAN;
}

/* What the type makes of what the target fed the node; NaN: that is not known. Where an overflow
 * before it has fed it other numbers, that explains more than the reference's inputs do. */
static double shown_explained(const struct shown *h, int index)
{
    const struct odb_node *node = &h->s->graph->nodes[index];
    size_t n_out = (size_t)node->n_out;
    struct odb_tensor **in = odb_new_n(struct odb_tensor *, (size_t)node->n_in + 1);
    struct odb_tensor **out = odb_new_n(struct odb_tensor *, 2 * n_out + 1);
    struct odb_error why = ODB_ERROR_INIT;
    double error = NAN;
    if (shown_inputs(h, node, in) && sensitivity_in_type(h->s, index, in, out, &why) == ODB_OK &&
        shown_exact(h, index, in, h->given, out + n_out, &why) == ODB_OK)
        error = shown_distance(node, out, out + n_out);
    sensitivity_drop(in, node->n_in);
    sensitivity_drop(out, 2 * node->n_out);
    free(in);
    free(out);
    return error;
}

/* Worse by far than the type explains, and than half a unit in its last place. */
static void shown_judge(const struct shown *h)
{
    struct sensitivity *s = h->s;
    double least = s->options->to == ODB_I8 ? 1.0 / 256 : odb_dtype_info(s->options->to)->eps / 2;
    for (size_t n = 0; n < s->graph->n_nodes; n++) {
        struct odb_sensitive *about = &s->result->nodes[n];
        double expected = isnan(about->expected) ? about->local.error : about->expected;
        about->foretold = shown_foretold(about);
        if (isnan(expected) || !(about->shown > SHOWN_FACTOR * fmax(expected, least)))
            continue;
        about->stands_out =
            !(about->shown <= SHOWN_FACTOR * fmax(shown_explained(h, (int)n), least));
        s->result->n_stand_out += about->stands_out;
    }
}

static void shown_match(struct sensitivity *s)
{
    size_t n = s->graph->n_nodes;
    double *x = odb_new_n(double, 4 * n + 1), *y = x + n, *z = y + n, *w = z + n;
    for (size_t i = 0; i < n; i++) {
        const struct odb_sensitive *about = &s->result->nodes[i];
        x[i] = about->expected;
        y[i] = about->shown;
        z[i] = about->foretold;
        w[i] = about->carried;
    }
    s->result->local = sensitivity_match(x, y, n);
    s->result->outputs = sensitivity_match(z, w, n);
    free(x);
}

static void shown_outputs(const struct shown *h)
{
    const struct sensitivity *s = h->s;
    struct odb_sensitivity_error most = sensitivity_no_error();
    size_t had = 0;
    for (size_t o = 0; o < s->graph->n_outputs; o++) {
        int v = s->graph->outputs[o];
        had += h->given[v] != NULL;
        if (h->given[v])
            sensitivity_raise(&most, sensitivity_distance(h->given[v], s->trace->ref[v], v));
    }
    if (had)
        s->result->target_error = most;
}

enum odb_status sensitivity_shown(struct sensitivity *s, struct odb_error *err)
{
    struct shown h = {s, odb_new_n(struct odb_tensor *, s->graph->n_values + 1),
                      odb_trace_constant(s->trace)};
    struct odb_error why = ODB_ERROR_INIT;
    char text[600];
    enum odb_status status = shown_ask(&h, &why);
    if (status == ODB_OK) {
        shown_outputs(&h);
        status = shown_local(&h, err);
        if (status == ODB_OK)
            status = shown_carry(&h, err);
        s->result->target_late = sensitivity_ends(s) && !s->result->stopped;
        shown_judge(&h);
        shown_match(s);
    } else if (status != ODB_E_NOMEM && status != ODB_CANCELLED) {
        s->result->target_why = odb_xstrdup(odb_error_text(&why, text, sizeof text));
        status = ODB_OK;
    } else if (status == ODB_CANCELLED) {
        s->result->stopped = true;
        status = ODB_OK;
    } else {
        *err = why;
    }
    for (size_t v = 0; v < s->graph->n_values; v++)
        odb_tensor_unref(h.given[v]);
    free(h.given);
    free(h.constant);
    return status;
}
