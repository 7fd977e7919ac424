/* SPDX-License-Identifier: MIT
 *
 * A model comes from strangers and names files: it must not make the debugger show the user's
 * private key as a tensor of bytes. So locations are taken only from below the model's own
 * directory: checked by name first, then with all links resolved, and what that gives is opened
 * beneath the directory without following any link, so that one that is put there in between leads
 * nowhere.
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
#include "base/mapping.h"
#include "base/mem.h"
#include "model/model.h"

struct file_storage {
    struct odb_storage storage;
    struct odb_mapping mapping;
};

struct model_files {
    char *dir;                          /* owned; never "" */
    char *real_dir;                     /* owned; NULL until it is needed */
    struct odb_map *by_location;        /* owned; index in list */
    ODB_VEC(struct model_bytes *) list; /* each owned: callers keep pointers */
    ODB_VEC(char *) locations;          /* owned; beside list */
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
    size_t size = (size_t)st.st_size;
    struct file_storage *file = odb_new(struct file_storage);
    enum odb_status status = odb_mapping_open(&file->mapping, fd, size, path, err);
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

struct model_files *odb_model__files_new(const char *dir, bool missing_ok)
{
    struct model_files *files = odb_new(struct model_files);
    files->dir = odb_xstrdup(*dir ? dir : ".");
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
    }
    free(files->locations.items);
    free(files->list.items);
    odb_map_free(files->by_location);
    free(files->real_dir);
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
    int fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
    return fd < 0 && (errno == ENOSYS || errno == EPERM) ? files_walk(dir, path, (int)how.flags)
                                                         : fd;
}

/* real: a location below real_dir, with all links resolved. */
static enum odb_status files_open_real(int *fd, const char *real_dir, const char *real,
                                       const char *location, struct odb_error *err)
{
    size_t n = strlen(real_dir);
    int dir = open(real_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    *fd = dir < 0 ? -1 : files_open_beneath(dir, real + n + (real_dir[n - 1] != '/'));
    int why = errno;
    if (dir >= 0)
        close(dir);
    if (*fd >= 0)
        return ODB_OK;
    return odb_fail(err, ODB_E_MODEL, "external data in \"%s\": %s", location,
                    why == EINVAL  ? "not a regular file"
                    : why == ELOOP ? "it has become a link while it was opened"
                                   : strerror(why));
}

static enum odb_status files_open(int *fd, struct model_files *files, const char *location,
                                  struct odb_error *err)
{
    if (files_is_outside(location)) {
        odb_fail(err, ODB_E_MODEL, "external data in \"%s\": not below the model's directory",
                 location);
        odb_error_remedy(err, "put the data beside the model, and its plain name in external_data");
        return ODB_E_MODEL;
    }
    if (!files->real_dir && !(files->real_dir = realpath(files->dir, NULL)))
        return odb_fail(err, ODB_E_IO, "%s: %s", files->dir, strerror(errno));
    char *path = odb_xasprintf("%s/%s", files->real_dir, location);
    char *real = realpath(path, NULL);
    enum odb_status status;
    if (!real) {
        status = files_unreachable(files, location, errno, err);
    } else if (!files_is_below(files->real_dir, real)) {
        status = odb_fail(err, ODB_E_MODEL,
                          "external data in \"%s\": a link leads out of the model's directory",
                          location);
        odb_error_remedy(err, "replace the link by a copy of the file");
    } else {
        status = files_open_real(fd, files->real_dir, real, location, err);
    }
    free(real);
    free(path);
    return status;
}

static enum odb_status files_map(struct model_bytes *out, struct model_files *files,
                                 const char *location, struct odb_error *err)
{
    int fd;
    ODB_TRY(files_open(&fd, files, location, err));
    enum odb_status status = file_map(out, fd, location, err);
    close(fd);
    return status;
}

enum odb_status odb_model_open_external(int *fd, const char *dir, const char *location,
                                        struct odb_error *err)
{
    struct model_files *files = odb_model__files_new(dir, false);
    enum odb_status status = files_open(fd, files, location, err);
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
        ODB_TRY(files_map(&bytes, files, location, err));
        i = files->list.n;
        odb_push(&files->list, (struct model_bytes *)odb_xmemdup(&bytes, sizeof bytes));
        odb_push(&files->locations, odb_xstrdup(location));
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
