/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/value/call_feeds.h"
#include "command/value/spare_model.h"
#include "command/verbs/file/part.h"
#include "model/read/load.h"
#include "model/write/write.h"
#include "probe/reference_from.h"
#include "reference/trace.h"
#include "report/json.h"
#include "system/file.h"

/* A model file holds less than 2 GiB; some readers give up before. */
#define EXTRACT_INLINE ((size_t)1500 << 20)

struct extract {
    struct odb_part part;
    struct odb_trace *trace;          /* owned; with --run */
    ODB_VEC(struct odb_port) between; /* with --run: values whose types the run has shown */
    struct odb_buf text;              /* owned: what there is to say */
    json_t *json;                     /* owned: the same; NULL: nothing is written yet */
    json_t *checkpoints;              /* owned */
};

/* The reference runs the model up to the part's outputs: what it makes is what the submodel must
 * make, and shows the types that the model does not declare. A shape that depends on data is no
 * shape to declare. */
static enum odb_status extract_run(struct extract *extract, struct odb_error *err)
{
    const struct odb_graph *graph = extract->part.graph;
    struct odb_trace_options how = ODB_TRACE_OPTIONS_INIT;
    const struct odb_feeds *feeds;
    struct odb_watch watch;
    ODB_TRY(odb_call__feeds(extract->part.call, &feeds, err));
    const struct odb_part_ports *in = &extract->part.inputs, *out = &extract->part.outputs;
    int *border = odb_new_n(int, in->n + out->n);
    for (size_t i = 0; i < in->n + out->n; i++)
        border[i] = i < in->n ? in->items[i].value : out->items[i - in->n].value;
    how.hooks = odb_watch_begin(&watch, extract->part.call);
    enum odb_status status = odb_reference_up_to(&extract->trace, extract->part.call->model, feeds,
                                                 border, in->n + out->n, &how, err);
    odb_watch_end(&watch);
    free(border);
    for (size_t v = 0; status == ODB_OK && v < graph->n_values; v++) {
        int producer = graph->values[v].producer;
        const struct odb_tensor *like = extract->trace->ref[v];
        if (producer != ODB_NO_NODE && extract->part.nodes[producer] && like &&
            like->kind == ODB_TENSOR)
            odb_push(&extract->between, (struct odb_port){.value = (int)v,
                                                          .like = like,
                                                          .symbolic = !extract->part.fixed ||
                                                                      extract->trace->dynamic[v]});
    }
    return status;
}

/* The file, fed with what the model's own run has there. NULL feeds: the reference has none. */
static enum odb_status extract_feeds(const struct extract *extract, const struct odb_model *written,
                                     struct odb_feeds **feeds, struct odb_error *err)
{
    int *list = odb_new_n(int, written->graph->n_inputs + 1);
    size_t n = odb_graph_feeds(written->graph, list);
    enum odb_status status = ODB_OK;
    *feeds = odb_feeds_new(written);
    for (size_t i = 0; i < n && status == ODB_OK; i++) {
        const char *name = written->graph->values[list[i]].name;
        const struct odb_value *value = odb_graph_value(extract->part.graph, name);
        const struct odb_tensor *t = value ? odb_trace_value(extract->trace, value->index) : NULL;
        if (t)
            odb_feeds_add(*feeds, list[i], t, "the whole model's run");
        else
            status = odb_fail(err, ODB_UNSUPPORTED,
                              "%s is written, and cannot be checked: the reference does not get "
                              "to its input %s",
                              written->path, name);
    }
    free(list);
    return status;
}

/* Runs what was written, and holds its outputs against the whole model's, bit for bit. */
static enum odb_status extract_check(struct extract *extract, const char *path,
                                     struct odb_error *err)
{
    struct odb_trace_options how = ODB_TRACE_OPTIONS_INIT;
    struct odb_buf *out = &extract->text;
    json_t *differ = json_array();
    struct odb_model *written = NULL;
    struct odb_feeds *feeds = NULL;
    struct odb_trace *again = NULL;
    enum odb_status status;
    size_t equal = 0;
    ODB_TRY_OUT(odb_model_open(&written, path, err));
    ODB_TRY_OUT(extract_feeds(extract, written, &feeds, err));
    ODB_TRY_OUT(odb_reference_up_to(&again, written, feeds, written->graph->outputs,
                                    written->graph->n_outputs, &how, err));
    for (size_t i = 0; i < extract->part.outputs.n; i++) {
        int v = extract->part.outputs.items[i].value;
        const char *name = extract->part.graph->values[v].name;
        const struct odb_value *value = odb_graph_value(written->graph, name);
        const struct odb_tensor *is = value ? odb_trace_value(again, value->index) : NULL;
        const struct odb_tensor *was = odb_trace_value(extract->trace, v);
        struct odb_gap gap = {0};
        if (is && was)
            odb_gap_measure(&gap, is, was);
        equal += gap.same;
        if (gap.same)
            continue;
        json_array_append_new(differ, odb_json_text(name));
        odb_buf_puts(out, "output ");
        odb_buf_put_shown(out, name);
        odb_buf_puts(out, is && was ? " is not what the whole model has there\n"
                                    : " cannot be computed by the reference\n");
    }
    odb_buf_printf(out, "checked by running it: %zu of %zu output%s equal%s the whole model's\n",
                   equal, extract->part.outputs.n, odb_plural(extract->part.outputs.n),
                   extract->part.outputs.n == 1 ? "s" : "");
    extract->part.call->found = equal < extract->part.outputs.n;
    json_object_set_new(extract->json, "checked",
                        json_pack("{s:I,s:O}", "equal", (json_int_t)equal, "differ", differ));
out:
    json_decref(differ);
    odb_trace_free(again);
    odb_feeds_free(feeds);
    odb_model_free(written);
    return status;
}

/* Every checkpoint becomes an output, unless it is one. */
static enum odb_status extract_checkpoints(struct extract *extract, struct odb_error *err)
{
    const struct odb_graph *graph = extract->part.graph;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        char *name = odb_node_checkpoint(node);
        if (odb_node_is_debug(node) && graph->values[node->out[0]].name[0]) {
            bool there = false;
            for (size_t i = 0; i < extract->part.outputs.n; i++)
                there |= extract->part.outputs.items[i].value == node->out[0];
            if (!there)
                odb_push(&extract->part.outputs, (struct odb_port){.value = node->out[0]});
            json_array_append_new(extract->checkpoints,
                                  json_pack("{s:o,s:o}", "name", odb_json_text(name), "value",
                                            odb_json_text(graph->values[node->out[0]].name)));
        }
        free(name);
    }
    if (json_array_size(extract->checkpoints))
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "the model has no checkpoints, which are nodes Debug");
    return odb_error_remedy(err, "see onnxdbg-pytorch(7) for how probes make them");
}

static void extract_directory(const char *path, struct stat *st)
{
    const char *slash = strrchr(path, '/');
    char *dir = slash ? odb_xstrndup(path, (size_t)(slash - path) + 1) : odb_xstrdup(".");
    if (stat(dir, st) != 0)
        *st = (struct stat){0};
    free(dir);
}

/* Beside the model its weights stay in the files that they are in, and nothing is copied. */
static bool extract_stays(const struct extract *extract, const char *path)
{
    const struct odb_model *model = extract->part.call->model;
    struct stat from, to;
    if (strcmp(model->base, model->dir) != 0) /* links lead to them, which not everybody follows */
        return false;
    extract_directory(model->path, &from);
    extract_directory(path, &to);
    return from.st_dev == to.st_dev && from.st_ino == to.st_ino;
}

static enum odb_status extract_write(struct extract *extract, const char *path,
                                     struct odb_error *err)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_file_parts weights = {0};
    struct odb_file_out *model = NULL;
    char *beside = odb_xasprintf("%s.data", path);
    bool stays = extract_stays(extract, path), large = extract->part.weight_bytes > EXTRACT_INLINE;
    struct odb_extract what = {
        .nodes = extract->part.nodes,
        .inputs = extract->part.inputs.items,
        .n_inputs = extract->part.inputs.n,
        .outputs = extract->part.outputs.items,
        .n_outputs = extract->part.outputs.n,
        .between = extract->between.items,
        .n_between = extract->between.n,
        .weights = stays   ? ODB_WEIGHTS_KEEP
                   : large ? ODB_WEIGHTS_BESIDE
                           : ODB_WEIGHTS_INLINE,
        .weights_file = strrchr(beside, '/') ? strrchr(beside, '/') + 1 : beside,
        .weights_out = &weights,
        .ir_version = odb_call_int(extract->part.call, ODB_OPTION_IR_VERSION, 0),
        .plain_debug = odb_call_has(extract->part.call, ODB_OPTION_CHECKPOINTS),
    };
    enum odb_status status = odb_call__spare_model(extract->part.call, path, err);
    if (status == ODB_OK)
        status = odb_model_extract(extract->part.call->model, &what, &bytes, err);
    if (status == ODB_OK && weights.size)
        status = odb_call__spare_model(extract->part.call, beside, err);
    /* The two belong together: neither replaces an earlier one before there was room for both. */
    if (status == ODB_OK)
        status = odb_file_begin(&model, path, bytes.len, NULL, err);
    if (status == ODB_OK)
        status = odb_file_put(model, bytes.data, bytes.len, err);
    if (status == ODB_OK && weights.size)
        status = odb_file_write_parts(beside, weights.pieces.items, weights.pieces.n, err);
    if (model)
        status = odb_file_end_take(model, status, err);
    odb_buf_dispose(&bytes);
    odb_file_parts_dispose(&weights);
    free(beside);
    return status;
}

static json_t *extract_names(const struct extract *extract, const struct odb_part_ports *ports)
{
    json_t *names = json_array();
    for (size_t i = 0; i < ports->n; i++)
        json_array_append_new(
            names, odb_json_text(extract->part.graph->values[ports->items[i].value].name));
    return names;
}

static void extract_say(struct extract *extract, const char *path)
{
    struct odb_buf *out = &extract->text;
    size_t n = 0, i;
    const json_t *checkpoint;
    for (i = 0; i < extract->part.graph->n_nodes; i++)
        n += extract->part.nodes[i];
    odb_buf_put_shown(out, path);
    odb_buf_printf(out, ": %zu of %zu nodes, %zu input%s, %zu output%s\n", n,
                   extract->part.graph->n_nodes, extract->part.inputs.n,
                   odb_plural(extract->part.inputs.n), extract->part.outputs.n,
                   odb_plural(extract->part.outputs.n));
    json_array_foreach(extract->checkpoints, i, checkpoint) {
        const char *name = json_string_value(json_object_get(checkpoint, "name"));
        odb_buf_puts(out, "checkpoint ");
        odb_buf_put_shown(out, name ? name : "without a name");
        odb_buf_puts(out, ": ");
        odb_buf_put_shown(out, json_string_value(json_object_get(checkpoint, "value")));
        odb_buf_putc(out, '\n');
    }
    extract->json = json_pack("{s:o,s:I,s:I,s:o,s:o,s:O,s:n}", "path", odb_json_text(path), "nodes",
                              (json_int_t)n, "of_nodes", (json_int_t)extract->part.graph->n_nodes,
                              "inputs", extract_names(extract, &extract->part.inputs), "outputs",
                              extract_names(extract, &extract->part.outputs), "checkpoints",
                              extract->checkpoints, "checked");
}

enum odb_status odb_command__extract(struct odb_command_call *call, struct odb_error *err)
{
    struct extract extract = {.text = ODB_BUF_INIT, .checkpoints = json_array()};
    const char *path = odb_call_option(call, ODB_OPTION_OUTPUT);
    struct odb_error late = ODB_ERROR_INIT;
    enum odb_status status, given = ODB_OK;
    odb_part_init(&extract.part, call);
    if (!path) {
        odb_fail(err, ODB_E_USAGE, "there is no file to write to");
        status = odb_error_remedy(err, "add -o OUT.onnx");
        goto out;
    }
    ODB_TRY_OUT(odb_part_ports(&extract.part, err));
    if (odb_call_has(call, ODB_OPTION_CHECKPOINTS))
        ODB_TRY_OUT(extract_checkpoints(&extract, err));
    ODB_TRY_OUT(odb_part_cut(&extract.part, err));
    ODB_TRY_OUT(odb_part_types(&extract.part, err));
    if (odb_call_has(call, ODB_OPTION_MEASURE))
        ODB_TRY_OUT(extract_run(&extract, err));
    ODB_TRY_OUT(extract_write(&extract, path, err));
    extract_say(&extract, path);
    if (extract.trace)
        ODB_TRY_OUT(extract_check(&extract, path, err));
out:
    if (extract.json) /* what was written is said, whatever became of its check */
        given = odb_call__give(call, extract.json, &extract.text, &late);
    if (status == ODB_OK && given != ODB_OK) {
        *err = late;
        status = given;
    }
    json_decref(extract.checkpoints);
    free(extract.between.items);
    odb_trace_free(extract.trace);
    odb_part_dispose(&extract.part);
    return status;
}
