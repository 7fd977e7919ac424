/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where boxes and lines stand. After Sugiyama: a line that passes a layer has a slot there like a
 * box; slots are ordered by where their neighbours are, as long as that saves crossings, then
 * pushed below one another; and every gap between two layers has as many rows as its lines need so
 * that no two of them share a piece. What one value leads to is one line with branches. Where a
 * line crosses another it goes over it, so that a crossing is never taken for a branch.
 */
#include <stdlib.h>
#include <string.h>

#include "ui/dag.h"

#define DAG_GAP 2     /* columns between slots */
#define DAG_WIDEST 34 /* columns of a box; odd widths have a middle */

struct dag_slot {
    int box;                /* -1: a line passes */
    int layer, from, value; /* of a line: box that it comes from, and the value that it is */
    int col, cols;
    double place; /* while slots are ordered and moved */
};

/* From a slot to one in the next layer. */
struct dag_wire {
    int from, to, value;
    int out_col, in_col, track; /* track -1: straight down */
};

struct dag_plan {
    ODB_VEC(struct dag_slot) slots;
    ODB_VEC(struct dag_wire) wires;
    ODB_VEC(int) * layers; /* owned; [n] slots from left to right */
    int n;
    ODB_VEC(int) path;          /* slots of every edge, one after the other */
    ODB_VEC(size_t) path_first; /* [n_edges + 1] in path */
    int *tracks, *top;          /* owned; [n] rows of lines below a layer; its first row */
    int *net_of; /* owned; per cell, while lines are drawn: 1 + wire of the net that was there */
};

void ui_dag__plan_free(struct dag_plan *plan)
{
    if (!plan)
        return;
    for (int l = 0; l < plan->n; l++)
        free(plan->layers[l].items);
    free(plan->layers);
    free(plan->slots.items);
    free(plan->wires.items);
    free(plan->path.items);
    free(plan->path_first.items);
    free(plan->tracks);
    free(plan->top);
    free(plan->net_of);
    free(plan);
}

int ui_dag__room(int cols, int passing)
{
    return (cols - passing * (1 + DAG_GAP) + DAG_GAP) / (UI_DAG_NARROWEST + DAG_GAP);
}

/* --- slots and wires -------------------------------------------------------------------------- */

static int dag_new_slot(struct dag_plan *plan, struct dag_slot slot)
{
    int index = (int)plan->slots.n;
    odb_push(&plan->slots, slot);
    odb_push(&plan->layers[slot.layer], index);
    return index;
}

/* The slot where this line passes a layer: one for all that it leads to. */
static int dag_passing(struct dag_plan *plan, int layer, int from, int value)
{
    for (size_t i = 0; i < plan->layers[layer].n; i++) {
        const struct dag_slot *slot = &plan->slots.items[plan->layers[layer].items[i]];
        if (slot->box < 0 && slot->from == from && slot->value == value)
            return plan->layers[layer].items[i];
    }
    struct dag_slot line = {.box = -1, .layer = layer, .from = from, .value = value, .cols = 1};
    return dag_new_slot(plan, line);
}

static void dag_new_wire(struct dag_plan *plan, int from, int to, int value)
{
    for (size_t i = 0; i < plan->wires.n; i++)
        if (plan->wires.items[i].from == from && plan->wires.items[i].to == to &&
            plan->wires.items[i].value == value)
            return;
    odb_push(&plan->wires, (struct dag_wire){.from = from, .to = to, .value = value, .track = -1});
}

static struct dag_plan *dag_plan_new(const struct ui_dag *dag)
{
    struct dag_plan *plan = odb_new(struct dag_plan);
    int first = 0, last = 0;
    for (size_t b = 0; b < dag->boxes.n; b++) {
        first = ODB_MIN(first, dag->boxes.items[b].layer);
        last = ODB_MAX(last, dag->boxes.items[b].layer);
    }
    plan->n = last - first + 1;
    plan->layers = odb_xcalloc((size_t)plan->n, sizeof *plan->layers);
    plan->tracks = odb_new_n(int, (size_t)plan->n);
    plan->top = odb_new_n(int, (size_t)plan->n + 1);
    for (size_t b = 0; b < dag->boxes.n; b++) /* slot b is box b */
        dag_new_slot(plan,
                     (struct dag_slot){.box = (int)b, .layer = dag->boxes.items[b].layer - first});
    for (size_t e = 0; e < dag->edges.n; e++) {
        const struct ui_dag_edge *edge = &dag->edges.items[e];
        int at = edge->from, to = plan->slots.items[edge->to].layer;
        odb_push(&plan->path_first, plan->path.n);
        odb_push(&plan->path, at);
        for (int l = plan->slots.items[at].layer + 1; l <= to; l++) {
            int next = l == to ? edge->to : dag_passing(plan, l, edge->from, edge->value);
            dag_new_wire(plan, at, next, edge->value);
            odb_push(&plan->path, next);
            at = next;
        }
    }
    odb_push(&plan->path_first, plan->path.n);
    return plan;
}

/* --- order ------------------------------------------------------------------------------------ */

/* The mean of fn over the neighbours of a slot on one side; what it is itself, where none is. */
static double dag_mean(const struct dag_plan *plan, int slot, bool up,
                       double (*fn)(const struct dag_slot *slot))
{
    double sum = 0;
    int n = 0;
    for (size_t i = 0; i < plan->wires.n; i++) {
        const struct dag_wire *wire = &plan->wires.items[i];
        if ((up ? wire->to : wire->from) != slot)
            continue;
        sum += fn(&plan->slots.items[up ? wire->from : wire->to]);
        n++;
    }
    return n ? sum / n : fn(&plan->slots.items[slot]);
}

static double dag_place_of(const struct dag_slot *slot)
{
    return slot->place;
}

static double dag_middle_of(const struct dag_slot *slot)
{
    return slot->col + slot->cols / 2;
}

static void dag_number(struct dag_plan *plan, int layer)
{
    for (size_t i = 0; i < plan->layers[layer].n; i++)
        plan->slots.items[plan->layers[layer].items[i]].place = (double)i;
}

/* Wires that cross one another, all in all. */
static int dag_crossings(const struct dag_plan *plan)
{
    const struct dag_slot *slots = plan->slots.items;
    int crossings = 0;
    for (size_t i = 0; i < plan->wires.n; i++)
        for (size_t k = 0; k < i; k++) {
            const struct dag_wire *a = &plan->wires.items[i], *b = &plan->wires.items[k];
            if (slots[a->from].layer != slots[b->from].layer)
                continue;
            double above = slots[a->from].place - slots[b->from].place;
            double below = slots[a->to].place - slots[b->to].place;
            crossings += above * below < 0;
        }
    return crossings;
}

/* Sorts a layer by where the neighbours on one side are. What is folded stays at the right. */
static void dag_sort_layer(const struct ui_dag *dag, struct dag_plan *plan, int layer, bool up)
{
    int *items = plan->layers[layer].items;
    size_t n = plan->layers[layer].n;
    double *keys = odb_new_n(double, plan->slots.n);
    for (size_t i = 0; i < n; i++) {
        int box = plan->slots.items[items[i]].box;
        bool more = box >= 0 && dag->boxes.items[box].is.kind == UI_DAG_MORE;
        keys[items[i]] = more ? 1e9 : dag_mean(plan, items[i], up, dag_place_of);
    }
    for (size_t i = 1; i < n; i++) { /* few of them, and equal ones stay as they are */
        int item = items[i];
        size_t k = i;
        for (; k > 0 && keys[items[k - 1]] > keys[item]; k--)
            items[k] = items[k - 1];
        items[k] = item;
    }
    free(keys);
    dag_number(plan, layer);
}

static void dag_order(const struct ui_dag *dag, struct dag_plan *plan)
{
    double *best = odb_new_n(double, plan->slots.n);
    int least = -1;
    for (int l = 0; l < plan->n; l++)
        dag_number(plan, l);
    for (int round = 0; round < 8; round++) {
        for (int l = 1; l < plan->n; l++)
            dag_sort_layer(dag, plan, round % 2 ? plan->n - 1 - l : l, round % 2 == 0);
        int crossings = dag_crossings(plan);
        if (least >= 0 && crossings >= least)
            continue;
        least = crossings;
        for (size_t i = 0; i < plan->slots.n; i++)
            best[i] = plan->slots.items[i].place;
    }
    for (size_t i = 0; i < plan->slots.n && least >= 0; i++)
        plan->slots.items[i].place = best[i];
    for (int l = 0; l < plan->n && least >= 0; l++) {
        int *sorted = odb_new_n(int, plan->layers[l].n);
        for (size_t i = 0; i < plan->layers[l].n; i++) {
            int item = plan->layers[l].items[i];
            sorted[(size_t)plan->slots.items[item].place] = item;
        }
        free(plan->layers[l].items);
        plan->layers[l].items = sorted;
    }
    free(best);
}

/* Boxes get the order in which they are read. */
static void dag_renumber(struct ui_dag *dag, struct dag_plan *plan)
{
    size_t n = dag->boxes.n, at = 0;
    struct ui_dag_box *boxes = odb_new_n(struct ui_dag_box, n);
    int *index = odb_new_n(int, n);
    for (int l = 0; l < plan->n; l++)
        for (size_t i = 0; i < plan->layers[l].n; i++) {
            struct dag_slot *slot = &plan->slots.items[plan->layers[l].items[i]];
            if (slot->box < 0)
                continue;
            boxes[at] = dag->boxes.items[slot->box];
            index[slot->box] = (int)at;
            slot->box = (int)at++;
        }
    memcpy(dag->boxes.items, boxes, n * sizeof *boxes);
    for (size_t e = 0; e < dag->edges.n; e++) {
        dag->edges.items[e].from = index[dag->edges.items[e].from];
        dag->edges.items[e].to = index[dag->edges.items[e].to];
    }
    dag->centre = index[dag->centre];
    free(boxes);
    free(index);
}

/* --- columns ---------------------------------------------------------------------------------- */

/* Things of these widths in a row, in their order, as near to where they want to be (their middle)
 * as they can: at least gap apart, between 0 and end, if there is room. */
static void dag_spread(int n, const double *wanted, const int *widths, int gap, int end, int *cols)
{
    int *right = odb_new_n(int, (size_t)n);
    for (int i = 0; i < n; i++) { /* each as far left as it may, */
        int want = (int)wanted[i] - widths[i] / 2;
        cols[i] = ODB_MAX(want, i ? cols[i - 1] + widths[i - 1] + gap : 0);
    }
    for (int i = n - 1, most = end; i >= 0; i--) {
        cols[i] = ODB_MIN(cols[i], most - widths[i]);
        most = cols[i] - gap;
    }
    for (int i = n - 1, most = end; i >= 0; i--) { /* as far right, */
        right[i] = ODB_MIN((int)wanted[i] - widths[i] / 2, most - widths[i]);
        most = right[i] - gap;
    }
    for (int i = 0, least = 0; i < n; i++) {
        right[i] = ODB_MAX(right[i], least);
        least = right[i] + widths[i] + gap;
    }
    for (int i = 0; i < n; i++) /* and in the middle between the two */
        cols[i] = ODB_MAX((cols[i] + right[i]) / 2, 0);
    free(right);
}

static void dag_widths(struct dag_plan *plan, int cols)
{
    for (int l = 0; l < plan->n; l++) {
        int boxes = 0, n = (int)plan->layers[l].n;
        for (int i = 0; i < n; i++)
            boxes += plan->slots.items[plan->layers[l].items[i]].box >= 0;
        int width = boxes ? (cols - (n - boxes) - (n - 1) * DAG_GAP) / boxes : 1;
        width = ODB_MIN(width, DAG_WIDEST) - 1;
        width = ODB_MIN(ODB_MAX(width | 1, 3), ODB_MAX(cols, 1));
        for (int i = 0; i < n; i++) {
            struct dag_slot *slot = &plan->slots.items[plan->layers[l].items[i]];
            slot->cols = slot->box >= 0 ? width : 1;
        }
    }
}

/* side: neighbours that slots want to be near: -1 those above, 1 those below, 0 none. */
static void dag_move_layer(const struct ui_dag *dag, struct dag_plan *plan, int layer, int side)
{
    size_t n = plan->layers[layer].n;
    const int *items = plan->layers[layer].items;
    double *wanted = odb_new_n(double, n);
    int *widths = odb_new_n(int, n), *cols = odb_new_n(int, n);
    for (size_t i = 0; i < n; i++) {
        const struct dag_slot *slot = &plan->slots.items[items[i]];
        widths[i] = slot->cols;
        if (slot->box == dag->centre)
            wanted[i] = dag->cols / 2;
        else if (side)
            wanted[i] = dag_mean(plan, items[i], side < 0, dag_middle_of);
        else
            wanted[i] = dag->cols * ((double)i + 0.5) / (double)n;
    }
    dag_spread((int)n, wanted, widths, DAG_GAP, dag->cols, cols);
    for (size_t i = 0; i < n; i++)
        plan->slots.items[items[i]].col = cols[i];
    free(wanted);
    free(widths);
    free(cols);
}

/* Moves a passing line to the column that it has in the next layer, or the one before, if nothing
 * stands there. */
static void dag_straighten(const struct ui_dag *dag, struct dag_plan *plan, int layer, bool up)
{
    const int *items = plan->layers[layer].items;
    size_t n = plan->layers[layer].n;
    for (size_t i = 0; i < n; i++) {
        struct dag_slot *slot = &plan->slots.items[items[i]];
        const struct dag_slot *before = i ? &plan->slots.items[items[i - 1]] : NULL;
        const struct dag_slot *behind = i + 1 < n ? &plan->slots.items[items[i + 1]] : NULL;
        int least = before ? before->col + before->cols + 1 : 0;
        int most = behind ? behind->col - 2 : dag->cols - 1;
        for (size_t w = 0; slot->box < 0 && w < plan->wires.n; w++) {
            const struct dag_wire *wire = &plan->wires.items[w];
            const struct dag_slot *other = &plan->slots.items[up ? wire->from : wire->to];
            if ((up ? wire->to : wire->from) == items[i] && other->box < 0 && other->col >= least &&
                other->col <= most)
                slot->col = other->col;
        }
    }
}

static void dag_columns(const struct ui_dag *dag, struct dag_plan *plan)
{
    int middle = 0;
    for (size_t i = 0; i < plan->slots.n; i++)
        if (plan->slots.items[i].box == dag->centre)
            middle = plan->slots.items[i].layer;
    dag_widths(plan, dag->cols);
    for (int l = 0; l < plan->n; l++)
        dag_move_layer(dag, plan, l, 0);
    for (int round = 0; round < 3; round++) {
        for (int l = 0; l < plan->n; l++)
            dag_move_layer(dag, plan, l, -1);
        for (int l = plan->n - 1; l >= 0; l--)
            dag_move_layer(dag, plan, l, 1);
        for (int l = middle - 1; l >= 0; l--)
            dag_move_layer(dag, plan, l, 1);
        for (int l = middle; l < plan->n; l++)
            dag_move_layer(dag, plan, l, -1);
    }
    for (int l = 0; l < plan->n; l++)
        dag_straighten(dag, plan, l, true);
    for (int l = plan->n - 1; l >= 0; l--)
        dag_straighten(dag, plan, l, false);
}

/* --- where lines leave and enter boxes -------------------------------------------------------- */

/* A wire, or a net of them, at one side of a box. */
struct dag_port {
    double wanted;
    int wire;
};

static int dag_compare_ports(const void *a, const void *b)
{
    const struct dag_port *x = a, *y = b;
    if (x->wanted != y->wanted)
        return x->wanted < y->wanted ? -1 : 1;
    return (x->wire > y->wire) - (x->wire < y->wire);
}

/* Columns for the ports of a slot: below what they lead to where that can be, apart from one
 * another, and all in one place where there are too many. */
static void dag_place_ports(const struct dag_slot *slot, struct dag_port *ports, size_t n,
                            int *cols)
{
    int margin = slot->cols >= UI_DAG_NARROWEST ? 3 : slot->cols > 2; /* corners stay corners */
    int room = ODB_MAX(slot->cols - 2 * margin, 1), left = slot->col + margin;
    bool fits = 2 * (int)n - 1 <= room;
    double *wanted = odb_new_n(double, n + 1);
    int *widths = odb_new_n(int, n + 1);
    qsort(ports, n, sizeof *ports, dag_compare_ports);
    for (size_t i = 0; i < n; i++) {
        wanted[i] = ODB_MIN(ODB_MAX(ports[i].wanted - left, 0), room - 1);
        widths[i] = 1;
    }
    if (fits)
        dag_spread((int)n, wanted, widths, 1, room, cols);
    for (size_t i = 0; i < n; i++)
        cols[i] = left + (fits ? cols[i] : (int)wanted[i]);
    free(wanted);
    free(widths);
}

/* The first wire of a net: of those that leave a slot with the same value. */
static bool dag_leads_net(const struct dag_plan *plan, size_t at)
{
    const struct dag_wire *wires = plan->wires.items;
    for (size_t i = 0; i < at; i++)
        if (wires[i].from == wires[at].from && wires[i].value == wires[at].value)
            return false;
    return true;
}

static double dag_net_wants(const struct dag_plan *plan, const struct dag_wire *wire)
{
    const struct dag_slot *from = &plan->slots.items[wire->from];
    double sum = 0, n = 0, one = true;
    for (size_t i = 0; i < plan->wires.n; i++) {
        const struct dag_wire *other = &plan->wires.items[i];
        if (other->from != wire->from)
            continue;
        one = one && other->value == wire->value;
        if (other->value == wire->value) {
            sum += dag_middle_of(&plan->slots.items[other->to]);
            n++;
        }
    }
    return one && n > 1 ? dag_middle_of(from) : sum / n;
}

static void dag_out_ports(struct dag_plan *plan, int slot)
{
    struct dag_port *ports = odb_new_n(struct dag_port, plan->wires.n + 1);
    int *cols = odb_new_n(int, plan->wires.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < plan->wires.n; i++)
        if (plan->wires.items[i].from == slot && dag_leads_net(plan, i))
            ports[n++] = (struct dag_port){dag_net_wants(plan, &plan->wires.items[i]), (int)i};
    dag_place_ports(&plan->slots.items[slot], ports, n, cols);
    for (size_t p = 0; p < n; p++)
        for (size_t i = 0; i < plan->wires.n; i++)
            if (plan->wires.items[i].from == slot &&
                plan->wires.items[i].value == plan->wires.items[ports[p].wire].value)
                plan->wires.items[i].out_col = cols[p];
    free(ports);
    free(cols);
}

static void dag_in_ports(struct dag_plan *plan, int slot)
{
    const struct dag_slot *to = &plan->slots.items[slot];
    struct dag_port *ports = odb_new_n(struct dag_port, plan->wires.n + 1);
    int *cols = odb_new_n(int, plan->wires.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < plan->wires.n; i++)
        if (plan->wires.items[i].to == slot)
            ports[n++] = (struct dag_port){plan->wires.items[i].out_col, (int)i};
    if (n == 1 && (ports[0].wanted <= to->col || ports[0].wanted >= to->col + to->cols - 1))
        ports[0].wanted = dag_middle_of(to);
    dag_place_ports(to, ports, n, cols);
    for (size_t p = 0; p < n; p++)
        plan->wires.items[ports[p].wire].in_col = cols[p];
    free(ports);
    free(cols);
}

/* --- tracks ----------------------------------------------------------------------------------- */

struct dag_net {
    int from, value, left, right, out_col;
    int track; /* -1: not yet; -2: straight */
};

typedef ODB_VEC(struct dag_net) dag_nets;

static void dag_gather_nets(const struct dag_plan *plan, int layer, dag_nets *nets)
{
    for (size_t i = 0; i < plan->wires.n; i++) {
        const struct dag_wire *wire = &plan->wires.items[i];
        size_t at = 0;
        if (plan->slots.items[wire->from].layer != layer)
            continue;
        while (at < nets->n &&
               (nets->items[at].from != wire->from || nets->items[at].value != wire->value))
            at++;
        if (at == nets->n)
            odb_push(nets, (struct dag_net){wire->from, wire->value, wire->out_col, wire->out_col,
                                            wire->out_col, -1});
        struct dag_net *net = &nets->items[at];
        net->left = ODB_MIN(net->left, wire->in_col);
        net->right = ODB_MAX(net->right, wire->in_col);
    }
    for (size_t i = 0; i < nets->n; i++)
        if (nets->items[i].left == nets->items[i].right)
            nets->items[i].track = -2;
}

/* Whether a has to turn above b: b comes down to a box where a begins. */
static bool dag_before(const struct dag_plan *plan, const struct dag_net *a,
                       const struct dag_net *b)
{
    for (size_t i = 0; i < plan->wires.n; i++) {
        const struct dag_wire *wire = &plan->wires.items[i];
        if (wire->from == b->from && wire->value == b->value && wire->in_col == a->out_col)
            return true;
    }
    return false;
}

/* The first row for a net that is below those that turn before it, and free. */
static int dag_free_track(const struct dag_plan *plan, const dag_nets *nets,
                          const struct dag_net *net)
{
    int track = 0;
    for (size_t i = 0; i < nets->n; i++)
        if (nets->items[i].track >= 0 && dag_before(plan, &nets->items[i], net))
            track = ODB_MAX(track, nets->items[i].track + 1);
    for (size_t i = 0; i < nets->n; i++) {
        const struct dag_net *other = &nets->items[i];
        if (other->track == track && other->left <= net->right + 1 &&
            other->right >= net->left - 1) {
            track++;
            i = (size_t)-1; /* from the beginning, for the next row */
        }
    }
    return track;
}

/* Every net its row; returns how many rows there are. */
static int dag_tracks(struct dag_plan *plan, int layer)
{
    dag_nets nets = {0};
    int rows = 0;
    dag_gather_nets(plan, layer, &nets);
    for (;;) {
        size_t any = nets.n, next = nets.n;
        for (size_t i = 0; i < nets.n && next == nets.n; i++) {
            if (nets.items[i].track != -1)
                continue;
            bool waits = false;
            for (size_t k = 0; k < nets.n; k++)
                waits |= k != i && nets.items[k].track == -1 &&
                         dag_before(plan, &nets.items[k], &nets.items[i]);
            any = ODB_MIN(any, i);
            next = waits ? next : i;
        }
        if (any == nets.n)
            break;
        struct dag_net *net =
            &nets.items[next < nets.n ? next : any]; /* any: they wait in a ring */
        net->track = dag_free_track(plan, &nets, net);
        rows = ODB_MAX(rows, net->track + 1);
    }
    for (size_t i = 0; i < plan->wires.n; i++)
        for (size_t k = 0; k < nets.n; k++)
            if (plan->wires.items[i].from == nets.items[k].from &&
                plan->wires.items[i].value == nets.items[k].value)
                plan->wires.items[i].track = nets.items[k].track;
    free(nets.items);
    return rows;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* From roomy to tight: lines of text in a box, and whether lines end in arrows. */
static const struct {
    int text, arrow;
} dag_sizes[] = {{3, 1}, {2, 1}, {1, 1}, {1, 0}};

static int dag_rows(const struct dag_plan *plan, size_t size)
{
    int rows = plan->n * (dag_sizes[size].text + 2);
    for (int l = 0; l + 1 < plan->n; l++)
        rows += ODB_MAX(plan->tracks[l] + dag_sizes[size].arrow, 1);
    return rows;
}

static int dag_place_rows(struct ui_dag *dag, struct dag_plan *plan, int room)
{
    size_t size = 0;
    while (size < ODB_COUNT(dag_sizes) - 1 && dag_rows(plan, size) > room)
        size++;
    if (dag_rows(plan, size) > room) /* it has to be scrolled anyway */
        size = 1;
    dag->text = dag_sizes[size].text;
    dag->rows = dag_rows(plan, size);
    for (int l = 0, row = 0; l < plan->n; l++) {
        plan->top[l] = row;
        row += dag->text + 2 + ODB_MAX(plan->tracks[l] + dag_sizes[size].arrow, 1);
    }
    for (size_t i = 0; i < plan->slots.n; i++) {
        const struct dag_slot *slot = &plan->slots.items[i];
        if (slot->box < 0)
            continue;
        struct ui_dag_box *box = &dag->boxes.items[slot->box];
        box->row = plan->top[slot->layer];
        box->col = slot->col;
        box->rows = dag->text + 2;
        box->cols = slot->cols;
    }
    return dag_sizes[size].arrow;
}

/* --- lines ------------------------------------------------------------------------------------ */

/* net 0: only lights what is there. */
static void dag_arm(struct ui_dag *dag, int row, int col, unsigned arms, int net, int value)
{
    if (row < 0 || row >= dag->rows || col < 0 || col >= dag->cols)
        return;
    struct ui_dag_cell *cell = &dag->cells[row * dag->cols + col];
    int *owner = &dag->plan->net_of[row * dag->cols + col];
    if (!net) {
        cell->lit |= arms & cell->arms;
        return;
    }
    bool over = cell->arms == (UI_DAG_LEFT | UI_DAG_RIGHT) && *owner != net &&
                !(arms & (UI_DAG_LEFT | UI_DAG_RIGHT));
    cell->arms = (unsigned char)(over ? arms : cell->arms | arms);
    cell->value = !over && *owner && *owner != net ? ODB_NO_VALUE : value;
    *owner = net;
}

static void dag_across(struct ui_dag *dag, const struct dag_wire *wire, int row, int net)
{
    int left = ODB_MIN(wire->out_col, wire->in_col), right = ODB_MAX(wire->out_col, wire->in_col);
    for (int col = left; col <= right; col++)
        dag_arm(dag, row, col, (col > left ? UI_DAG_LEFT : 0) | (col < right ? UI_DAG_RIGHT : 0),
                net, wire->value);
}

/* From row to end; open: it goes on at that end. */
static void dag_down(struct ui_dag *dag, const struct dag_wire *wire, int col, int row, int end,
                     unsigned open, int net)
{
    for (int at = row; at <= end; at++)
        dag_arm(dag, at, col,
                (at > row ? UI_DAG_UP : open & UI_DAG_UP) |
                    (at < end ? UI_DAG_DOWN : open & UI_DAG_DOWN),
                net, wire->value);
}

/* The parts of a wire: across 1, down 2; from the border of the box above to that below. */
static void dag_draw_wire(struct ui_dag *dag, const struct dag_wire *wire, unsigned parts, int net)
{
    const struct dag_plan *plan = dag->plan;
    const struct dag_slot *from = &plan->slots.items[wire->from],
                          *to = &plan->slots.items[wire->to];
    int first = plan->top[from->layer] + dag->text + 2, last = plan->top[to->layer] - 1;
    int turn = first + wire->track;
    if (wire->track < 0)
        turn = last;
    else if (parts & 1)
        dag_across(dag, wire, turn, net);
    if (!(parts & 2))
        return;
    if (from->box >= 0) /* out of the border */
        dag_arm(dag, first - 1, wire->out_col, UI_DAG_DOWN, net, wire->value);
    dag_down(dag, wire, wire->out_col, first, turn,
             wire->track < 0 ? UI_DAG_UP | UI_DAG_DOWN : UI_DAG_UP, net);
    if (wire->track >= 0)
        dag_down(dag, wire, wire->in_col, turn, last, UI_DAG_DOWN, net);
    if (to->box < 0) /* past a layer */
        dag_down(dag, wire, wire->in_col, last + 1, last + dag->text + 2, UI_DAG_UP | UI_DAG_DOWN,
                 net);
}

/* 1 + the first wire of the net that a wire belongs to. */
static int dag_net_of(const struct dag_plan *plan, size_t at)
{
    const struct dag_wire *wires = plan->wires.items;
    for (size_t i = 0; i < at; i++)
        if (wires[i].from == wires[at].from && wires[i].value == wires[at].value)
            return (int)i + 1;
    return (int)at + 1;
}

static void dag_draw_lines(struct ui_dag *dag, bool arrows)
{
    struct dag_plan *plan = dag->plan;
    for (unsigned part = 1; part <= 2; part++) /* what goes down goes over what goes across */
        for (size_t i = 0; i < plan->wires.n; i++)
            dag_draw_wire(dag, &plan->wires.items[i], part, dag_net_of(plan, i));
    for (size_t i = 0; i < plan->wires.n; i++) {
        const struct dag_wire *wire = &plan->wires.items[i];
        const struct dag_slot *to = &plan->slots.items[wire->to];
        int row = plan->top[to->layer] - 1;
        if (arrows && to->box >= 0 && wire->in_col < dag->cols)
            dag->cells[row * dag->cols + wire->in_col].arrow = true;
    }
}

void ui_dag_light(struct ui_dag *dag, int box)
{
    const struct dag_plan *plan = dag->plan;
    for (int i = 0; i < dag->rows * dag->cols; i++)
        dag->cells[i].lit = 0;
    for (size_t e = 0; e < dag->edges.n; e++) {
        const struct ui_dag_edge *edge = &dag->edges.items[e];
        if (edge->from != box && edge->to != box)
            continue;
        for (size_t p = plan->path_first.items[e]; p + 1 < plan->path_first.items[e + 1]; p++)
            for (size_t i = 0; i < plan->wires.n; i++)
                if (plan->wires.items[i].from == plan->path.items[p] &&
                    plan->wires.items[i].to == plan->path.items[p + 1] &&
                    plan->wires.items[i].value == edge->value)
                    dag_draw_wire(dag, &plan->wires.items[i], 3, 0);
    }
}

void ui_dag__layout(struct ui_dag *dag, const struct ui_dag_options *options)
{
    struct dag_plan *plan = dag_plan_new(dag);
    dag->plan = plan;
    dag->cols = ODB_MAX(options->cols, 1);
    dag_order(dag, plan);
    dag_renumber(dag, plan);
    dag_columns(dag, plan);
    for (int l = 0; l < plan->n; l++)
        for (size_t i = 0; i < plan->layers[l].n; i++)
            dag_out_ports(plan, plan->layers[l].items[i]);
    for (int l = 0; l < plan->n; l++)
        for (size_t i = 0; i < plan->layers[l].n; i++)
            dag_in_ports(plan, plan->layers[l].items[i]);
    for (int l = 0; l + 1 < plan->n; l++)
        plan->tracks[l] = dag_tracks(plan, l);
    bool arrows = dag_place_rows(dag, plan, options->rows);
    size_t n = (size_t)dag->rows * (size_t)dag->cols;
    dag->cells = odb_new_n(struct ui_dag_cell, n);
    plan->net_of = odb_new_n(int, n);
    for (size_t i = 0; i < n; i++)
        dag->cells[i].value = ODB_NO_VALUE;
    dag_draw_lines(dag, arrows);
}
