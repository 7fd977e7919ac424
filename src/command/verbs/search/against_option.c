/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/search/against_option.h"

#include <stdlib.h>

#include "base/mem.h"
#include "command/call/call.h"
#include "command/call/call_open.h"
#include "command/call/call_print.h"
#include "command/call/call_spec.h"
#include "command/table/command.h"
#include "executor/executor.h"
#include "executor/recorded/renames.h"
#include "model/read/load.h"

#define AGAINST_RUNNER "cpu" /* so that the model is on trial, and no runtime */
#define AGAINST_QUANTISED "cosine:0.99"

static const char *against_spec(struct odb_command_call *call, const struct odb_model *other)
{
    const char *spec = odb_call__typed(call, odb_call_option(call, ODB_OPTION_TARGET));
    if (spec || odb_against_runs(other))
        return spec ? spec : AGAINST_RUNNER;
    const char *instead = odb_executor_usual_row()->opinion; /* it optimises nothing there */
    char *text = odb_xasprintf("the reference lacks operators of the other model, which runs on "
                               "%s instead; --target says otherwise",
                               instead);
    odb_call__warn(call, text);
    free(text);
    return instead;
}

/* What the other model was made into says how close it can be. */
static enum odb_status against_expect(struct odb_command_call *call,
                                      const struct odb_call_against *against,
                                      struct odb_bisect_options *options, struct odb_error *err)
{
    if (options->encodings)
        return odb_fail(err, ODB_E_USAGE,
                        "--encodings are of one model, and --against brings another");
    struct odb_against_made made = odb_against_made(call->model->graph, against->model->graph);
    if (made.expect && !options->expect) {
        char *text = odb_xasprintf("most weights of the other model are %s: it is judged by what "
                                   "that must lose, as with --expect %s",
                                   made.expect, made.expect);
        odb_call__warn(call, text);
        free(text);
        options->expect = made.expect;
    }
    if (!made.quantised || odb_call_option(call, ODB_OPTION_TOL))
        return ODB_OK;
    odb_call__warn(call, "the other model is quantised, which no rounding explains: it is judged "
                         "by " AGAINST_QUANTISED "; --tol says otherwise");
    return odb_criterion_parse(&options->tolerance, AGAINST_QUANTISED, err);
}

enum odb_status odb_call__against(struct odb_command_call *call, struct odb_call_against *out,
                                  struct odb_bisect_options *options, struct odb_error *err)
{
    const char *path = odb_call_option(call, ODB_OPTION_AGAINST);
    const char *map = odb_call_option(call, ODB_OPTION_MAP);
    if (!path)
        return ODB_OK;
    if (options->strategy != ODB_STRATEGY_AUTO && options->strategy != ODB_STRATEGY_BLAME) {
        odb_fail(err, ODB_E_USAGE, "another model is judged by its values, not cut to pieces");
        odb_error_remedy(err, "use --strategy blame, or auto");
        return odb_error_at(err, "--against");
    }
    ODB_TRY(odb_call_read_model(&out->model, call, path, err));
    if (map)
        ODB_TRY(odb_renames_read(&out->renames, map, err));
    out->how = (struct odb_against){
        .other = out->model, .spec = against_spec(call, out->model), .renames = out->renames};
    out->label = odb_xasprintf("%s on %s", path, out->how.spec);
    options->target = out->label;
    return against_expect(call, out, options, err);
}

void odb_call__against_dispose(struct odb_call_against *against)
{
    odb_model_free(against->model);
    odb_renames_free(against->renames);
    free(against->label);
}
