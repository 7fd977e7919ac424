/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a search found, in one row of the screen: the headline says it whole.
 */
#ifndef ODB_UI_LIST_RESULT_H
#define ODB_UI_LIST_RESULT_H

struct odb_buf;
struct odb_report;
struct ui_app;

/* Appends "► #837 MatMul …/output/dense introduces it · d why · Enter numbers · x export", in as
 * many columns as the screen has; nothing where no node is accused. */
void ui_result_put(const struct ui_app *app, const struct odb_report *report, struct odb_buf *out);

#endif
