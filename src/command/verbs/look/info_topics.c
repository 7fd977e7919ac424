/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/look/info_topics.h"

#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/console.h"
#include "command/console/annotating.h"
#include "command/console/sessions.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/value/names.h"
#include "report/report.h"
#include "session/session_state.h"
#include "session/files/autosave.h"
#include "session/files/stored.h"

/* --- what was put down ------------------------------------------------------------------------ */

#define TOPIC_KEPT(name, kinds)                                                                    \
    static enum odb_status topic_##name(struct odb_command_call *call, struct odb_buf *out,        \
                                        struct odb_error *err)                                     \
    {                                                                                              \
        odb_annotating_put_list(call->session, kinds, out);                                        \
        return ODB_OK;                                                                             \
    }
TOPIC_KEPT(breakpoints, 1u << ODB_ANNOTATION_BREAK | 1u << ODB_ANNOTATION_WATCH)
TOPIC_KEPT(watchpoints, 1u << ODB_ANNOTATION_WATCH)
TOPIC_KEPT(displays, 1u << ODB_ANNOTATION_DISPLAY)
TOPIC_KEPT(pins, 1u << ODB_ANNOTATION_PIN)
TOPIC_KEPT(marks, 1u << ODB_ANNOTATION_MARK)
TOPIC_KEPT(notes, 1u << ODB_ANNOTATION_NOTE)

/* --- where things stand ----------------------------------------------------------------------- */

static enum odb_status topic_culprits(struct odb_command_call *call, struct odb_buf *out,
                                      struct odb_error *err)
{
    odb_session_lock(call->session);
    const struct odb_report *report = call->session->report;
    for (size_t i = 0; report && i < report->culprits.n; i++) {
        odb_node_put(call->model->graph, report->culprits.items[i].node, out);
        odb_buf_printf(out, ": %s\n", odb_diagnosis_name(report->culprits.items[i].kind));
    }
    odb_session_unlock(call->session);
    return ODB_OK;
}

static enum odb_status topic_frame(struct odb_command_call *call, struct odb_buf *out,
                                   struct odb_error *err)
{
    const struct odb_session *session = call->session;
    if (call->console && call->console->busy) /* it may be moving */
        return odb_fail(err, ODB_E_USAGE, "the target runs; it is known when it stops");
    for (const struct odb_inside *in = session->inside; in; in = in->outer) {
        const struct odb_graph *graph = in->walk->model->graph;
        odb_buf_put_shown(out, in->path);
        odb_buf_printf(out, " at node %d of %zu\n", in->walk->at, graph->n_nodes);
    }
    if (session->walk)
        odb_buf_printf(out, "main graph at node %d of %zu\n", session->walk->at,
                       call->model->graph->n_nodes);
    return ODB_OK;
}

/* Another command's listing, which prints by itself. */
static enum odb_status topic_as(struct odb_command_call *call, odb_command_fn command,
                                struct odb_error *err)
{
    struct odb_command_call other = {.console = call->console,
                                     .session = call->session,
                                     .model = call->model,
                                     .command = call->command,
                                     .width = call->width,
                                     .out = call->out,
                                     .log = call->log};
    enum odb_status status = command(&other, err);
    if (!call->write_error)
        call->write_error = other.write_error;
    return status;
}

static enum odb_status topic_settings(struct odb_command_call *call, struct odb_buf *out,
                                      struct odb_error *err)
{
    if (!call->console)
        return odb_fail(err, ODB_E_USAGE, "there are no settings here");
    return topic_as(call, odb_command__show, err);
}

static enum odb_status topic_nodes(struct odb_command_call *call, struct odb_buf *out,
                                   struct odb_error *err)
{
    return topic_as(call, odb_command__nodes, err);
}

/* --- inputs ----------------------------------------------------------------------------------- */

/* Where an input is from, or will be once it is needed. */
static void topic_put_source(const struct odb_command_call *call, int value, struct odb_buf *out)
{
    const char *name = call->model->graph->values[value].name;
    const char *set = odb_call_option(call, ODB_OPTION_INPUTS_FROM);
    const struct odb_feeds *feeds = call->session->feeds;
    for (size_t i = 0; feeds && i < feeds->n; i++)
        if (feeds->items[i].value == value) {
            char type[320];
            odb_buf_puts(out, odb_call__type_text(feeds->items[i].tensor, type, sizeof type));
            odb_buf_puts(out, "  ");
            odb_buf_put_shown(out, feeds->items[i].source);
            return;
        }
    size_t n, n_name = strlen(name);
    const char **given = odb_call_list(call, ODB_OPTION_INPUT, &n);
    for (size_t i = 0; i < n; i++)
        if (!strncmp(given[i], name, n_name) && given[i][n_name] == '=')
            set = given[i] + n_name + 1;
    free((void *)given);
    odb_buf_put_shown(out, set ? set : "generated");
    odb_buf_puts(out, ", not made yet");
}

static enum odb_status topic_inputs(struct odb_command_call *call, struct odb_buf *out,
                                    struct odb_error *err)
{
    const struct odb_graph *graph = call->model->graph;
    int *list = odb_new_n(int, graph->n_inputs + 1);
    size_t n = odb_graph_feeds(graph, list);
    odb_session_lock(call->session);
    for (size_t i = 0; i < n; i++) {
        const struct odb_value *value = &graph->values[list[i]];
        odb_buf_put_shown(out, value->name);
        odb_buf_puts(out, "  ");
        odb_buf_put_shown(out, value->type.known ? value->type.shown : "(no type declared)");
        odb_buf_puts(out, ": ");
        topic_put_source(call, list[i], out);
        odb_buf_putc(out, '\n');
    }
    odb_session_unlock(call->session);
    const char **dims = odb_call_list(call, ODB_OPTION_DIM, &n);
    for (size_t i = 0; i < n; i++) {
        odb_buf_puts(out, "dim ");
        odb_buf_put_shown(out, dims[i]);
        odb_buf_putc(out, '\n');
    }
    free((void *)dims);
    free(list);
    return ODB_OK;
}

/* --- target and session ----------------------------------------------------------------------- */

static void topic_put_row(struct odb_buf *out, const char *what, const char *text)
{
    if (!text || !*text)
        return;
    odb_buf_printf(out, "%-12s", what);
    odb_buf_put_shown(out, text);
    odb_buf_putc(out, '\n');
}

static enum odb_status topic_target(struct odb_command_call *call, struct odb_buf *out,
                                    struct odb_error *err)
{
    struct odb_session *session = call->session;
    odb_session_lock(session);
    const struct odb_report *report = session->report;
    const char *spec = call->console ? odb_console_target(call->console)
                       : report      ? report->target
                                     : NULL;
    topic_put_row(out, "target", spec);
    if (call->console) {
        topic_put_row(out, "reference", odb_console_reference(call->console));
        topic_put_row(out, "tolerance", odb_console_tolerance(call->console));
    }
    bool asked = report && spec && report->target && !strcmp(report->target, spec);
    if (asked)
        topic_put_row(out, "it is", report->target_description);
    if (session->account.places.n) {
        odb_buf_puts(out, "nodes run   ");
        odb_account_put_places(&session->account, out);
        odb_buf_putc(out, '\n');
    }
    for (size_t i = 0; i < session->account.notes.n; i++)
        topic_put_row(out, "note", session->account.notes.items[i]);
    if (spec && !asked && !session->account.places.n)
        odb_buf_puts(out, "what it makes of the model is not known yet; `target` asks it\n");
    odb_session_unlock(session);
    return ODB_OK;
}

static void topic_put_stored(const struct odb_stored *stored, struct odb_buf *out)
{
    struct odb_buf result = ODB_BUF_INIT;
    odb_buf_printf(out, "searches    %zu\n", stored->searches);
    topic_put_row(out, "newest", stored->began);
    topic_put_row(out, "command", stored->command);
    topic_put_row(out, "target", stored->target);
    odb_sessions_put_result(stored, &result);
    topic_put_row(out, "result", odb_buf_text(&result));
    odb_buf_dispose(&result);
}

static enum odb_status topic_session(struct odb_command_call *call, struct odb_buf *out,
                                     struct odb_error *err)
{
    struct odb_session *session = call->session;
    const char *path = session->store ? odb_store_path(session->store) : NULL;
    bool saves = call->console && call->console->saves;
    size_t counts[ODB_ANNOTATION_COUNT] = {0}, made = 0;
    struct odb_stored stored;
    topic_put_row(out, "model", call->model->path);
    topic_put_row(out, "file",
                  path ? path
                  : saves && odb_autosave_is_on(odb_call_option(call, ODB_OPTION_AUTOSAVE), true)
                      ? "none yet: one is begun by itself when there is something to keep"
                      : "none: what is found is kept until the program ends");
    if (path && odb_stored_read(&stored, path, NULL) == ODB_OK)
        topic_put_stored(&stored, out);
    if (path)
        odb_stored_dispose(&stored);
    odb_session_lock(session);
    for (size_t i = 0; i < call->model->graph->n_values; i++)
        made += call->model->graph->values[i].producer != ODB_NO_NODE;
    for (size_t i = 0; i < session->annotations.items.n; i++)
        counts[session->annotations.items.items[i].kind]++;
    odb_buf_printf(out, "values      %zu of %zu judged\n", odb_session_judged(session), made);
    for (int k = 0; k < ODB_ANNOTATION_COUNT; k++)
        if (counts[k])
            odb_buf_printf(out, "%-12s%zu\n", odb_annotation_name((enum odb_annotation_kind)k),
                           counts[k]);
    if (session->bookmarks.n)
        odb_buf_printf(out, "%-12s%zu\n", "bookmark", session->bookmarks.n);
    odb_session_unlock(session);
    return ODB_OK;
}

/* In the order of ODB_INFO_TOPICS. prints: it does that itself. */
static const struct topic {
    const char *name;
    enum odb_status (*put)(struct odb_command_call *call, struct odb_buf *out,
                           struct odb_error *err);
    bool prints;
} topics[] = {
    {"breakpoints", topic_breakpoints},
    {"watchpoints", topic_watchpoints},
    {"displays", topic_displays},
    {"pins", topic_pins},
    {"marks", topic_marks},
    {"notes", topic_notes},
    {"culprits", topic_culprits},
    {"frame", topic_frame},
    {"settings", topic_settings, true},
    {"nodes", topic_nodes, true},
    {"inputs", topic_inputs},
    {"target", topic_target},
    {"session", topic_session},
};

/* The one that a beginning of its name means; NULL: there is none, or more than one. */
static const struct topic *topic_find(const char *name)
{
    const struct topic *found = NULL;
    size_t n = strlen(name), many = 0;
    for (size_t i = 0; i < ODB_COUNT(topics); i++)
        if (!strncmp(topics[i].name, name, n)) {
            found = &topics[i];
            many++;
        }
    return many == 1 ? found : NULL;
}

enum odb_status odb_info_topic(struct odb_command_call *call, const char *name,
                               struct odb_error *err)
{
    const struct topic *topic = topic_find(name);
    struct odb_buf out = ODB_BUF_INIT;
    if (!topic) {
        odb_fail(err, ODB_E_USAGE, "info knows nothing of '%.40s'", name);
        return odb_error_remedy(err, "choose one of %s", ODB_INFO_TOPICS);
    }
    enum odb_status status = topic->put(call, &out, err);
    if (status == ODB_OK && !out.len && !topic->prints)
        odb_buf_puts(&out, "there are none\n");
    odb_call__print(call, &out);
    return status;
}
