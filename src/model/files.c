/* SPDX-License-Identifier: MIT
 *
 * A model comes from strangers and names files: it must not make the debugger show the user's
 * private key as a tensor of bytes. So locations are taken only from below the model's own
 * directory: checked by name first, then with all links resolved, and what that gives is opened
 * beneath the directory without following any link, so that one that is put there in between leads
 * nowhere.
 *
 * In a cache as Hugging Face's both the model and its data are links, to files that lie side by
 * side elsewhere. The user has named the model, and with it the directory that it leads to: a link
 * that ends beside the model's own file is as good as a file beside the model.
 */
#include "model/files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/map.h"
#include "system/mapping.h"
#include "base/mem.h"
#include "model/model.h"

struct file_storage {
    struct odb_storage storage;
    struct odb_mapping mapping;
};

struct model_files {
    char *dir;       /* owned; never "" */
    char *path;      /* owned: of the model's own file; "": it has none */
    char *real_dir;  /* owned; NULL until it is needed */
    char *real_path; /* owned; NULL: not yet needed, or there is none */
    enum odb_links links;
    struct odb_map *by_location;        /* owned; index in list */
    ODB_VEC(struct model_bytes *) list; /* each owned: callers keep pointers */
    ODB_VEC(char *) locations;          /* owned; beside list */
    ODB_VEC(char *) real;               /* owned; beside list: paths without links */
    bool missing_ok;
    struct odb_error missing; /* code 0: none */
};

static void file_release(struct odb_storage *storage)
{
    struct file_storage *file = (struct file_storage *)storage;
    odb_mapping_close(&file->mapping);
    free(file);
}

static enum odb_status file_map(struct model_bytes *out, int fd, const char *path,
                                struct odb_error *err)
{
    struct stat st;
    if (fstat(fd, &st))
        return odb_fail(err, ODB_E_IO, "%s: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode)) {
        odb_fail(err, ODB_E_IO, "%s: is a directory", path);
        odb_error_remedy(err, "name the file in it, such as model.onnx");
        return ODB_E_IO;
    }
    if (!S_ISREG(st.st_mode))
        return odb_fail(err, ODB_E_IO, "%s: not a regular file, so it cannot be mapped", path);
    size_t size;
    struct file_storage *file = odb_new(struct file_storage);
    enum odb_status status = odb_file_size(&size, &st, err);
    if (status == ODB_OK)
        status = odb_mapping_open(&file->mapping, fd, size, path, err);
    if (status != ODB_OK) {
        free(file);
        return odb_error_at(err, "%s", path);
    }
    atomic_init(&file->storage.refs, 1);
    file->storage.release = file_release;
    *out = (struct model_bytes){&file->storage,
                                size ? file->mapping.data : (const unsigned char *)"", size};
    return ODB_OK;
}

enum odb_status odb_model__map_file(struct model_bytes *out, const char *path,
                                    struct odb_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not make us wait */
    if (fd < 0)
        return odb_fail(err, ODB_E_IO, "%s: %s", path, strerror(errno));
    enum odb_status status = file_map(out, fd, path, err);
    close(fd);
    return status;
}

void odb_model__file_drop(const struct odb_storage *storage)
{
    const struct file_storage *file = (const struct file_storage *)storage;
    if (storage->release == file_release)
        odb_mem_drop(file->mapping.data, file->mapping.size);
}

void odb_model__files_drop(const struct model_files *files)
{
    for (size_t i = 0; i < files->list.n; i++)
        odb_model__file_drop(files->list.items[i]->storage);
}

void odb_model__files_put_times(const struct model_files *files, struct odb_buf *out)
{
    struct stat st;
    for (size_t i = 0; i < files->locations.n; i++)
        if (stat(files->real.items[i], &st) == 0)
            odb_buf_printf(out, "%s %lld %lld.%09ld\n", files->locations.items[i],
                           (long long)st.st_size, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

struct model_files *odb_model__files_new(const char *dir, const char *path, enum odb_links links,
                                         bool missing_ok)
{
    struct model_files *files = odb_new(struct model_files);
    files->dir = odb_xstrdup(*dir ? dir : ".");
    files->path = odb_xstrdup(path);
    files->links = links;
    files->by_location = odb_map_new();
    files->missing_ok = missing_ok;
    return files;
}

void odb_model__files_free(struct model_files *files)
{
    if (!files)
        return;
    for (size_t i = 0; i < files->list.n; i++) {
        odb_storage_unref(files->list.items[i]->storage);
        free(files->list.items[i]);
        free(files->locations.items[i]);
        free(files->real.items[i]);
    }
    free(files->locations.items);
    free(files->real.items);
    free(files->list.items);
    odb_map_free(files->by_location);
    free(files->real_path);
    free(files->real_dir);
    free(files->path);
    free(files->dir);
    free(files);
}

/* Empty, absolute, or with a ".." in it. */
static bool files_is_outside(const char *location)
{
    if (!*location || *location == '/')
        return true;
    for (const char *p = location; p; p = strchr(p, '/')) {
        p += *p == '/';
        if (!strncmp(p, "..", 2) && (p[2] == '/' || !p[2]))
            return true;
    }
    return false;
}

/* real: a path with all links resolved. */
static bool files_is_below(const char *dir, const char *real)
{
    size_t n = strlen(dir);
    return !strncmp(dir, real, n) && (real[n] == '/' || (n && dir[n - 1] == '/'));
}

/* There is no file of that name, or it cannot be reached. */
static enum odb_status files_unreachable(struct model_files *files, const char *location, int why,
                                         struct odb_error *err)
{
    struct odb_error own = ODB_ERROR_INIT;
    odb_fail(&own, ODB_E_MODEL, "external data in \"%s\": %s", location, strerror(why));
    if (why == ENOENT)
        odb_error_remedy(&own, "the file belongs in %s, beside the model", files->dir);
    if (why == ENOENT && files->missing_ok) {
        if (!files->missing.code)
            files->missing = own;
        return ODB_SKIPPED;
    }
    if (err)
        *err = own;
    return ODB_E_MODEL;
}

/* The same as openat2() does, for kernels before 5.6 and sandboxes without it: name by name. */
static int files_walk(int dir, const char *path, int flags)
{
    int at = dir;
    for (;;) {
        size_t n = strcspn(path, "/");
        char *name = odb_xstrndup(path, n);
        bool last = !path[n];
        int next = openat(at, name, O_NOFOLLOW | (last ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC));
        int why = errno;
        free(name);
        if (at != dir)
            close(at);
        errno = why;
        if (next < 0 || last)
            return next;
        at = next;
        path += n + 1;
    }
}

/* Opens a path without links or ".." beneath a directory, for reading; -1 with errno. */
static int files_open_beneath(int dir, const char *path)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    struct stat st;
    if (fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL; /* to open a device can do something */
        return -1;
    }
    int fd = (int)syscall(__NR_openat2, dir, path, &how, sizeof how);
    return fd < 0 && (errno == ENOSYS || errno == EPERM) ? files_walk(dir, path, (int)how.flags)
                                                         : fd;
}

/* real: a path below dir; both have all links resolved. */
static enum odb_status files_open_real(int *fd, const char *dir, const char *real,
                                       const char *location, struct odb_error *err)
{
    size_t n = strlen(dir);
    int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    *fd = at < 0 ? -1 : files_open_beneath(at, real + n + (dir[n - 1] != '/'));
    int why = errno;
    if (at >= 0)
        close(at);
    if (*fd >= 0)
        return ODB_OK;
    return odb_fail(err, ODB_E_MODEL, "external data in \"%s\": %s", location,
                    why == EINVAL  ? "not a regular file"
                    : why == ELOOP ? "it has become a link while it was opened"
                                   : strerror(why));
}

/* The directory of a path without links; the caller's. */
static char *files_directory(const char *real)
{
    const char *slash = strrchr(real, '/');
    return odb_xstrndup(real, slash == real ? 1 : (size_t)(slash - real));
}

/* Beneath which directory a path without links may be opened; NULL: it may not. The caller's. */
static char *files_anchor(struct model_files *files, const char *real)
{
    if (files_is_below(files->real_dir, real))
        return odb_xstrdup(files->real_dir);
    char *dir = files_directory(real);
    if (!files->real_path && *files->path)
        files->real_path = realpath(files->path, NULL);
    char *own = files->real_path ? files_directory(files->real_path) : NULL;
    bool may = files->links == ODB_LINKS_ALL || (own && !strcmp(own, dir));
    free(own);
    if (may)
        return dir;
    free(dir);
    return NULL;
}

/* real: owned by the caller on success. */
static enum odb_status files_open(int *fd, char **real, struct model_files *files,
                                  const char *location, struct odb_error *err)
{
    if (files_is_outside(location)) {
        odb_fail(err, ODB_E_MODEL, "external data in \"%s\": not below the model's directory",
                 location);
        odb_error_remedy(err, "put the data beside the model, and its plain name in external_data");
        return ODB_E_MODEL;
    }
    if (!files->real_dir && !(files->real_dir = realpath(files->dir, NULL)))
        return odb_fail(err, ODB_E_IO, "%s: %s", files->dir, strerror(errno));
    char *path = odb_xasprintf("%s/%s", files->real_dir, location), *anchor = NULL;
    enum odb_status status;
    *real = realpath(path, NULL);
    if (!*real) {
        status = files_unreachable(files, location, errno, err);
    } else if ((anchor = files_anchor(files, *real))) {
        status = files_open_real(fd, anchor, *real, location, err);
    } else {
        status = odb_fail(err, ODB_E_MODEL,
                          "external data in \"%s\": a link leads out of the model's directory",
                          location);
        odb_error_remedy(err, "follow it with --follow-links, or replace it by a copy of the file");
    }
    if (status != ODB_OK) {
        free(*real);
        *real = NULL;
    }
    free(anchor);
    free(path);
    return status;
}

static enum odb_status files_map(struct model_bytes *out, char **real, struct model_files *files,
                                 const char *location, struct odb_error *err)
{
    int fd;
    ODB_TRY(files_open(&fd, real, files, location, err));
    enum odb_status status = file_map(out, fd, location, err);
    close(fd);
    if (status != ODB_OK)
        free(*real);
    return status;
}

enum odb_status odb_model_open_external(int *fd, const char *dir, const char *location,
                                        struct odb_error *err)
{
    struct model_files *files = odb_model__files_new(dir, "", ODB_LINKS_NEAR, false);
    char *real = NULL;
    enum odb_status status = files_open(fd, &real, files, location, err);
    free(real);
    odb_model__files_free(files);
    return status;
}

const struct odb_error *odb_model__files_missing(const struct model_files *files)
{
    return files->missing.code ? &files->missing : NULL;
}

enum odb_status odb_model__files_get(const struct model_bytes **out, struct model_files *files,
                                     const char *location, struct odb_error *err)
{
    size_t i;
    if (!odb_map_get(files->by_location, location, &i)) {
        struct model_bytes bytes;
        char *real;
        ODB_TRY(files_map(&bytes, &real, files, location, err));
        i = files->list.n;
        odb_push(&files->list, (struct model_bytes *)odb_xmemdup(&bytes, sizeof bytes));
        odb_push(&files->locations, odb_xstrdup(location));
        odb_push(&files->real, real);
        odb_map_add(files->by_location, location, i);
    }
    *out = files->list.items[i];
    return ODB_OK;
}

bool odb_model__files_find(const struct model_files *files, const void *data, size_t size,
                           const char **location, size_t *offset)
{
    for (size_t i = 0; i < files->list.n; i++) {
        const struct model_bytes *file = files->list.items[i];
        uintptr_t begin = (uintptr_t)file->data, at = (uintptr_t)data;
        if (at < begin || at - begin > file->size || size > file->size - (at - begin))
            continue;
        *location = files->locations.items[i];
        *offset = at - begin;
        return true;
    }
    return false;
}

/* The part of a path below a directory, both without links. */
static const char *files_rest(const char *dir, const char *real)
{
    size_t n = strlen(dir);
    return real + n + (dir[n - 1] != '/');
}

char *odb_model__files_base(struct model_files *files)
{
    if (!files->real_dir)
        files->real_dir = realpath(files->dir, NULL);
    if (!files->real_path && *files->path)
        files->real_path = realpath(files->path, NULL);
    const char *own = files->real_path;
    bool within = !own || !files->real_dir || files_is_below(files->real_dir, own);
    for (size_t i = 0; i < files->real.n && within && own; i++)
        within = files_is_below(files->real_dir, files->real.items[i]);
    if (within)
        return odb_xstrdup(files->dir);
    char *base = files_directory(own);
    for (size_t i = 0; i < files->real.n; i++)
        while (!files_is_below(base, files->real.items[i])) {
            char *above = files_directory(base);
            free(base);
            base = above;
        }
    return base;
}

char *odb_model__files_below_base(const struct model_files *files, const char *base,
                                  const char *location)
{
    const char *name = strrchr(files->path, '/');
    size_t i;
    if (!strcmp(base, files->dir))
        return NULL;
    if (odb_map_get(files->by_location, location, &i))
        return odb_xstrdup(files_rest(base, files->real.items[i]));
    if (files->real_path && !strcmp(location, name ? name + 1 : files->path))
        return odb_xstrdup(files_rest(base, files->real_path));
    return NULL;
}
