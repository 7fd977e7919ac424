/* SPDX-License-Identifier: MIT
 *
 *     DIR/KEY/             an entry; its time is that of its last use
 *     DIR/KEY/about.json   what a list says of it
 *     DIR/KEY/files/       what was compiled
 *     DIR/.new-XXXXXX      one that is being filled; renamed when it is whole, and on the disk
 *     DIR/.gone-XXXXXX     one that is being removed
 *
 * So an entry is there whole or not at all, and of two processes that compile the same model the
 * slower one finds the name taken, and removes its own. Who uses an entry holds a lock on it that
 * others may share, and who removes it one that none may.
 */
#include "executor/kept/compiled.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/file.h"
#include "system/scratch.h"
#include "system/temporary.h"

#define COMPILED_OWN ((size_t)64) /* entries of a directory that goes with the process */
#define COMPILED_EACH 32          /* entries made until room is looked for again */

struct odb_compiled {
    char *dir;     /* owned; NULL: of this process, and not there yet */
    bool shared;   /* dir stays */
    size_t limit;  /* bytes */
    int made;      /* entries since it was last looked how many there are */
    uint64_t free; /* bytes until they are too many, as far as was seen then */
};

static enum odb_status compiled_io(struct odb_error *err, const char *path)
{
    odb_fail(err, ODB_E_IO, "%s", strerror(errno));
    return odb_error_at(err, "%s", path);
}

/* --- what there is --------------------------------------------------------------------------- */

char *odb_compiled_home(void)
{
    return odb_cache_home("/compiled", "compiled");
}

static int compiled_newer(const void *a, const void *b)
{
    const struct odb_compiled_entry *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec > y->used.tv_sec ? -1 : 1;
    return (x->used.tv_nsec < y->used.tv_nsec) - (x->used.tv_nsec > y->used.tv_nsec);
}

/* The bytes that an entry takes on the disk; sync: and they are there. */
static enum odb_status compiled_walk(const char *path, bool sync, uint64_t *bytes,
                                     struct odb_error *err)
{
    char *roots[] = {(char *)(uintptr_t)path, NULL};
    enum odb_status status = ODB_OK;
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    *bytes = 0;
    for (const FTSENT *e; tree && status == ODB_OK && (e = fts_read(tree));) {
        if (e->fts_info != FTS_F && e->fts_info != FTS_DP)
            continue;
        struct stat st = *e->fts_statp;
        int fd = sync ? open(e->fts_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
        if (fd >= 0 && ((fsync(fd) < 0 && errno != EINVAL) || fstat(fd, &st) < 0))
            status = compiled_io(err, e->fts_path);
        if (fd >= 0)
            close(fd);
        *bytes += (uint64_t)st.st_blocks * 512; /* which may be known only now */
    }
    if (tree)
        fts_close(tree);
    return status;
}

static void compiled_take(const char *dir, const char *name, const struct stat *st,
                          struct odb_compiled_entries *entries)
{
    struct odb_compiled_entry entry = {.used = st->st_mtim};
    char *path = odb_xasprintf("%s/%s", dir, name), *about = odb_xasprintf("%s/about.json", path);
    memcpy(entry.key, name, sizeof entry.key);
    entry.about = json_load_file(about, 0, NULL);
    const json_t *bytes = json_object_get(entry.about, "bytes");
    if (json_is_integer(bytes))
        entry.bytes = (uint64_t)json_integer_value(bytes);
    else if (compiled_walk(path, false, &entry.bytes, NULL) != ODB_OK)
        entry.bytes = 0;
    odb_push(&entries->list, entry);
    entries->bytes += entry.bytes;
    free(about);
    free(path);
}

void odb_compiled_list(const char *folder, struct odb_compiled_entries *entries)
{
    DIR *dir = opendir(folder);
    *entries = (struct odb_compiled_entries){0};
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        struct stat st;
        if (odb_cache_is_key(e->d_name) &&
            fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
            compiled_take(folder, e->d_name, &st, entries);
    }
    if (dir)
        closedir(dir);
    if (entries->list.n)
        qsort(entries->list.items, entries->list.n, sizeof *entries->list.items, compiled_newer);
}

void odb_compiled_entries_dispose(struct odb_compiled_entries *entries)
{
    for (size_t i = 0; i < entries->list.n; i++)
        json_decref(entries->list.items[i].about);
    free(entries->list.items);
    *entries = (struct odb_compiled_entries){0};
}

/* --- what goes ------------------------------------------------------------------------------- */

static bool compiled_move(const char *dir, const char *path)
{
    char *to = odb_xasprintf("%s/.gone-XXXXXX", dir);
    bool moved = mkdtemp(to) && rename(path, to) == 0;
    if (moved)
        odb_scratch_remove(to);
    else
        rmdir(to);
    free(to);
    return moved;
}

bool odb_compiled_remove(const char *dir, const char *key)
{
    char *path = odb_xasprintf("%s/%s", dir, key);
    int lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    bool removed = lock >= 0 && (flock(lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
                   compiled_move(dir, path);
    if (lock >= 0)
        close(lock);
    free(path);
    return removed;
}

void odb_compiled_drop(const struct odb_compiled *compiled, const char *key)
{
    if (compiled->dir)
        odb_compiled_remove(compiled->dir, key);
}

/* Removes what was not used for longest, but not what was just made. */
static void compiled_trim(struct odb_compiled *compiled, const char *made)
{
    struct odb_compiled_entries entries;
    odb_compiled_list(compiled->dir, &entries);
    size_t n = entries.list.n;
    for (size_t i = n;
         i-- > 0 && (entries.bytes > compiled->limit || (!compiled->shared && n > COMPILED_OWN));) {
        const struct odb_compiled_entry *entry = &entries.list.items[i];
        if (!strcmp(entry->key, made) || !odb_compiled_remove(compiled->dir, entry->key))
            continue;
        entries.bytes -= entry->bytes;
        n--;
    }
    compiled->made = 0;
    compiled->free = compiled->limit > entries.bytes ? compiled->limit - entries.bytes : 0;
    odb_compiled_entries_dispose(&entries);
}

/* Every entry is looked at for that, so it is not done for each one that is made. */
static void compiled_make_room(struct odb_compiled *compiled, const char *made, uint64_t bytes)
{
    bool known = compiled->made > 0 && compiled->made < COMPILED_EACH && bytes <= compiled->free;
    if (known)
        compiled->free -= bytes;
    else
        compiled_trim(compiled, made);
    compiled->made++;
}

/* --- the place ------------------------------------------------------------------------------- */

static enum odb_status compiled_use_dir(struct odb_compiled *compiled, const char *dir,
                                        struct odb_error *err)
{
    ODB_TRY(odb_file_mkdir(dir, err));
    if (access(dir, W_OK | X_OK) < 0)
        return compiled_io(err, dir);
    compiled->dir = odb_file_absolute(dir); /* models are loaded from other directories */
    compiled->shared = true;
    return ODB_OK;
}

static void compiled_use_home(struct odb_compiled *compiled)
{
    struct odb_error ignored = ODB_ERROR_INIT;
    char *home = odb_compiled_home();
    if (home && compiled_use_dir(compiled, home, &ignored) == ODB_OK)
        chmod(home, 0700); /* models may be private */
    free(home);
}

enum odb_status odb_compiled_open(struct odb_compiled **out, const char *where, size_t limit,
                                  struct odb_error *err)
{
    struct odb_compiled *compiled = odb_new(struct odb_compiled);
    enum odb_status status = odb_cache_limit(&compiled->limit, err);
    if (limit)
        compiled->limit = limit;
    if (status == ODB_OK && !where)
        compiled_use_home(compiled);
    else if (status == ODB_OK && strcmp(where, "no") != 0)
        status = compiled_use_dir(compiled, where, err);
    if (status == ODB_OK)
        *out = compiled;
    else
        odb_compiled_close(compiled);
    return status;
}

void odb_compiled_close(struct odb_compiled *compiled)
{
    if (!compiled)
        return;
    if (compiled->dir && !compiled->shared)
        odb_scratch_remove(compiled->dir);
    free(compiled->dir);
    free(compiled);
}

/* --- what is used ---------------------------------------------------------------------------- */

/* Whether the directory that is open is still what has its name. */
static bool compiled_is_there(int fd, const char *path)
{
    struct stat open, named;
    return fstat(fd, &open) == 0 && lstat(path, &named) == 0 && open.st_dev == named.st_dev &&
           open.st_ino == named.st_ino;
}

bool odb_compiled_find(const struct odb_compiled *compiled, const char *key,
                       struct odb_compiled_use *use)
{
    *use = (struct odb_compiled_use){.lock = -1};
    if (!compiled->dir)
        return false;
    char *path = odb_xasprintf("%s/%s", compiled->dir, key);
    use->lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (use->lock >= 0) {
        flock(use->lock, LOCK_SH); /* others hold theirs for a moment only */
        use->files = odb_xasprintf("%s/files", path);
        utimensat(AT_FDCWD, path, NULL, 0);
        bool there = compiled_is_there(use->lock, path), whole = access(use->files, X_OK) == 0;
        if (!there || !whole)
            odb_compiled_leave(use);
        if (there && !whole) /* no entry of ours */
            odb_compiled_remove(compiled->dir, key);
    }
    free(path);
    return use->files != NULL;
}

void odb_compiled_leave(struct odb_compiled_use *use)
{
    if (use->files && use->lock >= 0)
        close(use->lock);
    free(use->files);
    *use = (struct odb_compiled_use){.lock = -1};
}

/* --- what comes ------------------------------------------------------------------------------ */

static enum odb_status compiled_write_about(const char *made, json_t *about, uint64_t bytes,
                                            struct odb_error *err)
{
    char *path = odb_xasprintf("%s/about.json", made);
    json_object_set_new(about, "bytes", json_integer((json_int_t)bytes));
    enum odb_status status =
        json_dump_file(about, path, JSON_INDENT(1)) < 0 ? compiled_io(err, path) : ODB_OK;
    free(path);
    return status;
}

/* Fills made, a directory beside the entry. */
static enum odb_status compiled_fill(const char *made, bool sync, odb_compiled_fill_fn fill,
                                     void *from, json_t *about, uint64_t *bytes,
                                     struct odb_error *err)
{
    char *files = odb_xasprintf("%s/files", made);
    enum odb_status status = mkdir(files, 0700) < 0 ? compiled_io(err, files) : ODB_OK;
    if (status == ODB_OK)
        status = fill(from, files, err);
    if (status == ODB_OK)
        status = compiled_walk(files, sync, bytes, err);
    if (status == ODB_OK)
        status = compiled_write_about(made, about, *bytes, err);
    free(files);
    return status;
}

/* Gives it the entry's name, unless another process was faster. */
static enum odb_status compiled_enter(const struct odb_compiled *compiled, const char *key,
                                      const char *made, struct odb_error *err)
{
    char *path = odb_xasprintf("%s/%s", compiled->dir, key);
    enum odb_status status = ODB_OK;
    if (rename(made, path) < 0 && access(path, F_OK) < 0)
        status = compiled_io(err, path);
    utimensat(AT_FDCWD, path, NULL, 0);
    free(path);
    return status;
}

enum odb_status odb_compiled_keep_take(struct odb_compiled *compiled, const char *key,
                                       odb_compiled_fill_fn fill, void *from, json_t *take,
                                       struct odb_error *err)
{
    uint64_t bytes = 0;
    enum odb_status status = compiled->dir ? ODB_OK : odb_scratch_new(&compiled->dir, err);
    if (status == ODB_OK && compiled->shared) { /* of processes that were killed */
        odb_temporary_sweep(compiled->dir, ".new-", "");
        odb_temporary_sweep(compiled->dir, ".gone-", "");
    }
    char *made = odb_xasprintf("%s/.new-XXXXXX", status == ODB_OK ? compiled->dir : "");
    if (status == ODB_OK && !mkdtemp(made)) {
        status = compiled_io(err, compiled->dir);
    } else if (status == ODB_OK) {
        odb_temporary_add(made); /* which locks it: no process sweeps it meanwhile */
        status = compiled_fill(made, compiled->shared, fill, from, take, &bytes, err);
        if (status == ODB_OK)
            status = compiled_enter(compiled, key, made, err);
        odb_scratch_remove(made); /* unless it has its name */
        odb_temporary_drop(made);
        if (status == ODB_OK)
            compiled_make_room(compiled, key, bytes);
    }
    free(made);
    json_decref(take);
    return status;
}
