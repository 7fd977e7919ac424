/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sequence/reference/contradiction.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "interpret/cpu.h"
#include "reference/trace.h"
#include "sequence/plan/axis.h"
#include "sequence/plan/padding.h"
#include "sequence/reference/consistency.h"

enum agreement { CONTRADICTION_UNKNOWN, CONTRADICTION_AGREES, CONTRADICTION_DIFFERS };

/* All values of one step; [n_values], the caller's. */
static enum odb_status contradiction_values(struct odb_tensor **values, const struct odb_rollout *r,
                                            size_t step, struct odb_error *err)
{
    struct odb_cpu *cpu;
    struct odb_feeds *feeds = NULL;
    struct odb_cpu_run run = {.precision = ODB_PREC_NATIVE, .values = values};
    ODB_TRY(odb_cpu_new(&cpu, r->plan->model, err));
    enum odb_status status = odb_rollout_feeds(&feeds, r, step, err);
    for (size_t i = 0; status == ODB_OK && i < feeds->n; i++)
        values[feeds->items[i].value] = odb_tensor_ref(feeds->items[i].tensor);
    if (status == ODB_OK)
        status = odb_cpu_execute(cpu, &run, err);
    odb_feeds_free(feeds);
    odb_cpu_free(cpu);
    return status;
}

/* The part of a value of the whole that a step makes: its own pieces where it has as many, all up
 * to it where it has those. NULL: shapes tell nothing. */
static struct odb_tensor *contradiction_part(const struct odb_tensor *of_whole,
                                             const struct odb_tensor *of_step, int64_t total,
                                             const struct odb_sequence_step *step)
{
    struct odb_error ignored = ODB_ERROR_INIT;
    int64_t pieces = (int64_t)step->pieces, past = (int64_t)step->past;
    if (of_whole->kind != ODB_TENSOR || of_whole->rank != of_step->rank)
        return NULL;
    struct odb_tensor *part = odb_tensor_ref(of_whole);
    for (int axis = 0; axis < of_step->rank && part; axis++) {
        int64_t all = of_whole->dims[axis], own = of_step->dims[axis];
        struct odb_tensor *next = NULL;
        if (all == own)
            continue;
        bool tells = all == total && (own == pieces || own == past + pieces);
        if (!tells ||
            odb_axis_part(&next, part, axis, own == pieces ? past : 0, own, &ignored) != ODB_OK)
            next = NULL;
        odb_tensor_unref(part);
        part = next;
    }
    return part;
}

/* What fills up rows is as the step has it, on each axis that counts the step's pieces or all up to
 * it. *part is the caller's, and replaced. */
static void contradiction_fill(struct odb_tensor **part, const struct odb_tensor *of_step,
                               const struct odb_tensor *mask, const struct odb_sequence_step *step)
{
    struct odb_error ignored = ODB_ERROR_INIT;
    for (int axis = 1; mask && axis < of_step->rank; axis++) {
        size_t n = (size_t)of_step->dims[axis];
        struct odb_tensor *same = NULL;
        if ((n != step->pieces && n != step->past + step->pieces) ||
            odb_padding_take(&same, *part, of_step, mask, axis, n == step->pieces ? step->past : 0,
                             &ignored) != ODB_OK)
            continue;
        odb_tensor_unref(*part);
        *part = same;
    }
}

static enum agreement contradiction_agrees(const struct odb_tensor *of_whole,
                                           const struct odb_tensor *of_step, int64_t total,
                                           const struct odb_tensor *mask,
                                           const struct odb_sequence_step *step)
{
    struct odb_gap gap;
    if (!of_whole || !of_step)
        return CONTRADICTION_UNKNOWN;
    struct odb_tensor *part = contradiction_part(of_whole, of_step, total, step);
    if (!part)
        return CONTRADICTION_UNKNOWN;
    contradiction_fill(&part, of_step, mask, step);
    odb_gap_measure(&gap, part, of_step);
    bool agrees = gap.same || (gap.comparable && gap.pattern &&
                               gap.error <= odb_consistency_limit(of_step->dtype));
    odb_tensor_unref(part);
    return agrees ? CONTRADICTION_AGREES : CONTRADICTION_DIFFERS;
}

/* Integers (shapes, positions, masks) differ by rights where the pieces are counted; what is said
 * of floats decides. */
static int contradiction_first(const struct odb_graph *graph, const enum agreement *agree,
                               struct odb_tensor *const *of_step)
{
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        bool differs = false, innocent = true;
        for (int o = 0; o < node->n_out; o++)
            differs |= node->out[o] != ODB_NO_VALUE &&
                       agree[node->out[o]] == CONTRADICTION_DIFFERS &&
                       odb_dtype_is_float(of_step[node->out[o]]->dtype);
        for (size_t i = 0; i < odb_node_n_reads(node) && differs; i++) {
            int v = odb_node_reads(node, i);
            innocent &= v < 0 || agree[v] != CONTRADICTION_DIFFERS ||
                        !odb_dtype_is_float(of_step[v]->dtype);
        }
        if (differs && innocent)
            return (int)n;
    }
    return ODB_NO_NODE;
}

enum odb_status odb_contradiction_find(int *node, const struct odb_rollout *steps, size_t step,
                                       const struct odb_rollout *whole,
                                       const struct odb_search_hooks *hooks, struct odb_error *err)
{
    const struct odb_graph *graph = steps->plan->model->graph;
    struct odb_tensor **all = odb_new_n(struct odb_tensor *, graph->n_values + 1);
    struct odb_tensor **own = odb_new_n(struct odb_tensor *, graph->n_values + 1);
    enum agreement *agree = odb_new_n(enum agreement, graph->n_values + 1);
    int64_t total = (int64_t)odb_streams_pieces(steps->streams);
    const struct odb_tensor *mask =
        odb_padding_find(whole->plan, whole->steps.items[0].in, (size_t)total);
    *node = ODB_NO_NODE;
    odb_hooks_phase(hooks, "where the model contradicts itself", 0);
    enum odb_status status = contradiction_values(all, whole, 0, err);
    if (status == ODB_OK)
        status = contradiction_values(own, steps, step, err);
    for (size_t v = 0; v < graph->n_values && status == ODB_OK; v++)
        agree[v] = contradiction_agrees(all[v], own[v], total, mask, &steps->steps.items[step]);
    if (status == ODB_OK)
        *node = contradiction_first(graph, agree, own);
    for (size_t v = 0; v < graph->n_values; v++) {
        odb_tensor_unref(all[v]);
        odb_tensor_unref(own[v]);
    }
    free(agree);
    free(own);
    free(all);
    return status;
}
