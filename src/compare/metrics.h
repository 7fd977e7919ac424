/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How far an evaluated value e is from a base b. All sums are doubles, whatever the tensors hold;
 * integers are subtracted as integers, so that two that one double stands for are apart.
 *
 * NaN and Inf are counted apart from distances. Two families of numbers treat them differently:
 * - finite family (error, error_mean, max_abs, max_rel, cosine, ulp_max, rms, peak, finite_*): over
 *   the pairs that are finite on both sides, rms and peak over the b of these;
 * - NumPy family (diff1 … rmse): over all elements, so that a NaN or Inf shows as it does in the
 *   scripts that this replaces.
 * Both agree when everything is finite. A quotient x/0 is inf and 0/0 nan in the NumPy family; in
 * the finite family a zero distance from a zero base is 0.
 */
#ifndef ODB_COMPARE_METRICS_H
#define ODB_COMPARE_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include "tensor/tensor.h"

#define ODB_NOWHERE ((size_t)-1)

/* A number of every pair of values, as measures know it: name and help. A TWIN has another, over
 * the pairs that are finite on both sides, which verdicts take; see above. error is inf when b is
 * all zero and e is not, cosine 1 when both are zero and 0 when one is. */
#define ODB_METRIC_LIST(PLAIN, TWIN)                                                               \
    PLAIN(max_abs, "max|e-b|")                                                                     \
    PLAIN(max_rel, "max |e-b|/|b| where b is not 0")                                               \
    PLAIN(rms, "root of the mean of b^2")                                                          \
    PLAIN(error, "max|e-b| / rms")                                                                 \
    PLAIN(error_mean, "mean|e-b| / rms")                                                           \
    TWIN(mae, "mean|e-b|")                                                                         \
    TWIN(mape, "mean of |e-b|/(|b|+1e-9)")                                                         \
    TWIN(mse, "mean of (e-b)^2")                                                                   \
    TWIN(rmse, "root of mse")                                                                      \
    TWIN(sqnr, "10*log10(sum b^2 / sum (e-b)^2), in dB")                                           \
    TWIN(psnr, "20*log10(max|b| / rmse), in dB")                                                   \
    PLAIN(cosine, "cosine of the two as vectors")                                                  \
    TWIN(diff1, "sum|e-b| / sum|b|")                                                               \
    TWIN(diff2, "root of sum (e-b)^2 / sum b^2")                                                   \
    TWIN(diff3_max,                                                                                \
         "largest |e-b|/|b| where |b| is over a threshold (1e-6, 1e-4 for float16), else |e-b|")   \
    TWIN(diff3_mean, "the mean of that")                                                           \
    PLAIN(diff4_more, "share of differing elements that are greater; -1: none")                    \
    PLAIN(diff4_less, "share of differing elements that are less; -1: none")                       \
    PLAIN(diff_acc, "share of elements whose integer parts differ")

struct odb_metrics {
    /* What makes the tensors incomparable; everything below is zero then. */
    bool missing;        /* one side is absent or has no values */
    bool shape_mismatch; /* shape, rank, kind or number of items */
    bool dtype_mismatch; /* class of type: float, integer, bool, string, complex */

    size_t count;  /* elements, over all items; a complex one counts twice */
    size_t finite; /* pairs that are finite on both sides; the numbers of integers are */
    size_t nan_both, nan_ref_only, nan_target_only;
    size_t inf_both;     /* the same infinity on both sides */
    size_t inf_mismatch; /* an infinity on one side, something else that is no NaN on the other */
    size_t inf_ref_only, inf_target_only; /* finite or NaN on the other side */
    size_t inf_sign;                      /* infinite on both, with opposite signs */
    size_t differing;       /* pairs that are not equal; -0 equals +0, NaN equals NaN */
    size_t exact_differing; /* those among integers, bools and strings */
    size_t item;            /* of a container: where the worst pair is */
    size_t worst;           /* first element whose NaN or Inf does not match, else that with the
                               largest distance, else the first that differs; ODB_NOWHERE: none */
    long double worst_e, worst_b; /* all digits of an integer of 64 bits */

#define ODB_METRIC_PLAIN(name, help) double name;
#define ODB_METRIC_TWIN(name, help) double name, finite_##name;
    ODB_METRIC_LIST(ODB_METRIC_PLAIN, ODB_METRIC_TWIN)
#undef ODB_METRIC_PLAIN
#undef ODB_METRIC_TWIN
    double peak;    /* max|b| */
    double ulp_max; /* numbers of the narrower type between e and b; floats only */
    size_t diff4_count;
    bool all_close; /* |e-b| <= th + th*|b|, NaN equals NaN, Inf must match */
    double th;      /* as used */
};

/* Threshold of diff3 that belongs to a type: 1e-4 for float16 and narrower, else 1e-6. */
double odb_default_th(enum odb_dtype dtype);

/* Compares tensors, or containers item by item (their numbers taken together; indices of sparse
 * tensors and keys of maps only exactly). Floats may differ in width, integers too. th < 0: the
 * default for the base's type. NULL counts as missing. */
void odb_compare(struct odb_metrics *out, const struct odb_tensor *evaluated,
                 const struct odb_tensor *base, double th);

/* |t - base| over |base|, lengths over all elements (diff2); infinite where the two cannot be
 * compared, NaN or Inf stand elsewhere, or numbers that are no floats differ. */
double odb_relative_distance(const struct odb_tensor *t, const struct odb_tensor *base);

/* The part of it that a search asks for of every value of a model. */
struct odb_distance {
    double max_abs, mean_abs, rms; /* finite family */
    double error, error_mean;      /* over rms, as above; Inf: strings that differ */
    size_t count, finite, differing;
    size_t mismatched; /* NaN or Inf patterns that differ */
    bool exact;        /* integers, bools, strings: differing decides */
};

/* Tensors, or containers of floats, whose items count together. False, and *out zero, when the two
 * are incomparable, as other containers are. */
bool odb_distance(struct odb_distance *out, const struct odb_tensor *evaluated,
                  const struct odb_tensor *base);

/* Bit for bit but for -0 == +0 and NaN == NaN of any payload. False when incomparable, or when the
 * element types differ, which those of empty containers do not. */
bool odb_equal_exact(const struct odb_tensor *a, const struct odb_tensor *b);

#endif
