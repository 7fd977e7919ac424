/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/walk/stops.h"

#include <stdio.h>
#include <stdlib.h>

#include "run/hooks.h"
#include "session/session_state.h"

/* A stretch of the walk, and the list as it was when it began: the screen may change that. */
struct stops {
    struct odb_session *session;
    struct odb_walk *walk;
    const struct odb_inside *inside; /* NULL: the main graph */
    int whole;                       /* a node whose bodies are not to be looked into */
    struct odb_annotation_list list; /* owned; counts are changed here first */
    int64_t *ignored;                /* owned; by item: how much of ignore was used up */
    int64_t *hits;                   /* owned; by item: new ones */
};

static bool stops_counts(const struct stops *s, const struct odb_annotation *annotation, int node,
                         bool values)
{
    bool stop =
        annotation->kind == ODB_ANNOTATION_BREAK || annotation->kind == ODB_ANNOTATION_WATCH;
    return stop && !annotation->disabled && (annotation->condition != NULL) == values &&
           odb_annotation_is_at(annotation, s->walk->model->graph, node, s->inside);
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

static bool stops_holds(const struct stops *s, const struct odb_annotation *annotation, int value)
{
    const struct odb_walk *walk = s->walk;
    const struct odb_value *v = &walk->model->graph->values[value];
    bool made = v->producer != ODB_NO_NODE;
    const struct odb_tensor *reference = odb_trace_value(walk->trace, value);
    const long *step = &s->session->feeds->step;
    struct odb_condition_facts facts = {.report = made ? &walk->values[value] : NULL,
                                        .target = made ? walk->given[value] : reference,
                                        .reference = reference,
                                        .step = *step == ODB_NO_STEP ? NULL : step};
    return odb_condition_holds(annotation->condition, &facts);
}

/* A breakpoint asks the values of its node; a watchpoint looks for where its condition becomes
 * true, so that it does not stop at all that follows from there. */
static bool stops_fulfilled(const struct stops *s, const struct odb_annotation *annotation,
                            int node)
{
    const struct odb_node *n = &s->walk->model->graph->nodes[node];
    bool holds = false;
    for (int o = 0; o < n->n_out && !holds; o++)
        if (n->out[o] >= 0 && odb_annotation_is_of(annotation, n, o))
            holds = stops_holds(s, annotation, n->out[o]);
    for (int i = 0; annotation->kind == ODB_ANNOTATION_WATCH && i < n->n_in && holds; i++)
        holds = n->in[i] < 0 || !stops_holds(s, annotation, n->in[i]);
    for (size_t i = 0; annotation->kind == ODB_ANNOTATION_WATCH && i < n->n_captured && holds; i++)
        holds = !stops_holds(s, annotation, n->captured[i]);
    return holds;
}

/* Whether a condition that is about any node holds behind one with bodies. */
static bool stops_looks(const struct stops *s, int node)
{
    bool looks = false;
    if (node == s->whole || !odb_node_has_body(&s->walk->model->graph->nodes[node]))
        return false;
    for (size_t i = 0; i < s->list.items.n && !looks; i++) {
        const struct odb_annotation *annotation = &s->list.items.items[i];
        looks = !annotation->place[0] && stops_counts(s, annotation, node, true) &&
                stops_fulfilled(s, annotation, node);
    }
    return looks;
}

static int stops_after(struct stops *s, int node)
{
    int found = -1;
    for (size_t i = 0; i < s->list.items.n; i++) {
        const struct odb_annotation *annotation = &s->list.items.items[i];
        if (stops_counts(s, annotation, node, true) && stops_fulfilled(s, annotation, node) &&
            stops_hit(s, i) && found < 0)
            found = (int)i;
    }
    return found;
}

/* --- walking ---------------------------------------------------------------------------------- */

static void stops_tell(const struct stops *s, int item, int node, struct odb_stop *stop)
{
    const struct odb_annotation *annotation = &s->list.items.items[item];
    *stop = (struct odb_stop){.number = annotation->number, .kind = annotation->kind, .node = node};
    snprintf(stop->text, sizeof stop->text, "%s", annotation->text);
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
        if (stops_looks(s, n)) {
            odb_walk_back(s->walk, n);
            stop->look = true;
            return ODB_OK;
        }
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
    struct odb_annotation_change change;
    bool any = false;
    for (size_t i = 0; i < s->list.items.n; i++)
        any |= s->hits[i] > 0;
    if (!any)
        return ODB_OK;
    odb_session_annotate_begin(s->session, &change);
    for (size_t i = 0; i < s->list.items.n; i++) {
        const struct odb_annotation *was = &s->list.items.items[i];
        struct odb_annotation *now =
            s->hits[i] ? odb_annotation_find(&s->session->annotations, was->kind, was->number)
                       : NULL;
        if (!now)
            continue;
        now->hits += s->hits[i];
        now->ignore = ODB_MAX(now->ignore - s->ignored[i], 0);
        if (now->once && stop->number == now->number)
            odb_annotation_remove(&s->session->annotations,
                                  (size_t)(now - s->session->annotations.items.items));
    }
    return odb_session_annotate_end(s->session, &change, ODB_OK, err);
}

static struct stops stops_begin(struct odb_session *session, int whole)
{
    const struct odb_inside *inside = session->inside;
    struct stops s = {.session = session,
                      .walk = inside ? inside->walk : session->walk,
                      .inside = inside,
                      .whole = whole};
    odb_session_lock(session);
    odb_annotation_list_copy(&s.list, &session->annotations, session->model->graph);
    odb_session_unlock(session);
    s.ignored = odb_new_n(int64_t, s.list.items.n + 1);
    s.hits = odb_new_n(int64_t, s.list.items.n + 1);
    return s;
}

static void stops_end(struct stops *s)
{
    odb_annotation_list_dispose(&s->list);
    free(s->ignored);
    free(s->hits);
}

enum odb_status odb_stops_walk(struct odb_session *session, int bound, bool standing, int whole,
                               const struct odb_search_hooks *hooks, struct odb_stop *stop,
                               struct odb_error *err)
{
    struct stops s = stops_begin(session, whole);
    int from = s.walk->at;
    *stop = (struct odb_stop){.node = ODB_NO_NODE};
    int limit = ODB_MIN(stops_limit(&s, from + standing, bound), bound);
    enum odb_status status = session->inside
                                 ? odb_inside_walk_to(session->inside, limit, hooks, err)
                                 : odb_walk_to(s.walk, limit, hooks, err);
    if (status == ODB_OK)
        status = stops_look(&s, from, bound, standing, hooks, stop, err);
    if (status == ODB_OK)
        status = stops_keep(&s, stop, err);
    stops_end(&s);
    return status;
}

enum odb_status odb_stops_here(struct odb_session *session, struct odb_stop *stop,
                               struct odb_error *err)
{
    struct stops s = stops_begin(session, ODB_NO_NODE);
    *stop = (struct odb_stop){.node = ODB_NO_NODE};
    int item = s.walk->at < (int)s.walk->model->graph->n_nodes ? stops_before(&s, s.walk->at) : -1;
    if (item >= 0)
        stops_tell(&s, item, ODB_NO_NODE, stop);
    enum odb_status status = stops_keep(&s, stop, err);
    stops_end(&s);
    return status;
}

bool odb_stops_may(struct odb_session *session, long step)
{
    const struct odb_condition_facts facts = {.step = &step};
    bool may = false;
    odb_session_lock(session);
    for (size_t i = 0; i < session->annotations.items.n; i++) {
        const struct odb_annotation *annotation = &session->annotations.items.items[i];
        bool stops =
            annotation->kind == ODB_ANNOTATION_BREAK || annotation->kind == ODB_ANNOTATION_WATCH;
        may |= stops && !annotation->disabled &&
               (!annotation->condition ||
                odb_condition_ask(annotation->condition, &facts) != ODB_FALSE);
    }
    odb_session_unlock(session);
    return may;
}

/* --- bodies ----------------------------------------------------------------------------------- */

/* The first turn from *turn on at which an enabled breakpoint is in the bodies of a node. */
static bool stops_below(const struct odb_session *session, const struct odb_graph *graph, int node,
                        const struct odb_inside *inside, int64_t *turn)
{
    bool any = false;
    int64_t first = INT64_MAX;
    if (!odb_node_has_body(&graph->nodes[node]))
        return false;
    odb_session_lock(session);
    for (size_t i = 0; i < session->annotations.items.n; i++) {
        const struct odb_annotation *annotation = &session->annotations.items.items[i];
        int64_t at = *turn;
        if (annotation->kind != ODB_ANNOTATION_BREAK || annotation->disabled ||
            !odb_annotation_is_below(annotation, graph, node, inside, &at))
            continue;
        any = true;
        first = ODB_MIN(first, at);
    }
    odb_session_unlock(session);
    if (any)
        *turn = first;
    return any;
}

int odb_stops_below(const struct odb_session *session, int bound, int whole, int64_t *turn)
{
    const struct odb_inside *inside = session->inside;
    const struct odb_walk *walk = inside ? inside->walk : session->walk;
    for (int node = walk->at; node < bound; node++) {
        *turn = 0;
        if (node != whole && stops_below(session, walk->model->graph, node, inside, turn))
            return node;
    }
    return ODB_NO_NODE;
}

bool odb_stops_later(const struct odb_session *session, bool all, int64_t *turn)
{
    const struct odb_inside *inside = session->inside;
    if (inside->turn == ODB_ANY_TURN)
        return false;
    *turn = inside->turn + 1;
    return all ||
           stops_below(session, inside->around->model->graph, inside->node, inside->outer, turn);
}

bool odb_stops_inside(const struct odb_session *session)
{
    const struct odb_inside *inside = session->inside;
    const struct odb_graph *graph = inside->walk->model->graph;
    bool any = false;
    for (size_t n = 0; n < graph->n_nodes && !any; n++) {
        int64_t turn = 0;
        any = stops_below(session, graph, (int)n, inside, &turn);
        odb_session_lock(session);
        for (size_t i = 0; i < session->annotations.items.n && !any; i++) {
            const struct odb_annotation *annotation = &session->annotations.items.items[i];
            any = annotation->kind == ODB_ANNOTATION_BREAK && !annotation->disabled &&
                  annotation->place[0] && odb_annotation_is_at(annotation, graph, (int)n, inside);
        }
        odb_session_unlock(session);
    }
    return any;
}
