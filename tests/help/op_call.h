/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One operator call of the CPU reference, put together by hand.
 */
#ifndef ODB_TESTS_OP_CALL_H
#define ODB_TESTS_OP_CALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kernels/core/kern.h"

struct op_call {
    const char *name;
    int opset, n_in, n_out;
    enum odb_precision precision;
    uint64_t seed;
    struct odb_attr attrs[10];
    size_t n_attrs;
    struct odb_tensor *in[16], *out[8]; /* owned */
    struct odb_error err;
};

/* clang-format off */
#define OP_CALL(name_, opset_) {.name = (name_), .opset = (opset_), .n_out = 1}
/* clang-format on */
#define OP_DIMS(...) ((int64_t[]){__VA_ARGS__})

/* Adds an input that the caller owns no longer; NULL: omitted. Returns it. */
static inline struct odb_tensor *op_take(struct op_call *c, struct odb_tensor *t)
{
    c->in[c->n_in++] = t;
    return t;
}

/* Adds an input of zeros. */
static inline struct odb_tensor *op_new(struct op_call *c, enum odb_dtype dtype, int rank,
                                        const int64_t *dims)
{
    struct odb_tensor *t = NULL;

    assert_int_equal(odb_tensor_new(&t, dtype, rank, dims, NULL), ODB_OK);
    return op_take(c, t);
}

/* Adds an input whose element i is values[i]. */
static inline struct odb_tensor *op_in(struct op_call *c, enum odb_dtype dtype, int rank,
                                       const int64_t *dims, const double *values)
{
    struct odb_tensor *t = op_new(c, dtype, rank, dims);

    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(dtype, t->data, i, values[i]);
    return t;
}

/* Adds an input whose elements count up from first. */
static inline struct odb_tensor *op_count(struct op_call *c, enum odb_dtype dtype, int rank,
                                          const int64_t *dims, double first)
{
    struct odb_tensor *t = op_new(c, dtype, rank, dims);

    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(dtype, t->data, i, first + (double)i);
    return t;
}

/* Adds a list of int64. */
static inline struct odb_tensor *op_list(struct op_call *c, int64_t n, const int64_t *values)
{
    struct odb_tensor *t = NULL;

    assert_int_equal(odb_tensor_copy_of(&t, ODB_I64, 1, &n, values, NULL), ODB_OK);
    return op_take(c, t);
}

static inline struct odb_attr *op_attr(struct op_call *c, const char *name, enum odb_attr_type type)
{
    struct odb_attr *a = &c->attrs[c->n_attrs++];

    *a = (struct odb_attr){.name = name, .type = type};
    return a;
}

static inline void op_int(struct op_call *c, const char *name, int64_t v)
{
    op_attr(c, name, ODB_ATTR_INT)->i = v;
}

static inline void op_float(struct op_call *c, const char *name, float v)
{
    op_attr(c, name, ODB_ATTR_FLOAT)->f = v;
}

static inline void op_text(struct op_call *c, const char *name, const char *v)
{
    op_attr(c, name, ODB_ATTR_STRING)->s = (struct odb_str){v, strlen(v)};
}

/* values are borrowed. */
static inline void op_ints(struct op_call *c, const char *name, size_t n, const int64_t *values)
{
    struct odb_attr *a = op_attr(c, name, ODB_ATTR_INTS);

    a->n = n;
    a->ints = values;
}

/* What odb_op_run() or odb_op_infer() make of the call. */
static inline struct odb_call op_make(struct op_call *c, const bool *wanted)
{
    const struct odb_op *op = odb_op_find("", c->name, c->opset);

    assert_non_null(op);
    c->err = (struct odb_error)ODB_ERROR_INIT;
    return (struct odb_call){.op = op,
                             .opset = c->opset,
                             .attrs = {c->attrs, c->n_attrs},
                             .n_in = c->n_in,
                             .n_out = c->n_out,
                             .in = (const struct odb_tensor *const *)c->in,
                             .wanted = wanted,
                             .precision = c->precision,
                             .seed = c->seed};
}

static inline void op_drop_outputs(struct op_call *c)
{
    for (int i = 0; i < c->n_out; i++) {
        odb_tensor_unref(c->out[i]);
        c->out[i] = NULL;
    }
}

static inline enum odb_status op_run(struct op_call *c)
{
    const bool wanted[8] = {true, true, true, true, true, true, true, true};

    op_drop_outputs(c);
    struct odb_call call = op_make(c, wanted);
    return odb_op_run(&call, c->out, &c->err);
}

static inline enum odb_status op_infer(struct op_call *c)
{
    const bool wanted[8] = {true, true, true, true, true, true, true, true};

    op_drop_outputs(c);
    struct odb_call call = op_make(c, wanted);
    return odb_op_infer(&call, c->out, &c->err);
}

static inline void op_free(struct op_call *c)
{
    op_drop_outputs(c);
    for (int i = 0; i < c->n_in; i++)
        odb_tensor_unref(c->in[i]);
    c->n_in = 0;
}

/* The call succeeds and gives that shape. */
#define op_expect_shape(c, rank_, ...)                                                             \
    do {                                                                                           \
        const int64_t want_[] = {__VA_ARGS__};                                                     \
        assert_int_equal((c)->out[0]->rank, (rank_));                                              \
        for (int d_ = 0; d_ < (rank_); d_++)                                                       \
            assert_int_equal((c)->out[0]->dims[d_], want_[d_]);                                    \
    } while (0)

/* Output o holds exactly these numbers. */
#define op_expect(c, o, ...)                                                                       \
    do {                                                                                           \
        const double want_[] = {__VA_ARGS__};                                                      \
        assert_int_equal((c)->out[o]->count, ODB_COUNT(want_));                                    \
        for (size_t i_ = 0; i_ < ODB_COUNT(want_); i_++)                                           \
            assert_true(odb_tensor_f64((c)->out[o], i_) == want_[i_]);                             \
    } while (0)

/* The call fails as the operator's own rules demand, and the message holds text. */
#define op_expect_refused(c, text)                                                                 \
    do {                                                                                           \
        assert_int_equal(op_run(c), ODB_E_OPERATOR);                                               \
        if (strstr((c)->err.what, (text)) == NULL)                                                 \
            fail_msg("\"%s\" is not in \"%s\"", (text), (c)->err.what);                            \
    } while (0)

/* A small repeatable random number in [0, n). */
static inline int64_t op_random(uint64_t *state, int64_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((*state >> 33) % (uint64_t)n);
}

#endif
