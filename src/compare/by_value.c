/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/by_value.h"

#include <stdlib.h>

#include "base/mem.h"
#include "compare/exact.h"

static bool by_value_is_number(enum odb_dtype dtype)
{
    return odb_dtype_is_float(dtype) || odb_dtype_is_integer(dtype) || dtype == ODB_BOOL;
}

/* Whether each element is the same number in both. */
static bool by_value_same(const struct odb_tensor *a, const struct odb_tensor *b)
{
    for (size_t i = 0; i < a->count; i++)
        if (!(odb_exact_value(a->dtype, a->data, i) == odb_exact_value(b->dtype, b->data, i)))
            return false;
    return true;
}

static enum odb_status by_value_tensor(struct odb_tensor **out, const struct odb_tensor *t,
                                       enum odb_dtype dtype, struct odb_error *err)
{
    bool floats = odb_dtype_is_float(t->dtype) && odb_dtype_is_float(dtype);
    struct odb_tensor *cast = NULL;
    if (t->dtype == dtype || !by_value_is_number(t->dtype) || !by_value_is_number(dtype)) {
        *out = odb_tensor_ref(t);
        return ODB_OK;
    }
    ODB_TRY(floats ? odb_tensor_cast_floats(&cast, t, dtype, err)
                   : odb_tensor_cast(&cast, t, dtype, err));
    if (!floats && t->data && !by_value_same(t, cast)) {
        odb_tensor_unref(cast);
        *out = odb_tensor_ref(t);
        return ODB_OK;
    }
    cast->held = t->dtype;
    odb_tensor_set_steps(cast, t->steps_axis, t->steps, t->n_steps);
    odb_tensor_set_read_as(cast, t->read_as ? t->read_as : odb_dtype_info(t->dtype)->name);
    *out = cast;
    return ODB_OK;
}

/* A sequence, or an optional, of what its items are. */
static enum odb_status by_value_items(struct odb_tensor **out, const struct odb_tensor *t,
                                      enum odb_dtype dtype, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    enum odb_dtype held = ODB_UNDEFINED;
    struct odb_tensor **items = odb_new_n(struct odb_tensor *, t->n_items + 1);
    for (size_t i = 0; i < t->n_items; i++) {
        ODB_TRY_OUT(odb_by_value(&items[i], t->items[i], dtype, err));
        held = items[i]->held ? items[i]->held : held;
    }
    if (held == ODB_UNDEFINED) {
        *out = odb_tensor_ref(t);
        goto out;
    }
    ODB_TRY_OUT(odb_tensor_new_container(out, t->kind, items, t->n_items, err));
    (*out)->held = held;
    odb_tensor_set_read_as(*out, odb_dtype_info(held)->name);
out:
    for (size_t i = 0; i < t->n_items; i++)
        odb_tensor_unref(items[i]);
    free(items);
    return status;
}

enum odb_status odb_by_value(struct odb_tensor **out, const struct odb_tensor *t,
                             enum odb_dtype dtype, struct odb_error *err)
{
    if (t->kind == ODB_TENSOR)
        return by_value_tensor(out, t, dtype, err);
    if (t->kind == ODB_SEQUENCE || t->kind == ODB_OPTIONAL)
        return by_value_items(out, t, dtype, err);
    *out = odb_tensor_ref(t);
    return ODB_OK;
}
