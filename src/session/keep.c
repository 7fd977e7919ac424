/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The session's list of what the user has put down: changed under the lock, written to the session
 * file without it, and told per node, because a screen asks for every node in every frame. What the
 * file does not take is not kept: the list is what it was. From beginning to end of a change no
 * other thread has the store, so what is written last is what was put down last, whoever did.
 */
#include <stdlib.h>
#include <string.h>

#include "session/session.h"
#include "session/store_int.h"

/* Caller holds the lock. */
static void keep_tag(struct odb_session *session, const struct odb_kept *kept)
{
    static const unsigned char tags[ODB_KEPT_COUNT] = {[ODB_KEPT_PIN] = ODB_TAG_PIN,
                                                       [ODB_KEPT_MARK] = ODB_TAG_MARK,
                                                       [ODB_KEPT_NOTE] = ODB_TAG_NOTE};
    const struct odb_graph *graph = session->model->graph;
    int node = kept->n_way ? kept->way[0].node : kept->node; /* whose body it is in */
    if (tags[kept->kind] && node != ODB_NO_NODE)
        session->tags[node] |= tags[kept->kind];
    if (kept->kind != ODB_KEPT_BREAK || kept->disabled)
        return;
    for (size_t i = 0; i < graph->n_nodes; i++)
        session->breaks[i] |= odb_kept_is_at(kept, graph, (int)i, NULL);
}

static void keep_tag_all(struct odb_session *session)
{
    size_t n = session->model->graph->n_nodes;
    memset(session->breaks, 0, n * sizeof *session->breaks);
    memset(session->tags, 0, n * sizeof *session->tags);
    for (size_t i = 0; i < session->kept.items.n; i++)
        keep_tag(session, &session->kept.items.items[i]);
}

void odb_session_keep_begin(struct odb_session *session, struct odb_kept_change *change)
{
    change->held = odb_store__hold(session->store);
    odb_session_lock(session);
    odb_kept_list_copy(&change->before, &session->kept, session->model->graph);
}

enum odb_status odb_session_keep_end(struct odb_session *session, struct odb_kept_change *change,
                                     enum odb_status status, struct odb_error *err)
{
    struct odb_kept_list copy;
    odb_kept_list_copy(&copy, &session->kept, session->model->graph);
    odb_session_unlock(session);
    if (status == ODB_OK && session->store)
        status = odb_store_put_kept(session->store, &copy, err);
    odb_kept_list_dispose(&copy);
    odb_session_lock(session);
    if (status != ODB_OK) {
        copy = session->kept;
        session->kept = change->before;
        change->before = copy;
    }
    keep_tag_all(session);
    odb_session_unlock(session);
    odb_store__release(&change->held);
    odb_kept_list_dispose(&change->before);
    odb_session_wake(session);
    return status;
}

enum odb_status odb_session_keep(struct odb_session *session, const struct odb_kept *what,
                                 int *number, struct odb_error *err)
{
    struct odb_kept_change change;
    odb_session_keep_begin(session, &change);
    enum odb_status status = odb_kept_add(&session->kept, what, session->model->graph, number, err);
    return odb_session_keep_end(session, &change, status, err);
}

/* Caller holds the lock. */
static enum odb_status keep_at(struct odb_session *session, const struct odb_kept *what,
                               bool remove, bool *had, struct odb_error *err)
{
    const struct odb_graph *graph = session->model->graph;
    struct odb_kept_list one = {0}, *list = &session->kept;
    ODB_TRY(odb_kept_add(&one, what, graph, NULL, err));
    *had = false;
    for (size_t i = list->items.n; i > 0; i--)
        if (odb_kept_same_place(&list->items.items[i - 1], &one.items.items[0])) {
            odb_kept_remove(list, i - 1);
            *had = true;
        }
    odb_kept_list_dispose(&one);
    return remove ? ODB_OK : odb_kept_add(list, what, graph, NULL, err);
}

enum odb_status odb_session_keep_at(struct odb_session *session, const struct odb_kept *what,
                                    bool remove, bool *had, struct odb_error *err)
{
    struct odb_kept_change change;
    bool any;
    odb_session_keep_begin(session, &change);
    enum odb_status status = keep_at(session, what, remove, had ? had : &any, err);
    return odb_session_keep_end(session, &change, status, err);
}

enum odb_status odb_session_keep_list_take(struct odb_session *session, struct odb_kept_list *list,
                                           struct odb_error *err)
{
    struct odb_kept_change change;
    odb_session_keep_begin(session, &change);
    int pinned = odb_session__pins_differ(session, &session->kept, list);
    odb_kept_list_count_on(list, &session->kept);
    odb_kept_list_dispose(&session->kept);
    session->kept = *list;
    *list = (struct odb_kept_list){0};
    ODB_TRY(odb_session_keep_end(session, &change, ODB_OK, err));
    if (pinned != ODB_NO_NODE)
        odb_session__repin(session, pinned);
    return ODB_OK;
}

enum odb_status odb_session_kept_restore(struct odb_session *session, struct odb_error *err)
{
    ODB_TRY(odb_store_read_kept(session->store, &session->kept, err));
    keep_tag_all(session);
    return ODB_OK;
}
