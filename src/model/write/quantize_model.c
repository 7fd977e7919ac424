/* SPDX-License-Identifier: MIT */
#include "model/write/convert_int.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"

#define QUANTIZE_PER_CHANNEL 13 /* opset of QuantizeLinear with an axis */

/* The product that a node is; inputs 0 and 1 are its operands. */
static bool quantize_is(const struct odb_node *node, const char *op)
{
    return !node->domain[0] && strcmp(node->op_type, op) == 0;
}

static bool quantize_is_product(const struct odb_node *node)
{
    return (quantize_is(node, "MatMul") || quantize_is(node, "Gemm") ||
            quantize_is(node, "Conv")) &&
           node->n_in >= 2;
}

/* The axis of the output channels of a weight at input i; -1: one scale for all. */
static int quantize_axis(const struct odb_convert *c, const struct odb_node *node, int i,
                         const struct odb_tensor *t)
{
    const struct odb_attr *trans = odb_attrs_find(&node->attrs, "transB");
    if (node->opset < QUANTIZE_PER_CHANNEL || c->to != ODB_I8 || i != 1)
        return -1;
    if (quantize_is(node, "Conv"))
        return t->rank >= 1 ? 0 : -1;
    if (t->rank != 2)
        return -1;
    return quantize_is(node, "Gemm") && trans && trans->i ? 0 : 1;
}

/* --- weights ---------------------------------------------------------------------------------- */

static size_t quantize_inner(const struct odb_tensor *t, int axis)
{
    size_t inner = 1;
    for (int d = axis + 1; axis >= 0 && d < t->rank; d++)
        inner *= (size_t)t->dims[d];
    return inner;
}

/* Scales that put the largest number of each channel at 127. */
static enum odb_status quantize_scales(const struct odb_tensor *t, int axis,
                                       struct odb_tensor **out, struct odb_error *err)
{
    size_t inner = quantize_inner(t, axis);
    size_t n = axis < 0 ? 1 : (size_t)t->dims[axis];
    const odb_f32 *x = t->data;
    ODB_TRY(odb_tensor_new(out, ODB_F32, axis >= 0, (int64_t[]){(int64_t)n}, err));
    odb_f32 *scale = (*out)->data;
    for (size_t i = 0; i < t->count; i++) {
        size_t k = axis < 0 ? 0 : i / inner % n;
        scale[k] = fmaxf(scale[k], fabsf(x[i]));
    }
    for (size_t k = 0; k < n; k++) {
        scale[k] /= 127;
        if (scale[k] < FLT_MIN) /* nothing but zeros, as far as float goes */
            scale[k] = 1;
    }
    return ODB_OK;
}

static enum odb_status quantize_weight(struct odb_convert *c, int value, int axis,
                                       struct odb_error *err)
{
    const struct odb_tensor *t = c->data[value];
    ODB_TRY(quantize_scales(t, axis, &c->scale[value], err));
    ODB_TRY(odb_tensor_new(&c->narrow[value], ODB_I8, t->rank, t->dims, err));
    /* all zero, and written all the same: ONNX Runtime's fused kernels want it of the scale's shape
     */
    ODB_TRY(
        odb_tensor_new(&c->zero[value], ODB_I8, c->scale[value]->rank, c->scale[value]->dims, err));
    size_t inner = quantize_inner(t, axis), n = c->scale[value]->count;
    const odb_f32 *x = t->data, *scale = c->scale[value]->data;
    odb_i8 *q = c->narrow[value]->data;
    for (size_t i = 0; i < t->count; i++)
        q[i] = (int8_t)nearbyintf(x[i] / scale[axis < 0 ? 0 : i / inner % n]);
    c->axis[value] = axis;
    return ODB_OK;
}

static bool quantize_finite(const struct odb_tensor *t)
{
    const odb_f32 *x = t->data;
    for (size_t i = 0; i < t->count; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

/* --- what is computed ------------------------------------------------------------------------- */

/* 0 is always among what uint8 can say. */
static enum odb_status quantize_computed(struct odb_convert *c, int value, const double range[2],
                                         struct odb_error *err)
{
    double lo = fmin(range[0], 0), hi = fmax(range[1], 0);
    float scale = (float)((hi - lo) / 255);
    if (!(scale >= FLT_MIN))
        scale = 1;
    double zero = fmin(fmax(nearbyint(-lo / scale), 0), 255);
    ODB_TRY(odb_tensor_copy_of(&c->scale[value], ODB_F32, 0, NULL, &scale, err));
    ODB_TRY(odb_tensor_copy_of(&c->zero[value], ODB_U8, 0, NULL, &(uint8_t){(uint8_t)zero}, err));
    return ODB_OK;
}

/* --- the plan --------------------------------------------------------------------------------- */

static enum odb_status quantize_operand(struct odb_convert *c, int index, int i,
                                        const double (*range)[2], struct odb_error *err)
{
    const struct odb_node *node = &c->graph->nodes[index];
    int v = node->in[i];
    const char *name = c->graph->values[v].name;
    if (c->data[v]) {
        int axis = quantize_axis(c, node, i, c->data[v]);
        if (c->narrow[v] ? c->axis[v] != axis : !quantize_finite(c->data[v]))
            convert_stay(c, index,
                         c->narrow[v] ? "its weight %s has its channels along another "
                                        "axis for another node"
                                      : "its weight %s is not finite",
                         name);
        else if (!c->narrow[v])
            return quantize_weight(c, v, axis, err);
        return ODB_OK;
    }
    if (!range || !(isfinite(range[v][0]) && isfinite(range[v][1])) ||
        (range[v][0] == 0 && range[v][1] == 0))
        convert_stay(c, index, "the range of %s is not known, not finite, or nothing but zero",
                     name);
    else if (!c->scale[v])
        return quantize_computed(c, v, range[v], err);
    return ODB_OK;
}

enum odb_status convert_quantize_plan(struct odb_convert *c,
                                      const struct odb_convert_options *options,
                                      struct odb_error *err)
{
    for (size_t n = 0; n < c->graph->n_nodes; n++) {
        const struct odb_node *node = &c->graph->nodes[n];
        if (!quantize_is_product(node) || node->in[0] < 0 || node->in[1] < 0 ||
            !c->is_f32[node->in[0]] || !c->is_f32[node->in[1]])
            continue;
        c->classes[n] = ODB_CONVERT_FREE;
        for (int i = 0; i < 2 && c->classes[n] == ODB_CONVERT_FREE; i++)
            ODB_TRY(quantize_operand(c, (int)n, i, options->range, err));
    }
    return ODB_OK;
}

enum odb_status odb_convert_operand(const struct odb_convert *c, int node, int i,
                                    const struct odb_tensor *given, struct odb_tensor **out,
                                    struct odb_error *err)
{
    int v = c->graph->nodes[node].in[i];
    const struct odb_tensor *t = v >= 0 && c->data[v] ? c->data[v] : given;
    *out = odb_tensor_ref(t);
    if (c->to != ODB_I8 || i > 1 || v < 0 || !c->scale[v] || !t || t->dtype != ODB_F32)
        return ODB_OK;
    odb_tensor_unref(*out);
    *out = NULL;
    ODB_TRY(odb_tensor_new_raw(out, ODB_F32, t->rank, t->dims, err));
    const odb_f32 *x = t->data, *scale = c->scale[v]->data;
    odb_f32 *to = (*out)->data;
    if (c->narrow[v]) {
        const odb_i8 *q = c->narrow[v]->data;
        size_t inner = quantize_inner(t, c->axis[v]), n = c->scale[v]->count;
        for (size_t k = 0; k < t->count; k++)
            to[k] = q[k] * scale[c->axis[v] < 0 ? 0 : k / inner % n];
        return ODB_OK;
    }
    float zero = (float)odb_tensor_i64(c->zero[v], 0);
    for (size_t k = 0; k < t->count; k++)
        to[k] = (fminf(fmaxf(nearbyintf(x[k] / *scale) + zero, 0), 255) - zero) * *scale;
    return ODB_OK;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* DequantizeLinear of a weight, or QuantizeLinear and DequantizeLinear of what is computed; *name
 * is what it is called behind that. */
static enum odb_status quantize_add(const struct odb_convert *c, struct rewrite *r, int v,
                                    char **name, struct odb_error *err)
{
    char *scale = rewrite_name(r, v, "scale"), *zero = rewrite_name(r, v, "zero_point");
    char *q = rewrite_name(r, v, "quantized"), *dq = rewrite_name(r, v, "dequantized");
    char *own = (char *)(uintptr_t)c->graph->values[v].name;
    ODB_TRY(rewrite_weight(r, c->scale[v], scale, err));
    ODB_TRY(rewrite_weight(r, c->zero[v], zero, err));
    *name = dq;
    if (c->narrow[v]) {
        ODB_TRY(rewrite_weight(r, c->narrow[v], q, err));
        Onnx__NodeProto *node =
            rewrite_add(r, "DequantizeLinear", 3, (char *[]){q, scale, zero}, dq);
        if (c->axis[v] < 0)
            return ODB_OK;
        Onnx__AttributeProto *axis =
            rewrite_add_attr(r, node, "axis", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
        axis->has_i = true;
        axis->i = c->axis[v];
        return ODB_OK;
    }
    rewrite_add(r, "QuantizeLinear", 3, (char *[]){own, scale, zero}, q);
    rewrite_add(r, "DequantizeLinear", 3, (char *[]){q, scale, zero}, dq);
    rewrite_info(r, v, q, ODB_U8);
    rewrite_info(r, v, dq, ODB_F32);
    return ODB_OK;
}

/* Marks what is read in int8, and the weights that are read in no other way. */
static void quantize_mark(const struct odb_convert *c, struct rewrite *r, const bool *keep,
                          bool *quantized)
{
    bool *plain = arena_new_n(r->arena, bool, c->graph->n_values);
    for (size_t n = 0; n < c->graph->n_nodes; n++) {
        const struct odb_node *node = &c->graph->nodes[n];
        bool converts = c->classes[n] == ODB_CONVERT_FREE && !(keep && keep[n]);
        for (int i = 0; i < node->n_in; i++)
            if (node->in[i] >= 0)
                (converts && i < 2 ? quantized : plain)[node->in[i]] = true;
        for (size_t i = 0; i < node->n_captured; i++)
            plain[node->captured[i]] = true;
    }
    for (size_t v = 0; v < c->graph->n_values; v++)
        r->gone[v] = quantized[v] && c->data[v] && !plain[v] && !c->graph->values[v].is_output;
}

enum odb_status convert_quantize_write(const struct odb_convert *c, struct rewrite *r,
                                       const struct odb_convert_form *form, struct odb_buf *out,
                                       struct odb_error *err)
{
    const struct odb_graph *graph = c->graph;
    bool *quantized = arena_new_n(r->arena, bool, graph->n_values);
    char **name = arena_new_n(r->arena, char *, graph->n_values);
    quantize_mark(c, r, form->keep, quantized);
    for (size_t v = 0; v < graph->n_values; v++)
        if (quantized[v] && (graph->values[v].producer == ODB_NO_NODE || c->data[v]))
            ODB_TRY(quantize_add(c, r, (int)v, &name[v], err));
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        bool converts = c->classes[n] == ODB_CONVERT_FREE && !(form->keep && form->keep[n]);
        if (node->n_out == 1 && node->out[0] >= 0 && r->gone[node->out[0]])
            continue; /* a Constant */
        Onnx__NodeProto *copy = rewrite_copy(r, (int)n);
        for (int i = 0; converts && i < 2; i++)
            copy->input[i] = name[node->in[i]];
        rewrite_push(r, copy, (int)n);
        for (int o = 0; o < node->n_out; o++)
            if (node->out[o] >= 0 && quantized[node->out[o]] && !c->data[node->out[o]])
                ODB_TRY(quantize_add(c, r, node->out[o], &name[node->out[o]], err));
    }
    return rewrite_finish(r, r->gone, form, out, err);
}
