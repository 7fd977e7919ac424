/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "precision/precision_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "judge/blame.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "probe/probe.h"
#include "reference/trace.h"
#include "run/value_report.h"
#include "model/write/write.h"

/* --- judging ---------------------------------------------------------------------------------- */

/* As every search judges an output, with the numbers in the reason where it passes. */
static enum odb_status precision_judge_output(const struct precision *p,
                                              const struct odb_precision_case *one, int value,
                                              const struct odb_tensor *t,
                                              struct odb_value_report *report,
                                              struct odb_error *err)
{
    const struct odb_judge judge = {one->trace, &p->options->tolerance};
    ODB_TRY(odb_judge_value(&judge, value, t, report, err));
    if (!report->reason[0] && report->error.known && report->noise.known)
        snprintf(report->reason, sizeof report->reason, "distance %.3g, noise %.3g",
                 report->error.v, report->noise.v);
    return ODB_OK;
}

/* Outputs of one case into the probe: the worst of them stays. */
static enum odb_status precision_judge(struct precision *p, const struct odb_precision_case *one,
                                       size_t target, struct odb_tensor *const *outputs,
                                       struct odb_precision_probe *probe, struct odb_error *err)
{
    for (size_t o = 0; o < p->graph->n_outputs; o++) {
        int v = p->graph->outputs[o];
        struct odb_value_report report = {.verdict = ODB_VERDICT_UNTESTED};
        ODB_TRY(precision_judge_output(p, one, v, outputs[o], &report, err));
        if (report.verdict == ODB_VERDICT_UNSUPPORTED)
            continue; /* said once, in precision_check() */
        bool passes = report.verdict == ODB_VERDICT_PASS;
        double error = outputs[o]
                           ? odb_relative_distance(outputs[o], odb_trace_value(one->trace, v))
                           : INFINITY;
        if (probe->value == ODB_NO_VALUE || (probe->passes && !passes) ||
            (probe->passes == passes && error > probe->error)) {
            probe->value = v;
            probe->error = error;
            probe->target = target;
            snprintf(probe->reason, sizeof probe->reason, "%s", report.reason);
        }
        probe->passes = probe->passes && passes;
    }
    return ODB_OK;
}

/* --- asking the target ------------------------------------------------------------------------ */

bool precision_is_refusal(enum odb_status status)
{
    return status == ODB_E_EXECUTOR || status == ODB_UNSUPPORTED;
}

/* outputs: [n_outputs], the caller's refs. */
static enum odb_status precision_run_feeds(struct precision *p, struct odb_target *target,
                                           const struct odb_feeds *feeds,
                                           struct odb_tensor **outputs, struct odb_error *err)
{
    for (size_t f = 0; f < feeds->n; f++)
        p->feeds[f] = (struct odb_named){p->graph->values[feeds->items[f].value].name,
                                         feeds->items[f].tensor};
    return odb_target_run(target, p->feeds, feeds->n, p->outputs, p->graph->n_outputs, outputs,
                          err);
}

static void precision_forget(const struct precision *p, struct odb_tensor **outputs)
{
    for (size_t o = 0; o < p->graph->n_outputs; o++) {
        odb_tensor_unref(outputs[o]);
        outputs[o] = NULL;
    }
}

/* What is loaded, on the caller's data set. */
static enum odb_status precision_run_set(struct precision *p, struct odb_target *target,
                                         size_t which, struct odb_precision_probe *probe,
                                         struct odb_error *err)
{
    const struct odb_precision_set *set = p->options->set;
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, p->graph->n_outputs + 1);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < set->n && status == ODB_OK; i++) {
        struct odb_feeds *feeds;
        status = odb_hooks_cancelled(&p->options->hooks, err);
        if (status == ODB_OK)
            status = set->feeds(set->payload, i, &feeds, err);
        if (status != ODB_OK)
            break;
        status = precision_run_feeds(p, target, feeds, outputs, err);
        if (status == ODB_OK)
            status = set->take(set->payload, i, feeds, outputs, err);
        precision_forget(p, outputs);
        odb_feeds_free(feeds);
    }
    free(outputs);
    probe->target = which;
    return status == ODB_OK
               ? set->done(set->payload, &probe->passes, probe->reason, sizeof probe->reason, err)
               : status;
}

/* What is loaded, on all cases. */
static enum odb_status precision_run(struct precision *p, struct odb_target *target, size_t which,
                                     struct odb_precision_probe *probe, struct odb_error *err)
{
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, p->graph->n_outputs + 1);
    enum odb_status status = ODB_OK;
    for (size_t c = 0; c < p->n_cases && status == ODB_OK && probe->passes; c++) {
        status = precision_run_feeds(p, target, p->cases[c].feeds, outputs, err);
        if (status == ODB_OK)
            status = precision_judge(p, &p->cases[c], which, outputs, probe, err);
        precision_forget(p, outputs);
    }
    free(outputs);
    return status;
}

/* A failure of the target is an answer; whatever else goes wrong is not. */
static enum odb_status precision_answer(struct odb_precision_probe *probe, enum odb_status status,
                                        struct odb_error *err)
{
    char text[1800];
    probe->status = status;
    probe->ran = status == ODB_OK;
    if (status == ODB_OK)
        return ODB_OK;
    probe->passes = false;
    probe->error = INFINITY;
    snprintf(probe->reason, sizeof probe->reason, "%s", odb_error_text(err, text, sizeof text));
    return precision_is_refusal(status) || status == ODB_E_CRASH || status == ODB_E_TIMEOUT
               ? ODB_OK
               : status;
}

/* A model on all targets, up to the first on which it fails. */
enum odb_status precision_try(struct precision *p, struct odb_target *const *targets,
                              const struct odb_load *load, struct odb_precision_probe *probe,
                              struct odb_error *err)
{
    probe->passes = true;
    probe->value = ODB_NO_VALUE;
    probe->bytes = load->size;
    for (size_t t = 0; t < p->result->n_targets && probe->passes; t++) {
        enum odb_status status = odb_target_load(targets[t], load, err);
        if (status == ODB_OK)
            status =
                (p->options->set ? precision_run_set : precision_run)(p, targets[t], t, probe, err);
        if (status != ODB_OK)
            probe->target = t;
        ODB_TRY(precision_answer(probe, status, err));
    }
    return ODB_OK;
}

/* Children for all targets; *out is to be closed on failure too. */
enum odb_status precision_open(struct precision *p, struct odb_target ***out, struct odb_error *err)
{
    const struct odb_search_hooks *hooks = &p->options->hooks;
    *out = odb_new_n(struct odb_target *, p->options->n_targets + 1);
    for (size_t t = 0; t < p->result->n_targets; t++) {
        ODB_TRY(odb_target_open_until(&(*out)[t], p->options->targets[t], hooks->cancelled,
                                      hooks->payload, err));
    }
    return ODB_OK;
}

void precision_close(const struct precision *p, struct odb_target **targets)
{
    for (size_t t = 0; targets && t < p->options->n_targets; t++)
        odb_target_close(targets[t]);
    free(targets);
}

struct odb_load precision_load(const struct precision *p, const struct odb_buf *bytes,
                               const char *dir)
{
    return (struct odb_load){.bytes = bytes->data,
                             .size = bytes->len,
                             .dir = dir,
                             .original_outputs = p->outputs,
                             .n_original_outputs = p->graph->n_outputs};
}

/* Announces a probe, or, when there is an answer, what it was. */
void precision_tell(const struct precision *p, const char *text,
                    const struct odb_precision_probe *probe)
{
    struct odb_search_event event = {
        .what = ODB_EVENT_PROBE_BEGIN, .text = text, .node = ODB_NO_NODE};
    if (probe) {
        event.what = ODB_EVENT_PROBE_END;
        event.verdict = !probe->ran     ? odb_probe_verdict(probe->status)
                        : probe->passes ? ODB_VERDICT_PASS
                                        : ODB_VERDICT_FAIL;
        event.loads = 1;
        event.runs = probe->ran;
        event.seconds = probe->seconds;
    }
    odb_hooks_tell(&p->options->hooks, event);
}

static size_t precision_count(const struct precision *p, const bool *keep)
{
    size_t n = 0;
    for (size_t i = 0; i < p->graph->n_nodes; i++)
        n += keep[i] && odb_convert_class(p->convert, (int)i) == ODB_CONVERT_FREE;
    return n;
}

/* The whole model with these nodes kept. */
enum odb_status precision_probe(struct precision *p, const bool *keep,
                                struct odb_precision_probe *probe, struct odb_error *err)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    int *origin = NULL;
    size_t n = 0;
    char text[100];
    const struct odb_convert_form form = {
        .keep = keep, .weights = ODB_WEIGHTS_REFERENCE, .origin = &origin, .n_nodes = &n};
    double start = odb_clock();
    *probe = (struct odb_precision_probe){.kept = precision_count(p, keep)};
    snprintf(text, sizeof text, "%zu of %zu nodes kept in float32", probe->kept, p->n_free);
    ODB_TRY(odb_hooks_cancelled(&p->options->hooks, err));
    precision_tell(p, text, NULL);
    enum odb_status status = odb_convert_write(p->convert, &form, &bytes, err);
    if (status == ODB_OK) {
        struct odb_load load = precision_load(p, &bytes, p->model->base);
        load.node_index = origin;
        load.n_nodes = n;
        status = precision_try(p, p->targets, &load, probe, err);
    }
    probe->seconds = odb_clock() - start;
    precision_tell(p, text, probe);
    odb_push(&p->result->probes, *probe);
    odb_buf_dispose(&bytes);
    free(origin);
    return status;
}
