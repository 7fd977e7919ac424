/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bodies that are unfolded in the list of nodes: below the row of an If, a Loop, a Scan or a call
 * of a function, a row that says which body and which turn, and a row for each of its nodes.
 */
#ifndef ODB_UI_LIST_BODY_ROWS_H
#define ODB_UI_LIST_BODY_ROWS_H

#include "base/mem.h"
#include "model/write/body_model.h"
#include "run/value_report.h"

struct odb_session;
struct ui_outline;

/* A row of a body. */
struct ui_body_row {
    struct odb_body_path path; /* to the body, without a name in it */
    int node;                  /* in its graph; ODB_NO_NODE: the row tells of the body */
    int depth;                 /* bodies that it is in */
};

/* What is known of one body, in the turn that was looked at last. */
struct ui_body_known {
    const struct odb_graph *graph; /* borrowed: which */
    int64_t turn;
    int at;                           /* where the walk stands in it; ODB_NO_NODE: it does not */
    struct odb_value_report *reports; /* owned; [n_nodes] of the graph */
};

struct ui_bodies {
    ODB_VEC(struct ui_body_open {
        const struct odb_graph *graph; /* borrowed: that the node is in */
        int node;
    })
    open;
    ODB_VEC(struct ui_body_row) rows;
    ODB_VEC(struct ui_body_place {
        size_t row;   /* of the outline, that they stand below */
        size_t first; /* of rows */
        size_t n;
    })
    places; /* ascending */
    ODB_VEC(struct ui_body_known) known;
    const struct odb_graph *inside; /* borrowed, only compared: the body that the walk was in */
    int at;                         /* and where in it, and in which turn */
    int64_t turn;
};

void ui_bodies_dispose(struct ui_bodies *bodies);
/* Makes the rows for an outline that was made. */
void ui_bodies_make(struct ui_bodies *bodies, const struct ui_outline *outline,
                    const struct odb_graph *graph);
/* Looks at culprits and at the walk; opens the bodies that it has come into, and says whether it
 * has done so. Caller holds the session's lock, and no command works. */
bool ui_bodies_learn(struct ui_bodies *bodies, const struct odb_session *session);

/* Whether the walk stands elsewhere than when that was looked at; the same holds for the caller. */
bool ui_bodies_moved(const struct ui_bodies *bodies, const struct odb_session *session);

/* Rows in all, of an outline that has so many. */
size_t ui_bodies_count(const struct ui_bodies *bodies, size_t rows);
/* The row of the outline that a row of the list is, or stands below. *body: it; NULL: it is the
 * outline's. */
size_t ui_bodies_row(const struct ui_bodies *bodies, size_t at, const struct ui_body_row **body);
/* The row of the list that a row of the outline is. */
size_t ui_bodies_place(const struct ui_bodies *bodies, size_t row);
/* The row of the list where the walk stands in a body of a node in this row of the outline; else
 * the row's own. */
size_t ui_bodies_here(const struct ui_bodies *bodies, size_t row);

/* The graph of the body that a row is in. */
const struct odb_graph *ui_body_row_graph(const struct ui_body_row *row);
/* What is known of it; NULL: nothing. */
const struct ui_body_known *ui_bodies_known(const struct ui_bodies *bodies,
                                            const struct odb_graph *graph);
bool ui_bodies_is_open(const struct ui_bodies *bodies, const struct odb_graph *graph, int node);
/* Opens or closes the bodies of a node; the rows are to be made anew. False: it has none, or they
 * are so already. */
bool ui_bodies_fold(struct ui_bodies *bodies, const struct odb_graph *graph, int node, bool fold);

#endif
