/* SPDX-License-Identifier: MIT
 *
 * Blocks double from small to large, so that a TensorProto of one number costs a page and a graph
 * of a hundred thousand nodes a few dozen calls. The large ones are mapped with all their pages at
 * once: they are going to be filled, and one page at a time costs more than what is put there.
 */
#include "model/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"

enum { BLOCK_MIN = 4096, BLOCK_MAX = 1 << 20, ALIGN = alignof(max_align_t) };

struct arena_block {
    struct arena_block *next; /* owned */
    size_t mapped;            /* bytes; 0: it is of the heap */
    max_align_t data[];
};

struct model_arena {
    ProtobufCAllocator allocator;
    struct arena_block *blocks; /* owned; the newest first */
    char *at, *end;             /* what is left of the block in use */
    size_t block_size;          /* of the next block */
};

/* Zeroed. NULL when there is no memory. */
static struct arena_block *arena_block_new(size_t size)
{
    if (size < BLOCK_MAX)
        return calloc(1, size);
    struct arena_block *block =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (block == MAP_FAILED)
        return NULL;
    block->mapped = size;
    return block;
}

static void arena_block_free(struct arena_block *block)
{
    if (block->mapped)
        munmap(block, block->mapped);
    else
        free(block);
}

/* Zeroed. NULL when there is no memory. */
static void *arena_take(struct model_arena *arena, size_t size)
{
    size_t rounded;
    if (!odb_size_add(ODB_MAX(size, 1), ALIGN - 1, &rounded))
        return NULL;
    rounded &= ~(size_t)(ALIGN - 1);
    if (rounded <= (size_t)(arena->end - arena->at)) {
        void *p = arena->at;
        arena->at += rounded;
        return p;
    }
    /* A piece that would fill a block gets its own and leaves the block in use open. */
    bool own = rounded > arena->block_size / 4;
    size_t size_wanted;
    if (!odb_size_add(own ? rounded : arena->block_size, sizeof(struct arena_block), &size_wanted))
        return NULL;
    struct arena_block *block = arena_block_new(size_wanted);
    if (!block)
        return NULL;
    block->next = arena->blocks;
    arena->blocks = block;
    if (own)
        return block->data;
    arena->at = (char *)block->data + rounded;
    arena->end = (char *)block->data + arena->block_size;
    arena->block_size = ODB_MIN(arena->block_size * 2, BLOCK_MAX);
    return block->data;
}

static void *arena_pb_alloc(void *arena, size_t size)
{
    return arena_take(arena, size);
}

static void arena_pb_free(void *arena, void *p)
{
    (void)arena;
    (void)p;
}

struct model_arena *odb_model__arena_new(void)
{
    struct model_arena *arena = odb_new(struct model_arena);
    arena->allocator = (ProtobufCAllocator){arena_pb_alloc, arena_pb_free, arena};
    arena->block_size = BLOCK_MIN;
    return arena;
}

void odb_model__arena_free(struct model_arena *arena)
{
    if (!arena)
        return;
    while (arena->blocks) {
        struct arena_block *next = arena->blocks->next;
        arena_block_free(arena->blocks);
        arena->blocks = next;
    }
    free(arena);
}

void *odb_model__arena_alloc(struct model_arena *arena, size_t n, size_t size)
{
    size_t bytes;
    void *p = odb_size_mul(n, size, &bytes) ? arena_take(arena, bytes) : NULL;
    if (!p)
        return odb_xcalloc(SIZE_MAX, 1); /* does not return */
    return p;
}

void *odb_model__arena_dup(struct model_arena *arena, const void *p, size_t n, size_t size)
{
    void *copy = odb_model__arena_alloc(arena, n, size);
    if (n && size)
        memcpy(copy, p, n * size);
    return copy;
}

ProtobufCAllocator *odb_model__arena_allocator(struct model_arena *arena)
{
    return &arena->allocator;
}
