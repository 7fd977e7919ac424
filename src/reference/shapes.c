/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reference/shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/feeds.h"
#include "run/hooks.h"
#include "run/memory_budget.h"
#include "interpret/cpu.h"
#include "model/read/load.h"
#include "model/write/external.h"

void odb_shape_of(struct odb_shape *out, const struct odb_tensor *t)
{
    *out = (struct odb_shape){.known = t->kind == ODB_TENSOR, .dtype = t->dtype, .rank = t->rank};
    memcpy(out->dims, t->dims, sizeof out->dims);
}

uint64_t odb_shape_count(const struct odb_shape *shape)
{
    uint64_t n = 1;
    for (int i = 0; i < shape->rank; i++)
        n *= (uint64_t)shape->dims[i];
    return n;
}

uint64_t odb_shape_bytes(const struct odb_shape *shape)
{
    size_t bytes = 0;
    return shape->known && odb_dtype_bytes(shape->dtype, odb_shape_count(shape), &bytes) ? bytes
                                                                                         : 0;
}

const char *odb_shape_put(const struct odb_shape *shape, bool shown, char *buf, size_t size)
{
    struct odb_buf text = ODB_BUF_INIT;
    if (shape->known)
        odb_buf_puts(&text, odb_dtype_info(shape->dtype)->name);
    bool dims = shape->known && (shape->rank || shown);
    odb_buf_puts(&text, dims ? "[" : "");
    for (int i = 0; dims && i < shape->rank; i++)
        odb_buf_printf(&text, "%s%lld", i ? ", " : "", (long long)shape->dims[i]);
    odb_buf_puts(&text, dims ? "]" : "");
    snprintf(buf, size, "%s", odb_buf_text(&text));
    odb_buf_dispose(&text);
    return buf;
}

static void shapes_init(struct odb_shapes *out, const struct odb_model *model)
{
    *out = (struct odb_shapes){.values = odb_new_n(struct odb_shape, model->graph->n_values + 1),
                               .why = odb_new_n(char *, model->graph->n_nodes + 1),
                               .n_nodes = model->graph->n_nodes};
    for (size_t v = 0; v < model->graph->n_values; v++)
        if (model->graph->values[v].init)
            odb_shape_of(&out->values[v], model->graph->values[v].init);
}

void odb_shapes_declared(struct odb_shapes *out, const struct odb_model *model)
{
    shapes_init(out, model);
    for (size_t v = 0; v < model->graph->n_values; v++) {
        const struct odb_type *type = &model->graph->values[v].type;
        struct odb_shape shape = {.dtype = type->dtype, .rank = type->rank};
        shape.known = type->known && type->kind == ODB_TENSOR && type->dtype && type->rank >= 0 &&
                      type->rank <= ODB_MAX_RANK;
        for (int i = 0; shape.known && i < type->rank; i++) {
            shape.known = type->dims[i].value >= 0;
            shape.dims[i] = type->dims[i].value;
        }
        if (shape.known && !out->values[v].known)
            out->values[v] = shape;
    }
}

struct shapes_run {
    struct odb_shapes *out;
    const struct odb_graph *graph;
    struct odb_tensor **values; /* owned */
    void (*see)(void *payload, int value, const struct odb_tensor *t);
    void *payload;
    const struct odb_search_hooks *hooks;
};

static enum odb_status shapes_after(void *payload, int node, enum odb_status status,
                                    struct odb_error *err)
{
    struct shapes_run *run = payload;
    const struct odb_node *n = &run->graph->nodes[node];
    char text[600];
    if (run->hooks)
        odb_hooks_progress(run->hooks, "reference", node, (size_t)node + 1, run->graph->n_nodes);
    if (run->hooks && odb_memory_budget(run->hooks->budget).capped)
        odb_model_drop_pages(run->graph->model);
    if (status != ODB_OK)
        run->out->why[node] = odb_xstrdup(odb_error_text(err, text, sizeof text));
    for (int o = 0; status == ODB_OK && o < n->n_out; o++) {
        const struct odb_tensor *t = n->out[o] < 0 ? NULL : run->values[n->out[o]];
        if (!t)
            continue;
        odb_shape_of(&run->out->values[n->out[o]], t);
        if (run->see)
            run->see(run->payload, n->out[o], t);
    }
    return ODB_OK;
}

static bool shapes_cancelled(void *payload)
{
    const struct shapes_run *run = payload;
    return run->hooks && run->hooks->cancelled && run->hooks->cancelled(run->hooks->payload);
}

enum odb_status odb_shapes_measure(struct odb_shapes *out, const struct odb_model *model,
                                   const struct odb_feeds *feeds,
                                   void (*see)(void *, int, const struct odb_tensor *),
                                   void *payload, const struct odb_search_hooks *hooks,
                                   struct odb_error *err)
{
    struct shapes_run run = {.out = out,
                             .graph = model->graph,
                             .values = odb_new_n(struct odb_tensor *, model->graph->n_values + 1),
                             .see = see,
                             .payload = payload,
                             .hooks = hooks};
    struct odb_cpu_run how = {.values = run.values,
                              .free_dead = true,
                              .after = shapes_after,
                              .payload = &run,
                              .cancelled = shapes_cancelled};
    struct odb_cpu *cpu = NULL;
    enum odb_status status;
    shapes_init(out, model);
    out->measured = true;
    ODB_TRY_OUT(odb_model_require_data(model, err));
    ODB_TRY_OUT(odb_cpu_new(&cpu, model, err));
    for (size_t f = 0; f < feeds->n; f++) {
        run.values[feeds->items[f].value] = odb_tensor_ref(feeds->items[f].tensor);
        odb_shape_of(&out->values[feeds->items[f].value], feeds->items[f].tensor);
    }
    ODB_TRY_OUT(odb_cpu_execute(cpu, &how, err));
out:
    for (size_t v = 0; v < model->graph->n_values; v++)
        odb_tensor_unref(run.values[v]);
    free(run.values);
    odb_cpu_free(cpu);
    return status;
}

void odb_shapes_dispose(struct odb_shapes *shapes)
{
    for (size_t n = 0; shapes->why && n < shapes->n_nodes; n++)
        free(shapes->why[n]);
    free(shapes->why);
    free(shapes->values);
    *shapes = (struct odb_shapes){0};
}
