/* SPDX-License-Identifier: MIT
 *
 * What kernels keep from one call of a node to the next: made of what cannot change between them,
 * attributes and constant inputs. A memo belongs to the caller of the kernel (a plan keeps one per
 * node); several threads may use it at once.
 */
#ifndef ODB_KERNELS_CORE_MEMO_H
#define ODB_KERNELS_CORE_MEMO_H

#include <stdint.h>

/* Zeroed: empty. */
struct odb_memo {
    _Atomic(struct odb_memo_entry *) first;
};

typedef void (*odb_memo_free_fn)(void *what);

/* What was kept with that function to free it and that number; NULL: nothing. */
void *odb_memo_find(const struct odb_memo *memo, odb_memo_free_fn free_fn, uint64_t number);
/* Keeps `what` until the memo is disposed of. Returns it, or what another thread has kept there
 * meanwhile; `what` is then freed. */
void *odb_memo_keep(struct odb_memo *memo, odb_memo_free_fn free_fn, uint64_t number, void *what);
void odb_memo_dispose(struct odb_memo *memo);

#endif
