/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/list/checklist.h"

#include <string.h>

#include "report/report.h"
#include "ui/terminal/key.h"
#include "ui/terminal/terminal.h"
#include "ui/view/app.h"
#include "ui/view/keymap.h"
#include "ui/view/mark.h"

/* An answer and what was asked, with two blanks between several. */
static void checklist_put(const struct ui_app *app, enum odb_checked answer, const char *what,
                          struct odb_buf *out)
{
    static const enum ui_glyph glyphs[] = {[ODB_CONFIRMS] = UI_GLYPH_PASS,
                                           [ODB_CONTRADICTS] = UI_GLYPH_FAIL,
                                           [ODB_NOT_TESTABLE] = UI_GLYPH_UNTESTABLE};
    if (answer != ODB_NOT_ASKED)
        odb_buf_printf(out, "%s%s %s",
                       !out->len                        ? ""
                       : out->data[out->len - 1] == ':' ? " "
                                                        : "  ",
                       what, ui_glyph_text(glyphs[answer], app->terminal->unicode));
}

static void checklist_error(const struct odb_value_report *numbers, struct odb_buf *out)
{
    char own[32], noise[32], inherited[32];
    double local = numbers->local_error.v, rounding = numbers->local_noise.v;
    if (numbers->verdict == ODB_VERDICT_NAN) { /* errors are of what is finite on both sides */
        odb_buf_puts(out, numbers->reason);
        return;
    }
    if (numbers->local_error.known)
        odb_buf_printf(out, "own error %s", ui_number_text(numbers->local_error, own, sizeof own));
    if (out->len && numbers->local_noise.known && rounding > 0)
        odb_buf_printf(out, ", %.3g times its rounding of %s", local / rounding,
                       ui_number_text(numbers->local_noise, noise, sizeof noise));
    if (numbers->inherited_error.known)
        odb_buf_printf(out, "%sinherited %s", out->len ? ", " : "",
                       ui_number_text(numbers->inherited_error, inherited, sizeof inherited));
}

/* How sure it is, and by what, in the order in which that weighs. */
static void checklist_checks(const struct ui_app *app, const struct odb_culprit *culprit,
                             struct odb_buf *out)
{
    static const char *const words[ODB_CHECK_COUNT] = {
        [ODB_CHECK_ALONE] = "alone",       [ODB_CHECK_REGION] = "region",
        [ODB_CHECK_PREFIX] = "up to here", [ODB_CHECK_NEIGHBOUR] = "other cut",
        [ODB_CHECK_PINNED] = "pinned",     [ODB_CHECK_REFERENCE] = "grows alike"};
    if (odb_confidence_name(culprit->confidence))
        odb_buf_printf(out, "confidence %s:", odb_confidence_name(culprit->confidence));
    for (int i = 0; i < ODB_CHECK_COUNT; i++)
        checklist_put(app, culprit->checks[i], words[i], out);
    enum odb_checked third = culprit->third_opinion == ODB_OPINION_REFERENCE ? ODB_CONFIRMS
                             : culprit->third_opinion == ODB_OPINION_TARGET  ? ODB_CONTRADICTS
                             : culprit->third_opinion == ODB_OPINION_NEITHER ? ODB_NOT_TESTABLE
                                                                             : ODB_NOT_ASKED;
    if (culprit->third_by)
        checklist_put(app, third, culprit->third_by, out);
    checklist_put(app, culprit->reaches_output ? ODB_CONFIRMS : ODB_CONTRADICTS, "output", out);
}

static void checklist_next(const struct ui_app *app, struct odb_buf *out)
{
    static const struct checklist_step {
        const char *command, *typed, *what; /* typed: where there are no keys */
    } steps[] = {{"export {node}", "`export`", "exports it"},
                 {"view variants", "`view variants`", "compares variants"},
                 {"view report", "`view report`", "has it in words"}};
    for (size_t i = 0; i < ODB_COUNT(steps); i++) {
        char name[16];
        int key = ui_keymap_key(app->keymap, "all", steps[i].command);
        bool there = !strncmp(steps[i].command, "view ", 5) &&
                     !strcmp(steps[i].command + 5, ui_app_view(app)->name);
        if (key && !there)
            odb_buf_printf(out, "%s%s %s", out->len ? ", " : "next: ",
                           app->linear ? steps[i].typed : ui_key_name(key, name, sizeof name),
                           steps[i].what);
    }
}

void ui_checklist_make(struct ui_checklist *out, const struct ui_app *app,
                       const struct odb_culprit *culprit)
{
    static const enum ui_style styles[] = {[UI_CHECKLIST_ERROR] = UI_STYLE_NUMBER,
                                           [UI_CHECKLIST_CHECKS] = UI_STYLE_NORMAL,
                                           [UI_CHECKLIST_INSTEAD] = UI_STYLE_WARN,
                                           [UI_CHECKLIST_NEXT] = UI_STYLE_DIM};
    out->n = 0;
    for (int line = 0; line < UI_CHECKLIST_COUNT; line++) {
        struct odb_buf text = ODB_BUF_INIT;
        switch ((enum ui_checklist_line)line) {
        case UI_CHECKLIST_ERROR:
            checklist_error(&culprit->numbers, &text);
            break;
        case UI_CHECKLIST_CHECKS:
            checklist_checks(app, culprit, &text);
            break;
        case UI_CHECKLIST_INSTEAD:
            odb_explanations_put(&culprit->explained, &text);
            break;
        case UI_CHECKLIST_NEXT:
            checklist_next(app, &text);
            break;
        case UI_CHECKLIST_COUNT:
            break;
        }
        if (text.len)
            out->lines[out->n++] = (struct ui_checklist_item){
                .line = (enum ui_checklist_line)line, .style = styles[line], .text = text};
        else
            odb_buf_dispose(&text);
    }
}

void ui_checklist_dispose(struct ui_checklist *list)
{
    for (size_t i = 0; i < list->n; i++)
        odb_buf_dispose(&list->lines[i].text);
    list->n = 0;
}
