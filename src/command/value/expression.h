/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What `print` and `display` take: a value, a part of it, one side of it, or a number of either:
 *
 *     conv1   conv1[0,:,2]   ref(conv1)[0]   diff(conv1)   max(conv1)   mean(target(conv1)[0])
 *     Loop_4[3]/x   max(Loop_4[3]/x[0])
 */
#ifndef ODB_COMMAND_VALUE_EXPRESSION_H
#define ODB_COMMAND_VALUE_EXPRESSION_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "command/value/value_pair.h"

struct odb_buf;
struct odb_command_call;
struct odb_graph;

struct odb_expression {
    enum odb_side side;
    int function; /* of a table; -1: the elements themselves */
    char *name;   /* owned: of the value */
    char *slice;  /* owned, in brackets; NULL: all of it */
};

/* graph: whose values count; a name may hold what looks like syntax. NULL: there are no names. */
void odb_expression_parse(struct odb_expression *out, const char *text,
                          const struct odb_graph *graph);
void odb_expression_dispose(struct odb_expression *expression);

/* Appends what it is, with a newline at the end: a line where it is one number per side. at_hand:
 * only what is known is shown, and nothing is computed for it. notation: struct odb_print_opts. */
enum odb_status odb_expression_put(struct odb_command_call *call,
                                   const struct odb_expression *expression, char notation,
                                   bool at_hand, struct odb_buf *out,
                                   struct odb_error *err) ODB_MUST_USE;

/* What it is, an object: {"name", "slice", "function", "sides"}. A new reference. ODB_E_USAGE: it
 * has too many elements for that. */
enum odb_status odb_expression_json(struct odb_command_call *call,
                                    const struct odb_expression *expression, bool at_hand,
                                    json_t **out, struct odb_error *err) ODB_MUST_USE;

/* The i-th name that may stand before parentheses; NULL: there are no more. */
const char *odb_expression_function(size_t i);
/* Text behind a format ("/x rest"), which is *notation then; else text itself and 0. */
const char *odb_call__notation(const char *text, char *notation);

#endif
