/* SPDX-License-Identifier: MIT
 *
 * Sizes are rounded up to sixteen steps per power of two, and each step has a list of free blocks,
 * threaded through the blocks themselves. What is kept is bounded: a block that would exceed the
 * bound empties the pool first, so that sizes of a model that runs no more make room for those of
 * the one that does.
 *
 * Sanitizers see every block come and go: with them nothing is kept, or a tensor used after its
 * end would look like the next one.
 */
#include "system/blocks.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/mem.h"

enum {
    BLOCKS_MIN_BITS = 6,  /* the smallest block has 64 bytes */
    BLOCKS_MAX_BITS = 23, /* larger ones than 8 MiB cost far more to fill than to allocate */
    BLOCKS_STEPS = 16,    /* per power of two */
    BLOCKS_CLASSES = (BLOCKS_MAX_BITS - BLOCKS_MIN_BITS) * BLOCKS_STEPS + 1,
};

#define BLOCKS_KEPT_MAX ((size_t)16 << 20)

#if defined(__SANITIZE_ADDRESS__)
#define BLOCKS_KEEPS false
#else
#define BLOCKS_KEEPS true
#endif

struct blocks_free {
    struct blocks_free *next;
};

static struct {
    pthread_mutex_t lock;
    struct blocks_free *free[BLOCKS_CLASSES];
    size_t kept; /* bytes in all lists */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The class of a size, and in *whole how many bytes its blocks have; BLOCKS_CLASSES: none. */
static int blocks_class(size_t size, size_t *whole)
{
    *whole = size;
    if (!BLOCKS_KEEPS || size > (size_t)1 << BLOCKS_MAX_BITS)
        return BLOCKS_CLASSES;
    if (size <= (size_t)1 << BLOCKS_MIN_BITS) {
        *whole = (size_t)1 << BLOCKS_MIN_BITS;
        return 0;
    }
    int bits = 63 - __builtin_clzll((unsigned long long)size - 1); /* 2^bits < size */
    size_t step = ((size_t)1 << bits) / BLOCKS_STEPS;
    size_t steps = (size - ((size_t)1 << bits) + step - 1) / step;
    *whole = ((size_t)1 << bits) + steps * step;
    return (bits - BLOCKS_MIN_BITS) * BLOCKS_STEPS + (int)steps;
}

/* A free block of the class, NULL when there is none. */
static void *blocks_find(int class_, size_t whole)
{
    if (class_ == BLOCKS_CLASSES)
        return NULL;
    pthread_mutex_lock(&pool.lock);
    struct blocks_free *block = pool.free[class_];
    if (block) {
        pool.free[class_] = block->next;
        pool.kept -= whole;
    }
    pthread_mutex_unlock(&pool.lock);
    return block;
}

static void *blocks_take(size_t size, bool zero)
{
    size_t whole;
    int class_ = blocks_class(size, &whole);
    void *block = blocks_find(class_, whole);
    if (block)
        return zero ? memset(block, 0, size) : block;
    block = zero ? calloc(1, whole) : malloc(whole);
    if (block)
        return block;
    odb_blocks_flush();
    return zero ? calloc(1, whole) : malloc(whole);
}

void *odb_blocks_take(size_t size)
{
    return blocks_take(size, false);
}

void *odb_blocks_take_zeroed(size_t size)
{
    return blocks_take(size, true);
}

/* All blocks out of the lists, in one; the caller frees them without the lock. */
static struct blocks_free *blocks_empty(void)
{
    struct blocks_free *all = NULL;
    for (int c = 0; c < BLOCKS_CLASSES; c++)
        while (pool.free[c]) {
            struct blocks_free *block = pool.free[c];
            pool.free[c] = block->next;
            block->next = all;
            all = block;
        }
    pool.kept = 0;
    return all;
}

static void blocks_free_all(struct blocks_free *block)
{
    while (block) {
        struct blocks_free *next = block->next;
        free(block);
        block = next;
    }
}

void odb_blocks_give(void *block, size_t size)
{
    size_t whole;
    int class_ = blocks_class(size, &whole);
    struct blocks_free *freed = block, *old = NULL;
    if (!block)
        return;
    if (class_ == BLOCKS_CLASSES) {
        free(block);
        return;
    }
    pthread_mutex_lock(&pool.lock);
    if (pool.kept + whole > BLOCKS_KEPT_MAX)
        old = blocks_empty();
    freed->next = pool.free[class_];
    pool.free[class_] = freed;
    pool.kept += whole;
    pthread_mutex_unlock(&pool.lock);
    blocks_free_all(old);
}

void *odb_blocks_shrink(void *block, size_t size, size_t less)
{
    ODB_ASSERT(less <= size && less > (size_t)1 << BLOCKS_MAX_BITS);
    void *shrunk = realloc(block, less);
    return shrunk ? shrunk : block; /* which is large enough */
}

/* --- work memory ------------------------------------------------------------------------------ */

union blocks_work {
    size_t size; /* with this header */
    max_align_t align;
};

static void *work_take(size_t bytes, bool zero)
{
    if (!odb_size_add(bytes, sizeof(union blocks_work), &bytes))
        return NULL;
    union blocks_work *work = blocks_take(bytes, zero);
    if (!work)
        return NULL;
    work->size = bytes;
    return work + 1;
}

void *odb_work_take(size_t n, size_t size)
{
    size_t bytes;
    return odb_size_mul(n, size, &bytes) ? work_take(bytes, true) : NULL;
}

void *odb_work_raw(size_t bytes)
{
    return work_take(bytes, false);
}

void *odb_work_must(size_t n, size_t size)
{
    void *work = odb_work_take(n, size);
    return work ? work : odb_xcalloc(SIZE_MAX, 2); /* which ends the program */
}

void odb_work_give(void *p)
{
    union blocks_work *work = p;
    if (work)
        odb_blocks_give(work - 1, work[-1].size);
}

void odb_blocks_flush(void)
{
    pthread_mutex_lock(&pool.lock);
    struct blocks_free *all = blocks_empty();
    pthread_mutex_unlock(&pool.lock);
    blocks_free_all(all);
}

void odb_blocks_give_back(void)
{
    odb_blocks_flush();
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
