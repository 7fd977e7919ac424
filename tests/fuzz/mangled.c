/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Names of a model's values, an empty line, and names under which they were recorded: what is
 * matched is one to one, and the map that asks for the rest can be read.
 */
#include "fuzz.h"

#include <stdio.h>
#include <unistd.h>

#include "executor/recorded/mangled.h"
#include "executor/recorded/renames.h"
#include "model/read/load.h"
#include "model/write/build.h"
#include "tensor/format/npz.h"

enum { MANGLED_MOST = 40 };

struct mangled_names {
    char *text; /* owned; cut into lines */
    const char *items[MANGLED_MOST];
    size_t n;
};

static bool names_have(const struct mangled_names *names, const char *line)
{
    for (size_t i = 0; i < names->n; i++)
        if (!strcmp(names->items[i], line))
            return true;
    return false;
}

/* The next lines up to an empty one; those that were there, or are no name of the builder's, are
 * passed over. */
static char *names_read(struct mangled_names *out, char *text, bool words)
{
    for (char *line; text && (line = strsep(&text, "\n")) && *line;)
        if (out->n < MANGLED_MOST && !(words && strpbrk(line, " ")) && !names_have(out, line) &&
            strcmp(line, "-") != 0 && strcmp(line, "x") != 0)
            out->items[out->n++] = line;
    return text;
}

static struct odb_tensor *mangled_tensor(size_t v)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *t;
    int64_t dims[] = {(int64_t)(v % 3) + 2};
    if (odb_tensor_new(&t, ODB_F32, 1, dims, &err) != ODB_OK)
        abort();
    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(ODB_F32, t->data, i, (double)((v + 1) * (i + 3) % 17) - 8);
    return t;
}

static struct odb_model *mangled_model(const struct mangled_names *values)
{
    struct odb_builder *b = odb_build_new("chain", 17);
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_model *model = NULL;
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){-1});
    for (size_t v = 0; v < values->n; v++)
        odb_build_node(b, v % 5 ? "Relu" : "Constant", "", v % 5 ? "x" : "", values->items[v]);
    odb_build_output(b, values->n ? values->items[0] : "x");
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    if (odb_model_open_bytes(&model, bytes.data, bytes.len, NULL, ".", "chain", &err) != ODB_OK)
        model = NULL;
    odb_buf_dispose(&bytes);
    return model;
}

static struct odb_recording *mangled_recording(const struct mangled_names *names)
{
    struct odb_tensor *tensors[MANGLED_MOST + 1];
    const char *all[MANGLED_MOST + 1];
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_recording *recording = NULL;
    char *path = odb_xasprintf("%s/mangled.npz", fuzz_folder());
    for (size_t i = 0; i <= names->n; i++) {
        all[i] = i < names->n ? names->items[i] : "x";
        tensors[i] = mangled_tensor(i);
    }
    if (odb_npz_write(path, all, (const struct odb_tensor *const *)tensors, names->n + 1, false,
                      &err) != ODB_OK ||
        odb_recording_open(&recording, path, false, &err) != ODB_OK)
        recording = NULL;
    unlink(path);
    free(path);
    for (size_t i = 0; i <= names->n; i++)
        odb_tensor_unref(tensors[i]);
    return recording;
}

static bool mangled_witness(void *payload, struct odb_tensor *const *inputs,
                            struct odb_tensor **out)
{
    const struct odb_model *model = payload;
    (void)inputs;
    for (size_t v = 0; v < model->graph->n_values; v++)
        out[v] = v % 7 ? mangled_tensor(v) : NULL;
    return true;
}

/* One to one, and only what was open. */
static void mangled_check(const struct odb_mangled *mangled, const struct odb_model *model,
                          const struct odb_recording *recording, const bool *values,
                          const bool *items)
{
    size_t count = odb_recording_count(recording);
    bool *taken = odb_new_n(bool, count + 1);
    for (size_t v = 0; v < model->graph->n_values; v++) {
        size_t item = odb_mangled_find(mangled, (int)v);
        if (item == ODB_RECORDING_NONE)
            continue;
        if (item >= count || taken[item] || !values[v] || !items[item])
            abort();
        taken[item] = true;
    }
    for (size_t i = 0; i < count; i++)
        if (taken[i] &&
            (odb_mangled_fate(mangled, i) != ODB_MANGLED_OTHER || odb_mangled_likely(mangled, i)))
            abort();
    free(taken);
}

static void mangled_read_map(const struct odb_mangled *mangled)
{
    struct odb_buf map = ODB_BUF_INIT, said = ODB_BUF_INIT;
    struct odb_renames *renames;
    struct odb_error err = ODB_ERROR_INIT;
    char path[FUZZ_PATH];
    odb_mangled_map(mangled, true, &map);
    int fd = fuzz_file((const uint8_t *)odb_buf_text(&map), map.len, path);
    if (odb_renames_read(&renames, path, &err) != ODB_OK)
        abort();
    odb_renames_free(renames);
    close(fd);
    if (odb_mangled_tell(mangled, &said))
        fuzz_check_shown(&said);
    odb_buf_dispose(&map);
    odb_buf_dispose(&said);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mangled_names values = {.text = fuzz_text(data, size)}, names = {0};
    names_read(&names, names_read(&values, values.text, true), false);
    struct odb_model *model = values.n ? mangled_model(&values) : NULL;
    struct odb_recording *recording = model ? mangled_recording(&names) : NULL;
    if (recording) {
        const struct odb_graph *graph = model->graph;
        size_t count = odb_recording_count(recording), *found = odb_new_n(size_t, graph->n_values);
        bool *open = odb_new_n(bool, graph->n_values), *items = odb_new_n(bool, count + 1);
        for (size_t v = 0; v < graph->n_values; v++) {
            open[v] = strcmp(graph->values[v].name, "x") != 0;
            found[v] = open[v] ? ODB_RECORDING_NONE : odb_recording_find(recording, "x");
        }
        for (size_t i = 0; i < count; i++)
            items[i] = strcmp(odb_recording_name(recording, i), "x") != 0;
        struct odb_mangled *mangled =
            odb_mangled_new(&(struct odb_mangled_open){.graph = graph,
                                                       .recording = recording,
                                                       .found = found,
                                                       .values = open,
                                                       .items = items,
                                                       .counts = size % 2,
                                                       .witness = mangled_witness,
                                                       .payload = model});
        mangled_check(mangled, model, recording, open, items);
        mangled_read_map(mangled);
        odb_mangled_free(mangled);
        free(found);
        free(open);
        free(items);
    }
    odb_recording_close(recording);
    odb_model_free(model);
    free(values.text);
    return 0;
}
