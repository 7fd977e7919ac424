/* SPDX-License-Identifier: MIT
 *
 * dump:PATH answers with values that were recorded before, whatever model it is given. The model
 * only tells what names mean: which value is a checkpoint of a PyTorch export, which is a weight,
 * and which names would be one as a file's.
 *
 * A wrong match would be taken for a wrong target, so a name that could be two values' is nobody's
 * until a map says whose.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "executor/executor.h"
#include "executor/recording.h"

#define DUMP_LISTED 8 /* names in a note */

/* A line of the map: VALUE = RECORDED. Each * of the first stands for the same * of the second. */
struct dump_rule {
    char *value, *recorded; /* owned */
    int line;
};

struct dump {
    struct odb_recording *recording; /* owned */
    char *map;                       /* owned: its file; NULL: none */
    ODB_VEC(struct dump_rule) rules;
    struct odb_model *model; /* owned; NULL: none loaded */
    char **outputs;          /* owned: of the debugged model */
    size_t n_outputs;
    struct odb_map *checkpoints; /* owned: name of a checkpoint -> value */
    struct odb_map *forms;       /* owned: file form -> how many values have it whose own name is
                                    not recorded */
};

/* --- the map ---------------------------------------------------------------------------------- */

static char *dump_trimmed(const char *text, size_t n)
{
    while (n && (text[n - 1] == ' ' || text[n - 1] == '\t' || text[n - 1] == '\r'))
        n--;
    while (n && (*text == ' ' || *text == '\t')) {
        text++;
        n--;
    }
    return odb_xstrndup(text, n);
}

static size_t dump_stars(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == '*';
    return n;
}

/* " = " parts the two names; a lone = does where there is no other. */
static enum odb_status dump_map_line(struct dump *dump, const char *text, int line,
                                     struct odb_error *err)
{
    const char *at = strstr(text, " = ");
    const char *equals = at ? at + 1 : strchr(text, '=');
    if (!equals || (!at && strchr(equals + 1, '='))) {
        odb_fail(err, ODB_E_USAGE, equals ? "this line has more than one =" : "this line has no =");
        return odb_error_remedy(err, "write VALUE = RECORDED, with spaces around the =");
    }
    struct dump_rule rule = {dump_trimmed(text, (size_t)(equals - text)),
                             dump_trimmed(equals + 1, strlen(equals + 1)), line};
    odb_push(&dump->rules, rule);
    if (!rule.value[0] || !rule.recorded[0])
        return odb_fail(err, ODB_E_USAGE, "a name is missing");
    if (dump_stars(rule.recorded) > dump_stars(rule.value))
        return odb_fail(err, ODB_E_USAGE, "'%s' has more * than '%s'", rule.recorded, rule.value);
    return ODB_OK;
}

static enum odb_status dump_map_read(struct dump *dump, struct odb_error *err)
{
    FILE *file = fopen(dump->map, "re");
    char *text = NULL;
    size_t room = 0;
    ssize_t n;
    enum odb_status status = ODB_OK;
    if (!file) {
        odb_fail(err, ODB_E_IO, "%s", strerror(errno));
        return odb_error_at(err, "map %s", dump->map);
    }
    for (int line = 1; status == ODB_OK && (n = getline(&text, &room, file)) >= 0; line++) {
        if (n && text[n - 1] == '\n')
            text[n - 1] = '\0';
        const char *first = text + strspn(text, " \t\r");
        if (!*first || *first == '#')
            continue;
        status = dump_map_line(dump, first, line, err);
        if (status != ODB_OK)
            odb_error_at(err, "map %s, line %d", dump->map, line);
    }
    free(text);
    fclose(file);
    return status;
}

/* Whether name is the pattern, and what each * stands for: at[i], n[i]. The first * takes as little
 * as it can, as in a shell's ${x#*}. */
static bool dump_glob(const char *pattern, const char *name, const char **at, size_t *n)
{
    if (*pattern != '*') {
        if (!*pattern || *pattern != *name)
            return !*pattern && !*name;
        return dump_glob(pattern + 1, name + 1, at, n);
    }
    *at = name;
    for (*n = 0;; ++*n) {
        if (dump_glob(pattern + 1, name + *n, at + 1, n + 1))
            return true;
        if (!name[*n])
            return false;
    }
}

/* What the map calls a value: owned by the caller; NULL: the map says nothing. */
static char *dump_mapped(const struct dump *dump, const char *name, const struct dump_rule **by)
{
    for (size_t r = 0; r < dump->rules.n; r++) {
        const struct dump_rule *rule = &dump->rules.items[r];
        size_t stars = dump_stars(rule->value), star = 0;
        const char **at = odb_new_n(const char *, stars + 1);
        size_t *n = odb_new_n(size_t, stars + 1);
        struct odb_buf out = ODB_BUF_INIT;
        bool is = dump_glob(rule->value, name, at, n);
        for (const char *p = rule->recorded; is && *p; p++) {
            if (*p == '*') {
                odb_buf_add(&out, at[star], n[star]);
                star++;
            } else {
                odb_buf_putc(&out, *p);
            }
        }
        free(at);
        free(n);
        *by = rule;
        if (is)
            return odb_buf_take(&out);
    }
    return NULL;
}

/* --- the model -------------------------------------------------------------------------------- */

static void dump_unload(struct dump *dump)
{
    for (size_t i = 0; i < dump->n_outputs; i++)
        free(dump->outputs[i]);
    free(dump->outputs);
    odb_map_free(dump->checkpoints);
    odb_map_free(dump->forms);
    odb_model_free(dump->model);
    dump->outputs = NULL;
    dump->n_outputs = 0;
    dump->checkpoints = dump->forms = NULL;
    dump->model = NULL;
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
    return ODB_OK;
}

static const struct odb_value *dump_value(const struct dump *dump, const char *name)
{
    return dump->model ? odb_graph_value(dump->model->graph, name) : NULL;
}

/* --- finding ---------------------------------------------------------------------------------- */

/* Another value's checkpoint has this name, so nobody knows whose the recorded one is. */
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
    const struct dump_rule *rule;
    char *mapped = dump_mapped(dump, name, &rule);
    if (mapped) {
        *found = odb_recording_find(dump->recording, mapped);
        if (*found == ODB_RECORDING_NONE)
            *found = odb_recording_find_file(dump->recording, mapped);
        bool missing = *found == ODB_RECORDING_NONE && !strchr(rule->value, '*');
        if (missing) {
            odb_fail(err, ODB_E_USAGE, "nothing was recorded as '%s'", mapped);
            odb_error_at(err, "map %s, line %d", dump->map, rule->line);
        }
        free(mapped);
        return missing ? ODB_E_USAGE : ODB_OK;
    }
    *found = dump_is_others(dump, value, name) ? ODB_RECORDING_NONE
                                               : odb_recording_find(dump->recording, name);
    if (*found == ODB_RECORDING_NONE)
        *found = dump_find_output(dump, name);
    if (*found == ODB_RECORDING_NONE)
        *found = dump_find_checkpoint(dump, value);
    if (*found == ODB_RECORDING_NONE)
        *found = dump_find_parameter(dump, value);
    if (*found == ODB_RECORDING_NONE)
        *found = dump_find_file(dump, name);
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

static void dump_list_tell(struct dump_list *list, struct odb_account *account, const char *what)
{
    if (list->n)
        odb_account_note(account, "%zu %s: %s%s", list->n, what, odb_buf_text(&list->text),
                         list->n > DUMP_LISTED ? ", ..." : "");
    odb_buf_dispose(&list->text);
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
        if (used[i] || odb_recording_is_numbered(dump->recording, i))
            continue;
        if (strncmp(name, ODB_RECORDING_PARAMETERS, prefix) == 0)
            dump_list_add(&folded, name + prefix);
        else
            dump_list_add(&unknown, name);
    }
    dump_list_tell(&lacking, account, "checkpoints of the model were not recorded");
    dump_list_tell(&unknown, account, "recorded names are no values of the model");
    dump_list_tell(&folded, account,
                   "recorded parameters are no initializers of the model (the exporter folded or "
                   "renamed them)");
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
    for (size_t i = 0; i < dump->rules.n; i++) {
        free(dump->rules.items[i].value);
        free(dump->rules.items[i].recorded);
    }
    free(dump->rules.items);
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
    return dump_map_read(dump, err);
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
