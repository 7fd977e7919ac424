/* SPDX-License-Identifier: MIT
 *
 * External data of a model: which files there are, and what becomes of them in a model that is
 * written.
 */
#ifndef ODB_MODEL_WRITE_EXTERNAL_H
#define ODB_MODEL_WRITE_EXTERNAL_H

#include "model/model_int.h"
#include "model/write/weights_place.h"
#include "model/write/pack.h"

/* Locations of external data that the model names, as they stand in it, each once. The array is
 * the caller's (NULL when there are none), the names are borrowed from the model. */
const char **odb_model_external_files(const struct odb_model *model, size_t *n);
/* What was looked at of the mapped files need not stay in memory: the weights of a model may be
 * more than that holds. They are read again when they are looked at. */
void odb_model_drop_pages(const struct odb_model *model);
/* Gives a file of external data another name in what is extracted from now on; tensors stay. */
void odb_model_rename_external(struct odb_model *model, const char *from, const char *to);

/* Weights in attributes and bodies that the model keeps elsewhere, the same: nodes that have such
 * are replaced in the list by copies. */
enum odb_status odb_model__place_nodes(const struct model_weights *to, Onnx__NodeProto **nodes,
                                       size_t n, struct odb_error *err) ODB_MUST_USE;
/* The same for those of functions, which are all replaced by copies. */
enum odb_status odb_model__place_functions(const struct model_weights *to,
                                           Onnx__FunctionProto **functions, size_t n,
                                           struct odb_error *err) ODB_MUST_USE;

/* The same for a model that is made of another one, and stands for it in model->base. */
enum odb_status odb_model__pack_model(const struct odb_model *model, enum odb_weights how,
                                      const Onnx__ModelProto *proto, struct odb_buf *out,
                                      struct odb_error *err) ODB_MUST_USE;

#endif
