/* SPDX-License-Identifier: MIT
 *
 * Chains of operator calls. A step is an ordinary call (call_kernel.c), so types are checked and
 * double and noisy mode reach what is inside. In noisy mode every value of a chain is moved once,
 * as a result: the operands of a step are not moved again.
 */
#include "kernels/core/chain.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

struct odb_tensor *odb_chain_take(struct odb_chain *c, struct odb_tensor *t)
{
    ODB_ASSERT(c->n < ODB_CHAIN_VALUES);
    return c->owned[c->n++] = t;
}

void odb_chain_dispose(struct odb_chain *c)
{
    while (c->n)
        odb_tensor_unref(c->owned[--c->n]);
}

enum odb_status odb_chain_infer(struct odb_kern *k, odb_chain_fn fn)
{
    struct odb_chain c = {.k = k, .infer = true};
    fn(&c);
    odb_chain_dispose(&c);
    return c.status;
}

enum odb_status odb_chain_run_with(struct odb_kern *k, odb_chain_fn fn, void *arg)
{
    struct odb_chain c = {.k = k, .arg = arg};
    fn(&c);
    odb_chain_dispose(&c);
    return c.status;
}

enum odb_status odb_chain_run(struct odb_kern *k, odb_chain_fn fn)
{
    return odb_chain_run_with(k, fn, NULL);
}

/* --- steps ------------------------------------------------------------------------------------ */

void odb_chain_steps(struct odb_chain *c, const struct odb_step *s, int n,
                     const struct odb_tensor **out)
{
    static const bool wanted[] = {true, true, true, true, true, true, true, true};
    const char *colons = strstr(s->op, "::");
    char domain[60];
    struct odb_tensor *made[ODB_COUNT(wanted)] = {NULL};
    memset(out, 0, (size_t)n * sizeof *out);
    if (!odb_chain_ok(c))
        return;
    snprintf(domain, sizeof domain, "%.*s", colons ? (int)(colons - s->op) : 0, s->op);
    struct odb_call call = {.op = odb_op_find(domain, colons ? colons + 2 : s->op, s->opset),
                            .opset = s->opset,
                            .attrs = s->attrs,
                            .n_in = ODB_STEP_MAX_IN,
                            .n_out = n,
                            .in = s->in,
                            .wanted = wanted,
                            .precision = c->k->carry_f64    ? ODB_PREC_F64
                                         : c->k->sequential ? ODB_PREC_NOISY
                                                            : ODB_PREC_NATIVE,
                            .keep_in = ~0u,
                            .inner = true,
                            .seed = c->k->seed + (uint64_t)c->n + 1};
    ODB_ASSERT(call.op && (size_t)n <= ODB_COUNT(wanted));
    while (call.n_in && !s->in[call.n_in - 1])
        call.n_in--;
    c->status = (c->infer ? odb_op_infer : odb_op_run)(&call, made, c->k->err);
    for (int i = 0; i < n && odb_chain_ok(c); i++)
        out[i] = odb_chain_take(c, made[i]);
}

const struct odb_tensor *odb_chain_step(struct odb_chain *c, const struct odb_step *s)
{
    const struct odb_tensor *out;
    odb_chain_steps(c, s, 1, &out);
    return out;
}

/* --- values ----------------------------------------------------------------------------------- */

struct odb_tensor *odb_chain_new(struct odb_chain *c, enum odb_dtype dtype, int rank,
                                 const int64_t *dims)
{
    struct odb_tensor *t = NULL;
    if (!odb_chain_ok(c))
        return NULL;
    c->status =
        (c->infer ? odb_tensor_new_shape : odb_tensor_new_raw)(&t, dtype, rank, dims, c->k->err);
    if (!odb_chain_ok(c))
        return NULL;
    return odb_chain_take(c, t);
}

const struct odb_tensor *odb_chain_number(struct odb_chain *c, enum odb_dtype dtype, double v)
{
    struct odb_tensor *t = NULL;
    if (!odb_chain_ok(c))
        return NULL;
    if (c->k->carry_f64 && odb_dtype_is_float(dtype))
        dtype = ODB_F64;
    c->status = odb_tensor_new(&t, dtype, 0, NULL, c->k->err);
    if (!odb_chain_ok(c))
        return NULL;
    odb_store_f64(dtype, t->data, 0, v);
    return odb_chain_take(c, t);
}

const struct odb_tensor *odb_chain_list(struct odb_chain *c, const int64_t *values, int n)
{
    struct odb_tensor *t = NULL;
    if (!odb_chain_ok(c))
        return NULL;
    c->status = odb_tensor_copy_of(&t, ODB_I64, 1, (const int64_t[]){n}, values, c->k->err);
    if (!odb_chain_ok(c))
        return NULL;
    return odb_chain_take(c, t);
}

const struct odb_tensor *odb_chain_reshape(struct odb_chain *c, const struct odb_tensor *t,
                                           int rank, const int64_t *dims)
{
    struct odb_tensor *out = NULL;
    if (!odb_chain_ok(c))
        return NULL;
    if (odb_dims_product(dims, 0, rank) != t->count)
        ODB_CHAIN_FAIL(c, "%zu elements cannot be reshaped to %zu", t->count,
                       odb_dims_product(dims, 0, rank));
    else if (t->data)
        c->status = odb_tensor_reshape(&out, t, rank, dims, c->k->err);
    else
        c->status = odb_tensor_new_shape(&out, t->dtype, rank, dims, c->k->err);
    if (!odb_chain_ok(c))
        return NULL;
    return odb_chain_take(c, out);
}

const struct odb_tensor *odb_chain_cast(struct odb_chain *c, const struct odb_tensor *t,
                                        enum odb_dtype dtype)
{
    if (!odb_chain_ok(c) || t->dtype == dtype)
        return t;
    return ODB_STEP_WITH(c, "Cast", 13, (t), ODB_ATTRS(ODB_ATTR_I("to", dtype)));
}

const struct odb_tensor *odb_chain_permute(struct odb_chain *c, const struct odb_tensor *t,
                                           const int64_t *perm)
{
    if (!odb_chain_ok(c))
        return NULL;
    return ODB_STEP_WITH(c, "Transpose", 13, (t), ODB_ATTRS(ODB_ATTR_LIST("perm", perm, t->rank)));
}

const struct odb_tensor *odb_chain_channels_first(struct odb_chain *c, const struct odb_tensor *t)
{
    int64_t perm[ODB_MAX_RANK] = {0};
    if (!odb_chain_ok(c) || t->rank < 3)
        return t;
    for (int d = 1; d < t->rank; d++)
        perm[d] = d == 1 ? t->rank - 1 : d - 1;
    return odb_chain_permute(c, t, perm);
}

const struct odb_tensor *odb_chain_channels_last(struct odb_chain *c, const struct odb_tensor *t)
{
    int64_t perm[ODB_MAX_RANK] = {0};
    if (!odb_chain_ok(c) || t->rank < 3)
        return t;
    for (int d = 1; d < t->rank; d++)
        perm[d] = d == t->rank - 1 ? 1 : d + 1;
    return odb_chain_permute(c, t, perm);
}

void odb_chain_give(struct odb_chain *c, int i, const struct odb_tensor *t)
{
    struct odb_kern *k = c->k;
    if (!odb_chain_ok(c))
        return;
    if (c->infer) {
        c->status = odb_kern_outline(k, i, t->dtype, t->rank, t->dims);
    } else if (i < k->n_out && k->wanted[i]) {
        odb_tensor_unref(k->out[i]);
        k->out[i] = odb_tensor_ref(t);
    }
}
