/* SPDX-License-Identifier: MIT */
#include "system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "system/temporary.h"
#include "base/mem.h"
#include "base/utf8.h"

#define FILE_STEP ((size_t)64 << 20)         /* written at a time */
#define FILE_PROGRESS_STEP ((size_t)4 << 20) /* where progress is wanted */

static enum odb_status file_failed(const char *path, int why, struct odb_error *err)
{
    odb_fail(err, ODB_E_IO, "cannot be written: %s", strerror(why));
    return odb_error_at(err, "%s", path);
}

/* Large data is mostly a mapped file that is not needed in memory any more. */
static void file_let_go(const char *data, size_t size)
{
#ifdef MADV_PAGEOUT
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t first = -(uintptr_t)data % page;
    if (size >= FILE_STEP && size > first)
        (void)madvise((void *)(uintptr_t)(data + first), size - first, MADV_PAGEOUT);
#endif
}

struct odb_file_out {
    char *path;    /* owned: as given */
    char *target;  /* owned: what a link leads to; NULL: path itself */
    char *beside;  /* owned: what it is called as yet; NULL: nothing */
    bool nameless; /* it gets a name when it is complete */
    bool unsynced;
    int fd;
    size_t done, total;
    const struct odb_progress *progress; /* borrowed; NULL: not wanted */
};

/* A descriptor's file, as linkat() takes it. */
static const char *file_of(int fd, char buf[32])
{
    snprintf(buf, 32, "/proc/self/fd/%d", fd);
    return buf;
}

/* The folder of a file, opened. */
static int file_open_folder(const char *path, int flags)
{
    const char *slash = strrchr(path, '/');
    char *dir = slash ? odb_xstrndup(path, (size_t)(slash - path) + 1) : odb_xstrdup(".");
    int fd = open(dir, flags | O_CLOEXEC, 0666);
    free(dir);
    return fd;
}

/* A file without a name is gone with the process, however that ends. -1: not everywhere. */
static int file_open_nameless(const char *path)
{
    char link[32];
    int fd = file_open_folder(path, O_WRONLY | O_TMPFILE);
    if (fd >= 0 && access(file_of(fd, link), F_OK) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* A name that no other file has, for a new file, with the mode of any new file, or for that of fd.
 * Returns the descriptor; -1: errno says why. */
static int file_name_beside(const char *path, int fd, char **name)
{
    char link[32];
    for (int attempt = 0; attempt < 100; attempt++) {
        *name = odb_temporary_name(path);
        int got = fd;
        odb_temporary_add(*name);
        if (fd < 0)
            got = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        else if (linkat(AT_FDCWD, file_of(fd, link), AT_FDCWD, *name, AT_SYMLINK_FOLLOW) != 0)
            got = -1;
        if (got >= 0) {
            odb_temporary_lock(*name);
            return got;
        }
        int why = errno;
        odb_temporary_drop(*name);
        free(*name);
        *name = NULL;
        errno = why;
        if (why != EEXIST)
            break;
    }
    return -1;
}

static void file_open(struct odb_file_out *out, const char *path)
{
    odb_temporary_sweep_beside(path);
    out->fd = file_open_nameless(path);
    out->nameless = out->fd >= 0;
    if (!out->nameless)
        out->fd = file_name_beside(path, -1, &out->beside);
}

static void file_free(struct odb_file_out *out)
{
    free(out->path);
    free(out->target);
    free(out->beside);
    free(out);
}

/* The file that standard output or error goes to, as /dev/stdout may be: what is written has to
 * stand where they are. Returns another descriptor of it, -1: it is none of them. */
static int file_of_ours(const struct stat *st)
{
    struct stat ours;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (fstat(fd, &ours) == 0 && ours.st_dev == st->st_dev && ours.st_ino == st->st_ino) {
            fflush(stdout);
            return fcntl(fd, F_DUPFD_CLOEXEC, 3);
        }
    return -1;
}

enum odb_status odb_file_begin(struct odb_file_out **out, const char *path, size_t total,
                               const struct odb_progress *progress, struct odb_error *err)
{
    struct stat st;
    bool exists = stat(path, &st) == 0;
    int ours = exists && S_ISREG(st.st_mode) ? file_of_ours(&st) : -1;
    bool whole = !exists || (S_ISREG(st.st_mode) && ours < 0);
    struct odb_file_out *o = odb_new(struct odb_file_out);
    o->path = odb_xstrdup(path);
    o->target = exists && whole ? realpath(path, NULL) : NULL;
    o->unsynced = !whole;
    o->total = total;
    o->progress = progress;
    if (whole)
        file_open(o, o->target ? o->target : path);
    else
        o->fd = ours >= 0 ? ours : open(path, O_WRONLY | O_CLOEXEC);
    *out = o;
    if (o->fd >= 0 && exists && whole) /* readers of the old one may read this one */
        (void)fchmod(o->fd, st.st_mode & 07777);
    if (o->fd >= 0)
        return ODB_OK;
    enum odb_status status = file_failed(path, errno, err);
    *out = NULL;
    file_free(o);
    return status;
}

void odb_file_unsynced(struct odb_file_out *out)
{
    out->unsynced = true;
}

enum odb_status odb_file_put(struct odb_file_out *out, const void *data, size_t size,
                             struct odb_error *err)
{
    const char *at = data;
    size_t step = out->progress ? FILE_PROGRESS_STEP : FILE_STEP;
    while (size > 0) {
        ODB_TRY(odb_progress_step(out->progress, out->done, out->total, err));
        ssize_t n = write(out->fd, at, ODB_MIN(size, step));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return file_failed(out->path, errno, err);
        file_let_go(at, (size_t)n);
        at += n;
        size -= (size_t)n;
        out->done += (size_t)n;
    }
    return ODB_OK;
}

enum odb_status odb_file_end_take(struct odb_file_out *out, enum odb_status status,
                                  struct odb_error *err)
{
    const char *path = out->target ? out->target : out->path;
    bool safe = status || out->unsynced || fdatasync(out->fd) == 0;
    int why = safe ? 0 : errno;
    bool named =
        status || why || !out->nameless || file_name_beside(path, out->fd, &out->beside) >= 0;
    if (!named)
        why = errno;
    if (close(out->fd) != 0 && !why)
        why = errno;
    if (!status && !why && out->beside && rename(out->beside, path) != 0)
        why = errno;
    if (!status && !why && !out->unsynced)
        odb_file_settle(path);
    if (!status && why)
        status = file_failed(out->path, why, err);
    if (status && out->beside)
        unlink(out->beside);
    if (out->beside)
        odb_temporary_drop(out->beside);
    file_free(out);
    return status;
}

size_t odb_file_parts_add(struct odb_file_parts *parts, size_t align, const void *data, size_t size)
{
    static const char zeros[64];
    size_t padding = -parts->size % align, offset = parts->size + padding;
    if (padding)
        odb_push(&parts->pieces, ((struct iovec){(void *)(uintptr_t)zeros, padding}));
    odb_push(&parts->pieces, ((struct iovec){(void *)(uintptr_t)data, size}));
    parts->size = offset + size;
    return offset;
}

void odb_file_parts_dispose(struct odb_file_parts *parts)
{
    free(parts->pieces.items);
    *parts = (struct odb_file_parts){0};
}

enum odb_status odb_file_write(const char *path, const void *data, size_t size,
                               struct odb_error *err)
{
    struct iovec part = {(void *)data, size};
    return odb_file_write_parts(path, &part, 1, err);
}

static enum odb_status file_put_parts_take(struct odb_file_out *out, const struct iovec *parts,
                                           size_t n, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < n && !status; i++)
        status = odb_file_put(out, parts[i].iov_base, parts[i].iov_len, err);
    return odb_file_end_take(out, status, err);
}

enum odb_status odb_file_write_parts(const char *path, const struct iovec *parts, size_t n,
                                     struct odb_error *err)
{
    struct odb_file_out *out;
    ODB_TRY(odb_file_begin(&out, path, 0, NULL, err));
    return file_put_parts_take(out, parts, n, err);
}

enum odb_status odb_file_write_unsynced(const char *path, const struct iovec *parts, size_t n,
                                        struct odb_error *err)
{
    struct odb_file_out *out;
    ODB_TRY(odb_file_begin(&out, path, 0, NULL, err));
    odb_file_unsynced(out);
    return file_put_parts_take(out, parts, n, err);
}

enum odb_status odb_file_sync(const char *folder, struct odb_error *err)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int why = fd >= 0 && syncfs(fd) != 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    else
        sync(); /* one that may be written to, and not read */
    return why ? file_failed(folder, why, err) : ODB_OK;
}

/* A failure is none: either name leads to a whole file. */
void odb_file_settle(const char *path)
{
    int fd = file_open_folder(path, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return;
    (void)fsync(fd);
    close(fd);
}

enum odb_status odb_file_install(const char *beside, const char *path, struct odb_error *err)
{
    struct stat st;
    bool exists = stat(path, &st) == 0;
    if (exists && !S_ISREG(st.st_mode)) {
        odb_fail(err, ODB_E_IO, "is no regular file");
        return odb_error_at(err, "%s", path);
    }
    char *target = exists ? realpath(path, NULL) : odb_xstrdup(path);
    int fd = target ? open(beside, O_RDONLY | O_CLOEXEC) : -1;
    bool safe = fd >= 0 && fdatasync(fd) == 0;
    if (safe && exists)
        (void)fchmod(fd, st.st_mode & 07777);
    int why = safe && rename(beside, target) == 0 ? 0 : errno;
    if (fd >= 0)
        close(fd);
    if (!why)
        odb_file_settle(target);
    free(target);
    return why ? file_failed(path, why, err) : ODB_OK;
}

char *odb_file_name(const char *name)
{
    struct odb_buf shown = ODB_BUF_INIT;
    odb_buf_put_shown(&shown, name);
    size_t len = ODB_MIN(shown.len, (size_t)ODB_FILE_NAME - 9);
    char *text = odb_buf_take(&shown);
    for (char *p = text; p && *p; p++)
        if (*p == '/' || *p == '\\')
            *p = '_';
    if (!text || strlen(text) <= ODB_FILE_NAME)
        return text ? text : odb_xstrdup("");
    len = odb_utf8_back(text, len);
    uint32_t hash = 2166136261u;
    for (const char *p = name; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 16777619u;
    char *cut = odb_xasprintf("%.*s~%08x", (int)len, text, hash);
    free(text);
    return cut;
}

enum odb_status odb_file_size(size_t *out, const struct stat *st, struct odb_error *err)
{
    *out = ODB_SIZE_LIMIT(st->st_size);
    if ((off_t)*out == st->st_size)
        return ODB_OK;
    odb_fail(err, ODB_E_NOMEM, "its %lld bytes are more than addresses of 32 bits reach",
             (long long)st->st_size);
    return odb_error_remedy(err, "use a target of 64 bits");
}

bool odb_file_is_regular(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* A FIFO that was opened without waiting is at its end where no process writes into it, and has
 * nothing yet where one does. */
static bool file_has_writer(FILE *fifo)
{
    int c = getc(fifo);
    bool has = c != EOF || ferror(fifo);
    clearerr(fifo);
    if (c != EOF)
        ungetc(c, fifo);
    return has;
}

static bool file_is_endless(int fd, const struct stat *st)
{
    struct stat null;
    bool empty = stat("/dev/null", &null) == 0 && st->st_rdev == null.st_rdev;
    return S_ISBLK(st->st_mode) || (S_ISCHR(st->st_mode) && !empty && !isatty(fd));
}

enum odb_status odb_file_open(FILE **out, const char *path, struct odb_error *err)
{
    struct stat st;
    enum odb_status status = ODB_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *file = fd < 0 || fstat(fd, &st) < 0 ? NULL : fdopen(fd, "r");
    if (!file)
        status = odb_fail(err, ODB_E_IO, "%s", strerror(errno));
    else if (S_ISDIR(st.st_mode))
        status = odb_fail(err, ODB_E_IO, "%s", strerror(EISDIR));
    else if (file_is_endless(fd, &st))
        status = odb_fail(err, ODB_E_IO, "it is a device, and no file");
    else if (S_ISFIFO(st.st_mode) && !file_has_writer(file))
        status = odb_fail(err, ODB_E_IO, "it is a FIFO that no program writes into");
    else
        fcntl(fd, F_SETFL, 0); /* from now on reading waits */
    if (status == ODB_OK)
        *out = file;
    else if (file)
        fclose(file);
    else if (fd >= 0)
        close(fd);
    return status;
}

enum odb_status odb_file_mkdir(const char *path, struct odb_error *err)
{
    char *part = odb_xstrdup(path);
    int why = 0;
    for (char *p = part + 1; !why; p++) {
        char c = *p;
        if (c != '/' && c != '\0')
            continue;
        *p = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            why = errno;
        *p = c;
        if (c == '\0')
            break;
    }
    free(part);
    return why ? file_failed(path, why, err) : ODB_OK;
}

enum odb_status odb_file_mkdir_new(const char *path, struct odb_error *err)
{
    const char *slash = strrchr(path, '/');
    char *above = slash && slash != path ? odb_xstrndup(path, (size_t)(slash - path)) : NULL;
    enum odb_status status = above ? odb_file_mkdir(above, err) : ODB_OK;
    free(above);
    ODB_TRY(status);
    return mkdir(path, 0777) == 0 ? ODB_OK : file_failed(path, errno, err);
}

char *odb_file_absolute(const char *path)
{
    char *here = path[0] == '/' ? NULL : getcwd(NULL, 0);
    char *absolute = here ? odb_xasprintf("%s/%s", here, path) : odb_xstrdup(path);
    free(here);
    return absolute;
}

char *odb_file_home(const char *variable, const char *usual, const char *name)
{
    const char *base = getenv(variable), *home = getenv("HOME");
    if (base && base[0] == '/')
        return odb_xasprintf("%s/onnxdbg/%s", base, name);
    return home && home[0] == '/' ? odb_xasprintf("%s/%s/onnxdbg/%s", home, usual, name) : NULL;
}

bool odb_file_make_home(const char *path)
{
    struct stat st;
    char *folder = odb_xstrndup(path, (size_t)(strrchr(path, '/') - path));
    char *above = odb_xstrndup(folder, (size_t)(strrchr(folder, '/') - folder));
    bool made = odb_file_mkdir(above, NULL) == ODB_OK &&
                (mkdir(folder, 0700) == 0 || (stat(folder, &st) == 0 && S_ISDIR(st.st_mode)));
    free(above);
    free(folder);
    return made;
}

char *odb_file_temporary(const char *what)
{
    const char *folder = getenv("TMPDIR");
    return odb_xasprintf("%s/onnxdbg-%sXXXXXX", folder && folder[0] ? folder : "/tmp", what);
}

int odb_file_nameless(const char *folder)
{
    int fd = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    char *path = odb_xasprintf("%s/onnxdbg-XXXXXX", folder); /* file systems that cannot do that */
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    free(path);
    return fd;
}

void odb_file_fill_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", O_RDONLY); /* it takes the least number that is free */
}

char *odb_file_self(void)
{
    static const char gone[] = " (deleted)"; /* as the kernel says it */
    char *path = realpath("/proc/self/exe", NULL), link[PATH_MAX + sizeof gone];
    ssize_t n = path ? 0 : readlink("/proc/self/exe", link, sizeof link);
    size_t cut = sizeof gone - 1;
    if (n > (ssize_t)cut && !memcmp(link + n - cut, gone, cut))
        path = odb_xstrndup(link, (size_t)n - cut);
    return path;
}

char *odb_file_in_path(const char *name)
{
    const char *path = getenv("PATH");
    for (path = path ? path : "/bin:/usr/bin"; *path;) {
        size_t n = strcspn(path, ":");
        char *file = odb_xasprintf("%.*s/%s", n ? (int)n : 1, n ? path : ".", name);
        if (odb_file_is_regular(file) && access(file, X_OK) == 0)
            return file;
        free(file);
        path += n + (path[n] == ':');
    }
    return NULL;
}

char *odb_file_uri(const char *path, const char *query)
{
    struct odb_buf out = ODB_BUF_INIT;
    odb_buf_puts(&out, path[0] == '/' ? "file://" : "file:");
    for (const char *p = path; *p; p++)
        odb_buf_printf(&out, strchr("?#%", *p) ? "%%%02X" : "%c", (unsigned char)*p);
    odb_buf_printf(&out, "?%s", query);
    return odb_buf_take(&out);
}
