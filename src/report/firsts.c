/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nearly all tensors are finite and small, so each gets one pass that the compiler can vectorise:
 * the largest magnitude, taken of the bits, where NaN > Inf > every number. Only a tensor whose
 * largest says so is looked at element by element.
 */
#include "report/firsts.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/simd.h"
#include "run/feeds.h"
#include "system/parallel.h"

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

/* What a value holds. */
enum { FIRSTS_NAN = 1, FIRSTS_INF = 2, FIRSTS_BEYOND = 4 };

static unsigned char firsts_look(const struct odb_tensor *t)
{
    unsigned char held = 0;
    if (!t || t->kind != ODB_TENSOR || !t->data || !odb_dtype_is_float(t->dtype))
        return held;
    double most = firsts_largest(t);
    if (isfinite(most))
        return most >= FIRSTS_F16_ROUNDS_TO_INF ? FIRSTS_BEYOND : 0;
    for (size_t i = 0; i < t->count; i++) {
        double v = odb_tensor_f64(t, i);
        held |= isnan(v)                              ? FIRSTS_NAN
                : isinf(v)                            ? FIRSTS_INF
                : fabs(v) >= FIRSTS_F16_ROUNDS_TO_INF ? FIRSTS_BEYOND
                                                      : 0;
    }
    return held;
}

struct firsts {
    const struct odb_graph *graph;    /* borrowed */
    struct odb_tensor *const *values; /* borrowed */
    unsigned char *held;              /* [n_values], of what nodes make */
};

static void firsts_look_at_some(void *arg, size_t begin, size_t end)
{
    const struct firsts *firsts = arg;
    for (size_t v = begin; v < end; v++)
        if (firsts->graph->values[v].producer != ODB_NO_NODE)
            firsts->held[v] = firsts_look(firsts->values[v]);
}

static void firsts_set(struct odb_firsts *out, int value, unsigned char held)
{
    if (held & FIRSTS_NAN && out->nan == ODB_NO_VALUE)
        out->nan = value;
    if (held & FIRSTS_INF && out->inf == ODB_NO_VALUE)
        out->inf = value;
    if (held & FIRSTS_BEYOND && out->beyond_f16 == ODB_NO_VALUE)
        out->beyond_f16 = value;
}

void odb_firsts_find(struct odb_firsts *out, const struct odb_graph *graph,
                     const struct odb_feeds *feeds, struct odb_tensor *const *values)
{
    struct firsts firsts = {graph, values, odb_new_n(unsigned char, graph->n_values)};
    odb_parallel_for(graph->n_values, 1, firsts_look_at_some, &firsts);
    *out = (struct odb_firsts)ODB_FIRSTS_NONE;
    for (size_t f = 0; feeds && f < feeds->n; f++)
        firsts_set(out, feeds->items[f].value, firsts_look(feeds->items[f].tensor));
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        for (int o = 0; o < node->n_out; o++)
            if (node->out[o] >= 0)
                firsts_set(out, node->out[o], firsts.held[node->out[o]]);
    }
    free(firsts.held);
}
