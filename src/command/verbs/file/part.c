/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/file/part.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "command/call/call.h"
#include "command/table/command.h"
#include "command/table/table.h"
#include "command/value/call_feeds.h"
#include "command/value/names.h"
#include "inputs/input_file.h"
#include "inputs/inputs.h"
#include "model/read/load.h"
#include "model/write/write.h"
#include "probe/run_values.h"
#include "tensor/tensor.h"

void odb_part_init(struct odb_part *part, struct odb_command_call *call)
{
    const struct odb_graph *graph = call->model->graph;
    *part = (struct odb_part){.call = call,
                              .graph = graph,
                              .nodes = odb_new_n(bool, graph->n_nodes + 1),
                              .like = odb_new_n(struct odb_tensor *, graph->n_values + 1)};
}

/* The names of one option's value: all of it, where a value is called so, else its parts between
 * commas. */
static enum odb_status part_names(const struct odb_graph *graph, const char *text,
                                  struct odb_part_ports *ports, struct odb_error *err)
{
    int index;
    if (odb_call__find_value(graph, text, &index, NULL) == ODB_OK) {
        odb_push(ports, (struct odb_port){.value = index});
        return ODB_OK;
    }
    for (const char *p = text;; p++) {
        size_t len = strcspn(p, ",");
        char *name = odb_xstrndup(p, len);
        enum odb_status status = odb_call__find_value(graph, name, &index, err);
        free(name);
        ODB_TRY(status);
        odb_push(ports, (struct odb_port){.value = index});
        p += len;
        if (!*p)
            return ODB_OK;
    }
}

static enum odb_status part_option(const struct odb_part *part, enum odb_option_id id,
                                   struct odb_part_ports *ports, struct odb_error *err)
{
    size_t n;
    const char **list = odb_call_list(part->call, id, &n);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < n && status == ODB_OK; i++)
        status = part_names(part->graph, list[i], ports, err);
    free((void *)list);
    if (status != ODB_OK)
        odb_error_at(err, "--%s", odb_option_row(id)->name);
    return status;
}

enum odb_status odb_part_ports(struct odb_part *part, struct odb_error *err)
{
    ODB_TRY(part_option(part, ODB_OPTION_CUT_INPUTS, &part->inputs, err));
    ODB_TRY(part_option(part, ODB_OPTION_CUT_OUTPUTS, &part->outputs, err));
    if (!odb_call_has(part->call, ODB_OPTION_CUT_OUTPUTS))
        for (size_t i = 0; i < part->graph->n_outputs; i++)
            odb_push(&part->outputs, (struct odb_port){.value = part->graph->outputs[i]});
    return ODB_OK;
}

enum odb_status odb_part_cut(struct odb_part *part, struct odb_error *err)
{
    const struct odb_graph *graph = part->graph;
    bool *stop = odb_new_n(bool, graph->n_values + 1), given = part->inputs.n > 0;
    /* a name may be given more than once, which odb_model_extract() refuses */
    int *list = odb_new_n(int, graph->n_values + part->outputs.n + 1);
    struct odb_buf missing = ODB_BUF_INIT;
    for (size_t i = 0; i < part->inputs.n; i++)
        stop[part->inputs.items[i].value] = true;
    for (size_t i = 0; i < part->outputs.n; i++)
        list[i] = part->outputs.items[i].value;
    odb_graph_ancestors(graph, list, part->outputs.n, stop, part->nodes);
    size_t n = odb_graph_segment_inputs(graph, part->nodes, list);
    for (size_t i = 0; i < n; i++) {
        if (given && !stop[list[i]])
            odb_buf_printf(&missing, "%s%s", missing.len ? "," : "", graph->values[list[i]].name);
        else if (!given)
            odb_push(&part->inputs, (struct odb_port){.value = list[i]});
    }
    for (size_t i = 0; i < graph->n_values; i++)
        if (graph->values[i].init)
            for (size_t k = 0; k < graph->values[i].n_consumers; k++)
                if (part->nodes[graph->values[i].consumers[k]]) {
                    part->weight_bytes += graph->values[i].init->bytes;
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

/* What --input names a file for, and the model is not fed: its type is that of the file. */
static enum odb_status part_given(struct odb_part *part, struct odb_error *err)
{
    size_t n;
    const char **list = odb_call_list(part->call, ODB_OPTION_INPUT, &n);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < part->inputs.n && !part->alone; i++) {
        const struct odb_value *value = &part->graph->values[part->inputs.items[i].value];
        struct odb_input_form form = {.type = &value->type, .rank = -1};
        size_t len = strlen(value->name);
        char source[1000];
        for (size_t k = 0; k < n && status == ODB_OK; k++)
            if (value->producer != ODB_NO_NODE && !strncmp(list[k], value->name, len) &&
                list[k][len] == '=' && !part->like[value->index]) {
                status = odb_input_read(&part->like[value->index], source, sizeof source, &form,
                                        list[k] + len + 1, err);
                part->given = true;
            }
    }
    free((void *)list);
    return status == ODB_OK ? ODB_OK : odb_error_at(err, "--input");
}

/* Values of which the model does not say enough, and no file says more. */
static void part_untyped(const struct odb_part *part, const struct odb_part_ports *ports,
                         bool fixed, int *list, size_t *count)
{
    for (size_t i = 0; i < ports->n; i++) {
        const struct odb_type *type = &part->graph->values[ports->items[i].value].type;
        bool enough = type->known && (type->kind != ODB_TENSOR || (type->dtype && type->rank >= 0));
        for (int k = 0; fixed && enough && k < type->rank; k++)
            enough = type->dims[k].value >= 0;
        if (!enough && !part->like[ports->items[i].value])
            list[(*count)++] = ports->items[i].value;
    }
}

/* The whole model is fed as the call says or, where the call's inputs are the part's, with values
 * that are made. */
static enum odb_status part_run(struct odb_part *part, const int *list, size_t n,
                                struct odb_tensor **values, struct odb_error *err)
{
    struct odb_input_options options = ODB_INPUT_OPTIONS_INIT;
    struct odb_feeds *own = NULL;
    const struct odb_feeds *feeds;
    if (part->alone) {
        options.dims = odb_call_list(part->call, ODB_OPTION_DIM, &options.n_dims);
        enum odb_status status = odb_feeds_make(&own, part->call->model, &options, err);
        free((void *)options.dims);
        ODB_TRY(status);
        feeds = own;
    } else {
        ODB_TRY(odb_call__feeds(part->call, &feeds, err));
    }
    enum odb_status status =
        odb_run_values(part->call->model, feeds, "cpu", list, n, values, NULL, 0, NULL, err);
    odb_feeds_free(own);
    return status;
}

/* The part alone is run, on the files that --input names for it. */
static enum odb_status part_run_given(struct odb_part *part, const int *list, size_t n,
                                      struct odb_tensor **values, struct odb_error *err)
{
    const struct odb_model *whole = part->call->model;
    struct odb_input_options options = ODB_INPUT_OPTIONS_INIT;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_model *alone = NULL;
    struct odb_feeds *feeds = NULL;
    int *own = odb_new_n(int, n + 1);
    const struct odb_extract what = {.nodes = part->nodes,
                                     .inputs = part->inputs.items,
                                     .n_inputs = part->inputs.n,
                                     .outputs = part->outputs.items,
                                     .n_outputs = part->outputs.n,
                                     .weights = ODB_WEIGHTS_REFERENCE};
    options.inputs = odb_call_list(part->call, ODB_OPTION_INPUT, &options.n_inputs);
    options.dims = odb_call_list(part->call, ODB_OPTION_DIM, &options.n_dims);
    enum odb_status status = odb_model_extract(whole, &what, &bytes, err);
    if (status == ODB_OK)
        status = odb_model_open_bytes(&alone, bytes.data, bytes.len, NULL, whole->base,
                                      "the part between --inputs and --outputs", err);
    if (status == ODB_OK)
        status = odb_feeds_make(&feeds, alone, &options, err);
    for (size_t i = 0; i < n && status == ODB_OK; i++)
        own[i] = odb_graph_value(alone->graph, part->graph->values[list[i]].name)->index;
    if (status == ODB_OK)
        status = odb_run_values(alone, feeds, "cpu", own, n, values, NULL, 0, NULL, err);
    odb_feeds_free(feeds);
    odb_model_free(alone);
    odb_buf_dispose(&bytes);
    free((void *)options.inputs);
    free((void *)options.dims);
    free(own);
    return status;
}

/* As the border is known now. */
static void part_like(struct odb_part *part, struct odb_part_ports *ports)
{
    for (size_t i = 0; i < ports->n; i++) {
        struct odb_port *port = &ports->items[i];
        port->like = part->like[port->value];
        port->symbolic = port->like && !part->fixed && !part->alone;
    }
}

enum odb_status odb_part_types(struct odb_part *part, struct odb_error *err)
{
    const struct odb_graph *graph = part->graph;
    int *list = odb_new_n(int, part->inputs.n + part->outputs.n + 1);
    struct odb_tensor **values =
        odb_new_n(struct odb_tensor *, part->inputs.n + part->outputs.n + 1);
    size_t n = 0, n_inputs;
    enum odb_status status;
    ODB_TRY_OUT(part_given(part, err));
    part_untyped(part, &part->inputs, part->alone, list, &n);
    n_inputs = n;
    const char *border = n ? graph->values[list[0]].name : NULL;
    part_untyped(part, &part->outputs, false, list, &n);
    part->fixed = true;
    for (size_t i = 0; i < graph->n_inputs; i++) {
        const struct odb_type *type = &graph->values[graph->inputs[i]].type;
        for (int k = 0; k < type->rank; k++)
            part->fixed &= type->dims[k].value >= 0;
    }
    part_like(part, &part->inputs);
    if (part->given && n_inputs) /* the whole model is not fed so */
        status = odb_fail(err, ODB_E_USAGE, "the type of %s is not known", border);
    else if (n)
        status = part->given ? part_run_given(part, list, n, values, err)
                             : part_run(part, list, n, values, err);
    if (status == ODB_UNSUPPORTED && n_inputs)
        odb_error_at(err, "the type of %s is not known", border);
    if (status != ODB_OK && n_inputs)
        odb_error_remedy(err, "name a file with what stands there: --input %s=FILE", border);
    else if (status == ODB_UNSUPPORTED && part->given) /* an output may be without */
        status = ODB_OK;
    for (size_t i = 0; i < n && status == ODB_OK; i++) {
        odb_tensor_unref(part->like[list[i]]);
        part->like[list[i]] = values[i];
    }
    part_like(part, &part->inputs);
    part_like(part, &part->outputs);
out:
    free(values);
    free(list);
    return status;
}

void odb_part_dispose(struct odb_part *part)
{
    for (size_t i = 0; i < part->graph->n_values; i++)
        odb_tensor_unref(part->like[i]);
    free(part->like);
    free(part->inputs.items);
    free(part->outputs.items);
    free(part->nodes);
}
