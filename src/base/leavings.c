/* SPDX-License-Identifier: MIT */
#include "base/leavings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

#define LEAVINGS_MAX 32
#define LEAVINGS_DEEP 16 /* folders in folders */

/* A signal handler has nowhere else to look. */
static struct leaving {
    enum { LEAVING_NONE, LEAVING_CHANGES, LEAVING_THERE } _Atomic state;
    pid_t owner;
    char path[PATH_MAX];
} leavings[LEAVINGS_MAX];

void odb_leavings_add(const char *path)
{
    char *absolute = odb_file_absolute(path);
    for (size_t i = 0; i < LEAVINGS_MAX && strlen(absolute) < PATH_MAX; i++) {
        struct leaving *one = &leavings[i];
        int none = LEAVING_NONE;
        if (!atomic_compare_exchange_strong(&one->state, &none, LEAVING_CHANGES))
            continue;
        one->owner = getpid();
        memcpy(one->path, absolute, strlen(absolute) + 1);
        atomic_store(&one->state, LEAVING_THERE);
        break;
    }
    free(absolute);
}

void odb_leavings_drop(const char *path)
{
    char *absolute = odb_file_absolute(path);
    for (size_t i = 0; i < LEAVINGS_MAX; i++)
        if (atomic_load(&leavings[i].state) == LEAVING_THERE &&
            !strcmp(leavings[i].path, absolute)) {
            atomic_store(&leavings[i].state, LEAVING_NONE);
            break;
        }
    free(absolute);
}

static void leavings_remove_at(int at, const char *name, int deep);

/* What readdir() would give, without its memory. */
static void leavings_empty(int folder, int deep)
{
    char block[2048] __attribute__((aligned(8)));
    long n;
    while ((n = syscall(SYS_getdents64, folder, block, sizeof block)) > 0)
        for (long i = 0; i < n;) {
            const struct dirent64 *entry = (const void *)(block + i);
            if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
                leavings_remove_at(folder, entry->d_name, deep);
            i += entry->d_reclen;
        }
}

static void leavings_remove_at(int at, const char *name, int deep)
{
    if (unlinkat(at, name, 0) == 0 || errno != EISDIR || deep == LEAVINGS_DEEP)
        return;
    int changed = fchmodat(at, name, S_IRWXU, 0); /* caches like their folders read-only */
    (void)changed; /* what cannot be had cannot be opened either */
    int folder = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return;
    leavings_empty(folder, deep + 1);
    close(folder);
    unlinkat(at, name, AT_REMOVEDIR);
}

void odb_leavings_remove(void)
{
    int saved = errno;
    for (size_t i = 0; i < LEAVINGS_MAX; i++)
        if (atomic_load(&leavings[i].state) == LEAVING_THERE && leavings[i].owner == getpid())
            leavings_remove_at(AT_FDCWD, leavings[i].path, 0);
    errno = saved;
}
