/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The search among options alone: it asks, and knows of no models and no targets.
 */
#include "sweep/over.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "search/ddmin.h"
#include "search/search.h"

#define OVER_EACH 16 /* options that are asked one by one where all together pass */

/* --- levels ----------------------------------------------------------------------------------- */

struct over_levels {
    struct odb_over_level *levels; /* borrowed */
    size_t n;
    enum odb_status (*ask)(void *payload, size_t level, enum odb_answer *answer,
                           struct odb_error *err);
    void *payload;
};

static enum odb_status over_ask(struct over_levels *l, size_t i, struct odb_error *err)
{
    if (l->levels[i].asked)
        return ODB_OK;
    ODB_TRY(l->ask(l->payload, i, &l->levels[i].answer, err));
    l->levels[i].asked = true;
    return ODB_OK;
}

static bool over_tested(const struct over_levels *l, size_t i)
{
    return l->levels[i].asked && l->levels[i].answer != ODB_ANSWER_UNTESTABLE;
}

/* The level nearest to the middle of low … high, not among them, that can be tested; low: none. */
static enum odb_status over_middle(struct over_levels *l, size_t low, size_t high, size_t *at,
                                   struct odb_error *err)
{
    size_t middle = low + (high - low) / 2;
    *at = low;
    for (size_t d = 0; d < high - low; d++)
        for (int side = 0; side < 2; side++) {
            size_t i = side ? middle + d : middle - d;
            if ((!side && middle < low + d) || i <= low || i >= high || (side && !d))
                continue;
            ODB_TRY(over_ask(l, i, err));
            if (over_tested(l, i)) {
                *at = i;
                return ODB_OK;
            }
        }
    return ODB_OK;
}

static enum odb_status over_halve(struct over_levels *l, size_t low, size_t high,
                                  struct odb_error *err)
{
    for (;;) {
        size_t at;
        ODB_TRY(over_middle(l, low, high, &at, err));
        if (at == low)
            return ODB_OK;
        if (l->levels[at].answer == l->levels[low].answer)
            low = at;
        else
            high = at;
    }
}

/* The first change from good to bad among what was asked, else the first from bad to good. */
static void over_conclude(const struct over_levels *l, struct odb_over_change *change)
{
    int last = -1;
    bool breaks = false;
    *change = (struct odb_over_change){-1, -1, 0};
    for (size_t i = 0; i < l->n; i++) {
        if (!over_tested(l, i))
            continue;
        bool bad = l->levels[i].answer == ODB_ANSWER_BAD;
        if (last >= 0 && l->levels[last].answer != l->levels[i].answer) {
            change->changes++;
            if (change->good < 0 || (bad && !breaks)) {
                change->good = bad ? last : (int)i;
                change->bad = bad ? (int)i : last;
            }
            breaks |= bad;
        }
        last = (int)i;
    }
}

enum odb_status
odb_over_levels(struct odb_over_level *levels, size_t n, bool all, struct odb_over_change *change,
                enum odb_status (*ask)(void *, size_t, enum odb_answer *, struct odb_error *),
                void *payload, struct odb_error *err)
{
    struct over_levels l = {levels, n, ask, payload};
    size_t low = 0, high = n ? n - 1 : 0;
    enum odb_status status = ODB_OK;
    for (; low < n && status == ODB_OK; low++)
        if ((status = over_ask(&l, low, err)) == ODB_OK && over_tested(&l, low))
            break;
    for (; high > low && status == ODB_OK; high--)
        if ((status = over_ask(&l, high, err)) == ODB_OK && over_tested(&l, high))
            break;
    ODB_TRY(status);
    bool differ = low < high && levels[low].answer != levels[high].answer;
    if (differ && !all)
        ODB_TRY(over_halve(&l, low, high, err));
    for (size_t i = 0; i < n && (!differ || all); i++)
        ODB_TRY(over_ask(&l, i, err));
    over_conclude(&l, change);
    return ODB_OK;
}

/* --- sets ------------------------------------------------------------------------------------- */

struct over_set {
    bool *on; /* borrowed: the smallest so far that fails */
    size_t n;
    bool *trial; /* owned: one alone */
    enum odb_status (*ask)(void *payload, const bool *on, enum odb_answer *answer,
                           struct odb_error *err);
    void *payload;
};

static enum odb_status over_narrow_ask(void *payload, bool *keep, enum odb_answer *answer,
                                       struct odb_error *err)
{
    const struct over_set *s = payload;
    *answer = ODB_ANSWER_UNTESTABLE;
    return odb_count_marks(keep, s->n) ? s->ask(s->payload, keep, answer, err)
                                       : ODB_OK; /* none was */
}

/* All together pass: does one alone fail? */
static enum odb_status over_singles(struct over_set *s, bool *fails, struct odb_error *err)
{
    *fails = true;
    for (size_t i = 0; i < s->n && s->n <= OVER_EACH; i++) {
        enum odb_answer answer;
        memset(s->trial, 0, s->n * sizeof *s->trial);
        s->trial[i] = true;
        ODB_TRY(s->ask(s->payload, s->trial, &answer, err));
        if (answer != ODB_ANSWER_BAD)
            continue;
        memcpy(s->on, s->trial, s->n * sizeof *s->on);
        return ODB_OK;
    }
    *fails = false;
    return ODB_OK;
}

static enum odb_status over_smallest(struct over_set *s, enum odb_over_outcome *outcome,
                                     struct odb_error *err)
{
    enum odb_answer none, all;
    memset(s->on, 0, s->n * sizeof *s->on);
    ODB_TRY(s->ask(s->payload, s->on, &none, err));
    *outcome = ODB_OVER_ALWAYS;
    if (none == ODB_ANSWER_BAD)
        return ODB_OK;
    for (size_t i = 0; i < s->n; i++)
        s->on[i] = true;
    ODB_TRY(s->ask(s->payload, s->on, &all, err));
    bool fails = all == ODB_ANSWER_BAD;
    if (fails)
        ODB_TRY(odb_ddmin(s->on, s->n, &(struct odb_ddmin){over_narrow_ask, s}, err));
    else
        ODB_TRY(over_singles(s, &fails, err));
    *outcome = fails ? (none == ODB_ANSWER_GOOD ? ODB_OVER_SOME : ODB_OVER_UNKNOWN)
                     : (all == ODB_ANSWER_GOOD ? ODB_OVER_NEVER : ODB_OVER_UNKNOWN);
    return ODB_OK;
}

enum odb_status odb_over_smallest(bool *on, size_t n, enum odb_over_outcome *outcome,
                                  enum odb_status (*ask)(void *, const bool *, enum odb_answer *,
                                                         struct odb_error *),
                                  void *payload, struct odb_error *err)
{
    struct over_set s = {
        .on = on, .n = n, .trial = odb_new_n(bool, n + 1), .ask = ask, .payload = payload};
    enum odb_status status = over_smallest(&s, outcome, err);
    free(s.trial);
    return status;
}
