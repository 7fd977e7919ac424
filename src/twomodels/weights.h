/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Constants of two models of one network, held against each other before anything runs: the same,
 * or in another type, quantised, laid out or scaled otherwise, computed here and stored there, or
 * different, which makes them suspects.
 */
#ifndef ODB_TWOMODELS_WEIGHTS_H
#define ODB_TWOMODELS_WEIGHTS_H

#include "twomodels/align.h"

#define ODB_FATE_LIST(X)                                                                           \
    X(SAME, "same")                                                                                \
    X(RETYPED, "re-typed")                                                                         \
    X(QUANTISED, "quantised")                                                                      \
    X(MOVED, "transposed")                                                                         \
    X(SCALED, "scaled by channel")                                                                 \
    X(FOLDED, "folded")                                                                            \
    X(MISSING, "missing")                                                                          \
    X(DIFFERENT, "different")

enum odb_fate {
#define ODB_FATE_ENUM(name, text) ODB_FATE_##name,
    ODB_FATE_LIST(ODB_FATE_ENUM)
#undef ODB_FATE_ENUM
};
const char *odb_fate_name(enum odb_fate fate);

/* A constant as its consumers have it. */
struct odb_constant {
    const struct odb_tensor *t;            /* borrowed */
    const struct odb_tensor *scale, *zero; /* borrowed; NULL: not quantised; 0 */
    int axis;                              /* of scales that are not alone */
};

/* The constant behind a value, with what dequantises it; false: none, or no numbers. */
bool odb_constant_of(struct odb_constant *out, const struct odb_graph *graph, int value);
/* Element i, dequantised. */
double odb_constant_at(const struct odb_constant *c, size_t i);

struct odb_weight_pair {
    int original; /* value of the original */
    int other;    /* constant of the other; ODB_NO_VALUE: it has none for it */
    int read;     /* where the other reads it: a value, behind what dequantises it */
    enum odb_fate fate;
    double step;        /* QUANTISED: the largest quantisation step; else 0 */
    double error;       /* the largest difference of two elements */
    double relative;    /* the same over the original's rms */
    size_t n_off;       /* elements that are not explained */
    size_t at;          /* the first of them, or the worst */
    double here, there; /* that element in the original and the other */
};

/* Compares two constants; pair's names are left alone. */
void odb_constants_compare(struct odb_weight_pair *out, const struct odb_constant *original,
                           const struct odb_constant *other);
/* Whether they are alike enough to be one constant in two forms: as odb_constants_compare() would
 * explain, from a sample of their elements. */
bool odb_constants_alike(const struct odb_constant *a, const struct odb_constant *b);

/* Every initializer of the original that a node reads and is no shape or index, in the order of the
 * graph. computed[] ([values of original], may be NULL): what its nodes make, for constants that
 * were folded. *n of them; the caller frees. */
struct odb_weight_pair *odb_weights_compare(const struct odb_graph *original,
                                            const struct odb_graph *other,
                                            const struct odb_alignment *alignment,
                                            struct odb_tensor *const *computed, size_t *n);

#endif
