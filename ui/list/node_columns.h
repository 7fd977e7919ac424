/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which columns the list of nodes has, and where they stand.
 */
#ifndef UI_LIST_NODE_COLUMNS_H
#define UI_LIST_NODE_COLUMNS_H

#include "ui/list/short_name.h"
#include "ui/view/outline.h"

#define UI_NODE_LEAST_NAME 16 /* columns that a name has where there is a type beside it */
#define UI_NODE_LEAST_OP 11   /* of operators: of a folded scope, how many nodes it has */

/* What a column is. Blanks before and behind are not its own. */
struct ui_node_column {
    const char *title;
    enum ui_sort sort; /* by a click on the title */
    int width;         /* where it was asked for and does not depend on the model */
    int before, behind;
    bool right; /* numbers */
};
extern const struct ui_node_column ui_node_column_kinds[UI_COLUMN_COUNT];

/* What there is to show. */
struct ui_node_widths {
    int cols, index;              /* of the list; nodes of the model */
    const struct ui_names *names; /* borrowed */
    int enough;                   /* columns to tell names apart by */
    int type;                     /* of the widest type */
};

struct ui_node_columns {
    int index;                  /* of the node's number */
    int width[UI_COLUMN_COUNT]; /* 0: it is not shown */
    int at[UI_COLUMN_COUNT];    /* where it begins, in a row that is not scrolled */
    int folded;                 /* width of what stands for folded nodes, from the name on */
    struct ui_columns shown;    /* those with a width, from left to right */
};

/* Those that are wanted, in that order; none: what fits. */
struct ui_node_columns ui_node_columns(const struct ui_node_widths *widths,
                                       const struct ui_columns *wanted);

#endif
