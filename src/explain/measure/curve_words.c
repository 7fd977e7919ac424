/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain/measure/curve.h"

#define WORDS_MOST 6    /* pieces, or runs of alike ones, that are told */
#define WORDS_RUN 4     /* straight or constant pieces behind one another that are told as one */
#define WORDS_EVEN 0.05 /* of a width: so far may widths be apart that are one */
#define WORDS_WIDE 0.01 /* of the whole: a gap in x that has no knot of its own */

/* Of (low, high], the number with the fewest digits. */
static double words_plainest(double low, double high)
{
    double mid = low + (high - low) / 2;
    if (low < 0 && high >= 0)
        return 0;
    for (int digits = 1; digits < 8; digits++) {
        double unit = pow(10, floor(log10(fabs(mid))) + 1 - digits),
               x = unit * nearbyint(mid / unit);
        if (x > low && x <= high)
            return x;
    }
    return high;
}

double odb_curve_knot(const struct odb_curve *curve, size_t piece)
{
    return words_plainest(curve->pieces.items[piece - 1].to, curve->pieces.items[piece].from);
}

/* Whether x has a number between two pieces often enough to name one of them. */
static bool words_close(const struct odb_curve *c, size_t piece)
{
    const struct odb_curve_piece *p = c->pieces.items;
    return p[piece].from - p[piece - 1].to <= WORDS_WIDE * (p[c->pieces.n - 1].to - p[0].from);
}

/* Pieces from `first` on that are told together: how many. */
static size_t words_run(const struct odb_curve *c, size_t first)
{
    const struct odb_curve_piece *p = c->pieces.items;
    size_t n = 1;
    bool alike = p[first].kind == ODB_CURVE_LINE || p[first].kind == ODB_CURVE_CONSTANT;
    while (alike && first + n < c->pieces.n && p[first + n].kind == p[first].kind)
        n++;
    return n >= WORDS_RUN ? n : 1;
}

/* " for x < 3", of the pieces from first to last. */
static void words_put_where(const struct odb_curve *c, size_t first, size_t last,
                            struct odb_buf *out)
{
    const struct odb_curve_piece *a = &c->pieces.items[first], *b = &c->pieces.items[last];
    bool begins = first > 0, ends = last + 1 < c->pieces.n;
    bool single = a == b && a->n == 1;
    if (single) {
        odb_buf_printf(out, " at x = %.6g", a->from);
        return;
    }
    if (!begins && !ends) {
        odb_buf_printf(out, " for all x from %.4g to %.4g", a->from, b->to);
        return;
    }
    odb_buf_puts(out, begins && ends ? " for " : " for x");
    if (begins && ends)
        odb_buf_printf(out, "%.6g %s x", words_close(c, first) ? odb_curve_knot(c, first) : a->from,
                       "<=");
    else if (begins)
        odb_buf_printf(out, " >= %.6g", words_close(c, first) ? odb_curve_knot(c, first) : a->from);
    if (ends && words_close(c, last + 1))
        odb_buf_printf(out, " < %.6g", odb_curve_knot(c, last + 1));
    else if (ends)
        odb_buf_printf(out, " <= %.6g", b->to);
}

/* "a x + b". */
static void words_put_line(const struct odb_curve_piece *p, double size, struct odb_buf *out)
{
    if (p->a == 1 || fabs(p->a - 1) < 1e-6)
        odb_buf_puts(out, "x");
    else
        odb_buf_printf(out, "%.5g x", p->a);
    if (fabs(p->b) > 1e-6 * size)
        odb_buf_printf(out, " %c %.5g", p->b < 0 ? '-' : '+', fabs(p->b));
}

/* What is off in no simple way: by how much, on which side, and where most. */
static void words_put_other(const struct odb_curve_piece *p, struct odb_buf *out)
{
    const struct odb_curve_point *m = &p->most;
    if (p->n == 1 || !isfinite(m->y - m->r)) {
        odb_buf_printf(out,
                       p->n == 1 ? "is %.6g, not %.6g," : "is off, %.6g, not %.6g, at x = %.6g,",
                       m->y, m->r, m->x);
        return;
    }
    odb_buf_printf(out, "lies %s the reference by up to %.3g (%.5g, not %.5g, at x = %.5g)",
                   p->above && p->below ? "above and below"
                   : p->above           ? "above"
                                        : "below",
                   fabs(m->y - m->r), m->y, m->r, m->x);
}

static void words_put_piece(const struct odb_curve_piece *p, struct odb_buf *out)
{
    switch (p->kind) {
    case ODB_CURVE_FOLLOWS:
        odb_buf_puts(out, "follows the reference");
        break;
    case ODB_CURVE_CONSTANT:
        odb_buf_printf(out, "is constant %.6g", p->b);
        break;
    case ODB_CURVE_LINE:
        odb_buf_puts(out, "is ");
        words_put_line(p, fabs(p->a) * fmax(fabs(p->from), fabs(p->to)), out);
        break;
    case ODB_CURVE_OFFSET:
        odb_buf_printf(out, "is the reference %c %.5g", p->b < 0 ? '-' : '+', fabs(p->b));
        break;
    case ODB_CURVE_FACTOR:
        odb_buf_printf(out, "is %.5g times the reference", p->a);
        break;
    case ODB_CURVE_OTHER:
        words_put_other(p, out);
        break;
    }
}

static int words_order(const void *x, const void *y)
{
    const double *a = x, *b = y;
    return (*a > *b) - (*a < *b);
}

/* "is 16 straight pieces, 0.5 wide": those at the ends may be cut. */
static void words_put_run(const struct odb_curve *c, size_t first, size_t n, struct odb_buf *out)
{
    double *widths = odb_new_n(double, n);
    size_t inner = n - 2, even = 0;
    bool steps = c->pieces.items[first].kind == ODB_CURVE_CONSTANT;
    for (size_t k = 0; k < inner; k++)
        widths[k] = odb_curve_knot(c, first + k + 2) - odb_curve_knot(c, first + k + 1);
    qsort(widths, inner, sizeof *widths, words_order);
    double width = widths[inner / 2];
    for (size_t k = 0; k < inner; k++)
        even += fabs(widths[k] - width) <= WORDS_EVEN * width;
    odb_buf_printf(out, "is %zu %s", n, steps ? "steps" : "straight pieces");
    if (even * 4 >= inner * 3)
        odb_buf_printf(out, ", %s %.4g wide,", even == inner ? "each" : "most", width);
    free(widths);
}

static void words_put_pieces(const struct odb_curve *c, struct odb_buf *out)
{
    size_t told = 0, n;
    for (size_t k = 0; k < c->pieces.n; k += n, told++) {
        n = words_run(c, k);
        if (told == WORDS_MOST) {
            odb_buf_printf(out, ", and %zu more piece%s", c->pieces.n - k,
                           odb_plural(c->pieces.n - k));
            return;
        }
        odb_buf_puts(out, k ? ", " : "");
        if (n > 1)
            words_put_run(c, k, n, out);
        else
            words_put_piece(&c->pieces.items[k], out);
        words_put_where(c, k, k + n - 1, out);
    }
}

static bool words_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

void odb_curve_put(const struct odb_curve *c, struct odb_buf *out)
{
    if (c->shape == ODB_CURVE_SEVERAL)
        odb_buf_printf(out, "y is not a function of x alone: %zu of %zu values of x have several y",
                       c->several, c->distinct);
    else if (c->shape == ODB_CURVE_JUMPS)
        odb_buf_puts(out,
                     "y jumps between neighbouring x: it may be no function of x alone, but no "
                     "value of x comes twice with another y");
    else
        odb_buf_puts(out, "y(x): ");
    words_put_pieces(c, out);
    for (size_t k = 0; k < c->odd.n && c->shape != ODB_CURVE_SEVERAL; k++) {
        const struct odb_curve_point *p = &c->odd.items[k];
        if (!words_same(p->y, p->r))
            odb_buf_printf(out, "; %.6g at x = %.6g, where the reference has %.6g", p->y, p->x,
                           p->r);
    }
    if (c->every > 1)
        odb_buf_printf(out, " (of every %zu. element)", c->every);
}
