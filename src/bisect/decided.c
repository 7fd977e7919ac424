/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Decisions that fall otherwise. The trace keeps noisy runs on the reference's branch; an honest
 * target is on none. Where a model rounds to a quantiser's steps, or selects, two honest runs come
 * out as far apart as such decisions carry them, and no single node shows it. So noisy runs that
 * decide for themselves, over the whole model, say how far off a value may be when no node is to
 * blame. They are made only when an output is wrong and no operator was found to be.
 */
#include "bisect/decided.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/report.h"
#include "reference/trace.h"
#include "reference/trace_int.h"
#include "run/value_report.h"

#define DECIDED_RUNS 3
#define DECIDED_SEED 0x5e93e700u
#define DECIDED_FINE 0x1p-20  /* of a value's largest number: such steps are as fine as floats */
#define DECIDED_COARSER 1.25  /* times the steps of before: the runs are made again */
#define DECIDED_FACTOR 4      /* decisions saturate: more of them come out little farther off */
#define DECIDED_CONTRARY 1.25 /* the same of a run that has them all */

/* How far runs come out from golden. */
struct decided_spread {
    double error, mean;
};

/* What the search remembers of it. */
struct decided_state {
    struct decided_spread *spread;   /* owned; [n_values]; NULL: not made */
    struct decided_spread *contrary; /* owned; likewise, of the contrary run */
    size_t stored;                   /* values that are known to be stored as integers */
    double coarsest;    /* the largest step that was seen, of the value's largest number */
    size_t made_stored; /* the same when the runs were made */
    double made_coarsest;
};

void decided_dispose(struct findings *f)
{
    if (f->kept->decided) {
        free(f->kept->decided->spread);
        free(f->kept->decided->contrary);
    }
    free(f->kept->decided);
    f->kept->decided = NULL;
}

static struct decided_state *decided_state(struct findings *f)
{
    if (!f->kept->decided)
        f->kept->decided = odb_new(struct decided_state);
    return f->kept->decided;
}

/* --- values that the target stores as integers ------------------------------------------------ */

static bool decided_is_stored(const struct odb_tensor *had)
{
    return had && had->kind == ODB_TENSOR && had->n_steps;
}

static double decided_largest(const struct odb_tensor *t)
{
    double most = 0;
    for (size_t i = 0; i < t->count; i++) {
        double v = fabs(odb_tensor_f64(t, i));
        most = isfinite(v) ? fmax(most, v) : most;
    }
    return most;
}

void decided_see(struct findings *f, const struct odb_tensor *had)
{
    double most = decided_is_stored(had) && had->data ? decided_largest(had) : 0, step = 0;
    for (size_t k = 0; most > 0 && k < had->n_steps; k++)
        step = fmax(step, had->steps[k]);
    if (step > DECIDED_FINE * most)
        decided_state(f)->coarsest = fmax(decided_state(f)->coarsest, fmin(step / most, 1));
}

/* Looks at what is known of the target, where that is more than before. */
static void decided_look(const struct search_case *c, struct findings *f)
{
    struct decided_state *state = decided_state(f);
    size_t n = 0;
    for (size_t v = 0; v < c->graph->n_values; v++)
        n += decided_is_stored(f->given[v]);
    for (size_t v = 0; v < c->graph->n_values && n != state->stored; v++)
        decided_see(f, f->given[v]);
    for (size_t o = 0; o < c->n_outputs && !state->spread; o++)
        decided_see(f, f->plain[o]);
    state->stored = n;
}

bool decided_stores(const struct findings *f)
{
    return decided_coarsest(f) > 0;
}

double decided_coarsest(const struct findings *f)
{
    return f->kept->decided ? f->kept->decided->coarsest : 0;
}

/* --- runs ------------------------------------------------------------------------------------- */

/* One run that goes its own way. */
struct decided {
    const struct search_case *c; /* borrowed */
    struct findings *f;          /* borrowed */
    struct odb_tensor **values;  /* owned refs; [n_values] */
    uint64_t random;
    bool contrary; /* quantisers take what may fall to either side to the one that the reference is
                      not on */
};

/* How far off a value may be that the tolerance takes for honest. INFINITY: it is not known. */
static double decided_allowed(const struct decided *d, int value)
{
    const struct odb_trace *trace = d->c->trace;
    const struct odb_tensor *x = d->values[value], *golden = trace->golden[value];
    struct odb_gap gap;
    if (!x || !golden || !odb_dtype_is_float(x->dtype))
        return INFINITY;
    odb_gap_measure(&gap, x, golden);
    return d->c->options->tolerance.v[0] * trace->noise[value] * gap.rms;
}

/* A Cast that rounds is a decision for each element. Few lie so near a border that honest runs part
 * there, and three may happen to meet none of them; so all that lie within what the tolerance
 * allows of one fall to either side at random. */
static enum odb_status decided_tip(struct decided *d, const struct odb_node *node,
                                   struct odb_error *err)
{
    const struct odb_tensor *x = d->values[node->in[0]];
    struct odb_tensor **out = &d->values[node->out[0]], *tipped = NULL;
    double allowed = decided_allowed(d, node->in[0]);
    if (!*out || !isfinite(allowed) || odb_dtype_info((*out)->dtype)->bits < 16 ||
        x->count != (*out)->count)
        return ODB_OK;
    ODB_TRY(odb_tensor_clone(&tipped, *out, err));
    for (size_t i = 0; i < x->count; i++) {
        d->random = d->random * 6364136223846793005u + 1442695040888963407u;
        double to = odb_tensor_f64(x, i) + (d->random >> 63 ? allowed : -allowed);
        odb_store_f64(tipped->dtype, tipped->data, i, to);
    }
    odb_tensor_unref(*out);
    *out = tipped;
    return ODB_OK;
}

/* What a node makes of its first input, moved by so much. */
static enum odb_status decided_moved(const struct decided *d, int node, double by,
                                     struct odb_tensor **out, struct odb_error *err)
{
    struct odb_trace *trace = d->c->trace;
    const struct odb_node *n = &d->c->graph->nodes[node];
    struct odb_tensor **in = odb_new_n(struct odb_tensor *, n->n_in), *x = NULL;
    enum odb_status status = odb_tensor_clone(&x, d->values[n->in[0]], err);
    for (size_t i = 0; status == ODB_OK && i < x->count; i++)
        odb_store_f64(x->dtype, x->data, i, odb_tensor_f64(x, i) + by);
    in[0] = x;
    for (int i = 1; i < n->n_in; i++)
        if (n->in[i] >= 0)
            in[i] = (struct odb_tensor *)odb_trace_value(trace, n->in[i]);
    if (status == ODB_OK)
        status =
            odb_trace_replay(trace, node, ODB_PREC_NATIVE, 0, in, NULL, ODB_SIMULATE_ALL, out, err);
    odb_tensor_unref(x);
    free(in);
    return status;
}

/* A quantiser is asked itself what it makes of a little less and a little more. */
static enum odb_status decided_tip_steps(struct decided *d, int node, struct odb_error *err)
{
    const struct odb_node *n = &d->c->graph->nodes[node];
    const struct odb_tensor *ref = d->c->trace->ref[n->out[0]];
    double allowed = decided_allowed(d, n->in[0]);
    struct odb_tensor **out = &d->values[n->out[0]], *lo = NULL, *hi = NULL;
    if (!*out || !ref || !isfinite(allowed) || !odb_tensor_same_shape(*out, ref))
        return ODB_OK;
    enum odb_status status = decided_moved(d, node, -allowed, &lo, err);
    if (status == ODB_OK)
        status = decided_moved(d, node, allowed, &hi, err);
    for (size_t i = 0; status == ODB_OK && i < lo->count; i++) {
        double a = odb_tensor_f64(lo, i), b = odb_tensor_f64(hi, i);
        if (a != b && odb_tensor_f64(ref, i) == a)
            odb_store_f64(lo->dtype, lo->data, i, b);
    }
    if (status == ODB_OK) {
        odb_tensor_unref(*out);
        *out = odb_tensor_ref(lo);
    }
    odb_tensor_unref(lo);
    odb_tensor_unref(hi);
    return status;
}

/* Goes on with the nearest of the numbers that the target can store. What was not read has steps as
 * coarse as the coarsest that were seen. */
static enum odb_status decided_store(struct decided *d, int value, struct odb_error *err)
{
    const struct odb_tensor *had = d->f->given[value], *x = d->values[value];
    double coarsest = d->f->kept->decided->coarsest;
    struct odb_tensor *stored = NULL;
    if (!(coarsest > 0) || (had && !decided_is_stored(had)) || x->kind != ODB_TENSOR ||
        !odb_dtype_is_float(x->dtype) || (had && !odb_tensor_same_shape(x, had)))
        return ODB_OK;
    double guess = had ? 0 : coarsest * decided_largest(x);
    ODB_TRY(odb_tensor_clone(&stored, x, err));
    for (size_t i = 0; i < x->count; i++) {
        double v = odb_tensor_f64(x, i), step = had ? odb_tensor_step(had, i) : guess;
        double to = step > 0 ? nearbyint(v / step) * step : v;
        if (had || to != 0) /* what a guess makes 0 may be a divisor */
            odb_store_f64(stored->dtype, stored->data, i, to);
    }
    odb_tensor_unref(d->values[value]);
    d->values[value] = stored;
    return ODB_OK;
}

static bool decided_quantises(const struct odb_node *node)
{
    return !node->domain[0] && !strcmp(node->op_type, "QuantizeLinear") && node->n_in > 1 &&
           node->in[0] >= 0 && node->out[0] >= 0;
}

/* What a node gave, against golden. */
static enum odb_status decided_measure(void *payload, int node, enum odb_status status,
                                       struct odb_error *err)
{
    struct decided *d = payload;
    const struct search_case *c = d->c;
    struct findings *f = d->f;
    const struct odb_node *n = &c->graph->nodes[node];
    if (status == ODB_OK && odb_trace__rounds(c->trace, n))
        ODB_TRY(decided_tip(d, n, err));
    else if (status == ODB_OK && d->contrary && decided_quantises(n))
        ODB_TRY(decided_tip_steps(d, node, err));
    for (int o = 0; o < n->n_out && status == ODB_OK; o++) {
        int v = n->out[o];
        const struct odb_tensor *golden = v < 0 ? NULL : c->trace->golden[v];
        struct odb_gap gap;
        golden = golden || v < 0 ? golden : c->trace->ref[v];
        if (!golden || !d->values[v])
            continue;
        ODB_TRY(decided_store(d, v, err));
        odb_gap_measure(&gap, d->values[v], golden);
        struct decided_spread *spread =
            d->contrary ? &f->kept->decided->contrary[v] : &f->kept->decided->spread[v];
        spread->error = fmax(spread->error, gap.comparable ? gap.error : INFINITY);
        spread->mean = fmax(spread->mean, gap.comparable ? gap.mean : INFINITY);
    }
    return ODB_OK;
}

static void decided_run(const struct search_case *c, struct findings *f,
                        enum odb_precision precision, uint64_t seed, bool contrary)
{
    size_t n = c->graph->n_values;
    struct decided d = {c, f, odb_new_n(struct odb_tensor *, n), seed, contrary};
    struct odb_error ignored = ODB_ERROR_INIT;
    for (size_t i = 0; i < c->feeds->n; i++)
        d.values[c->feeds->items[i].value] = odb_tensor_ref(c->feeds->items[i].tensor);
    for (size_t v = 0; v < n; v++)
        if (c->drawn[v] && !d.values[v])
            d.values[v] = odb_tensor_ref(c->trace->ref[v]);
    struct odb_cpu_run run = {.precision = precision,
                              .seed = seed,
                              .values = d.values,
                              .free_dead = true,
                              .after = decided_measure,
                              .payload = &d};
    if (odb_cpu_execute(c->trace->cpu, &run, &ignored) != ODB_OK)
        findings_note(f, "how far decisions carry is not known: %.200s", ignored.what);
    for (size_t v = 0; v < n; v++)
        odb_tensor_unref(d.values[v]);
    free(d.values);
}

static bool decided_possible(const struct search_case *c, const struct findings *f)
{
    if (decided_stores(f))
        return true;
    for (size_t n = 0; n < c->graph->n_nodes; n++) {
        const struct odb_op *op = odb_cpu_op(c->trace->cpu, (int)n);
        if (op && (op->flags & ODB_OP_BOUNDARY))
            return true;
    }
    return false;
}

static void decided_make(const struct search_case *c, struct findings *f)
{
    struct decided_state *state = decided_state(f);
    free(state->spread);
    free(state->contrary);
    state->spread = odb_new_n(struct decided_spread, c->graph->n_values);
    state->contrary = odb_new_n(struct decided_spread, c->graph->n_values);
    state->made_stored = state->stored;
    state->made_coarsest = state->coarsest;
    if (!decided_possible(c, f))
        return;
    struct findings_mark began = findings_mark(f);
    for (uint64_t run = 0; run < DECIDED_RUNS; run++)
        decided_run(c, f, ODB_PREC_NOISY, DECIDED_SEED + c->trace->seed + run, false);
    for (size_t n = 0; n < c->graph->n_nodes; n++)
        if (decided_quantises(&c->graph->nodes[n])) {
            decided_run(c, f, ODB_PREC_NOISY, DECIDED_SEED + c->trace->seed, true);
            break;
        }
    if (c->trace->expect != ODB_PREC_NATIVE)
        decided_run(c, f, c->trace->expect, c->trace->seed, false);
    findings_spent_apart(f, "noise", began);
}

bool decided_allows(const struct search_case *c, struct findings *f, int value,
                    const struct odb_value_report *report)
{
    bool shape = report->verdict == ODB_VERDICT_SHAPE;
    bool fails = report->verdict == ODB_VERDICT_FAIL && report->error.known;
    if (c->options->tolerance.kind != ODB_CRITERION_NOISE || !(fails || shape))
        return false;
    decided_look(c, f);
    struct decided_state *state = decided_state(f);
    if (!state->spread || state->coarsest > DECIDED_COARSER * state->made_coarsest)
        decided_make(c, f);
    const struct decided_spread *spread = &state->spread[value];
    if (shape)
        return isinf(spread->error);
    double error = DECIDED_FACTOR * spread->error, mean = DECIDED_FACTOR * spread->mean;
    if (!f->kept->wrong_apart) { /* else there is something to find */
        error = fmax(error, DECIDED_CONTRARY * state->contrary[value].error);
        mean = fmax(mean, DECIDED_CONTRARY * state->contrary[value].mean);
    }
    return report->error.v <= error && report->error_mean.v <= mean;
}

void decided_refresh(const struct search_case *c, struct findings *f)
{
    decided_look(c, f);
    struct decided_state *state = decided_state(f);
    if (state->spread && (state->stored != state->made_stored))
        decided_make(c, f);
}

static void decided_note(const struct search_case *c, struct findings *f, int v, double error)
{
    const char *name = c->graph->values[v].name;
    double spread = fmax(f->kept->decided->spread[v].error, f->kept->decided->contrary[v].error);
    const char *how = decided_stores(f) ? "round values to steps as the target's integers have them"
                                        : "decide otherwise on the way (rounding to steps, "
                                          "selecting)";
    findings_note(f,
                  "output %.100s is off by %.3g, and no node is to blame: noisy runs of the "
                  "reference that %s are off by %.3g",
                  name, error, how, spread);
}

/* Excuses an output, or takes that back. */
static void decided_put(const struct search_case *c, struct findings *f, size_t o, bool excused)
{
    struct odb_value_report *verdict = &f->verdicts[o];
    struct odb_value_report value = f->values[c->outputs[o]];
    verdict->excused = excused;
    verdict->verdict = value.verdict = excused                ? ODB_VERDICT_PASS
                                       : verdict->error.known ? ODB_VERDICT_FAIL
                                                              : ODB_VERDICT_SHAPE;
    snprintf(value.reason, sizeof value.reason, "%s",
             excused ? "as far off as honest runs come out" : verdict->reason);
    findings_value(f, c->outputs[o], &value);
    if (!excused)
        findings_reach(f);
}

void decided_excuse_outputs(const struct search_case *c, struct findings *f)
{
    bool diverge = false;
    decided_refresh(c, f);
    for (size_t o = 0; o < c->n_outputs; o++) {
        struct odb_value_report *verdict = &f->verdicts[o];
        int v = c->outputs[o];
        bool blamed = findings_explain(f, v);
        if (verdict->excused ? blamed
                             : !blamed && odb_verdict_is_bad(verdict->verdict) &&
                                   decided_allows(c, f, v, verdict))
            decided_put(c, f, o, !verdict->excused);
        diverge |= odb_verdict_is_bad(verdict->verdict);
    }
    findings_diverge(f, diverge);
}

void decided_tell(const struct search_case *c, struct findings *f)
{
    for (size_t o = 0; f->verdicts && o < c->n_outputs; o++) /* else nothing was asked */
        if (f->verdicts[o].excused)
            decided_note(c, f, c->outputs[o], f->verdicts[o].error.v);
}
