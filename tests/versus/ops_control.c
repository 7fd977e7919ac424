/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sequences, and operators with bodies: how their calls are drawn.
 */
#include <stdlib.h>
#include <string.h>

#include "versus.h"

/* --- sequences ------------------------------------------------------------------------------- */

/* Adds a sequence of n tensors that differ along axis, -1: in nothing. */
static void draw_sequence(struct draw *d, int64_t n, struct dims dims, int axis)
{
    struct odb_tensor *items[4] = {NULL}, *sequence = NULL;
    for (int64_t i = 0; i < n; i++) {
        if (axis >= 0)
            dims.d[axis] = vs_int(d, 1, 4);
        items[i] = vs_tensor(d, d->dtype, dims, -3, 3);
    }
    if (odb_tensor_new_container(&sequence, ODB_SEQUENCE, items, (size_t)n, NULL) != ODB_OK)
        abort();
    for (int64_t i = 0; i < n; i++)
        odb_tensor_unref(items[i]);
    vs_take(d, sequence);
}

static void draw_construct(struct draw *d)
{
    struct dims dims = vs_dims(d, 0, 3, 3);
    for (int64_t n = vs_int(d, 1, 3); n > 0; n--)
        vs_in(d, vs_dims(d, dims.rank, dims.rank, 3));
}

static void draw_at(struct draw *d)
{
    int64_t n = vs_int(d, 1, 3);
    struct dims dims = vs_dims(d, 1, 3, 3);
    bool insert = strcmp(d->row->op, "SequenceInsert") == 0;
    bool at = strcmp(d->row->op, "SequenceAt") == 0;
    draw_sequence(d, n, dims, 0);
    if (insert)
        vs_in(d, dims);
    if (at || vs_chance(d, 70))
        vs_in_scalar(d, vs_chance(d, 60) ? ODB_I64 : ODB_I32,
                     (double)vs_int(d, -n, insert ? n : n - 1));
}

static void draw_length(struct draw *d)
{
    draw_sequence(d, vs_int(d, 1, 3), vs_dims(d, 1, 3, 3), 0);
}

static void draw_join(struct draw *d)
{
    struct dims dims = vs_dims(d, 1, 3, 3);
    bool stack = vs_chance(d, 40);
    int axis = (int)vs_int(d, 0, dims.rank - !stack), rank = dims.rank + stack;
    draw_sequence(d, vs_int(d, 1, 3), dims, stack ? -1 : axis);
    vs_attr_int(d, "axis", vs_chance(d, 50) ? axis : axis - rank);
    if (stack)
        vs_attr_int(d, "new_axis", 1);
}

static void draw_split(struct draw *d)
{
    struct dims dims = vs_dims(d, 1, 3, 5);
    int axis = (int)vs_int(d, 0, dims.rank - 1);
    int64_t parts[4], n = vs_int(d, 1, 3);
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += parts[i] = vs_int(d, 1, 2);
    bool list = vs_chance(d, 40), one = !list && vs_chance(d, 50);
    if (list)
        dims.d[axis] = sum;
    vs_in(d, dims);
    if (list)
        vs_in_ints(d, ODB_I64, (size_t)n, parts);
    else if (one)
        vs_in_scalar(d, ODB_I64, (double)vs_int(d, 1, 3));
    vs_attr_int(d, "axis", vs_chance(d, 50) ? axis : axis - dims.rank);
    if (!list && !one)
        vs_attrs(d, "keepdims=-|0|1");
}

/* --- bodies ---------------------------------------------------------------------------------- */

static void draw_if(struct draw *d)
{
    vs_in_range(d, ODB_BOOL, vs_chance(d, 60) ? VS_SCALAR : VS_DIMS(1), 0, 1);
    d->weight[0] = false;
    for (int side = 0; side < 2; side++) {
        struct odb_builder *b = odb_build_new("branch", d->opset);
        struct odb_tensor *t = vs_tensor(d, ODB_F32, vs_dims(d, 1, 1, 4), -3, 3);
        odb_build_weight(b, side ? "w1" : "w0", t);
        odb_build_node(b, side ? "Neg" : "Abs", "", side ? "w1" : "w0", side ? "y1" : "y0");
        odb_build_output(b, side ? "y1" : "y0");
        vs_attr_body(d, side ? "else_branch" : "then_branch", b);
        odb_tensor_unref(t);
    }
}

/* A sum that goes on while it is small: carried, and collected. */
static void draw_loop(struct draw *d)
{
    struct dims dims = vs_dims(d, 0, 2, 3);
    struct odb_builder *b = odb_build_new("body", d->opset);
    struct odb_tensor *limit = vs_tensor(d, ODB_F32, VS_SCALAR, 2, 9);
    if (vs_chance(d, 70))
        vs_in_scalar(d, ODB_I64, (double)vs_int(d, 0, 5));
    else
        vs_in_none(d);
    vs_in_range(d, ODB_BOOL, VS_SCALAR, 0, 1);
    vs_in_range(d, ODB_F32, dims, 0.5, 3);
    odb_build_input(b, "turn", ODB_I64, 0, NULL);
    odb_build_input(b, "go", ODB_BOOL, 0, NULL);
    odb_build_input(b, "sum", ODB_F32, dims.rank, dims.d);
    odb_build_weight(b, "limit", limit);
    odb_build_node(b, "Add", "", "sum sum", "next");
    odb_build_node(b, "ReduceMax", "", "next", "most");
    odb_build_attr_int(b, "keepdims", 0);
    odb_build_node(b, "Less", "", "most limit", "on");
    odb_build_node(b, "Identity", "", "sum", "seen");
    odb_build_output_typed(b, "on", ODB_BOOL, 0, NULL);
    odb_build_output_typed(b, "next", ODB_F32, dims.rank, dims.d);
    odb_build_output_typed(b, "seen", ODB_F32, dims.rank, dims.d);
    vs_attr_body(d, "body", b);
    odb_tensor_unref(limit);
    d->n_out = 2;
}

/* A running sum over one or two inputs, each along its own axis and in its own direction. */
static void draw_scan(struct draw *d)
{
    struct dims part = vs_dims(d, 1, 2, 3);
    int64_t turns = vs_int(d, 1, 4), n = vs_int(d, 1, 2), axes[2], back[2], out;
    struct odb_builder *b = odb_build_new("body", d->opset);
    vs_in_range(d, ODB_F32, part, -3, 3);
    odb_build_input(b, "sum", ODB_F32, part.rank, part.d);
    for (int64_t i = 0; i < n; i++) {
        struct dims full = {.rank = part.rank + 1};
        axes[i] = vs_int(d, 0, part.rank);
        back[i] = vs_int(d, 0, 1);
        for (int k = 0, from = 0; k < full.rank; k++)
            full.d[k] = k == axes[i] ? turns : part.d[from++];
        vs_in_range(d, ODB_F32, full, -3, 3);
        odb_build_input(b, i ? "x1" : "x0", ODB_F32, part.rank, part.d);
        axes[i] -= vs_chance(d, 40) ? full.rank : 0;
    }
    odb_build_node(b, "Add", "", "sum x0", n > 1 ? "mid" : "next");
    if (n > 1)
        odb_build_node(b, "Mul", "", "mid x1", "next");
    odb_build_node(b, "Identity", "", "next", "seen");
    odb_build_output_typed(b, "next", ODB_F32, part.rank, part.d);
    odb_build_output_typed(b, "seen", ODB_F32, part.rank, part.d);
    vs_attr_body(d, "body", b);
    vs_attr_int(d, "num_scan_inputs", n);
    vs_attr_ints(d, "scan_input_axes", (size_t)n, axes);
    if (vs_chance(d, 60))
        vs_attr_ints(d, "scan_input_directions", (size_t)n, back);
    out = vs_int(d, -part.rank - 1, part.rank);
    if (vs_chance(d, 60))
        vs_attr_ints(d, "scan_output_axes", 1, &out);
    vs_attrs(d, "scan_output_directions=-|0,|1,");
    d->n_out = 2;
}

const struct row vs_control_rows[] = {
    {.op = "SequenceConstruct", .draw = draw_construct},
    {.op = "SequenceAt", .draw = draw_at, .types = ODB_T_NUMBER, .tol = -1},
    {.op = "SequenceInsert", .draw = draw_at, .types = ODB_T_NUMBER, .tol = -1},
    {.op = "SequenceErase", .draw = draw_at, .types = ODB_T_NUMBER, .tol = -1},
    {.op = "SequenceLength", .draw = draw_length, .types = ODB_T_NUMBER},
    {.op = "ConcatFromSequence", .draw = draw_join, .types = ODB_T_NUMBER, .tol = -1},
    {.op = "SplitToSequence", .draw = draw_split},
    {.op = "If", .draw = draw_if, .tame = true, .from = 11},
    {.op = "Loop", .draw = draw_loop, .tame = true, .from = 7, .full = true},
    {.op = "Scan", .draw = draw_scan, .tame = true, .from = 11, .full = true},
    {NULL},
};
