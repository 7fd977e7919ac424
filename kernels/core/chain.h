/* SPDX-License-Identifier: MIT
 *
 * Operators that are made of others: FusedConv is a Conv, an Add and an activation. Such a one is
 * written once, as a function that takes step after step; for infer() the steps say types and
 * shapes, for run() they compute, in the call's own precision.
 *
 *     static void fused_matmul(struct odb_chain *c)
 *     {
 *         const struct odb_tensor *y = ODB_STEP(c, "MatMul", 13, {c->k->in[0], c->k->in[1]});
 *         odb_chain_give(c, 0, y);
 *     }
 *     ODB_CHAIN(fused_matmul)        makes fused_matmul_infer() and fused_matmul_run()
 *
 * The first failure makes all later steps do nothing and give NULL, so a chain needs no checks
 * between its steps; what reads a step's result itself asks odb_chain_ok() before.
 *
 * A kernel that computes only part of its result in steps holds a chain itself, c = {.k = k}, reads
 * c.status and ends with odb_chain_dispose().
 */
#ifndef ODB_KERNELS_CORE_CHAIN_H
#define ODB_KERNELS_CORE_CHAIN_H

#include "kernels/core/kern.h"

#define ODB_CHAIN_VALUES 128 /* that the steps of one chain may make */

struct odb_chain {
    struct odb_kern *k;
    void *arg;                                  /* of odb_chain_run_with() */
    bool infer;                                 /* types and shapes, no values */
    enum odb_status status;                     /* of the first step that failed */
    struct odb_tensor *owned[ODB_CHAIN_VALUES]; /* refs */
    int n;
};

typedef void (*odb_chain_fn)(struct odb_chain *c);
enum odb_status odb_chain_infer(struct odb_kern *k, odb_chain_fn fn) ODB_MUST_USE;
enum odb_status odb_chain_run(struct odb_kern *k, odb_chain_fn fn) ODB_MUST_USE;
/* For a kernel that is a loop of chains, in run(). */
enum odb_status odb_chain_run_with(struct odb_kern *k, odb_chain_fn fn, void *arg) ODB_MUST_USE;
/* Drops what the chain owns. */
void odb_chain_dispose(struct odb_chain *c);

#define ODB_CHAIN(name)                                                                            \
    static enum odb_status name##_infer(struct odb_kern *k)                                        \
    {                                                                                              \
        return odb_chain_infer(k, name);                                                           \
    }                                                                                              \
    static enum odb_status name##_run(struct odb_kern *k)                                          \
    {                                                                                              \
        return odb_chain_run(k, name);                                                             \
    }

/* Whether nothing has failed. */
static inline bool odb_chain_ok(const struct odb_chain *c)
{
    return c->status == ODB_OK;
}

/* One operator call. Inputs end with the last that is not NULL. */
#define ODB_STEP_MAX_IN 12
struct odb_step {
    const char *op; /* "com.microsoft::Attention"; without a domain: of ai.onnx */
    int opset;
    const struct odb_tensor *in[ODB_STEP_MAX_IN];
    struct odb_attrs attrs;
};

/* Results belong to the chain. odb_chain_step gives the first, odb_chain_steps n of them. */
const struct odb_tensor *odb_chain_step(struct odb_chain *c, const struct odb_step *s);
void odb_chain_steps(struct odb_chain *c, const struct odb_step *s, int n,
                     const struct odb_tensor **out);

#define ODB_INPUTS(...) __VA_ARGS__
/* ODB_STEP(c, "Add", 14, (a, b)), ODB_STEP_WITH(c, "Gemm", 13, (a, b), c->k->attrs) */
#define ODB_STEP(c, name, version, inputs)                                                         \
    odb_chain_step(                                                                                \
        c, &(const struct odb_step){.op = name, .opset = version, .in = {ODB_INPUTS inputs}})
#define ODB_STEP_WITH(c, name, version, inputs, ...)                                               \
    odb_chain_step(                                                                                \
        c, &(const struct odb_step){                                                               \
               .op = name, .opset = version, .in = {ODB_INPUTS inputs}, .attrs = __VA_ARGS__})

/* Attributes of a step: ODB_ATTRS(ODB_ATTR_I("axis", 1), ODB_ATTR_LIST("perm", perm, n)). */
#define ODB_ATTRS(...)                                                                             \
    (struct odb_attrs)                                                                             \
    {                                                                                              \
        (const struct odb_attr[]){__VA_ARGS__},                                                    \
            sizeof((const struct odb_attr[]){__VA_ARGS__}) / sizeof(struct odb_attr)               \
    }
#define ODB_ATTR_I(key, value)                                                                     \
    {                                                                                              \
        .name = key, .type = ODB_ATTR_INT, .i = value                                              \
    }
#define ODB_ATTR_F(key, value)                                                                     \
    {                                                                                              \
        .name = key, .type = ODB_ATTR_FLOAT, .f = value                                            \
    }
#define ODB_ATTR_S(key, text)                                                                      \
    {                                                                                              \
        .name = key, .type = ODB_ATTR_STRING, .s = { text, strlen(text) }                          \
    }
#define ODB_ATTR_LIST(key, values, count)                                                          \
    {                                                                                              \
        .name = key, .type = ODB_ATTR_INTS, .ints = values, .n = (size_t)(count)                   \
    }

/* The caller's reference becomes the chain's; gives t, which may be NULL. */
struct odb_tensor *odb_chain_take(struct odb_chain *c, struct odb_tensor *t);
/* A tensor of the chain's: fresh memory in run(), a shape in infer(). NULL after a failure. */
struct odb_tensor *odb_chain_new(struct odb_chain *c, enum odb_dtype dtype, int rank,
                                 const int64_t *dims);
/* A number, and a list of numbers, that have values in infer() too. Floats are double in double
 * mode. */
const struct odb_tensor *odb_chain_number(struct odb_chain *c, enum odb_dtype dtype, double v);
const struct odb_tensor *odb_chain_list(struct odb_chain *c, const int64_t *values, int n);

/* The commonest steps. reshape: of equal count; cast: t itself where it is of that type already;
 * permute: output dimension d is dimension perm[d]. */
const struct odb_tensor *odb_chain_reshape(struct odb_chain *c, const struct odb_tensor *t,
                                           int rank, const int64_t *dims);
const struct odb_tensor *odb_chain_cast(struct odb_chain *c, const struct odb_tensor *t,
                                        enum odb_dtype dtype);
const struct odb_tensor *odb_chain_permute(struct odb_chain *c, const struct odb_tensor *t,
                                           const int64_t *perm);
/* Between channels last, (N, …, C), and channels first, (N, C, …). */
const struct odb_tensor *odb_chain_channels_first(struct odb_chain *c, const struct odb_tensor *t);
const struct odb_tensor *odb_chain_channels_last(struct odb_chain *c, const struct odb_tensor *t);

/* t becomes output i. */
void odb_chain_give(struct odb_chain *c, int i, const struct odb_tensor *t);

/* Ends the chain with a message. */
#define ODB_CHAIN_FAIL(c, ...)                                                                     \
    ((c)->status = (c)->status == ODB_OK ? ODB_KERN_FAIL((c)->k, __VA_ARGS__) : (c)->status)
#define ODB_CHAIN_UNSUPPORTED(c, ...)                                                              \
    ((c)->status = (c)->status == ODB_OK ? ODB_KERN_UNSUPPORTED((c)->k, __VA_ARGS__) : (c)->status)

#endif
