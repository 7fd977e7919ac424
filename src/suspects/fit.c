/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How much of the differences a response explains: 1 - |off - response|^2 / |off|^2, over all
 * samples together. Where the target has NaN or Inf that golden has not, their places count alone,
 * for what is finite beside them says little.
 */
#include <math.h>

#include "base/mem.h"
#include "suspects/suspects_int.h"

void suspects_clear(struct candidate *c)
{
    c->cross = c->square = c->missed = c->had = 0;
    c->explained = 0;
    c->least = 1;
}

/* Places of what is not finite: those of both over those of either. NaN in all of a value spreads
 * farther than NaN in a part of it: of the family, only that it reaches them is asked. */
static void fit_pattern(struct candidate *c, const struct observed *o, const double *response)
{
    size_t both = 0, either = 0;
    for (size_t i = 0; i < o->n; i++) {
        bool is = !isfinite(o->off[i]), would = !isfinite(response[i]);
        both += is && would;
        either += is || (would && c->family != DEVIATION_OF_NAN);
    }
    if (!either)
        return;
    double part = (double)both / (double)either;
    c->had += 1;
    c->missed += 1 - part;
    c->explained = 1 - c->missed / c->had;
    c->least = fmin(c->least, part);
}

static void fit_sums(const struct observed *o, const double *response, double *cross,
                     double *square, double *energy)
{
    *cross = *square = *energy = 0;
    for (size_t i = 0; i < o->n; i++) {
        double off = isfinite(o->off[i]) ? o->off[i] : 0;
        double r = isfinite(response[i]) ? response[i] : isfinite(o->off[i]) ? 1e6 : 0;
        *cross += off * r;
        *square += r * r;
        *energy += off * off;
    }
}

void suspects_add(const struct suspects *s, struct candidate *c, const struct observed *o,
                  const double *response, bool linear)
{
    double cross, square, energy;
    if (s->result->pattern) {
        fit_pattern(c, o, response);
        return;
    }
    fit_sums(o, response, &cross, &square, &energy);
    double missed = o->weight * (energy - 2 * cross + square);
    c->cross += o->weight * cross;
    c->square += o->weight * square;
    c->had += o->weight * energy;
    c->missed += missed;
    if (linear) {
        c->amount = c->square > 0 ? c->cross / c->square : 0;
        c->missed = c->had - c->cross * c->amount;
    } else if (o->differs && energy > 0) {
        c->least = fmin(c->least, 1 - missed / (o->weight * energy));
    }
    c->explained = c->had > 0 ? 1 - c->missed / c->had : 0;
}
