/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which way to search, what it will cost, and when to go another way.
 */

#include "bisect/plan/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "bisect/decided.h"
#include "bisect/plan/evidence.h"
#include "bisect/strategy/hunt.h"
#include "bisect/strategy/isolated.h"
#include "bisect/strategy/linear.h"
#include "bisect/evidence/overflow.h"
#include "bisect/strategy/probed.h"
#include "bisect/strategy/prove.h"
#include "bisect/reading.h"
#include "bisect/evidence/reference_off.h"
#include "bisect/repeat.h"
#include "report/report.h"
#include "run/memory_budget.h"
#include "search/search.h"
#include "bisect/evidence/sensitivity.h"
#include "bisect/strategy.h"
#include "bisect/strategy/suffix_hunt.h"
#include "bisect/evidence/tolerated.h"
#include "run/value_report.h"

/* --- from evidence to culprits ---------------------------------------------------------------- */

/* An output is wrong and no node is to blame: many small errors, or a gain. The node named is the
 * first over tolerance whose inputs are all within. */
static void plan_accumulated(struct bisection *b, int output)
{
    bool *up = odb_new_n(bool, b->graph->n_nodes);
    odb_graph_ancestors(b->graph, &output, 1, b->fed, up);
    for (size_t n = 0; n < b->graph->n_nodes; n++) {
        const struct odb_node *node = &b->graph->nodes[n];
        int bad = ODB_NO_VALUE;
        bool clean = true;
        for (int o = 0; up[n] && o < node->n_out; o++)
            if (node->out[o] >= 0 && odb_verdict_is_bad(b->report->values[node->out[o]].verdict))
                bad = node->out[o];
        for (int i = 0; i < node->n_in; i++)
            if (node->in[i] >= 0 && odb_verdict_is_bad(b->report->values[node->in[i]].verdict))
                clean = false;
        if (bad == ODB_NO_VALUE || !clean)
            continue;
        const struct odb_value_report *report = &b->report->values[bad];
        const struct odb_op *op = odb_cpu_op(b->judge.trace->cpu, (int)n);
        bool decides = !op || (op->flags & ODB_OP_BOUNDARY);
        bool boundary =
            report->boundary || (decides && report->noise.known && report->noise.v == 0);
        for (int i = 0; i < node->n_in; i++)
            boundary = boundary || (node->in[i] >= 0 && b->report->values[node->in[i]].boundary);
        struct odb_sensitivity own = sensitivity_of(b, bad, b->given);
        bool amplified = boundary || (report->gain.known && report->gain.v > 10) ||
                         (own.growth_of_random.known && own.growth_of_random.v > 10);
        bool replayed = report->local_error.known || report->local_noise.known;
        findings_accuse(b, (int)n, bad,
                        !replayed   ? findings_kind(b, bad)
                        : amplified ? ODB_KIND_AMPLIFIED
                                    : ODB_KIND_ACCUMULATED);
        break;
    }
    free(up);
}

/* Replaying may have shown more noise than was known when the plain run was judged. */
static void plan_excuse(const struct bisection *b, const struct odb_value_report *value,
                        struct odb_value_report *plain)
{
    double factor = b->options->tolerance.v[0];
    if (b->options->tolerance.kind == ODB_CRITERION_NOISE && value->noise.known &&
        plain->verdict == ODB_VERDICT_FAIL && plain->error.known &&
        plain->error.v <= factor * value->noise.v)
        plain->verdict = ODB_VERDICT_PASS;
}

/* Names those whom the values that were read accuse. */
static enum odb_status plan_blame(struct bisection *b, struct odb_error *err)
{
    b->report->outputs_diverge = false;
    for (size_t o = 0; o < b->n_outputs; o++) { /* what the model as it is gives counts */
        struct odb_value_report *value = &b->report->values[b->outputs[o]];
        plan_excuse(b, value, &b->verdicts[o]);
        b->report->outputs_diverge |= odb_verdict_is_bad(b->verdicts[o].verdict);
        value->verdict = b->verdicts[o].verdict;
        value->error = b->verdicts[o].error;
        value->error_mean = b->verdicts[o].error_mean;
        findings_tell(b, b->outputs[o]);
    }
    ODB_TRY(reference_weigh(b, err));
    ODB_TRY(tolerated_values(b, err));
    for (size_t n = 0; n < b->graph->n_nodes; n++) {
        const struct odb_node *node = &b->graph->nodes[n];
        for (int o = 0; o < node->n_out; o++) {
            int v = node->out[o];
            bool off = v >= 0 && reference_off(b, v);
            if (v < 0 || !(b->report->values[v].culprit || off) || b->exchanged[v] != ODB_NO_VALUE)
                continue;
            struct odb_culprit *culprit = findings_accuse(b, (int)n, v, findings_kind(b, v));
            if (off)
                reference_blame(b, culprit);
            break;
        }
    }
    return ODB_OK;
}

/* --- what it will cost ------------------------------------------------------------------------ */

/* Loads of one run that reads everything. */
static size_t plan_probed_pieces(const struct bisection *b)
{
    int *list = odb_new_n(int, b->graph->n_values);
    size_t pieces = odb_probe_pieces(&b->prober, list, reading_list(b, list));
    free(list);
    return pieces;
}

/* Says, and tells whoever looks on, what the search will have cost when it has gone this way: as
 * the plain run and what was spent so far let one think. */
static void plan_forecast(struct bisection *b, enum odb_strategy strategy, size_t batches)
{
    static const char *const names[] = {
#define PLAN_STRATEGY(name, text, help) [ODB_STRATEGY_##name] = text,
        ODB_STRATEGY_LIST(PLAN_STRATEGY)
#undef PLAN_STRATEGY
    };
    size_t n = b->graph->n_nodes, bad = b->report->outputs_diverge;
    size_t pieces = odb_probe_pieces(&b->prober, b->outputs, b->n_outputs);
    double one = b->load + b->run, whole = 0, parts = 0, replay = b->trace->seconds;
    switch (strategy) {
    case ODB_STRATEGY_AUTO:
    case ODB_STRATEGY_BLAME:
    case ODB_STRATEGY_PROBED:
        whole = (double)(batches * plan_probed_pieces(b));
        break;
    case ODB_STRATEGY_PREFIX:
    case ODB_STRATEGY_SUFFIX:
        parts = (double)(bad * (odb_search_loads(n) + 1) * ((pieces + 1) / 2));
        replay = 0;
        break;
    case ODB_STRATEGY_LINEAR:
        parts = (double)(bad * (n / linear_step(b, n) + linear_step(b, n)) * ((pieces + 1) / 2));
        replay = 0;
        break;
    case ODB_STRATEGY_EACH:
        parts = (double)n;
        replay = 0;
        break;
    case ODB_STRATEGY_ISOLATED: /* all together load and run what the model does */
        whole = 1;
        break;
    }
    /* Whoever is accused runs alone, and the outputs without its error: in pieces that counts. */
    size_t loads = (size_t)(whole + parts) + bad * pieces;
    if (strategy == ODB_STRATEGY_ISOLATED)
        loads = n + bad;
    findings_expect(b, names[strategy], loads, replay + one * (whole + parts / 2));
}

/* A step that costs nothing: which way it goes from here, and why. */
static void plan_turn(struct bisection *b, enum odb_strategy strategy, size_t batches,
                      const char *why, ...) ODB_PRINTF(4, 5);
static void plan_turn(struct bisection *b, enum odb_strategy strategy, size_t batches,
                      const char *why, ...)
{
    char line[300];
    va_list args;
    va_start(args, why);
    odb_text_vfit(line, sizeof line, why, args);
    va_end(args);
    plan_forecast(b, strategy, batches);
    b->step_start = odb_clock();
    b->step_stats = odb_pool_stats(b->pool);
    findings_step_end(b, "choose", "%s: %s", b->report->forecast.strategy, line);
}

/* --- ways to search --------------------------------------------------------------------------- */

typedef enum odb_status plan_hunter(struct bisection *b, int value, struct odb_error *err);

/* Searches for every wrong output that nobody explains yet, the worst first, and then for what else
 * was found to be wrong. */
static enum odb_status plan_hunt_all(struct bisection *b, plan_hunter *hunt, struct odb_error *err)
{
    decided_excuse_outputs(b);
    bool *tried = odb_new_n(bool, b->n_outputs);
    enum odb_status status = overflow_look(b, err);
    while (status == ODB_OK) {
        int worst = -1;
        for (size_t o = 0; o < b->n_outputs; o++) {
            if (tried[o] || !odb_verdict_is_bad(b->verdicts[o].verdict))
                continue;
            if (worst < 0 || b->verdicts[o].error.v > b->verdicts[worst].error.v)
                worst = (int)o;
        }
        if (worst < 0)
            break;
        tried[worst] = true;
        if (!findings_explain(b, b->outputs[worst]))
            status = hunt(b, b->outputs[worst], err);
    }
    for (size_t i = 0; i < b->others.n && status == ODB_OK; i++) /* met on the way */
        if (!findings_explain(b, b->others.items[i]))
            status = hunt(b, b->others.items[i], err);
    free(tried);
    return status;
}

static bool plan_unexplained(const struct bisection *b)
{
    for (size_t o = 0; o < b->n_outputs; o++)
        if (odb_verdict_is_bad(b->verdicts[o].verdict) && !findings_explain(b, b->outputs[o]))
            return true;
    return false;
}

/* Reading moved the bits of a wrong output by so much that a part of its error may have been hidden
 * from whoever looked. */
static bool plan_doubtful(const struct bisection *b)
{
    const struct odb_observer *seen = &b->report->observer;
    const struct odb_value_report *output = &b->report->values[seen->output];
    return seen->moved && odb_verdict_is_bad(output->verdict) && output->error.known &&
           output->noise.known && seen->by > b->options->tolerance.v[0] * output->noise.v &&
           4 * seen->by > output->error.v;
}

/* Reads everything as far as that goes, and names whom the evidence accuses. */
static enum odb_status plan_look(struct bisection *b, struct odb_error *err)
{
    ODB_TRY(probed_values(b, err));
    if (b->hidden) /* or is it chance? */
        ODB_TRY(repeat_doubt(b, err));
    if (b->judged)
        ODB_TRY(plan_blame(b, err));
    if (b->judged || b->hidden)
        decided_excuse_outputs(b);
    if (b->probed && plan_doubtful(b) && plan_unexplained(b)) {
        plan_turn(b, ODB_STRATEGY_PREFIX, 0,
                  "reading values moved an output by %.3g, as much as its error",
                  b->report->observer.by);
        ODB_TRY(plan_hunt_all(b, hunt_value, err));
    }
    ODB_TRY(overflow_look(b, err));
    for (size_t o = 0; o < b->n_outputs && b->probed; o++)
        if (odb_verdict_is_bad(b->verdicts[o].verdict) && !findings_explain(b, b->outputs[o]))
            plan_accumulated(b, b->outputs[o]);
    return ODB_OK;
}

/* In pieces there are as many outputs as borders. Whether searching for each wrong one by itself
 * takes more loads than asking for every node. */
static bool plan_many_ends(const struct bisection *b)
{
    const struct odb_pieces *pieces = &b->report->pieces;
    size_t bad = 0;
    for (size_t o = 0; o < b->n_outputs; o++)
        bad += odb_verdict_is_bad(b->verdicts[o].verdict) && !findings_explain(b, b->outputs[o]);
    return pieces->refused.n &&
           bad * (odb_search_loads(b->graph->n_nodes) + 1) > b->graph->n_nodes - pieces->refused.n;
}

static enum odb_status plan_auto(struct bisection *b, struct odb_error *err)
{
    size_t bytes, batches = reading_batches(b, &bytes), n = b->graph->n_nodes;
    double mib = (double)bytes / (1 << 20);
    if (batches == 1) {
        plan_turn(b, ODB_STRATEGY_BLAME, 1, "all values at once are %.3g MiB", mib);
    } else if (b->report->outputs_diverge && batches > 2 * odb_search_loads(n) + 4) {
        plan_turn(b, ODB_STRATEGY_PREFIX, 0,
                  "all values are %.3g MiB, which would take %zu runs within %.3g MiB of memory",
                  mib, batches, (double)b->memory / (1 << 20));
        return plan_hunt_all(b, hunt_value, err);
    } else {
        plan_turn(b, ODB_STRATEGY_PROBED, batches,
                  "all values are %.3g MiB, so %zu batches within %.3g MiB of memory", mib, batches,
                  (double)b->memory / (1 << 20));
    }
    ODB_TRY(plan_look(b, err));
    if (!b->probed && plan_many_ends(b)) {
        plan_turn(b, ODB_STRATEGY_ISOLATED, 0, "the model runs in pieces, and many end wrong");
        ODB_TRY(isolated_all(b, err));
    }
    if (b->probed || !plan_unexplained(b))
        return ODB_OK;
    plan_turn(b, b->hidden ? ODB_STRATEGY_SUFFIX : ODB_STRATEGY_PREFIX, 0,
              b->hidden ? "reading values changes the answer, so nothing but an output is read"
                        : "values cannot be read, so nothing but the cut is read");
    return plan_hunt_all(b, b->hidden ? suffix_hunt : hunt_value, err);
}

static enum odb_status plan_by_strategy(struct bisection *b, enum odb_strategy strategy,
                                        struct odb_error *err)
{
    switch (strategy) {
    case ODB_STRATEGY_AUTO:
        return plan_auto(b, err);
    case ODB_STRATEGY_EACH:
        return hunt_each(b, err);
    case ODB_STRATEGY_ISOLATED:
        return isolated_all(b, err);
    case ODB_STRATEGY_PREFIX:
        return plan_hunt_all(b, hunt_value, err);
    case ODB_STRATEGY_SUFFIX:
        return plan_hunt_all(b, suffix_hunt, err);
    case ODB_STRATEGY_LINEAR:
        return plan_hunt_all(b, linear_hunt, err);
    case ODB_STRATEGY_BLAME:
    case ODB_STRATEGY_PROBED:
        break;
    }
    ODB_TRY(plan_look(b, err));
    if (!b->probed && plan_unexplained(b))
        odb_report_warn(b->report, "blame needs a probed run that reproduces the plain one; use "
                                   "--strategy auto or prefix");
    return ODB_OK;
}

static uint64_t plan_budget(const struct bisection *b)
{
    bool all = b->options->strategy == ODB_STRATEGY_BLAME || odb_probe_in_pieces(&b->prober);
    return all ? UINT64_MAX : odb_memory_budget(b->options->hooks.budget).values;
}

void plan_ahead(struct bisection *b)
{
    enum odb_strategy strategy = b->options->strategy;
    bool reads = strategy == ODB_STRATEGY_AUTO || strategy == ODB_STRATEGY_BLAME ||
                 strategy == ODB_STRATEGY_PROBED;
    size_t bytes;
    if (!reads || odb_pool_workers(b->pool) == 1)
        return;
    b->memory = plan_budget(b);
    if (reading_batches(b, &bytes) == 1)
        probed_begin(b);
}

enum odb_status plan_search(struct bisection *b, struct odb_error *err)
{
    enum odb_strategy strategy = b->options->strategy;
    size_t bytes;
    b->memory = plan_budget(b);
    if (strategy != ODB_STRATEGY_AUTO)
        plan_turn(b, strategy, reading_batches(b, &bytes), "asked for");
    ODB_TRY(plan_by_strategy(b, strategy, err));
    ODB_TRY(overflow_look(b, err)); /* of what nobody looked into */
    ODB_TRY(evidence_confirm(b, err));
    return b->options->prove ? prove_cuts(b, ODB_OK, err) : ODB_OK;
}
