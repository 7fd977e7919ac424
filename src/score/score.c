/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "score/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bisect/plan/bisect.h"
#include "run/memory_budget.h"
#include "score/score_int.h"

#define SCORE_ROUNDING 1e-6
#define SCORE_SEARCHES 3 /* of samples, each the worst that what was found does not account for */

/* --- who is to be mended ---------------------------------------------------------------------- */

static bool score_knows(const struct odb_score *score, int node)
{
    for (size_t i = 0; i < score->nodes.n; i++)
        if (score->nodes.items[i].node == node)
            return true;
    return false;
}

static void score_add(struct odb_score *score, int node, double error)
{
    if (!score_knows(score, node) && score->nodes.n < ODB_SCORE_NODES)
        odb_push(&score->nodes,
                 (struct odb_score_node){
                     .node = node, .error = error, .alone = {NAN, NAN, NAN}, .changed = SIZE_MAX});
}

static void score_note(struct odb_score *score, char *line)
{
    odb_push(&score->notes, line);
}

/* The nodes that it accuses; of a region those that lead from its first to its last. */
static void score_suspect(struct scorer *s, const struct odb_culprit *culprit, bool region)
{
    const struct odb_graph *graph = s->model->graph;
    const struct odb_node *last = &graph->nodes[culprit->segment[1]];
    bool *up = odb_new_n(bool, graph->n_nodes + 1);
    if (!region)
        odb_push(&s->accused, culprit->node);
    if (region)
        odb_graph_ancestors(graph, last->out, (size_t)last->n_out, NULL, up);
    for (int n = culprit->segment[0]; region && n <= culprit->segment[1]; n++)
        if (up[n])
            odb_push(&s->accused, n);
    free(up);
}

/* What a search found of one sample. */
static void score_accused(struct scorer *s, const struct odb_report *report)
{
    size_t regions = 0;
    for (size_t i = 0; i < report->culprits.n; i++) {
        const struct odb_culprit *culprit = &report->culprits.items[i];
        bool region = odb_culprit_is_region(culprit) && !culprit->group.n;
        if (culprit->of_reference)
            continue;
        regions += region;
        score_suspect(s, culprit, region);
        if (!region)
            score_add(s->out, culprit->node,
                      culprit->numbers.error.known ? culprit->numbers.error.v : NAN);
    }
    if (regions)
        score_note(s->out,
                   odb_xasprintf("%zu region%s of several nodes %s accused as well, which "
                                 "cannot be mended; name nodes of it to try them",
                                 regions, odb_plural(regions), regions == 1 ? "is" : "are"));
}

/* The worst sample of those that differ, and that no search was made of. n: there is none. */
static size_t score_worst(const struct odb_score *score)
{
    size_t worst = score->samples.n;
    for (size_t i = 0; i < score->samples.n; i++) {
        const struct odb_score_sample *one = &score->samples.items[i];
        if (one->why || one->searched || !(one->error > 0))
            continue;
        const struct odb_score_sample *best =
            worst < score->samples.n ? &score->samples.items[worst] : NULL;
        if (!best || (one->changed && !best->changed) ||
            (one->changed == best->changed && one->error > best->error))
            worst = i;
    }
    return worst;
}

/* A search of a sample. What stops it, or leaves it without a verdict, is a note. */
static enum odb_status score_search_sample(struct scorer *s, size_t sample, struct odb_error *err)
{
    struct odb_bisect_options search = *s->search;
    struct odb_report *report = NULL;
    struct odb_feeds *feeds;
    struct odb_error why = ODB_ERROR_INIT;
    char text[600];
    s->out->samples.items[sample].searched = true;
    s->out->searches++;
    ODB_TRY(s->options->feeds(s->options->payload, sample, &feeds, err));
    search.no_explain = true;
    search.no_opinion = true;
    enum odb_status status = odb_bisect(&report, s->model, feeds, &search, &why);
    if (status == ODB_OK)
        score_accused(s, report);
    else if (status != ODB_CANCELLED)
        score_note(s->out, odb_xasprintf("the search of %s ended without a verdict: %s",
                                         s->out->samples.items[sample].source,
                                         odb_error_text(&why, text, sizeof text)));
    if (report) {
        s->out->cost.loads += report->target_loads;
        s->out->cost.runs += report->target_runs;
    }
    odb_report_free(report);
    odb_feeds_free(feeds);
    if (status == ODB_CANCELLED)
        *err = why;
    return status == ODB_CANCELLED ? status : ODB_OK;
}

enum odb_status score_search(struct scorer *s, bool *any, struct odb_error *err)
{
    size_t worst = s->out->searches < SCORE_SEARCHES ? score_worst(s->out) : s->out->samples.n;
    *any = worst < s->out->samples.n;
    return *any ? score_search_sample(s, worst, err) : ODB_OK;
}

/* --- mending ---------------------------------------------------------------------------------- */

static int score_ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* The first n of the list, in the order of the graph. */
static struct score_set score_first(const struct odb_score *score, size_t n)
{
    struct score_set set = {.n = n};
    for (size_t i = 0; i < n; i++)
        set.nodes[i] = score->nodes.items[i].node;
    qsort(set.nodes, n, sizeof *set.nodes, score_ascending);
    return set;
}

struct odb_share *score_shares(const struct scorer *s)
{
    return odb_new_n(struct odb_share, s->options->n + 1);
}

void score_drop(const struct scorer *s, struct odb_share *shares)
{
    for (size_t i = 0; shares && i < s->options->n; i++)
        odb_share_dispose(&shares[i]);
    free(shares);
}

/* A word of the target on this node, or the end. */
static enum odb_status score_cannot(struct odb_score_node *node, enum odb_status status,
                                    struct odb_error *why, struct odb_error *err)
{
    char text[1000];
    if (status == ODB_CANCELLED || status == ODB_E_NOMEM || status == ODB_E_IO ||
        status == ODB_E_INPUT) {
        *err = *why;
        return status;
    }
    node->why = odb_xstrdup(odb_error_text(why, text, sizeof text));
    return ODB_OK;
}

static enum odb_status score_alone(struct scorer *s, struct odb_score_node *node,
                                   struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_share *shares = score_shares(s);
    const struct score_set set = {{node->node}, 1};
    enum odb_status status = score_mend(s, &set, shares, &why);
    if (status == ODB_OK)
        status = score_of(s, shares, &node->score, &why);
    if (status == ODB_OK)
        status = score_gain(s, s->run, shares, &node->alone, &why);
    node->with = node->alone;
    bool tells = s->out->tells;
    node->changed = tells ? 0 : SIZE_MAX;
    for (size_t i = 0; i < s->options->n && status == ODB_OK && tells; i++)
        node->changed += s->samples[i].has && !odb_share_same(&shares[i], &s->run[i]);
    score_drop(s, shares);
    return status == ODB_OK ? ODB_OK : score_cannot(node, status, &why, err);
}

/* Behind one another as each is mended besides. */
static enum odb_status score_with(struct scorer *s, size_t n, struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_score_node *last = &s->out->nodes.items[n - 1];
    struct odb_share *shares = score_shares(s);
    const struct score_set set = score_first(s->out, n);
    enum odb_status status = score_mend(s, &set, shares, &why);
    if (status == ODB_OK)
        status = score_of(s, shares, &last->score, &why);
    if (status == ODB_OK)
        status = score_gain(s, s->run, shares, &last->with, &why);
    score_drop(s, shares);
    return status == ODB_OK ? ODB_OK : score_cannot(last, status, &why, err);
}

static int score_dearest(const void *a, const void *b)
{
    const struct odb_score_node *x = a, *y = b;
    if (!x->why != !y->why)
        return x->why ? 1 : -1;
    double gains[] = {isnan(x->alone.is) ? -INFINITY : x->alone.is,
                      isnan(y->alone.is) ? -INFINITY : y->alone.is};
    if (gains[0] != gains[1])
        return gains[0] > gains[1] ? -1 : 1;
    return x->node - y->node;
}

static enum odb_status score_nodes(struct scorer *s, struct odb_error *err)
{
    struct odb_score *score = s->out;
    struct odb_error why = ODB_ERROR_INIT;
    struct score_set all = score_first(score, score->nodes.n);
    enum odb_status status = score_read(s, &all, &why);
    for (size_t i = 0; i < score->nodes.n && status != ODB_OK; i++)
        ODB_TRY(score_cannot(&score->nodes.items[i], status, &why, err));
    for (size_t i = 0; i < score->nodes.n && status == ODB_OK; i++)
        ODB_TRY(score_alone(s, &score->nodes.items[i], err));
    qsort(score->nodes.items, score->nodes.n, sizeof *score->nodes.items, score_dearest);
    for (size_t n = 2; n <= score->nodes.n && !score->nodes.items[n - 1].why; n++)
        ODB_TRY(score_with(s, n, err));
    return ODB_OK;
}

/* --- all of it -------------------------------------------------------------------------------- */

static void score_forget(struct scorer *s)
{
    for (size_t i = 0; i < s->options->n; i++) {
        struct odb_tensor **fed = s->samples[i].fed;
        for (size_t k = 0; fed && k < s->n_list; k++)
            odb_tensor_unref(fed[k]);
        free(fed);
        s->samples[i].fed = NULL;
    }
    for (size_t i = 0; i < s->out->nodes.n; i++) {
        free(s->out->nodes.items[i].why);
        s->out->nodes.items[i].why = NULL;
    }
}

/* Searches and mends, until what is mended accounts for what is lost, or no search finds more. */
static enum odb_status score_hunt(struct scorer *s, struct odb_error *err)
{
    struct odb_score *score = s->out;
    bool any = true;
    while (any) {
        size_t before = score->nodes.n;
        ODB_TRY(score_search(s, &any, err));
        if (score->nodes.n == before)
            break;
        score_forget(s);
        ODB_TRY(score_nodes(s, err));
        const struct odb_score_node *last = &score->nodes.items[score->nodes.n - 1];
        if (last->why ||
            !(odb_metric_better(s->options->metric, last->score, score->reference) > 0))
            break;
    }
    return ODB_OK;
}

/* No sample has a share. */
static enum odb_status score_nothing(const struct scorer *s, struct odb_error *err)
{
    const struct odb_score_sample *first = &s->out->samples.items[0];
    odb_fail(err, first->failed, "none of %zu samples can be scored: %s", s->options->n,
             first->why);
    odb_error_at(err, "%s", first->source);
    return first->failed;
}

static enum odb_status score_check(const struct scorer *s, struct odb_error *err)
{
    const struct odb_graph *graph = s->model->graph;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_op *op = odb_cpu_row(&graph->nodes[n]);
        if (op && op->flags & ODB_OP_RANDOM) {
            odb_fail(err, ODB_UNSUPPORTED,
                     "it draws at random, so that each sample has no score "
                     "of its own");
            struct odb_buf name = ODB_BUF_INIT;
            odb_node_put(graph, (int)n, &name);
            odb_error_at(err, "%s", odb_buf_text(&name));
            odb_buf_dispose(&name);
            return ODB_UNSUPPORTED;
        }
    }
    return ODB_OK;
}

enum odb_status score_both(struct scorer *s, struct odb_error *err)
{
    struct odb_score *score = s->out;
    ODB_TRY(score_check(s, err));
    ODB_TRY(score_run(s, err));
    for (size_t i = 0; i < s->options->n; i++) {
        score->used += s->samples[i].has;
        score->differ += s->samples[i].has && score->samples.items[i].changed;
    }
    if (!score->used)
        return score_nothing(s, err);
    score->description = odb_xstrdup(odb_target_description(odb_pool_target(s->pool)));
    ODB_TRY(score_of(s, s->right, &score->reference, err));
    ODB_TRY(score_of(s, s->run, &score->run, err));
    ODB_TRY(score_gain(s, s->run, s->right, &score->loss, err));
    score->lower = odb_metric_lower(s->options->metric);
    return ODB_OK;
}

static enum odb_status score_whole(struct scorer *s, struct odb_error *err)
{
    struct odb_score *score = s->out;
    ODB_TRY(score_both(s, err));
    if (s->options->bare)
        return ODB_OK;
    for (size_t i = 0; i < s->options->n_nodes; i++)
        score_add(score, s->options->nodes[i], NAN);
    score->accused = !s->options->n_nodes;
    return score->accused ? score_hunt(s, err) : score_nodes(s, err);
}

void score_end(struct scorer *s)
{
    for (size_t i = 0; i < s->options->n; i++) {
        for (size_t o = 0; s->samples[i].right && o < s->n_outputs; o++)
            odb_tensor_unref(s->samples[i].right[o]);
        free(s->samples[i].right);
    }
    score_forget(s);
    score_drop(s, s->right);
    score_drop(s, s->run);
    free(s->samples);
    if (s->prober.pool)
        odb_prober_dispose(&s->prober);
    if (s->pool) {
        odb_pool_stop(s->pool);
        struct odb_target_stats stats = odb_pool_stats(s->pool);
        odb_target_stats_add(&s->out->cost, &stats);
        odb_pool_close(s->pool);
    }
    odb_trace_free(s->like);
    odb_feeds_free(s->fed);
    odb_spill_unref(s->spill);
    free(s->list);
    free(s->outputs);
    free(s->accused.items);
}

void score_begin(struct scorer *s, const struct odb_model *model,
                 const struct odb_bisect_options *search, const struct odb_score_options *options)
{
    const struct odb_metric *metric = options->metric;
    const struct odb_graph *graph = model->graph;
    struct odb_score *score = odb_new(struct odb_score);
    *score = (struct odb_score){.model = model,
                                .metric = odb_xstrdup(metric->text),
                                .target = odb_xstrdup(search->target),
                                .labels = metric->labels ? odb_xstrdup(metric->labels->path) : NULL,
                                .unit = metric->kind->unit,
                                .diff = metric->kind->diff,
                                .right = metric->kind->right,
                                .tells = metric->kind != &odb_metric_python,
                                .factor = metric->kind->factor,
                                .reference = NAN,
                                .run = NAN,
                                .loss = {NAN, NAN, NAN}};
    *s = (struct scorer){.model = model,
                         .search = search,
                         .options = options,
                         .out = score,
                         .spill = odb_spill_new(odb_memory_budget(search->hooks.budget).kept),
                         .samples = odb_new_n(struct score_kept, options->n + 1),
                         .right = odb_new_n(struct odb_share, options->n + 1),
                         .run = odb_new_n(struct odb_share, options->n + 1),
                         .outputs = odb_xmemdup(graph->outputs, graph->n_outputs * sizeof(int)),
                         .n_outputs = graph->n_outputs};
    for (size_t i = 0; i < options->n; i++)
        odb_push(&score->samples,
                 (struct odb_score_sample){.source = options->source(options->payload, i),
                                           .error = NAN});
}

enum odb_status odb_score_make(struct odb_score **out, const struct odb_model *model,
                               const struct odb_bisect_options *search,
                               const struct odb_score_options *options, struct odb_error *err)
{
    double start = odb_clock();
    char text[1000];
    struct scorer s;
    score_begin(&s, model, search, options);
    struct odb_score *score = *out = s.out;
    enum odb_status status = score_whole(&s, err);
    score_end(&s);
    score->seconds = odb_clock() - start;
    score->stopped = status == ODB_CANCELLED && !isnan(score->run) && score->description;
    for (size_t i = 0; i < score->nodes.n && score->stopped; i++)
        if (isnan(score->nodes.items[i].alone.is) && !score->nodes.items[i].why)
            score->nodes.items[i].why = odb_xstrdup("it was stopped before");
    if (status != ODB_OK && !score->stopped)
        score->failure = odb_xstrdup(odb_error_text(err, text, sizeof text));
    return status;
}

bool odb_score_loses(const struct odb_score *score, double drop)
{
    return odb_score_beyond(score, score->loss.is, drop);
}

bool odb_score_beyond(const struct odb_score *score, double loss, double drop)
{
    double rounding = SCORE_ROUNDING * fabs(score->factor * score->reference);
    return loss > drop + (isfinite(rounding) ? rounding : 0);
}

void odb_score_free(struct odb_score *score)
{
    if (!score)
        return;
    for (size_t i = 0; i < score->samples.n; i++) {
        free(score->samples.items[i].source);
        free(score->samples.items[i].why);
    }
    for (size_t i = 0; i < score->nodes.n; i++)
        free(score->nodes.items[i].why);
    for (size_t i = 0; i < score->notes.n; i++)
        free(score->notes.items[i]);
    free(score->samples.items);
    free(score->nodes.items);
    free(score->notes.items);
    free(score->metric);
    free(score->target);
    free(score->description);
    free(score->labels);
    free(score->failure);
    free(score);
}
