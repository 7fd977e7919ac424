/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What inputs, outputs and attributes of operators mean, in a line of our own words each. The lines
 * stand in share/words, whose head tells their form; the program has them within it.
 */
#ifndef ODB_MEANING_MEANING_H
#define ODB_MEANING_MEANING_H

#include "model/model.h"

enum { ODB_MEANING = 200 }; /* room for a line */

/* Of a name of the operator's schema ("data_0" for all that are counted), at this version of its
 * domain. Into buf; "" where nothing is known. Returns buf. */
const char *odb_meaning(const char *domain, const char *op_type, int version, const char *name,
                        char buf[ODB_MEANING]);
/* The same of a node's input or output, and of an attribute. A function's names are its writer's:
 * "". */
const char *odb_meaning_of_port(const struct odb_node *node, bool input, int slot,
                                char buf[ODB_MEANING]);
const char *odb_meaning_of_attr(const struct odb_node *node, const char *name,
                                char buf[ODB_MEANING]);

/* A line of share/words; texts are borrowed and end where len says, operators at the line's end. */
struct odb_meaning_row {
    const char *domains, *operators; /* between blanks; "*": all */
    const char *name, *words;
    int name_len, words_len;
    int below; /* it holds below this version; 0: at all */
};
/* The line behind this one; start with {0}. False: there are no more. For tests. */
bool odb_meaning_next(struct odb_meaning_row *row);
/* Whether a list of the row has the word. */
bool odb_meaning_lists(const char *list, const char *word);

#endif
