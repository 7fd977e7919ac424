/* SPDX-License-Identifier: MIT
 *
 * A call against what its row declares, before any kernel sees it: kernels read inputs of one type
 * as that type, and attributes as what the row says that they are.
 */
#include <stdio.h>
#include <string.h>

#include "kernels/core/kern.h"

/* --- what a row says -------------------------------------------------------------------------- */

#define SCHEMA_LINK (1u << 31)

/* Where in types[] it is said what input i is. */
static int schema_entry(const struct odb_op *op, int i)
{
    int at = i < ODB_OP_TYPES ? i : ODB_OP_TYPES - 1;
    while (at > 0 && !op->types[at])
        at--;
    return at;
}

uint32_t odb_op_types(const struct odb_op *op, int i)
{
    int at = schema_entry(op, i);
    while (op->types[at] & SCHEMA_LINK)
        at = schema_entry(op,
                          op->types[at] == ODB_EACH ? at - 1 : (int)(op->types[at] & ~SCHEMA_LINK));
    return op->types[at] ? op->types[at] : ODB_T_ANY;
}

int odb_op_type_of(const struct odb_op *op, int i)
{
    int at = schema_entry(op, i);
    if (op->types[at] == ODB_EACH)
        return i;
    while (op->types[at] & SCHEMA_LINK)
        at = schema_entry(op, (int)(op->types[at] & ~SCHEMA_LINK));
    return at;
}

const struct odb_attr_spec *odb_op_attr(const struct odb_op *op, const char *name)
{
    for (const struct odb_attr_spec *spec = op->attrs; spec && spec->name; spec++)
        if (*spec->name == *name && strcmp(spec->name, name) == 0)
            return spec;
    return NULL;
}

bool odb_op_attr_unknown(const struct odb_op *op, const char *name)
{
    bool standard = !*op->domain || strcmp(op->domain, "ai.onnx.ml") == 0;
    return standard && !(op->flags & ODB_OP_OPEN) && strncmp(name, "__", 2) != 0 &&
           !odb_op_attr(op, name);
}

/* --- inputs ----------------------------------------------------------------------------------- */

static const struct schema_container {
    uint32_t bit;
    const char *name;
} schema_containers[] = {[ODB_SEQUENCE] = {ODB_T_SEQUENCE, "a sequence"},
                         [ODB_OPTIONAL] = {ODB_T_OPTIONAL, "an optional"},
                         [ODB_SPARSE] = {ODB_T_SPARSE, "a sparse tensor"},
                         [ODB_MAP] = {ODB_T_MAP, "a map"}};

enum odb_dtype odb_call_dtype(const struct odb_call *call, int i)
{
    const struct odb_tensor *t = call->in[i];
    if (call->precision == ODB_PREC_F64 && call->inner && odb_dtype_is_float(t->dtype))
        return ODB_UNDEFINED;
    if (call->precision != ODB_PREC_F64 || t->dtype != ODB_F64)
        return t->dtype;
    return call->types && call->types[i] ? call->types[i] : t->declared;
}

/* Double mode carries any float that the operator takes as double. */
static bool schema_fits(const struct odb_call *call, int i, uint32_t mask)
{
    enum odb_dtype dtype = odb_call_dtype(call, i);
    bool carried = call->precision == ODB_PREC_F64 && odb_dtype_is_float(call->in[i]->dtype) &&
                   (call->in[i]->dtype == ODB_F64 || !dtype);
    return (dtype && ODB_BIT(dtype) & mask) || (carried && (mask & (ODB_T_FLOAT | ODB_T_FLOAT8)));
}

static enum odb_status schema_check_input(const struct odb_call *call, int i, struct odb_error *err)
{
    const struct odb_op *op = call->op;
    const struct odb_tensor *t = call->in[i];
    uint32_t mask = odb_op_types(op, i);
    if (!t)
        return i < op->min_in
                   ? odb_fail(err, ODB_E_OPERATOR, "input %d of %s is missing", i, op->name)
                   : ODB_OK;
    if (t->kind != ODB_TENSOR)
        return schema_containers[t->kind].bit & mask
                   ? ODB_OK
                   : odb_fail(err, ODB_E_OPERATOR, "input %d of %s is %s", i, op->name,
                              schema_containers[t->kind].name);
    if (!(mask & ODB_T_ANY))
        return odb_fail(err, ODB_E_OPERATOR, "input %d of %s must not be a tensor", i, op->name);
    if (!schema_fits(call, i, mask) && !op->run) /* the graph's own, which has no kernels */
        return odb_fail(err, ODB_E_OPERATOR, "input %d of %s must not be of type %s", i, op->name,
                        odb_dtype_info(t->dtype)->name);
    if (!schema_fits(call, i, mask))
        return odb_fail(err, ODB_UNSUPPORTED, "no %s kernel (opset %d) for input %d of type %s",
                        op->name, call->opset, i, odb_dtype_info(t->dtype)->name);
    return ODB_OK;
}

/* "a sequence of float"; returns buf. */
static const char *schema_type_text(const struct odb_call *call, int i, char *buf, size_t size)
{
    const struct odb_tensor *t = call->in[i];
    enum odb_dtype dtype = odb_call_dtype(call, i);
    bool tensor = t->kind == ODB_TENSOR;
    snprintf(buf, size, "%s%s%s", tensor ? "" : schema_containers[t->kind].name,
             !tensor && dtype ? " of " : "",
             dtype    ? odb_dtype_info(dtype)->name
             : tensor ? "of a float type"
                      : "");
    return buf;
}

/* Whether two inputs are of one type, as far as these are known. */
static bool schema_same(const struct odb_call *call, int i, int j)
{
    enum odb_dtype a = odb_call_dtype(call, i), b = odb_call_dtype(call, j);
    if (call->in[i]->kind != call->in[j]->kind)
        return false;
    if (a && b)
        return a == b;
    bool other = (a && !odb_dtype_is_float(a)) || (b && !odb_dtype_is_float(b));
    return call->in[i]->kind != ODB_TENSOR || !other;
}

/* What shares a type has one. */
static enum odb_status schema_check_shared(const struct odb_call *call, struct odb_error *err)
{
    int first[ODB_OP_TYPES];
    char a[60], b[60];
    for (int i = 0; i < ODB_OP_TYPES; i++)
        first[i] = -1;
    for (int i = 0; i < call->n_in; i++) {
        int of = odb_op_type_of(call->op, i);
        if (!call->in[i] || of >= ODB_OP_TYPES)
            continue;
        if (first[of] < 0) {
            first[of] = i;
            continue;
        }
        if (!schema_same(call, first[of], i))
            return odb_fail(err, ODB_E_OPERATOR,
                            "inputs %d and %d of %s must be of one type, and are %s and %s",
                            first[of], i, call->op->name,
                            schema_type_text(call, first[of], a, sizeof a),
                            schema_type_text(call, i, b, sizeof b));
        if (!odb_call_dtype(call, first[of]))
            first[of] = i; /* whose type is known, perhaps */
    }
    return ODB_OK;
}

/* --- attributes ------------------------------------------------------------------------------- */

const char *odb_attr_type_name(enum odb_attr_type type)
{
    static const char *const names[] = {[ODB_ATTR_UNDEFINED] = "UNDEFINED",
                                        [ODB_ATTR_FLOAT] = "FLOAT",
                                        [ODB_ATTR_INT] = "INT",
                                        [ODB_ATTR_STRING] = "STRING",
                                        [ODB_ATTR_TENSOR] = "TENSOR",
                                        [ODB_ATTR_GRAPH] = "GRAPH",
                                        [ODB_ATTR_FLOATS] = "FLOATS",
                                        [ODB_ATTR_INTS] = "INTS",
                                        [ODB_ATTR_STRINGS] = "STRINGS",
                                        [ODB_ATTR_TENSORS] = "TENSORS",
                                        [ODB_ATTR_GRAPHS] = "GRAPHS",
                                        [ODB_ATTR_SPARSE_TENSOR] = "SPARSE_TENSOR",
                                        [ODB_ATTR_SPARSE_TENSORS] = "SPARSE_TENSORS",
                                        [ODB_ATTR_TYPE_PROTO] = "TYPE_PROTO",
                                        [ODB_ATTR_TYPE_PROTOS] = "TYPE_PROTOS"};
    return (size_t)type < sizeof names / sizeof *names ? names[type] : "unknown";
}

/* Opset 1 named the inputs whose memory may be taken for outputs: that changes no value, and models
 * leave it out. A file of IR version 1 does not say of which type an empty list is. */
enum odb_status odb_op_check_attrs(const struct odb_op *op, int opset,
                                   const struct odb_attrs *attrs, struct odb_error *err)
{
    for (size_t i = 0; i < attrs->n; i++) {
        const struct odb_attr *attr = &attrs->items[i];
        const struct odb_attr_spec *spec = odb_op_attr(op, attr->name);
        if (odb_op_attr_unknown(op, attr->name))
            return odb_fail(err, ODB_E_OPERATOR, "%s has no attribute %.100s in opset %d", op->name,
                            attr->name, opset);
        if (spec && attr->type && attr->type != spec->type)
            return odb_fail(err, ODB_E_OPERATOR, "attribute %s of %s is of type %s, and must be %s",
                            spec->name, op->name, odb_attr_type_name(attr->type),
                            odb_attr_type_name(spec->type));
    }
    for (const struct odb_attr_spec *spec = op->attrs; spec && spec->name; spec++)
        if (spec->required && strcmp(spec->name, "consumed_inputs") != 0 &&
            !odb_attrs_find(attrs, spec->name))
            return odb_fail(err, ODB_E_OPERATOR, "attribute %s of %s is missing", spec->name,
                            op->name);
    return ODB_OK;
}

/* --- calls ------------------------------------------------------------------------------------ */

enum odb_status odb_op_check(const struct odb_call *call, struct odb_error *err)
{
    const struct odb_op *op = call->op;
    if (call->n_in < op->min_in || call->n_in > op->max_in)
        return odb_fail(err, ODB_E_OPERATOR, "%s takes %d to %d inputs, not %d", op->name,
                        op->min_in, op->max_in, call->n_in);
    if (call->n_out < op->min_out || call->n_out > op->max_out)
        return odb_fail(err, ODB_E_OPERATOR, "%s gives %d to %d outputs, not %d", op->name,
                        op->min_out, op->max_out, call->n_out);
    if (!call->inner)
        ODB_TRY(odb_op_check_attrs(op, call->opset, &call->attrs, err));
    for (int i = 0; i < call->n_in; i++)
        ODB_TRY(schema_check_input(call, i, err));
    return schema_check_shared(call, err);
}
