/* SPDX-License-Identifier: MIT
 *
 * Operators on single features: Binarizer, Imputer, Scaler, Normalizer, FeatureVectorizer. Scaler
 * and Normalizer compute and sum in double and round once; noisy runs sum in float.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "system/parallel.h"
#include "kernels/ml/ml.h"
#include "kernels/core/row.h"

#define SCALE_GRAIN ((size_t)1 << 14) /* elements worth a thread */

/* Features: elements of the last axis. */
static size_t scale_width(const struct odb_tensor *x)
{
    return x->rank ? (size_t)x->dims[x->rank - 1] : 1;
}

static enum odb_status scale_infer_float(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    return odb_kern_outline(k, 0, odb_ml_float(k), x->rank, x->dims);
}

/* --- Binarizer -------------------------------------------------------------------------------- */

/* Whether an integer is greater than t, with no rounding on the way. */
static bool scale_int_above(int64_t v, double t)
{
    if (!(t < 0x1p63))
        return false; /* NaN too */
    return t < -0x1p63 || v > (int64_t)floor(t);
}

static enum odb_status scale_run_binarize(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct odb_tensor *y = k->out[0];
    double threshold = odb_kern_float(k, "threshold", 0);
    bool is_float = odb_dtype_is_float(x->dtype);
    for (size_t i = 0; i < x->count; i++) {
        bool above = is_float ? odb_tensor_f64(x, i) > threshold
                              : scale_int_above(odb_tensor_i64(x, i), threshold);
        odb_store_i64(y->dtype, y->data, i, above);
    }
    return ODB_OK;
}

/* --- Imputer ---------------------------------------------------------------------------------- */

struct scale_imputer {
    struct odb_tensor *values; /* owned: of the input's type, [n] */
    const void *list;
    enum odb_dtype list_type;
    size_t n;
};

static enum odb_status scale_read_imputer(struct odb_kern *k, struct scale_imputer *m)
{
    const struct odb_tensor *x = k->in[0];
    const int64_t *ints;
    const odb_f32 *floats;
    size_t n_ints, n_floats;
    bool is_float = odb_dtype_is_float(x->dtype);
    floats = odb_kern_floats(k, "imputed_value_floats", &n_floats);
    ints = odb_kern_ints(k, "imputed_value_int64s", &n_ints);
    if ((n_floats > 0) != is_float || (n_ints > 0) == is_float)
        return ODB_KERN_FAIL(k, "%zu imputed floats and %zu imputed int64s for input of type %s",
                             n_floats, n_ints, odb_dtype_info(x->dtype)->name);
    m->n = n_floats + n_ints;
    m->list = is_float ? (const void *)floats : ints;
    m->list_type = is_float ? ODB_F32 : ODB_I64;
    if (m->n != 1 && m->n != scale_width(x))
        return ODB_KERN_FAIL(k, "%zu imputed values for %zu features", m->n, scale_width(x));
    for (size_t i = 0; i < n_ints && x->dtype == ODB_I32; i++)
        if (ints[i] != (int32_t)ints[i])
            return ODB_KERN_FAIL(k, "imputed_value_int64s[%zu] is %lld, too large for int32", i,
                                 (long long)ints[i]);
    ODB_TRY(odb_tensor_new_raw(&m->values, x->dtype, 1, (int64_t[]){(int64_t)m->n}, k->err));
    odb_convert(x->dtype, m->values->data, m->list_type, m->list, m->n);
    return ODB_OK;
}

static enum odb_status scale_run_impute(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct odb_tensor *y = k->out[0];
    struct scale_imputer m = {.values = NULL};
    bool is_float = odb_dtype_is_float(x->dtype);
    double missing = odb_kern_float(k, "replaced_value_float", 0);
    int64_t missing_int = odb_kern_int(k, "replaced_value_int64", 0);
    size_t size = odb_dtype_info(x->dtype)->bits / 8;
    ODB_TRY(scale_read_imputer(k, &m));
    for (size_t i = 0; i < x->count; i++) {
        double v = is_float ? odb_tensor_f64(x, i) : 0;
        bool found = is_float ? v == missing || (isnan(v) && isnan(missing))
                              : odb_tensor_i64(x, i) == missing_int;
        const void *from = found ? (const char *)m.values->data + (i % m.n) * size
                                 : (const char *)x->data + i * size;
        memcpy((char *)y->data + i * size, from, size);
    }
    odb_tensor_unref(m.values);
    return ODB_OK;
}

/* --- Scaler ----------------------------------------------------------------------------------- */

static enum odb_status scale_run_scale(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct odb_tensor *y = k->out[0];
    size_t n_offset, n_scale, width = scale_width(x);
    const odb_f32 *offset = odb_kern_floats(k, "offset", &n_offset);
    const odb_f32 *scale = odb_kern_floats(k, "scale", &n_scale);
    if (n_offset == 0 || n_offset != n_scale || (n_scale != 1 && n_scale != width))
        return ODB_KERN_FAIL(k,
                             "offset has %zu elements and scale %zu; for %zu features both "
                             "need 1 or %zu",
                             n_offset, n_scale, width, width);
    for (size_t i = 0; i < x->count; i++)
        odb_store_f64(y->dtype, y->data, i,
                      (odb_tensor_f64(x, i) - offset[i % n_scale]) * scale[i % n_scale]);
    return ODB_OK;
}

/* --- Normalizer ------------------------------------------------------------------------------- */

enum scale_norm { SCALE_MAX, SCALE_L1, SCALE_L2 };

struct scale_norm_job {
    const struct odb_tensor *x;
    struct odb_tensor *y;
    enum scale_norm norm;
    size_t width;
    bool in_float;
};

/* What a row is divided by; L1 takes magnitudes, as all implementations do, where the formula in
 * the specification has the plain sum. */
static double scale_divisor(const struct scale_norm_job *job, size_t at)
{
    double d = job->norm == SCALE_MAX ? -INFINITY : 0;
    for (size_t i = 0; i < job->width; i++) {
        double v = odb_tensor_f64(job->x, at + i);
        if (job->norm == SCALE_MAX)
            d = v > d || isnan(v) ? v : d;
        else
            d += job->norm == SCALE_L1 ? fabs(v) : v * v;
        if (job->in_float)
            d = (float)d;
    }
    return job->norm == SCALE_L2 ? sqrt(d) : d;
}

static void scale_rows(void *arg, size_t begin, size_t end)
{
    const struct scale_norm_job *job = arg;
    for (size_t r = begin; r < end; r++) {
        double d = scale_divisor(job, r * job->width);
        for (size_t i = r * job->width; i < (r + 1) * job->width; i++) {
            double v = odb_tensor_f64(job->x, i);
            odb_store_f64(job->y->dtype, job->y->data, i, d == 0 ? v : v / d);
        }
    }
}

static enum odb_status scale_run_normalize(struct odb_kern *k)
{
    static const char *const names[] = {"MAX", "L1", "L2"};
    const char *name = odb_kern_string(k, "norm", "MAX");
    struct scale_norm_job job = {
        .x = k->in[0], .y = k->out[0], .in_float = k->sequential && k->in[0]->dtype != ODB_F64};
    size_t i = 0, rows;
    while (i < ODB_COUNT(names) && strcmp(name, names[i]) != 0)
        i++;
    if (i == ODB_COUNT(names))
        return ODB_KERN_FAIL(k, "there is no norm '%s'", name);
    job.norm = (enum scale_norm)i;
    ODB_TRY(odb_ml_shape(k, &rows, &job.width));
    if (job.width > 0)
        odb_parallel_for(rows, SCALE_GRAIN / job.width + 1, scale_rows, &job);
    return ODB_OK;
}

/* --- FeatureVectorizer ------------------------------------------------------------------------ */

/* Columns that input i takes in the output: what inputdimensions says, else what it has. Wider
 * inputs are cut, narrower ones get zeros. */
static enum odb_status scale_columns(struct odb_kern *k, int i, size_t *rows, size_t *has,
                                     size_t *takes)
{
    const struct odb_tensor *x = k->in[i];
    size_t n;
    const int64_t *sizes = odb_kern_ints(k, "inputdimensions", &n);
    if (n != 0 && n != (size_t)k->n_in)
        return ODB_KERN_FAIL(k, "inputdimensions has %zu elements for %d inputs", n, k->n_in);
    if (!x || (x->rank != 1 && x->rank != 2))
        return ODB_KERN_FAIL(k, "input %d must be [N, C] or [C]", i);
    if (n != 0 && sizes[i] < 0)
        return ODB_KERN_FAIL(k, "inputdimensions[%d] is %lld", i, (long long)sizes[i]);
    *rows = x->rank == 1 ? 1 : (size_t)x->dims[0];
    *has = scale_width(x);
    *takes = n ? (size_t)sizes[i] : *has;
    return ODB_OK;
}

static enum odb_status scale_infer_join(struct odb_kern *k)
{
    size_t first = 0, total = 0, rows = 0, has = 0, takes = 0;
    for (int i = 0; i < k->n_in; i++) {
        ODB_TRY(scale_columns(k, i, &rows, &has, &takes));
        if (i > 0 && rows != first)
            return ODB_KERN_FAIL(k, "input %d has %zu rows, input 0 %zu", i, rows, first);
        first = rows;
        if (!odb_size_add(total, takes, &total) || total > PTRDIFF_MAX)
            return ODB_KERN_FAIL(k, "inputdimensions are too large");
    }
    return odb_kern_outline(k, 0, odb_ml_float(k), 2, (int64_t[]){(int64_t)first, (int64_t)total});
}

static enum odb_status scale_run_join(struct odb_kern *k)
{
    struct odb_tensor *y = k->out[0];
    size_t at = 0, rows = 0, has = 0, takes = 0, size = odb_dtype_info(y->dtype)->bits / 8;
    memset(y->data, 0, y->bytes);
    for (int i = 0; i < k->n_in; i++) {
        const struct odb_tensor *x = k->in[i];
        struct odb_tensor *converted;
        ODB_TRY(scale_columns(k, i, &rows, &has, &takes));
        ODB_TRY(odb_tensor_cast(&converted, x, y->dtype, k->err));
        for (size_t r = 0; r < rows && ODB_MIN(has, takes) > 0; r++)
            memcpy((char *)y->data + (r * (size_t)y->dims[1] + at) * size,
                   (const char *)converted->data + r * has * size, ODB_MIN(has, takes) * size);
        odb_tensor_unref(converted);
        at += takes;
    }
    return ODB_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec scale_attrs_binarize[] = {
    {.name = "threshold", .type = ODB_ATTR_FLOAT, .def = "0.0"}, {.name = NULL}};
static const struct odb_attr_spec scale_attrs_impute[] = {
    {.name = "imputed_value_floats", .type = ODB_ATTR_FLOATS},
    {.name = "imputed_value_int64s", .type = ODB_ATTR_INTS},
    {.name = "replaced_value_float", .type = ODB_ATTR_FLOAT, .def = "0.0"},
    {.name = "replaced_value_int64", .type = ODB_ATTR_INT, .def = "0"},
    {.name = NULL}};
static const struct odb_attr_spec scale_attrs_scale[] = {
    {.name = "offset", .type = ODB_ATTR_FLOATS},
    {.name = "scale", .type = ODB_ATTR_FLOATS},
    {.name = NULL}};
static const struct odb_attr_spec scale_attrs_normalize[] = {
    {.name = "norm", .type = ODB_ATTR_STRING, .def = "MAX"}, {.name = NULL}};
static const struct odb_attr_spec scale_attrs_join[] = {
    {.name = "inputdimensions", .type = ODB_ATTR_INTS}, {.name = NULL}};

#define SCALE_ROW(op, most, flags, attrs, infer, run, ...)                                         \
    ODB_ONNX_ML(op, 1, ODB_ARITY(1, most), ODB_ARITY(1, 1), flags, attrs, infer, run,              \
                ODB_ML_NUMBERS, __VA_ARGS__)

const struct odb_op odb_ops_scale[] = {
    SCALE_ROW("Binarizer", 1, ODB_OP_EXACT | ODB_OP_BOUNDARY, scale_attrs_binarize, odb_infer_same,
              scale_run_binarize, ODB_NAMES("X", "Y")),
    SCALE_ROW("Imputer", 1, ODB_OP_EXACT | ODB_OP_BOUNDARY, scale_attrs_impute, odb_infer_same,
              scale_run_impute, ODB_NAMES("X", "Y")),
    SCALE_ROW("Scaler", 1, ODB_OP_REAL, scale_attrs_scale, scale_infer_float, scale_run_scale,
              ODB_NAMES("X", "Y")),
    SCALE_ROW("Normalizer", 1, ODB_OP_REAL, scale_attrs_normalize, scale_infer_float,
              scale_run_normalize, ODB_NAMES("X", "Y")),
    SCALE_ROW("FeatureVectorizer", ODB_MANY, ODB_OP_EXACT, scale_attrs_join, scale_infer_join,
              scale_run_join, ODB_NAMES("X...", "Y")),
    {.name = NULL},
};
