/* SPDX-License-Identifier: MIT
 *
 * One mapping, far larger than the file, is made at the start: tensors view it at the place that
 * they are written to, and the file grows below it. So dropping pages is one call for all tensors,
 * and a tensor's end is one for its bytes.
 */
#include "tensor/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "system/file.h"
#include "base/mem.h"

#define SPILL_SMALL ((size_t)4 << 10)         /* not worth a page */
#define SPILL_MOST ODB_SIZE_LIMIT(1ull << 40) /* of addresses, which cost nothing */
#define SPILL_LEAST ((size_t)1 << 30)

/* Held by the spill and by every tensor on it. */
struct spill_file {
    atomic_int refs;
    int fd;
    unsigned char *map;
    size_t addresses; /* of the mapping */
    size_t size;      /* of the file: where the next tensor goes; whole pages */
    atomic_size_t in_use;
};

struct odb_spill {
    uint64_t stay, kept;     /* bytes in memory: at most, so far */
    struct spill_file *file; /* ref; NULL: nothing was too much yet */
};

struct spill_storage {
    struct odb_storage base;
    struct spill_file *file; /* ref */
    size_t offset, size;
};

struct odb_spill *odb_spill_new(uint64_t stay)
{
    struct odb_spill *spill = odb_new(struct odb_spill);
    spill->stay = stay;
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

void odb_spill_free(struct odb_spill *spill)
{
    if (!spill)
        return;
    spill_file_unref(spill->file);
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
    *spill->file = (struct spill_file){.fd = fd, .map = map, .addresses = 2 * addresses};
    atomic_init(&spill->file->refs, 1);
    return ODB_OK;
}

/* Copies a tensor to the end of the file. */
static enum odb_status spill_write(struct spill_file *file, const struct odb_tensor *t,
                                   struct odb_tensor **out, struct odb_error *err)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (t->bytes + page - 1) / page * page;
    if (whole > file->addresses - file->size)
        return spill_fail(spill_folder(), EFBIG, err);
    for (size_t done = 0; done < t->bytes;) {
        ssize_t n = pwrite(file->fd, (const char *)t->data + done, t->bytes - done,
                           (off_t)(file->size + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return spill_fail(spill_folder(), n < 0 ? errno : ENOSPC, err);
        done += (size_t)n;
    }
    struct spill_storage *storage = odb_new(struct spill_storage);
    *storage = (struct spill_storage){{.release = spill_release}, file, file->size, whole};
    atomic_init(&storage->base.refs, 1);
    atomic_fetch_add(&file->refs, 1);
    atomic_fetch_add(&file->in_use, whole);
    file->size += whole;
    enum odb_status status =
        odb_tensor_view(out, t->dtype, t->rank, t->dims, file->map + storage->offset, t->bytes,
                        &storage->base, err);
    odb_storage_unref(&storage->base); /* the view has one of its own */
    return status;
}

enum odb_status odb_spill_take(struct odb_spill *spill, struct odb_tensor **t,
                               struct odb_error *err)
{
    struct odb_tensor *own = *t, *spilled;
    if (!own || own->kind != ODB_TENSOR || own->dtype == ODB_STRING || own->bytes < SPILL_SMALL ||
        atomic_load(&own->refs) > 1 || atomic_load(&own->storage->refs) > 1)
        return ODB_OK;
    if (own->bytes <= spill->stay - spill->kept) {
        spill->kept += own->bytes;
        return ODB_OK;
    }
    if (!spill->file)
        ODB_TRY(spill_open(spill, err));
    ODB_TRY(spill_write(spill->file, own, &spilled, err));
    odb_tensor_set_read_as(spilled, own->read_as);
    odb_tensor_set_steps(spilled, own->steps_axis, own->steps, own->n_steps);
    spilled->held = own->held;
    odb_tensor_unref(own);
    *t = spilled;
    return ODB_OK;
}

void odb_spill_drop(struct odb_spill *spill)
{
    if (spill->file)
        odb_mem_drop(spill->file->map, spill->file->size);
}

uint64_t odb_spill_size(const struct odb_spill *spill)
{
    return spill->file ? atomic_load(&spill->file->in_use) : 0;
}
