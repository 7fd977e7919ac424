/* SPDX-License-Identifier: MIT
 *
 * Softmax, LogSoftmax and Hardmax (ai.onnx 1 to 28). Before opset 13 the axis splits the tensor
 * into a matrix whose rows are normalised; since then one dimension is. Powers and their sum are
 * taken in double for float.
 */
#include <stdatomic.h>

#include "base/mem.h"
#include "system/parallel.h"
#include "kernels/core/kern.h"
#include "kernels/core/real.h"
#include "kernels/core/row.h"
#include "kernels/reduce/softmax.h"
#include "kernels/core/workspace.h"

enum softmax_kind { SOFTMAX_PLAIN, SOFTMAX_LOG, SOFTMAX_HARD };

struct softmax {
    enum softmax_kind kind;
    size_t n, inner; /* elements of a lane, and from one to the next */
    const void *x;   /* borrowed */
    void *y;         /* borrowed */
    atomic_bool failed;
};

#define ODB_BODY "kernels/reduce/softmax.real.h"
#include "kernels/core/real.h"

#define SOFTMAX_GRAIN (1u << 14)

static enum odb_status softmax_axis(struct odb_kern *k, int *axis)
{
    const struct odb_tensor *x = k->in[0];
    bool flatten = k->op->since < 13;
    *axis = 0;
    if (x->rank == 0)
        return ODB_OK;
    return odb_kern_axis(k, odb_kern_int(k, "axis", flatten ? 1 : -1), x->rank, flatten, axis);
}

static enum odb_status softmax_infer(struct odb_kern *k)
{
    int axis;
    ODB_TRY(softmax_axis(k, &axis));
    return odb_infer_same(k);
}

static enum odb_status softmax_any(struct odb_kern *k, enum softmax_kind kind)
{
    const struct odb_tensor *x = k->in[0];
    struct softmax s = {.kind = kind, .n = 1, .inner = 1, .x = x->data, .y = k->out[0]->data};
    int axis;
    ODB_TRY(softmax_axis(k, &axis));
    if (x->count == 0)
        return ODB_OK;
    if (k->op->since < 13) {
        s.n = odb_dims_product(x->dims, axis, x->rank);
    } else if (x->rank > 0) {
        s.n = (size_t)x->dims[axis];
        s.inner = odb_dims_product(x->dims, axis + 1, x->rank);
    }
    atomic_init(&s.failed, false);
    odb_parallel_for(x->count / s.n, SOFTMAX_GRAIN / s.n + 1,
                     ODB_REAL_FN(k, x->dtype, softmax_lanes), &s);
    if (atomic_load(&s.failed))
        return odb_kern_no_memory(k);
    return ODB_OK;
}

static enum odb_status softmax_run(struct odb_kern *k)
{
    return softmax_any(k, SOFTMAX_PLAIN);
}

static enum odb_status softmax_log_run(struct odb_kern *k)
{
    return softmax_any(k, SOFTMAX_LOG);
}

static enum odb_status softmax_hard_run(struct odb_kern *k)
{
    return softmax_any(k, SOFTMAX_HARD);
}

static const struct odb_attr_spec softmax_attrs_1[] = {{"axis", ODB_ATTR_INT, "1", false}, {NULL}};
static const struct odb_attr_spec softmax_attrs_13[] = {{"axis", ODB_ATTR_INT, "-1", false},
                                                        {NULL}};

#define SOFTMAX_FLAGS (ODB_OP_REAL | ODB_OP_STEADY)
#define SOFTMAX_HARD_FLAGS (ODB_OP_EXACT | ODB_OP_REAL | ODB_OP_BOUNDARY)

const struct odb_op odb_ops_softmax[] = {
    ODB_ONNX("Softmax", 1, ODB_ARITY(1, 1), ODB_ARITY(1, 1), SOFTMAX_FLAGS, softmax_attrs_1,
             softmax_infer, softmax_run, ODB_T_FLOAT, ODB_NAMES("input", "output"),
             ODB_HALVES(1, 13), ODB_WORK(softmax)),
    ODB_ONNX("Softmax", 13, ODB_ARITY(1, 1), ODB_ARITY(1, 1), SOFTMAX_FLAGS, softmax_attrs_13,
             softmax_infer, softmax_run, ODB_T_FLOAT),
    ODB_ONNX("LogSoftmax", 1, ODB_ARITY(1, 1), ODB_ARITY(1, 1), SOFTMAX_FLAGS, softmax_attrs_1,
             softmax_infer, softmax_log_run, ODB_T_FLOAT, ODB_NAMES("input", "output"),
             ODB_HALVES(1, 13), ODB_WORK(softmax)),
    ODB_ONNX("LogSoftmax", 13, ODB_ARITY(1, 1), ODB_ARITY(1, 1), SOFTMAX_FLAGS, softmax_attrs_13,
             softmax_infer, softmax_log_run, ODB_T_FLOAT),
    ODB_ONNX("Hardmax", 1, ODB_ARITY(1, 1), ODB_ARITY(1, 1), SOFTMAX_HARD_FLAGS, softmax_attrs_1,
             softmax_infer, softmax_hard_run, ODB_T_FLOAT, ODB_NAMES("input", "output"),
             ODB_HALVES(1, 13)),
    ODB_ONNX("Hardmax", 13, ODB_ARITY(1, 1), ODB_ARITY(1, 1), SOFTMAX_HARD_FLAGS, softmax_attrs_13,
             softmax_infer, softmax_hard_run, ODB_T_FLOAT),
    {.name = NULL},
};
