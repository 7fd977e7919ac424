/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The rules that ONNX's checker has, and more. Operators are held against the reference's table of
 * them, which a test holds against ONNX's own schemas: arity, attributes, types.
 */
#include "analysis/lint.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/utf8.h"
#include "interpret/cpu.h"
#include "kernels/core/facts.h"
#include "tensor/stats.h"
#include "model/read/load.h"

#define LINT_PLACE 1000 /* bytes of where something was found: names come from strangers */

static const struct lint_kind {
    const char *name;
    bool error;
    const char *remedy;
} lint_kinds[] = {
#define ODB_LINT_KIND(id, name, error, remedy) {name, error, remedy},
    ODB_LINT_KINDS(ODB_LINT_KIND)
#undef ODB_LINT_KIND
};

/* The newest opset that the table of operators was held against; 0: a domain without versions. */
static int lint_newest(const char *domain)
{
    return !*domain ? 28 : !strcmp(domain, "ai.onnx.ml") ? 5 : 0;
}

const char *odb_lint_name(enum odb_lint_kind kind)
{
    return lint_kinds[kind].name;
}

bool odb_lint_is_error(enum odb_lint_kind kind)
{
    return lint_kinds[kind].error;
}

const char *odb_lint_remedy(enum odb_lint_kind kind)
{
    return lint_kinds[kind].remedy;
}

void odb_lint_add(struct odb_lint *lint, enum odb_lint_kind kind, int node, const char *place,
                  const char *fmt, ...)
{
    char what[2000], cut[LINT_PLACE];
    va_list args;
    va_start(args, fmt);
    odb_text_vfit(what, sizeof what, fmt, args);
    va_end(args);
    odb_text_fit(cut, sizeof cut, "%s", place);
    odb_push(&lint->items, (struct odb_finding){kind, node, odb_xstrdup(cut), odb_xstrdup(what)});
    (*(lint_kinds[kind].error ? &lint->errors : &lint->warnings))++;
}

void odb_lint_dispose(struct odb_lint *lint)
{
    for (size_t i = 0; i < lint->items.n; i++) {
        free(lint->items.items[i].place);
        free(lint->items.items[i].what);
    }
    free(lint->items.items);
    *lint = (struct odb_lint){0};
}

/* --- a walk over all graphs ------------------------------------------------------------------- */

/* Of a node, of which there may be much to say. */
struct lint_place {
    const struct odb_node *node; /* borrowed; NULL: of none yet */
    char text[LINT_PLACE];
};

struct lint_walk {
    struct odb_lint *lint;
    const struct odb_model *model;
    const struct odb_shapes *shapes; /* of the main graph */
    struct odb_map *known; /* owned: "domain::Name" that the reference has -> first opset */
    const struct lint_walk *around; /* the walk at the node whose body this is; NULL: no body */
    int outer;                      /* node of the main graph that we are in */
    bool in_function;  /* no node of the main graph: a function may be called by several */
    const char *where; /* " in then_branch of #3 (If)"; "" in the main graph */
    const struct odb_graph *graph;
    const struct odb_node *node;
    struct lint_place *place; /* borrowed: of the node that was asked for last */
    bool *called;             /* owned; [n_functions] */
};

/* Borrowed, until another node is asked for. */
static const char *lint_node_place(const struct lint_walk *walk)
{
    struct lint_place *place = walk->place;
    if (place->node == walk->node)
        return place->text;
    struct odb_buf text = ODB_BUF_INIT;
    odb_node_put(walk->graph, walk->node->index, &text);
    odb_buf_puts(&text, walk->where);
    odb_text_fit(place->text, sizeof place->text, "%s", odb_buf_text(&text));
    place->node = walk->node;
    odb_buf_dispose(&text);
    return place->text;
}

/* The node of the main graph that a finding about walk->node belongs to. */
static int lint_main_node(const struct lint_walk *walk)
{
    return walk->in_function ? ODB_NO_NODE : walk->outer >= 0 ? walk->outer : walk->node->index;
}

#define LINT_NODE(walk, kind, ...)                                                                 \
    odb_lint_add((walk)->lint, ODB_LINT_##kind, lint_main_node(walk), lint_node_place(walk),       \
                 __VA_ARGS__)

#define LINT_VALUE(walk, kind, value, ...)                                                         \
    do {                                                                                           \
        char *place_ = odb_xasprintf("value %s%s", (value)->name, (walk)->where);                  \
        odb_lint_add((walk)->lint, ODB_LINT_##kind, (walk)->outer, place_, __VA_ARGS__);           \
        free(place_);                                                                              \
    } while (0)

/* --- operators -------------------------------------------------------------------------------- */

static bool lint_is_standard(const char *domain)
{
    return !*domain || !strcmp(domain, "ai.onnx.ml");
}

static const char *lint_domain(const char *domain)
{
    return *domain ? domain : "ai.onnx";
}

/* True where the reference runs the operator beside the standard: one of ONNX's early days, or one
 * that ONNX Runtime took before there was a version with it. */
static bool lint_foreign(struct lint_walk *walk)
{
    const struct odb_node *node = walk->node;
    const struct odb_facts *facts = odb_facts_of(node->domain, node->op_type);
    bool other = facts->traits & ODB_IS_NONSTANDARD;
    if (!node->opset || (facts->standard ? node->opset >= facts->standard : !other))
        return false;
    if (other)
        LINT_NODE(walk, NONSTANDARD, "%s of opset %d is no operator of the standard", node->op_type,
                  node->opset);
    else
        LINT_NODE(walk, UNKNOWN_OPERATOR, "it is standard from opset %d on, and %d is imported",
                  facts->standard, node->opset);
    return true;
}

static void lint_deprecated(struct lint_walk *walk)
{
    const struct odb_node *node = walk->node;
    int since = 0;
    const struct odb_facts *facts = odb_facts_at(node->domain, node->op_type, node->opset, &since);
    if (node->opset && facts && facts->instead)
        LINT_NODE(walk, DEPRECATED, "%s is deprecated from opset %d on; %s", node->op_type, since,
                  facts->instead);
}

/* Says what speaks against the operator in this opset; true where nothing does. */
static bool lint_operator(struct lint_walk *walk)
{
    const struct odb_node *node = walk->node;
    char *key = odb_xasprintf("%s::%s", node->domain, node->op_type);
    size_t since = 0;
    bool known = odb_map_get(walk->known, key, &since);
    free(key);
    if (!node->opset)
        LINT_NODE(walk, OPSET_IMPORT, "its domain %s is not imported", lint_domain(node->domain));
    else if (known && (size_t)node->opset < since)
        LINT_NODE(walk, UNKNOWN_OPERATOR, "%s::%s is there from opset %zu on, and %d is imported",
                  lint_domain(node->domain), node->op_type, since, node->opset);
    else if (!known && lint_is_standard(node->domain) && node->opset <= lint_newest(node->domain))
        LINT_NODE(walk, UNKNOWN_OPERATOR, "there is no operator %s in %s", node->op_type,
                  lint_domain(node->domain));
    else if (!known)
        LINT_NODE(walk, NO_KERNEL, "%s::%s is an operator that the reference does not know",
                  lint_domain(node->domain), node->op_type);
    lint_deprecated(walk);
    if (lint_foreign(walk))
        return false;
    return known && node->opset && (size_t)node->opset >= since;
}

/* Trailing omitted ones do not count. */
static int lint_count(const int *list, int n)
{
    while (n > 0 && list[n - 1] == ODB_NO_VALUE)
        n--;
    return n;
}

static void lint_arity(struct lint_walk *walk, const struct odb_op *op)
{
    const struct odb_node *node = walk->node;
    int n_in = lint_count(node->in, node->n_in), n_out = lint_count(node->out, node->n_out);
    if (n_in < op->min_in)
        LINT_NODE(walk, ARITY, "it needs %d input%s, and has %d", op->min_in,
                  op->min_in == 1 ? "" : "s", n_in);
    else if (n_in > op->max_in)
        LINT_NODE(walk, ARITY, "it takes %d input%s at most, and has %d", op->max_in,
                  op->max_in == 1 ? "" : "s", n_in);
    for (int i = 0; i < op->min_in && i < n_in; i++)
        if (node->in[i] == ODB_NO_VALUE)
            LINT_NODE(walk, ARITY, "input %d is left out, and required", i);
    if (n_out < op->min_out || n_out > op->max_out)
        LINT_NODE(walk, ARITY, "it makes %d output%s %s, and %d are named",
                  n_out < op->min_out ? op->min_out : op->max_out,
                  (n_out < op->min_out ? op->min_out : op->max_out) == 1 ? "" : "s",
                  n_out < op->min_out ? "at least" : "at most", n_out);
}

static void lint_attributes(struct lint_walk *walk, const struct odb_op *op)
{
    const struct odb_node *node = walk->node;
    for (const struct odb_attr_spec *spec = op->attrs; spec && spec->name; spec++) {
        const struct odb_attr *attr = odb_attrs_find(&node->attrs, spec->name);
        /* what inputs an operator of opset 1 overwrote: gone since 6, and never written */
        if (!attr && spec->required && strcmp(spec->name, "consumed_inputs") != 0)
            LINT_NODE(walk, ATTRIBUTE, "attribute %s is required, and missing", spec->name);
        if (attr && attr->type && attr->type != spec->type && !(attr->ref_name && *attr->ref_name))
            LINT_NODE(walk, ATTRIBUTE, "attribute %s is of type %s, and must be %s", spec->name,
                      odb_attr_type_name(attr->type), odb_attr_type_name(spec->type));
    }
    for (size_t i = 0; i < node->attrs.n; i++) {
        if (odb_op_attr_unknown(op, node->attrs.items[i].name))
            LINT_NODE(walk, ATTRIBUTE, "it has no attribute %s in this opset",
                      node->attrs.items[i].name);
    }
}

/* The element type of a value, as it is known; 0: it is not, or it is no tensor. */
static enum odb_dtype lint_dtype(const struct lint_walk *walk, int index)
{
    const struct odb_value *value = &walk->graph->values[index];
    if (value->init)
        return value->init->kind == ODB_TENSOR ? value->init->dtype : ODB_UNDEFINED;
    if (walk->shapes && walk->graph == walk->model->graph && walk->shapes->measured &&
        walk->shapes->values[index].known)
        return walk->shapes->values[index].dtype;
    return value->type.known && value->type.kind == ODB_TENSOR ? value->type.dtype : ODB_UNDEFINED;
}

static void lint_types(struct lint_walk *walk, const struct odb_op *op)
{
    int first[ODB_OP_TYPES]; /* 1 + input whose type others share; 0: none yet */
    enum odb_dtype types[ODB_OP_TYPES];
    memset(first, 0, sizeof first);
    for (int i = 0; i < walk->node->n_in; i++) {
        int of = odb_op_type_of(op, i);
        enum odb_dtype dtype =
            walk->node->in[i] == ODB_NO_VALUE ? ODB_UNDEFINED : lint_dtype(walk, walk->node->in[i]);
        if (!dtype)
            continue;
        if (!(odb_op_types(op, i) & ODB_BIT(dtype)))
            LINT_NODE(walk, INPUT_TYPE, "input %d is %s, which %s does not take in opset %d", i,
                      odb_dtype_info(dtype)->name, walk->node->op_type, walk->node->opset);
        if (of >= ODB_OP_TYPES)
            continue;
        if (first[of] && dtype != types[of])
            LINT_NODE(walk, INPUT_TYPE, "inputs %d and %d are %s and %s, and must be of one type",
                      first[of] - 1, i, odb_dtype_info(types[of])->name,
                      odb_dtype_info(dtype)->name);
        if (!first[of]) {
            first[of] = i + 1;
            types[of] = dtype;
        }
    }
}

/* --- graphs ----------------------------------------------------------------------------------- */

static void lint_graph(struct lint_walk *walk, const struct odb_graph *graph);

/* Bodies have the scope of the graph around them: what a node in them makes must not have the name
 * of a value that is there already. */
static void lint_shadows(struct lint_walk *walk)
{
    for (int o = 0; o < walk->node->n_out; o++) {
        int v = walk->node->out[o];
        if (v == ODB_NO_VALUE)
            continue;
        const struct odb_value *value = &walk->graph->values[v], *same;
        for (const struct lint_walk *at = walk->around; at; at = at->around)
            if ((same = odb_graph_value(at->graph, value->name)) != NULL &&
                same->producer < at->node->index) {
                LINT_VALUE(walk, SHADOWED, value, "the graph around has a value of this name, too");
                break;
            }
    }
}

/* How many values a body of the standard's is given: those that it declares as its inputs. */
static void lint_formal(struct lint_walk *walk, const char *attr, const struct odb_graph *body)
{
    const struct odb_node *node = walk->node;
    bool branches = !strcmp(node->op_type, "If"), loops = !strcmp(node->op_type, "Loop");
    size_t given = branches ? 0 : (size_t)node->n_in, takes = odb_graph_feeds(body, NULL);
    if (!branches && !loops && strcmp(node->op_type, "Scan") != 0)
        return;
    if (!branches && !loops && node->opset < 9)
        given -= given > 0; /* the lengths of sequences */
    if (!*node->domain && takes != given)
        LINT_NODE(walk, ARITY, "its %s declares %zu input%s, and is given %zu", attr, takes,
                  takes == 1 ? "" : "s", given);
}

static void lint_bodies(struct lint_walk *walk)
{
    const struct odb_node *node = walk->node;
    for (size_t a = 0; a < node->attrs.n; a++) {
        const struct odb_attr *attr = &node->attrs.items[a];
        for (size_t g = 0; attr->graphs && g < attr->n; g++) {
            struct lint_walk inner = *walk;
            char where[LINT_PLACE];
            odb_text_fit(where, sizeof where, " in %s of %s", attr->name, lint_node_place(walk));
            inner.outer = lint_main_node(walk);
            inner.where = where;
            inner.around = walk;
            lint_formal(walk, attr->name, attr->graphs[g]);
            lint_graph(&inner, attr->graphs[g]);
        }
    }
}

static void lint_node(struct lint_walk *walk, const struct odb_node *node)
{
    walk->node = node;
    if (node->function) {
        walk->called[node->function - walk->model->functions] = true;
        if ((size_t)node->n_in > node->function->n_inputs)
            LINT_NODE(walk, ARITY, "the function takes %zu inputs, and gets %d",
                      node->function->n_inputs, node->n_in);
        if ((size_t)node->n_out > node->function->n_outputs)
            LINT_NODE(walk, ARITY, "the function makes %zu outputs, and %d are named",
                      node->function->n_outputs, node->n_out);
        if (!node->opset)
            LINT_NODE(walk, OPSET_IMPORT, "its domain %s is not imported",
                      lint_domain(node->domain));
    } else if (!odb_node_is_debug(node) && lint_operator(walk)) {
        const struct odb_op *op = odb_cpu_row(node);
        if (op) {
            lint_arity(walk, op);
            lint_attributes(walk, op);
            lint_types(walk, op);
        }
    }
    lint_shadows(walk);
    lint_bodies(walk);
}

static void lint_unused(struct lint_walk *walk, const struct odb_graph *graph)
{
    for (size_t v = 0; v < graph->n_values; v++) {
        const struct odb_value *value = &graph->values[v];
        if (value->init && value->producer == ODB_NO_NODE && !value->is_outer &&
            !value->n_consumers && !value->is_output && !value->is_input)
            LINT_VALUE(walk, UNUSED_WEIGHT, value, "no node reads this weight");
    }
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        bool used = !node->n_out;
        for (int o = 0; o < node->n_out; o++)
            if (node->out[o] != ODB_NO_VALUE)
                used = used || graph->values[node->out[o]].n_consumers ||
                       graph->values[node->out[o]].is_output;
        walk->graph = graph;
        walk->node = node;
        if (!used)
            LINT_NODE(walk, UNUSED_NODE, "no node reads what it makes");
    }
}

static void lint_names(struct lint_walk *walk, const struct odb_graph *graph)
{
    struct odb_map *seen = odb_map_new();
    size_t first;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        walk->graph = graph;
        walk->node = &graph->nodes[n];
        if (*walk->node->name && odb_map_get(seen, walk->node->name, &first))
            LINT_NODE(walk, DUPLICATE_NAME, "#%zu has the same name", first);
        else if (*walk->node->name)
            odb_map_add(seen, walk->node->name, n);
    }
    odb_map_free(seen);
}

static void lint_graph(struct lint_walk *walk, const struct odb_graph *graph)
{
    if (graph->was_unsorted) {
        char *place = odb_xasprintf("graph %s%s", graph->name ? graph->name : "", walk->where);
        odb_lint_add(walk->lint, ODB_LINT_UNSORTED, walk->outer, place,
                     "a node stands before one whose output it reads");
        free(place);
    }
    lint_names(walk, graph);
    lint_unused(walk, graph);
    for (size_t n = 0; n < graph->n_nodes; n++) {
        walk->graph = graph;
        lint_node(walk, &graph->nodes[n]);
    }
}

/* --- the model -------------------------------------------------------------------------------- */

static void lint_ports(struct lint_walk *walk)
{
    const struct odb_graph *graph = walk->model->graph;
    for (size_t i = 0; i < graph->n_inputs + graph->n_outputs; i++) {
        bool output = i >= graph->n_inputs;
        const struct odb_value *value =
            &graph->values[output ? graph->outputs[i - graph->n_inputs] : graph->inputs[i]];
        const struct odb_type *type = &value->type;
        const char *side = output ? "output" : "input";
        if (!type->known || (type->kind == ODB_TENSOR && !type->dtype))
            LINT_VALUE(walk, MISSING_TYPE, value, "no type is declared for this %s", side);
        else if (type->kind == ODB_TENSOR && type->rank < 0)
            LINT_VALUE(walk, MISSING_TYPE, value, "no shape is declared for this %s", side);
    }
}

static void lint_weights(struct lint_walk *walk)
{
    const struct odb_model *model = walk->model;
    for (size_t v = 0; v < model->graph->n_values; v++) {
        const struct odb_value *value = &model->graph->values[v];
        const struct odb_tensor *t = value->init;
        if (!t || value->producer != ODB_NO_NODE)
            continue;
        if (model->ir_version < 4 && !value->is_input)
            LINT_VALUE(walk, WEIGHT_NO_INPUT, value,
                       "in IR version %lld a weight must be an input as well",
                       (long long)model->ir_version);
        const struct odb_type *type = &value->type;
        if (!type->known || type->kind != ODB_TENSOR || value->init_is_sparse)
            continue;
        bool same = !type->dtype || type->dtype == t->dtype;
        for (int i = 0; type->rank >= 0 && same && i < type->rank; i++)
            same = type->rank == t->rank &&
                   (type->dims[i].value < 0 || type->dims[i].value == t->dims[i]);
        char shape[300];
        if (!same || (type->rank == 0 && t->rank != 0))
            LINT_VALUE(walk, WEIGHT_TYPE, value, "it is declared as %s, and the weight is %s %s",
                       type->shown, odb_dtype_info(t->dtype)->name,
                       odb_shape_text(t, shape, sizeof shape));
    }
}

static void lint_header(struct lint_walk *walk)
{
    const struct odb_model *model = walk->model;
    if (model->ir_version < 1)
        odb_lint_add(walk->lint, ODB_LINT_HEADER, ODB_NO_NODE, "", "it has no IR version");
    if (!model->n_opsets && model->ir_version >= 3)
        odb_lint_add(walk->lint, ODB_LINT_HEADER, ODB_NO_NODE, "", "it imports no opset");
    if (model->n_opsets && model->ir_version > 0 && model->ir_version < 3)
        odb_lint_add(walk->lint, ODB_LINT_HEADER, ODB_NO_NODE, "",
                     "it imports opsets, which IR version %lld does not have",
                     (long long)model->ir_version);
    if (!model->graph->name || !*model->graph->name)
        odb_lint_add(walk->lint, ODB_LINT_HEADER, ODB_NO_NODE, "", "the graph has no name");
    for (size_t i = 0; i < model->n_opsets; i++) {
        const char *domain = model->opsets[i].domain;
        if (lint_is_standard(domain) && model->opsets[i].version > lint_newest(domain))
            odb_lint_add(walk->lint, ODB_LINT_OPSET_NEW, ODB_NO_NODE, "",
                         "opset %lld of %s is newer than what the reference knows (%d)",
                         (long long)model->opsets[i].version, lint_domain(domain),
                         lint_newest(domain));
    }
    struct odb_error why = ODB_ERROR_INIT;
    char text[600];
    if (odb_model_require_data(model, &why) != ODB_OK)
        odb_lint_add(walk->lint, ODB_LINT_EXTERNAL_DATA, ODB_NO_NODE, "", "%s",
                     odb_error_text(&why, text, sizeof text));
}

static void lint_learn(struct lint_walk *walk)
{
    size_t n, since;
    struct odb_cpu_operator *rows = odb_cpu_operators(&n);
    walk->known = odb_map_new();
    for (size_t i = 0; i < n; i++) {
        char *key = odb_xasprintf("%s::%s", rows[i].domain, rows[i].name);
        if (!odb_map_get(walk->known, key, &since) || (size_t)rows[i].since < since)
            odb_map_set(walk->known, key, (size_t)rows[i].since);
        free(key);
    }
    free(rows);
}

void odb_lint_model(struct odb_lint *lint, const struct odb_model *model,
                    const struct odb_shapes *shapes)
{
    struct lint_place asked = {.node = NULL};
    struct lint_walk walk = {.lint = lint,
                             .model = model,
                             .shapes = shapes,
                             .outer = ODB_NO_NODE,
                             .where = "",
                             .place = &asked,
                             .called = odb_new_n(bool, model->n_functions + 1)};
    lint_learn(&walk);
    lint_header(&walk);
    lint_ports(&walk);
    lint_weights(&walk);
    lint_graph(&walk, model->graph);
    for (size_t f = 0; f < model->n_functions; f++) {
        char where[LINT_PLACE];
        odb_text_fit(where, sizeof where, " in function %s", model->functions[f].name);
        walk.where = where;
        walk.in_function = true;
        lint_graph(&walk, model->functions[f].graph);
    }
    for (size_t f = 0; f < model->n_functions; f++)
        if (!walk.called[f]) {
            char *place = odb_xasprintf("function %s", model->functions[f].name);
            odb_lint_add(lint, ODB_LINT_UNUSED_FUNCTION, ODB_NO_NODE, place, "no node calls it");
            free(place);
        }
    odb_map_free(walk.known);
    free(walk.called);
}

/* --- a run ------------------------------------------------------------------------------------ */

static bool lint_agrees(const struct odb_type *type, const struct odb_shape *shape)
{
    if (type->kind != ODB_TENSOR || !shape->known)
        return true;
    if (type->dtype && type->dtype != shape->dtype)
        return false;
    if (type->rank < 0)
        return true;
    bool same = type->rank == shape->rank;
    for (int i = 0; same && i < type->rank; i++)
        same = type->dims[i].value < 0 || type->dims[i].value == shape->dims[i];
    return same;
}

size_t odb_lint_contradictions(const struct odb_graph *graph, struct odb_tensor *const *values,
                               char **first)
{
    size_t n = 0;
    *first = NULL;
    for (size_t v = 0; v < graph->n_values; v++) {
        const struct odb_value *value = &graph->values[v];
        struct odb_shape shape;
        struct odb_buf text = ODB_BUF_INIT;
        char made[400];
        if (value->producer == ODB_NO_NODE || !value->type.known || !values[v])
            continue;
        odb_shape_of(&shape, values[v]);
        if (lint_agrees(&value->type, &shape) || n++)
            continue;
        odb_node_put(graph, value->producer, &text);
        odb_buf_puts(&text, " makes ");
        odb_buf_put_shown(&text, value->name);
        odb_buf_printf(&text, " as %s, and it is declared as %s",
                       odb_shape_put(&shape, true, made, sizeof made), value->type.shown);
        *first = odb_buf_take(&text);
    }
    return n;
}

void odb_lint_run(struct odb_lint *lint, const struct odb_model *model,
                  const struct odb_shapes *shapes)
{
    const struct odb_graph *graph = model->graph;
    struct odb_cpu *cpu = NULL;
    char text[400];
    if (odb_cpu_new(&cpu, model, NULL) != ODB_OK)
        cpu = NULL;
    for (size_t v = 0; v < graph->n_values; v++) {
        const struct odb_value *value = &graph->values[v];
        if (value->producer == ODB_NO_NODE || !value->type.known ||
            lint_agrees(&value->type, &shapes->values[v]))
            continue;
        char *place = odb_xasprintf("value %s", value->name);
        odb_lint_add(lint, ODB_LINT_CONTRADICTION, value->producer, place,
                     "it is declared as %s, and the run makes %s", value->type.shown,
                     odb_shape_put(&shapes->values[v], true, text, sizeof text));
        free(place);
    }
    for (size_t n = 0; cpu && n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        bool fed = true;
        for (size_t i = 0; i < odb_node_n_reads(node); i++) {
            int v = odb_node_reads(node, i);
            fed = fed && (v < 0 || graph->values[v].producer < 0 ||
                          !shapes->why[graph->values[v].producer]);
        }
        if (!shapes->why[n] || !fed || *odb_cpu_unsupported(cpu, (int)n))
            continue;
        struct odb_buf place = ODB_BUF_INIT;
        odb_node_put(graph, (int)n, &place);
        odb_lint_add(lint, ODB_LINT_FAILS, (int)n, odb_buf_text(&place), "%s", shapes->why[n]);
        odb_buf_dispose(&place);
    }
    odb_cpu_free(cpu);
}

void odb_lint_value(struct odb_lint *lint, const struct odb_graph *graph, int value,
                    const struct odb_tensor *t)
{
    struct odb_stats stats;
    if (t->kind != ODB_TENSOR || !odb_dtype_is_float(t->dtype) || !t->data ||
        odb_stats(&stats, t, NULL, NULL) != ODB_OK)
        return;
    const double limit = odb_dtype_info(ODB_F16)->max;
    double most = fmax(fabs(stats.min), fabs(stats.max));
    size_t odd = stats.nan + stats.pos_inf + stats.neg_inf;
    char *place = odb_xasprintf("value %s", graph->values[value].name);
    int node = graph->values[value].producer;
    if (odd)
        odb_lint_add(lint, ODB_LINT_NOT_FINITE, node, place,
                     "%zu NaN and %zu Inf among %zu elements", stats.nan, odd - stats.nan,
                     stats.count);
    if (most > limit && odb_dtype_info(t->dtype)->max > limit)
        odb_lint_add(lint, ODB_LINT_FLOAT16_RANGE, node, place,
                     "it reaches %.6g, and float16 ends at %g", most, limit);
    free(place);
}

/* --- the first error ---------------------------------------------------------------------------
 */

/* What a run has made; the rest as it is declared. */
static void lint_shapes(struct odb_shapes *out, const struct odb_model *model,
                        struct odb_tensor *const *values)
{
    const struct odb_graph *graph = model->graph;
    odb_shapes_declared(out, model);
    if (!values)
        return;
    out->measured = true;
    for (size_t v = 0; v < graph->n_values; v++)
        if (values[v])
            odb_shape_of(&out->values[v], values[v]);
}

char *odb_lint_error(const struct odb_model *model, struct odb_tensor *const *values)
{
    struct odb_lint lint = {0};
    struct odb_shapes shapes;
    char *first = NULL;
    lint_shapes(&shapes, model, values);
    odb_lint_model(&lint, model, &shapes);
    if (values)
        odb_lint_run(&lint, model, &shapes);
    for (size_t i = 0; i < lint.items.n && !first; i++) {
        const struct odb_finding *finding = &lint.items.items[i];
        if (odb_lint_is_error(finding->kind) && finding->kind != ODB_LINT_MISSING_TYPE)
            first = odb_xasprintf("%s %s%s%s", odb_lint_name(finding->kind), finding->place,
                                  finding->place[0] ? ": " : "", finding->what);
    }
    odb_lint_dispose(&lint);
    odb_shapes_dispose(&shapes);
    return first;
}
