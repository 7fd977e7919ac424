/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Explanations as `explain` prints them.
 */
#ifndef ODB_COMMAND_VERBS_LOOK_EXPLAIN_PRINT_H
#define ODB_COMMAND_VERBS_LOOK_EXPLAIN_PRINT_H

#include "explain/beside.h"

/* What is explained: a node, and who made its output, a target or a file. */
struct explain_of {
    const struct odb_graph *graph; /* borrowed, as all below */
    int node;
    const char *made_by;             /* the target's spec, or the file */
    const char *chosen;              /* of the inputs, in a line; "": nothing */
    const char *title;               /* the first line; NULL: "NODE on MADE_BY" */
    const struct odb_beside *beside; /* a variant that was asked for; NULL: none */
};

/* Both append. */
void explain_put_text(const struct explain_of *of, const struct odb_explanations *all,
                      struct odb_buf *out);
void explain_put_json(const struct explain_of *of, const struct odb_explanations *all,
                      struct odb_buf *out);

#endif
