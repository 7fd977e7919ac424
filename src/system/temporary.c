/* SPDX-License-Identifier: MIT */
#include "system/temporary.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "system/file.h"
#include "base/mem.h"

#define TEMPORARY_DEEP 16  /* folders in folders */
#define TEMPORARY_STALE 60 /* seconds */
#define TEMPORARY_OPEN (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
#define TEMPORARY_FOLDER (TEMPORARY_OPEN | O_DIRECTORY)
#define TEMPORARY_SWEPT 64 /* folders that are remembered; others are swept again */
#define TEMPORARY_MARK ".onnxdbg-"
#define TEMPORARY_END ".tmp"

/* Threads change the list one after the other; a signal handler, which has nowhere else to look,
 * reads it by the states alone. */
static pthread_mutex_t temporary_guard = PTHREAD_MUTEX_INITIALIZER;
static struct temporary {
    enum { TEMPORARY_NONE, TEMPORARY_CHANGES, TEMPORARY_THERE } _Atomic state;
    pid_t owner;
    int lock; /* -1: none */
    char path[PATH_MAX];
} temporary[ODB_TEMPORARY_MOST];

/* A lock goes with the last process that has it. Returns a descriptor, -1: it is not there. */
static int temporary_lock(const char *path)
{
    int fd = open(path, TEMPORARY_OPEN);
    if (fd >= 0)
        (void)flock(fd, LOCK_SH | LOCK_NB); /* where that cannot be, no process can sweep either */
    return fd;
}

void odb_temporary_add(const char *path)
{
    char *made = path[0] == '/' ? NULL : odb_file_absolute(path);
    const char *absolute = made ? made : path;
    odb_oom_sweep(odb_temporary_remove);
    pthread_mutex_lock(&temporary_guard);
    for (size_t i = 0; i < ODB_TEMPORARY_MOST && strlen(absolute) < PATH_MAX; i++) {
        struct temporary *one = &temporary[i];
        if (atomic_load(&one->state) != TEMPORARY_NONE)
            continue;
        atomic_store(&one->state, TEMPORARY_CHANGES);
        one->owner = getpid();
        one->lock = temporary_lock(absolute);
        memcpy(one->path, absolute, strlen(absolute) + 1);
        atomic_store(&one->state, TEMPORARY_THERE);
        break;
    }
    pthread_mutex_unlock(&temporary_guard);
    free(made);
}

/* With the guard held. */
static struct temporary *temporary_find(const char *path)
{
    char *absolute = odb_file_absolute(path);
    struct temporary *found = NULL;
    for (size_t i = 0; i < ODB_TEMPORARY_MOST && !found; i++)
        if (atomic_load(&temporary[i].state) == TEMPORARY_THERE &&
            !strcmp(temporary[i].path, absolute))
            found = &temporary[i];
    free(absolute);
    return found;
}

void odb_temporary_lock(const char *path)
{
    pthread_mutex_lock(&temporary_guard);
    struct temporary *one = temporary_find(path);
    if (one && one->lock < 0)
        one->lock = temporary_lock(one->path);
    pthread_mutex_unlock(&temporary_guard);
}

void odb_temporary_drop(const char *path)
{
    pthread_mutex_lock(&temporary_guard);
    struct temporary *one = temporary_find(path);
    if (one && one->lock >= 0)
        close(one->lock);
    if (one)
        atomic_store(&one->state, TEMPORARY_NONE);
    pthread_mutex_unlock(&temporary_guard);
}

static void temporary_remove_at(int at, const char *name, int deep);

/* What readdir() would give, without its memory. */
static void temporary_empty(int folder, int deep)
{
    char block[2048] __attribute__((aligned(8)));
    long n;
    while ((n = syscall(SYS_getdents64, folder, block, sizeof block)) > 0)
        for (long i = 0; i < n;) {
            const struct dirent64 *entry = (const void *)(block + i);
            if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
                temporary_remove_at(folder, entry->d_name, deep);
            i += entry->d_reclen;
        }
}

static void temporary_remove_at(int at, const char *name, int deep)
{
    if (unlinkat(at, name, 0) == 0 || errno != EISDIR || deep == TEMPORARY_DEEP)
        return;
    int changed = fchmodat(at, name, S_IRWXU, 0); /* caches like their folders read-only */
    (void)changed;                                /* what cannot be had cannot be opened either */
    int folder = openat(at, name, TEMPORARY_FOLDER);
    if (folder < 0)
        return;
    temporary_empty(folder, deep + 1);
    close(folder);
    unlinkat(at, name, AT_REMOVEDIR);
}

/* A group that is started for the user, and whose. */
static _Atomic pid_t temporary_group_id, temporary_group_owner;

void odb_temporary_group(pid_t group)
{
    odb_oom_sweep(odb_temporary_remove);
    atomic_store(&temporary_group_owner, getpid());
    atomic_store(&temporary_group_id, group);
}

void odb_temporary_remove(void)
{
    int saved = errno;
    pid_t group = atomic_load(&temporary_group_id);
    if (group > 0 && atomic_load(&temporary_group_owner) == getpid())
        kill(-group, SIGKILL);
    for (size_t i = 0; i < ODB_TEMPORARY_MOST; i++)
        if (atomic_load(&temporary[i].state) == TEMPORARY_THERE && temporary[i].owner == getpid())
            temporary_remove_at(AT_FDCWD, temporary[i].path, 0);
    errno = saved;
}

/* --- those of processes that were killed ---------------------------------------------------- */

static bool temporary_is(const char *name, const char *beginning, const char *end)
{
    size_t n = strlen(name), before = strlen(beginning), behind = strlen(end);
    bool is =
        n > before + behind && !strncmp(name, beginning, before) && !strcmp(name + n - behind, end);
    for (size_t i = before; is && i < n - behind; i++)
        is = isalnum((unsigned char)name[i]);
    return is;
}

/* Removes it, unless a process works on it. */
static void temporary_sweep_one(int folder, const char *name)
{
    struct stat st;
    bool known = fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                 (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)); /* to open others may do something */
    int fd = known ? openat(folder, name, TEMPORARY_OPEN) : -1;
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
        time(NULL) - st.st_mtime > TEMPORARY_STALE && flock(fd, LOCK_EX | LOCK_NB) == 0) {
        if (S_ISDIR(st.st_mode))
            temporary_empty(fd, 0);
        unlinkat(folder, name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0);
    }
    close(fd);
}

/* any: the beginning may stand behind any other. */
static void temporary_sweep(const char *folder, bool any, const char *beginning, const char *end)
{
    DIR *dir = opendir(folder);
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        const char *name = e->d_name, *next = name;
        while (any && (next = strstr(next, beginning)))
            name = next++;
        if (temporary_is(name, beginning, end))
            temporary_sweep_one(dirfd(dir), e->d_name);
    }
    if (dir)
        closedir(dir);
}

void odb_temporary_sweep(const char *folder, const char *beginning, const char *end)
{
    temporary_sweep(folder, false, beginning, end);
}

char *odb_temporary_name(const char *path)
{
    static atomic_uint serial; /* two threads of one process never share a name */
    return odb_xasprintf("%s" TEMPORARY_MARK "%ldx%u" TEMPORARY_END, path, (long)getpid(),
                         atomic_fetch_add(&serial, 1));
}

void odb_temporary_sweep_beside(const char *path)
{
    static _Atomic uint64_t swept[TEMPORARY_SWEPT];
    const char *slash = strrchr(path, '/');
    char *folder = slash ? odb_xstrndup(path, (size_t)(slash - path) + 1) : odb_xstrdup(".");
    uint64_t hash = 14695981039346656037u;
    for (const char *p = folder; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 1099511628211u;
    if (atomic_exchange(&swept[hash % TEMPORARY_SWEPT], hash) != hash)
        temporary_sweep(folder, true, TEMPORARY_MARK, TEMPORARY_END);
    free(folder);
}
