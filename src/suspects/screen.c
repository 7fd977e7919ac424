/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which values and families are worth all samples. Replays are what takes time, so candidates are
 * sifted: all of them on one sample, where the better ones have their amounts fitted, those on the
 * next, the better half of them on the one after, and so on. The first replay is of the first
 * order, and a fault may be large: so an amount is fitted by replays with the amount itself. What
 * is left is tried on every sample with that amount: where it was not fitted, it can only explain
 * if it is right.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "reference/trace.h"
#include "run/hooks.h"
#include "suspects/suspects_int.h"

#define SCREEN_STEPS 5 /* replays that an amount is fitted by */
#define SCREEN_ABSURD 100
#define SCREEN_SETTLED 1e-6 /* relative change of an amount that is no change */
#define SCREEN_TIE 1.001    /* times what the best misses: the same, so it stays */
#define SCREEN_TIME 0.6     /* part of the time that may pass before amounts are fitted */
#define SCREEN_MOST 400     /* candidates that amounts are fitted of */

/* --- the list --------------------------------------------------------------------------------- */

/* Nodes that lead to an output that is compared. */
static void screen_leads(struct suspects *s)
{
    int *outputs = odb_new_n(int, s->graph->n_outputs + 1);
    size_t n = 0;
    for (size_t o = 0; o < s->graph->n_outputs; o++)
        if (s->scale[o] > 0)
            outputs[n++] = s->graph->outputs[o];
    odb_graph_ancestors(s->graph, outputs, n, NULL, s->leads);
    free(outputs);
}

static bool screen_fits_pattern(const struct suspects *s, enum deviation family)
{
    bool makes = family == DEVIATION_OF_NAN || family == DEVIATION_OF_F16 ||
                 family == DEVIATION_OF_ZERO || family == DEVIATION_OF_RELU;
    return s->result->pattern ? makes : family != DEVIATION_OF_NAN;
}

enum odb_status suspects_list(struct suspects *s, struct odb_error *err)
{
    struct odb_feeds *feeds;
    struct observed *first = &s->seen.items[0];
    screen_leads(s);
    ODB_TRY(s->samples->feeds(s->samples->payload, first->sample, &feeds, err));
    enum odb_status status = suspects_compute(s, feeds, ODB_PREC_F64, &first->values, err);
    odb_feeds_free(feeds);
    for (size_t n = 0; n < s->graph->n_nodes && status == ODB_OK; n++) {
        const struct odb_node *node = &s->graph->nodes[n];
        size_t before = s->candidates.n;
        for (int o = 0; o < node->n_out; o++)
            for (int f = 0; f < DEVIATION_COUNT; f++)
                if (node->out[o] >= 0 && suspects_possible(s, first, node->out[o]) &&
                    screen_fits_pattern(s, (enum deviation)f))
                    odb_push(&s->candidates,
                             (struct candidate){.value = node->out[o],
                                                .family = (enum deviation)f,
                                                .amount = deviation_row((enum deviation)f)->first,
                                                .least = 1});
        s->result->n_tried += s->candidates.n > before;
        s->result->n_untried += s->candidates.n == before;
    }
    return status;
}

/* --- trying ----------------------------------------------------------------------------------- */

/* No deviation is believed to be so many times as large as the value. */
static bool screen_absurd(const struct candidate *c, const struct observed *o)
{
    struct odb_gap gap;
    double most = SCREEN_ABSURD;
    if (deviation_row(c->family)->amount != DEVIATION_LINEAR)
        return false;
    odb_gap_measure(&gap, o->values[c->value], o->values[c->value]);
    most *= c->family == DEVIATION_OF_CONSTANT ? gap.rms : 1;
    return !isfinite(c->amount) || fabs(c->amount) > most;
}

/* One replay; a candidate that cannot be replayed is out. */
static enum odb_status screen_try(struct suspects *s, struct candidate *c, const struct observed *o,
                                  bool linear, struct odb_error *err)
{
    enum odb_status status;
    double first = deviation_row(c->family)->first;
    double *response =
        suspects_response(s, o, c->value, c->family, linear ? first : c->amount, &status, err);
    ODB_TRY(status);
    c->dead |= !response;
    for (size_t i = 0; i < o->n && response && linear; i++)
        response[i] /= first;
    if (response)
        suspects_add(s, c, o, response, linear);
    free(response);
    c->dead |= screen_absurd(c, o);
    return ODB_OK;
}

static int screen_better(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    double ex = x->dead ? -INFINITY : x->explained, ey = y->dead ? -INFINITY : y->explained;
    return ex > ey                ? -1
           : ex < ey              ? 1
           : x->value != y->value ? x->value - y->value
                                  : (int)x->family - (int)y->family;
}

/* Drops what explains least, all but so many and their equals. */
static void screen_sift(struct suspects *s, size_t keep)
{
    qsort(s->candidates.items, s->candidates.n, sizeof *s->candidates.items, screen_better);
    double best = s->candidates.n ? 1 - s->candidates.items[0].explained : 1;
    double bound = fmax(SCREEN_TIE * best, fmin(16 * s->result->rounding, 0.01));
    size_t n = 0;
    for (; n < s->candidates.n && (n < keep || n < SCREEN_MOST); n++) {
        const struct candidate *c = &s->candidates.items[n];
        if (c->dead || (n >= keep && 1 - c->explained > bound))
            break;
    }
    s->candidates.n = n;
}

/* Candidates from this one on were not reached; they stand in the order of the nodes. */
static void screen_leave(struct suspects *s, size_t from)
{
    bool *had = odb_new_n(bool, s->graph->n_nodes + 1);
    for (size_t i = 0; i < s->candidates.n; i++) {
        struct candidate *c = &s->candidates.items[i];
        int node = s->graph->values[c->value].producer;
        c->dead |= i >= from;
        s->result->n_left += i >= from && !had[node];
        had[node] = true;
    }
    s->result->n_tried -= s->result->n_left;
    free(had);
}

static enum odb_status screen_round(struct suspects *s, const struct observed *o, size_t round,
                                    struct odb_error *err)
{
    const struct odb_search_hooks *hooks = &s->options->search->hooks;
    char phase[60];
    snprintf(phase, sizeof phase, "suspects on sample %zu", o->sample + 1);
    odb_hooks_phase(hooks, phase, s->candidates.n);
    for (size_t i = 0; i < s->candidates.n; i++) {
        struct candidate *c = &s->candidates.items[i];
        bool linear = !round && deviation_row(c->family)->amount == DEVIATION_LINEAR;
        enum odb_status status = ODB_CANCELLED;
        if (!suspects_late(s, SCREEN_TIME)) {
            odb_hooks_progress(hooks, phase, s->graph->values[c->value].producer, i,
                               s->candidates.n);
            status = screen_try(s, c, o, linear, err);
        }
        if (status == ODB_CANCELLED) {
            if (!round)
                screen_leave(s, i);
            s->sifted = s->result->complete = false;
            break;
        }
        ODB_TRY(status);
    }
    return ODB_OK;
}

/* --- amounts ---------------------------------------------------------------------------------- */

/* With this amount, on all samples that are sifted on. along: NULL, or the responses one after the
 * other are written there; the caller's. */
static enum odb_status screen_amount(struct suspects *s, struct candidate *c, double amount,
                                     size_t n, struct odb_error *err)
{
    suspects_clear(c);
    c->amount = amount;
    for (size_t i = 0; i < n && !c->dead; i++)
        ODB_TRY(screen_try(s, c, &s->seen.items[i], false, err));
    return ODB_OK;
}

/* The next amount after three, of which each made the one behind it: Steffensen's, which converges
 * in squares where the steps themselves do so slowly. */
static double screen_leap(const double *a)
{
    double bend = a[2] - 2 * a[1] + a[0], leap = a[0] - (a[1] - a[0]) * (a[1] - a[0]) / bend;
    return bend != 0 && isfinite(leap) && leap * a[2] > 0 ? leap : a[2];
}

/* Gauss and Newton with the secant from no deviation as the slope: where the response p to amount a
 * is of the first order, a * <off, p> / <p, p> is the best amount, and it stays where that is 1. */
static enum odb_status screen_fit_linear(struct suspects *s, struct candidate *c, size_t n,
                                         struct odb_error *err)
{
    struct candidate best = *c;
    double a[3] = {c->amount};
    int steps = n > 1 ? 2 * SCREEN_STEPS : SCREEN_STEPS, at = 0;
    best.explained = -INFINITY;
    for (int i = 0; i < steps && isfinite(a[at]) && a[at] != 0; i++) {
        ODB_TRY(screen_amount(s, c, a[at], n, err));
        if (c->explained > best.explained)
            best = *c;
        double factor = c->square > 0 ? c->cross / c->square : 1;
        if (fabs(factor - 1) < SCREEN_SETTLED || c->dead)
            break;
        a[at + 1] = a[at] * factor;
        at++;
        if (at == 2) {
            a[0] = screen_leap(a);
            at = 0;
        }
    }
    *c = best;
    return ODB_OK;
}

/* Amounts between 0 and 1: even steps, then halves about the best. */
static enum odb_status screen_fit_search(struct suspects *s, struct candidate *c, size_t n,
                                         struct odb_error *err)
{
    struct candidate best = *c;
    double step = 0.1;
    best.explained = -INFINITY;
    for (int i = 1; i < 10; i++) {
        ODB_TRY(screen_amount(s, c, step * i, n, err));
        best = c->explained > best.explained ? *c : best;
    }
    for (int i = 0; i < SCREEN_STEPS; i++) {
        double middle = best.amount;
        step /= 2;
        for (int side = -1; side <= 1; side += 2) {
            ODB_TRY(screen_amount(s, c, middle + side * step, n, err));
            best = c->explained > best.explained ? *c : best;
        }
    }
    *c = best;
    return ODB_OK;
}

static enum odb_status screen_fit(struct suspects *s, size_t n, struct odb_error *err)
{
    const struct odb_search_hooks *hooks = &s->options->search->hooks;
    odb_hooks_phase(hooks, "amounts", s->candidates.n);
    for (size_t i = 0; i < s->candidates.n; i++) {
        struct candidate *c = &s->candidates.items[i];
        enum deviation_amount how = deviation_row(c->family)->amount;
        struct candidate before = *c;
        enum odb_status status = suspects_late(s, 0.8) ? ODB_CANCELLED : ODB_OK;
        odb_hooks_progress(hooks, "amounts", ODB_NO_NODE, i, s->candidates.n);
        if (status == ODB_OK && how == DEVIATION_LINEAR)
            status = screen_fit_linear(s, c, n, err);
        else if (status == ODB_OK && how == DEVIATION_SEARCH)
            status = screen_fit_search(s, c, n, err);
        if (status == ODB_CANCELLED) {
            *c = before;
            s->sifted = s->result->complete = false;
            break;
        }
        ODB_TRY(status);
    }
    return ODB_OK;
}

/* --- all samples ------------------------------------------------------------------------------ */

/* Its values are kept until it has been among all. */
static enum odb_status screen_values(struct suspects *s, struct observed *o, struct odb_error *err)
{
    struct odb_feeds *feeds;
    if (o->values)
        return ODB_OK;
    ODB_TRY(s->samples->feeds(s->samples->payload, o->sample, &feeds, err));
    enum odb_status status = suspects_compute(s, feeds, ODB_PREC_F64, &o->values, err);
    odb_feeds_free(feeds);
    return status;
}

/* The sample counts for all that is left, or for nothing. */
static enum odb_status screen_sample(struct suspects *s, struct observed *o, struct odb_error *err)
{
    size_t size = s->candidates.n * sizeof *s->candidates.items;
    struct candidate *before = size ? odb_xmemdup(s->candidates.items, size) : NULL;
    enum odb_status status = screen_values(s, o, err);
    for (size_t i = 0; i < s->candidates.n && status == ODB_OK; i++)
        if (!s->candidates.items[i].dead)
            status = screen_try(s, &s->candidates.items[i], o, false, err);
    if (status != ODB_OK && size)
        memcpy(s->candidates.items, before, size);
    free(before);
    suspects_drop(s, o->values);
    o->values = NULL;
    return status;
}

/* Those whose outputs differ come first, for they tell most. Where the time is over before the
 * first, what they were sifted by stays. */
static enum odb_status screen_all(struct suspects *s, struct odb_error *err)
{
    const struct odb_search_hooks *hooks = &s->options->search->hooks;
    enum odb_status status = ODB_OK;
    size_t *used = &s->result->n_used, n = s->candidates.n, size = n * sizeof *s->candidates.items;
    struct candidate *sifted = n ? odb_xmemdup(s->candidates.items, size) : NULL;
    odb_hooks_phase(hooks, "suspects on all samples", s->seen.n);
    for (size_t i = 0; i < n; i++)
        suspects_clear(&s->candidates.items[i]);
    for (*used = 0; *used < s->seen.n && status == ODB_OK; *used += status == ODB_OK) {
        bool late = suspects_late(s, 1);
        if (late && (s->result->stopped || *used >= SUSPECTS_SCREENED))
            break;
        odb_hooks_progress(hooks, "suspects on all samples", ODB_NO_NODE, *used, s->seen.n);
        status = screen_sample(s, &s->seen.items[*used], err);
    }
    s->result->complete &= *used == s->seen.n;
    if (!*used && n)
        memcpy(s->candidates.items, sifted, size);
    free(sifted);
    return status == ODB_CANCELLED ? ODB_OK : status;
}

/* Whether the values of one more sample can be had, to sift on. */
static enum odb_status screen_enter(struct suspects *s, size_t i, bool *enters,
                                    struct odb_error *err)
{
    enum odb_status status = screen_values(s, &s->seen.items[i], err);
    *enters = status == ODB_OK;
    if (status != ODB_CANCELLED)
        return status;
    s->sifted = s->result->complete = false;
    return ODB_OK;
}

enum odb_status suspects_screen(struct suspects *s, struct odb_error *err)
{
    size_t n = ODB_MIN(s->seen.n, (size_t)SUSPECTS_SCREENED);
    bool enters = true;
    s->sifted = true;
    for (size_t i = 0; i < n; i++) {
        ODB_TRY(screen_enter(s, i, &enters, err));
        if (!enters) {
            n = i;
            break;
        }
        ODB_TRY(screen_round(s, &s->seen.items[i], i, err));
        size_t part = i ? s->candidates.n / 2 : s->candidates.n / 6;
        screen_sift(s, ODB_MAX(part, (size_t)(i ? SUSPECTS_KEPT : 4 * SUSPECTS_KEPT)));
        if (!i)
            ODB_TRY(screen_fit(s, 1, err));
    }
    screen_sift(s, SUSPECTS_KEPT);
    ODB_TRY(screen_fit(s, n, err));
    ODB_TRY(screen_all(s, err));
    qsort(s->candidates.items, s->candidates.n, sizeof *s->candidates.items, screen_better);
    return ODB_OK;
}
