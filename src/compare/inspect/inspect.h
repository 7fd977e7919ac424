/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All that one look at a value of two executors should tell: how each side is distributed, how the
 * difference is, where it is largest, and where NaN and Inf are.
 *
 * Elements are numbers here when they are floats, integers or bools; a complex one is two numbers,
 * its parts. Strings and containers have no numbers, but can be equal.
 */
#ifndef ODB_COMPARE_INSPECT_INSPECT_H
#define ODB_COMPARE_INSPECT_INSPECT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "compare/metrics.h"
#include "base/progress.h"
#include "tensor/stats.h"
#include "tensor/tensor.h"

#define ODB_INSPECT_BINS 32
#define ODB_INSPECT_WORST 64
#define ODB_INSPECT_PLACES 16
#define ODB_INSPECT_DECADES 16

/* What an element is, if there is one. */
enum odb_finiteness { ODB_ABSENT, ODB_FINITE, ODB_NAN, ODB_POS_INF, ODB_NEG_INF };

/* What may be odd about a pair; a NaN that meets an Inf is two of these. */
enum odb_oddity {
    ODB_NAN_BOTH,
    ODB_NAN_REF,
    ODB_NAN_TARGET,
    ODB_INF_BOTH, /* the same on both sides */
    ODB_INF_REF,  /* the other side is no Inf */
    ODB_INF_TARGET,
    ODB_INF_SIGN, /* opposite ones */
    ODB_ODDITIES
};

struct odb_place {
    size_t at; /* element */
    enum odb_finiteness ref, target;
};

struct odb_places {
    size_t total, n;                         /* n of them are in at */
    struct odb_place at[ODB_INSPECT_PLACES]; /* the first ones, in order */
};

/* A pair that is not equal. Integers of 64 bits are rounded to doubles, but diff, target -
 * reference, is taken before. Of strings and containers all three are NaN. */
struct odb_worst {
    size_t at; /* element; of a container: item */
    double ref, target, diff;
};

struct odb_inspection {
    bool has_ref, has_target;         /* there is a tensor */
    bool ref_numeric, target_numeric; /* it has numbers: the statistics are filled in */
    /* Element by element: of one shape, and both real numbers, or both complex, or both strings.
     * Or containers of one kind, item by item. What says diff, differing, worst or a name of both
     * sides is zero otherwise. */
    bool comparable;

    /* diff: of target - reference where both are finite; infinite is what overflows a double. */
    struct odb_stats ref, target, diff;

    size_t count;                      /* numbers, strings or items compared */
    size_t differing;                  /* those not equal; -0 equals +0, NaN equals NaN */
    double max_abs, max_rel, mean_abs; /* of diff; max_rel: over |reference| where that is not 0 */
    struct odb_metrics metrics;        /* as odb_compare() has them, where it can; it takes the
                                          difference of integers of 64 bits as doubles */

    /* The finite numbers of each side over their common range, as odb_histogram() counts. */
    double lo, hi;
    size_t ref_bins[ODB_INSPECT_BINS], target_bins[ODB_INSPECT_BINS];

    /* log10|diff| where that is finite and not 0. The range is whole decades, ODB_INSPECT_DECADES
     * at most: the first bin has what is smaller too. */
    double diff_lo, diff_hi;
    size_t diff_bins[ODB_INSPECT_BINS], diff_zero;

    /* Those whose NaN or Inf does not match, by index; then by |diff|, the largest first, and those
     * alike by index. Strings and items: the first that differ. */
    size_t n_worst;
    struct odb_worst worst[ODB_INSPECT_WORST];

    /* Where the two are not comparable, each side for itself: the other is ODB_ABSENT. */
    struct odb_places odd[ODB_ODDITIES];
};

/* Either side may be NULL or have no values. *out is filled completely, but on failure is not to
 * be read. progress is not asked during the metrics, a tenth of the time. ODB_CANCELLED.
 * ODB_E_NOMEM: no room for a median. */
enum odb_status odb_inspect(struct odb_inspection *out, const struct odb_tensor *ref,
                            const struct odb_tensor *target, const struct odb_progress *progress,
                            struct odb_error *err) ODB_MUST_USE;

#endif
