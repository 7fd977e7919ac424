/* SPDX-License-Identifier: MIT
 *
 * Losses of a classifier, whose input has the shape (N, C, d...), and the target (N, d...):
 * NegativeLogLikelihoodLoss of log probabilities, SoftmaxCrossEntropyLoss of what they are made
 * from. A mean is over the weights of the places that count. Sums are taken in double, over all
 * places in order.
 */
#include <string.h>

#include "base/mem.h"
#include "system/parallel.h"
#include "kernels/core/real.h"
#include "kernels/core/row.h"

#define LOSS_GRAIN 4096 /* elements per block */

enum loss_reduction { LOSS_NONE, LOSS_SUM, LOSS_MEAN };

struct loss {
    enum loss_reduction reduction;
    bool ignores; /* there is a class that does not count */
    int64_t ignored;
    size_t classes, inner, places;
    const struct odb_tensor *target;
    const void *x, *weight; /* weight: NULL: 1 */
    void *log_prob, *y;     /* NegativeLogLikelihoodLoss: log_prob is x */
};

#define ODB_BODY "kernels/reduce/loss.real.h"
#include "kernels/core/real.h"

static enum odb_status loss_read(struct odb_kern *k, struct loss *s)
{
    static const char *const names[] = {"none", "sum", "mean"};
    const struct odb_tensor *x = k->in[0], *target = k->in[1], *weight = odb_kern_in(k, 2);
    const char *reduction = odb_kern_string(k, "reduction", "mean");
    char a[200], b[200];
    *s = (struct loss){.target = target, .inner = 1};
    while (s->reduction <= LOSS_MEAN && strcmp(names[s->reduction], reduction) != 0)
        s->reduction++;
    if (s->reduction > LOSS_MEAN)
        return ODB_KERN_FAIL(k, "unknown reduction \"%s\"", reduction);
    bool fits = x->rank >= 2 && target->rank == x->rank - 1 && target->dims[0] == x->dims[0];
    for (int d = 2; fits && d < x->rank; d++)
        fits = target->dims[d - 1] == x->dims[d];
    if (!fits)
        return ODB_KERN_FAIL(k, "targets of shape %s do not fit scores of shape %s",
                             odb_shape_text(target, a, sizeof a), odb_shape_text(x, b, sizeof b));
    if (weight && (weight->rank != 1 || weight->dims[0] != x->dims[1]))
        return ODB_KERN_FAIL(k, "weights of shape %s for %lld classes",
                             odb_shape_text(weight, a, sizeof a), (long long)x->dims[1]);
    s->ignores = odb_kern_has(k, "ignore_index");
    s->ignored = odb_kern_int(k, "ignore_index", 0);
    s->classes = (size_t)x->dims[1];
    s->inner = odb_dims_product(x->dims, 2, x->rank);
    s->places = target->count;
    s->x = x->data;
    s->weight = weight ? weight->data : NULL;
    return ODB_OK;
}

static enum odb_status loss_infer(struct odb_kern *k)
{
    struct loss s;
    ODB_TRY(loss_read(k, &s));
    if (k->n_out > 1)
        ODB_TRY(odb_kern_outline_like(k, 1, 0));
    bool none = s.reduction == LOSS_NONE;
    return odb_kern_outline(k, 0, k->in[0]->dtype, none ? s.target->rank : 0, s.target->dims);
}

static enum odb_status loss_check(struct odb_kern *k, const struct loss *s)
{
    for (size_t i = 0; i < s->places; i++) {
        int64_t target = odb_tensor_i64(s->target, i);
        if ((target < 0 || target >= (int64_t)s->classes) && !(s->ignores && target == s->ignored))
            return ODB_KERN_FAIL(k, "target %zu is class %lld, and there are %zu", i,
                                 (long long)target, s->classes);
    }
    return ODB_OK;
}

static enum odb_status loss_likelihood_run(struct odb_kern *k)
{
    struct loss s;
    ODB_TRY(loss_read(k, &s));
    ODB_TRY(loss_check(k, &s));
    s.log_prob = (void *)s.x;
    s.y = k->out[0]->data;
    ODB_REAL_FN(k, k->in[0]->dtype, loss_sum)(&s);
    return ODB_OK;
}

static enum odb_status loss_entropy_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct odb_tensor *log_prob = k->n_out > 1 ? odb_tensor_ref(k->out[1]) : NULL;
    struct loss s;
    ODB_TRY(loss_read(k, &s));
    ODB_TRY(loss_check(k, &s));
    if (!log_prob)
        ODB_TRY(odb_tensor_new_raw(&log_prob, x->dtype, x->rank, x->dims, k->err));
    s.log_prob = log_prob->data;
    if (x->count > 0)
        odb_parallel_for(s.places, LOSS_GRAIN / s.classes + 1,
                         ODB_REAL_FN(k, x->dtype, loss_log_softmax), &s);
    if (k->out[0]) {
        s.y = k->out[0]->data;
        ODB_REAL_FN(k, x->dtype, loss_sum)(&s);
    }
    odb_tensor_unref(log_prob);
    return ODB_OK;
}

static const struct odb_attr_spec loss_attrs[] = {
    {.name = "ignore_index", .type = ODB_ATTR_INT},
    {.name = "reduction", .type = ODB_ATTR_STRING, .def = "mean"},
    {.name = NULL}};

const struct odb_op odb_ops_loss[] = {
    ODB_ONNX("NegativeLogLikelihoodLoss", 12, ODB_ARITY(2, 3), ODB_ARITY(1, 1), ODB_OP_REAL,
             loss_attrs, loss_infer, loss_likelihood_run, ODB_T_FLOAT, ODB_T_INDEX, ODB_AS(0),
             ODB_NAMES("input,target,weight", "loss"), ODB_HALVES(12, 22)),
    ODB_ONNX("SoftmaxCrossEntropyLoss", 12, ODB_ARITY(2, 3), ODB_ARITY(1, 2), ODB_OP_REAL,
             loss_attrs, loss_infer, loss_entropy_run, ODB_T_FLOAT, ODB_T_INDEX, ODB_AS(0),
             ODB_NAMES("scores,labels,weights", "output,log_prob"), ODB_HALVES(12, 13)),
    {.name = NULL},
};
