/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "score/least/least.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "score/least/least_int.h"

bool least_fails(const struct leasting *l, double loss)
{
    return odb_score_beyond(l->out->score, loss, l->options->drop);
}

void least_note(struct leasting *l, char *line)
{
    odb_push(&l->out->notes, line);
}

enum odb_status least_loss(struct leasting *l, const struct odb_share *shares, const size_t *picked,
                           size_t n, double *loss, struct odb_error *err)
{
    struct odb_metric *metric = l->scorer.options->metric;
    double right, had;
    *loss = NAN;
    ODB_TRY(odb_metric_score(metric, l->scorer.right, picked, n, &right, err));
    ODB_TRY(odb_metric_score(metric, shares ? shares : l->scorer.run, picked, n, &had, err));
    *loss = odb_metric_better(metric, had, right);
    return ODB_OK;
}

/* --- a set ------------------------------------------------------------------------------------ */

static bool least_same(const struct leasting *l, const bool *a, const bool *b)
{
    size_t n = l->scorer.model->graph->n_nodes;
    for (size_t i = 0; i < n; i++)
        if (l->needed[i] && a[i] != b[i])
            return false;
    return true;
}

static enum odb_status least_run(struct leasting *l, const bool *set, double *loss,
                                 struct odb_share **shares, struct odb_error *err)
{
    struct scorer *s = &l->scorer;
    struct odb_share *had = score_shares(s);
    double score = NAN;
    l->out->tries++;
    enum odb_status status = score_leave(s, set, had, err);
    if (status == ODB_OK)
        status = score_of(s, had, &score, err);
    if (status == ODB_OK)
        *loss = odb_metric_better(s->options->metric, score, s->out->reference);
    if (status == ODB_OK && shares)
        *shares = had;
    else
        score_drop(s, had);
    return status;
}

enum odb_status least_try(struct leasting *l, const bool *set, double *loss,
                          struct odb_share **shares, struct odb_error *why, struct odb_error *err)
{
    size_t n = l->scorer.model->graph->n_nodes;
    struct odb_error own = ODB_ERROR_INIT;
    for (size_t i = 0; i < l->tried.n && !shares; i++)
        if (least_same(l, l->tried.items[i].set, set)) {
            *loss = l->tried.items[i].loss;
            return ODB_OK;
        }
    *loss = NAN;
    enum odb_status status = least_run(l, set, loss, shares, &own);
    if (status != ODB_OK && score_fatal(status)) {
        *err = own;
        return status;
    }
    if (status != ODB_OK && why)
        *why = own;
    odb_push(&l->tried, (struct least_tried){odb_xmemdup(set, (n + 1) * sizeof *set), *loss});
    return ODB_OK;
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Once more: what was found need not be so the next time. */
static enum odb_status least_check(struct leasting *l, struct odb_error *err)
{
    double loss;
    score_drop(&l->scorer, l->shares);
    l->shares = NULL;
    ODB_TRY(least_try(l, l->set, &loss, &l->shares, NULL, err));
    l->out->checked = least_fails(l, loss);
    l->out->loss = loss;
    if (!l->out->checked)
        least_note(l, odb_xstrdup("run once more, the set does not cost it: the target does not "
                                  "repeat itself"));
    return ODB_OK;
}

static enum odb_status least_find(struct leasting *l, struct odb_error *err)
{
    ODB_TRY(least_nodes(l, err));
    ODB_TRY(least_check(l, err));
    return least_part(l, err);
}

static void least_count(struct leasting *l)
{
    const struct odb_graph *graph = l->scorer.model->graph;
    for (size_t n = 0; n < graph->n_nodes; n++)
        l->out->n_set += l->set[n] && l->needed[n];
}

static enum odb_status least_whole(struct leasting *l, struct odb_error *err)
{
    const struct odb_graph *graph = l->scorer.model->graph;
    struct odb_least *out = l->out;
    ODB_TRY(score_both(&l->scorer, err));
    out->fails = odb_score_loses(out->score, out->drop);
    if (!out->fails)
        return ODB_OK;
    out->loss = out->score->loss.is;
    l->needed = odb_new_n(bool, graph->n_nodes + 1);
    score_needed(&l->scorer, l->needed);
    l->set = odb_xmemdup(l->needed, (graph->n_nodes + 1) * sizeof *l->set);
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = least_find(l, &why);
    out->stopped = status == ODB_CANCELLED;
    least_count(l);
    if (status != ODB_OK && !out->stopped) {
        *err = why;
        return status;
    }
    ODB_TRY(least_samples(l, err));
    ODB_TRY(least_write(l, err));
    if (out->stopped)
        *err = why;
    return status;
}

static void least_dispose(struct leasting *l)
{
    struct odb_least *out = l->out;
    score_drop(&l->scorer, l->shares);
    score_drop(&l->scorer, l->parts);
    score_end(&l->scorer);
    odb_target_stats_add(&out->cost, &out->score->cost);
    for (size_t i = 0; i < l->tried.n; i++)
        free(l->tried.items[i].set);
    free(l->tried.items);
    free(l->needed);
    free(l->set);
    free(l->part);
}

enum odb_status odb_least_make(struct odb_least **out, const struct odb_model *model,
                               const struct odb_bisect_options *search,
                               const struct odb_least_options *options, struct odb_error *err)
{
    double start = odb_clock();
    struct leasting l = {.options = options};
    *out = l.out = odb_new(struct odb_least);
    *l.out = (struct odb_least){.drop = options->drop, .loss = NAN, .samples_loss = NAN};
    score_begin(&l.scorer, model, search, &options->score);
    l.out->score = l.scorer.out;
    enum odb_status status = odb_repro_ready(options->dir, err);
    if (status == ODB_OK)
        status = least_whole(&l, err);
    least_dispose(&l);
    l.out->seconds = l.out->score->seconds = odb_clock() - start;
    return status;
}

void odb_least_free(struct odb_least *least)
{
    if (!least)
        return;
    for (size_t i = 0; i < least->nodes.n; i++)
        free(least->nodes.items[i].why);
    for (size_t i = 0; i < least->cuts.n; i++) {
        free(least->cuts.items[i].dir);
        free(least->cuts.items[i].summary);
    }
    for (size_t i = 0; i < least->notes.n; i++)
        free(least->notes.items[i]);
    free(least->nodes.items);
    free(least->cuts.items);
    free(least->notes.items);
    free(least->samples.items);
    free(least->whole_why);
    odb_score_free(least->again);
    odb_score_free(least->score);
    free(least);
}
