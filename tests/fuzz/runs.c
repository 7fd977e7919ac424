/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A model that is run by the reference, as harnesses want it. Inputs are small and always the same;
 * a run ends with the first value that is large, and loops turn a few times.
 */
#include "fuzz.h"

#include "interpret/cpu.h"
#include "model/model.h"

enum {
    REFERENCE_DIM = 2,         /* for a dimension that has a name only */
    REFERENCE_INPUT = 4096,    /* elements */
    REFERENCE_VALUE = 1 << 15, /* elements */
    REFERENCE_NODES = 2000,    /* that are run, with those in bodies */
    REFERENCE_TURNS = 4
};

struct reference {
    const struct odb_model *model;
    struct odb_tensor **values; /* owned; [n_values] */
    size_t nodes;
};

static void reference_fill(struct odb_tensor *t)
{
    for (size_t i = 0; i < t->count; i++)
        switch (t->dtype) {
        case ODB_F32:
            ((float *)t->data)[i] = (float)(i % 7) - 2.5f;
            break;
        case ODB_F64:
            ((double *)t->data)[i] = (double)(i % 7) - 2.5;
            break;
        case ODB_I64:
            ((int64_t *)t->data)[i] = (int64_t)(i % 3);
            break;
        case ODB_I32:
            ((int32_t *)t->data)[i] = (int32_t)(i % 3);
            break;
        case ODB_BOOL:
            ((uint8_t *)t->data)[i] = i % 2;
            break;
        default: /* zeros do */
            return;
        }
}

/* The input as it is declared; NULL: it cannot be had. */
static struct odb_tensor *reference_input(const struct odb_type *type)
{
    int64_t dims[ODB_MAX_RANK];
    struct odb_tensor *t = NULL;
    size_t count = 1;
    if (!type->known || type->kind != ODB_TENSOR || type->rank > ODB_MAX_RANK)
        return NULL;
    for (int k = 0; k < type->rank; k++) {
        dims[k] = type->dims[k].value < 0 ? REFERENCE_DIM : type->dims[k].value;
        if (!odb_size_mul(count, (size_t)dims[k], &count) || count > REFERENCE_INPUT)
            return NULL;
    }
    if (odb_tensor_new(&t, type->dtype, ODB_MAX(type->rank, 0), dims, NULL) != ODB_OK)
        return NULL;
    reference_fill(t);
    return t;
}

static bool reference_is_small(const struct odb_tensor *t)
{
    bool small = !t || t->count <= REFERENCE_VALUE;
    for (size_t i = 0; t && small && i < t->n_items; i++)
        small = i < REFERENCE_VALUE && reference_is_small(t->items[i]);
    return small;
}

static enum odb_status reference_after(void *payload, int node, enum odb_status status,
                                       struct odb_error *err)
{
    struct reference *r = payload;
    const struct odb_node *n = &r->model->graph->nodes[node];
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0 && !reference_is_small(r->values[n->out[o]]))
            return odb_fail(err, ODB_CANCELLED, "enough");
    return ++r->nodes < REFERENCE_NODES ? ODB_OK : odb_fail(err, ODB_CANCELLED, "enough");
}

static enum odb_status reference_made(void *payload, const struct odb_cpu_place *place,
                                      const struct odb_node *node, struct odb_tensor **out,
                                      struct odb_error *err)
{
    struct reference *r = payload;
    (void)place;
    for (int o = 0; o < node->n_out; o++)
        if (!reference_is_small(out[o]))
            return odb_fail(err, ODB_CANCELLED, "enough");
    return ++r->nodes < REFERENCE_NODES ? ODB_OK : odb_fail(err, ODB_CANCELLED, "enough");
}

static void reference_steer(void *payload, const struct odb_cpu_place *place, int node, int64_t *v)
{
    (void)payload, (void)place, (void)node;
    *v = ODB_MIN(*v, REFERENCE_TURNS);
}

static void reference_run(struct reference *r, const struct odb_cpu *cpu,
                          enum odb_precision precision)
{
    const struct odb_graph *graph = r->model->graph;
    const struct odb_cpu_watch watch = {
        .payload = r, .made = reference_made, .steer = reference_steer};
    int *feeds = odb_new_n(int, graph->n_inputs + 1);
    size_t n = odb_graph_feeds(graph, feeds);
    r->values = odb_new_n(struct odb_tensor *, graph->n_values + 1);
    r->nodes = 0;
    bool all = true;
    for (size_t i = 0; i < n; i++) {
        r->values[feeds[i]] = reference_input(&graph->values[feeds[i]].type);
        all = all && r->values[feeds[i]];
    }
    struct odb_cpu_run run = {.precision = precision,
                              .values = r->values,
                              .after = reference_after,
                              .payload = r,
                              .watch = &watch};
    struct odb_error err = ODB_ERROR_INIT;
    if (all)
        (void)!odb_cpu_execute(cpu, &run, &err);
    for (size_t i = 0; i < graph->n_values; i++)
        fuzz_look_take(r->values[i]);
    free(r->values);
    free(feeds);
}

void fuzz_run_model(const struct odb_model *model)
{
    static const enum odb_precision precisions[] = {ODB_PREC_NATIVE, ODB_PREC_F64, ODB_PREC_NOISY};
    struct odb_error err = ODB_ERROR_INIT;
    struct reference r = {.model = model};
    struct odb_cpu *cpu;
    if (odb_cpu_new(&cpu, model, &err) != ODB_OK)
        return;
    for (size_t i = 0; i < ODB_COUNT(precisions); i++)
        reference_run(&r, cpu, precisions[i]);
    odb_cpu_free(cpu);
}
