/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sequence/consistency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "reference/trace.h"
#include "sequence/plan/axis.h"
#include "sequence/contradiction.h"

double odb_consistency_limit(enum odb_dtype dtype)
{
    switch (dtype) {
    case ODB_F16:
        return 5e-2;
    case ODB_BF16:
        return 2e-1;
    default:
        return odb_dtype_is_float(dtype) ? 1e-3 : 0;
    }
}

/* The axis along which the whole has all pieces, and each step its own; -1: there is none. */
static int consistency_axis(const struct odb_rollout *steps, const struct odb_tensor *whole,
                            size_t o, size_t total)
{
    for (int axis = 0; axis < whole->rank; axis++) {
        bool fits = whole->dims[axis] == (int64_t)total;
        for (size_t s = 0; s < steps->steps.n && fits; s++) {
            const struct odb_tensor *part = steps->steps.items[s].out[o];
            fits = part->rank == whole->rank &&
                   part->dims[axis] == (int64_t)steps->steps.items[s].pieces;
            for (int i = 0; i < whole->rank && fits; i++)
                fits = i == axis || part->dims[i] == whole->dims[i];
        }
        if (fits)
            return axis;
    }
    return -1;
}

/* What a step gave against a part of what all at once gave. */
static void consistency_compare(struct odb_consistency *c, const struct odb_tensor *part,
                                const struct odb_tensor *of_whole, size_t step, size_t o)
{
    struct odb_gap gap;
    if (odb_tensor_identical(part, of_whole))
        return;
    c->exact = false;
    odb_gap_measure(&gap, of_whole, part);
    if (gap.same)
        return;
    double error = gap.comparable && gap.pattern ? gap.error : INFINITY;
    c->error = fmax(c->error, error);
    bool first = !c->broken || step < c->step;
    if (error > odb_consistency_limit(part->dtype) && first) {
        c->broken = true;
        c->step = step;
        c->output = (int)o;
    }
}

static enum odb_status consistency_output(struct odb_consistency *c,
                                          const struct odb_rollout *steps,
                                          const struct odb_rollout *whole, size_t o, size_t total,
                                          struct odb_error *err)
{
    size_t last = steps->steps.n - 1;
    struct odb_tensor *all = NULL;
    int carry = odb_plan_carrier(steps->plan, o);
    /* A formula says what of such an output is the state: some steps may give no more than a
     * stand-in. */
    if (carry >= 0 && steps->plan->inputs.items[carry].next)
        return ODB_OK;
    ODB_TRY(odb_rollout_output(&all, whole, 0, o, err));
    int axis = carry < 0 ? consistency_axis(steps, all, o, total) : -1;
    enum odb_status status = ODB_OK;
    for (size_t s = axis < 0 ? last : 0; s <= last && status == ODB_OK; s++) {
        struct odb_tensor *part = NULL, *of_whole = NULL;
        const struct odb_sequence_step *step = &steps->steps.items[s];
        status = odb_rollout_output(&part, steps, s, o, err);
        if (status == ODB_OK && axis >= 0)
            status = odb_axis_part(&of_whole, all, axis, (int64_t)step->past, (int64_t)step->pieces,
                                   err);
        else if (status == ODB_OK && odb_tensor_same_shape(part, all))
            of_whole = odb_tensor_ref(all);
        if (of_whole) {
            consistency_compare(c, part, of_whole, s, o);
            c->compared += s == last;
        }
        odb_tensor_unref(part);
        odb_tensor_unref(of_whole);
    }
    odb_tensor_unref(all);
    return status;
}

/* Whether the feeds can come all at once. */
static const char *consistency_lacks(const struct odb_plan *plan)
{
    bool cut = false;
    if (!odb_plan_has_carries(plan))
        return "no state is carried";
    for (size_t i = 0; i < plan->inputs.n; i++) {
        const struct odb_plan_input *input = &plan->inputs.items[i];
        const struct odb_type *type = &plan->model->graph->values[input->value].type;
        if (input->move != ODB_MOVE_FEED)
            continue;
        if (input->axis < 0)
            return "each step takes a whole input";
        if (type->known && input->axis < type->rank && type->dims[input->axis].value >= 0)
            return "the model takes a fixed number of pieces";
        cut = true;
    }
    return cut ? NULL : "nothing is fed in pieces";
}

enum odb_status odb_consistency_look(struct odb_consistency *out, const struct odb_rollout *steps,
                                     const struct odb_search_hooks *hooks, struct odb_error *err)
{
    struct odb_rollout *whole = NULL;
    size_t total = odb_streams_pieces(steps->streams);
    const char *lacks = steps->steps.n < 2 ? "there is one step" : consistency_lacks(steps->plan);
    *out = (struct odb_consistency){.exact = true, .output = -1, .node = ODB_NO_NODE};
    if (lacks) {
        out->why = odb_xstrdup(lacks);
        return ODB_OK;
    }
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status =
        odb_rollout_make(&whole, steps->plan, steps->streams, &total, 1, NULL, NULL, hooks, &why);
    if (status == ODB_CANCELLED || status == ODB_E_NOMEM) {
        *err = why;
        return status;
    }
    if (status != ODB_OK) {
        out->why = odb_xasprintf("all %zu pieces in one step cannot be run: %s", total, why.what);
        return ODB_OK;
    }
    for (size_t o = 0; o < steps->plan->model->graph->n_outputs && status == ODB_OK; o++)
        status = consistency_output(out, steps, whole, o, total, err);
    out->asked = out->compared > 0;
    if (!out->asked)
        out->why = odb_xstrdup("no output has the same shape either way");
    if (status == ODB_OK && out->broken)
        status = odb_contradiction_find(&out->node, steps, out->step, whole, hooks, err);
    odb_rollout_free(whole);
    return status;
}

void odb_consistency_dispose(struct odb_consistency *consistency)
{
    free(consistency->why);
}
