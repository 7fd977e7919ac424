/* SPDX-License-Identifier: MIT */
#include "tensor/grid.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int grid_leading(const struct odb_tensor *t)
{
    return t->rank > 2 ? t->rank - 2 : 0;
}

void odb_grid_init(struct odb_grid *grid, const struct odb_tensor *t)
{
    *grid = (struct odb_grid){.t = t, .row_axis = -1, .col_axis = -1};
    if (t->kind != ODB_TENSOR)
        return;
    if (t->rank == 1)
        grid->row_axis = 0;
    if (t->rank >= 2) {
        grid->row_axis = t->rank - 2;
        grid->col_axis = t->rank - 1;
    }
    grid->rows = grid->row_axis < 0 ? 1 : (size_t)t->dims[grid->row_axis];
    grid->cols = grid->col_axis < 0 ? 1 : (size_t)t->dims[grid->col_axis];
    /* A product of dimensions is known to fit only where none of them is 0. */
    grid->planes = t->count ? t->count / (grid->rows * grid->cols) : 0;
}

size_t odb_grid_cell(const struct odb_grid *grid, size_t row, size_t col)
{
    return (grid->plane * grid->rows + row) * grid->cols + col;
}

void odb_grid_at(const struct odb_grid *grid, size_t at, size_t *plane, size_t *row, size_t *col)
{
    *col = at % grid->cols;
    *row = at / grid->cols % grid->rows;
    *plane = at / grid->cols / grid->rows;
}

/* from + by, kept in [0, n). */
static size_t grid_move(size_t from, int64_t by, size_t n)
{
    uint64_t back = by < 0 ? -(uint64_t)by : 0;
    if (by < 0)
        return back < from ? from - (size_t)back : 0;
    return (uint64_t)by < n - from ? from + (size_t)by : n - 1;
}

bool odb_grid_step(struct odb_grid *grid, int64_t by)
{
    size_t before = grid->plane;
    if (grid->planes)
        grid->plane = grid_move(before, by, grid->planes);
    return grid->plane != before;
}

bool odb_grid_step_axis(struct odb_grid *grid, int axis, int64_t by)
{
    size_t before = grid->plane, stride = 1;
    if (!grid->planes || axis < 0 || axis >= grid_leading(grid->t))
        return false;
    for (int d = axis + 1; d < grid_leading(grid->t); d++)
        stride *= (size_t)grid->t->dims[d];
    size_t n = (size_t)grid->t->dims[axis], index = before / stride % n;
    grid->plane = before - index * stride + grid_move(index, by, n) * stride;
    return grid->plane != before;
}

/* The index of element at along the first n axes of those that dims describes. */
static void grid_unravel(size_t at, const int64_t *dims, int n, size_t *index)
{
    for (int d = n - 1; d >= 0; d--) {
        index[d] = at % (size_t)dims[d];
        at /= (size_t)dims[d];
    }
}

/* "[1, 2, :, :]": the indices of the first axes, and all of the others. */
static const char *grid_print(char *buf, size_t size, const size_t *index, int indices, int rank)
{
    size_t len = 0;
    if (size)
        buf[0] = '\0';
    for (int d = 0; d < rank && len < size; d++) {
        const char *before = d ? ", " : "[";
        int n = d < indices ? snprintf(buf + len, size - len, "%s%zu", before, index[d])
                            : snprintf(buf + len, size - len, "%s:", before);
        len += (size_t)n;
    }
    if (len < size)
        snprintf(buf + len, size - len, rank ? "]" : "[]");
    return buf;
}

const char *odb_grid_plane_text(const struct odb_grid *grid, char *buf, size_t size)
{
    size_t index[ODB_MAX_RANK];
    const struct odb_tensor *t = grid->t;
    int leading = grid->planes ? grid_leading(t) : 0;
    grid_unravel(grid->plane, t->dims, leading, index);
    return grid_print(buf, size, index, leading, t->kind == ODB_TENSOR ? t->rank : 0);
}

const char *odb_index_text(const struct odb_tensor *t, size_t at, char *buf, size_t size)
{
    size_t index[ODB_MAX_RANK];
    int rank = t->kind == ODB_TENSOR && t->count ? t->rank : 0;
    grid_unravel(at, t->dims, rank, index);
    return grid_print(buf, size, index, rank, rank);
}

/* An index of an axis of so many elements. */
static enum odb_status grid_parse_one(size_t *out, const char *text, long long v, size_t size,
                                      struct odb_error *err)
{
    if (v < 0 ? (size_t)-v > size : (size_t)v >= size)
        return odb_fail(err, ODB_E_USAGE, "index '%s': %lld is outside an axis of %zu", text, v,
                        size);
    *out = v < 0 ? size - (size_t)-v : (size_t)v;
    return ODB_OK;
}

enum odb_status odb_index_parse(size_t *at, const struct odb_tensor *t, const char *text,
                                struct odb_error *err)
{
    long long index[ODB_MAX_RANK];
    int n = 0;
    const char *p = text + strspn(text, " [");
    if (t->kind != ODB_TENSOR || !t->count)
        return odb_fail(err, ODB_E_USAGE, "there are no elements to go to");
    for (char *end; *p && *p != ']'; p = end + strspn(end, " ,")) {
        errno = 0;
        long long v = strtoll(p, &end, 10);
        if (end == p || errno || n == ODB_MAX_RANK) {
            odb_fail(err, ODB_E_USAGE, "index '%s': not a number at '%s'", text, p);
            return odb_error_remedy(err, "write something like [0, 3, -1]");
        }
        index[n++] = v;
    }
    if (p[strspn(p, " ]")])
        return odb_fail(err, ODB_E_USAGE, "index '%s': unexpected text '%s'", text, p);
    *at = 0;
    if (n == 1 && t->rank != 1)
        return grid_parse_one(at, text, index[0], t->count, err);
    if (n != t->rank)
        return odb_fail(err, ODB_E_USAGE, "index '%s' has %d numbers, the value has %d axes", text,
                        n, t->rank);
    for (int d = 0; d < n; d++) {
        size_t i = 0;
        ODB_TRY(grid_parse_one(&i, text, index[d], (size_t)t->dims[d], err));
        *at = *at * (size_t)t->dims[d] + i;
    }
    return ODB_OK;
}
