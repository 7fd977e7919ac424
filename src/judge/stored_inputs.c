/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "judge/stored_inputs.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "judge/half_step.h"
#include "run/feeds.h"

#define STORED_RUNS 4
#define STORED_SEED 0x57e95u
#define STORED_SLACK 1.25 /* of few elements a few runs hardly meet the farthest */

static bool stored_is(const struct odb_tensor *t)
{
    return t && t->n_steps;
}

bool odb_inputs_stored(const struct odb_node *node, struct odb_tensor *const *in)
{
    for (int i = 0; i < node->n_in; i++)
        if (stored_is(in[i]))
            return true;
    return false;
}

/* Raises reach to how far t is from the exact output. */
static void stored_raise(struct odb_reach *reach, const struct odb_tensor *t,
                         const struct odb_tensor *exact)
{
    struct odb_gap gap;
    if (!t || !exact)
        return;
    odb_gap_measure(&gap, t, exact);
    if (!gap.comparable || !isfinite(gap.error))
        return;
    reach->max = fmax(reach->max, STORED_SLACK * gap.error);
    reach->mean = fmax(reach->mean, STORED_SLACK * gap.mean);
}

static void stored_drop(struct odb_tensor **list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        odb_tensor_unref(list[i]);
    free(list);
}

enum odb_status odb_inputs_reach(struct odb_reach *out, struct odb_trace *trace, int node,
                                 struct odb_tensor *const *in, struct odb_tensor *const *given,
                                 enum odb_simulated simulated, struct odb_tensor *const *exact,
                                 struct odb_error *err)
{
    const struct odb_node *n = &trace->model->graph->nodes[node];
    enum odb_status status = ODB_OK;
    for (int o = 0; o < n->n_out; o++)
        out[o] = (struct odb_reach){0};
    for (uint64_t run = 0; run < STORED_RUNS && status == ODB_OK; run++) {
        struct odb_tensor **moved = odb_new_n(struct odb_tensor *, n->n_in);
        struct odb_tensor **made = odb_new_n(struct odb_tensor *, n->n_out);
        struct odb_error ignored;
        for (int i = 0; i < n->n_in && status == ODB_OK; i++)
            if (in[i])
                status = odb_half_step_off(
                    &moved[i], in[i], STORED_SEED + run * (uint64_t)n->n_in + (uint64_t)i, err);
        bool ran =
            status == ODB_OK && odb_trace_replay(trace, node, ODB_PREC_F64, trace->seed, moved,
                                                 given, simulated, made, &ignored) == ODB_OK;
        for (int o = 0; o < n->n_out && ran; o++)
            stored_raise(&out[o], made[o], exact[o]);
        stored_drop(made, (size_t)n->n_out);
        stored_drop(moved, (size_t)n->n_in);
    }
    return status;
}

/* One run of a model on its feeds, moved. */
static enum odb_status stored_run(struct odb_reach *out, const struct odb_trace *trace, int value,
                                  uint64_t seed, struct odb_error *err)
{
    size_t n = trace->model->graph->n_values;
    struct odb_tensor **values = odb_new_n(struct odb_tensor *, n);
    struct odb_cpu_run how = {.precision = ODB_PREC_F64, .seed = trace->seed, .values = values};
    enum odb_status status = ODB_OK;
    for (size_t f = 0; f < trace->feeds->n && status == ODB_OK; f++)
        status = odb_half_step_off(&values[trace->feeds->items[f].value],
                                   trace->feeds->items[f].tensor, seed + f, err);
    if (status == ODB_OK)
        status = odb_cpu_execute(trace->cpu, &how, err);
    if (status == ODB_OK)
        stored_raise(out, values[value], trace->golden[value]);
    stored_drop(values, n);
    return status;
}

enum odb_status odb_feeds_reach(struct odb_reach *out, const struct odb_trace *trace, int value,
                                struct odb_error *err)
{
    bool any = false;
    *out = (struct odb_reach){0};
    for (size_t f = 0; f < trace->feeds->n; f++)
        any |= stored_is(trace->feeds->items[f].tensor);
    for (uint64_t run = 0; run < STORED_RUNS && any; run++)
        ODB_TRY(stored_run(out, trace, value, STORED_SEED + run * trace->feeds->n, err));
    return ODB_OK;
}
