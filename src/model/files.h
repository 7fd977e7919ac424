/* SPDX-License-Identifier: MIT
 *
 * Files as memory: the model, and the files of external data beside it.
 */
#ifndef ODB_MODEL_FILES_H
#define ODB_MODEL_FILES_H

#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "model/model.h"
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

/* dir "" is the current directory. path: of the model's own file; "": it has none. missing_ok: a
 * file that is not there is not an error but ODB_SKIPPED. */
struct model_files *odb_model__files_new(const char *dir, const char *path, enum odb_links links,
                                         bool missing_ok);
void odb_model__files_free(struct model_files *files); /* NULL is fine */
/* A file by its location in external_data: relative, and below dir; where a link leads out of
 * there, only as far as links allow; else ODB_E_MODEL. Borrowed: files. */
enum odb_status odb_model__files_get(const struct model_bytes **out, struct model_files *files,
                                     const char *location, struct odb_error *err) ODB_MUST_USE;
/* Which file so many bytes at data are in, and where; false: in none. *location is borrowed. */
bool odb_model__files_find(const struct model_files *files, const void *data, size_t size,
                           const char **location, size_t *offset);
/* A directory that the model's own file and those that it has named so far lie below by names that
 * no link leads out of: dir, if that will do. The caller's. */
char *odb_model__files_base(struct model_files *files);
/* What the file of that location is called below the base, the model's own (by the last part of its
 * path) among them; NULL: so, or it is none of them. The caller's. */
char *odb_model__files_below_base(const struct model_files *files, const char *base,
                                  const char *location);
/* odb_model__file_drop() of all. */
void odb_model__files_drop(const struct model_files *files);
/* Appends a line "LOCATION BYTES TIME" for each of them, as it is on the disk now. */
void odb_model__files_put_times(const struct model_files *files, struct odb_buf *out);
/* What was said of the first file that was skipped; NULL: none was. Borrowed: files. */
const struct odb_error *odb_model__files_missing(const struct model_files *files);

/* Opens a file of external data for reading: by a name below dir, whatever links lead to; else
 * ODB_E_MODEL. */
enum odb_status odb_model_open_external(int *fd, const char *dir, const char *location,
                                        struct odb_error *err) ODB_MUST_USE;
#endif
