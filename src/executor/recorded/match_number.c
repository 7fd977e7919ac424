/* SPDX-License-Identifier: MIT
 *
 * Names of which only a number tells something: layer003, Output_7, 012_Reshape. Files that are
 * clearly one value by their elements are witnesses of what the number counts. A file between two
 * witnesses that agree is the value of its number; where they do not, as where the tool left
 * out or made something more, it stays open.
 */
#include <math.h>
#include <stdlib.h>

#include "executor/recorded/mangled_int.h"

#define NUMBER_LIKELY 0.01 /* error of a file that is taken for a value by its elements alone */

/* A file by one of the numbers in its name. */
struct number_place {
    long v;
    size_t file;  /* in the group */
    int clear;    /* the value that it is by its elements; -1: not known */
    long offset;  /* of its number to that of the value; where it is clear */
    bool is_twin; /* another file has the number */
};

struct numbering {
    struct number_place *places; /* owned; [n], by number */
    size_t n;
    enum mangled_count count;
    size_t witnesses, agree; /* of these how many have the offset of the one before */
};

static int number_order(const void *a, const void *b)
{
    const struct number_place *x = a, *y = b;
    return x->v < y->v ? -1 : x->v > y->v;
}

static void numbering_make(struct numbering *out, const struct mangled_group *g, const int *clear,
                           bool last)
{
    *out = (struct numbering){.places = odb_new_n(struct number_place, g->files.n + 1)};
    for (size_t f = 0; f < g->files.n; f++) {
        unsigned long v;
        if (mangled__number(g->m->files.items[g->files.items[f]].loose, last, &v))
            out->places[out->n++] = (struct number_place){(long)v, f, clear[f], 0, false};
    }
    qsort(out->places, out->n, sizeof *out->places, number_order);
    for (size_t i = 1; i < out->n; i++)
        if (out->places[i].v == out->places[i - 1].v)
            out->places[i].is_twin = out->places[i - 1].is_twin = true;
}

static bool number_is_witness(const struct number_place *place)
{
    return place->clear >= 0 && !place->is_twin;
}

static void numbering_count(struct numbering *n, const struct odb_mangled *m,
                            enum mangled_count count)
{
    const struct number_place *before = NULL;
    n->count = count;
    n->witnesses = n->agree = 0;
    for (size_t i = 0; i < n->n; i++) {
        struct number_place *place = &n->places[i];
        if (!number_is_witness(place))
            continue;
        place->offset = place->v - m->values.items[place->clear].number[count];
        n->witnesses++;
        n->agree += before && before->offset == place->offset;
        before = place;
    }
}

/* The only open value with this number that the file can be; -1: none, or several. */
static int number_value(const struct mangled_group *g, enum mangled_count count, long number,
                        size_t file)
{
    const struct odb_mangled *m = g->m;
    int only = -1;
    for (size_t v = 0; v < m->values.n; v++) {
        const struct mangled_value *value = &m->values.items[v];
        if (value->node < 0 || value->number[count] != number ||
            !mangled__open(m, g->files.items[file], (int)v))
            continue;
        if (only >= 0)
            return -1;
        only = (int)v;
    }
    return only;
}

/* The witness next to a place; NULL: there is none. */
static const struct number_place *number_next(const struct numbering *n, size_t i, bool down)
{
    while (down ? i-- > 0 : ++i < n->n)
        if (number_is_witness(&n->places[i]))
            return &n->places[i];
    return NULL;
}

/* Whether a place has an offset, from the witnesses around it. Beyond the last one all have to be
 * of one mind. */
static bool number_offset(const struct numbering *n, size_t i, long *offset)
{
    const struct number_place *place = &n->places[i];
    const struct number_place *below = number_next(n, i, true), *above = number_next(n, i, false);
    bool unanimous = n->agree + 1 == n->witnesses;
    if (number_is_witness(place)) {
        *offset = place->offset;
        return (below && below->offset == place->offset) ||
               (above && above->offset == place->offset);
    }
    *offset = below ? below->offset : above ? above->offset : 0;
    return below && above ? below->offset == above->offset : unanimous;
}

static void numbering_match(const struct numbering *n, struct mangled_group *g)
{
    for (size_t i = 0; i < n->n; i++) {
        const struct number_place *place = &n->places[i];
        long offset;
        if (place->is_twin || !number_offset(n, i, &offset))
            continue;
        int value = number_value(g, n->count, place->v - offset, place->file);
        if (value < 0 || mangled__is_others(g, place->file, value))
            continue;
        mangled__pair(g->m, g->files.items[place->file], value);
        g->m->has_numbers = true;
    }
}

/* Nearly all witnesses agree with the one before. */
static bool numbering_holds(const struct numbering *n)
{
    return n->agree && 4 * n->agree >= 3 * (n->witnesses - 1);
}

/* What the number counts that most witnesses agree about. */
static void numbers_match(struct mangled_group *g, const int *clear)
{
    struct numbering best = {0};
    for (int last = 0; last < 2; last++) {
        struct numbering n;
        enum mangled_count count = MANGLED_COUNTS;
        numbering_make(&n, g, clear, last);
        for (int c = 0; c < MANGLED_COUNTS; c++) {
            numbering_count(&n, g->m, (enum mangled_count)c);
            if (numbering_holds(&n) && n.agree > best.agree) {
                best.agree = n.agree;
                count = (enum mangled_count)c;
            }
        }
        if (count == MANGLED_COUNTS) {
            free(n.places);
            continue;
        }
        free(best.places);
        numbering_count(&n, g->m, count);
        best = n;
    }
    if (best.places)
        numbering_match(&best, g);
    free(best.places);
}

/* What a file is by its elements alone is not believed, but said. */
static void numbers_likely(struct mangled_group *g, int *clear)
{
    mangled__clear(g, clear);
    for (size_t f = 0; f < g->files.n; f++) {
        struct mangled_file *file = &g->m->files.items[g->files.items[f]];
        for (size_t v = 0; v < g->values.n && clear[f] >= 0; v++)
            if (g->values.items[v] == clear[f] && mangled__error(g, f, v) < NUMBER_LIKELY) {
                file->likely = clear[f];
                g->m->has_likely = true;
            }
    }
}

void mangled__by_numbers(struct odb_mangled *m)
{
    struct mangled_group g = {.m = m};
    for (size_t f = 0; f < m->files.n; f++)
        if (m->files.items[f].value < 0 && !m->files.items[f].left)
            odb_push(&g.files, (int)f);
    for (size_t v = 0; v < m->values.n; v++)
        if (m->values.items[v].node >= 0 && m->values.items[v].file < 0 &&
            m->values.items[v].witness && !m->values.items[v].constant)
            odb_push(&g.values, (int)v);
    int *clear = odb_new_n(int, g.files.n + 1);
    if (mangled__clear(&g, clear)) {
        numbers_match(&g, clear);
        numbers_likely(&g, clear);
    }
    free(clear);
    mangled__group_dispose(&g);
}
