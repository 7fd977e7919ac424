/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Error against depth: the whole model in one strip, a column per stretch of nodes, as high as the
 * worst error in it on a logarithmic scale. Constant parts are where the node is that reads them.
 */
#ifndef ODB_UI_VIEW_STRIP_H
#define ODB_UI_VIEW_STRIP_H

#include "ui/terminal/style.h"
#include "ui/view/upkeep.h"

struct odb_session;
struct ui_app;
struct ui_area;
struct ui_constants;

/* One column; kept between frames, because a large model has many nodes in each. */
struct ui_strip_column {
    double error, noise, tolerance; /* worst of its nodes; -1: not known */
    enum ui_style style;
    bool culprit;
};

struct ui_strip {
    const struct ui_constants *constants; /* borrowed: parts that have no column of their own */
    struct ui_strip_column *columns;      /* owned */
    int n;
    struct ui_upkeep upkeep;
    double factor; /* noise times this is the tolerance; 0: it is something else */
};

void ui_strip_dispose(struct ui_strip *strip);
/* Draws the app's strip in all rows of the area, the last one an axis with the selected node and
 * the culprits on it. Caller holds the session's lock. */
void ui_strip_draw(struct ui_app *app, double factor, int selected, const struct ui_area *area);
/* The column that a node, or what reads it, is in; 0 while nothing was drawn. */
int ui_strip_column(const struct ui_strip *strip, const struct odb_session *session, int node);
/* The node that a column stands for. */
int ui_strip_node(const struct ui_strip *strip, const struct odb_session *session, int column);

#endif
