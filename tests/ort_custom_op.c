/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A library of custom operators for ONNX Runtime, to test that they are found: DOMAIN::Twice for
 * floats, as t_ort.c compiles it with -DDOMAIN='"test"'. Functions are called by their
 * place in the table; operators are of version 11, which every runtime still reads.
 */
#include <stddef.h>
#include <stdint.h>

enum {
    CREATE_DOMAIN = 26,
    ADD_TO_DOMAIN = 27,
    ADD_DOMAIN = 28,
    TENSOR_DATA = 51,
    RANK = 61,
    DIMS = 62,
    SHAPE = 65,
    GET_INPUT = 90,
    GET_OUTPUT = 91,
    RELEASE_SHAPE = 99,
    RELEASE_DOMAIN = 101
};

struct custom_op {
    uint32_t version;
    void *(*create)(const struct custom_op *op, const void *const *api, const void *info);
    const char *(*name)(const struct custom_op *op);
    const char *(*provider)(const struct custom_op *op);
    int (*input_type)(const struct custom_op *op, size_t i);
    size_t (*input_count)(const struct custom_op *op);
    int (*output_type)(const struct custom_op *op, size_t i);
    size_t (*output_count)(const struct custom_op *op);
    void (*compute)(void *kernel, void *context);
    void (*destroy)(void *kernel);
    int (*input_characteristic)(const struct custom_op *op, size_t i);
    int (*output_characteristic)(const struct custom_op *op, size_t i);
    void *later[16]; /* not looked at for version 11 */
};

struct base {
    const void *const *(*get_api)(uint32_t version);
    const char *(*version)(void);
};

typedef void *call_fn(); /* any arguments */

static const void *const *api;

static void *call_pointer(int slot)
{
    return (void *)(uintptr_t)api[slot];
}
#define CALL(slot) ((call_fn *)call_pointer(slot))

static void *op_create(const struct custom_op *op, const void *const *table, const void *info)
{
    return (void *)(uintptr_t)op;
}

static const char *op_name(const struct custom_op *op)
{
    return "Twice";
}

static const char *op_provider(const struct custom_op *op)
{
    return NULL; /* the CPU */
}

static int op_type(const struct custom_op *op, size_t i)
{
    return 1; /* float */
}

static size_t op_count(const struct custom_op *op)
{
    return 1;
}

static int op_required(const struct custom_op *op, size_t i)
{
    return 0;
}

static void op_compute(void *kernel, void *context)
{
    void *in = NULL, *out = NULL, *shape = NULL;
    float *x = NULL, *y = NULL;
    int64_t dims[8];
    size_t rank = 0, n = 1;
    CALL(GET_INPUT)(context, (size_t)0, &in);
    CALL(SHAPE)(in, &shape);
    CALL(RANK)(shape, &rank);
    CALL(DIMS)(shape, dims, rank);
    CALL(RELEASE_SHAPE)(shape);
    CALL(GET_OUTPUT)(context, (size_t)0, dims, rank, &out);
    CALL(TENSOR_DATA)(in, &x);
    CALL(TENSOR_DATA)(out, &y);
    for (size_t i = 0; i < rank; i++)
        n *= (size_t)dims[i];
    for (size_t i = 0; i < n; i++)
        y[i] = 2 * x[i];
}

static void op_destroy(void *kernel)
{
}

static void *domain;

/* ONNX Runtime unloads libraries when nobody runs what they registered. */
__attribute__((destructor)) static void op_unload(void)
{
    if (domain)
        CALL(RELEASE_DOMAIN)(domain);
}

void *RegisterCustomOps(void *options, const struct base *base)
{
    static const struct custom_op twice = {11,         op_create,  op_name,     op_provider,
                                           op_type,    op_count,   op_type,     op_count,
                                           op_compute, op_destroy, op_required, op_required};
    void *status = NULL;
    api = base->get_api(11);
    if (!domain) {
        status = CALL(CREATE_DOMAIN)(DOMAIN, &domain);
        if (!status)
            status = CALL(ADD_TO_DOMAIN)(domain, &twice);
    }
    return status ? status : CALL(ADD_DOMAIN)(options, domain);
}
