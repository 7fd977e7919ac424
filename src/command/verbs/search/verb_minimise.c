/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "bisect/plan/bisect.h"
#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/trust_store.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/value/call_feeds.h"
#include "command/value/node_range.h"
#include "command/value/search_options.h"
#include "command/value/spare_model.h"
#include "probe/body_case.h"
#include "session/session_state.h"
#include "shrink/minimise.h"

/* Where to begin: the nodes named, else, where a search has been made, its first culprit, else the
 * whole model. body: the node is in one, and this is it. */
static enum odb_status minimise_choose(const struct odb_command_call *call,
                                       const struct odb_feeds *feeds,
                                       struct odb_minimise_options *options,
                                       struct odb_body_case *body, struct odb_error *err)
{
    bool inside;
    const struct odb_report *known = call->session->report;
    const char *node = odb_call_arg(call, 1);
    options->first = options->last = ODB_NO_NODE;
    ODB_TRY(odb_call__inside(call, feeds, &options->search, body, &options->first, &inside, err));
    options->last = options->first;
    if (inside)
        return ODB_OK;
    if (node)
        return odb_call__segment(call->model->graph, node, &options->first, &options->last, err);
    if (known && known->complete &&
        !odb_call__suspects(call->session, known, &options->first, &options->last))
        options->first = options->last = ODB_NO_NODE;
    return ODB_OK;
}

/* At a console a folder is found where the command names none: minimal, minimal-2, … */
static char *minimise_dir(void)
{
    char *dir = odb_xstrdup("minimal");
    for (int i = 2; access(dir, F_OK) == 0 && i < 1000; i++) {
        free(dir);
        dir = odb_xasprintf("minimal-%d", i);
    }
    return dir;
}

static void minimise_text(const struct odb_minimised *minimised, const char *dir,
                          struct odb_buf *out)
{
    if (!minimised->failed) {
        odb_buf_puts(out, "nothing diverges, so there is nothing to minimise\n");
        return;
    }
    odb_minimised_put(minimised, out);
    if (!minimised->written)
        return;
    odb_buf_put_shown(out, dir);
    odb_buf_puts(out, ": ");
    odb_buf_put_shown(out, minimised->repro.summary);
    odb_buf_putc(out, '\n');
    if (minimised->good_nodes) {
        odb_buf_put_shown(out, dir);
        odb_buf_printf(out, "/good: the largest model met that passes, %zu node%s\n",
                       minimised->good_nodes, minimised->good_nodes == 1 ? "" : "s");
    }
}

static enum odb_status minimise_publish(struct odb_command_call *call,
                                        const struct odb_minimised *minimised, const char *dir,
                                        struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    enum odb_status status = ODB_OK;
    bool instead;
    if (odb_call__json(call, &instead)) {
        odb_minimised_json(minimised, odb_call__chosen(call), &out);
        status = odb_call__publish(call, &out, err);
    }
    if (!instead)
        minimise_text(minimised, dir, &out);
    odb_call__print(call, &out);
    return status;
}

/* The nodes that a search names, where no output shows what is wrong. False: it finds nothing. */
static enum odb_status minimise_search(struct odb_command_call *call, const struct odb_feeds *feeds,
                                       struct odb_minimise_options *options, bool *found,
                                       struct odb_error *err)
{
    struct odb_report *report = NULL;
    struct odb_bisect_options search = options->search;
    search.no_explain = true;
    enum odb_status status = odb_bisect(&report, call->model, feeds, &search, err);
    *found = status == ODB_OK &&
             odb_call__suspects(call->session, report, &options->first, &options->last);
    odb_report_free(report);
    return status;
}

/* A segment that was a search's answer need not fail when the reference feeds it; then the whole
 * model is begun with, and where its outputs pass, what a search finds in it. */
static enum odb_status minimise_run(struct odb_command_call *call, const struct odb_feeds *feeds,
                                    struct odb_minimise_options *options, struct odb_minimised *out,
                                    struct odb_error *err)
{
    bool found = true, segment = options->first != ODB_NO_NODE;
    double start = odb_clock();
    ODB_TRY(odb_minimise(out, call->model, feeds, options, err));
    if (out->failed || odb_call_arg(call, 1))
        return ODB_OK;
    odb_minimised_dispose(out);
    if (segment)
        options->first = options->last = ODB_NO_NODE;
    else
        ODB_TRY(minimise_search(call, feeds, options, &found, err));
    if (!found)
        return ODB_OK;
    size_t before = call->budget.asked;
    double waited = odb_clock() - start;
    enum odb_status status = odb_minimise(out, call->model, feeds, options, err);
    out->probes += before; /* in vain, but asked */
    out->seconds += waited;
    return status;
}

/* The budget was spent before there was anything to write. */
static enum odb_status minimise_spent(const struct odb_command_call *call, struct odb_error *err)
{
    odb_fail(err, ODB_E_EXECUTOR,
             "the budget is spent after %zu probe%s, and nothing is known to "
             "fail yet",
             call->budget.asked, odb_plural(call->budget.asked));
    return odb_error_remedy(err, "allow more with --budget, --probes or --compiles");
}

static enum odb_status minimise_failure(struct odb_command_call *call, struct odb_error *err)
{
    const char *json = odb_call_option(call, ODB_OPTION_JSON_FILE);
    struct odb_minimise_options options = {
        .dir = odb_call_option(call, ODB_OPTION_OUTPUT),
        .scramble = odb_call_has(call, ODB_OPTION_SCRAMBLE),
        .with_target = odb_call_has(call, ODB_OPTION_WITH_TARGET),
        .ir_version = odb_call_int(call, ODB_OPTION_IR_VERSION, 0)};
    struct odb_session *session = call->session;
    struct odb_minimised minimised = {0};
    struct odb_error late = ODB_ERROR_INIT;
    struct odb_body_case body = {0};
    const struct odb_feeds *feeds;
    struct odb_watch watch;
    if (!options.dir && !call->console) {
        odb_fail(err, ODB_E_USAGE, "there is no folder to write to");
        return odb_error_remedy(err, "add -o DIR");
    }
    if (json)
        ODB_TRY(odb_call__spare_model(call, json, err));
    ODB_TRY(odb_call__search_options(call, &options.search, err));
    ODB_TRY(odb_call__adopt(call, &options.search, err));
    ODB_TRY(odb_call__feeds(call, &feeds, err));
    ODB_TRY(minimise_choose(call, feeds, &options, &body, err));
    if (session->store && !session->by_itself) { /* which keeps what it can show again */
        ODB_TRY(odb_store_begin(session->store, "minimise", &options.search, err));
        odb_trust_keep_specs(call);
    }
    char *own = options.dir ? NULL : minimise_dir();
    options.dir = own ? own : options.dir;
    options.search.hooks = odb_watch_begin(&watch, call);
    enum odb_status status =
        body.model ? odb_minimise(&minimised, body.model, body.feeds, &options, err)
                   : odb_session_trace(session, &options.search.trace, &options.search, err);
    if (status == ODB_OK && !body.model)
        status = minimise_run(call, feeds, &options, &minimised, err);
    odb_watch_end(&watch);
    if (status == ODB_CANCELLED && !minimised.failed && odb_watch_spent(&watch))
        status = minimise_spent(call, err);
    if (status == ODB_OK || minimised.failed) {
        call->found = minimised.written && !minimised.repro.known && !minimised.repro.reproduces;
        enum odb_status after = minimise_publish(call, &minimised, options.dir, &late);
        if (status == ODB_OK && after != ODB_OK) {
            *err = late;
            status = after;
        }
    }
    odb_minimised_dispose(&minimised);
    odb_body_case_dispose(&body);
    free(own);
    return status;
}

enum odb_status odb_command__minimise(struct odb_command_call *call, struct odb_error *err)
{
    if (odb_call_has(call, ODB_OPTION_METRIC))
        return odb_command__minimise_task(call, err);
    if (odb_call_has(call, ODB_OPTION_DROP) || odb_call_has(call, ODB_OPTION_LABELS) ||
        odb_call_has(call, ODB_OPTION_SAMPLES))
        return odb_fail(err, ODB_E_USAGE, "--drop, --labels and --samples need a --metric");
    return minimise_failure(call, err);
}
