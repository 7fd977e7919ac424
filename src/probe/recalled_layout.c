/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A recording that holds its images otherwise than the model means: channels last, or in blocks.
 * One layout is looked for that would give most values the shape that they have to have, and no
 * value that has it already is asked. What has the right shape either way is taken as it is nearer
 * to the reference.
 */
#include "probe/recall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "executor/value_layout.h"

#define HELD_RANK 4 /* of the smallest value that is looked at unasked */
#define HELD_LOOKED ((size_t)4096)
#define HELD_CLEAR 0.1

static const struct held_layout {
    const char *name, *words;
} held_layouts[] = {
    {"NHWC", "NHWC;NDHWC"},          {"NCHW4c", "NCHW4c;NCDHW4c"},
    {"NCHW8c", "NCHW8c;NCDHW8c"},    {"NCHW16c", "NCHW16c;NCDHW16c"},
    {"NCHW32c", "NCHW32c;NCDHW32c"}, {"NCHW64c", "NCHW64c;NCDHW64c"},
};

struct held {
    const struct odb_prober *prober;
    const int *values;
    struct odb_tensor **outputs;
    size_t n;
};

/* What value i has to look like; dims has room for ODB_MAX_RANK. False: that is not known. */
static bool held_want(const struct held *h, size_t i, struct odb_layout_want *want, int64_t *dims)
{
    const struct odb_tensor *like =
        h->prober->trace ? odb_trace_like(h->prober->trace, h->values[i]) : NULL;
    const struct odb_type *type = &h->prober->model->graph->values[h->values[i]].type;
    if (like) {
        *want = (struct odb_layout_want){like->dtype, like->rank, like->dims};
        return like->kind == ODB_TENSOR;
    }
    if (h->prober->trace || !type->known || type->kind != ODB_TENSOR || type->rank < 0 ||
        type->rank > ODB_MAX_RANK)
        return false;
    for (int d = 0; d < type->rank; d++)
        dims[d] = type->dims[d].value;
    *want = (struct odb_layout_want){type->dtype, type->rank, dims};
    return true;
}

static bool held_fits(const struct odb_tensor *t, const struct odb_layout_want *want)
{
    bool fits = t->rank == want->rank;
    for (int d = 0; d < want->rank && fits; d++)
        fits = want->dims[d] < 0 || want->dims[d] == t->dims[d];
    return fits;
}

/* The value that t holds in one of the layouts; NULL: in none. */
static struct odb_tensor *held_plain(const struct odb_tensor *t, const char *words,
                                     const struct odb_layout_want *want)
{
    struct odb_tensor *plain = NULL;
    if (!odb_layout_plain_of(&plain, words, t, want))
        return NULL;
    if (plain->read_as && held_fits(plain, want))
        return plain;
    odb_tensor_unref(plain);
    return NULL;
}

/* Of some elements, over the reference's; infinite where there is no telling. */
static double held_error(const struct odb_tensor *t, const struct odb_tensor *like)
{
    double off = 0, all = 0;
    if (!like || !like->data || t->count != like->count || odb_tensor_real(t) == ODB_UNDEFINED ||
        odb_tensor_real(like) == ODB_UNDEFINED)
        return INFINITY;
    for (size_t i = 0; i < t->count; i += t->count / HELD_LOOKED + 1) {
        double x = odb_tensor_f64(t, i), y = odb_tensor_f64(like, i);
        off += x == y ? 0 : (x - y) * (x - y);
        all += y * y;
    }
    return isnan(off) ? INFINITY : off == 0 ? 0 : sqrt(off / all);
}

/* What the shapes say of one layout. */
struct held_votes {
    size_t support; /* values that have another shape, and the right one in this layout */
    size_t against; /* that have the right one as they are, and not in it */
    size_t misfits; /* that have another shape */
};

static struct held_votes held_count(const struct held *h, const char *words)
{
    struct held_votes votes = {0};
    for (size_t i = 0; i < h->n; i++) {
        struct odb_layout_want want;
        int64_t dims[ODB_MAX_RANK];
        const struct odb_tensor *t = h->outputs[i];
        if (!t || t->kind != ODB_TENSOR || t->read_as || !held_want(h, i, &want, dims) ||
            want.rank < HELD_RANK)
            continue;
        struct odb_tensor *plain = held_plain(t, words, &want);
        bool fits = held_fits(t, &want);
        votes.misfits += !fits;
        votes.support += !fits && plain;
        votes.against += fits && !plain;
        odb_tensor_unref(plain);
    }
    return votes;
}

/* NULL: no layout has most values for it. *doubt is then one that a few values speak for, or NULL.
 */
static const struct held_layout *held_find(const struct held *h, size_t *support,
                                           const struct held_layout **doubt)
{
    const struct held_layout *found = NULL;
    *support = 0;
    *doubt = NULL;
    for (size_t l = 0; l < ODB_COUNT(held_layouts); l++) {
        struct held_votes votes = held_count(h, held_layouts[l].words);
        if (votes.support <= *support)
            continue;
        bool most = votes.support >= 2 && votes.support > votes.against &&
                    2 * votes.support > votes.misfits;
        *support = votes.support;
        found = most ? &held_layouts[l] : NULL;
        *doubt = most ? NULL : &held_layouts[l];
    }
    return found;
}

/* Which of the two it is, where both have the right shape. */
static bool held_takes(const struct odb_tensor *t, const struct odb_tensor *plain,
                       const struct odb_layout_want *want, const struct odb_tensor *like)
{
    return !held_fits(t, want) || !(held_error(t, like) < HELD_CLEAR * held_error(plain, like));
}

static size_t held_apply(struct held *h, const char *words)
{
    size_t made = 0;
    for (size_t i = 0; i < h->n; i++) {
        struct odb_layout_want want;
        int64_t dims[ODB_MAX_RANK];
        struct odb_tensor *t = h->outputs[i];
        if (!t || t->kind != ODB_TENSOR || t->read_as || !held_want(h, i, &want, dims))
            continue;
        const struct odb_tensor *like =
            h->prober->trace ? odb_trace_like(h->prober->trace, h->values[i]) : NULL;
        struct odb_tensor *plain = held_plain(t, words, &want);
        if (plain && held_takes(t, plain, &want, like)) {
            odb_tensor_unref(t);
            h->outputs[i] = plain;
            made++;
        } else {
            odb_tensor_unref(plain);
        }
    }
    return made;
}

char *odb_recall_layout(const struct odb_prober *prober, const int *values,
                        struct odb_tensor **outputs, size_t n)
{
    struct held h = {prober, values, outputs, n};
    const struct held_layout *doubt;
    size_t support;
    if (prober->can->layouts) {
        held_apply(&h, prober->can->layouts);
        return NULL;
    }
    if (!prober->trace)
        return NULL;
    const struct held_layout *found = held_find(&h, &support, &doubt);
    if (doubt)
        return odb_xasprintf("%zu recorded value%s would have the model's shape as %s, too few to "
                             "take it so; --layout %s does",
                             support, odb_plural(support), doubt->name, doubt->name);
    if (!found)
        return NULL;
    size_t made = held_apply(&h, found->words);
    return odb_xasprintf("%zu recorded value%s held as %s, and read so; --layout NCHW reads them "
                         "as they are",
                         made, made == 1 ? " is" : "s are", found->name);
}
