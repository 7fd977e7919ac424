/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/measure/other_order.h"

#include <string.h>

struct odb_tensor *odb_explain_other_order(const struct odb_tensor *t, uint64_t seed)
{
    struct odb_tensor *out = NULL;
    size_t size = odb_dtype_info(t->dtype)->bits / 8;
    char one[16];
    if (t->kind != ODB_TENSOR || !t->data || t->count < 2 || !size || size > sizeof one ||
        t->dtype == ODB_STRING || (!odb_dtype_is_float(t->dtype) && t->rank < 2) ||
        odb_tensor_clone(&out, t, NULL) != ODB_OK)
        return odb_tensor_ref(t);
    char *data = out->data;
    for (size_t i = t->count - 1; i > 0; i--) {
        seed = seed * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX generator */
        size_t j = (size_t)((seed >> 33) % (i + 1));
        memcpy(one, data + i * size, size);
        memcpy(data + i * size, data + j * size, size);
        memcpy(data + j * size, one, size);
    }
    if (!odb_tensor_identical(out, t))
        return out;
    odb_tensor_unref(out);
    return odb_tensor_ref(t);
}
