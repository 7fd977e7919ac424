/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sequence/error_place.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "reference/trace.h"

#define PLACE_ROWS 3 /* that are told one by one */

static double place_error(const struct odb_tensor *t, const struct odb_tensor *b, size_t i,
                          size_t of)
{
    double x = odb_tensor_f64(t, i), y = odb_tensor_f64(b, of);
    if (isnan(x) && isnan(y))
        return 0;
    return isnan(x) || isnan(y) ? INFINITY : x == y ? 0 : fabs(x - y);
}

static double place_limit(const struct odb_tensor *b, double least)
{
    double squares = 0;
    size_t n = 0;
    for (size_t i = 0; i < b->count; i++) {
        double v = odb_tensor_f64(b, i);
        squares += isfinite(v) ? v * v : 0;
        n += isfinite(v);
    }
    return n ? least * sqrt(squares / (double)n) : 0;
}

/* The only places along an axis with an error beyond the limit, in order: one, or of the first
 * axis, which is the batch's, a few. Returns how many; 0: more, or all that there are. */
static size_t place_only(const struct odb_tensor *t, const struct odb_tensor *b, int axis,
                         double limit, size_t only[PLACE_ROWS])
{
    size_t inner = 1, n = (size_t)b->dims[axis], found = 0, most = axis ? 1 : PLACE_ROWS;
    for (int i = axis + 1; i < b->rank; i++)
        inner *= (size_t)b->dims[i];
    for (size_t i = 0; i < b->count; i++) {
        size_t at = i / inner % n, k = 0;
        if (place_error(t, b, i, i) <= limit)
            continue;
        while (k < found && only[k] != at)
            k++;
        if (k == most)
            return 0;
        if (k == found)
            only[found++] = at;
    }
    return found < n ? found : 0;
}

/* Whether these rows are all that the mask says are padded. */
static bool place_are_padded(const struct odb_tensor *mask, const size_t *rows, size_t n)
{
    size_t padded = 0, named = 0;
    for (size_t row = 0; row < (size_t)mask->dims[0]; row++) {
        bool full = true, is_named = false;
        for (size_t i = 0; i < (size_t)mask->dims[1]; i++)
            full = full && odb_tensor_f64(mask, row * (size_t)mask->dims[1] + i) != 0;
        for (size_t i = 0; i < n; i++)
            is_named = is_named || rows[i] == row;
        padded += !full;
        named += !full && is_named;
    }
    return named == n && padded == n;
}

/* Where a place of the axis holds, wherever it is wrong, what the reference has so many before it.
 */
static bool place_shifted(const struct odb_tensor *t, const struct odb_tensor *b, int axis,
                          int64_t by, double limit)
{
    size_t inner = 1, n = (size_t)b->dims[axis], wrong = 0, explained = 0;
    for (int i = axis + 1; i < b->rank; i++)
        inner *= (size_t)b->dims[i];
    for (size_t i = 0; i < b->count; i++) {
        int64_t at = (int64_t)(i / inner % n), from = at - by;
        if (place_error(t, b, i, i) <= limit || from < 0 || from >= (int64_t)n)
            continue;
        size_t of = (size_t)((int64_t)i - by * (int64_t)inner);
        double held = place_error(t, b, i, of);
        /* The place that lacks its own may hold anything. */
        wrong += held > limit;
        explained += held <= limit;
        if (wrong > inner)
            return false;
    }
    return explained > 0;
}

static const char *place_axis(const struct odb_tensor *b, int axis,
                              const struct odb_plan_input *carry)
{
    if (carry && axis == carry->axis)
        return "position";
    if (axis == 0)
        return "row";
    if (carry && b->rank == 4 && axis == 1)
        return "head";
    return carry && b->rank == 4 && axis == 2 ? "position" : NULL;
}

char *odb_error_place(const struct odb_tensor *target, const struct odb_tensor *reference,
                      double least, const struct odb_plan_input *carry,
                      const struct odb_tensor *mask)
{
    struct odb_buf out = ODB_BUF_INIT;
    if (!target || !target->data || target->kind != ODB_TENSOR || target->dtype == ODB_STRING ||
        !odb_tensor_same_shape(target, reference))
        return NULL;
    double limit = place_limit(reference, least);
    for (int axis = 0; axis < reference->rank; axis++) {
        size_t only[PLACE_ROWS], n = place_only(target, reference, axis, limit, only);
        const char *name = place_axis(reference, axis, carry);
        if (!n)
            continue;
        odb_buf_puts(&out, out.len ? ", " : "");
        if (n == 1 && !name)
            odb_buf_printf(&out, "place %zu of axis %d", only[0], axis);
        else
            odb_buf_printf(&out, "%s%s", name, n > 1 ? "s" : "");
        for (size_t i = 0; i < n && name; i++)
            odb_buf_printf(&out, "%s %zu", !i ? "" : i + 1 < n ? "," : " and", only[i]);
        if (name && !strcmp(name, "row") && mask && place_are_padded(mask, only, n))
            odb_buf_puts(&out, ", padded");
    }
    int axis = carry ? (carry->axis >= 0 ? carry->axis : reference->rank - 2) : -1;
    for (int by = -1; by <= 1 && axis >= 0 && carry->kind != ODB_CARRY_REPLACE; by += 2)
        if (place_shifted(target, reference, axis, by, limit)) {
            odb_buf_puts(&out, out.len ? ", " : "");
            odb_buf_puts(&out, by > 0 ? "written one place late" : "written one place early");
            break;
        }
    return out.len ? odb_buf_take(&out) : NULL;
}

double odb_error_gap(const struct odb_tensor *had, const struct odb_tensor *reference, bool carried)
{
    struct odb_gap gap;
    if (!had || !reference || (!carried && !odb_dtype_is_float(reference->dtype)))
        return NAN;
    odb_gap_measure(&gap, had, reference);
    if (gap.same)
        return 0;
    return gap.comparable && gap.pattern ? gap.error : INFINITY;
}
