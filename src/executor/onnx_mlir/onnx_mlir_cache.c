/* SPDX-License-Identifier: MIT
 *
 * One directory per compiled model, named by its key. It is filled under another name and renamed,
 * so that it is there whole or not at all, even if another process does the same; its time is that
 * of its last use. What goes is renamed before it is removed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/file.h"
#include "system/temporary.h"
#include "base/mem.h"
#include "system/scratch.h"
#include "executor/cache.h"
#include "executor/onnx_mlir/onnx_mlir_int.h"
#include "executor/place.h"

#define CACHE_LIMIT ((size_t)4 << 30) /* bytes kept */

static const char *const cache_files[] = {ODB_MLIR_LIBRARY, ODB_MLIR_CONSTANTS};

struct cache_entry {
    char *name; /* owned */
    time_t used;
    size_t bytes;
};

void odb_mlir_cache_init(struct odb_mlir_cache *cache, const char *where)
{
    *cache = (struct odb_mlir_cache){.limit = CACHE_LIMIT};
    if (!where)
        cache->dir = odb_file_home("XDG_CACHE_HOME", ".cache", "onnx-mlir");
    else if (strcmp(where, "off") != 0)
        cache->dir = odb_file_absolute(where);
}

void odb_mlir_cache_dispose(struct odb_mlir_cache *cache)
{
    free(cache->dir);
}

char *odb_mlir_cache_find(const struct odb_mlir_cache *cache, const char *key)
{
    if (!cache->dir)
        return NULL;
    char *dir = odb_xasprintf("%s/%s", cache->dir, key);
    char *library = odb_xasprintf("%s/" ODB_MLIR_LIBRARY, dir);
    bool found = access(library, R_OK) == 0;
    free(library);
    if (!found) {
        free(dir);
        return NULL;
    }
    utimensat(AT_FDCWD, dir, NULL, 0);
    return dir;
}

/* --- what goes ------------------------------------------------------------------------------- */

static void cache_remove(const struct odb_mlir_cache *cache, const char *name)
{
    char *from = odb_xasprintf("%s/%s", cache->dir, name);
    char *to = odb_xasprintf("%s/.gone-XXXXXX", cache->dir);
    if (mkdtemp(to) && rename(from, to) == 0)
        odb_scratch_remove(to);
    else
        rmdir(to);
    free(from);
    free(to);
}

void odb_mlir_cache_drop(const struct odb_mlir_cache *cache, const char *key)
{
    if (cache->dir)
        cache_remove(cache, key);
}

static size_t cache_bytes(const char *dir)
{
    size_t bytes = 0;
    for (size_t i = 0; i < ODB_COUNT(cache_files); i++) {
        struct stat st;
        char *path = odb_xasprintf("%s/%s", dir, cache_files[i]);
        if (stat(path, &st) == 0)
            bytes += (size_t)st.st_blocks * 512;
        free(path);
    }
    return bytes;
}

static int cache_older(const void *a, const void *b)
{
    const struct cache_entry *x = a, *y = b;
    return (x->used > y->used) - (x->used < y->used);
}

/* Makes room, except at the cost of the entry just made. */
static void cache_trim(const struct odb_mlir_cache *cache, const char *made)
{
    ODB_VEC(struct cache_entry) entries = {0};
    size_t total = 0;
    DIR *dir = opendir(cache->dir);
    if (!dir)
        return;
    odb_temporary_sweep(cache->dir, ".new-", ""); /* of children that were killed */
    odb_temporary_sweep(cache->dir, ".gone-", "");
    for (const struct dirent *e; (e = readdir(dir));) {
        struct stat st;
        char *path = odb_xasprintf("%s/%s", cache->dir, e->d_name);
        bool there = lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
        if (there && odb_cache_is_key(e->d_name)) { /* the user's directory may hold more */
            struct cache_entry entry = {odb_xstrdup(e->d_name), st.st_mtime, cache_bytes(path)};
            total += entry.bytes;
            odb_push(&entries, entry);
        }
        free(path);
    }
    closedir(dir);
    if (entries.n > 0)
        qsort(entries.items, entries.n, sizeof *entries.items, cache_older);
    for (size_t i = 0; i < entries.n; i++) {
        if (total > cache->limit && strcmp(entries.items[i].name, made) != 0) {
            cache_remove(cache, entries.items[i].name);
            total -= entries.items[i].bytes;
        }
        free(entries.items[i].name);
    }
    free(entries.items);
}

/* --- what comes ------------------------------------------------------------------------------ */

static enum odb_status cache_fill(const char *from, const char *to, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < ODB_COUNT(cache_files) && status == ODB_OK; i++) {
        char *source = odb_xasprintf("%s/%s", from, cache_files[i]);
        char *copy = odb_xasprintf("%s/%s", to, cache_files[i]);
        if (i == 0 || access(source, F_OK) == 0)
            status = odb_place_copy(source, copy, err);
        free(source);
        free(copy);
    }
    return status;
}

char *odb_mlir_cache_keep(const struct odb_mlir_cache *cache, const char *key, const char *dir,
                          struct odb_error *err)
{
    if (!cache->dir || odb_file_mkdir(cache->dir, err) != ODB_OK)
        return NULL;
    char *made = odb_xasprintf("%s/.new-XXXXXX", cache->dir);
    char *path = odb_xasprintf("%s/%s", cache->dir, key);
    bool there = mkdtemp(made) != NULL;
    if (there)
        odb_temporary_add(made); /* which locks it: no process sweeps it meanwhile */
    if (!there) {
        odb_fail(err, ODB_E_IO, "%s", strerror(errno));
        odb_error_at(err, "%s", cache->dir);
    } else if (cache_fill(dir, made, err) == ODB_OK && rename(made, path) < 0 &&
               access(path, F_OK) < 0) { /* else another process was faster */
        odb_fail(err, ODB_E_IO, "%s", strerror(errno));
        odb_error_at(err, "%s", path);
    }
    if (there)
        odb_scratch_remove(made);
    free(made);
    free(path);
    cache_trim(cache, key);
    return odb_mlir_cache_find(cache, key);
}
