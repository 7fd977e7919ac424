/* SPDX-License-Identifier: MIT
 *
 * dump:PATH answers with values that were recorded before, whatever model it is given. The model
 * only tells what names mean: which value is a checkpoint of a PyTorch export, which is a weight,
 * and which names would be one as a file's.
 *
 * A wrong match would be taken for a wrong target, so a name that could be two values' is no
 * value's until a map says which.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "executor/executor.h"
#include "executor/recorded/mangled.h"
#include "executor/recorded/recording.h"
#include "executor/recorded/renames.h"
#include "model/read/load.h"
#include "system/file.h"

#define DUMP_LISTED 8 /* names in a note */
#define DUMP_MAPS 9   /* names of a map that is written */

struct dump {
    struct odb_recording *recording; /* owned */
    char *map;                       /* owned: its file; NULL: none */
    struct odb_renames *renames;     /* owned; NULL: none */
    struct odb_model *model;         /* owned; NULL: none loaded */
    char **outputs;                  /* owned: of the debugged model */
    size_t n_outputs;
    struct odb_map *checkpoints; /* owned: name of a checkpoint -> value */
    struct odb_mangled *mangled; /* owned: of names that nothing else finds; NULL: there are none */
    bool counts; /* recorded names that are a number count something, and are no value's name */
    struct odb_map *forms; /* owned: file form -> how many values have it whose own name is
                              not recorded */
};

/* --- the model -------------------------------------------------------------------------------- */

static void dump_unload(struct dump *dump)
{
    for (size_t i = 0; i < dump->n_outputs; i++)
        free(dump->outputs[i]);
    free(dump->outputs);
    odb_map_free(dump->checkpoints);
    odb_map_free(dump->forms);
    odb_mangled_free(dump->mangled);
    odb_model_free(dump->model);
    dump->outputs = NULL;
    dump->n_outputs = 0;
    dump->checkpoints = dump->forms = NULL;
    dump->model = NULL;
    dump->mangled = NULL;
    dump->counts = false;
}

static void dump_know_model(struct dump *dump)
{
    const struct odb_graph *graph = dump->model->graph;
    dump->checkpoints = odb_map_new();
    dump->forms = odb_map_new();
    for (size_t n = 0; n < graph->n_nodes; n++) {
        char *name = odb_node_checkpoint(&graph->nodes[n]);
        if (name && !odb_map_add(dump->checkpoints, name, (size_t)graph->nodes[n].out[0]))
            odb_map_set(dump->checkpoints, name, ODB_RECORDING_NONE); /* two of one name */
        free(name);
    }
    for (size_t v = 0; v < graph->n_values; v++) {
        const char *name = graph->values[v].name;
        size_t n = 0;
        if (!name[0] || odb_recording_find(dump->recording, name) != ODB_RECORDING_NONE)
            continue;
        char *form = odb_recording_file_form(name);
        odb_map_get(dump->forms, form, &n);
        odb_map_set(dump->forms, form, n + 1);
        free(form);
    }
}

static const struct odb_value *dump_value(const struct dump *dump, const char *name)
{
    return dump->model ? odb_graph_value(dump->model->graph, name) : NULL;
}

static bool dump_is_number(const char *name)
{
    return *name && !name[strspn(name, "0123456789")];
}

/* --- finding ---------------------------------------------------------------------------------- */

/* Another value's checkpoint has this name, so it is unknown whose the recorded one is. */
static bool dump_is_others(const struct dump *dump, const struct odb_value *value, const char *name)
{
    size_t owner;
    return odb_map_get(dump->checkpoints, name, &owner) &&
           (!value || owner != (size_t)value->index);
}

/* As a file's name: if it is no other value's own name, or what its name looks like as a file's. */
static size_t dump_find_file(const struct dump *dump, const char *name)
{
    size_t found = odb_recording_find_file(dump->recording, name), n = 0;
    const char *own = found == ODB_RECORDING_NONE ? "" : odb_recording_name(dump->recording, found);
    if (dump_value(dump, own) || dump_is_others(dump, dump_value(dump, name), own))
        return ODB_RECORDING_NONE;
    char *form = odb_recording_file_form(name);
    odb_map_get(dump->forms, form, &n);
    free(form);
    return n > 1 ? ODB_RECORDING_NONE : found;
}

static size_t dump_find_output(const struct dump *dump, const char *name)
{
    for (size_t i = 0; i < dump->n_outputs; i++) {
        size_t found = ODB_RECORDING_NONE;
        if (strcmp(dump->outputs[i], name) == 0)
            found = odb_recording_find_output(dump->recording, i);
        /* the name in the file counts where the model has it */
        if (found != ODB_RECORDING_NONE &&
            !dump_value(dump, odb_recording_name(dump->recording, found)))
            return found;
    }
    return ODB_RECORDING_NONE;
}

/* What the node that makes the value is called as a checkpoint. Owned by the caller. */
static char *dump_checkpoint(const struct dump *dump, const struct odb_value *value)
{
    return value && value->producer != ODB_NO_NODE
               ? odb_node_checkpoint(&dump->model->graph->nodes[value->producer])
               : NULL;
}

/* By the name that it was given in PyTorch, if no other value is called so. */
static size_t dump_find_checkpoint(const struct dump *dump, const struct odb_value *value)
{
    char *name = dump_checkpoint(dump, value);
    bool own = name && !dump_value(dump, name) && !dump_is_others(dump, value, name);
    size_t found = own ? odb_recording_find(dump->recording, name) : ODB_RECORDING_NONE;
    free(name);
    return found;
}

static size_t dump_find_parameter(const struct dump *dump, const struct odb_value *value)
{
    if (!value || !value->init)
        return ODB_RECORDING_NONE;
    char *name = odb_xasprintf(ODB_RECORDING_PARAMETERS "%s", value->name);
    size_t found = odb_recording_find(dump->recording, name);
    free(name);
    return found;
}

/* What was recorded of a value; ODB_RECORDING_NONE: nothing. */
static enum odb_status dump_find(const struct dump *dump, const char *name, size_t *found,
                                 struct odb_error *err)
{
    const struct odb_value *value = dump_value(dump, name);
    int line = 0;
    char *mapped = odb_renames_apply(dump->renames, name, &line);
    if (mapped) {
        *found = odb_recording_find(dump->recording, mapped);
        if (*found == ODB_RECORDING_NONE)
            *found = odb_recording_find_file(dump->recording, mapped);
        bool missing = *found == ODB_RECORDING_NONE && line;
        if (missing) {
            odb_fail(err, ODB_E_USAGE, "nothing was recorded as '%s'", mapped);
            odb_error_at(err, "map %s, line %d", dump->map, line);
        }
        free(mapped);
        return missing ? ODB_E_USAGE : ODB_OK;
    }
    bool own = !dump_is_others(dump, value, name) && !(dump->counts && dump_is_number(name));
    *found = own ? odb_recording_find(dump->recording, name) : ODB_RECORDING_NONE;
    if (*found == ODB_RECORDING_NONE)
        *found = dump_find_output(dump, name);
    if (*found == ODB_RECORDING_NONE)
        *found = dump_find_checkpoint(dump, value);
    if (*found == ODB_RECORDING_NONE)
        *found = dump_find_parameter(dump, value);
    if (*found == ODB_RECORDING_NONE && own)
        *found = dump_find_file(dump, name);
    if (*found == ODB_RECORDING_NONE && value)
        *found = odb_mangled_find(dump->mangled, value->index);
    return ODB_OK;
}

/* --- names that other tools have made of them ----------------------------------------------------
 */

struct dump_witness {
    const struct odb_load *load;
    const struct odb_graph *graph;
};

/* The values that the reference makes of recorded inputs: those that have a name. */
static bool dump_witness(void *payload, struct odb_tensor *const *inputs, struct odb_tensor **out)
{
    const struct dump_witness *w = payload;
    const struct odb_graph *graph = w->graph;
    struct odb_executor *executor = NULL;
    struct odb_named *fed = odb_new_n(struct odb_named, graph->n_inputs + 1);
    const char **names = odb_new_n(const char *, graph->n_values + 1);
    int *values = odb_new_n(int, graph->n_values + 1);
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, graph->n_values + 1);
    size_t n_fed = 0, n = 0;
    struct odb_error ignored;
    for (size_t i = 0; i < graph->n_inputs; i++)
        if (inputs[i])
            fed[n_fed++] = (struct odb_named){graph->values[graph->inputs[i]].name, inputs[i]};
    for (size_t v = 0; v < graph->n_values; v++)
        if (graph->values[v].producer != ODB_NO_NODE && graph->values[v].name[0]) {
            values[n] = (int)v;
            names[n++] = graph->values[v].name;
        }
    enum odb_status status = odb_executor_open(&executor, "cpu", &ignored);
    if (status == ODB_OK)
        status = odb_executor_load(executor, w->load, &ignored);
    if (status == ODB_OK)
        status = odb_executor_run(executor, fed, n_fed, names, n, had, &ignored);
    for (size_t i = 0; i < n && status == ODB_OK; i++)
        out[values[i]] = had[i];
    odb_executor_close(executor);
    free(fed);
    free((void *)names);
    free(values);
    free(had);
    return status == ODB_OK;
}

/* What neither names nor the map have found. What has another value's very name, or could be
 * another's checkpoint, stays what it is. */
static void dump_match(struct dump *dump, const struct odb_load *load)
{
    const struct odb_graph *graph = dump->model->graph;
    size_t *found = odb_new_n(size_t, graph->n_values + 1), n_open = 0;
    size_t count = odb_recording_count(dump->recording);
    bool *items = odb_new_n(bool, count + 1), *values = odb_new_n(bool, graph->n_values + 1);
    struct dump_witness witness = {load, graph};
    for (size_t i = 0; i < count; i++) {
        const char *name = odb_recording_name(dump->recording, i);
        items[i] = (dump->counts && dump_is_number(name)) ||
                   (!dump_value(dump, name) && !odb_map_has(dump->checkpoints, name));
    }
    for (size_t v = 0; v < graph->n_values; v++) {
        const char *name = graph->values[v].name;
        struct odb_error ignored;
        found[v] = ODB_RECORDING_NONE;
        if (!name[0] || dump_find(dump, name, &found[v], &ignored) != ODB_OK)
            continue;
        char *mapped = odb_renames_apply(dump->renames, name, NULL);
        values[v] = found[v] == ODB_RECORDING_NONE && !mapped;
        free(mapped);
        if (found[v] != ODB_RECORDING_NONE)
            items[found[v]] = false;
    }
    for (size_t i = 0; i < count; i++)
        n_open += items[i];
    if (n_open)
        dump->mangled = odb_mangled_new(&(struct odb_mangled_open){.graph = graph,
                                                                   .recording = dump->recording,
                                                                   .found = found,
                                                                   .values = values,
                                                                   .items = items,
                                                                   .counts = dump->counts,
                                                                   .witness = dump_witness,
                                                                   .payload = &witness});
    free(found);
    free(items);
    free(values);
}

/* Whether a tensor holds more or less elements than the model says of the value. */
static bool dump_misfits(const struct dump *dump, size_t item, const struct odb_type *type)
{
    struct odb_tensor *t = NULL;
    struct odb_error ignored;
    int64_t n = 1;
    for (int d = 0; d < type->rank; d++)
        n = type->dims[d].value < 0 ? -1 : n * type->dims[d].value;
    bool known = type->known && type->kind == ODB_TENSOR && type->rank >= 0 && n >= 0;
    bool misfits = known &&
                   odb_recording_read(&t, dump->recording, item, type, &ignored) == ODB_OK &&
                   t->count != (size_t)n;
    odb_tensor_unref(t);
    return misfits;
}

/* Of a model whose values are called 164, 165, ..., a tool may count what it records from 0 on.
 * Then some numbers are no value's name, or the values of their names are larger or smaller. */
static bool dump_may_count(const struct dump *dump)
{
    size_t unknown = 0, misfits = 0, known = 0;
    for (size_t i = 0; i < odb_recording_count(dump->recording); i++) {
        const char *name = odb_recording_name(dump->recording, i);
        const struct odb_value *value = dump_value(dump, name);
        if (!dump_is_number(name))
            continue;
        known += value != NULL;
        unknown += !value;
        misfits += value && dump_misfits(dump, i, &value->type);
    }
    return known && (unknown || 4 * misfits > known);
}

/* That numbers count is believed where it finds more of them than their names do. */
static void dump_match_all(struct dump *dump, const struct odb_load *load)
{
    dump->counts = dump_may_count(dump);
    dump_match(dump, load);
    if (!dump->counts || odb_mangled_counts(dump->mangled))
        return;
    odb_mangled_free(dump->mangled);
    dump->mangled = NULL;
    dump->counts = false;
    dump_match(dump, load);
}

static enum odb_status dump_load(void *self, const struct odb_load *load, struct odb_error *err)
{
    struct dump *dump = self;
    dump_unload(dump);
    ODB_TRY(
        odb_model_open_bytes(&dump->model, load->bytes, load->size, NULL, load->dir, "model", err));
    dump->outputs = odb_new_n(char *, load->n_original_outputs + 1);
    for (size_t i = 0; i < load->n_original_outputs; i++)
        dump->outputs[dump->n_outputs++] = odb_xstrdup(load->original_outputs[i]);
    dump_know_model(dump);
    dump_match_all(dump, load);
    return ODB_OK;
}

static enum odb_status dump_execute(void *self, const struct odb_named *inputs, size_t n_inputs,
                                    const char *const *names, size_t n_outputs,
                                    struct odb_tensor **outputs, struct odb_error *err)
{
    struct dump *dump = self;
    for (size_t i = 0; i < n_outputs; i++) {
        const struct odb_value *value = dump_value(dump, names[i]);
        size_t found;
        ODB_TRY(dump_find(dump, names[i], &found, err));
        if (found != ODB_RECORDING_NONE)
            ODB_TRY(odb_recording_read(&outputs[i], dump->recording, found,
                                       value ? &value->type : NULL, err));
    }
    return ODB_OK;
}

/* --- what there is to say --------------------------------------------------------------------- */

struct dump_list {
    struct odb_buf text;
    size_t n;
};

static void dump_list_add(struct dump_list *list, const char *name)
{
    if (list->n++ >= DUMP_LISTED)
        return;
    odb_buf_puts(&list->text, list->text.len ? ", " : "");
    odb_buf_put_shown(&list->text, name);
}

/* one and many: what a name is, and what several are. */
static void dump_list_tell(struct dump_list *list, struct odb_account *account, const char *one,
                           const char *many)
{
    if (list->n)
        odb_account_note(account, "%zu %s: %s%s", list->n, list->n == 1 ? one : many,
                         odb_buf_text(&list->text), list->n > DUMP_LISTED ? ", ..." : "");
    odb_buf_dispose(&list->text);
}

static bool dump_has_text(const char *path, const struct odb_buf *text)
{
    struct odb_error ignored;
    FILE *file;
    if (odb_file_open(&file, path, &ignored) != ODB_OK)
        return false;
    char *had = odb_new_n(char, text->len + 1);
    bool same =
        fread(had, 1, text->len + 1, file) == text->len && !memcmp(had, text->data, text->len);
    free(had);
    fclose(file);
    return same;
}

/* The first of PATH.map, PATH.2.map, … that is not there, or has this text already. The caller's;
 * NULL: it cannot be written. */
static char *dump_write_map(const struct dump *dump, const struct odb_buf *text)
{
    const char *base = odb_recording_path(dump->recording);
    for (int i = 1; i < DUMP_MAPS; i++) {
        char *path = i == 1 ? odb_xasprintf("%s.map", base) : odb_xasprintf("%s.%d.map", base, i);
        FILE *file = fopen(path, "wx");
        if (file) {
            bool whole = fwrite(text->data, 1, text->len, file) == text->len;
            if (fclose(file) == 0 && whole)
                return path;
            unlink(path);
        } else if (dump_has_text(path, text)) {
            return path;
        }
        free(path);
    }
    return NULL;
}

/* The same, and the file in which it can be chosen. */
static void dump_list_map(struct dump_list *list, struct odb_account *account, const char *one,
                          const char *many, const char *how, const char *path)
{
    char *behind = path ? odb_xasprintf("; %s %s, for --map", how, path) : odb_xstrdup("");
    char *line = odb_xasprintf("%s%s", list->n == 1 ? one : many, behind);
    dump_list_tell(list, account, line, line);
    free(line);
    free(behind);
}

/* What was matched by rule, and what is left to choose, for which a map is written. */
static void dump_tell_mangled(const struct dump *dump, struct odb_account *account)
{
    struct odb_buf line = ODB_BUF_INIT, map = ODB_BUF_INIT;
    struct dump_list several = {.text = ODB_BUF_INIT}, misfit = several, likely = several;
    if (odb_mangled_tell(dump->mangled, &line))
        odb_account_note(account, "%s", odb_buf_text(&line));
    odb_mangled_map(dump->mangled, false, &account->text);
    for (size_t i = 0; i < odb_recording_count(dump->recording); i++) {
        enum odb_mangled_fate fate = odb_mangled_fate(dump->mangled, i);
        if (odb_mangled_likely(dump->mangled, i))
            dump_list_add(&likely, odb_recording_name(dump->recording, i));
        else if (fate != ODB_MANGLED_OTHER)
            dump_list_add(fate == ODB_MANGLED_SEVERAL ? &several : &misfit,
                          odb_recording_name(dump->recording, i));
    }
    char *path = NULL;
    if (several.n || likely.n) {
        odb_buf_puts(&map, "# VALUE = NAME: take the # off the lines that hold, for --map\n");
        odb_mangled_map(dump->mangled, true, &map);
        path = dump_write_map(dump, &map);
    }
    dump_list_map(&several, account,
                  "recorded name could be several values, or is one of two of one, and is left out",
                  "recorded names could be several values, or are two of one, and are left out",
                  "choose in", path);
    dump_list_map(
        &likely, account,
        "recorded name tells nothing, and is left out; by its elements it is a value of "
        "the model",
        "recorded names tell nothing, and are left out; by their elements they are values "
        "of the model",
        "see", path);
    free(path);
    dump_list_tell(&misfit, account,
                   "recorded name is that of a value of another shape, or of which there is "
                   "another file, and is left out",
                   "recorded names are those of values of another shape, or of which there is "
                   "another file, and are left out");
    odb_buf_dispose(&line);
    odb_buf_dispose(&map);
}

static enum odb_status dump_account(void *self, struct odb_account *account, struct odb_error *err)
{
    const struct dump *dump = self;
    const struct odb_graph *graph = dump->model ? dump->model->graph : NULL;
    struct dump_list lacking = {.text = ODB_BUF_INIT}, folded = lacking, unknown = lacking;
    size_t n = odb_recording_count(dump->recording);
    bool *used = odb_new_n(bool, n + 1);
    for (size_t v = 0; graph && v < graph->n_values; v++) {
        const struct odb_value *value = &graph->values[v];
        size_t found = ODB_RECORDING_NONE;
        struct odb_error ignored;
        if (!value->name[0] || dump_find(dump, value->name, &found, &ignored) != ODB_OK)
            continue;
        char *checkpoint = dump_checkpoint(dump, value);
        if (found != ODB_RECORDING_NONE)
            used[found] = true;
        else if (checkpoint)
            dump_list_add(&lacking, checkpoint);
        free(checkpoint);
    }
    for (size_t i = 0; graph && i < n; i++) {
        const char *name = odb_recording_name(dump->recording, i);
        size_t prefix = strlen(ODB_RECORDING_PARAMETERS);
        if (used[i] || odb_recording_is_numbered(dump->recording, i) ||
            odb_mangled_fate(dump->mangled, i) != ODB_MANGLED_OTHER ||
            odb_mangled_likely(dump->mangled, i))
            continue;
        if (strncmp(name, ODB_RECORDING_PARAMETERS, prefix) == 0)
            dump_list_add(&folded, name + prefix);
        else
            dump_list_add(&unknown, name);
    }
    dump_list_tell(&lacking, account, "checkpoint of the model was not recorded",
                   "checkpoints of the model were not recorded");
    dump_list_tell(&unknown, account, "recorded name is no value of the model",
                   "recorded names are no values of the model");
    dump_list_tell(&folded, account,
                   "recorded parameter is no initializer of the model (the exporter folded or "
                   "renamed it)",
                   "recorded parameters are no initializers of the model (the exporter folded or "
                   "renamed them)");
    dump_tell_mangled(dump, account);
    free(used);
    return ODB_OK;
}

static void dump_describe(void *self, char *text, size_t size)
{
    const struct dump *dump = self;
    snprintf(text, size, "recorded, %zu tensors%s%s", odb_recording_count(dump->recording),
             dump->map ? ", map " : "", dump->map ? dump->map : "");
}

/* --- opening ---------------------------------------------------------------------------------- */

static void dump_release(void *self)
{
    struct dump *dump = self;
    dump_unload(dump);
    odb_recording_close(dump->recording);
    odb_renames_free(dump->renames);
    free(dump->map);
    free(dump);
}

static const struct odb_executor_option dump_options[] = {
    {":", "FOLDER|FILE.npz", NULL, "the recording", true},
    {"map", "FILE", NULL, "which recorded name is which value, a line each", false},
    {"tree", NULL, NULL, "folders in the folder count as well, and begin the names", false},
    {NULL, NULL, NULL, NULL, false},
};

static enum odb_status dump_open(struct dump *dump, const struct odb_spec *spec,
                                 struct odb_error *err)
{
    const char *map = odb_spec_option(spec, "map");
    ODB_TRY(odb_spec_check(spec, dump_options, err));
    ODB_TRY(odb_recording_open(&dump->recording, spec->arg, odb_spec_option(spec, "tree"), err));
    if (!map)
        return ODB_OK;
    dump->map = odb_xstrdup(map);
    return odb_renames_read(&dump->renames, dump->map, err);
}

static enum odb_status dump_init(void **out, const struct odb_spec *spec, struct odb_error *err)
{
    struct dump *dump = odb_new(struct dump);
    enum odb_status status = dump_open(dump, spec, err);
    if (status == ODB_OK)
        *out = dump;
    else
        dump_release(dump);
    return status;
}

const struct odb_executor_ops odb_executor_dump = {
    .version = ODB_EXECUTOR_VERSION,
    .size = sizeof(struct odb_executor_ops),
    .kind = "dump",
    .options = dump_options,
    .help = "values that were recorded before: .npy, .npz, .pb, a folder of dump_tools",
    .page = "onnxdbg-dump(7)",
    .recorded = true,
    .init = dump_init,
    .load_model = dump_load,
    .execute = dump_execute,
    .release = dump_release,
    .describe = dump_describe,
    .account = dump_account,
};
