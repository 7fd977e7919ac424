/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "suspects/odds.h"

#include <stddef.h>

double odds_of(double missed, double next)
{
    return missed < 1e-2 && next > 10 * missed ? 0.9 : 0.5;
}
