/* SPDX-License-Identifier: MIT */
#include "model/write/convert_int.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "kernels/core/facts.h"
#include "model/read/load.h"

/* --- what can be converted -------------------------------------------------------------------- */

void convert_stay(struct odb_convert *c, int node, const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    odb_text_vfit(text, sizeof text, fmt, args);
    va_end(args);
    free(c->why[node]);
    c->why[node] = odb_xstrdup(text);
    c->classes[node] = ODB_CONVERT_STAYS;
}

/* NULL: the operator does not take the type at this opset. */
static const struct odb_halves *convert_find(const char *domain, const char *name, int opset,
                                             enum odb_dtype to)
{
    const struct odb_halves *found = odb_facts_halves(domain, name, opset);
    int since = !found ? 0 : to == ODB_F16 ? found->f16 : found->bf16;
    return since && since <= opset ? found : NULL;
}

bool convert_takes(const char *domain, const char *name, int opset, enum odb_dtype to,
                   uint32_t *fixed_in, uint32_t *fixed_out)
{
    const struct odb_halves *row = convert_find(domain, name, opset, to);
    *fixed_in = row ? row->keep_in : 0;
    *fixed_out = row ? row->keep_out : 0;
    return row != NULL;
}

static bool convert_has_body(const struct odb_node *node)
{
    for (size_t a = 0; a < node->attrs.n; a++)
        if (node->attrs.items[a].graphs)
            return true;
    return node->n_captured > 0;
}

static bool convert_in_follows(const struct odb_halves *row, int i)
{
    return i >= 32 || !(row->keep_in >> i & 1);
}

static bool convert_out_follows(const struct odb_halves *row, int o)
{
    return o >= 32 || !(row->keep_out >> o & 1);
}

static void convert_types(struct odb_convert *c, const struct odb_convert_options *options)
{
    for (size_t v = 0; v < c->graph->n_values; v++) {
        const struct odb_value *value = &c->graph->values[v];
        const struct odb_tensor *like = options->like ? options->like[v] : NULL;
        if (!like)
            like = value->init;
        enum odb_kind kind = like ? like->kind : value->type.kind;
        enum odb_dtype dtype = like ? like->dtype : value->type.dtype;
        bool known = like || (value->type.known && value->type.dtype);
        c->unknown[v] = !known || (kind != ODB_TENSOR && !value->init_is_sparse);
        c->is_f32[v] = !c->unknown[v] && dtype == ODB_F32;
        if (value->init && c->is_f32[v] && !value->init_is_sparse)
            c->data[v] = value->init; /* also where it could be fed: see rewrite_inputs() */
    }
    for (size_t n = 0; n < c->graph->n_nodes; n++) {
        const struct odb_node *node = &c->graph->nodes[n];
        const struct odb_attr *attr = odb_attrs_find(&node->attrs, "value");
        if (odb_node_is_constant(node) && node->n_out == 1 && node->out[0] >= 0 &&
            c->is_f32[node->out[0]] && attr && attr->type == ODB_ATTR_TENSOR &&
            attr->tensors[0]->dtype == ODB_F32)
            c->data[node->out[0]] = attr->tensors[0];
    }
}

static bool convert_touches(const struct odb_convert *c, const bool *marks,
                            const struct odb_node *node)
{
    bool any = false;
    for (int i = 0; i < node->n_in; i++)
        any = any || (node->in[i] >= 0 && marks[node->in[i]]);
    for (int o = 0; o < node->n_out; o++)
        any = any || (node->out[o] >= 0 && marks[node->out[o]]);
    for (size_t i = 0; i < node->n_captured; i++)
        any = any || marks[node->captured[i]];
    return any;
}

static const char *convert_type_name(enum odb_dtype dtype)
{
    return odb_dtype_info(dtype)->name;
}

static void convert_classify(struct odb_convert *c, int index)
{
    const struct odb_node *node = &c->graph->nodes[index];
    const struct odb_halves *row = convert_find(node->domain, node->op_type, node->opset, c->to);
    bool unknown = convert_touches(c, c->unknown, node);
    if (!unknown && !convert_touches(c, c->is_f32, node))
        return;
    if (odb_node_is_constant(node) && !unknown && c->data[node->out[0]])
        return;
    if (convert_has_body(node)) {
        convert_stay(c, index, "its bodies stay as they are");
    } else if (node->function) {
        convert_stay(c, index, "it calls a function of the model's own");
    } else if (unknown) {
        convert_stay(c, index, "the type of one of its values is not known, or is no tensor");
    } else if (!row) {
        convert_stay(c, index, "%s%s%s of opset %d is not known to take %s", node->domain,
                     node->domain[0] ? "::" : "", node->op_type, node->opset,
                     convert_type_name(c->to));
    } else if (row->note != ODB_HALVES_ANY) {
        c->classes[index] = ODB_CONVERT_FREE;
    }
    c->rows[index] = row;
}

/* --- weights ---------------------------------------------------------------------------------- */

/* The finite number of t that the type cannot hold, the largest; 0: there is none. */
static double convert_overflow(const struct odb_tensor *t, const struct odb_tensor *narrow)
{
    const odb_f32 *from = t->data;
    const odb_u16 *to = narrow->data;
    const unsigned inf = narrow->dtype == ODB_F16 ? 0x7c00 : 0x7f80;
    float most = 0;
    for (size_t i = 0; i < t->count; i++)
        if ((to[i] & inf) == inf && isfinite(from[i]) && fabsf(from[i]) > fabsf(most))
            most = from[i];
    return most;
}

static enum odb_status convert_weight(struct odb_convert *c, int value, struct odb_error *err)
{
    const struct odb_tensor *t = c->data[value];
    if (!c->narrow[value])
        ODB_TRY(odb_tensor_cast(&c->narrow[value], t, c->to, err));
    double beyond = convert_overflow(t, c->narrow[value]);
    for (size_t r = 0; beyond != 0 && r < c->graph->values[value].n_consumers; r++) {
        int n = c->graph->values[value].consumers[r];
        const struct odb_node *node = &c->graph->nodes[n];
        bool reads = false;
        for (int i = 0; i < node->n_in; i++)
            reads = reads || (node->in[i] == value && c->classes[n] == ODB_CONVERT_FREE &&
                              convert_in_follows(c->rows[n], i));
        if (!reads)
            continue;
        convert_stay(c, n, "its weight %s holds %.6g, beyond %g, the largest %s",
                     c->graph->values[value].name, beyond, odb_dtype_info(c->to)->max,
                     convert_type_name(c->to));
        c->beyond[n] = true;
    }
    return ODB_OK;
}

/* Casts what converted nodes would read. */
static enum odb_status convert_weights(struct odb_convert *c, struct odb_error *err)
{
    for (size_t n = 0; n < c->graph->n_nodes; n++) {
        const struct odb_node *node = &c->graph->nodes[n];
        for (int i = 0; i < node->n_in; i++)
            if (c->classes[n] == ODB_CONVERT_FREE && node->in[i] >= 0 && c->data[node->in[i]] &&
                convert_in_follows(c->rows[n], i))
                ODB_TRY(convert_weight(c, node->in[i], err));
    }
    return ODB_OK;
}

/* --- the object ------------------------------------------------------------------------------- */

enum odb_status odb_convert_new(struct odb_convert **out, const struct odb_model *model,
                                const struct odb_convert_options *options, struct odb_error *err)
{
    const struct odb_graph *graph = model->graph;
    size_t values = graph->n_values + 1, nodes = graph->n_nodes + 1;
    int opset = odb_model_opset(model, ""), least = options->to == ODB_I8 ? 10 : 7;
    if (opset < least) {
        odb_fail(err, ODB_UNSUPPORTED, "models of opset %d cannot be written in %s", opset,
                 convert_type_name(options->to));
        return odb_error_remedy(err, "convert it to opset %d or newer first", ODB_MAX(least, 13));
    }
    ODB_TRY(odb_model_require_data(model, err));
    struct odb_convert *c = *out = odb_new(struct odb_convert);
    *c = (struct odb_convert){.model = model,
                              .graph = graph,
                              .to = options->to,
                              .is_f32 = odb_new_n(bool, values),
                              .unknown = odb_new_n(bool, values),
                              .data = odb_new_n(const struct odb_tensor *, values),
                              .classes = odb_new_n(enum odb_convert_class, nodes),
                              .why = odb_new_n(char *, nodes),
                              .beyond = odb_new_n(bool, nodes),
                              .rows = odb_new_n(const struct odb_halves *, nodes),
                              .narrow = odb_new_n(struct odb_tensor *, values),
                              .scale = odb_new_n(struct odb_tensor *, values),
                              .zero = odb_new_n(struct odb_tensor *, values),
                              .axis = odb_new_n(int, values)};
    convert_types(c, options);
    enum odb_status status;
    if (c->to == ODB_I8) {
        status = convert_quantize_plan(c, options, err);
    } else {
        for (size_t n = 0; n < graph->n_nodes; n++)
            convert_classify(c, (int)n);
        status = convert_weights(c, err);
    }
    if (status != ODB_OK) {
        odb_convert_free(c);
        *out = NULL;
    }
    return status;
}

void odb_convert_free(struct odb_convert *c)
{
    if (!c)
        return;
    for (size_t v = 0; v < c->graph->n_values; v++) {
        odb_tensor_unref(c->narrow[v]);
        odb_tensor_unref(c->scale[v]);
        odb_tensor_unref(c->zero[v]);
    }
    for (size_t n = 0; n < c->graph->n_nodes; n++)
        free(c->why[n]);
    free(c->is_f32);
    free(c->unknown);
    free(c->data);
    free(c->classes);
    free(c->why);
    free(c->beyond);
    free(c->rows);
    free(c->narrow);
    free(c->scale);
    free(c->zero);
    free(c->axis);
    free(c);
}

enum odb_convert_class odb_convert_class(const struct odb_convert *c, int node)
{
    return c->classes[node];
}

const char *odb_convert_why(const struct odb_convert *c, int node)
{
    return c->why[node];
}

bool odb_convert_beyond(const struct odb_convert *c, int node)
{
    return c->beyond[node];
}

void odb_convert_pin(struct odb_convert *c, int node, const char *why)
{
    if (c->classes[node] == ODB_CONVERT_FREE)
        convert_stay(c, node, "%s", why);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* One writing: which type each value has where, and under which names. Arrays [n_values], in the
 * arena. */
struct halving {
    const struct odb_convert *c;
    struct rewrite r;
    const bool *keep;
    bool *made; /* in the type, by a converted node */
    bool *wide; /* needed in float32 */
    bool *slim; /* needed in the type */
    bool *own;  /* its own name must stay with float32: outputs, what bodies see */
    char **wide_name, **slim_name;
    bool *declared; /* its value_info is made anew */
};

static bool halving_converts(const struct halving *h, size_t node)
{
    return h->c->classes[node] == ODB_CONVERT_FREE && !(h->keep && h->keep[node]);
}

static bool halving_reads_any(const struct halving *h, size_t node)
{
    return h->c->rows[node] && h->c->rows[node]->note == ODB_HALVES_ANY;
}

static void halving_mark_node(struct halving *h, size_t n)
{
    const struct odb_convert *c = h->c;
    const struct odb_node *node = &c->graph->nodes[n];
    bool converts = halving_converts(h, n);
    for (int i = 0; i < node->n_in && !halving_reads_any(h, n); i++) {
        if (node->in[i] < 0 || !c->is_f32[node->in[i]])
            continue;
        if (converts && convert_in_follows(c->rows[n], i))
            h->slim[node->in[i]] = true;
        else
            h->wide[node->in[i]] = true;
    }
    for (size_t i = 0; i < node->n_captured; i++)
        h->own[node->captured[i]] = h->wide[node->captured[i]] = true;
    for (int o = 0; converts && o < node->n_out; o++)
        if (node->out[o] >= 0 && c->is_f32[node->out[o]] && convert_out_follows(c->rows[n], o))
            h->made[node->out[o]] = true;
}

static void halving_name(struct halving *h, int v)
{
    const char *suffix = h->c->to == ODB_F16 ? "f16" : "bf16";
    char *name = (char *)(uintptr_t)h->c->graph->values[v].name;
    bool slim_is_own =
        h->made[v] ? !h->own[v] : h->c->data[v] && h->slim[v] && !h->wide[v] && !h->own[v];
    if (slim_is_own) {
        h->slim_name[v] = name;
        h->wide_name[v] = h->wide[v] ? rewrite_name(&h->r, v, "f32") : NULL;
    } else {
        h->wide_name[v] = name;
        h->slim_name[v] = h->slim[v] || h->made[v] ? rewrite_name(&h->r, v, suffix) : NULL;
    }
}

static void halving_init(struct halving *h, const struct odb_convert *c,
                         const struct odb_convert_form *form)
{
    const struct odb_graph *graph = c->graph;
    *h = (struct halving){.c = c, .keep = form->keep};
    rewrite_init(&h->r, c->model, form);
    bool **marks[] = {&h->made, &h->wide, &h->slim, &h->own, &h->declared};
    for (size_t i = 0; i < ODB_COUNT(marks); i++)
        *marks[i] = arena_new_n(h->r.arena, bool, graph->n_values);
    h->wide_name = arena_new_n(h->r.arena, char *, graph->n_values);
    h->slim_name = arena_new_n(h->r.arena, char *, graph->n_values);
    for (size_t n = 0; n < graph->n_nodes; n++)
        halving_mark_node(h, n);
    for (size_t v = 0; v < graph->n_values; v++) {
        if (graph->values[v].is_output)
            h->own[v] = h->wide[v] = true;
        if (c->is_f32[v])
            halving_name(h, (int)v);
    }
}

/* A value in float32 and the type: a Cast behind the node that makes it, or at the top. */
static void halving_add_cast(struct halving *h, int v)
{
    bool made = h->made[v];
    if (!h->c->is_f32[v] || h->c->data[v] || !(made ? h->wide[v] : h->slim[v]))
        return;
    char *from = made ? h->slim_name[v] : h->wide_name[v];
    char *to = made ? h->wide_name[v] : h->slim_name[v];
    Onnx__NodeProto *node = rewrite_add(&h->r, "Cast", 1, &from, to);
    if (strcmp(to, h->c->graph->values[v].name) == 0) /* which a node may bear */
        node->name = rewrite_name(&h->r, v, "cast");
    Onnx__AttributeProto *attr =
        rewrite_add_attr(&h->r, node, "to", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
    attr->has_i = true;
    attr->i = made ? ODB_F32 : h->c->to;
}

/* Weights in the type, as themselves or beside the original. */
static enum odb_status halving_add_weights(struct halving *h, struct odb_error *err)
{
    const struct odb_convert *c = h->c;
    for (size_t v = 0; v < c->graph->n_values; v++) {
        if (!c->data[v] || !h->slim[v])
            continue;
        double beyond = convert_overflow(c->data[v], c->narrow[v]);
        if (beyond != 0)
            return odb_fail(err, ODB_E_MODEL, "weight '%s' holds %g, which %s cannot hold",
                            c->graph->values[v].name, beyond, convert_type_name(c->to));
        ODB_TRY(rewrite_weight(&h->r, c->narrow[v], h->slim_name[v], err));
        h->r.gone[v] = !h->wide_name[v];
    }
    return ODB_OK;
}

static char *halving_in_name(const struct halving *h, size_t n, int i)
{
    int v = h->c->graph->nodes[n].in[i];
    if (v < 0 || !h->c->is_f32[v])
        return NULL;
    if (halving_reads_any(h, n))
        return h->made[v] || !h->wide_name[v] ? h->slim_name[v] : h->wide_name[v];
    return halving_converts(h, n) && convert_in_follows(h->c->rows[n], i) ? h->slim_name[v]
                                                                          : h->wide_name[v];
}

/* What says that an output is float32 says that it is the type. */
static enum odb_status halving_attrs(struct halving *h, size_t n, Onnx__NodeProto *copy,
                                     struct odb_error *err)
{
    const struct odb_node *node = &h->c->graph->nodes[n];
    enum odb_halves_note note = h->c->rows[n]->note;
    if ((note != ODB_HALVES_TO && note != ODB_HALVES_VALUE) || node->out[0] < 0 ||
        !h->made[node->out[0]])
        return ODB_OK;
    Onnx__AttributeProto *attr = rewrite_attr(&h->r, copy, note == ODB_HALVES_TO ? "to" : "value");
    if (note == ODB_HALVES_TO) {
        if (attr)
            attr->i = h->c->to;
        return ODB_OK;
    }
    const struct odb_attr *value = odb_attrs_find(&node->attrs, "value");
    struct odb_tensor *t = NULL;
    if (value)
        ODB_TRY(odb_tensor_cast(&t, value->tensors[0], h->c->to, err));
    else
        ODB_TRY(odb_tensor_new(&t, h->c->to, 1, (int64_t[]){1}, err));
    odb_push(&h->r.kept, t);
    if (!attr)
        attr =
            rewrite_add_attr(&h->r, copy, "value", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR);
    attr->t = odb_model__tensor_message(t, NULL, h->r.arena);
    return ODB_OK;
}

static enum odb_status halving_add_node(struct halving *h, size_t n, struct odb_error *err)
{
    const struct odb_node *node = &h->c->graph->nodes[n];
    int only = node->n_out == 1 ? node->out[0] : ODB_NO_VALUE;
    if (only >= 0 && h->c->data[only] && h->slim[only] && !h->wide_name[only])
        return ODB_OK; /* a Constant that became a weight */
    Onnx__NodeProto *copy = rewrite_copy(&h->r, (int)n);
    for (int i = 0; i < node->n_in && (size_t)i < copy->n_input; i++) {
        char *name = halving_in_name(h, n, i);
        if (name)
            copy->input[i] = name;
    }
    for (int o = 0; o < node->n_out && (size_t)o < copy->n_output; o++)
        if (node->out[o] >= 0 && h->made[node->out[o]] && copy->output[o][0])
            copy->output[o] = h->slim_name[node->out[o]];
    if (halving_converts(h, n))
        ODB_TRY(halving_attrs(h, n, copy, err));
    rewrite_push(&h->r, copy, (int)n);
    for (int o = 0; o < node->n_out; o++)
        if (node->out[o] >= 0)
            halving_add_cast(h, node->out[o]);
    return ODB_OK;
}

static void halving_declare(struct halving *h, int v)
{
    const char *name = h->c->graph->values[v].name;
    if (!h->c->is_f32[v] || h->c->graph->values[v].is_input)
        return;
    h->declared[v] = !h->c->graph->values[v].is_output;
    if (h->slim_name[v])
        rewrite_info(&h->r, v, h->slim_name[v], h->c->to);
    if (h->wide_name[v] && !(h->c->graph->values[v].is_output && h->wide_name[v] == name))
        rewrite_info(&h->r, v, h->wide_name[v], ODB_F32);
}

static enum odb_status convert_halve(const struct odb_convert *c,
                                     const struct odb_convert_form *form, struct odb_buf *out,
                                     struct odb_error *err)
{
    struct halving h;
    enum odb_status status;
    halving_init(&h, c, form);
    ODB_TRY_OUT(halving_add_weights(&h, err));
    for (size_t v = 0; v < c->graph->n_values; v++)
        if (c->graph->values[v].producer == ODB_NO_NODE)
            halving_add_cast(&h, (int)v);
    for (size_t n = 0; n < c->graph->n_nodes; n++)
        ODB_TRY_OUT(halving_add_node(&h, n, err));
    for (size_t v = 0; v < c->graph->n_values; v++)
        halving_declare(&h, (int)v);
    status = rewrite_finish(&h.r, h.declared, form, out, err);
out:
    rewrite_dispose(&h.r);
    return status;
}

enum odb_status odb_convert_write(const struct odb_convert *c, const struct odb_convert_form *form,
                                  struct odb_buf *out, struct odb_error *err)
{
    if (c->to != ODB_I8)
        return convert_halve(c, form, out, err);
    struct rewrite r;
    rewrite_init(&r, c->model, form);
    enum odb_status status = convert_quantize_write(c, &r, form, out, err);
    rewrite_dispose(&r);
    return status;
}
