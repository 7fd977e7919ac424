/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nearly all tensors are finite and small, so each gets one pass that the compiler can vectorise:
 * the largest magnitude, taken of the bits, where NaN > Inf > every number. Only a tensor whose
 * largest says so is looked at element by element.
 */
#include "report/firsts.h"

#include <math.h>
#include <stdint.h>

#include "base/simd.h"
#include "run/feeds.h"

#define FIRSTS_F16_ROUNDS_TO_INF 65520.0 /* from here on the nearest float16 is Inf */

#define FIRSTS_LARGEST(T, magnitudes)                                                              \
    static ODB_SIMD T##_t firsts_largest_##T(const odb_##magnitudes *bits, size_t n)               \
    {                                                                                              \
        T##_t most = 0, rest = (T##_t)((T##_t) - 1 >> 1);                                          \
        for (size_t i = 0; i < n; i++) {                                                           \
            T##_t magnitude = (T##_t)(bits[i] & rest);                                             \
            most = magnitude > most ? magnitude : most;                                            \
        }                                                                                          \
        return most;                                                                               \
    }
FIRSTS_LARGEST(uint16, u16)
FIRSTS_LARGEST(uint32, u32)
FIRSTS_LARGEST(uint64, u64)

/* The largest magnitude of a type whose numbers are ordered as their bits are; NaN: there is one,
 * or the type is another. */
static double firsts_largest(const struct odb_tensor *t)
{
    uint16_t half;
    uint32_t single;
    uint64_t twice;
    switch (t->dtype) {
    case ODB_F16:
    case ODB_BF16:
        half = firsts_largest_uint16(t->data, t->count);
        return odb_load_f64(t->dtype, &half, 0);
    case ODB_F32:
        single = firsts_largest_uint32(t->data, t->count);
        return odb_load_f64(t->dtype, &single, 0);
    case ODB_F64:
        twice = firsts_largest_uint64(t->data, t->count);
        return odb_load_f64(t->dtype, &twice, 0);
    default:
        return NAN;
    }
}

static void firsts_set(int *first, int value)
{
    if (*first == ODB_NO_VALUE)
        *first = value;
}

/* Looks at a float tensor by its largest magnitude alone; false when that does not tell. */
static bool firsts_by_largest(struct odb_firsts *out, int value, const struct odb_tensor *t)
{
    double most = firsts_largest(t);
    if (isfinite(most) && most >= FIRSTS_F16_ROUNDS_TO_INF)
        firsts_set(&out->beyond_f16, value);
    return isfinite(most);
}

static void firsts_look(struct odb_firsts *out, int value, const struct odb_tensor *t)
{
    if (!t || t->kind != ODB_TENSOR || !t->data || !odb_dtype_is_float(t->dtype) ||
        firsts_by_largest(out, value, t))
        return;
    for (size_t i = 0; i < t->count; i++) {
        double v = odb_tensor_f64(t, i);
        if (isnan(v))
            firsts_set(&out->nan, value);
        else if (isinf(v))
            firsts_set(&out->inf, value);
        else if (fabs(v) >= FIRSTS_F16_ROUNDS_TO_INF)
            firsts_set(&out->beyond_f16, value);
    }
}

void odb_firsts_find(struct odb_firsts *out, const struct odb_graph *graph,
                     const struct odb_feeds *feeds, struct odb_tensor *const *values)
{
    *out = (struct odb_firsts)ODB_FIRSTS_NONE;
    for (size_t f = 0; feeds && f < feeds->n; f++)
        firsts_look(out, feeds->items[f].value, feeds->items[f].tensor);
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        bool all =
            out->nan != ODB_NO_VALUE && out->inf != ODB_NO_VALUE && out->beyond_f16 != ODB_NO_VALUE;
        for (int o = 0; o < node->n_out && !all; o++)
            if (node->out[o] >= 0)
                firsts_look(out, node->out[o], values[node->out[o]]);
    }
}
