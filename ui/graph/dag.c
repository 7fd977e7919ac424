/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which boxes stand around a node, in which layers, and what leads from one to another. First
 * everything within the distance; then, from the inside outwards, what a layer has room for and
 * what still hangs on something that is drawn.
 */
#include "ui/graph/dag.h"

#include <stdlib.h>

struct dag_work {
    struct ui_dag *dag;
    const struct odb_graph *graph;
    const struct ui_dag_options *options;
    int *layers;         /* owned; [n_nodes] signed layer; 0: not around, or the centre */
    int *box_of;         /* owned; [n_nodes] 1 + box; 0: none */
    int *in_of, *out_of; /* owned; [n_values] 1 + box of a model's input or output; 0: none */
    ODB_VEC(int) found;  /* nodes around, the nearest first */
    int centre;
};

/* --- neighbours ------------------------------------------------------------------------------- */

/* Value i of those that a node reads, its bodies included; ODB_NO_VALUE: none, or a weight. */
static int dag_read(const struct odb_graph *graph, const struct odb_node *node, size_t i)
{
    size_t n_in = (size_t)node->n_in;
    int value = i < n_in ? node->in[i] : node->captured[i - n_in];
    return value == ODB_NO_VALUE || graph->values[value].init ? ODB_NO_VALUE : value;
}

static size_t dag_reads(const struct odb_node *node)
{
    return (size_t)node->n_in + node->n_captured;
}

/* Calls fn for every node on one side of another; a node may come twice. */
static void dag_each(struct dag_work *w, int node, bool up,
                     void (*fn)(struct dag_work *w, int from, int neighbour))
{
    const struct odb_node *at = &w->graph->nodes[node];
    for (size_t i = 0; up && i < dag_reads(at); i++) {
        int value = dag_read(w->graph, at, i);
        if (value != ODB_NO_VALUE && w->graph->values[value].producer != ODB_NO_NODE)
            fn(w, node, w->graph->values[value].producer);
    }
    for (int o = 0; !up && o < at->n_out; o++) {
        const struct odb_value *value =
            at->out[o] == ODB_NO_VALUE ? NULL : &w->graph->values[at->out[o]];
        for (size_t i = 0; value && i < value->n_consumers; i++)
            fn(w, node, value->consumers[i]);
    }
}

static void dag_find_above(struct dag_work *w, int from, int neighbour)
{
    if (!w->layers[neighbour] && neighbour != w->centre) {
        w->layers[neighbour] = w->layers[from] - 1;
        odb_push(&w->found, neighbour);
    }
}

static void dag_find_below(struct dag_work *w, int from, int neighbour)
{
    if (!w->layers[neighbour] && neighbour != w->centre) {
        w->layers[neighbour] = w->layers[from] + 1;
        odb_push(&w->found, neighbour);
    }
}

/* A box stands farther out than all that it leads to, as far as the depth lets it. */
static void dag_push_up(struct dag_work *w, int from, int neighbour)
{
    if (w->layers[neighbour] < 0 || neighbour == w->centre)
        w->layers[from] = ODB_MIN(w->layers[from], w->layers[neighbour] - 1);
    w->layers[from] = ODB_MAX(w->layers[from], -w->options->depth);
}

static void dag_push_down(struct dag_work *w, int from, int neighbour)
{
    if (w->layers[neighbour] > 0 || neighbour == w->centre)
        w->layers[from] = ODB_MAX(w->layers[from], w->layers[neighbour] + 1);
    w->layers[from] = ODB_MIN(w->layers[from], w->options->depth);
}

static int dag_compare(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

/* Nodes of one side within the distance, each with its layer. */
static void dag_side(struct dag_work *w, bool up)
{
    size_t first = w->found.n;
    dag_each(w, w->centre, up, up ? dag_find_above : dag_find_below);
    for (size_t i = first; i < w->found.n; i++)
        if (abs(w->layers[w->found.items[i]]) < w->options->depth)
            dag_each(w, w->found.items[i], up, up ? dag_find_above : dag_find_below);
    size_t n = w->found.n - first;
    int *found = w->found.items + first;
    if (!n)
        return;
    qsort(found, n, sizeof *found, dag_compare);
    for (size_t i = 0; i < n; i++) /* what it leads to has its layer already */
        if (up)
            dag_each(w, found[n - 1 - i], false, dag_push_up);
        else
            dag_each(w, found[i], true, dag_push_down);
}

/* --- inputs and outputs of the model ---------------------------------------------------------- */

typedef ODB_VEC(struct dag_candidate {
    struct ui_dag_item is;
    int weight;
}) dag_candidates;

static bool dag_is_input(const struct odb_graph *graph, int value)
{
    return value != ODB_NO_VALUE && graph->values[value].producer == ODB_NO_NODE;
}

/* The layer that an input stands in: above all readers that are around. */
static int dag_input_layer(const struct dag_work *w, int value)
{
    const struct odb_value *v = &w->graph->values[value];
    int layer = 1;
    for (size_t i = 0; i < v->n_consumers; i++) {
        int reader = v->consumers[i];
        if (reader == w->centre || w->layers[reader] < 0)
            layer = ODB_MIN(layer, w->layers[reader] - 1);
    }
    return ODB_MAX(layer, -w->options->depth);
}

/* Inputs or outputs that the boxes drawn so far ask for in a layer. */
static void dag_ports(struct dag_work *w, int layer, dag_candidates *out)
{
    for (size_t b = 0; b < w->dag->boxes.n; b++) {
        const struct ui_dag_box *box = &w->dag->boxes.items[b];
        if (box->is.kind != UI_DAG_NODE)
            continue;
        const struct odb_node *node = &w->graph->nodes[box->is.node];
        for (size_t i = 0; layer < 0 && box->layer <= 0 && i < dag_reads(node); i++) {
            int value = dag_read(w->graph, node, i);
            if (!dag_is_input(w->graph, value) || w->in_of[value] ||
                dag_input_layer(w, value) != layer)
                continue;
            w->in_of[value] = -1;
            odb_push(out, (struct dag_candidate){{UI_DAG_INPUT, ODB_NO_NODE, value}, 0});
        }
        for (int o = 0; layer > 0 && box->layer == layer - 1 && o < node->n_out; o++) {
            int value = node->out[o];
            if (value != ODB_NO_VALUE && w->graph->values[value].is_output && !w->out_of[value])
                odb_push(out, (struct dag_candidate){{UI_DAG_OUTPUT, ODB_NO_NODE, value}, 0});
        }
    }
}

/* --- what is drawn ---------------------------------------------------------------------------- */

static int dag_add(struct dag_work *w, struct ui_dag_item is, int layer)
{
    odb_push(&w->dag->boxes, (struct ui_dag_box){.is = is, .layer = layer});
    return (int)w->dag->boxes.n;
}

static void dag_settle(struct dag_work *w, struct ui_dag_item is, int box)
{
    if (is.kind == UI_DAG_NODE)
        w->box_of[is.node] = box;
    else
        (is.kind == UI_DAG_INPUT ? w->in_of : w->out_of)[is.value] = box;
}

/* Whether something between the layer and the middle that is drawn leads to it. */
static bool dag_hangs_on(const struct dag_work *w, int node, int layer)
{
    const struct odb_graph *graph = w->graph;
    const struct odb_node *at = &graph->nodes[node];
    for (int o = 0; layer < 0 && o < at->n_out; o++)
        for (size_t i = 0; at->out[o] >= 0 && i < graph->values[at->out[o]].n_consumers; i++) {
            int reader = graph->values[at->out[o]].consumers[i];
            if (w->box_of[reader] && w->layers[reader] > layer && w->layers[reader] <= 0)
                return true;
        }
    for (size_t i = 0; layer > 0 && i < dag_reads(at); i++) {
        int value = dag_read(graph, at, i);
        int maker = value == ODB_NO_VALUE ? ODB_NO_NODE : graph->values[value].producer;
        if (maker >= 0 && w->box_of[maker] && w->layers[maker] < layer && w->layers[maker] >= 0)
            return true;
    }
    return false;
}

/* The weightiest first; of equal ones, in the order of the graph. */
static int dag_compare_candidates(const void *a, const void *b)
{
    const struct dag_candidate *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    int by_kind = (x->is.kind > y->is.kind) - (x->is.kind < y->is.kind);
    int by_node = (x->is.node > y->is.node) - (x->is.node < y->is.node);
    return by_node   ? by_node
           : by_kind ? by_kind
                     : (x->is.value > y->is.value) - (x->is.value < y->is.value);
}

/* Begins with another one; those before it come last. */
static void dag_turn(dag_candidates *all, size_t by)
{
    struct dag_candidate *turned = odb_new_n(struct dag_candidate, all->n + 1);
    for (size_t i = 0; i < all->n; i++)
        turned[i] = all->items[(i + by) % all->n];
    free(all->items);
    all->items = turned;
    all->cap = all->n + 1;
}

static void dag_layer(struct dag_work *w, int layer)
{
    const struct ui_dag_options *options = w->options;
    dag_candidates all = {0};
    for (size_t i = 0; i < w->found.n; i++) {
        int node = w->found.items[i];
        if (w->layers[node] == layer && dag_hangs_on(w, node, layer))
            odb_push(&all, (struct dag_candidate){
                               {UI_DAG_NODE, node, ODB_NO_VALUE},
                               options->weight ? options->weight(options->payload, node) : 0});
    }
    dag_ports(w, layer, &all);
    if (all.n)
        qsort(all.items, all.n, sizeof *all.items, dag_compare_candidates);
    size_t room = (size_t)ODB_MAX(ui_dag__room(options->cols, 0), 1);
    size_t kept = all.n <= room ? all.n : room - 1;
    if (kept < all.n && layer == options->turned)
        dag_turn(&all, options->turn);
    for (size_t i = 0; i < kept; i++)
        dag_settle(w, all.items[i].is, dag_add(w, all.items[i].is, layer));
    if (kept < all.n) {
        int more = dag_add(w, (struct ui_dag_item){UI_DAG_MORE, ODB_NO_NODE, ODB_NO_VALUE}, layer);
        for (size_t i = kept; i < all.n; i++) {
            dag_settle(w, all.items[i].is, more);
            odb_push(&w->dag->boxes.items[more - 1].folded, all.items[i].is);
        }
    }
    free(all.items);
}

/* --- edges ------------------------------------------------------------------------------------ */

static void dag_link(struct dag_work *w, int from, int to, int value)
{
    const struct ui_dag_box *boxes = w->dag->boxes.items;
    if (from <= 0 || to <= 0 || boxes[from - 1].layer >= boxes[to - 1].layer)
        return;
    if (boxes[from - 1].is.kind == UI_DAG_MORE)
        value = ODB_NO_VALUE;
    for (size_t i = 0; i < w->dag->edges.n; i++) {
        const struct ui_dag_edge *edge = &w->dag->edges.items[i];
        if (edge->from == from - 1 && edge->to == to - 1 && edge->value == value)
            return;
    }
    odb_push(&w->dag->edges, (struct ui_dag_edge){from - 1, to - 1, value});
}

/* What leads down from an item, which stands in this box. */
static void dag_link_item(struct dag_work *w, struct ui_dag_item is, int box)
{
    const struct odb_graph *graph = w->graph;
    const struct odb_node *node = is.kind == UI_DAG_NODE ? &graph->nodes[is.node] : NULL;
    int n = node ? node->n_out : is.kind == UI_DAG_INPUT;
    for (int o = 0; o < n; o++) {
        int value = node ? node->out[o] : is.value;
        if (value == ODB_NO_VALUE)
            continue;
        for (size_t i = 0; i < graph->values[value].n_consumers; i++)
            dag_link(w, box, w->box_of[graph->values[value].consumers[i]], value);
        if (node && w->out_of[value] > 0)
            dag_link(w, box, w->out_of[value], value);
    }
}

/* Long lines go past boxes; those that there is no room for are left out, the longest first. */
static void dag_drop_long(struct dag_work *w)
{
    int depth = w->options->depth, n = 2 * depth + 1;
    int *boxes = odb_new_n(int, (size_t)n), *passing = odb_new_n(int, (size_t)n);
    const struct ui_dag_box *box = w->dag->boxes.items;
    for (size_t b = 0; b < w->dag->boxes.n; b++)
        boxes[box[b].layer + depth]++;
    for (int span = 2; span < n; span++) {
        size_t kept = 0;
        for (size_t i = 0; i < w->dag->edges.n; i++) {
            struct ui_dag_edge edge = w->dag->edges.items[i];
            int from = box[edge.from].layer + depth, to = box[edge.to].layer + depth;
            bool fits = true;
            for (int l = from + 1; to - from == span && l < to; l++)
                fits &= ui_dag__room(w->options->cols, passing[l] + 1) >= boxes[l];
            for (int l = from + 1; to - from == span && fits && l < to; l++)
                passing[l]++;
            if (fits)
                w->dag->edges.items[kept++] = edge;
        }
        w->dag->edges.n = kept;
    }
    free(boxes);
    free(passing);
}

static bool dag_linked(const struct ui_dag *dag, int from, int to)
{
    for (size_t i = 0; i < dag->edges.n; i++)
        if (dag->edges.items[i].from == from - 1 && dag->edges.items[i].to == to - 1)
            return true;
    return false;
}

/* What of a node's neighbours is not drawn. */
static void dag_count_hidden(const struct dag_work *w, int box)
{
    struct ui_dag_box *at = &w->dag->boxes.items[box - 1];
    const struct odb_graph *graph = w->graph;
    if (at->is.kind != UI_DAG_NODE)
        return;
    const struct odb_node *node = &graph->nodes[at->is.node];
    for (size_t i = 0; i < dag_reads(node); i++) {
        int value = dag_read(graph, node, i);
        if (value == ODB_NO_VALUE)
            continue;
        int maker = graph->values[value].producer;
        int from = maker >= 0 ? w->box_of[maker] : w->in_of[value];
        at->above += from <= 0 || !dag_linked(w->dag, from, box);
    }
    for (int o = 0; o < node->n_out; o++) {
        const struct odb_value *value = node->out[o] < 0 ? NULL : &graph->values[node->out[o]];
        for (size_t i = 0; value && i < value->n_consumers; i++) {
            int to = w->box_of[value->consumers[i]];
            at->below += to <= 0 || !dag_linked(w->dag, box, to);
        }
        if (value && value->is_output)
            at->below +=
                w->out_of[value->index] <= 0 || !dag_linked(w->dag, box, w->out_of[value->index]);
    }
}

static void dag_edges(struct dag_work *w)
{
    for (size_t b = 0; b < w->dag->boxes.n; b++) {
        const struct ui_dag_box *box = &w->dag->boxes.items[b];
        for (size_t i = 0; i < box->folded.n; i++)
            dag_link_item(w, box->folded.items[i], (int)b + 1);
        if (box->is.kind != UI_DAG_MORE)
            dag_link_item(w, box->is, (int)b + 1);
    }
    dag_drop_long(w);
    for (size_t b = 0; b < w->dag->boxes.n; b++)
        dag_count_hidden(w, (int)b + 1);
}

/* --- the whole -------------------------------------------------------------------------------- */

void ui_dag_make(struct ui_dag *dag, const struct odb_graph *graph, int centre,
                 const struct ui_dag_options *options)
{
    struct dag_work w = {.dag = dag, .graph = graph, .options = options, .centre = centre};
    *dag = (struct ui_dag){.centre = 0};
    w.layers = odb_new_n(int, graph->n_nodes);
    w.box_of = odb_new_n(int, graph->n_nodes);
    w.in_of = odb_new_n(int, graph->n_values + 1);
    w.out_of = odb_new_n(int, graph->n_values + 1);
    dag_side(&w, true);
    dag_side(&w, false);
    struct ui_dag_item middle = {UI_DAG_NODE, centre, ODB_NO_VALUE};
    dag_settle(&w, middle, dag_add(&w, middle, 0));
    for (int d = 1; d <= options->depth; d++) {
        dag_layer(&w, -d);
        dag_layer(&w, d);
    }
    dag_edges(&w);
    free(w.layers);
    free(w.box_of);
    free(w.in_of);
    free(w.out_of);
    free(w.found.items);
    ui_dag__layout(dag, options);
}

void ui_dag_dispose(struct ui_dag *dag)
{
    for (size_t i = 0; i < dag->boxes.n; i++)
        free(dag->boxes.items[i].folded.items);
    free(dag->boxes.items);
    free(dag->edges.items);
    free(dag->cells);
    ui_dag__plan_free(dag->plan);
    *dag = (struct ui_dag){.centre = 0};
}

/* --- finding a way ---------------------------------------------------------------------------- */

int ui_dag_more(const struct ui_dag *dag, int layer)
{
    for (size_t i = 0; i < dag->boxes.n; i++)
        if (dag->boxes.items[i].is.kind == UI_DAG_MORE && dag->boxes.items[i].layer == layer)
            return (int)i;
    return -1;
}

int ui_dag_find(const struct ui_dag *dag, int node)
{
    for (size_t i = 0; i < dag->boxes.n; i++)
        if (dag->boxes.items[i].is.kind == UI_DAG_NODE && dag->boxes.items[i].is.node == node)
            return (int)i;
    return -1;
}

int ui_dag_at(const struct ui_dag *dag, int row, int col)
{
    for (size_t i = 0; i < dag->boxes.n; i++) {
        const struct ui_dag_box *box = &dag->boxes.items[i];
        if (row >= box->row && row < box->row + box->rows && col >= box->col &&
            col < box->col + box->cols)
            return (int)i;
    }
    return -1;
}

/* Columns, twice, between the middles of two boxes. */
static int dag_apart(const struct ui_dag_box *a, const struct ui_dag_box *b)
{
    return abs(2 * a->col + a->cols - 2 * b->col - b->cols);
}

int ui_dag_walk(const struct ui_dag *dag, int box, unsigned direction, int last)
{
    const struct ui_dag_box *boxes = dag->boxes.items;
    int best = -1;
    if (direction & (UI_DAG_LEFT | UI_DAG_RIGHT)) {
        int to = box + (direction & UI_DAG_RIGHT ? 1 : -1);
        bool there = to >= 0 && to < (int)dag->boxes.n && boxes[to].layer == boxes[box].layer;
        return there ? to : -1;
    }
    for (size_t i = 0; i < dag->edges.n; i++) {
        const struct ui_dag_edge *edge = &dag->edges.items[i];
        int near = direction & UI_DAG_UP ? edge->to : edge->from;
        int far = direction & UI_DAG_UP ? edge->from : edge->to;
        if (near != box)
            continue;
        if (far == last)
            return far;
        /* the next layer goes before those behind it, and there what stands straight ahead */
        int step = best < 0 ? -1
                            : abs(boxes[far].layer - boxes[box].layer) -
                                  abs(boxes[best].layer - boxes[box].layer);
        if (step < 0 || (step == 0 && dag_apart(&boxes[far], &boxes[box]) <
                                          dag_apart(&boxes[best], &boxes[box])))
            best = far;
    }
    return best;
}
