/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is folded into one row of the list, summed up: a scope, or constant parts.
 */
#ifndef ODB_UI_VIEWS_NODE_FOLDED_H
#define ODB_UI_VIEWS_NODE_FOLDED_H

struct odb_buf;
struct ui_app;
struct ui_row;
struct ui_text_view;

/* "scope /encoder/layer.3", "6 constant parts of #12 conv1 (Conv)". */
void ui_folded_title(const struct ui_app *app, const struct ui_row *row, struct odb_buf *out);
/* Adds the rows. Caller holds the session's lock. */
void ui_folded_put(struct ui_text_view *view, const struct ui_row *row, int cols);

#endif
