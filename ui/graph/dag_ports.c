/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where lines leave and enter boxes: below, and above, what they lead to where that can be.
 */
#include <stdlib.h>

#include "ui/graph/dag_int.h"

#define DAG_MARGIN 3 /* columns of a box that ports leave free at either side, if they can */

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
    const int most = slot->cols - 2 * (slot->cols > 2); /* corners stay corners */
    int gap = 2 * (int)n - 1 <= most, need = (int)n * (1 + gap) - gap;
    int room = ODB_MAX(ODB_MAX(slot->cols - 2 * DAG_MARGIN, ODB_MIN(need, most)), 1);
    int left = slot->col + (slot->cols - room) / 2;
    bool fits = need <= room;
    double *wanted = odb_new_n(double, n + 1);
    int *widths = odb_new_n(int, n + 1);
    qsort(ports, n, sizeof *ports, dag_compare_ports);
    for (size_t i = 0; i < n; i++) {
        wanted[i] = ODB_MIN(ODB_MAX(ports[i].wanted - left, 0), room - 1);
        widths[i] = 1;
    }
    if (fits)
        ui_dag__spread((int)n, wanted, widths, gap, room, cols);
    for (size_t i = 0; i < n; i++)
        cols[i] = left + (fits ? cols[i] : (int)wanted[i]);
    free(wanted);
    free(widths);
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
            sum += ui_dag__middle(&plan->slots.items[other->to]);
            n++;
        }
    }
    return one && n > 1 ? ui_dag__middle(from) : sum / n;
}

static void dag_out_ports(struct dag_plan *plan, int slot)
{
    struct dag_port *ports = odb_new_n(struct dag_port, plan->wires.n + 1);
    int *cols = odb_new_n(int, plan->wires.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < plan->wires.n; i++)
        if (plan->wires.items[i].from == slot && ui_dag__net(plan, i) == i)
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
        ports[0].wanted = ui_dag__middle(to);
    dag_place_ports(to, ports, n, cols);
    for (size_t p = 0; p < n; p++)
        plan->wires.items[ports[p].wire].in_col = cols[p];
    free(ports);
    free(cols);
}

void ui_dag__ports(struct dag_plan *plan, int layer)
{
    for (size_t i = 0; i < plan->layers[layer].n; i++)
        dag_out_ports(plan, plan->layers[layer].items[i]);
    for (size_t i = 0; i < plan->layers[layer + 1].n; i++)
        dag_in_ports(plan, plan->layers[layer + 1].items[i]);
}
