/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "judge/in_float.h"

#include <stdlib.h>

#include "base/mem.h"
#include "compare/decibels.h"
#include "interpret/cpu.h"
#include "run/feeds.h"
#include "run/hooks.h"

static bool in_float_cancelled(void *payload)
{
    const struct odb_search_hooks *hooks = payload;
    return hooks->cancelled && hooks->cancelled(hooks->payload);
}

/* keep: [n_values] what stays of the run in made, whose tensors are the caller's. */
static enum odb_status in_float_run(const struct odb_trace *trace, const bool *keep,
                                    struct odb_tensor **made, const struct odb_search_hooks *hooks,
                                    struct odb_error *err)
{
    struct odb_search_hooks own = *hooks;
    struct odb_cpu *cpu;
    struct odb_cpu_run run = {.precision = trace->precision,
                              .seed = trace->seed,
                              .values = made,
                              .free_dead = true,
                              .overwrite = true,
                              .keep = keep,
                              .payload = &own,
                              .cancelled = in_float_cancelled};
    odb_hooks_phase(hooks, "float", 0);
    for (size_t i = 0; i < trace->feeds->n; i++)
        made[trace->feeds->items[i].value] = odb_tensor_ref(trace->feeds->items[i].tensor);
    ODB_TRY(odb_cpu_new(&cpu, trace->model, err));
    enum odb_status status = odb_cpu_execute(cpu, &run, err);
    odb_cpu_free(cpu);
    return status;
}

static bool in_float_close(const struct odb_tensor *given, const struct odb_tensor *in_float,
                           const struct odb_tensor *simulated)
{
    double close = odb_decibels(given, in_float), apart = odb_decibels(given, simulated);
    return close >= ODB_IN_FLOAT_CLOSE && close - apart >= ODB_IN_FLOAT_CLOSER; /* and no NaN */
}

enum odb_status odb_in_float(bool *is, const struct odb_trace *trace, const int *values, size_t n,
                             struct odb_tensor *const *given, const struct odb_search_hooks *hooks,
                             struct odb_error *err)
{
    size_t n_values = trace->model->graph->n_values, judged = 0, close = 0;
    struct odb_tensor **made = odb_new_n(struct odb_tensor *, n_values + 1);
    bool *keep = odb_new_n(bool, n_values + 1);
    for (size_t i = 0; i < n; i++)
        keep[values[i]] = true;
    enum odb_status status = in_float_run(trace, keep, made, hooks, err);
    for (size_t i = 0; i < n && status == ODB_OK; i++) {
        const struct odb_tensor *t = made[values[i]];
        if (!t || !odb_dtype_is_float(t->dtype))
            continue;
        judged++;
        close += in_float_close(given[values[i]], t, trace->ref[values[i]]);
    }
    *is = judged && close == judged;
    for (size_t v = 0; v < n_values; v++)
        odb_tensor_unref(made[v]);
    free(made);
    free(keep);
    return status;
}
