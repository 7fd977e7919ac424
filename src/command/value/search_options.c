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

enum odb_status odb_call__search_options(struct odb_command_call *call,
                                         struct odb_bisect_options *out, struct odb_error *err)
{
    const char *reference = odb_call__spec(call, ODB_OPTION_REFERENCE);
    const char *strategy = odb_call_option(call, ODB_OPTION_STRATEGY);
    *out = (struct odb_bisect_options){
        .reference = reference ? reference : "cpu",
        .golden = odb_call__spec(call, ODB_OPTION_GOLDEN),
        .target = odb_call__target(call),
        .expect = odb_call_option(call, ODB_OPTION_EXPECT),
        .seed = (uint64_t)odb_call_int(call, ODB_OPTION_SEED, 42),
        .repeat = (int)odb_call_int(call, ODB_OPTION_REPEAT, 0),
    };
    out->strict = odb_call_has(call, ODB_OPTION_STRICT);
    out->no_checks = odb_call_option(call, ODB_OPTION_NO_CHECKS) != NULL;
    out->no_explain = odb_call_has(call, ODB_OPTION_NO_EXPLAIN);
    out->explain_seconds = (double)odb_call_int(call, ODB_OPTION_EXPLAIN_BUDGET, 0);
    out->no_enter = odb_call_option(call, ODB_OPTION_NO_ENTER) != NULL;
    if (strategy) /* one of the option's choices */
        odb_strategy_parse(&out->strategy, strategy);
    out->step = (size_t)odb_call_int(call, ODB_OPTION_STEP, 0);
    return odb_call__tolerance(call, &out->tolerance, err);
}
