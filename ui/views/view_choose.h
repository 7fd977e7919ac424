/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The view of what there is to choose from.
 */
#ifndef ODB_UI_VIEWS_VIEW_CHOOSE_H
#define ODB_UI_VIEWS_VIEW_CHOOSE_H

#include <stddef.h>

struct ui_dag_item;
struct ui_view;

/* The views, or nodes and values of the graph, are there to choose from now on. */
void ui_choose_views(struct ui_view *view);
void ui_choose_nodes(struct ui_view *view, const struct ui_dag_item *items, size_t n);

#endif
