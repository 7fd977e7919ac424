/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/run_values.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "probe/probe.h"
#include "probe/recall.h"
#include "model/read/load.h"

/* For callers that need every value: what a target lacks is an error. */
static enum odb_status run_complete(struct odb_prober *prober, struct odb_probe *probe,
                                    struct odb_error *err)
{
    for (size_t i = 0; i < probe->n_values; i++) {
        if (probe->outputs[i])
            continue;
        odb_probe_drop(prober, probe);
        return odb_fail(err, ODB_E_INPUT, "%s: '%s' %s", odb_pool_spec(prober->pool),
                        prober->model->graph->values[probe->values[i]].name,
                        prober->recorded ? "was not recorded" : "cannot be read there");
    }
    return ODB_OK;
}

/* A prober with a pool of its own, and without a reference. */
static enum odb_status run_open(struct odb_prober *prober, const struct odb_model *model,
                                const struct odb_feeds *feeds, const char *spec,
                                const struct odb_search_hooks *hooks, struct odb_error *err)
{
    struct odb_pool *pool;
    ODB_TRY(odb_model_require_data(model, err));
    ODB_TRY(odb_probe_pool(&pool, spec, hooks, err));
    odb_prober_init(prober, model, feeds, NULL, pool,
                    hooks ? *hooks : (struct odb_search_hooks){0});
    return ODB_OK;
}

static void run_close(struct odb_prober *prober)
{
    odb_pool_close(prober->pool);
    odb_prober_dispose(prober);
}

static void run_describe(const struct odb_prober *prober, char *description, size_t size)
{
    if (description && size)
        snprintf(description, size, "%s", odb_target_description(odb_pool_target(prober->pool)));
}

/* complete: a value that is not had is an error. */
static enum odb_status run_probe(const struct odb_model *model, const struct odb_feeds *feeds,
                                 const char *spec, const int *values, size_t n_values,
                                 struct odb_tensor **outputs, char *description, size_t size,
                                 const struct odb_search_hooks *hooks, bool complete,
                                 struct odb_error *err)
{
    struct odb_prober prober;
    struct odb_probe probe = {.what = "run",
                              .node = ODB_NO_NODE,
                              .values = values,
                              .n_values = n_values,
                              .outputs = outputs};
    ODB_TRY(run_open(&prober, model, feeds, spec, hooks, err));
    enum odb_status status = odb_probe_run(&prober, &probe, err);
    if (status == ODB_OK && complete)
        status = run_complete(&prober, &probe, err);
    run_describe(&prober, description, size);
    run_close(&prober);
    return status;
}

enum odb_status odb_run_values(const struct odb_model *model, const struct odb_feeds *feeds,
                               const char *spec, const int *values, size_t n_values,
                               struct odb_tensor **outputs, char *description, size_t size,
                               const struct odb_search_hooks *hooks, struct odb_error *err)
{
    return run_probe(model, feeds, spec, values, n_values, outputs, description, size, hooks, true,
                     err);
}

enum odb_status odb_run_readable(const struct odb_model *model, const struct odb_feeds *feeds,
                                 const char *spec, const int *values, size_t n_values,
                                 struct odb_tensor **outputs, char *description, size_t size,
                                 const struct odb_search_hooks *hooks, struct odb_error *err)
{
    return run_probe(model, feeds, spec, values, n_values, outputs, description, size, hooks, false,
                     err);
}

enum odb_status odb_run_account(const struct odb_model *model, const struct odb_feeds *feeds,
                                const char *spec, struct odb_account *account, char *description,
                                size_t size, const struct odb_search_hooks *hooks,
                                struct odb_error *err)
{
    struct odb_prober prober;
    size_t n = model->graph->n_outputs;
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, n);
    struct odb_probe probe = {.what = "the whole model",
                              .node = ODB_NO_NODE,
                              .values = model->graph->outputs,
                              .n_values = n,
                              .outputs = outputs};
    enum odb_status status = run_open(&prober, model, feeds, spec, hooks, err);
    if (status == ODB_OK) {
        status = odb_probe_run(&prober, &probe, err);
        if (status == ODB_OK)
            status = odb_target_account(odb_pool_target(prober.pool), account, err);
        run_describe(&prober, description, size);
        odb_probe_drop(&prober, &probe);
        run_close(&prober);
    }
    free(outputs);
    return status;
}

enum odb_status odb_recall(const struct odb_model *model, const char *spec, const int *values,
                           size_t n_values, struct odb_tensor **outputs, struct odb_error *err)
{
    const struct odb_feeds none = {0};
    struct odb_pool *pool = NULL;
    struct odb_prober prober;
    struct odb_probe probe = {.what = "what was recorded",
                              .node = ODB_NO_NODE,
                              .values = values,
                              .n_values = n_values,
                              .outputs = outputs};
    if (!odb_executor_recorded(spec))
        return ODB_OK;
    ODB_TRY(odb_probe_pool(&pool, spec, NULL, err));
    odb_prober_init(&prober, model, &none, NULL, pool, (struct odb_search_hooks){0});
    enum odb_status status = odb_probe_run(&prober, &probe, err);
    if (status == ODB_OK)
        free(odb_recall_layout(&prober, values, outputs, n_values));
    odb_prober_dispose(&prober);
    odb_pool_close(pool);
    return status;
}
