/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which nodes of the model a command is about, and what the search of the session said of them.
 */
#include "command/value/node_range.h"

#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/call/trust_store.h"
#include "command/table/command.h"
#include "compare/criterion.h"
#include "executor/cpu_executor.h"
#include "probe/body_case.h"
#include "session/session_state.h"

/* Names may hold colons, so the whole comes first, then every split. */
enum odb_status odb_call__segment(const struct odb_graph *graph, const char *text, int *first,
                                  int *last, struct odb_error *err)
{
    if (odb_graph_find_node(graph, text, first, NULL) == ODB_OK) {
        *last = *first;
        return ODB_OK;
    }
    for (const char *colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':')) {
        char *left = odb_xstrndup(text, (size_t)(colon - text));
        bool found = odb_graph_find_node(graph, left, first, NULL) == ODB_OK &&
                     odb_graph_find_node(graph, colon + 1, last, NULL) == ODB_OK;
        free(left);
        if (!found)
            continue;
        if (*first > *last) {
            odb_fail(err, ODB_E_USAGE, "node #%d comes after node #%d", *first, *last);
            return odb_error_remedy(err, "name the earlier one first");
        }
        return ODB_OK;
    }
    return odb_graph_find_node(graph, text, first, err);
}

enum odb_status odb_call__inside(const struct odb_command_call *call, const struct odb_feeds *feeds,
                                 const struct odb_bisect_options *search, struct odb_body_case *out,
                                 int *node, bool *inside, struct odb_error *err)
{
    struct odb_trace_options how = ODB_TRACE_OPTIONS_INIT;
    const char *text = odb_call_arg(call, 1);
    struct odb_body_path path;
    int first, last;
    *inside = text && odb_call__segment(call->model->graph, text, &first, &last, NULL) != ODB_OK &&
              odb_body_path_parse(call->model->graph, NULL, text, &path) && path.n;
    if (!*inside)
        return ODB_OK;
    if (odb_precision_parse(&how.reference, search->reference, NULL) != ODB_OK)
        how.reference = ODB_PREC_NATIVE;
    how.hooks = search->hooks;
    return odb_body_case_follow(out, node, call->model, feeds, &how, text, err);
}

/* A spec of the session's search, unless the user gave one. Only a file's is not followed blindly:
 * what was searched in this process was given here. */
static enum odb_status node_range_adopt_spec(const struct odb_command_call *call,
                                             enum odb_option_id id, const char *stored,
                                             const char **out, struct odb_error *err)
{
    if (!stored || odb_call_option(call, id))
        return ODB_OK;
    if (call->session->stored && !odb_trust_follows(id, stored))
        return odb_call__refuse_untrusted(id, stored, err);
    *out = stored;
    return ODB_OK;
}

enum odb_status odb_call__adopt(const struct odb_command_call *call,
                                struct odb_bisect_options *search, struct odb_error *err)
{
    const struct odb_report *report = call->session->report;
    if (!report)
        return ODB_OK;
    ODB_TRY(node_range_adopt_spec(call, ODB_OPTION_REFERENCE, report->reference, &search->reference,
                                  err));
    ODB_TRY(node_range_adopt_spec(call, ODB_OPTION_TARGET, report->target, &search->target, err));
    if (!odb_call_option(call, ODB_OPTION_EXPECT) && !search->encodings)
        search->expect = report->expect;
    if (search->expect && !strcmp(search->expect, "int8") && !search->encodings) {
        odb_fail(err, ODB_E_USAGE, "the search was made with encodings");
        return odb_error_remedy(err, "add --encodings FILE");
    }
    if (report->tolerance && !odb_call_option(call, ODB_OPTION_TOL))
        return odb_criterion_parse(&search->tolerance, report->tolerance, err);
    return ODB_OK;
}

bool odb_call__suspects(const struct odb_session *session, const struct odb_report *report,
                        int *from, int *to)
{
    const struct odb_culprit *first = NULL;
    for (size_t i = 0; i < report->culprits.n && !first; i++)
        if (report != session->report ||
            odb_session_culprit(session, report->culprits.items[i].node))
            first = &report->culprits.items[i];
    if (!first)
        return false;
    *from = first->segment[0];
    *to = first->segment[1];
    return *from >= 0 && *from <= *to && (size_t)*to < report->model->graph->n_nodes;
}
