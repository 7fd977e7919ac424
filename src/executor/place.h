/* SPDX-License-Identifier: MIT
 *
 * A model as files in a directory of its own, for programs that want a path: model.onnx, and its
 * external data beside it.
 */
#ifndef ODB_EXECUTOR_PLACE_H
#define ODB_EXECUTOR_PLACE_H

#include "executor/executor.h"
#include "model/model.h"

struct odb_place;

/* keep: a directory to make the models' directories in, numbered, which then stay; NULL: below
 * $TMPDIR, and they go with the place. Nothing is made before there is a model. */
struct odb_place *odb_place_new(const char *keep);
void odb_place_free(struct odb_place *place); /* NULL is fine */

/* Makes a new directory with the model in it; that of the model before goes, unless it is kept.
 * Weights that stay the same from model to model are copied once. model is what load holds; files
 * whose names we need ourselves get others in it. */
enum odb_status odb_place_put(struct odb_place *place, const struct odb_load *load,
                              struct odb_model *model, struct odb_error *err) ODB_MUST_USE;
/* Takes the directory of the last model away, unless it is kept. */
void odb_place_clear(struct odb_place *place);
/* Of the model that was put last, absolute; NULL: none was. */
const char *odb_place_dir(const struct odb_place *place);

/* Copies a file to a path that is free, sharing its blocks where the file system can do that. */
enum odb_status odb_place_copy(const char *from, const char *to,
                               struct odb_error *err) ODB_MUST_USE;

#endif
