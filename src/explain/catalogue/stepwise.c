/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/catalogue/stepwise.h"

#include <math.h>
#include <string.h>

static const struct stepwise {
    const char *name, *text;
    enum odb_dtype dtype;
    bool wide; /* the sum is taken in double, and rounded once */
} stepwises[] = {
    {"f16", "as if each of its steps were rounded to float16", ODB_F16, false},
    {"f16, sum rounded once", "as if each of its steps were rounded to float16, the sum once",
     ODB_F16, true},
    {"bf16", "as if each of its steps were rounded to bfloat16", ODB_BF16, false},
    {"bf16, sum rounded once", "as if each of its steps were rounded to bfloat16, the sum once",
     ODB_BF16, true},
};

enum choice stepwise_choose(const struct accused *s, size_t k, struct variant *v)
{
    const struct odb_tensor *x = accused_in(s, 0);
    if (k >= ODB_COUNT(stepwises) || !x || !odb_dtype_is_float(x->dtype) || !x->rank)
        return CHOICE_END;
    if (odb_dtype_info(stepwises[k].dtype)->bits >= odb_dtype_info(x->dtype)->bits)
        return CHOICE_SKIP;
    return variant_made(v, k, stepwises[k].name, stepwises[k].text);
}

static double stepwise_round(const struct stepwise *how, double x)
{
    uint16_t bits;
    odb_store_f64(how->dtype, &bits, 0, x);
    return odb_load_f64(how->dtype, &bits, 0);
}

/* One row of a Softmax, whose elements are so far apart. */
static void stepwise_row(const struct stepwise *how, bool logarithm, odb_f64 *x, size_t n,
                         size_t step)
{
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++) {
        x[i * step] = stepwise_round(how, x[i * step]);
        most = fmax(most, x[i * step]);
    }
    for (size_t i = 0; i < n; i++) {
        x[i * step] = stepwise_round(how, x[i * step] - most);
        sum += stepwise_round(how, exp(x[i * step]));
        sum = how->wide ? sum : stepwise_round(how, sum);
    }
    sum = stepwise_round(how, sum);
    double off = stepwise_round(how, log(sum));
    for (size_t i = 0; i < n; i++)
        x[i * step] = stepwise_round(how, logarithm ? x[i * step] - off
                                                    : stepwise_round(how, exp(x[i * step])) / sum);
}

enum odb_status stepwise_result(const struct variant *v, const struct accused *s,
                                struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_tensor *x = accused_in(s, 0), *y = s->y[0];
    bool flattens = s->op->since < 13, logarithm = !strcmp(s->node->op_type, "LogSoftmax");
    struct odb_tensor *wide = NULL;
    size_t outer = 1, n = 1, inner = 1;
    if (!x || !y || !odb_tensor_same_shape(x, y))
        return ODB_SKIPPED;
    int64_t axis = accused_int(s, "axis", flattens ? 1 : -1);
    axis += axis < 0 ? x->rank : 0;
    if (axis < 0 || axis > x->rank || (!flattens && axis == x->rank))
        return ODB_SKIPPED;
    for (int k = 0; k < x->rank; k++) {
        size_t dim = (size_t)x->dims[k];
        *(k < axis ? &outer : k == axis || flattens ? &n : &inner) *= dim;
    }
    ODB_TRY(x->dtype == ODB_F64 ? odb_tensor_clone(&wide, x, err)
                                : odb_tensor_cast(&wide, x, ODB_F64, err));
    for (size_t row = 0; row < outer * inner; row++)
        stepwise_row(&stepwises[v->at], logarithm,
                     (odb_f64 *)wide->data + row / inner * n * inner + row % inner, n, inner);
    enum odb_status status = odb_tensor_cast(out, wide, y->dtype, err);
    odb_tensor_unref(wide);
    return status;
}
