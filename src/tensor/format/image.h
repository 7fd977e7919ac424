/* SPDX-License-Identifier: MIT
 *
 * Pictures in files, as tensors.
 */
#ifndef ODB_TENSOR_FORMAT_IMAGE_H
#define ODB_TENSOR_FORMAT_IMAGE_H

#include "tensor/tensor.h"

enum odb_pixels { ODB_PIXELS_RGB, ODB_PIXELS_BGR, ODB_PIXELS_GRAY };

/* uint8 [height, width, 3 or 1] from a file's bytes: JPEG, PNG, BMP, WebP, TIFF, JPEG 2000,
 * portable maps; the first picture where there are several, transparency dropped. deep: uint16
 * where it has 9 to 16 bits per channel, 65535 the largest. *out NULL with ODB_OK: these are none
 * that can be decoded. ODB_UNSUPPORTED: more bits than that, CMYK, or there is no library to read
 * it. */
enum odb_status odb_image_decode(struct odb_tensor **out, const void *data, size_t size,
                                 enum odb_pixels pixels, bool deep,
                                 struct odb_error *err) ODB_MUST_USE;

enum odb_image_filter { ODB_IMAGE_BILINEAR, ODB_IMAGE_BICUBIC, ODB_IMAGE_NEAREST };

/* To another size, to the bit as Pillow's Image.resize(), of uint16 as of its mode I: where it
 * shrinks, a filter is as much wider, and after each direction pixels are rounded. Neither size may
 * be 0. */
enum odb_status odb_image_resize(struct odb_tensor **out, const struct odb_tensor *image,
                                 size_t height, size_t width, enum odb_image_filter filter,
                                 struct odb_error *err) ODB_MUST_USE;

#endif
