/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sequence/plan/padding.h"

#include <string.h>

bool odb_padding_is(const struct odb_tensor *t, size_t places)
{
    bool some = false, row = false;
    if (!t || t->kind != ODB_TENSOR || !t->data || t->dtype == ODB_STRING || t->rank != 2 ||
        t->dims[1] != (int64_t)places)
        return false;
    for (size_t i = 0; i < t->count; i++) {
        double v = odb_tensor_f64(t, i);
        row = (i % places && row) || v == 1;
        some |= v == 0;
        if ((v != 0 && v != 1) || (i % places == places - 1 && !row))
            return false;
    }
    return some;
}

const struct odb_tensor *odb_padding_find(const struct odb_plan *plan, struct odb_tensor *const *in,
                                          size_t places)
{
    const struct odb_tensor *found = NULL;
    for (size_t i = 0; i < plan->inputs.n; i++) {
        if (!odb_plan_may_mask(plan, i) || !odb_padding_is(in[i], places))
            continue;
        if (found)
            return NULL;
        found = in[i];
    }
    return found;
}

enum odb_status odb_padding_take(struct odb_tensor **out, const struct odb_tensor *t,
                                 const struct odb_tensor *of, const struct odb_tensor *mask,
                                 int axis, size_t first, struct odb_error *err)
{
    bool fits = axis > 0 && axis < t->rank && odb_tensor_same_shape(t, of) &&
                t->dtype == of->dtype && t->dims[0] == mask->dims[0] &&
                (int64_t)first + t->dims[axis] <= mask->dims[1] && t->dtype != ODB_STRING &&
                t->count && t->bytes % t->count == 0;
    if (!fits) {
        *out = odb_tensor_ref((struct odb_tensor *)t);
        return ODB_OK;
    }
    size_t inner = t->bytes / t->count, n = (size_t)t->dims[axis], rows = (size_t)t->dims[0];
    for (int i = axis + 1; i < t->rank; i++)
        inner *= (size_t)t->dims[i];
    size_t outer = t->bytes / inner / n / rows; /* between the rows and the axis */
    ODB_TRY(odb_tensor_copy_of(out, t->dtype, t->rank, t->dims, t->data, err));
    for (size_t i = 0; i < rows * outer * n; i++) {
        size_t row = i / (outer * n), place = first + i % n;
        if (odb_tensor_f64(mask, row * (size_t)mask->dims[1] + place) == 0)
            memcpy((char *)(*out)->data + i * inner, (const char *)of->data + i * inner, inner);
    }
    return ODB_OK;
}
