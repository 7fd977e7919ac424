/* SPDX-License-Identifier: MIT
 *
 * The walk of element-wise operators: see elementwise.h for the idea. A plan holds the merged
 * dimensions and, for each input, a step in bytes per dimension (0 where it is broadcast). Blocks
 * of the parallel loop are ranges of output elements; each finds its own starting coordinates.
 */
#include "kernels/elementwise/elementwise.h"

#include <string.h>

#include "base/mem.h"
#include "system/parallel.h"

/* Elements per block: some microseconds of the cheapest operators. */
#define EW_GRAIN ((size_t)1 << 16)

struct ew_plan {
    odb_ew_loop loop;
    const void *arg;
    int n_in;
    const char *in[ODB_EW_MAX_IN];
    char *out;
    size_t out_size;
    int rank; /* of the merged shape, at least 1 */
    int64_t dims[ODB_MAX_RANK];
    ptrdiff_t step[ODB_EW_MAX_IN][ODB_MAX_RANK]; /* bytes */
    int walks[ODB_EW_MAX_IN];                    /* along the innermost dimension: 0 or 1 */
    bool still; /* none does: another operand, not among these, gave the output that dimension */
};

size_t odb_ew_size(enum odb_dtype dtype)
{
    return dtype == ODB_STRING ? sizeof(struct odb_str) : odb_dtype_info(dtype)->bits / 8;
}

/* Steps of t along the dimensions of a shape of that rank. */
static void ew_steps(const struct odb_tensor *t, int rank, ptrdiff_t *step)
{
    ptrdiff_t size = (ptrdiff_t)odb_ew_size(t->dtype);
    for (int d = rank - 1, own = t->rank - 1; d >= 0; d--, own--) {
        int64_t dim = own < 0 ? 1 : t->dims[own];
        step[d] = dim == 1 ? 0 : size;
        size *= (ptrdiff_t)dim;
    }
}

/* Adds dimension d of out to the plan, merged with the one before where every input allows it. */
static void ew_add_dim(struct ew_plan *p, int64_t dim, ptrdiff_t step[][ODB_MAX_RANK], int d)
{
    bool merge = p->rank > 0;
    for (int i = 0; i < p->n_in && merge; i++)
        merge = p->step[i][p->rank - 1] == step[i][d] * dim;
    if (!merge)
        p->dims[p->rank++] = 1;
    p->dims[p->rank - 1] *= dim;
    for (int i = 0; i < p->n_in; i++)
        p->step[i][p->rank - 1] = step[i][d];
}

static void ew_block(void *arg, size_t begin, size_t end)
{
    const struct ew_plan *p = arg;
    int last = p->rank - 1;
    int64_t at[ODB_MAX_RANK];
    size_t rest = begin;
    for (int d = last; d >= 0; d--) {
        at[d] = (int64_t)(rest % (size_t)p->dims[d]);
        rest /= (size_t)p->dims[d];
    }
    while (begin < end) {
        const void *in[ODB_EW_MAX_IN];
        for (int i = 0; i < p->n_in; i++) {
            ptrdiff_t offset = 0;
            for (int d = 0; d <= last; d++)
                offset += (ptrdiff_t)at[d] * p->step[i][d];
            in[i] = p->in[i] + offset;
        }
        size_t n = ODB_MIN((size_t)(p->dims[last] - at[last]), end - begin);
        char *out = p->out + begin * p->out_size;
        p->loop(p->still ? 1 : n, in, p->walks, out, p->arg);
        for (size_t i = 1; p->still && i < n; i++)
            memcpy(out + i * p->out_size, out, p->out_size);
        begin += n;
        at[last] += (int64_t)n;
        for (int d = last; d > 0 && at[d] == p->dims[d]; d--) {
            at[d] = 0;
            at[d - 1]++;
        }
    }
}

void odb_ew_apply(odb_ew_loop loop, int n_in, const struct odb_tensor *const *in,
                  struct odb_tensor *out, const void *arg)
{
    struct ew_plan p = {.loop = loop,
                        .arg = arg,
                        .n_in = n_in,
                        .out = out->data,
                        .out_size = odb_ew_size(out->dtype)};
    ptrdiff_t step[ODB_EW_MAX_IN][ODB_MAX_RANK];
    if (out->count == 0)
        return;
    for (int i = 0; i < n_in; i++) {
        p.in[i] = in[i]->data;
        ew_steps(in[i], out->rank, step[i]);
    }
    for (int d = 0; d < out->rank; d++)
        if (out->dims[d] != 1)
            ew_add_dim(&p, out->dims[d], step, d);
    if (p.rank == 0)
        p.dims[p.rank++] = 1;
    p.still = true;
    for (int i = 0; i < n_in; i++) {
        p.walks[i] = out->count == 1 || p.step[i][p.rank - 1] != 0;
        p.still = p.still && !p.walks[i];
    }
    odb_parallel_for(out->count, EW_GRAIN, ew_block, &p);
}

/* Operators of any arity come here, so omitted inputs and sequences are possible in a bad model. */
enum odb_status odb_ew_check(struct odb_kern *k)
{
    for (int i = 0; i < k->n_in; i++)
        if (!k->in[i] || k->in[i]->kind != ODB_TENSOR)
            return ODB_KERN_FAIL(k, "input %d of %s must be a tensor", i, k->op->name);
    return ODB_OK;
}

static enum odb_status ew_run(struct odb_kern *k, int n_in, const odb_ew_loop *loops,
                              const void *arg)
{
    odb_ew_loop loop = loops[k->in[0]->dtype];
    if (!loop)
        return ODB_KERN_UNSUPPORTED(k, "no %s kernel for type %s", k->op->name,
                                    odb_dtype_info(k->in[0]->dtype)->name);
    if (k->out[0])
        odb_ew_apply(loop, n_in, k->in, k->out[0], arg);
    return ODB_OK;
}

enum odb_status odb_ew_run(struct odb_kern *k, const odb_ew_loop *loops, const void *arg)
{
    ODB_TRY(odb_ew_check(k));
    return ew_run(k, k->n_in, loops, arg);
}

enum odb_status odb_ew_run_first(struct odb_kern *k, const odb_ew_loop *loops, const void *arg)
{
    if (k->in[0]->kind != ODB_TENSOR)
        return ODB_KERN_FAIL(k, "input 0 of %s must be a tensor", k->op->name);
    return ew_run(k, 1, loops, arg);
}

/* --- types and shapes ------------------------------------------------------------------------- */

enum odb_status odb_ew_shape(struct odb_kern *k, int *rank, int64_t *dims)
{
    struct odb_tensor sum = *k->in[0]; /* of the inputs so far; a shape only */
    for (int i = 1; i < k->n_in; i++) {
        struct odb_tensor joint = {.rank = 0};
        ODB_TRY(odb_kern_broadcast(k, &sum, k->in[i], &joint.rank, joint.dims));
        sum = joint;
    }
    *rank = sum.rank;
    memcpy(dims, sum.dims, (size_t)sum.rank * sizeof *dims);
    return ODB_OK;
}

bool odb_ew_same_type(const struct odb_kern *k, int i, int j)
{
    enum odb_dtype a = k->in[i]->dtype, b = k->in[j]->dtype;
    return a == b || (k->carry_f64 && odb_dtype_is_float(a) && odb_dtype_is_float(b));
}

static enum odb_status ew_check_types(struct odb_kern *k)
{
    for (int i = 1; i < k->n_in; i++)
        if (!odb_ew_same_type(k, 0, i))
            return ODB_KERN_FAIL(k, "inputs of types %s and %s; %s wants one type",
                                 odb_dtype_info(k->in[0]->dtype)->name,
                                 odb_dtype_info(k->in[i]->dtype)->name, k->op->name);
    return ODB_OK;
}

static enum odb_status ew_infer(struct odb_kern *k, enum odb_dtype dtype)
{
    int rank;
    int64_t dims[ODB_MAX_RANK];
    ODB_TRY(odb_ew_check(k));
    ODB_TRY(ew_check_types(k));
    ODB_TRY(odb_ew_shape(k, &rank, dims));
    return odb_kern_outline(k, 0, dtype, rank, dims);
}

enum odb_status odb_ew_infer(struct odb_kern *k)
{
    return ew_infer(k, k->in[0]->dtype);
}

enum odb_status odb_ew_infer_same_bool(struct odb_kern *k)
{
    return odb_kern_outline(k, 0, ODB_BOOL, k->in[0]->rank, k->in[0]->dims);
}

/* --- opsets before 7 -------------------------------------------------------------------------- */

const struct odb_attr_spec odb_ew_legacy_consumed_attrs[] = {
    ODB_EW_CONSUMED,
    {"axis", ODB_ATTR_INT, NULL, false},
    {"broadcast", ODB_ATTR_INT, "0", false},
    {.name = NULL},
};
const struct odb_attr_spec odb_ew_legacy_attrs[] = {
    {"axis", ODB_ATTR_INT, NULL, false},
    {"broadcast", ODB_ATTR_INT, "0", false},
    {.name = NULL},
};
const struct odb_attr_spec odb_ew_consumed_attrs[] = {ODB_EW_CONSUMED, {.name = NULL}};

/* The second operand's shape in the first one's rank, as today's rules want it. */
static enum odb_status ew_legacy_shape(struct odb_kern *k, int64_t *dims)
{
    const struct odb_tensor *a = k->in[0], *b = k->in[1];
    char text_a[200], text_b[200];
    int64_t axis = odb_kern_int(k, "axis", a->rank - b->rank);
    bool single = b->count == 1, fits = true;
    if (odb_kern_int(k, "broadcast", 0) == 0)
        fits = odb_tensor_same_shape(a, b);
    else if (axis < 0 && odb_kern_has(k, "axis"))
        axis += a->rank;
    for (int d = 0; d < a->rank; d++)
        dims[d] = 1;
    if (fits && !single) {
        fits = axis >= 0 && axis <= a->rank - b->rank;
        for (int d = 0; d < b->rank && fits; d++) {
            dims[axis + d] = b->dims[d];
            fits = b->dims[d] == 1 || b->dims[d] == a->dims[axis + d];
        }
    }
    if (!fits)
        return ODB_KERN_FAIL(k, "shape %s does not broadcast to %s from axis %lld",
                             odb_shape_text(b, text_b, sizeof text_b),
                             odb_shape_text(a, text_a, sizeof text_a), (long long)axis);
    return ODB_OK;
}

static enum odb_status ew_infer2(struct odb_kern *k, enum odb_dtype dtype)
{
    int64_t dims[ODB_MAX_RANK];
    if (k->op->since >= 7)
        return ew_infer(k, dtype);
    ODB_TRY(odb_ew_check(k));
    ODB_TRY(ew_check_types(k));
    ODB_TRY(ew_legacy_shape(k, dims));
    return odb_kern_outline(k, 0, dtype, k->in[0]->rank, k->in[0]->dims);
}

enum odb_status odb_ew_infer2(struct odb_kern *k)
{
    return ew_infer2(k, k->in[0]->dtype);
}

enum odb_status odb_ew_infer2_bool(struct odb_kern *k)
{
    return ew_infer2(k, ODB_BOOL);
}

enum odb_status odb_ew_run2(struct odb_kern *k, const odb_ew_loop *loops)
{
    if (k->op->since >= 7)
        return odb_ew_run(k, loops, NULL);
    const struct odb_tensor *b = k->in[1];
    struct odb_tensor *placed = NULL;
    int64_t dims[ODB_MAX_RANK];
    ODB_TRY(ew_legacy_shape(k, dims));
    ODB_TRY(odb_tensor_reshape(&placed, b, k->in[0]->rank, dims, k->err));
    k->in[1] = placed;
    enum odb_status status = odb_ew_run(k, loops, NULL);
    k->in[1] = b;
    odb_tensor_unref(placed);
    return status;
}
