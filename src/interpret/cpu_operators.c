/* SPDX-License-Identifier: MIT
 *
 * What the reference can run: kernels of its own, those of libraries, and what has bodies.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "interpret/cpu_int.h"

static int operators_order(const void *x, const void *y)
{
    const struct odb_cpu_operator *a = x, *b = y;
    int order = strcmp(a->domain, b->domain);
    order = order ? order : strcmp(a->name, b->name);
    return order ? order : a->since - b->since;
}

const struct odb_op *odb_cpu_row(const struct odb_node *node)
{
    return cpu_control_find(node->domain, node->op_type)
               ? cpu_control_op(node)
               : odb_op_find(node->domain, node->op_type, node->opset);
}

struct odb_cpu_operator *odb_cpu_operators(size_t *n)
{
    ODB_VEC(struct odb_cpu_operator) all = {0};
    size_t n_rows;
    const struct odb_op *const *rows = odb_op_table(&n_rows), *op;
    for (size_t i = 0; i < n_rows; i++)
        if (rows[i]->run || rows[i]->facts.without ||
            cpu_control_find(rows[i]->domain, rows[i]->name))
            odb_push(&all,
                     (struct odb_cpu_operator){rows[i]->domain, rows[i]->name, rows[i]->since,
                                               rows[i]->flags, false, rows[i]->facts.without});
    for (size_t i = 0; (op = odb_op_added(i)) != NULL; i++)
        odb_push(&all,
                 (struct odb_cpu_operator){op->domain, op->name, op->since, op->flags, true, NULL});
    qsort(all.items, all.n, sizeof *all.items, operators_order);
    *n = all.n;
    return all.items;
}
