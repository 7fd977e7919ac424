/* SPDX-License-Identifier: MIT
 *
 * Files as memory: the model, and the files of external data beside it.
 */
#ifndef ODB_MODEL_FILES_H
#define ODB_MODEL_FILES_H

#include <stddef.h>

#include "base/error.h"
#include "tensor/tensor.h"

struct model_bytes {
    struct odb_storage *storage; /* ref */
    const unsigned char *data;   /* borrowed: storage */
    size_t size;
};

/* Maps a regular file read-only. out->storage holds one ref, for the caller. ODB_E_IO. */
enum odb_status odb_model__map_file(struct model_bytes *out, const char *path,
                                    struct odb_error *err) ODB_MUST_USE;

/* Pages of a mapped file that were looked at need not stay; other storages are left alone. */
void odb_model__file_drop(const struct odb_storage *storage);

/* The files of external data of one model, each mapped once. */
struct model_files;

/* dir "" is the current directory. missing_ok: a file that is not there is not an error but
 * ODB_SKIPPED. */
struct model_files *odb_model__files_new(const char *dir, bool missing_ok);
void odb_model__files_free(struct model_files *files); /* NULL is fine */
/* A file by its location in external_data: relative, and below dir even when links are followed;
 * else ODB_E_MODEL. Borrowed: files. */
enum odb_status odb_model__files_get(const struct model_bytes **out, struct model_files *files,
                                     const char *location, struct odb_error *err) ODB_MUST_USE;
/* Which file so many bytes at data are in, and where; false: in none. *location is borrowed. */
bool odb_model__files_find(const struct model_files *files, const void *data, size_t size,
                           const char **location, size_t *offset);
/* odb_model__file_drop() of all. */
void odb_model__files_drop(const struct model_files *files);
/* What was said of the first file that was skipped; NULL: none was. Borrowed: files. */
const struct odb_error *odb_model__files_missing(const struct model_files *files);

#endif
