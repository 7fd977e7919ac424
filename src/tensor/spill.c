/* SPDX-License-Identifier: MIT
 *
 * One mapping, far larger than the file, is made at the start: tensors view it at the place that
 * they are written to, and the file grows below it. So dropping pages is one call for all tensors,
 * and a tensor's end is one for its bytes.
 */
#include "tensor/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "system/file.h"
#include "base/mem.h"

#define SPILL_TINY ((size_t)256)              /* no more than what is kept of a tensor beside it */
#define SPILL_SMALL ((size_t)4 << 10)         /* not worth pages of its own */
#define SPILL_LINE ((size_t)64)               /* where one begins */
#define SPILL_SHARED ((size_t)64 << 10)       /* of the file, which small ones share */
#define SPILL_MOST ODB_SIZE_LIMIT(1ull << 40) /* of addresses, which cost nothing */
#define SPILL_LEAST ((size_t)1 << 30)

/* Held by the spill and by every tensor on it. */
struct spill_file {
    atomic_int refs;
    int fd;
    unsigned char *map;
    size_t addresses; /* of the mapping */
    size_t size;      /* of the file: where the next tensor goes; whole pages */
    uint64_t most;    /* bytes in use */
    atomic_size_t in_use;
};

struct odb_spill {
    atomic_int refs;
    pthread_mutex_t lock;         /* guards all below, and the size of the file */
    uint64_t stay, kept;          /* bytes in memory: at most, so far */
    struct spill_file *file;      /* ref; NULL: nothing was too much yet */
    struct spill_storage *shared; /* ref; what the next small one goes into; NULL: none yet */
};

/* Bytes of the file: of one tensor, or of as many small ones as there was room for. */
struct spill_storage {
    struct odb_storage base;
    struct spill_file *file; /* ref */
    size_t offset, size;
    size_t used; /* by small ones, so far */
};

struct odb_spill *odb_spill_new(uint64_t stay)
{
    struct odb_spill *spill = odb_new(struct odb_spill);
    spill->stay = stay;
    atomic_init(&spill->refs, 1);
    pthread_mutex_init(&spill->lock, NULL);
    return spill;
}

struct odb_spill *odb_spill_ref(struct odb_spill *spill)
{
    if (spill)
        atomic_fetch_add(&spill->refs, 1);
    return spill;
}

static void spill_file_unref(struct spill_file *file)
{
    if (!file || atomic_fetch_sub(&file->refs, 1) != 1)
        return;
    munmap(file->map, file->addresses);
    close(file->fd);
    free(file);
}

static void spill_share_no_more(struct odb_spill *spill)
{
    if (spill->shared)
        odb_storage_unref(&spill->shared->base);
    spill->shared = NULL;
}

void odb_spill_unref(struct odb_spill *spill)
{
    if (!spill || atomic_fetch_sub(&spill->refs, 1) != 1)
        return;
    spill_share_no_more(spill);
    spill_file_unref(spill->file);
    pthread_mutex_destroy(&spill->lock);
    free(spill);
}

static void spill_release(struct odb_storage *storage)
{
    struct spill_storage *spilled = (struct spill_storage *)storage;
    struct spill_file *file = spilled->file;
    /* Where the file system cannot do that, the disk keeps the bytes until the file is gone. */
    (void)!fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)spilled->offset,
                     (off_t)spilled->size);
    atomic_fetch_sub(&file->in_use, spilled->size);
    spill_file_unref(file);
    free(spilled);
}

static enum odb_status spill_fail(const char *folder, int why, struct odb_error *err)
{
    odb_fail(err, ODB_E_IO, "values that memory has no room for cannot be written: %s",
             strerror(why));
    odb_error_at(err, "%s", folder);
    return odb_error_remedy(err, "name a folder with more room in TMPDIR, or allow more memory "
                                 "with --mem");
}

static const char *spill_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && folder[0] ? folder : "/var/tmp";
}

/* The bytes that a file may have of what is free beside it. */
static uint64_t spill_allowed(int fd)
{
    struct statvfs fs;
    return fstatvfs(fd, &fs) == 0 ? (uint64_t)fs.f_bavail * fs.f_frsize / 4 * 3 : UINT64_MAX;
}

static enum odb_status spill_open(struct odb_spill *spill, struct odb_error *err)
{
    int fd = odb_file_nameless(spill_folder());
    void *map = MAP_FAILED;
    size_t addresses = SPILL_MOST;
    if (fd < 0)
        return spill_fail(spill_folder(), errno, err);
    for (; map == MAP_FAILED && addresses >= SPILL_LEAST; addresses /= 2)
        map = mmap(NULL, addresses, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (map == MAP_FAILED) {
        int why = errno;
        close(fd);
        return spill_fail(spill_folder(), why, err);
    }
    spill->file = odb_new(struct spill_file);
    *spill->file = (struct spill_file){
        .fd = fd, .map = map, .addresses = 2 * addresses, .most = spill_allowed(fd)};
    atomic_init(&spill->file->refs, 1);
    return ODB_OK;
}

/* Whether there is room in memory, which is taken then. */
static bool spill_stays(struct odb_spill *spill, size_t size)
{
    bool stays = size <= spill->stay - spill->kept;
    spill->kept += stays ? size : 0;
    return stays;
}

/* Room at the end of the file. */
static enum odb_status spill_place(struct odb_spill *spill, size_t size, struct spill_storage **out,
                                   struct odb_error *err)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (size + page - 1) / page * page;
    if (!spill->file)
        ODB_TRY(spill_open(spill, err));
    struct spill_file *file = spill->file;
    if (whole > file->addresses - file->size)
        return spill_fail(spill_folder(), EFBIG, err);
    if (atomic_load(&file->in_use) + whole > file->most)
        return spill_fail(spill_folder(), ENOSPC, err);
    struct spill_storage *storage = odb_new(struct spill_storage);
    *storage = (struct spill_storage){{.release = spill_release}, file, file->size, whole, 0};
    atomic_init(&storage->base.refs, 1);
    atomic_fetch_add(&file->refs, 1);
    atomic_fetch_add(&file->in_use, whole);
    file->size += whole;
    *out = storage;
    return ODB_OK;
}

/* Room for a small one, behind those before it. */
static enum odb_status spill_share(struct odb_spill *spill, size_t size, struct spill_storage **out,
                                   size_t *at, struct odb_error *err)
{
    struct spill_storage *shared = spill->shared;
    if (!shared || size > shared->size - shared->used) {
        ODB_TRY(spill_place(spill, SPILL_SHARED, &shared, err));
        spill_share_no_more(spill);
        spill->shared = shared;
    }
    *at = shared->used;
    shared->used += (size + SPILL_LINE - 1) / SPILL_LINE * SPILL_LINE;
    odb_storage_ref(&shared->base);
    *out = shared;
    return ODB_OK;
}

/* Room in the file, *at bytes behind its storage's beginning; at NULL: at that. NULL in *out: there
 * is some in memory. */
static enum odb_status spill_find(struct odb_spill *spill, size_t size, struct spill_storage **out,
                                  size_t *at, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    *out = NULL;
    pthread_mutex_lock(&spill->lock);
    if (!spill_stays(spill, size))
        status = at && size < SPILL_SMALL ? spill_share(spill, size, out, at, err)
                                          : spill_place(spill, size, out, err);
    pthread_mutex_unlock(&spill->lock);
    return status;
}

enum odb_status odb_spill_fill(struct odb_storage *storage, size_t offset, const void *bytes,
                               size_t size, struct odb_error *err)
{
    const struct spill_storage *spilled = (struct spill_storage *)storage;
    off_t start = (off_t)(spilled->offset + offset);
    for (size_t done = 0; done < size;) {
        ssize_t n =
            pwrite(spilled->file->fd, (const char *)bytes + done, size - done, start + (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return spill_fail(spill_folder(), n < 0 ? errno : ENOSPC, err);
        done += (size_t)n;
    }
    return ODB_OK;
}

ssize_t odb_spill_draw(struct odb_storage *storage, size_t offset, int pipe, size_t size)
{
    const struct spill_storage *spilled = (struct spill_storage *)storage;
    off64_t at = (off64_t)(spilled->offset + offset);
    return splice(pipe, NULL, spilled->file->fd, &at, size, 0);
}

enum odb_status odb_spill_take(struct odb_spill *spill, struct odb_tensor *t, struct odb_error *err)
{
    struct spill_storage *storage;
    size_t at = 0;
    if (!t || t->kind != ODB_TENSOR || t->dtype == ODB_STRING || t->bytes < SPILL_TINY ||
        atomic_load(&t->refs) > 1 || atomic_load(&t->storage->refs) > 1 ||
        odb_spill_has(t->storage))
        return ODB_OK;
    ODB_TRY(spill_find(spill, t->bytes, &storage, &at, err));
    if (!storage)
        return ODB_OK;
    enum odb_status status = odb_spill_fill(&storage->base, at, t->data, t->bytes, err);
    if (status != ODB_OK) {
        odb_storage_unref(&storage->base);
        return status;
    }
    odb_storage_unref(t->storage);
    t->storage = &storage->base;
    t->data = storage->file->map + storage->offset + at;
    return ODB_OK;
}

/* The disk is asked for the room beforehand: what comes from a target cannot be had twice. */
struct odb_storage *odb_spill_reserve(struct odb_spill *spill, size_t size, const void **data)
{
    struct spill_storage *storage;
    if (spill_find(spill, size, &storage, NULL, NULL) != ODB_OK || !storage)
        return NULL;
    *data = storage->file->map + storage->offset;
    if (fallocate(storage->file->fd, 0, (off_t)storage->offset, (off_t)storage->size) == 0)
        return &storage->base;
    odb_storage_unref(&storage->base);
    return NULL;
}

void odb_spill_drop(struct odb_spill *spill)
{
    pthread_mutex_lock(&spill->lock);
    if (spill->file)
        odb_mem_drop(spill->file->map, spill->file->size);
    pthread_mutex_unlock(&spill->lock);
}

bool odb_spill_has(const struct odb_storage *storage)
{
    return storage && storage->release == spill_release;
}

void odb_spill_let_go(const struct odb_storage *storage, const void *data, size_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)data / page * page;
    if (odb_spill_has(storage))
        odb_mem_drop((void *)begin, (uintptr_t)data + size - begin);
}

uint64_t odb_spill_size(const struct odb_spill *spill)
{
    return spill->file ? atomic_load(&spill->file->in_use) : 0;
}
