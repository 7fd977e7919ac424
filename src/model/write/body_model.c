/* SPDX-License-Identifier: MIT
 *
 * A body becomes a main graph as it stands: what it captured turns into inputs, references to a
 * function's attributes into what its caller gave, and nothing is copied that need not be. Nodes
 * keep their order, so that the index of a node is the same here and there.
 */
#include "model/write/body_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/write/pack.h"
#include "model/read/load.h"
#include "model/write/external.h"
#include "model/write/write.h"

/* --- which bodies there are ------------------------------------------------------------------- */

static const struct body_row {
    const char *op_type, *attr;
    const char *suffix; /* in a path */
} body_rows[] = {
    {"If", "then_branch", ".then"}, {"If", "else_branch", ".else"}, {"Loop", "body", ""},
    {"Scan", "body", ""},           {"SequenceMap", "body", ""},
};

static const struct body_row *body_row(const struct odb_node *node, const char *attr)
{
    for (size_t i = 0; i < ODB_COUNT(body_rows) && !*node->domain; i++)
        if (!strcmp(node->op_type, body_rows[i].op_type) && !strcmp(attr, body_rows[i].attr))
            return &body_rows[i];
    return NULL;
}

bool odb_body_find(const struct odb_node *node, const char *attr, struct odb_body *out)
{
    *out = (struct odb_body){.attr = attr};
    if (!attr) {
        out->graph = node->function ? node->function->graph : NULL;
        return out->graph != NULL;
    }
    const struct odb_attr *a = body_row(node, attr) ? odb_attrs_find(&node->attrs, attr) : NULL;
    if (a && a->type == ODB_ATTR_GRAPH && a->n)
        out->graph = a->graphs[0];
    return out->graph != NULL;
}

bool odb_body_at(const struct odb_node *node, size_t i, struct odb_body *out)
{
    for (size_t k = 0; k < ODB_COUNT(body_rows); k++)
        if (!strcmp(node->op_type, body_rows[k].op_type) &&
            odb_body_find(node, body_rows[k].attr, out) && !i--)
            return true;
    return odb_body_find(node, NULL, out) && !i;
}

bool odb_node_has_body(const struct odb_node *node)
{
    struct odb_body body;
    bool graphs = false;
    for (size_t a = 0; a < node->attrs.n && !graphs; a++)
        graphs = node->attrs.items[a].type == ODB_ATTR_GRAPH;
    return (graphs || node->function) && odb_body_at(node, 0, &body);
}

/* --- paths ------------------------------------------------------------------------------------ */

void odb_body_put_step(const char *label, const struct odb_body *body, int64_t turn,
                       struct odb_buf *out)
{
    odb_buf_puts(out, label);
    if (turn != ODB_ANY_TURN)
        odb_buf_printf(out, "[%lld]", (long long)turn);
    for (size_t i = 0; i < ODB_COUNT(body_rows) && body->attr; i++)
        if (!strcmp(body->attr, body_rows[i].attr)) {
            odb_buf_puts(out, body_rows[i].suffix);
            return;
        }
}

/* "[3]" at the beginning of text; returns its length, 0 where there is none. */
static size_t body_turn(const char *text, int64_t *turn)
{
    char *end;
    if (text[0] != '[' || text[1] < '0' || text[1] > '9')
        return 0;
    *turn = strtoll(text + 1, &end, 10);
    return *end == ']' ? (size_t)(end + 1 - text) : 0;
}

/* What follows the node's label: turn, branch, slash. Returns what stands behind, or NULL. */
static const char *body_step_rest(const struct odb_node *node, const char *text,
                                  struct odb_body_step *step)
{
    step->node = node->index;
    step->turn = ODB_ANY_TURN;
    text += body_turn(text, &step->turn);
    for (size_t i = 0; i < ODB_COUNT(body_rows); i++) {
        const char *suffix = body_rows[i].suffix;
        size_t len = strlen(suffix);
        if (!strncmp(text, suffix, len) && text[len] == '/' &&
            odb_body_find(node, body_rows[i].attr, &step->body))
            return text + len + 1;
    }
    return text[0] == '/' && odb_body_find(node, NULL, &step->body) ? text + 1 : NULL;
}

/* The longest label counts: names may hold slashes. */
static const char *body_next_step(const struct odb_graph *graph, const int *index, const char *text,
                                  struct odb_body_step *out)
{
    const char *rest = NULL;
    size_t longest = 0;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        char number[24];
        snprintf(number, sizeof number, "#%d", index ? index[n] : node->index);
        const char *const labels[] = {node->name, number};
        for (size_t l = 0; l < ODB_COUNT(labels); l++) {
            struct odb_body_step step;
            size_t len = strlen(labels[l]);
            if (len <= longest || (!l && !node->name_is_unique) ||
                strncmp(text, labels[l], len) != 0)
                continue;
            const char *behind = body_step_rest(node, text + len, &step);
            if (!behind)
                continue;
            longest = len;
            rest = behind;
            *out = step;
        }
    }
    return rest;
}

bool odb_body_path_parse(const struct odb_graph *graph, const int *index, const char *text,
                         struct odb_body_path *out)
{
    *out = (struct odb_body_path){.last = text};
    for (;;) {
        struct odb_body_step step;
        const char *rest = body_next_step(graph, out->n ? NULL : index, out->last, &step);
        if (!rest)
            return true;
        if (out->n == ODB_BODY_DEPTH)
            return false;
        out->steps[out->n++] = step;
        out->last = rest;
        graph = step.body.graph;
    }
}

enum odb_status odb_body_find_node(const struct odb_graph *graph, const char *text,
                                   struct odb_body_path *path, int *node, struct odb_error *err)
{
    *path = (struct odb_body_path){.last = text};
    if (odb_graph_find_node(graph, text, node, NULL) == ODB_OK)
        return ODB_OK;
    if (!odb_body_path_parse(graph, NULL, text, path) || !path->n)
        return odb_graph_find_node(graph, text, node, err);
    enum odb_status status =
        odb_graph_find_node(path->steps[path->n - 1].body.graph, path->last, node, err);
    if (status != ODB_OK && strchr(path->last, '/'))
        odb_error_remedy(err, "of an If the path names the branch: NAME.then/ or NAME.else/");
    return status;
}

const char *odb_model_body_way(const struct odb_model *model)
{
    for (size_t i = 0; i < model->metadata.n; i++)
        if (!strcmp(model->metadata.items[i][0], ODB_META_BODY))
            return model->metadata.items[i][1];
    return NULL;
}

void odb_body_put_way(const char *way, struct odb_buf *out)
{
    for (bool first = true; *way; first = false) {
        size_t line = strcspn(way, "\n"), label = strcspn(way, "\t");
        char *step = odb_xstrndup(way, ODB_MIN(label, line));
        odb_buf_puts(out, first ? "" : "/");
        odb_buf_put_shown(out, step);
        free(step);
        way += line + (way[line] == '\n');
    }
}

/* What follows a step in text, whatever turns the two name: behind the "/", or NULL. */
static const char *body_below(const char *text, const char *step, size_t len, int64_t *turn,
                              bool *same)
{
    const char *end = step + len;
    for (;;) {
        int64_t ours = ODB_ANY_TURN, theirs = ODB_ANY_TURN;
        text += body_turn(text, &ours);
        step += body_turn(step, &theirs);
        if (theirs != ODB_ANY_TURN)
            *turn = theirs;
        if (ours != ODB_ANY_TURN && theirs != ODB_ANY_TURN && ours != theirs)
            *same = false;
        if (step >= end)
            return *text == '/' ? text + 1 : NULL;
        if (*text++ != *step++)
            return NULL;
    }
}

const char *odb_body_path_below(const char *text, const char *way, int64_t *turn, bool *same)
{
    *same = true;
    *turn = ODB_ANY_TURN;
    while (text && *way) {
        size_t line = strcspn(way, "\n"), label = strcspn(way, "\t");
        bool by_label = true, by_index = true;
        const char *rest = body_below(text, way, ODB_MIN(label, line), turn, &by_label);
        const char *numbered =
            label < line ? body_below(text, way + label + 1, line - label - 1, turn, &by_index)
                         : NULL;
        *same = *same && (rest ? by_label : by_index);
        text = rest ? rest : numbered;
        way += line + (way[line] == '\n');
    }
    return text;
}

/* --- copying what must change ----------------------------------------------------------------- */

struct body_cut {
    const struct odb_model *model;
    const struct odb_node *node;
    const Onnx__NodeProto *call;         /* its message */
    const Onnx__FunctionProto *function; /* NULL: the body is an attribute */
    struct model_arena *arena;           /* owned */
    Onnx__GraphProto to;
    Onnx__ModelProto out;
};

static const Onnx__AttributeProto *body_find_attr(Onnx__AttributeProto *const *attrs, size_t n,
                                                  const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (attrs[i]->name && !strcmp(attrs[i]->name, name))
            return attrs[i];
    return NULL;
}

/* What a reference to an attribute of the function stands for; NULL: nothing was given. */
static const Onnx__AttributeProto *body_given(const struct body_cut *cut, const char *name)
{
    const Onnx__AttributeProto *given =
        body_find_attr(cut->call->attribute, cut->call->n_attribute, name);
    return given ? given
                 : body_find_attr(cut->function->attribute_proto, cut->function->n_attribute_proto,
                                  name);
}

/* A formal input that the call omits. */
static bool body_is_omitted(const struct body_cut *cut, const char *name)
{
    for (size_t i = 0; i < cut->function->n_input; i++)
        if (!strcmp(cut->function->input[i], name))
            return i >= cut->call->n_input || !*cut->call->input[i];
    return false;
}

static Onnx__NodeProto **body_nodes(struct body_cut *cut, Onnx__NodeProto *const *nodes, size_t n);

static Onnx__AttributeProto *body_attr(struct body_cut *cut, const Onnx__AttributeProto *attr)
{
    bool refers = attr->ref_attr_name && *attr->ref_attr_name;
    const Onnx__AttributeProto *given = refers ? body_given(cut, attr->ref_attr_name) : attr;
    if (!given)
        return NULL;
    Onnx__AttributeProto *copy = arena_new(cut->arena, Onnx__AttributeProto);
    *copy = *given;
    copy->name = attr->name;
    if (given->g && !refers) {
        copy->g = arena_new(cut->arena, Onnx__GraphProto);
        *copy->g = *given->g;
        copy->g->node = body_nodes(cut, given->g->node, given->g->n_node);
    }
    return copy;
}

/* Nodes of a function as its call has them, those in their bodies included. */
static Onnx__NodeProto **body_nodes(struct body_cut *cut, Onnx__NodeProto *const *nodes, size_t n)
{
    Onnx__NodeProto **list = arena_new_n(cut->arena, Onnx__NodeProto *, n);
    for (size_t i = 0; i < n; i++) {
        Onnx__NodeProto *copy = list[i] = arena_new(cut->arena, Onnx__NodeProto);
        *copy = *nodes[i];
        copy->n_attribute = 0;
        copy->attribute = arena_new_n(cut->arena, Onnx__AttributeProto *, nodes[i]->n_attribute);
        for (size_t a = 0; a < nodes[i]->n_attribute; a++) {
            Onnx__AttributeProto *attr = body_attr(cut, nodes[i]->attribute[a]);
            if (attr)
                copy->attribute[copy->n_attribute++] = attr;
        }
        copy->input = arena_new_n(cut->arena, char *, copy->n_input);
        for (size_t k = 0; k < copy->n_input; k++)
            copy->input[k] = body_is_omitted(cut, nodes[i]->input[k]) ? (char *)(uintptr_t) ""
                                                                      : nodes[i]->input[k];
    }
    return list;
}

/* --- the graph -------------------------------------------------------------------------------- */

static Onnx__ValueInfoProto *body_info(struct body_cut *cut, const char *name,
                                       const Onnx__TypeProto *type)
{
    Onnx__ValueInfoProto *info = arena_new(cut->arena, Onnx__ValueInfoProto);
    onnx__value_info_proto__init(info);
    info->name = (char *)(uintptr_t)name;
    info->type = (Onnx__TypeProto *)(uintptr_t)type;
    return info;
}

/* What a Constant gives, as a weight; NULL: it is none, or of another form. */
static Onnx__TensorProto *body_constant(struct body_cut *cut, const struct odb_value *value)
{
    if (value->producer == ODB_NO_NODE)
        return NULL;
    const Onnx__NodeProto *proto = cut->model->priv->nodes[value->producer];
    const struct odb_node *node = &cut->model->graph->nodes[value->producer];
    const Onnx__AttributeProto *attr =
        odb_node_is_constant(node) ? body_find_attr(proto->attribute, proto->n_attribute, "value")
                                   : NULL;
    if (!attr || !attr->t)
        return NULL;
    Onnx__TensorProto *copy = arena_new(cut->arena, Onnx__TensorProto);
    *copy = *attr->t;
    copy->name = (char *)(uintptr_t)value->name;
    return copy;
}

static void body_add_outer(struct body_cut *cut, const struct odb_value *value)
{
    const struct model_int *priv = cut->model->priv;
    Onnx__TensorProto *constant = body_constant(cut, value);
    if (priv->inits[value->index]) {
        Onnx__TensorProto *outside =
            odb_model__by_reference(cut->model, priv->inits[value->index], cut->arena);
        cut->to.initializer[cut->to.n_initializer++] =
            outside ? outside : (Onnx__TensorProto *)(uintptr_t)priv->inits[value->index];
    } else if (priv->sparse_inits[value->index]) {
        cut->to.sparse_initializer[cut->to.n_sparse_initializer++] =
            (Onnx__SparseTensorProto *)(uintptr_t)priv->sparse_inits[value->index];
    } else if (constant) {
        cut->to.initializer[cut->to.n_initializer++] = constant;
    } else {
        const Onnx__ValueInfoProto *info = priv->infos[value->index];
        cut->to.input[cut->to.n_input++] = body_info(cut, value->name, info ? info->type : NULL);
    }
}

/* Room for all that the body has and captures, with the body's own at the beginning. */
static void body_begin_lists(struct body_cut *cut, const Onnx__GraphProto *from, size_t room)
{
    Onnx__GraphProto *to = &cut->to;
    to->input = arena_new_n(cut->arena, Onnx__ValueInfoProto *, from->n_input + room);
    to->initializer = arena_new_n(cut->arena, Onnx__TensorProto *, from->n_initializer + room);
    to->sparse_initializer =
        arena_new_n(cut->arena, Onnx__SparseTensorProto *, from->n_sparse_initializer + room);
    for (size_t i = 0; i < from->n_input; i++)
        to->input[i] = from->input[i];
    for (size_t i = 0; i < from->n_sparse_initializer; i++)
        to->sparse_initializer[i] = from->sparse_initializer[i];
    for (size_t i = 0; i < from->n_initializer; i++) {
        Onnx__TensorProto *outside =
            odb_model__by_reference(cut->model, from->initializer[i], cut->arena);
        to->initializer[i] = outside ? outside : from->initializer[i];
    }
    to->n_input = from->n_input;
    to->n_initializer = from->n_initializer;
    to->n_sparse_initializer = from->n_sparse_initializer;
}

static void body_graph(struct body_cut *cut, const Onnx__GraphProto *from,
                       const struct odb_graph *body)
{
    cut->to = *from;
    body_begin_lists(cut, from, body->n_values);
    for (size_t v = 0; v < body->n_values; v++) {
        const struct odb_value *outer =
            body->values[v].is_outer ? odb_graph_value(cut->model->graph, body->values[v].name)
                                     : NULL;
        if (outer)
            body_add_outer(cut, outer);
    }
}

/* A function's body: inputs that the call gives, outputs that it reads. */
static void body_function(struct body_cut *cut)
{
    const Onnx__FunctionProto *from = cut->function;
    Onnx__GraphProto *to = &cut->to;
    to->name = from->name;
    to->n_node = from->n_node;
    to->node = body_nodes(cut, from->node, from->n_node);
    to->n_value_info = from->n_value_info;
    to->value_info = from->value_info;
    to->input = arena_new_n(cut->arena, Onnx__ValueInfoProto *, from->n_input);
    to->output = arena_new_n(cut->arena, Onnx__ValueInfoProto *, from->n_output);
    for (size_t i = 0; i < from->n_input; i++)
        if (!body_is_omitted(cut, from->input[i]))
            to->input[to->n_input++] = body_info(cut, from->input[i], NULL);
    for (size_t i = 0; i < from->n_output && i < cut->call->n_output; i++)
        if (*cut->call->output[i])
            to->output[to->n_output++] = body_info(cut, from->output[i], NULL);
}

/* --- the model around it ---------------------------------------------------------------------- */

static void body_put_metadata(struct body_cut *cut, const char *key, const char *value)
{
    Onnx__ModelProto *out = &cut->out;
    size_t n = 0;
    Onnx__StringStringEntryProto **old = out->metadata_props;
    out->metadata_props =
        arena_new_n(cut->arena, Onnx__StringStringEntryProto *, out->n_metadata_props + 1);
    for (size_t i = 0; i < out->n_metadata_props; i++)
        if (!old[i]->key || strcmp(old[i]->key, key) != 0)
            out->metadata_props[n++] = old[i];
    if (value) {
        Onnx__StringStringEntryProto *entry = arena_new(cut->arena, Onnx__StringStringEntryProto);
        onnx__string_string_entry_proto__init(entry);
        entry->key = (char *)(uintptr_t)key;
        entry->value = (char *)(uintptr_t)value;
        out->metadata_props[n++] = entry;
    }
    out->n_metadata_props = n;
}

/* The function's own opsets come first; those of the model are for functions that it calls. */
static void body_opsets(struct body_cut *cut)
{
    const Onnx__ModelProto *from = cut->model->priv->proto;
    const Onnx__FunctionProto *f = cut->function;
    size_t own = f ? f->n_opset_import : 0;
    cut->out.opset_import =
        arena_new_n(cut->arena, Onnx__OperatorSetIdProto *, own + from->n_opset_import);
    cut->out.n_opset_import = own;
    for (size_t i = 0; i < own; i++)
        cut->out.opset_import[i] = f->opset_import[i];
    for (size_t i = 0; i < from->n_opset_import; i++) {
        bool known = false;
        for (size_t k = 0; k < own; k++)
            known =
                known || !strcmp(from->opset_import[i]->domain ? from->opset_import[i]->domain : "",
                                 f->opset_import[k]->domain ? f->opset_import[k]->domain : "");
        if (!known)
            cut->out.opset_import[cut->out.n_opset_import++] = from->opset_import[i];
    }
}

static void body_init(struct body_cut *cut, const struct odb_model *model, int node)
{
    *cut = (struct body_cut){.model = model,
                             .node = &model->graph->nodes[node],
                             .call = model->priv->nodes[node],
                             .arena = odb_model__arena_new()};
    onnx__graph_proto__init(&cut->to);
    cut->out = *model->priv->proto;
}

static enum odb_status body_pack(struct body_cut *cut, struct odb_buf *out, struct odb_error *err)
{
    body_opsets(cut);
    cut->out.has_ir_version = true;
    cut->out.ir_version = ODB_MAX(cut->model->ir_version, 4); /* weights need not be inputs */
    if (!cut->to.name || !*cut->to.name)
        cut->to.name = (char *)(uintptr_t) "body";
    cut->out.graph = &cut->to;
    enum odb_status status =
        odb_model__pack_model(cut->model, ODB_WEIGHTS_REFERENCE, &cut->out, out, err);
    odb_model__arena_free(cut->arena);
    return status;
}

/* ODB_META_BODY of a body of this model's. Owned by the caller. */
static char *body_way(const struct odb_model *model, int node, const struct odb_body *body,
                      int64_t turn)
{
    struct odb_buf way = ODB_BUF_INIT;
    const char *before = odb_model_body_way(model);
    char label[256], number[24];
    int *origin = odb_new_n(int, model->graph->n_nodes);
    odb_model_origin(model, origin);
    snprintf(number, sizeof number, "#%d", origin[node]);
    if (before)
        odb_buf_printf(&way, "%s\n", before);
    odb_body_put_step(odb_node_label(&model->graph->nodes[node], label, sizeof label), body, turn,
                      &way);
    odb_buf_putc(&way, '\t');
    odb_body_put_step(number, body, turn, &way);
    free(origin);
    return odb_buf_take(&way);
}

enum odb_status odb_body_extract(const struct odb_model *model, int node,
                                 const struct odb_body *body, int64_t turn, struct odb_buf *out,
                                 struct odb_error *err)
{
    struct body_cut cut;
    body_init(&cut, model, node);
    char *way = body_way(model, node, body, turn);
    if (body->attr) {
        const Onnx__AttributeProto *attr =
            body_find_attr(cut.call->attribute, cut.call->n_attribute, body->attr);
        struct odb_body here; /* body may be another model's of the same */
        if (!attr || !odb_body_find(cut.node, body->attr, &here)) {
            odb_model__arena_free(cut.arena);
            free(way);
            return odb_fail(err, ODB_E_USAGE, "node %d has no body %s", node, body->attr);
        }
        body_graph(&cut, attr->g, here.graph);
    } else {
        cut.function = model->priv->proto->functions[cut.node->function - model->functions];
        body_function(&cut);
    }
    body_put_metadata(&cut, ODB_META_NODES, NULL);
    body_put_metadata(&cut, ODB_META_BODY, way);
    enum odb_status status = body_pack(&cut, out, err);
    free(way);
    return status;
}

enum odb_status odb_body_follow(struct odb_model **out, int *node, const struct odb_model *model,
                                const char *text, struct odb_error *err)
{
    struct odb_body_path path;
    *out = NULL;
    enum odb_status status = odb_body_find_node(model->graph, text, &path, node, err);
    for (size_t i = 0; i < path.n && status == ODB_OK; i++) {
        const struct odb_body_step *step = &path.steps[i];
        struct odb_model *outer = *out;
        struct odb_buf bytes = ODB_BUF_INIT;
        status = odb_body_extract(outer ? outer : model, step->node, &step->body, step->turn,
                                  &bytes, err);
        *out = NULL;
        if (status == ODB_OK)
            status = odb_model_open_bytes(out, bytes.data, bytes.len, NULL, model->base, text, err);
        odb_buf_dispose(&bytes);
        odb_model_free(outer);
    }
    if (status == ODB_OK && path.n)
        status = odb_graph_find_node((*out)->graph, path.last, node, err);
    if (status != ODB_OK) {
        odb_model_free(*out);
        *out = NULL;
    }
    return status;
}

/* --- the node around a body ------------------------------------------------------------------- */

/* A copy of the node's message; a Loop's with a trip count. */
static Onnx__NodeProto *body_owner_node(struct body_cut *cut, const char *trips)
{
    Onnx__NodeProto *copy = arena_new(cut->arena, Onnx__NodeProto);
    *copy = *cut->call;
    if (strcmp(cut->node->op_type, "Loop") != 0 || !copy->n_input || *copy->input[0])
        return copy;
    copy->input = arena_new_n(cut->arena, char *, copy->n_input);
    memcpy(copy->input, cut->call->input, copy->n_input * sizeof *copy->input);
    copy->input[0] = (char *)(uintptr_t)trips;
    const Onnx__TypeProto *type =
        odb_model__tensor_type(ODB_I64, 0, (const int64_t[1]){0}, trips, cut->arena);
    cut->to.input[cut->to.n_input++] = body_info(cut, trips, type);
    return copy;
}

/* The node's inputs once each, then what its bodies capture. */
static void body_owner_inputs(struct body_cut *cut)
{
    const struct odb_graph *graph = cut->model->graph;
    bool *seen = arena_new_n(cut->arena, bool, graph->n_values);
    for (int i = 0; i < cut->node->n_in; i++) {
        int v = cut->node->in[i];
        if (v < 0 || seen[v])
            continue;
        const Onnx__ValueInfoProto *info = cut->model->priv->infos[v];
        cut->to.input[cut->to.n_input++] =
            body_info(cut, graph->values[v].name, info ? info->type : NULL);
        seen[v] = true;
    }
    for (size_t i = 0; i < cut->node->n_captured; i++)
        if (!seen[cut->node->captured[i]])
            body_add_outer(cut, &graph->values[cut->node->captured[i]]);
}

enum odb_status odb_body_owner(const struct odb_model *model, int node, const char *trips,
                               struct odb_buf *out, struct odb_error *err)
{
    struct body_cut cut;
    body_init(&cut, model, node);
    size_t room = (size_t)cut.node->n_in + cut.node->n_captured + 1;
    int *origin = arena_new_n(cut.arena, int, model->graph->n_nodes);
    odb_model_origin(model, origin);
    cut.to.input = arena_new_n(cut.arena, Onnx__ValueInfoProto *, room);
    cut.to.initializer = arena_new_n(cut.arena, Onnx__TensorProto *, room);
    cut.to.sparse_initializer = arena_new_n(cut.arena, Onnx__SparseTensorProto *, room);
    cut.to.node = arena_new_n(cut.arena, Onnx__NodeProto *, 1);
    cut.to.node[cut.to.n_node++] = body_owner_node(&cut, trips);
    body_owner_inputs(&cut);
    cut.to.output = arena_new_n(cut.arena, Onnx__ValueInfoProto *, cut.call->n_output);
    for (size_t o = 0; o < cut.call->n_output; o++)
        if (*cut.call->output[o])
            cut.to.output[cut.to.n_output++] = body_info(&cut, cut.call->output[o], NULL);
    body_put_metadata(&cut, ODB_META_NODES, odb_model__arena_printf(cut.arena, "%d", origin[node]));
    return body_pack(&cut, out, err);
}
