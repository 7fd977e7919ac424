/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/search/over_option.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/value/call_feeds.h"
#include "report/json.h"
#include "session/session.h"

#define OVER_WIDE 60 /* a longer name, as of all optimizers, moves no column */

static const char *over_called(const struct odb_over_run *run)
{
    return run->label ? run->label : run->spec;
}

/* Whether the specs are of several versions. */
static bool over_versions(const struct odb_over_found *found)
{
    const char *first = "";
    for (size_t i = 0; i < found->runs.n; i++) {
        const char *version = found->runs.items[i].version;
        if (first[0] && version[0] && strcmp(first, version))
            return true;
        first = version[0] ? version : first;
    }
    return false;
}

/* Which version it is, where there are several, and why it did not run. */
static void over_put_more(const struct odb_over_found *found, const struct odb_over_run *run,
                          struct odb_buf *out)
{
    if (over_versions(found) && run->version[0]) {
        odb_buf_puts(out, "  ");
        odb_buf_put_shown(out, run->version);
    }
    if (run->status != ODB_OK) {
        odb_buf_puts(out, "  ");
        odb_buf_put_shown(out, run->why.what);
    }
}

static void over_print(struct odb_command_call *call, const struct odb_over_found *found)
{
    struct odb_buf out = ODB_BUF_INIT;
    size_t width = 0;
    for (size_t i = 0; i < found->runs.n; i++) {
        size_t n = strlen(over_called(&found->runs.items[i]));
        width = n <= OVER_WIDE ? ODB_MAX(width, n) : width;
    }
    for (size_t i = 0; i < found->runs.n; i++) {
        const struct odb_over_run *run = &found->runs.items[i];
        struct odb_buf shown = ODB_BUF_INIT;
        odb_buf_put_shown(&shown, over_called(run));
        odb_buf_printf(&out, "    %-*s  %s", (int)width, odb_buf_text(&shown),
                       odb_verdict_name(run->verdict));
        if (!isnan(run->error))
            odb_buf_printf(&out, "  error %.3g", run->error);
        over_put_more(found, run, &out);
        odb_buf_putc(&out, '\n');
        odb_buf_dispose(&shown);
    }
    odb_buf_puts(&out, found->text);
    odb_buf_puts(&out, "\n\n");
    odb_call__print(call, &out);
    odb_buf_dispose(&out);
}

static enum odb_status over_run(struct odb_command_call *call, struct odb_call_over *out,
                                struct odb_bisect_options *options, struct odb_error *err)
{
    const struct odb_feeds *feeds;
    struct odb_watch watch;
    ODB_TRY(odb_call__feeds(call, &feeds, err));
    options->hooks = odb_watch_begin(&watch, call);
    watch.cuts = true;
    enum odb_status status = odb_session_trace(call->session, &options->trace, options, err);
    if (status == ODB_OK)
        status = odb_over_search(&out->found, &out->what, call->model, feeds, options, err);
    odb_watch_end(&watch);
    out->spent = odb_watch_spent(&watch);
    options->hooks = (struct odb_search_hooks){0};
    options->trace = NULL;
    return status;
}

enum odb_status odb_call__over(struct odb_command_call *call, struct odb_call_over *out,
                               struct odb_bisect_options *options, struct odb_error *err)
{
    const char *text = odb_call_option(call, ODB_OPTION_OVER);
    const char *json = odb_call_option(call, ODB_OPTION_JSON_FILE);
    if (!text && odb_call_has(call, ODB_OPTION_OVER_ONLY)) {
        odb_fail(err, ODB_E_USAGE, "there is no --over");
        return odb_error_at(err, "--over-only");
    }
    if (!text)
        return ODB_OK;
    out->given = true;
    ODB_TRY(odb_over_parse(&out->what, text, err));
    if (odb_call_option(call, ODB_OPTION_AGAINST)) {
        odb_fail(err, ODB_E_USAGE, "--over and --against cannot be searched at once");
        return odb_error_remedy(err, "search the other model itself over its options");
    }
    ODB_TRY(over_run(call, out, options, err));
    options->target = out->found.target;
    call->found = out->found.fails;
    if (!json || strcmp(json, "-"))
        over_print(call, &out->found);
    return ODB_OK;
}

/* Where nothing fails and something that counts could not be tested, nothing is known. */
static enum odb_status over_end(const struct odb_call_over *over, struct odb_error *err)
{
    if (!over->found.unknown || over->found.fails)
        return ODB_OK;
    odb_fail(err, ODB_E_EXECUTOR, "what would tell the options apart cannot be tested");
    return odb_error_remedy(err,
                            "search each spec that is refused by itself: onnxdbg run says why");
}

enum odb_status odb_call__over_publish(struct odb_command_call *call,
                                       const struct odb_call_over *over, struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    bool instead;
    if (!odb_call__json(call, &instead))
        return over_end(over, err);
    odb_json_put(odb_over_json(&over->found), &out);
    enum odb_status status = odb_call__publish(call, &out, err);
    return status == ODB_OK ? over_end(over, err) : status;
}

void odb_call__over_report(const struct odb_call_over *over, struct odb_report *report)
{
    if (!over->given)
        return;
    report->more = odb_over_json(&over->found);
    report->elsewhere |= over->found.fails;
}

void odb_call__over_dispose(struct odb_call_over *over)
{
    odb_over_dispose(&over->what);
    odb_over_found_dispose(&over->found);
}
