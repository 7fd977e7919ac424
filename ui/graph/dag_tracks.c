/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rows between two layers: every net goes across in one of them.
 */
#include <stdlib.h>

#include "ui/graph/dag_int.h"

struct dag_net {
    int from, value, left, right, out_col;
    int track; /* -1: not yet; -2: straight */
};

typedef ODB_VEC(struct dag_net) dag_nets;

/* NULL: it is in another gap. */
static struct dag_net *dag_net_of(const dag_nets *nets, const struct dag_wire *wire)
{
    for (size_t i = 0; i < nets->n; i++)
        if (nets->items[i].from == wire->from && nets->items[i].value == wire->value)
            return &nets->items[i];
    return NULL;
}

/* From where to where they go across. */
static void dag_measure_nets(const struct dag_plan *plan, dag_nets *nets)
{
    for (size_t i = 0; i < nets->n; i++)
        nets->items[i].left = nets->items[i].right = nets->items[i].out_col;
    for (size_t i = 0; i < plan->wires.n; i++) {
        const struct dag_wire *wire = &plan->wires.items[i];
        struct dag_net *net = dag_net_of(nets, wire);
        if (!net)
            continue;
        net->left = ODB_MIN(net->left, wire->in_col);
        net->right = ODB_MAX(net->right, wire->in_col);
    }
    for (size_t i = 0; i < nets->n; i++)
        if (nets->items[i].left == nets->items[i].right)
            nets->items[i].track = -2;
}

static void dag_gather_nets(const struct dag_plan *plan, int layer, dag_nets *nets)
{
    for (size_t i = 0; i < plan->wires.n; i++) {
        const struct dag_wire *wire = &plan->wires.items[i];
        if (plan->slots.items[wire->from].layer == layer && !dag_net_of(nets, wire))
            odb_push(nets, (struct dag_net){.from = wire->from,
                                            .value = wire->value,
                                            .out_col = wire->out_col,
                                            .track = -1});
    }
    dag_measure_nets(plan, nets);
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

/* Whether a wire could enter its slot at this column: in the way of no other line. */
static bool dag_may_enter(const struct dag_plan *plan, const struct dag_wire *wire, int col,
                          int apart)
{
    int layer = plan->slots.items[wire->from].layer;
    for (size_t i = 0; i < plan->wires.n; i++) {
        const struct dag_wire *other = &plan->wires.items[i];
        if (plan->slots.items[other->from].layer != layer)
            continue;
        if (other->out_col == col || (other != wire && abs(other->in_col - col) < apart))
            return false;
    }
    return true;
}

/* Columns in which a wire may enter: of a box, or between what stands beside a line. */
static void dag_entrance(const struct dag_plan *plan, int slot, int *least, int *most)
{
    const struct dag_slot *slots = plan->slots.items, *to = &slots[slot];
    const int *items = plan->layers[to->layer].items;
    size_t n = plan->layers[to->layer].n, at = 0;
    while (items[at] != slot)
        at++;
    const struct dag_slot *before = at ? &slots[items[at - 1]] : NULL;
    const struct dag_slot *behind = at + 1 < n ? &slots[items[at + 1]] : NULL;
    int corner = to->cols > 2;
    *least = to->box >= 0 ? to->col + corner : before ? before->col + before->cols + 1 : 0;
    *most = to->box >= 0 ? to->col + to->cols - 1 - corner
            : behind     ? behind->col - 2
                         : plan->cols - 1;
}

/* Has a wire enter elsewhere, near where it did. */
static bool dag_enter_elsewhere(struct dag_plan *plan, struct dag_wire *wire)
{
    struct dag_slot *to = &plan->slots.items[wire->to];
    int least, most;
    dag_entrance(plan, wire->to, &least, &most);
    for (int apart = 2; apart > 0; apart--)
        for (int by = 1; by <= most - least; by++)
            for (int sign = -1; sign <= 1; sign += 2) {
                int col = wire->in_col + sign * by;
                if (col < least || col > most || !dag_may_enter(plan, wire, col, apart))
                    continue;
                wire->in_col = col;
                if (to->box < 0)
                    to->col = col;
                return true;
            }
    return false;
}

/* Nets that wait for one another in a ring: one of their wires gets out of the way. */
static bool dag_break_ring(struct dag_plan *plan, dag_nets *nets)
{
    for (size_t i = 0; i < plan->wires.n; i++)
        for (size_t k = 0; k < nets->n; k++) {
            struct dag_wire *wire = &plan->wires.items[i];
            const struct dag_net *waits = dag_net_of(nets, wire), *first = &nets->items[k];
            if (waits && waits != first && waits->track == -1 && first->track == -1 &&
                wire->in_col == first->out_col && dag_enter_elsewhere(plan, wire)) {
                dag_measure_nets(plan, nets);
                return true;
            }
        }
    return false;
}

/* A net whose turn it is: all that turn before it have their rows. nets->n: all have one. */
static size_t dag_next_net(struct dag_plan *plan, dag_nets *nets)
{
    for (;;) {
        size_t any = nets->n;
        for (size_t i = 0; i < nets->n; i++) {
            if (nets->items[i].track != -1)
                continue;
            bool waits = false;
            for (size_t k = 0; k < nets->n; k++)
                waits |= k != i && nets->items[k].track == -1 &&
                         dag_before(plan, &nets->items[k], &nets->items[i]);
            if (!waits)
                return i;
            any = ODB_MIN(any, i);
        }
        if (any == nets->n || !dag_break_ring(plan, nets))
            return any;
    }
}

int ui_dag__tracks(struct dag_plan *plan, int layer)
{
    dag_nets nets = {0};
    int rows = 0;
    dag_gather_nets(plan, layer, &nets);
    for (size_t next; (next = dag_next_net(plan, &nets)) < nets.n;) {
        nets.items[next].track = dag_free_track(plan, &nets, &nets.items[next]);
        rows = ODB_MAX(rows, nets.items[next].track + 1);
    }
    for (size_t i = 0; i < plan->wires.n; i++) {
        const struct dag_net *net = dag_net_of(&nets, &plan->wires.items[i]);
        if (net)
            plan->wires.items[i].track = net->track;
    }
    free(nets.items);
    return rows;
}
