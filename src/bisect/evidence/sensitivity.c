/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An operator that is right about its own inputs may still make much of a small error in them. How
 * much is asked of the reference: the target's own inputs through it, and its own inputs moved at
 * random by as much, in float64 and in its own precision. Where all agree, the growth is the
 * operator's nature and not the target's doing.
 */
#include "bisect/evidence/sensitivity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/report.h"
#include "reference/trace.h"
#include "run/value_report.h"
#include "tensor/random.h"

#define SENSITIVITY_RUNS 3

/* The reference's values of a node's inputs; false when one is missing. Borrowed. */
static bool sensitivity_inputs(const struct search_case *c, const struct odb_node *node,
                               struct odb_tensor **in)
{
    for (int i = 0; i < node->n_in; i++) {
        if (node->in[i] < 0)
            continue;
        in[i] = (struct odb_tensor *)odb_trace_value(c->trace, node->in[i]);
        if (!in[i])
            return false;
    }
    return true;
}

/* Output value of its node on these inputs; NULL: it cannot be run. Owned by the caller. */
static struct odb_tensor *sensitivity_replay(const struct search_case *c, int value,
                                             enum odb_precision precision,
                                             struct odb_tensor *const *in,
                                             struct odb_tensor *const *captured)
{
    const struct odb_value *v = &c->graph->values[value];
    const struct odb_node *node = &c->graph->nodes[v->producer];
    struct odb_error ignored = ODB_ERROR_INIT;
    struct odb_tensor **out = odb_new_n(struct odb_tensor *, node->n_out), *found = NULL;
    if (odb_cpu_node(c->trace->cpu, node->index, precision, c->trace->seed, in, captured, out,
                     &ignored) == ODB_OK) {
        found = out[v->slot] ? odb_tensor_ref(out[v->slot]) : NULL;
        for (int o = 0; o < node->n_out; o++)
            odb_tensor_unref(out[o]);
    }
    free(out);
    return found;
}

struct odb_tensor *sensitivity_moved(const struct odb_tensor *t, double size, uint64_t seed)
{
    struct odb_error ignored = ODB_ERROR_INIT;
    struct odb_tensor *wide = NULL, *moved = NULL;
    struct odb_gap gap;
    if (t->kind != ODB_TENSOR || odb_tensor_real(t) == ODB_UNDEFINED ||
        odb_tensor_new(&wide, ODB_F64, t->rank, t->dims, &ignored) != ODB_OK)
        return NULL;
    odb_gap_measure(&gap, t, t);
    for (size_t i = 0; i < t->count; i++) {
        double u = (double)(odb_mix64(seed + i) >> 11) * 0x1p-52 - 1;
        ((double *)wide->data)[i] = odb_tensor_f64(t, i) + u * size * gap.rms;
    }
    if (odb_tensor_cast_floats(&moved, wide, t->dtype, &ignored) != ODB_OK)
        moved = NULL;
    odb_tensor_unref(wide);
    return moved;
}

/* The output for moved inputs, in this precision, against the output for the inputs as they are. */
static bool sensitivity_shake(const struct search_case *c, int value, enum odb_precision precision,
                              const double *sizes, uint64_t seed, struct odb_gap *gap)
{
    const struct odb_node *node = &c->graph->nodes[c->graph->values[value].producer];
    struct odb_tensor **in = odb_new_n(struct odb_tensor *, node->n_in);
    struct odb_tensor **moved = odb_new_n(struct odb_tensor *, node->n_in);
    struct odb_tensor *base = NULL, *shaken = NULL;
    bool had = sensitivity_inputs(c, node, in);
    if (had)
        base = sensitivity_replay(c, value, precision, in, c->trace->ref);
    for (int i = 0; i < node->n_in && had; i++) {
        if (!in[i] || !(sizes[i] > 0) || !isfinite(sizes[i]))
            continue;
        moved[i] = sensitivity_moved(in[i], sizes[i], odb_mix64(seed + (uint64_t)i));
        in[i] = moved[i] ? moved[i] : in[i];
    }
    if (base)
        shaken = sensitivity_replay(c, value, precision, in, c->trace->ref);
    had = base && shaken;
    if (had)
        odb_gap_measure(gap, shaken, base);
    for (int i = 0; i < node->n_in; i++)
        odb_tensor_unref(moved[i]);
    odb_tensor_unref(base);
    odb_tensor_unref(shaken);
    free(moved);
    free(in);
    return had && gap->comparable;
}

static bool sensitivity_possible(const struct search_case *c, int value)
{
    int node = c->graph->values[value].producer;
    return node != ODB_NO_NODE && !odb_cpu_unsupported(c->trace->cpu, node)[0] &&
           !odb_cpu_random(c->trace->cpu, node);
}

static bool sensitivity_most(const struct search_case *c, int value, enum odb_precision precision,
                             const double *sizes, double *most, double *mean)
{
    double worst = 0, worst_mean = 0;
    for (uint64_t run = 0; run < SENSITIVITY_RUNS; run++) {
        struct odb_gap gap;
        if (!sensitivity_shake(c, value, precision, sizes, c->trace->seed + run * 7919, &gap))
            return false;
        worst = fmax(worst, gap.error);
        worst_mean = fmax(worst_mean, gap.mean);
    }
    *most = worst;
    if (mean)
        *mean = worst_mean;
    return true;
}

bool sensitivity_in(const struct search_case *c, int value, enum odb_precision precision,
                    struct odb_tensor *const *given, double *error)
{
    if (!sensitivity_possible(c, value))
        return false;
    const struct odb_node *node = &c->graph->nodes[c->graph->values[value].producer];
    struct odb_tensor **in = odb_new_n(struct odb_tensor *, node->n_in);
    struct odb_tensor *narrow = NULL, *exact = NULL;
    struct odb_gap gap = {0};
    bool had = sensitivity_inputs(c, node, in);
    for (int i = 0; i < node->n_in && given; i++)
        if (node->in[i] >= 0 && given[node->in[i]])
            in[i] = given[node->in[i]];
    if (had) {
        narrow = sensitivity_replay(c, value, precision, in, c->trace->ref);
        exact = sensitivity_replay(c, value, ODB_PREC_F64, in, c->trace->ref);
    }
    if (narrow && exact)
        odb_gap_measure(&gap, narrow, exact);
    *error = gap.error;
    odb_tensor_unref(narrow);
    odb_tensor_unref(exact);
    free(in);
    return gap.comparable;
}

bool sensitivity_shaken(const struct search_case *c, int value, const double *sizes, double *most,
                        double *mean)
{
    return sensitivity_possible(c, value) &&
           sensitivity_most(c, value, ODB_PREC_F64, sizes, most, mean);
}

/* Growth of the target's own error, which is measured from golden: its inputs through the
 * reference, against golden's. */
static struct odb_number sensitivity_of_own(const struct search_case *c, int value,
                                            struct odb_tensor *const *given, double error)
{
    const struct odb_node *node = &c->graph->nodes[c->graph->values[value].producer];
    struct odb_tensor **in = odb_new_n(struct odb_tensor *, node->n_in);
    struct odb_tensor *base = NULL, *own = NULL;
    struct odb_number growth = {0};
    struct odb_gap gap = {0};
    if (sensitivity_inputs(c, node, in)) {
        for (int i = 0; i < node->n_in; i++)
            if (node->in[i] >= 0 && c->trace->golden[node->in[i]])
                in[i] = c->trace->golden[node->in[i]];
        base = sensitivity_replay(c, value, ODB_PREC_F64, in, c->trace->ref);
        for (int i = 0; i < node->n_in; i++)
            if (node->in[i] >= 0 && given[node->in[i]])
                in[i] = given[node->in[i]];
        own = sensitivity_replay(c, value, ODB_PREC_F64, in, given);
    }
    if (base && own)
        odb_gap_measure(&gap, own, base);
    if (gap.comparable)
        growth = ODB_NUMBER(gap.error / error);
    odb_tensor_unref(base);
    odb_tensor_unref(own);
    free(in);
    return growth;
}

struct odb_sensitivity sensitivity_of(const struct search_case *c, const struct findings *f,
                                      int value, struct odb_tensor *const *given)
{
    struct odb_sensitivity s = {0};
    if (value < 0 || !sensitivity_possible(c, value))
        return s;
    const struct odb_node *node = &c->graph->nodes[c->graph->values[value].producer];
    double *sizes = odb_new_n(double, node->n_in), worst = 0, most;
    for (int i = 0; i < node->n_in; i++) {
        const struct odb_value_report *in = node->in[i] < 0 ? NULL : &f->values[node->in[i]];
        if (in && in->error.known && isfinite(in->error.v))
            sizes[i] = in->error.v;
        worst = fmax(worst, sizes[i]);
    }
    const struct odb_value_report *out = &f->values[value];
    if (worst > 0) {
        s.input_error = ODB_NUMBER(worst);
        s.growth = sensitivity_of_own(c, value, given, worst);
        if (sensitivity_most(c, value, ODB_PREC_F64, sizes, &most, NULL))
            s.growth_of_random = ODB_NUMBER(most / worst);
        if (sensitivity_most(c, value, c->trace->precision, sizes, &most, NULL))
            s.growth_in_type = ODB_NUMBER(most / worst);
        if (out->error.known && out->local_error.known && out->error.v > 0)
            s.explained = ODB_NUMBER(fmax(0, fmin(1, 1 - out->local_error.v / out->error.v)));
    }
    free(sizes);
    return s;
}
