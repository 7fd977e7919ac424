/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a search will have cost when it has gone one way, as the plain run and what was spent so
 * far let one think.
 */
#ifndef ODB_BISECT_STRATEGY_FORECAST_H
#define ODB_BISECT_STRATEGY_FORECAST_H

#include "bisect/findings.h"

struct forecast {
    size_t loads;
    double seconds;
};

/* Every value is read, in so many batches, and each operator replayed. */
struct forecast forecast_reads(const struct search_case *c, const struct findings *f,
                               size_t batches);
/* Parts of the model are run to find one among all its nodes; batches: of no matter, as below. */
struct forecast forecast_cuts(const struct search_case *c, const struct findings *f,
                              size_t batches);
/* Values are read a few at a time, to find one among all nodes. */
struct forecast forecast_taps(const struct search_case *c, const struct findings *f,
                              size_t batches);
/* The same in order, some nodes apart. */
struct forecast forecast_steps(const struct search_case *c, const struct findings *f,
                               size_t batches);
/* The parts that end in each node. */
struct forecast forecast_nodes(const struct search_case *c, const struct findings *f,
                               size_t batches);
/* Each node alone. */
struct forecast forecast_alone(const struct search_case *c, const struct findings *f,
                               size_t batches);

struct forecast forecast_nothing(const struct search_case *c, const struct findings *f,
                                 size_t batches);

/* A step that costs nothing: the search goes on by this strategy (a name, static), and why. Writes
 * the forecast to the report, and reports it to the hooks. */
void forecast_turn(struct findings *f, const char *strategy, struct forecast forecast,
                   const char *why, ...) ODB_PRINTF(4, 5);

#endif
