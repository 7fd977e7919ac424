/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "command/watch.h"
#include "engine/repro.h"

/* NODE or NODE:NODE; names may hold colons, so the whole comes first, then every split. */
static enum odb_status export_parse(const struct odb_graph *graph, const char *text, int *first,
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

/* The first culprit's segment in a session's last report; false when it has none. */
static bool export_from_stored(const json_t *stored, size_t n_nodes, int *first, int *last)
{
    json_t *culprit = json_array_get(json_object_get(stored, "culprits"), 0);
    json_t *segment = json_object_get(culprit, "segment");
    if (json_array_size(segment) != 2)
        return false;
    *first = (int)json_integer_value(json_array_get(segment, 0));
    *last = (int)json_integer_value(json_array_get(segment, 1));
    return *first >= 0 && *first <= *last && (size_t)*last < n_nodes;
}

/* What the command line leaves open is as it was in the session's search. Borrowed: stored. */
static enum odb_status export_adopt(const struct odb_command_call *call, const json_t *stored,
                                    struct odb_bisect_options *search, struct odb_error *err)
{
    const char *reference = json_string_value(json_object_get(stored, "reference"));
    const char *target = json_string_value(json_object_get(stored, "target"));
    const char *tolerance = json_string_value(json_object_get(stored, "tolerance"));
    if (reference && !odb_call_option(call, ODB_OPTION_REFERENCE))
        search->reference = reference;
    if (target && !odb_call_option(call, ODB_OPTION_TARGET))
        search->target = target;
    if (stored && !odb_call_option(call, ODB_OPTION_EXPECT))
        search->expect = json_string_value(json_object_get(stored, "expect"));
    if (tolerance && !odb_call_option(call, ODB_OPTION_TOL))
        return odb_criterion_parse(&search->tolerance, tolerance, err);
    return ODB_OK;
}

/* Which nodes: those named, else the session's first culprit, else a search's. *found is false
 * when nothing diverges. */
static enum odb_status export_choose(struct odb_command_call *call, const json_t *stored,
                                     const struct odb_feeds *feeds,
                                     struct odb_bisect_options *search, int *first, int *last,
                                     struct odb_report **report, bool *found, struct odb_error *err)
{
    const char *node = odb_call_arg(call, 1);
    *found = true;
    if (node)
        return export_parse(call->model->graph, node, first, last, err);
    if (stored && !json_is_true(json_object_get(stored, "complete"))) {
        odb_fail(err, ODB_E_USAGE, "the session's last search did not come to its end");
        return odb_error_remedy(err, "run it again, or name the NODE to export");
    }
    if (stored) {
        *found = export_from_stored(stored, call->model->graph->n_nodes, first, last);
        return ODB_OK;
    }
    ODB_TRY(odb_bisect(report, call->model, feeds, search, err));
    *found = (*report)->culprits.n > 0;
    if (*found) {
        *first = (*report)->culprits.items[0].segment[0];
        *last = (*report)->culprits.items[0].segment[1];
    }
    return ODB_OK;
}

/* The last report of --session, NULL without one. Owned by the caller. */
static enum odb_status export_read_session(struct odb_command_call *call, json_t **out,
                                           struct odb_error *err)
{
    struct odb_store *session = NULL;
    ODB_TRY(odb_call__session(call, &session, err));
    char *text = session ? odb_store_last_report(session) : NULL;
    *out = text ? json_loads(text, 0, NULL) : NULL;
    free(text);
    odb_store_close(session);
    return ODB_OK;
}

enum odb_status odb_command__export(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_repro_options options = {.dir = odb_call_option(call, ODB_OPTION_OUTPUT)};
    struct odb_repro_result result = {0};
    struct odb_bisect_options search;
    json_t *stored = NULL;
    struct odb_report *report = NULL;
    struct odb_feeds *feeds = NULL;
    struct odb_watch watch = {.call = call};
    enum odb_status status;
    bool found;
    if (!options.dir) {
        odb_fail(err, ODB_E_USAGE, "there is no folder to write to");
        return odb_error_remedy(err, "add -o DIR");
    }
    ODB_TRY_OUT(odb_call__search_options(call, &search, err));
    ODB_TRY_OUT(export_read_session(call, &stored, err));
    ODB_TRY_OUT(export_adopt(call, stored, &search, err));
    ODB_TRY_OUT(odb_call__feeds(call, &feeds, err));
    search.hooks = options.hooks = odb_watch_begin(&watch, call, NULL);
    status = export_choose(call, stored, feeds, &search, &options.first, &options.last, &report,
                           &found, err);
    if (status == ODB_OK && found) {
        options.reference = search.reference;
        options.target = search.target;
        options.tolerance = search.tolerance;
        options.expect = search.expect;
        options.ir_version = odb_call_int(call, ODB_OPTION_IR_VERSION, 0);
        options.report = report;
        status = odb_repro_write(&result, call->model, feeds, &options, err);
    }
    odb_watch_end(&watch);
    if (status == ODB_OK) {
        struct odb_buf out = ODB_BUF_INIT;
        odb_buf_put_shown(&out, found ? result.summary
                                      : "nothing diverges, so there is nothing to export");
        odb_buf_putc(&out, '\n');
        odb_call__print(call, &out);
        call->found = found && !result.reproduces;
    }
out:
    json_decref(stored);
    odb_report_free(report);
    odb_feeds_free(feeds);
    return status;
}
