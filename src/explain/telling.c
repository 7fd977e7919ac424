/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/telling.h"

#include <math.h>
#include <stdlib.h>

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

bool telling_apart(const struct accused *s, const struct variant *a, const struct variant *b)
{
    struct odb_tensor **x = accused_outputs(s), **y = accused_outputs(s);
    bool had = variant_run(a, s, ODB_PREC_F64, 0, x, NULL) == ODB_OK &&
               variant_run(b, s, ODB_PREC_F64, 0, y, NULL) == ODB_OK;
    bool apart = false;
    for (int o = 0; o < s->node->n_out && had; o++) {
        struct odb_gap gap;
        if (!x[o] || !y[o])
            continue;
        odb_gap_measure(&gap, x[o], y[o]);
        apart |= !gap.comparable || !gap.pattern || gap.error > TELLING_FAR;
    }
    accused_drop(s, x);
    accused_drop(s, y);
    free(x);
    free(y);
    return apart;
}
