/* SPDX-License-Identifier: MIT
 *
 * From a file, or from bytes, to a model. load.c tells how.
 */
#ifndef ODB_MODEL_READ_LOAD_H
#define ODB_MODEL_READ_LOAD_H

#include "model/model.h"

/* Maps and reads a model file. External data is taken only from below the file's directory; where
 * the path is a link, also through links that end beside what it leads to. Where
 * a file of external data is not there, the model opens all the same, to be looked at: the tensors
 * in it have shapes and no data, and odb_model_require_data() says what is wrong. */
enum odb_status odb_model_open(struct odb_model **out, const char *path,
                               struct odb_error *err) ODB_MUST_USE;
/* The same, and links lead wherever the user says that they may. */
enum odb_status odb_model_open_linked(struct odb_model **out, const char *path,
                                      enum odb_links links, struct odb_error *err) ODB_MUST_USE;
/* The same from bytes, which are copied unless keep is a storage that owns them: what was cut out
 * of a model that was opened. So relative external data is looked for below dir through all links.
 * name stands in messages for the path. */
enum odb_status odb_model_open_bytes(struct odb_model **out, const void *bytes, size_t size,
                                     struct odb_storage *keep, const char *dir, const char *name,
                                     struct odb_error *err) ODB_MUST_USE;
void odb_model_free(struct odb_model *model); /* NULL is fine; tensors taken by ref live on */

/* ODB_E_MODEL when weights are missing; to be asked before a model is run or cut. Models from bytes
 * are never without: for them it is an error at once. */
enum odb_status odb_model_require_data(const struct odb_model *model,
                                       struct odb_error *err) ODB_MUST_USE;

/* The bytes that the model was read from, as they are; borrowed. */
const void *odb_model_bytes(const struct odb_model *model, size_t *size);

/* SHA-256 of the model file, as 64 hex digits. It is computed once; any thread may ask. */
enum odb_status odb_model_sha256(const struct odb_model *model, char hex[65],
                                 struct odb_error *err) ODB_MUST_USE;
/* The same with the files of its external data, which are known by their names, sizes and times. */
enum odb_status odb_model_identity(const struct odb_model *model, char hex[65],
                                   struct odb_error *err) ODB_MUST_USE;

/* Version of a domain ("" is ai.onnx) that the model imports; 0: none. */
int odb_model_opset(const struct odb_model *model, const char *domain);

/* Whether there is one of them anywhere: in the main graph, in bodies, in functions. */
bool odb_model_has_debug(const struct odb_model *model);

#endif
