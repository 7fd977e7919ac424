/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The plan:
 *
 * 1. The model as it is, all nodes kept, must pass on the target; with none kept it may.
 * 2. Every node is replayed by the reference on the reference's own values, once, in the type: that
 *    ranks them. A rank is no verdict: it says in which order to try.
 * 3. The fewest k of the worst that must be kept: more and more until the model passes, then
 * halved. The target answers each time for the whole model, so nothing is assumed of how errors add
 * up.
 * 4. The kept are dropped again in groups, from halves down to single nodes, as long as the model
 *    passes without them: the rank may have put an innocent before a guilty node. When every single
 *    one was tried, no kept node can be dropped alone.
 * 5. The file is written, read again, and judged on a fresh child of the target.
 */
#include "engine/precision.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "engine/blame.h"
#include "engine/hooks.h"
#include "engine/probe.h"
#include "executor/target.h"
#include "model/convert.h"

/* A model file holds less than 2 GiB; some readers give up before. */
#define PRECISION_INLINE ((size_t)1500 << 20)
#define PRECISION_FEW 8 /* nodes that are kept without another look for fewer */

struct asked {  /* a set of kept nodes and what the target said */
    bool *keep; /* owned; [n_nodes] */
    bool passes;
};

struct precision {
    const struct odb_model *model;
    const struct odb_graph *graph;
    const struct odb_precision_case *cases;
    size_t n_cases;
    const struct odb_precision_options *options;
    struct odb_precision_result *result;
    struct odb_convert *convert; /* owned */
    struct odb_target **targets; /* owned; [n_targets] */
    const char **outputs;        /* owned array: names of the model's outputs */
    struct odb_named *feeds;     /* owned; room for those of any case */
    int *order;                  /* owned; [n_free] nodes, worst first */
    size_t n_free;
    bool *keep; /* owned; [n_nodes] smallest set known to pass */
    ODB_VEC(struct asked) asked;
    double start;
};

/* --- types and tolerances --------------------------------------------------------------------- */

enum odb_dtype odb_precision_type(const char *name)
{
    static const struct {
        const char *name;
        enum odb_dtype dtype;
    } table[] = {{"f16", ODB_F16}, {"bf16", ODB_BF16}, {"int8", ODB_I8}};
    for (size_t i = 0; i < ODB_COUNT(table); i++)
        if (strcmp(table[i].name, name) == 0)
            return table[i].dtype;
    enum odb_dtype dtype = odb_dtype_parse(name);
    return dtype == ODB_F16 || dtype == ODB_BF16 || dtype == ODB_I8 ? dtype : ODB_UNDEFINED;
}

struct odb_criterion odb_precision_tolerance(enum odb_dtype to)
{
    return (struct odb_criterion){ODB_CRITERION_DIFF2, {to == ODB_F16 ? 0.01 : 0.05, 0, 0}};
}

static void precision_note(struct precision *p, char *text)
{
    odb_push(&p->result->notes, text);
}

/* --- judging ---------------------------------------------------------------------------------- */

/* The relative length of the difference; infinite where the two cannot be compared. */
static double precision_error(const struct odb_tensor *t, const struct odb_tensor *base)
{
    struct odb_metrics m;
    odb_compare(&m, t, base, -1);
    if (m.missing || m.shape_mismatch || m.dtype_mismatch || m.nan_ref_only || m.nan_target_only ||
        m.inf_mismatch)
        return INFINITY;
    if (m.exact_differing)
        return INFINITY;
    return isnan(m.finite_diff2) ? 0 : m.finite_diff2;
}

/* Golden, where it shows what float32 shows. */
static const struct odb_tensor *precision_base(const struct odb_trace *trace, int value)
{
    const struct odb_tensor *ref = odb_trace_value(trace, value), *golden = trace->golden[value];
    return golden && !trace->split[value] && !trace->boundary[value] ? golden : ref;
}

static enum odb_status precision_judge_output(struct precision *p,
                                              const struct odb_precision_case *one, int value,
                                              const struct odb_tensor *t,
                                              struct odb_value_report *report,
                                              struct odb_error *err)
{
    const struct odb_criterion *tolerance = &p->options->tolerance;
    const struct odb_tensor *ref = odb_trace_value(one->trace, value);
    const struct odb_judge judge = {one->trace, tolerance};
    if (tolerance->kind == ODB_CRITERION_NOISE || !t || !ref || t->dtype != ref->dtype)
        return odb_judge_value(&judge, value, t, report, err);
    report->verdict = odb_criterion_apply(tolerance, t, precision_base(one->trace, value),
                                          report->reason, sizeof report->reason);
    return ODB_OK;
}

/* Outputs of one case into the probe: the worst of them stays. */
static enum odb_status precision_judge(struct precision *p, const struct odb_precision_case *one,
                                       size_t target, struct odb_tensor *const *outputs,
                                       struct odb_precision_probe *probe, struct odb_error *err)
{
    for (size_t o = 0; o < p->graph->n_outputs; o++) {
        int v = p->graph->outputs[o];
        struct odb_value_report report = {.verdict = ODB_VERDICT_UNTESTED};
        ODB_TRY(precision_judge_output(p, one, v, outputs[o], &report, err));
        if (report.verdict == ODB_VERDICT_UNSUPPORTED)
            continue; /* said once, in precision_check() */
        bool passes = report.verdict == ODB_VERDICT_PASS;
        double error =
            outputs[o] ? precision_error(outputs[o], precision_base(one->trace, v)) : INFINITY;
        if (probe->value == ODB_NO_VALUE || (probe->passes && !passes) ||
            (probe->passes == passes && error > probe->error)) {
            probe->value = v;
            probe->error = error;
            probe->target = target;
            snprintf(probe->reason, sizeof probe->reason, "%s", report.reason);
        }
        probe->passes = probe->passes && passes;
    }
    return ODB_OK;
}

/* --- asking the target ------------------------------------------------------------------------ */

static bool precision_is_refusal(enum odb_status status)
{
    return status == ODB_E_EXECUTOR || status == ODB_UNSUPPORTED;
}

/* What is loaded, on all cases. */
static enum odb_status precision_run(struct precision *p, struct odb_target *target, size_t which,
                                     struct odb_precision_probe *probe, struct odb_error *err)
{
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, p->graph->n_outputs + 1);
    enum odb_status status = ODB_OK;
    for (size_t c = 0; c < p->n_cases && status == ODB_OK && probe->passes; c++) {
        const struct odb_feeds *feeds = p->cases[c].feeds;
        for (size_t f = 0; f < feeds->n; f++)
            p->feeds[f] = (struct odb_named){p->graph->values[feeds->items[f].value].name,
                                             feeds->items[f].tensor};
        status = odb_target_run(target, p->feeds, feeds->n, p->outputs, p->graph->n_outputs,
                                outputs, err);
        if (status == ODB_OK)
            status = precision_judge(p, &p->cases[c], which, outputs, probe, err);
        for (size_t o = 0; o < p->graph->n_outputs; o++) {
            odb_tensor_unref(outputs[o]);
            outputs[o] = NULL;
        }
    }
    free(outputs);
    return status;
}

/* A failure of the target is an answer; whatever else goes wrong is not. */
static enum odb_status precision_answer(struct odb_precision_probe *probe, enum odb_status status,
                                        struct odb_error *err)
{
    char text[1800];
    probe->status = status;
    probe->ran = status == ODB_OK;
    if (status == ODB_OK)
        return ODB_OK;
    probe->passes = false;
    probe->error = INFINITY;
    snprintf(probe->reason, sizeof probe->reason, "%s", odb_error_text(err, text, sizeof text));
    return precision_is_refusal(status) || status == ODB_E_CRASH || status == ODB_E_TIMEOUT
               ? ODB_OK
               : status;
}

/* A model on all targets, up to the first on which it fails. */
static enum odb_status precision_try(struct precision *p, struct odb_target *const *targets,
                                     const struct odb_load *load, struct odb_precision_probe *probe,
                                     struct odb_error *err)
{
    probe->passes = true;
    probe->value = ODB_NO_VALUE;
    probe->bytes = load->size;
    for (size_t t = 0; t < p->options->n_targets && probe->passes; t++) {
        enum odb_status status = odb_target_load(targets[t], load, err);
        if (status == ODB_OK)
            status = precision_run(p, targets[t], t, probe, err);
        if (status != ODB_OK)
            probe->target = t;
        ODB_TRY(precision_answer(probe, status, err));
    }
    return ODB_OK;
}

/* Children for all targets; *out is to be closed on failure too. */
static enum odb_status precision_open(struct precision *p, struct odb_target ***out,
                                      struct odb_error *err)
{
    const struct odb_search_hooks *hooks = &p->options->hooks;
    *out = odb_new_n(struct odb_target *, p->options->n_targets + 1);
    for (size_t t = 0; t < p->options->n_targets; t++) {
        ODB_TRY(odb_target_open(&(*out)[t], p->options->targets[t], err));
        odb_target_set_cancel((*out)[t], hooks->cancelled, hooks->payload);
    }
    return ODB_OK;
}

static void precision_close(const struct precision *p, struct odb_target **targets)
{
    for (size_t t = 0; targets && t < p->options->n_targets; t++)
        odb_target_close(targets[t]);
    free(targets);
}

static struct odb_load precision_load(const struct precision *p, const struct odb_buf *bytes,
                                      const char *dir)
{
    return (struct odb_load){.bytes = bytes->data,
                             .size = bytes->len,
                             .dir = dir,
                             .original_outputs = p->outputs,
                             .n_original_outputs = p->graph->n_outputs};
}

/* Announces a probe, or, when there is an answer, what it was. */
static void precision_tell(const struct precision *p, const char *text,
                           const struct odb_precision_probe *probe)
{
    struct odb_search_event event = {
        .what = ODB_EVENT_PROBE_BEGIN, .text = text, .node = ODB_NO_NODE};
    if (probe) {
        event.what = ODB_EVENT_PROBE_END;
        event.verdict = !probe->ran     ? odb_probe_verdict(probe->status)
                        : probe->passes ? ODB_VERDICT_PASS
                                        : ODB_VERDICT_FAIL;
        event.loads = 1;
        event.runs = probe->ran;
        event.seconds = probe->seconds;
    }
    odb_hooks_tell(&p->options->hooks, event);
}

static size_t precision_count(const struct precision *p, const bool *keep)
{
    size_t n = 0;
    for (size_t i = 0; i < p->graph->n_nodes; i++)
        n += keep[i] && odb_convert_class(p->convert, (int)i) == ODB_CONVERT_FREE;
    return n;
}

/* The whole model with these nodes kept. */
static enum odb_status precision_probe(struct precision *p, const bool *keep,
                                       struct odb_precision_probe *probe, struct odb_error *err)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    int *origin = NULL;
    size_t n = 0;
    char text[100];
    const struct odb_convert_form form = {
        .keep = keep, .weights = ODB_WEIGHTS_REFERENCE, .origin = &origin, .n_nodes = &n};
    double start = odb_clock();
    *probe = (struct odb_precision_probe){.kept = precision_count(p, keep)};
    snprintf(text, sizeof text, "%zu of %zu nodes kept in float32", probe->kept, p->n_free);
    ODB_TRY(odb_hooks_cancelled(&p->options->hooks, err));
    precision_tell(p, text, NULL);
    enum odb_status status = odb_convert_write(p->convert, &form, &bytes, err);
    if (status == ODB_OK) {
        struct odb_load load = precision_load(p, &bytes, p->model->dir);
        load.node_index = origin;
        load.n_nodes = n;
        status = precision_try(p, p->targets, &load, probe, err);
    }
    probe->seconds = odb_clock() - start;
    precision_tell(p, text, probe);
    odb_push(&p->result->probes, *probe);
    odb_buf_dispose(&bytes);
    free(origin);
    return status;
}

/* --- the local error of every node ------------------------------------------------------------ */

/* What the type makes of a node on the values of one run. */
static enum odb_status precision_replay(struct precision *p, const struct odb_trace *trace,
                                        int index, struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_node *node = &p->graph->nodes[index];
    enum odb_precision as = p->options->to == ODB_F16    ? ODB_PREC_F16
                            : p->options->to == ODB_BF16 ? ODB_PREC_BF16
                                                         : ODB_PREC_NATIVE;
    struct odb_tensor **in = odb_new_n(struct odb_tensor *, (size_t)node->n_in + 1);
    enum odb_status status = ODB_OK;
    for (int i = 0; i < node->n_in && status == ODB_OK; i++) {
        const struct odb_tensor *t = node->in[i] < 0 ? NULL : odb_trace_value(trace, node->in[i]);
        if (node->in[i] >= 0)
            status = odb_convert_operand(p->convert, index, i, t, &in[i], err);
    }
    if (status == ODB_OK)
        status = odb_cpu_node(trace->cpu, index, as, trace->seed, in, NULL, out, err);
    for (int i = 0; i < node->n_in; i++)
        odb_tensor_unref(in[i]);
    free(in);
    return status;
}

static enum odb_status precision_measure_case(struct precision *p, const struct odb_trace *trace,
                                              int index, struct odb_error *err)
{
    const struct odb_node *node = &p->graph->nodes[index];
    struct odb_precision_node *about = &p->result->nodes[index];
    struct odb_tensor **out = odb_new_n(struct odb_tensor *, (size_t)node->n_out + 1);
    enum odb_status status = precision_replay(p, trace, index, out, err);
    bool ran = status == ODB_OK;
    for (int o = 0; ran && o < node->n_out; o++) {
        const struct odb_tensor *ref =
            node->out[o] < 0 ? NULL : odb_trace_value(trace, node->out[o]);
        if (!ref || !out[o])
            continue;
        about->error = fmax(about->error, precision_error(out[o], ref));
        about->measured = true;
    }
    for (int o = 0; o < node->n_out; o++)
        odb_tensor_unref(out[o]);
    free(out);
    return status == ODB_CANCELLED || status == ODB_E_NOMEM ? status : ODB_OK;
}

/* Worst first: what could not be measured is as bad as can be. */
static int precision_worse(const struct odb_precision_node *nodes, int a, int b)
{
    double x = nodes[a].measured ? nodes[a].error : INFINITY;
    double y = nodes[b].measured ? nodes[b].error : INFINITY;
    return x > y ? -1 : x < y ? 1 : a - b;
}

static void precision_sort(const struct odb_precision_node *nodes, int *order, size_t n, int *room)
{
    size_t half = n / 2, i = 0, k = half, at = 0;
    if (n < 2)
        return;
    precision_sort(nodes, order, half, room);
    precision_sort(nodes, order + half, n - half, room);
    while (i < half || k < n)
        room[at++] = k == n || (i < half && precision_worse(nodes, order[i], order[k]) <= 0)
                         ? order[i++]
                         : order[k++];
    memcpy(order, room, n * sizeof *order);
}

static enum odb_status precision_rank(struct precision *p, struct odb_error *err)
{
    const char *phase = "local errors";
    odb_hooks_phase(&p->options->hooks, phase, p->n_free);
    for (size_t i = 0; i < p->n_free; i++) {
        ODB_TRY(odb_hooks_cancelled(&p->options->hooks, err));
        for (size_t c = 0; c < p->n_cases; c++)
            ODB_TRY(precision_measure_case(p, p->cases[c].trace, p->order[i], err));
        odb_hooks_progress(&p->options->hooks, phase, p->order[i], i + 1, p->n_free);
    }
    int *room = odb_new_n(int, p->n_free + 1);
    precision_sort(p->result->nodes, p->order, p->n_free, room);
    free(room);
    return ODB_OK;
}

/* --- the search ------------------------------------------------------------------------------- */

static bool precision_spent(const struct precision *p)
{
    return p->result->probes.n >= p->options->probes ||
           (p->options->seconds && odb_clock() - p->start > p->options->seconds);
}

/* Whether the model passes with these nodes kept; no set is tried twice. */
static enum odb_status precision_ask(struct precision *p, const bool *keep, bool *passes,
                                     struct odb_error *err)
{
    struct odb_precision_probe probe;
    size_t size = p->graph->n_nodes * sizeof *keep;
    for (size_t i = 0; i < p->asked.n; i++)
        if (!memcmp(p->asked.items[i].keep, keep, size)) {
            *passes = p->asked.items[i].passes;
            return ODB_OK;
        }
    ODB_TRY(precision_probe(p, keep, &probe, err));
    *passes = probe.passes;
    odb_push(&p->asked, (struct asked){odb_xmemdup(keep, size), probe.passes});
    return ODB_OK;
}

static void precision_first(const struct precision *p, const int *order, size_t k, bool *keep)
{
    memset(keep, 0, p->graph->n_nodes * sizeof *keep);
    for (size_t i = 0; i < k; i++)
        keep[order[i]] = true;
}

/* The fewest nodes from the beginning of an order that make the model pass when they are kept:
 * fewer than *good, more than bad; then they are p->keep. Steps grow from the bad end at first, as
 * few is what is hoped for. */
static enum odb_status precision_fewest(struct precision *p, const int *order, size_t bad,
                                        size_t *good, struct odb_error *err)
{
    bool *keep = odb_new_n(bool, p->graph->n_nodes + 1), passes;
    size_t step = 1;
    enum odb_status status = ODB_OK;
    while (*good - bad > 1 && !precision_spent(p)) {
        size_t k = bad + ODB_MIN(step, (*good - bad) / 2);
        precision_first(p, order, k, keep);
        ODB_TRY_OUT(precision_ask(p, keep, &passes, err));
        if (passes) {
            memcpy(p->keep, keep, p->graph->n_nodes * sizeof *keep);
            *good = k;
            step = p->n_free; /* from here on halves */
        } else {
            bad = k;
            step *= 2;
        }
    }
out:
    free(keep);
    return status;
}

/* Nodes that cannot do without, as far as the rank tells: they overflow. */
static size_t precision_hopeless(const struct precision *p)
{
    size_t n = 0;
    while (n < p->n_free && !(p->result->nodes[p->order[n]].measured &&
                              isfinite(p->result->nodes[p->order[n]].error)))
        n++;
    return n;
}

/* By rank first. Where that keeps many, no node stands out and errors add up: what is lost early is
 * carried through the model, what is lost late goes straight to an output, so keeping one end of
 * the model may do with fewer. */
static enum odb_status precision_narrow(struct precision *p, struct odb_error *err)
{
    size_t n = p->n_free, hopeless = precision_hopeless(p), good = n;
    int *order = odb_new_n(int, n + 1);
    bool passes;
    enum odb_status status = ODB_OK;
    odb_hooks_phase(&p->options->hooks, "how many must stay", 0);
    precision_first(p, p->order, n, p->keep);
    if (hopeless && hopeless < n && !precision_spent(p)) {
        bool *keep = odb_new_n(bool, p->graph->n_nodes + 1);
        precision_first(p, p->order, hopeless, keep);
        status = precision_ask(p, keep, &passes, err);
        if (status == ODB_OK && passes) {
            memcpy(p->keep, keep, p->graph->n_nodes * sizeof *keep);
            good = hopeless;
        }
        free(keep);
        ODB_TRY_OUT(status);
    }
    ODB_TRY_OUT(precision_fewest(p, p->order, good == hopeless ? 0 : hopeless, &good, err));
    for (int end = 0; end < 2 && good > hopeless + PRECISION_FEW; end++) {
        memcpy(order, p->order, hopeless * sizeof *order);
        size_t at = hopeless;
        for (size_t i = 0; i < p->graph->n_nodes; i++) {
            size_t node = end ? p->graph->n_nodes - 1 - i : i;
            if (odb_convert_class(p->convert, (int)node) == ODB_CONVERT_FREE &&
                p->result->nodes[node].measured && isfinite(p->result->nodes[node].error))
                order[at++] = (int)node;
        }
        ODB_TRY_OUT(precision_fewest(p, order, hopeless, &good, err));
    }
out:
    free(order);
    return status;
}

/* The kept nodes, least local error first: those are the likeliest to go. Those that overflow are
 * not tried in groups, which could only go if none of them matters. */
static size_t precision_kept(const struct precision *p, size_t group, int *list)
{
    size_t n = 0, from = group > 1 ? precision_hopeless(p) : 0;
    for (size_t i = p->n_free; i-- > from;)
        if (p->keep[p->order[i]])
            list[n++] = p->order[i];
    return n;
}

/* One round over the kept in groups of that size; *dropped says whether any could go. *whole: all
 * groups were tried. */
static enum odb_status precision_drop(struct precision *p, int *list, size_t group, bool *dropped,
                                      bool *whole, struct odb_error *err)
{
    bool *keep = odb_new_n(bool, p->graph->n_nodes + 1), passes;
    size_t n = precision_kept(p, group, list);
    enum odb_status status = ODB_OK;
    *dropped = false;
    *whole = true;
    for (size_t i = 0; i < n; i += group) {
        if (precision_spent(p)) {
            *whole = false;
            break;
        }
        memcpy(keep, p->keep, p->graph->n_nodes * sizeof *keep);
        for (size_t k = i; k < n && k < i + group; k++)
            keep[list[k]] = false;
        ODB_TRY_OUT(precision_ask(p, keep, &passes, err));
        if (passes) {
            memcpy(p->keep, keep, p->graph->n_nodes * sizeof *keep);
            *dropped = true;
        }
    }
out:
    free(keep);
    return status;
}

static enum odb_status precision_trim(struct precision *p, struct odb_error *err)
{
    int *list = odb_new_n(int, p->n_free + 1);
    size_t group = precision_kept(p, 2, list) / 2;
    enum odb_status status = ODB_OK;
    bool dropped = true, whole = true;
    odb_hooks_phase(&p->options->hooks, "which of them", 0);
    for (; group > 1 && whole; group /= 2)
        ODB_TRY_OUT(precision_drop(p, list, group, &dropped, &whole, err));
    for (dropped = true; dropped && whole;)
        ODB_TRY_OUT(precision_drop(p, list, 1, &dropped, &whole, err));
    p->result->minimal = whole;
out:
    free(list);
    return status;
}

/* A target may refuse an operator in the type, whatever its numbers are: each kind is tried alone,
 * and stays where it is refused. */
static enum odb_status precision_refused(struct precision *p, struct odb_error *err)
{
    bool *keep = odb_new_n(bool, p->graph->n_nodes + 1), *done = odb_new_n(bool, p->n_free + 1);
    struct odb_precision_probe probe;
    enum odb_status status = ODB_OK;
    odb_hooks_phase(&p->options->hooks, "what the target refuses", 0);
    for (size_t i = 0; i < p->n_free; i++) {
        const struct odb_node *one = &p->graph->nodes[p->order[i]];
        if (done[i])
            continue;
        memset(keep, true, p->graph->n_nodes * sizeof *keep);
        for (size_t k = i; k < p->n_free; k++) {
            const struct odb_node *other = &p->graph->nodes[p->order[k]];
            if (strcmp(one->op_type, other->op_type) || strcmp(one->domain, other->domain))
                continue;
            keep[p->order[k]] = false;
            done[k] = true;
        }
        ODB_TRY_OUT(precision_probe(p, keep, &probe, err));
        for (size_t k = i; k < p->n_free && precision_is_refusal(probe.status); k++)
            if (!keep[p->order[k]]) {
                char *why = odb_xasprintf("the target refuses %s in %s", one->op_type,
                                          odb_dtype_info(p->options->to)->name);
                odb_convert_pin(p->convert, p->order[k], why);
                free(why);
            }
    }
out:
    free(keep);
    free(done);
    return status;
}

/* --- what can be converted -------------------------------------------------------------------- */

/* Values that only steer shapes and indices would move them by a whole step. */
static bool precision_steers(const struct precision *p, int index)
{
    const struct odb_node *node = &p->graph->nodes[index];
    const struct odb_trace *trace = p->cases[0].trace;
    bool makes = false, steers = false;
    for (int o = 0; o < node->n_out; o++) {
        const struct odb_tensor *t = node->out[o] < 0 ? NULL : odb_trace_value(trace, node->out[o]);
        if (!t || t->dtype != ODB_F32)
            continue;
        makes = true;
        steers = steers || odb_cpu_kept(trace->cpu, node->out[o]);
    }
    for (int i = 0; !makes && i < node->n_in; i++)
        steers = steers || (node->in[i] >= 0 && odb_cpu_kept(trace->cpu, node->in[i]));
    return steers;
}

static void precision_pin(struct precision *p)
{
    for (size_t n = 0; n < p->graph->n_nodes; n++) {
        if (odb_convert_class(p->convert, (int)n) != ODB_CONVERT_FREE)
            continue;
        if (odb_cpu_op(p->cases[0].trace->cpu, (int)n) &&
            odb_cpu_random(p->cases[0].trace->cpu, (int)n))
            odb_convert_pin(p->convert, (int)n, "it draws at random");
        else if (p->options->to != ODB_I8 && precision_steers(p, (int)n))
            odb_convert_pin(p->convert, (int)n, "what it computes only steers shapes or indices");
    }
}

static void precision_widen(double range[2], const struct odb_tensor *t)
{
    const odb_f32 *x = t->data;
    for (size_t i = 0; i < t->count; i++) {
        if (isnan(x[i])) {
            range[1] = INFINITY;
            return;
        }
        range[0] = fmin(range[0], x[i]);
        range[1] = fmax(range[1], x[i]);
    }
}

/* Least and greatest of every float value over all cases; 0 is always between. */
static double (*precision_ranges(const struct precision *p))[2]
{
    double(*range)[2] = odb_xcalloc(p->graph->n_values + 1, sizeof *range);
    for (size_t v = 0; v < p->graph->n_values; v++)
        for (size_t c = 0; c < p->n_cases; c++) {
            const struct odb_tensor *t = p->cases[c].trace->ref[v];
            if (t && t->kind == ODB_TENSOR && t->dtype == ODB_F32)
                precision_widen(range[v], t);
        }
    return range;
}

static void precision_free_nodes(struct precision *p)
{
    p->n_free = 0;
    for (size_t n = 0; n < p->graph->n_nodes; n++)
        if (odb_convert_class(p->convert, (int)n) == ODB_CONVERT_FREE)
            p->order[p->n_free++] = (int)n;
}

static enum odb_status precision_prepare(struct precision *p, struct odb_error *err)
{
    const struct odb_tensor **like = odb_new_n(const struct odb_tensor *, p->graph->n_values + 1);
    double(*range)[2] = p->options->to == ODB_I8 ? precision_ranges(p) : NULL;
    for (size_t v = 0; v < p->graph->n_values; v++)
        like[v] = odb_trace_value(p->cases[0].trace, (int)v);
    const struct odb_convert_options options = {
        .to = p->options->to, .like = like, .range = (const double(*)[2])range};
    enum odb_status status = odb_convert_new(&p->convert, p->model, &options, err);
    free(like);
    free(range);
    if (status != ODB_OK)
        return status;
    precision_pin(p);
    precision_free_nodes(p);
    return ODB_OK;
}

/* Outputs that the reference cannot compute are judged by nobody. */
static enum odb_status precision_check(struct precision *p, struct odb_error *err)
{
    size_t judged = 0;
    for (size_t o = 0; o < p->graph->n_outputs; o++) {
        int v = p->graph->outputs[o];
        if (odb_trace_value(p->cases[0].trace, v)) {
            judged++;
            continue;
        }
        precision_note(p, odb_xasprintf("output %s has no reference and is not judged",
                                        p->graph->values[v].name));
    }
    if (judged)
        return ODB_OK;
    odb_fail(err, ODB_UNSUPPORTED, "the reference computes none of the outputs");
    return odb_error_remedy(err, "`onnxdbg info` says which operators it lacks");
}

/* --- why ------------------------------------------------------------------------------------- */

static double precision_reach(const struct precision *p, int value)
{
    double most = 0;
    for (size_t c = 0; value >= 0 && c < p->n_cases; c++) {
        const struct odb_tensor *t = odb_trace_value(p->cases[c].trace, value);
        if (!t || t->kind != ODB_TENSOR || t->dtype != ODB_F32)
            continue;
        const odb_f32 *x = t->data;
        for (size_t i = 0; i < t->count; i++)
            if (isfinite(x[i]) && fabs(x[i]) > fabs(most))
                most = x[i];
    }
    return most;
}

/* The value of the node that leaves the type's range; ODB_NO_VALUE: none does. */
static int precision_leaves(const struct precision *p, const struct odb_node *node, double *reach)
{
    double max = odb_dtype_info(p->options->to)->max;
    for (int i = 0; i < node->n_in + node->n_out; i++) {
        int v = i < node->n_out ? node->out[i] : node->in[i - node->n_out];
        *reach = precision_reach(p, v);
        if (fabs(*reach) > max)
            return v;
    }
    return ODB_NO_VALUE;
}

static char *precision_why(const struct precision *p, int index)
{
    const struct odb_node *node = &p->graph->nodes[index];
    const struct odb_precision_node *about = &p->result->nodes[index];
    const struct odb_dtype_info *type = odb_dtype_info(p->options->to);
    double reach = 0;
    int beyond = p->options->to == ODB_I8 ? ODB_NO_VALUE : precision_leaves(p, node, &reach);
    if (beyond != ODB_NO_VALUE)
        return odb_xasprintf("overflow: %s reaches %.6g, beyond %.6g",
                             p->graph->values[beyond].name, reach, type->max);
    if (!about->measured)
        return odb_xstrdup("the reference cannot run it in this type");
    if (isinf(about->error))
        return odb_xstrdup("NaN, Inf or another choice where float32 has none");
    if (p->options->to != ODB_I8 && about->error > 16 * type->eps)
        return odb_xasprintf("ill-conditioned: rounding by %.2g becomes an error of %.2g",
                             type->eps / 2, about->error);
    return odb_xstrdup(p->options->to == ODB_I8 ? "quantising alone" : "rounding alone");
}

static void precision_conclude(struct precision *p)
{
    struct odb_precision_result *r = p->result;
    for (size_t n = 0; n < p->graph->n_nodes; n++) {
        struct odb_precision_node *about = &r->nodes[n];
        enum odb_convert_class class = odb_convert_class(p->convert, (int)n);
        const char *why = odb_convert_why(p->convert, (int)n);
        if (class == ODB_CONVERT_NOTHING)
            continue;
        if (class == ODB_CONVERT_STAYS) {
            bool beyond = odb_convert_beyond(p->convert, (int)n);
            about->fate = beyond ? ODB_FATE_BEYOND : ODB_FATE_FIXED;
            about->why = odb_xstrdup(why);
            r->n_beyond += beyond;
            r->n_fixed += !beyond;
        } else {
            about->fate = p->keep[n] ? ODB_FATE_KEPT : ODB_FATE_CONVERTED;
            about->why = p->keep[n] ? precision_why(p, (int)n) : NULL;
            r->n_kept += p->keep[n];
        }
    }
    r->n_free = p->n_free;
    r->n_nodes = r->n_free + r->n_beyond;
}

/* A target that passes where a value leaves the type does not compute that value in the type. Only
 * the reference is known to round wherever the model says so. */
static void precision_masked(struct precision *p)
{
    const struct odb_dtype_info *type = odb_dtype_info(p->options->to);
    int first = ODB_NO_VALUE;
    double reach = 0, most = 0;
    size_t n = 0;
    for (size_t t = 0; t < p->options->n_targets; t++)
        if (!strncmp(p->options->targets[t], "cpu", 3))
            return;
    for (size_t i = 0; p->options->to != ODB_I8 && i < p->graph->n_nodes; i++) {
        int v = p->result->nodes[i].fate == ODB_FATE_CONVERTED
                    ? precision_leaves(p, &p->graph->nodes[i], &reach)
                    : ODB_NO_VALUE;
        if (v == ODB_NO_VALUE)
            continue;
        first = n ? first : v;
        most = n++ ? most : reach;
    }
    if (n)
        precision_note(p, odb_xasprintf("%zu of the nodes converted read or make what %s cannot "
                                        "hold (%s reaches %.6g), and the target passes all the "
                                        "same: it does not compute them in that type, and what "
                                        "does will overflow. --target cpu finds a model for it",
                                        n, type->name, p->graph->values[first].name, most));
}

/* Many kept nodes of which none is worse than the type is with every node. */
static void precision_diffuse(struct precision *p)
{
    const struct odb_dtype_info *type = odb_dtype_info(p->options->to);
    double worst = 0;
    if (p->options->to == ODB_I8 || p->result->n_kept < PRECISION_FEW)
        return;
    for (size_t n = 0; n < p->graph->n_nodes; n++)
        if (p->result->nodes[n].fate == ODB_FATE_KEPT)
            worst =
                fmax(worst, p->result->nodes[n].measured ? p->result->nodes[n].error : INFINITY);
    if (worst <= 16 * type->eps)
        precision_note(p, odb_xasprintf("no kept node stands out: alone, the type costs none of "
                                        "them more than %.2g, and the errors of many add up; a "
                                        "tolerance a little wider may need far fewer",
                                        worst));
}

/* --- the file --------------------------------------------------------------------------------- */

static enum odb_status precision_read(const char *path, struct odb_buf *out, struct odb_error *err)
{
    struct stat st = {.st_size = 0};
    FILE *f = fopen(path, "rb");
    size_t size = f && fstat(fileno(f), &st) == 0 ? (size_t)st.st_size : 0;
    char *to = odb_buf_reserve(out, size + 1);
    size_t got = f && to ? fread(to, 1, size, f) : 0;
    if (f)
        fclose(f);
    if (!f || got != size || !size)
        return odb_fail(err, ODB_E_IO, "%s cannot be read again", path);
    out->len += size;
    return ODB_OK;
}

static size_t precision_weights(const struct odb_model *model, bool external)
{
    size_t bytes = 0;
    for (size_t v = 0; v < model->graph->n_values; v++)
        if (model->graph->values[v].init && (!external || model->graph->values[v].init_is_external))
            bytes += model->graph->values[v].init->bytes;
    return bytes;
}

static enum odb_status precision_write(struct precision *p, struct odb_error *err)
{
    struct odb_precision_result *r = p->result;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_file_parts weights = {0};
    char *beside = odb_xasprintf("%s.data", r->path);
    bool large = precision_weights(p->model, false) > PRECISION_INLINE;
    int *origin = NULL;
    size_t n = 0;
    const struct odb_convert_form form = {
        .keep = p->keep,
        .weights = large ? ODB_WEIGHTS_BESIDE : ODB_WEIGHTS_INLINE,
        .weights_file = strrchr(beside, '/') ? strrchr(beside, '/') + 1 : beside,
        .weights_out = &weights,
        .origin = &origin,
        .n_nodes = &n};
    enum odb_status status = odb_convert_write(p->convert, &form, &bytes, err);
    if (status == ODB_OK && large)
        status = odb_file_write_parts(beside, weights.pieces.items, weights.pieces.n, err);
    if (status == ODB_OK)
        status = odb_file_write(r->path, bytes.data, bytes.len, err);
    for (size_t i = 0; i < n; i++)
        r->casts += origin[i] == ODB_NO_NODE;
    r->bytes_after = bytes.len + weights.size;
    odb_buf_dispose(&bytes);
    odb_file_parts_dispose(&weights);
    free(origin);
    free(beside);
    return status;
}

/* Every output of what was written is declared as the model declares it. */
static enum odb_status precision_same_border(const struct precision *p,
                                             const struct odb_model *written, struct odb_error *err)
{
    const struct odb_graph *a = p->graph, *b = written->graph;
    bool same =
        a->n_outputs == b->n_outputs && odb_graph_feeds(a, NULL) == odb_graph_feeds(b, NULL);
    for (size_t o = 0; same && o < a->n_outputs; o++)
        same = !strcmp(a->values[a->outputs[o]].name, b->values[b->outputs[o]].name) &&
               a->values[a->outputs[o]].type.dtype == b->values[b->outputs[o]].type.dtype;
    return same ? ODB_OK
                : odb_fail(err, ODB_E_INTERNAL, "what was written has other inputs or outputs");
}

/* What stands in the file, read again, on a fresh child. */
static enum odb_status precision_prove(struct precision *p, struct odb_error *err)
{
    struct odb_precision_result *r = p->result;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_model *written = NULL;
    struct odb_target **targets = NULL;
    enum odb_status status;
    double start = odb_clock();
    odb_hooks_phase(&p->options->hooks, "proof", 0);
    precision_tell(p, "the file as it was written", NULL);
    ODB_TRY_OUT(odb_model_open(&written, r->path, err));
    ODB_TRY_OUT(precision_same_border(p, written, err));
    ODB_TRY_OUT(precision_read(r->path, &bytes, err));
    ODB_TRY_OUT(precision_open(p, &targets, err));
    const struct odb_load load = precision_load(p, &bytes, written->dir);
    ODB_TRY_OUT(precision_try(p, targets, &load, &r->proof, err));
    r->proof.kept = r->n_kept;
    r->proof.seconds = odb_clock() - start;
    r->written = r->proof.passes;
    precision_tell(p, "the file as it was written", &r->proof);
out:
    precision_close(p, targets);
    odb_model_free(written);
    odb_buf_dispose(&bytes);
    return status;
}

/* --- the whole -------------------------------------------------------------------------------- */

static void precision_dispose(struct precision *p)
{
    for (size_t i = 0; i < p->asked.n; i++)
        free(p->asked.items[i].keep);
    free(p->asked.items);
    precision_close(p, p->targets);
    odb_convert_free(p->convert);
    free(p->outputs);
    free(p->feeds);
    free(p->order);
    free(p->keep);
}

static void precision_init(struct precision *p)
{
    size_t feeds = 0;
    for (size_t c = 0; c < p->n_cases; c++)
        feeds = ODB_MAX(feeds, p->cases[c].feeds->n);
    p->outputs = odb_new_n(const char *, p->graph->n_outputs + 1);
    p->feeds = odb_new_n(struct odb_named, feeds + 1);
    p->order = odb_new_n(int, p->graph->n_nodes + 1);
    p->keep = odb_new_n(bool, p->graph->n_nodes + 1);
    for (size_t o = 0; o < p->graph->n_outputs; o++)
        p->outputs[o] = p->graph->values[p->graph->outputs[o]].name;
}

/* With everything kept, and with nothing. */
static enum odb_status precision_ends(struct precision *p, struct odb_error *err)
{
    struct odb_precision_result *r = p->result;
    bool *all = odb_new_n(bool, p->graph->n_nodes + 1);
    memset(all, true, p->graph->n_nodes * sizeof *all);
    odb_hooks_phase(&p->options->hooks, "all nodes kept, none kept", 0);
    enum odb_status status = precision_probe(p, all, &r->all, err);
    free(all);
    if (status == ODB_OK && !r->all.ran) /* err is the target's */
        return odb_error_at(err, "the model in float32 on %s", r->targets[r->all.target]);
    ODB_TRY(status);
    if (!r->all.passes || !p->n_free)
        return ODB_OK;
    ODB_TRY(precision_probe(p, p->keep, &r->none, err));
    if (!precision_is_refusal(r->none.status))
        return ODB_OK;
    ODB_TRY(precision_refused(p, err));
    precision_free_nodes(p);
    return p->n_free ? precision_probe(p, p->keep, &r->none, err) : ODB_OK;
}

static enum odb_status precision_do(struct precision *p, struct odb_error *err)
{
    struct odb_precision_result *r = p->result;
    ODB_TRY(precision_check(p, err));
    ODB_TRY(precision_prepare(p, err));
    ODB_TRY(precision_open(p, &p->targets, err));
    ODB_TRY(precision_ends(p, err));
    for (size_t t = 0; t < r->n_targets; t++)
        r->descriptions[t] = odb_xstrdup(odb_target_description(p->targets[t]));
    r->minimal = r->none.passes || !p->n_free;
    if (r->all.passes && p->n_free && !r->none.passes) {
        ODB_TRY(precision_rank(p, err));
        ODB_TRY(precision_narrow(p, err));
        ODB_TRY(precision_trim(p, err));
    }
    precision_conclude(p);
    r->bytes_before = p->model->file_bytes + precision_weights(p->model, true);
    if (!r->all.passes)
        return ODB_OK;
    ODB_TRY(precision_write(p, err));
    ODB_TRY(precision_prove(p, err));
    if (!r->written)
        unlink(r->path);
    else
        precision_masked(p);
    precision_diffuse(p);
    return ODB_OK;
}

enum odb_status odb_precision_search(struct odb_precision_result **out,
                                     const struct odb_model *model,
                                     const struct odb_precision_case *cases, size_t n_cases,
                                     const struct odb_precision_options *options,
                                     struct odb_error *err)
{
    char text[160];
    double start = odb_clock();
    struct odb_precision_result *r = odb_new(struct odb_precision_result);
    struct precision p = {.model = model,
                          .graph = model->graph,
                          .cases = cases,
                          .n_cases = n_cases,
                          .options = options,
                          .result = r,
                          .start = start};
    *r = (struct odb_precision_result){
        .model = model,
        .to = options->to,
        .targets = odb_new_n(char *, options->n_targets + 1),
        .descriptions = odb_new_n(char *, options->n_targets + 1),
        .n_targets = options->n_targets,
        .path = odb_xstrdup(options->path),
        .tolerance = odb_xstrdup(odb_criterion_text(&options->tolerance, text, sizeof text)),
        .nodes = odb_new_n(struct odb_precision_node, model->graph->n_nodes + 1)};
    for (size_t t = 0; t < options->n_targets; t++)
        r->targets[t] = odb_xstrdup(options->targets[t]);
    r->all.value = r->none.value = r->proof.value = ODB_NO_VALUE;
    precision_init(&p);
    enum odb_status status = precision_do(&p, err);
    precision_dispose(&p);
    r->seconds = odb_clock() - start;
    *out = r;
    if (status != ODB_OK) {
        odb_precision_result_free(r);
        *out = NULL;
    }
    return status;
}

void odb_precision_result_free(struct odb_precision_result *r)
{
    if (!r)
        return;
    for (size_t n = 0; n < r->model->graph->n_nodes; n++)
        free(r->nodes[n].why);
    for (size_t i = 0; i < r->notes.n; i++)
        free(r->notes.items[i]);
    free(r->notes.items);
    free(r->probes.items);
    free(r->nodes);
    for (size_t t = 0; t < r->n_targets; t++) {
        free(r->targets[t]);
        free(r->descriptions[t]);
    }
    free(r->targets);
    free(r->descriptions);
    free(r->tolerance);
    free(r->path);
    free(r);
}
