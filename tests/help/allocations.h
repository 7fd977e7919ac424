/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How often a test's program has asked for memory, by standing in for malloc() and its kin.
 * Included by one file of a program. Sanitizers do not allow it: nothing is counted under them.
 */
#ifndef ODB_TESTS_UNIT_ALLOCATIONS_H
#define ODB_TESTS_UNIT_ALLOCATIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static atomic_size_t allocations;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ALLOCATIONS_COUNT false
#else
#define ALLOCATIONS_COUNT true

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    allocations++;
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    allocations++;
    return __libc_realloc(p, size);
}
#endif

#endif
