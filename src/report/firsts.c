/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nearly all tensors are finite and small, so each gets one pass that the compiler can vectorise:
 * the largest magnitude, taken of the bits, where NaN > Inf > every number. Only a tensor whose
 * largest says so is looked at element by element.
 */
#include "report/firsts.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/simd.h"
#include "run/feeds.h"

#define FIRSTS_F16_ROUNDS_TO_INF 65520.0 /* from here on the nearest float16 is Inf */

static ODB_SIMD uint32_t firsts_largest_f32(const odb_u32 *bits, size_t n)
{
    uint32_t most = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t magnitude = bits[i] & 0x7fffffffu;
        most = magnitude > most ? magnitude : most;
    }
    return most;
}

static void firsts_set(int *first, int value)
{
    if (*first == ODB_NO_VALUE)
        *first = value;
}

/* Looks at a float tensor by its largest magnitude alone; false when that does not tell. */
static bool firsts_by_largest(struct odb_firsts *out, int value, const struct odb_tensor *t)
{
    if (t->dtype != ODB_F32)
        return false;
    uint32_t most = firsts_largest_f32(t->data, t->count);
    float v;
    memcpy(&v, &most, sizeof v);
    if (isfinite(v) && v >= FIRSTS_F16_ROUNDS_TO_INF)
        firsts_set(&out->beyond_f16, value);
    return isfinite(v);
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
