/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/as_if/as_if_samples.h"

#include <stdlib.h>

#include "base/mem.h"
#include "explain/measure/other_order.h"

/* Of floats, by sample: digits that a narrower type has no room for, and the other sign. */
static const double sample_factors[AS_IF_SAMPLES] = {1, 1, 0.7071067, -0.7071067};

static void sample_dispose(struct as_if_sample *sample)
{
    const struct accused *s = &sample->s;
    for (int i = 0; i < s->node->n_in; i++)
        odb_tensor_unref(s->in[i]);
    for (int i = 0; i < sample->n_changed; i++)
        odb_tensor_unref(sample->changed[i]);
    struct odb_tensor **outputs[] = {s->r, s->native, sample->made, sample->is};
    for (size_t k = 0; k < ODB_COUNT(outputs); k++) {
        accused_drop(s, outputs[k]);
        free(outputs[k]);
    }
    free(sample->changed);
    free((void *)s->in);
}

/* --- operands --------------------------------------------------------------------------------- */

static double sample_scaled(const void *payload, size_t i, double x)
{
    (void)i;
    return x * *(const double *)payload;
}

/* What is fed, for sample k; the caller's. */
static struct odb_tensor *sample_other(const struct odb_tensor *t, size_t k, int i)
{
    struct odb_tensor *other = odb_explain_other_order(t, 1000 * k + (size_t)i), *scaled = NULL;
    bool scales = sample_factors[k] != 1 && odb_dtype_is_float(t->dtype) &&
                  tensor_map(&scaled, other, sample_scaled, &sample_factors[k], NULL) == ODB_OK;
    if (scales)
        tensor_replace(&other, scaled);
    return other;
}

/* Operands of sample k; false: they are those of the call itself. */
static bool sample_operands(struct odb_tensor **in, const struct accused *s, size_t k)
{
    bool other = false;
    for (int i = 0; i < s->node->n_in; i++) {
        int value = s->node->in[i];
        bool fed = k && s->in[i] && s->in[i]->kind == ODB_TENSOR && !s->graph->values[value].init;
        for (int j = 0; j < i && fed && !in[i]; j++) /* what is read twice is one value */
            in[i] = s->node->in[j] == value ? odb_tensor_ref(in[j]) : NULL;
        if (!in[i])
            in[i] = fed ? sample_other(s->in[i], k, i) : odb_tensor_ref(s->in[i]);
        other |= in[i] != s->in[i];
    }
    return other;
}

/* --- runs ------------------------------------------------------------------------------------- */

struct sample_look {
    struct as_if_sample *sample;
    const struct variant *v;
};

/* Keeps the operands of the changed call, which does not run. */
static enum odb_status sample_look(void *payload, struct odb_call *call, struct odb_error *err)
{
    const struct sample_look *look = payload;
    struct as_if_sample *sample = look->sample;
    const struct variant_row *row = look->v->row;
    struct change c;
    change_begin(&c, &sample->s, call);
    enum odb_status status = row->change ? row->change(look->v, &sample->s, &c, err) : ODB_OK;
    if (status == ODB_OK) {
        sample->changed = odb_new_n(struct odb_tensor *, call->n_in + 1);
        sample->n_changed = call->n_in;
        for (int i = 0; i < call->n_in; i++)
            sample->changed[i] = odb_tensor_ref(call->in[i]);
    }
    change_end(&c);
    return status == ODB_OK ? ODB_SKIPPED : status;
}

static bool sample_run(struct as_if_sample *sample, const struct variant *v)
{
    struct accused *s = &sample->s;
    struct sample_look look = {sample, v};
    struct odb_tensor **none = accused_outputs(s);
    sample->made = accused_outputs(s);
    sample->is = accused_outputs(s);
    bool had = accused_replay(s, NULL) == ODB_OK &&
               variant_replay(v, s, ODB_PREC_NATIVE, 0, sample->made, NULL) == ODB_OK &&
               variant_run(v, s, ODB_PREC_NATIVE, 0, sample->is, NULL) == ODB_OK &&
               accused_run(s, ODB_PREC_NATIVE, 0, sample_look, &look, none, NULL) == ODB_SKIPPED &&
               sample->changed;
    accused_drop(s, none);
    free(none);
    return had;
}

enum odb_status as_if_samples_make(struct as_if_samples *out, const struct accused *s,
                                   const struct variant *v)
{
    out->n = 0;
    for (size_t k = 0; k < AS_IF_SAMPLES; k++) {
        struct as_if_sample *sample = &out->items[out->n];
        struct odb_tensor **in = odb_new_n(struct odb_tensor *, s->node->n_in + 1);
        *sample = (struct as_if_sample){.s = *s};
        sample->s.in = in;
        sample->s.r = sample->s.native = NULL;
        bool other = sample_operands(in, s, k);
        if ((!k || other) && sample_run(sample, v))
            out->n++;
        else
            sample_dispose(sample);
        if (!out->n)
            return ODB_SKIPPED;
    }
    return ODB_OK;
}

void as_if_samples_dispose(struct as_if_samples *samples)
{
    for (size_t k = 0; k < samples->n; k++)
        sample_dispose(&samples->items[k]);
    samples->n = 0;
}
