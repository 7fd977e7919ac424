/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Products of matrices and convolutions as what they are: one sum of products for each element. For
 * variants that add in another way, which no kernel does.
 */
#ifndef ODB_EXPLAIN_CATALOGUE_DOTS_H
#define ODB_EXPLAIN_CATALOGUE_DOTS_H

#include "explain/variant.h"

#define DOTS_OPS                                                                                   \
    "MatMul|Gemm|Conv|MatMulInteger|ConvInteger|QLinearMatMul|QLinearConv" /* that are known here  \
                                                                            */
#define DOTS_MOST ((size_t)40000000) /* products that it takes the time for */

/* Elements that are summed side by side, so that their sums can be vectors. */
#define DOTS_LANES 8
typedef double dots_row[DOTS_LANES]; /* of each of these one number */

/* Adds a[i] * b[i], i below k, to sums, which are 0, in whatever way. */
typedef void dots_sum(const void *payload, const dots_row *a, const dots_row *b, size_t k,
                      double *sums);
dots_sum dots_sum_exact; /* in double */
dots_sum dots_sum_pairs; /* of two neighbouring products, which saturate at the ends of int16 */
double dots_saturate_16(double x);

/* In which order a convolution's terms come: tap by tap, all channels of each, as where channels
 * are last in memory; or channel by channel. Whether there are two orders. */
enum dots_order { DOTS_TAPS, DOTS_CHANNELS };
bool dots_have_orders(const struct accused *s);

/* Operands as they are stored, of a product whose node reads what DequantizeLinear makes of them.
 */
struct dots_codes {
    const struct odb_tensor *a, *b; /* borrowed; in the shapes of the node's operands */
    double zero_a, zero_b;          /* what they stand for 0 with */
    double plus_a;                  /* added to a and its zero point */
    double pad;                     /* what a convolution's padding holds, as a is stored */
    const double *factor;           /* borrowed; [n_factor] of a sum, by output channel, or one */
    size_t n_factor;
};

struct dots_how {
    dots_sum *sum;
    const void *payload; /* of sum */
    enum dots_order order;
    double (*round)(double x);      /* of a result that is quantised again; NULL: half to even */
    const struct dots_codes *codes; /* NULL: operands are the node's */
};

/* Computes output 0 with sums of the caller's; everything else (bias, zero points, alpha, scales)
 * is as the operator says. Operands are numbers as they are stored. ODB_SKIPPED: the call is not
 * one of those that are known here, or has too many products. */
enum odb_status dots_make(const struct accused *s, const struct dots_how *how,
                          struct odb_tensor **out, struct odb_error *err) ODB_MUST_USE;
/* Whether results are quantised again. */
bool dots_requantise(const struct accused *s);

#endif
