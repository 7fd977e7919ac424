/* SPDX-License-Identifier: MIT
 *
 * Sound in .wav files: PCM of 8, 16, 24 and 32 bits, and floats of 32 and 64.
 */
#ifndef ODB_TENSOR_FORMAT_WAV_H
#define ODB_TENSOR_FORMAT_WAV_H

#include "base/error.h"
#include "tensor/tensor.h"

/* float32 of shape [frames], or [channels, frames] where there are several; PCM over its largest
 * number, so that samples are in [-1, 1). rate: frames a second. ODB_E_IO, ODB_E_FORMAT,
 * ODB_UNSUPPORTED (compressed, or more than 1 GiB). */
enum odb_status odb_wav_read(struct odb_tensor **out, uint32_t *rate, const char *path,
                             struct odb_error *err) ODB_MUST_USE;
/* The same from size bytes at data. */
enum odb_status odb_wav_parse(struct odb_tensor **out, uint32_t *rate, const void *data,
                              size_t size, struct odb_error *err) ODB_MUST_USE;

#endif
