/* SPDX-License-Identifier: MIT
 *
 * LinearRegressor and LinearClassifier: X W^T + b in double, the transform in double, one rounding.
 *
 * A classifier's label is the class of the greatest score before the transform. Where one row of
 * coefficients serves two classes, its score s stands for the second and -s for the first, as in
 * ONNX's reference implementation. (ONNX Runtime gives 1 - s and leaves the transform out there;
 * it also leaves the transform out of regressions with one target, except for PROBIT.)
 */
#include <stdlib.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "kernels/ml/ml.h"
#include "kernels/core/row.h"

struct linear {
    size_t rows, width, n; /* n: sets of coefficients */
    const odb_f32 *w, *b;  /* borrowed; b: NULL: none */
    enum odb_ml_post post;
};

/* n = 0: as many sets as there are intercepts, as ONNX's shape inference counts them, else as the
 * coefficients make. Coefficients beyond those of the last set mean nothing: models have them. */
static enum odb_status linear_read(struct odb_kern *k, size_t n, struct linear *l)
{
    size_t n_w, n_b;
    ODB_TRY(odb_ml_shape(k, &l->rows, &l->width));
    ODB_TRY(odb_ml_post(k, &l->post));
    l->w = odb_kern_floats(k, "coefficients", &n_w);
    l->b = odb_kern_floats(k, "intercepts", &n_b);
    l->n = n ? n : n_b ? n_b : l->width ? n_w / l->width : 0;
    size_t needed;
    if (l->n == 0 || !odb_size_mul(l->n, l->width, &needed) || needed > n_w ||
        (needed != n_w && n_b == 0))
        return ODB_KERN_FAIL(k, "%zu coefficients do not go with %zu features", n_w, l->width);
    if (n_b != 0 && n_b != l->n)
        return ODB_KERN_FAIL(k, "%zu intercepts for %zu sets of coefficients", n_b, l->n);
    return ODB_OK;
}

/* --- regression ------------------------------------------------------------------------------- */

static enum odb_status linear_read_targets(struct odb_kern *k, struct linear *l)
{
    int64_t targets = odb_kern_int(k, "targets", 1);
    if (targets < 1)
        return ODB_KERN_FAIL(k, "targets is %lld", (long long)targets);
    return linear_read(k, (size_t)targets, l);
}

static enum odb_status linear_infer_regress(struct odb_kern *k)
{
    struct linear l;
    ODB_TRY(linear_read_targets(k, &l));
    return odb_kern_outline(k, 0, odb_ml_float(k), 2, (int64_t[]){(int64_t)l.rows, (int64_t)l.n});
}

static enum odb_status linear_run_regress(struct odb_kern *k)
{
    struct linear l;
    double *scores = NULL;
    enum odb_status status;
    ODB_TRY(linear_read_targets(k, &l));
    ODB_TRY_OUT(odb_ml_doubles(k, &scores, l.rows, l.n));
    ODB_TRY_OUT(odb_ml_affine(k, l.rows, l.width, l.n, l.w, l.b, scores));
    for (size_t r = 0; r < l.rows; r++)
        odb_ml_post_apply(l.post, scores + r * l.n, l.n);
    odb_ml_write(k, 0, scores);
out:
    free(scores);
    return status;
}

/* --- classification --------------------------------------------------------------------------- */

static enum odb_status linear_read_classes(struct odb_kern *k, struct linear *l,
                                           struct odb_ml_labels *labels)
{
    ODB_TRY(odb_ml_labels(k, "classlabels_ints", "classlabels_strings", labels));
    ODB_TRY(linear_read(k, 0, l));
    if (labels->n == 1)
        return ODB_KERN_UNSUPPORTED(k, "a classifier with one class: ONNX does not say which "
                                       "label the other one has");
    if (l->n != labels->n && !(l->n == 1 && labels->n == 2))
        return ODB_KERN_FAIL(k, "%zu sets of coefficients for %zu class labels", l->n, labels->n);
    return ODB_OK;
}

static enum odb_status linear_infer_classify(struct odb_kern *k)
{
    struct linear l;
    struct odb_ml_labels labels;
    ODB_TRY(linear_read_classes(k, &l, &labels));
    int64_t dims[2] = {(int64_t)l.rows, (int64_t)labels.n};
    ODB_TRY(odb_kern_outline(k, 0, odb_ml_labels_dtype(&labels), 1, dims));
    return odb_kern_outline(k, 1, odb_ml_float(k), 2, dims);
}

static enum odb_status linear_run_classify(struct odb_kern *k)
{
    struct linear l;
    struct odb_ml_labels labels;
    double *scores = NULL;
    enum odb_status status;
    ODB_TRY(linear_read_classes(k, &l, &labels));
    size_t *best = odb_work_take(l.rows + 1, sizeof *best);
    if (!best)
        return odb_kern_no_memory(k);
    ODB_TRY_OUT(odb_ml_doubles(k, &scores, l.rows, labels.n));
    ODB_TRY_OUT(odb_ml_affine(k, l.rows, l.width, l.n, l.w, l.b, scores));
    for (size_t r = l.rows; l.n < labels.n && r-- > 0;) {
        double s = scores[r];
        scores[2 * r] = -s;
        scores[2 * r + 1] = s;
    }
    for (size_t r = 0; r < l.rows; r++) {
        best[r] = odb_ml_argmax(k, scores + r * labels.n, labels.n);
        odb_ml_post_apply(l.post, scores + r * labels.n, labels.n);
    }
    odb_ml_write(k, 1, scores);
    status = odb_ml_labels_write(k, 0, &labels, best);
out:
    odb_work_give(best);
    free(scores);
    return status;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec linear_attrs_classify[] = {
    {.name = "classlabels_ints", .type = ODB_ATTR_INTS},
    {.name = "classlabels_strings", .type = ODB_ATTR_STRINGS},
    {.name = "coefficients", .type = ODB_ATTR_FLOATS, .required = true},
    {.name = "intercepts", .type = ODB_ATTR_FLOATS},
    {.name = "multi_class", .type = ODB_ATTR_INT, .def = "0"},
    {.name = "post_transform", .type = ODB_ATTR_STRING, .def = "NONE"},
    {.name = NULL}};
static const struct odb_attr_spec linear_attrs_regress[] = {
    {.name = "coefficients", .type = ODB_ATTR_FLOATS},
    {.name = "intercepts", .type = ODB_ATTR_FLOATS},
    {.name = "post_transform", .type = ODB_ATTR_STRING, .def = "NONE"},
    {.name = "targets", .type = ODB_ATTR_INT, .def = "1"},
    {.name = NULL}};

const struct odb_op odb_ops_linear[] = {
    ODB_ONNX_ML("LinearClassifier", 1, ODB_ARITY(1, 1), ODB_ARITY(2, 2),
                ODB_OP_REAL | ODB_OP_BOUNDARY, linear_attrs_classify, linear_infer_classify,
                linear_run_classify, ODB_ML_NUMBERS, ODB_NAMES("X", "Y,Z")),
    ODB_ONNX_ML("LinearRegressor", 1, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_REAL,
                linear_attrs_regress, linear_infer_regress, linear_run_regress, ODB_ML_NUMBERS,
                ODB_NAMES("X", "Y")),
    {.name = NULL},
};
