/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "sensitivity/sensitivity_int.h"

#define MATCH_WORST 10

static int match_order(const void *x, const void *y)
{
    const struct sensitivity_rank *p = x, *q = y;
    if (p->a != q->a)
        return p->a > q->a ? -1 : 1;
    if (p->b != q->b)
        return p->b > q->b ? -1 : 1;
    return (p->node > q->node) - (p->node < q->node);
}

void sensitivity_sort(struct sensitivity_rank *list, size_t n)
{
    qsort(list, n, sizeof *list, match_order);
}

/* Ranks from 0 of n sorted numbers into place[node]; equal ones have the mean of theirs. */
static void match_places(const struct sensitivity_rank *list, size_t n, double *place)
{
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && list[k].a == list[i].a; k++)
            ;
        for (size_t j = i; j < k; j++)
            place[list[j].node] = (double)(i + k - 1) / 2;
    }
}

/* Pearson's correlation; NaN: one of the two does not vary. */
static double match_correlation(const double *x, const double *y, size_t n)
{
    double mean = ((double)n - 1) / 2, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mean) * (x[i] - mean);
        yy += (y[i] - mean) * (y[i] - mean);
        xy += (x[i] - mean) * (y[i] - mean);
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

/* How many of the first of one list are among as many of the other; none counts that is 0. */
static void match_worst(const struct sensitivity_rank *told, const struct sensitivity_rank *had,
                        size_t n, struct odb_sensitivity_match *out)
{
    while (out->worst < n && out->worst < MATCH_WORST && had[out->worst].a > 0)
        out->worst++;
    for (size_t i = 0; i < out->worst; i++)
        for (size_t k = 0; k < out->worst; k++)
            out->found += told[i].node == had[k].node;
}

struct odb_sensitivity_match sensitivity_match(const double *x, const double *y, size_t n)
{
    struct odb_sensitivity_match out = {.rank = NAN};
    struct sensitivity_rank *told = odb_new_n(struct sensitivity_rank, n + 1);
    struct sensitivity_rank *had = odb_new_n(struct sensitivity_rank, n + 1);
    double *a = odb_new_n(double, n + 1), *b = odb_new_n(double, n + 1);
    for (size_t i = 0; i < n; i++)
        if (!isnan(x[i]) && !isnan(y[i])) {
            told[out.n] = (struct sensitivity_rank){.node = (int)out.n, .a = x[i]};
            had[out.n] = (struct sensitivity_rank){.node = (int)out.n, .a = y[i]};
            out.n++;
        }
    sensitivity_sort(told, out.n);
    sensitivity_sort(had, out.n);
    match_places(told, out.n, a);
    match_places(had, out.n, b);
    if (out.n >= 3)
        out.rank = match_correlation(a, b, out.n);
    match_worst(told, had, out.n, &out);
    free(told);
    free(had);
    free(a);
    free(b);
    return out;
}
