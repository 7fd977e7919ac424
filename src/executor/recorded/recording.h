/* SPDX-License-Identifier: MIT
 *
 * Recorded tensors: a folder of .npy and .pb files, a folder that dump_tools wrote, an .npz
 * archive. Opening lists what is there; values are read when they are asked for.
 */
#ifndef ODB_EXECUTOR_RECORDED_RECORDING_H
#define ODB_EXECUTOR_RECORDED_RECORDING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "model/model.h"

#define ODB_RECORDING_NONE ((size_t)-1)
#define ODB_RECORDING_PARAMETERS "parameters/" /* before names of weights that a probe recorded */

struct odb_recording;

/* tree: folders below count as well, and a file's name begins with its folder's. ODB_E_IO,
 * ODB_E_FORMAT, and ODB_E_INPUT where there is nothing of the kind. */
enum odb_status odb_recording_open(struct odb_recording **out, const char *path, bool tree,
                                   struct odb_error *err) ODB_MUST_USE;
void odb_recording_close(struct odb_recording *recording); /* NULL is fine */

/* Of the folder or file, from anywhere. Borrowed. */
const char *odb_recording_path(const struct odb_recording *recording);
size_t odb_recording_count(const struct odb_recording *recording);
/* Its name: as the manifest or the file itself says, else the file's own. Borrowed. */
const char *odb_recording_name(const struct odb_recording *recording, size_t i);

/* The tensor recorded under a name; ODB_RECORDING_NONE: there is none. */
size_t odb_recording_find(const struct odb_recording *recording, const char *name);
/* The same where only a file name is known, in which characters that file names cannot hold were
 * replaced: names that odb_recording_same_file() holds for one. */
size_t odb_recording_find_file(const struct odb_recording *recording, const char *name);
/* The form that all names have which may stand in files of one name. Owned by the caller. */
char *odb_recording_file_form(const char *name);
/* output_N.pb, as ONNX's test data has it. */
size_t odb_recording_find_output(const struct odb_recording *recording, size_t n);
/* Which input_N.pb or output_N.pb it is; false: none. */
bool odb_recording_is_numbered(const struct odb_recording *recording, size_t i);

/* type: as the model declares it, which tells what a .pb file holds; NULL: a tensor. ODB_E_INPUT
 * where one name was recorded twice. */
enum odb_status odb_recording_read(struct odb_tensor **out, struct odb_recording *recording,
                                   size_t i, const struct odb_type *type,
                                   struct odb_error *err) ODB_MUST_USE;

#endif
