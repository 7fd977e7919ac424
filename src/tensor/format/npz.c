/* SPDX-License-Identifier: MIT
 *
 * The zip library pulls an archive's bytes while it closes it, so a member is written from a
 * source that hands out header and values where they lie, and nothing is assembled in memory.
 */
#include "tensor/format/npz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zip.h>

#include "system/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "system/scratch.h"
#include "tensor/format/npy.h"

/* What a byte can at most unpack to, when deflated. NumPy packs in no other way. */
#define NPZ_RATIO 1032

struct odb_npz {
    char *path;
    zip_t *zip;
    zip_uint64_t bytes;      /* of the archive */
    ODB_VEC(char *) names;   /* items owned */
    zip_uint64_t *places;    /* owned; index in the archive */
    struct odb_map *by_name; /* owned; of several the first */
};

static enum odb_status npz_fail_open(int code, struct odb_error *err)
{
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    enum odb_status status =
        odb_fail(err, code == ZIP_ER_NOZIP || code == ZIP_ER_INCONS ? ODB_E_FORMAT : ODB_E_IO, "%s",
                 code == ZIP_ER_OPNOTSUPP ? "not a regular file" : zip_error_strerror(&error));
    zip_error_fini(&error);
    return status;
}

enum odb_status odb_npz_open(struct odb_npz **out, const char *path, struct odb_error *err)
{
    int code;
    struct stat st;
    zip_t *zip = zip_open(path, ZIP_RDONLY, &code);
    if (!zip) {
        enum odb_status status = npz_fail_open(code, err);
        odb_error_at(err, "%s", path);
        return status;
    }
    struct odb_npz *npz = odb_new(struct odb_npz);
    npz->path = odb_xstrdup(path);
    npz->zip = zip;
    npz->bytes = stat(path, &st) == 0 && st.st_size > 0 ? (zip_uint64_t)st.st_size : 0;
    zip_int64_t n = zip_get_num_entries(zip, 0);
    npz->by_name = odb_map_new();
    npz->places = odb_new_n(zip_uint64_t, (size_t)n + 1);
    for (zip_int64_t i = 0; i < n; i++) {
        const char *name = zip_get_name(zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        size_t len = name ? strlen(name) : 0;
        if (len < 4 || strcmp(name + len - 4, ".npy") != 0)
            continue; /* NumPy offers other members as raw bytes; they are no tensors */
        npz->places[npz->names.n] = (zip_uint64_t)i;
        odb_push(&npz->names, odb_xstrndup(name, len - 4));
        odb_map_add(npz->by_name, npz->names.items[npz->names.n - 1], npz->names.n - 1);
    }
    *out = npz;
    return ODB_OK;
}

void odb_npz_close(struct odb_npz *npz)
{
    if (!npz)
        return;
    zip_discard(npz->zip);
    for (size_t i = 0; i < npz->names.n; i++)
        free(npz->names.items[i]);
    free(npz->names.items);
    odb_map_free(npz->by_name);
    free(npz->places);
    free(npz->path);
    free(npz);
}

size_t odb_npz_count(const struct odb_npz *npz)
{
    return npz->names.n;
}

const char *odb_npz_name(const struct odb_npz *npz, size_t i)
{
    return npz->names.items[i];
}

/* --- reading ---------------------------------------------------------------------------------- */

struct npz_bytes {
    struct odb_storage base;
    size_t size;
    char data[];
};

static void npz_bytes_release(struct odb_storage *storage)
{
    free(storage);
}

/* The size is what the archive says of itself: memory for it is asked for only where its bytes can
 * be so many. */
static enum odb_status npz_check_size(const struct odb_npz *npz, const zip_stat_t *st,
                                      struct odb_error *err)
{
    const zip_uint64_t need = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    if ((st->valid & need) != need)
        return odb_fail(err, ODB_E_FORMAT, "the archive does not say how large the array is");
    if (st->comp_method != ZIP_CM_STORE && st->comp_method != ZIP_CM_DEFLATE)
        return odb_fail(err, ODB_UNSUPPORTED,
                        "packed with method %u, which NumPy does not use in its archives",
                        st->comp_method);
    zip_uint64_t packed = ODB_MIN(st->comp_size, npz->bytes);
    zip_uint64_t ratio = st->comp_method == ZIP_CM_STORE ? 1 : NPZ_RATIO;
    if (st->size / ratio > packed)
        return odb_fail(err, ODB_E_FORMAT,
                        "the archive claims %llu bytes for the array, and holds %llu of it",
                        (unsigned long long)st->size, (unsigned long long)packed);
    if (st->size > ODB_SIZE_LIMIT(st->size))
        return odb_fail(err, ODB_E_NOMEM, "its %llu bytes are more than addresses of 32 bits reach",
                        (unsigned long long)st->size);
    return ODB_OK;
}

static enum odb_status npz_read_member(struct npz_bytes **out, struct odb_npz *npz,
                                       zip_uint64_t place, struct odb_error *err)
{
    zip_stat_t st;
    zip_stat_init(&st);
    if (zip_stat_index(npz->zip, place, 0, &st))
        return odb_fail(err, ODB_E_FORMAT, "the archive does not list it: %s",
                        zip_strerror(npz->zip));
    ODB_TRY(npz_check_size(npz, &st, err));
    struct npz_bytes *bytes = malloc(sizeof *bytes + (size_t)st.size);
    if (!bytes)
        return odb_fail(err, ODB_E_NOMEM, "no memory for %llu bytes", (unsigned long long)st.size);
    bytes->base = (struct odb_storage){.release = npz_bytes_release};
    atomic_init(&bytes->base.refs, 1);
    bytes->size = (size_t)st.size;
    zip_file_t *file = zip_fopen_index(npz->zip, place, 0);
    size_t done = 0;
    while (file && done < bytes->size) {
        zip_int64_t n = zip_fread(file, bytes->data + done, bytes->size - done);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    char extra; /* reading on to the end is what makes the library check the sum */
    if (!file || done < bytes->size || zip_fread(file, &extra, 1) != 0) {
        odb_fail(err, ODB_E_FORMAT, "cannot unpack behind byte %zu: %s", done,
                 file ? zip_file_strerror(file) : zip_strerror(npz->zip));
        if (file)
            zip_fclose(file);
        free(bytes);
        return ODB_E_FORMAT;
    }
    zip_fclose(file);
    *out = bytes;
    return ODB_OK;
}

enum odb_status odb_npz_read(struct odb_tensor **out, struct odb_npz *npz, const char *name,
                             struct odb_error *err)
{
    size_t i;
    if (!odb_map_get(npz->by_name, name, &i)) {
        odb_fail(err, ODB_E_INPUT, "no array is called '%s'", name);
        return odb_error_at(err, "%s", npz->path);
    }
    struct npz_bytes *bytes = NULL;
    enum odb_status status = npz_read_member(&bytes, npz, npz->places[i], err);
    if (!status) {
        status = odb_npy_parse(out, bytes->data, bytes->size, &bytes->base, err);
        odb_storage_unref(&bytes->base);
    }
    if (status) {
        odb_error_at(err, "%s.npy", name);
        odb_error_at(err, "%s", npz->path);
    }
    return status;
}

/* --- writing ---------------------------------------------------------------------------------- */

#define NPZ_CHUNK ((size_t)1 << 16)
#define NPZ_TELL ((size_t)1 << 18) /* bytes between two words on how far it is */

/* How far all of it is. The library itself does not say, within what it deflates. */
struct npz_pace {
    const struct odb_progress *progress; /* borrowed; NULL: not wanted */
    size_t done, told, total;
    bool stopped;
};

struct npz_member {
    const struct odb_npy_image *image; /* borrowed */
    struct npz_pace *pace;             /* borrowed: of all members */
    size_t at;                         /* next byte to hand out */
    char *made;                        /* owned: a chunk of a body that is made */
    size_t which;                      /* where it begins */
    zip_error_t error;
};

static bool npz_stops(struct npz_pace *pace)
{
    if (!pace->stopped && pace->progress && (!pace->done || pace->done - pace->told >= NPZ_TELL)) {
        pace->told = pace->done;
        pace->stopped = pace->progress->stop(pace->progress->payload, pace->done, pace->total);
    }
    return pace->stopped;
}

/* The byte of the body at a place, and in *n how many stand there together. */
static const char *npz_body(struct npz_member *m, size_t at, size_t *n)
{
    const struct odb_npy_image *image = m->image;
    size_t chunk = at - at % NPZ_CHUNK;
    *n = image->body_size - at;
    if (image->body)
        return (const char *)image->body + at;
    size_t size = ODB_MIN(image->body_size - chunk, NPZ_CHUNK);
    if (!m->made || m->which != chunk) {
        m->made = m->made ? m->made : odb_new_n(char, NPZ_CHUNK);
        m->which = chunk;
        image->fill(image->payload, chunk, m->made, size);
    }
    *n = size - (at - chunk);
    return m->made + (at - chunk);
}

static zip_int64_t npz_give(struct npz_member *m, char *to, size_t size)
{
    const struct odb_npy_image *image = m->image;
    size_t given = 0;
    if (npz_stops(m->pace)) {
        zip_error_set(&m->error, ZIP_ER_CANCELLED, 0);
        return -1;
    }
    while (given < size && m->at < image->head_size + image->body_size) {
        size_t n = image->head_size - ODB_MIN(m->at, image->head_size);
        const char *from = n ? image->head + m->at : npz_body(m, m->at - image->head_size, &n);
        n = ODB_MIN(n, size - given);
        memcpy(to + given, from, n);
        given += n;
        m->at += n;
    }
    m->pace->done += given;
    return (zip_int64_t)given;
}

static zip_int64_t npz_source(void *user, void *data, zip_uint64_t len, zip_source_cmd_t command)
{
    struct npz_member *m = user;
    switch (command) {
    case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                              ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
                                              -1);
    case ZIP_SOURCE_OPEN:
        m->at = 0;
        return 0;
    case ZIP_SOURCE_READ:
        return npz_give(m, data, (size_t)len);
    case ZIP_SOURCE_STAT: {
        zip_stat_t *st = data;
        zip_stat_init(st);
        st->size = m->image->head_size + m->image->body_size;
        st->valid = ZIP_STAT_SIZE;
        return sizeof *st;
    }
    case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&m->error, data, len);
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE: /* the array of members outlives the archive */
        return 0;
    default:
        zip_error_set(&m->error, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
}

static enum odb_status npz_add(zip_t *zip, struct npz_member *m, const char *name, bool deflate,
                               struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    char *file = odb_xasprintf("%s.npy", name);
    zip_source_t *source = zip_source_function(zip, npz_source, m);
    zip_int64_t i = source ? zip_file_add(zip, file, source, ZIP_FL_ENC_UTF_8) : -1;
    if (i < 0 || zip_set_file_compression(zip, (zip_uint64_t)i,
                                          deflate ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0) < 0) {
        status = odb_fail(err, ODB_E_IO, "cannot add '%s': %s", file, zip_strerror(zip));
        if (i < 0 && source)
            zip_source_free(source);
    }
    free(file);
    return status;
}

/* Writes what was added; the library does so beside the name that it was given. */
static enum odb_status npz_finish(zip_t *zip, const struct npz_pace *pace, struct odb_error *err)
{
    if (zip_close(zip) == 0)
        return ODB_OK;
    if (pace->stopped)
        return odb_fail(err, ODB_CANCELLED, "cancelled");
    return odb_fail(err, ODB_E_IO, "cannot write: %s", zip_strerror(zip));
}

/* A whole archive, under a name that no other file has. */
static enum odb_status npz_write(const char *path, const char *const *names,
                                 const struct odb_npy_image *images, size_t n, bool deflate,
                                 const struct odb_progress *progress, struct odb_error *err)
{
    int code;
    enum odb_status status = ODB_OK;
    struct npz_pace pace = {.progress = progress};
    zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
    if (!zip)
        return npz_fail_open(code, err);
    struct npz_member *members = odb_new_n(struct npz_member, n + 1);
    for (size_t i = 0; i < n && !status; i++) {
        members[i].image = &images[i];
        members[i].pace = &pace;
        pace.total += images[i].head_size + images[i].body_size;
        status = npz_add(zip, &members[i], names[i], deflate, err);
    }
    if (!status && n == 0) /* the library writes no empty archive */
        status = odb_fail(err, ODB_E_INPUT, "no arrays to write");
    if (!status && (status = npz_finish(zip, &pace, err)) == ODB_OK)
        zip = NULL;
    if (zip)
        zip_discard(zip);
    for (size_t i = 0; i < n; i++)
        free(members[i].made);
    free(members);
    return status;
}

enum odb_status odb_npz_write_images(const char *path, const char *const *names,
                                     const struct odb_npy_image *images, size_t n, bool deflate,
                                     const struct odb_progress *progress, struct odb_error *err)
{
    char *folder;
    ODB_TRY(odb_scratch_for_file(&folder, path, err));
    char *beside = odb_xasprintf("%s/npz", folder);
    enum odb_status status = npz_write(beside, names, images, n, deflate, progress, err);
    if (status != ODB_OK)
        odb_error_at(err, "%s", path);
    else
        status = odb_file_install(beside, path, err);
    odb_scratch_remove(folder);
    free(beside);
    free(folder);
    return status;
}

enum odb_status odb_npz_write(const char *path, const char *const *names,
                              const struct odb_tensor *const *tensors, size_t n, bool deflate,
                              struct odb_error *err)
{
    struct odb_npy_image *images = odb_new_n(struct odb_npy_image, n + 1);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < n && !status; i++)
        if ((status = odb_npy_image_init(&images[i], tensors[i], err)) != ODB_OK) {
            odb_error_at(err, "%s", names[i]);
            odb_error_at(err, "%s", path);
        }
    if (!status)
        status = odb_npz_write_images(path, names, images, n, deflate, NULL, err);
    for (size_t i = 0; i < n; i++)
        odb_npy_image_dispose(&images[i]);
    free(images);
    return status;
}
