/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Values that the user has pinned: the reference is run anew with them, and the walk goes on from
 * where the first of them is made.
 */
#include <stdlib.h>
#include <string.h>

#include "executor/executor.h"
#include "model/model.h"
#include "model/read/pb.h"
#include "session/identity.h"
#include "session/session_state.h"
#include "tensor/format/npy.h"

static bool pins_is(const struct odb_annotation *annotation)
{
    return annotation->kind == ODB_ANNOTATION_PIN && !annotation->disabled &&
           annotation->value >= 0;
}

/* For a thread that is not the screen's, whose commands put things down meanwhile. */
static void pins_copy(const struct odb_session *session, struct odb_annotation_list *out)
{
    odb_session_lock(session);
    odb_annotation_list_copy(out, &session->annotations, session->model->graph);
    odb_session_unlock(session);
}

void odb_session_put_pins(const struct odb_session *session, struct odb_buf *out)
{
    for (size_t i = 0; i < session->annotations.items.n; i++) {
        const struct odb_annotation *annotation = &session->annotations.items.items[i];
        if (pins_is(annotation))
            odb_buf_printf(out, "%s%s to %s", out->len ? ", " : "", annotation->place,
                           annotation->text);
    }
}

void odb_session__identify_pins(const struct odb_session *session, struct odb_buf *out)
{
    struct odb_annotation_list list;
    pins_copy(session, &list);
    for (size_t i = 0; i < list.items.n; i++)
        if (pins_is(&list.items.items[i]))
            odb_identity_put_file(list.items.items[i].text, out);
    odb_annotation_list_dispose(&list);
}

static enum odb_status pins_read(struct odb_tensor **out, const char *path, struct odb_error *err)
{
    size_t n = strlen(path);
    bool pb = n > 3 && !strcmp(path + n - 3, ".pb");
    return pb ? odb_pb_read(out, ODB_TENSOR, path, err) : odb_npy_read(out, path, err);
}

static enum odb_status pins_read_all(const struct odb_annotation_list *list, const char *reference,
                                     struct odb_session_pins *out, struct odb_error *err)
{
    for (size_t i = 0; i < list->items.n; i++) {
        const struct odb_annotation *annotation = &list->items.items[i];
        struct odb_tensor *t = NULL;
        if (!pins_is(annotation))
            continue;
        if (strcmp(annotation->text, "reference") != 0) {
            if (odb_executor_recorded(reference))
                return odb_fail(err, ODB_E_USAGE, "what is recorded was computed with another %s",
                                annotation->place);
            ODB_TRY(pins_read(&t, annotation->text, err));
        }
        odb_push(&out->list, (struct odb_trace_pin){annotation->value, t});
    }
    return ODB_OK;
}

enum odb_status odb_session__pins(const struct odb_session *session, const char *reference,
                                  struct odb_session_pins *out, struct odb_error *err)
{
    struct odb_annotation_list list;
    *out = (struct odb_session_pins){0};
    pins_copy(session, &list);
    enum odb_status status = pins_read_all(&list, reference, out, err);
    odb_annotation_list_dispose(&list);
    return status;
}

void odb_session__pins_dispose(struct odb_session_pins *pins)
{
    for (size_t i = 0; i < pins->list.n; i++)
        odb_tensor_unref((struct odb_tensor *)pins->list.items[i].tensor);
    free(pins->list.items);
}

/* Whether a list has this pin. */
static bool pins_has(const struct odb_annotation_list *list, const struct odb_annotation *pin)
{
    for (size_t i = 0; i < list->items.n; i++) {
        const struct odb_annotation *annotation = &list->items.items[i];
        if (pins_is(annotation) && annotation->value == pin->value &&
            !strcmp(annotation->text, pin->text))
            return true;
    }
    return false;
}

int odb_session__pins_differ(const struct odb_session *session, const struct odb_annotation_list *a,
                             const struct odb_annotation_list *b)
{
    const struct odb_annotation_list *const lists[] = {a, b};
    const struct odb_graph *graph = session->model->graph;
    int first = ODB_NO_NODE;
    for (size_t l = 0; l < ODB_COUNT(lists); l++)
        for (size_t i = 0; i < lists[l]->items.n; i++) {
            const struct odb_annotation *annotation = &lists[l]->items.items[i];
            if (!pins_is(annotation) || pins_has(lists[!l], annotation))
                continue;
            int node = graph->values[annotation->value].producer;
            first = first == ODB_NO_NODE ? node : ODB_MIN(first, node);
        }
    return first;
}

void odb_session__repin(struct odb_session *session, int node)
{
    const struct odb_graph *graph = session->model->graph;
    odb_session_leave(session);
    odb_session_lock(session);
    odb_session__unshelve(session, NULL); /* other targets were held to other values */
    session->resume = session->resume == ODB_NO_NODE ? node : ODB_MIN(session->resume, node);
    for (size_t n = (size_t)node; n < graph->n_nodes; n++)
        for (int o = 0; o < graph->nodes[n].n_out; o++) {
            int v = graph->nodes[n].out[o];
            if (v < 0)
                continue;
            odb_tensor_unref(session->given[v]);
            session->given[v] = NULL;
            session->values[v] = (struct odb_value_report){.verdict = ODB_VERDICT_UNTESTED};
        }
    if (session->at != ODB_NO_NODE)
        session->at = ODB_MIN(session->at, node);
    session->generation++;
    odb_session_unlock(session);
}
