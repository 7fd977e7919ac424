/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Why a culprit is accused, as a few lines to look over: whose error it is, what was asked and how
 * each answer came out, what it computes instead, what to do next. The paragraph in words is the
 * diagnosis's.
 */
#ifndef ODB_UI_LIST_CHECKLIST_H
#define ODB_UI_LIST_CHECKLIST_H

#include "base/buf.h"
#include "ui/terminal/style.h"

struct odb_culprit;
struct ui_app;

enum ui_checklist_line {
    UI_CHECKLIST_ERROR,
    UI_CHECKLIST_CHECKS,
    UI_CHECKLIST_INSTEAD,
    UI_CHECKLIST_NEXT,
    UI_CHECKLIST_COUNT
};

struct ui_checklist {
    struct ui_checklist_item {
        enum ui_checklist_line line;
        enum ui_style style;
        struct odb_buf text; /* owned */
    } lines[UI_CHECKLIST_COUNT];
    size_t n; /* those that have something to say, in their order */
};

/* To be disposed of. */
void ui_checklist_make(struct ui_checklist *out, const struct ui_app *app,
                       const struct odb_culprit *culprit);
void ui_checklist_dispose(struct ui_checklist *list);

#endif
