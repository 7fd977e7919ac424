/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which samples show it: both where the set is left to the target, and on the model that is
 * written. Those that lose most by themselves come first, until both lose it; then what is not
 * needed goes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "score/least/least_int.h"
#include "search/ddmin.h"

struct samples_one {
    size_t index;
    double loss; /* the smaller one of both; NAN last */
};

/* The smaller one of what the set and the model that is written lose. */
static enum odb_status samples_loss(struct leasting *l, const size_t *picked, size_t n,
                                    double *loss, struct odb_error *err)
{
    double set, part;
    ODB_TRY(least_loss(l, l->shares, picked, n, &set, err));
    ODB_TRY(least_loss(l, l->parts, picked, n, &part, err));
    *loss = isnan(set) || isnan(part) ? NAN : fmin(set, part);
    return ODB_OK;
}

static int samples_dearest(const void *a, const void *b)
{
    const struct samples_one *x = a, *y = b;
    double p = isnan(x->loss) ? -INFINITY : x->loss, q = isnan(y->loss) ? -INFINITY : y->loss;
    return p != q ? (p < q) - (p > q) : (x->index > y->index) - (x->index < y->index);
}

static size_t samples_marked(const size_t *picked, size_t n, const bool *keep, size_t *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (keep[i])
            out[kept++] = picked[i];
    return kept;
}

struct samples_left {
    struct leasting *l;
    const size_t *picked; /* [n] */
    size_t *fewer;        /* [n] room */
    size_t n;
};

static enum odb_status samples_ask(void *payload, bool *keep, enum odb_answer *answer,
                                   struct odb_error *err)
{
    struct samples_left *s = payload;
    double loss = NAN;
    size_t n = samples_marked(s->picked, s->n, keep, s->fewer);
    if (n)
        ODB_TRY(samples_loss(s->l, s->fewer, n, &loss, err));
    *answer = least_fails(s->l, loss) ? ODB_ANSWER_BAD : ODB_ANSWER_GOOD;
    return ODB_OK;
}

/* Leaves out what is not needed, those that were taken last first. */
static enum odb_status samples_leave_out(struct leasting *l, size_t *picked, size_t *n,
                                         struct odb_error *err)
{
    struct samples_left left = {l, picked, odb_new_n(size_t, *n + 1), *n};
    const struct odb_ddmin question = {samples_ask, &left, 1};
    bool *keep = odb_new_n(bool, *n + 1);
    memset(keep, true, *n * sizeof *keep);
    enum odb_status status = odb_ddmin(keep, *n, &question, err);
    *n = samples_marked(picked, *n, keep, picked);
    free(keep);
    free(left.fewer);
    return status;
}

static int samples_ascending(const void *a, const void *b)
{
    const size_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* One after the other, those that lose most first. */
static enum odb_status samples_gather(struct leasting *l, const struct samples_one *all, size_t n,
                                      size_t *picked, size_t *chosen, struct odb_error *err)
{
    double loss = NAN;
    *chosen = 0;
    while (*chosen < n && !least_fails(l, loss)) {
        picked[*chosen] = all[*chosen].index;
        ++*chosen;
        ODB_TRY(samples_loss(l, picked, *chosen, &loss, err));
    }
    return samples_leave_out(l, picked, chosen, err);
}

enum odb_status least_samples(struct leasting *l, struct odb_error *err)
{
    struct scorer *s = &l->scorer;
    struct odb_least *out = l->out;
    struct samples_one *all = odb_new_n(struct samples_one, s->options->n + 1);
    size_t *picked = odb_new_n(size_t, s->options->n + 1), n = 0, chosen = 0;
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < s->options->n && status == ODB_OK; i++) {
        if (!s->samples[i].has)
            continue;
        all[n] = (struct samples_one){i, NAN};
        status = samples_loss(l, &all[n].index, 1, &all[n].loss, err);
        n++;
    }
    if (n)
        qsort(all, n, sizeof *all, samples_dearest);
    if (status == ODB_OK)
        status = samples_gather(l, all, n, picked, &chosen, err);
    if (chosen)
        qsort(picked, chosen, sizeof *picked, samples_ascending);
    for (size_t i = 0; i < chosen && status == ODB_OK; i++)
        odb_push(&out->samples, picked[i]);
    if (status == ODB_OK)
        status = least_loss(l, l->shares, picked, chosen, &out->samples_loss, err);
    free(picked);
    free(all);
    return status;
}
