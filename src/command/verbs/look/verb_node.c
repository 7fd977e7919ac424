/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/value/names.h"
#include "command/value/node_words.h"
#include "interpret/cpu.h"
#include "meaning/meaning.h"
#include "model/formal.h"
#include "model/read/load.h"
#include "model/text/model_text.h"
#include "model/write/body_model.h"
#include "report/json.h"
#include "report/report.h"
#include "session/session_state.h"

#define NODE_READERS 8 /* named before "and N more" */

/* --- session --------------------------------------------------------------------------------- */

/* What is known about a value; false: it is untested. */
static bool node_numbers(const struct odb_session *session, int value, struct odb_value_report *out)
{
    if (!session) /* inside a body */
        return false;
    odb_session_lock(session);
    *out = session->values[value];
    odb_session_unlock(session);
    return out->verdict != ODB_VERDICT_UNTESTED;
}

/* --- text ------------------------------------------------------------------------------------ */

static void node_put_readers(const struct odb_graph *graph, const struct odb_value *value,
                             struct odb_buf *out)
{
    odb_buf_puts(out, "\n      read by ");
    if (!value->n_consumers)
        odb_buf_puts(out, "no node");
    for (size_t i = 0; i < value->n_consumers && i < NODE_READERS; i++) {
        odb_buf_puts(out, i ? ", " : "");
        odb_node_put(graph, value->consumers[i], out);
    }
    if (value->n_consumers > NODE_READERS)
        odb_buf_printf(out, " and %zu more", value->n_consumers - NODE_READERS);
    if (value->is_output)
        odb_buf_puts(out, "; an output of the model");
}

static void node_put_number(struct odb_buf *out, const char *name, struct odb_number number)
{
    if (number.known)
        odb_buf_printf(out, ", %s %.3g", name, number.v);
}

static void node_put_verdict(const struct odb_session *session, int value, struct odb_buf *out)
{
    struct odb_named_number numbers[ODB_REPORT_NUMBERS];
    struct odb_value_report r;
    if (!node_numbers(session, value, &r))
        return;
    odb_buf_printf(out, "\n      %s", odb_verdict_name(r.verdict));
    odb_report_numbers(&r, numbers);
    for (size_t i = 0; i < ODB_REPORT_NUMBERS; i++)
        node_put_number(out, numbers[i].name, numbers[i].number);
    if (r.reason[0]) {
        odb_buf_puts(out, "; ");
        odb_buf_put_shown(out, r.reason);
    }
}

static void node_put_meaning(const char *meaning, struct odb_buf *out)
{
    if (*meaning)
        odb_buf_printf(out, "\n      %s", meaning);
}

/* place: which of the node's inputs or outputs it is; meaning: in words, or "". */
static void node_put_value(const struct odb_graph *graph, int index, const char *place,
                           const char *meaning, const struct odb_session *session, bool input,
                           struct odb_buf *out)
{
    char key[512], type[320];
    odb_buf_put_shown(out, place);
    if (index == ODB_NO_VALUE) {
        odb_buf_puts(out, "omitted");
        node_put_meaning(meaning, out);
        odb_buf_putc(out, '\n');
        return;
    }
    const struct odb_value *value = &graph->values[index];
    odb_buf_put_shown(out, odb_value_key(graph, value, key, sizeof key));
    odb_buf_puts(out, "  ");
    if (value->type.known)
        odb_buf_put_shown(out, value->type.shown);
    else if (value->init)
        odb_buf_puts(out, odb_call__type_text(value->init, type, sizeof type));
    else
        odb_buf_puts(out, "(no type declared)");
    if (value->init)
        odb_buf_puts(out, "  weight");
    else if (value->is_input)
        odb_buf_puts(out, "  input of the model");
    node_put_meaning(meaning, out);
    if (input && value->producer != ODB_NO_NODE) {
        odb_buf_puts(out, "\n      made by ");
        odb_node_put(graph, value->producer, out);
    }
    if (!input || value->n_consumers > 1)
        node_put_readers(graph, value, out);
    node_put_verdict(session, index, out);
    odb_buf_putc(out, '\n');
}

static void node_put_attr(const struct odb_node *node, const char *name, enum odb_attr_type type,
                          const char *value, const char *whence, struct odb_buf *out)
{
    char meaning[ODB_MEANING];
    odb_buf_puts(out, "  ");
    odb_buf_put_shown(out, name);
    odb_buf_printf(out, ": %s = %s%s", odb_attr_type_text(type), value, whence);
    node_put_meaning(odb_meaning_of_attr(node, name, meaning), out);
    odb_buf_putc(out, '\n');
}

static void node_put_attrs(const struct odb_node *node, const struct odb_op *op,
                           struct odb_buf *out)
{
    struct odb_buf text = ODB_BUF_INIT, rows = ODB_BUF_INIT;
    for (size_t i = 0; i < node->attrs.n; i++) {
        const struct odb_attr *attr = &node->attrs.items[i];
        odb_buf_clear(&text);
        odb_attr_text(attr, &text);
        node_put_attr(node, attr->name, attr->type, odb_buf_text(&text), "", &rows);
    }
    for (const struct odb_attr_spec *spec = op ? op->attrs : NULL; spec && spec->name; spec++)
        if (spec->def && !odb_attrs_find(&node->attrs, spec->name))
            node_put_attr(node, spec->name, spec->type, spec->def, "  (default)", &rows);
    if (rows.len)
        odb_buf_printf(out, "\nattributes:\n%s", odb_buf_text(&rows));
    odb_buf_dispose(&rows);
    odb_buf_dispose(&text);
}

static void node_put_head(const struct odb_node *node, const struct odb_op *op, const char *why,
                          struct odb_buf *out)
{
    odb_buf_printf(out, "node        #%d ", node->index);
    odb_buf_put_shown(out, node->name);
    odb_buf_printf(out, "\nin file     %d\noperator    ", node->file_index);
    odb_buf_put_shown(out, node->op_type);
    odb_buf_puts(out, "\ndomain      ");
    odb_buf_put_shown(out, *node->domain ? node->domain : "ai.onnx");
    odb_buf_printf(out, "\nopset       %d", node->opset);
    if (op)
        odb_buf_printf(out, ", reference kernel for version %d and later", op->since);
    odb_buf_putc(out, '\n');
    if (node->function)
        odb_buf_printf(out, "function    local, %zu node%s\n", node->function->graph->n_nodes,
                       odb_plural(node->function->graph->n_nodes));
    if (*why) {
        odb_buf_puts(out, "reference   cannot run it: ");
        odb_buf_put_shown(out, why);
        odb_buf_putc(out, '\n');
    }
    if (node->doc && *node->doc) {
        odb_buf_puts(out, "doc         ");
        odb_buf_put_shown(out, node->doc);
        odb_buf_putc(out, '\n');
    }
    odb_call__put_metadata(&node->metadata, out);
}

/* "   1  W  ": which one it is, and what the operator calls it, padded to this width. */
static char *node_place(const struct odb_node *node, int slot, bool input, int width)
{
    char name[ODB_FORMAL_NAME];
    return odb_xasprintf("  %2d  %-*s%s", slot, width, odb_formal_name(node, input, slot, name),
                         width ? "  " : "");
}

static void node_put_ports(const struct odb_graph *graph, const struct odb_node *node, bool input,
                           const struct odb_session *session, struct odb_buf *out)
{
    int n = input ? node->n_in : node->n_out, width = odb_formal_width(node);
    if (n)
        odb_buf_puts(out, input ? "\ninputs:\n" : "\noutputs:\n");
    for (int i = 0; i < n; i++) {
        char *place = node_place(node, i, input, width), meaning[ODB_MEANING];
        node_put_value(graph, input ? node->in[i] : node->out[i], place,
                       odb_meaning_of_port(node, input, i, meaning), session, input, out);
        free(place);
    }
}

static void node_put_captured(const struct odb_graph *graph, const struct odb_node *node,
                              const struct odb_session *session, struct odb_buf *out)
{
    odb_buf_puts(out, node->n_captured ? "\nread by its bodies:\n" : "");
    for (size_t i = 0; i < node->n_captured; i++) {
        char *place = odb_xasprintf("  %2zu  ", i);
        node_put_value(graph, node->captured[i], place, "", session, true, out);
        free(place);
    }
}

static void node_text(const struct odb_graph *graph, const struct odb_node *node,
                      const struct odb_cpu *cpu, const struct odb_session *session,
                      struct odb_buf *out)
{
    const struct odb_op *op = odb_cpu_op(cpu, node->index);
    node_put_head(node, op, odb_cpu_unsupported(cpu, node->index), out);
    node_put_attrs(node, op, out);
    node_put_ports(graph, node, true, session, out);
    node_put_captured(graph, node, session, out);
    node_put_ports(graph, node, false, session, out);
    odb_buf_puts(out, "\nONNX text:\n");
    odb_node_text(graph, node, out);
    if (out->len && out->data[out->len - 1] != '\n')
        odb_buf_putc(out, '\n');
}

/* --- JSON ------------------------------------------------------------------------------------ */

static json_t *node_json_number(struct odb_number number)
{
    return number.known ? odb_json_real(number.v) : json_null();
}

static json_t *node_json_value(const struct odb_graph *graph, int index,
                               const struct odb_session *session)
{
    struct odb_value_report r;
    char key[512];
    if (index == ODB_NO_VALUE)
        return json_null();
    const struct odb_value *value = &graph->values[index];
    json_t *object = json_object(), *readers = json_array();
    for (size_t i = 0; i < value->n_consumers; i++)
        json_array_append_new(readers, json_integer(value->consumers[i]));
    json_object_set_new(
        object, "name",
        odb_json_text(*value->name ? value->name : odb_value_key(graph, value, key, sizeof key)));
    json_object_set_new(object, "type", odb_json_text(value->type.known ? value->type.text : NULL));
    json_object_set_new(object, "shape",
                        value->type.known ? odb_json_type_shape(&value->type)
                        : value->init     ? odb_json_shape(value->init)
                                          : json_null());
    json_object_set_new(object, "initializer", json_boolean(value->init != NULL));
    json_object_set_new(object, "producer",
                        value->producer == ODB_NO_NODE ? json_null()
                                                       : json_integer(value->producer));
    json_object_set_new(object, "consumers", readers);
    json_object_set_new(object, "output", json_boolean(value->is_output));
    if (node_numbers(session, index, &r)) {
        json_object_set_new(object, "verdict", json_string(odb_verdict_name(r.verdict)));
        json_object_set_new(object, "error", node_json_number(r.error));
        json_object_set_new(object, "noise", node_json_number(r.noise));
        json_object_set_new(object, "local_error", node_json_number(r.local_error));
        json_object_set_new(object, "local_noise", node_json_number(r.local_noise));
        json_object_set_new(object, "gain", node_json_number(r.gain));
    }
    return object;
}

static json_t *node_json(const struct odb_graph *graph, const struct odb_node *node,
                         const struct odb_cpu *cpu, const struct odb_session *session)
{
    const struct odb_op *op = odb_cpu_op(cpu, node->index);
    struct odb_buf text = ODB_BUF_INIT;
    json_t *root = odb_json_node(node->index, node->name, node->op_type, node->domain);
    json_t *inputs = json_array(), *outputs = json_array();
    json_t *captured = json_array();
    for (int i = 0; i < node->n_in; i++)
        json_array_append_new(inputs, node_json_value(graph, node->in[i], session));
    for (size_t i = 0; i < node->n_captured; i++)
        json_array_append_new(captured, node_json_value(graph, node->captured[i], session));
    for (int i = 0; i < node->n_out; i++)
        json_array_append_new(outputs, node_json_value(graph, node->out[i], session));
    odb_node_text(graph, node, &text);
    const char *why = odb_cpu_unsupported(cpu, node->index);
    json_object_set_new(root, "file_index", json_integer(node->file_index));
    json_object_set_new(root, "opset", json_integer(node->opset));
    json_object_set_new(root, "since", op ? json_integer(op->since) : json_null());
    json_object_set_new(root, "doc", odb_json_text(node->doc));
    json_object_set_new(root, "metadata", odb_json_metadata(&node->metadata));
    json_object_set_new(root, "function", json_boolean(node->function != NULL));
    json_object_set_new(root, "unsupported", odb_json_text(*why ? why : NULL));
    json_object_set_new(root, "attributes", odb_node_words_attrs(node, op, true));
    json_object_set_new(root, "inputs", inputs);
    json_object_set_new(root, "formal_inputs", odb_node_words_names(node, true));
    json_object_set_new(root, "input_meanings", odb_node_words_meanings(node, true));
    json_object_set_new(root, "captured", captured);
    json_object_set_new(root, "outputs", outputs);
    json_object_set_new(root, "formal_outputs", odb_node_words_names(node, false));
    json_object_set_new(root, "output_meanings", odb_node_words_meanings(node, false));
    json_object_set_new(root, "text", odb_json_text(odb_buf_text(&text)));
    odb_buf_dispose(&text);
    return root;
}

/* In a body, which is opened as a model of its own. */
static enum odb_status node_inside(struct odb_command_call *call, const struct odb_model *body,
                                   int index, struct odb_error *err)
{
    const struct odb_node *node = &body->graph->nodes[index];
    struct odb_buf out = ODB_BUF_INIT;
    struct odb_cpu *cpu;
    ODB_TRY(odb_cpu_new(&cpu, body, err));
    if (odb_call_has(call, ODB_OPTION_JSON)) {
        json_t *root = node_json(body->graph, node, cpu, NULL);
        json_object_set_new(root, "path", odb_json_text(call->args[1]));
        odb_json_put(root, &out);
    } else {
        odb_buf_puts(&out, "path        ");
        odb_buf_put_shown(&out, call->args[1]);
        odb_buf_putc(&out, '\n');
        node_text(body->graph, node, cpu, NULL, &out);
    }
    odb_call__print(call, &out);
    odb_cpu_free(cpu);
    return ODB_OK;
}

enum odb_status odb_command__node(struct odb_command_call *call, struct odb_error *err)
{
    const struct odb_graph *graph = call->model->graph;
    const struct odb_session *session = call->session;
    struct odb_buf out = ODB_BUF_INIT;
    struct odb_model *body;
    int index;
    ODB_TRY(odb_body_follow(&body, &index, call->model, call->args[1], err));
    if (body) {
        enum odb_status status = node_inside(call, body, index, err);
        odb_model_free(body);
        return status;
    }
    if (odb_call_has(call, ODB_OPTION_JSON))
        odb_json_put(node_json(graph, &graph->nodes[index], session->cpu, session), &out);
    else
        node_text(graph, &graph->nodes[index], session->cpu, session, &out);
    odb_call__print(call, &out);
    return ODB_OK;
}
