/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Looking for elements by value, and on to the next and the one before.
 */
#include <string.h>

#include "base/buf.h"
#include "command/table/command.h"
#include "ui/tensor/tensor_int.h"
#include "ui/view/app.h"
#include "ui/view/view.h"

/* Has one looked for in a direction; ui_tensor__found() reports it. */
static void find_begin(struct ui_tensor *v, int direction)
{
    v->find.direction = direction;
    ui_tensor__compute(v);
}

/* Says where it is, and how many there are. */
static void find_say(struct ui_tensor *v, const struct ui_tensor_find *find, unsigned where)
{
    const char *side = where & ODB_SEEK_REFERENCE ? "reference"
                       : where & ODB_SEEK_TARGET  ? "target"
                                                  : "difference";
    if (find->counted)
        ui_app_say(v->view.app, UI_STYLE_MESSAGE, "%s: %zu of %zu, in the %s; n goes on",
                   find->seek.text, find->before + 1, find->total, side);
    else
        ui_app_say(v->view.app, UI_STYLE_MESSAGE, "%s: in the %s; n goes on", find->seek.text,
                   side);
}

void ui_tensor__found(struct ui_tensor *v, struct ui_tensor_work *work)
{
    struct ui_tensor_find *find = &work->find;
    struct odb_error err = ODB_ERROR_INIT;
    enum ui_side side = work->where & ODB_SEEK_REFERENCE ? UI_REFERENCE
                        : work->where & ODB_SEEK_TARGET  ? UI_TARGET
                                                         : UI_DIFFERENCE;
    if (work->at == ODB_NOWHERE) {
        bool near = find->seek.kind == ODB_SEEK_EQUAL && strpbrk(find->seek.text, ".e");
        ui_app_say(v->view.app, UI_STYLE_WARN,
                   near ? "no element is %s; `find ~%s` takes those "
                          "that round to it"
                        : "no element is %s",
                   find->seek.text, find->seek.text);
        return;
    }
    if (find->counted) /* it went on by one, round the end if need be */
        find->before = (find->before + find->total + (size_t)(find->direction > 0 ? 1 : 0) -
                        (size_t)(find->direction < 0 ? 1 : 0)) %
                       find->total;
    find->counted = true;
    v->find.counted = true;
    v->find.total = find->total;
    v->find.before = find->before;
    v->find.at = work->at;
    if (ui_tensor__goto(v, side, work->at, &err) == UI_FAILED)
        ui_app_say_error(v->view.app, &err);
    else
        find_say(v, find, work->where);
}

static enum ui_answer find_value(struct ui_tensor *v, const struct odb_command_call *call,
                                 struct odb_error *err)
{
    struct odb_buf text = ODB_BUF_INIT;
    struct odb_seek seek;
    for (size_t i = 0; i < call->n_args && call->args[i]; i++)
        odb_buf_printf(&text, "%s%s", i ? " " : "", call->args[i]);
    enum odb_status status = odb_seek_parse(&seek, odb_buf_text(&text), err);
    odb_buf_dispose(&text);
    if (status != ODB_OK)
        return UI_FAILED;
    if (!v->t[0] && !v->t[1]) {
        odb_fail(err, ODB_E_USAGE, "there are no values to look at");
        return UI_FAILED;
    }
    v->find = (struct ui_tensor_find){.active = true, .seek = seek, .at = ODB_NOWHERE};
    find_begin(v, 1);
    return UI_DONE;
}

enum ui_answer ui_tensor__find(struct ui_tensor *v, const struct odb_command_call *call,
                               struct odb_error *err)
{
    int direction = 0;
    switch (call->command->screen) {
    case ODB_SCREEN_FIND:
        return find_value(v, call, err);
    case ODB_SCREEN_SEARCH: /* n and N belong to what was looked for last */
        v->find.active = false;
        return UI_NOT_MINE;
    case ODB_SCREEN_NEXT_MATCH:
        direction = 1;
        break;
    case ODB_SCREEN_PREV_MATCH:
        direction = -1;
        break;
    default:
        return UI_NOT_MINE;
    }
    if (!v->find.active)
        return UI_NOT_MINE;
    if (v->marked != v->find.at) /* the user went elsewhere: which one it is, is to be counted */
        v->find.counted = false;
    find_begin(v, direction);
    return UI_DONE;
}
