/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sequence/constants_near.h"

#include <stdlib.h>

#define NEAR_TOLD 4

struct near {
    int64_t length;
    size_t told, left;
    struct odb_buf *out;
};

static bool near_is(const struct near *near, int64_t n)
{
    return n >= near->length - 1 && n <= near->length + 1;
}

/* Begins one more entry; false: there are enough. */
static bool near_begin(struct near *near)
{
    if (near->told >= NEAR_TOLD) {
        near->left++;
        return false;
    }
    odb_buf_puts(near->out, near->told++ ? ", " : "numbers of the model near that length: ");
    return true;
}

static void near_weights(struct near *near, const struct odb_graph *graph)
{
    for (size_t v = 0; v < graph->n_values; v++) {
        const struct odb_tensor *t = graph->values[v].init;
        bool one = t && t->kind == ODB_TENSOR && t->count == 1 && t->data &&
                   odb_dtype_is_integer(t->dtype) && near_is(near, odb_tensor_i64(t, 0));
        bool rows = t && t->kind == ODB_TENSOR && t->rank >= 2 && near_is(near, t->dims[0]);
        if (!one && !rows)
            continue;
        if (!near_begin(near))
            continue;
        odb_buf_put_shown(near->out, graph->values[v].name);
        odb_buf_printf(near->out, one ? " is %lld" : " has %lld rows",
                       (long long)(one ? odb_tensor_i64(t, 0) : t->dims[0]));
    }
}

static void near_attributes(struct near *near, const struct odb_graph *graph)
{
    for (size_t n = 0; n < graph->n_nodes; n++)
        for (size_t a = 0; a < graph->nodes[n].attrs.n; a++) {
            const struct odb_attr *attr = &graph->nodes[n].attrs.items[a];
            if (attr->type != ODB_ATTR_INT || !near_is(near, attr->i) || !near_begin(near))
                continue;
            odb_buf_printf(near->out, "%s=%lld of ", attr->name, (long long)attr->i);
            odb_node_put(graph, (int)n, near->out);
        }
}

void odb_constants_near(const struct odb_model *model, int64_t length, struct odb_buf *out)
{
    struct near near = {.length = length, .out = out};
    if (length < 8)
        return;
    near_attributes(&near, model->graph);
    near_weights(&near, model->graph);
    if (near.left)
        odb_buf_printf(out, " and %zu more", near.left);
    if (near.told)
        odb_buf_putc(out, '\n');
}
