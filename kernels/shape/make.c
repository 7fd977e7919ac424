/* SPDX-License-Identifier: MIT
 *
 * Operators that make tensors out of little: constants, ranges, unit matrices, and draws.
 *
 * Draws are seeded: by the attribute where the node has one, and by the caller's seed. They follow
 * no other implementation's stream, nor could they; the executor captures them once. Only a Dropout
 * that names its seed draws what ONNX's own reference does, for its tests hold it to that.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/core/cells.h"
#include "kernels/core/row.h"
#include "kernels/core/stride.h"
#include "tensor/random.h"

/* All of out becomes the one element of value. */
static enum odb_status make_fill(struct odb_kern *k, struct odb_tensor *out,
                                 const struct odb_tensor *value)
{
    struct odb_cells dst = ODB_CELLS_INIT, src = ODB_CELLS_INIT;
    struct odb_stride s = {.rank = 1, .dims = {(int64_t)out->count}, .dst = {1}};
    enum odb_status status;

    ODB_TRY_OUT(odb_cells_read(&src, value, k->err));
    ODB_TRY_OUT(odb_cells_write(&dst, out, k->err));
    odb_stride_copy(&s, dst.size, dst.data, src.data);
    status = odb_cells_commit(&dst, out, k->err);
out:
    odb_cells_dispose(&dst);
    odb_cells_dispose(&src);
    return status;
}

/* The attribute dtype, or the fallback. */
static enum odb_status make_dtype(struct odb_kern *k, enum odb_dtype fallback,
                                  enum odb_dtype *dtype)
{
    int64_t number = odb_kern_int(k, "dtype", fallback);

    *dtype = fallback;
    if (number <= 0 || number >= ODB_DTYPE_COUNT || number == ODB_STRING)
        return ODB_KERN_FAIL(k, "dtype %lld is no type for this output", (long long)number);
    *dtype = (enum odb_dtype)number;
    return ODB_OK;
}

/* --- Constant --------------------------------------------------------------------------------- */

static const char *const make_values[] = {"value",        "sparse_value", "value_float",
                                          "value_floats", "value_int",    "value_ints",
                                          "value_string", "value_strings"};

/* The one attribute that holds the value. */
static enum odb_status make_value(struct odb_kern *k, const struct odb_attr **out)
{
    *out = NULL;
    for (size_t i = 0; i < ODB_COUNT(make_values); i++) {
        const struct odb_attr *attr = odb_attrs_find(&k->attrs, make_values[i]);
        if (attr != NULL && *out != NULL)
            return ODB_KERN_FAIL(k, "both %s and %s are given", (*out)->name, attr->name);
        if (attr != NULL)
            *out = attr;
    }
    if (*out == NULL)
        return ODB_KERN_FAIL(k, "no value is given");
    return ODB_OK;
}

static enum odb_status make_infer_constant(struct odb_kern *k)
{
    const struct odb_attr *a;

    ODB_TRY(make_value(k, &a));
    int64_t n = (int64_t)a->n;
    switch (a->type) {
    case ODB_ATTR_TENSOR:
    case ODB_ATTR_SPARSE_TENSOR: {
        const struct odb_tensor *t = a->tensors[0];
        enum odb_dtype dtype = t->kind == ODB_SPARSE ? t->items[0]->dtype : t->dtype;
        return odb_kern_outline(k, 0, dtype, t->rank, t->dims);
    }
    case ODB_ATTR_FLOAT:
        return odb_kern_outline(k, 0, ODB_F32, 0, NULL);
    case ODB_ATTR_FLOATS:
        return odb_kern_outline(k, 0, ODB_F32, 1, &n);
    case ODB_ATTR_INT:
        return odb_kern_outline(k, 0, ODB_I64, 0, NULL);
    case ODB_ATTR_INTS:
        return odb_kern_outline(k, 0, ODB_I64, 1, &n);
    case ODB_ATTR_STRING:
        return odb_kern_outline(k, 0, ODB_STRING, 0, NULL);
    case ODB_ATTR_STRINGS:
        return odb_kern_outline(k, 0, ODB_STRING, 1, &n);
    default:
        return ODB_KERN_FAIL(k, "attribute %s has a type that no constant has", a->name);
    }
}

static enum odb_status make_run_constant(struct odb_kern *k)
{
    struct odb_tensor *y = k->out[0];
    const struct odb_attr *a;
    enum odb_status status;

    ODB_TRY(make_value(k, &a));
    switch (a->type) {
    case ODB_ATTR_TENSOR: /* weights are shared, not copied */
        odb_tensor_unref(y);
        k->out[0] = odb_tensor_ref(a->tensors[0]);
        return ODB_OK;
    case ODB_ATTR_SPARSE_TENSOR:
        odb_tensor_unref(y);
        k->out[0] = NULL;
        status = odb_tensor_densify(&k->out[0], a->tensors[0], k->err);
        return status == ODB_E_INPUT
                   ? ODB_KERN_FAIL(k, "an index of sparse_value lies outside of its shape")
                   : status;
    case ODB_ATTR_FLOAT:
        *(odb_f32 *)y->data = a->f;
        return ODB_OK;
    case ODB_ATTR_INT:
        *(odb_i64 *)y->data = a->i;
        return ODB_OK;
    case ODB_ATTR_STRING:
        return odb_tensor_set_string(y, 0, a->s.data, a->s.len, k->err);
    case ODB_ATTR_STRINGS:
        for (size_t i = 0; i < a->n; i++)
            ODB_TRY(odb_tensor_set_string(y, i, a->strings[i].data, a->strings[i].len, k->err));
        return ODB_OK;
    default:
        if (a->n > 0)
            memcpy(y->data, a->type == ODB_ATTR_FLOATS ? (const void *)a->floats : a->ints,
                   y->bytes);
        return ODB_OK;
    }
}

/* --- ConstantOfShape -------------------------------------------------------------------------- */

static const struct odb_tensor *make_fill_value(const struct odb_kern *k)
{
    const struct odb_attr *a = odb_attrs_find(&k->attrs, "value");

    return a != NULL && a->type == ODB_ATTR_TENSOR && a->n == 1 ? a->tensors[0] : NULL;
}

static enum odb_status make_infer_of_shape(struct odb_kern *k)
{
    const struct odb_tensor *value = make_fill_value(k);
    int64_t dims[ODB_MAX_RANK];
    size_t n;

    if (value != NULL && value->count != 1)
        return ODB_KERN_FAIL(k, "value has %zu elements, not one", value->count);
    ODB_TRY(odb_kern_values(k, 0, dims, ODB_MAX_RANK, &n));
    return odb_kern_outline(k, 0, value != NULL ? value->dtype : ODB_F32, (int)n, dims);
}

static enum odb_status make_run_of_shape(struct odb_kern *k)
{
    const struct odb_tensor *value = make_fill_value(k);

    if (value != NULL)
        return make_fill(k, k->out[0], value);
    if (k->out[0]->bytes > 0)
        memset(k->out[0]->data, 0, k->out[0]->bytes);
    return ODB_OK;
}

/* --- Range ------------------------------------------------------------------------------------ */

/* Elements of a range of integers, without overflow; 0 where it leads away from its limit. */
static uint64_t make_steps(int64_t start, int64_t limit, int64_t delta)
{
    if (delta > 0 ? limit <= start : limit >= start)
        return 0;
    uint64_t up = (uint64_t)limit - (uint64_t)start, span = delta > 0 ? up : 0 - up;
    uint64_t step = delta > 0 ? (uint64_t)delta : 0 - (uint64_t)delta;
    return (span - 1) / step + 1;
}

/* The number of elements is taken in double whatever the type, so that every precision of the
 * reference agrees on it. */
static enum odb_status make_infer_range(struct odb_kern *k)
{
    const struct odb_tensor *in[3];
    double n;

    for (int i = 0; i < 3; i++) {
        in[i] = k->in[i];
        if (in[i]->count != 1 || in[i]->dtype != k->in[0]->dtype)
            return ODB_KERN_FAIL(k, "start, limit and delta must be one number each, of one type");
        if (in[i]->data == NULL)
            return ODB_SKIPPED;
    }
    double start = odb_tensor_f64(in[0], 0), limit = odb_tensor_f64(in[1], 0);
    double delta = odb_tensor_f64(in[2], 0);
    if (delta == 0)
        return ODB_KERN_FAIL(k, "delta is 0");
    if (odb_dtype_is_integer(in[0]->dtype))
        n = (double)make_steps(odb_tensor_i64(in[0], 0), odb_tensor_i64(in[1], 0),
                               odb_tensor_i64(in[2], 0));
    else
        n = fmax(ceil((limit - start) / delta), 0);
    if (!(n < 0x1p62) || isnan(start) || isnan(limit) || isnan(delta))
        return ODB_KERN_FAIL(k, "a range from %g to %g in steps of %g has no end", start, limit,
                             delta);
    return odb_kern_outline(k, 0, in[0]->dtype, 1, &(int64_t){(int64_t)n});
}

/* Halves are computed in float, or double where stash_type says so. */
static enum odb_status make_run_range(struct odb_kern *k)
{
    struct odb_tensor *y = k->out[0];
    const struct odb_tensor *start = k->in[0], *delta = k->in[2];
    int64_t stash = k->narrow != ODB_UNDEFINED ? odb_kern_int(k, "stash_type", ODB_F32) : ODB_F32;

    if (stash != ODB_F32 && stash != ODB_F64)
        return ODB_KERN_FAIL(k, "stash_type is %lld; float (1) and double (11) are known",
                             (long long)stash);

    if (odb_dtype_is_integer(y->dtype)) {
        uint64_t from = (uint64_t)odb_tensor_i64(start, 0);
        uint64_t step = (uint64_t)odb_tensor_i64(delta, 0);
        for (size_t i = 0; i < y->count; i++)
            odb_store_i64(y->dtype, y->data, i, (int64_t)(from + i * step));
    } else if (y->dtype == ODB_F64 || stash == ODB_F64) {
        double from = odb_tensor_f64(start, 0), step = odb_tensor_f64(delta, 0);
        for (size_t i = 0; i < y->count; i++)
            odb_store_f64(y->dtype, y->data, i, from + (double)i * step);
    } else {
        float from = (float)odb_tensor_f64(start, 0), step = (float)odb_tensor_f64(delta, 0);
        for (size_t i = 0; i < y->count; i++)
            odb_store_f64(y->dtype, y->data, i, from + (float)i * step);
    }
    return ODB_OK;
}

/* --- EyeLike ---------------------------------------------------------------------------------- */

static enum odb_status make_infer_eye(struct odb_kern *k)
{
    enum odb_dtype dtype;

    if (k->in[0]->rank != 2)
        return ODB_KERN_FAIL(k, "the input has rank %d, not 2", k->in[0]->rank);
    ODB_TRY(make_dtype(k, k->in[0]->dtype, &dtype));
    return odb_kern_outline(k, 0, dtype, 2, k->in[0]->dims);
}

static enum odb_status make_run_eye(struct odb_kern *k)
{
    struct odb_tensor *y = k->out[0];
    int64_t rows = y->dims[0], cols = y->dims[1], diagonal = odb_kern_int(k, "k", 0);

    if (y->bytes > 0)
        memset(y->data, 0, y->bytes);
    if (diagonal <= -rows || diagonal >= cols)
        return ODB_OK;
    for (int64_t r = ODB_MAX(-diagonal, 0); r < rows && r + diagonal < cols; r++)
        odb_store_f64(y->dtype, y->data, (size_t)(r * cols + r + diagonal), 1);
    return ODB_OK;
}

/* --- draws ------------------------------------------------------------------------------------ */

static uint64_t make_seed(const struct odb_kern *k)
{
    double seed = odb_kern_float(k, "seed", 0);
    uint64_t bits;

    memcpy(&bits, &seed, sizeof bits);
    return odb_mix64(k->seed ^ odb_mix64(bits));
}

/* Number i of the stream: [0, 1). */
static double make_uniform(uint64_t seed, uint64_t i)
{
    return (double)(odb_mix64(seed + i) >> 11) * 0x1p-53;
}

/* Box and Muller: two uniform numbers make a normal one. */
static double make_normal(uint64_t seed, uint64_t i)
{
    double u = 1 - make_uniform(seed, 2 * i), v = make_uniform(seed, 2 * i + 1);

    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static enum odb_status make_infer_random(struct odb_kern *k)
{
    enum odb_dtype dtype;
    size_t n;
    const int64_t *dims = odb_kern_ints(k, "shape", &n);

    ODB_TRY(make_dtype(k, ODB_F32, &dtype));
    return odb_kern_outline(k, 0, dtype, (int)ODB_MIN(n, (size_t)INT32_MAX), dims);
}

static enum odb_status make_infer_like(struct odb_kern *k)
{
    enum odb_dtype dtype;

    ODB_TRY(make_dtype(k, k->in[0]->dtype, &dtype));
    return odb_kern_outline(k, 0, dtype, k->in[0]->rank, k->in[0]->dims);
}

static enum odb_status make_run_normal(struct odb_kern *k)
{
    struct odb_tensor *y = k->out[0];
    double mean = odb_kern_float(k, "mean", 0), scale = odb_kern_float(k, "scale", 1);
    uint64_t seed = make_seed(k);

    for (size_t i = 0; i < y->count; i++)
        odb_store_f64(y->dtype, y->data, i, mean + scale * make_normal(seed, i));
    return ODB_OK;
}

static enum odb_status make_run_uniform(struct odb_kern *k)
{
    struct odb_tensor *y = k->out[0];
    double low = odb_kern_float(k, "low", 0), high = odb_kern_float(k, "high", 1);
    uint64_t seed = make_seed(k);

    for (size_t i = 0; i < y->count; i++)
        odb_store_f64(y->dtype, y->data, i, low + (high - low) * make_uniform(seed, i));
    return ODB_OK;
}

static enum odb_status make_run_bernoulli(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct odb_tensor *y = k->out[0];
    uint64_t seed = make_seed(k);

    for (size_t i = 0; i < y->count; i++) {
        double p = odb_tensor_f64(x, i);
        if (!(p >= 0 && p <= 1))
            return ODB_KERN_FAIL(k, "element %zu is %g, which is no probability", i, p);
        odb_store_f64(y->dtype, y->data, i, make_uniform(seed, i) < p);
    }
    return ODB_OK;
}

static enum odb_status make_infer_multinomial(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    enum odb_dtype dtype;

    ODB_TRY(make_dtype(k, ODB_I32, &dtype));
    if (x->rank != 2 || x->dims[1] < 1)
        return ODB_KERN_FAIL(k, "the input must be [batch, classes]");
    int64_t dims[2] = {x->dims[0], odb_kern_int(k, "sample_size", 1)};
    return odb_kern_outline(k, 0, dtype, 2, dims);
}

/* Inputs are logarithms of weights that need not add up to 1. */
static enum odb_status make_run_multinomial(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct odb_tensor *y = k->out[0];
    size_t classes = (size_t)x->dims[1], samples = (size_t)y->dims[1];
    uint64_t seed = make_seed(k);

    for (size_t i = 0; i < y->count; i++) {
        size_t row = i / samples * classes, at = 0;
        double top = -INFINITY, sum = 0;
        for (size_t c = 0; c < classes; c++)
            top = fmax(top, odb_tensor_f64(x, row + c));
        for (size_t c = 0; c < classes; c++)
            sum += exp(odb_tensor_f64(x, row + c) - top);
        if (!(sum > 0))
            return ODB_KERN_FAIL(k, "row %zu holds no probabilities", i / samples);
        double left = make_uniform(seed, i) * sum;
        for (; at + 1 < classes; at++) {
            left -= exp(odb_tensor_f64(x, row + at) - top);
            if (left < 0)
                break;
        }
        odb_store_i64(y->dtype, y->data, i, (int64_t)at);
    }
    return ODB_OK;
}

/* --- Dropout ---------------------------------------------------------------------------------- */

/* The share that is dropped; 0 where nothing is. Up to opset 6 is_test says whether to drop, from
 * 12 an input does, between them nothing ever is. ODB_SKIPPED: hangs on values that are not
 * there. */
static enum odb_status make_dropped(struct odb_kern *k, double *ratio)
{
    const struct odb_tensor *given = odb_kern_in(k, 1), *training = odb_kern_in(k, 2);

    *ratio = 0;
    if (k->op->since < 7 && odb_kern_int(k, "is_test", 0) == 0)
        *ratio = odb_kern_float(k, "ratio", 0.5);
    if (training != NULL) {
        if (training->count != 1 || (given != NULL && given->count != 1))
            return ODB_KERN_FAIL(k, "ratio and training_mode must be one element each");
        if (training->data == NULL || (given != NULL && given->data == NULL))
            return ODB_SKIPPED;
        if (odb_tensor_i64(training, 0) != 0)
            *ratio = given != NULL ? odb_tensor_f64(given, 0) : 0.5;
    }
    if (!(*ratio >= 0 && *ratio < 1))
        return ODB_KERN_FAIL(k, "ratio is %g, outside [0, 1)", *ratio);
    return ODB_OK;
}

/* Whether a node may drop anything: where training_mode is computed or fed, it may. */
static bool make_may_drop(const struct odb_attrs *attrs, int n_in,
                          const struct odb_tensor *const *known)
{
    const struct odb_attr *test = odb_attrs_find(attrs, "is_test");
    const struct odb_attr *share = odb_attrs_find(attrs, "ratio");
    const struct odb_tensor *ratio = n_in > 1 ? known[1] : NULL;
    const struct odb_tensor *training = n_in > 2 ? known[2] : NULL;

    if (training != NULL && training->count == 1 && odb_tensor_i64(training, 0) == 0)
        return false;
    if (ratio != NULL && ratio->count == 1 && odb_tensor_f64(ratio, 0) == 0)
        return false;
    return n_in > 2 || ((test == NULL || test->i == 0) && (share == NULL || share->f != 0));
}

/* From opset 12 on nothing is dropped without training_mode. */
static bool make_may_drop_12(const struct odb_attrs *attrs, int n_in,
                             const struct odb_tensor *const *known)
{
    return n_in > 2 && make_may_drop(attrs, n_in, known);
}

static enum odb_status make_infer_dropout(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    double ratio;
    enum odb_status status = make_dropped(k, &ratio);

    if (status != ODB_OK && status != ODB_SKIPPED)
        return status;
    ODB_TRY(odb_infer_same(k));
    k->outline[0].alias = status == ODB_OK && ratio == 0 ? 1 : 0;
    return odb_kern_outline(k, 1, k->op->since >= 10 ? ODB_BOOL : x->dtype, x->rank, x->dims);
}

/* Where nothing is dropped, opset 12 says that the mask is all true; before, nothing is said of it,
 * and ONNX Runtime gives zeros. */
static enum odb_status make_run_dropout(struct odb_kern *k)
{
    const struct odb_attr *seed = odb_attrs_find(&k->attrs, "seed");
    struct odb_tensor *y = k->out[0], *mask = k->n_out > 1 ? k->out[1] : NULL;
    const struct odb_tensor *x = k->in[0];
    struct odb_mt19937 numpy;
    double ratio;

    ODB_TRY(make_dropped(k, &ratio));
    if (seed != NULL)
        odb_mt19937_seed(&numpy, (uint32_t)seed->i);
    for (size_t i = 0; i < x->count; i++) {
        bool keep = k->op->since >= 12;
        if (ratio > 0) {
            double drawn = seed != NULL ? odb_mt19937_double(&numpy) : make_uniform(k->seed, i);
            keep = drawn >= ratio;
            if (y != NULL)
                odb_store_f64(y->dtype, y->data, i, keep * odb_tensor_f64(x, i) / (1 - ratio));
        }
        if (mask != NULL)
            odb_store_i64(mask->dtype, mask->data, i, keep);
    }
    return ODB_OK;
}

/* --- rows ------------------------------------------------------------------------------------- */

#define MAKE_ATTRS(...) ((const struct odb_attr_spec[]){__VA_ARGS__, {.name = NULL}})
#define MAKE_ATTR(name_, type_, default_) ODB_OPTIONAL_ATTR(name_, type_, default_)
#define MAKE_ROW(name_, since_, n_in, flags_, types_, infer_, run_)                                \
    .domain = "", .name = (name_), .since = (since_), .min_in = (n_in), .max_in = (n_in),          \
    .min_out = 1, .max_out = 1, .flags = (flags_), .types = {types_}, .infer = (infer_),           \
    .run = (run_)
#define MAKE_STEPS (ODB_T_FLOAT | ODB_BIT(ODB_I16) | ODB_T_INDEX)
#define MAKE_CONSTANT(since_)                                                                      \
    MAKE_ROW("Constant", since_, 0, ODB_OP_EXACT, ODB_T_ANY, make_infer_constant, make_run_constant)
#define MAKE_DROPOUT(since_, most, flags_)                                                         \
    .domain = "", .name = "Dropout", .since = (since_), .min_in = 1, .max_in = (most),             \
    .min_out = 1, .max_out = 2, .flags = ODB_OP_EXACT | (flags_),                                  \
    .types = {ODB_T_FLOAT | ODB_T_FLOAT8, ODB_T_FLOAT | ODB_T_FLOAT8, ODB_T_BOOL},                 \
    .infer = make_infer_dropout, .run = make_run_dropout

#define MAKE_SHAPE ODB_REQUIRED_ATTR("shape", INTS)
#define MAKE_DTYPE(default_) MAKE_ATTR("dtype", INT, default_)
#define MAKE_SEED MAKE_ATTR("seed", FLOAT, NULL)
#define MAKE_GAUSS MAKE_ATTR("mean", FLOAT, "0"), MAKE_ATTR("scale", FLOAT, "1")
#define MAKE_BOUNDS MAKE_ATTR("low", FLOAT, "0"), MAKE_ATTR("high", FLOAT, "1")

static const struct odb_attr_spec make_constant_1[] = {
    {.name = "value", .type = ODB_ATTR_TENSOR, .required = true}, {.name = NULL}};
static const struct odb_attr_spec make_constant_11[] = {
    MAKE_ATTR("value", TENSOR, NULL),
    MAKE_ATTR("sparse_value", SPARSE_TENSOR, NULL),
    {.name = NULL}};
static const struct odb_attr_spec make_constant_12[] = {
    MAKE_ATTR("value", TENSOR, NULL),
    MAKE_ATTR("sparse_value", SPARSE_TENSOR, NULL),
    MAKE_ATTR("value_float", FLOAT, NULL),
    MAKE_ATTR("value_floats", FLOATS, NULL),
    MAKE_ATTR("value_int", INT, NULL),
    MAKE_ATTR("value_ints", INTS, NULL),
    MAKE_ATTR("value_string", STRING, NULL),
    MAKE_ATTR("value_strings", STRINGS, NULL),
    {.name = NULL}};

static const struct odb_attr_spec make_dropout[] = {
    MAKE_ATTR("consumed_inputs", INTS, NULL), /* 1 */
    MAKE_ATTR("is_test", INT, "0"),           /* up to 6 */
    MAKE_ATTR("ratio", FLOAT, "0.5"),
    {.name = NULL}};

const struct odb_op odb_ops_make[] = {
    {MAKE_CONSTANT(1), .attrs = make_constant_1, ODB_NAMES("", "output")},
    {MAKE_CONSTANT(11), .attrs = make_constant_11},
    {MAKE_CONSTANT(12), .attrs = make_constant_12},
    {MAKE_ROW("ConstantOfShape", 9, 1, ODB_OP_EXACT, ODB_BIT(ODB_I64), make_infer_of_shape,
              make_run_of_shape),
     .attrs = MAKE_ATTRS(MAKE_ATTR("value", TENSOR, NULL)), ODB_NAMES("input", "output"),
     ODB_HALVES(9, 20, .note = ODB_HALVES_VALUE)},
    {MAKE_ROW("Range", 11, 3, ODB_OP_REAL, MAKE_STEPS, make_infer_range, make_run_range),
     ODB_NAMES("start,limit,delta", "output"), ODB_HALVES(27, 27), ODB_WORK(per_output, 2),
     ODB_STEERING(~0u)},
    {MAKE_ROW("Range", 27, 3, ODB_OP_REAL, MAKE_STEPS, make_infer_range, make_run_range),
     .attrs = MAKE_ATTRS(MAKE_ATTR("stash_type", INT, "1"))},
    {MAKE_ROW("EyeLike", 9, 1, ODB_OP_EXACT, ODB_T_NUMBER | ODB_T_BOOL, make_infer_eye,
              make_run_eye),
     .attrs = MAKE_ATTRS(MAKE_DTYPE(NULL), MAKE_ATTR("k", INT, "0")), ODB_NAMES("input", "output")},
    {MAKE_ROW("RandomNormal", 1, 0, ODB_OP_RANDOM, 0, make_infer_random, make_run_normal),
     .attrs = MAKE_ATTRS(MAKE_DTYPE("1"), MAKE_GAUSS, MAKE_SEED, MAKE_SHAPE),
     ODB_NAMES("", "output")},
    {MAKE_ROW("RandomUniform", 1, 0, ODB_OP_RANDOM, 0, make_infer_random, make_run_uniform),
     .attrs = MAKE_ATTRS(MAKE_DTYPE("1"), MAKE_BOUNDS, MAKE_SEED, MAKE_SHAPE),
     ODB_NAMES("", "output")},
    {MAKE_ROW("RandomNormalLike", 1, 1, ODB_OP_RANDOM, ODB_T_ANY, make_infer_like, make_run_normal),
     .attrs = MAKE_ATTRS(MAKE_DTYPE(NULL), MAKE_GAUSS, MAKE_SEED), ODB_NAMES("input", "output")},
    {MAKE_ROW("RandomUniformLike", 1, 1, ODB_OP_RANDOM, ODB_T_ANY, make_infer_like,
              make_run_uniform),
     .attrs = MAKE_ATTRS(MAKE_DTYPE(NULL), MAKE_BOUNDS, MAKE_SEED), ODB_NAMES("input", "output")},
    {MAKE_ROW("Bernoulli", 15, 1, ODB_OP_RANDOM, ODB_T_FLOAT, make_infer_like, make_run_bernoulli),
     .attrs = MAKE_ATTRS(MAKE_DTYPE(NULL), MAKE_SEED), ODB_NAMES("input", "output")},
    {MAKE_ROW("Multinomial", 7, 1, ODB_OP_RANDOM, ODB_T_FLOAT, make_infer_multinomial,
              make_run_multinomial),
     .attrs = MAKE_ATTRS(MAKE_DTYPE("6"), MAKE_ATTR("sample_size", INT, "1"), MAKE_SEED),
     ODB_NAMES("input", "output")},
    {MAKE_DROPOUT(1, 1, ODB_OP_RANDOM), .attrs = make_dropout, .draws = make_may_drop,
     ODB_NAMES("data", "output,mask"), ODB_HALVES(1, 0), ODB_TRAITS(ODB_IS_CARRIER)},
    {MAKE_DROPOUT(6, 1, ODB_OP_RANDOM), .attrs = make_dropout + 1, .draws = make_may_drop},
    {MAKE_DROPOUT(7, 1, 0), .attrs = make_dropout + 2},
    {MAKE_DROPOUT(10, 1, 0), .attrs = make_dropout + 2, ODB_HALVES(10, 13, 2)},
    {MAKE_DROPOUT(12, 3, ODB_OP_RANDOM), .attrs = MAKE_ATTRS(MAKE_ATTR("seed", INT, NULL)),
     .draws = make_may_drop_12, ODB_NAMES("data,ratio,training_mode", "output,mask")},
    {.name = NULL},
};
