/* SPDX-License-Identifier: MIT
 *
 *     DIR/KEY/         an entry; its time is that of its last use
 *     DIR/.new-XXXXXX  one that is being filled; renamed when it is whole
 *     DIR/.gone-XXXXXX one that is being removed
 *
 * So an entry is there whole or not at all, and no process waits for another: of two that compile
 * the same model the slower one finds the name taken, and removes its own.
 */
#include "executor/programs/compiled.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "executor/cache.h"
#include "executor/place.h"
#include "system/file.h"
#include "system/scratch.h"
#include "system/temporary.h"

#define COMPILED_FORM "onnxdbg compiled 1" /* another one makes other keys */
#define COMPILED_PIECE ((size_t)1 << 20)   /* bytes read at once */

struct odb_compiled_file {
    char *path; /* owned: below the directory */
    struct stat st;
    uint8_t digest[SHA256_DIGEST_LENGTH];
};

struct compiled_entry {
    char name[ODB_COMPILED_KEY + 1];
    struct timespec used;
};

typedef ODB_VEC(struct odb_compiled_file) compiled_files;

static enum odb_status compiled_io(struct odb_error *err, const char *path)
{
    odb_fail(err, ODB_E_IO, "%s", strerror(errno));
    return odb_error_at(err, "%s", path);
}

/* --- keys ------------------------------------------------------------------------------------ */

static bool compiled_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static enum odb_status compiled_digest(const char *path, uint8_t *digest, struct odb_error *err)
{
    SHA256_CTX sha;
    FILE *file = fopen(path, "rbe");
    if (!file)
        return compiled_io(err, path);
    char *piece = odb_new_n(char, COMPILED_PIECE);
    SHA256Init(&sha);
    for (size_t n; (n = fread(piece, 1, COMPILED_PIECE, file)) > 0;)
        odb_sha256_update(&sha, piece, n);
    enum odb_status status = ferror(file) ? compiled_io(err, path) : ODB_OK;
    SHA256Final(digest, &sha);
    fclose(file);
    free(piece);
    return status;
}

/* Weights move from one model's directory to the next, and are gigabytes: those that were hashed
 * for the model before are known by being the same file. */
static bool compiled_known(const struct odb_compiled *compiled, struct odb_compiled_file *file)
{
    for (size_t i = 0; i < compiled->files.n; i++) {
        const struct odb_compiled_file *had = &compiled->files.items[i];
        if (!strcmp(file->path, "model.onnx") || strcmp(had->path, file->path) != 0 ||
            !compiled_same(&had->st, &file->st))
            continue;
        memcpy(file->digest, had->digest, sizeof file->digest);
        return true;
    }
    return false;
}

static int compiled_order(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static FTS *compiled_open(const char *dir)
{
    char *roots[] = {(char *)(uintptr_t)dir, NULL};
    return fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, compiled_order);
}

/* The files of a model's directory in the order of their names; list is the caller's. */
static enum odb_status compiled_list(const struct odb_compiled *compiled, const char *dir,
                                     compiled_files *list, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    FTS *tree = compiled_open(dir);
    for (FTSENT *e; tree && status == ODB_OK && (e = fts_read(tree));) {
        if (e->fts_info != FTS_F)
            continue;
        struct odb_compiled_file file = {.path = odb_xstrdup(e->fts_path + strlen(dir) + 1),
                                         .st = *e->fts_statp};
        if (!compiled_known(compiled, &file))
            status = compiled_digest(e->fts_path, file.digest, err);
        odb_push(list, file);
    }
    if (tree)
        fts_close(tree);
    return tree ? status : compiled_io(err, dir);
}

static void compiled_forget(struct odb_compiled *compiled)
{
    for (size_t i = 0; i < compiled->files.n; i++)
        free(compiled->files.items[i].path);
    free(compiled->files.items);
    compiled->files.items = NULL;
    compiled->files.n = compiled->files.cap = 0;
}

static void compiled_add_text(SHA256_CTX *sha, const char *text)
{
    odb_sha256_update(sha, text, strlen(text) + 1);
}

/* A word of the command line, and of a file what says that it is another one by now. */
static void compiled_add_word(SHA256_CTX *sha, const char *word, bool first)
{
    struct stat st;
    const char *equals = strchr(word, '=');
    char *found = first && !strchr(word, '/') ? odb_file_in_path(word) : NULL;
    const char *path = found ? found : word;
    compiled_add_text(sha, word);
    if (stat(path, &st) < 0 && (!equals || stat(equals + 1, &st) < 0))
        st.st_mode = 0;
    if (S_ISREG(st.st_mode)) {
        char *text = odb_xasprintf("%s %lld %lld.%09ld", path, (long long)st.st_size,
                                   (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
        compiled_add_text(sha, text);
        free(text);
    }
    free(found);
}

static void compiled_make_key(struct odb_compiled *compiled, const struct odb_argv *words,
                              const char *says)
{
    SHA256_CTX sha;
    uint8_t digest[SHA256_DIGEST_LENGTH];
    SHA256Init(&sha);
    compiled_add_text(&sha, COMPILED_FORM);
    for (size_t i = 0; i < words->list.n; i++)
        compiled_add_word(&sha, words->list.items[i], i == 0);
    compiled_add_text(&sha, "");
    compiled_add_text(&sha, says);
    for (size_t i = 0; i < compiled->files.n; i++) {
        compiled_add_text(&sha, compiled->files.items[i].path);
        odb_sha256_update(&sha, compiled->files.items[i].digest, SHA256_DIGEST_LENGTH);
    }
    SHA256Final(digest, &sha);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(compiled->key + 2 * i, 3, "%02x", digest[i]);
}

enum odb_status odb_compiled_begin(struct odb_compiled *compiled, const char *dir,
                                   const struct odb_argv *words, const char *says,
                                   struct odb_error *err)
{
    compiled_files list = {0};
    enum odb_status status = compiled_list(compiled, dir, &list, err);
    compiled_forget(compiled);
    compiled->files.items = list.items;
    compiled->files.n = list.n;
    compiled->files.cap = list.cap;
    compiled_make_key(compiled, words, says);
    return status;
}

/* --- copies ---------------------------------------------------------------------------------- */

/* Whether a file is of the model, as it was. */
static bool compiled_was_there(const struct odb_compiled *compiled, const char *path,
                               const struct stat *st)
{
    for (size_t i = 0; i < compiled->files.n; i++)
        if (!strcmp(compiled->files.items[i].path, path))
            return compiled_same(&compiled->files.items[i].st, st);
    return false;
}

/* With its time and with the right to be executed, in the place of what has its name. */
static enum odb_status compiled_copy_file(const FTSENT *e, const char *to, struct odb_error *err)
{
    struct timespec times[2] = {e->fts_statp->st_atim, e->fts_statp->st_mtim};
    unlink(to);
    ODB_TRY(odb_place_copy(e->fts_path, to, err));
    if (chmod(to, (e->fts_statp->st_mode & 0777) | 0600) < 0)
        return compiled_io(err, to);
    utimensat(AT_FDCWD, to, times, 0);
    return ODB_OK;
}

static enum odb_status compiled_copy_link(const FTSENT *e, const char *to, struct odb_error *err)
{
    char target[4096];
    ssize_t n = readlink(e->fts_path, target, sizeof target - 1);
    if (n < 0)
        return compiled_io(err, e->fts_path);
    target[n] = '\0';
    unlink(to);
    return symlink(target, to) < 0 ? compiled_io(err, to) : ODB_OK;
}

static enum odb_status compiled_copy_one(const struct odb_compiled *compiled, const FTSENT *e,
                                         const char *path, const char *to, struct odb_error *err)
{
    switch (e->fts_info) {
    case FTS_D:
        return mkdir(to, 0700) < 0 && errno != EEXIST ? compiled_io(err, to) : ODB_OK;
    case FTS_F:
        return compiled_was_there(compiled, path, e->fts_statp) ? ODB_OK
                                                                : compiled_copy_file(e, to, err);
    case FTS_SL:
    case FTS_SLNONE:
        return compiled_copy_link(e, to, err);
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        errno = e->fts_errno;
        return compiled_io(err, e->fts_path);
    default:
        return ODB_OK;
    }
}

/* All but what was there before the model was compiled. */
static enum odb_status compiled_copy(const struct odb_compiled *compiled, const char *from,
                                     const char *to, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    FTS *tree = compiled_open(from);
    if (!tree)
        return compiled_io(err, from);
    for (FTSENT *e; status == ODB_OK && (e = fts_read(tree));) {
        if (e->fts_level == FTS_ROOTLEVEL && e->fts_info != FTS_NS && e->fts_info != FTS_DNR)
            continue;
        const char *path = e->fts_path + strlen(from);
        char *name = odb_xasprintf("%s%s", to, path);
        status = compiled_copy_one(compiled, e, path + (path[0] == '/'), name, err);
        free(name);
    }
    fts_close(tree);
    return status;
}

/* --- what goes ------------------------------------------------------------------------------- */

static int compiled_older(const void *a, const void *b)
{
    const struct compiled_entry *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

static void compiled_remove(const struct odb_compiled *compiled, const char *name)
{
    char *from = odb_xasprintf("%s/%s", compiled->dir, name);
    char *to = odb_xasprintf("%s/.gone-XXXXXX", compiled->dir);
    if (mkdtemp(to) && rename(from, to) == 0)
        odb_scratch_remove(to);
    else
        rmdir(to);
    free(from);
    free(to);
}

/* Removes the entries that were not used for longest. The user's directory may hold other things,
 * which stay. */
static void compiled_trim(const struct odb_compiled *compiled)
{
    ODB_VEC(struct compiled_entry) list = {0};
    size_t most = compiled->shared ? ODB_COMPILED_SHARED : ODB_COMPILED_OWN;
    DIR *dir = opendir(compiled->dir);
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        struct stat st;
        if (!odb_cache_is_key(e->d_name) ||
            fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode))
            continue;
        struct compiled_entry entry = {.used = st.st_mtim};
        memcpy(entry.name, e->d_name, sizeof entry.name);
        odb_push(&list, entry);
    }
    if (dir)
        closedir(dir);
    if (list.n > 0)
        qsort(list.items, list.n, sizeof *list.items, compiled_older);
    for (size_t i = 0; i + most < list.n; i++)
        compiled_remove(compiled, list.items[i].name);
    free(list.items);
}

/* --- what comes ------------------------------------------------------------------------------ */

enum odb_status odb_compiled_init(struct odb_compiled *compiled, const char *cache,
                                  struct odb_error *err)
{
    *compiled = (struct odb_compiled){.shared = cache != NULL};
    if (!cache)
        return ODB_OK;
    ODB_TRY(odb_file_mkdir(cache, err));
    compiled->dir = odb_file_absolute(cache); /* models are loaded from other directories */
    if (access(compiled->dir, W_OK | X_OK) == 0)
        return ODB_OK;
    compiled_io(err, compiled->dir);
    odb_compiled_dispose(compiled);
    return ODB_E_IO;
}

void odb_compiled_dispose(struct odb_compiled *compiled)
{
    compiled_forget(compiled);
    if (compiled->dir && !compiled->shared)
        odb_scratch_remove(compiled->dir);
    free(compiled->dir);
    compiled->dir = NULL;
}

enum odb_status odb_compiled_find(struct odb_compiled *compiled, const char *dir, bool *found,
                                  struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    *found = false;
    if (!compiled->dir)
        return ODB_OK;
    char *path = odb_xasprintf("%s/%s", compiled->dir, compiled->key);
    if (utimensat(AT_FDCWD, path, NULL, 0) == 0) {
        status = compiled_copy(compiled, path, dir, err);
        *found = status == ODB_OK;
    }
    free(path);
    return status;
}

/* Fills made, a directory beside the entry, and gives it the entry's name. */
static enum odb_status compiled_enter(const struct odb_compiled *compiled, const char *dir,
                                      const char *made, struct odb_error *err)
{
    char *path = odb_xasprintf("%s/%s", compiled->dir, compiled->key);
    enum odb_status status = compiled_copy(compiled, dir, made, err);
    if (status == ODB_OK && rename(made, path) < 0 && access(path, F_OK) < 0)
        status = compiled_io(err, path);
    utimensat(AT_FDCWD, path, NULL, 0);
    free(path);
    return status;
}

enum odb_status odb_compiled_keep(struct odb_compiled *compiled, const char *dir,
                                  struct odb_error *err)
{
    if (!compiled->dir)
        ODB_TRY(odb_scratch_new(&compiled->dir, err));
    if (compiled->shared) { /* of processes that were killed */
        odb_temporary_sweep(compiled->dir, ".new-", "");
        odb_temporary_sweep(compiled->dir, ".gone-", "");
    }
    char *made = odb_xasprintf("%s/.new-XXXXXX", compiled->dir);
    enum odb_status status;
    if (!mkdtemp(made)) {
        status = compiled_io(err, compiled->dir);
    } else {
        odb_temporary_add(made); /* which locks it: no process sweeps it meanwhile */
        status = compiled_enter(compiled, dir, made, err);
        odb_scratch_remove(made); /* unless it has its name */
        odb_temporary_drop(made);
    }
    free(made);
    compiled_trim(compiled);
    return status;
}
