/* SPDX-License-Identifier: MIT
 *
 * What an operator calls its inputs and outputs: X, W and B of a Conv. A model's file does not
 * have these names, and its own names of values say nothing of what a value is to the node.
 */
#ifndef ODB_MODEL_FORMAL_H
#define ODB_MODEL_FORMAL_H

#include "model/model.h"

enum { ODB_FORMAL_NAME = 128 }; /* room for a name */

/* The name of this input, or output, in the operator's schema at the node's version of the domain,
 * or in the head of the function that the node calls. Of those that come in any number:
 * "inputs[2]", "data_2". Into buf; "" where it is unknown. Returns buf. */
const char *odb_formal_name(const struct odb_node *node, bool input, int slot,
                            char buf[ODB_FORMAL_NAME]);
/* The same as the schema lists it: "inputs", "data_0" for all of them. */
const char *odb_formal_key(const struct odb_node *node, bool input, int slot,
                           char buf[ODB_FORMAL_NAME]);
/* Bytes of the longest of the node's names; 0: none is known. */
int odb_formal_width(const struct odb_node *node);

#endif
