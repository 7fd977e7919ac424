/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The local error of a node is the target's output against the reference operator replayed, in
 * float64 and rounded once to the output's type (in its own precision where that has eight bits),
 * on the target's own inputs: whatever was wrong before the node is in both, so what remains is the
 * node's. It is judged by local noise: how far from the same replay honest computations in the
 * model's types may be, the reference's own and three noisy ones. Those cost four more runs of the
 * operator, and are made only when the error is above the floor that every float type has.
 */
#include "judge/blame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "judge/half_step.h"
#include "judge/encoded.h"
#include "judge/stored_inputs.h"
#include "run/hooks.h"
#include "reference/trace.h"
#include "run/value_report.h"

#define BLAME_NOISY_RUNS 3
#define BLAME_STEPS 2 /* times its local noise, beside half a step, a value of steps may be off */
#define BLAME_MANY 16 /* elements: of fewer a quarter is soon off */
#define BLAME_LARGE ((size_t)64 << 20) /* bytes of results that are rather made again than kept */
#define BLAME_EDGE 0.875 /* the power of a type's largest number where its edge begins */

static bool blame_is_float(const struct odb_tensor *t)
{
    return t && odb_tensor_real(t) != ODB_UNDEFINED;
}

static bool blame_by_noise(const struct odb_judge *judge)
{
    return judge->tolerance->kind == ODB_CRITERION_NOISE;
}

/* The precision by whose losses a tensor of the target is judged: the one that is expected, and of
 * a double that the target held in a narrower type that one's. NATIVE: none but the model's. */
static enum odb_precision blame_precision(const struct odb_judge *judge, const struct odb_tensor *t)
{
    enum odb_precision expect = judge->trace->expect;
    bool wide = odb_tensor_real(t) == ODB_F64;
    if (expect != ODB_PREC_NATIVE)
        return expect == ODB_PREC_F32 && !wide ? ODB_PREC_NATIVE : expect;
    return !wide                 ? ODB_PREC_NATIVE
           : t->held == ODB_F32  ? ODB_PREC_F32
           : t->held == ODB_F16  ? ODB_PREC_F16
           : t->held == ODB_BF16 ? ODB_PREC_BF16
                                 : ODB_PREC_NATIVE;
}

/* The float type whose rounding a tensor of floats has. */
static enum odb_dtype blame_rounded(const struct odb_judge *judge, const struct odb_tensor *t)
{
    enum odb_dtype dtype = odb_tensor_real(t);
    return blame_precision(judge, t) == ODB_PREC_F32 ? ODB_F32 : dtype;
}

/* --- distances -------------------------------------------------------------------------------- */

/* How far t is from base, less half a step of the integers that the target stores it as. */
static enum odb_status blame_gap(struct odb_gap *out, const struct odb_tensor *t,
                                 const struct odb_tensor *base, struct odb_error *err)
{
    struct odb_tensor *near;
    ODB_TRY(odb_half_step(&near, t, base, err));
    odb_gap_measure(out, near, base);
    odb_tensor_unref(near);
    return ODB_OK;
}

/* What a fixed tolerance says of the same. */
static enum odb_status blame_apply(const struct odb_judge *judge, const struct odb_tensor *t,
                                   const struct odb_tensor *base, enum odb_verdict *out,
                                   char reason[160], struct odb_error *err)
{
    struct odb_tensor *near;
    ODB_TRY(odb_half_step(&near, t, base, err));
    *out = odb_criterion_apply(judge->tolerance, near, base, reason, 160);
    odb_tensor_unref(near);
    return ODB_OK;
}

/* --- values ----------------------------------------------------------------------------------- */

/* How much coarser the type is that the target held a double in, where no precision is expected
 * that the noise is measured by: rounding grows in proportion. */
static double blame_coarser(const struct odb_judge *judge, const struct odb_tensor *t)
{
    bool narrow =
        judge->trace->expect == ODB_PREC_NATIVE && blame_precision(judge, t) != ODB_PREC_NATIVE;
    return narrow ? odb_dtype_info(t->held)->eps / odb_dtype_info(ODB_F64)->eps : 1;
}

static enum odb_status blame_value_by_noise(const struct odb_judge *judge, int value,
                                            const struct odb_tensor *t, const struct odb_gap *gap,
                                            struct odb_value_report *out, struct odb_error *err)
{
    double factor = judge->tolerance->v[0], noise = 0, coarser = blame_coarser(judge, t);
    ODB_TRY(odb_trace_noise(judge->trace, value, gap->error / coarser, factor, &noise, err));
    noise *= coarser;
    out->noise = ODB_NUMBER(noise);
    if (gap->error > factor * noise) {
        out->verdict = ODB_VERDICT_FAIL;
        snprintf(out->reason, sizeof out->reason, "error %.3g > %g x noise %.3g", gap->error,
                 factor, noise);
    }
    const double *mean = judge->trace->stepped && judge->trace->stepped[value]
                             ? &judge->trace->noise_mean[value]
                             : NULL;
    if (mean && out->verdict == ODB_VERDICT_PASS && gap->mean > factor * *mean) {
        out->verdict = ODB_VERDICT_FAIL;
        snprintf(out->reason, sizeof out->reason, "mean error %.3g > %g x noise of the mean %.3g",
                 gap->mean, factor, *mean);
    }
    return ODB_OK;
}

/* Types differ; those of empty containers do not, as they have no elements to see. */
static bool blame_types_differ(const struct odb_tensor *a, const struct odb_tensor *b)
{
    bool empty = a->kind != ODB_TENSOR && !a->n_items && !b->n_items;
    return a->kind != b->kind || (a->dtype != b->dtype && !empty);
}

/* dtype or shape, in words, when the target's is another; true then. */
static bool blame_misfits(const struct odb_tensor *t, const struct odb_tensor *ref,
                          struct odb_value_report *out)
{
    char a[120], b[120];
    if (blame_types_differ(t, ref)) {
        out->verdict = ODB_VERDICT_DTYPE;
        snprintf(out->reason, sizeof out->reason, "%s where the reference has %s",
                 odb_dtype_info(t->dtype)->name, odb_dtype_info(ref->dtype)->name);
    } else if (!odb_tensor_same_shape(t, ref)) {
        out->verdict = ODB_VERDICT_SHAPE;
        snprintf(out->reason, sizeof out->reason, "shape %.60s where the reference has %.60s",
                 odb_shape_text(t, a, sizeof a), odb_shape_text(ref, b, sizeof b));
    }
    return out->verdict != ODB_VERDICT_PASS;
}

/* NaN and Inf stand where the reference has them, in its own precision or the expected one. gap is
 * against golden, which nearly always has them at the same places as the reference. A value on the
 * way may leave the expected type's range, as a mask's does: an output of the model may not. */
static bool blame_same_pattern(const struct odb_trace *trace, int value, const struct odb_tensor *t,
                               const struct odb_gap *gap)
{
    struct odb_gap other = *gap;
    if (trace->split[value])
        odb_gap_measure(&other, t, trace->ref[value]);
    bool told = trace->model->graph->values[value].is_output && !trace->part;
    if (!other.pattern && trace->expected[value] && !told)
        odb_gap_measure(&other, t, trace->expected[value]);
    return other.pattern;
}

static enum odb_status blame_value(const struct odb_judge *judge, int value,
                                   const struct odb_tensor *t, struct odb_value_report *out,
                                   struct odb_error *err)
{
    const struct odb_tensor *ref = odb_trace_value(judge->trace, value);
    const struct odb_tensor *golden = judge->trace->golden[value];
    struct odb_gap gap;
    out->verdict = !t ? ODB_VERDICT_UNTESTED : !ref ? ODB_VERDICT_UNSUPPORTED : ODB_VERDICT_PASS;
    out->boundary = judge->trace->boundary[value];
    if (!t || !ref)
        return ODB_OK;
    ODB_TRY(blame_gap(&gap, t, golden ? golden : ref, err));
    if (gap.comparable) {
        out->error = ODB_NUMBER(gap.error);
        out->error_mean = ODB_NUMBER(gap.mean);
    }
    if (blame_misfits(t, ref, out))
        return ODB_OK;
    if (ref->kind != ODB_TENSOR && blame_is_float(ref) && !gap.comparable) {
        out->verdict = ODB_VERDICT_SHAPE;
        snprintf(out->reason, sizeof out->reason, "elements of other types or shapes");
        return ODB_OK;
    }
    if (!blame_by_noise(judge))
        return blame_apply(judge, t, ref, &out->verdict, out->reason, err);
    if (blame_is_float(ref) && !blame_same_pattern(judge->trace, value, t, &gap)) {
        out->verdict = ODB_VERDICT_NAN;
        snprintf(out->reason, sizeof out->reason, "NaN or Inf at other places");
        return ODB_OK;
    }
    if (blame_is_float(ref))
        return blame_value_by_noise(judge, value, t, &gap, out, err);
    out->noise = ODB_NUMBER(0); /* integers, bool, strings: golden is the reference */
    if (!gap.same) {
        out->verdict = ODB_VERDICT_FAIL;
        snprintf(out->reason, sizeof out->reason, "differs; this type is compared exactly");
    }
    return ODB_OK;
}

enum odb_status odb_judge_value(const struct odb_judge *judge, int value,
                                const struct odb_tensor *t, struct odb_value_report *out,
                                struct odb_error *err)
{
    ODB_TRY(blame_value(judge, value, t, out, err));
    if (t)
        odb_seen_note(judge->compared, &(struct odb_seen){.value = value,
                                                          .verdict = out->verdict,
                                                          .error = out->error,
                                                          .noise = out->noise});
    return ODB_OK;
}

/* --- replay ----------------------------------------------------------------------------------- */

/* The reference operator on the target's inputs, once per precision that was asked for. */
struct blame_replay {
    const struct odb_judge *judge;
    int node;
    struct odb_tensor *const *in;
    struct odb_tensor *const *given;
    struct odb_tensor **exact;    /* owned; [n_out] float64, rounded once to a type, and to no
                                     encoding */
    struct odb_tensor **native;   /* owned; [n_out]; NULL until needed */
    enum odb_simulated simulated; /* what is put into encodings: INPUTS, or NOTHING */
    struct odb_reach *reach; /* owned; [n_out] of inputs that are stored as integers; NULL until
                                needed, or where there are none */
};

static enum odb_status blame_run(const struct blame_replay *r, enum odb_precision precision,
                                 uint64_t seed, struct odb_tensor **out, struct odb_error *err)
{
    return odb_trace_replay(r->judge->trace, r->node, precision, seed, r->in, r->given,
                            r->simulated, out, err);
}

static void blame_drop(struct odb_tensor **out, int n)
{
    for (int o = 0; out && o < n; o++)
        odb_tensor_unref(out[o]);
    free(out);
}

/* What the operator is replayed in: float64, unless it only picks among its inputs or their
 * magnitudes, which in their own type is the same without widening and rounding each. Steps and
 * expected precisions are put in on the way, so there it is float64 too. */
static enum odb_precision blame_replayed_in(const struct blame_replay *r,
                                            const struct odb_node *node)
{
    const struct odb_trace *trace = r->judge->trace;
    const struct odb_op *op = odb_cpu_op(trace->cpu, r->node);
    const unsigned picking = ODB_OP_EXACT | ODB_OP_REAL;
    bool picks = op && (op->flags & (picking | ODB_OP_BOUNDARY)) == picking;
    for (int i = 0; i < node->n_in && picks; i++)
        picks = node->in[i] < 0 || !blame_is_float(r->in[i]) ||
                (r->in[i]->kind == ODB_TENSOR && r->in[i]->dtype == ODB_F32);
    bool plain = trace->precision == ODB_PREC_NATIVE && trace->expect == ODB_PREC_NATIVE;
    return picks && plain && !trace->encodings && !node->n_captured ? ODB_PREC_NATIVE
                                                                    : ODB_PREC_F64;
}

/* Float64 results in the type that the target gave. */
static enum odb_status blame_round(struct odb_tensor **exact, struct odb_tensor *const *out, int n,
                                   struct odb_error *err)
{
    for (int o = 0; o < n; o++) {
        if (!blame_is_float(exact[o]) || !blame_is_float(out[o]) ||
            odb_tensor_real(exact[o]) == odb_tensor_real(out[o]))
            continue;
        ODB_TRY(odb_tensor_narrow(&exact[o], odb_tensor_real(out[o]), err));
    }
    return ODB_OK;
}

static struct odb_tensor *const *blame_native(struct blame_replay *r, int n_out)
{
    struct odb_error ignored;
    const struct odb_trace *trace = r->judge->trace;
    if (!r->native) {
        r->native = odb_new_n(struct odb_tensor *, n_out);
        if (blame_run(r, trace->precision, trace->seed, r->native, &ignored) != ODB_OK)
            memset(r->native, 0, (size_t)n_out * sizeof *r->native);
    }
    return r->native;
}

/* Large ones are made again where they are asked for again: few nodes do. */
static void blame_forget_native(struct blame_replay *r, int n_out)
{
    size_t bytes = 0;
    for (int o = 0; r->native && o < n_out; o++)
        bytes += odb_tensor_size(r->native[o]);
    if (bytes < BLAME_LARGE)
        return;
    blame_drop(r->native, n_out);
    r->native = NULL;
}

/* What overflow and rounding give in a type of eight bits is for the operator's attributes to say,
 * of which a float64 that is rounded in the end knows nothing: there its own codes count. */
static void blame_codes(struct blame_replay *r, struct odb_tensor *const *out, int n)
{
    for (int o = 0; o < n; o++) {
        if (!blame_is_float(out[o]) || odb_dtype_info(odb_tensor_real(out[o]))->bits > 8 ||
            !blame_native(r, n)[o])
            continue;
        odb_tensor_unref(r->exact[o]);
        r->exact[o] = odb_tensor_ref(r->native[o]);
    }
}

/* How far honest computations of an output are from the exact one. */
struct blame_noise {
    double max, mean;
};

static void blame_raise(struct blame_noise *noise, const struct odb_tensor *t,
                        const struct odb_tensor *exact)
{
    struct odb_gap gap;
    if (!t || !exact)
        return;
    odb_gap_measure(&gap, t, exact);
    if (!gap.comparable)
        return;
    noise->max = fmax(noise->max, gap.error);
    noise->mean = fmax(noise->mean, gap.mean);
}

/* Raises noise to what honest computations of output o on these inputs show; t: the target's. */
static void blame_measure_noise(struct blame_replay *r, int n_out, int o,
                                const struct odb_tensor *t, struct blame_noise *noise)
{
    const struct odb_trace *trace = r->judge->trace;
    enum odb_precision expect = blame_precision(r->judge, t);
    bool expects = expect != ODB_PREC_NATIVE;
    blame_raise(noise, blame_native(r, n_out)[o], r->exact[o]);
    blame_forget_native(r, n_out);
    for (int run = 0; run < BLAME_NOISY_RUNS + expects; run++) {
        struct odb_error ignored;
        struct odb_tensor **out = odb_new_n(struct odb_tensor *, n_out);
        bool noisy = run < BLAME_NOISY_RUNS;
        if (blame_run(r, noisy ? ODB_PREC_NOISY : expect, ODB_NOISY_SEED(trace, run), out,
                      &ignored) == ODB_OK)
            blame_raise(noise, out[o], r->exact[o]);
        blame_drop(out, n_out);
    }
}

/* --- inputs that are stored ------------------------------------------------------------------- */

static enum odb_status blame_reach(struct blame_replay *r, const struct odb_node *node,
                                   struct odb_error *err)
{
    if (r->reach || !odb_inputs_stored(node, r->in))
        return ODB_OK;
    r->reach = odb_new_n(struct odb_reach, node->n_out);
    return odb_inputs_reach(r->reach, r->judge->trace, r->node, r->in, r->given, r->simulated,
                            r->exact, err);
}

/* Output t, less half a step of itself, and less what half steps of the inputs make of it. *out is
 * the caller's; gap: how far that is from exact. */
static enum odb_status blame_less_steps(struct blame_replay *r, const struct odb_node *node, int o,
                                        const struct odb_tensor *t, struct odb_tensor **out,
                                        struct odb_gap *gap, struct odb_error *err)
{
    struct odb_tensor *near;
    ODB_TRY(odb_half_step(&near, t, r->exact[o], err));
    odb_gap_measure(gap, near, r->exact[o]);
    enum odb_status status = gap->same ? ODB_OK : blame_reach(r, node, err);
    if (status != ODB_OK || !r->reach || gap->same) {
        *out = near;
        return status;
    }
    status = odb_nearer(out, near, r->exact[o], r->reach[o].max * gap->rms, err);
    if (status == ODB_OK && *out != near)
        odb_gap_measure(gap, *out, r->exact[o]);
    odb_tensor_unref(near);
    return status;
}

/* --- nodes ------------------------------------------------------------------------------------ */

/* Inherited error of output o and the gain over the worst input. */
static void blame_inherit(const struct odb_judge *judge, const struct odb_node *node, int o,
                          const struct odb_tensor *exact, struct odb_value_report *reports)
{
    struct odb_value_report *report = &reports[node->out[o]];
    const struct odb_tensor *golden = judge->trace->golden[node->out[o]];
    struct odb_gap gap;
    if (!golden)
        return;
    odb_gap_measure(&gap, exact, golden);
    if (!gap.comparable)
        return;
    report->inherited_error = ODB_NUMBER(gap.error);
    double worst = 0, noise = 0;
    for (int i = 0; i < node->n_in; i++) {
        if (node->in[i] < 0 || !reports[node->in[i]].error.known)
            continue;
        const struct odb_value_report *in = &reports[node->in[i]];
        if (in->error.v > worst) {
            worst = in->error.v;
            noise = in->local_noise.known ? in->local_noise.v : in->noise.v;
        }
    }
    if (worst > 0 && isfinite(worst) && worst >= noise)
        report->gain = ODB_NUMBER(gap.error / worst);
}

/* True when a tiny change of the inputs can tip outputs of the node over. A body may hold operators
 * that decide; whether they do is seen when noise is measured. */
static bool blame_decides(const struct odb_trace *trace, int node)
{
    const struct odb_op *op = odb_cpu_op(trace->cpu, node);
    return !op || (op->flags & ODB_OP_BOUNDARY);
}

/* How a target may agree with an honest way of computing the output. */
enum blame_agreement { BLAME_SAME_VALUES, BLAME_SAME_PATTERN };

static bool blame_agrees(const struct odb_tensor *t, const struct odb_tensor *honest,
                         enum blame_agreement how)
{
    struct odb_gap gap;
    if (!honest || blame_gap(&gap, t, honest, NULL) != ODB_OK)
        return false;
    return how == BLAME_SAME_VALUES ? gap.same : gap.pattern;
}

/* True when the reference in its own precision, or in the expected one, agrees with the target. */
static bool blame_explained(struct blame_replay *r, int n_out, int o, const struct odb_tensor *t,
                            enum blame_agreement how)
{
    enum odb_precision expect = blame_precision(r->judge, t);
    if (blame_agrees(t, blame_native(r, n_out)[o], how))
        return true;
    if (expect == ODB_PREC_NATIVE)
        return false;
    struct odb_error ignored;
    struct odb_tensor **out = odb_new_n(struct odb_tensor *, n_out);
    bool agrees = blame_run(r, expect, 0, out, &ignored) == ODB_OK && blame_agrees(t, out[o], how);
    blame_drop(out, n_out);
    return agrees;
}

/* What an input holds besides ordinary numbers. */
struct blame_extremes {
    bool odd;  /* NaN or Inf */
    bool edge; /* finite, and so large that a sum of such leaves the type on its way or does not, by
                  its order */
};

static double blame_edge(const struct odb_tensor *t)
{
    return pow(odb_dtype_info(odb_tensor_real(t))->max, BLAME_EDGE);
}

static struct blame_extremes blame_extremes_of(const struct odb_tensor *t)
{
    double edge = blame_edge(t);
    struct blame_extremes found = {false, false};
    for (size_t i = 0; t->kind == ODB_TENSOR && i < t->count; i++) {
        double v = fabs(odb_tensor_f64(t, i));
        found.odd = found.odd || !isfinite(v);
        found.edge = found.edge || (isfinite(v) && v > edge);
    }
    return found;
}

/* No element of t can be at the edge, by its distance from what it was compared with: the largest
 * of n numbers is no more than sqrt(n) times their rms. */
static bool blame_is_inside(const struct odb_tensor *t, const struct odb_gap *gap)
{
    return gap->comparable && gap->pattern &&
           gap->rms * (sqrt((double)t->count) + gap->error) < blame_edge(t);
}

/* The target's inputs against the reference's: NaN or Inf that came in at other places, or, where
 * the shape that came in is another and no place can be named, that came in at all; and numbers at
 * the edge of their type that the reference has none of. What operators make of those is their own
 * affair (some swallow them, some spread them; a sum overflows or not), and the node that brought
 * them in is to blame. */
static struct blame_extremes blame_brought_in(const struct blame_replay *r,
                                              const struct odb_node *node)
{
    const struct odb_trace *trace = r->judge->trace;
    struct blame_extremes brought = {false, false};
    for (int i = 0; i < node->n_in; i++) {
        const struct odb_tensor *ref = node->in[i] < 0 ? NULL : odb_trace_value(trace, node->in[i]);
        struct odb_gap gap;
        if (!blame_is_float(r->in[i]) || !ref || r->in[i] == ref)
            continue;
        odb_gap_measure(&gap, r->in[i], ref);
        if (blame_is_inside(r->in[i], &gap))
            continue;
        struct blame_extremes own = blame_extremes_of(r->in[i]), has = blame_extremes_of(ref);
        brought.odd = brought.odd || (gap.comparable ? !gap.pattern : own.odd && !has.odd);
        brought.edge = brought.edge || (own.edge && !has.edge);
    }
    return brought;
}

/* Whether an honest sum in the type itself leaves it at the same places: of numbers at its edge,
 * which the reference was fed as well, that hangs on the order, and on what the sum is kept in. */
static bool blame_overflows(const struct blame_replay *r, const struct odb_node *node, int o,
                            const struct odb_tensor *t)
{
    bool edge = false, agrees = false;
    for (int i = 0; i < node->n_in && !edge; i++)
        edge = blame_is_float(r->in[i]) && blame_extremes_of(r->in[i]).edge;
    for (int run = 0; run < BLAME_NOISY_RUNS && edge && !agrees; run++) {
        struct odb_error ignored;
        struct odb_tensor **out = odb_new_n(struct odb_tensor *, node->n_out);
        uint64_t seed = ODB_NOISY_SEED(r->judge->trace, run);
        agrees = blame_run(r, ODB_PREC_NOISY, seed, out, &ignored) == ODB_OK &&
                 blame_agrees(t, out[o], BLAME_SAME_PATTERN);
        blame_drop(out, node->n_out);
    }
    return agrees;
}

/* Whether a value of the target has NaN or Inf where the reference has none. */
static bool blame_is_odd(const struct odb_trace *trace, const struct odb_tensor *t, int value)
{
    const struct odb_tensor *ref = odb_trace_value(trace, value);
    struct odb_gap gap;
    if (!blame_is_float(t) || !ref || t == ref)
        return false;
    odb_gap_measure(&gap, t, ref);
    return gap.comparable && !gap.pattern && blame_extremes_of(t).odd;
}

/* Whether some value before the node has them. */
static bool blame_odd_before(const struct blame_replay *r)
{
    const struct odb_graph *graph = r->judge->trace->model->graph;
    const struct odb_node *node = &graph->nodes[r->node];
    bool *before = odb_new_n(bool, graph->n_nodes + 1), odd = false;
    odb_graph_ancestors(graph, node->in, (size_t)node->n_in, NULL, before);
    for (size_t n = 0; n < graph->n_nodes && !odd; n++)
        for (int o = 0; o < graph->nodes[n].n_out && before[n] && !odd; o++) {
            int v = graph->nodes[n].out[o];
            odd = v >= 0 && blame_is_odd(r->judge->trace, r->given[v], v);
        }
    free(before);
    return odd;
}

static void blame_accuse(struct odb_value_report *report, const char *reason)
{
    report->culprit = true;
    if (!report->reason[0])
        snprintf(report->reason, sizeof report->reason, "%s", reason);
}

/* Whether all that differs is zero where there should be less than the least normal number, as
 * honest processors have it. */
static bool blame_flushes(const struct odb_tensor *t, const struct odb_tensor *exact)
{
    double least = odb_flushed(1, t->dtype);
    if (!(least > 0) || t->kind != ODB_TENSOR || !odb_tensor_same_shape(t, exact))
        return false;
    for (size_t i = 0; i < t->count; i++) {
        double a = odb_tensor_f64(t, i), b = odb_tensor_f64(exact, i);
        if (a != b && !(a == 0 && fabs(b) < least) && !(isnan(a) && isnan(b)))
            return false;
    }
    return true;
}

/* Judges float output o, whose local error is gap, by noise. */
static void blame_judge_float(struct blame_replay *r, const struct odb_node *node, int o,
                              const struct odb_tensor *t, const struct odb_gap *gap,
                              struct odb_value_report *report)
{
    const struct odb_trace *trace = r->judge->trace;
    const struct odb_op *op = odb_cpu_op(trace->cpu, r->node);
    double factor = r->judge->tolerance->v[0];
    bool exact =
        op && (op->flags & ODB_OP_EXACT) && blame_precision(r->judge, t) == ODB_PREC_NATIVE;
    report->local_noise =
        ODB_NUMBER(exact ? 0 : odb_noise_floor(gap->rms, blame_rounded(r->judge, t)));
    if (gap->same)
        return;
    struct blame_extremes brought = {false, false};
    if (exact || !gap->pattern) /* nothing else asks */
        brought = blame_brought_in(r, node);
    bool rounded_to_zero = r->reach && !blame_extremes_of(t).odd; /* as a divisor may be */
    bool poisoned = brought.odd || rounded_to_zero;
    if (!gap->pattern && !poisoned && !brought.edge &&
        !blame_explained(r, node->n_out, o, t, BLAME_SAME_PATTERN) &&
        !blame_overflows(r, node, o, t)) {
        blame_accuse(report, "the operator makes NaN or Inf that the reference does not");
        return;
    }
    if (exact && blame_flushes(t, r->exact[o])) {
        report->local_noise = report->local_error;
        return;
    }
    if (exact) {
        bool finite_same = poisoned && gap->comparable && gap->error <= 0;
        if (!finite_same && !blame_explained(r, node->n_out, o, t, BLAME_SAME_VALUES))
            blame_accuse(report, "the operator only moves or selects, and must match bit for bit");
        return;
    }
    if (gap->error <= factor * report->local_noise.v)
        return;
    struct blame_noise noise = {.max = report->local_noise.v};
    blame_measure_noise(r, node->n_out, o, t, &noise);
    report->local_noise = ODB_NUMBER(noise.max);
    if (gap->error <= factor * report->local_noise.v)
        return;
    if (blame_decides(trace, r->node) && blame_explained(r, node->n_out, o, t, BLAME_SAME_VALUES))
        return;
    blame_accuse(report, "local error over local noise");
}

/* Whether the target went on with numbers that it has not rounded yet, as it gave them: the node is
 * right about those. */
static bool blame_unrounded(const struct blame_replay *r, int n_out, int o,
                            const struct odb_encoding *e, const struct odb_tensor *t, double noise)
{
    struct blame_replay other = *r;
    struct odb_error ignored;
    struct odb_encoded_gap gap = {.wrong = 1};
    struct odb_tensor **out = odb_new_n(struct odb_tensor *, n_out);
    other.simulated = ODB_SIMULATE_NOTHING;
    if (blame_run(&other, ODB_PREC_F64, r->judge->trace->seed, out, &ignored) == ODB_OK && out[o] &&
        odb_tensor_same_shape(out[o], t))
        odb_encoded_measure(&gap, e, t, out[o], noise);
    blame_drop(out, n_out);
    return gap.wrong == 0;
}

/* How far from what there was to round honest computations may be, absolutely. Beside rounding that
 * is a few weights which are a step apart: they reach far in a few elements, and not on the mean.
 * So where a quarter of all elements is off, it is not them. */
static double blame_encoded_noise(struct blame_replay *r, int n_out, int o,
                                  const struct odb_encoded_gap *off, double rms)
{
    struct blame_noise honest = {.max = 0};
    blame_measure_noise(r, n_out, o, r->exact[o], &honest);
    bool many = off->wrong >= BLAME_MANY && off->wrong > r->exact[o]->count / 4;
    bool few = honest.mean * rms < off->step / 64;
    return isfinite(honest.max) && !(many && few) ? BLAME_STEPS * honest.max * rms : 0;
}

/* Judges output o, which has an encoding. Noise is told as what half a step and rounding are. */
static void blame_judge_encoded(struct blame_replay *r, const struct odb_node *node, int o,
                                const struct odb_encoding *e, const struct odb_tensor *t,
                                const struct odb_gap *gap, struct odb_value_report *report)
{
    double factor = r->judge->tolerance->v[0], noise = 0;
    struct odb_encoded_gap off;
    odb_encoded_measure(&off, e, t, r->exact[o], noise);
    if (off.wrong) {
        noise = blame_encoded_noise(r, node->n_out, o, &off, gap->rms);
        odb_encoded_measure(&off, e, t, r->exact[o], noise);
    }
    if (isfinite(off.excess) && gap->rms > 0) /* of what lies outside the range the end counts */
        report->local_error =
            ODB_NUMBER(fmin(gap->error, (0.5 + off.excess) * off.step / gap->rms));
    double allowed = gap->rms > 0 ? (0.5 + off.slack) * off.step / gap->rms / factor : 0;
    report->local_noise = ODB_NUMBER(allowed);
    if (!off.wrong || blame_brought_in(r, node).odd ||
        blame_unrounded(r, node->n_out, o, e, t, noise)) {
        report->local_noise = ODB_NUMBER(fmax(allowed, report->local_error.v / factor));
        return;
    }
    if (!report->reason[0])
        snprintf(report->reason, sizeof report->reason,
                 "%zu element%s off, by up to %.3g steps of the encoding where half a step is "
                 "rounding",
                 off.wrong, off.wrong == 1 ? "" : "s", 0.5 + off.excess);
    blame_accuse(report, "local error over local noise");
}

/* True when the operator gives another type on these inputs. exact has taken the target's float
 * type, so the operator in its own precision tells. */
static bool blame_other_type(struct blame_replay *r, const struct odb_node *node, int o,
                             const struct odb_tensor *t)
{
    const struct odb_tensor *ref = r->judge->trace->ref[node->out[o]];
    if (blame_types_differ(t, r->exact[o]))
        return true;
    if (t->kind != ODB_TENSOR || (ref && ref->dtype == t->dtype))
        return false;
    const struct odb_tensor *native = blame_native(r, node->n_out)[o];
    return native && native->dtype != t->dtype;
}

/* Judges an output of another type than float: equal to the operator's in float64 or in its own
 * precision. Decisions on floats may fall otherwise near their borders: no farther than where
 * noisy runs decide otherwise, and not much more often. */
static void blame_judge_exact(struct blame_replay *r, const struct odb_node *node, int o,
                              const struct odb_tensor *t, const struct odb_gap *gap,
                              struct odb_value_report *report)
{
    struct blame_noise noise = {0};
    report->local_noise = ODB_NUMBER(0);
    if (gap->same || blame_explained(r, node->n_out, o, t, BLAME_SAME_VALUES) ||
        blame_brought_in(r, node).odd)
        return;
    if (blame_decides(r->judge->trace, r->node) && gap->comparable) {
        blame_measure_noise(r, node->n_out, o, t, &noise);
        if (r->reach) {
            noise.max = fmax(noise.max, r->reach[o].max);
            noise.mean = fmax(noise.mean, r->reach[o].mean);
        }
        report->local_noise = ODB_NUMBER(noise.max);
        if (gap->error <= noise.max && gap->mean <= r->judge->tolerance->v[0] * noise.mean)
            return;
    }
    blame_accuse(report, "this type is compared exactly");
}

/* A value over its noise whose inputs are within theirs, at an operator that may be that far off on
 * such inputs, is no divergence: the noisy runs over the model happened to show less. */
static void blame_excuse(const struct odb_judge *judge, const struct odb_node *node, int o,
                         struct odb_value_report *reports)
{
    struct odb_value_report *report = &reports[node->out[o]];
    if (report->culprit || report->verdict != ODB_VERDICT_FAIL || !report->local_noise.known ||
        report->error.v > judge->tolerance->v[0] * report->local_noise.v)
        return;
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] >= 0 && odb_verdict_is_bad(reports[node->in[i]].verdict))
            return;
    report->verdict = ODB_VERDICT_PASS;
    report->noise = report->local_noise;
    report->reason[0] = '\0';
}

/* Judges output o by a tolerance that knows nothing of rounding. Values are held against the
 * reference's, so where float64 is farther away than the tolerance, its own precision counts too: a
 * target that computes what it computes is not off. */
static enum odb_status blame_judge_fixed(struct blame_replay *r, const struct odb_node *node, int o,
                                         const struct odb_tensor *t,
                                         struct odb_value_report *report, struct odb_error *err)
{
    enum odb_verdict exact, own = ODB_VERDICT_FAIL;
    char reason[160], ignored[160];
    ODB_TRY(blame_apply(r->judge, t, r->exact[o], &exact, reason, err));
    if (exact == ODB_VERDICT_PASS)
        return ODB_OK;
    const struct odb_tensor *native = blame_native(r, node->n_out)[o];
    if (native)
        ODB_TRY(blame_apply(r->judge, t, native, &own, ignored, err));
    if (own != ODB_VERDICT_PASS)
        blame_accuse(report, reason);
    return ODB_OK;
}

/* t and gap: less steps (blame_less_steps()). */
static enum odb_status blame_judge_made(struct blame_replay *r, const struct odb_node *node, int o,
                                        const struct odb_tensor *t, const struct odb_gap *gap,
                                        struct odb_value_report *reports, struct odb_error *err)
{
    struct odb_value_report *report = &reports[node->out[o]];
    const struct odb_tensor *exact = r->exact[o];
    const struct odb_encoding *e = odb_cpu_encoding(r->judge->trace->cpu, node->out[o]);
    blame_inherit(r->judge, node, o, exact, reports);
    if (gap->comparable)
        report->local_error = ODB_NUMBER(gap->error);
    bool other = t->kind != ODB_TENSOR && blame_is_float(exact) && !gap->comparable;
    if (other || !odb_tensor_same_shape(t, exact) || blame_other_type(r, node, o, t)) {
        blame_accuse(report, "another shape or type than the reference operator gives");
    } else if (!blame_by_noise(r->judge)) {
        return blame_judge_fixed(r, node, o, t, report, err);
    } else if (e && t->kind == ODB_TENSOR && blame_is_float(t)) {
        blame_judge_encoded(r, node, o, e, t, gap, report);
        blame_excuse(r->judge, node, o, reports);
    } else if (blame_is_float(t)) {
        blame_judge_float(r, node, o, t, gap, report);
        blame_excuse(r->judge, node, o, reports);
    } else {
        blame_judge_exact(r, node, o, t, gap, report);
    }
    return ODB_OK;
}

static enum odb_status blame_judge_output(struct blame_replay *r, const struct odb_node *node,
                                          int o, const struct odb_tensor *t,
                                          struct odb_value_report *reports, struct odb_error *err)
{
    struct odb_tensor *made = NULL;
    struct odb_gap gap;
    if (!t || !r->exact[o])
        return ODB_OK;
    bool stored = t->n_steps || odb_inputs_stored(node, r->in);
    enum odb_status status = blame_less_steps(r, node, o, t, &made, &gap, err);
    if (status == ODB_OK)
        status = blame_judge_made(r, node, o, made, &gap, reports, err);
    if (stored && reports[node->out[o]].culprit && blame_odd_before(r))
        reports[node->out[o]].culprit = false; /* integers do not show what came of NaN and Inf */
    odb_tensor_unref(made);
    return status;
}

/* The target's inputs of a node; false when one was not had. */
static bool blame_inputs(const struct odb_trace *trace, const struct odb_node *node,
                         struct odb_tensor *const *given, struct odb_tensor **in)
{
    for (int i = 0; i < node->n_in; i++) {
        int v = node->in[i];
        if (v < 0)
            continue;
        const struct odb_value *value = &trace->model->graph->values[v];
        in[i] = given[v];
        if (!in[i] && value->producer == ODB_NO_NODE) /* feeds and initializers are the same */
            in[i] = (struct odb_tensor *)odb_trace_value(trace, v);
        if (!in[i])
            return false;
    }
    for (size_t c = 0; c < node->n_captured; c++)
        if (!given[node->captured[c]] &&
            trace->model->graph->values[node->captured[c]].producer != ODB_NO_NODE)
            return false;
    return true;
}

enum odb_status odb_judge_node(const struct odb_judge *judge, int index,
                               struct odb_tensor *const *given, struct odb_tensor *const *out,
                               struct odb_value_report *reports, struct odb_error *err)
{
    const struct odb_trace *trace = judge->trace;
    const struct odb_node *node = &trace->model->graph->nodes[index];
    struct odb_error ignored;
    odb_trace_touched(judge->trace, index);
    if (odb_cpu_unsupported(trace->cpu, index)[0] || odb_cpu_random(trace->cpu, index))
        return ODB_OK;
    struct odb_tensor **in = odb_new_n(struct odb_tensor *, node->n_in);
    struct blame_replay r = {.judge = judge,
                             .node = index,
                             .in = in,
                             .given = given,
                             .exact = odb_new_n(struct odb_tensor *, node->n_out),
                             .simulated =
                                 blame_by_noise(judge) ? ODB_SIMULATE_INPUTS : ODB_SIMULATE_ALL};
    enum odb_status status = ODB_OK;
    bool replayed =
        blame_inputs(trace, node, given, in) &&
        blame_run(&r, blame_replayed_in(&r, node), trace->seed, r.exact, &ignored) == ODB_OK;
    if (replayed)
        status = blame_round(r.exact, out, node->n_out, err);
    if (replayed && status == ODB_OK)
        blame_codes(&r, out, node->n_out);
    for (int o = 0; o < node->n_out && replayed && status == ODB_OK; o++)
        if (node->out[o] >= 0)
            status = blame_judge_output(&r, node, o, out[o], reports, err);
    if (!replayed)
        memset(r.exact, 0, (size_t)node->n_out * sizeof *r.exact);
    blame_drop(r.exact, node->n_out);
    blame_drop(r.native, node->n_out);
    free(r.reach);
    free(in);
    return status;
}

/* Judges the outputs of a node one by one, then the node. */
static enum odb_status blame_node(const struct odb_judge *judge, int index,
                                  struct odb_tensor *const *given, struct odb_value_report *reports,
                                  const struct odb_search_hooks *hooks, struct odb_error *err)
{
    const struct odb_graph *graph = judge->trace->model->graph;
    const struct odb_node *node = &graph->nodes[index];
    struct odb_tensor **out = odb_new_n(struct odb_tensor *, node->n_out);
    enum odb_status status = ODB_OK;
    for (int o = 0; o < node->n_out && status == ODB_OK; o++) {
        int v = node->out[o];
        if (v < 0)
            continue;
        out[o] = given[v];
        status = odb_judge_value(judge, v, given[v], &reports[v], err);
        odb_hooks_value(hooks, graph, v, &reports[v]);
    }
    if (status == ODB_OK)
        status = odb_judge_node(judge, index, given, out, reports, err);
    for (int o = 0; o < node->n_out && status == ODB_OK; o++)
        if (node->out[o] >= 0)
            odb_hooks_value(hooks, graph, node->out[o], &reports[node->out[o]]);
    free(out);
    return status;
}

/* Whether the target did not make what the node makes, for it refuses that. */
static bool blame_is_fed(const struct odb_trace *trace, int index)
{
    const struct odb_node *node = &trace->model->graph->nodes[index];
    bool fed = false;
    for (int o = 0; o < node->n_out && trace->fed; o++)
        fed |= node->out[o] >= 0 && trace->fed[node->out[o]];
    return fed;
}

enum odb_status odb_blame(const struct odb_judge *judge, int first, int stop,
                          struct odb_tensor *const *given, struct odb_value_report *reports,
                          const struct odb_search_hooks *hooks, struct odb_error *err)
{
    for (int n = first; n < stop; n++) {
        ODB_TRY(odb_hooks_cancelled(hooks, err));
        if (!blame_is_fed(judge->trace, n))
            ODB_TRY(blame_node(judge, n, given, reports, hooks, err));
        odb_hooks_progress(hooks, "replay", n, (size_t)(n - first) + 1, (size_t)(stop - first));
    }
    return ODB_OK;
}

/* --- once more -------------------------------------------------------------------------------- */

/* What the numbers at hand say of an output: not guilty, without another look. */
static bool blame_acquits(const struct odb_judge *judge, const struct odb_tensor *t,
                          const struct odb_value_report *report)
{
    double factor = blame_is_float(t) ? judge->tolerance->v[0] : 0;
    if (report->culprit)
        return false;
    if (!report->local_error.known)
        return !report->local_noise.known; /* it could not be replayed */
    return blame_by_noise(judge) && report->local_noise.known &&
           report->local_error.v <= factor * report->local_noise.v;
}

/* Without another look: the local numbers are as they were, and decide where they can. */
static void blame_by_numbers(const struct odb_judge *judge, const struct odb_value_report *old,
                             struct odb_value_report *report)
{
    bool decide = blame_by_noise(judge) && old->local_error.known && old->local_noise.v > 0;
    bool above = old->local_error.v > judge->tolerance->v[0] * old->local_noise.v;
    report->local_error = old->local_error;
    report->local_noise = old->local_noise;
    report->inherited_error = old->inherited_error;
    report->gain = old->gain;
    if (decide ? above : old->culprit)
        blame_accuse(report, decide ? "local error over local noise" : old->reason);
}

/* Judges the outputs of a node that were had (out), and the node itself unless all are acquitted.
 * old: what was said of the outputs before. */
static enum odb_status blame_node_again(const struct odb_judge *judge, int index,
                                        struct odb_tensor *const *given,
                                        struct odb_tensor *const *out,
                                        const struct odb_value_report *old,
                                        struct odb_value_report *reports, struct odb_error *err)
{
    const struct odb_node *node = &judge->trace->model->graph->nodes[index];
    bool acquitted = true;
    for (int o = 0; o < node->n_out; o++) {
        if (!out[o])
            continue;
        struct odb_value_report *report = &reports[node->out[o]];
        *report = (struct odb_value_report){.verdict = ODB_VERDICT_UNTESTED};
        ODB_TRY(odb_judge_value(judge, node->out[o], out[o], report, err));
        acquitted = acquitted && blame_acquits(judge, out[o], &old[o]);
    }
    if (!acquitted)
        ODB_TRY(odb_judge_node(judge, index, given, out, reports, err));
    for (int o = 0; o < node->n_out; o++) {
        struct odb_value_report *report = out[o] ? &reports[node->out[o]] : NULL;
        if (report && !report->local_error.known && !report->local_noise.known && !report->culprit)
            blame_by_numbers(judge, &old[o], report);
    }
    return ODB_OK;
}

/* The same with what was had of the node; nothing of it changes when it fails. */
static enum odb_status blame_rejudge_node(const struct odb_judge *judge, int index,
                                          struct odb_tensor *const *given,
                                          struct odb_value_report *reports,
                                          const struct odb_search_hooks *hooks,
                                          struct odb_error *err)
{
    const struct odb_graph *graph = judge->trace->model->graph;
    const struct odb_node *node = &graph->nodes[index];
    struct odb_tensor **out = odb_new_n(struct odb_tensor *, node->n_out);
    struct odb_value_report *old = odb_new_n(struct odb_value_report, node->n_out);
    for (int o = 0; o < node->n_out; o++) {
        int v = node->out[o];
        if (v < 0 || odb_trace_drawn(judge->trace, v))
            continue;
        out[o] = given[v];
        old[o] = reports[v];
    }
    enum odb_status status = odb_hooks_cancelled(hooks, err);
    if (status == ODB_OK)
        status = blame_node_again(judge, index, given, out, old, reports, err);
    for (int o = 0; o < node->n_out; o++) {
        if (!out[o])
            continue;
        if (status != ODB_OK)
            reports[node->out[o]] = old[o];
        else
            odb_hooks_value(hooks, graph, node->out[o], &reports[node->out[o]]);
    }
    free(out);
    free(old);
    return status;
}

enum odb_status odb_rejudge(const struct odb_judge *judge, struct odb_tensor *const *given,
                            struct odb_value_report *reports, const struct odb_search_hooks *hooks,
                            struct odb_error *err)
{
    struct odb_trace *trace = judge->trace;
    const struct odb_graph *graph = trace->model->graph;
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, graph->n_values); /* borrowed */
    enum odb_status status = ODB_OK;
    for (size_t v = 0; v < graph->n_values; v++)
        had[v] = odb_trace_drawn(trace, (int)v) ? trace->ref[v] : given[v];
    trace->hooks = *hooks;
    trace->phase = "rejudge";
    odb_hooks_phase(hooks, trace->phase, graph->n_nodes);
    for (size_t n = 0; n < graph->n_nodes && status == ODB_OK; n++) {
        status = blame_rejudge_node(judge, (int)n, had, reports, hooks, err);
        odb_hooks_progress(hooks, trace->phase, (int)n, n + 1, graph->n_nodes);
    }
    trace->hooks = (struct odb_search_hooks){0};
    trace->phase = NULL;
    free(had);
    return status;
}
