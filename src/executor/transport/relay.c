/* SPDX-License-Identifier: MIT */
#include "executor/transport/relay.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

enum odb_status odb_relay_load(void *self, const struct odb_load *load, struct odb_error *err)
{
    return odb_target_load(self, load, err);
}

enum odb_status odb_relay_execute(void *self, const struct odb_named *inputs, size_t n_inputs,
                                  const char *const *names, size_t n_outputs,
                                  struct odb_tensor **outputs, struct odb_error *err)
{
    return odb_target_run(self, inputs, n_inputs, names, n_outputs, outputs, err);
}

enum odb_status odb_relay_account(void *self, struct odb_account *account, struct odb_error *err)
{
    return odb_target_account(self, account, err);
}

void odb_relay_describe(void *self, char *text, size_t size)
{
    snprintf(text, size, "%s", odb_target_description(self));
}

void odb_relay_capabilities(void *self, struct odb_buf *options)
{
    odb_capabilities_put(odb_target_capabilities(self), options);
}

void odb_relay_release(void *self)
{
    odb_target_close(self);
}

/* In no list: its spec is the target's. */
static const struct odb_executor_ops relay_ops = {
    .version = ODB_EXECUTOR_VERSION,
    .size = sizeof relay_ops,
    .kind = "relay",
    .recorded = true, /* what is missing is looked at by the debugger */
    .load_model = odb_relay_load,
    .execute = odb_relay_execute,
    .account = odb_relay_account,
    .describe = odb_relay_describe,
    .capabilities = odb_relay_capabilities,
    .release = odb_relay_release,
};

enum odb_status odb_relay_open(struct odb_executor **out, const char *spec,
                               bool (*gone)(void *payload), void *payload, struct odb_error *err)
{
    struct odb_target *target;
    ODB_TRY(odb_target_open(&target, spec, err));
    odb_target_set_cancel(target, gone, payload);
    *out = odb_new(struct odb_executor);
    **out = (struct odb_executor){&relay_ops, target};
    return ODB_OK;
}

struct odb_target *odb_relay_target(const struct odb_executor *relay)
{
    return relay->self;
}
