/* SPDX-License-Identifier: MIT
 *
 * Index inputs of Gather, Scatter and their kin: checked once, negative ones counted from the
 * back, so that the copying loops need not ask.
 */
#ifndef ODB_KERNELS_SHAPE_INDICES_H
#define ODB_KERNELS_SHAPE_INDICES_H

#include "kernels/core/kern.h"

/* The elements of input i as indices into dimensions of limits[e % n_limits] elements. *out is
 * work memory of the caller's. ODB_E_OPERATOR names the first that is out of range. */
enum odb_status odb_indices_read(struct odb_kern *k, int i, const int64_t *limits, size_t n_limits,
                                 int64_t **out) ODB_MUST_USE;

/* The geometry of GatherElements and ScatterElements: row after row of the indices' last
 * dimension, each with its place in the data. */
struct odb_rows {
    const struct odb_tensor *data, *indices;
    int axis;
    int64_t dense[ODB_MAX_RANK]; /* strides of data, in cells */
    size_t n, len;               /* rows, indices per row */
    int64_t step;                /* cells of data per index along a row: 0 when axis is the last */
    int64_t axis_step;           /* cells of data per step of the axis */
};

/* Checks that indices (input 1) fit data (input 0) outside the axis. */
enum odb_status odb_rows_init(struct odb_kern *k, struct odb_rows *r) ODB_MUST_USE;
/* Cell of data where row i starts. */
int64_t odb_rows_base(const struct odb_rows *r, size_t i);

/* The geometry of GatherND and ScatterND: tuples of indices, each naming a run of data. */
struct odb_tuples {
    int batch, depth; /* leading dimensions in common; indices per tuple */
    size_t n;         /* tuples */
    size_t per_batch; /* tuples per batch entry */
    int64_t run;      /* cells per run */
    int64_t dense[ODB_MAX_RANK];
};

enum odb_status odb_tuples_init(struct odb_kern *k, int batch, struct odb_tuples *t) ODB_MUST_USE;
/* Cell of data where the run of tuple i starts. */
int64_t odb_tuples_base(const struct odb_tuples *t, const int64_t *indices, size_t i);

#endif
