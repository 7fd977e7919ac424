/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The list of nodes. Its rows do not change behind the screen's back, so no lock is needed.
 */
#ifndef ODB_UI_LIST_VIEW_NODES_H
#define ODB_UI_LIST_VIEW_NODES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct ui_outline;
struct ui_row;
struct ui_view;

/* ODB_NO_NODE when the list is empty. */
int ui_nodes_selected(const struct ui_view *view);
/* The row that is selected; its node is ODB_NO_NODE when the list is empty. */
struct ui_row ui_nodes_row(const struct ui_view *view);
void ui_nodes_goto(struct ui_view *view, int node);
/* The row of the outline that the selected one is, or, of a body, stands below. */
size_t ui_nodes_outline_row(const struct ui_view *view);
/* `fold HOW` (toggle, open, close) of a body: that of the selected node, or that the selected row
 * is in. False: there is none to fold so. */
bool ui_nodes_fold_body(struct ui_view *view, const char *how);
/* Lists what the filter lets through, NULL or "": everything. *at as in odb_filter_parse(). */
enum odb_status ui_nodes_filter(struct ui_view *view, const char *text, size_t *at,
                                struct odb_error *err) ODB_MUST_USE;
const char *ui_nodes_filter_text(const struct ui_view *view);
/* A caller that changes it calls ui_nodes_remake(). */
struct ui_outline *ui_nodes_outline(struct ui_view *view);
void ui_nodes_remake(struct ui_view *view);
/* Unfolds what a node is in; false: nothing was folded. */
bool ui_nodes_reveal(struct ui_view *view, int node);

#endif
