/* SPDX-License-Identifier: MIT
 *
 * The model is read as it stands in its bytes, field by field: what protobuf-c does not know counts
 * as well. Each field goes in with its tag, a message between its tag and a 0, so that no two
 * models read the same.
 */
#include "executor/kept/compiled_key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "model/limits.h"
#include "model/model.h"
#include "model/model_int.h"
#include "system/file.h"

#define KEY_PIECE ((size_t)1 << 20) /* bytes read at once */
#define KEY_OURS "onnxdbg."         /* how our own metadata begin */

struct key_digest {
    uint8_t bytes[SHA256_DIGEST_LENGTH];
};

struct odb_compiled_keys {
    SHA256_CTX sha;
    struct odb_map *known; /* owned: file, time and range of weights to the index of a digest */
    ODB_VEC(struct key_digest) digests; /* owned */
    char *graph;                        /* owned: name of the last model's; NULL: it has none */
};

struct odb_compiled_keys *odb_compiled_keys_new(void)
{
    struct odb_compiled_keys *keys = odb_new(struct odb_compiled_keys);
    keys->known = odb_map_new();
    return keys;
}

void odb_compiled_keys_free(struct odb_compiled_keys *keys)
{
    if (!keys)
        return;
    odb_map_free(keys->known);
    free(keys->digests.items);
    free(keys->graph);
    free(keys);
}

void odb_compiled_key_begin(struct odb_compiled_keys *keys)
{
    SHA256Init(&keys->sha);
}

void odb_compiled_key_add(struct odb_compiled_keys *keys, const void *data, size_t size)
{
    uint64_t n = size;
    odb_sha256_update(&keys->sha, &n, sizeof n);
    odb_sha256_update(&keys->sha, data, size);
}

void odb_compiled_key_text(struct odb_compiled_keys *keys, const char *text)
{
    odb_compiled_key_add(keys, text ? text : "", text ? strlen(text) : 0);
}

void odb_compiled_key_word(struct odb_compiled_keys *keys, const char *word, bool program)
{
    struct stat st;
    const char *equals = strchr(word, '=');
    char *found = program && !strchr(word, '/') ? odb_file_in_path(word) : NULL;
    const char *path = found ? found : word;
    odb_compiled_key_text(keys, word);
    if (stat(path, &st) < 0 && (!equals || stat(equals + 1, &st) < 0))
        st.st_mode = 0;
    if (S_ISREG(st.st_mode)) {
        char *text = odb_xasprintf("%s %lld %lld.%09ld", path, (long long)st.st_size,
                                   (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
        odb_compiled_key_text(keys, text);
        free(text);
    }
    free(found);
}

void odb_compiled_key_end(struct odb_compiled_keys *keys, char key[ODB_CACHE_KEY + 1])
{
    uint8_t digest[SHA256_DIGEST_LENGTH];
    SHA256Final(digest, &keys->sha);
    odb_hex(digest, sizeof digest, key);
}

/* --- weights in files ------------------------------------------------------------------------- */

/* What external_data says of a tensor. */
struct key_range {
    char *location; /* owned; NULL: nothing */
    uint64_t offset, length;
    bool whole; /* up to the end of the file */
};

static enum odb_status key_read(int fd, const struct key_range *range, struct key_digest *digest,
                                struct odb_error *err)
{
    SHA256_CTX sha;
    char *piece = odb_new_n(char, KEY_PIECE);
    uint64_t left = range->whole ? UINT64_MAX : range->length, at = range->offset;
    enum odb_status status = ODB_OK;
    SHA256Init(&sha);
    while (left && status == ODB_OK) {
        ssize_t n = pread(fd, piece, (size_t)ODB_MIN(left, (uint64_t)KEY_PIECE), (off_t)at);
        if (n < 0 && errno != EINTR)
            status = odb_fail(err, ODB_E_IO, "%s", strerror(errno));
        if (n == 0)
            break;
        if (n > 0) {
            odb_sha256_update(&sha, piece, (size_t)n);
            at += (uint64_t)n;
            left -= (uint64_t)n;
        }
    }
    SHA256Final(digest->bytes, &sha);
    free(piece);
    return status;
}

/* The digest of a range, which may be known: the file is the same as long as its time is. */
static enum odb_status key_digest(struct odb_compiled_keys *keys, int fd,
                                  const struct key_range *range, size_t *index,
                                  struct odb_error *err)
{
    struct stat st;
    struct key_digest digest;
    if (fstat(fd, &st) < 0)
        return odb_fail(err, ODB_E_IO, "%s", strerror(errno));
    if (!S_ISREG(st.st_mode))
        return odb_fail(err, ODB_E_IO, "it is no regular file");
    char *name = odb_xasprintf("%llu %llu %lld %lld.%09ld %llu %llu %d",
                               (unsigned long long)st.st_dev, (unsigned long long)st.st_ino,
                               (long long)st.st_size, (long long)st.st_mtim.tv_sec,
                               st.st_mtim.tv_nsec, (unsigned long long)range->offset,
                               (unsigned long long)range->length, (int)range->whole);
    enum odb_status status = ODB_OK;
    if (!odb_map_get(keys->known, name, index)) {
        status = key_read(fd, range, &digest, err);
        *index = keys->digests.n;
        if (status == ODB_OK) {
            odb_push(&keys->digests, digest);
            odb_map_set(keys->known, name, *index);
        }
    }
    free(name);
    return status;
}

static enum odb_status key_weights(struct odb_compiled_keys *keys, const char *dir,
                                   const struct key_range *range, struct odb_error *err)
{
    size_t index = 0;
    char *path = odb_xasprintf("%s/%s", dir[0] ? dir : ".", range->location);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    free(path);
    enum odb_status status = fd < 0 ? odb_fail(err, ODB_E_IO, "%s", strerror(errno))
                                    : key_digest(keys, fd, range, &index, err);
    if (fd >= 0)
        close(fd);
    if (status != ODB_OK)
        return odb_error_at(err, "%s", range->location);
    odb_compiled_key_add(keys, keys->digests.items[index].bytes, SHA256_DIGEST_LENGTH);
    return ODB_OK;
}

/* --- the model -------------------------------------------------------------------------------- */

struct key_walk {
    struct odb_compiled_keys *keys;
    const char *dir;
    struct odb_error *err;
};

/* One field; data to end is its payload. */
struct key_field {
    const ProtobufCMessageDescriptor *type;
    const ProtobufCFieldDescriptor *desc; /* NULL: not known */
    uint64_t tag;
    const uint8_t *data, *end;
};

/* What says nothing of what a model computes. */
static const struct {
    const char *message, *field; /* message NULL: any */
} key_passed[] = {
    {NULL, "doc_string"},     {"ModelProto", "producer_name"}, {"ModelProto", "producer_version"},
    {"ModelProto", "domain"}, {"ModelProto", "model_version"}, {"GraphProto", "name"},
};

static bool key_varint(const uint8_t **p, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; shift < 64 && *p < end; shift += 7) {
        uint8_t byte = *(*p)++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* The next field; false: the bytes are no message. */
static bool key_next(struct key_field *f, const uint8_t **p, const uint8_t *end)
{
    static const uint64_t sizes[] = {[1] = 8, [5] = 4};
    uint64_t n = 0;
    if (!key_varint(p, end, &f->tag) || (f->tag >> 3) == 0 || (f->tag >> 3) > UINT32_MAX)
        return false;
    unsigned wire = f->tag & 7;
    f->desc = protobuf_c_message_descriptor_get_field(f->type, (unsigned)(f->tag >> 3));
    f->data = *p;
    if (wire == 0 && !key_varint(p, end, &n))
        return false;
    if (wire == 0) {
        f->end = *p;
        return true;
    }
    if (wire == 2 && !key_varint(p, end, &n))
        return false;
    if (wire != 2)
        n = wire < ODB_COUNT(sizes) ? sizes[wire] : 0;
    if ((wire != 2 && !n) || n > (uint64_t)(end - *p))
        return false;
    f->data = *p;
    f->end = *p += n;
    return true;
}

static bool key_is(const struct key_field *f, const char *message, const char *field)
{
    return f->desc && (!message || !strcmp(f->type->short_name, message)) &&
           !strcmp(f->desc->name, field);
}

/* The two texts of a StringStringEntryProto, owned by the caller; NULL: not there. */
static void key_entry(const struct key_field *f, char **name, char **value)
{
    struct key_field part = {.type = f->desc->descriptor};
    *name = *value = NULL;
    for (const uint8_t *p = f->data; p < f->end && key_next(&part, &p, f->end);) {
        char **slot = key_is(&part, NULL, "key") ? name : value;
        if (slot == value && !key_is(&part, NULL, "value"))
            continue;
        free(*slot);
        *slot = odb_xstrndup((const char *)part.data, (size_t)(part.end - part.data));
    }
}

static bool key_passes_over(const struct key_field *f)
{
    bool over = false;
    for (size_t i = 0; i < ODB_COUNT(key_passed) && !over; i++)
        over = key_is(f, key_passed[i].message, key_passed[i].field);
    if (key_is(f, "ModelProto", "metadata_props")) {
        char *name, *value;
        key_entry(f, &name, &value);
        over = name && !strncmp(name, KEY_OURS, strlen(KEY_OURS));
        free(name);
        free(value);
    }
    return over;
}

/* Of a tensor's external_data. */
static void key_take_range(struct key_range *range, const struct key_field *f)
{
    char *name, *value;
    key_entry(f, &name, &value);
    if (name && value && !strcmp(name, "location")) {
        free(range->location);
        range->location = value;
        value = NULL;
    } else if (name && value && !strcmp(name, "offset")) {
        range->offset = strtoull(value, NULL, 10);
    } else if (name && value && !strcmp(name, "length")) {
        range->length = strtoull(value, NULL, 10);
        range->whole = false;
    }
    free(name);
    free(value);
}

static enum odb_status key_message(const struct key_walk *walk,
                                   const ProtobufCMessageDescriptor *type, const uint8_t *p,
                                   const uint8_t *end, int depth);

static enum odb_status key_field(const struct key_walk *walk, const struct key_field *f, int depth)
{
    odb_sha256_update(&walk->keys->sha, &f->tag, sizeof f->tag);
    if (f->desc && f->desc->type == PROTOBUF_C_TYPE_MESSAGE && depth < ODB_LIMIT_DEPTH)
        return key_message(walk, f->desc->descriptor, f->data, f->end, depth + 1);
    odb_compiled_key_add(walk->keys, f->data, (size_t)(f->end - f->data));
    return ODB_OK;
}

static enum odb_status key_message(const struct key_walk *walk,
                                   const ProtobufCMessageDescriptor *type, const uint8_t *p,
                                   const uint8_t *end, int depth)
{
    static const uint64_t ends = 0;
    struct key_field f = {.type = type};
    struct key_range range = {.whole = true};
    enum odb_status status = ODB_OK;
    while (p < end && status == ODB_OK) {
        const uint8_t *from = p;
        if (!key_next(&f, &p, end)) { /* no message: as it stands */
            odb_compiled_key_add(walk->keys, from, (size_t)(end - from));
            break;
        }
        if (key_is(&f, "TensorProto", "external_data"))
            key_take_range(&range, &f);
        if (depth == 1 && key_is(&f, "GraphProto", "name")) {
            free(walk->keys->graph);
            walk->keys->graph = odb_xstrndup((const char *)f.data, (size_t)(f.end - f.data));
        }
        if (!key_passes_over(&f))
            status = key_field(walk, &f, depth);
    }
    odb_sha256_update(&walk->keys->sha, &ends, sizeof ends);
    if (status == ODB_OK && range.location)
        status = key_weights(walk->keys, walk->dir, &range, walk->err);
    free(range.location);
    return status;
}

enum odb_status odb_compiled_key_model(struct odb_compiled_keys *keys, const struct odb_load *load,
                                       struct odb_error *err)
{
    struct key_walk walk = {keys, load->dir ? load->dir : "", err};
    const uint8_t *bytes = load->bytes;
    free(keys->graph);
    keys->graph = NULL;
    return key_message(&walk, &onnx__model_proto__descriptor, bytes, bytes + load->size, 0);
}

json_t *odb_compiled_key_about(const struct odb_compiled_keys *keys, const struct odb_load *load,
                               const char *by)
{
    struct odb_buf model = ODB_BUF_INIT;
    const char *slash = load->path ? strrchr(load->path, '/') : NULL;
    odb_buf_put_shown(&model, slash ? slash + 1 : keys->graph ? keys->graph : "");
    json_t *about = json_pack("{s:i,s:s,s:s,s:I}", "schema", 1, "by", by, "model",
                              odb_buf_text(&model), "nodes", (json_int_t)load->n_nodes);
    odb_buf_dispose(&model);
    return about;
}
