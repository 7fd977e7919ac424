/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/likelihood.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "explain/accused_group.h"

#define LIKELY_MOST ((size_t)200)
#define LIKELY_FEW 0.5 /* of the elements: rounding makes more of them wrong, or none */

struct likely {
    bool few; /* elements are wrong */
    ODB_VEC(struct likely_choice {
        struct variant *v; /* owned */
        int late;          /* 1: unlikely, 2: more than enough */
        size_t at;
    })
    list;
    bool (*over)(void *payload);
    void *payload;
};

size_t likely_most(const struct accused *s)
{
    return LIKELY_MOST * (s->group ? s->group->n : 1);
}

bool likely_replays(const struct variant *v)
{
    return !v->under && (v->row->change || v->row->makes);
}

static bool likely_few(const struct accused *s)
{
    const struct odb_tensor *r = s->shown < 0 ? NULL : s->r[s->shown];
    return r && (double)s->n_wrong < LIKELY_FEW * (double)r->count;
}

static bool likely_unlikely(const struct likely *l, const struct variant *v)
{
    bool number = !strncmp(v->row->name, "number/", strlen("number/"));
    return l->few && number && !v->row->ops[0];
}

static bool likely_add(void *payload, struct variant *v, bool *take)
{
    struct likely *l = payload;
    *take = true;
    odb_push(&l->list, ((struct likely_choice){v, likely_unlikely(l, v), l->list.n}));
    return !l->over(l->payload);
}

static int likely_order(const void *x, const void *y)
{
    const struct likely_choice *a = x, *b = y;
    return a->late != b->late ? a->late - b->late : (a->at > b->at) - (a->at < b->at);
}

static void likely_sort(struct likely *l, size_t most)
{
    size_t n = 0;
    for (int pass = 0; pass < 2 && l->list.n; pass++) {
        qsort(l->list.items, l->list.n, sizeof *l->list.items, likely_order);
        for (size_t i = 0; i < l->list.n && !pass; i++)
            if (likely_replays(l->list.items[i].v) && n++ >= most)
                l->list.items[i].late = 2;
    }
}

void likely_each(const struct accused *s, variant_each_fn *fn, bool (*over)(void *payload),
                 void *payload)
{
    struct likely l = {.few = likely_few(s), .over = over, .payload = payload};
    bool go_on = true;
    variant_each(s, likely_add, &l);
    likely_sort(&l, likely_most(s));
    for (size_t i = 0; i < l.list.n; i++) {
        bool take = false;
        go_on = go_on && fn(payload, l.list.items[i].v, &take);
        if (!take)
            variant_free(l.list.items[i].v);
    }
    free(l.list.items);
}
