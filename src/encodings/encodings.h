/* SPDX-License-Identifier: MIT
 *
 * Files of encodings: how a compiler for few bits rounds each value of a model.
 * onnxdbg-encodings(7) has the formats: a JSON of our own, those of AIMET and QNN, and RKNN's
 * quantisation config.
 */
#ifndef ODB_ENCODINGS_ENCODINGS_H
#define ODB_ENCODINGS_ENCODINGS_H

#include "base/buf.h"
#include "tensor/encoding.h"

/* Which format it is is seen from what stands in it. ODB_E_IO, ODB_E_FORMAT. */
enum odb_status odb_encodings_read(struct odb_encodings **out, const char *path,
                                   struct odb_error *err) ODB_MUST_USE;

/* Appends our own JSON. method: how they were made, or NULL. Axes are known. */
void odb_encodings_put(const struct odb_encodings *encodings, const char *method,
                       struct odb_buf *out);

#endif
