/* SPDX-License-Identifier: MIT
 *
 * NumPy's .npy files, read in every form that NumPy writes for types that tensors have, written
 * byte for byte as numpy.save() does. Unicode and byte strings become string tensors (UTF-8).
 */
#ifndef ODB_TENSOR_FORMAT_NPY_H
#define ODB_TENSOR_FORMAT_NPY_H

#include <stddef.h>

#include "base/error.h"
#include "base/progress.h"
#include "tensor/tensor.h"

/* A large file whose bytes are already right is mapped, not copied: it must not be truncated while
 * the tensor lives. ODB_E_IO, ODB_E_FORMAT (path and byte named), ODB_UNSUPPORTED (objects,
 * structures, dates, long double). */
enum odb_status odb_npy_read(struct odb_tensor **out, const char *path,
                             struct odb_error *err) ODB_MUST_USE;
/* The same from size bytes at data. storage: what data belongs to, for a view on it; NULL: the
 * values are copied. Bytes behind the array are ignored, as NumPy does. */
enum odb_status odb_npy_parse(struct odb_tensor **out, const void *data, size_t size,
                              struct odb_storage *storage, struct odb_error *err) ODB_MUST_USE;
/* Replaces path in one step. ODB_UNSUPPORTED for types that NumPy does not know (bfloat16, float8,
 * 4- and 2-bit) and for containers. */
enum odb_status odb_npy_write(const struct odb_tensor *t, const char *path,
                              struct odb_error *err) ODB_MUST_USE;

/* What goes into the file: head, then body. */
struct odb_npy_image {
    char *head; /* owned */
    size_t head_size;
    const void *body; /* borrowed: the tensor, or made below; NULL: fill makes it */
    size_t body_size;
    void *made; /* owned; strings as NumPy stores them */
    /* n bytes from `at` on, into out; both are multiples of 64, but for the end. */
    void (*fill)(const void *payload, size_t at, void *out, size_t n);
    const void *payload; /* borrowed */
};

enum odb_status odb_npy_image_init(struct odb_npy_image *image, const struct odb_tensor *t,
                                   struct odb_error *err) ODB_MUST_USE;
/* Of elements that are made while they are written; NumPy must know the type. */
enum odb_status
odb_npy_image_make(struct odb_npy_image *image, enum odb_dtype dtype, int rank, const int64_t *dims,
                   void (*fill)(const void *payload, size_t at, void *out, size_t n),
                   const void *payload, struct odb_error *err) ODB_MUST_USE;
/* Replaces path in one step. progress may be NULL; it counts bytes. ODB_CANCELLED. */
enum odb_status odb_npy_image_write(const struct odb_npy_image *image, const char *path,
                                    const struct odb_progress *progress,
                                    struct odb_error *err) ODB_MUST_USE;
void odb_npy_image_dispose(struct odb_npy_image *image);

#endif
