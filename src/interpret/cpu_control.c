/* SPDX-License-Identifier: MIT
 *
 * Which function runs each operator that needs the graph. What calls of them are held against
 * stands in rows of the kernels' table, as of all operators.
 */
#include <string.h>

#include "interpret/cpu_int.h"

static const struct cpu_control_row control_rows[] = {
#define CONTROL(domain, name, run) {domain, #name, run},
#include "interpret/control.def"
#undef CONTROL
};

const struct cpu_control_row *cpu_control_find(const char *domain, const char *op_type)
{
    for (size_t i = 0; i < ODB_COUNT(control_rows); i++)
        if (!strcmp(op_type, control_rows[i].op_type) && !strcmp(domain, control_rows[i].domain))
            return &control_rows[i];
    return NULL;
}

const struct odb_op *cpu_control_op(const struct odb_node *node)
{
    const struct odb_op *found = NULL;
    size_t n;
    const struct odb_op *const *rows = odb_op_rows(node->domain, node->op_type, &n);
    for (size_t i = 0; i < n; i++)
        if (!found || rows[i]->since <= node->opset || node->opset < 1)
            found = rows[i];
    return found;
}
