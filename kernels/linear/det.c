/* SPDX-License-Identifier: MIT
 *
 * Det: determinants of a stack of square matrices, in double. That of the empty matrix is 1.
 */
#include <math.h>
#include <stdatomic.h>

#include "system/parallel.h"
#include "kernels/core/real.h"
#include "kernels/core/row.h"
#include "kernels/core/workspace.h"

#define DET_GRAIN 100000 /* multiplications per block */

struct det {
    size_t n;
    const void *x;
    void *y;
    atomic_bool failed;
};

#define ODB_BODY "kernels/linear/det.real.h"
#include "kernels/core/real.h"

static enum odb_status det_infer(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    char shape[200];
    if (x->rank < 2 || x->dims[x->rank - 1] != x->dims[x->rank - 2])
        return ODB_KERN_FAIL(k, "an input of shape %s is no stack of square matrices",
                             odb_shape_text(x, shape, sizeof shape));
    return odb_kern_outline(k, 0, x->dtype, x->rank - 2, x->dims);
}

static enum odb_status det_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    size_t n = (size_t)x->dims[x->rank - 1];
    struct det s = {.n = n, .x = x->data, .y = k->out[0]->data};
    atomic_init(&s.failed, false);
    odb_parallel_for(k->out[0]->count, DET_GRAIN / (n * n * n + 1) + 1,
                     ODB_REAL_FN(k, x->dtype, det_all), &s);
    if (atomic_load(&s.failed))
        return odb_kern_no_memory(k);
    return ODB_OK;
}

const struct odb_op odb_ops_det[] = {
    ODB_ONNX("Det", 11, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_REAL, NULL, det_infer, det_run,
             ODB_T_FLOAT, ODB_NAMES("X", "Y"), ODB_HALVES(11, 22)),
    {.name = NULL},
};
