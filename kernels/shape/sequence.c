/* SPDX-License-Identifier: MIT
 *
 * Sequences and optionals. Their elements are immutable tensors, so every operator shares what it
 * keeps; only splitting and joining tensors copies, and that not always (parts.h).
 *
 * A sequence knows the element type that it was made for, so that an empty one keeps it; one read
 * from a file may not, and then takes any. What is handed over where an optional is expected may be
 * the value itself: it is an optional that has it.
 */
#include <stdlib.h>
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "kernels/shape/parts.h"

static enum odb_status sequence_give(struct odb_kern *k, enum odb_kind kind,
                                     struct odb_tensor *const *items, size_t n,
                                     enum odb_dtype dtype)
{
    ODB_TRY(odb_tensor_new_container(&k->out[0], kind, items, n, k->err));
    k->out[0]->dtype = dtype;
    return ODB_OK;
}

/* The type of a node's attribute as this call carries it. */
static enum odb_dtype sequence_carried(const struct odb_kern *k, enum odb_dtype dtype)
{
    return k->carry_f64 && odb_dtype_is_float(dtype) ? ODB_F64 : dtype;
}

/* The one element of input i, counted from the back where negative, in [-n, n - 1 + past_end]. */
static enum odb_status sequence_position(struct odb_kern *k, int i, size_t n, bool past_end,
                                         size_t *at)
{
    int64_t value, last = (int64_t)n - !past_end;
    size_t count;
    ODB_TRY(odb_kern_values(k, i, &value, 1, &count));
    if (count != 1)
        return ODB_KERN_FAIL(k, "the position must be one number");
    if (value < -(int64_t)n || value > last)
        return ODB_KERN_FAIL(k, "position %lld is outside of a sequence of %zu", (long long)value,
                             n);
    *at = (size_t)(value < 0 ? value + (int64_t)n : value);
    return ODB_OK;
}

/* --- making ----------------------------------------------------------------------------------- */

static enum odb_status sequence_run_construct(struct odb_kern *k)
{
    const struct odb_tensor *first = k->in[0];
    for (int i = 0; i < k->n_in; i++) {
        if (!k->in[i])
            return ODB_KERN_FAIL(k, "input %d is missing", i);
        if (k->in[i]->dtype != first->dtype)
            return ODB_KERN_FAIL(k, "input %d is %s, and input 0 is %s", i,
                                 odb_dtype_info(k->in[i]->dtype)->name,
                                 odb_dtype_info(first->dtype)->name);
    }
    return sequence_give(k, ODB_SEQUENCE, (struct odb_tensor *const *)k->in, (size_t)k->n_in,
                         first->dtype);
}

static enum odb_status sequence_run_empty(struct odb_kern *k)
{
    int64_t dtype = odb_kern_int(k, "dtype", ODB_F32);
    if (dtype <= ODB_UNDEFINED || dtype >= ODB_DTYPE_COUNT)
        return ODB_KERN_FAIL(k, "dtype %lld is no element type", (long long)dtype);
    return sequence_give(k, ODB_SEQUENCE, NULL, 0, sequence_carried(k, (enum odb_dtype)dtype));
}

/* --- changing --------------------------------------------------------------------------------- */

static enum odb_status sequence_run_insert(struct odb_kern *k)
{
    const struct odb_tensor *seq = k->in[0], *t = k->in[1];
    size_t n = seq->n_items, at = n;
    if (odb_kern_in(k, 2))
        ODB_TRY(sequence_position(k, 2, n, true, &at));
    if (seq->dtype != t->dtype && seq->dtype != ODB_UNDEFINED)
        return ODB_KERN_FAIL(k, "a tensor of %s cannot go into a sequence of %s",
                             odb_dtype_info(t->dtype)->name, odb_dtype_info(seq->dtype)->name);
    struct odb_tensor **items = odb_work_take(n + 1, sizeof *items);
    if (!items)
        return odb_kern_no_memory(k);
    for (size_t i = 0; i <= n; i++)
        items[i] = i == at ? (struct odb_tensor *)t : seq->items[i - (i > at)];
    enum odb_status status = sequence_give(k, ODB_SEQUENCE, items, n + 1, t->dtype);
    odb_work_give(items);
    return status;
}

static enum odb_status sequence_run_erase(struct odb_kern *k)
{
    const struct odb_tensor *seq = k->in[0];
    size_t n = seq->n_items, at = n - 1;
    if (n == 0)
        return ODB_KERN_FAIL(k, "the sequence is empty: there is nothing to erase");
    if (odb_kern_in(k, 1))
        ODB_TRY(sequence_position(k, 1, n, false, &at));
    struct odb_tensor **items = odb_work_take(n, sizeof *items);
    if (!items)
        return odb_kern_no_memory(k);
    for (size_t i = 0; i + 1 < n; i++)
        items[i] = seq->items[i + (i >= at)];
    enum odb_status status = sequence_give(k, ODB_SEQUENCE, items, n - 1, seq->dtype);
    odb_work_give(items);
    return status;
}

/* --- asking ----------------------------------------------------------------------------------- */

static enum odb_status sequence_run_at(struct odb_kern *k)
{
    size_t at = 0;
    ODB_TRY(sequence_position(k, 1, k->in[0]->n_items, false, &at));
    k->out[0] = odb_tensor_ref(k->in[0]->items[at]);
    return ODB_OK;
}

static enum odb_status sequence_infer_length(struct odb_kern *k)
{
    return odb_kern_outline(k, 0, ODB_I64, 0, NULL);
}

static enum odb_status sequence_run_length(struct odb_kern *k)
{
    *(odb_i64 *)k->out[0]->data = (int64_t)k->in[0]->n_items;
    return ODB_OK;
}

/* --- to tensors and back ---------------------------------------------------------------------- */

/* Where each part of the axis begins; bounds[n] is its end. A scalar split gives equal parts, of
 * which the last may be smaller. *bounds is
 * work memory, which the caller gives back. */
static enum odb_status sequence_bounds(struct odb_kern *k, int64_t dim, int64_t **bounds, size_t *n)
{
    const struct odb_tensor *split = odb_kern_in(k, 1);
    int64_t size = split && split->rank == 0 ? odb_tensor_i64(split, 0) : 1, sum = 0;
    bool listed = split && split->rank > 0;
    if (split && split->rank > 1)
        return ODB_KERN_FAIL(k, "split has %d dimensions; it must be a scalar or a list",
                             split->rank);
    if (size <= 0)
        return ODB_KERN_FAIL(k, "split is %lld, and must be positive", (long long)size);
    *n = listed ? split->count : (size_t)(dim / size + (dim % size != 0));
    for (size_t i = 0; listed && i < *n; i++) {
        int64_t len = odb_tensor_i64(split, i);
        if (len < 0 || __builtin_add_overflow(sum, len, &sum))
            return ODB_KERN_FAIL(k, "split[%zu] is %lld", i, (long long)len);
    }
    if (listed && sum != dim)
        return ODB_KERN_FAIL(k, "split adds up to %lld, but the axis has %lld elements",
                             (long long)sum, (long long)dim);
    *bounds = odb_work_take(*n + 1, sizeof **bounds);
    if (!*bounds)
        return odb_kern_no_memory(k);
    for (size_t i = 0; i < *n; i++)
        (*bounds)[i + 1] = listed ? (*bounds)[i] + odb_tensor_i64(split, i)
                                  : ODB_MIN(dim, (int64_t)(i + 1) * size);
    return ODB_OK;
}

static enum odb_status sequence_run_split(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    bool drop = !odb_kern_in(k, 1) && odb_kern_int(k, "keepdims", 1) == 0;
    int axis = 0;
    int64_t *bounds = NULL;
    size_t n = 0;
    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "axis", 0), x->rank, false, &axis));
    ODB_TRY(sequence_bounds(k, x->dims[axis], &bounds, &n));
    struct odb_tensor **items = odb_work_take(n, sizeof *items);
    enum odb_status status = items ? ODB_OK : odb_kern_no_memory(k);
    for (size_t i = 0; items && i < n; i++)
        ODB_TRY_OUT(
            odb_parts_take(&items[i], x, axis, bounds[i], bounds[i + 1] - bounds[i], drop, k->err));
    if (items)
        status = sequence_give(k, ODB_SEQUENCE, items, n, x->dtype);
out:
    for (size_t i = 0; items && i < n; i++)
        odb_tensor_unref(items[i]);
    odb_work_give(items);
    odb_work_give(bounds);
    return status;
}

static enum odb_status sequence_run_concat(struct odb_kern *k)
{
    const struct odb_tensor *seq = k->in[0];
    bool new_axis = odb_kern_int(k, "new_axis", 0) != 0;
    int axis = 0;
    if (!odb_kern_has(k, "axis"))
        return ODB_KERN_FAIL(k, "the attribute axis is missing");
    if (seq->n_items == 0)
        return ODB_KERN_FAIL(k, "an empty sequence cannot be joined to a tensor");
    ODB_TRY(
        odb_kern_axis(k, odb_kern_int(k, "axis", 0), seq->items[0]->rank + new_axis, false, &axis));
    return odb_parts_join(&k->out[0], seq->items, seq->n_items, axis, new_axis, k->err);
}

/* --- optionals -------------------------------------------------------------------------------- */

static enum odb_status sequence_run_optional(struct odb_kern *k)
{
    struct odb_tensor *item = (struct odb_tensor *)odb_kern_in(k, 0);
    const struct odb_attr *type = odb_attrs_find(&k->attrs, "type");
    if (!item && !type)
        return ODB_KERN_FAIL(k, "neither a value nor the attribute type is given");
    return sequence_give(k, ODB_OPTIONAL, &item, item != NULL,
                         item ? item->dtype : sequence_carried(k, type->dtype));
}

static enum odb_status sequence_infer_has(struct odb_kern *k)
{
    return odb_kern_outline(k, 0, ODB_BOOL, 0, NULL);
}

static enum odb_status sequence_run_has(struct odb_kern *k)
{
    const struct odb_tensor *x = odb_kern_in(k, 0);
    *(odb_u8 *)k->out[0]->data = x && (x->kind != ODB_OPTIONAL || x->n_items);
    return ODB_OK;
}

static enum odb_status sequence_run_get(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    if (x->kind == ODB_OPTIONAL && !x->n_items)
        return ODB_KERN_FAIL(k, "the optional is empty");
    k->out[0] = odb_tensor_ref(x->kind == ODB_OPTIONAL ? x->items[0] : x);
    return ODB_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

#define SEQUENCE_ATTRS(...)                                                                        \
    (const struct odb_attr_spec[])                                                                 \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            .name = NULL                                                                           \
        }                                                                                          \
    }
#define SEQUENCE_ROW(op, first, least, most, op_run, ...)                                          \
    {                                                                                              \
        .domain = "", .name = op, .since = first, .min_in = least, .max_in = most, .min_out = 1,   \
        .max_out = 1, .flags = ODB_OP_EXACT, .run = sequence_run_##op_run, __VA_ARGS__             \
    }
#define SEQUENCE_TYPES(...) .types = {__VA_ARGS__}
#define SEQUENCE_VALUE (ODB_T_ANY | ODB_T_SEQUENCE)

static const struct odb_attr_spec sequence_split_attrs[] = {
    {"axis", ODB_ATTR_INT, "0", false}, {"keepdims", ODB_ATTR_INT, "1", false}, {.name = NULL}};

const struct odb_op odb_ops_sequence[] = {
    SEQUENCE_ROW("SequenceConstruct", 11, 1, ODB_MANY, construct, SEQUENCE_TYPES(ODB_T_ANY),
                 ODB_NAMES("inputs...", "output_sequence")),
    SEQUENCE_ROW("SequenceEmpty", 11, 0, 0, empty,
                 .attrs = SEQUENCE_ATTRS({"dtype", ODB_ATTR_INT, NULL, false}),
                 ODB_NAMES("", "output")),
    SEQUENCE_ROW("SequenceInsert", 11, 2, 3, insert,
                 SEQUENCE_TYPES(ODB_T_SEQUENCE, ODB_T_ANY, ODB_T_INDEX),
                 ODB_NAMES("input_sequence,tensor,position", "output_sequence")),
    SEQUENCE_ROW("SequenceErase", 11, 1, 2, erase, SEQUENCE_TYPES(ODB_T_SEQUENCE, ODB_T_INDEX),
                 ODB_NAMES("input_sequence,position", "output_sequence")),
    SEQUENCE_ROW("SequenceAt", 11, 2, 2, at, SEQUENCE_TYPES(ODB_T_SEQUENCE, ODB_T_INDEX),
                 ODB_NAMES("input_sequence,position", "tensor")),
    SEQUENCE_ROW("SequenceLength", 11, 1, 1, length, SEQUENCE_TYPES(ODB_T_SEQUENCE),
                 .infer = sequence_infer_length, ODB_NAMES("input_sequence", "length")),
    SEQUENCE_ROW("SplitToSequence", 11, 1, 2, split, SEQUENCE_TYPES(ODB_T_ANY, ODB_T_INDEX),
                 .attrs = sequence_split_attrs, ODB_NAMES("input,split", "output_sequence")),
    SEQUENCE_ROW("SplitToSequence", 24, 1, 2, split, SEQUENCE_TYPES(ODB_T_ANY, ODB_T_INDEX),
                 .attrs = sequence_split_attrs),
    SEQUENCE_ROW("ConcatFromSequence", 11, 1, 1, concat, SEQUENCE_TYPES(ODB_T_SEQUENCE),
                 .attrs = SEQUENCE_ATTRS({"axis", ODB_ATTR_INT, NULL, true},
                                         {"new_axis", ODB_ATTR_INT, "0", false}),
                 ODB_NAMES("input_sequence", "concat_result")),
    SEQUENCE_ROW("Optional", 15, 0, 1, optional, SEQUENCE_TYPES(SEQUENCE_VALUE),
                 .attrs = SEQUENCE_ATTRS({"type", ODB_ATTR_TYPE_PROTO, NULL, false}),
                 ODB_NAMES("input", "output")),
    SEQUENCE_ROW("OptionalHasElement", 15, 1, 1, has,
                 SEQUENCE_TYPES(SEQUENCE_VALUE | ODB_T_OPTIONAL), .infer = sequence_infer_has,
                 ODB_NAMES("input", "output")),
    SEQUENCE_ROW("OptionalHasElement", 18, 0, 1, has,
                 SEQUENCE_TYPES(SEQUENCE_VALUE | ODB_T_OPTIONAL), .infer = sequence_infer_has),
    SEQUENCE_ROW("OptionalGetElement", 15, 1, 1, get,
                 SEQUENCE_TYPES(SEQUENCE_VALUE | ODB_T_OPTIONAL), ODB_NAMES("input", "output")),
    SEQUENCE_ROW("OptionalGetElement", 18, 1, 1, get,
                 SEQUENCE_TYPES(SEQUENCE_VALUE | ODB_T_OPTIONAL)),
    {.name = NULL},
};
