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
static void plan_accumulated(const struct search_case *c, struct findings *f, int output)
{
    bool *up = odb_new_n(bool, c->graph->n_nodes);
    odb_graph_ancestors(c->graph, &output, 1, c->fed, up);
    for (size_t n = 0; n < c->graph->n_nodes; n++) {
        const struct odb_node *node = &c->graph->nodes[n];
        int bad = ODB_NO_VALUE;
        bool clean = true;
        for (int o = 0; up[n] && o < node->n_out; o++)
            if (node->out[o] >= 0 && odb_verdict_is_bad(f->values[node->out[o]].verdict))
                bad = node->out[o];
        for (int i = 0; i < node->n_in; i++)
            if (node->in[i] >= 0 && odb_verdict_is_bad(f->values[node->in[i]].verdict))
                clean = false;
        if (bad == ODB_NO_VALUE || !clean)
            continue;
        const struct odb_value_report *report = &f->values[bad];
        const struct odb_op *op = odb_cpu_op(c->judge.trace->cpu, (int)n);
        bool decides = !op || (op->flags & ODB_OP_BOUNDARY);
        bool boundary =
            report->boundary || (decides && report->noise.known && report->noise.v == 0);
        for (int i = 0; i < node->n_in; i++)
            boundary = boundary || (node->in[i] >= 0 && f->values[node->in[i]].boundary);
        struct odb_sensitivity own = sensitivity_of(c, f, bad, f->given);
        bool amplified = boundary || (report->gain.known && report->gain.v > 10) ||
                         (own.growth_of_random.known && own.growth_of_random.v > 10);
        bool replayed = report->local_error.known || report->local_noise.known;
        findings_accuse(f, (int)n, bad,
                        !replayed   ? findings_kind(f, bad)
                        : amplified ? ODB_KIND_AMPLIFIED
                                    : ODB_KIND_ACCUMULATED);
        break;
    }
    free(up);
}

/* Replaying may have shown more noise than was known when the plain run was judged. */
static void plan_excuse(const struct search_case *c, const struct odb_value_report *value,
                        struct odb_value_report *plain)
{
    double factor = c->options->tolerance.v[0];
    if (c->options->tolerance.kind == ODB_CRITERION_NOISE && value->noise.known &&
        plain->verdict == ODB_VERDICT_FAIL && plain->error.known &&
        plain->error.v <= factor * value->noise.v)
        plain->verdict = ODB_VERDICT_PASS;
}

/* Names those whom the values that were read accuse. */
static enum odb_status plan_blame(const struct search_case *c, struct findings *f,
                                  struct odb_error *err)
{
    bool diverge = false;
    for (size_t o = 0; o < c->n_outputs; o++) { /* what the model as it is gives counts */
        struct odb_value_report value = f->values[c->outputs[o]];
        plan_excuse(c, &value, &f->verdicts[o]);
        diverge |= odb_verdict_is_bad(f->verdicts[o].verdict);
        value.verdict = f->verdicts[o].verdict;
        value.error = f->verdicts[o].error;
        value.error_mean = f->verdicts[o].error_mean;
        findings_value(f, c->outputs[o], &value);
    }
    findings_diverge(f, diverge);
    ODB_TRY(reference_weigh(c, f, err));
    ODB_TRY(tolerated_values(c, f, err));
    for (size_t n = 0; n < c->graph->n_nodes; n++) {
        const struct odb_node *node = &c->graph->nodes[n];
        for (int o = 0; o < node->n_out; o++) {
            int v = node->out[o];
            bool off = v >= 0 && reference_off(f, v);
            if (v < 0 || !(f->values[v].culprit || off) || f->exchanged[v] != ODB_NO_VALUE)
                continue;
            struct odb_culprit *culprit = findings_accuse(f, (int)n, v, findings_kind(f, v));
            if (off)
                reference_blame(c, f, culprit);
            break;
        }
    }
    return ODB_OK;
}

/* --- what it will cost ------------------------------------------------------------------------ */

/* Loads of one run that reads everything. */
static size_t plan_probed_pieces(const struct search_case *c)
{
    int *list = odb_new_n(int, c->graph->n_values);
    size_t pieces = odb_probe_pieces(c->prober, list, reading_list(c, list));
    free(list);
    return pieces;
}

/* Says, and tells whoever looks on, what the search will have cost when it has gone this way: as
 * the plain run and what was spent so far let one think. */
static void plan_forecast(const struct search_case *c, struct findings *f,
                          enum odb_strategy strategy, size_t batches)
{
    static const char *const names[] = {
#define PLAN_STRATEGY(name, text, help) [ODB_STRATEGY_##name] = text,
        ODB_STRATEGY_LIST(PLAN_STRATEGY)
#undef PLAN_STRATEGY
    };
    size_t n = c->graph->n_nodes, bad = f->diverge;
    size_t pieces = odb_probe_pieces(c->prober, c->outputs, c->n_outputs);
    double one = f->kept->load + f->kept->run, whole = 0, parts = 0, replay = c->trace->seconds;
    switch (strategy) {
    case ODB_STRATEGY_AUTO:
    case ODB_STRATEGY_BLAME:
    case ODB_STRATEGY_PROBED:
        whole = (double)(batches * plan_probed_pieces(c));
        break;
    case ODB_STRATEGY_PREFIX:
    case ODB_STRATEGY_SUFFIX:
        parts = (double)(bad * (odb_search_loads(n) + 1) * ((pieces + 1) / 2));
        replay = 0;
        break;
    case ODB_STRATEGY_LINEAR:
        parts = (double)(bad * (n / linear_step(c, n) + linear_step(c, n)) * ((pieces + 1) / 2));
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
    findings_expect(f, names[strategy], loads, replay + one * (whole + parts / 2));
}

/* A step that costs nothing: which way it goes from here, and why. */
static void plan_turn(const struct search_case *c, struct findings *f, enum odb_strategy strategy,
                      size_t batches, const char *why, ...) ODB_PRINTF(5, 6);
static void plan_turn(const struct search_case *c, struct findings *f, enum odb_strategy strategy,
                      size_t batches, const char *why, ...)
{
    char line[300];
    va_list args;
    va_start(args, why);
    odb_text_vfit(line, sizeof line, why, args);
    va_end(args);
    plan_forecast(c, f, strategy, batches);
    findings_step_turn(f, "choose", "%s: %s", f->report->forecast.strategy, line);
}

/* --- ways to search --------------------------------------------------------------------------- */

typedef enum odb_status plan_hunter(const struct search_case *c, struct findings *f, int value,
                                    struct odb_error *err);

/* Searches for every wrong output that nobody explains yet, the worst first, and then for what else
 * was found to be wrong. */
static enum odb_status plan_hunt_all(const struct search_case *c, struct findings *f,
                                     plan_hunter *hunt, struct odb_error *err)
{
    decided_excuse_outputs(c, f);
    bool *tried = odb_new_n(bool, c->n_outputs);
    enum odb_status status = overflow_look(c, f, err);
    while (status == ODB_OK) {
        int worst = -1;
        for (size_t o = 0; o < c->n_outputs; o++) {
            if (tried[o] || !odb_verdict_is_bad(f->verdicts[o].verdict))
                continue;
            if (worst < 0 || f->verdicts[o].error.v > f->verdicts[worst].error.v)
                worst = (int)o;
        }
        if (worst < 0)
            break;
        tried[worst] = true;
        if (!findings_explain(f, c->outputs[worst]))
            status = hunt(c, f, c->outputs[worst], err);
    }
    for (size_t i = 0; i < f->others.n && status == ODB_OK; i++) /* met on the way */
        if (!findings_explain(f, f->others.items[i]))
            status = hunt(c, f, f->others.items[i], err);
    free(tried);
    return status;
}

static bool plan_unexplained(const struct search_case *c, const struct findings *f)
{
    for (size_t o = 0; o < c->n_outputs; o++)
        if (odb_verdict_is_bad(f->verdicts[o].verdict) && !findings_explain(f, c->outputs[o]))
            return true;
    return false;
}

/* Reading moved the bits of a wrong output by so much that a part of its error may have been hidden
 * from whoever looked. */
static bool plan_doubtful(const struct search_case *c, const struct findings *f)
{
    const struct odb_observer *seen = &f->report->observer;
    const struct odb_value_report *output = &f->values[seen->output];
    return seen->moved && odb_verdict_is_bad(output->verdict) && output->error.known &&
           output->noise.known && seen->by > c->options->tolerance.v[0] * output->noise.v &&
           4 * seen->by > output->error.v;
}

/* Reads everything as far as that goes, and names whom the evidence accuses. */
static enum odb_status plan_look(const struct search_case *c, struct findings *f,
                                 struct odb_error *err)
{
    ODB_TRY(probed_values(c, f, err));
    if (f->hidden) /* or is it chance? */
        ODB_TRY(repeat_doubt(c, f, err));
    if (f->judged)
        ODB_TRY(plan_blame(c, f, err));
    if (f->judged || f->hidden)
        decided_excuse_outputs(c, f);
    if (f->probed && plan_doubtful(c, f) && plan_unexplained(c, f)) {
        plan_turn(c, f, ODB_STRATEGY_PREFIX, 0,
                  "reading values moved an output by %.3g, as much as its error",
                  f->report->observer.by);
        ODB_TRY(plan_hunt_all(c, f, hunt_value, err));
    }
    ODB_TRY(overflow_look(c, f, err));
    for (size_t o = 0; o < c->n_outputs && f->probed; o++)
        if (odb_verdict_is_bad(f->verdicts[o].verdict) && !findings_explain(f, c->outputs[o]))
            plan_accumulated(c, f, c->outputs[o]);
    return ODB_OK;
}

/* In pieces there are as many outputs as borders. Whether searching for each wrong one by itself
 * takes more loads than asking for every node. */
static bool plan_many_ends(const struct search_case *c, const struct findings *f)
{
    const struct odb_pieces *pieces = &f->report->pieces;
    size_t bad = 0;
    for (size_t o = 0; o < c->n_outputs; o++)
        bad += odb_verdict_is_bad(f->verdicts[o].verdict) && !findings_explain(f, c->outputs[o]);
    return pieces->refused.n &&
           bad * (odb_search_loads(c->graph->n_nodes) + 1) > c->graph->n_nodes - pieces->refused.n;
}

static enum odb_status plan_auto(const struct search_case *c, struct findings *f,
                                 struct odb_error *err)
{
    size_t bytes, batches = reading_batches(c, f, &bytes), n = c->graph->n_nodes;
    double mib = (double)bytes / (1 << 20);
    if (batches == 1) {
        plan_turn(c, f, ODB_STRATEGY_BLAME, 1, "all values at once are %.3g MiB", mib);
    } else if (f->diverge && batches > 2 * odb_search_loads(n) + 4) {
        plan_turn(c, f, ODB_STRATEGY_PREFIX, 0,
                  "all values are %.3g MiB, which would take %zu runs within %.3g MiB of memory",
                  mib, batches, (double)f->memory / (1 << 20));
        return plan_hunt_all(c, f, hunt_value, err);
    } else {
        plan_turn(c, f, ODB_STRATEGY_PROBED, batches,
                  "all values are %.3g MiB, so %zu batches within %.3g MiB of memory", mib, batches,
                  (double)f->memory / (1 << 20));
    }
    ODB_TRY(plan_look(c, f, err));
    if (!f->probed && plan_many_ends(c, f)) {
        plan_turn(c, f, ODB_STRATEGY_ISOLATED, 0, "the model runs in pieces, and many end wrong");
        ODB_TRY(isolated_all(c, f, err));
    }
    if (f->probed || !plan_unexplained(c, f))
        return ODB_OK;
    plan_turn(c, f, f->hidden ? ODB_STRATEGY_SUFFIX : ODB_STRATEGY_PREFIX, 0,
              f->hidden ? "reading values changes the answer, so nothing but an output is read"
                        : "values cannot be read, so nothing but the cut is read");
    return plan_hunt_all(c, f, f->hidden ? suffix_hunt : hunt_value, err);
}

static enum odb_status plan_by_strategy(const struct search_case *c, struct findings *f,
                                        enum odb_strategy strategy, struct odb_error *err)
{
    switch (strategy) {
    case ODB_STRATEGY_AUTO:
        return plan_auto(c, f, err);
    case ODB_STRATEGY_EACH:
        return hunt_each(c, f, err);
    case ODB_STRATEGY_ISOLATED:
        return isolated_all(c, f, err);
    case ODB_STRATEGY_PREFIX:
        return plan_hunt_all(c, f, hunt_value, err);
    case ODB_STRATEGY_SUFFIX:
        return plan_hunt_all(c, f, suffix_hunt, err);
    case ODB_STRATEGY_LINEAR:
        return plan_hunt_all(c, f, linear_hunt, err);
    case ODB_STRATEGY_BLAME:
    case ODB_STRATEGY_PROBED:
        break;
    }
    ODB_TRY(plan_look(c, f, err));
    if (!f->probed && plan_unexplained(c, f))
        findings_warn(f, "blame needs a probed run that reproduces the plain one; use "
                         "--strategy auto or prefix");
    return ODB_OK;
}

static uint64_t plan_budget(const struct search_case *c)
{
    bool all = c->options->strategy == ODB_STRATEGY_BLAME || odb_probe_in_pieces(c->prober);
    return all ? UINT64_MAX : odb_memory_budget(c->options->hooks.budget).values;
}

void plan_ahead(const struct search_case *c, struct findings *f)
{
    enum odb_strategy strategy = c->options->strategy;
    bool reads = strategy == ODB_STRATEGY_AUTO || strategy == ODB_STRATEGY_BLAME ||
                 strategy == ODB_STRATEGY_PROBED;
    size_t bytes;
    if (!reads || odb_pool_workers(c->pool) == 1)
        return;
    f->memory = plan_budget(c);
    if (reading_batches(c, f, &bytes) == 1)
        probed_begin(c, f);
}

enum odb_status plan_search(const struct search_case *c, struct findings *f, struct odb_error *err)
{
    enum odb_strategy strategy = c->options->strategy;
    size_t bytes;
    f->memory = plan_budget(c);
    if (strategy != ODB_STRATEGY_AUTO)
        plan_turn(c, f, strategy, reading_batches(c, f, &bytes), "asked for");
    ODB_TRY(plan_by_strategy(c, f, strategy, err));
    return overflow_look(c, f, err); /* of what nobody looked into */
}
