/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Points are sorted by x, and each piece is taken as long as one of the kinds holds. Whatever is
 * smooth looks straight, constant or the reference's for a short while; what really is so does not
 * get longer by much when it may be ten times as far off, since behind a knot the distance grows
 * fast. So a piece has to end at a knot, or with the numbers.
 */
#include "explain/measure/curve.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CURVE_LOOSE 10    /* times the tolerance, with which */
#define CURVE_STRETCH 1.5 /* a piece is this times as long at most */
#define CURVE_STEP 0.5    /* tolerances between neighbours: y may jump there; */
#define CURVE_STEEP 16    /* and does, if it is so many times as steep */
#define CURVE_JUMPS 4     /* times the way that a curve goes: then it is none */
#define CURVE_SHARE 1000  /* of all points, one of so many is a piece at least */
#define CURVE_FEW 64      /* values of x below which jumps say nothing */
#define CURVE_BINS 160    /* of x, each with a point that is kept */

static const char *const curve_names[] = {
#define CURVE_NAME(id, name) name,
    ODB_CURVE_LIST(CURVE_NAME)
#undef CURVE_NAME
};

const char *odb_curve_kind_name(enum odb_curve_kind kind)
{
    return curve_names[kind];
}

enum odb_curve_kind odb_curve_kind_parse(const char *name)
{
    int kind = 0;
    while (kind < ODB_CURVE_OTHER && (!name || strcmp(curve_names[kind], name) != 0))
        kind++;
    return (enum odb_curve_kind)kind;
}

/* --- points ----------------------------------------------------------------------------------- */

/* NaN is behind all numbers; -0 is before 0, as they may have other results. */
static int curve_order_x(double a, double b)
{
    if (isnan(a) || isnan(b))
        return (int)isnan(a) - (int)isnan(b);
    return a != b ? (a > b) - (a < b) : (int)signbit(b) - (int)signbit(a);
}

static int curve_order(const void *p, const void *q)
{
    const struct odb_curve_point *a = p, *b = q;
    int x = curve_order_x(a->x, b->x);
    return x ? x : curve_order_x(a->y, b->y);
}

static double curve_slack(const struct odb_curve_of *of, double a)
{
    return of->tolerance + 2 * of->eps * (isfinite(a) ? fabs(a) : 0);
}

static bool curve_near(const struct odb_curve_of *of, double a, double b, double share)
{
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= share * curve_slack(of, b);
}

/* Leaves one point for each x, and counts the x that have several y. How many points are left. */
static size_t curve_merge(struct odb_curve *c, const struct odb_curve_of *of)
{
    struct odb_curve_point *p = of->points;
    size_t n = 0;
    for (size_t i = 0, next; i < of->n; i = next) {
        for (next = i + 1; next < of->n && !curve_order_x(p[i].x, p[next].x); next++)
            ;
        c->several += !curve_near(of, p[i].y, p[next - 1].y, 1);
        p[n++] = p[i];
    }
    return n;
}

/* Whether y goes up and down far more than the reference does, and than it must to be anywhere. */
static bool curve_jumps(const struct odb_curve_of *of, size_t n)
{
    double way = 0, honest = 0, low = INFINITY, high = -INFINITY;
    const struct odb_curve_point *p = of->points;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(p[i].y) || !isfinite(p[i].r))
            continue;
        low = fmin(low, p[i].y);
        high = fmax(high, p[i].y);
        if (!i || !isfinite(p[i - 1].y) || !isfinite(p[i - 1].r))
            continue;
        double step = fabs(p[i].y - p[i - 1].y);
        way += step > curve_slack(of, p[i].y) ? step : 0;
        honest += fabs(p[i].r - p[i - 1].r);
    }
    return n >= CURVE_FEW && way > CURVE_JUMPS * (honest + high - low);
}

/* --- pieces ----------------------------------------------------------------------------------- */

struct curve_fit {
    enum odb_curve_kind kind;
    double a, b, x; /* x: a line is a (x - this) + b */
};

static double curve_fitted(const struct curve_fit *fit, const struct odb_curve_point *p)
{
    return fit->kind == ODB_CURVE_FOLLOWS    ? p->r
           : fit->kind == ODB_CURVE_CONSTANT ? fit->b
           : fit->kind == ODB_CURVE_LINE     ? fit->a * (p->x - fit->x) + fit->b
           : fit->kind == ODB_CURVE_OFFSET   ? p->r + fit->b
                                             : fit->a * p->r;
}

/* Fits a kind to [from, to), least squares; false: it says nothing of such numbers. */
static bool curve_fit(struct curve_fit *fit, const struct odb_curve_point *p, size_t from,
                      size_t to)
{
    double n = (double)(to - from), x = 0, y = 0, r = 0, xx = 0, xy = 0, rr = 0, ry = 0;
    if (fit->kind == ODB_CURVE_CONSTANT)
        fit->b = p[from].y;
    if (fit->kind <= ODB_CURVE_CONSTANT)
        return true;
    for (size_t i = from; i < to; i++) {
        x += p[i].x / n;
        y += p[i].y / n;
        r += p[i].r / n;
        rr += p[i].r * p[i].r;
        ry += p[i].r * p[i].y;
    }
    for (size_t i = from; i < to; i++) {
        xx += (p[i].x - x) * (p[i].x - x);
        xy += (p[i].x - x) * (p[i].y - y);
    }
    bool line = fit->kind == ODB_CURVE_LINE, factor = fit->kind == ODB_CURVE_FACTOR;
    fit->x = x;
    fit->a = line ? xy / xx : factor ? ry / rr : 1;
    fit->b = line ? y : y - r;
    return isfinite(fit->a) && isfinite(fit->b);
}

static bool curve_holds(const struct odb_curve_of *of, const struct curve_fit *fit, size_t from,
                        size_t to, double share)
{
    for (size_t i = from; i < to; i++)
        if (!curve_near(of, of->points[i].y, curve_fitted(fit, &of->points[i]), share))
            return false;
    return true;
}

static bool curve_fits(const struct odb_curve_of *of, struct curve_fit *fit, size_t from, size_t to,
                       double share)
{
    return curve_fit(fit, of->points, from, to) && curve_holds(of, fit, from, to, share);
}

/* How far a kind reaches from a point: twice as far each time, then by halves. */
static size_t curve_reach(const struct odb_curve_of *of, struct curve_fit *fit, size_t from,
                          size_t n, double share)
{
    size_t good = from + 1, bad = n + 1;
    while (good < n && bad > n) {
        size_t next = ODB_MIN(n, from + 2 * (good - from));
        if (curve_fits(of, fit, from, next, share))
            good = next;
        else
            bad = next;
    }
    while (bad <= n && bad - good > 1) {
        size_t mid = good + (bad - good) / 2;
        if (curve_fits(of, fit, from, mid, share))
            good = mid;
        else
            bad = mid;
    }
    bool whole = curve_fits(of, fit, from, good, share);
    return whole ? good : from;
}

/* Points that a piece of the kind needs, of so many, to be more than what lies beside one another
 * by chance. */
static size_t curve_least(enum odb_curve_kind kind, size_t n)
{
    return ODB_MAX((size_t)(kind <= ODB_CURVE_CONSTANT ? 3 : 8), n / CURVE_SHARE);
}

/* Points of one kind. */
struct curve_part {
    struct curve_fit fit;
    size_t from, to;
};

/* How far an element is from a fit, in its tolerance. */
static double curve_off(const struct odb_curve_of *of, const struct curve_fit *fit, size_t i)
{
    double by = curve_fitted(fit, &of->points[i]), d = of->points[i].y - by;
    return d == 0 ? 0 : d / curve_slack(of, by);
}

/* Whether y jumps from the last element of a part, or its first, to the one behind: it is steeper
 * there by far than the part is. */
static bool curve_steps(const struct odb_curve_of *of, const struct curve_part *part, size_t in,
                        size_t out)
{
    const struct odb_curve_point *p = of->points;
    double low = INFINITY, high = -INFINITY, width = p[part->to - 1].x - p[part->from].x;
    for (size_t i = part->from; i < part->to; i++) {
        low = fmin(low, curve_off(of, &part->fit, i));
        high = fmax(high, curve_off(of, &part->fit, i));
    }
    double step = fabs(curve_off(of, &part->fit, out) - curve_off(of, &part->fit, in));
    return !(step <= CURVE_STEP) &&
           !(step * width <= CURVE_STEEP * (high - low) * fabs(p[out].x - p[in].x));
}

/* Whether a part begins and ends at a knot, or where the numbers do: see above. */
static bool curve_ends(const struct odb_curve_of *of, const struct curve_part *part, size_t n)
{
    const struct odb_curve_point *p = of->points;
    struct curve_fit fit = part->fit;
    double room = (CURVE_STRETCH - 1) * (p[part->to - 1].x - p[part->from].x);
    size_t back = part->from, far = curve_reach(of, &fit, part->from, n, CURVE_LOOSE);
    while (back > 0 && p[part->from].x - p[back].x <= room &&
           curve_holds(of, &part->fit, back - 1, back, CURVE_LOOSE))
        back--;
    bool begins = part->from - back <= 1 || p[part->from].x - p[back].x <= room ||
                  curve_steps(of, part, part->from, part->from - 1);
    bool ends = far <= part->to + 1 || p[far - 1].x - p[part->to - 1].x <= room ||
                curve_steps(of, part, part->to - 1, part->to);
    return begins && ends;
}

/* The kind that reaches farthest from a point, of those that are something; from the first point
 * that is in no part on, where it holds as far back. tried: how far any seemed to hold. */
static bool curve_best(const struct odb_curve_of *of, size_t first, size_t from, size_t n,
                       struct curve_part *best, size_t *tried)
{
    *tried = 1;
    best->to = 0;
    for (int kind = 0; kind < ODB_CURVE_OTHER && best->to < n; kind++) {
        struct curve_part part = {.fit = {.kind = (enum odb_curve_kind)kind}, .from = from};
        part.to = curve_reach(of, &part.fit, from, n, 1);
        *tried = ODB_MAX(*tried, part.to - from);
        if (part.to <= best->to || part.to - from < curve_least(part.fit.kind, n))
            continue;
        while (part.from > first && curve_holds(of, &part.fit, part.from - 1, part.from, 1))
            part.from--;
        if (curve_ends(of, &part, n))
            *best = part;
    }
    return best->to > 0;
}

static struct odb_curve_piece curve_piece(const struct odb_curve_of *of,
                                          const struct curve_part *part)
{
    const struct odb_curve_point *p = of->points;
    const struct curve_fit *fit = &part->fit;
    struct odb_curve_piece piece = {.kind = fit->kind,
                                    .n = part->to - part->from,
                                    .from = p[part->from].x,
                                    .to = p[part->to - 1].x,
                                    .a = fit->a,
                                    .b = fit->kind == ODB_CURVE_LINE ? fit->b - fit->a * fit->x
                                                                     : fit->b,
                                    .most = p[part->from]};
    double most = -1;
    if (fit->kind == ODB_CURVE_CONSTANT)
        piece.b = p[part->from + piece.n / 2].y + 0.0; /* no -0 */
    for (size_t i = part->from; i < part->to; i++) {
        double d = p[i].y - p[i].r, far = isnan(d) ? INFINITY : fabs(d);
        bool near = curve_near(of, p[i].y, p[i].r, 1);
        piece.above |= !near && d > 0;
        piece.below |= !near && d < 0;
        if (!near && far > most) {
            most = far;
            piece.most = p[i];
        }
    }
    return piece;
}

/* The parts in order, with what is in none between them. The caller's. */
static struct curve_part *curve_parts(const struct odb_curve_of *of, size_t n, size_t *n_parts)
{
    ODB_VEC(struct curve_part) parts = {0};
    const struct curve_fit other = {.kind = ODB_CURVE_OTHER};
    size_t rest = 0, at = 0, tried; /* rest: the first point that is in no part */
    while (at < n) {
        struct curve_part part;
        if (!curve_best(of, rest, at, n, &part, &tried)) {
            at += ODB_MAX(tried / 2, 1);
            continue;
        }
        if (rest < part.from)
            odb_push(&parts, ((struct curve_part){other, rest, part.from}));
        odb_push(&parts, part);
        rest = at = part.to;
    }
    if (rest < n)
        odb_push(&parts, ((struct curve_part){other, rest, n}));
    *n_parts = parts.n;
    return parts.items;
}

/* Gives a part the last points of the one before it that are nearer to itself: within the tolerance
 * that one went on behind the knot. So is a point that is both's. */
static void curve_meet(const struct odb_curve_of *of, struct curve_part *before,
                       struct curve_part *part)
{
    bool both = before->fit.kind != ODB_CURVE_OTHER && part->fit.kind != ODB_CURVE_OTHER;
    while (both && before->to - before->from > 1) {
        const struct odb_curve_point *p = &of->points[before->to - 1];
        double here = fabs(p->y - curve_fitted(&part->fit, p));
        double there = fabs(p->y - curve_fitted(&before->fit, p));
        if (!(here <= there))
            return;
        before->to--;
        part->from--;
        if (here == there)
            return;
    }
}

static void curve_cut(struct odb_curve *c, const struct odb_curve_of *of, size_t n)
{
    size_t n_parts;
    struct curve_part *parts = curve_parts(of, n, &n_parts);
    for (size_t k = 1; k < n_parts; k++)
        curve_meet(of, &parts[k - 1], &parts[k]);
    for (size_t k = 0; k < n_parts; k++)
        odb_push(&c->pieces, curve_piece(of, &parts[k]));
    free(parts);
}

/* --- what is kept ----------------------------------------------------------------------------- */

/* Points spread over x, and those beside knots. */
static void curve_keep(struct odb_curve *c, const struct odb_curve_of *of, size_t n)
{
    const struct odb_curve_point *p = of->points;
    double low = p[0].x, width = (p[n - 1].x - low) / CURVE_BINS, next = low;
    for (size_t i = 0; i < n && c->points.n + 1 < CURVE_POINTS; i++) {
        bool knot = false;
        for (size_t k = 0; k < c->pieces.n && c->pieces.n <= 16; k++)
            knot |= p[i].x == c->pieces.items[k].from || p[i].x == c->pieces.items[k].to;
        if (!knot && p[i].x < next && i + 1 < n)
            continue;
        odb_push(&c->points, p[i]);
        while (width > 0 && next <= p[i].x)
            next += width;
    }
}

struct odb_curve *odb_curve_make(const struct odb_curve_of *of)
{
    struct odb_curve_of finite = *of;
    struct odb_curve *c = odb_new(struct odb_curve);
    struct odb_buf text = ODB_BUF_INIT;
    qsort(of->points, of->n, sizeof *of->points, curve_order);
    c->every = of->every;
    c->distinct = finite.n = curve_merge(c, of);
    for (; finite.n && !isfinite(finite.points[finite.n - 1].x); finite.n--)
        odb_push(&c->odd, finite.points[finite.n - 1]);
    for (; finite.n && !isfinite(finite.points[0].x); finite.points++, finite.n--)
        odb_push(&c->odd, finite.points[0]);
    c->shape = c->several                       ? ODB_CURVE_SEVERAL
               : curve_jumps(&finite, finite.n) ? ODB_CURVE_JUMPS
                                                : ODB_CURVE_DRAWN;
    if (c->shape == ODB_CURVE_DRAWN)
        curve_cut(c, &finite, finite.n);
    if (c->shape != ODB_CURVE_SEVERAL && finite.n)
        curve_keep(c, &finite, finite.n);
    if (c->distinct < 2) {
        odb_curve_free(c);
        return NULL;
    }
    odb_curve_put(c, &text);
    c->text = odb_buf_take(&text);
    return c;
}

void odb_curve_free(struct odb_curve *curve)
{
    if (!curve)
        return;
    free(curve->pieces.items);
    free(curve->odd.items);
    free(curve->points.items);
    free(curve->text);
    free(curve);
}
