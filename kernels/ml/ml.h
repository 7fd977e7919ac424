/* SPDX-License-Identifier: MIT
 *
 * What the operators of ai.onnx.ml share: rows of features, class labels, and what is done to
 * scores at the end. All of it computes in double; results are rounded once.
 */
#ifndef ODB_KERNELS_ML_ML_H
#define ODB_KERNELS_ML_ML_H

#include "kernels/core/kern.h"

#define ODB_ML_NUMBERS (ODB_BIT(ODB_F32) | ODB_BIT(ODB_F64) | ODB_T_INDEX)

/* The type of what the schema calls tensor(float). */
enum odb_dtype odb_ml_float(const struct odb_kern *k);

/* [N, C], or [C] for one row. Anything else is refused. */
enum odb_status odb_ml_shape(struct odb_kern *k, size_t *rows, size_t *width) ODB_MUST_USE;

/* Class labels: one and only one of two attributes has them. */
struct odb_ml_labels {
    const int64_t *ints;           /* borrowed; NULL: strings */
    const struct odb_str *strings; /* borrowed; NULL: ints */
    size_t n;
};

/* Reads them from the attributes of these names; ODB_E_OPERATOR where both or none are there. */
enum odb_status odb_ml_labels(struct odb_kern *k, const char *ints, const char *strings,
                              struct odb_ml_labels *out) ODB_MUST_USE;
enum odb_dtype odb_ml_labels_dtype(const struct odb_ml_labels *labels);
/* Fills output o with the labels whose numbers stand in which[]; one output element each. */
enum odb_status odb_ml_labels_write(struct odb_kern *k, int o, const struct odb_ml_labels *labels,
                                    const size_t *which) ODB_MUST_USE;

/* Fills output o, float or double, with doubles; an output that is not wanted is left out. */
void odb_ml_write(struct odb_kern *k, int o, const double *values);

/* post_transform. The numbers are those of TreeEnsemble's attribute. */
enum odb_ml_post {
    ODB_ML_NONE,
    ODB_ML_SOFTMAX,
    ODB_ML_LOGISTIC,
    ODB_ML_SOFTMAX_ZERO,
    ODB_ML_PROBIT
};

/* From the attribute's text. */
enum odb_status odb_ml_post(struct odb_kern *k, enum odb_ml_post *out) ODB_MUST_USE;
/* In place, on the scores of one row. */
void odb_ml_post_apply(enum odb_ml_post post, double *scores, size_t n);
double odb_ml_logistic(double v);

/* Index of the greatest, the first of equals as they will be once rounded: a label must agree with
 * the scores that stand beside it. NaN is never greater. */
size_t odb_ml_argmax(const struct odb_kern *k, const double *scores, size_t n);

/* Fresh doubles for count numbers that a model's sizes give; freed with free(). */
enum odb_status odb_ml_doubles(struct odb_kern *k, double **out, size_t rows,
                               size_t columns) ODB_MUST_USE;

/* scores[rows][n] = X W^T + b, where X is input 0, W is [n][width] and b NULL or [n]. Takes sums
 * in float, one by one, where noise is wanted. */
enum odb_status odb_ml_affine(struct odb_kern *k, size_t rows, size_t width, size_t n,
                              const odb_f32 *w, const odb_f32 *b, double *scores) ODB_MUST_USE;

#endif
