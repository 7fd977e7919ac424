/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/integers.h"

#include "tensor/tensor_print.h"

#define INTEGERS_MOST 8

static bool integers_are(const struct odb_tensor *t)
{
    bool exact = t && t->kind == ODB_TENSOR && t->data &&
                 (odb_dtype_is_integer(t->dtype) || t->dtype == ODB_BOOL);
    return exact && t->rank <= 1 && t->count && t->count <= INTEGERS_MOST;
}

static void integers_put(const struct odb_tensor *t, struct odb_buf *out)
{
    odb_buf_puts(out, t->rank ? "[" : "");
    for (size_t i = 0; i < t->count; i++) {
        odb_buf_puts(out, i ? ", " : "");
        odb_print_element(out, t, i);
    }
    odb_buf_puts(out, t->rank ? "]" : "");
}

void odb_report_put_integers(const struct odb_tensor *t, const struct odb_tensor *ref,
                             const char *whose, struct odb_buf *out)
{
    bool differ = false;
    if (!integers_are(t) || !integers_are(ref) || t->dtype != ref->dtype ||
        !odb_tensor_same_shape(t, ref))
        return;
    for (size_t i = 0; i < t->count; i++)
        differ |= odb_tensor_i64(t, i) != odb_tensor_i64(ref, i);
    if (!differ)
        return;
    odb_buf_puts(out, "It holds ");
    integers_put(t, out);
    odb_buf_printf(out, " where %s has ", whose);
    integers_put(ref, out);
    odb_buf_puts(out, ". ");
}
