/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/walk/verb_display.h"

#include <stdlib.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/console.h"
#include "command/console/annotating.h"
#include "command/table/verbs.h"
#include "command/value/expression.h"
#include "command/value/value_pair.h"
#include "report/json.h"
#include "session/session.h"

/* What cannot be shown yet is said to be so: a display is put down before the walk comes there. */
static void display_put(struct odb_command_call *call, const struct odb_annotation *annotation,
                        struct odb_buf *out)
{
    struct odb_buf value = ODB_BUF_INIT;
    struct odb_expression expression;
    struct odb_error why = ODB_ERROR_INIT;
    char notation;
    const char *text = odb_call__notation(annotation->text, &notation);
    odb_expression_parse(&expression, text, call->model->graph);
    enum odb_status status = odb_expression_put(call, &expression, notation, true, &value, &why);
    odb_buf_printf(out, "%d: ", annotation->number);
    odb_buf_put_shown(out, annotation->text);
    odb_buf_puts(out, expression.function < 0 && status == ODB_OK ? "\n" : "  ");
    if (status == ODB_OK)
        odb_buf_puts(out, odb_buf_text(&value));
    else
        odb_buf_put_shown(out, why.what);
    if (status != ODB_OK)
        odb_buf_putc(out, '\n');
    odb_expression_dispose(&expression);
    odb_buf_dispose(&value);
}

static json_t *display_json(struct odb_command_call *call, const struct odb_annotation *annotation)
{
    struct odb_expression expression;
    struct odb_error why = ODB_ERROR_INIT;
    json_t *value = NULL;
    char notation;
    odb_expression_parse(&expression, odb_call__notation(annotation->text, &notation),
                         call->model->graph);
    enum odb_status status = odb_expression_json(call, &expression, true, &value, &why);
    odb_expression_dispose(&expression);
    return json_pack("{s:i,s:o,s:o,s:o}", "number", annotation->number, "text",
                     odb_json_text(annotation->text), "value",
                     status == ODB_OK ? value : json_null(), "failure",
                     odb_json_text(status == ODB_OK ? NULL : why.what));
}

static bool display_is_shown(const struct odb_annotation *annotation)
{
    return annotation->kind == ODB_ANNOTATION_DISPLAY && !annotation->disabled;
}

static size_t display_put_some(struct odb_command_call *call, int number, struct odb_buf *out)
{
    struct odb_annotation_list list;
    size_t n = 0;
    odb_annotating_copy(call->session, &list);
    for (size_t i = 0; i < list.items.n; i++) {
        const struct odb_annotation *annotation = &list.items.items[i];
        if (!display_is_shown(annotation) || (number && annotation->number != number))
            continue;
        display_put(call, annotation, out);
        n++;
    }
    odb_annotation_list_dispose(&list);
    return n;
}

void odb_call__put_displays(struct odb_command_call *call, struct odb_buf *out)
{
    display_put_some(call, 0, out);
}

json_t *odb_call__displays_json(struct odb_command_call *call)
{
    struct odb_annotation_list list;
    json_t *displays = json_array();
    odb_annotating_copy(call->session, &list);
    for (size_t i = 0; i < list.items.n; i++)
        if (display_is_shown(&list.items.items[i]))
            json_array_append_new(displays, display_json(call, &list.items.items[i]));
    odb_annotation_list_dispose(&list);
    return displays;
}

void odb_call__tell_displays(struct odb_command_call *call, struct odb_buf *out)
{
    struct odb_buf text = ODB_BUF_INIT;
    odb_call__put_displays(call, &text);
    free(call->displays);
    call->displays = NULL;
    if (call->console && call->console->screen && !call->console->linear)
        call->displays = odb_xstrdup(odb_buf_text(&text));
    else
        odb_buf_puts(out, odb_buf_text(&text));
    odb_buf_dispose(&text);
}

enum odb_status odb_command__display(struct odb_command_call *call, struct odb_error *err)
{
    const char *text = odb_call_arg(call, 0);
    struct odb_annotation what = {.kind = ODB_ANNOTATION_DISPLAY, .text = (char *)text};
    struct odb_buf out = ODB_BUF_INIT;
    struct odb_expression expression;
    int number = 0;
    char notation;
    if (text) {
        odb_expression_parse(&expression, odb_call__notation(text, &notation), call->model->graph);
        enum odb_status status = odb_value_pair_check(call, expression.name, err);
        odb_expression_dispose(&expression);
        ODB_TRY(status);
        ODB_TRY(odb_session_annotate(call->session, &what, &number, err));
    }
    if (!display_put_some(call, number, &out))
        odb_buf_puts(&out, "nothing is displayed at stops\n");
    if (call->console && call->console->screen && !call->console->linear)
        odb_call__tell_displays(call, &out);
    odb_call__print(call, &out);
    return ODB_OK;
}

enum odb_status odb_command__undisplay(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_buf none = ODB_BUF_INIT;
    ODB_TRY(odb_annotating_remove(call, ODB_ANNOTATION_DISPLAY, err));
    if (call->console && call->console->screen && !call->console->linear)
        odb_call__tell_displays(call, &none);
    return ODB_OK;
}
