/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/refusal/breaks.h"

#include <stdlib.h>

#include "analysis/lint.h"
#include "base/mem.h"
#include "executor/executor.h"
#include "probe/refusal.h"
#include "probe/run_values.h"

static bool breaks_valid(const struct odb_model *model, struct odb_tensor *const *values)
{
    char *invalid = odb_lint_error(model, values);
    bool valid = !invalid;
    free(invalid);
    return valid;
}

enum odb_status odb_refusal_breaks(bool *breaks, struct odb_plainest *plainest,
                                   const struct odb_prober *prober, const struct odb_probe *refused,
                                   const struct odb_error *why, struct odb_error *err)
{
    enum odb_refusal_means means;
    *breaks = false;
    ODB_TRY(odb_plainest_ask(plainest, prober, refused, why, NULL, &means, err));
    *breaks = means == ODB_REFUSAL_BREAKS &&
              breaks_valid(prober->model, prober->trace ? prober->trace->ref : NULL);
    return ODB_OK;
}

/* Whether the spec runs it. Being cancelled is the only error. */
static enum odb_status breaks_runs(bool *runs, const struct odb_model *model,
                                   const struct odb_feeds *feeds, const char *spec,
                                   const int *values, size_t n,
                                   const struct odb_search_hooks *hooks, struct odb_error *err)
{
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, n + 1);
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status had =
        odb_run_readable(model, feeds, spec, values, n, outputs, NULL, 0, hooks, &why);
    for (size_t i = 0; i < n; i++)
        odb_tensor_unref(outputs[i]);
    free(outputs);
    *runs = had == ODB_OK;
    if (had == ODB_CANCELLED)
        *err = why;
    return had == ODB_CANCELLED ? had : ODB_OK;
}

enum odb_status odb_refusal_breaks_run(char **plain, const struct odb_model *model,
                                       const struct odb_feeds *feeds, const char *spec,
                                       const int *values, size_t n, const struct odb_error *why,
                                       const struct odb_search_hooks *hooks, struct odb_error *err)
{
    bool runs = odb_refusal_may_be_fault(why->code, why);
    char *plainly = runs ? odb_executor_plain(spec) : NULL;
    enum odb_status status = ODB_OK;
    *plain = NULL;
    runs = plainly && breaks_valid(model, NULL);
    if (runs)
        status = breaks_runs(&runs, model, feeds, plainly, values, n, hooks, err);
    if (status == ODB_OK && runs)
        status = breaks_runs(&runs, model, feeds, "cpu", values, n, hooks, err);
    if (status == ODB_OK && runs)
        *plain = plainly;
    else
        free(plainly);
    return status;
}
