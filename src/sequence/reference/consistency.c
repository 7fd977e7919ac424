/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sequence/reference/consistency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "reference/trace.h"
#include "sequence/plan/axis.h"
#include "sequence/plan/padding.h"
#include "sequence/reference/contradiction.h"

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

/* What a step gave, and the part of what all at once gave that it is held against. */
struct consistency_pair {
    struct odb_tensor *part, *of_whole; /* owned refs */
    size_t step, output;
    int axis;     /* along which places may be filled up; -1: none */
    size_t first; /* of its places, as the mask counts them */
};

/* What fills up rows is not compared: the mask (NULL: there is none) says where. */
static enum odb_status consistency_fill(struct odb_consistency *c, struct consistency_pair *pair,
                                        const struct odb_tensor *mask, struct odb_error *err)
{
    struct odb_tensor *same;
    if (!mask || pair->axis < 0)
        return ODB_OK;
    ODB_TRY(
        odb_padding_take(&same, pair->of_whole, pair->part, mask, pair->axis, pair->first, err));
    c->padded |= same != pair->of_whole;
    odb_tensor_unref(pair->of_whole);
    pair->of_whole = same;
    return ODB_OK;
}

static void consistency_compare(struct odb_consistency *c, const struct consistency_pair *pair)
{
    struct odb_gap gap;
    if (odb_tensor_identical(pair->part, pair->of_whole))
        return;
    c->exact = false;
    odb_gap_measure(&gap, pair->of_whole, pair->part);
    if (gap.same)
        return;
    double error = gap.comparable && gap.pattern ? gap.error : INFINITY;
    c->error = fmax(c->error, error);
    bool first = !c->broken || pair->step < c->step;
    if (error > odb_consistency_limit(pair->part->dtype) && first) {
        c->broken = true;
        c->step = pair->step;
        c->output = (int)pair->output;
    }
}

/* What a step gave of an output, and what all gave there: the places of the axis that are the
 * step's, or without an axis all of it. of_whole is NULL where that has another shape. */
static enum odb_status consistency_pair(struct consistency_pair *pair,
                                        const struct odb_rollout *steps,
                                        const struct odb_tensor *all, int axis,
                                        struct odb_error *err)
{
    const struct odb_sequence_step *step = &steps->steps.items[pair->step];
    int carry = odb_plan_carrier(steps->plan, pair->output);
    ODB_TRY(odb_rollout_output(&pair->part, steps, pair->step, pair->output, err));
    pair->axis = axis;
    pair->first = step->past;
    if (axis >= 0)
        return odb_axis_part(&pair->of_whole, all, axis, (int64_t)step->past, (int64_t)step->pieces,
                             err);
    if (!odb_tensor_same_shape(pair->part, all))
        return ODB_OK;
    pair->of_whole = odb_tensor_ref(all);
    if (carry >= 0 && steps->plan->inputs.items[carry].kind == ODB_CARRY_APPEND)
        pair->axis = steps->plan->inputs.items[carry].axis;
    pair->first = 0;
    return ODB_OK;
}

static enum odb_status consistency_output(struct odb_consistency *c,
                                          const struct odb_rollout *steps,
                                          const struct odb_rollout *whole, size_t o,
                                          struct odb_error *err)
{
    size_t last = steps->steps.n - 1, total = odb_streams_pieces(steps->streams);
    const struct odb_tensor *mask = odb_padding_find(whole->plan, whole->steps.items[0].in, total);
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
        struct consistency_pair pair = {.step = s, .output = o};
        status = consistency_pair(&pair, steps, all, axis, err);
        if (status == ODB_OK && pair.of_whole)
            status = consistency_fill(c, &pair, mask, err);
        if (status == ODB_OK && pair.of_whole) {
            consistency_compare(c, &pair);
            c->compared += s == last;
        }
        odb_tensor_unref(pair.part);
        odb_tensor_unref(pair.of_whole);
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
    out->ran = true;
    for (size_t o = 0; o < steps->plan->model->graph->n_outputs && status == ODB_OK; o++)
        status = consistency_output(out, steps, whole, o, err);
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
