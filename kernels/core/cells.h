/* SPDX-License-Identifier: MIT
 *
 * Any dense tensor as an array of cells of 1, 2, 4, 8 or 16 bytes, so that kernels which only move
 * elements need one loop for all types. Most types are that already and cost nothing; types of 4
 * and 2 bits are unpacked to bytes, strings are struct odb_str whose text is copied in commit.
 */
#ifndef ODB_KERNELS_CORE_CELLS_H
#define ODB_KERNELS_CORE_CELLS_H

#include <stddef.h>

#include "kernels/core/kern.h"

struct odb_cells {
    unsigned char *data; /* owned when own is set, else borrowed: the tensor */
    size_t size;         /* bytes per cell */
    void *own;           /* owned */
};

#define ODB_CELLS_INIT                                                                             \
    {                                                                                              \
        .own = NULL                                                                                \
    }

/* Cells to read; nothing may be written through them. */
enum odb_status odb_cells_read(struct odb_cells *c, const struct odb_tensor *t,
                               struct odb_error *err) ODB_MUST_USE;
/* Cells to write, contents undefined; strings and packed types: zeroed. */
enum odb_status odb_cells_write(struct odb_cells *c, struct odb_tensor *t,
                                struct odb_error *err) ODB_MUST_USE;
/* Puts written cells into the tensor. Text of strings is copied, so the tensors that it came from
 * must still be alive. */
enum odb_status odb_cells_commit(struct odb_cells *c, struct odb_tensor *t,
                                 struct odb_error *err) ODB_MUST_USE;
void odb_cells_dispose(struct odb_cells *c);

/* The commonest shape of a kernel: fn moves cells of input i to output o. */
typedef enum odb_status (*odb_cells_fn)(struct odb_kern *k, void *arg, size_t size,
                                        unsigned char *dst, const unsigned char *src);
enum odb_status odb_cells_move(struct odb_kern *k, int o, int i, odb_cells_fn fn,
                               void *arg) ODB_MUST_USE;

/* One cell from src to dst; size as above. */
static inline void odb_cell_copy(unsigned char *dst, const unsigned char *src, size_t size)
{
    switch (size) {
    case 1:
        *dst = *src;
        break;
    case 2:
        *(odb_u16 *)dst = *(const odb_u16 *)src;
        break;
    case 4:
        *(odb_u32 *)dst = *(const odb_u32 *)src;
        break;
    case 8:
        *(odb_u64 *)dst = *(const odb_u64 *)src;
        break;
    default:
        __builtin_memcpy(dst, src, 16);
    }
}

#endif
