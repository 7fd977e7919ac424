/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a variant makes of several sets of operands, by the reference: what is found out of one set
 * may be luck.
 */
#ifndef ODB_EXPLAIN_AS_IF_SAMPLES_H
#define ODB_EXPLAIN_AS_IF_SAMPLES_H

#include "explain/variant.h"

#define AS_IF_SAMPLES 4

/* A call under a variant. */
struct as_if_sample {
    struct accused s; /* a copy with operands of its own, whose in, r and native it owns */
    struct odb_tensor **changed; /* owned refs; [n_changed] operands as the variant changes them */
    int n_changed;
    struct odb_tensor **made; /* owned refs; [n_out] results of the changed call */
    struct odb_tensor **is;   /* likewise: what the variant makes of them */
};

/* The first has the operands of the call that is explained, the others have what is fed (and is no
 * weight) in another order, and floats scaled. */
struct as_if_samples {
    struct as_if_sample items[AS_IF_SAMPLES];
    size_t n;
};

/* ODB_SKIPPED: the variant does not run on the call's own operands. */
enum odb_status as_if_samples_make(struct as_if_samples *out, const struct accused *s,
                                   const struct variant *v) ODB_MUST_USE;
void as_if_samples_dispose(struct as_if_samples *samples);

#endif
