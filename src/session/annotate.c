/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The session's list of what the user has put down: changed under the lock, written to the session
 * file without it, and looked up per node, because a screen asks for every node in every frame.
 * What the file does not take is not kept: the list is what it was. From beginning to end of a
 * change no other thread has the store, so what is written last is what was put down last,
 * whichever thread did it.
 */
#include <stdlib.h>
#include <string.h>

#include "session/session_state.h"
#include "session/store_int.h"

/* Caller holds the lock. */
static void annotate_tag(struct odb_session *session, const struct odb_annotation *annotation)
{
    static const unsigned char tags[ODB_ANNOTATION_COUNT] = {[ODB_ANNOTATION_PIN] = ODB_TAG_PIN,
                                                             [ODB_ANNOTATION_MARK] = ODB_TAG_MARK,
                                                             [ODB_ANNOTATION_NOTE] = ODB_TAG_NOTE};
    const struct odb_graph *graph = session->model->graph;
    int node =
        annotation->n_way ? annotation->way[0].node : annotation->node; /* whose body it is in */
    if (tags[annotation->kind] && node != ODB_NO_NODE)
        session->tags[node] |= tags[annotation->kind];
    if (annotation->kind != ODB_ANNOTATION_BREAK || annotation->disabled)
        return;
    for (size_t i = 0; i < graph->n_nodes; i++)
        session->breaks[i] |= odb_annotation_is_at(annotation, graph, (int)i, NULL);
}

static void annotate_tag_all(struct odb_session *session)
{
    size_t n = session->model->graph->n_nodes;
    memset(session->breaks, 0, n * sizeof *session->breaks);
    memset(session->tags, 0, n * sizeof *session->tags);
    for (size_t i = 0; i < session->annotations.items.n; i++)
        annotate_tag(session, &session->annotations.items.items[i]);
}

void odb_session_annotate_begin(struct odb_session *session, struct odb_annotation_change *change)
{
    change->held = odb_store__hold(session->store);
    odb_session_lock(session);
    odb_annotation_list_copy(&change->before, &session->annotations, session->model->graph);
}

enum odb_status odb_session_annotate_end(struct odb_session *session,
                                         struct odb_annotation_change *change,
                                         enum odb_status status, struct odb_error *err)
{
    struct odb_annotation_list copy;
    struct odb_error why = ODB_ERROR_INIT;
    odb_annotation_list_copy(&copy, &session->annotations, session->model->graph);
    odb_session_unlock(session);
    if (status == ODB_OK && session->store) {
        status = odb_store_put_annotations(session->store, &copy, &why);
        status = odb_session__wrote(session, status, &why);
        if (status != ODB_OK && err)
            *err = why;
    }
    odb_annotation_list_dispose(&copy);
    odb_session_lock(session);
    if (status != ODB_OK) {
        copy = session->annotations;
        session->annotations = change->before;
        change->before = copy;
    }
    annotate_tag_all(session);
    odb_session_unlock(session);
    odb_store__release(&change->held);
    odb_annotation_list_dispose(&change->before);
    odb_session_wake(session);
    return status;
}

enum odb_status odb_session_annotate(struct odb_session *session, const struct odb_annotation *what,
                                     int *number, struct odb_error *err)
{
    struct odb_annotation_change change;
    odb_session_annotate_begin(session, &change);
    enum odb_status status =
        odb_annotation_add(&session->annotations, what, session->model->graph, number, err);
    return odb_session_annotate_end(session, &change, status, err);
}

/* Caller holds the lock. */
static enum odb_status annotate_at(struct odb_session *session, const struct odb_annotation *what,
                                   bool remove, bool *had, struct odb_error *err)
{
    const struct odb_graph *graph = session->model->graph;
    struct odb_annotation_list one = {0}, *list = &session->annotations;
    ODB_TRY(odb_annotation_add(&one, what, graph, NULL, err));
    *had = false;
    for (size_t i = list->items.n; i > 0; i--)
        if (odb_annotation_same_place(&list->items.items[i - 1], &one.items.items[0])) {
            odb_annotation_remove(list, i - 1);
            *had = true;
        }
    odb_annotation_list_dispose(&one);
    return remove ? ODB_OK : odb_annotation_add(list, what, graph, NULL, err);
}

enum odb_status odb_session_annotate_at(struct odb_session *session,
                                        const struct odb_annotation *what, bool remove, bool *had,
                                        struct odb_error *err)
{
    struct odb_annotation_change change;
    bool any;
    odb_session_annotate_begin(session, &change);
    enum odb_status status = annotate_at(session, what, remove, had ? had : &any, err);
    return odb_session_annotate_end(session, &change, status, err);
}

enum odb_status odb_session_annotations_take(struct odb_session *session,
                                             struct odb_annotation_list *list,
                                             struct odb_error *err)
{
    struct odb_annotation_change change;
    odb_session_annotate_begin(session, &change);
    int pinned = odb_session__pins_differ(session, &session->annotations, list);
    odb_annotation_list_count_on(list, &session->annotations);
    odb_annotation_list_dispose(&session->annotations);
    session->annotations = *list;
    *list = (struct odb_annotation_list){0};
    ODB_TRY(odb_session_annotate_end(session, &change, ODB_OK, err));
    if (pinned != ODB_NO_NODE)
        odb_session__repin(session, pinned);
    return ODB_OK;
}

enum odb_status odb_session_annotations_restore(struct odb_session *session, struct odb_error *err)
{
    ODB_TRY(odb_store_read_annotations(session->store, &session->annotations, err));
    annotate_tag_all(session);
    return ODB_OK;
}
