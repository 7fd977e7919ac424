/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One cut after another, where halving cannot be trusted: an error that comes, goes and comes again
 * is met where it comes first. Cuts stand a step apart; within the step where they become bad,
 * every node is asked.
 */
#include "bisect/strategy/linear.h"

#include <stdlib.h>

#include "base/mem.h"
#include "bisect/findings.h"
#include "bisect/strategy/hunt.h"
#include "search/search.h"

size_t linear_step(const struct search_case *c, size_t n)
{
    size_t step = c->options->step;
    while (!step || (!c->options->step && step * step < n))
        step++;
    return step;
}

struct linear {
    const struct search_case *c; /* borrowed */
    struct findings *f;          /* borrowed */
    int value;                   /* the output that is wrong */
    bool *suspects;              /* owned; [n_nodes] */
    int *list;                   /* owned: those to ask, in order */
    enum odb_answer *answers;    /* owned: of list */
    size_t n;
    size_t asked; /* in all */
};

/* Keeps the suspects among a node's ancestors, itself included, or those that are not. */
static void linear_narrow(struct linear *l, int node, bool among)
{
    const struct search_case *c = l->c;
    bool *up = odb_new_n(bool, c->graph->n_nodes);
    odb_graph_ancestors(c->graph, c->graph->nodes[node].out, (size_t)c->graph->nodes[node].n_out,
                        c->drawn, up);
    up[node] = true;
    for (size_t i = 0; i < c->graph->n_nodes; i++)
        l->suspects[i] = l->suspects[i] && up[i] == among;
    free(up);
}

/* Asks for every step-th suspect but the last, which is known to be bad; then, from the first bad
 * one's ancestors, takes what good ones cleared away. */
static enum odb_status linear_pass(struct linear *l, size_t step, struct odb_error *err)
{
    const struct search_case *c = l->c;
    struct findings *f = l->f;
    size_t seen = 0, asked = 0;
    int last = -1;
    l->n = 0;
    for (size_t i = 0; i < c->graph->n_nodes; i++) {
        if (!l->suspects[i])
            continue;
        if (last >= 0 && ++seen % step == 0)
            l->list[l->n++] = last;
        last = (int)i;
    }
    ODB_TRY(hunt_ask_prefixes(c, f, ODB_OK, l->value, "cuts in order", l->list, l->n, true,
                              l->answers, &asked, err));
    l->asked += asked;
    if (asked && l->answers[asked - 1] == ODB_ANSWER_BAD)
        linear_narrow(l, l->list[asked - 1], true);
    for (size_t i = 0; i < asked; i++)
        if (l->answers[i] == ODB_ANSWER_GOOD)
            linear_narrow(l, l->list[i], false);
    return ODB_OK;
}

enum odb_status linear_hunt(const struct search_case *c, struct findings *f, int value,
                            struct odb_error *err)
{
    size_t n = c->graph->n_nodes, count = 0;
    struct linear l = {
        c, f, value, odb_new_n(bool, n), odb_new_n(int, n), odb_new_n(enum odb_answer, n), 0, 0};
    odb_graph_ancestors(c->graph, &value, 1, c->drawn, l.suspects);
    for (size_t i = 0; i < n; i++)
        count += l.suspects[i];
    size_t step = linear_step(c, count);
    findings_step_begin(f, "cuts in order");
    enum odb_status status = step > 1 ? linear_pass(&l, step, err) : ODB_OK;
    if (status == ODB_OK)
        status = linear_pass(&l, 1, err);
    findings_step_end(f, "linear", "%zu cut%s in order, %zu node%s apart, for %.100s", l.asked,
                      odb_plural(l.asked), step, odb_plural(step), c->graph->values[value].name);
    if (status == ODB_OK && hunt_proves(c, f, value, l.suspects))
        status = hunt_accuse_left(c, f, value, l.suspects, NULL, true, err);
    free(l.suspects);
    free(l.list);
    free(l.answers);
    return status;
}
