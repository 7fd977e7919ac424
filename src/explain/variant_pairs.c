/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/variant_pairs.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/simd.h"
#include "compare/lanes.h"
#include "tensor/pass.h"

#define PAIRS_ALIKE 1e-9 /* of what is left: such choices do the same */
#define PAIRS_OF_ROW 2   /* that one row has of the best */
#define PAIRS_FITTED 2   /* numbers that the second may have fitted, by its row */

/* How many pairs of finite numbers there are, and their sums. */
enum { PAIRS_N, PAIRS_Y, PAIRS_V, PAIRS_YY, PAIRS_VV, PAIRS_YV, PAIRS_SUMS };

static ODB_SIMD void pairs_add(double *sums, const double *y, const double *x, size_t n)
{
    odb_vec all[2][PAIRS_SUMS] = {0};
    const odb_vec_mask one = (odb_vec_mask)((odb_vec){} + 1.0);
    VEC_STEPS(n)
    {
        odb_vec a = VEC_AT(y, i + 4 * v), b = VEC_AT(x, i + 4 * v);
        odb_vec_mask finite = (VEC_ABS(a) <= DBL_MAX) & (VEC_ABS(b) <= DBL_MAX);
        a = VEC_AND(a, finite);
        b = VEC_AND(b, finite);
        all[v][PAIRS_N] += (odb_vec)(finite & one);
        all[v][PAIRS_Y] += a;
        all[v][PAIRS_V] += b;
        all[v][PAIRS_YY] += a * a;
        all[v][PAIRS_VV] += b * b;
        all[v][PAIRS_YV] += a * b;
    }
    for (int s = 0; s < PAIRS_SUMS; s++)
        for (int lane = 0; lane < 4; lane++)
            sums[s] += all[0][s][lane] + all[1][s][lane];
    sums[PAIRS_N] -= (double)(-n % ODB_LANES); /* zeros behind */
}

static void pairs_chunk(const void *job, void *share, struct odb_chunk *c)
{
    (void)job;
    for (size_t i = c->n; i % ODB_LANES; i++)
        c->v[0][i] = c->v[1][i] = 0;
    pairs_add(share, c->v[0], c->v[1], c->n);
}

static void pairs_join(void *total, const void *item)
{
    double *all = total;
    const double *sums = item;
    for (int s = 0; s < PAIRS_SUMS; s++)
        all[s] += sums[s];
}

double pairs_left(const struct accused *s, struct odb_tensor *const *candidate, double left)
{
    const struct odb_tensor *v = s->shown < 0 ? NULL : candidate[s->shown];
    const struct odb_numbers y = odb_numbers_of(s->shown < 0 ? NULL : s->target.wide[s->shown]);
    const struct odb_numbers made = odb_numbers_of(v);
    double all[PAIRS_SUMS] = {0};
    struct odb_pass pass = {.end = y.n,
                            .block = 16 * ODB_PASS_CHUNK,
                            .item = sizeof all,
                            .sides = {&y, &made},
                            .chunk = pairs_chunk,
                            .join = pairs_join};
    if (made.n == y.n && v && odb_tensor_same_shape(v, s->y[s->shown]))
        odb_pass_all(&pass, all);
    double n = all[PAIRS_N], sy = all[PAIRS_Y], sv = all[PAIRS_V];
    if (!(n > 2) || !(s->base.energy > 0))
        return left;
    double around_y = all[PAIRS_YY] - sy * sy / n, around_v = all[PAIRS_VV] - sv * sv / n,
           both = all[PAIRS_YV] - sy * sv / n;
    double fits = around_v > 0 ? both * both / around_v : 0, rms = s->target.rms[s->shown];
    return fmin(left, fmax(around_y - fits, 0) / (rms * rms) / s->base.energy);
}

/* Whether there is one already that does the same; or enough of its row. */
static bool pairs_has(const struct pairs *pairs, const struct variant *v, double left)
{
    size_t of_row = 0;
    for (size_t i = 0; i < pairs->n; i++) {
        if (fabs(pairs->best[i].left - left) <= PAIRS_ALIKE * fabs(left))
            return true;
        of_row += pairs->best[i].v->row == v->row && pairs->best[i].left <= left;
    }
    return of_row >= PAIRS_OF_ROW;
}

void pairs_keep(struct pairs *pairs, struct variant *v, double left, bool *take)
{
    size_t at = pairs->n;
    if (!isfinite(left) || left == 1 || v->row->fitted || pairs_has(pairs, v, left))
        return;
    while (at > 0 && pairs->best[at - 1].left > left)
        at--;
    if (at == PAIRS_OF)
        return;
    if (pairs->n == PAIRS_OF)
        variant_free(pairs->best[--pairs->n].v);
    memmove(&pairs->best[at + 1], &pairs->best[at], (pairs->n - at) * sizeof *pairs->best);
    pairs->best[at].v = v;
    pairs->best[at].left = left;
    pairs->n++;
    *take = true;
}

void pairs_dispose(struct pairs *pairs)
{
    for (size_t i = 0; i < pairs->n; i++)
        variant_free(pairs->best[i].v);
    pairs->n = 0;
}

/* --- the second on what the first makes ------------------------------------------------------- */

/* A call whose reference is what a variant makes of it: what is fitted here is fitted to what that
 * leaves. */
struct pairs_view {
    struct accused s;
    struct odb_tensor **native, **exact; /* owned refs */
};

static bool pairs_view_begin(struct pairs_view *view, const struct accused *s,
                             const struct variant *v)
{
    *view = (struct pairs_view){*s, accused_outputs(s), accused_outputs(s)};
    view->s.native = view->native;
    view->s.r = view->exact;
    return variant_run(v, s, ODB_PREC_NATIVE, 0, view->native, NULL) == ODB_OK &&
           variant_run(v, s, ODB_PREC_F64, 0, view->exact, NULL) == ODB_OK;
}

static void pairs_view_end(struct pairs_view *view)
{
    accused_drop(&view->s, view->native);
    accused_drop(&view->s, view->exact);
    free(view->native);
    free(view->exact);
}

struct pairs_trial {
    const struct pairs *pairs;
    size_t first; /* of the best */
    const struct accused *s;
    variant_each_fn *fn;
    void *payload;
    bool over; /* fn says stop */
};

/* Whether the second was tried with the first the other way round, where the order says nothing. */
static bool pairs_tried(const struct pairs_trial *t, const struct variant *second)
{
    bool tried = false;
    for (size_t i = 0; i < t->first; i++) {
        const struct variant *v = t->pairs->best[i].v;
        tried |= v->row == second->row && v->choice == second->choice && v->place == second->place;
    }
    return tried;
}

/* Whether the second can be put on the first: of a node, what makes outputs alone takes no other
 * change of the call. */
static bool pairs_fit(const struct pairs_trial *t, const struct variant *second)
{
    const struct variant *first = t->pairs->best[t->first].v;
    const struct variant_row *a = first->row, *b = second->row;
    bool apart = first->place != second->place, same = a == b && first->choice == second->choice;
    bool ordered = !apart && a->result && b->result;
    if (b->fitted > PAIRS_FITTED || (!ordered && pairs_tried(t, second)) || (!apart && same))
        return false;
    return apart || (!b->makes && !(a->makes && b->change));
}

static bool pairs_try(void *payload, struct variant *second, bool *take)
{
    struct pairs_trial *t = payload;
    if (!pairs_fit(t, second))
        return true;
    second->under = variant_again(t->s, t->pairs->best[t->first].v);
    if (!second->under)
        return true;
    second->fitted += second->under->fitted;
    t->over = !t->fn(t->payload, second, take);
    return !t->over;
}

void pairs_each(const struct pairs *pairs, const struct accused *s, variant_each_fn *fn,
                void *payload)
{
    struct pairs_trial trial = {pairs, 0, s, fn, payload, false};
    for (; trial.first < pairs->n && !trial.over; trial.first++) {
        struct pairs_view view;
        if (pairs_view_begin(&view, s, pairs->best[trial.first].v))
            variant_each(&view.s, pairs_try, &trial);
        pairs_view_end(&view);
    }
}
