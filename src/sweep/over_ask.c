/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What one spec shows: a plain run of the model, judged. A refusal shows a fault where the same
 * target runs the model with other options, and that is asked where it was not seen: a target that
 * lacks an operator lacks it whatever is optimised.
 */
#include "sweep/over_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/bisect_options.h"
#include "bisect/plan/fails.h"
#include "executor/executor.h"
#include "executor/transport/program.h"
#include "judge/blame.h"
#include "probe/probe.h"
#include "probe/refusal.h"
#include "reference/trace.h"
#include "run/hooks.h"
#include "run/value_report.h"
#include "system/file.h"

/* --- a run ------------------------------------------------------------------------------------ */

struct over_judging {
    const struct over *over;
    struct odb_over_run *run;
};

/* The outputs that a plain run gave. */
static enum odb_status over_judge(void *payload, const struct odb_probe *probe,
                                  enum odb_verdict *shown, struct odb_error *err)
{
    const struct over_judging *j = payload;
    const struct odb_bisect_options *options = j->over->options;
    struct odb_judge judge = {options->trace, &options->tolerance};
    double *error = &j->run->error;
    for (size_t i = 0; i < probe->n_values; i++) {
        struct odb_value_report report = {0};
        ODB_TRY(odb_judge_value(&judge, probe->values[i], probe->outputs[i], &report, err));
        odb_probe_shows(shown, report.verdict);
        if (report.error.known)
            *error = isnan(*error) ? report.error.v : fmax(*error, report.error.v);
    }
    return ODB_OK;
}

/* A search may let off what the run showed, or be unable to say. */
static enum odb_status over_confirm(struct over *o, struct odb_over_run *run, struct odb_error *err)
{
    struct odb_bisect_options options = *o->options;
    bool fails;
    options.target = run->spec;
    enum odb_status status =
        odb_fails(&fails, o->model, o->feeds, options.trace, &options, run->verdict, &run->why);
    if (status == ODB_E_EXECUTOR) {
        run->status = ODB_E_INPUT; /* no refusal: the encodings are for another target */
        run->verdict = ODB_VERDICT_UNTESTABLE;
        return ODB_OK;
    }
    if (status != ODB_OK) {
        *err = run->why;
        return status;
    }
    if (odb_verdict_is_bad(run->verdict) && !fails)
        run->verdict = ODB_VERDICT_PASS;
    return ODB_OK;
}

static enum odb_status over_ask_target(struct over *o, struct odb_pool *pool,
                                       struct odb_over_run *run, struct odb_error *err)
{
    struct odb_prober prober;
    struct odb_probed probed;
    struct over_judging judging = {o, run};
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, o->n_outputs + 1);
    struct odb_probe probe = {.what = run->spec,
                              .judged = true,
                              .node = ODB_NO_NODE,
                              .values = o->outputs,
                              .n_values = o->n_outputs,
                              .outputs = had};
    run->error = NAN;
    odb_prober_init(&prober, o->model, o->feeds, o->options->trace, pool, o->options->hooks);
    enum odb_status status = odb_probe_ask(&prober, &probe, over_judge, &judging, &probed, err);
    run->verdict = probed.verdict;
    const char *text = odb_target_description(odb_pool_target(pool));
    run->version = odb_xstrndup(text, strcspn(text, ","));
    run->status = status == ODB_OK ? probed.had : status;
    if (status == ODB_OK && probed.had != ODB_OK)
        run->why = probed.why;
    odb_probe_drop(&prober, &probe);
    odb_prober_dispose(&prober);
    free(had);
    return run->status == ODB_OK ? over_confirm(o, run, err) : status;
}

/* --- what it says ----------------------------------------------------------------------------- */

/* Failures that may be one: wrong values, whatever is wrong with them, or an end of the same kind.
 */
static enum odb_verdict over_manner(enum odb_verdict verdict)
{
    bool values = odb_verdict_is_bad(verdict) && verdict < ODB_VERDICT_CRASH;
    return values ? ODB_VERDICT_FAIL : verdict;
}

enum odb_answer over_answer(const struct over *o, enum odb_verdict verdict)
{
    bool another = o->sought != ODB_VERDICT_PASS && over_manner(o->sought) != over_manner(verdict);
    return verdict == ODB_VERDICT_PASS               ? ODB_ANSWER_GOOD
           : odb_verdict_is_bad(verdict) && !another ? ODB_ANSWER_BAD
                                                     : ODB_ANSWER_UNTESTABLE;
}

const struct odb_over_run *over_find(const struct over *o, const char *spec)
{
    for (size_t i = 0; i < o->out->runs.n; i++)
        if (!strcmp(o->out->runs.items[i].spec, spec))
            return &o->out->runs.items[i];
    return NULL;
}

/* A program, and those of its words that are files: other words are options of it. */
static void over_put_command(const char *text, struct odb_buf *out)
{
    struct odb_argv argv = {0};
    odb_argv_split(&argv, text);
    for (size_t i = 0; i < argv.list.n; i++)
        if (i == 0 || odb_file_is_regular(argv.list.items[i]))
            odb_buf_printf(out, "%s ", argv.list.items[i]);
    odb_argv_dispose(&argv);
}

static bool over_put_kind(const struct odb_spec *spec, void *payload)
{
    odb_buf_printf(payload, "@%s:", spec->kind);
    if (spec->arg && spec->row && spec->row->argument == ODB_ARGUMENT_COMMAND)
        over_put_command(spec->arg, payload);
    else if (spec->arg)
        odb_buf_puts(payload, spec->arg);
    return true;
}

/* Whether two specs name one target, with other options. */
static bool over_same_target(const char *a, const char *b)
{
    struct odb_buf kinds[2] = {ODB_BUF_INIT, ODB_BUF_INIT};
    bool same = odb_spec_walk(a, over_put_kind, &kinds[0], NULL) == ODB_OK &&
                odb_spec_walk(b, over_put_kind, &kinds[1], NULL) == ODB_OK &&
                !strcmp(odb_buf_text(&kinds[0]), odb_buf_text(&kinds[1]));
    odb_buf_dispose(&kinds[0]);
    odb_buf_dispose(&kinds[1]);
    return same;
}

/* Whether the target of a spec was seen to run the model. */
static bool over_runs_elsewhere(const struct over *o, const char *spec)
{
    for (size_t i = 0; i < o->out->runs.n; i++)
        if (o->out->runs.items[i].status == ODB_OK &&
            over_same_target(o->out->runs.items[i].spec, spec))
            return true;
    return false;
}

/* The same target without what the sweep or its executor adds; NULL: there is nothing to leave out.
 */
static char *over_twin(const struct over *o, const char *spec)
{
    bool *none = odb_new_n(bool, o->what->parts.n + 1);
    bool of_set = o->what->kind == ODB_OVER_SET || o->what->kind == ODB_OVER_OPTIMIZERS;
    char *twin = of_set ? odb_over_spec(o->what, none) : NULL;
    free(none);
    if (twin && strcmp(twin, spec))
        return twin;
    free(twin);
    return odb_executor_plain(spec);
}

/* *runs: whether the twin of a spec does. */
static enum odb_status over_ask_twin(struct over *o, const char *spec, bool *runs,
                                     struct odb_error *err)
{
    char *twin = o->weighs ? NULL : over_twin(o, spec);
    enum odb_answer ignored;
    *runs = false;
    if (!twin)
        return ODB_OK;
    o->weighs = true;
    enum odb_status status = over_run_take(o, odb_xstrdup(twin), NULL, &ignored, err);
    o->weighs = false;
    const struct odb_over_run *run = over_find(o, twin);
    *runs = status == ODB_OK && run && run->status == ODB_OK;
    free(twin);
    return status;
}

/* What a refusal shows by now. A target that has the operator refuses it for the model's sake, and
 * is believed to run it otherwise until over_weigh_refusals(); one that says that it lacks it, or a
 * version that may be too old, has to be seen to run the model first. */
static enum odb_status over_weigh(struct over *o, struct odb_over_run *run, struct odb_error *err)
{
    bool runs = false;
    run->verdict = ODB_VERDICT_UNTESTABLE;
    if (!odb_refusal_may_be_fault(run->status, &run->why))
        return ODB_OK;
    bool first = o->what->kind == ODB_OVER_ORDER && !over_runs_elsewhere(o, run->spec);
    if (run->status == ODB_UNSUPPORTED || first)
        ODB_TRY(over_ask_twin(o, run->spec, &runs, err));
    else
        runs = true;
    run->verdict = runs ? ODB_VERDICT_REFUSED : ODB_VERDICT_UNTESTABLE;
    return ODB_OK;
}

/* The user cancels, or gave a spec that cannot be followed. */
static bool over_is_fatal(enum odb_status status)
{
    return status == ODB_CANCELLED || status == ODB_E_USAGE;
}

static enum odb_status over_run(struct over *o, struct odb_over_run *run, struct odb_error *err)
{
    struct odb_pool *pool = NULL;
    ODB_TRY(odb_hooks_cancelled(&o->options->hooks, err));
    ODB_TRY(odb_executor_here(run->spec, err));
    run->status = odb_probe_pool(&pool, run->spec, &o->options->hooks, &run->why);
    if (run->status != ODB_OK) { /* that is not the model's */
        if (over_is_fatal(run->status))
            *err = run->why;
        return over_is_fatal(run->status) ? run->status : ODB_OK;
    }
    run->opened = true;
    enum odb_status status = over_ask_target(o, pool, run, err);
    odb_pool_close(pool);
    ODB_TRY(status);
    if (over_is_fatal(run->status)) {
        *err = run->why;
        return run->status;
    }
    return odb_probe_refused(run->status) ? over_weigh(o, run, err) : ODB_OK;
}

enum odb_status over_run_take(struct over *o, char *spec, char *label, enum odb_answer *answer,
                              struct odb_error *err)
{
    struct odb_over_run run = {.spec = spec,
                               .label = label,
                               .verdict = ODB_VERDICT_UNTESTABLE,
                               .error = NAN,
                               .why = ODB_ERROR_INIT};
    const struct odb_over_run *known = over_find(o, spec);
    if (known) {
        *answer = over_answer(o, known->verdict);
        free(spec);
        free(label);
        return ODB_OK;
    }
    enum odb_status status = over_run(o, &run, err);
    run.version = run.version ? run.version : odb_xstrdup("");
    *answer = over_answer(o, run.verdict);
    odb_push(&o->out->runs, run);
    return status;
}

enum odb_status over_weigh_refusals(struct over *o, struct odb_error *err)
{
    for (size_t i = 0; i < o->out->runs.n; i++) {
        bool runs = true;
        if (o->out->runs.items[i].verdict != ODB_VERDICT_REFUSED)
            continue;
        if (!over_runs_elsewhere(o, o->out->runs.items[i].spec))
            ODB_TRY(over_ask_twin(o, o->out->runs.items[i].spec, &runs, err));
        if (!runs)
            o->out->runs.items[i].verdict = ODB_VERDICT_UNTESTABLE;
    }
    return ODB_OK;
}
