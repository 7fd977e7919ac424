/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nodes and values by what the user calls them, and what they are called.
 */
#ifndef ODB_COMMAND_VALUE_NAMES_H
#define ODB_COMMAND_VALUE_NAMES_H

#include <stdbool.h>

#include "base/error.h"

struct odb_buf;
struct odb_graph;
struct odb_metadata;
struct odb_tensor;

/* A value by name, "#INDEX:SLOT" or "#INDEX" (the node's first output). ODB_E_USAGE with the
 * nearest name. */
enum odb_status odb_call__find_value(const struct odb_graph *graph, const char *text, int *index,
                                     struct odb_error *err) ODB_MUST_USE;
/* As above; where no value is called so, the first output of the node that is. */
enum odb_status odb_call__find_output(const struct odb_graph *graph, const char *text, int *index,
                                      struct odb_error *err) ODB_MUST_USE;
/* Which nodes a break or a filter of `text` is about: the node that it names, else all nodes of
 * that operator. [n_nodes] marks, the caller's to free(); *n of them are set. */
enum odb_status odb_call__mark_nodes(const struct odb_graph *graph, const char *text, bool **marks,
                                     size_t *n, struct odb_error *err) ODB_MUST_USE;
/* "float (1, 3)", "sequence of 2", into buf; returns buf. */
const char *odb_call__type_text(const struct odb_tensor *t, char *buf, size_t size);
/* Rows "metadata    KEY = VALUE", the lines of a value below one another; maybe none. */
void odb_call__put_metadata(const struct odb_metadata *metadata, struct odb_buf *out);

#endif
