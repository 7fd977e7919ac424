/* SPDX-License-Identifier: MIT
 *
 * Tensors on disk, for owners that keep more than memory holds. Up to a number of bytes they stay
 * where they are; what comes later goes into a file without a name, which is mapped, so that the
 * system reads what is looked at and takes the pages back when it needs them. The bytes of a tensor
 * that has no owner any more are given back to the disk.
 *
 * The file lies in $TMPDIR, else in /var/tmp: on many machines /tmp is memory.
 */
#ifndef ODB_TENSOR_SPILL_H
#define ODB_TENSOR_SPILL_H

#include "tensor/tensor.h"

struct odb_spill;

/* stay: bytes that stay in memory. The file is made when it is needed. */
struct odb_spill *odb_spill_new(uint64_t stay);
/* Its tensors may outlive it. NULL is fine. */
void odb_spill_free(struct odb_spill *spill);

/* *t, which is kept from now on, may become another tensor with the same values. Only what has no
 * other owner goes to disk: shared tensors, strings, containers and small ones stay. ODB_E_IO:
 * there is no room, and *t is as it was. Several threads may look at tensors, one takes. */
enum odb_status odb_spill_take(struct odb_spill *spill, struct odb_tensor **t,
                               struct odb_error *err) ODB_MUST_USE;
/* Pages that were looked at need not stay in memory. Tensors remain what they are. */
void odb_spill_drop(struct odb_spill *spill);
/* Bytes of the file that are in use. */
uint64_t odb_spill_size(const struct odb_spill *spill);

#endif
