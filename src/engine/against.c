/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/against.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/blame.h"
#include "engine/hooks.h"
#include "engine/json.h"
#include "engine/probe.h"
#include "engine/trace.h"
#include "executor/renames.h"

#define AGAINST_NEAR 1e-4      /* gaps of float32 up to this are no difference */
#define AGAINST_NEAR_HALF 2e-2 /* and of narrower types */
#define AGAINST_FEW 8          /* elements that say nothing */
#define AGAINST_SAMPLE 64
#define AGAINST_FAR 10      /* a sample that is so many times near needs no closer look */
#define AGAINST_EXCESS 0.02 /* of a quantised value's rms, that steps do not explain */
#define AGAINST_BEYOND 0.1  /* of it, that its codes cannot hold */
#define AGAINST_NOISY_RUNS 3
#define AGAINST_NOISE_FACTOR 10
#define AGAINST_LISTED 4 /* weights, attributes in a text */

struct against {
    const struct odb_against *how;            /* borrowed */
    const struct odb_model *model;            /* borrowed: the original */
    const struct odb_feeds *feeds;            /* borrowed: its */
    const struct odb_bisect_options *options; /* borrowed */
    const struct odb_graph *a, *b;
    struct odb_trace *trace;   /* borrowed: options */
    struct odb_feeds there;    /* owned items: of the other model */
    struct odb_tensor **had;   /* owned refs; [values of other] as it made them */
    struct odb_tensor **plain; /* owned refs; [values of other] the same as numbers that compare: no
                                  longer quantised, in float32 where they were narrower */
    struct odb_tensor **given; /* owned refs; [values of original] in the original's types */
    signed char *tells; /* owned; [values of original] 1: its values can be told from others';
                           -1: they cannot; 0: not looked at */
    double *rms;        /* owned; [values of original] with tells */
    double near;
    bool quantised; /* more than the original is */
    struct odb_alignment alignment;
    struct odb_weight_pair *weights; /* owned */
    size_t n_weights;
    bool *stop_a, *stop_b; /* owned: values with a partner */
    char *description;     /* owned: of the target */
    size_t loads, runs;
};

/* --- what it was made into -------------------------------------------------------------------- */

/* Elements of float weights, by type. */
static size_t against_weight(const struct odb_graph *g, enum odb_dtype dtype)
{
    size_t n = 0;
    for (size_t v = 0; v < g->n_values; v++)
        if (g->values[v].init && g->values[v].init->dtype == dtype)
            n += g->values[v].init->count;
    return n;
}

static size_t against_quantised(const struct odb_graph *g)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const char *op = g->nodes[i].op_type;
        n += !strcmp(op, "DequantizeLinear") || !strncmp(op, "QLinear", 7) ||
             !strcmp(op, "ConvInteger") || !strcmp(op, "MatMulInteger") ||
             strstr(op, "DynamicQuantize") != NULL || !strcmp(op, "MatMulNBits") ||
             !strcmp(op, "QGemm") || !strcmp(op, "MatMulIntegerToFloat");
    }
    return n;
}

struct odb_against_made odb_against_made(const struct odb_graph *original,
                                         const struct odb_graph *other)
{
    struct odb_against_made made = {.quantised =
                                        against_quantised(other) > against_quantised(original)};
    size_t wide = against_weight(other, ODB_F32) + against_weight(other, ODB_F64);
    if (against_weight(other, ODB_F16) > wide &&
        against_weight(original, ODB_F16) < against_weight(original, ODB_F32))
        made.expect = "f16";
    else if (against_weight(other, ODB_BF16) > wide &&
             against_weight(original, ODB_BF16) < against_weight(original, ODB_F32))
        made.expect = "bf16";
    return made;
}

bool odb_against_runs(const struct odb_model *model)
{
    struct odb_cpu *cpu;
    struct odb_error ignored = ODB_ERROR_INIT;
    bool runs = odb_cpu_new(&cpu, model, &ignored) == ODB_OK;
    if (!runs)
        return false;
    for (size_t n = 0; n < model->graph->n_nodes; n++)
        runs = runs && !odb_cpu_unsupported(cpu, (int)n)[0];
    odb_cpu_free(cpu);
    return runs;
}

/* --- running it ------------------------------------------------------------------------------- */

static char *against_mapped(void *payload, const char *name)
{
    const struct against *x = payload;
    return odb_renames_apply(x->how->renames, name, NULL);
}

/* What the other model is fed: the original's feeds, in its own types. */
static enum odb_status against_feed(struct against *x, struct odb_error *err)
{
    struct odb_alignment borders;
    struct odb_align_sides sides = {
        .original = x->a, .other = x->b, .mapped = against_mapped, .payload = x};
    int *list = odb_new_n(int, x->b->n_inputs + 1);
    size_t n = odb_graph_feeds(x->b, list);
    enum odb_status status = ODB_OK;
    odb_align(&borders, &sides);
    x->there.items = odb_new_n(struct odb_feed, n + 1);
    for (size_t i = 0; i < n && status == ODB_OK; i++) {
        const struct odb_value *to = &x->b->values[list[i]];
        const struct odb_feed *from = NULL;
        for (size_t f = 0; f < x->feeds->n; f++)
            if (x->feeds->items[f].value == borders.original[list[i]])
                from = &x->feeds->items[f];
        struct odb_feed *feed = &x->there.items[x->there.n];
        *feed = (struct odb_feed){.value = list[i], .source = "the original's"};
        if (!from) {
            status = odb_fail(err, ODB_E_USAGE,
                              "input %s has no counterpart among the original's inputs", to->name);
            odb_error_at(err, "%s", x->how->other->path);
            odb_error_remedy(err, "say which it is: --map FILE with a line ORIGINAL = OTHER");
        } else if (to->type.known && to->type.kind == ODB_TENSOR &&
                   from->tensor->kind == ODB_TENSOR && to->type.dtype != from->tensor->dtype) {
            status = odb_tensor_cast(&feed->tensor, from->tensor, to->type.dtype, err);
        } else {
            feed->tensor = odb_tensor_ref(from->tensor);
        }
        x->there.n += status == ODB_OK;
    }
    odb_alignment_dispose(&borders);
    free(list);
    return status;
}

static enum odb_status against_run(struct against *x, struct odb_error *err)
{
    int *list = odb_new_n(int, x->b->n_values + 1);
    char text[400] = "";
    size_t n = 0;
    for (size_t w = 0; w < x->b->n_values; w++)
        if (x->b->values[w].producer != ODB_NO_NODE && x->b->values[w].name[0] &&
            !x->b->values[w].init)
            list[n++] = (int)w;
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, n + 1);
    odb_hooks_phase(&x->options->hooks, "the other model", 0);
    enum odb_status status = odb_run_values(x->how->other, &x->there, x->how->spec, list, n,
                                            outputs, text, sizeof text, &x->options->hooks, err);
    x->loads++;
    x->runs++;
    for (size_t i = 0; i < n; i++)
        x->had[list[i]] = outputs[i];
    for (size_t f = 0; f < x->there.n; f++)
        x->had[x->there.items[f].value] = odb_tensor_ref(x->there.items[f].tensor);
    x->description = odb_xstrdup(text);
    free(outputs);
    free(list);
    if (status != ODB_OK && status != ODB_CANCELLED && err && !err->remedy[0])
        odb_error_remedy(err, "it is %s that does not run; bisect it by itself",
                         x->how->other->path);
    return status;
}

/* --- its values as the original's ------------------------------------------------------------- */

static enum odb_status against_dequantise(struct odb_tensor **out, const struct odb_tensor *t,
                                          const struct odb_tensor *scale,
                                          const struct odb_tensor *zero, struct odb_error *err)
{
    ODB_TRY(odb_tensor_new_raw(out, ODB_F32, t->rank, t->dims, err));
    double step = odb_tensor_f64(scale, 0), at = zero ? odb_tensor_f64(zero, 0) : 0;
    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(ODB_F32, (*out)->data, i, (odb_tensor_f64(t, i) - at) * step);
    return ODB_OK;
}

static const struct odb_tensor *against_number(const struct against *x, int value)
{
    const struct odb_value *behind = value < 0 ? NULL : odb_constant_behind(x->b, value);
    const struct odb_tensor *t = behind ? behind->init : value < 0 ? NULL : x->had[value];
    return t && t->kind == ODB_TENSOR && t->count == 1 && t->data ? t : NULL;
}

/* A tensor of a value of the other as a number that compares. */
static enum odb_status against_plain_of(const struct against *x, int w, const struct odb_tensor *t,
                                        struct odb_tensor **out, struct odb_error *err)
{
    int scale, zero = ODB_NO_VALUE;
    if (t && t->kind == ODB_TENSOR && odb_dtype_is_integer(t->dtype) &&
        odb_quantised_by(x->b, w, &scale, &zero) && against_number(x, scale))
        return against_dequantise(out, t, against_number(x, scale), against_number(x, zero), err);
    if (t && t->kind == ODB_TENSOR && odb_dtype_is_float(t->dtype) && t->dtype != ODB_F64)
        return odb_tensor_cast(out, t, ODB_F32, err);
    *out = odb_tensor_ref(t);
    return ODB_OK;
}

/* The same in the type that the original has for u, where both are numbers of a kind. */
static enum odb_status against_cast(const struct against *x, int u, const struct odb_tensor *plain,
                                    struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_tensor *ref = x->trace->ref[u];
    if (ref && ref->kind == ODB_TENSOR && plain->kind == ODB_TENSOR && ref->dtype != ODB_STRING &&
        plain->dtype != ODB_STRING &&
        odb_dtype_is_float(ref->dtype) == odb_dtype_is_float(plain->dtype))
        return odb_tensor_cast(out, plain, ref->dtype, err);
    *out = odb_tensor_ref(plain);
    return ODB_OK;
}

static enum odb_status against_plain(struct against *x, struct odb_error *err)
{
    for (size_t w = 0; w < x->b->n_values; w++)
        ODB_TRY(against_plain_of(x, (int)w, x->had[w], &x->plain[w], err));
    return ODB_OK;
}

/* Whether what the original has for a value can be told from what it has for others. */
static bool against_tells(void *payload, int u)
{
    struct against *x = payload;
    const struct odb_tensor *t = x->trace->ref[u];
    if (!t || x->tells[u])
        return t && x->tells[u] > 0;
    double squares = 0, first = t->count ? odb_tensor_f64(t, 0) : 0;
    bool constant = true, finite = true;
    for (size_t i = 0; i < t->count; i++) {
        double v = odb_tensor_f64(t, i);
        constant = constant && v == first;
        finite = finite && isfinite(v);
        squares += v * v;
    }
    x->rms[u] = t->count ? sqrt(squares / (double)t->count) : 0;
    x->tells[u] = t->count >= AGAINST_FEW && !constant && finite && x->rms[u] > 0 ? 1 : -1;
    return x->tells[u] > 0;
}

static double against_gap(void *payload, int u, int w)
{
    struct against *x = payload;
    const struct odb_tensor *a = x->trace->ref[u], *b = x->plain[w];
    struct odb_gap gap;
    if (!a || !b || a->kind != ODB_TENSOR || b->kind != ODB_TENSOR)
        return NAN;
    bool numbers = odb_dtype_is_float(a->dtype) == odb_dtype_is_float(b->dtype) &&
                   a->dtype != ODB_STRING && b->dtype != ODB_STRING;
    if (!odb_tensor_same_shape(a, b) || !numbers)
        return INFINITY;
    against_tells(x, u);
    if (!(x->rms[u] > 0 && isfinite(x->rms[u])))
        return odb_tensor_identical(a, b) ? 0 : NAN;
    double sample = 0;
    size_t step = a->count > AGAINST_SAMPLE ? a->count / AGAINST_SAMPLE : 1;
    for (size_t i = 0; i < a->count; i += step)
        sample = fmax(sample, fabs(odb_tensor_f64(a, i) - odb_tensor_f64(b, i)));
    sample /= x->rms[u];
    if (sample > AGAINST_FAR * x->near)
        return sample;
    odb_gap_measure(&gap, b, a);
    return gap.comparable && gap.pattern ? gap.error : sample + 1;
}

static enum odb_status against_give(struct against *x, struct odb_error *err)
{
    for (size_t u = 0; u < x->a->n_values; u++) {
        int w = x->alignment.other[u];
        const struct odb_tensor *t = w < 0 || x->a->values[u].producer < 0 ? NULL : x->plain[w];
        x->stop_a[u] = w >= 0;
        if (w >= 0)
            x->stop_b[w] = true;
        if (t && !x->a->values[u].init)
            ODB_TRY(against_cast(x, (int)u, t, &x->given[u], err));
    }
    return ODB_OK;
}

static enum odb_status against_align(struct against *x, struct odb_error *err)
{
    bool narrow = x->options->expect != NULL;
    x->near = narrow ? AGAINST_NEAR_HALF : AGAINST_NEAR;
    struct odb_align_sides sides = {.original = x->a,
                                    .other = x->b,
                                    .mapped = against_mapped,
                                    .gap = against_gap,
                                    .tells = against_tells,
                                    .near = x->near,
                                    .payload = x};
    odb_hooks_phase(&x->options->hooks, "aligning the two models", 0);
    ODB_TRY(against_plain(x, err));
    odb_align(&x->alignment, &sides);
    x->weights = odb_weights_compare(x->a, x->b, &x->alignment, x->trace->ref, &x->n_weights);
    return against_give(x, err);
}

/* --- the region at fault ---------------------------------------------------------------------- */

struct against_region {
    bool *here, *there;      /* owned marks: nodes of the original and of the other */
    int *in_here, *in_there; /* owned: values at their beginnings */
    size_t n_in_here, n_in_there;
    int value; /* of the other: at the end; ODB_NO_VALUE */
    enum { AGAINST_NOT_RUN, AGAINST_ALONE_WRONG, AGAINST_ALONE_RIGHT } alone;
    struct odb_value_report numbers; /* of the other's part alone */
    size_t odd_opsets;               /* nodes of another opset than the original's */
    struct odb_buf words;            /* what differs within, in words */
};

static void against_region_init(const struct against *x, struct against_region *r, int u)
{
    *r = (struct against_region){.here = odb_new_n(bool, x->a->n_nodes + 1),
                                 .there = odb_new_n(bool, x->b->n_nodes + 1),
                                 .in_here = odb_new_n(int, x->a->n_values + 1),
                                 .in_there = odb_new_n(int, x->b->n_values + 1),
                                 .value = x->alignment.other[u],
                                 .words = ODB_BUF_INIT};
    r->n_in_here = odb_region(x->a, u, x->stop_a, r->here, r->in_here);
    if (r->value >= 0)
        r->n_in_there = odb_region(x->b, r->value, x->stop_b, r->there, r->in_there);
}

static void against_region_dispose(struct against_region *r)
{
    free(r->here);
    free(r->there);
    free(r->in_here);
    free(r->in_there);
    odb_buf_dispose(&r->words);
}

/* What the other's part is fed: the original's values, in the types that it had itself. */
static enum odb_status against_region_feed(const struct against *x, const struct against_region *r,
                                           struct odb_tensor **given, struct odb_error *err)
{
    for (size_t i = 0; i < r->n_in_there; i++) {
        int w = r->in_there[i], u = x->alignment.original[w];
        const struct odb_tensor *own = x->had[w];
        const struct odb_tensor *right = odb_trace_value(x->trace, u);
        if (!own || !right || own->kind != ODB_TENSOR || right->kind != ODB_TENSOR ||
            (own->dtype != right->dtype &&
             odb_dtype_is_float(own->dtype) != odb_dtype_is_float(right->dtype)))
            return odb_fail(err, ODB_UNSUPPORTED, "no value to feed");
        ODB_TRY(odb_tensor_cast(&given[w], right, own->dtype, err));
    }
    return ODB_OK;
}

/* --- quantised ---------------------------------------------------------------------------------
 *
 * No rounding explains what quantising loses, but the steps do: the original's part of a region,
 * run on the other's values and with the other's weights where these are the original's in steps,
 * comes out within half a step of what the other has, or where its codes end.
 */

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

/* --- the other's part alone ----------------------------------------------------------------- */

/* Holds what the other's part made of the original's values against the original's. */
static enum odb_status against_judge(const struct against *x, struct against_region *r, int u,
                                     const struct odb_tensor *out, struct odb_error *err)
{
    struct odb_tensor *plain = NULL, *cast = NULL;
    struct odb_judge judge = {x->trace, &x->options->tolerance};
    enum odb_status status = against_plain_of(x, r->value, out, &plain, err);
    if (status == ODB_OK)
        status = against_cast(x, u, plain, &cast, err);
    if (status == ODB_OK)
        status = odb_judge_value(&judge, u, cast, &r->numbers, err);
    if (status == ODB_OK)
        r->alone =
            odb_verdict_is_bad(r->numbers.verdict) ? AGAINST_ALONE_WRONG : AGAINST_ALONE_RIGHT;
    odb_tensor_unref(plain);
    odb_tensor_unref(cast);
    return status;
}

static enum odb_status against_ask(struct against *x, struct against_region *r, int u,
                                   struct odb_pool *pool, struct odb_tensor *const *given,
                                   struct odb_error *err)
{
    struct odb_prober prober;
    struct odb_tensor *out = NULL;
    struct odb_probe probe = {.what = "the other model's part alone",
                              .node = ODB_NO_NODE,
                              .nodes = r->there,
                              .given = given,
                              .values = &r->value,
                              .n_values = 1,
                              .outputs = &out};
    odb_prober_init(&prober, x->how->other, &x->there, NULL, pool, x->options->hooks);
    enum odb_status status = odb_probe_run(&prober, &probe, err);
    x->loads++;
    x->runs++;
    if (status == ODB_OK && out)
        status = against_judge(x, r, u, out, err);
    odb_probe_drop(&prober, &probe);
    odb_prober_dispose(&prober);
    return status;
}

/* Runs the other's part on the original's values: evidence where it can be had. */
static enum odb_status against_alone(struct against *x, struct against_region *r, int u,
                                     struct odb_error *err)
{
    struct odb_tensor **given = odb_new_n(struct odb_tensor *, x->b->n_values + 1);
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_pool *pool = NULL;
    enum odb_status status = against_region_feed(x, r, given, &why);
    if (status == ODB_OK)
        status = odb_pool_open(&pool, x->how->spec, &why);
    if (status == ODB_OK)
        status = against_ask(x, r, u, pool, given, &why);
    odb_pool_close(pool);
    for (size_t w = 0; w < x->b->n_values; w++)
        odb_tensor_unref(given[w]);
    free(given);
    if (status == ODB_CANCELLED)
        *err = why;
    return status == ODB_CANCELLED ? status : ODB_OK;
}

/* --- what differs within ---------------------------------------------------------------------- */

static bool against_suspicious(enum odb_fate fate)
{
    return fate == ODB_FATE_DIFFERENT || fate == ODB_FATE_SCALED;
}

static void against_put_weight(const struct against *x, const struct odb_weight_pair *w,
                               struct odb_buf *out)
{
    odb_buf_put_shown(out, x->a->values[w->original].name);
    if (w->fate == ODB_FATE_SCALED) {
        odb_buf_puts(out, " is scaled by channel");
        return;
    }
    size_t count = x->b->values[w->other].init->count;
    odb_buf_printf(out,
                   " is another one in %zu of %zu elements, by up to %.3g (element %zu: %.6g "
                   "here, %.6g there)",
                   w->n_off, count, w->error, w->at, w->here, w->there);
    if (w->step > 0)
        odb_buf_printf(out, ", where half a quantisation step is %.3g", w->step / 2);
}

static void against_weights_within(const struct against *x, struct against_region *r)
{
    size_t told = 0;
    for (size_t i = 0; i < x->n_weights; i++) {
        const struct odb_weight_pair *w = &x->weights[i];
        const struct odb_value *value = &x->a->values[w->original];
        bool read = false;
        for (size_t c = 0; c < value->n_consumers && w->other >= 0; c++)
            read |= r->here[value->consumers[c]];
        if (!read || !against_suspicious(w->fate) || told++ >= AGAINST_LISTED)
            continue;
        odb_buf_puts(&r->words, "Weight ");
        against_put_weight(x, w, &r->words);
        odb_buf_puts(&r->words, ". ");
    }
}

static void against_put_attr(const struct against *x, struct against_region *r, int m,
                             const char *name, const struct odb_attr *a, const struct odb_attr *b)
{
    struct odb_buf text[2] = {ODB_BUF_INIT, ODB_BUF_INIT};
    const struct odb_attr *attrs[2] = {a, b};
    for (int i = 0; i < 2; i++)
        if (attrs[i])
            odb_attr_text(attrs[i], &text[i]);
        else
            odb_buf_puts(&text[i], "not set");
    if (strcmp(odb_buf_text(&text[0]), odb_buf_text(&text[1])) != 0) {
        odb_buf_puts(&r->words, "Attribute ");
        odb_buf_put_shown(&r->words, name);
        odb_buf_puts(&r->words, " of ");
        odb_node_put(x->b, m, &r->words);
        odb_buf_printf(&r->words, " is %.80s where the original has %.80s. ",
                       odb_buf_text(&text[1]), odb_buf_text(&text[0]));
    }
    odb_buf_dispose(&text[0]);
    odb_buf_dispose(&text[1]);
}

static void against_attrs_within(const struct against *x, struct against_region *r)
{
    for (size_t m = 0; m < x->b->n_nodes; m++) {
        int n = x->alignment.node[m];
        if (!r->there[m] || n < 0 || strcmp(x->a->nodes[n].op_type, x->b->nodes[m].op_type) != 0)
            continue;
        const struct odb_attrs *a = &x->a->nodes[n].attrs, *b = &x->b->nodes[m].attrs;
        if (x->a->nodes[n].opset != x->b->nodes[m].opset && r->odd_opsets++ < AGAINST_LISTED) {
            odb_node_put(x->b, (int)m, &r->words);
            odb_buf_printf(&r->words, " is of opset %d where the original's is of %d. ",
                           x->b->nodes[m].opset, x->a->nodes[n].opset);
        }
        for (size_t i = 0; i < a->n; i++)
            against_put_attr(x, r, (int)m, a->items[i].name, &a->items[i],
                             odb_attrs_find(b, a->items[i].name));
        for (size_t i = 0; i < b->n; i++)
            if (!odb_attrs_find(a, b->items[i].name))
                against_put_attr(x, r, (int)m, b->items[i].name, NULL, &b->items[i]);
    }
}

/* What one part reads and the other does not. */
static void against_border_within(const struct against *x, struct against_region *r)
{
    for (size_t i = 0; i < r->n_in_there; i++) {
        int u = x->alignment.original[r->in_there[i]];
        bool both = false;
        for (size_t j = 0; j < r->n_in_here; j++)
            both |= r->in_here[j] == u;
        if (!both) {
            odb_buf_puts(&r->words, "It reads ");
            odb_buf_put_shown(&r->words, x->b->values[r->in_there[i]].name);
            odb_buf_puts(&r->words, ", which the original does not read there. ");
        }
    }
    for (size_t j = 0; j < r->n_in_here; j++) {
        int w = x->alignment.other[r->in_here[j]];
        bool both = false;
        for (size_t i = 0; i < r->n_in_there; i++)
            both |= r->in_there[i] == w;
        if (!both) {
            odb_buf_puts(&r->words, "It does not read ");
            odb_buf_put_shown(&r->words, x->a->values[r->in_here[j]].name);
            odb_buf_puts(&r->words, ", which the original does. ");
        }
    }
}

/* --- in words --------------------------------------------------------------------------------- */

/* "#3 conv (Conv)", or "#3 conv (Conv) to #5 relu (Relu), 3 nodes". */
static void against_put_nodes(const struct odb_graph *g, const bool *marks, struct odb_buf *out)
{
    int first = ODB_NO_NODE, last = ODB_NO_NODE;
    size_t n = 0;
    for (size_t i = 0; i < g->n_nodes; i++)
        if (marks[i]) {
            first = n++ ? first : (int)i;
            last = (int)i;
        }
    if (!n) {
        odb_buf_puts(out, "no node");
        return;
    }
    odb_node_put(g, first, out);
    if (n > 1) {
        odb_buf_puts(out, " to ");
        odb_node_put(g, last, out);
        odb_buf_printf(out, ", %zu nodes", n);
    }
}

static void against_words(const struct against *x, const struct odb_culprit *c,
                          const struct against_region *r, struct odb_buf *out)
{
    bool accuses = odb_diagnosis_accuses(c->kind);
    const struct odb_number *local = &c->numbers.local_error, *noise = &c->numbers.local_noise;
    odb_buf_puts(out, accuses ? "The other model's part " : "The value ");
    if (accuses) {
        odb_buf_putc(out, '(');
        against_put_nodes(x->b, r->there, out);
        odb_buf_puts(out, ") that makes ");
    }
    odb_buf_put_shown(out, x->b->values[r->value].name);
    if (accuses) {
        odb_buf_puts(out, " does not compute what the original's (");
        against_put_nodes(x->a, r->here, out);
        odb_buf_puts(out, ") does");
        const char *reason = c->numbers.reason;
        if (local->known)
            odb_buf_printf(out, ": on the same values it is off by %.3g", local->v);
        if (local->known && noise->known)
            odb_buf_printf(out, " where rounding explains %.3g", noise->v);
        if (reason[0] && (!local->known || !noise->known)) {
            odb_buf_puts(out, local->known ? "; " : ": ");
            odb_buf_put_shown(out, reason);
        }
        odb_buf_puts(out, ". ");
    } else {
        odb_buf_puts(out, c->kind == ODB_KIND_AMPLIFIED
                              ? " is the first over tolerance, but on the same values both models "
                                "compute the same there: it enlarges small differences. "
                              : " is the first over tolerance, but on the same values both models "
                                "compute the same there: small differences before it add up. ");
    }
    if (r->alone != AGAINST_NOT_RUN && accuses)
        odb_buf_puts(out, r->alone == AGAINST_ALONE_WRONG
                              ? "Fed with the original's values it is off as well, so nothing "
                                "before it is needed for that. "
                              : "Fed with the original's values it is within tolerance: its own "
                                "values are needed for that. ");
    odb_buf_puts(out, odb_buf_text(&r->words));
    if (x->alignment.confidence[c->value] < 0.7)
        odb_buf_puts(out, "The two values are taken for one by their name alone, so this may be a "
                          "misunderstanding; --map FILE can say otherwise. ");
    while (out->len && out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
}

static json_t *against_json_nodes(const struct odb_graph *g, const bool *marks)
{
    json_t *list = json_array();
    for (size_t i = 0; i < g->n_nodes; i++)
        if (marks[i])
            json_array_append_new(list, json_pack("{si,so,so}", "index", (int)i, "name",
                                                  odb_json_text(g->nodes[i].name), "op_type",
                                                  odb_json_text(g->nodes[i].op_type)));
    return list;
}

static json_t *against_json_values(const struct odb_graph *g, const int *list, size_t n)
{
    json_t *names = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(names, odb_json_text(g->values[list[i]].name));
    return names;
}

static json_t *against_json_region(const struct against *x, const struct odb_culprit *c,
                                   const struct against_region *r)
{
    static const char *const alone[] = {NULL, "wrong", "right"};
    return json_pack(
        "{so,so,so,so,so,so,so,so}", "value", odb_json_text(x->a->values[c->value].name),
        "other_value", odb_json_text(x->b->values[r->value].name), "nodes",
        against_json_nodes(x->a, r->here), "other_nodes", against_json_nodes(x->b, r->there),
        "from", against_json_values(x->a, r->in_here, r->n_in_here), "other_from",
        against_json_values(x->b, r->in_there, r->n_in_there), "on_original_values",
        odb_json_text(alone[r->alone]), "differs", odb_json_text(odb_buf_text(&r->words)));
}

/* Every culprit's region: run alone, and told of in both models' nodes. */
static enum odb_status against_explain(struct against *x, struct odb_report *report,
                                       json_t *regions, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    for (size_t c = 0; c < report->culprits.n && status == ODB_OK; c++) {
        struct odb_culprit *culprit = &report->culprits.items[c];
        struct odb_buf words = ODB_BUF_INIT;
        struct against_region r;
        if (culprit->value < 0 || x->alignment.other[culprit->value] < 0)
            continue;
        against_region_init(x, &r, culprit->value);
        status = against_alone(x, &r, culprit->value, err);
        against_weights_within(x, &r);
        against_attrs_within(x, &r);
        against_border_within(x, &r);
        against_words(x, culprit, &r, &words);
        culprit->verified = r.alone == AGAINST_ALONE_WRONG;
        free(culprit->text);
        culprit->text = odb_buf_take(&words);
        json_array_append_new(regions, against_json_region(x, culprit, &r));
        against_region_dispose(&r);
    }
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
        free(known->text);
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
            free(culprit->text);
            continue;
        }
        told |= spread;
        report->culprits.items[n++] = *culprit;
    }
    report->culprits.n = n;
}

static enum odb_status against_steps(struct against *x, struct odb_report *report,
                                     struct odb_error *err)
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

/* --- the summary ------------------------------------------------------------------------------ */

/* Values of the original that are judged at all: made by nodes, and not of constants alone. */
static size_t against_count(const struct against *x, size_t by[])
{
    size_t n = 0;
    for (size_t u = 0; u < x->a->n_values; u++) {
        const struct odb_value *value = &x->a->values[u];
        if (value->producer == ODB_NO_NODE || !value->name[0] || value->init)
            continue;
        n++;
        by[x->alignment.other[u] < 0 ? ODB_PAIRED_NOT : x->alignment.how[u]]++;
    }
    return n;
}

#define AGAINST_COUNT(name, text) +1
enum {
    AGAINST_PAIRED = 0 ODB_PAIRED_LIST(AGAINST_COUNT),
    AGAINST_FATES = 0 ODB_FATE_LIST(AGAINST_COUNT)
};
#undef AGAINST_COUNT

static void against_sum_pairs(const struct against *x, struct odb_buf *out)
{
    size_t by[AGAINST_PAIRED] = {0}, n = against_count(x, by);
    odb_buf_printf(out, "paired: %zu of %zu values", n - by[ODB_PAIRED_NOT], n);
    for (int p = ODB_PAIRED_NOT + 1, told = 0; p < AGAINST_PAIRED; p++)
        if (by[p])
            odb_buf_printf(out, "%s%zu %s", told++ ? ", " : " (", by[p],
                           odb_paired_name((enum odb_paired)p));
    odb_buf_printf(out, "%s, with %zu and %zu nodes\n", n > by[ODB_PAIRED_NOT] ? ")" : "",
                   x->a->n_nodes, x->b->n_nodes);
}

static void against_sum_weights(const struct against *x, struct odb_buf *out)
{
    size_t fates[AGAINST_FATES] = {0}, told = 0;
    double step = 0;
    for (size_t i = 0; i < x->n_weights; i++) {
        fates[x->weights[i].fate]++;
        if (x->weights[i].fate == ODB_FATE_QUANTISED)
            step = fmax(step, x->weights[i].step);
    }
    odb_buf_puts(out, "weights:");
    for (int f = 0; f < AGAINST_FATES; f++)
        if (fates[f])
            odb_buf_printf(out, "%s %zu %s", told++ ? "," : "", fates[f],
                           odb_fate_name((enum odb_fate)f));
    odb_buf_puts(out, told ? "" : " none");
    if (step > 0)
        odb_buf_printf(out, "; steps up to %.3g", step);
    odb_buf_putc(out, '\n');
    for (size_t i = 0, n = 0; i < x->n_weights; i++)
        if (x->weights[i].fate == ODB_FATE_DIFFERENT && n++ < AGAINST_LISTED) {
            odb_buf_puts(out, n == 1 ? "first suspect: weight " : "suspect: weight ");
            against_put_weight(x, &x->weights[i], out);
            odb_buf_putc(out, '\n');
        }
}

static json_t *against_json_pairs(const struct against *x)
{
    json_t *pairs = json_array();
    for (size_t u = 0; u < x->a->n_values; u++) {
        int w = x->alignment.other[u];
        if (x->a->values[u].producer == ODB_NO_NODE || !x->a->values[u].name[0] ||
            x->a->values[u].init)
            continue;
        json_t *pair = json_pack("{so}", "value", odb_json_text(x->a->values[u].name));
        json_object_set_new(pair, "other",
                            w < 0 ? json_null() : odb_json_text(x->b->values[w].name));
        if (w >= 0) {
            json_object_set_new(pair, "by", odb_json_text(odb_paired_name(x->alignment.how[u])));
            json_object_set_new(pair, "confidence", odb_json_real(x->alignment.confidence[u]));
        }
        json_array_append_new(pairs, pair);
    }
    return pairs;
}

static json_t *against_json_weights(const struct against *x)
{
    json_t *weights = json_array();
    for (size_t i = 0; i < x->n_weights; i++) {
        const struct odb_weight_pair *w = &x->weights[i];
        json_array_append_new(
            weights,
            json_pack("{so,so,so,so,so,so,si}", "name",
                      odb_json_text(x->a->values[w->original].name), "other",
                      w->other < 0 ? json_null() : odb_json_text(x->b->values[w->other].name),
                      "fate", odb_json_text(odb_fate_name(w->fate)), "step", odb_json_real(w->step),
                      "error", odb_json_real(w->error), "relative", odb_json_real(w->relative),
                      "unexplained", (int)w->n_off));
    }
    return weights;
}

static void against_sum(const struct against *x, struct odb_report *report, json_t *regions)
{
    struct odb_buf out = ODB_BUF_INIT;
    size_t by[AGAINST_PAIRED] = {0}, n = against_count(x, by);
    against_sum_pairs(x, &out);
    against_sum_weights(x, &out);
    report->summary = odb_buf_take(&out);
    if (x->alignment.n_unknown)
        odb_report_warn(report,
                        "%zu names of the map, that for %s among them, are none of the other "
                        "model's; `onnxdbg nodes %s` lists what it has",
                        x->alignment.n_unknown, x->alignment.unknown, x->how->other->path);
    json_t *against =
        json_pack("{so,so,si,si,si,so,so,so}", "model", odb_json_text(x->how->other->path),
                  "target", odb_json_text(x->how->spec), "nodes", (int)x->b->n_nodes, "paired",
                  (int)(n - by[ODB_PAIRED_NOT]), "of", (int)n, "regions", json_incref(regions),
                  "weights", against_json_weights(x), "pairs", against_json_pairs(x));
    report->more = json_pack("{so}", "against", against);
}

/* --- all of it -------------------------------------------------------------------------------- */

static enum odb_status against_search(struct against *x, struct odb_report **out,
                                      struct odb_error *err)
{
    struct odb_bisect_options options = *x->options;
    ODB_TRY(against_feed(x, err));
    ODB_TRY(against_run(x, err));
    ODB_TRY(against_align(x, err));
    json_t *regions = json_array();
    options.recorded = x->given;
    enum odb_status status = odb_bisect(out, x->model, x->feeds, &options, err);
    if (status == ODB_OK)
        status = against_steps(x, *out, err);
    if (status == ODB_OK)
        status = against_explain(x, *out, regions, err);
    if (*out) {
        against_sum(x, *out, regions);
        (*out)->target_loads = x->loads;
        (*out)->target_runs = x->runs;
        free((*out)->target_description);
        (*out)->target_description = odb_xstrdup(x->description);
    }
    json_decref(regions);
    return status;
}

static void against_unref(struct odb_tensor **list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        odb_tensor_unref(list[i]);
    free(list);
}

enum odb_status odb_against_bisect(struct odb_report **out, const struct odb_against *against,
                                   const struct odb_model *model, const struct odb_feeds *feeds,
                                   const struct odb_bisect_options *options, struct odb_error *err)
{
    const struct odb_graph *a = model->graph, *b = against->other->graph;
    struct against x = {.how = against,
                        .model = model,
                        .feeds = feeds,
                        .options = options,
                        .a = a,
                        .b = b,
                        .quantised = odb_against_made(a, b).quantised,
                        .trace = options->trace,
                        .had = odb_new_n(struct odb_tensor *, b->n_values + 1),
                        .plain = odb_new_n(struct odb_tensor *, b->n_values + 1),
                        .given = odb_new_n(struct odb_tensor *, a->n_values + 1),
                        .tells = odb_new_n(signed char, a->n_values + 1),
                        .rms = odb_new_n(double, a->n_values + 1),
                        .stop_a = odb_new_n(bool, a->n_values + 1),
                        .stop_b = odb_new_n(bool, b->n_values + 1)};
    enum odb_status status = against_search(&x, out, err);
    against_unref(x.had, b->n_values);
    against_unref(x.plain, b->n_values);
    against_unref(x.given, a->n_values);
    for (size_t f = 0; f < x.there.n; f++)
        odb_tensor_unref(x.there.items[f].tensor);
    free(x.there.items);
    odb_alignment_dispose(&x.alignment);
    free(x.weights);
    free(x.tells);
    free(x.rms);
    free(x.stop_a);
    free(x.stop_b);
    free(x.description);
    return status;
}
