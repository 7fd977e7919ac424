/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "analysis/cost.h"
#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/console/filter.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/value/call_shapes.h"
#include "report/json.h"
#include "session/session_state.h"

static void nodes_put_op(const struct odb_node *node, struct odb_buf *out)
{
    if (*node->domain) {
        odb_buf_put_shown(out, node->domain);
        odb_buf_puts(out, "::");
    }
    odb_buf_put_shown(out, node->op_type);
}

struct nodes {
    const struct odb_graph *graph;
    struct odb_shapes shapes; /* owned */
    struct odb_cost *costs;   /* owned; [n_nodes] */
};

/* What is known of a value: its shape, else what the model declares. "": nothing. shown: to people,
 * else ONNX's text. */
static const char *nodes_type(const struct nodes *nodes, int value, bool shown, char *buf,
                              size_t size)
{
    if (value == ODB_NO_VALUE)
        return "";
    const struct odb_type *type = &nodes->graph->values[value].type;
    odb_shape_put(&nodes->shapes.values[value], shown, buf, size);
    if (*buf || !type->known)
        return buf;
    return shown ? type->shown : type->text;
}

static void nodes_line(const struct nodes *nodes, const struct odb_node *node, struct odb_buf *out)
{
    char index[32], label[400];
    struct odb_buf op = ODB_BUF_INIT, name = ODB_BUF_INIT;
    snprintf(index, sizeof index, "#%d", node->index);
    nodes_put_op(node, &op);
    if (*node->name)
        odb_buf_put_shown(&name, node->name);
    else
        odb_buf_puts(&name, "-");
    odb_buf_printf(out, "%6s  %-20s  %-24s  ", index, odb_buf_text(&op), odb_buf_text(&name));
    for (int i = 0; i < node->n_out; i++) {
        if (node->out[i] == ODB_NO_VALUE)
            continue;
        const struct odb_value *value = &nodes->graph->values[node->out[i]];
        odb_buf_puts(out, i ? ", " : "");
        odb_buf_put_shown(out, odb_value_key(nodes->graph, value, label, sizeof label));
        const char *type = nodes_type(nodes, value->index, true, label, sizeof label);
        if (*type) {
            odb_buf_putc(out, ' ');
            odb_buf_put_shown(out, type);
        }
    }
    odb_buf_dispose(&op);
    odb_buf_dispose(&name);
}

static json_t *nodes_types(const struct nodes *nodes, const int *list, int n)
{
    json_t *types = json_array();
    char buf[400];
    for (int i = 0; i < n; i++) {
        const char *type = nodes_type(nodes, list[i], false, buf, sizeof buf);
        json_array_append_new(types, odb_json_text(*type ? type : NULL));
    }
    return types;
}

static json_t *nodes_count(bool known, uint64_t n)
{
    return known ? json_integer((json_int_t)n) : json_null();
}

static json_t *nodes_json(const struct nodes *nodes, const struct odb_node *node)
{
    const struct odb_cost *cost = &nodes->costs[node->index];
    json_t *object = odb_json_node(node->index, node->name, node->op_type, node->domain);
    json_object_set_new(object, "inputs",
                        odb_json_values(nodes->graph, node->in, (size_t)node->n_in));
    json_object_set_new(object, "outputs",
                        odb_json_values(nodes->graph, node->out, (size_t)node->n_out));
    json_object_set_new(object, "input_types", nodes_types(nodes, node->in, node->n_in));
    json_object_set_new(object, "types", nodes_types(nodes, node->out, node->n_out));
    json_object_set_new(object, "macs", nodes_count(cost->known, cost->macs));
    json_object_set_new(object, "flops", nodes_count(cost->known, cost->flops));
    json_object_set_new(object, "read_bytes", nodes_count(cost->sized, cost->reads));
    json_object_set_new(object, "written_bytes", nodes_count(cost->sized, cost->writes));
    json_object_set_new(object, "weight_bytes", nodes_count(cost->sized, cost->weights));
    json_object_set_new(object, "file_index", json_integer(node->file_index));
    return object;
}

/* A tab or a line's end in a name is shown as an escape, so every line has the same columns. */
static void nodes_cell(struct odb_buf *out, const char *text)
{
    odb_buf_putc(out, '\t');
    odb_buf_put_shown(out, text);
}

static void nodes_cells(const struct nodes *nodes, const int *list, int n, bool types,
                        struct odb_buf *out)
{
    char buf[400];
    odb_buf_putc(out, '\t');
    for (int i = 0; i < n; i++) {
        odb_buf_puts(out, i ? (types ? "; " : ", ") : "");
        if (types)
            odb_buf_put_shown(out, nodes_type(nodes, list[i], false, buf, sizeof buf));
        else if (list[i] != ODB_NO_VALUE)
            odb_buf_put_shown(out, nodes->graph->values[list[i]].name);
    }
}

static void nodes_number(bool known, uint64_t n, struct odb_buf *out)
{
    odb_buf_putc(out, '\t');
    if (known)
        odb_buf_printf(out, "%llu", (unsigned long long)n);
}

static void nodes_tsv(const struct nodes *nodes, const struct odb_node *node, struct odb_buf *out)
{
    const struct odb_cost *cost = &nodes->costs[node->index];
    odb_buf_printf(out, "%d", node->index);
    nodes_cell(out, node->name);
    nodes_cell(out, node->op_type);
    nodes_cell(out, node->domain);
    nodes_cells(nodes, node->in, node->n_in, false, out);
    nodes_cells(nodes, node->out, node->n_out, false, out);
    nodes_cells(nodes, node->in, node->n_in, true, out);
    nodes_cells(nodes, node->out, node->n_out, true, out);
    nodes_number(cost->known, cost->macs, out);
    nodes_number(cost->known, cost->flops, out);
    nodes_number(cost->sized, cost->reads, out);
    nodes_number(cost->sized, cost->writes, out);
    nodes_number(cost->sized, cost->weights, out);
    odb_buf_putc(out, '\n');
}

static enum odb_status nodes_no_search(const struct odb_command_call *call, struct odb_error *err)
{
    const char *session = odb_call_option(call, ODB_OPTION_SESSION);
    if (session)
        odb_fail(err, ODB_E_USAGE, "no search in %s has judged anything to filter by", session);
    else
        odb_fail(err, ODB_E_USAGE, "there is no search to filter by");
    return odb_error_remedy(err, "%s",
                            call->console ? "`bisect` searches"
                            : session     ? "onnxdbg bisect MODEL --session FILE searches"
                                          : "name its session, as bisect --session FILE makes one: "
                                            "--session FILE");
}

static bool nodes_judged(const struct odb_command_call *call)
{
    odb_session_lock(call->session);
    bool judged = call->session->report || odb_session_judged(call->session) > 0;
    odb_session_unlock(call->session);
    return judged;
}

/* NULL: all nodes. */
static enum odb_status nodes_filter(const struct odb_command_call *call, struct odb_filter **out,
                                    struct odb_error *err)
{
    const char *text = odb_call_option(call, ODB_OPTION_FILTER);
    enum odb_status status = ODB_OK;
    size_t at;
    if (!text)
        return ODB_OK;
    status = odb_filter_parse(out, text, &at, err);
    if (status == ODB_OK && odb_filter_asks_search(*out) && !nodes_judged(call))
        status = nodes_no_search(call, err);
    return status == ODB_OK ? ODB_OK : odb_error_at(err, "--filter '%s'", text);
}

static bool nodes_wanted(const struct odb_command_call *call, const struct odb_filter *filter,
                         int node)
{
    if (!filter)
        return true;
    odb_session_lock(call->session);
    bool wanted = odb_filter_matches(filter, call->session, node);
    odb_session_unlock(call->session);
    return wanted;
}

enum odb_status odb_command__nodes(struct odb_command_call *call, struct odb_error *err)
{
    struct nodes nodes = {.graph = call->model->graph};
    struct odb_filter *filter = NULL;
    bool as_json = odb_call_has(call, ODB_OPTION_JSON), tsv = odb_call_has(call, ODB_OPTION_TSV);
    struct odb_buf out = ODB_BUF_INIT, line = ODB_BUF_INIT;
    struct odb_cost_sum sum;
    json_t *list = json_array();
    enum odb_status status = nodes_filter(call, &filter, err);
    if (status == ODB_OK)
        status = odb_call__shapes(call, NULL, NULL, &nodes.shapes, err);
    if (status != ODB_OK)
        goto out;
    odb_cost_model(&nodes.costs, &sum, call->model, &nodes.shapes);
    if (tsv && !as_json)
        odb_buf_puts(&out, "index\tname\top_type\tdomain\tinputs\toutputs\tinput_types\ttypes\tmacs"
                           "\tflops\tread_bytes\twritten_bytes\tweight_bytes\n");
    for (size_t i = 0; i < nodes.graph->n_nodes; i++) {
        const struct odb_node *node = &nodes.graph->nodes[i];
        if (!nodes_wanted(call, filter, node->index))
            continue;
        odb_buf_clear(&line);
        if (as_json) {
            json_array_append_new(list, nodes_json(&nodes, node));
        } else if (tsv) {
            nodes_tsv(&nodes, node, &out);
        } else {
            nodes_line(&nodes, node, &line);
            odb_call__put_line(&out, odb_buf_text(&line), call->width);
        }
    }
    if (as_json) {
        json_t *json = json_pack("{sO}", "nodes", list);
        odb_call__json_chosen(call, json);
        odb_json_put(json, &out);
    }
    odb_call__print(call, &out);
out:
    json_decref(list);
    odb_filter_free(filter);
    odb_buf_dispose(&line);
    free(nodes.costs);
    odb_shapes_dispose(&nodes.shapes);
    return status;
}
