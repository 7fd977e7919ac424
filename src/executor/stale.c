/* SPDX-License-Identifier: MIT
 *
 * stale:INPUT@SPEC is a target that keeps what it should not: it runs models on SPEC, and gives one
 * input what that was in the run before, as a runtime does that swaps buffers or captures a graph.
 * Models that lack the input run as they are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "executor/executor.h"

struct stale {
    char *input;                /* owned */
    char *carry;                /* owned: acts only where the input is what this output was in the
                                   run before, bit for bit; NULL: always */
    bool first;                 /* what it was in the first run, ever after */
    size_t every, after, runs;  /* acts in every so manieth run of what is loaded, behind so many */
    struct odb_tensor *kept;    /* owned ref; NULL: it has not run yet */
    struct odb_tensor *gave;    /* owned ref: the output carry= of the run before; or NULL */
    struct odb_executor *inner; /* owned */
};

static const struct odb_executor_option stale_rows[] = {
    {":", "INPUT", NULL, "the input that is kept", true},
    {"carry", "OUTPUT", NULL,
     "only where the input is, bit for bit, what that output was in the run before: as a runtime "
     "errs that keeps state in buffers of its own",
     false},
    {"first", NULL, NULL, "what it was in the first run, and not in the one before", false},
    {"every", "N", "1", "only in every Nth run of what is loaded", false},
    {"after", "N", "1", "not in the first N runs of what is loaded", false},
    {"@", "SPEC", NULL, "what runs the model", true},
    {NULL, NULL, NULL, NULL, false},
};

static void stale_release(void *self)
{
    struct stale *stale = self;
    odb_tensor_unref(stale->kept);
    odb_tensor_unref(stale->gave);
    odb_executor_close(stale->inner);
    free(stale->carry);
    free(stale->input);
    free(stale);
}

/* *out on failure too. */
static enum odb_status stale_read(struct stale **out, const struct odb_spec *spec,
                                  struct odb_error *err)
{
    double every = 1, after = 1;
    const char *carry = odb_spec_option(spec, "carry");
    *out = odb_new(struct stale);
    ODB_TRY(odb_spec_check(spec, stale_rows, err));
    ODB_TRY(odb_spec_whole(spec, "every", 1, 0x1p53, &every, err));
    ODB_TRY(odb_spec_whole(spec, "after", 0, 0x1p53, &after, err));
    **out = (struct stale){.input = odb_xstrdup(spec->arg),
                           .carry = carry ? odb_xstrdup(carry) : NULL,
                           .first = odb_spec_option(spec, "first") != NULL,
                           .every = (size_t)every,
                           .after = (size_t)after};
    return ODB_OK;
}

static enum odb_status stale_look(const struct odb_spec *spec, struct odb_error *err)
{
    struct stale *stale;
    enum odb_status status = stale_read(&stale, spec, err);
    stale_release(stale);
    return status;
}

static enum odb_status stale_init(void **self, const struct odb_spec *spec, struct odb_error *err)
{
    struct stale *stale;
    enum odb_status status = stale_read(&stale, spec, err);
    if (status == ODB_OK)
        status = odb_executor_open(&stale->inner, spec->inner, err);
    if (status != ODB_OK) {
        stale_release(stale);
        return status;
    }
    *self = stale;
    return ODB_OK;
}

static enum odb_status stale_load(void *self, const struct odb_load *load, struct odb_error *err)
{
    struct stale *stale = self;
    odb_tensor_unref(stale->kept);
    odb_tensor_unref(stale->gave);
    stale->kept = stale->gave = NULL;
    stale->runs = 0;
    return odb_executor_load(stale->inner, load, err);
}

/* Whether this run gets an earlier input in the place of its own. */
static bool stale_acts(const struct stale *stale, const struct odb_tensor *own)
{
    bool turn = stale->runs >= stale->after && stale->runs % stale->every == 0;
    bool carried = !stale->carry || (stale->gave && odb_tensor_identical(own, stale->gave));
    return turn && carried && stale->kept && odb_tensor_same_shape(own, stale->kept);
}

/* What the next run may be given. */
static void stale_keep(struct stale *stale, struct odb_tensor *own, const char *const *names,
                       size_t n_outputs, struct odb_tensor *const *outputs)
{
    if (!stale->first || !stale->kept) {
        odb_tensor_unref(stale->kept);
        stale->kept = odb_tensor_ref(own);
    }
    for (size_t o = 0; o < n_outputs && stale->carry; o++)
        if (!strcmp(names[o], stale->carry)) {
            odb_tensor_unref(stale->gave);
            stale->gave = odb_tensor_ref(outputs[o]);
        }
}

static enum odb_status stale_execute(void *self, const struct odb_named *inputs, size_t n_inputs,
                                     const char *const *names, size_t n_outputs,
                                     struct odb_tensor **outputs, struct odb_error *err)
{
    struct stale *stale = self;
    struct odb_named *fed = odb_new_n(struct odb_named, n_inputs + 1);
    struct odb_tensor *own = NULL;
    for (size_t i = 0; i < n_inputs; i++) {
        fed[i] = inputs[i];
        if (own || strcmp(inputs[i].name, stale->input) != 0)
            continue;
        own = odb_tensor_ref(inputs[i].tensor);
        if (stale_acts(stale, own))
            fed[i].tensor = stale->kept;
    }
    enum odb_status status =
        odb_executor_run(stale->inner, fed, n_inputs, names, n_outputs, outputs, err);
    stale->runs++;
    if (own && status == ODB_OK)
        stale_keep(stale, own, names, n_outputs, outputs);
    odb_tensor_unref(own);
    free(fed);
    return status;
}

static void stale_describe(void *self, char *text, size_t size)
{
    const struct stale *stale = self;
    char inner[256];
    odb_executor_describe(stale->inner, inner, sizeof inner);
    snprintf(text, size, "planted: input %.80s as in an earlier run, on %.200s", stale->input,
             inner);
}

static enum odb_status stale_account(void *self, struct odb_account *account, struct odb_error *err)
{
    return odb_executor_account(((struct stale *)self)->inner, account, err);
}

static void stale_times(void *self, struct odb_times *times)
{
    odb_executor_times(((struct stale *)self)->inner, times);
}

static bool stale_cancel(void *self)
{
    return odb_executor_cancel(((struct stale *)self)->inner);
}

static void stale_capabilities(void *self, struct odb_buf *options)
{
    odb_executor_capabilities(((struct stale *)self)->inner, options);
}

const struct odb_executor_ops odb_executor_stale = {
    .version = ODB_EXECUTOR_VERSION,
    .size = sizeof(struct odb_executor_ops),
    .kind = "stale",
    .options = stale_rows,
    .help = "another executor that gives an input what it was in an earlier run",
    .page = "onnxdbg-fault(7)",
    .trusted = "*", /* what it wraps is looked at on its own */
    .look = stale_look,
    .init = stale_init,
    .load_model = stale_load,
    .execute = stale_execute,
    .release = stale_release,
    .describe = stale_describe,
    .capabilities = stale_capabilities,
    .account = stale_account,
    .times = stale_times,
    .cancel = stale_cancel,
};
