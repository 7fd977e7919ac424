/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/stops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/hooks.h"

/* A stretch of the walk, and the list as it was when it began: the screen may change that. */
struct stops {
    struct odb_session *session;
    struct odb_walk *walk;
    bool main;
    struct odb_kept_list list; /* owned; counts are changed here first */
    int64_t *ignored;          /* owned; by item: how much of ignore was used up */
    int64_t *hits;             /* owned; by item: new ones */
};

static bool stops_counts(const struct stops *s, const struct odb_kept *kept, int node, bool values)
{
    bool stop = kept->kind == ODB_KEPT_BREAK || kept->kind == ODB_KEPT_WATCH;
    return stop && !kept->disabled && (kept->condition != NULL) == values &&
           odb_kept_is_at(kept, s->walk->model->graph, node, s->main);
}

/* Whether an item that is come to stops the walk: not as often as it is to be ignored. */
static bool stops_hit(struct stops *s, size_t item)
{
    s->hits[item]++;
    if (s->list.items.items[item].ignore <= s->ignored[item])
        return true;
    s->ignored[item]++;
    return false;
}

/* The first item that stops before a node, counting all that are there; -1: none. */
static int stops_before(struct stops *s, int node)
{
    int found = -1;
    for (size_t i = 0; i < s->list.items.n; i++)
        if (stops_counts(s, &s->list.items.items[i], node, false) && stops_hit(s, i) && found < 0)
            found = (int)i;
    return found;
}

/* The next node that the walk must halt before. Counts nothing for good. */
static int stops_limit(struct stops *s, int from, int bound)
{
    int64_t *ignored = odb_xmemdup(s->ignored, (s->list.items.n + 1) * sizeof *ignored);
    int64_t *hits = odb_xmemdup(s->hits, (s->list.items.n + 1) * sizeof *hits);
    while (from < bound && stops_before(s, from) < 0)
        from++;
    free(s->ignored);
    free(s->hits);
    s->ignored = ignored;
    s->hits = hits;
    return from;
}

/* --- values ----------------------------------------------------------------------------------- */

static bool stops_holds(const struct stops *s, const struct odb_kept *kept, int value)
{
    const struct odb_walk *walk = s->walk;
    const struct odb_value *v = &walk->model->graph->values[value];
    bool made = v->producer != ODB_NO_NODE;
    const struct odb_tensor *reference = odb_trace_value(walk->trace, value);
    struct odb_condition_facts facts = {made ? &walk->values[value] : NULL,
                                        made ? walk->given[value] : reference, reference};
    return odb_condition_holds(kept->condition, &facts);
}

/* A breakpoint asks the values of its node; a watchpoint looks for where its condition becomes
 * true, so that it does not stop at all that follows from there. */
static bool stops_fulfilled(const struct stops *s, const struct odb_kept *kept, int node)
{
    const struct odb_node *n = &s->walk->model->graph->nodes[node];
    bool holds = false;
    for (int o = 0; o < n->n_out && !holds; o++)
        if (n->out[o] >= 0 && (!s->main || kept->value < 0 || kept->value == n->out[o]))
            holds = stops_holds(s, kept, n->out[o]);
    for (int i = 0; kept->kind == ODB_KEPT_WATCH && i < n->n_in && holds; i++)
        holds = n->in[i] < 0 || !stops_holds(s, kept, n->in[i]);
    return holds;
}

static int stops_after(struct stops *s, int node)
{
    int found = -1;
    for (size_t i = 0; i < s->list.items.n; i++) {
        const struct odb_kept *kept = &s->list.items.items[i];
        if (stops_counts(s, kept, node, true) && stops_fulfilled(s, kept, node) &&
            stops_hit(s, i) && found < 0)
            found = (int)i;
    }
    return found;
}

/* --- walking ---------------------------------------------------------------------------------- */

static void stops_tell(const struct stops *s, int item, int node, struct odb_stop *stop)
{
    const struct odb_kept *kept = &s->list.items.items[item];
    *stop = (struct odb_stop){.number = kept->number, .kind = kept->kind, .node = node};
    snprintf(stop->text, sizeof stop->text, "%s", kept->text);
}

/* What was run is looked at in order. */
static enum odb_status stops_look(struct stops *s, int from, int bound, bool standing,
                                  const struct odb_search_hooks *hooks, struct odb_stop *stop,
                                  struct odb_error *err)
{
    for (int n = from; n < s->walk->at; n++) {
        ODB_TRY(odb_hooks_cancelled(hooks, err));
        if (n > from || !standing)
            stops_before(s, n); /* it is ignored, else the stretch had ended here */
        int item = stops_after(s, n);
        if (item < 0)
            continue;
        odb_walk_back(s->walk, n + 1);
        stops_tell(s, item, n, stop);
        return ODB_OK;
    }
    int item = s->walk->at < bound ? stops_before(s, s->walk->at) : -1;
    if (item >= 0)
        stops_tell(s, item, ODB_NO_NODE, stop);
    return ODB_OK;
}

/* Counts go from the copy into the session's list, as far as that still has the items. */
static enum odb_status stops_keep(const struct stops *s, const struct odb_stop *stop,
                                  struct odb_error *err)
{
    bool changed = false;
    odb_session_lock(s->session);
    for (size_t i = 0; i < s->list.items.n; i++) {
        const struct odb_kept *was = &s->list.items.items[i];
        struct odb_kept *now =
            s->hits[i] ? odb_kept_find(&s->session->kept, was->kind, was->number) : NULL;
        if (!now)
            continue;
        changed = true;
        now->hits += s->hits[i];
        now->ignore = ODB_MAX(now->ignore - s->ignored[i], 0);
        if (now->once && stop->number == now->number)
            odb_kept_remove(&s->session->kept, (size_t)(now - s->session->kept.items.items));
    }
    odb_session_unlock(s->session);
    return changed ? odb_session_kept_changed(s->session, err) : ODB_OK;
}

enum odb_status odb_stops_walk(struct odb_session *session, int bound, bool standing,
                               const struct odb_search_hooks *hooks, struct odb_stop *stop,
                               struct odb_error *err)
{
    struct odb_inside *inside = session->inside;
    struct stops s = {
        .session = session, .walk = inside ? inside->walk : session->walk, .main = !inside};
    int from = s.walk->at;
    *stop = (struct odb_stop){.node = ODB_NO_NODE};
    odb_session_lock(session);
    odb_kept_list_copy(&s.list, &session->kept, session->model->graph);
    odb_session_unlock(session);
    s.ignored = odb_new_n(int64_t, s.list.items.n + 1);
    s.hits = odb_new_n(int64_t, s.list.items.n + 1);
    int limit = ODB_MIN(stops_limit(&s, from + standing, bound), bound);
    enum odb_status status = inside ? odb_inside_walk_to(inside, limit, hooks, err)
                                    : odb_walk_to(s.walk, limit, hooks, err);
    if (status == ODB_OK)
        status = stops_look(&s, from, bound, standing, hooks, stop, err);
    if (status == ODB_OK)
        status = stops_keep(&s, stop, err);
    odb_kept_list_dispose(&s.list);
    free(s.ignored);
    free(s.hits);
    return status;
}
