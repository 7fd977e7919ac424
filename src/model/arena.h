/* SPDX-License-Identifier: MIT
 *
 * Memory that is given back all at once: everything that a model keeps for its whole life, the
 * protobuf messages among it.
 */
#ifndef ODB_MODEL_ARENA_H
#define ODB_MODEL_ARENA_H

#include <stddef.h>

#include <protobuf-c/protobuf-c.h>

struct model_arena;

struct model_arena *odb_model__arena_new(void);
void odb_model__arena_free(struct model_arena *arena); /* NULL is fine */
/* n * size zeroed bytes, aligned for anything. Never NULL, not for 0 bytes either. */
void *odb_model__arena_alloc(struct model_arena *arena, size_t n, size_t size)
    __attribute__((returns_nonnull));
void *odb_model__arena_dup(struct model_arena *arena, const void *p, size_t n, size_t size)
    __attribute__((returns_nonnull));
/* For protobuf-c: its free does nothing, its alloc may fail. Borrowed: arena. */
ProtobufCAllocator *odb_model__arena_allocator(struct model_arena *arena);

#define arena_new(arena, type) ((type *)odb_model__arena_alloc((arena), 1, sizeof(type)))
#define arena_new_n(arena, type, n) ((type *)odb_model__arena_alloc((arena), (n), sizeof(type)))

#endif
