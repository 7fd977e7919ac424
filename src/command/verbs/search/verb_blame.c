/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is known of a node's part in the error, told from the report of the last search and from the
 * verdicts that stand; nothing is run.
 */
#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/table/help.h"
#include "command/table/verbs.h"
#include "command/verbs/search/verb_bisect.h"
#include "report/json.h"
#include "report/report.h"
#include "session/session_state.h"

/* --- a culprit -------------------------------------------------------------------------------- */

static void blame_put_evidence(const struct odb_culprit *culprit, struct odb_buf *out)
{
    static const char *const help[] = {
#define BLAME_HELP(id, text, what) [ODB_CHECK_##id] = what,
        ODB_CHECK_LIST(BLAME_HELP)
#undef BLAME_HELP
    };
    static const char *const answers[] = {
        [ODB_CONFIRMS] = "yes", [ODB_CONTRADICTS] = "no", [ODB_NOT_TESTABLE] = "cannot be asked"};
    bool any = false;
    for (int c = 0; c < ODB_CHECK_COUNT; c++) {
        enum odb_checked answer = culprit->checks[c];
        if (answer == ODB_NOT_ASKED)
            continue;
        odb_buf_puts(out, any ? "" : "    evidence:\n");
        any = true;
        odb_buf_printf(out, "      %-12s %s:", odb_check_name((enum odb_check)c), answers[answer]);
        odb_help_wrap(out, help[c], 19, 20 + strlen(answers[answer]));
    }
}

/* By node, or by the path of what was found in its bodies. */
static const struct odb_culprit *blame_culprit(const struct odb_session *session, int node,
                                               const char *path)
{
    const struct odb_report *report = session->report;
    for (size_t i = 0; report && i < report->culprits.n; i++) {
        const struct odb_culprit *culprit = &report->culprits.items[i];
        if (path ? culprit->path && !strcmp(culprit->path, path) : culprit->node == node)
            return culprit;
    }
    return NULL;
}

/* --- any other node --------------------------------------------------------------------------- */

static bool blame_is_off(const struct odb_session *session, int node)
{
    return node != ODB_NO_NODE &&
           odb_verdict_is_bad(odb_session_node(session, node, NULL)->verdict);
}

/* Whether the error of a node comes with one value rather than with another: with one that is off
 * in the way of the node itself (NaN of NaN), and of these with the one that is farther off. */
static bool blame_is_worse(const struct odb_value_report *a, const struct odb_value_report *b,
                           enum odb_verdict verdict)
{
    if ((a->verdict == verdict) != (b->verdict == verdict))
        return a->verdict == verdict;
    return a->error.known && (!b->error.known || a->error.v > b->error.v);
}

/* The input that a node has its error from, as far as can be seen; ODB_NO_VALUE: none is off. */
static int blame_worst_input(const struct odb_session *session, int node)
{
    const struct odb_graph *graph = session->model->graph;
    const struct odb_node *n = &graph->nodes[node];
    enum odb_verdict verdict = odb_session_node(session, node, NULL)->verdict;
    int worst = ODB_NO_VALUE;
    for (int i = 0; i < n->n_in + (int)n->n_captured; i++) {
        int v = i < n->n_in ? n->in[i] : n->captured[i - n->n_in];
        if (v < 0 || graph->values[v].producer == ODB_NO_NODE ||
            !odb_verdict_is_bad(session->values[v].verdict))
            continue;
        if (worst == ODB_NO_VALUE ||
            blame_is_worse(&session->values[v], &session->values[worst], verdict))
            worst = v;
    }
    return worst;
}

/* Back along the worst inputs to a node that was given nothing that is off. */
static int blame_origin(const struct odb_session *session, int node)
{
    int value;
    while (!odb_session_node(session, node, NULL)->culprit &&
           (value = blame_worst_input(session, node)) != ODB_NO_VALUE)
        node = session->model->graph->values[value].producer;
    return node;
}

static void blame_put_numbers(const struct odb_value_report *r, struct odb_buf *out)
{
    struct odb_named_number numbers[ODB_REPORT_NUMBERS];
    struct odb_buf line = ODB_BUF_INIT;
    odb_report_numbers(r, numbers);
    for (size_t i = 0; i < ODB_REPORT_NUMBERS; i++)
        if (numbers[i].number.known)
            odb_buf_printf(&line, "%s%s %.3g", line.len ? ", " : "", numbers[i].name,
                           numbers[i].number.v);
    if (line.len) {
        odb_buf_puts(out, "    ");
        odb_help_wrap(out, odb_buf_text(&line), 4, 4);
    }
    odb_buf_dispose(&line);
}

/* Its own, or by whom it was given. */
static void blame_put_cause(const struct odb_session *session, int node,
                            const struct odb_value_report *r, struct odb_buf *out)
{
    const struct odb_graph *graph = session->model->graph;
    int given = blame_worst_input(session, node), origin = blame_origin(session, node);
    char key[512];
    if (r->culprit) {
        odb_buf_puts(out, "It makes an error of its own: the reference operator, fed with what the "
                          "target fed this node, gives something else, by more than rounding "
                          "explains. ");
    } else if (given != ODB_NO_VALUE) {
        odb_buf_puts(out, r->local_error.known
                              ? "It was given the error: of what the target fed it, it makes what "
                                "the reference operator makes. "
                              : "What it is given is off already. ");
        odb_buf_puts(out, "It comes with ");
        odb_buf_put_shown(out, odb_value_key(graph, &graph->values[given], key, sizeof key));
        odb_buf_puts(out, " from ");
        odb_node_put(graph, graph->values[given].producer, out);
        odb_buf_puts(out, ". ");
    } else if (odb_verdict_is_bad(r->verdict)) {
        odb_buf_puts(out, "Nothing that it is given is known to be off. ");
    }
    if (origin != node && !r->culprit) {
        odb_buf_puts(out, "Followed back, it begins at ");
        odb_node_put(graph, origin, out);
        odb_buf_printf(out, "; `blame #%d` tells of that. ", origin);
    }
}

/* Some of them say what becomes of a value, others are sentences. */
static void blame_put_verdict(enum odb_verdict verdict, struct odb_buf *out)
{
    const char *help = odb_verdict_help(verdict);
    if (verdict == ODB_VERDICT_PASS || verdict == ODB_VERDICT_FAIL || odb_verdict_misfits(verdict))
        odb_buf_printf(out, "What it makes %s. ", help);
    else
        odb_buf_printf(out, "%c%s. ", toupper((unsigned char)*help), help + 1);
}

/* A paragraph about a node that no search has accused. Caller holds the lock. */
static void blame_put_node(const struct odb_session *session, int node, struct odb_buf *out)
{
    struct odb_buf text = ODB_BUF_INIT;
    int value;
    const struct odb_value_report *r = odb_session_node(session, node, &value);
    odb_node_put(session->model->graph, node, out);
    odb_buf_printf(out, ": %s\n", odb_verdict_name(r->verdict));
    blame_put_numbers(r, out);
    blame_put_verdict(r->verdict, &text);
    if (r->reason[0])
        odb_buf_printf(&text, "In detail: %s. ", r->reason);
    blame_put_cause(session, node, r, &text);
    if (r->boundary)
        odb_buf_puts(&text, "It stands where a tiny change decides otherwise, so that a difference "
                            "there need not be a fault. ");
    if (!session->report)
        odb_buf_puts(&text, "No search has asked for more; `bisect` does.");
    odb_buf_puts(out, "    ");
    odb_help_wrap(out, odb_buf_text(&text), 4, 4);
    odb_buf_dispose(&text);
}

static json_t *blame_json_node(const struct odb_graph *graph, int index)
{
    const struct odb_node *node = index == ODB_NO_NODE ? NULL : &graph->nodes[index];
    return node ? odb_json_node(index, node->name, node->op_type, node->domain) : json_null();
}

/* Caller holds the lock. */
static json_t *blame_json(const struct odb_session *session, const struct odb_culprit *culprit,
                          int node)
{
    const struct odb_graph *graph = session->model->graph;
    int given = blame_worst_input(session, node), value;
    const struct odb_value_report *r = odb_session_node(session, node, &value);
    json_t *json = blame_json_node(graph, node);
    json_object_set_new(json, "value",
                        value == ODB_NO_VALUE ? json_null()
                                              : odb_report_value_json(graph, value, r));
    json_object_set_new(json, "given",
                        given == ODB_NO_VALUE
                            ? json_null()
                            : odb_report_value_json(graph, given, &session->values[given]));
    json_object_set_new(json, "begins_at", blame_json_node(graph, blame_origin(session, node)));
    json_object_set_new(json, "within_tolerance",
                        culprit ? json_boolean(!odb_session_culprit(session, culprit->node))
                                : json_null());
    json_object_set_new(json, "found",
                        culprit ? odb_report_culprit_json(session->report, culprit) : json_null());
    return json;
}

/* The first culprit, or the first node that is off. Caller holds the lock. */
static int blame_first(const struct odb_session *session)
{
    const struct odb_report *report = session->report;
    if (report && report->culprits.n)
        return report->culprits.items[0].node;
    for (size_t i = 0; i < session->model->graph->n_nodes; i++)
        if (blame_is_off(session, (int)i))
            return (int)i;
    return ODB_NO_NODE;
}

static enum odb_status blame_nothing(const struct odb_session *session, int node,
                                     struct odb_error *err)
{
    if (node != ODB_NO_NODE)
        odb_fail(err, ODB_E_USAGE, "nothing is known of node #%d yet", node);
    else if (session->report || session->at != ODB_NO_NODE)
        return odb_fail(err, ODB_E_USAGE, "nothing is known to be off");
    else
        odb_fail(err, ODB_E_USAGE, "nothing is known yet");
    return odb_error_remedy(err, "`bisect`, or `run`, makes it known");
}

enum odb_status odb_command__blame(struct odb_command_call *call, struct odb_error *err)
{
    const struct odb_session *session = call->session;
    const char *text = odb_call_arg(call, 0);
    struct odb_buf out = ODB_BUF_INIT;
    enum odb_status status = ODB_OK;
    int node = ODB_NO_NODE;
    json_t *json = NULL;
    odb_session_lock(session);
    const struct odb_culprit *culprit = text ? blame_culprit(session, ODB_NO_NODE, text) : NULL;
    if (text && !culprit)
        status = odb_graph_find_node(call->model->graph, text, &node, err);
    else if (!text)
        node = blame_first(session);
    if (status == ODB_OK && !culprit && node != ODB_NO_NODE)
        culprit = blame_culprit(session, node, NULL);
    if (status == ODB_OK && culprit) {
        odb_call__put_culprit(call->model->graph, culprit, &out);
        if (!odb_session_culprit(session, culprit->node))
            odb_buf_puts(&out, "    within the tolerance that was set since\n");
        blame_put_evidence(culprit, &out);
    } else if (status == ODB_OK &&
               (node == ODB_NO_NODE ||
                odb_session_node(session, node, NULL)->verdict == ODB_VERDICT_UNTESTED)) {
        status = blame_nothing(session, node, err);
    } else if (status == ODB_OK) {
        blame_put_node(session, node, &out);
    }
    if (status == ODB_OK)
        json = blame_json(session, culprit, culprit ? culprit->node : node);
    odb_session_unlock(session);
    return status == ODB_OK ? odb_call__give(call, json, &out, err) : status;
}
