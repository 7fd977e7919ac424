/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How the screen looks.
 */
#ifndef ODB_UI_APP_APPEARANCE_H
#define ODB_UI_APP_APPEARANCE_H

#include "ui/view/action.h"

UI_ACTION(theme);
UI_ACTION(mouse);
UI_ACTION(columns);
UI_ACTION(divide);
UI_ACTION(strip);

#endif
