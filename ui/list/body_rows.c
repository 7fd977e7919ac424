/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/list/body_rows.h"

#include <stdlib.h>

#include "model/model.h"
#include "session/session.h"
#include "ui/view/outline.h"

void ui_bodies_dispose(struct ui_bodies *bodies)
{
    for (size_t i = 0; i < bodies->known.n; i++)
        free(bodies->known.items[i].reports);
    free(bodies->known.items);
    free(bodies->open.items);
    free(bodies->rows.items);
    free(bodies->places.items);
    *bodies = (struct ui_bodies){0};
}

const struct odb_graph *ui_body_row_graph(const struct ui_body_row *row)
{
    return row->path.steps[row->path.n - 1].body.graph;
}

/* --- which are open --------------------------------------------------------------------------- */

static size_t bodies_open_at(const struct ui_bodies *bodies, const struct odb_graph *graph,
                             int node)
{
    size_t i = 0;
    while (i < bodies->open.n &&
           (bodies->open.items[i].graph != graph || bodies->open.items[i].node != node))
        i++;
    return i;
}

bool ui_bodies_is_open(const struct ui_bodies *bodies, const struct odb_graph *graph, int node)
{
    return bodies_open_at(bodies, graph, node) < bodies->open.n;
}

bool ui_bodies_fold(struct ui_bodies *bodies, const struct odb_graph *graph, int node, bool fold)
{
    size_t at = bodies_open_at(bodies, graph, node);
    if (!odb_node_has_body(&graph->nodes[node]) || fold != (at < bodies->open.n))
        return false;
    if (fold)
        bodies->open.items[at] = bodies->open.items[--bodies->open.n];
    else
        odb_push(&bodies->open, (struct ui_body_open){graph, node});
    return true;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* The bodies of a node that is open, and of those in them; a function may call no function that
 * calls it, and a path has its longest. */
static void bodies_add(struct ui_bodies *bodies, const struct odb_graph *graph, int node,
                       const struct odb_body_path *outer)
{
    struct odb_body body;
    for (size_t i = 0; outer->n < ODB_BODY_DEPTH && odb_body_at(&graph->nodes[node], i, &body);
         i++) {
        struct ui_body_row row = {.path = *outer, .node = ODB_NO_NODE, .depth = (int)outer->n + 1};
        row.path.steps[row.path.n++] =
            (struct odb_body_step){.node = node, .body = body, .turn = ODB_ANY_TURN};
        odb_push(&bodies->rows, row);
        for (size_t n = 0; n < body.graph->n_nodes; n++) {
            row.node = (int)n;
            odb_push(&bodies->rows, row);
            if (ui_bodies_is_open(bodies, body.graph, (int)n))
                bodies_add(bodies, body.graph, (int)n, &row.path);
        }
    }
}

static int bodies_compare(const void *a, const void *b)
{
    const struct ui_body_place *x = a, *y = b;
    return (x->row > y->row) - (x->row < y->row);
}

void ui_bodies_make(struct ui_bodies *bodies, const struct ui_outline *outline,
                    const struct odb_graph *graph)
{
    const struct odb_body_path none = {.n = 0};
    bodies->rows.n = bodies->places.n = 0;
    for (size_t i = 0; i < bodies->open.n; i++) {
        int node = bodies->open.items[i].node;
        size_t row = ui_outline_find(outline, node);
        struct ui_row at = ui_outline_row(outline, graph, row);
        if (bodies->open.items[i].graph == graph && at.node == node && at.n == 1)
            odb_push(&bodies->places, (struct ui_body_place){.row = row});
    }
    if (bodies->places.n)
        qsort(bodies->places.items, bodies->places.n, sizeof *bodies->places.items, bodies_compare);
    for (size_t i = 0; i < bodies->places.n; i++) {
        struct ui_body_place *place = &bodies->places.items[i];
        place->first = bodies->rows.n;
        bodies_add(bodies, graph, ui_outline_row(outline, graph, place->row).node, &none);
        place->n = bodies->rows.n - place->first;
    }
}

size_t ui_bodies_count(const struct ui_bodies *bodies, size_t rows)
{
    return rows + bodies->rows.n;
}

size_t ui_bodies_row(const struct ui_bodies *bodies, size_t at, const struct ui_body_row **body)
{
    size_t before = 0; /* rows of bodies above */
    *body = NULL;
    for (size_t i = 0; i < bodies->places.n; i++) {
        const struct ui_body_place *place = &bodies->places.items[i];
        if (at <= place->row + before)
            break;
        if (at <= place->row + before + place->n) {
            *body = &bodies->rows.items[place->first + (at - (place->row + before) - 1)];
            return place->row;
        }
        before += place->n;
    }
    return at - before;
}

size_t ui_bodies_place(const struct ui_bodies *bodies, size_t row)
{
    size_t before = 0;
    for (size_t i = 0; i < bodies->places.n && bodies->places.items[i].row < row; i++)
        before += bodies->places.items[i].n;
    return row + before;
}

size_t ui_bodies_here(const struct ui_bodies *bodies, size_t row)
{
    size_t at = ui_bodies_place(bodies, row), found = at;
    for (size_t i = 0; i < bodies->places.n; i++) {
        const struct ui_body_place *place = &bodies->places.items[i];
        for (size_t k = 0; place->row == row && k < place->n; k++) {
            const struct ui_body_row *one = &bodies->rows.items[place->first + k];
            const struct ui_body_known *known = ui_bodies_known(bodies, ui_body_row_graph(one));
            /* The innermost comes last. */
            found =
                known && one->node != ODB_NO_NODE && known->at == one->node ? at + 1 + k : found;
        }
    }
    return found;
}

/* --- what is known ---------------------------------------------------------------------------- */

const struct ui_body_known *ui_bodies_known(const struct ui_bodies *bodies,
                                            const struct odb_graph *graph)
{
    for (size_t i = 0; i < bodies->known.n; i++)
        if (bodies->known.items[i].graph == graph)
            return &bodies->known.items[i];
    return NULL;
}

static struct ui_body_known *bodies_know(struct ui_bodies *bodies, const struct odb_graph *graph,
                                         int64_t turn)
{
    for (size_t i = 0; i < bodies->known.n; i++)
        if (bodies->known.items[i].graph == graph)
            return &bodies->known.items[i];
    odb_push(&bodies->known, (struct ui_body_known){.graph = graph,
                                                    .turn = turn,
                                                    .at = ODB_NO_NODE,
                                                    .reports = odb_new_n(struct odb_value_report,
                                                                         graph->n_nodes + 1)});
    return &bodies->known.items[bodies->known.n - 1];
}

/* What the search found in a culprit's bodies. */
static void bodies_take_culprit(struct ui_bodies *bodies, const struct odb_graph *graph,
                                const struct odb_culprit *culprit)
{
    struct odb_body_step step;
    if (!odb_culprit_body(culprit, graph, &step))
        return;
    struct ui_body_known *known = bodies_know(bodies, step.body.graph, step.turn);
    known->reports[culprit->inside->index] = culprit->inside->numbers;
    known->reports[culprit->inside->index].culprit = true;
}

/* What was judged of a body that the walk is in. */
static void bodies_take_walk(struct ui_bodies *bodies, const struct odb_inside *inside)
{
    const struct odb_graph *graph = inside->which.graph;
    const struct odb_model *own = inside->walk->model;
    int *origin = odb_new_n(int, own->graph->n_nodes + 1), at = inside->walk->at;
    struct ui_body_known *known = bodies_know(bodies, graph, inside->turn);
    known->turn = inside->turn;
    odb_model_origin(own, origin);
    if (at >= 0 && (size_t)at < own->graph->n_nodes && (size_t)origin[at] < graph->n_nodes)
        known->at = origin[at];
    odb_inside_reports(inside, graph->n_nodes, known->reports);
    free(origin);
}

bool ui_bodies_learn(struct ui_bodies *bodies, const struct odb_session *session)
{
    const struct odb_graph *graph = odb_session_model(session)->graph;
    const struct odb_inside *innermost = odb_session_inside(session);
    bool opened = false;
    for (size_t i = 0; i < bodies->known.n; i++)
        free(bodies->known.items[i].reports);
    bodies->known.n = 0;
    for (size_t n = 0; n < graph->n_nodes; n++)
        if (odb_node_has_body(&graph->nodes[n]) && odb_session_culprit(session, (int)n))
            bodies_take_culprit(bodies, graph, odb_session_culprit(session, (int)n));
    for (const struct odb_inside *at = innermost; at; at = at->outer) {
        const struct odb_graph *around = at->outer ? at->outer->which.graph : graph;
        bodies_take_walk(bodies, at);
        if (!innermost || innermost->which.graph != bodies->inside)
            opened |= ui_bodies_fold(bodies, around, at->node, false);
    }
    bodies->inside = innermost ? innermost->which.graph : NULL;
    bodies->at = innermost ? innermost->walk->at : ODB_NO_NODE;
    bodies->turn = innermost ? innermost->turn : ODB_ANY_TURN;
    return opened;
}

bool ui_bodies_moved(const struct ui_bodies *bodies, const struct odb_session *session)
{
    const struct odb_inside *now = odb_session_inside(session);
    if (!now)
        return bodies->inside != NULL;
    return bodies->inside != now->which.graph || bodies->at != now->walk->at ||
           bodies->turn != now->turn;
}
