/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "score/allowed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "score/score_int.h"

struct odb_allowed {
    const struct odb_graph *graph; /* borrowed */
    struct odb_allowed_options options;
    struct odb_tensor **right; /* owned refs; [n × n_outputs] of the reference */
    struct odb_share *shares;  /* owned; [n] of the model that is judged */
    size_t *all;               /* owned; [n] 0, 1, … */
    double reference;          /* its score */
};

static struct odb_tensor **allowed_right(const struct odb_allowed *a, size_t sample)
{
    return a->right + sample * a->graph->n_outputs;
}

static enum odb_status allowed_reference(struct odb_allowed *a, const struct odb_model *model,
                                         const struct odb_bisect_options *search, size_t sample,
                                         struct odb_error *err)
{
    struct odb_trace *trace = NULL;
    struct odb_feeds *feeds;
    ODB_TRY(odb_hooks_cancelled(&search->hooks, err));
    ODB_TRY(odb_allowed_feeds(a, sample, &feeds, err));
    enum odb_status status =
        score_reference(&trace, model, search, feeds, a->graph->outputs, a->graph->n_outputs, err);
    for (size_t o = 0; o < a->graph->n_outputs && status == ODB_OK; o++) {
        const struct odb_tensor *t = odb_trace_value(trace, a->graph->outputs[o]);
        allowed_right(a, sample)[o] = t ? odb_tensor_ref(t) : NULL;
    }
    odb_trace_free(trace);
    if (status == ODB_OK)
        status = odb_allowed_take(a, sample, feeds, allowed_right(a, sample), err);
    odb_feeds_free(feeds);
    return status;
}

static void allowed_drop(struct odb_allowed *a)
{
    for (size_t i = 0; i < a->options.n; i++)
        odb_share_dispose(&a->shares[i]);
}

enum odb_status odb_allowed_new(struct odb_allowed **out, const struct odb_model *model,
                                const struct odb_bisect_options *search,
                                const struct odb_allowed_options *options, struct odb_error *err)
{
    struct odb_allowed *a = odb_new(struct odb_allowed);
    enum odb_status status = ODB_OK;
    *a = (struct odb_allowed){
        .graph = model->graph,
        .options = *options,
        .right = odb_new_n(struct odb_tensor *, options->n * model->graph->n_outputs + 1),
        .shares = odb_new_n(struct odb_share, options->n + 1),
        .all = odb_new_n(size_t, options->n + 1)};
    odb_hooks_phase(&search->hooks, "reference", options->n);
    for (size_t i = 0; i < options->n && status == ODB_OK; i++) {
        a->all[i] = i;
        status = allowed_reference(a, model, search, i, err);
        odb_hooks_progress(&search->hooks, "reference", ODB_NO_NODE, i + 1, options->n);
    }
    if (status == ODB_OK)
        status =
            odb_metric_score(options->metric, a->shares, a->all, options->n, &a->reference, err);
    if (status == ODB_OK && isnan(a->reference))
        status = odb_fail(err, ODB_UNSUPPORTED, "the metric is not defined for these samples");
    allowed_drop(a);
    *out = status == ODB_OK ? a : NULL;
    if (status != ODB_OK)
        odb_allowed_free(a);
    return status;
}

void odb_allowed_free(struct odb_allowed *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->options.n * a->graph->n_outputs; i++)
        odb_tensor_unref(a->right[i]);
    allowed_drop(a);
    free(a->right);
    free(a->shares);
    free(a->all);
    free(a);
}

char *odb_allowed_text(const struct odb_allowed *a)
{
    const struct odb_metric *m = a->options.metric;
    return odb_xasprintf("%s at most %.3g%s%s %s the reference's, over %zu sample%s", m->text,
                         a->options.drop, m->kind->diff[0] ? " " : "", m->kind->diff,
                         odb_metric_lower(m) ? "above" : "below", a->options.n,
                         odb_plural(a->options.n));
}

enum odb_status odb_allowed_feeds(void *payload, size_t sample, struct odb_feeds **out,
                                  struct odb_error *err)
{
    const struct odb_allowed *a = payload;
    return a->options.feeds(a->options.payload, sample, out, err);
}

enum odb_status odb_allowed_take(void *payload, size_t sample, const struct odb_feeds *feeds,
                                 struct odb_tensor *const *outputs, struct odb_error *err)
{
    struct odb_allowed *a = payload;
    char *source = a->options.source(a->options.payload, sample);
    const struct odb_metric_sample one = {.index = sample,
                                          .source = source,
                                          .feeds = feeds,
                                          .outputs = outputs,
                                          .reference = allowed_right(a, sample)};
    odb_share_dispose(&a->shares[sample]);
    enum odb_status status = odb_metric_take(a->options.metric, &one, &a->shares[sample], err);
    free(source);
    return status;
}

enum odb_status odb_allowed_done(void *payload, bool *passes, char *reason, size_t size,
                                 struct odb_error *err)
{
    struct odb_allowed *a = payload;
    struct odb_metric *m = a->options.metric;
    double score;
    ODB_TRY(odb_metric_score(m, a->shares, a->all, a->options.n, &score, err));
    double loss = odb_metric_better(m, score, a->reference);
    *passes = loss <= a->options.drop; /* a score that is not defined is none */
    snprintf(reason, size, "%.4g%s, the reference's is %.4g%s", m->kind->factor * score,
             m->kind->unit, m->kind->factor * a->reference, m->kind->unit);
    return ODB_OK;
}
