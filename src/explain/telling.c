/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/telling.h"

#include <math.h>
#include <stdlib.h>

#include "explain/accused_group.h"
#include "reference/trace.h"

#define TELLING_FAR 1e-3 /* over rms: outputs that are so far apart differ by no rounding */

static double telling_large(double x)
{
    return 32 * x;
}

static double telling_small(double x)
{
    return x / 32;
}

static double telling_negated(double x)
{
    return -x;
}

static double telling_halves(double x)
{
    return floor(x) + 0.5;
}

static double telling_subnormal(double x)
{
    return x * 0x1p-130;
}

static const struct telling {
    const char *words;
    double (*f)(double x);
} tellings[] = {
    {"32 times as large", telling_large},
    {"with the other sign", telling_negated},
    {"in the middle between integers", telling_halves},
    {"a 32nd as large", telling_small},
    {"so small that they are subnormal", telling_subnormal},
};

const char *telling_words(size_t k)
{
    return k < ODB_COUNT(tellings) ? tellings[k].words : NULL;
}

bool telling_make(struct odb_tensor **in, const struct accused *s, size_t k)
{
    bool other = false;
    for (int i = 0; i < s->node->n_in; i++) {
        int v = s->node->in[i];
        bool made = v >= 0 && !s->graph->values[v].init && accused_in(s, i) &&
                    odb_dtype_is_float(s->in[i]->dtype);
        in[i] = NULL;
        if (made && tensor_apply(&in[i], s->in[i], tellings[k].f, NULL) == ODB_OK)
            other = true;
        else
            in[i] = s->in[i] ? odb_tensor_ref(s->in[i]) : NULL;
    }
    return other;
}

static bool telling_far(const struct odb_tensor *x, const struct odb_tensor *y)
{
    struct odb_gap gap;
    if (!x || !y)
        return false;
    odb_gap_measure(&gap, x, y);
    return !gap.comparable || !gap.pattern || gap.error > TELLING_FAR;
}

/* Whether what the node at a place makes depends on what the group was fed: a constant may be
 * folded, whatever the kernel does. */
static bool telling_computed(const struct accused_group *g, size_t place)
{
    const struct odb_node *node = &g->graph->nodes[g->nodes[place]];
    bool computed = false;
    for (int i = 0; i < node->n_in && !computed; i++) {
        size_t before = group_before(g, place, i);
        computed = before < place ? telling_computed(g, before)
                                  : node->in[i] >= 0 && !g->graph->values[node->in[i]].init;
    }
    return computed;
}

int telling_value(const struct accused *s, const struct variant *first,
                  const struct variant *const *others, size_t n, size_t *told)
{
    const struct accused_group *g = s->group;
    size_t apart[GROUP_MOST] = {0}, best = 0;
    struct odb_tensor **x = group_values(s, first);
    for (size_t i = 0; i < n && x; i++) {
        struct odb_tensor **y = group_values(s, others[i]);
        for (size_t p = 0; p + 1 < g->n && y; p++) {
            int value = g->graph->nodes[g->nodes[p]].out[0];
            apart[p] += value >= 0 && telling_computed(g, p) && telling_far(x[value], y[value]);
        }
        if (y)
            group_values_free(s, y);
    }
    if (x)
        group_values_free(s, x);
    for (size_t p = 1; p < g->n; p++)
        best = apart[p] > apart[best] ? p : best;
    *told = apart[best];
    return *told ? g->graph->nodes[g->nodes[best]].out[0] : ODB_NO_VALUE;
}

bool telling_apart(const struct accused *s, const struct variant *a, const struct variant *b)
{
    struct odb_tensor **x = accused_outputs(s), **y = accused_outputs(s);
    bool had = variant_run(a, s, ODB_PREC_F64, 0, x, NULL) == ODB_OK &&
               variant_run(b, s, ODB_PREC_F64, 0, y, NULL) == ODB_OK;
    bool apart = false;
    for (int o = 0; o < s->node->n_out && had; o++)
        apart |= telling_far(x[o], y[o]);
    accused_drop(s, x);
    accused_drop(s, y);
    free(x);
    free(y);
    return apart;
}
