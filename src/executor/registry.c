/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "executor/executor.h"

#define ODB_EXECUTOR(kind) extern const struct odb_executor_ops odb_executor_##kind;
#include "executor/executors.def"
#undef ODB_EXECUTOR

static const struct odb_executor_ops *const registry[] = {
#define ODB_EXECUTOR(kind) &odb_executor_##kind,
#include "executor/executors.def"
#undef ODB_EXECUTOR
};

const struct odb_executor_ops *odb_executor_find(const char *kind)
{
    for (size_t i = 0; i < ODB_COUNT(registry); i++)
        if (!strcmp(registry[i]->kind, kind))
            return registry[i];
    return NULL;
}

const struct odb_executor_ops *const *odb_executor_list(size_t *n)
{
    *n = ODB_COUNT(registry);
    return registry;
}

static enum odb_status executor_unknown(const struct odb_spec *spec, struct odb_error *err)
{
    struct odb_buf kinds = ODB_BUF_INIT;
    for (size_t i = 0; i < ODB_COUNT(registry); i++)
        odb_buf_printf(&kinds, "%s%s", i ? ", " : "", registry[i]->kind);
    odb_fail(err, ODB_E_USAGE, "there is no executor '%s'", spec->kind);
    odb_error_remedy(err, "there are %s", odb_buf_text(&kinds));
    odb_buf_dispose(&kinds);
    return ODB_E_USAGE;
}

enum odb_status odb_executor_open(struct odb_executor **out, const char *text,
                                  struct odb_error *err)
{
    struct odb_spec *spec;
    struct odb_executor *executor = odb_new(struct odb_executor);
    enum odb_status status = odb_spec_parse(&spec, text, err);
    if (status == ODB_OK) {
        executor->ops = odb_executor_find(spec->kind);
        if (!executor->ops)
            status = executor_unknown(spec, err);
        else if (executor->ops->init)
            status = executor->ops->init(&executor->self, spec, err);
        odb_spec_free(spec);
    }
    if (status != ODB_OK)
        free(executor);
    else
        *out = executor;
    return status;
}

void odb_executor_close(struct odb_executor *executor)
{
    if (!executor)
        return;
    if (executor->ops->release)
        executor->ops->release(executor->self);
    free(executor);
}

enum odb_status odb_executor_load(struct odb_executor *executor, const struct odb_load *load,
                                  struct odb_error *err)
{
    if (!executor->ops->load_model)
        return ODB_OK;
    return executor->ops->load_model(executor->self, load, err);
}

enum odb_status odb_executor_run(struct odb_executor *executor, const struct odb_named *inputs,
                                 size_t n_inputs, const char *const *names, size_t n_outputs,
                                 struct odb_tensor **outputs, struct odb_error *err)
{
    for (size_t i = 0; i < n_outputs; i++)
        outputs[i] = NULL;
    if (!executor->ops->execute)
        return odb_fail(err, ODB_E_EXECUTOR, "'%s' runs no models", executor->ops->kind);
    enum odb_status status =
        executor->ops->execute(executor->self, inputs, n_inputs, names, n_outputs, outputs, err);
    for (size_t i = 0; i < n_outputs && status == ODB_OK; i++)
        if (!outputs[i])
            status = odb_fail(err, ODB_E_EXECUTOR, "there is no output '%s'", names[i]);
    for (size_t i = 0; i < n_outputs && status != ODB_OK; i++) {
        odb_tensor_unref(outputs[i]);
        outputs[i] = NULL;
    }
    return status;
}

void odb_executor_describe(struct odb_executor *executor, char *text, size_t size)
{
    text[0] = '\0';
    if (executor->ops->describe)
        executor->ops->describe(executor->self, text, size);
}
