/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nodes that have a letter.
 */
#ifndef ODB_UI_VIEWS_VIEW_BOOKMARK_H
#define ODB_UI_VIEWS_VIEW_BOOKMARK_H

#include "ui/view/action.h"

UI_ACTION(bookmark);
UI_ACTION(recall);

#endif
