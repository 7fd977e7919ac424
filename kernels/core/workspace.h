/* SPDX-License-Identifier: MIT
 *
 * Working memory of a thread, kept between calls: fresh pages cost more than most kernels.
 */
#ifndef ODB_KERNELS_CORE_WORKSPACE_H
#define ODB_KERNELS_CORE_WORKSPACE_H

#include <stddef.h>

enum odb_workspace_slot {
    ODB_WORKSPACE_PACK,    /* inside a matrix product */
    ODB_WORKSPACE_COLUMNS, /* around one */
    ODB_WORKSPACE_PLANES,
    ODB_WORKSPACE_ROWS,
    ODB_WORKSPACE_PIECES, /* around an element-wise operator */
    ODB_WORKSPACE_SLOTS
};

/* At least bytes, 64-byte aligned, contents arbitrary; valid until this thread asks for the same
 * slot again. NULL: out of memory. */
void *odb_workspace(enum odb_workspace_slot slot, size_t bytes);

#endif
