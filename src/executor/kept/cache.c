/* SPDX-License-Identifier: MIT
 *
 *     DIR/KEY           a file; its time is that of its last use
 *     DIR/.new-XXXXXX   one that is coming; renamed when it is there and is what it should be
 *     DIR/.run-XXXXXX/  of one process, which holds a lock on it: pin/KEY, what it uses; m/…, the
 *                       same under the names that the model has for them
 *
 * Names below .run are links of the files themselves, so what is pinned lives on when another
 * process makes room, and nothing is copied. What no process holds a lock on is removed by the
 * next.
 */
#include "executor/kept/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "system/file.h"
#include "base/mem.h"
#include "system/scratch.h"
#include "base/sha256.h"
#include "executor/spec.h"

#define CACHE_SIZE ((size_t)20 << 30)
#define CACHE_STALE 600 /* seconds until what no process works on is rubbish */

struct odb_cache {
    char *dir;   /* owned */
    char *run;   /* owned: .run-XXXXXX, absolute */
    char *model; /* owned: run/m */
    int lock;    /* on run */
    bool shared; /* dir lasts; else it is run's own */
    size_t limit;
    /* the file that is coming */
    char key[ODB_CACHE_KEY + 1];
    char *coming; /* owned; NULL: none is */
    int fd;
    uint64_t got;
    SHA2_CTX sha;
};

struct cache_entry {
    char name[ODB_CACHE_KEY + 1];
    struct timespec used;
    uint64_t bytes;
};

bool odb_cache_is_key(const char *name)
{
    return strlen(name) == ODB_CACHE_KEY && strspn(name, "0123456789abcdef") == ODB_CACHE_KEY;
}

static enum odb_status cache_fail(struct odb_error *err, const char *path)
{
    odb_fail(err, ODB_E_IO, "%s", strerror(errno));
    if (errno == ENOSPC)
        odb_error_remedy(err, "make room, or name another place in ONNXDBG_CACHE");
    return odb_error_at(err, "%s", path);
}

/* --- room ------------------------------------------------------------------------------------ */

static int cache_older(const void *a, const void *b)
{
    const struct cache_entry *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

/* A directory of a process that is no more: its lock is not held. One that was made just now may
 * not have been locked yet. */
static void cache_sweep(const struct odb_cache *cache, const char *name, const struct stat *st)
{
    bool run = !strncmp(name, ".run-", 5);
    if ((!run && strncmp(name, ".new-", 5) != 0) || time(NULL) - st->st_mtime < CACHE_STALE)
        return;
    char *path = odb_xasprintf("%s/%s", cache->dir, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        odb_scratch_remove(path);
    if (fd >= 0)
        close(fd);
    free(path);
}

struct cache_entries {
    ODB_VEC(struct cache_entry) list; /* owned */
    uint64_t total;                   /* bytes */
};

/* The file that a name in a cache is; anything else is passed over. */
static void cache_take(struct cache_entries *entries, const char *name, const struct stat *st)
{
    if (!odb_cache_is_key(name) || !S_ISREG(st->st_mode))
        return;
    struct cache_entry entry = {.used = st->st_mtim, .bytes = (uint64_t)st->st_blocks * 512};
    memcpy(entry.name, name, sizeof entry.name);
    odb_push(&entries->list, entry);
    entries->total += entry.bytes;
}

/* Removes what was not used for longest until no more is there than may be. */
static void cache_tidy(const struct odb_cache *cache)
{
    DIR *dir = opendir(cache->dir);
    struct cache_entries entries = {0};
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        struct stat st;
        if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        cache_sweep(cache, e->d_name, &st);
        cache_take(&entries, e->d_name, &st);
    }
    if (entries.list.n)
        qsort(entries.list.items, entries.list.n, sizeof *entries.list.items, cache_older);
    for (size_t i = 0; i + 1 < entries.list.n && entries.total > cache->limit; i++) {
        unlinkat(dirfd(dir), entries.list.items[i].name, 0);
        entries.total -= entries.list.items[i].bytes;
    }
    if (dir)
        closedir(dir);
    free(entries.list.items);
}

size_t odb_cache_count(const char *folder, uint64_t *bytes)
{
    DIR *dir = opendir(folder);
    struct cache_entries entries = {0};
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        struct stat st;
        if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            cache_take(&entries, e->d_name, &st);
    }
    if (dir)
        closedir(dir);
    free(entries.list.items);
    *bytes = entries.total;
    return entries.list.n;
}

/* --- the place -------------------------------------------------------------------------------- */

char *odb_cache_home(const char *below, const char *name)
{
    const char *own = getenv("ONNXDBG_CACHE");
    return own && own[0] == '/' ? odb_xasprintf("%s%s", own, below)
                                : odb_file_home("XDG_CACHE_HOME", ".cache", name);
}

enum odb_status odb_cache_limit(size_t *limit, struct odb_error *err)
{
    const char *size = getenv("ONNXDBG_CACHE_SIZE");
    *limit = CACHE_SIZE;
    if (size && !odb_spec_read_size(size, limit))
        return odb_fail(err, ODB_E_USAGE, "ONNXDBG_CACHE_SIZE=%s is no size", size);
    return ODB_OK;
}

/* A directory of our own below dir, with the lock. */
static bool cache_make_run(struct odb_cache *cache)
{
    cache->run = odb_xasprintf("%s/.run-XXXXXX", cache->dir);
    if (!mkdtemp(cache->run)) {
        free(cache->run);
        cache->run = NULL;
        return false;
    }
    cache->lock = open(cache->run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (cache->lock >= 0)
        flock(cache->lock, LOCK_EX | LOCK_NB);
    return true;
}

enum odb_status odb_cache_open(struct odb_cache **out, struct odb_error *err)
{
    struct odb_cache *cache = odb_new(struct odb_cache);
    enum odb_status status = ODB_OK;
    cache->lock = cache->fd = -1;
    ODB_TRY_OUT(odb_cache_limit(&cache->limit, err));
    cache->dir = odb_cache_home("", "files");
    cache->shared =
        cache->dir && odb_file_mkdir(cache->dir, NULL) == ODB_OK && cache_make_run(cache);
    if (cache->shared) {
        chmod(cache->dir, 0700); /* models may be private */
    } else {
        free(cache->dir);
        cache->dir = NULL;
        ODB_TRY_OUT(odb_scratch_new(&cache->dir, err));
        if (!cache_make_run(cache))
            ODB_TRY_OUT(cache_fail(err, cache->dir));
    }
    cache->model = odb_xasprintf("%s/m", cache->run);
    char *pins = odb_xasprintf("%s/pin", cache->run);
    if (mkdir(cache->model, 0700) < 0 || mkdir(pins, 0700) < 0)
        status = cache_fail(err, cache->run);
    free(pins);
    cache_tidy(cache);
out:
    if (status != ODB_OK)
        odb_cache_close(cache);
    else
        *out = cache;
    return status;
}

static void cache_stop_coming(struct odb_cache *cache)
{
    if (cache->fd >= 0)
        close(cache->fd);
    if (cache->coming)
        unlink(cache->coming);
    free(cache->coming);
    cache->coming = NULL;
    cache->fd = -1;
}

void odb_cache_close(struct odb_cache *cache)
{
    if (!cache)
        return;
    cache_stop_coming(cache);
    if (cache->run || (cache->dir && !cache->shared))
        odb_scratch_remove(odb_cache_scratch(cache));
    if (cache->lock >= 0)
        close(cache->lock);
    free(cache->dir);
    free(cache->run);
    free(cache->model);
    free(cache);
}

const char *odb_cache_scratch(const struct odb_cache *cache)
{
    return cache->shared ? cache->run : cache->dir;
}

const char *odb_cache_dir(const struct odb_cache *cache)
{
    return cache->model;
}

/* --- files ------------------------------------------------------------------------------------ */

static char *cache_pin(const struct odb_cache *cache, const char *key)
{
    return odb_xasprintf("%s/pin/%s", cache->run, key);
}

/* Another name for a file; a symbolic one where the file system has no others. */
static bool cache_link(const char *from, const char *to)
{
    return link(from, to) == 0 ||
           ((errno == EPERM || errno == EOPNOTSUPP || errno == EMLINK) && symlink(from, to) == 0);
}

bool odb_cache_has(struct odb_cache *cache, const char *key)
{
    if (!odb_cache_is_key(key))
        return false;
    char *file = odb_xasprintf("%s/%s", cache->dir, key), *pin = cache_pin(cache, key);
    bool has = cache_link(file, pin) || errno == EEXIST;
    if (has)
        utimensat(AT_FDCWD, file, NULL, 0);
    free(file);
    free(pin);
    return has;
}

static enum odb_status cache_begin(struct odb_cache *cache, const char *key, struct odb_error *err)
{
    cache_stop_coming(cache);
    cache->coming = odb_xasprintf("%s/.new-XXXXXX", cache->dir);
    cache->fd = mkostemp(cache->coming, O_CLOEXEC);
    if (cache->fd < 0) {
        cache_fail(err, cache->coming);
        free(cache->coming);
        cache->coming = NULL;
        return ODB_E_IO;
    }
    flock(cache->fd, LOCK_EX | LOCK_NB);
    memcpy(cache->key, key, sizeof cache->key);
    cache->got = 0;
    SHA256Init(&cache->sha);
    return ODB_OK;
}

static enum odb_status cache_end(struct odb_cache *cache, struct odb_error *err)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    char key[ODB_CACHE_KEY + 1], *file = odb_xasprintf("%s/%s", cache->dir, cache->key);
    char *pin = cache_pin(cache, cache->key);
    enum odb_status status = ODB_OK;
    bool pinned = false;
    SHA256Final(digest, &cache->sha);
    odb_hex(digest, sizeof digest, key);
    if (strcmp(key, cache->key) != 0)
        status = odb_fail(err, ODB_E_IO,
                          "what came is not what was to come: the file changed, or "
                          "the line is bad");
    else
        pinned =
            link(cache->coming, pin) == 0 || errno == EEXIST; /* before another's replaces it */
    if (status == ODB_OK && (fchmod(cache->fd, 0400) < 0 || rename(cache->coming, file) < 0))
        status = cache_fail(err, file);
    if (status == ODB_OK) {
        free(cache->coming);
        cache->coming = NULL;
    }
    cache_stop_coming(cache);
    if (status == ODB_OK && !pinned && !odb_cache_has(cache, key))
        status = cache_fail(err, file);
    cache_tidy(cache);
    free(pin);
    free(file);
    return status;
}

enum odb_status odb_cache_put(struct odb_cache *cache, const char *key, uint64_t offset,
                              uint64_t whole, const void *data, size_t size, struct odb_error *err)
{
    if (!odb_cache_is_key(key) || whole > LLONG_MAX || offset > whole || size > whole - offset)
        return odb_fail(err, ODB_E_FORMAT, "a piece of a file that cannot be");
    if (offset == 0)
        ODB_TRY(cache_begin(cache, key, err));
    if (!cache->coming || strcmp(cache->key, key) != 0 || offset != cache->got)
        return odb_fail(err, ODB_E_FORMAT, "a piece of a file that is not its next");
    for (size_t done = 0; done < size;) {
        ssize_t n = write(cache->fd, (const char *)data + done, size - done);
        if (n < 0 && errno != EINTR) {
            cache_fail(err, cache->dir);
            cache_stop_coming(cache);
            return ODB_E_IO;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    odb_sha256_update(&cache->sha, data, size);
    cache->got += size;
    return cache->got == whole ? cache_end(cache, err) : ODB_OK;
}

/* A path that leads nowhere but down. */
static bool cache_is_below(const char *path)
{
    for (const char *p = path; *p; p += *p == '/') {
        size_t n = strcspn(p, "/");
        if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
            return false;
        p += n;
    }
    return path[0] && path[strlen(path) - 1] != '/';
}

enum odb_status odb_cache_place(struct odb_cache *cache, const char *key, const char *path,
                                struct odb_error *err)
{
    if (!odb_cache_is_key(key) || !cache_is_below(path))
        return odb_fail(err, ODB_E_FORMAT, "'%s' is no name for a file beside a model", path);
    char *pin = cache_pin(cache, key), *to = odb_xasprintf("%s/%s", cache->model, path);
    char *above = odb_xstrdup(to);
    *strrchr(above, '/') = '\0';
    enum odb_status status = odb_file_mkdir(above, err);
    if (status == ODB_OK) {
        unlink(to);
        if (!cache_link(pin, to))
            status = cache_fail(err, to);
    }
    free(pin);
    free(to);
    free(above);
    return status;
}
