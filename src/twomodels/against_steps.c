/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Quantised models. No rounding explains what quantising loses, but the steps do: the original's
 * part of a region, run on the other's values and with the other's weights where these are the
 * original's in steps, comes out within half a step of what the other has, or where its codes end.
 */
#include "twomodels/against_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/hooks.h"
#include "report/report.h"
#include "reference/trace.h"

#define AGAINST_EXCESS 0.02 /* of a quantised value's rms, that steps do not explain */
#define AGAINST_BEYOND 0.1  /* of it, that its codes cannot hold */
#define AGAINST_NOISY_RUNS 3
#define AGAINST_NOISE_FACTOR 10

struct against_codes {
    double step, low, high; /* of one code; of the first and the last */
};

/* The codes that a value of the other was in last; without any, whatever is. */
static void against_codes_of(const struct against *x, int w, struct against_codes *codes)
{
    const struct odb_node *carrier =
        x->b->values[w].producer < 0 ? NULL : &x->b->nodes[x->b->values[w].producer];
    int scale, zero = ODB_NO_VALUE;
    if (carrier && !strcmp(carrier->op_type, "DequantizeLinear") && carrier->in[0] >= 0)
        w = carrier->in[0];
    const struct odb_tensor *t = x->had[w], *s, *z;
    *codes = (struct against_codes){0, -INFINITY, INFINITY};
    if (!t || t->kind != ODB_TENSOR || (t->dtype != ODB_U8 && t->dtype != ODB_I8) ||
        !odb_quantised_by(x->b, w, &scale, &zero) || !(s = against_number(x, scale)))
        return;
    z = against_number(x, zero);
    codes->step = fabs(odb_tensor_f64(s, 0));
    double at = z ? odb_tensor_f64(z, 0) : 0, least = t->dtype == ODB_U8 ? 0 : -128;
    codes->low = (least - at) * codes->step;
    codes->high = (least + 255 - at) * codes->step;
}

/* Quantises within, so that the steps at its end say little. */
static bool against_quantises_within(const struct against *x, const struct against_region *r,
                                     bool at_end)
{
    size_t n = 0;
    for (size_t m = 0; m < x->b->n_nodes; m++)
        if (r->there[m]) {
            n += !strcmp(x->b->nodes[m].op_type, "QuantizeLinear") ||
                 !strncmp(x->b->nodes[m].op_type, "QLinear", 7);
            if (strstr(x->b->nodes[m].op_type, "Dynamic"))
                return true;
        }
    return n > at_end;
}

static enum odb_status against_dense(const struct odb_constant *c, struct odb_tensor **out,
                                     const struct odb_tensor *like, struct odb_error *err)
{
    ODB_TRY(odb_tensor_new_raw(out, like->dtype, like->rank, like->dims, err));
    for (size_t i = 0; i < like->count; i++)
        odb_store_f64(like->dtype, (*out)->data, i, odb_constant_at(c, i));
    return ODB_OK;
}

static bool against_reads(const struct against *x, const struct against_region *r, int u)
{
    const struct odb_value *value = &x->a->values[u];
    bool reads = false;
    for (size_t c = 0; c < value->n_consumers; c++)
        reads |= r->here[value->consumers[c]];
    return reads;
}

struct against_how {
    bool own;  /* on the original's own values */
    int noisy; /* 0: as the reference computes; else which noisy run it is */
};

/* Runs the original's part on the other's values, or its own. *out NULL: it cannot. Owned by the
 * caller. */
static enum odb_status against_replay(const struct against *x, const struct against_region *r,
                                      int u, const struct against_how *how, struct odb_tensor **out,
                                      struct odb_error *err)
{
    struct odb_tensor **values = odb_new_n(struct odb_tensor *, x->a->n_values + 1);
    bool known = true;
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < r->n_in_here; i++) {
        int v = r->in_here[i];
        values[v] =
            odb_tensor_ref(x->given[v] && !how->own ? x->given[v] : odb_trace_value(x->trace, v));
        known &= values[v] != NULL;
    }
    for (size_t i = 0; i < x->n_weights && status == ODB_OK; i++) {
        const struct odb_weight_pair *w = &x->weights[i];
        struct odb_constant c;
        if (w->fate == ODB_FATE_QUANTISED && against_reads(x, r, w->original) &&
            odb_constant_of(&c, x->b, w->read))
            status = against_dense(&c, &values[w->original], x->a->values[w->original].init, err);
    }
    struct odb_cpu_run run = {.precision = how->noisy ? ODB_PREC_NOISY : x->trace->precision,
                              .seed = x->trace->seed + (uint64_t)how->noisy,
                              .values = values,
                              .nodes = r->here};
    if (status == ODB_OK && known)
        status = odb_cpu_execute(x->trace->cpu, &run, err);
    *out = status == ODB_OK && known ? odb_tensor_ref(values[u]) : NULL;
    for (size_t v = 0; v < x->a->n_values; v++)
        odb_tensor_unref(values[v]);
    free(values);
    return status;
}

struct against_fit {
    bool known;
    double excess; /* how far it is from what its codes can hold of what is right, over the rms */
    double beyond; /* how much of what is right its codes cannot hold, likewise */
};

static void against_measure(const struct odb_tensor *t, const struct odb_tensor *right,
                            const struct against_codes *codes, struct against_fit *fit)
{
    double squares = 0, excess = 0, outside = 0;
    for (size_t i = 0; i < t->count; i++) {
        double want = odb_tensor_f64(right, i), had = odb_tensor_f64(t, i);
        double held = fmin(fmax(want, codes->low), codes->high);
        double off = fabs(had - held) - 0.51 * codes->step - 1e-5 * fabs(want);
        if (isnan(had) && !isnan(want))
            off = INFINITY;
        double lost = fmax(fabs(want - held) - codes->step, 0);
        squares += want * want;
        excess += off > 0 ? off * off : 0;
        outside += lost * lost;
    }
    fit->known = isfinite(squares);
    fit->beyond = squares > 0 ? sqrt(outside / squares) : 0;
    fit->excess = squares > 0 ? sqrt(excess / squares) : excess > 0 ? INFINITY : 0;
}

static bool against_misfits(const struct against_fit *fit)
{
    return fit->known && (fit->excess > AGAINST_EXCESS || fit->beyond > AGAINST_BEYOND);
}

/* What rounding alone makes of the excess: noisy runs against the one that is right. */
static enum odb_status against_excuse(const struct against *x, const struct against_region *r,
                                      int u, bool own, const struct odb_tensor *right,
                                      struct against_fit *fit, struct odb_error *err)
{
    const struct against_codes all = {0, -INFINITY, INFINITY};
    double noise = 0;
    for (int i = 1; i <= AGAINST_NOISY_RUNS; i++) {
        struct against_how how = {own, i};
        struct odb_tensor *noisy = NULL;
        struct against_fit rounding = {0};
        ODB_TRY(against_replay(x, r, u, &how, &noisy, err));
        if (noisy && odb_tensor_same_shape(noisy, right))
            against_measure(noisy, right, &all, &rounding);
        noise = fmax(noise, rounding.known ? rounding.excess : 0);
        odb_tensor_unref(noisy);
    }
    if (fit->excess <= AGAINST_NOISE_FACTOR * noise)
        fit->excess = 0;
    return ODB_OK;
}

/* How t, of the other model, fits what the original's part makes of the other's values or, with
 * own, of its own. */
static enum odb_status against_fit(const struct against *x, const struct against_region *r, int u,
                                   const struct odb_tensor *t, bool own, struct against_fit *fit,
                                   struct odb_error *err)
{
    struct against_codes codes;
    struct against_how how = {own, 0};
    struct odb_tensor *right = NULL;
    against_codes_of(x, r->value, &codes);
    if (t->kind != ODB_TENSOR || !odb_dtype_is_float(t->dtype) ||
        against_quantises_within(x, r, codes.step > 0))
        return ODB_OK;
    enum odb_status status = against_replay(x, r, u, &how, &right, err);
    if (right && right->kind == ODB_TENSOR && odb_tensor_same_shape(right, t))
        against_measure(t, right, &codes, fit);
    if (status == ODB_OK && fit->known && fit->excess > AGAINST_EXCESS)
        status = against_excuse(x, r, u, own, right, fit, err);
    odb_tensor_unref(right);
    return status;
}

enum odb_status against_steps_of(const struct against *x, const struct against_region *r, int u,
                                 const struct odb_tensor *t, bool *known, bool *misfits,
                                 struct odb_error *err)
{
    struct against_fit fit = {0};
    enum odb_status status = against_fit(x, r, u, t, true, &fit, err);
    *known = fit.known;
    *misfits = against_misfits(&fit);
    return status;
}

/* The same on the other's values. What its codes cannot hold counts where they cannot hold the
 * original's either: wrong values before it go anywhere. */
static enum odb_status against_fit_there(const struct against *x, int u, struct against_fit *fit,
                                         struct odb_error *err)
{
    struct against_region r;
    struct against_fit own = {0};
    against_region_init(x, &r, u);
    enum odb_status status = against_fit(x, &r, u, x->given[u], false, fit, err);
    if (status == ODB_OK && fit->known && fit->beyond > AGAINST_BEYOND)
        status = against_fit(x, &r, u, x->given[u], true, &own, err);
    fit->beyond = fmin(fit->beyond, own.beyond);
    against_region_dispose(&r);
    return status;
}

/* --- accusing by steps ---------------------------------------------------------------------- */

/* Into the report, in the order of nodes. */
static void against_accuse(struct odb_report *report, struct odb_culprit culprit)
{
    size_t at = 0;
    odb_push(&report->culprits, culprit);
    struct odb_culprit *items = report->culprits.items;
    while (at + 1 < report->culprits.n && items[at].node <= culprit.node)
        at++;
    memmove(&items[at + 1], &items[at], (report->culprits.n - 1 - at) * sizeof *items);
    items[at] = culprit;
}

static enum odb_status against_judge_steps(struct against *x, struct odb_report *report, int u,
                                           struct odb_error *err)
{
    struct against_fit fit = {0};
    struct odb_culprit *known = NULL;
    if (!x->given[u] || x->alignment.other[u] < 0)
        return ODB_OK;
    for (size_t c = 0; c < report->culprits.n; c++)
        if (report->culprits.items[c].value == u)
            known = &report->culprits.items[c];
    ODB_TRY(against_fit_there(x, u, &fit, err));
    bool misfits = against_misfits(&fit);
    if (known && known->kind == ODB_KIND_INTRODUCED && fit.known && !misfits) {
        known->kind = ODB_KIND_ACCUMULATED; /* no more than it had to be */
        report->values[u].culprit = false;
    }
    if (!misfits || (known && known->kind == ODB_KIND_INTRODUCED))
        return ODB_OK;
    int node = x->a->values[u].producer;
    struct odb_culprit culprit = {.node = node,
                                  .value = u,
                                  .kind = ODB_KIND_INTRODUCED,
                                  .numbers = report->values[u],
                                  .reaches_output = report->outputs_diverge,
                                  .segment = {node, node}};
    bool excess = fit.excess > AGAINST_EXCESS;
    snprintf(culprit.numbers.reason, sizeof culprit.numbers.reason,
             excess ? "its quantisation steps explain all but %.3g of it, root mean square"
                    : "its codes cannot hold %.3g of it, root mean square",
             excess ? fit.excess : fit.beyond);
    report->values[u].culprit = true;
    if (known) {
        culprit.histograms = known->histograms; /* of the same value */
        known->histograms = NULL;
        odb_culprit_dispose(known);
        *known = culprit;
    } else {
        against_accuse(report, culprit);
    }
    return ODB_OK;
}

/* One that is said to be the first over tolerance is enough, and none where the outputs are not. */
static void against_thin(struct odb_report *report)
{
    size_t n = 0;
    bool told = !report->outputs_diverge;
    for (size_t c = 0; c < report->culprits.n; c++) {
        struct odb_culprit *culprit = &report->culprits.items[c];
        bool spread = culprit->kind == ODB_KIND_ACCUMULATED || culprit->kind == ODB_KIND_AMPLIFIED;
        if (spread && told) {
            odb_culprit_dispose(culprit);
            continue;
        }
        told |= spread;
        report->culprits.items[n++] = *culprit;
    }
    report->culprits.n = n;
}

enum odb_status against_steps(struct against *x, struct odb_report *report, struct odb_error *err)
{
    if (!x->quantised)
        return ODB_OK;
    odb_hooks_phase(&x->options->hooks, "quantisation steps", x->a->n_values);
    for (size_t u = 0; u < x->a->n_values; u++) {
        ODB_TRY(odb_hooks_cancelled(&x->options->hooks, err));
        ODB_TRY(against_judge_steps(x, report, (int)u, err));
    }
    against_thin(report);
    return ODB_OK;
}
