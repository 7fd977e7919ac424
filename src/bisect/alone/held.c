/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/alone/held.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/alone/alone.h"
#include "report/report.h"
#include "reference/trace.h"
#include "run/value_report.h"

#define HELD_BITS 64       /* that agree, of a value by itself */
#define HELD_BITS_SET 32   /* of outputs that have changed places with each other, all together */
#define HELD_BITS_LETTER 4 /* of a string */
#define HELD_SAMPLES 4096
#define HELD_LOOKS 16 /* culprits whose values are looked for among others */
#define HELD_EPS                                                                                   \
    64 /* units in the last place that rounding before it may have moved a value by                \
        */

/* --- is it that one? -------------------------------------------------------------------------- */

/* How much one number that agrees says. */
static double held_bits_of(const struct odb_tensor *t, double span)
{
    const struct odb_dtype_info *info = odb_dtype_info(t->dtype);
    if (info->class_ == ODB_CLASS_FLOAT)
        return info->bits / 2.;
    return fmin(log2(1 + span), info->bits);
}

static int held_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A number is wrong by more than rounding and a fault's crumbs. */
static bool held_apart(double a, double b, double near)
{
    return isnan(a) || isnan(b) ? isnan(a) != isnan(b) : fabs(a - b) > near;
}

/* Element i of one and k of the other, of one type. */
static bool held_unlike(const struct odb_tensor *a, size_t i, const struct odb_tensor *b, size_t k,
                        double near)
{
    if (a->dtype != ODB_STRING)
        return held_apart(odb_tensor_f64(a, i), odb_tensor_f64(b, k), near);
    const struct odb_str *x = (const struct odb_str *)a->data + i;
    const struct odb_str *y = (const struct odb_str *)b->data + k;
    return x->len != y->len || (x->len && memcmp(x->data, y->data, x->len));
}

static double held_rms(const struct odb_tensor *t)
{
    struct odb_gap gap;
    odb_gap_measure(&gap, t, t);
    return gap.rms;
}

/* A wrong value, and what is asked of those that it may hold. */
struct held_wrong {
    const struct odb_tensor *t, *own; /* borrowed: the target's; the reference's, NULL: of no use */
    bool *wrong;                      /* owned; [t->count] */
    size_t first, n;                  /* of these, from the first to the last */
    double near;                      /* own numbers that are so close are right */
};

static struct held_wrong held_wrong_of(const struct odb_tensor *t, const struct odb_tensor *own)
{
    struct held_wrong w = {.t = t, .wrong = odb_new_n(bool, t->count + 1)};
    bool floats = odb_dtype_is_float(t->dtype);
    size_t last = 0;
    if (own && own->dtype == t->dtype && odb_tensor_same_shape(own, t))
        w.own = own;
    w.near = floats && w.own ? 1e-4 * held_rms(w.own) : 0;
    w.first = t->count;
    for (size_t i = 0; i < t->count; i++) {
        w.wrong[i] = !w.own || held_unlike(t, i, w.own, i, w.near);
        if (!w.wrong[i])
            continue;
        w.first = ODB_MIN(w.first, i);
        last = i + 1;
    }
    w.n = last > w.first ? last - w.first : 0;
    return w;
}

static int held_order_strings(const void *a, const void *b)
{
    const struct odb_str *x = *(const struct odb_str *const *)a;
    const struct odb_str *y = *(const struct odb_str *const *)b;
    int order = x->len && y->len ? memcmp(x->data, y->data, ODB_MIN(x->len, y->len)) : 0;
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* Different strings among the wrong ones, by their letters. */
static double held_weigh_strings(const struct held_wrong *w)
{
    const struct odb_str **seen = odb_new_n(const struct odb_str *, HELD_SAMPLES);
    size_t n = 0;
    double bits = 0;
    for (size_t i = w->first; i < w->first + w->n && n < HELD_SAMPLES; i++)
        if (w->wrong[i])
            seen[n++] = (const struct odb_str *)w->t->data + i;
    qsort(seen, n, sizeof *seen, held_order_strings);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || held_order_strings(&seen[i], &seen[i - 1]))
            bits += HELD_BITS_LETTER * (double)seen[i]->len;
    free(seen);
    return bits;
}

/* Different numbers among the wrong ones say something; a sample of them is enough. */
static double held_weigh(const struct held_wrong *w)
{
    if (w->t->dtype == ODB_STRING)
        return held_weigh_strings(w);
    double *seen = odb_new_n(double, HELD_SAMPLES), span, bits;
    size_t n = 0, different = 0;
    for (size_t i = w->first; i < w->first + w->n && n < HELD_SAMPLES; i++) {
        double v = odb_tensor_f64(w->t, i);
        if (w->wrong[i] && isfinite(v) && v != 0)
            seen[n++] = v;
    }
    qsort(seen, n, sizeof *seen, held_order);
    for (size_t i = 0; i < n; i++)
        different += i == 0 || seen[i] != seen[i - 1];
    span = n ? seen[n - 1] - seen[0] : 0;
    bits = (double)different * held_bits_of(w->t, span);
    free(seen);
    return bits;
}

/* The wrong stretch is what the other value has from `at` on, all of it. */
static bool held_agrees(const struct held_wrong *w, const struct odb_tensor *other, size_t at,
                        double near)
{
    if (at > other->count || other->count - at < w->n)
        return false;
    for (size_t i = 0; i < w->n; i++)
        if (held_unlike(w->t, w->first + i, other, at + i, near))
            return false;
    return true;
}

/* Where the wrong stretch may begin in the other value: at the same place, as two that begin at one
 * address, or at its beginning. */
static bool held_is(const struct held_wrong *w, const struct odb_tensor *other, bool exact,
                    double noise, size_t *at)
{
    const struct odb_dtype_info *info = odb_dtype_info(w->t->dtype);
    const size_t places[] = {w->first, 0};
    double near = exact || info->class_ != ODB_CLASS_FLOAT
                      ? 0
                      : fmax(HELD_EPS * info->eps, 4 * noise) * held_rms(other);
    for (size_t p = 0; p < ODB_COUNT(places); p++)
        if (held_agrees(w, other, places[p], near)) {
            *at = places[p];
            return true;
        }
    return false;
}

/* --- whose it is ------------------------------------------------------------------------------ */

static bool held_can(const struct odb_tensor *t, enum odb_dtype dtype)
{
    return t && t->kind == ODB_TENSOR && t->data && t->count && t->dtype == dtype;
}

/* Something can be said of it. */
static bool held_looks(const struct odb_tensor *t)
{
    return t && held_can(t, t->dtype) &&
           (t->dtype == ODB_STRING ||
            (odb_dtype_info(t->dtype)->bits && odb_dtype_info(t->dtype)->bits % 8 == 0));
}

/* Two that are the same numbers in the same order, whatever their shapes. */
static bool held_copies(const struct odb_tensor *a, const struct odb_tensor *b)
{
    bool can = a && b && a->kind == ODB_TENSOR && b->kind == ODB_TENSOR && a->dtype == b->dtype &&
               a->count == b->count && a->data && b->data;
    if (!can || a->dtype != ODB_STRING)
        return can && a->bytes == b->bytes && !memcmp(a->data, b->data, a->bytes);
    for (size_t i = 0; i < a->count && can; i++)
        can = !held_unlike(a, i, b, i, 0);
    return can;
}

/* Its node reads it, or a copy of it: a node that passes it on has not read the memory of another
 * value. */
static bool held_is_read(const struct search_case *c, const struct findings *f, int value,
                         const struct odb_tensor *other)
{
    int producer = c->graph->values[value].producer;
    const struct odb_node *node = producer == ODB_NO_NODE ? NULL : &c->graph->nodes[producer];
    for (size_t i = 0; node && i < odb_node_n_reads(node); i++) {
        int v = odb_node_reads(node, i);
        if (v >= 0 &&
            (held_copies(f->given[v], other) || held_copies(odb_trace_value(c->trace, v), other)))
            return true;
    }
    return false;
}

/* One that the wrong value may hold. */
static bool held_try(const struct search_case *c, const struct findings *f, int value,
                     const struct held_wrong *w, int other, struct odb_held *out)
{
    const struct odb_tensor *ref = c->trace->ref[other], *given = f->given[other];
    const struct odb_value_report *report = &f->values[other];
    double noise = report->noise.known ? report->noise.v : 0;
    size_t at;
    bool right = !odb_verdict_is_bad(report->verdict); /* else it may be what follows from it */
    bool is = right && held_can(given, w->t->dtype) && held_is(w, given, true, 0, &at);
    if (!is && held_can(ref, w->t->dtype))
        is = held_is(w, ref, false, noise, &at);
    if (!is || held_is_read(c, f, value, held_can(ref, w->t->dtype) ? ref : given))
        return false;
    *out = (struct odb_held){.known = true, .of = other, .first = w->first, .n = w->n};
    return true;
}

bool held_find(const struct search_case *c, const struct findings *f, int value,
               const struct odb_tensor *t, struct odb_held *out)
{
    *out = (struct odb_held){0};
    if (!held_looks(t))
        return false;
    struct held_wrong w = held_wrong_of(t, c->trace->ref[value]);
    bool found = false, enough = held_weigh(&w) >= HELD_BITS;
    for (size_t o = 0; o < c->n_outputs && enough && !found; o++)
        found = c->outputs[o] != value && held_try(c, f, value, &w, c->outputs[o], out);
    for (size_t v = 0; v < c->graph->n_values && enough && !found; v++)
        if ((int)v != value && !c->graph->values[v].is_output && !c->graph->values[v].init)
            found = held_try(c, f, value, &w, (int)v, out);
    out->of_all = t->count;
    free(w.wrong);
    return found;
}

/* --- outputs that changed places -------------------------------------------------------------- */

/* Whether an output that is wrong is another one, by the tolerance; and how much that says. */
static enum odb_status held_is_output(const struct search_case *c, const struct findings *f,
                                      size_t output, size_t other, double *bits,
                                      struct odb_error *err)
{
    const struct odb_tensor *t = f->plain[output];
    struct odb_judge judge = {c->trace, &c->options->tolerance, NULL};
    struct odb_value_report report = {0};
    int value = c->outputs[output];
    *bits = 0;
    const struct odb_tensor *ref = c->trace->ref[c->outputs[other]];
    if (output == other || !held_looks(t) || !held_can(ref, t->dtype))
        return ODB_OK;
    if (!odb_verdict_is_bad(f->verdicts[other].verdict) && held_is_read(c, f, value, ref))
        return ODB_OK; /* its own node has let it through */
    ODB_TRY(odb_judge_value(&judge, c->outputs[other], t, &report, err));
    if (report.verdict != ODB_VERDICT_PASS)
        return ODB_OK;
    struct held_wrong w = held_wrong_of(t, c->trace->ref[value]);
    *bits = held_weigh(&w);
    free(w.wrong);
    return ODB_OK;
}

/* holds [n_outputs]: whose values an output has, by index among them; -1: its own, or those of
 * none. */
static enum odb_status held_outputs(const struct search_case *c, const struct findings *f,
                                    int *holds, double *bits, struct odb_error *err)
{
    for (size_t o = 0; o < c->n_outputs; o++) {
        holds[o] = -1;
        for (size_t k = 0; k < c->n_outputs && odb_verdict_is_bad(f->verdicts[o].verdict); k++) {
            double agree;
            ODB_TRY(held_is_output(c, f, o, k, &agree, err));
            if (agree <= bits[o])
                continue;
            bits[o] = agree;
            holds[o] = (int)k;
        }
    }
    return ODB_OK;
}

/* A set that has only changed places needs less to be believed than one output by itself. */
static bool held_believed(const int *holds, const double *bits, size_t n, size_t output)
{
    double sum = bits[output];
    int at = holds[output];
    for (size_t steps = 0; at >= 0 && at != (int)output && steps < n; steps++) {
        sum += bits[at];
        at = holds[at];
    }
    return at == (int)output ? sum >= HELD_BITS_SET : bits[output] >= HELD_BITS;
}

/* Whether the node that makes an output is wrong by itself: then it makes the other's values. */
static enum odb_status held_wrong_alone(const struct search_case *c, struct findings *f, int node,
                                        bool *wrong, struct odb_error *err)
{
    struct alone alone = {0};
    *wrong = false;
    if (c->prober->recorded || !alone_possible(c, node))
        return ODB_OK;
    enum odb_status status =
        alone_run(c, f, question_alone(c, c->prober, node, c->trace->ref), &alone, err);
    *wrong = status == ODB_OK && alone.guilty;
    alone_dispose(&alone, c->graph->nodes[node].n_out);
    return status == ODB_CANCELLED ? status : ODB_OK;
}

/* One culprit for the output and those that its values lead to. */
static enum odb_status held_accuse(const struct search_case *c, struct findings *f,
                                   const int *holds, size_t first, struct odb_error *err)
{
    int value = c->outputs[first], node = c->graph->values[value].producer;
    size_t count = f->plain[first]->count;
    bool wrong;
    ODB_TRY(held_wrong_alone(c, f, node, &wrong, err));
    if (wrong)
        return ODB_OK;
    for (int o = (int)first; o >= 0 && holds[o] >= 0; o = holds[o]) {
        if (f->exchanged[c->outputs[o]] != ODB_NO_VALUE)
            break;
        f->exchanged[c->outputs[o]] = c->outputs[holds[o]];
    }
    struct odb_culprit *culprit = findings_accuse(f, node, value, ODB_KIND_EXCHANGED);
    culprit->held = (struct odb_held){true, c->outputs[holds[first]], 0, count, count};
    if (!c->prober->recorded)
        culprit->checks[ODB_CHECK_ALONE] = ODB_CONTRADICTS;
    culprit->reaches_output = true;
    return ODB_OK;
}

enum odb_status held_exchanged(const struct search_case *c, struct findings *f,
                               struct odb_error *err)
{
    int *holds = odb_new_n(int, c->n_outputs + 1);
    double *bits = odb_new_n(double, c->n_outputs + 1);
    enum odb_status status = held_outputs(c, f, holds, bits, err);
    size_t n = 0;
    for (size_t o = 0; o < c->n_outputs && status == ODB_OK; o++) {
        if (holds[o] < 0 || f->exchanged[c->outputs[o]] != ODB_NO_VALUE ||
            !held_believed(holds, bits, c->n_outputs, o))
            continue;
        if (!n++ && !c->prober->recorded)
            findings_step_begin(f, "outputs");
        status = held_accuse(c, f, holds, o, err);
    }
    if (n && status == ODB_OK && !c->prober->recorded)
        findings_step_end(f, "outputs",
                          "who makes an output that holds the values of another one, alone");
    free(bits);
    free(holds);
    return status;
}

/* --- memory that was used again --------------------------------------------------------------- */

void held_look(const struct search_case *c, struct findings *f)
{
    for (size_t i = 0; i < f->report->culprits.n && i < HELD_LOOKS; i++) {
        struct odb_culprit *culprit = findings_culprit(f, i);
        struct odb_held held;
        if (culprit->held.known || culprit->value < 0 || !odb_diagnosis_accuses(culprit->kind) ||
            culprit->of_reference)
            continue;
        const struct odb_tensor *t = f->given[culprit->value];
        if (held_find(c, f, culprit->value, t ? t : f->shown[culprit->value], &held))
            culprit->held = held;
    }
}

bool held_overwritten(const struct search_case *c, const struct findings *f,
                      struct odb_culprit *culprit)
{
    struct odb_held held;
    const struct odb_tensor *t = culprit->value < 0 ? NULL : f->given[culprit->value];
    t = t || culprit->value < 0 ? t : f->shown[culprit->value];
    if (!held_find(c, f, culprit->value, t, &held))
        return false;
    culprit->held = held;
    culprit->kind = ODB_KIND_OVERWRITTEN;
    return true;
}
