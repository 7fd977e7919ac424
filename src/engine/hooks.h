/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Telling whoever looks on, and asking whether to stop.
 */
#ifndef ODB_ENGINE_HOOKS_H
#define ODB_ENGINE_HOOKS_H

#include "engine/bisect.h"

static inline void odb_hooks_tell(const struct odb_search_hooks *hooks,
                                  struct odb_search_event event)
{
    if (hooks->event)
        hooks->event(hooks->payload, &event);
}

/* The same hooks for a search within: as it wants to be told, with the budget of all. */
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
