/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bodies (of If, Loop, Scan, functions) as text.
 */
#ifndef ODB_UI_LIST_BODY_VIEW_H
#define ODB_UI_LIST_BODY_VIEW_H

#include <stddef.h>

struct odb_body_path;
struct odb_buf;
struct odb_graph;
struct ui_app;

/* Appends a line for the graph and then its nodes; returns the line where `node` begins, of those
 * appended. */
size_t ui_body_put(const struct odb_graph *graph, int node, struct odb_buf *out);
/* Shows the body that the path leads into, with this node of it selected. */
void ui_body_show(struct ui_app *app, const struct odb_body_path *path, int node);

#endif
