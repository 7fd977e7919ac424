/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sweep/over.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/bisect_options.h"
#include "probe/probe.h"
#include "reference/trace.h"
#include "run/hooks.h"
#include "sweep/over_int.h"

/* --- levels ----------------------------------------------------------------------------------- */

static enum odb_status over_level(void *payload, size_t level, enum odb_answer *answer,
                                  struct odb_error *err)
{
    struct over *o = payload;
    odb_hooks_progress(&o->options->hooks, "option search", ODB_NO_NODE, o->out->runs.n,
                       o->what->parts.n);
    return over_run_take(o, odb_xstrdup(o->what->parts.items[level]), NULL, answer, err);
}

/* In a list, one target may refuse what only another runs: all are asked before one is believed. */
static enum odb_status over_ask_list(struct over *o, struct odb_error *err)
{
    enum odb_answer ignored;
    for (size_t i = 0; i < o->what->parts.n; i++)
        ODB_TRY(over_level(o, i, &ignored, err));
    return over_weigh_refusals(o, err);
}

static enum odb_status over_search_levels(struct over *o, struct odb_error *err)
{
    size_t n = o->what->parts.n;
    struct odb_over_level *levels = odb_new_n(struct odb_over_level, n + 1);
    struct odb_over_change change;
    bool list = o->what->kind == ODB_OVER_LIST;
    enum odb_status status = list ? over_ask_list(o, err) : ODB_OK;
    if (status == ODB_OK)
        status = odb_over_levels(levels, n, list, &change, over_level, o, err);
    free(levels);
    if (status == ODB_OK)
        status = over_weigh_refusals(o, err);
    if (status == ODB_OK)
        over_tell_levels(o, &change);
    return status;
}

/* --- sets ------------------------------------------------------------------------------------- */

/* What all of them together show is what is searched: another failure says nothing of it. */
static enum odb_status over_subset(void *payload, const bool *on, enum odb_answer *answer,
                                   struct odb_error *err)
{
    struct over *o = payload;
    char *spec = odb_over_spec(o->what, on);
    odb_hooks_progress(&o->options->hooks, "option search", ODB_NO_NODE, o->out->runs.n, 0);
    enum odb_status status = over_run_take(o, odb_xstrdup(spec), over_label(o, on), answer, err);
    const struct odb_over_run *run = over_find(o, spec);
    bool all = odb_count_marks(on, o->what->parts.n) == o->what->parts.n;
    if (status == ODB_OK && all && odb_verdict_is_bad(run->verdict))
        o->sought = run->verdict;
    free(spec);
    return status;
}

/* Where it is refused without any of them, what all together do says whether that is a fault. */
static enum odb_status over_ask_all(struct over *o, struct odb_error *err)
{
    enum odb_answer ignored;
    size_t n = o->what->parts.n;
    bool *on = odb_new_n(bool, n + 1);
    for (size_t i = 0; i < n; i++)
        on[i] = true;
    char *all = odb_over_spec(o->what, on);
    enum odb_status status = over_run_take(o, all, over_label(o, on), &ignored, err);
    free(on);
    return status;
}

static enum odb_status over_search_set(struct over *o, struct odb_error *err)
{
    bool *on = odb_new_n(bool, o->what->parts.n + 1);
    enum odb_over_outcome outcome;
    enum odb_status status = odb_over_smallest(on, o->what->parts.n, &outcome, over_subset, o, err);
    if (status == ODB_OK && outcome == ODB_OVER_ALWAYS &&
        o->out->runs.items[0].verdict == ODB_VERDICT_REFUSED)
        status = over_ask_all(o, err);
    if (status == ODB_OK)
        status = over_weigh_refusals(o, err);
    if (status == ODB_OK)
        status = over_tell_set(o, on, outcome, err);
    free(on);
    return status;
}

/* --- all of it -------------------------------------------------------------------------------- */

/* No spec shows anything: those that could be opened all refuse the model, or what they do was said
 * by the last. */
static enum odb_status over_check_tested(const struct over *o, struct odb_error *err)
{
    const struct odb_over_run *last = NULL, *refusal = NULL;
    bool all = true;
    for (size_t i = 0; i < o->out->runs.n; i++) {
        const struct odb_over_run *run = &o->out->runs.items[i];
        bool refused = run->opened && odb_probe_refused(run->status);
        if (run->verdict == ODB_VERDICT_PASS || odb_verdict_is_bad(run->verdict))
            return ODB_OK;
        all = all && (refused || !run->opened);
        refusal = refused ? run : refusal;
        last = run->status != ODB_OK ? run : last;
    }
    if (!last)
        return odb_fail(err, ODB_E_EXECUTOR,
                        "none of the specs can be tested: no output is judged");
    bool rejected = refusal && all;
    last = rejected ? refusal : last;
    if (err)
        *err = last->why;
    return odb_fail(err, ODB_E_EXECUTOR,
                    rejected ? "rejected: every spec refuses the model: %.300s"
                             : "none of the specs can be tested: %.300s",
                    last->why.what);
}

enum odb_status odb_over_search(struct odb_over_found *out, const struct odb_over *over,
                                const struct odb_model *model, const struct odb_feeds *feeds,
                                const struct odb_bisect_options *options, struct odb_error *err)
{
    const struct odb_graph *graph = model->graph;
    struct over o = {.what = over,
                     .model = model,
                     .feeds = feeds,
                     .options = options,
                     .out = out,
                     .outputs = odb_new_n(int, graph->n_outputs + 1),
                     .sought = ODB_VERDICT_PASS};
    *out = (struct odb_over_found){0};
    for (size_t i = 0; i < graph->n_outputs; i++)
        if (graph->values[graph->outputs[i]].producer != ODB_NO_NODE &&
            !odb_trace_drawn(options->trace, graph->outputs[i]))
            o.outputs[o.n_outputs++] = graph->outputs[i];
    odb_hooks_phase(&options->hooks, "option search", over->parts.n);
    bool set = over->kind == ODB_OVER_SET || over->kind == ODB_OVER_OPTIMIZERS;
    enum odb_status status = set ? over_search_set(&o, err) : over_search_levels(&o, err);
    if (status == ODB_OK)
        status = over_check_tested(&o, err);
    free(o.outputs);
    return status;
}

void odb_over_found_dispose(struct odb_over_found *found)
{
    for (size_t i = 0; i < found->runs.n; i++) {
        free(found->runs.items[i].spec);
        free(found->runs.items[i].label);
        free(found->runs.items[i].version);
    }
    free(found->runs.items);
    free(found->target);
    free(found->text);
    free(found->good);
    free(found->bad);
}
