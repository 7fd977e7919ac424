/* SPDX-License-Identifier: MIT
 *
 * Memory comes in two kinds. Bookkeeping (names, lists, nodes) is small: running out of it ends
 * the program through one hook, as in git and tmux, so that callers need no path for it. Tensor
 * data is sized by the model: its allocation and every product of dimensions is checked and
 * fails as an ordinary error.
 */
#ifndef ODB_BASE_MEM_H
#define ODB_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Bookkeeping: never NULL, zeroed. Freed with free(). */
void *odb_xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *odb_xrealloc(void *p, size_t n, size_t size) __attribute__((returns_nonnull));
char *odb_xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *odb_xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull));
void *odb_xmemdup(const void *p, size_t size) __attribute__((malloc, returns_nonnull));
/* printf into fresh memory. */
char *odb_xasprintf(const char *fmt, ...) ODB_PRINTF(1, 2) __attribute__((malloc, returns_nonnull));

#define odb_new(type) ((type *)odb_xcalloc(1, sizeof(type)))
/* n may be an int: below 0 it is more than there is, and ends the program. */
#define odb_new_n(type, n) ((type *)odb_xcalloc((size_t)(n), sizeof(type)))

/* Called before the program ends for want of bookkeeping memory; a front end restores its
 * terminal here. Its last line is "PROGRAM: " ODB_MEM_WORDS, its exit status ODB_MEM_STATUS. */
extern void (*odb_oom_hook)(void);
/* Has this called as well, behind the hook: it removes temporary files. It may not allocate. */
void odb_oom_sweep(void (*sweep)(void));
#define ODB_MEM_WORDS "out of memory"
#define ODB_MEM_STATUS 4

/* Fresh pages cost more than most kernels: freed memory stays with the process from now on. */
void odb_mem_keep_pages(void);

/* n elements of size bytes, all zero, of which few may ever be touched: the others take no memory,
 * whatever was freed before. No pointers to what is owned may stand in it. Never NULL. */
#define odb_room_n(type, n) ((type *)odb_room_new((n), sizeof(type)))
void *odb_room_new(size_t n, size_t size) __attribute__((returns_nonnull));
void odb_room_free(void *room); /* NULL is fine */

/* The pages of a mapped file (from its first byte on) go back to the system, which reads them again
 * when they are looked at. */
void odb_mem_drop(const void *map, size_t size);

/* Half of the machine's memory that is free now, and never so little that small models would be
 * read in pieces; UINT64_MAX: unknown. */
uint64_t odb_mem_spare(void);

/* So many bytes, or the most that there can be of one thing where addresses have 32 bits. */
#define ODB_SIZE_LIMIT(bytes)                                                                      \
    ((size_t)((uint64_t)(bytes) < (uint64_t)PTRDIFF_MAX ? (uint64_t)(bytes)                        \
                                                        : (uint64_t)PTRDIFF_MAX))

/* *out = a * b, a + b, of sizes or dimensions. False on overflow. */
static inline bool odb_size_mul(uint64_t a, uint64_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

static inline bool odb_size_add(uint64_t a, uint64_t b, size_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

/* Whether text ends so, and has something before that. */
bool odb_ends_with(const char *text, const char *end);

#define ODB_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ODB_MIN(a, b) ((a) < (b) ? (a) : (b))
#define ODB_MAX(a, b) ((a) > (b) ? (a) : (b))

/* A growing array: struct { T *items; size_t n, cap; } v; odb_push(&v, x); free(v.items). */
#define ODB_VEC(type)                                                                              \
    struct {                                                                                       \
        type *items; /* owned */                                                                   \
        size_t n, cap;                                                                             \
    }
#define odb_push(v, ...)                                                                           \
    do {                                                                                           \
        if ((v)->n == (v)->cap) {                                                                  \
            (v)->cap = (v)->cap ? (v)->cap * 2 : 8;                                                \
            (v)->items = odb_xrealloc((v)->items, (v)->cap, sizeof *(v)->items);                   \
        }                                                                                          \
        (v)->items[(v)->n] = (__VA_ARGS__); /* which may read v */                                 \
        (v)->n++;                                                                                  \
    } while (0)
/* Gives back what it has not used, where nothing is going to be pushed. */
#define odb_fit(v)                                                                                 \
    do {                                                                                           \
        if ((v)->n && (v)->n < (v)->cap) {                                                         \
            (v)->cap = (v)->n;                                                                     \
            (v)->items = odb_xrealloc((v)->items, (v)->cap, sizeof *(v)->items);                   \
        }                                                                                          \
    } while (0)

#endif
