/* SPDX-License-Identifier: MIT
 *
 * Where the elements of a tensor are. A tensor seen as planes of rows and columns, so that a screen
 * can draw the cells it shows and no others: the last two axes make a plane, all axes before them
 * number the planes. Nothing here looks at an element.
 */
#ifndef ODB_TENSOR_GRID_H
#define ODB_TENSOR_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensor/tensor.h"

/* Rank 0 is one cell. Rank 1 is one column, because a screen scrolls better down than sideways.
 * Without elements there are no planes, though rows or columns there may be; a container has none
 * of all three. */
struct odb_grid {
    const struct odb_tensor *t; /* borrowed */
    int row_axis, col_axis;     /* -1: none */
    size_t rows, cols, planes;
    size_t plane; /* the one in view, below planes; 0 where there are none */
};

/* At the first plane. t may have no values. */
void odb_grid_init(struct odb_grid *grid, const struct odb_tensor *t);

/* The element in a cell of the plane in view, and the cell of an element. Both must exist. */
size_t odb_grid_cell(const struct odb_grid *grid, size_t row, size_t col);
void odb_grid_at(const struct odb_grid *grid, size_t at, size_t *plane, size_t *row, size_t *col);

/* Moves the view by planes, as far as there are any. False when that is nowhere. */
bool odb_grid_step(struct odb_grid *grid, int64_t by);
/* The same along one axis before the plane's, the others kept. */
bool odb_grid_step_axis(struct odb_grid *grid, int axis, int64_t by);

/* The plane in view as odb_slice() takes it: "[3, 0, :, :]", "[:]", "[]". Returns buf. */
const char *odb_grid_plane_text(const struct odb_grid *grid, char *buf, size_t size);

/* The place of element at, which must exist: "[0, 3, 12]", "[]" for rank 0. Returns buf. */
const char *odb_index_text(const struct odb_tensor *t, size_t at, char *buf, size_t size);
/* The element that text names: an index of each axis, "[0, 3, -1]", the brackets may be left out;
 * or one number, counted over all elements. ODB_E_USAGE where there is none. */
enum odb_status odb_index_parse(size_t *at, const struct odb_tensor *t, const char *text,
                                struct odb_error *err) ODB_MUST_USE;

#endif
