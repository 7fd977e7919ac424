/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/list/result.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "model/model.h"
#include "report/report.h"
#include "ui/list/short_name.h"
#include "ui/list/view_nodes.h"
#include "ui/terminal/draw.h"
#include "ui/terminal/key.h"
#include "ui/terminal/terminal.h"
#include "ui/view/app.h"
#include "ui/view/keymap.h"
#include "ui/view/outline.h"

#define RESULT_NAME 40 /* columns that a name may need before a hint has any */

/* Keys that lead on, the first the most needed; those of a view only while it has the keys. */
static const struct result_hint {
    const char *view, *command, *hint;
} result_hints[] = {
    {"all", "view report", "why"},
    {"nodes", "open", "numbers"},
    {"nodes", "export {node}", "export"},
};

static void result_put_hint(const struct ui_app *app, const struct result_hint *hint,
                            struct odb_buf *out)
{
    char name[16];
    int key = ui_keymap_key(app->keymap, hint->view, hint->command);
    bool here = !strcmp(hint->view, "all") || !strcmp(hint->view, ui_app_view(app)->name);
    if (key && here)
        odb_buf_printf(out, " %s %s %s", ui_glyph_text(UI_GLYPH_DOT, app->terminal->unicode),
                       ui_key_name(key, name, sizeof name), hint->hint);
}

static bool result_is_region(const struct odb_culprit *culprit)
{
    return !culprit->group.n && odb_culprit_is_region(culprit);
}

/* What stands before the name, and what is said of it. */
static void result_put_place(const struct odb_culprit *culprit, const struct odb_graph *graph,
                             struct odb_buf *out)
{
    if (result_is_region(culprit)) {
        odb_buf_printf(out, "#%d to #%d from", culprit->segment[0], culprit->segment[1]);
    } else {
        odb_buf_printf(out, "#%d ", culprit->node);
        odb_buf_put_shown(out, graph->nodes[culprit->node].op_type);
    }
}

static void result_put_verdict(const struct odb_report *report, const struct odb_culprit *culprit,
                               struct odb_buf *out)
{
    if (culprit->group.n)
        odb_buf_printf(out, ", fused with %zu other%s,", culprit->group.n - 1,
                       odb_plural(culprit->group.n - 1));
    if (culprit->recorded_weight)
        odb_buf_puts(out, " has another weight than was recorded");
    else if (culprit->of_recording)
        odb_buf_puts(out, " differs from the recording");
    else if (culprit->of_reference)
        odb_buf_puts(out, " is off in the reference");
    else if (odb_diagnosis_accuses(culprit->kind))
        odb_buf_puts(out, " introduces it");
    else
        odb_buf_printf(out, ": %s", odb_diagnosis_name(culprit->kind));
    if (report->culprits.n > 1)
        odb_buf_printf(out, ", first of %zu", report->culprits.n);
    if (report->narrower && culprit->narrower)
        odb_buf_printf(out, "; if it is meant to: :set expect %s", report->narrower);
    else if (report->narrower)
        odb_buf_printf(out, "; others as %s must lose", report->narrower);
}

/* The name of what is accused: into bodies, where one of their nodes is. */
static void result_put_name(const struct odb_culprit *culprit, const struct odb_graph *graph,
                            struct odb_buf *out)
{
    int node = result_is_region(culprit) ? culprit->segment[0] : culprit->node;
    odb_buf_put_shown(out, culprit->path ? culprit->path : ui_outline_label(graph, node));
}

/* Columns that a name needs at least: for its last part. */
static int result_needs(const struct ui_app *app, const char *name, char separator)
{
    return ODB_MIN(ui_short_name_least(name, separator, app->terminal), RESULT_NAME);
}

void ui_result_put(const struct ui_app *app, const struct odb_report *report, struct odb_buf *out)
{
    const struct odb_culprit *culprit = report->culprits.items;
    struct odb_buf before = ODB_BUF_INIT, name = ODB_BUF_INIT, behind = ODB_BUF_INIT;
    if (!report->culprits.n)
        return;
    char separator = culprit->path ? '/' : ui_nodes_outline(app->views[UI_VIEW_NODES])->separator;
    odb_buf_printf(&before, "%s ", ui_glyph_text(UI_GLYPH_CULPRIT, app->terminal->unicode));
    result_put_place(culprit, report->model->graph, &before);
    result_put_name(culprit, report->model->graph, &name);
    odb_buf_puts(&before, name.len ? " " : "");
    result_put_verdict(report, culprit, &behind);
    int room = app->terminal->cols - ui_text_width(app->terminal, odb_buf_text(&before)) -
               ui_text_width(app->terminal, odb_buf_text(&behind));
    int least = result_needs(app, odb_buf_text(&name), separator);
    for (size_t i = 0; i < ODB_COUNT(result_hints); i++) {
        struct odb_buf hint = ODB_BUF_INIT;
        result_put_hint(app, &result_hints[i], &hint);
        int width = ui_text_width(app->terminal, odb_buf_text(&hint));
        if (room - width >= least) {
            odb_buf_puts(&behind, odb_buf_text(&hint));
            room -= width;
        }
        odb_buf_dispose(&hint);
    }
    odb_buf_puts(out, odb_buf_text(&before));
    ui_short_name_fit(odb_buf_text(&name), separator, app->terminal, ODB_MAX(room, 1), out);
    odb_buf_puts(out, odb_buf_text(&behind));
    odb_buf_dispose(&before);
    odb_buf_dispose(&name);
    odb_buf_dispose(&behind);
}
