/* SPDX-License-Identifier: MIT
 *
 * Tensors on disk, for owners that keep more than memory holds. Up to a number of bytes they stay
 * where they are; what comes later goes into a file without a name, which is mapped, so that the
 * system reads what is looked at and takes the pages back when it needs them. The bytes of a tensor
 * that has no owner any more are given back to the disk.
 *
 * The file lies in $TMPDIR, else in /var/tmp: on many machines /tmp is memory. It leaves a quarter
 * of what is free there to others.
 */
#ifndef ODB_TENSOR_SPILL_H
#define ODB_TENSOR_SPILL_H

#include <sys/types.h>

#include "tensor/tensor.h"

struct odb_spill;

/* stay: bytes that stay in memory. The file is made when it is needed. */
struct odb_spill *odb_spill_new(uint64_t stay);
struct odb_spill *odb_spill_ref(struct odb_spill *spill); /* NULL stays NULL */
/* Its tensors may outlive it. NULL is fine. */
void odb_spill_unref(struct odb_spill *spill);

/* t, which is kept from now on, may have its bytes on disk afterwards; it is the same otherwise.
 * Only what has no other owner goes there: shared tensors, strings, containers, tiny ones and what
 * is there already stay; NULL is fine. ODB_E_IO: there is no room, and t is as it was. */
enum odb_status odb_spill_take(struct odb_spill *spill, struct odb_tensor *t,
                               struct odb_error *err) ODB_MUST_USE;
/* Room on disk for bytes that are going to be kept, where *data will have them; with storage a ref,
 * the caller's. NULL: they are to stay in memory, or there is no room. */
struct odb_storage *odb_spill_reserve(struct odb_spill *spill, size_t size, const void **data);
/* Writes some of them; what is behind *data is theirs from then on. */
enum odb_status odb_spill_fill(struct odb_storage *storage, size_t offset, const void *bytes,
                               size_t size, struct odb_error *err) ODB_MUST_USE;
/* The same of what is in a pipe, as splice(2) does, so that no copy of it is made on the way.
 * Returns how many bytes came; 0: no writer is left; -1: see errno, and none were taken. */
ssize_t odb_spill_draw(struct odb_storage *storage, size_t offset, int pipe, size_t size);
/* Pages that were looked at need not stay in memory. Tensors remain what they are. */
void odb_spill_drop(struct odb_spill *spill);
/* The same of these bytes alone; nothing where storage is none of a spill. NULL is fine. */
void odb_spill_let_go(const struct odb_storage *storage, const void *data, size_t size);
/* Whether a tensor with this storage has its bytes on disk. NULL is fine. */
bool odb_spill_has(const struct odb_storage *storage);
/* Bytes of the file that are in use. */
uint64_t odb_spill_size(const struct odb_spill *spill);

#endif
