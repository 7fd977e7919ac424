/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/findings.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "run/hooks.h"

void findings_phase(struct bisection *b, const char *phase, size_t total)
{
    b->trace->phase = phase;
    odb_hooks_phase(&b->options->hooks, phase, total);
}

void findings_tell(struct bisection *b, int value)
{
    if (b->prober.pinned) /* that is another model's */
        return;
    odb_hooks_value(&b->options->hooks, b->graph, value, &b->report->values[value]);
}

void findings_keep(struct bisection *b, int value, struct odb_tensor *t)
{
    odb_tensor_unref(b->report->given[value]);
    b->report->given[value] = odb_tensor_ref(t);
}

struct findings_pause findings_step_pause(const struct bisection *b)
{
    struct odb_target_stats now = odb_pool_stats(b->pool);
    return (struct findings_pause){now.loads - b->step_stats.loads, now.runs - b->step_stats.runs,
                                   odb_clock() - b->step_start};
}

void findings_step_resume(struct bisection *b, struct findings_pause spent)
{
    b->step_stats = odb_pool_stats(b->pool);
    b->step_stats.loads -= spent.loads;
    b->step_stats.runs -= spent.runs;
    b->step_start = odb_clock() - spent.seconds;
}

void findings_step_begin(struct bisection *b, const char *phase)
{
    b->step_start = odb_clock();
    b->step_stats = b->pool ? odb_pool_stats(b->pool) : (struct odb_target_stats){0};
    findings_phase(b, phase, 0);
}

void findings_step_end(struct bisection *b, const char *step, const char *why, ...)
{
    struct odb_target_stats now = b->pool ? odb_pool_stats(b->pool) : (struct odb_target_stats){0};
    char line[400];
    va_list args;
    va_start(args, why);
    odb_text_vfit(line, sizeof line, why, args);
    va_end(args);
    double target =
        now.load_seconds + now.run_seconds - b->step_stats.load_seconds - b->step_stats.run_seconds;
    double seconds = odb_clock() - b->step_start;
    b->report->reference_seconds += fmax(seconds - target, 0); /* replays and noise */
    odb_push(&b->report->steps, (struct odb_search_step){.step = step,
                                                         .why = odb_xstrdup(line),
                                                         .loads = now.loads - b->step_stats.loads,
                                                         .runs = now.runs - b->step_stats.runs,
                                                         .seconds = seconds});
}

enum odb_diagnosis findings_kind_of(enum odb_verdict verdict, const struct odb_tensor *given,
                                    const struct odb_tensor *reference)
{
    struct odb_specials s;
    odb_specials_count(&s, given, reference);
    bool infinite = s.inf_target + s.inf_reference + s.inf_sign > 0;
    return verdict == ODB_VERDICT_CRASH                    ? ODB_KIND_CRASH
           : verdict == ODB_VERDICT_TIMEOUT                ? ODB_KIND_HANG
           : verdict != ODB_VERDICT_NAN                    ? ODB_KIND_INTRODUCED
           : infinite && !s.nan_target && !s.nan_reference ? ODB_KIND_INF
                                                           : ODB_KIND_NAN;
}

/* NaN and Inf that came in are not the node's own. */
static bool bisect_poisoned(const struct bisection *b, int value)
{
    int producer = b->graph->values[value].producer;
    const struct odb_node *node = producer == ODB_NO_NODE ? NULL : &b->graph->nodes[producer];
    for (int i = 0; node && i < node->n_in; i++)
        if (node->in[i] >= 0 && b->report->values[node->in[i]].verdict == ODB_VERDICT_NAN)
            return true;
    return false;
}

enum odb_diagnosis findings_kind(const struct bisection *b, int value)
{
    if (b->report->values[value].verdict == ODB_VERDICT_NAN && bisect_poisoned(b, value))
        return ODB_KIND_INTRODUCED;
    const struct odb_tensor *given = b->given[value] ? b->given[value] : b->report->given[value];
    return findings_kind_of(b->report->values[value].verdict, given, b->trace->ref[value]);
}

/* Nodes whose error can show at an output that is off: worked out once, for culprits may be many.
 */
static const bool *bisect_reaching(struct bisection *b)
{
    if (b->reaching)
        return b->reaching;
    int *bad = odb_new_n(int, b->n_outputs + 1);
    size_t n = 0;
    for (size_t o = 0; o < b->n_outputs; o++)
        if (odb_verdict_is_bad(b->verdicts[o].verdict))
            bad[n++] = b->outputs[o];
    b->reaching = odb_new_n(bool, b->graph->n_nodes + 1);
    odb_graph_ancestors(b->graph, bad, n, b->fed, b->reaching);
    free(bad);
    return b->reaching;
}

struct odb_culprit *findings_accuse(struct bisection *b, int node, int value,
                                    enum odb_diagnosis kind)
{
    struct odb_culprit culprit = {
        .node = node, .value = value, .kind = kind, .segment = {node, node}};
    if (value >= 0) {
        culprit.numbers = b->report->values[value];
        culprit.reaches_output = bisect_reaching(b)[node];
    }
    odb_push(&b->report->culprits, culprit);
    return &b->report->culprits.items[b->report->culprits.n - 1];
}

bool findings_explain(const struct bisection *b, int value)
{
    bool *up = odb_new_n(bool, b->graph->n_nodes);
    bool explained = false;
    odb_graph_ancestors(b->graph, &value, 1, b->fed, up);
    for (size_t c = 0; c < b->report->culprits.n; c++) {
        const struct odb_culprit *culprit = &b->report->culprits.items[c];
        explained |= up[culprit->node] && culprit->kind != ODB_KIND_EXCHANGED;
    }
    free(up);
    return explained || b->exchanged[value] != ODB_NO_VALUE;
}

void findings_expect(struct bisection *b, const char *what, size_t loads, double seconds)
{
    struct odb_forecast *forecast = &b->report->forecast;
    *forecast =
        (struct odb_forecast){what, b->prober.loads + loads, odb_clock() - b->start + seconds};
    odb_hooks_tell(&b->options->hooks, (struct odb_search_event){.what = ODB_EVENT_FORECAST,
                                                                 .text = what,
                                                                 .node = ODB_NO_NODE,
                                                                 .loads = forecast->loads,
                                                                 .seconds = forecast->seconds});
}
