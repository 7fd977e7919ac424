/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The diagnosis in words: what the newest search found, culprit by culprit, and what it cost. Each
 * has a heading, below which it folds.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "command/call/call.h"
#include "command/table/command.h"
#include "model/model.h"
#include "report/report.h"
#include "session/session.h"
#include "ui/list/checklist.h"
#include "ui/list/list.h"
#include "ui/list/text_view.h"
#include "ui/terminal/terminal.h"
#include "ui/view/app.h"
#include "ui/view/view.h"

/* Sections; those of culprits are numbered from REPORT_CULPRITS on, each behind that of its
 * paragraph, which is folded at first. */
enum { REPORT_HEAD, REPORT_REMARKS, REPORT_WORDS, REPORT_RANKING, REPORT_STEPS, REPORT_CULPRITS };

struct report_view {
    struct ui_text_view text;
    ODB_VEC(int) sections;    /* of each line */
    ODB_VEC(int) turned;      /* sections that are not as they are at first */
    int section;              /* of the lines that are added now */
    unsigned long generation; /* of the session when the text was made */
    int cols;
};

#define REPORT_SHOWN 50 /* culprits told in words */

/* Whether it is folded at first: a paragraph, but on paper. */
static bool report_is_paragraph(const struct report_view *v, int section)
{
    return section >= REPORT_CULPRITS && (section - REPORT_CULPRITS) % 2 == 1 &&
           !v->text.view.app->terminal->canvas;
}

static bool report_folds(const struct report_view *v, int section)
{
    for (size_t i = 0; i < v->turned.n; i++)
        if (v->turned.items[i] == section)
            return !report_is_paragraph(v, section);
    return report_is_paragraph(v, section);
}

static void report_note_lines(struct report_view *v)
{
    while (v->sections.n < v->text.lines.n)
        odb_push(&v->sections, v->section);
}

static void report_line(struct report_view *v, enum ui_style style, int indent, int node,
                        const char *text)
{
    if (report_folds(v, v->section))
        return;
    ui_text_add(&v->text, v->cols, style, indent, node, ODB_NO_VALUE, text);
    report_note_lines(v);
}

/* The heading of a section, which stays when that is folded. */
static void report_heading(struct report_view *v, int section, enum ui_style style, int indent,
                           int node, const char *text)
{
    enum ui_glyph glyph = report_folds(v, section) ? UI_GLYPH_FOLDED : UI_GLYPH_UNFOLDED;
    char *line =
        odb_xasprintf("%s %s", ui_glyph_text(glyph, v->text.view.app->terminal->unicode), text);
    v->section = section;
    ui_text_add_hanging(&v->text, v->cols, style, indent, 2, node, line);
    report_note_lines(v);
    free(line);
}

/* A blank line, also behind a section that is folded. */
static void report_gap(struct report_view *v)
{
    v->section = REPORT_HEAD;
    report_line(v, UI_STYLE_NORMAL, 0, ODB_NO_NODE, "");
}

/* All that is said of it in words, with a heading of its own. */
static void report_paragraph(struct report_view *v, size_t index, const struct odb_culprit *culprit)
{
    if (!culprit->text || !*culprit->text || report_folds(v, v->section))
        return;
    report_heading(v, REPORT_CULPRITS + 2 * (int)index + 1, UI_STYLE_LABEL, 4, ODB_NO_NODE,
                   "in words");
    char *words = ui_app_words(culprit->text);
    struct odb_named_number numbers[ODB_REPORT_NUMBERS];
    struct odb_buf line = ODB_BUF_INIT;
    odb_report_numbers(&culprit->numbers, numbers);
    for (size_t i = 0; i < ODB_REPORT_NUMBERS; i++)
        if (numbers[i].number.known)
            odb_buf_printf(&line, "%s%s %.2g", line.len ? ", " : "", numbers[i].name,
                           numbers[i].number.v);
    if (line.len)
        report_line(v, UI_STYLE_NUMBER, 6, culprit->node, odb_buf_text(&line));
    odb_buf_clear(&line);
    odb_culprit_facts(culprit, &line);
    report_line(v, UI_STYLE_DIM, 6, culprit->node, odb_buf_text(&line));
    report_line(v, UI_STYLE_NORMAL, 6, culprit->node, words);
    odb_buf_dispose(&line);
    free(words);
}

static void report_culprit(struct report_view *v, size_t index, const struct odb_culprit *culprit)
{
    const struct odb_graph *graph = odb_session_model(v->text.view.app->session)->graph;
    struct odb_buf line = ODB_BUF_INIT;
    odb_node_put(graph, culprit->node, &line);
    odb_buf_printf(&line, ": %s", odb_diagnosis_name(culprit->kind));
    bool acquitted = !odb_session_culprit(v->text.view.app->session, culprit->node);
    if (acquitted)
        odb_buf_puts(&line, " (within the tolerance that was set since)");
    report_heading(v, REPORT_CULPRITS + 2 * (int)index, acquitted ? UI_STYLE_DIM : UI_STYLE_BAD, 0,
                   culprit->node, odb_buf_text(&line));
    odb_buf_dispose(&line);
    struct ui_checklist list;
    ui_checklist_make(&list, v->text.view.app, culprit);
    for (size_t i = 0; i < list.n; i++)
        report_line(v, list.lines[i].style, 4, culprit->node, odb_buf_text(&list.lines[i].text));
    ui_checklist_dispose(&list);
    report_paragraph(v, index, culprit);
    report_gap(v);
}

static void report_head(struct report_view *v, const struct odb_report *report)
{
    struct odb_buf line = ODB_BUF_INIT;
    odb_report_headline(report, &line);
    bool good = odb_report_outcome(report) == ODB_OUTCOME_PASS && !report->little_shown;
    v->section = REPORT_HEAD;
    report_line(v, good ? UI_STYLE_GOOD : UI_STYLE_WARN, 0, ODB_NO_NODE, odb_buf_text(&line));
    odb_buf_clear(&line);
    odb_report_put_hint(report, &line);
    char *hint = ui_app_words(odb_buf_text(&line));
    if (line.len)
        report_line(v, UI_STYLE_WARN, 0, ODB_NO_NODE, hint);
    free(hint);
    odb_buf_clear(&line);
    odb_report_put_alike(report, &line);
    if (line.len)
        report_line(v, UI_STYLE_WARN, 0, ODB_NO_NODE, odb_buf_text(&line));
    const struct odb_feeds *feeds = report->feeds;
    if (feeds && feeds->chosen && *feeds->chosen) {
        odb_buf_clear(&line);
        odb_buf_printf(&line, "%s chosen", feeds->chosen);
        report_line(v, UI_STYLE_DIM, 0, ODB_NO_NODE, odb_buf_text(&line));
    }
    report_gap(v);
    odb_buf_dispose(&line);
}

/* What the target printed before it died. */
static void report_words(struct report_view *v, const struct odb_report *report)
{
    struct odb_buf words = ODB_BUF_INIT;
    char *rest = NULL;
    odb_report_put_words(report, "", &words);
    if (words.len)
        report_heading(v, REPORT_WORDS, UI_STYLE_LABEL, 0, ODB_NO_NODE,
                       "what the target printed before it died");
    for (char *line = words.len ? strtok_r(words.data, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest))
        report_line(v, UI_STYLE_DIM, 4, ODB_NO_NODE, line);
    if (words.len)
        report_gap(v);
    odb_buf_dispose(&words);
}

/* Nodes as they were ranked where none could be found. */
static void report_ranking(struct report_view *v, const struct odb_report *report)
{
    char *text = report->ranking ? odb_xstrdup(report->ranking) : NULL, *rest = NULL;
    if (!text)
        return;
    report_heading(v, REPORT_RANKING, UI_STYLE_LABEL, 0, ODB_NO_NODE,
                   "nodes by what the outputs alone show");
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        report_line(v, UI_STYLE_NORMAL, 4, ODB_NO_NODE, line);
    report_gap(v);
    free(text);
}

static void report_remark(struct report_view *v, enum ui_style style, const char *kind,
                          const char *text)
{
    char *line = odb_xasprintf("%s: %s", kind, text), *words = ui_app_words(line);
    report_line(v, style, 4, ODB_NO_NODE, words);
    free(line);
    free(words);
}

static void report_remarks(struct report_view *v, const struct odb_report *report)
{
    size_t n = report->warnings.n + report->notes.n + (report->instead_text != NULL);
    char *head = odb_xasprintf("remarks: %zu", n);
    if (n)
        report_heading(v, REPORT_REMARKS, UI_STYLE_LABEL, 0, ODB_NO_NODE, head);
    for (size_t i = 0; i < report->warnings.n; i++)
        report_remark(v, UI_STYLE_WARN, "warning", report->warnings.items[i]);
    for (size_t i = 0; i < report->notes.n; i++)
        report_remark(v, UI_STYLE_NORMAL, "note", report->notes.items[i]);
    if (report->instead_text)
        report_remark(v, UI_STYLE_NORMAL, "the target was not given the file itself",
                      report->instead_text);
    if (n)
        report_gap(v);
    free(head);
}

static void report_step(struct report_view *v, const struct odb_search_step *step)
{
    struct odb_buf line = ODB_BUF_INIT;
    odb_buf_printf(&line, "%-10s %6.2f s  %zu load%s, %zu run%s  ", step->step,
                   ui_app_seconds(v->text.view.app, step->seconds), step->loads,
                   odb_plural(step->loads), step->runs, odb_plural(step->runs));
    int hang = (int)line.len;
    odb_buf_puts(&line, step->why ? step->why : "");
    if (!report_folds(v, v->section))
        ui_text_add_hanging(&v->text, v->cols, UI_STYLE_DIM, 4, hang, ODB_NO_NODE,
                            odb_buf_text(&line));
    report_note_lines(v);
    odb_buf_dispose(&line);
}

static void report_cost(struct report_view *v, const struct odb_report *report)
{
    struct odb_buf line = ODB_BUF_INIT;
    odb_buf_puts(&line, "the search");
    if (report->target_description)
        odb_buf_printf(
            &line, ": %zu model%s, %zu load%s and %zu run%s of %s in %.2f s (loads %.2f s)",
            report->target_models, odb_plural(report->target_models), report->target_loads,
            odb_plural(report->target_loads), report->target_runs, odb_plural(report->target_runs),
            report->target_description, ui_app_seconds(v->text.view.app, report->seconds),
            ui_app_seconds(v->text.view.app, report->target_load_seconds));
    if (report->steps.n || report->target_description)
        report_heading(v, REPORT_STEPS, UI_STYLE_LABEL, 0, ODB_NO_NODE, odb_buf_text(&line));
    for (size_t i = 0; i < report->steps.n; i++)
        report_step(v, &report->steps.items[i]);
    odb_buf_dispose(&line);
}

static void report_make(struct report_view *v)
{
    const struct odb_report *report = odb_session_report(v->text.view.app->session);
    ui_text_clear(&v->text);
    v->sections.n = 0;
    v->section = REPORT_HEAD;
    if (!report) {
        report_line(v, UI_STYLE_NORMAL, 0, ODB_NO_NODE,
                    "Nothing was searched yet. `bisect` (the key F in the list of nodes) finds "
                    "where the target diverges from the reference.");
        return;
    }
    report_head(v, report);
    for (size_t i = 0; i < report->culprits.n && i < REPORT_SHOWN; i++)
        report_culprit(v, i, &report->culprits.items[i]);
    if (report->culprits.n > REPORT_SHOWN)
        report_line(v, UI_STYLE_DIM, 0, ODB_NO_NODE,
                    "There are more; `filter culprit` lists them all.");
    report_remarks(v, report);
    report_ranking(v, report);
    report_words(v, report);
    report_cost(v, report);
}

static void report_prepare(struct ui_view *view, int cols)
{
    struct report_view *v = (struct report_view *)view;
    const struct odb_session *session = view->app->session;
    odb_session_lock(session);
    if (v->cols != cols || v->generation != odb_session_generation(session) || !v->text.lines.n) {
        v->cols = ODB_MAX(cols - 2, 10);
        v->generation = odb_session_generation(session);
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

/* --- folding ---------------------------------------------------------------------------------- */

static void report_fold(struct report_view *v, int section, bool fold)
{
    size_t kept = 0;
    for (size_t i = 0; i < v->turned.n; i++)
        if (v->turned.items[i] != section)
            v->turned.items[kept++] = v->turned.items[i];
    v->turned.n = kept;
    if (fold != report_is_paragraph(v, section))
        odb_push(&v->turned, section);
}

static void report_fold_all(struct report_view *v, bool fold)
{
    const struct odb_report *report = odb_session_report(v->text.view.app->session);
    size_t culprits = report ? ODB_MIN(report->culprits.n, REPORT_SHOWN) : 0;
    for (int section = REPORT_REMARKS; section < REPORT_CULPRITS + 2 * (int)culprits; section++)
        report_fold(v, section, fold);
}

/* `fold` is about the section of the selected row, whose heading is selected then. */
static enum ui_answer report_do_fold(struct report_view *v, const char *how, struct odb_error *err)
{
    struct ui_view *view = &v->text.view;
    size_t line = ui_text_selected(view), to = 0;
    int section = line < v->sections.n ? v->sections.items[line] : REPORT_HEAD;
    bool all = !strcmp(how, "all") || !strcmp(how, "more");
    bool none = !strcmp(how, "none") || !strcmp(how, "less");
    if (!all && !none && section == REPORT_HEAD) {
        odb_fail(err, ODB_E_USAGE, "this row is in no section that folds");
        return UI_FAILED;
    }
    if (all || none)
        report_fold_all(v, all);
    else
        report_fold(v, section, strcmp(how, "open") && !report_folds(v, section));
    odb_session_lock(view->app->session);
    v->cols = ODB_MAX(view->cols - 2, 10);
    report_make(v);
    v->cols = 0; /* so that the next frame makes it once more */
    odb_session_unlock(view->app->session);
    while (to < v->sections.n && v->sections.items[to] != section)
        to++;
    if (!ui_text_filtered(view))
        ui_list_select(view, section == REPORT_HEAD ? 0 : to);
    return UI_DONE;
}

/* Enter goes to a culprit's node, and folds where there is none. */
static enum ui_answer report_act(struct ui_view *view, const struct odb_command_call *call,
                                 struct odb_error *err)
{
    struct report_view *v = (struct report_view *)view;
    const char *arg = odb_call_arg(call, 0);
    if (call->command->screen == ODB_SCREEN_FOLD)
        return report_do_fold(v, arg ? arg : "toggle", err);
    bool opens = call->command->screen == ODB_SCREEN_OPEN && !arg;
    if (!opens || ui_app_subject(view->app).node != ODB_NO_NODE)
        return UI_NOT_MINE;
    return report_do_fold(v, "toggle", err);
}

static void report_close(struct ui_view *view)
{
    struct report_view *v = (struct report_view *)view;
    free(v->sections.items);
    free(v->turned.items);
    ui_text_close(view);
}

const struct ui_view_ops ui_report_view = {
    .help = "the diagnosis in words",
    .size = sizeof(struct report_view),
    .wraps = true,
    .close = report_close,
    .act = report_act,
    .title = report_title,
    .prepare = report_prepare,
    UI_TEXT_LINES,
    UI_TEXT_FILTERED,
};
