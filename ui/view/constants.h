/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The constant parts of a model: nodes that nothing fed to it reaches, such as Constant, and what
 * is computed of weights alone. In topological order hundreds of them may stand in front of all
 * that a model is about; they belong to the node that reads them.
 */
#ifndef ODB_UI_VIEW_CONSTANTS_H
#define ODB_UI_VIEW_CONSTANTS_H

#include <stddef.h>

struct odb_session;

struct ui_constants {
    size_t n;    /* how many; 0: the rest is NULL */
    int *reader; /* owned; [n_nodes] the first node that reads it, through others such as it, and is
                    none; ODB_NO_NODE: it is none, or nothing else reads it */
    int *order;  /* owned; [n_nodes] all nodes, those that have a reader just before it */
    int *apart;  /* owned; [n_nodes - n] nodes that have none, ascending */
    int *place;  /* owned; [n_nodes] where in apart a node, or its reader, is */
};

/* Of the session's model, which never changes. */
void ui_constants_find(struct ui_constants *constants, const struct odb_session *session);
void ui_constants_dispose(struct ui_constants *constants);
/* The node's reader; ODB_NO_NODE: it has none. */
int ui_constants_reader(const struct ui_constants *constants, int node);
/* The i-th node that has no reader; and which one a node is, or its reader. */
int ui_constants_apart(const struct ui_constants *constants, int i);
int ui_constants_place(const struct ui_constants *constants, int node);

#endif
