/* SPDX-License-Identifier: MIT
 *
 * The model that a target gets is small: its weights are byte ranges of files, as a rule of the
 * model file itself. These files go to the other machine whole, and once: it is asked which it has,
 * by the SHA-256 of what is in them, and keeps what comes. Within one debugger a file is hashed
 * once, as long as its size and times stay what they were.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "executor/kept/cache.h"
#include "executor/transport/target_int.h"
#include "model/model.h"
#include "model/files.h"
#include "model/read/load.h"
#include "model/write/external.h"

#define REMOTE_PIECE ((size_t)16 << 20) /* bytes of a file in one message */

struct remote_file {
    dev_t dev;
    ino_t ino;
    off_t size;
    struct timespec changed, modified;
    char key[ODB_CACHE_KEY + 1];
    bool there; /* on the other machine */
};

struct odb_remote {
    ODB_VEC(struct remote_file) files;
    /* the model loaded last, for another try */
    struct odb_load last; /* owned, all of it */
};

/* --- the last model ----------------------------------------------------------------------------
 */

static void remote_drop_last(struct odb_remote *remote)
{
    struct odb_load *last = &remote->last;
    for (size_t i = 0; i < last->n_original_outputs; i++)
        free((char *)last->original_outputs[i]);
    free((char **)last->original_outputs);
    free((int *)last->node_index);
    free((char *)last->dir);
    free((void *)last->bytes);
    *last = (struct odb_load){0};
}

void odb_remote_keep(struct odb_remote *remote, const struct odb_load *load)
{
    struct odb_load *last = &remote->last;
    if (load == last)
        return;
    remote_drop_last(remote);
    char **outputs = odb_new_n(char *, load->n_original_outputs);
    for (size_t i = 0; i < load->n_original_outputs; i++)
        outputs[i] = odb_xstrdup(load->original_outputs[i]);
    *last = *load;
    last->keep = NULL;
    last->bytes = odb_xmemdup(load->bytes, load->size);
    last->dir = load->dir ? odb_xstrdup(load->dir) : NULL;
    last->node_index =
        load->node_index ? odb_xmemdup(load->node_index, load->n_nodes * sizeof(int)) : NULL;
    last->original_outputs = (const char *const *)outputs;
}

const struct odb_load *odb_remote_last(const struct odb_remote *remote)
{
    return &remote->last;
}

/* --- files -------------------------------------------------------------------------------------
 */

struct odb_remote *odb_remote_new(void)
{
    return odb_new(struct odb_remote);
}

void odb_remote_free(struct odb_remote *remote)
{
    if (!remote)
        return;
    remote_drop_last(remote);
    free(remote->files.items);
    free(remote);
}

void odb_remote_forget(struct odb_remote *remote)
{
    for (size_t i = 0; remote && i < remote->files.n; i++)
        remote->files.items[i].there = false;
}

static enum odb_status remote_fail(struct odb_error *err, const char *path)
{
    odb_fail(err, ODB_E_IO, "%s", strerror(errno));
    return odb_error_at(err, "%s", path);
}

static enum odb_status remote_hash(int fd, char key[ODB_CACHE_KEY + 1], const char *path,
                                   struct odb_error *err)
{
    unsigned char digest[SHA256_DIGEST_LENGTH], *piece = odb_xcalloc(1, 1 << 20);
    SHA2_CTX sha;
    ssize_t n;
    SHA256Init(&sha);
    for (off_t at = 0; (n = pread(fd, piece, 1 << 20, at)) > 0; at += n)
        odb_sha256_update(&sha, piece, (size_t)n);
    SHA256Final(digest, &sha);
    odb_hex(digest, sizeof digest, key);
    free(piece);
    return n < 0 ? remote_fail(err, path) : ODB_OK;
}

static bool remote_same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* The entry of an open file, hashed now if it was not before. */
static enum odb_status remote_know(struct remote_file **out, struct odb_remote *remote, int fd,
                                   const char *path, struct odb_error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return remote_fail(err, path);
    for (size_t i = 0; i < remote->files.n; i++) {
        struct remote_file *f = &remote->files.items[i];
        if (f->dev == st.st_dev && f->ino == st.st_ino && f->size == st.st_size &&
            remote_same_time(f->changed, st.st_ctim) && remote_same_time(f->modified, st.st_mtim)) {
            *out = f;
            return ODB_OK;
        }
    }
    struct remote_file file = {.dev = st.st_dev,
                               .ino = st.st_ino,
                               .size = st.st_size,
                               .changed = st.st_ctim,
                               .modified = st.st_mtim};
    ODB_TRY(remote_hash(fd, file.key, path, err));
    odb_push(&remote->files, file);
    *out = &remote->files.items[remote->files.n - 1];
    return ODB_OK;
}

/* Whether the other machine has it. */
static enum odb_status remote_ask(struct odb_target *target, struct remote_file *file,
                                  struct odb_error *err)
{
    Odb__Wire__Request request = ODB__WIRE__REQUEST__INIT;
    Odb__Wire__Have have = ODB__WIRE__HAVE__INIT;
    Odb__Wire__Reply *reply;
    struct odb_frame frame;
    char *key = file->key;
    have.keys = &key;
    have.n_keys = 1;
    request.say_case = ODB__WIRE__REQUEST__SAY_HAVE;
    request.have = &have;
    ODB_TRY(odb_target__ask(target, &request, NULL, "asking for files", ODB__WIRE__REPLY__SAY_NEED,
                            &reply, &frame, err));
    file->there = reply->need->n_keys == 0;
    odb__wire__reply__free_unpacked(reply, NULL);
    odb_frame_dispose(&frame);
    return ODB_OK;
}

static enum odb_status remote_put_piece(struct odb_target *target, const struct remote_file *file,
                                        off_t at, const void *data, size_t size,
                                        struct odb_error *err)
{
    Odb__Wire__Request request = ODB__WIRE__REQUEST__INIT;
    Odb__Wire__Put put = ODB__WIRE__PUT__INIT;
    Odb__Wire__Blob blob;
    Odb__Wire__Reply *reply;
    struct odb_parcel parcel = {0};
    struct odb_frame frame;
    odb_parcel_add(&parcel, &blob, data, size);
    put.key = (char *)file->key;
    put.offset = (uint64_t)at;
    put.whole = (uint64_t)file->size;
    put.data = &blob;
    request.say_case = ODB__WIRE__REQUEST__SAY_PUT;
    request.put = &put;
    enum odb_status status = odb_target__ask(target, &request, &parcel, "sending files",
                                             ODB__WIRE__REPLY__SAY_DONE, &reply, &frame, err);
    odb_parcel_dispose(&parcel);
    if (status != ODB_OK)
        return status;
    target->stats.file_bytes += size;
    odb__wire__reply__free_unpacked(reply, NULL);
    odb_frame_dispose(&frame);
    return ODB_OK;
}

static enum odb_status remote_put(struct odb_target *target, struct remote_file *file, int fd,
                                  const char *path, struct odb_error *err)
{
    char *piece = malloc(REMOTE_PIECE);
    enum odb_status status = piece ? ODB_OK : odb_fail(err, ODB_E_NOMEM, "no memory for a file");
    off_t at = 0;
    do {
        ssize_t n = status == ODB_OK ? pread(fd, piece, REMOTE_PIECE, at) : 0;
        if (n < 0 || (n == 0 && at < file->size && status == ODB_OK)) {
            errno = n < 0 ? errno : ENODATA;
            status = remote_fail(err, path);
        }
        if (status == ODB_OK)
            status = remote_put_piece(target, file, at, piece, (size_t)n, err);
        at += n;
    } while (status == ODB_OK && at < file->size);
    free(piece);
    file->there = status == ODB_OK;
    return status;
}

static enum odb_status remote_bring(struct odb_target *target, const char *dir, const char *path,
                                    char key[ODB_CACHE_KEY + 1], struct odb_error *err)
{
    struct remote_file *file = NULL;
    int fd;
    ODB_TRY(odb_model_open_external(&fd, dir, path, err));
    enum odb_status status = remote_know(&file, target->remote, fd, path, err);
    if (status == ODB_OK && !file->there)
        status = remote_ask(target, file, err);
    if (status == ODB_OK && !file->there)
        status = remote_put(target, file, fd, path, err);
    if (status == ODB_OK)
        memcpy(key, file->key, sizeof file->key);
    close(fd);
    return status;
}

/* --- the files of a model ----------------------------------------------------------------------
 */

static void remote_list(Odb__Wire__Load *message, const char *path, const char *key)
{
    Odb__Wire__File *file = odb_new(Odb__Wire__File);
    odb__wire__file__init(file);
    file->path = odb_xstrdup(path);
    file->key = odb_xstrdup(key);
    message->files = odb_xrealloc(message->files, message->n_files + 1, sizeof *message->files);
    message->files[message->n_files++] = file;
}

void odb_remote_unlist(Odb__Wire__Load *message)
{
    for (size_t i = 0; i < message->n_files; i++) {
        free(message->files[i]->path);
        free(message->files[i]->key);
        free(message->files[i]);
    }
    free(message->files);
    message->files = NULL;
    message->n_files = 0;
}

enum odb_status odb_remote_send(struct odb_target *target, const struct odb_load *load,
                                Odb__Wire__Load *message, struct odb_error *err)
{
    struct odb_model *model;
    struct odb_error ignored;
    const char *dir = load->dir && load->dir[0] ? load->dir : ".";
    size_t n = 0;
    /* What we cannot read the executor may refuse in its own words. */
    if (odb_model_open_bytes(&model, load->bytes, load->size, NULL, dir, "model", &ignored) !=
        ODB_OK)
        return ODB_OK;
    const char **paths = odb_model_external_files(model, &n);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < n && status == ODB_OK; i++) {
        char key[ODB_CACHE_KEY + 1];
        status = remote_bring(target, dir, paths[i], key, err);
        if (status == ODB_OK)
            remote_list(message, paths[i], key);
    }
    free(paths);
    odb_model_free(model);
    if (status != ODB_OK)
        odb_remote_unlist(message);
    return status;
}
