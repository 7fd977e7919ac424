/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The options of a search, as a call gives them.
 */
#include "command/value/search_options.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <wchar.h>

#include "base/error.h"
#include "base/mem.h"
#include "bisect/bisect_options.h"
#include "bisect/strategy.h"
#include "command/call/call.h"
#include "command/call/call_spec.h"
#include "command/table/command.h"
#include "command/table/table.h"
#include "compare/criterion.h"
#include "executor/executor.h"
#include "session/session.h"

#define SEARCH_UNTIMED 1000000 /* seconds: as good as no limit */

enum odb_status odb_call__tolerance(const struct odb_command_call *call, struct odb_criterion *out,
                                    struct odb_error *err)
{
    return odb_criterion_parse(out, odb_call_option(call, ODB_OPTION_TOL), err);
}

enum odb_status odb_call__real(const struct odb_command_call *call, enum odb_option_id id,
                               double *out, struct odb_error *err)
{
    const char *text = odb_call_option(call, id);
    char *end;
    if (!text)
        return ODB_OK;
    *out = strtod(text, &end);
    if (*text && !*end && *out >= 0)
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "'%.40s' is no number that is not negative", text);
    return odb_error_at(err, "--%s", odb_option_row(id)->name);
}

static bool search_has_doubles(const struct odb_graph *graph)
{
    for (size_t v = 0; v < graph->n_values; v++)
        if (graph->values[v].type.known && graph->values[v].type.dtype == ODB_F64)
            return true;
    return false;
}

/* The type whose losses the target is judged by. One that lacks types has a float where the model
 * has a double. */
static const char *search_expect(const struct odb_command_call *call, const char *target)
{
    const char *expect = odb_call_option(call, ODB_OPTION_EXPECT);
    if (expect || !call->model || !odb_executor_by_value(target) ||
        !search_has_doubles(call->model->graph))
        return expect;
    return "f32";
}

/* --expect int8 and --encodings go together, and the reference must be what can simulate. */
static enum odb_status search_encodings(struct odb_command_call *call,
                                        struct odb_bisect_options *out, struct odb_error *err)
{
    const char *path = odb_call_option(call, ODB_OPTION_ENCODINGS);
    bool int8 = out->expect && !strcmp(out->expect, "int8");
    if (!path && !int8)
        return ODB_OK;
    if (!path) {
        odb_fail(err, ODB_E_USAGE, "--expect int8 needs to know how each value is quantised");
        return odb_error_remedy(err, "add --encodings FILE; `onnxdbg calibrate` makes one");
    }
    if (out->expect && !int8)
        return odb_fail(err, ODB_E_USAGE, "--encodings goes with --expect int8, not with %s",
                        out->expect);
    if (strcmp(out->reference, "cpu") != 0 || out->golden)
        return odb_fail(err, ODB_E_USAGE,
                        "with --encodings the reference is cpu, which simulates them, and golden "
                        "is that in float64");
    out->expect = "int8";
    out->no_opinion = true; /* others do not simulate */
    return odb_session_encodings(call->session, path, &out->encodings, err);
}

/* Each of --known is an operator and a variant. */
static enum odb_status search_known(const struct odb_command_call *call, const char **out,
                                    struct odb_error *err)
{
    const char *known = *out = odb_command_takes(call->command, ODB_OPTION_KNOWN)
                                   ? odb_call_option(call, ODB_OPTION_KNOWN)
                                   : NULL;
    for (const char *at = known; at && *at; at += strspn(at, ";")) {
        size_t n = strcspn(at, ";");
        const char *slash = memchr(at, '/', n);
        if (!slash || !memchr(at, ':', (size_t)(slash - at))) {
            odb_fail(err, ODB_E_USAGE, "--known: \"%.*s\" is no variant of an operator", (int)n,
                     at);
            return odb_error_remedy(err, "write OPERATOR:VARIANT, as a JSON report names them: "
                                         "Clip:input/max=missing");
        }
        at += n;
    }
    return ODB_OK;
}

enum odb_status odb_call__own_rows(struct odb_command_call *call, const struct odb_own_rows **out,
                                   struct odb_error *err)
{
    const char *path = odb_command_takes(call->command, ODB_OPTION_VARIANTS)
                           ? odb_call_option(call, ODB_OPTION_VARIANTS)
                           : NULL;
    *out = NULL;
    return path ? odb_session_own_rows(call->session, path, out, err) : ODB_OK;
}

enum odb_status odb_call__search_options(struct odb_command_call *call,
                                         struct odb_bisect_options *out, struct odb_error *err)
{
    const char *reference = odb_call__spec(call, ODB_OPTION_REFERENCE);
    const char *strategy = odb_call_option(call, ODB_OPTION_STRATEGY);
    *out = (struct odb_bisect_options){
        .reference = reference ? reference : "cpu",
        .golden = odb_call__spec(call, ODB_OPTION_GOLDEN),
        .target = odb_call__target(call),
        .seed = (uint64_t)odb_call_int(call, ODB_OPTION_SEED, 42),
        .repeat = (int)odb_call_int(call, ODB_OPTION_REPEAT, 0),
    };
    out->expect = search_expect(call, out->target);
    out->strict = odb_call_has(call, ODB_OPTION_STRICT);
    out->no_checks = odb_call_option(call, ODB_OPTION_NO_CHECKS) != NULL;
    out->no_explain = odb_call_has(call, ODB_OPTION_NO_EXPLAIN);
    ODB_TRY(search_known(call, &out->known, err));
    out->explain_seconds = (double)odb_call_int(
        call, ODB_OPTION_EXPLAIN_BUDGET, getenv("ONNXDBG_FROZEN_CLOCK") ? SEARCH_UNTIMED : 0);
    out->no_enter = odb_call_option(call, ODB_OPTION_NO_ENTER) != NULL;
    if (strategy) /* one of the option's choices */
        odb_strategy_parse(&out->strategy, strategy);
    out->step = (size_t)odb_call_int(call, ODB_OPTION_STEP, 0);
    ODB_TRY(search_encodings(call, out, err));
    ODB_TRY(odb_call__own_rows(call, &out->own_rows, err));
    return odb_call__tolerance(call, &out->tolerance, err);
}
