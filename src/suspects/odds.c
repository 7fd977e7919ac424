/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "suspects/odds.h"

#include <math.h>

#include "base/mem.h"

/* Of so many faults whose best missed at most this, and more than the row before says, and the next
 * at least so many times that: how many had the culprit among those that explain most. Planted ones
 * and edits of nodes together, as tests/suspects/planted.py and edited.py print them with --table.
 */
static const struct {
    double missed, times;
    int planted, held;
} odds_rows[] = {
    {1e-5, 100, 157, 157}, {1e-5, 10, 4, 4},    {1e-5, 3, 2, 2},   {0.001, 100, 21, 21},
    {0.001, 10, 1, 1},     {0.01, 100, 11, 10}, {0.01, 10, 4, 3},  {0.01, 3, 4, 2},
    {0.05, 10, 11, 9},     {0.05, 3, 13, 11},   {0.2, 10, 20, 15}, {0.2, 3, 36, 27},
    {0.2, 0, 3, 3},
};

/* Laplace's rule of succession: what was never seen is as likely as not. Fewer samples never make
 * anything likelier. */
double odds_of(double missed, double next, size_t samples)
{
    double times = missed > 0 ? next / missed : 0;
    double share = fmin((double)samples / ODDS_SAMPLES, 1);
    for (size_t i = 0; i < ODB_COUNT(odds_rows); i++)
        if (missed <= odds_rows[i].missed && times >= odds_rows[i].times)
            return fmin((share * odds_rows[i].held + 1) / (share * odds_rows[i].planted + 2),
                        (odds_rows[i].held + 1.0) / (odds_rows[i].planted + 2.0));
    return NAN;
}
