/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/call.h"
#include "base/file.h"
#include "command/watch.h"
#include "engine/trace.h"

/* A model file holds less than 2 GiB; some readers give up before. */
#define EXTRACT_INLINE ((size_t)1500 << 20)

struct extract {
    struct odb_command_call *call;
    const struct odb_graph *graph;
    ODB_VEC(struct odb_port) inputs;
    ODB_VEC(struct odb_port) outputs;
    bool *nodes; /* owned; [n_nodes] */
    size_t weight_bytes;
    struct odb_tensor **like;         /* owned refs; [n_values]; NULL: as declared */
    bool fixed;                       /* all dimensions of the model's inputs are declared */
    struct odb_trace *trace;          /* owned; with --run */
    ODB_VEC(struct odb_port) between; /* with --run: values whose types the run has shown */
};

/* The names of one option's value: all of it, where a value is called so, else its parts between
 * commas. */
static enum odb_status extract_names(const struct odb_graph *graph, const char *text,
                                     enum odb_status (*add)(struct extract *, int),
                                     struct extract *extract, struct odb_error *err)
{
    int index;
    if (odb_call__find_value(graph, text, &index, NULL) == ODB_OK)
        return add(extract, index);
    for (const char *p = text;; p++) {
        size_t len = strcspn(p, ",");
        char *name = odb_xstrndup(p, len);
        enum odb_status status = odb_call__find_value(graph, name, &index, err);
        free(name);
        ODB_TRY(status);
        ODB_TRY(add(extract, index));
        p += len;
        if (!*p)
            return ODB_OK;
    }
}

static enum odb_status extract_add_input(struct extract *extract, int index)
{
    odb_push(&extract->inputs, (struct odb_port){.value = index});
    return ODB_OK;
}

static enum odb_status extract_add_output(struct extract *extract, int index)
{
    odb_push(&extract->outputs, (struct odb_port){.value = index});
    return ODB_OK;
}

static enum odb_status extract_option(struct extract *extract, enum odb_option_id id,
                                      enum odb_status (*add)(struct extract *, int),
                                      struct odb_error *err)
{
    size_t n;
    const char **list = odb_call_list(extract->call, id, &n);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < n && status == ODB_OK; i++)
        status = extract_names(extract->graph, list[i], add, extract, err);
    free((void *)list);
    if (status != ODB_OK)
        odb_error_at(err, "--%s", odb_option_row(id)->name);
    return status;
}

/* Marks the nodes between inputs and outputs, and adds what is fed, where --inputs says nothing.
 * Inputs that the nodes need beside --inputs are an error. */
static enum odb_status extract_cut(struct extract *extract, struct odb_error *err)
{
    const struct odb_graph *graph = extract->graph;
    bool *stop = odb_new_n(bool, graph->n_values + 1), given = extract->inputs.n > 0;
    /* a name may be given more than once, which odb_model_extract() refuses */
    int *list = odb_new_n(int, graph->n_values + extract->outputs.n + 1);
    struct odb_buf missing = ODB_BUF_INIT;
    for (size_t i = 0; i < extract->inputs.n; i++)
        stop[extract->inputs.items[i].value] = true;
    for (size_t i = 0; i < extract->outputs.n; i++)
        list[i] = extract->outputs.items[i].value;
    odb_graph_ancestors(graph, list, extract->outputs.n, stop, extract->nodes);
    size_t n = odb_graph_segment_inputs(graph, extract->nodes, list);
    for (size_t i = 0; i < n; i++) {
        if (given && !stop[list[i]])
            odb_buf_printf(&missing, "%s%s", missing.len ? "," : "", graph->values[list[i]].name);
        else if (!given)
            extract_add_input(extract, list[i]);
    }
    for (size_t i = 0; i < graph->n_values; i++)
        if (graph->values[i].init)
            for (size_t k = 0; k < graph->values[i].n_consumers; k++)
                if (extract->nodes[graph->values[i].consumers[k]]) {
                    extract->weight_bytes += graph->values[i].init->bytes;
                    break;
                }
    enum odb_status status = ODB_OK;
    if (missing.len) {
        status = odb_fail(err, ODB_E_USAGE, "the outputs depend on more than the inputs given");
        odb_error_remedy(err, "add --inputs %s", odb_buf_text(&missing));
    }
    odb_buf_dispose(&missing);
    free(list);
    free(stop);
    return status;
}

static void extract_untyped(const struct extract *extract, const struct odb_port *ports, size_t n,
                            int *list, size_t *count)
{
    for (size_t i = 0; i < n; i++) {
        const struct odb_type *type = &extract->graph->values[ports[i].value].type;
        if (!type->known || (type->kind == ODB_TENSOR && (!type->dtype || type->rank < 0)))
            list[(*count)++] = ports[i].value;
    }
}

/* Values at the border that the model declares no type or no shape for get the one that the
 * reference gives them; their dimensions only where those of the model's inputs are all fixed. */
static enum odb_status extract_types(struct extract *extract, struct odb_error *err)
{
    const struct odb_graph *graph = extract->graph;
    int *list = odb_new_n(int, extract->inputs.n + extract->outputs.n + 1);
    struct odb_tensor **values =
        odb_new_n(struct odb_tensor *, extract->inputs.n + extract->outputs.n + 1);
    const struct odb_feeds *feeds;
    enum odb_status status = ODB_OK;
    size_t n = 0;
    extract_untyped(extract, extract->inputs.items, extract->inputs.n, list, &n);
    extract_untyped(extract, extract->outputs.items, extract->outputs.n, list, &n);
    extract->fixed = true;
    for (size_t i = 0; i < graph->n_inputs; i++) {
        const struct odb_type *type = &graph->values[graph->inputs[i]].type;
        for (int k = 0; k < type->rank; k++)
            extract->fixed &= type->dims[k].value >= 0;
    }
    if (n)
        status = odb_call__feeds(extract->call, &feeds, err);
    if (n && status == ODB_OK)
        status =
            odb_run_values(extract->call->model, feeds, "cpu", list, n, values, NULL, 0, NULL, err);
    for (size_t i = 0; i < n && status == ODB_OK; i++) {
        odb_tensor_unref(extract->like[list[i]]);
        extract->like[list[i]] = values[i];
    }
    struct odb_port *ports[] = {extract->inputs.items, extract->outputs.items};
    size_t counts[] = {extract->inputs.n, extract->outputs.n};
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < counts[side]; i++) {
            ports[side][i].like = extract->like[ports[side][i].value];
            ports[side][i].symbolic = ports[side][i].like && !extract->fixed;
        }
    free(values);
    free(list);
    return status;
}

/* The reference runs the whole model: what it makes is what the submodel must make, and shows the
 * types that the model does not declare. A shape that depends on data is no shape to declare. */
static enum odb_status extract_run(struct extract *extract, struct odb_error *err)
{
    const struct odb_graph *graph = extract->graph;
    struct odb_trace_options how = ODB_TRACE_OPTIONS_INIT;
    const struct odb_feeds *feeds;
    struct odb_watch watch;
    ODB_TRY(odb_call__feeds(extract->call, &feeds, err));
    how.golden_is_reference = true;
    how.hooks = odb_watch_begin(&watch, extract->call);
    enum odb_status status =
        odb_trace_make(&extract->trace, extract->call->model, feeds, &how, err);
    odb_watch_end(&watch);
    for (size_t v = 0; status == ODB_OK && v < graph->n_values; v++) {
        int producer = graph->values[v].producer;
        const struct odb_tensor *like = extract->trace->ref[v];
        if (producer != ODB_NO_NODE && extract->nodes[producer] && like && like->kind == ODB_TENSOR)
            odb_push(&extract->between,
                     (struct odb_port){.value = (int)v,
                                       .like = like,
                                       .symbolic = !extract->fixed || extract->trace->dynamic[v]});
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
        const struct odb_value *value = odb_graph_value(extract->graph, name);
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
    struct odb_buf out = ODB_BUF_INIT;
    struct odb_model *written = NULL;
    struct odb_feeds *feeds = NULL;
    struct odb_trace *again = NULL;
    enum odb_status status;
    size_t equal = 0;
    how.golden_is_reference = true;
    ODB_TRY_OUT(odb_model_open(&written, path, err));
    ODB_TRY_OUT(extract_feeds(extract, written, &feeds, err));
    ODB_TRY_OUT(odb_trace_make(&again, written, feeds, &how, err));
    for (size_t i = 0; i < extract->outputs.n; i++) {
        int v = extract->outputs.items[i].value;
        const char *name = extract->graph->values[v].name;
        const struct odb_value *value = odb_graph_value(written->graph, name);
        const struct odb_tensor *is = value ? odb_trace_value(again, value->index) : NULL;
        const struct odb_tensor *was = odb_trace_value(extract->trace, v);
        struct odb_gap gap = {0};
        if (is && was)
            odb_gap_measure(&gap, is, was);
        equal += gap.same;
        if (gap.same)
            continue;
        odb_buf_puts(&out, "output ");
        odb_buf_put_shown(&out, name);
        odb_buf_puts(&out, is && was ? " is not what the whole model has there\n"
                                     : " cannot be computed by the reference\n");
    }
    odb_buf_printf(&out, "checked by running it: %zu of %zu outputs equal the whole model's\n",
                   equal, extract->outputs.n);
    extract->call->found = equal < extract->outputs.n;
    odb_call__print(extract->call, &out);
out:
    odb_buf_dispose(&out);
    odb_trace_free(again);
    odb_feeds_free(feeds);
    odb_model_free(written);
    return status;
}

/* Every checkpoint becomes an output, unless it is one. */
static enum odb_status extract_checkpoints(struct extract *extract, struct odb_buf *out,
                                           struct odb_error *err)
{
    const struct odb_graph *graph = extract->graph;
    size_t found = 0;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        char *name = odb_node_checkpoint(node);
        if (odb_node_is_debug(node) && graph->values[node->out[0]].name[0]) {
            bool there = false;
            for (size_t i = 0; i < extract->outputs.n; i++)
                there |= extract->outputs.items[i].value == node->out[0];
            if (!there)
                extract_add_output(extract, node->out[0]);
            odb_buf_puts(out, "checkpoint ");
            odb_buf_put_shown(out, name ? name : "without a name");
            odb_buf_puts(out, ": ");
            odb_buf_put_shown(out, graph->values[node->out[0]].name);
            odb_buf_putc(out, '\n');
            found++;
        }
        free(name);
    }
    if (found)
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
    struct stat from, to;
    extract_directory(extract->call->model->path, &from);
    extract_directory(path, &to);
    return from.st_dev == to.st_dev && from.st_ino == to.st_ino;
}

static enum odb_status extract_write(struct extract *extract, const char *path,
                                     struct odb_error *err)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_file_parts weights = {0};
    char *beside = odb_xasprintf("%s.data", path);
    bool stays = extract_stays(extract, path), large = extract->weight_bytes > EXTRACT_INLINE;
    struct odb_extract what = {
        .nodes = extract->nodes,
        .inputs = extract->inputs.items,
        .n_inputs = extract->inputs.n,
        .outputs = extract->outputs.items,
        .n_outputs = extract->outputs.n,
        .between = extract->between.items,
        .n_between = extract->between.n,
        .weights = stays   ? ODB_WEIGHTS_KEEP
                   : large ? ODB_WEIGHTS_BESIDE
                           : ODB_WEIGHTS_INLINE,
        .weights_file = strrchr(beside, '/') ? strrchr(beside, '/') + 1 : beside,
        .weights_out = &weights,
        .ir_version = odb_call_int(extract->call, ODB_OPTION_IR_VERSION, 0),
        .plain_debug = odb_call_has(extract->call, ODB_OPTION_CHECKPOINTS),
    };
    enum odb_status status = odb_call__spare_model(extract->call, path, err);
    if (status == ODB_OK)
        status = odb_model_extract(extract->call->model, &what, &bytes, err);
    if (status == ODB_OK && weights.size)
        status = odb_call__spare_model(extract->call, beside, err);
    if (status == ODB_OK && weights.size)
        status = odb_file_write_parts(beside, weights.pieces.items, weights.pieces.n, err);
    if (status == ODB_OK)
        status = odb_file_write(path, bytes.data, bytes.len, err);
    odb_buf_dispose(&bytes);
    odb_file_parts_dispose(&weights);
    free(beside);
    return status;
}

static void extract_say(struct extract *extract, const char *path)
{
    struct odb_buf out = ODB_BUF_INIT;
    size_t n = 0;
    for (size_t i = 0; i < extract->graph->n_nodes; i++)
        n += extract->nodes[i];
    odb_buf_put_shown(&out, path);
    odb_buf_printf(&out, ": %zu of %zu nodes, %zu inputs, %zu outputs\n", n,
                   extract->graph->n_nodes, extract->inputs.n, extract->outputs.n);
    odb_call__print(extract->call, &out);
}

enum odb_status odb_command__extract(struct odb_command_call *call, struct odb_error *err)
{
    const struct odb_graph *graph = call->model->graph;
    struct extract extract = {.call = call,
                              .graph = graph,
                              .nodes = odb_new_n(bool, graph->n_nodes + 1),
                              .like = odb_new_n(struct odb_tensor *, graph->n_values + 1)};
    const char *path = odb_call_option(call, ODB_OPTION_OUTPUT);
    struct odb_buf checkpoints = ODB_BUF_INIT;
    enum odb_status status;
    if (!path) {
        odb_fail(err, ODB_E_USAGE, "there is no file to write to");
        status = odb_error_remedy(err, "add -o OUT.onnx");
        goto out;
    }
    ODB_TRY_OUT(extract_option(&extract, ODB_OPTION_CUT_INPUTS, extract_add_input, err));
    ODB_TRY_OUT(extract_option(&extract, ODB_OPTION_CUT_OUTPUTS, extract_add_output, err));
    for (size_t i = 0; !odb_call_has(call, ODB_OPTION_CUT_OUTPUTS) && i < graph->n_outputs; i++)
        extract_add_output(&extract, graph->outputs[i]);
    if (odb_call_has(call, ODB_OPTION_CHECKPOINTS))
        ODB_TRY_OUT(extract_checkpoints(&extract, &checkpoints, err));
    ODB_TRY_OUT(extract_cut(&extract, err));
    ODB_TRY_OUT(extract_types(&extract, err));
    if (odb_call_has(call, ODB_OPTION_MEASURE))
        ODB_TRY_OUT(extract_run(&extract, err));
    ODB_TRY_OUT(extract_write(&extract, path, err));
    extract_say(&extract, path);
    odb_call__print(call, &checkpoints);
    if (extract.trace)
        ODB_TRY_OUT(extract_check(&extract, path, err));
out:
    odb_buf_dispose(&checkpoints);
    for (size_t i = 0; i < graph->n_values; i++)
        odb_tensor_unref(extract.like[i]);
    free(extract.like);
    free(extract.inputs.items);
    free(extract.outputs.items);
    free(extract.nodes);
    free(extract.between.items);
    odb_trace_free(extract.trace);
    return status;
}
