/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The diagnosis in words: what the newest search found, culprit by culprit, and what it cost.
 */
#include <stdlib.h>
#include <string.h>

#include "ui/app.h"
#include "ui/text.h"

struct report_view {
    struct ui_text_view text;
    unsigned long generation; /* of the session when the text was made */
    int cols;
};

#define REPORT_SHOWN 50 /* culprits told in words */

static void report_line(struct report_view *v, enum ui_style style, int indent, int node,
                        const char *text)
{
    ui_text_add(&v->text, v->cols, style, indent, node, ODB_NO_VALUE, text);
}

static void report_culprit(struct report_view *v, const struct odb_culprit *culprit)
{
    const struct odb_graph *graph = v->text.view.app->session->model->graph;
    struct odb_named_number numbers[ODB_REPORT_NUMBERS];
    struct odb_buf line = ODB_BUF_INIT;
    odb_node_put(graph, culprit->node, &line);
    odb_buf_printf(&line, ": %s", odb_diagnosis_name(culprit->kind));
    bool acquitted = !odb_session_culprit(v->text.view.app->session, culprit->node);
    if (acquitted)
        odb_buf_puts(&line, " (within the tolerance that was set since)");
    report_line(v, acquitted ? UI_STYLE_DIM : UI_STYLE_BAD, 0, culprit->node, odb_buf_text(&line));
    odb_buf_clear(&line);
    odb_report_numbers(&culprit->numbers, numbers);
    for (size_t i = 0; i < ODB_REPORT_NUMBERS; i++)
        if (numbers[i].number.known)
            odb_buf_printf(&line, "%s%s %.2g", line.len ? ", " : "", numbers[i].name,
                           numbers[i].number.v);
    if (line.len)
        report_line(v, UI_STYLE_NUMBER, 4, culprit->node, odb_buf_text(&line));
    odb_buf_clear(&line);
    odb_culprit_facts(culprit, &line);
    report_line(v, UI_STYLE_DIM, 4, culprit->node, odb_buf_text(&line));
    if (culprit->text && *culprit->text)
        report_line(v, UI_STYLE_NORMAL, 4, culprit->node, culprit->text);
    report_line(v, UI_STYLE_NORMAL, 0, ODB_NO_NODE, "");
    odb_buf_dispose(&line);
}

static void report_head(struct report_view *v, const struct odb_report *report)
{
    struct odb_buf line = ODB_BUF_INIT;
    odb_report_headline(report, &line);
    bool good = !report->failure && !report->culprits.n && !report->outputs_diverge;
    report_line(v, good ? UI_STYLE_GOOD : UI_STYLE_WARN, 0, ODB_NO_NODE, odb_buf_text(&line));
    report_line(v, UI_STYLE_NORMAL, 0, ODB_NO_NODE, "");
    odb_buf_dispose(&line);
}

/* What the target printed before it died. */
static void report_words(struct report_view *v, const struct odb_report *report)
{
    struct odb_buf words = ODB_BUF_INIT;
    char *rest = NULL;
    odb_report_put_words(report, "", &words);
    if (words.len)
        report_line(v, UI_STYLE_NORMAL, 0, ODB_NO_NODE, "The target printed before it died:");
    for (char *line = words.len ? strtok_r(words.data, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest))
        report_line(v, UI_STYLE_DIM, 4, ODB_NO_NODE, line);
    odb_buf_dispose(&words);
}

static void report_cost(struct report_view *v, const struct odb_report *report)
{
    const struct ui_app *app = v->text.view.app;
    const char *hint = odb_report_hint(report);
    struct odb_buf line = ODB_BUF_INIT;
    if (hint)
        report_line(v, UI_STYLE_WARN, 0, ODB_NO_NODE, hint);
    for (size_t i = 0; i < report->warnings.n; i++) {
        odb_buf_clear(&line);
        odb_buf_printf(&line, "warning: %s", report->warnings.items[i]);
        report_line(v, UI_STYLE_WARN, 0, ODB_NO_NODE, odb_buf_text(&line));
    }
    for (size_t i = 0; i < report->notes.n; i++) {
        odb_buf_clear(&line);
        odb_buf_printf(&line, "note: %s", report->notes.items[i]);
        report_line(v, UI_STYLE_NORMAL, 0, ODB_NO_NODE, odb_buf_text(&line));
    }
    report_words(v, report);
    for (size_t i = 0; i < report->steps.n; i++) {
        const struct odb_search_step *step = &report->steps.items[i];
        odb_buf_clear(&line);
        odb_buf_printf(&line, "%-10s %6.2f s  %zu loads, %zu runs  ", step->step,
                       ui_app_seconds(app, step->seconds), step->loads, step->runs);
        int hang = (int)line.len;
        odb_buf_puts(&line, step->why ? step->why : "");
        ui_text_add_hanging(&v->text, v->cols, UI_STYLE_DIM, 0, hang, ODB_NO_NODE,
                            odb_buf_text(&line));
    }
    if (report->target_description) {
        odb_buf_clear(&line);
        odb_buf_printf(&line, "%zu loads and %zu runs of %s in %.2f s", report->target_loads,
                       report->target_runs, report->target_description,
                       ui_app_seconds(app, report->seconds));
        report_line(v, UI_STYLE_DIM, 0, ODB_NO_NODE, odb_buf_text(&line));
    }
    odb_buf_dispose(&line);
}

static void report_make(struct report_view *v)
{
    const struct odb_report *report = v->text.view.app->session->report;
    ui_text_clear(&v->text);
    if (!report) {
        report_line(v, UI_STYLE_NORMAL, 0, ODB_NO_NODE,
                    "Nothing was searched yet. `bisect` (the key F in the list of nodes) finds "
                    "where the target diverges from the reference.");
        return;
    }
    report_head(v, report);
    for (size_t i = 0; i < report->culprits.n && i < REPORT_SHOWN; i++)
        report_culprit(v, &report->culprits.items[i]);
    if (report->culprits.n > REPORT_SHOWN)
        report_line(v, UI_STYLE_DIM, 0, ODB_NO_NODE,
                    "There are more; `filter culprit` lists them all.");
    report_cost(v, report);
}

static void report_prepare(struct ui_view *view, int cols)
{
    struct report_view *v = (struct report_view *)view;
    const struct odb_session *session = view->app->session;
    odb_session_lock(session);
    if (v->cols != cols || v->generation != session->generation || !v->text.lines.n) {
        v->cols = ODB_MAX(cols - 2, 10);
        v->generation = session->generation;
        report_make(v);
        v->cols = cols;
    }
    odb_session_unlock(session);
}

static void report_title(const struct ui_view *view, struct odb_buf *out)
{
    const char *filter = ui_text_filtered(view);
    odb_buf_puts(out, "diagnosis");
    if (filter)
        odb_buf_printf(out, "  filter: %s", filter);
}

const struct ui_view_ops ui_report_view = {
    .name = "report",
    .help = "the diagnosis in words",
    .size = sizeof(struct report_view),
    .wraps = true,
    .close = ui_text_close,
    .title = report_title,
    .prepare = report_prepare,
    .rows = ui_text_rows,
    .draw_row = ui_text_draw_row,
    .matches = ui_text_row_matches,
    .subject = ui_text_subject,
    .filter = ui_text_filter,
    .filtered = ui_text_filtered,
};
