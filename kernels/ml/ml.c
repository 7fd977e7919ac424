/* SPDX-License-Identifier: MIT */
#include "kernels/ml/ml.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/linear/matmul.h"

enum odb_dtype odb_ml_float(const struct odb_kern *k)
{
    return k->carry_f64 ? ODB_F64 : ODB_F32;
}

enum odb_status odb_ml_shape(struct odb_kern *k, size_t *rows, size_t *width)
{
    const struct odb_tensor *x = k->in[0];
    char text[200];
    if (x->rank != 1 && x->rank != 2)
        return ODB_KERN_FAIL(k, "input of shape %s; it must be [N, C] or [C]",
                             odb_shape_text(x, text, sizeof text));
    *rows = x->rank == 1 ? 1 : (size_t)x->dims[0];
    *width = (size_t)x->dims[x->rank - 1];
    return ODB_OK;
}

/* --- labels ----------------------------------------------------------------------------------- */

enum odb_status odb_ml_labels(struct odb_kern *k, const char *ints, const char *strings,
                              struct odb_ml_labels *out)
{
    size_t n_ints, n_strings;
    out->ints = odb_kern_ints(k, ints, &n_ints);
    out->strings = odb_kern_strings(k, strings, &n_strings);
    if ((n_ints > 0) == (n_strings > 0))
        return ODB_KERN_FAIL(k, "%s of %s and %s must be given", n_ints ? "only one" : "one", ints,
                             strings);
    out->n = n_ints + n_strings;
    if (n_ints == 0)
        out->ints = NULL;
    else
        out->strings = NULL;
    return ODB_OK;
}

enum odb_dtype odb_ml_labels_dtype(const struct odb_ml_labels *labels)
{
    return labels->ints ? ODB_I64 : ODB_STRING;
}

enum odb_status odb_ml_labels_write(struct odb_kern *k, int o, const struct odb_ml_labels *labels,
                                    const size_t *which)
{
    struct odb_tensor *y = o < k->n_out ? k->out[o] : NULL;
    for (size_t i = 0; y && i < y->count; i++) {
        if (labels->ints)
            ((odb_i64 *)y->data)[i] = labels->ints[which[i]];
        else
            ODB_TRY(odb_tensor_set_string(y, i, labels->strings[which[i]].data,
                                          labels->strings[which[i]].len, k->err));
    }
    return ODB_OK;
}

/* --- scores ----------------------------------------------------------------------------------- */

void odb_ml_write(struct odb_kern *k, int o, const double *values)
{
    struct odb_tensor *y = o < k->n_out ? k->out[o] : NULL;
    if (y)
        odb_convert(y->dtype, y->data, ODB_F64, values, y->count);
}

enum odb_status odb_ml_post(struct odb_kern *k, enum odb_ml_post *out)
{
    static const char *const names[] = {[ODB_ML_NONE] = "NONE",
                                        [ODB_ML_SOFTMAX] = "SOFTMAX",
                                        [ODB_ML_LOGISTIC] = "LOGISTIC",
                                        [ODB_ML_SOFTMAX_ZERO] = "SOFTMAX_ZERO",
                                        [ODB_ML_PROBIT] = "PROBIT"};
    const char *name = odb_kern_string(k, "post_transform", "NONE");
    for (size_t i = 0; i < ODB_COUNT(names); i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (enum odb_ml_post)i;
            return ODB_OK;
        }
    }
    return ODB_KERN_FAIL(k, "there is no post_transform '%s'", name);
}

double odb_ml_logistic(double v)
{
    return v < 0 ? exp(v) / (1 + exp(v)) : 1 / (1 + exp(-v));
}

/* ONNX means this approximation by PROBIT, not the function itself: erf's inverse from one
 * logarithm, good to two parts in a thousand. */
static double ml_probit(double v)
{
    double x = 2 * v - 1, log_rest = log((1 - x) * (1 + x));
    double half = 2 / (M_PI * 0.147) + log_rest / 2;
    double inverse = sqrt(sqrt(half * half - log_rest / 0.147) - half);
    return M_SQRT2 * (x < 0 ? -inverse : inverse);
}

/* Numbers this near to zero count as none for SOFTMAX_ZERO. */
#define ML_NEAR_ZERO 0.0000001

static void ml_softmax(double *scores, size_t n, bool zero_stays)
{
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++)
        most = scores[i] > most ? scores[i] : most;
    for (size_t i = 0; i < n; i++) {
        if (zero_stays && fabs(scores[i]) <= ML_NEAR_ZERO)
            scores[i] *= exp(-most);
        else
            scores[i] = exp(scores[i] - most);
        sum += scores[i];
    }
    for (size_t i = 0; i < n; i++)
        scores[i] = zero_stays && sum == 0 ? 0.5 : scores[i] / sum;
}

void odb_ml_post_apply(enum odb_ml_post post, double *scores, size_t n)
{
    if (post == ODB_ML_SOFTMAX || post == ODB_ML_SOFTMAX_ZERO)
        ml_softmax(scores, n, post == ODB_ML_SOFTMAX_ZERO);
    for (size_t i = 0; i < n && post == ODB_ML_LOGISTIC; i++)
        scores[i] = odb_ml_logistic(scores[i]);
    for (size_t i = 0; i < n && post == ODB_ML_PROBIT; i++)
        scores[i] = ml_probit(scores[i]);
}

size_t odb_ml_argmax(const struct odb_kern *k, const double *scores, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++) {
        double v = scores[i], most = scores[best];
        if (k->carry_f64 ? v > most : (float)v > (float)most)
            best = i;
    }
    return best;
}

/* --- arithmetic ------------------------------------------------------------------------------- */

enum odb_status odb_ml_doubles(struct odb_kern *k, double **out, size_t rows, size_t columns)
{
    size_t n;
    *out =
        odb_size_mul(rows, columns, &n) && n < SIZE_MAX / 64 ? calloc(n + 1, sizeof **out) : NULL;
    if (*out == NULL)
        return odb_fail(k->err, ODB_E_NOMEM, "no memory for %zu x %zu numbers", rows, columns);
    return ODB_OK;
}

enum odb_status odb_ml_affine(struct odb_kern *k, size_t rows, size_t width, size_t n,
                              const odb_f32 *w, const odb_f32 *b, double *scores)
{
    enum odb_dtype dtype = k->sequential && k->in[0]->dtype != ODB_F64 ? ODB_F32 : ODB_F64;
    struct odb_tensor *x = NULL, *weights = NULL, *sums = NULL;
    enum odb_status status;
    int64_t shape[2] = {(int64_t)n, (int64_t)width}, out[2] = {(int64_t)rows, (int64_t)n};
    ODB_TRY_OUT(odb_tensor_cast(&x, k->in[0], dtype, k->err));
    ODB_TRY_OUT(odb_tensor_new_raw(&weights, dtype, 2, shape, k->err));
    odb_convert(dtype, weights->data, ODB_F32, w, weights->count);
    ODB_TRY_OUT(odb_tensor_new(&sums, dtype, 2, out, k->err));
    struct odb_gemm g = {.dtype = dtype,
                         .trans_b = true,
                         .sequential = k->sequential,
                         .m = rows,
                         .n = n,
                         .k = width,
                         .a = x->data,
                         .b = weights->data,
                         .c = sums->data,
                         .lda = width,
                         .ldb = width,
                         .ldc = n,
                         .alpha = 1};
    if (rows > 0 && n > 0 && width > 0 && !odb_gemm_batch(&g, 1, NULL, NULL, NULL)) {
        status = odb_fail(k->err, ODB_E_NOMEM, "no memory for %zu x %zu scores", rows, n);
        goto out;
    }
    for (size_t i = 0; i < sums->count; i++)
        scores[i] = odb_tensor_f64(sums, i) + (b ? b[i % n] : 0);
out:
    odb_tensor_unref(x);
    odb_tensor_unref(weights);
    odb_tensor_unref(sums);
    return status;
}
