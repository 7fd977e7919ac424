/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The wrong elements are held against simple shapes. A shape is named when it holds every wrong
 * element, and hardly another one: the places on each axis where something is wrong, times each
 * other; a border; numbers of one kind.
 */
#include "explain/wrong_elements.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/formal.h"

#define WHERE_FULL 0.75  /* so much of a shape must be wrong for it to be named */
#define WHERE_WIDE 65536 /* places of an axis that are looked at one by one */

/* The output that is looked at, and which of its elements are wrong. */
struct where {
    const struct accused *s;
    int output;
    const struct odb_tensor *r;
    bool *wrong; /* owned; [count] */
    size_t n;    /* of those that are */
};

static void where_begin(struct where *w, const struct accused *s, int output)
{
    const odb_f64 *y = s->target.wide[output]->data;
    *w = (struct where){s, output, s->r[output], odb_new_n(bool, s->r[output]->count), 0};
    for (size_t i = 0; i < w->r->count; i++)
        w->n += w->wrong[i] = accused_wrong(s, output, y[i], odb_tensor_f64(w->r, i));
}

/* --- places on axes --------------------------------------------------------------------------- */

/* Places of an axis where something is wrong. */
struct where_axis {
    size_t n, wrong, first, last,
        step;    /* step: between them, where it is always the same; else 0 */
    bool *marks; /* owned; [n] */
};

static void where_axis(const struct where *w, int axis, struct where_axis *a)
{
    size_t inner = 1, before = 0;
    for (int k = axis + 1; k < w->r->rank; k++)
        inner *= (size_t)w->r->dims[k];
    *a = (struct where_axis){.n = (size_t)w->r->dims[axis], .step = 0};
    a->marks = odb_new_n(bool, a->n);
    for (size_t i = 0; i < w->r->count; i++)
        if (w->wrong[i])
            a->marks[i / inner % a->n] = true;
    for (size_t p = 0; p < a->n; p++) {
        if (!a->marks[p])
            continue;
        if (a->wrong == 1)
            a->step = p - before;
        else if (a->wrong > 1 && p - before != a->step)
            a->step = 0;
        a->first = a->wrong++ ? a->first : p;
        a->last = before = p;
    }
}

/* Up to where a type has every whole number: places that are counted in it go wrong from there. */
static const struct where_count {
    enum odb_dtype type;
    size_t most;
} where_counts[] = {{ODB_F16, 2048}, {ODB_BF16, 256}};

#define WHERE_REACH 4 /* how far from there a kernel's window may be off */

static void where_put_count(const struct where *w, const struct where_axis *a, struct odb_buf *out)
{
    for (size_t i = 0; i < ODB_COUNT(where_counts) && a->last == a->n - 1; i++) {
        size_t most = where_counts[i].most,
               far = most > a->first ? most - a->first : a->first - most;
        if (w->r->dtype == where_counts[i].type && far <= WHERE_REACH)
            odb_buf_printf(out, ", from %zu on: %s has every whole number as far as %zu alone",
                           a->first, odb_dtype_info(w->r->dtype)->name, most);
    }
}

static void where_put_axis(const struct where *w, const struct where_axis *a, int axis,
                           struct odb_buf *out)
{
    if (a->wrong == 1)
        odb_buf_printf(out, "at place %zu of axis %d (%zu places)", a->first, axis, a->n);
    else if (a->wrong == a->last - a->first + 1 && a->last == a->n - 1)
        odb_buf_printf(out, "in the last %zu of %zu places of axis %d", a->wrong, a->n, axis);
    else if (a->wrong == a->last - a->first + 1)
        odb_buf_printf(out, "in places %zu to %zu of %zu of axis %d", a->first, a->last, a->n,
                       axis);
    else if (a->step > 1)
        odb_buf_printf(out, "in every %zu. place of axis %d, from %zu on", a->step, axis, a->first);
    else
        odb_buf_printf(out, "in %zu of %zu places of axis %d", a->wrong, a->n, axis);
    where_put_count(w, a, out);
}

/* The places on each axis, where together they are not much more than what is wrong. */
static bool where_places(const struct where *w, struct odb_buf *out)
{
    struct where_axis axes[ODB_MAX_RANK];
    double product = 1;
    bool any = false, named;
    for (int k = 0; k < w->r->rank; k++) {
        if (w->r->dims[k] > WHERE_WIDE)
            return false;
    }
    for (int k = 0; k < w->r->rank; k++) {
        where_axis(w, k, &axes[k]);
        product *= (double)axes[k].wrong;
    }
    named = product < (double)w->r->count && (double)w->n >= WHERE_FULL * product;
    for (int k = 0; k < w->r->rank; k++) {
        if (named && axes[k].wrong < axes[k].n) {
            odb_buf_puts(out, any ? ", " : "only ");
            where_put_axis(w, &axes[k], k, out);
            any = true;
        }
        free(axes[k].marks);
    }
    return named;
}

/* --- border ----------------------------------------------------------------------------------- */

/* How far element i is from the nearest end of a spatial axis. */
static size_t where_depth(const struct odb_tensor *t, size_t i)
{
    size_t depth = SIZE_MAX;
    for (int k = t->rank; k-- > 2;) {
        size_t n = (size_t)t->dims[k], at = i % n;
        depth = ODB_MIN(depth, ODB_MIN(at, n - 1 - at));
        i /= n;
    }
    return depth;
}

static bool where_border(const struct where *w, struct odb_buf *out)
{
    size_t deepest = 0, inside = 0;
    if (w->r->rank < 3)
        return false;
    for (size_t i = 0; i < w->r->count; i++)
        if (w->wrong[i])
            deepest = ODB_MAX(deepest, where_depth(w->r, i));
    for (size_t i = 0; i < w->r->count; i++)
        inside += where_depth(w->r, i) <= deepest;
    if (inside == w->r->count || (double)w->n < WHERE_FULL * (double)inside / 2)
        return false;
    odb_buf_printf(out, "only at the border, %zu element%s deep", deepest + 1, deepest ? "s" : "");
    return true;
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* Kinds of numbers that the reference may have, in the words of one that is wrong there alone. */
static bool where_negative(double x, double rms)
{
    return (void)rms, x < 0;
}
static bool where_positive(double x, double rms)
{
    return (void)rms, x > 0;
}
static bool where_large(double x, double rms)
{
    return fabs(x) > 2 * rms;
}
static bool where_odd(double x, double rms)
{
    return (void)rms, !isfinite(x);
}
static bool where_small(double x, double rms)
{
    return (void)rms, x != 0 && fabs(x) < 0x1p-126;
}

static const struct where_kind {
    const char *text;
    bool (*is)(double x, double rms);
} where_kinds[] = {
    {"only where the reference is NaN or infinite", where_odd},
    {"only where the reference is subnormal", where_small},
    {"only where the reference is negative", where_negative},
    {"only where the reference is positive", where_positive},
    {"only where the reference is large", where_large},
};

static bool where_numbers(const struct where *w, struct odb_buf *out)
{
    for (size_t k = 0; k < ODB_COUNT(where_kinds); k++) {
        size_t of = 0, wrong = 0;
        for (size_t i = 0; i < w->r->count; i++)
            if (where_kinds[k].is(odb_tensor_f64(w->r, i), w->s->target.rms[w->output])) {
                of++;
                wrong += w->wrong[i];
            }
        if (!of || of == w->r->count || wrong < w->n || (double)wrong < WHERE_FULL * (double)of)
            continue;
        odb_buf_puts(out, where_kinds[k].text);
        return true;
    }
    return false;
}

static char *where_shapes(const struct odb_tensor *y, const struct odb_tensor *r)
{
    char target[120], reference[120];
    return odb_xasprintf("another shape: %s where the reference has %s",
                         odb_shape_text(y, target, sizeof target),
                         odb_shape_text(r, reference, sizeof reference));
}

char *where_wrong(const struct accused *s)
{
    int output = s->shown;
    struct odb_buf out = ODB_BUF_INIT;
    struct where w;
    if (output < 0 || !s->r[output]->count)
        return odb_xstrdup("");
    if (!odb_tensor_same_shape(s->y[output], s->r[output]))
        return where_shapes(s->y[output], s->r[output]);
    where_begin(&w, s, output);
    double share = (double)w.n / (double)w.r->count;
    if (!w.n)
        odb_buf_puts(&out, "no element by more than rounding");
    else if (w.n == w.r->count)
        odb_buf_puts(&out, "every element");
    else {
        odb_buf_printf(&out, "%zu of %zu elements", w.n, w.r->count);
        odb_buf_puts(&out, share > 0.95 ? "" : ": ");
        if (share <= 0.95 && !where_numbers(&w, &out) && !where_places(&w, &out) &&
            !where_border(&w, &out))
            odb_buf_puts(&out, "in no simple pattern");
    }
    free(w.wrong);
    return odb_buf_take(&out);
}
