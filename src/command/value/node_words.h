/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A node in its operator's own words, as JSON.
 */
#ifndef ODB_COMMAND_VALUE_NODE_WORDS_H
#define ODB_COMMAND_VALUE_NODE_WORDS_H

#include <jansson.h>

#include "model/model.h"

struct odb_op;

/* [{"name","type","text","default"}…]: the node's attributes, then those that op (NULL: none is
 * known) has a default for. meanings: with "meaning" as well, null: not known. */
json_t *odb_node_words_attrs(const struct odb_node *node, const struct odb_op *op, bool meanings);
/* Of each input, or output, its name in the operator's schema, and what it means; null where that
 * is not known. */
json_t *odb_node_words_names(const struct odb_node *node, bool input);
json_t *odb_node_words_meanings(const struct odb_node *node, bool input);

#endif
