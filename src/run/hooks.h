/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reporting to the caller's hooks, and asking them whether to stop.
 */
#ifndef ODB_RUN_HOOKS_H
#define ODB_RUN_HOOKS_H

#include "base/error.h"
#include "run/probe_kind.h"
#include "run/budget.h"
#include "executor/executor.h"
#include "run/value_report.h"
#include "model/model.h"

/* What happens while a search runs, for progress, for the journal and for a screen. Every probe is
 * announced before it is tried and reported after, with what it showed: pass, how the first wrong
 * value is wrong, how the target failed, or untested when it was cancelled. A phase may be
 * announced again, when another one was in its middle. A value may be reported more than once, with
 * more numbers or on better evidence. All pointers are borrowed for the call. */
struct odb_search_event {
    enum odb_event_kind {
        ODB_EVENT_PHASE,
        ODB_EVENT_PROBE_BEGIN,
        ODB_EVENT_PROBE_END,
        ODB_EVENT_PROGRESS,
        ODB_EVENT_VALUE,
        ODB_EVENT_FORECAST,
        ODB_EVENT_SUSPECTS
    } what;
    const char *text; /* PHASE, PROGRESS: "golden"; PROBE: "prefix up to #12 Conv conv1"; VALUE: its
                         name; FORECAST: the strategy; SUSPECTS: ""; never NULL */
    int node;         /* PROBE: the cut's; PROGRESS: done last; VALUE: that makes it;
                         SUSPECTS: the first; or ODB_NO_NODE */
    enum odb_verdict verdict; /* PROBE_END, VALUE */
    size_t done, total;       /* PROGRESS, PHASE: of this phase; total 0: unknown */
    int last;                 /* SUSPECTS: the last */
    size_t remaining;         /* PROBE, SUSPECTS: that are left; 0: this is no search among them */
    size_t loads, runs;       /* PROBE_END: of the target, for this probe; FORECAST: in all */
    const struct odb_probe_kind_facts *asked; /* PROBE_BEGIN; NULL: not told */
    const struct odb_all_seen *compared;      /* PROBE_END; NULL: not told */
    const struct odb_times *times; /* PROBE_END: how long nodes took, as far as the target tells; of
                                      indices and numbers that it made up; NULL: not told */
    const char *failure;           /* PROBE_END: why there is no answer; NULL: there is one */
    double seconds;                /* PROBE_END; FORECAST: of the whole search */
    int value;                     /* VALUE: index in the main graph */
    const struct odb_value_report *report; /* VALUE: all that is known of it by now */
};

struct odb_search_hooks {
    void (*event)(void *payload, const struct odb_search_event *event); /* may be NULL */
    bool (*cancelled)(void *payload); /* may be NULL; asked by several threads at once */
    void *payload;
    struct odb_budget *budget; /* borrowed; NULL: as much as it takes */
};

/* The same for work within another phase, which is not told of. */
static inline struct odb_search_hooks odb_hooks_quiet(const struct odb_search_hooks *hooks)
{
    return (struct odb_search_hooks){
        .cancelled = hooks->cancelled, .payload = hooks->payload, .budget = hooks->budget};
}

static inline void odb_hooks_tell(const struct odb_search_hooks *hooks,
                                  struct odb_search_event event)
{
    if (hooks->event)
        hooks->event(hooks->payload, &event);
}

/* The same hooks for a search within: its own functions, with the budget of all. */
static inline struct odb_search_hooks
odb_hooks_within(const struct odb_search_hooks *hooks,
                 void (*event)(void *payload, const struct odb_search_event *event),
                 bool (*cancelled)(void *payload), void *payload)
{
    return (struct odb_search_hooks){event, cancelled, payload, hooks->budget};
}

/* A phase begins. total: of its steps; 0: not known. */
static inline void odb_hooks_phase(const struct odb_search_hooks *hooks, const char *phase,
                                   size_t total)
{
    odb_hooks_tell(
        hooks, (struct odb_search_event){
                   .what = ODB_EVENT_PHASE, .text = phase, .node = ODB_NO_NODE, .total = total});
}

/* Steps of a phase are done; node: the last of them is about, or ODB_NO_NODE. */
static inline void odb_hooks_progress(const struct odb_search_hooks *hooks, const char *phase,
                                      int node, size_t done, size_t total)
{
    odb_hooks_tell(
        hooks,
        (struct odb_search_event){
            .what = ODB_EVENT_PROGRESS, .text = phase, .node = node, .done = done, .total = total});
}

/* A value of the main graph has its verdict, or more numbers. */
static inline void odb_hooks_value(const struct odb_search_hooks *hooks,
                                   const struct odb_graph *graph, int value,
                                   const struct odb_value_report *report)
{
    odb_hooks_tell(hooks, (struct odb_search_event){.what = ODB_EVENT_VALUE,
                                                    .text = graph->values[value].name,
                                                    .node = graph->values[value].producer,
                                                    .verdict = report->verdict,
                                                    .value = value,
                                                    .report = report});
}

static inline enum odb_status odb_hooks_cancelled(const struct odb_search_hooks *hooks,
                                                  struct odb_error *err)
{
    if (hooks->cancelled && hooks->cancelled(hooks->payload))
        return odb_fail(err, ODB_CANCELLED, "cancelled");
    return ODB_OK;
}

#endif
