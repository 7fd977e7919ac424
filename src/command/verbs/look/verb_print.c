/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Numbers of a value, or the model itself in ONNX's textual syntax.
 */
#include <stdlib.h>

#include "command/call/call.h"
#include "command/call/call_open.h"
#include "command/call/call_print.h"
#include "command/call/tensor_file.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/value/expression.h"
#include "command/value/node_range.h"
#include "command/value/spare_model.h"
#include "command/value/value_pair.h"
#include "model/text/model_text.h"
#include "report/json.h"
#include "tensor/tensor_print.h"

static enum odb_status print_save(struct odb_command_call *call,
                                  const struct odb_expression *expression, const char *path,
                                  struct odb_error *err)
{
    struct odb_tensor *part = NULL;
    struct odb_value_pair pair = {{0}};
    const char *name = expression->name;
    enum odb_status status;
    if (expression->side != ODB_SIDE_BOTH || expression->function >= 0)
        return odb_fail(err, ODB_E_USAGE, "--save writes a value, or a slice of one");
    ODB_TRY_OUT(
        odb_value_pair_find(&pair, call, *name ? name : NULL, ODB_VALUE_PAIR_REFERENCE, err));
    ODB_TRY_OUT(odb_call__spare_model(call, path, err));
    const struct odb_tensor *t = pair.side[ODB_SIDE_REFERENCE];
    if (expression->slice)
        ODB_TRY_OUT(odb_slice(&part, t, expression->slice, err));
    status = odb_call__save(call, part ? part : t, name, path, err);
out:
    odb_tensor_unref(part);
    odb_value_pair_dispose(&pair);
    return status;
}

/* Weights of more elements than this are named by their place. */
enum { PRINT_ELEMENTS = 16 };

/* The model's text, or that of the nodes that are named. */
static enum odb_status print_model(struct odb_command_call *call, const char *segment,
                                   struct odb_error *err)
{
    const struct odb_graph *graph = call->model->graph;
    size_t elements = odb_call_has(call, ODB_OPTION_WEIGHTS) ? SIZE_MAX : PRINT_ELEMENTS;
    struct odb_buf text = ODB_BUF_INIT;
    bool *nodes = NULL;
    if (segment) {
        int first, last;
        ODB_TRY(odb_call__segment(graph, segment, &first, &last, err));
        nodes = odb_new_n(bool, graph->n_nodes + 1);
        for (int n = first; n <= last; n++)
            nodes[n] = true;
    }
    struct odb_watch_progress watched;
    const struct odb_progress *progress = odb_watch_progress(&watched, call, "writing");
    enum odb_status status =
        odb_model_text_exact(call->model, nodes, elements, progress, &text, err);
    free(nodes);
    odb_watch_end(&watched.watch);
    if (status == ODB_OK) {
        json_t *json = json_pack("{s:o}", "text", odb_json_text(odb_buf_text(&text)));
        status = odb_call__give(call, json, &text, err);
    }
    odb_buf_dispose(&text);
    return status;
}

/* With every digit, which odb_call__give() does not keep. */
static enum odb_status print_json(struct odb_command_call *call,
                                  const struct odb_expression *expression, struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    json_t *json;
    ODB_TRY(odb_expression_json(call, expression, false, &json, err));
    odb_call__json_chosen(call, json);
    odb_json_put_exact(json, &out);
    odb_call__print(call, &out);
    return ODB_OK;
}

/* What was saved, and where. */
static enum odb_status print_saved(struct odb_command_call *call,
                                   const struct odb_expression *expression, const char *path,
                                   struct odb_error *err)
{
    struct odb_buf none = ODB_BUF_INIT;
    return odb_call__give(call,
                          json_pack("{s:o,s:o,s:o}", "name", odb_json_text(expression->name),
                                    "slice", odb_json_text(expression->slice), "path",
                                    odb_json_text(path)),
                          &none, err);
}

enum odb_status odb_command__print(struct odb_command_call *call, struct odb_error *err)
{
    const char *save = odb_call_option(call, ODB_OPTION_SAVE), *text = odb_call_arg(call, 1);
    struct odb_expression expression;
    struct odb_buf out = ODB_BUF_INIT;
    char notation = 0;
    ODB_TRY(odb_call__open_source(call, err));
    const char *segment = odb_call_option(call, ODB_OPTION_NODES);
    bool syntax = segment || odb_call_has(call, ODB_OPTION_WEIGHTS);
    if (syntax && (text || save || !call->model))
        return odb_fail(err, ODB_E_USAGE,
                        "--nodes and --weights are for the text of a model, and "
                        "take no value");
    if (syntax || (!text && !save && call->model && !call->console))
        return print_model(call, segment, err);
    text = text ? odb_call__notation(text, &notation) : NULL;
    if (notation && !*text)
        text = odb_call_arg(call, 2);
    else if (odb_call_arg(call, 2))
        return odb_fail(err, ODB_E_USAGE, "'%.40s' is no format: /x, /f or /e", text);
    odb_expression_parse(&expression, text ? text : "", call->model ? call->model->graph : NULL);
    enum odb_status status = ODB_OK;
    if (save)
        status = print_save(call, &expression, save, err);
    else if (odb_call_has(call, ODB_OPTION_JSON))
        status = print_json(call, &expression, err);
    else
        status = odb_expression_put(call, &expression, notation, false, &out, err);
    if (save && status == ODB_OK)
        status = print_saved(call, &expression, save, err);
    odb_expression_dispose(&expression);
    if (status == ODB_OK)
        odb_call__print(call, &out);
    odb_buf_dispose(&out);
    return status;
}
