/* SPDX-License-Identifier: MIT
 *
 * Files and values of which one name is left. A file and a value are matched where shapes leave no
 * other choice; else where the reference's values tell them clearly apart; else, where all files
 * have an index, in its order. What stays open is no value's: a wrong match would look like a wrong
 * target.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "executor/recorded/mangled_int.h"

#define GROUP_PAIRS ((size_t)4096)       /* files times values that are looked at by shape */
#define GROUP_MEASURED ((size_t)1 << 22) /* and by their elements */
#define GROUP_LOOKED ((size_t)4096)      /* elements of a pair that are compared, about */
#define GROUP_ELEMENTS ((size_t)1 << 28) /* of all pairs of a group, about */
#define GROUP_LEAST ((size_t)64)         /* of a pair in spite of that */
#define GROUP_CLEAR 0.1F /* of the next best error, by which values tell files apart */
#define GROUP_NEAR 0.5F  /* of its rms: a value that is further off is no witness */

/* --- what fits -------------------------------------------------------------------------------- */

static bool group_same_shape(const struct odb_tensor *t, const struct odb_tensor *other)
{
    return t->kind == other->kind && t->rank == other->rank &&
           !memcmp(t->dims, other->dims, (size_t)t->rank * sizeof *t->dims);
}

/* Channels last, or in blocks that come last: what the recording holds otherwise, all of it.
 * wanted: -1: any. */
static bool group_other_layout(const struct odb_tensor *t, int rank, const int64_t *wanted)
{
    bool blocked = t->rank == rank + 1;
    int64_t last = t->rank > 0 ? t->dims[t->rank - 1] : 0, channels = rank > 1 ? wanted[1] : -1;
    if (t->kind != ODB_TENSOR || rank < 4 || last < 1 || (!blocked && t->rank != rank))
        return false;
    bool fits = blocked ? channels < 0 || (channels + last - 1) / last == t->dims[1]
                        : channels < 0 || channels == last;
    fits = fits && (wanted[0] < 0 || wanted[0] == t->dims[0]);
    for (int d = 2; d < rank && fits; d++)
        fits = wanted[d] < 0 || wanted[d] == t->dims[blocked ? d : d - 1];
    return fits;
}

/* Numbers and strings are never the same value; exactly: nor are floats and integers. */
static bool group_types_fit(enum odb_dtype a, enum odb_dtype b, bool exactly)
{
    if (a == ODB_UNDEFINED || b == ODB_UNDEFINED)
        return true;
    if ((a == ODB_STRING) != (b == ODB_STRING))
        return false;
    return !exactly ||
           (odb_dtype_is_float(a) == odb_dtype_is_float(b) && (a == ODB_BOOL) == (b == ODB_BOOL));
}

static bool group_fits(const struct mangled_file *file, const struct mangled_value *value,
                       bool exactly)
{
    const struct odb_tensor *t = file->tensor;
    const struct odb_type *type = value->type;
    if (!t)
        return false;
    if (value->witness)
        return (group_same_shape(t, value->witness) ||
                group_other_layout(t, value->witness->rank, value->witness->dims)) &&
               group_types_fit(t->dtype, value->witness->dtype, exactly);
    if (!type->known)
        return true;
    if (t->kind != type->kind || !group_types_fit(t->dtype, type->dtype, exactly))
        return false;
    bool fits = t->kind != ODB_TENSOR || type->rank < 0 || type->rank == t->rank;
    for (int d = 0; fits && t->kind == ODB_TENSOR && d < type->rank; d++)
        fits = type->dims[d].value < 0 || type->dims[d].value == t->dims[d];
    int64_t dims[ODB_MAX_RANK];
    for (int d = 0; !fits && d < type->rank && d < ODB_MAX_RANK; d++)
        dims[d] = type->dims[d].value;
    return fits || (t->kind == ODB_TENSOR && type->rank <= ODB_MAX_RANK &&
                    group_other_layout(t, type->rank, dims));
}

static bool group_open(const struct odb_mangled *m, int file, int value, bool exactly)
{
    return m->files.items[file].value < 0 && m->values.items[value].file < 0 &&
           group_fits(&m->files.items[file], &m->values.items[value], exactly);
}

bool mangled__open(const struct odb_mangled *m, int file, int value)
{
    return group_open(m, file, value, false);
}

void mangled__pair(struct odb_mangled *m, int file, int value)
{
    m->files.items[file].value = value;
    m->values.items[value].file = file;
}

/* --- by shape --------------------------------------------------------------------------------- */

/* The only value that a file can be; -1: there are none, or several. */
static int group_only(const struct mangled_group *g, int file, bool exactly)
{
    int only = -1;
    for (size_t v = 0; v < g->values.n; v++) {
        if (!group_open(g->m, file, g->values.items[v], exactly))
            continue;
        if (only >= 0)
            return -1;
        only = g->values.items[v];
    }
    return only;
}

/* Files that can be one value only, which no other such file can be. */
static void group_by_shape(struct mangled_group *g, bool exactly)
{
    for (bool more = true; more;) {
        more = false;
        for (size_t f = 0; f < g->files.n; f++) {
            int value = group_only(g, g->files.items[f], exactly), rivals = 0;
            for (size_t other = 0; value >= 0 && other < g->files.n; other++)
                rivals += group_only(g, g->files.items[other], exactly) == value;
            if (value < 0 || rivals > 1)
                continue;
            mangled__pair(g->m, g->files.items[f], value);
            more = true;
        }
    }
}

/* --- by value --------------------------------------------------------------------------------- */

/* Root mean square of the difference, over that of the reference's value, of some elements;
 * infinite where there is no telling. */
static float group_measure(const struct mangled_file *file, const struct mangled_value *value,
                           size_t looked)
{
    const struct odb_tensor *a = file->tensor, *b = value->witness;
    double off = 0, all = 0;
    if (!b || !group_fits(file, value, false) || !group_same_shape(a, b) ||
        odb_tensor_real(a) == ODB_UNDEFINED || odb_tensor_real(b) == ODB_UNDEFINED)
        return INFINITY;
    for (size_t i = 0; i < b->count; i += b->count / looked + 1) {
        double x = odb_tensor_f64(a, i), y = odb_tensor_f64(b, i);
        off += x == y || (isnan(x) && isnan(y)) ? 0 : (x - y) * (x - y);
        all += y * y;
    }
    return isnan(off) ? INFINITY : off == 0 ? 0 : (float)sqrt(off / all);
}

static void group_measure_all(struct mangled_group *g)
{
    size_t pairs = g->files.n * g->values.n;
    if (g->errors || !pairs || pairs > GROUP_MEASURED)
        return;
    size_t looked = ODB_MIN(GROUP_LOOKED, ODB_MAX(GROUP_LEAST, GROUP_ELEMENTS / pairs));
    g->errors = odb_new_n(float, pairs);
    for (size_t f = 0; f < g->files.n; f++)
        for (size_t v = 0; v < g->values.n; v++)
            g->errors[f * g->values.n + v] =
                group_measure(&g->m->files.items[g->files.items[f]],
                              &g->m->values.items[g->values.items[v]], looked);
}

double mangled__error(const struct mangled_group *g, size_t file, size_t value)
{
    return g->errors ? (double)g->errors[file * g->values.n + value] : INFINITY;
}

/* The two least errors of a row, or a column, of pairs that are open. */
struct group_least {
    float first, second;
    size_t at; /* of first */
};

static void group_least_add(struct group_least *least, float error, size_t at)
{
    if (error < least->first) {
        least->second = least->first;
        least->first = error;
        least->at = at;
    } else if (error < least->second) {
        least->second = error;
    }
}

static struct group_least *group_least_new(size_t n)
{
    struct group_least *list = odb_new_n(struct group_least, n + 1);
    for (size_t i = 0; i < n; i++)
        list[i] = (struct group_least){INFINITY, INFINITY, 0};
    return list;
}

static bool group_is_clear(const struct group_least *least)
{
    return least->first < GROUP_NEAR &&
           (least->first < GROUP_CLEAR * least->second || isinf(least->second));
}

size_t mangled__clear(struct mangled_group *g, int *clear)
{
    struct group_least *files = group_least_new(g->files.n), *values = group_least_new(g->values.n);
    size_t n = 0;
    group_measure_all(g);
    for (size_t f = 0; f < g->files.n; f++)
        for (size_t v = 0; v < g->values.n; v++)
            if (g->errors && g->m->files.items[g->files.items[f]].value < 0 &&
                g->m->values.items[g->values.items[v]].file < 0) {
                float error = g->errors[f * g->values.n + v];
                group_least_add(&files[f], error, v);
                group_least_add(&values[v], error, f);
            }
    for (size_t f = 0; f < g->files.n; f++) {
        bool is = group_is_clear(&files[f]) && group_is_clear(&values[files[f].at]) &&
                  values[files[f].at].at == f;
        clear[f] = is ? g->values.items[files[f].at] : -1;
        n += is;
    }
    free(files);
    free(values);
    return n;
}

bool mangled__is_others(const struct mangled_group *g, size_t file, int value)
{
    float own = INFINITY, best = INFINITY;
    for (size_t v = 0; g->errors && v < g->values.n; v++) {
        float error = g->errors[file * g->values.n + v];
        if (g->values.items[v] == value)
            own = error;
        else
            best = ODB_MIN(best, error);
    }
    return best < GROUP_NEAR && best < GROUP_CLEAR * own;
}

static void group_by_value(struct mangled_group *g)
{
    int *clear = odb_new_n(int, g->files.n + 1);
    while (mangled__clear(g, clear))
        for (size_t f = 0; f < g->files.n; f++)
            if (clear[f] >= 0)
                mangled__pair(g->m, g->files.items[f], clear[f]);
    free(clear);
}

/* --- by order --------------------------------------------------------------------------------- */

/* A file's place by an index. */
struct group_place {
    unsigned long v;
    size_t file; /* in the group */
};

static int group_place_order(const void *a, const void *b)
{
    const struct group_place *x = a, *y = b;
    return x->v < y->v ? -1 : x->v > y->v;
}

static size_t group_value_at(const struct mangled_group *g, int value)
{
    size_t v = 0;
    while (g->values.items[v] != value)
        v++;
    return v;
}

/* As many files as values, all with an index of their own, fitting in its order. Values stand in
 * the order of their nodes. */
static void group_by_order(struct mangled_group *g, int index)
{
    struct odb_mangled *m = g->m;
    struct group_place *places = odb_new_n(struct group_place, g->files.n + 1);
    ODB_VEC(int) values = {0};
    size_t n = 0;
    bool fits = index >= 0;
    for (size_t f = 0; f < g->files.n && fits; f++) {
        const struct mangled_file *file = &m->files.items[g->files.items[f]];
        if (file->value < 0) {
            fits = (size_t)index < file->n_indices;
            places[n++] = (struct group_place){fits ? file->indices[index].v : 0, f};
        }
    }
    for (size_t v = 0; v < g->values.n; v++)
        if (m->values.items[g->values.items[v]].file < 0)
            odb_push(&values, g->values.items[v]);
    qsort(places, n, sizeof *places, group_place_order);
    fits &= n == values.n;
    for (size_t i = 0; i < n && fits; i++)
        fits = (!i || places[i].v != places[i - 1].v) &&
               mangled__open(m, g->files.items[places[i].file], values.items[i]) &&
               (!m->values.items[values.items[i]].witness ||
                mangled__error(g, places[i].file, group_value_at(g, values.items[i])) <
                    (double)GROUP_NEAR);
    for (size_t i = 0; i < n && fits; i++)
        mangled__pair(m, g->files.items[places[i].file], values.items[i]);
    free(values.items);
    free(places);
}

/* --- all of it -------------------------------------------------------------------------------- */

static void group_may_be(struct mangled_file *file, int value)
{
    for (size_t c = 0; c < file->choices.n; c++)
        if (file->choices.items[c] == value)
            return;
    odb_push(&file->choices, value);
}

/* Which files have not been matched, and what they could be. */
static void group_leave(struct mangled_group *g)
{
    for (size_t f = 0; f < g->files.n; f++) {
        struct mangled_file *file = &g->m->files.items[g->files.items[f]];
        file->left |= file->value < 0;
        for (size_t v = 0; v < g->values.n && file->value < 0; v++)
            if (mangled__open(g->m, g->files.items[f], g->values.items[v]))
                group_may_be(file, g->values.items[v]);
    }
}

void mangled__group_judge(struct mangled_group *g, int index)
{
    if (!g->values.n)
        return;
    if (g->files.n * g->values.n <= GROUP_PAIRS) {
        group_by_shape(g, false);
        group_by_shape(g, true);
        group_by_value(g);
        group_by_shape(g, false);
        group_by_order(g, index);
    }
    group_leave(g);
}

void mangled__group_dispose(struct mangled_group *g)
{
    free(g->files.items);
    free(g->values.items);
    free(g->errors);
}
