/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Numbers that leave the tensor view: into files, and the one under the cursor into the clipboard.
 */
#include <string.h>
#include <unistd.h>

#include "command/call/call.h"
#include "command/call/tensor_file.h"
#include "command/table/command.h"
#include "ui/tensor/tensor_int.h"
#include "ui/terminal/terminal.h"
#include "ui/view/app.h"
#include "ui/view/saving.h"
#include "ui/view/view.h"

/* --- files ------------------------------------------------------------------------------------ */

/* Of both sides the reference, unless only another one is shown. */
static unsigned save_side(const struct ui_tensor *v)
{
    enum ui_side side = v->mode < UI_SIDES ? (enum ui_side)v->mode : UI_REFERENCE;
    if (side == UI_DIFFERENCE && v->paired && ui_tensor__has_difference(v) &&
        !ui_tensor__is_complex(v->t[UI_REFERENCE]))
        return side;
    return side == UI_DIFFERENCE || !v->t[side] ? (v->t[UI_REFERENCE] ? UI_REFERENCE : UI_TARGET)
                                                : side;
}

static enum ui_answer save_file(struct ui_tensor *v, const char *path, bool over,
                                struct odb_error *err)
{
    if (!v->t[0] && !v->t[1]) {
        odb_fail(err, ODB_E_USAGE, "there are no values to write");
        return UI_FAILED;
    }
    if (!over && access(path, F_OK) == 0) {
        odb_fail(err, ODB_E_IO, "there is such a file already");
        odb_error_at(err, "%s", path);
        odb_error_remedy(err, "`write %s over` replaces it", path);
        return UI_FAILED;
    }
    bool subtract =
        v->paired && ui_tensor__has_difference(v) && !ui_tensor__is_complex(v->t[UI_REFERENCE]);
    const struct ui_save what = {{v->t[0], v->t[1]}, save_side(v), subtract, v->slice != NULL};
    return ui_saving_begin(v->view.app->saving, &what, path, err) == ODB_OK ? UI_DONE : UI_FAILED;
}

/* --- the clipboard ---------------------------------------------------------------------------- */

static enum ui_answer save_copy(struct ui_tensor *v, struct odb_error *err)
{
    const struct odb_format exact = {ODB_FORMAT_EXACT, 0};
    const struct odb_format *format = v->format.kind == ODB_FORMAT_SHORT ? &exact : &v->format;
    const struct ui_tensor_grid *g = &v->grids[v->marked_grid];
    char text[UI_CELL_TEXT];
    if (v->marked == ODB_NOWHERE || !g->n_sides) {
        odb_fail(err, ODB_E_USAGE, "no element is under the cursor");
        odb_error_remedy(err, "move down to the numbers, or type `:index`");
        return UI_FAILED;
    }
    ui_tensor__text(v, g->sides[ODB_MIN(v->side, g->n_sides - 1)], format, v->marked, text);
    if (!ui_terminal_copy(v->view.app->terminal, text)) {
        odb_fail(err, ODB_E_USAGE, "this terminal has no clipboard for programs");
        odb_error_remedy(err, "it would be: %s", text);
        return UI_FAILED;
    }
    ui_app_say(v->view.app, UI_STYLE_MESSAGE, "to the clipboard: %s", text);
    return UI_DONE;
}

enum ui_answer ui_tensor__save(struct ui_tensor *v, const struct odb_command_call *call,
                               struct odb_error *err)
{
    const char *what = odb_call_arg(call, 0);
    if (call->command->screen == ODB_SCREEN_WRITE && what && odb_call__is_tensor_file(what))
        return save_file(v, what, odb_call_arg(call, 1) != NULL, err);
    if (call->command->screen == ODB_SCREEN_COPY && what && !strcmp(what, "number"))
        return save_copy(v, err);
    return UI_NOT_MINE;
}
