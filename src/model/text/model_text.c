/* SPDX-License-Identifier: MIT
 *
 * ONNX's textual syntax, as docs/Syntax.md of the standard defines it: what a person reads, greps
 * and pastes into a bug report, and what ONNX's own parser reads back (text_data.c tells how these
 * two differ). Where the syntax has no words for what a model holds, comments at the top say so.
 */
#include "model/text/model_text.h"

#include "model/text/text_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Lists longer than SHOWN show their first HEAD items. */
enum { TEXT_SHOWN = 16, TEXT_HEAD = 8 };

/* A graph attribute on one line, for tables. */
#define TEXT_ONE_LINE (-1)

static void text_indent(int depth, struct text *to)
{
    for (int i = 0; i < depth; i++)
        odb_buf_puts(to->out, "    ");
}

/* --- attributes ------------------------------------------------------------------------------- */

static void text_graph(const struct odb_graph *graph, int depth, struct text *to);

const char *odb_attr_type_text(enum odb_attr_type type)
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

static void text_body(const struct odb_graph *graph, int depth, struct text *to)
{
    if (depth != TEXT_ONE_LINE) {
        text_graph(graph, depth, to);
        return;
    }
    odb_model__text_id(graph->name ? graph->name : "", to);
    odb_buf_printf(to->out, " {... %zu node%s}", graph->n_nodes, graph->n_nodes == 1 ? "" : "s");
}

/* Item i of what a list attribute holds; a single one is its own item 0. */
static void text_attr_item(const struct odb_attr *attr, size_t i, int depth, struct text *to)
{
    switch (attr->type) {
    case ODB_ATTR_INT:
        odb_buf_printf(to->out, "%lld", (long long)attr->i);
        break;
    case ODB_ATTR_FLOAT:
        odb_model__text_real(attr->f, to);
        break;
    case ODB_ATTR_STRING:
        odb_model__text_quoted(attr->s.data ? attr->s.data : "", attr->s.len, to);
        break;
    case ODB_ATTR_INTS:
        odb_buf_printf(to->out, "%lld", (long long)attr->ints[i]);
        break;
    case ODB_ATTR_FLOATS:
        odb_model__text_real(attr->floats[i], to);
        break;
    case ODB_ATTR_STRINGS:
        odb_model__text_quoted(attr->strings[i].data ? attr->strings[i].data : "",
                               attr->strings[i].len, to);
        break;
    case ODB_ATTR_TENSOR:
    case ODB_ATTR_TENSORS:
    case ODB_ATTR_SPARSE_TENSOR:
    case ODB_ATTR_SPARSE_TENSORS:
        if (attr->tensors && attr->tensors[i])
            odb_model__text_tensor(attr->tensors[i], to);
        break;
    case ODB_ATTR_GRAPH:
    case ODB_ATTR_GRAPHS:
        text_body(attr->graphs[i], depth, to);
        break;
    default:
        odb_buf_puts(to->out, attr->text ? attr->text : "");
        break;
    }
}

static bool text_attr_is_list(enum odb_attr_type type)
{
    return (type >= ODB_ATTR_FLOATS && type <= ODB_ATTR_GRAPHS) || type == ODB_ATTR_SPARSE_TENSORS;
}

static void text_attr_value(const struct odb_attr *attr, int depth, struct text *to)
{
    if (attr->ref_name && attr->ref_name[0]) {
        odb_buf_putc(to->out, '@');
        odb_model__text_id(attr->ref_name, to);
        return;
    }
    if (!text_attr_is_list(attr->type)) {
        text_attr_item(attr, 0, depth, to);
        return;
    }
    to->lost[TEXT_LOST_LIST] += attr->n && (attr->tensors || attr->graphs);
    odb_buf_putc(to->out, '[');
    for (size_t i = 0; i < attr->n; i++) {
        if (!odb_model__text_item(i, attr->n, TEXT_SHOWN, TEXT_HEAD, to))
            break;
        text_attr_item(attr, i, depth, to);
    }
    odb_buf_putc(to->out, ']');
}

static void text_attrs(const struct odb_attrs *attrs, int depth, struct text *to)
{
    for (size_t i = 0; i < attrs->n; i++) {
        const struct odb_attr *attr = &attrs->items[i];
        odb_buf_puts(to->out, i ? ", " : "<");
        odb_model__text_bare(attr->name, to);
        odb_buf_printf(to->out, ": %s = ", odb_attr_type_text(attr->type));
        text_attr_value(attr, depth, to);
    }
    if (attrs->n)
        odb_buf_putc(to->out, '>');
}

/* --- nodes and graphs ------------------------------------------------------------------------- */

static bool text_has_body(const struct odb_node *node)
{
    for (size_t i = 0; i < node->attrs.n; i++)
        if (node->attrs.items[i].graphs && node->attrs.items[i].n)
            return true;
    return false;
}

static void text_values(const struct odb_graph *graph, const int *list, int n, struct text *to)
{
    for (int i = 0; i < n; i++) {
        odb_buf_puts(to->out, i ? ", " : "");
        odb_model__text_id(list[i] == ODB_NO_VALUE ? "" : graph->values[list[i]].name, to);
    }
}

/* "Conv", "com.microsoft.Gelu", "local.Block:overload". */
static void text_operator(const struct odb_node *node, struct text *to)
{
    char *domain = odb_xstrdup(node->domain ? node->domain : "");
    for (char *rest = domain, *part; *domain && (part = strsep(&rest, "."));) {
        odb_model__text_bare(part, to);
        odb_buf_putc(to->out, '.');
    }
    free(domain);
    odb_model__text_bare(node->op_type, to);
    if (node->overload && node->overload[0]) {
        odb_buf_putc(to->out, ':');
        odb_model__text_bare(node->overload, to);
    }
}

static void text_node(const struct odb_graph *graph, const struct odb_node *node, int depth,
                      struct text *to)
{
    bool body = text_has_body(node);
    to->lost[TEXT_LOST_DOC] += node->doc && node->doc[0];
    if (node->name && node->name[0]) {
        odb_buf_putc(to->out, '[');
        odb_model__text_id(node->name, to);
        odb_buf_puts(to->out, "] ");
    }
    text_values(graph, node->out, node->n_out, to);
    odb_buf_puts(to->out, node->n_out ? " = " : "= ");
    text_operator(node, to);
    odb_buf_putc(to->out, ' ');
    if (!body && node->attrs.n) {
        text_attrs(&node->attrs, depth, to);
        odb_buf_putc(to->out, ' ');
    }
    odb_buf_putc(to->out, '(');
    text_values(graph, node->in, node->n_in, to);
    odb_buf_putc(to->out, ')');
    if (body) {
        odb_buf_putc(to->out, ' ');
        text_attrs(&node->attrs, depth, to);
    }
}

static bool text_is_weight(const struct odb_value *value)
{
    return value->init && value->producer == ODB_NO_NODE && !value->is_outer;
}

/* "float[1, N] x". */
static void text_declared(const struct odb_value *value, struct text *to)
{
    bool known = value->type.known;
    if (known && to->exact && strstr(value->type.text, "undefined")) {
        to->lost[TEXT_LOST_TYPE]++;
        known = false;
    }
    odb_buf_printf(to->out, "%s%s", known ? value->type.text : "", known ? " " : "");
    odb_model__text_id(value->name, to);
}

/* The same with "= {…}" behind an initializer. */
static void text_value(const struct odb_graph *graph, const struct odb_value *value,
                       struct text *to)
{
    if (!text_is_weight(value)) {
        text_declared(value, to);
        return;
    }
    bool is_main = to->model && graph == to->model->graph;
    to->lost[TEXT_LOST_DENSE] += value->init_is_sparse;
    odb_model__text_tensor_type(value->init, to);
    odb_buf_putc(to->out, ' ');
    odb_model__text_id(value->name, to);
    odb_buf_puts(to->out, " = ");
    odb_model__text_data(value->init, is_main ? to->model->priv->inits[value->index] : NULL, to);
}

static void text_signature(const struct odb_graph *graph, const int *list, size_t n,
                           struct text *to)
{
    odb_buf_putc(to->out, '(');
    for (size_t i = 0; i < n; i++) {
        const struct odb_value *value = &graph->values[list[i]];
        odb_buf_puts(to->out, i ? ", " : "");
        text_value(graph, value, to);
    }
    odb_buf_putc(to->out, ')');
}

/* Outputs may be initializers too; their data stands elsewhere. */
static void text_outputs(const struct odb_graph *graph, const int *list, size_t n, struct text *to)
{
    odb_buf_putc(to->out, '(');
    for (size_t i = 0; i < n; i++) {
        const struct odb_value *value = &graph->values[list[i]];
        odb_buf_puts(to->out, i ? ", " : "");
        text_declared(value, to);
    }
    odb_buf_putc(to->out, ')');
}

/* Whether the value stands in the graph's signature already, or is none of the part's. */
static bool text_is_port(const struct odb_graph *graph, const struct odb_value *value, bool output,
                         const struct text *to)
{
    if (to->part && graph == to->model->graph) {
        bool made = value->producer != ODB_NO_NODE && to->part->nodes[value->producer];
        return output ? !made || to->part->given[value->index] : !to->part->reads[value->index];
    }
    return value->is_input || (output && value->is_output);
}

static void text_graph_values(const struct odb_graph *graph, int depth, struct text *to)
{
    const char *before = "<\n";
    for (int types = 0; types <= 1; types++) { /* initializers first, declared types after */
        for (size_t i = 0; i < graph->n_values; i++) {
            const struct odb_value *value = &graph->values[i];
            bool weight = text_is_weight(value);
            if (value->is_outer || (types ? weight : !weight) || (types && !value->type.known) ||
                text_is_port(graph, value, types, to))
                continue;
            odb_buf_puts(to->out, before);
            before = ",\n";
            text_indent(depth + 1, to);
            text_value(graph, value, to);
        }
    }
    if (before[0] == ',') {
        odb_buf_putc(to->out, '\n');
        text_indent(depth, to);
        odb_buf_puts(to->out, ">\n");
        text_indent(depth, to);
    }
}

static void text_nodes(const struct odb_graph *graph, int depth, struct text *to)
{
    odb_buf_puts(to->out, "{\n");
    for (size_t i = 0; i < graph->n_nodes; i++) {
        if (to->part && graph == to->model->graph && !to->part->nodes[i])
            continue;
        text_indent(depth + 1, to);
        text_node(graph, &graph->nodes[i], depth + 1, to);
        odb_buf_putc(to->out, '\n');
    }
    text_indent(depth, to);
    odb_buf_putc(to->out, '}');
}

static void text_graph(const struct odb_graph *graph, int depth, struct text *to)
{
    if (graph->parent)
        odb_model__text_body_id(graph->name ? graph->name : "", to);
    else
        odb_model__text_id(graph->name ? graph->name : "", to);
    bool part = to->part && graph == to->model->graph;
    odb_buf_putc(to->out, ' ');
    if (part)
        text_signature(graph, to->part->inputs, to->part->n_inputs, to);
    else
        text_signature(graph, graph->inputs, graph->n_inputs, to);
    odb_buf_puts(to->out, " => ");
    if (part)
        text_outputs(graph, to->part->outputs, to->part->n_outputs, to);
    else
        text_outputs(graph, graph->outputs, graph->n_outputs, to);
    odb_buf_putc(to->out, '\n');
    text_indent(depth, to);
    text_graph_values(graph, depth, to);
    text_nodes(graph, depth, to);
}

/* --- models ----------------------------------------------------------------------------------- */

static void text_opsets(Onnx__OperatorSetIdProto *const *opsets, size_t n, struct text *to)
{
    odb_buf_puts(to->out, "opset_import: [");
    for (size_t i = 0; i < n; i++) {
        const char *domain = opsets[i]->domain ? opsets[i]->domain : "";
        odb_buf_puts(to->out, i ? ", " : "");
        odb_model__text_quoted(domain, strlen(domain), to);
        odb_buf_printf(to->out, " : %lld", (long long)opsets[i]->version);
    }
    odb_buf_putc(to->out, ']');
}

static void text_header_line(const char *key, const char *value, struct text *to)
{
    if (!value || !value[0])
        return;
    odb_buf_printf(to->out, ",\n    %s: ", key);
    odb_model__text_quoted(value, strlen(value), to);
}

static void text_header(const struct odb_model *model, struct text *to)
{
    const Onnx__ModelProto *proto = model->priv->proto;
    odb_buf_printf(to->out, "<\n    ir_version: %lld,\n    ", (long long)model->ir_version);
    text_opsets(proto->opset_import, proto->n_opset_import, to);
    text_header_line("producer_name", model->producer_name, to);
    text_header_line("producer_version", model->producer_version, to);
    text_header_line("domain", model->domain, to);
    if (model->model_version)
        odb_buf_printf(to->out, ",\n    model_version: %lld", (long long)model->model_version);
    text_header_line("doc_string", model->doc, to);
    for (size_t i = 0; i < model->metadata.n; i++) {
        const char *key = model->metadata.items[i][0], *value = model->metadata.items[i][1];
        odb_buf_puts(to->out, i ? ", " : ",\n    metadata_props: [");
        odb_model__text_quoted(key, strlen(key), to);
        odb_buf_puts(to->out, ": ");
        odb_model__text_quoted(value, strlen(value), to);
    }
    odb_buf_puts(to->out, model->metadata.n ? "]\n>\n" : "\n>\n");
}

static void text_names(const char *const *names, size_t n, struct text *to)
{
    odb_buf_putc(to->out, '(');
    for (size_t i = 0; i < n; i++) {
        odb_buf_puts(to->out, i ? ", " : "");
        odb_model__text_id(names[i], to);
    }
    odb_buf_putc(to->out, ')');
}

/* "<alpha, beta: float = 1.0> ": names and those with defaults are one list in the syntax. */
static void text_parameters(const struct odb_function *f, struct text *to)
{
    struct odb_buf defaults = ODB_BUF_INIT, *out = to->out;
    for (size_t i = 0; i < f->n_attr_names; i++) {
        odb_buf_puts(to->out, i ? ", " : "<");
        odb_model__text_id(f->attr_names[i], to);
    }
    if (f->n_attr_names && !f->defaults.n)
        odb_buf_puts(to->out, "> ");
    if (!f->defaults.n)
        return;
    to->out = &defaults;
    text_attrs(&f->defaults, to->exact ? 0 : TEXT_ONE_LINE, to);
    to->out = out;
    odb_buf_printf(out, "%s%s ", f->n_attr_names ? ", " : "<", odb_buf_text(&defaults) + 1);
    odb_buf_dispose(&defaults);
}

/* Types that a function declares, of inputs and outputs too. */
static void text_function_types(const struct odb_graph *graph, struct text *to)
{
    const char *before = "<\n    ";
    for (size_t i = 0; i < graph->n_values; i++) {
        if (!graph->values[i].type.known)
            continue;
        odb_buf_puts(to->out, before);
        before = ",\n    ";
        text_declared(&graph->values[i], to);
    }
    odb_buf_puts(to->out, before[0] == ',' ? "\n>\n" : "");
}

static void text_function(const struct odb_function *f, const Onnx__FunctionProto *proto,
                          struct text *to)
{
    odb_buf_puts(to->out, "<\n    domain: ");
    odb_model__text_quoted(f->domain, strlen(f->domain), to);
    text_header_line("overload", f->overload, to);
    odb_buf_puts(to->out, ",\n    ");
    text_opsets(proto->opset_import, proto->n_opset_import, to);
    text_header_line("doc_string", proto->doc_string, to);
    odb_buf_puts(to->out, "\n>\n");
    odb_model__text_id(f->name, to);
    odb_buf_putc(to->out, ' ');
    text_parameters(f, to);
    text_names(f->inputs, f->n_inputs, to);
    odb_buf_puts(to->out, " => ");
    text_names(f->outputs, f->n_outputs, to);
    odb_buf_putc(to->out, '\n');
    text_function_types(f->graph, to);
    text_nodes(f->graph, 0, to);
    odb_buf_putc(to->out, '\n');
}

static void text_model(const struct odb_model *model, struct text *to)
{
    text_header(model, to);
    text_graph(model->graph, 0, to);
    odb_buf_putc(to->out, '\n');
    for (size_t i = 0; i < model->n_functions; i++)
        if (!to->part || to->part->functions[i])
            text_function(&model->functions[i], model->priv->proto->functions[i], to);
}

/* --- a part of the main graph ----------------------------------------------------------------- */

/* Functions that these nodes call (NULL: all of the graph's), and those that their bodies call. */
static void part_mark_functions(const struct odb_model *model, const struct odb_graph *graph,
                                const bool *nodes, bool *functions)
{
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        if (nodes && !nodes[n])
            continue;
        for (size_t a = 0; a < node->attrs.n; a++)
            for (size_t g = 0; node->attrs.items[a].graphs && g < node->attrs.items[a].n; g++)
                part_mark_functions(model, node->attrs.items[a].graphs[g], NULL, functions);
        size_t f = node->function ? (size_t)(node->function - model->functions) : 0;
        if (node->function && !functions[f]) {
            functions[f] = true;
            part_mark_functions(model, node->function->graph, NULL, functions);
        }
    }
}

/* What goes into the nodes, what comes out of them and is read elsewhere or not at all, and which
 * weights they read. */
static void part_init(struct text_part *part, const struct odb_model *model, const bool *nodes)
{
    const struct odb_graph *graph = model->graph;
    *part = (struct text_part){.nodes = nodes,
                               .inputs = odb_new_n(int, graph->n_values + 1),
                               .outputs = odb_new_n(int, graph->n_values + 1),
                               .given = odb_new_n(bool, graph->n_values + 1),
                               .reads = odb_new_n(bool, graph->n_values + 1),
                               .functions = odb_new_n(bool, model->n_functions + 1)};
    part->n_inputs = odb_graph_segment_inputs(graph, nodes, part->inputs);
    for (size_t n = 0; n < graph->n_nodes; n++)
        for (size_t i = 0; nodes[n] && i < odb_node_n_reads(&graph->nodes[n]); i++)
            if (odb_node_reads(&graph->nodes[n], i) >= 0)
                part->reads[odb_node_reads(&graph->nodes[n], i)] = true;
    for (size_t v = 0; v < graph->n_values; v++) {
        const struct odb_value *value = &graph->values[v];
        bool inside = false, outside = value->is_output;
        for (size_t i = 0; i < value->n_consumers; i++)
            *(nodes[value->consumers[i]] ? &inside : &outside) = true;
        if (value->producer == ODB_NO_NODE || !nodes[value->producer] || (inside && !outside))
            continue;
        part->outputs[part->n_outputs++] = (int)v;
        part->given[v] = true;
    }
    part_mark_functions(model, graph, nodes, part->functions);
}

static void part_dispose(struct text_part *part)
{
    free(part->inputs);
    free(part->outputs);
    free(part->given);
    free(part->reads);
    free(part->functions);
}

/* --- two readers ------------------------------------------------------------------------------ */

void odb_node_text(const struct odb_graph *graph, const struct odb_node *node, struct odb_buf *out)
{
    text_node(graph, node, 0, &(struct text){.out = out});
    odb_buf_putc(out, '\n');
}

void odb_model_text(const struct odb_model *model, struct odb_buf *out)
{
    text_model(model, &(struct text){.out = out});
}

void odb_attr_text(const struct odb_attr *attr, struct odb_buf *out)
{
    text_attr_value(attr, TEXT_ONE_LINE, &(struct text){.out = out});
}

/* What was said before the text, in comments, which the parser skips. */
static void text_put(const struct text *to, struct odb_buf *out)
{
    static const char *const words[TEXT_LOST_COUNT] = {
        [TEXT_LOST_DENSE] = "sparse weights, which are written dense",
        [TEXT_LOST_SPARSE] = "sparse tensors in attributes, which have no syntax",
        [TEXT_LOST_LIST] = "lists of tensors, graphs or types, which ONNX's parser drops",
        [TEXT_LOST_NAME] = "names that are no identifiers where ONNX's parser takes no other",
        [TEXT_LOST_GRAPH_NAME] = "bodies with another name, since theirs cannot be read back",
        [TEXT_LOST_TYPE] = "declared types without an element type, left out",
        [TEXT_LOST_DATA] = "tensors whose values are not at hand, left empty",
        [TEXT_LOST_DOC] = "doc strings of nodes, left out",
        [TEXT_LOST_ACTS] = "texts with control characters or broken UTF-8, which are escapes here",
    };
    for (int i = 0; i < TEXT_LOST_COUNT; i++)
        if (to->lost[i])
            odb_buf_printf(out, "# %s: %zu\n", words[i], to->lost[i]);
    odb_buf_add(out, to->out->data, to->out->len);
}

/* Elements of the weights that are written out, about: those of bodies are not counted. */
static size_t text_total(const struct odb_model *model, size_t elements)
{
    const struct odb_graph *graph = model->graph;
    size_t n = 0;
    for (size_t v = 0; v < graph->n_values; v++)
        if (graph->values[v].init && graph->values[v].init->count <= elements)
            n += graph->values[v].init->count;
    return n;
}

enum odb_status odb_model_text_exact(const struct odb_model *model, const bool *nodes,
                                     size_t elements, const struct odb_progress *progress,
                                     struct odb_buf *out, struct odb_error *err)
{
    struct odb_buf text = ODB_BUF_INIT;
    struct text to = {.out = &text,
                      .model = model,
                      .exact = true,
                      .elements = elements,
                      .progress = progress,
                      .total = text_total(model, elements)};
    struct text_part part = {0};
    if (nodes) {
        part_init(&part, model, nodes);
        to.part = &part;
    }
    text_model(model, &to);
    if (!to.stopped)
        text_put(&to, out);
    part_dispose(&part);
    odb_buf_dispose(&text);
    return to.stopped ? odb_fail(err, ODB_CANCELLED, "cancelled") : ODB_OK;
}

/* --- nodes in a sentence --------------------------------------------------------------------- */
