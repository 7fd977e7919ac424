/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The list of a fleet: causes that unfold to their models, or all models.
 */
#ifndef ODB_UI_FLEET_VIEW_FLEET_H
#define ODB_UI_FLEET_VIEW_FLEET_H

#include <stdbool.h>

#include "ui/view/view.h"

struct odb_buf;

/* The target and how many models there are; what came of them. Nothing while nothing is known. */
void ui_fleet_put_head(const struct ui_view *view, struct odb_buf *out);
void ui_fleet_put_counts(const struct ui_view *view, struct odb_buf *out);
/* Whether the run that was begun with the screen is not over. */
bool ui_fleet_runs(const struct ui_view *view);

#endif
