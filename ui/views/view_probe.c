/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One probe of the search in full: what was cut out and why, what went in, what was compared, and
 * what came of it. It follows the row that is selected in the log.
 */
#include <ctype.h>
#include <stdlib.h>

#include "base/buf.h"
#include "command/call/call.h"
#include "command/table/command.h"
#include "model/model.h"
#include "run/probe_kind.h"
#include "session/session.h"
#include "ui/list/list.h"
#include "ui/list/text_view.h"
#include "ui/terminal/terminal.h"
#include "ui/view/app.h"
#include "ui/view/mark.h"
#include "ui/view/view.h"
#include "ui/views/view_log.h"

struct probe_view {
    struct ui_text_view text;
    size_t shown;  /* entry of the log, from 1; 0: none */
    double search; /* when the search began whose log it is */
    int cols;
    bool ended;
};

static void probe_row(struct probe_view *v, enum ui_style style, int indent, int node, int value,
                      const char *fmt, ...) ODB_PRINTF(6, 7);

static void probe_row(struct probe_view *v, enum ui_style style, int indent, int node, int value,
                      const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    ui_text_addv(&v->text, v->cols, style, indent, node, value, fmt, args);
    va_end(args);
}

static void probe_head(struct probe_view *v, const char *title)
{
    probe_row(v, UI_STYLE_NORMAL, 0, ODB_NO_NODE, ODB_NO_VALUE, "%s", "");
    probe_row(v, UI_STYLE_LABEL, 0, ODB_NO_NODE, ODB_NO_VALUE, "%s", title);
}

static void probe_put_verdict(struct probe_view *v, const struct odb_probe_log *p)
{
    const struct ui_app *app = v->text.view.app;
    const struct odb_value_report report = {.verdict = p->verdict};
    if (!p->ended) {
        probe_row(v, UI_STYLE_WARN, 0, ODB_NO_NODE, ODB_NO_VALUE, "running");
        return;
    }
    probe_row(v, ui_mark_style(&report, false), 0, ODB_NO_NODE, ODB_NO_VALUE, "%s: %s",
              odb_verdict_name(p->verdict), odb_verdict_help(p->verdict));
    if (p->failure)
        probe_row(v, UI_STYLE_WARN, 2, ODB_NO_NODE, ODB_NO_VALUE, "%s", p->failure);
    probe_row(v, UI_STYLE_DIM, 0, ODB_NO_NODE, ODB_NO_VALUE,
              "put at %.2f s, took %.2f s: %zu load%s, %zu run%s of the target",
              ui_app_seconds(app, p->began), ui_app_seconds(app, p->seconds), p->loads,
              p->loads == 1 ? "" : "s", p->runs, p->runs == 1 ? "" : "s");
}

static void probe_put_sentence(struct probe_view *v, const char *text)
{
    probe_row(v, UI_STYLE_NORMAL, 2, ODB_NO_NODE, ODB_NO_VALUE, "%c%s.",
              toupper((unsigned char)*text), text + 1);
}

/* Why it was put, and what that has brought. */
static void probe_put_why(struct probe_view *v, const struct odb_probe_log *p)
{
    const char *why = odb_probe_kind_why(p->asked);
    const char *means = p->ended ? odb_probe_kind_means(p->asked, p->verdict) : "";
    if (*why) {
        probe_head(v, "why");
        probe_put_sentence(v, why);
    }
    if (*means || (p->ended && p->remaining))
        probe_head(v, "what it showed");
    if (*means)
        probe_put_sentence(v, means);
    if (p->ended && p->remaining && p->suspects >= p->remaining)
        probe_row(v, UI_STYLE_NUMBER, 2, ODB_NO_NODE, ODB_NO_VALUE,
                  "%zu node%s ruled out: %zu suspect%s before, %zu left",
                  p->suspects - p->remaining, p->suspects - p->remaining == 1 ? "" : "s",
                  p->suspects, p->suspects == 1 ? "" : "s", p->remaining);
    else if (p->ended && p->remaining)
        probe_row(v, UI_STYLE_NUMBER, 2, ODB_NO_NODE, ODB_NO_VALUE, "%zu suspect%s left",
                  p->remaining, odb_plural(p->remaining));
}

static void probe_put_link(struct probe_view *v, const char *before, int node)
{
    struct odb_buf text = ODB_BUF_INIT;
    odb_buf_puts(&text, before);
    odb_node_put(odb_session_model(v->text.view.app->session)->graph, node, &text);
    probe_row(v, UI_STYLE_NAME, 2, node, ODB_NO_VALUE, "%s", odb_buf_text(&text));
    odb_buf_dispose(&text);
}

static void probe_put_more(struct probe_view *v, size_t n)
{
    if (n)
        probe_row(v, UI_STYLE_DIM, 2, ODB_NO_NODE, ODB_NO_VALUE, "and %zu more", n);
}

static void probe_put_cut(struct probe_view *v, const struct odb_probe_log *p)
{
    char *head =
        p->within ? odb_xasprintf("the cut: %zu node%s of the body", p->nodes, odb_plural(p->nodes))
                  : odb_xasprintf("the cut: %zu of %zu nodes", p->nodes,
                                  odb_session_model(v->text.view.app->session)->graph->n_nodes);
    if (p->nodes)
        probe_head(v, head);
    free(head);
    for (size_t i = 0; !p->within && i < p->cut.n; i++) {
        const struct odb_log_range *range = &p->cut.items[i];
        probe_put_link(v, "", range->first);
        if (range->last > range->first + 1)
            probe_put_link(v, "to ", range->last);
        else if (range->last > range->first)
            probe_put_link(v, "", range->last);
    }
    if (!p->within && p->n_ranges > p->cut.n)
        probe_put_more(v, p->n_ranges - p->cut.n);
}

static void probe_put_values(struct probe_view *v, const char *title,
                             const struct odb_log_values *list)
{
    if (!list->n)
        return;
    char *head = odb_xasprintf("%s: %zu", title, list->all);
    probe_head(v, head);
    free(head);
    for (size_t i = 0; i < list->n; i++) {
        struct odb_buf type = ODB_BUF_INIT;
        if (list->items[i].value != ODB_NO_VALUE)
            odb_session_put_type(v->text.view.app->session, list->items[i].value, &type);
        probe_row(v, UI_STYLE_NAME, 2, ODB_NO_NODE, list->items[i].value, "%s  %s",
                  list->items[i].name, odb_buf_text(&type));
        odb_buf_dispose(&type);
    }
    probe_put_more(v, list->all - list->n);
}

static void probe_put_number(struct odb_buf *out, const char *name, struct odb_number number)
{
    if (number.known)
        odb_buf_printf(out, "  %s %.3g", name, number.v);
}

static void probe_put_compared(struct probe_view *v, const struct odb_probe_log *p)
{
    const bool unicode = v->text.view.app->terminal->unicode;
    if (!p->compared.n)
        return;
    char *head = odb_xasprintf("compared: %zu, of which %zu off", p->compared.all, p->bad);
    probe_head(v, head);
    free(head);
    for (size_t i = 0; i < p->compared.n; i++) {
        const struct odb_seen *c = &p->compared.items[i].compared;
        const struct odb_value_report report = {.verdict = c->verdict};
        struct odb_buf line = ODB_BUF_INIT;
        odb_buf_printf(&line, "%s %-5s  %s",
                       ui_glyph_text(ui_mark_glyph(&report, false, false), unicode),
                       odb_verdict_name(c->verdict), p->compared.items[i].name);
        probe_put_number(&line, c->local ? "own error" : "error", c->error);
        probe_put_number(&line, "noise", c->noise);
        ui_text_add_hanging(&v->text, v->cols, ui_mark_style(&report, false), 2, 9, ODB_NO_NODE,
                            odb_buf_text(&line));
        v->text.lines.items[v->text.lines.n - 1].value = p->compared.items[i].value;
        odb_buf_dispose(&line);
    }
    probe_put_more(v, p->compared.all - p->compared.n);
}

static void probe_make(struct probe_view *v, const struct odb_probe_log *p)
{
    probe_put_verdict(v, p);
    probe_put_why(v, p);
    if (p->node != ODB_NO_NODE) {
        probe_head(v, "about");
        probe_put_link(v, "", p->node);
    }
    probe_put_compared(v, p);
    probe_put_cut(v, p);
    probe_put_values(v, "fed", &p->fed);
    probe_put_values(v, "read", &p->read);
}

static void probe_prepare(struct ui_view *view, int cols)
{
    struct probe_view *v = (struct probe_view *)view;
    const struct odb_session *session = view->app->session;
    odb_session_lock(session);
    size_t at = ui_log_selected(view->app->views[UI_VIEW_LOG]);
    const struct odb_probe_log *p =
        at < odb_session_n_log(session) ? odb_session_log(session, at) : NULL;
    size_t shown = p ? at + 1 : 0;
    bool another = v->shown != shown || v->search != odb_session_progress(session)->began;
    if (another || v->cols != cols - 2 || !p || v->ended != p->ended) {
        if (another)
            view->selected = view->top = 0;
        v->shown = shown;
        v->search = odb_session_progress(session)->began;
        v->cols = cols - 2;
        v->ended = p && p->ended;
        ui_text_clear(&v->text);
        if (p)
            probe_make(v, p);
    }
    odb_session_unlock(session);
}

static void probe_title(const struct ui_view *view, struct odb_buf *out)
{
    const struct probe_view *v = (const struct probe_view *)view;
    const struct odb_session *session = view->app->session;
    if (v->shown && v->shown <= odb_session_n_log(session))
        odb_buf_printf(out, "probe %zu of %zu: %s", v->shown, odb_session_n_log(session),
                       odb_session_log(session, v->shown - 1)->text);
    else
        odb_buf_puts(out, "no probe is selected in the log");
}

/* To the next probe, or that before, without going back to the log. */
static enum ui_answer probe_act(struct ui_view *view, const struct odb_command_call *call,
                                struct odb_error *err)
{
    struct ui_view *log = view->app->views[UI_VIEW_LOG];
    int64_t by;
    if (call->command->screen != ODB_SCREEN_SECTION)
        return UI_NOT_MINE;
    const char *n = odb_call_arg(call, 0);
    by = n ? strtoll(n, NULL, 10) : 1;
    ui_list_select(log, by < 0 && log->selected < (size_t)-by ? 0 : log->selected + (size_t)by);
    return UI_DONE;
}

const struct ui_view_ops ui_probe_view = {
    .help = "one probe of the search log in full",
    .size = sizeof(struct probe_view),
    .wraps = true,
    .close = ui_text_close,
    .title = probe_title,
    .prepare = probe_prepare,
    UI_TEXT_LINES,
    UI_TEXT_FILTERED,
    .act = probe_act,
};
