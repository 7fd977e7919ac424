/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/search_case.h"

#include "bisect/findings.h"

int case_output_of(const struct bisection *b, int node)
{
    const struct odb_node *n = &b->graph->nodes[node];
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0 && b->graph->values[n->out[o]].name[0])
            return n->out[o];
    return ODB_NO_VALUE;
}
