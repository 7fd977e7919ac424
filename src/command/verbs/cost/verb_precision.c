/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/call_spec.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/table/help.h"
#include "command/table/verbs.h"
#include "command/value/call_feeds.h"
#include "command/value/search_options.h"
#include "command/value/spare_model.h"
#include "command/verbs/cost/metric_option.h"
#include "executor/executor.h"
#include "precision/precision.h"
#include "score/allowed.h"
#include "session/session.h"

#define PRECISION_PROBES 200
#define PRECISION_SHOWN 40 /* nodes in the table */
#define PRECISION_BRIEF 20 /* characters of a reason that needs no line of its own */

static void precision_put_probe(const struct odb_precision_result *r, const char *title,
                                const struct odb_precision_probe *probe, struct odb_buf *out)
{
    if (!probe->seconds)
        return;
    odb_buf_printf(out, "  %-14s", title);
    odb_buf_puts(out, probe->passes ? "passes: " : "fails: ");
    if (r->n_targets > 1)
        odb_buf_printf(out, "%s%s, ",
                       probe->passes && probe->value != ODB_NO_VALUE ? "most off on " : "on ",
                       r->targets[probe->target]);
    if (probe->ran && probe->value != ODB_NO_VALUE) {
        odb_buf_put_shown(out, r->model->graph->values[probe->value].name);
        if (strncmp(r->tolerance, "diff2:", 6) != 0) /* which is the very number */
            odb_buf_printf(out, ", error %.3g", probe->error);
        odb_buf_puts(out, ", ");
    }
    odb_buf_put_shown(out, probe->reason);
    odb_buf_putc(out, '\n');
}

static void precision_put_node(const struct odb_precision_result *r, int n, struct odb_buf *out)
{
    const struct odb_precision_node *about = &r->nodes[n];
    odb_buf_puts(out, "  ");
    odb_node_put(r->model->graph, n, out);
    if (about->measured)
        odb_buf_printf(out, "  local error %.3g", about->error);
    bool brief = strlen(about->why) <= PRECISION_BRIEF;
    odb_buf_puts(out, brief ? ", " : "\n      ");
    if (brief)
        odb_buf_printf(out, "%s\n", about->why);
    else
        odb_help_wrap(out, about->why, 6, 6);
}

static void precision_put_kept(const struct odb_precision_result *r, struct odb_buf *out)
{
    size_t shown = 0, n = r->n_kept + r->n_beyond;
    for (size_t i = 0; i < r->model->graph->n_nodes && shown < PRECISION_SHOWN; i++)
        if (r->nodes[i].fate == ODB_FATE_KEPT || r->nodes[i].fate == ODB_FATE_BEYOND) {
            precision_put_node(r, (int)i, out);
            shown++;
        }
    if (shown < n)
        odb_buf_printf(out, "  and %zu more, which --json holds\n", n - shown);
}

/* The nodes that cannot be converted, counted by what is in the way. */
static void precision_put_fixed(const struct odb_precision_result *r, struct odb_buf *out)
{
    size_t n = r->model->graph->n_nodes;
    bool *done = odb_new_n(bool, n + 1);
    if (r->n_fixed)
        odb_buf_printf(out, "\n%zu more cannot be %s:\n", r->n_fixed, odb_dtype_info(r->to)->name);
    for (size_t i = 0; i < n; i++) {
        size_t count = 0;
        if (r->nodes[i].fate != ODB_FATE_FIXED || done[i])
            continue;
        for (size_t k = i; k < n; k++)
            if (r->nodes[k].fate == ODB_FATE_FIXED && !strcmp(r->nodes[k].why, r->nodes[i].why)) {
                done[k] = true;
                count++;
            }
        odb_buf_printf(out, "  %4zu  ", count);
        odb_help_wrap(out, r->nodes[i].why, 8, 8);
    }
    free(done);
}

static void precision_headline(const struct odb_precision_result *r, struct odb_buf *out)
{
    const char *type = odb_dtype_info(r->to)->name;
    size_t stay = r->n_kept + r->n_beyond;
    if (!r->all.passes)
        odb_buf_printf(out, "%s fails in float32 already, so no %s model can be proved to pass\n",
                       r->targets[r->all.target], type);
    else if (!r->n_nodes)
        odb_buf_printf(out, "there is nothing in the model that could be %s\n", type);
    else if (!stay)
        odb_buf_printf(out, "no node has to stay in float32: all %zu can be %s\n", r->n_nodes,
                       type);
    else
        odb_buf_printf(out, "%zu of %zu nodes stay in float32%s\n", stay, r->n_nodes,
                       r->minimal ? "" : ": the probes ran out before fewer were tried");
}

static void precision_text(const struct odb_precision_result *r, struct odb_buf *out)
{
    precision_headline(r, out);
    precision_put_kept(r, out);
    precision_put_fixed(r, out);
    odb_buf_putc(out, '\n');
    for (size_t t = 0; t < r->n_targets; t++) {
        odb_buf_printf(out, "%son %s", t ? "and " : "", r->targets[t]);
        odb_buf_puts(out, " (");
        odb_buf_put_shown(out, r->descriptions[t]);
        odb_buf_puts(out, t + 1 < r->n_targets ? ")\n" : ")");
    }
    odb_buf_printf(out, ", under %s:\n", r->tolerance);
    precision_put_probe(r, "all float32", &r->all, out);
    precision_put_probe(r, "none kept", &r->none, out);
    precision_put_probe(r, "as written", &r->proof, out);
    if (r->n_kept && r->minimal)
        odb_buf_puts(out,
                     "  with any one of the kept converted as well, it fails; that others, and "
                     "fewer,\n  would do is not ruled out\n");
    for (size_t i = 0; i < r->notes.n; i++) {
        odb_buf_puts(out, "note: ");
        odb_help_wrap(out, r->notes.items[i], 6, 6);
    }
    if (r->written) {
        odb_buf_puts(out, "\nproved: ");
        odb_buf_put_shown(out, r->path);
        odb_buf_puts(out, ", read from its file again, passes with these inputs; ");
        odb_buf_put_bytes(out, r->bytes_before);
        odb_buf_puts(out, " became ");
        odb_buf_put_bytes(out, r->bytes_after);
        odb_buf_printf(out, ", %zu node%s added\n", r->casts, r->casts == 1 ? " was" : "s were");
    } else if (r->all.passes) {
        odb_buf_puts(out, "\nnot proved: what was written fails when it is read again, and was "
                          "removed\n");
    }
    size_t probes = r->probes.n + (r->proof.seconds > 0);
    odb_buf_printf(out, "%zu probe%s, %.1f s\n", probes, probes == 1 ? "" : "s", r->seconds);
}

static enum odb_status precision_publish(struct odb_command_call *call,
                                         const struct odb_precision_result *result,
                                         struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    enum odb_status status = ODB_OK;
    bool instead;
    if (odb_call__json(call, &instead)) {
        odb_precision_json(result, &out);
        status = odb_call__publish(call, &out, err);
    }
    if (!instead)
        precision_text(result, &out);
    odb_call__print(call, &out);
    return status;
}

/* What is asked where no target is named: the reference, which rounds wherever the model says
 * so, and the usual runtime, which may compute much of it in float32 but is what people run, where
 * that is found and has kernels for the type. */
static size_t precision_targets(struct odb_command_call *call, enum odb_dtype to,
                                const char *targets[2])
{
    targets[0] = odb_call__target(call);
    if (odb_call_option(call, ODB_OPTION_TARGET))
        return 1;
    targets[1] = targets[0];
    targets[0] = "cpu";
    const struct odb_executor_ops *usual = odb_executor_row(targets[1]);
    return usual && usual->usual && !(usual->lacks & UINT32_C(1) << to) ? 2 : 1;
}

static enum odb_status precision_options(struct odb_command_call *call,
                                         struct odb_precision_options *out,
                                         struct odb_bisect_options *search, const char *targets[2],
                                         struct odb_error *err)
{
    const char *to = odb_call_option(call, ODB_OPTION_TO), *path;
    if (!to) {
        odb_fail(err, ODB_E_USAGE, "there is no type to convert to");
        return odb_error_remedy(err, "add --to f16, bf16 or int8");
    }
    if (!(path = odb_call_option(call, ODB_OPTION_OUTPUT))) {
        odb_fail(err, ODB_E_USAGE, "there is no file to write to");
        return odb_error_remedy(err, "add -o MIXED.onnx");
    }
    ODB_TRY(odb_call__spare_model(call, path, err));
    ODB_TRY(odb_call__search_options(call, search, err));
    *out = (struct odb_precision_options){
        .to = odb_precision_type(to),
        .targets = targets,
        .tolerance = search->tolerance,
        .probes = (size_t)odb_call_int(call, ODB_OPTION_PROBES, PRECISION_PROBES),
        .seconds = (double)odb_call_int(call, ODB_OPTION_BUDGET, 0),
        .path = path};
    if (!odb_call_option(call, ODB_OPTION_TOL))
        out->tolerance = odb_precision_tolerance(out->to);
    out->n_targets = precision_targets(call, out->to, targets);
    out->spare = out->n_targets > 1;
    if (odb_executor_recorded(targets[0])) {
        odb_fail(err, ODB_E_USAGE, "--target %s is a recording, which runs no other model",
                 targets[0]);
        return odb_error_remedy(err, "name a target that runs models");
    }
    return ODB_OK;
}

/* What a data set loses stands in for the tolerance. */
struct precision_metric {
    struct odb_call_metric metric;
    struct odb_allowed *allowed; /* owned */
    struct odb_precision_set set;
    char *text; /* owned */
};

static enum odb_status precision_metric(struct odb_command_call *call, struct precision_metric *m,
                                        const struct odb_bisect_options *search,
                                        struct odb_precision_options *options,
                                        struct odb_error *err)
{
    if (!odb_call_option(call, ODB_OPTION_METRIC) &&
        (odb_call_has(call, ODB_OPTION_DROP) || odb_call_has(call, ODB_OPTION_LABELS) ||
         odb_call_has(call, ODB_OPTION_SAMPLES)))
        return odb_fail(err, ODB_E_USAGE, "--drop, --labels and --samples need a --metric");
    if (!odb_call_option(call, ODB_OPTION_METRIC))
        return ODB_OK;
    if (odb_call_option(call, ODB_OPTION_TOL))
        return odb_fail(err, ODB_E_USAGE, "--metric and --tol are two criteria: leave one out");
    ODB_TRY(odb_call__metric(call, &m->metric, &search->hooks, err));
    const struct odb_allowed_options allowed = {.metric = m->metric.metric,
                                                .drop = m->metric.drop,
                                                .n = m->metric.samples.found.items.n,
                                                .source = odb_call__metric_source,
                                                .feeds = odb_call__metric_feeds,
                                                .payload = &m->metric};
    ODB_TRY(odb_allowed_new(&m->allowed, call->model, search, &allowed, err));
    m->text = odb_allowed_text(m->allowed);
    m->set = (struct odb_precision_set){.text = m->text,
                                        .n = allowed.n,
                                        .feeds = odb_allowed_feeds,
                                        .take = odb_allowed_take,
                                        .done = odb_allowed_done,
                                        .payload = m->allowed};
    options->set = &m->set;
    return ODB_OK;
}

static void precision_metric_dispose(struct precision_metric *m)
{
    odb_allowed_free(m->allowed);
    free(m->text);
    odb_call__metric_dispose(&m->metric);
}

enum odb_status odb_command__precision(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_precision_options options;
    struct odb_precision_result *result = NULL;
    struct odb_bisect_options search;
    const struct odb_feeds *feeds;
    struct odb_trace *trace;
    const char *targets[2];
    struct odb_watch watch;
    struct precision_metric metric = {0};
    ODB_TRY(precision_options(call, &options, &search, targets, err));
    ODB_TRY(odb_call__feeds(call, &feeds, err));
    search.hooks = options.hooks = odb_watch_begin(&watch, call);
    struct odb_budget own = {.memory = call->budget.memory}; /* for the rest it counts itself */
    search.hooks.budget = options.hooks.budget = &own;
    enum odb_status status = precision_metric(call, &metric, &search, &options, err);
    if (status == ODB_OK)
        status = odb_session_trace(call->session, &trace, &search, err);
    if (status == ODB_OK) {
        const struct odb_precision_case one = {feeds, trace};
        trace->hooks = options.hooks;
        status = odb_precision_search(&result, call->model, &one, 1, &options, err);
        trace->hooks = (struct odb_search_hooks){.payload = NULL}; /* the session keeps it */
    }
    odb_watch_end(&watch);
    if (status == ODB_OK) {
        call->found = !result->written;
        status = precision_publish(call, result, err);
    }
    odb_precision_result_free(result);
    precision_metric_dispose(&metric);
    return status;
}
