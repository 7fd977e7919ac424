/* SPDX-License-Identifier: MIT
 *
 * NumPy's .npz: a zip archive of .npy files, each named as its array.
 */
#ifndef ODB_TENSOR_FORMAT_NPZ_H
#define ODB_TENSOR_FORMAT_NPZ_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "tensor/tensor.h"

struct odb_npz; /* opaque */
struct odb_npy_image;
struct odb_progress;

/* Lists the members; their values are read when asked for. */
enum odb_status odb_npz_open(struct odb_npz **out, const char *path,
                             struct odb_error *err) ODB_MUST_USE;
void odb_npz_close(struct odb_npz *npz); /* NULL is fine */
size_t odb_npz_count(const struct odb_npz *npz);
/* Name of array i, without ".npy", in the order of the file. Borrowed. */
const char *odb_npz_name(const struct odb_npz *npz, size_t i);
/* ODB_E_INPUT when no array has that name. */
enum odb_status odb_npz_read(struct odb_tensor **out, struct odb_npz *npz, const char *name,
                             struct odb_error *err) ODB_MUST_USE;

/* Replaces path by an archive of n arrays, stored as numpy.savez() does or deflated as
 * numpy.savez_compressed(). */
enum odb_status odb_npz_write(const char *path, const char *const *names,
                              const struct odb_tensor *const *tensors, size_t n, bool deflate,
                              struct odb_error *err) ODB_MUST_USE;
/* The same of n images (tensor/format/npy.h). progress may be NULL; it counts bytes. ODB_CANCELLED,
 * and what was there is there still. */
enum odb_status odb_npz_write_images(const char *path, const char *const *names,
                                     const struct odb_npy_image *images, size_t n, bool deflate,
                                     const struct odb_progress *progress,
                                     struct odb_error *err) ODB_MUST_USE;

#endif
