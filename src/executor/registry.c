/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "executor/likely.h"
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

/* --- libraries -------------------------------------------------------------------------------- */

struct odb_runtime odb_executor_runtime(const struct odb_executor_ops *ops,
                                        const struct odb_spec *spec)
{
    const char *spelled[] = {"runtime", ops->renamed};
    for (size_t i = 0; i < ODB_COUNT(spelled) && ops->env && spec; i++) {
        const char *path = spelled[i] ? odb_spec_option(spec, spelled[i]) : NULL;
        if (path)
            return (struct odb_runtime){path, spelled[i]};
    }
    const char *path = ops->env ? getenv(ops->env) : NULL;
    return (struct odb_runtime){path && path[0] ? path : NULL, ops->env};
}

bool odb_executor_available(const struct odb_executor_ops *ops, const struct odb_spec *spec,
                            char *why, size_t size)
{
    struct odb_runtime runtime = odb_executor_runtime(ops, spec);
    why[0] = '\0';
    if (ops->available)
        ops->available(&runtime, why, size);
    return !why[0];
}

struct registry_use {
    char *why; /* borrowed */
    size_t size;
};

static bool registry_usable(const struct odb_spec *spec, void *payload)
{
    struct registry_use *use = payload;
    return spec->row && !spec->row->transport &&
           odb_executor_available(spec->row, spec, use->why, use->size);
}

bool odb_executor_usable(const char *spec, char *why, size_t size)
{
    struct registry_use use = {why, size};
    struct odb_error ignored = ODB_ERROR_INIT;
    why[0] = '\0';
    return odb_spec_walk(spec, registry_usable, &use, &ignored) != ODB_OK || !why[0];
}

void odb_libraries_add_take(struct odb_libraries *libraries, char *path, char *version)
{
    for (size_t i = 0; i < libraries->items.n; i++)
        if (!strcmp(libraries->items.items[i].path, path)) {
            free(path);
            free(version);
            return;
        }
    odb_push(&libraries->items, (struct odb_library){path, version});
}

void odb_libraries_dispose(struct odb_libraries *libraries)
{
    for (size_t i = 0; i < libraries->items.n; i++) {
        free(libraries->items.items[i].path);
        free(libraries->items.items[i].version);
    }
    free(libraries->items.items);
    *libraries = (struct odb_libraries){0};
}

const struct odb_executor_ops *odb_executor_usual_row(void)
{
    size_t i = 0;
    while (!registry[i]->usual)
        i++;
    return registry[i];
}

const struct odb_executor_ops *odb_executor_usual(void)
{
    const struct odb_executor_ops *ops = odb_executor_usual_row();
    char why[512];
    if (ops->env && getenv(ops->env)) /* asked for: if it is not there, that has to be said */
        return ops;
    return odb_executor_available(ops, NULL, why, sizeof why) ? ops : NULL;
}

const struct odb_executor_ops *odb_executor_independent(int rank)
{
    for (size_t i = 0; i < ODB_COUNT(registry); i++)
        if (registry[i]->independence == rank)
            return registry[i];
    return NULL;
}

static bool registry_first(const struct odb_spec *spec, void *payload)
{
    const struct odb_executor_ops **row = payload;
    *row = spec->row;
    return false;
}

const struct odb_executor_ops *odb_executor_row(const char *text)
{
    const struct odb_executor_ops *row = NULL;
    return odb_spec_walk(text, registry_first, &row, NULL) == ODB_OK ? row : NULL;
}

bool odb_executor_is_reference(const char *text)
{
    const struct odb_executor_ops *row = odb_executor_row(text);
    return row && row->reference;
}

/* A transport without a spec is what it is. */
static bool registry_behind(const struct odb_spec *spec, void *payload)
{
    const struct odb_executor_ops **row = payload;
    *row = spec->row;
    return *row && (*row)->transport && spec->inner;
}

const struct odb_executor_ops *odb_executor_of(const char *text)
{
    const struct odb_executor_ops *row = NULL;
    return odb_spec_walk(text, registry_behind, &row, NULL) == ODB_OK ? row : NULL;
}

bool odb_executor_recorded(const char *text)
{
    const struct odb_executor_ops *ops = odb_executor_of(text);
    return ops && ops->recorded;
}

struct registry_fixed {
    bool fixed, stated; /* its executor is; it says so */
};

static bool registry_look_fixed(const struct odb_spec *spec, void *payload)
{
    struct registry_fixed *seen = payload;
    seen->fixed |= spec->row && spec->row->fixed;
    seen->stated |= odb_spec_option(spec, "static") != NULL;
    return true;
}

/* What is seen before a part that is malformed counts. */
static struct registry_fixed registry_fixed(const char *text)
{
    struct registry_fixed seen = {false, false};
    enum odb_status ignored = odb_spec_walk(text, registry_look_fixed, &seen, NULL);
    (void)ignored;
    return seen;
}

bool odb_executor_fixed(const char *text)
{
    struct registry_fixed seen = registry_fixed(text);
    return seen.fixed || seen.stated;
}

bool odb_executor_needs_fixed(const char *text)
{
    return registry_fixed(text).fixed;
}

/* The spec with the option of its row, "opt=disabled". */
static char *registry_plain(const struct odb_spec *spec)
{
    const char *value = strchr(spec->row->plain, '=') + 1;
    char *key = odb_xstrndup(spec->row->plain, (size_t)(value - 1 - spec->row->plain));
    const char *had = odb_spec_option(spec, key);
    char *plain = had && !strcmp(had, value) ? NULL : odb_spec_with(spec, key, value);
    free(key);
    return plain;
}

char *odb_executor_plain(const char *text)
{
    struct odb_spec *spec;
    char *plain = NULL;
    if (odb_spec_parse(&spec, text, NULL) != ODB_OK)
        return NULL;
    const char *said = odb_spec_option(spec, ODB_SPEC_PLAIN);
    if (said) {
        plain = odb_xstrdup(said);
    } else if (spec->row && spec->row->plain) {
        plain = registry_plain(spec);
    } else if (spec->inner) { /* which stands last */
        char *inner = odb_executor_plain(spec->inner);
        if (inner)
            plain = odb_xasprintf("%.*s%s", (int)(strlen(text) - strlen(spec->inner)), text, inner);
        free(inner);
    }
    odb_spec_free(spec);
    return plain;
}

/* The outermost that says so counts, and else the row of the innermost. */
static bool registry_look_types(const struct odb_spec *spec, void *payload)
{
    bool *by_value = payload;
    const char *types = odb_spec_option(spec, "types");
    *by_value = types ? !strcmp(types, "value") : spec->row && spec->row->by_value;
    return !types;
}

bool odb_executor_by_value(const char *text)
{
    bool by_value = false;
    return odb_spec_walk(text, registry_look_types, &by_value, NULL) == ODB_OK && by_value;
}

/* Behind a transport, the executor there is the one that says something. */
static bool registry_accounts(const struct odb_spec *spec, void *payload)
{
    bool *accounts = payload;
    bool there = spec->row && spec->row->transport && spec->inner;
    *accounts = there || (spec->row && spec->row->account);
    return *accounts;
}

bool odb_executor_accounts(const char *text)
{
    bool accounts = false;
    return odb_spec_walk(text, registry_accounts, &accounts, NULL) == ODB_OK && accounts;
}

static bool registry_account_loads(const struct odb_spec *spec, void *payload)
{
    bool *loads = payload;
    *loads = spec->row && spec->row->account_loads;
    return *loads;
}

bool odb_executor_account_loads(const char *text)
{
    bool loads = false;
    return odb_spec_walk(text, registry_account_loads, &loads, NULL) == ODB_OK && loads;
}

static enum odb_status executor_unknown(const struct odb_spec *spec, struct odb_error *err)
{
    struct odb_buf kinds = ODB_BUF_INIT;
    odb_buf_puts(&kinds, "there are ");
    for (size_t i = 0; i < ODB_COUNT(registry); i++)
        odb_buf_printf(&kinds, "%s%s", i ? ", " : "", registry[i]->kind);
    odb_fail(err, ODB_E_USAGE, "there is no executor '%s'", spec->kind);
    enum odb_status status = odb_executor_likely(err, spec->kind, odb_buf_text(&kinds));
    odb_buf_dispose(&kinds);
    return status;
}

/* A library that a spec names has to be there. */
static enum odb_status executor_look(const struct odb_spec *spec, struct odb_error *err)
{
    struct odb_runtime runtime = odb_executor_runtime(spec->row, spec);
    if (runtime.path && runtime.by != spec->row->env && access(runtime.path, F_OK) != 0) {
        odb_fail(err, ODB_E_USAGE, "there is no file or folder %s", runtime.path);
        odb_error_remedy(err,
                         "runtime=PATH is taken from the folder where onnxdbg was started; "
                         "`onnxdbg executors %s` lists what is found here",
                         spec->kind);
        return odb_error_at(err, "%s", spec->text);
    }
    return spec->row->look ? spec->row->look(spec, err) : ODB_OK;
}

enum odb_status odb_executor_here(const char *text, struct odb_error *err)
{
    struct odb_spec *spec;
    ODB_TRY(odb_spec_parse(&spec, text, err));
    const struct odb_executor_ops *ops = spec->row;
    enum odb_status status = ODB_OK;
    if (!ops || !ops->transport) {
        if (!ops) {
            status = executor_unknown(spec, err);
            if (strcmp(text, spec->kind) != 0) /* which names it once already */
                odb_error_at(err, "%s", text);
        } else {
            status = executor_look(spec, err);
        }
        if (status == ODB_OK && spec->inner)
            status = odb_executor_here(spec->inner, err);
    }
    odb_spec_free(spec);
    return status;
}

enum odb_status odb_executor_open(struct odb_executor **out, const char *text,
                                  struct odb_error *err)
{
    struct odb_spec *spec;
    struct odb_executor *executor = odb_new(struct odb_executor);
    enum odb_status status = odb_spec_parse(&spec, text, err);
    if (status == ODB_OK) {
        executor->ops = spec->row;
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
        if (!outputs[i] && !executor->ops->recorded && !executor->ops->partial)
            status = odb_fail(err, ODB_E_EXECUTOR, "there is no output '%s'", names[i]);
    for (size_t i = 0; i < n_outputs && status != ODB_OK; i++) {
        odb_tensor_unref(outputs[i]);
        outputs[i] = NULL;
    }
    return status;
}

bool odb_executor_cancel(struct odb_executor *executor)
{
    return executor->ops->cancel && executor->ops->cancel(executor->self);
}

void odb_executor_describe(struct odb_executor *executor, char *text, size_t size)
{
    text[0] = '\0';
    if (executor->ops->describe)
        executor->ops->describe(executor->self, text, size);
}

void odb_executor_capabilities(struct odb_executor *executor, struct odb_buf *options)
{
    if (executor->ops->capabilities)
        executor->ops->capabilities(executor->self, options);
}

bool odb_executor_beside(struct odb_executor *executor)
{
    return executor->ops->beside && executor->ops->beside(executor->self);
}

enum odb_status odb_executor_account(struct odb_executor *executor, struct odb_account *account,
                                     struct odb_error *err)
{
    return executor->ops->account ? executor->ops->account(executor->self, account, err) : ODB_OK;
}

void odb_executor_times(struct odb_executor *executor, struct odb_times *times)
{
    if (executor->ops->times)
        executor->ops->times(executor->self, times);
}

/* --- accounts --------------------------------------------------------------------------------- */

void odb_account_dispose(struct odb_account *account)
{
    for (size_t i = 0; i < account->places.n; i++) {
        free(account->places.items[i].node);
        free(account->places.items[i].op_type);
        free(account->places.items[i].where);
    }
    for (size_t i = 0; i < account->notes.n; i++)
        free(account->notes.items[i]);
    free(account->places.items);
    free(account->notes.items);
    odb_buf_dispose(&account->text);
    odb_buf_dispose(&account->groups);
    *account = (struct odb_account)ODB_ACCOUNT_INIT;
}

void odb_account_place(struct odb_account *account, const char *node, const char *op_type,
                       const char *where)
{
    odb_push(&account->places,
             (struct odb_placement){odb_xstrdup(node), odb_xstrdup(op_type), odb_xstrdup(where)});
}

static int account_more(const void *a, const void *b)
{
    const struct odb_place_count *x = a, *y = b;
    return x->n != y->n ? (x->n < y->n ? 1 : -1) : strcmp(x->where, y->where);
}

size_t odb_account_count(const struct odb_account *account, struct odb_place_count **out)
{
    size_t n = 0;
    *out = odb_new_n(struct odb_place_count, account->places.n + 1);
    for (size_t i = 0; i < account->places.n; i++) {
        const char *where = account->places.items[i].where;
        size_t at = 0;
        while (at < n && strcmp((*out)[at].where, where) != 0)
            at++;
        n = at == n ? n + 1 : n;
        (*out)[at].where = where;
        (*out)[at].n++;
    }
    qsort(*out, n, sizeof **out, account_more);
    return n;
}

void odb_account_put_places(const struct odb_account *account, struct odb_buf *out)
{
    struct odb_place_count *counts;
    size_t n = odb_account_count(account, &counts);
    for (size_t i = 0; i < n; i++) {
        const char *nodes = i ? "" : counts[i].n == 1 ? " node" : " nodes";
        odb_buf_printf(out, "%s%zu%s on ", i ? ", " : "", counts[i].n, nodes);
        odb_buf_put_shown(out, counts[i].where);
    }
    free(counts);
}

void odb_account_note(struct odb_account *account, const char *fmt, ...)
{
    char *note = NULL;
    va_list args;
    va_start(args, fmt);
    if (vasprintf(&note, fmt, args) < 0)
        note = odb_xstrdup(fmt);
    va_end(args);
    odb_push(&account->notes, note);
}
