/* SPDX-License-Identifier: MIT
 *
 * ONNX's textual syntax, as docs/Syntax.md of the standard defines it: what a person reads, greps
 * and pastes into a bug report. It is complete but for long data: beyond a few elements lists and
 * weights end in "... N in all", since nobody reads ten thousand numbers, and a model that is to
 * be run again is written as a file.
 *
 * Names come from files and may hold anything: what is no identifier is quoted, and bytes that a
 * terminal would act upon are shown as \xNN.
 */
#include "model/model_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Lists longer than SHOWN show their first HEAD items. */
enum {
    TEXT_SHOWN = 16,
    TEXT_HEAD = 8,
    TEXT_DATA_SHOWN = 8,
    TEXT_DATA_HEAD = 4,
    TEXT_STRING_SHOWN = 256,
    TEXT_DEPTH = 64
};

/* A graph attribute on one line, for tables. */
#define TEXT_ONE_LINE (-1)

static bool text_is_identifier(const char *s)
{
    if (*s == '\0' || (*s >= '0' && *s <= '9'))
        return false;
    for (; *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ||
              *s == '_'))
            return false;
    return true;
}

/* Quotes and backslashes escaped, the rest shown; a long one is cut, and says so. */
static void text_quoted(const char *data, size_t len, struct odb_buf *out)
{
    size_t shown = len > TEXT_STRING_SHOWN ? TEXT_STRING_SHOWN : len;
    while (shown < len && shown > 0 && ((unsigned char)data[shown] & 0xc0) == 0x80)
        shown--; /* not through the middle of a character */
    struct odb_buf part = ODB_BUF_INIT;
    odb_buf_putc(out, '"');
    for (size_t i = 0; i <= shown; i++) {
        if (i < shown && data[i]) {
            if (data[i] == '"' || data[i] == '\\')
                odb_buf_putc(&part, '\\');
            odb_buf_putc(&part, data[i]);
            continue;
        }
        odb_buf_put_shown(out, odb_buf_text(&part));
        odb_buf_clear(&part);
        if (i < shown)
            odb_buf_puts(out, "\\x00");
    }
    odb_buf_putc(out, '"');
    if (shown < len)
        odb_buf_printf(out, "... %zu bytes in all", len);
    odb_buf_dispose(&part);
}

static void text_id(const char *name, struct odb_buf *out)
{
    if (text_is_identifier(name))
        odb_buf_puts(out, name);
    else
        text_quoted(name, strlen(name), out);
}

static void text_indent(int depth, struct odb_buf *out)
{
    for (int i = 0; i < depth; i++)
        odb_buf_puts(out, "    ");
}

/* The shortest decimal that reads back as the same number. */
static void text_float(double v, bool is_double, struct odb_buf *out)
{
    char buf[40];
    if (isnan(v)) {
        odb_buf_puts(out, "nan");
        return;
    }
    for (int digits = is_double ? 15 : 6; digits <= 17; digits++) {
        snprintf(buf, sizeof buf, "%.*g", digits, v);
        if (is_double ? strtod(buf, NULL) == v : strtof(buf, NULL) == (float)v)
            break;
    }
    odb_buf_puts(out, buf);
}

/* "{a, b, ... N in all}": separator before item i, and whether it is shown. */
static bool text_list_item(size_t i, size_t n, size_t shown, size_t head, struct odb_buf *out)
{
    if (n > shown && i >= head) {
        if (i == head)
            odb_buf_printf(out, ", ... %zu in all", n);
        return false;
    }
    if (i)
        odb_buf_puts(out, ", ");
    return true;
}

/* --- tensors ---------------------------------------------------------------------------------- */

static void text_element(const struct odb_tensor *t, size_t i, struct odb_buf *out)
{
    const struct odb_dtype_info *info = odb_dtype_info(t->dtype);
    const struct odb_str *strings = t->data;
    const odb_f64 *pairs = t->data;
    const odb_f32 *small = t->data;
    switch (info->class_) {
    case ODB_CLASS_STRING:
        text_quoted(strings[i].data ? strings[i].data : "", strings[i].len, out);
        break;
    case ODB_CLASS_FLOAT:
        text_float(odb_tensor_f64(t, i), t->dtype == ODB_F64, out);
        break;
    case ODB_CLASS_COMPLEX:
        text_float(info->bits == 64 ? small[2 * i] : pairs[2 * i], info->bits > 64, out);
        odb_buf_putc(out, ' ');
        text_float(info->bits == 64 ? small[2 * i + 1] : pairs[2 * i + 1], info->bits > 64, out);
        odb_buf_putc(out, 'i');
        break;
    case ODB_CLASS_UINT:
        odb_buf_printf(out, "%llu", (unsigned long long)odb_tensor_i64(t, i));
        break;
    default:
        odb_buf_printf(out, "%lld", (long long)odb_tensor_i64(t, i));
        break;
    }
}

static void text_data(const struct odb_tensor *t, struct odb_buf *out)
{
    odb_buf_putc(out, '{');
    if (t->kind == ODB_SPARSE && t->n_items > 0) {
        odb_buf_printf(out, "... %zu of %zu set", t->items[0]->count, t->count);
    } else if (t->kind != ODB_TENSOR || !t->data) {
        if (t->count)
            odb_buf_printf(out, "... %zu in all", t->count);
    } else {
        for (size_t i = 0; i < t->count; i++) {
            if (!text_list_item(i, t->count, TEXT_DATA_SHOWN, TEXT_DATA_HEAD, out))
                break;
            text_element(t, i, out);
        }
    }
    odb_buf_putc(out, '}');
}

/* "float[3, 4]", "sparse_tensor(float[3, 4])". */
static void text_tensor_type(const struct odb_tensor *t, struct odb_buf *out)
{
    bool sparse = t->kind == ODB_SPARSE;
    enum odb_dtype dtype = sparse && t->n_items > 0 ? t->items[0]->dtype : t->dtype;
    odb_buf_printf(out, "%s%s", sparse ? "sparse_tensor(" : "", odb_dtype_info(dtype)->name);
    for (int i = 0; i < t->rank; i++)
        odb_buf_printf(out, "%s%lld", i ? ", " : "[", (long long)t->dims[i]);
    odb_buf_printf(out, "%s%s", t->rank ? "]" : "", sparse ? ")" : "");
}

static void text_tensor(const struct odb_tensor *t, struct odb_buf *out)
{
    text_tensor_type(t, out);
    odb_buf_putc(out, ' ');
    text_data(t, out);
}

/* --- types ------------------------------------------------------------------------------------ */

static void text_shape(const Onnx__TensorShapeProto *shape, struct odb_buf *out)
{
    if (!shape) {
        odb_buf_puts(out, "[]");
        return;
    }
    for (size_t i = 0; i < shape->n_dim; i++) {
        const Onnx__TensorShapeProto__Dimension *dim = shape->dim[i];
        odb_buf_puts(out, i ? ", " : "[");
        if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
            odb_buf_printf(out, "%lld", (long long)dim->dim_value);
        else if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
                 dim->dim_param[0])
            text_id(dim->dim_param, out);
        else
            odb_buf_putc(out, '?');
    }
    if (shape->n_dim)
        odb_buf_putc(out, ']');
}

static const char *text_dtype(int32_t elem_type)
{
    const char *name = odb_dtype_info((enum odb_dtype)elem_type)->name;
    return name ? name : "undefined";
}

static void text_opaque(const Onnx__TypeProto__Opaque *opaque, struct odb_buf *out)
{
    const char *domain = opaque->domain ? opaque->domain : "";
    odb_buf_puts(out, "opaque(");
    odb_buf_put_shown(out, domain);
    odb_buf_puts(out, domain[0] ? ", " : "");
    odb_buf_put_shown(out, opaque->name ? opaque->name : "");
    odb_buf_putc(out, ')');
}

/* depth: a hostile file may nest types without end. */
static void text_type(const Onnx__TypeProto *type, int depth, struct odb_buf *out)
{
    if (!type || depth > TEXT_DEPTH) {
        odb_buf_puts(out, type ? "..." : "");
        return;
    }
    switch (type->value_case) {
    case ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE:
        odb_buf_puts(out, text_dtype(type->tensor_type->elem_type));
        text_shape(type->tensor_type->shape, out);
        break;
    case ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE:
        odb_buf_printf(out, "sparse_tensor(%s", text_dtype(type->sparse_tensor_type->elem_type));
        text_shape(type->sparse_tensor_type->shape, out);
        odb_buf_putc(out, ')');
        break;
    case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE:
        odb_buf_puts(out, "seq(");
        text_type(type->sequence_type->elem_type, depth + 1, out);
        odb_buf_putc(out, ')');
        break;
    case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE:
        odb_buf_puts(out, "optional(");
        text_type(type->optional_type->elem_type, depth + 1, out);
        odb_buf_putc(out, ')');
        break;
    case ONNX__TYPE_PROTO__VALUE_MAP_TYPE:
        odb_buf_printf(out, "map(%s, ", text_dtype(type->map_type->key_type));
        text_type(type->map_type->value_type, depth + 1, out);
        odb_buf_putc(out, ')');
        break;
    case ONNX__TYPE_PROTO__VALUE_OPAQUE_TYPE:
        text_opaque(type->opaque_type, out);
        break;
    default:
        break;
    }
}

void odb_model__type_text(const Onnx__TypeProto *type, struct odb_buf *out)
{
    text_type(type, 0, out);
}

/* --- attributes ------------------------------------------------------------------------------- */

static void text_graph(const struct odb_graph *graph, int depth, struct odb_buf *out);

static const char *text_attr_type(enum odb_attr_type type)
{
    static const char *const names[] = {
        [ODB_ATTR_UNDEFINED] = "undefined",
        [ODB_ATTR_FLOAT] = "float",
        [ODB_ATTR_INT] = "int",
        [ODB_ATTR_STRING] = "string",
        [ODB_ATTR_TENSOR] = "tensor",
        [ODB_ATTR_GRAPH] = "graph",
        [ODB_ATTR_FLOATS] = "floats",
        [ODB_ATTR_INTS] = "ints",
        [ODB_ATTR_STRINGS] = "strings",
        [ODB_ATTR_TENSORS] = "tensors",
        [ODB_ATTR_GRAPHS] = "graphs",
        [ODB_ATTR_SPARSE_TENSOR] = "sparse_tensor",
        [ODB_ATTR_SPARSE_TENSORS] = "sparse_tensors",
        [ODB_ATTR_TYPE_PROTO] = "type_proto",
        [ODB_ATTR_TYPE_PROTOS] = "type_protos",
    };
    return (size_t)type < ODB_COUNT(names) && names[type] ? names[type] : "undefined";
}

static void text_body(const struct odb_graph *graph, int depth, struct odb_buf *out)
{
    if (depth != TEXT_ONE_LINE) {
        text_graph(graph, depth, out);
        return;
    }
    text_id(graph->name ? graph->name : "", out);
    odb_buf_printf(out, " {... %zu node%s}", graph->n_nodes, graph->n_nodes == 1 ? "" : "s");
}

/* Item i of what a list attribute holds; a single one is its own item 0. */
static void text_attr_item(const struct odb_attr *attr, size_t i, int depth, struct odb_buf *out)
{
    switch (attr->type) {
    case ODB_ATTR_INT:
        odb_buf_printf(out, "%lld", (long long)attr->i);
        break;
    case ODB_ATTR_FLOAT:
        text_float(attr->f, false, out);
        break;
    case ODB_ATTR_STRING:
        text_quoted(attr->s.data ? attr->s.data : "", attr->s.len, out);
        break;
    case ODB_ATTR_INTS:
        odb_buf_printf(out, "%lld", (long long)attr->ints[i]);
        break;
    case ODB_ATTR_FLOATS:
        text_float(attr->floats[i], false, out);
        break;
    case ODB_ATTR_STRINGS:
        text_quoted(attr->strings[i].data ? attr->strings[i].data : "", attr->strings[i].len, out);
        break;
    case ODB_ATTR_TENSOR:
    case ODB_ATTR_TENSORS:
    case ODB_ATTR_SPARSE_TENSOR:
    case ODB_ATTR_SPARSE_TENSORS:
        if (attr->tensors && attr->tensors[i])
            text_tensor(attr->tensors[i], out);
        break;
    case ODB_ATTR_GRAPH:
    case ODB_ATTR_GRAPHS:
        text_body(attr->graphs[i], depth, out);
        break;
    default:
        odb_buf_puts(out, attr->text ? attr->text : "");
        break;
    }
}

static bool text_attr_is_list(enum odb_attr_type type)
{
    return (type >= ODB_ATTR_FLOATS && type <= ODB_ATTR_GRAPHS) || type == ODB_ATTR_SPARSE_TENSORS;
}

static void text_attr_value(const struct odb_attr *attr, int depth, struct odb_buf *out)
{
    if (attr->ref_name && attr->ref_name[0]) {
        odb_buf_putc(out, '@');
        text_id(attr->ref_name, out);
        return;
    }
    if (!text_attr_is_list(attr->type)) {
        text_attr_item(attr, 0, depth, out);
        return;
    }
    odb_buf_putc(out, '[');
    for (size_t i = 0; i < attr->n; i++) {
        if (!text_list_item(i, attr->n, TEXT_SHOWN, TEXT_HEAD, out))
            break;
        text_attr_item(attr, i, depth, out);
    }
    odb_buf_putc(out, ']');
}

static void text_attrs(const struct odb_attrs *attrs, int depth, struct odb_buf *out)
{
    for (size_t i = 0; i < attrs->n; i++) {
        const struct odb_attr *attr = &attrs->items[i];
        odb_buf_puts(out, i ? ", " : "<");
        text_id(attr->name, out);
        odb_buf_printf(out, ": %s = ", text_attr_type(attr->type));
        text_attr_value(attr, depth, out);
    }
    if (attrs->n)
        odb_buf_putc(out, '>');
}

/* --- nodes and graphs ------------------------------------------------------------------------- */

static bool text_has_body(const struct odb_node *node)
{
    for (size_t i = 0; i < node->attrs.n; i++)
        if (node->attrs.items[i].graphs && node->attrs.items[i].n)
            return true;
    return false;
}

static void text_values(const struct odb_graph *graph, const int *list, int n, struct odb_buf *out)
{
    for (int i = 0; i < n; i++) {
        odb_buf_puts(out, i ? ", " : "");
        text_id(list[i] == ODB_NO_VALUE ? "" : graph->values[list[i]].name, out);
    }
}

static void text_node(const struct odb_graph *graph, const struct odb_node *node, int depth,
                      struct odb_buf *out)
{
    bool body = text_has_body(node);
    if (node->name && node->name[0]) {
        odb_buf_putc(out, '[');
        text_id(node->name, out);
        odb_buf_puts(out, "] ");
    }
    text_values(graph, node->out, node->n_out, out);
    odb_buf_puts(out, node->n_out ? " = " : "= ");
    if (node->domain && node->domain[0]) {
        odb_buf_put_shown(out, node->domain);
        odb_buf_putc(out, '.');
    }
    odb_buf_put_shown(out, node->op_type);
    if (node->overload && node->overload[0]) {
        odb_buf_putc(out, ':');
        odb_buf_put_shown(out, node->overload);
    }
    odb_buf_putc(out, ' ');
    if (!body && node->attrs.n) {
        text_attrs(&node->attrs, depth, out);
        odb_buf_putc(out, ' ');
    }
    odb_buf_putc(out, '(');
    text_values(graph, node->in, node->n_in, out);
    odb_buf_putc(out, ')');
    if (body) {
        odb_buf_putc(out, ' ');
        text_attrs(&node->attrs, depth, out);
    }
}

static bool text_is_weight(const struct odb_value *value)
{
    return value->init && value->producer == ODB_NO_NODE && !value->is_outer;
}

/* "float[1, N] x", with "= {…}" behind an initializer. */
static void text_value(const struct odb_value *value, struct odb_buf *out)
{
    bool weight = text_is_weight(value);
    if (weight)
        text_tensor_type(value->init, out);
    else if (value->type.known)
        odb_buf_puts(out, value->type.text);
    if (weight || value->type.known)
        odb_buf_putc(out, ' ');
    text_id(value->name, out);
    if (weight) {
        odb_buf_puts(out, " = ");
        text_data(value->init, out);
    }
}

static void text_signature(const struct odb_graph *graph, const int *list, size_t n,
                           struct odb_buf *out)
{
    odb_buf_putc(out, '(');
    for (size_t i = 0; i < n; i++) {
        const struct odb_value *value = &graph->values[list[i]];
        odb_buf_puts(out, i ? ", " : "");
        text_value(value, out);
    }
    odb_buf_putc(out, ')');
}

/* Outputs may be initializers too; their data stands elsewhere. */
static void text_outputs(const struct odb_graph *graph, struct odb_buf *out)
{
    odb_buf_putc(out, '(');
    for (size_t i = 0; i < graph->n_outputs; i++) {
        const struct odb_value *value = &graph->values[graph->outputs[i]];
        odb_buf_printf(out, "%s%s%s", i ? ", " : "", value->type.known ? value->type.text : "",
                       value->type.known ? " " : "");
        text_id(value->name, out);
    }
    odb_buf_putc(out, ')');
}

static void text_graph_values(const struct odb_graph *graph, int depth, struct odb_buf *out)
{
    const char *before = "<\n";
    for (int types = 0; types <= 1; types++) { /* initializers first, declared types after */
        for (size_t i = 0; i < graph->n_values; i++) {
            const struct odb_value *value = &graph->values[i];
            bool weight = text_is_weight(value);
            if (value->is_input || value->is_outer || (types ? weight : !weight) ||
                (types && (!value->type.known || value->is_output)))
                continue;
            odb_buf_puts(out, before);
            before = ",\n";
            text_indent(depth + 1, out);
            text_value(value, out);
        }
    }
    if (before[0] == ',') {
        odb_buf_putc(out, '\n');
        text_indent(depth, out);
        odb_buf_puts(out, ">\n");
        text_indent(depth, out);
    }
}

static void text_nodes(const struct odb_graph *graph, int depth, struct odb_buf *out)
{
    odb_buf_puts(out, "{\n");
    for (size_t i = 0; i < graph->n_nodes; i++) {
        text_indent(depth + 1, out);
        text_node(graph, &graph->nodes[i], depth + 1, out);
        odb_buf_putc(out, '\n');
    }
    text_indent(depth, out);
    odb_buf_putc(out, '}');
}

static void text_graph(const struct odb_graph *graph, int depth, struct odb_buf *out)
{
    text_id(graph->name ? graph->name : "", out);
    odb_buf_putc(out, ' ');
    text_signature(graph, graph->inputs, graph->n_inputs, out);
    odb_buf_puts(out, " => ");
    text_outputs(graph, out);
    odb_buf_putc(out, '\n');
    text_indent(depth, out);
    text_graph_values(graph, depth, out);
    text_nodes(graph, depth, out);
}

/* --- models ----------------------------------------------------------------------------------- */

static void text_opsets(Onnx__OperatorSetIdProto *const *opsets, size_t n, struct odb_buf *out)
{
    odb_buf_puts(out, "opset_import: [");
    for (size_t i = 0; i < n; i++) {
        const char *domain = opsets[i]->domain ? opsets[i]->domain : "";
        odb_buf_puts(out, i ? ", " : "");
        text_quoted(domain, strlen(domain), out);
        odb_buf_printf(out, " : %lld", (long long)opsets[i]->version);
    }
    odb_buf_putc(out, ']');
}

static void text_header_line(const char *key, const char *value, struct odb_buf *out)
{
    if (!value || !value[0])
        return;
    odb_buf_printf(out, ",\n    %s: ", key);
    text_quoted(value, strlen(value), out);
}

static void text_header(const struct odb_model *model, struct odb_buf *out)
{
    const Onnx__ModelProto *proto = model->priv->proto;
    odb_buf_printf(out, "<\n    ir_version: %lld,\n    ", (long long)model->ir_version);
    text_opsets(proto->opset_import, proto->n_opset_import, out);
    text_header_line("producer_name", model->producer_name, out);
    text_header_line("producer_version", model->producer_version, out);
    text_header_line("domain", model->domain, out);
    if (model->model_version)
        odb_buf_printf(out, ",\n    model_version: %lld", (long long)model->model_version);
    text_header_line("doc_string", model->doc, out);
    for (size_t i = 0; i < model->n_metadata; i++) {
        odb_buf_puts(out, i ? ", " : ",\n    metadata_props: [");
        text_quoted(model->metadata[i][0], strlen(model->metadata[i][0]), out);
        odb_buf_puts(out, ": ");
        text_quoted(model->metadata[i][1], strlen(model->metadata[i][1]), out);
    }
    odb_buf_puts(out, model->n_metadata ? "]\n>\n" : "\n>\n");
}

static void text_names(const char *const *names, size_t n, struct odb_buf *out)
{
    odb_buf_putc(out, '(');
    for (size_t i = 0; i < n; i++) {
        odb_buf_puts(out, i ? ", " : "");
        text_id(names[i], out);
    }
    odb_buf_putc(out, ')');
}

static void text_function(const struct odb_function *f, const Onnx__FunctionProto *proto,
                          struct odb_buf *out)
{
    odb_buf_puts(out, "<\n    domain: ");
    text_quoted(f->domain, strlen(f->domain), out);
    text_header_line("overload", f->overload, out);
    odb_buf_puts(out, ",\n    ");
    text_opsets(proto->opset_import, proto->n_opset_import, out);
    odb_buf_puts(out, "\n>\n");
    text_id(f->name, out);
    odb_buf_putc(out, ' ');
    for (size_t i = 0; i < f->n_attr_names; i++) {
        odb_buf_puts(out, i ? ", " : "<");
        text_id(f->attr_names[i], out);
    }
    if (f->n_attr_names && !f->defaults.n)
        odb_buf_puts(out, "> ");
    if (f->defaults.n) { /* the two lists are one in the syntax */
        struct odb_buf defaults = ODB_BUF_INIT;
        text_attrs(&f->defaults, TEXT_ONE_LINE, &defaults);
        odb_buf_printf(out, "%s%s ", f->n_attr_names ? ", " : "<", odb_buf_text(&defaults) + 1);
        odb_buf_dispose(&defaults);
    }
    text_names(f->inputs, f->n_inputs, out);
    odb_buf_puts(out, " => ");
    text_names(f->outputs, f->n_outputs, out);
    odb_buf_putc(out, '\n');
    text_nodes(f->graph, 0, out);
    odb_buf_putc(out, '\n');
}

void odb_node_text(const struct odb_graph *graph, const struct odb_node *node, struct odb_buf *out)
{
    text_node(graph, node, 0, out);
    odb_buf_putc(out, '\n');
}

void odb_model_text(const struct odb_model *model, struct odb_buf *out)
{
    text_header(model, out);
    text_graph(model->graph, 0, out);
    odb_buf_putc(out, '\n');
    for (size_t i = 0; i < model->n_functions; i++)
        text_function(&model->functions[i], model->priv->proto->functions[i], out);
}

void odb_attr_text(const struct odb_attr *attr, struct odb_buf *out)
{
    text_attr_value(attr, TEXT_ONE_LINE, out);
}

/* --- nodes in a sentence --------------------------------------------------------------------- */

void odb_node_put(const struct odb_graph *graph, int index, struct odb_buf *out)
{
    const struct odb_node *node = &graph->nodes[index];
    odb_buf_printf(out, "#%d ", index);
    if (*node->name) {
        odb_buf_put_shown(out, node->name);
        odb_buf_putc(out, ' ');
    }
    odb_buf_putc(out, '(');
    if (*node->domain) {
        odb_buf_put_shown(out, node->domain);
        odb_buf_puts(out, "::");
    }
    odb_buf_put_shown(out, node->op_type);
    odb_buf_putc(out, ')');
}
