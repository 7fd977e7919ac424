/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/likelihood.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define LIKELY_FEW 0.5 /* of the elements: rounding makes more of them wrong, or none */

/* What the wrong elements say against. */
struct likely_error {
    bool moved; /* the target has about the reference's numbers, in whatever order: it has others
                   where they are scaled or cut off */
    bool few;   /* no more than so many are wrong */
};

struct likely {
    const struct accused *s;
    struct likely_error error;
    ODB_VEC(struct likely_choice {
        struct variant *v; /* owned */
        int rank;
        size_t at;
    })
    list;
    bool (*over)(void *payload);
    void *payload;
};

/* Least, largest and mean square: what no order changes. */
static void likely_numbers(const double *x, const struct odb_tensor *t, double sums[3])
{
    sums[0] = INFINITY;
    sums[1] = -INFINITY;
    sums[2] = 0;
    for (size_t i = 0; i < t->count; i++) {
        double v = x ? x[i] : odb_tensor_f64(t, i);
        if (!isfinite(v))
            continue;
        sums[0] = fmin(sums[0], v);
        sums[1] = fmax(sums[1], v);
        sums[2] += v * v / (double)t->count;
    }
}

static struct likely_error likely_error(const struct accused *s)
{
    const struct odb_tensor *r = s->shown < 0 ? NULL : s->r[s->shown], *y;
    double of_y[3], of_r[3], rms, slack;
    if (!r || r->count != (y = s->y[s->shown])->count || !s->target.wide[s->shown])
        return (struct likely_error){true, false};
    rms = s->target.rms[s->shown];
    slack = s->q->factor * s->floor * rms;
    likely_numbers(s->target.wide[s->shown]->data, y, of_y);
    likely_numbers(NULL, r, of_r);
    return (struct likely_error){.moved = fabs(of_y[0] - of_r[0]) <= slack &&
                                          fabs(of_y[1] - of_r[1]) <= slack &&
                                          fabs(of_y[2] - of_r[2]) <= 2 * slack * rms,
                                 .few = (double)s->n_wrong < LIKELY_FEW * (double)r->count};
}

static int likely_rank(const struct likely *l, const struct variant *v)
{
    bool number = !strncmp(v->row->name, "number/", strlen("number/"));
    if (l->error.moved)
        return v->row->moves ? -1 : v->row->fitted || number;
    return v->row->moves ? 2 : number && !v->row->ops[0] && l->error.few;
}

static bool likely_add(void *payload, struct variant *v, bool *take)
{
    struct likely *l = payload;
    *take = true;
    odb_push(&l->list, ((struct likely_choice){v, likely_rank(l, v), l->list.n}));
    return !l->over(l->payload);
}

static int likely_order(const void *x, const void *y)
{
    const struct likely_choice *a = x, *b = y;
    return a->rank != b->rank ? a->rank - b->rank : (a->at > b->at) - (a->at < b->at);
}

void likely_each(const struct accused *s, variant_each_fn *fn, bool (*over)(void *payload),
                 void *payload)
{
    struct likely l = {.s = s, .error = likely_error(s), .over = over, .payload = payload};
    bool go_on = true;
    variant_each(s, likely_add, &l);
    if (l.list.n)
        qsort(l.list.items, l.list.n, sizeof *l.list.items, likely_order);
    for (size_t i = 0; i < l.list.n; i++) {
        bool take = false;
        go_on = go_on && fn(payload, l.list.items[i].v, &take);
        if (!take)
            variant_free(l.list.items[i].v);
    }
    free(l.list.items);
}
