/* SPDX-License-Identifier: MIT */
#include "base/mem.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void (*odb_oom_hook)(void);
static _Atomic(void (*)(void)) mem_sweep;

void odb_oom_sweep(void (*sweep)(void))
{
    mem_sweep = sweep;
}

#define MEM_ROOM ((size_t)1 << 20) /* bytes that are worth a mapping */

/* Without memory, and without what exit() would call: libraries that ask for some. */
static _Noreturn void mem_die(void)
{
    static atomic_flag dying = ATOMIC_FLAG_INIT;
    char line[64];
    while (atomic_flag_test_and_set(&dying)) /* another thread says it */
        pause();
    if (odb_oom_hook)
        odb_oom_hook();
    void (*sweep)(void) = mem_sweep;
    if (sweep)
        sweep();
    int n =
        snprintf(line, sizeof line, "%.32s: " ODB_MEM_WORDS "\n", program_invocation_short_name);
    ssize_t told = write(STDERR_FILENO, line, (size_t)n);
    (void)told;
    _exit(ODB_MEM_STATUS);
}

bool odb_ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && !strcmp(text + n - m, end);
}

void odb_mem_keep_pages(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the most that it takes */
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 1 << 20);
#endif
}

void *odb_xcalloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);
    if (!p)
        mem_die();
    return p;
}

void *odb_xrealloc(void *p, size_t n, size_t size)
{
    size_t bytes;
    if (!odb_size_mul(n, size, &bytes))
        mem_die();
    void *q = realloc(p, bytes ? bytes : 1);
    if (!q)
        mem_die();
    return q;
}

/* What stands before a room. */
union mem_room {
    size_t mapped; /* bytes, this included; 0: it is the allocator's */
    max_align_t align;
};

void *odb_room_new(size_t n, size_t size)
{
    size_t bytes;
    if (!odb_size_mul(n, size, &bytes) || !odb_size_add(bytes, sizeof(union mem_room), &bytes))
        mem_die();
    bool large = bytes >= MEM_ROOM;
    union mem_room *room = large ? mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                                 : odb_xcalloc(1, bytes);
    if (room == MAP_FAILED)
        mem_die();
    if (large)
        room->mapped = bytes;
    return room + 1;
}

void odb_room_free(void *room)
{
    union mem_room *begin = room ? (union mem_room *)room - 1 : NULL;
    if (begin && begin->mapped)
        munmap(begin, begin->mapped);
    else
        free(begin);
}

char *odb_xstrndup(const char *s, size_t n)
{
    n = strnlen(s, n);
    char *p = odb_xcalloc(n + 1, 1);
    memcpy(p, s, n);
    return p;
}

char *odb_xstrdup(const char *s)
{
    return odb_xstrndup(s, strlen(s));
}

void *odb_xmemdup(const void *src, size_t size)
{
    void *p = odb_xcalloc(size, 1);
    if (size)
        memcpy(p, src, size);
    return p;
}

char *odb_xasprintf(const char *fmt, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, fmt);
    int n = vasprintf(&text, fmt, args);
    va_end(args);
    if (n < 0)
        mem_die();
    return text;
}

void odb_mem_drop(const void *map, size_t size)
{
    if (size)
        madvise((void *)(uintptr_t)map, size, MADV_DONTNEED); /* advice: it may be ignored */
}

uint64_t odb_mem_spare(void)
{
    unsigned long long kib = 0;
    char line[128];
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib ? ODB_MAX((uint64_t)kib * 512, (uint64_t)256 << 20) : UINT64_MAX;
}
