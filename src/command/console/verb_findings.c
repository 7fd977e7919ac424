/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What was found of each target, and going back to it without a search.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/console.h"
#include "command/call/executor_alias.h"
#include "command/call/trust_store.h"
#include "command/console/findings.h"
#include "command/console/sessions.h"
#include "command/table/table.h"
#include "command/table/verbs.h"
#include "session/session_state.h"

#define FINDINGS_DAY ((int64_t)24 * 3600)

void odb_findings_put_age(int64_t when, struct odb_buf *out)
{
    int64_t age = getenv("ONNXDBG_FROZEN_CLOCK") ? 0 : (int64_t)time(NULL) - when;
    if (age < 60)
        odb_buf_puts(out, "just now");
    else if (age < 3600)
        odb_buf_printf(out, "%lld min ago", (long long)age / 60);
    else if (age < FINDINGS_DAY)
        odb_buf_printf(out, "%lld h ago", (long long)age / 3600);
    else if (age < 2 * FINDINGS_DAY)
        odb_buf_puts(out, "yesterday");
    else
        odb_buf_printf(out, "%lld days ago", (long long)(age / FINDINGS_DAY));
}

void odb_findings_put(const struct odb_store_search *found, struct odb_buf *out)
{
    odb_sessions_put_outcome(found->ended, found->outcome, found->culprits, found->first,
                             found->kind, out);
    odb_buf_puts(out, ", ");
    odb_findings_put_age(found->when, out);
}

static void findings_put_row(const struct odb_store_search *found, size_t number, bool shown,
                             struct odb_buf *out)
{
    odb_buf_printf(out, "%c %zu  ", shown ? '*' : ' ', number);
    odb_buf_put_shown(out, found->target);
    odb_buf_puts(out, " vs ");
    odb_buf_put_shown(out, found->reference);
    odb_buf_puts(out, ", ");
    odb_buf_put_shown(out, found->tolerance);
    if (found->expect) {
        odb_buf_puts(out, " expecting ");
        odb_buf_put_shown(out, found->expect);
    }
    odb_buf_puts(out, ": ");
    odb_findings_put(found, out);
    odb_buf_putc(out, '\n');
}

static void findings_put_all(const struct odb_session *session, struct odb_buf *out)
{
    odb_session_lock(session);
    size_t n = odb_session_n_known(session);
    for (size_t i = 0; i < n; i++)
        findings_put_row(odb_session_known(session, i), i + 1, !i && session->report, out);
    odb_session_unlock(session);
    if (!n)
        odb_buf_puts(out, "nothing was searched yet\n");
}

/* A target that is no spec (of --against), or that only a file names, is not set, nor is what goes
 * with it. */
static bool findings_may_set(const struct odb_console *console, const char *target)
{
    return odb_call__check_setting(console, odb_option_row(ODB_OPTION_TARGET), target, NULL) ==
               ODB_OK &&
           odb_trust_follows(ODB_OPTION_TARGET, target);
}

static void findings_put(struct odb_console *console, enum odb_option_id id, const char *now,
                         const char *value)
{
    if (!now || !value || strcmp(now, value) != 0)
        odb_console__put(console, id, value);
}

/* Settings become what is shown. */
static void findings_set(struct odb_console *console)
{
    const struct odb_store_search *shown = odb_session_known(console->session, 0);
    char *target = odb_console_target_spec(console), text[160];
    if (findings_may_set(console, shown->target)) {
        findings_put(console, ODB_OPTION_TARGET, target, shown->target);
        findings_put(console, ODB_OPTION_TOL,
                     odb_console__tolerance_text(console, text, sizeof text), shown->tolerance);
        findings_put(console, ODB_OPTION_EXPECT, NULL, shown->expect);
        if (odb_trust_follows(ODB_OPTION_REFERENCE, shown->reference))
            findings_put(console, ODB_OPTION_REFERENCE, odb_console_reference(console),
                         shown->reference);
    }
    free(target);
}

static enum odb_status findings_show(struct odb_command_call *call, size_t number,
                                     struct odb_buf *out, struct odb_error *err)
{
    struct odb_session *session = call->session;
    odb_session_lock(session);
    size_t n = odb_session_n_known(session);
    odb_session_unlock(session);
    if (number < 1 || number > n) {
        odb_fail(err, ODB_E_USAGE, "there are findings of %zu search%s", n, n == 1 ? "" : "es");
        return odb_error_remedy(err, "`findings` alone lists them");
    }
    ODB_TRY(odb_session_show_known(session, number - 1, err));
    findings_set(call->console);
    odb_session_lock(session);
    findings_put_row(odb_session_known(session, 0), 1, true, out);
    odb_session_unlock(session);
    return ODB_OK;
}

enum odb_status odb_command__findings(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    const char *number = odb_call_arg(call, 0);
    enum odb_status status = ODB_OK;
    if (number)
        status = findings_show(call, strtoul(number, NULL, 10), &out, err);
    else
        findings_put_all(call->session, &out);
    odb_call__print(call, &out);
    odb_buf_dispose(&out);
    return status;
}
