/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "score/score_int.h"
#include "tensor/random.h"

#define RESAMPLES 1000
#define RESAMPLES_DEAR 200
#define RESAMPLE_SEED 1
#define RESAMPLE_FEWEST 5 /* samples: of fewer, chance is not known either */
#define RESAMPLE_LOW 0.025
#define RESAMPLE_HIGH 0.975

/* Indices of the samples that have a share. */
static size_t resample_used(const struct scorer *s, size_t *used)
{
    size_t n = 0;
    for (size_t i = 0; i < s->options->n; i++)
        if (s->samples[i].has)
            used[n++] = i;
    return n;
}

enum odb_status score_of(struct scorer *s, const struct odb_share *shares, double *out,
                         struct odb_error *err)
{
    size_t *used = odb_new_n(size_t, s->options->n + 1), n = resample_used(s, used);
    enum odb_status status = odb_metric_score(s->options->metric, shares, used, n, out, err);
    free(used);
    return status;
}

static enum odb_status resample_better(struct scorer *s, const struct odb_share *a,
                                       const struct odb_share *b, const size_t *picked, size_t n,
                                       double *out, struct odb_error *err)
{
    double before, after;
    ODB_TRY(odb_metric_score(s->options->metric, a, picked, n, &before, err));
    ODB_TRY(odb_metric_score(s->options->metric, b, picked, n, &after, err));
    *out = odb_metric_better(s->options->metric, before, after);
    return ODB_OK;
}

static int resample_order(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The share p of sorted numbers lies below it. */
static double resample_at(const double *sorted, size_t n, double p)
{
    double at = p * (double)(n - 1), below = floor(at);
    size_t i = (size_t)below;
    if (i + 1 >= n || sorted[i] == sorted[i + 1])
        return sorted[i];
    return sorted[i] + (at - below) * (sorted[i + 1] - sorted[i]);
}

enum odb_status score_gain(struct scorer *s, const struct odb_share *a, const struct odb_share *b,
                           struct odb_score_gain *out, struct odb_error *err)
{
    const struct odb_metric_kind *kind = s->options->metric->kind;
    size_t wanted = s->options->resamples ? s->options->resamples
                    : kind->dear          ? RESAMPLES_DEAR
                                          : RESAMPLES;
    size_t *used = odb_new_n(size_t, s->options->n + 1), n = resample_used(s, used), had = 0;
    size_t *picked = odb_new_n(size_t, n + 1);
    double *all = odb_new_n(double, wanted + 1);
    struct odb_pcg64 random;
    odb_pcg64_seed(&random, RESAMPLE_SEED);
    *out = (struct odb_score_gain){NAN, NAN, NAN};
    enum odb_status status = resample_better(s, a, b, used, n, &out->is, err);
    for (size_t r = 0; r < wanted && status == ODB_OK && n >= RESAMPLE_FEWEST; r++) {
        for (size_t i = 0; i < n; i++)
            picked[i] = used[odb_pcg64_integers(&random, 0, (int64_t)n - 1)];
        status = odb_hooks_cancelled(&s->search->hooks, err);
        if (status == ODB_OK)
            status = resample_better(s, a, b, picked, n, &all[had], err);
        had += status == ODB_OK && !isnan(all[had]);
    }
    if (had) {
        qsort(all, had, sizeof *all, resample_order);
        out->low = resample_at(all, had, RESAMPLE_LOW);
        out->high = resample_at(all, had, RESAMPLE_HIGH);
    }
    free(all);
    free(picked);
    free(used);
    return status;
}
