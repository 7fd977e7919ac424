/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/look/explain_files.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/tensor_file.h"
#include "command/call/watch.h"
#include "command/verbs/look/explain_print.h"
#include "explain/explanations.h"
#include "explain/own/own_rows.h"
#include "kernels/core/kern.h"
#include "model/read/load.h"
#include "model/text/attr_read.h"
#include "model/write/one_node.h"

#define EXPLAIN_SECONDS 120 /* without --explain-budget: the user waits for this one node */
#define FILES_NAME 64       /* of an input */

double explain_seconds(const struct odb_command_call *call)
{
    return (double)odb_call_int(call, ODB_OPTION_EXPLAIN_BUDGET, EXPLAIN_SECONDS);
}

/* A call from the words of the command line. */
struct files {
    const struct odb_op *op; /* static */
    struct odb_one_node node;
    const char **paths;            /* owned array of borrowed words: inputs, then outputs */
    struct odb_tensor **tensors;   /* owned refs; [n_in + n_out]; NULL: omitted */
    char (*names)[FILES_NAME];     /* owned; [n_in] */
    const char **name_list;        /* owned array: names */
    struct odb_attr_value *values; /* owned; [n_attrs] */
    struct odb_attr *attrs;        /* owned */
    size_t n_attrs;
};

static void files_dispose(struct files *f)
{
    for (size_t i = 0; f->tensors && i < f->node.n_in + f->node.n_out; i++)
        odb_tensor_unref(f->tensors[i]);
    for (size_t a = 0; a < f->n_attrs; a++)
        odb_attr_value_dispose(&f->values[a]);
    free(f->paths);
    free(f->tensors);
    free(f->names);
    free(f->name_list);
    free(f->values);
    free(f->attrs);
}

/* --- the operator ----------------------------------------------------------------------------- */

static enum odb_status files_op(struct files *f, const struct odb_command_call *call,
                                struct odb_error *err)
{
    const char *op = odb_call_option(call, ODB_OPTION_OP);
    const char *domain = odb_call_option(call, ODB_OPTION_DOMAIN);
    int64_t opset = odb_call_int(call, ODB_OPTION_OPSET, INT_MAX);
    domain = !domain || !strcmp(domain, "ai.onnx") ? "" : domain;
    f->op = odb_op_find(domain, op, (int)opset);
    f->node = (struct odb_one_node){.op = op, .domain = domain};
    if (f->op && f->op->run) {
        f->node.opset = opset == INT_MAX ? f->op->since : opset;
        return ODB_OK;
    }
    odb_fail(err, ODB_E_USAGE, "the reference has no kernel for '%.60s' of domain %.60s", op,
             domain[0] ? domain : "ai.onnx");
    return odb_error_remedy(err, "`onnxdbg operators` lists what it has; --domain and --opset say "
                                 "which");
}

static enum odb_status files_attr(struct files *f, const char *word, struct odb_error *err)
{
    const char *equals = strchr(word, '=');
    char *name = odb_xasprintf("%.*s", (int)strcspn(word, "="), word);
    const struct odb_attr_spec *spec = odb_op_attr(f->op, name);
    struct odb_attr_value *value = &f->values[f->n_attrs];
    enum odb_status status = ODB_OK;
    if (!equals)
        status = odb_fail(err, ODB_E_USAGE, "'%.60s' is not NAME=VALUE", word);
    else if (!spec)
        status = odb_fail(err, ODB_E_USAGE, "%s has no attribute '%.60s'", f->op->name, name);
    else
        status = odb_attr_value_read(value, name, spec->type, equals + 1, err);
    if (equals && spec)
        f->attrs[f->n_attrs++] = value->attr;
    free(name);
    return status == ODB_OK ? status : odb_error_at(err, "--attr");
}

static enum odb_status files_attrs(struct files *f, const struct odb_command_call *call,
                                   struct odb_error *err)
{
    size_t n;
    enum odb_status status = ODB_OK;
    const char **words = odb_call_list(call, ODB_OPTION_ATTR, &n);
    f->values = odb_new_n(struct odb_attr_value, n + 1);
    f->attrs = odb_new_n(struct odb_attr, n + 1);
    for (size_t i = 0; i < n && status == ODB_OK; i++)
        status = files_attr(f, words[i], err);
    free(words);
    f->node.attrs = f->attrs;
    f->node.n_attrs = f->n_attrs;
    return status;
}

/* --- the tensors ------------------------------------------------------------------------------ */

/* Arguments are inputs. The last is the first output, unless --out names the outputs. */
static enum odb_status files_list(struct files *f, const struct odb_command_call *call,
                                  struct odb_error *err)
{
    size_t first = call->console ? 1 : 0, n = call->n_args - first, n_out;
    const char **out = odb_call_list(call, ODB_OPTION_OUT, &n_out);
    f->node.n_in = n_out ? n : n - (n > 0);
    f->node.n_out = n_out ? n_out : n > 0;
    f->paths = odb_new_n(const char *, n + n_out + 1);
    for (size_t i = 0; i < n; i++)
        f->paths[i] = call->args[first + i];
    for (size_t o = 0; o < n_out; o++)
        f->paths[n + o] = out[o];
    free(out);
    if (f->node.n_out)
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "explain --op needs the inputs' files and the output's");
    return odb_error_remedy(err, "as in: onnxdbg explain --op Softmax --attr axis=1 x.npy y.npy");
}

/* "-" is one that is omitted, or was not had. */
static enum odb_status files_read(struct files *f, struct odb_error *err)
{
    size_t n = f->node.n_in + f->node.n_out;
    bool any = false;
    f->tensors = odb_new_n(struct odb_tensor *, n);
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(f->paths[i], "-"))
            continue;
        ODB_TRY(odb_call__read_tensor(&f->tensors[i], f->paths[i], err));
        any |= i >= f->node.n_in;
    }
    f->node.in = f->tensors;
    f->node.out = f->tensors + f->node.n_in;
    return any ? ODB_OK : odb_fail(err, ODB_E_USAGE, "there is no output to explain");
}

/* Inputs are called as their files are, where that can be the name of a value, and no other is. */
static void files_name(struct files *f)
{
    f->names = odb_xcalloc(f->node.n_in + 1, sizeof *f->names);
    f->name_list = odb_new_n(const char *, f->node.n_in + 1);
    for (size_t i = 0; i < f->node.n_in; i++) {
        const char *slash = strrchr(f->paths[i], '/');
        const char *name = slash ? slash + 1 : f->paths[i];
        bool good = strlen(name) < FILES_NAME && !strpbrk(name, " \t\n:");
        for (size_t j = 0; j < i; j++)
            good = good && strcmp(f->names[j], name) != 0;
        char *number = odb_xasprintf("input:%zu", i);
        snprintf(f->names[i], FILES_NAME, "%s", good ? name : number);
        free(number);
        f->name_list[i] = f->names[i];
    }
    f->node.in_names = f->name_list;
}

/* --- explaining ------------------------------------------------------------------------------- */

static enum odb_status files_ask(struct odb_command_call *call, const struct files *f,
                                 const struct odb_model *model, struct odb_explanations *all,
                                 struct odb_beside *beside, struct odb_error *err)
{
    const char *variant = odb_call_option(call, ODB_OPTION_BESIDE);
    const char *path = odb_call_option(call, ODB_OPTION_VARIANTS);
    struct odb_own_rows *own = NULL;
    struct odb_cpu *cpu;
    struct odb_watch watch;
    if (path)
        ODB_TRY(odb_own_rows_read(&own, path, err));
    enum odb_status status = odb_cpu_new(&cpu, model, err);
    if (status != ODB_OK) {
        odb_own_rows_free(own);
        return status;
    }
    struct odb_search_hooks hooks = odb_watch_begin(&watch, call);
    const struct odb_explain_question q = {.model = model,
                                           .cpu = cpu,
                                           .in = f->node.in,
                                           .out = f->node.out,
                                           .factor = EXPLAIN_FACTOR,
                                           .seconds = explain_seconds(call),
                                           .own = own,
                                           .trials = odb_call_has(call, ODB_OPTION_ALL_VARIANTS),
                                           .hooks = &hooks};
    status = odb_explain(all, &q, err);
    if (status == ODB_OK && variant)
        status = odb_explain_beside(beside, &q, variant, err);
    all->recorded = true;
    odb_watch_end(&watch);
    odb_cpu_free(cpu);
    odb_own_rows_free(own);
    return status;
}

static void files_tell(struct odb_command_call *call, const struct files *f,
                       const struct odb_model *model, const struct odb_explanations *all,
                       const struct odb_beside *beside)
{
    size_t shown = f->node.n_in;
    while (!f->tensors[shown])
        shown++;
    const char *made_by = f->paths[shown];
    char *title =
        odb_call_has(call, ODB_OPTION_OPSET)
            ? odb_xasprintf("%s as %s of opset %lld", made_by, f->node.op, (long long)f->node.opset)
            : odb_xasprintf("%s as %s", made_by, f->node.op);
    const struct explain_of of = {model->graph, 0,     made_by,
                                  "",           title, beside->target ? beside : NULL};
    struct odb_buf out = ODB_BUF_INIT;
    (odb_call_has(call, ODB_OPTION_JSON) ? explain_put_json : explain_put_text)(&of, all, &out);
    odb_call__print(call, &out);
    free(title);
}

enum odb_status explain_files(struct odb_command_call *call, struct odb_error *err)
{
    struct files f = {0};
    struct odb_model *model = NULL;
    struct odb_explanations all = {0};
    struct odb_beside beside = {0};
    enum odb_status status = files_op(&f, call, err);
    if (status == ODB_OK)
        status = files_attrs(&f, call, err);
    if (status == ODB_OK)
        status = files_list(&f, call, err);
    if (status == ODB_OK)
        status = files_read(&f, err);
    if (status == ODB_OK) {
        files_name(&f);
        status = odb_model_of_one_node(&model, &f.node, err);
    }
    if (status == ODB_OK)
        status = files_ask(call, &f, model, &all, &beside, err);
    if (status == ODB_OK)
        files_tell(call, &f, model, &all, &beside);
    odb_explanations_dispose(&all);
    odb_beside_dispose(&beside);
    odb_model_free(model);
    files_dispose(&f);
    return status;
}
