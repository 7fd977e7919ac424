/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "score/type_cost.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "report/json.h"
#include "score/score_int.h"

/* A run over the samples. */
struct type_run {
    struct scorer scorer; /* its options, samples and the reference's shares */
    struct odb_type_cost *out;
    struct odb_share *shares; /* owned; [rows × samples] */
    size_t at;                /* the sample that is run */
    struct odb_metric_sample sample;
};

static struct odb_share *type_shares(const struct type_run *t, size_t row)
{
    return t->shares + row * t->scorer.options->n;
}

/* Rows: all nodes come first, and are told last. */
static size_t type_row(const struct type_run *t, size_t which)
{
    return which + 1 == t->out->n ? 0 : which + 1;
}

static enum odb_status type_made(void *payload, size_t which, struct odb_tensor *const *outputs,
                                 struct odb_error *err)
{
    struct type_run *t = payload;
    size_t row = type_row(t, which);
    struct odb_metric_sample one = t->sample;
    (void)err;
    one.outputs = outputs;
    if (!outputs || odb_metric_take(t->scorer.options->metric, &one, &type_shares(t, row)[t->at],
                                    NULL) != ODB_OK) {
        t->out->rows[row].failed++;
        t->scorer.samples[t->at].has = false;
    }
    return ODB_OK;
}

/* The reference's outputs, its share, and what becomes of them in the type. */
static enum odb_status type_sample(struct type_run *t, const struct odb_feeds *feeds,
                                   enum odb_dtype to, const int *nodes, struct odb_error *err)
{
    const struct scorer *s = &t->scorer;
    const struct odb_graph *graph = s->model->graph;
    const struct odb_sensitivity_options how = {.to = to, .hooks = s->search->hooks};
    struct odb_trace *trace;
    ODB_TRY(
        score_reference(&trace, s->model, s->search, feeds, graph->outputs, graph->n_outputs, err));
    struct odb_tensor **right = odb_new_n(struct odb_tensor *, graph->n_outputs + 1);
    for (size_t o = 0; o < graph->n_outputs; o++)
        right[o] = trace->ref[graph->outputs[o]];
    char *source = s->options->source(s->options->payload, t->at);
    t->sample = (struct odb_metric_sample){
        .index = t->at, .source = source, .feeds = feeds, .outputs = right, .reference = right};
    enum odb_status status = odb_metric_take(s->options->metric, &t->sample, &s->right[t->at], err);
    s->samples[t->at].has = status == ODB_OK;
    if (status == ODB_OK)
        status = odb_sensitivity_outputs(s->model, feeds, trace, &how, nodes, t->out->n - 1,
                                         type_made, t, err);
    free(source);
    free(right);
    odb_trace_free(trace);
    return status;
}

static enum odb_status type_run(struct type_run *t, enum odb_dtype to, const int *nodes,
                                struct odb_error *err)
{
    const struct scorer *s = &t->scorer;
    odb_hooks_phase(&s->search->hooks, "samples in the type", s->options->n);
    for (; t->at < s->options->n; t->at++) {
        struct odb_feeds *feeds;
        ODB_TRY(score_enter(&t->scorer, "samples in the type", t->at, &feeds, err));
        enum odb_status status = type_sample(t, feeds, to, nodes, err);
        odb_feeds_free(feeds);
        ODB_TRY(status);
    }
    return ODB_OK;
}

static enum odb_status type_scores(struct type_run *t, struct odb_error *err)
{
    struct scorer *s = &t->scorer;
    struct odb_type_cost *out = t->out;
    for (size_t i = 0; i < s->options->n; i++)
        out->used += s->samples[i].has;
    ODB_TRY(score_of(s, s->right, &out->reference, err));
    if (isnan(out->reference))
        return odb_fail(err, ODB_UNSUPPORTED, "the metric is not defined for these samples");
    for (size_t r = 0; r < out->n; r++) {
        struct odb_type_cost_row *row = &out->rows[r];
        ODB_TRY(score_of(s, type_shares(t, r), &row->score, err));
        ODB_TRY(score_gain(s, type_shares(t, r), s->right, &row->loss, err));
    }
    return ODB_OK;
}

static void type_dispose(struct type_run *t)
{
    size_t n = t->scorer.options->n;
    for (size_t i = 0; i < t->out->n * n; i++)
        odb_share_dispose(&t->shares[i]);
    for (size_t i = 0; i < n; i++)
        odb_share_dispose(&t->scorer.right[i]);
    free(t->shares);
    free(t->scorer.right);
    free(t->scorer.samples);
}

enum odb_status odb_type_cost(struct odb_type_cost **out, const struct odb_model *model,
                              const struct odb_bisect_options *search,
                              const struct odb_score_options *options, enum odb_dtype to,
                              const int *nodes, size_t n_nodes, struct odb_error *err)
{
    struct odb_type_cost *cost = odb_new(struct odb_type_cost);
    struct type_run t = {.scorer = {.model = model,
                                    .search = search,
                                    .options = options,
                                    .samples = odb_new_n(struct score_kept, options->n + 1),
                                    .right = odb_new_n(struct odb_share, options->n + 1)},
                         .out = cost,
                         .shares = odb_new_n(struct odb_share, (n_nodes + 1) * options->n + 1)};
    *cost = (struct odb_type_cost){.metric = options->metric,
                                   .samples = options->n,
                                   .rows = odb_new_n(struct odb_type_cost_row, n_nodes + 1),
                                   .n = n_nodes + 1};
    for (size_t i = 0; i <= n_nodes; i++)
        cost->rows[i] =
            (struct odb_type_cost_row){.node = i ? nodes[i - 1] : ODB_NO_NODE, .score = NAN};
    enum odb_status status = type_run(&t, to, nodes, err);
    if (status == ODB_OK)
        status = type_scores(&t, err);
    type_dispose(&t);
    *out = status == ODB_OK ? cost : NULL;
    if (status != ODB_OK)
        odb_type_cost_free(cost);
    return status;
}

void odb_type_cost_free(struct odb_type_cost *cost)
{
    if (!cost)
        return;
    free(cost->rows);
    free(cost);
}

/* --- telling ---------------------------------------------------------------------------------- */

void odb_type_cost_put(const struct odb_type_cost *c, const struct odb_graph *graph,
                       enum odb_dtype to, struct odb_buf *out)
{
    const struct odb_metric_kind *kind = c->metric->kind;
    odb_buf_printf(out, "\n%s over %zu of %zu sample%s: the reference has %.4g%s\n",
                   c->metric->text, c->used, c->samples, odb_plural(c->samples),
                   kind->factor * c->reference, kind->unit);
    odb_buf_printf(out, "  %10s%10s%22s  in %s\n", "score", "loses", "by chance",
                   odb_dtype_info(to)->name);
    for (size_t r = 0; r < c->n; r++) {
        const struct odb_type_cost_row *row = &c->rows[r];
        char chance[40] = "not known";
        if (!isnan(row->loss.low))
            snprintf(chance, sizeof chance, "%.3g to %.3g", row->loss.low, row->loss.high);
        odb_buf_printf(out, "  %10.4g%10.3g%22s  ", kind->factor * row->score, row->loss.is,
                       chance);
        if (row->node == ODB_NO_NODE)
            odb_buf_puts(out, "all nodes");
        else
            odb_node_put(graph, row->node, out);
        if (row->failed)
            odb_buf_printf(out, ", which cannot be run on %zu sample%s", row->failed,
                           odb_plural(row->failed));
        odb_buf_putc(out, '\n');
    }
}

json_t *odb_type_cost_json(const struct odb_type_cost *c)
{
    double factor = c->metric->kind->factor;
    json_t *rows = json_array();
    for (size_t r = 0; r < c->n; r++) {
        const struct odb_type_cost_row *row = &c->rows[r];
        json_array_append_new(
            rows,
            json_pack("{s:o,s:o,s:o,s:o,s:o,s:I}", "index",
                      row->node == ODB_NO_NODE ? json_null() : json_integer(row->node), "score",
                      odb_json_real(factor * row->score), "loss", odb_json_real(row->loss.is),
                      "low", odb_json_real(row->loss.low), "high", odb_json_real(row->loss.high),
                      "failed", (json_int_t)row->failed));
    }
    return json_pack("{s:o,s:o,s:I,s:I,s:o}", "metric", odb_json_text(c->metric->text),
                     "reference_score", odb_json_real(factor * c->reference), "samples",
                     (json_int_t)c->samples, "samples_scored", (json_int_t)c->used, "in_type",
                     rows);
}
