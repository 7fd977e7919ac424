/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Numbers that leave the tensor view: into files, and the one under the cursor into the clipboard.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/call.h"
#include "tensor/npz.h"
#include "ui/app.h"
#include "ui/tensor_int.h"

/* --- files ------------------------------------------------------------------------------------ */

/* target - reference, in doubles; of two that can be subtracted. */
static enum odb_status save_difference(struct odb_tensor **out, const struct odb_tensor *ref,
                                       const struct odb_tensor *target, struct odb_error *err)
{
    ODB_TRY(odb_tensor_new_raw(out, ODB_F64, ref->rank, ref->dims, err));
    for (size_t i = 0; i < ref->count; i++)
        odb_store_f64(ODB_F64, (*out)->data, i, odb_tensor_f64(target, i) - odb_tensor_f64(ref, i));
    return ODB_OK;
}

/* An archive of all that there is. */
static enum odb_status save_all(const struct ui_tensor_work *work, const struct odb_tensor *diff,
                                struct odb_error *err)
{
    static const char *const names[UI_SIDES] = {"reference", "target", "difference"};
    const struct odb_tensor *t[UI_SIDES] = {work->t[0], work->t[1], diff}, *given[UI_SIDES];
    const char *given_names[UI_SIDES];
    size_t n = 0;
    for (int side = 0; side < UI_SIDES; side++)
        if (t[side]) {
            given[n] = t[side];
            given_names[n++] = names[side];
        }
    return odb_npz_write(work->path, given_names, given, n, false, err);
}

enum odb_status ui_tensor__save_run(struct ui_tensor_work *work, const struct odb_scan *scan,
                                    struct odb_error *err)
{
    struct odb_tensor *diff = NULL;
    size_t n = strlen(work->path);
    bool all = n > 4 && !strcmp(work->path + n - 4, ".npz");
    enum odb_status status = ODB_OK;
    if (work->subtract && (all || work->side == UI_DIFFERENCE))
        ODB_TRY_OUT(save_difference(&diff, work->t[0], work->t[1], err));
    if (all) {
        ODB_TRY_OUT(save_all(work, diff, err));
    } else {
        const struct odb_tensor *t = diff ? diff : work->t[work->side];
        ODB_TRY_OUT(odb_call__write_tensor(t, ui_side_name(work->side), work->path, err));
    }
out:
    odb_tensor_unref(diff);
    return status;
}

/* Of both sides the reference, unless only another one is shown. */
static enum ui_side save_side(const struct ui_tensor *v)
{
    enum ui_side side = v->mode < UI_SIDES ? (enum ui_side)v->mode : UI_REFERENCE;
    if (side == UI_DIFFERENCE && v->paired && ui_tensor__has_difference(v))
        return side;
    return side == UI_DIFFERENCE || !v->t[side] ? (v->t[UI_REFERENCE] ? UI_REFERENCE : UI_TARGET)
                                                : side;
}

static enum ui_answer save_file(struct ui_tensor *v, const char *path, bool over,
                                struct odb_error *err)
{
    if (!v->t[0] && !v->t[1]) {
        odb_fail(err, ODB_E_USAGE, "there are no values to write");
    } else if (!over && access(path, F_OK) == 0) {
        odb_fail(err, ODB_E_IO, "there is such a file already");
        odb_error_at(err, "%s", path);
        odb_error_remedy(err, "`write %s over` replaces it", path);
    } else {
        free(v->save);
        v->save = odb_xstrdup(path);
        ui_tensor__compute(v);
        return UI_DONE;
    }
    return UI_FAILED;
}

void ui_tensor__save_ask(struct ui_tensor *v, struct ui_tensor_work *work)
{
    work->path = v->save;
    v->save = NULL;
    work->side = save_side(v);
    work->subtract =
        v->paired && ui_tensor__has_difference(v) && !ui_tensor__is_complex(v->t[UI_REFERENCE]);
}

void ui_tensor__save_take(struct ui_tensor *v, struct ui_tensor_work *work)
{
    size_t n = strlen(work->path);
    bool all = n > 4 && !strcmp(work->path + n - 4, ".npz");
    ui_app_say(v->view.app, UI_STYLE_MESSAGE, "%s: written, %s%s%s", work->path,
               all ? "all sides of " : "the ", all ? "" : ui_side_name(work->side),
               v->slice ? " of the slice"
               : all    ? "it"
                        : "");
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
