/* SPDX-License-Identifier: MIT
 *
 * Blocks of memory kept for the next request of as many bytes. A model asks for the same sizes in
 * the same order run after run, so after the first run nothing is left to ask the allocator for.
 * Any thread may take a block and any other give it back.
 */
#ifndef ODB_SYSTEM_BLOCKS_H
#define ODB_SYSTEM_BLOCKS_H

#include <stddef.h>

/* At least size bytes of whatever was there before, aligned as malloc() does; NULL when there is no
 * memory. */
void *odb_blocks_take(size_t size);
/* The same, zeroed. Fresh memory comes from calloc(), so that pages cost nothing until used. */
void *odb_blocks_take_zeroed(size_t size);
/* Gives a block back; size as it was asked for. NULL is fine. */
void odb_blocks_give(void *block, size_t size);

/* The block with its first bytes alone, maybe at another place; size as it was asked for. Both are
 * larger than what is kept of blocks. */
void *odb_blocks_shrink(void *block, size_t size, size_t less);

/* Work memory for the length of a call, whose block knows its size: n elements of size bytes,
 * zeroed; NULL when there is none, or n * size overflows. */
void *odb_work_take(size_t n, size_t size);
void *odb_work_raw(size_t bytes); /* not zeroed */
void odb_work_give(void *work);   /* NULL is fine */
/* As odb_new_n(): never NULL. */
#define odb_work_n(type, n) ((type *)odb_work_must((size_t)(n), sizeof(type)))
void *odb_work_must(size_t n, size_t size) __attribute__((returns_nonnull));

/* Frees all that is kept. */
void odb_blocks_flush(void);
/* The same, and the system has back what the allocator keeps, which may be as much as was ever
 * taken: for the end of what took long. */
void odb_blocks_give_back(void);

#endif
