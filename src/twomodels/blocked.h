/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Values and weights that ONNX Runtime keeps in blocks of channels (domain com.microsoft.nchwc)
 * once it has optimised a model at opt=all. A value says that its shape is N, C, H, W, with C
 * rounded up to whole blocks, and its elements stand as N, C / block, H, W, block. How large a
 * block is stands nowhere in the file: it is the machine's.
 */
#ifndef ODB_TWOMODELS_BLOCKED_H
#define ODB_TWOMODELS_BLOCKED_H

#include "run/hooks.h"
#include "model/model.h"

#define ODB_BLOCKED_DOMAIN "com.microsoft.nchwc"

/* Whether a node computes in blocks, or changes from or to them. */
bool odb_blocked_node(const struct odb_node *node);
/* Marks values that are kept in blocks: [n_values]. Returns how many. */
size_t odb_blocked_mark(const struct odb_graph *graph, bool *blocked);

/* Asks a target for the size of its blocks, with a model that puts known numbers into them; 0: it
 * does not say. A load and a run, or two. ODB_CANCELLED alone is a failure. */
enum odb_status odb_blocked_ask(int64_t *block, const char *spec,
                                const struct odb_search_hooks *hooks,
                                struct odb_error *err) ODB_MUST_USE;

/* The elements as the shape says. *out NULL: t cannot be in blocks of that size. */
enum odb_status odb_blocked_undo(struct odb_tensor **out, const struct odb_tensor *t, int64_t block,
                                 struct odb_error *err) ODB_MUST_USE;
/* The other way: t has a shape of four, and channels are added up to whole blocks, of zeros. */
enum odb_status odb_blocked_make(struct odb_tensor **out, const struct odb_tensor *t, int64_t block,
                                 struct odb_error *err) ODB_MUST_USE;
/* The filter of a Conv in blocks as Conv has it; filters of zeros at its end, and channels that are
 * zeros in all of them, are taken for what was added to fill the last block. */
enum odb_status odb_blocked_filter(struct odb_tensor **out, const struct odb_tensor *t,
                                   int64_t block, struct odb_error *err) ODB_MUST_USE;
/* The first channels of a tensor whose second dimension they are; a ref where it has no more. */
enum odb_status odb_blocked_crop(struct odb_tensor **out, const struct odb_tensor *t,
                                 int64_t channels, struct odb_error *err) ODB_MUST_USE;

#endif
