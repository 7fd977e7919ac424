/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What leaves the screen.
 */
#ifndef ODB_UI_APP_OUTSIDE_H
#define ODB_UI_APP_OUTSIDE_H

#include <stdbool.h>

#include "base/error.h"
#include "ui/view/action.h"

UI_ACTION(write);
UI_ACTION(page);
UI_ACTION(edit);
UI_ACTION(copy);
/* ODB_E_USAGE where the name is one for numbers: text is not to be found under such a name. */
enum odb_status ui_outside_text_file(const char *path, struct odb_error *err) ODB_MUST_USE;
/* A text into a file that is not there yet; over: also in place of one. */
enum odb_status ui_outside_write(const char *path, const char *text, size_t n, bool over,
                                 struct odb_error *err) ODB_MUST_USE;

#endif
