/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "command/call.h"
#include "engine/json.h"

static bool nodes_value_matches(const struct odb_graph *graph, const int *list, int n,
                                const char *text)
{
    for (int i = 0; i < n; i++)
        if (list[i] != ODB_NO_VALUE && strcasestr(graph->values[list[i]].name, text))
            return true;
    return false;
}

static bool nodes_matches(const struct odb_graph *graph, const struct odb_node *node,
                          const char *text)
{
    return !text || strcasestr(node->op_type, text) || strcasestr(node->name, text) ||
           strcasestr(node->domain, text) ||
           nodes_value_matches(graph, node->in, node->n_in, text) ||
           nodes_value_matches(graph, node->out, node->n_out, text);
}

static void nodes_put_op(const struct odb_node *node, struct odb_buf *out)
{
    if (*node->domain) {
        odb_buf_put_shown(out, node->domain);
        odb_buf_puts(out, "::");
    }
    odb_buf_put_shown(out, node->op_type);
}

static void nodes_line(const struct odb_graph *graph, const struct odb_node *node,
                       struct odb_buf *out)
{
    char index[32], label[300];
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
        const struct odb_value *value = &graph->values[node->out[i]];
        odb_buf_puts(out, i ? ", " : "");
        odb_buf_put_shown(out, odb_value_key(graph, value, label, sizeof label));
        if (value->type.known) {
            odb_buf_putc(out, ' ');
            odb_buf_put_shown(out, value->type.text);
        }
    }
    odb_buf_dispose(&op);
    odb_buf_dispose(&name);
}

static json_t *nodes_names(const struct odb_graph *graph, const int *list, int n)
{
    json_t *names = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(names, list[i] == ODB_NO_VALUE
                                         ? json_null()
                                         : odb_json_text(graph->values[list[i]].name));
    return names;
}

static json_t *nodes_json(const struct odb_graph *graph, const struct odb_node *node)
{
    json_t *object = json_object(), *types = json_array();
    for (int i = 0; i < node->n_out; i++) {
        const struct odb_type *type =
            node->out[i] == ODB_NO_VALUE ? NULL : &graph->values[node->out[i]].type;
        json_array_append_new(types, odb_json_text(type && type->known ? type->text : NULL));
    }
    json_object_set_new(object, "index", json_integer(node->index));
    json_object_set_new(object, "name", odb_json_text(node->name));
    json_object_set_new(object, "op_type", odb_json_text(node->op_type));
    json_object_set_new(object, "domain", odb_json_text(node->domain));
    json_object_set_new(object, "inputs", nodes_names(graph, node->in, node->n_in));
    json_object_set_new(object, "outputs", nodes_names(graph, node->out, node->n_out));
    json_object_set_new(object, "types", types);
    json_object_set_new(object, "file_index", json_integer(node->file_index));
    return object;
}

enum odb_status odb_command__nodes(struct odb_command_call *call, struct odb_error *err)
{
    const struct odb_graph *graph = call->model->graph;
    const char *filter = odb_call_option(call, ODB_OPTION_FILTER);
    bool as_json = odb_call_has(call, ODB_OPTION_JSON);
    struct odb_buf out = ODB_BUF_INIT, line = ODB_BUF_INIT;
    json_t *list = json_array();
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct odb_node *node = &graph->nodes[i];
        if (!nodes_matches(graph, node, filter))
            continue;
        if (as_json) {
            json_array_append_new(list, nodes_json(graph, node));
            continue;
        }
        odb_buf_clear(&line);
        nodes_line(graph, node, &line);
        odb_call__put_line(&out, odb_buf_text(&line), call->width);
    }
    if (as_json)
        odb_json_put(json_pack("{so}", "nodes", list), &out);
    else
        json_decref(list);
    odb_buf_dispose(&line);
    odb_call__print(call, &out);
    return ODB_OK;
}
