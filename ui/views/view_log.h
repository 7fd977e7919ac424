/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The view of the session's log.
 */
#ifndef ODB_UI_VIEWS_VIEW_LOG_H
#define ODB_UI_VIEWS_VIEW_LOG_H

#include <stddef.h>

struct ui_view;

/* view_log.c: the entry of the session's log that is selected; SIZE_MAX: none. Caller holds the
 * lock. */
size_t ui_log_selected(const struct ui_view *view);

#endif
