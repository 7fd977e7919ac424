/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sequence/plan/recorded_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "executor/executor.h"
#include "executor/spec.h"
#include "inputs/inputs.h"
#include "probe/run_values.h"
#include "run/memory_budget.h"
#include "tensor/spill.h"

const char *odb_recorded_step_name(size_t step, char *buf, size_t size)
{
    snprintf(buf, size, "step_%05zu", step);
    return buf;
}

/* --- which there are -------------------------------------------------------------------------- */

/* Where the folder ends in "dump:FOLDER,map=FILE": a comma behind a backslash is one of its name.
 */
static size_t recorded_folder_end(const char *spec)
{
    size_t at = strcspn(spec, ":");
    while (spec[at] && spec[at] != ',')
        at += spec[at] == '\\' && spec[at + 1] ? 2 : 1;
    while (at && spec[at - 1] == '/')
        at--;
    return at;
}

/* "step_00012": 12, of those called as the first one is. False: whatever else inputs may be. */
static bool recorded_number(const struct odb_recorded_steps *steps, const char *name,
                            size_t *number)
{
    const char *digits = strrchr(name, '_');
    const char *first = steps->n ? strrchr(steps->specs[0], '/') + 1 : name;
    char *end = NULL;
    if (strncmp(name, "step_", 5) != 0 && strncmp(name, "test_data_set_", 14) != 0)
        return false;
    *number = strtoul(digits + 1, &end, 10);
    return digits[1] && !*end && !strncmp(first, name, (size_t)(digits - name) + 1);
}

static enum odb_status recorded_add(struct odb_recorded_steps *steps, const char *spec,
                                    const char *folder, const char *path, struct odb_error *err)
{
    const char *name = strrchr(path, '/') + 1;
    size_t end = recorded_folder_end(spec), number;
    if (!recorded_number(steps, name, &number))
        return ODB_OK;
    if (number != steps->n) {
        odb_fail(err, ODB_E_INPUT, "%s is there, and no folder of step %zu", name, steps->n);
        odb_error_remedy(err, "steps are numbered from 0 on, one after the other");
        return odb_error_at(err, "%s", folder);
    }
    steps->specs = odb_xrealloc(steps->specs, steps->n + 1, sizeof *steps->specs);
    steps->specs[steps->n++] =
        odb_xasprintf("%.*s/%s%s", (int)end, spec, name, spec + end + strspn(spec + end, "/"));
    return ODB_OK;
}

enum odb_status odb_recorded_steps_find(struct odb_recorded_steps *out, const char *spec,
                                        struct odb_error *err)
{
    struct odb_spec *parsed;
    size_t n;
    *out = (struct odb_recorded_steps){0};
    if (!spec || !odb_executor_recorded(spec))
        return ODB_OK;
    ODB_TRY(odb_spec_parse(&parsed, spec, err));
    char **sets = parsed->arg ? odb_input_sets(parsed->arg, &n) : NULL;
    enum odb_status status = ODB_OK;
    for (size_t i = 0; sets && i < n; i++) {
        if (status == ODB_OK)
            status = recorded_add(out, spec, parsed->arg, sets[i], err);
        free(sets[i]);
    }
    free(sets);
    odb_spec_free(parsed);
    return status;
}

/* --- what is in them -------------------------------------------------------------------------- */

static enum odb_status recorded_read(struct odb_recorded_steps *steps, const struct odb_plan *plan,
                                     size_t k, struct odb_error *err)
{
    const struct odb_graph *graph = plan->model->graph;
    size_t n_in = plan->inputs.n, n = n_in + graph->n_outputs;
    int *values = odb_new_n(int, n + 1);
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, n + 1);
    struct odb_recorded_step *step = &steps->items[k];
    for (size_t i = 0; i < n; i++)
        values[i] = i < n_in ? plan->inputs.items[i].value : graph->outputs[i - n_in];
    enum odb_status status = odb_recall(plan->model, steps->specs[k], values, n, had, err);
    step->in = odb_new_n(struct odb_tensor *, n_in + 1);
    step->out = odb_new_n(struct odb_tensor *, graph->n_outputs + 1);
    step->given = odb_new_n(bool, n_in + 1);
    for (size_t i = 0; i < n; i++) {
        if (status == ODB_OK)
            status = odb_spill_take(steps->spill, had[i], err);
        *(i < n_in ? &step->in[i] : &step->out[i - n_in]) = had[i];
    }
    odb_spill_drop(steps->spill);
    for (size_t i = 0; i < n_in; i++)
        step->given[i] = step->in[i] != NULL;
    steps->n_read = k + 1;
    free(values);
    free(had);
    return status;
}

enum odb_status odb_recorded_steps_read(struct odb_recorded_steps *steps,
                                        const struct odb_plan *plan,
                                        const struct odb_search_hooks *hooks, struct odb_error *err)
{
    static const char phase[] = "what was recorded";
    steps->spill = odb_spill_new(odb_memory_budget(hooks->budget).steps);
    steps->n_in = plan->inputs.n;
    steps->n_out = plan->model->graph->n_outputs;
    steps->items = odb_new_n(struct odb_recorded_step, plan->steps + 1);
    odb_hooks_phase(hooks, phase, plan->steps);
    for (size_t k = 0; k < plan->steps; k++) {
        ODB_TRY(odb_hooks_cancelled(hooks, err));
        ODB_TRY(recorded_read(steps, plan, k, err));
        odb_hooks_progress(hooks, phase, ODB_NO_NODE, k + 1, plan->steps);
    }
    return ODB_OK;
}

void odb_recorded_steps_dispose(struct odb_recorded_steps *steps)
{
    for (size_t k = 0; k < steps->n_read; k++) {
        struct odb_recorded_step *step = &steps->items[k];
        for (size_t i = 0; i < steps->n_in; i++)
            odb_tensor_unref(step->in[i]);
        for (size_t o = 0; o < steps->n_out; o++)
            odb_tensor_unref(step->out[o]);
        free(step->in);
        free(step->out);
        free(step->given);
    }
    odb_spill_unref(steps->spill);
    for (size_t k = 0; k < steps->n; k++)
        free(steps->specs[k]);
    free(steps->items);
    free(steps->specs);
    *steps = (struct odb_recorded_steps){0};
}
