/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of strategies: a row of ODB_STRATEGY_LIST is a row here.
 */
#ifndef ODB_BISECT_STRATEGY_STRATEGIES_H
#define ODB_BISECT_STRATEGY_STRATEGIES_H

#include "bisect/findings.h"
#include "bisect/strategy/forecast.h"
#include "bisect/strategy/run.h"

/* What a strategy reads besides outputs and cuts. A strategy that reads every value can do so of a
 * recording, and begin before the plain run has ended. */
enum strategy_reads {
    STRATEGY_READS_NONE,
    STRATEGY_READS_BATCHES, /* as many values at once as fit into memory */
    STRATEGY_READS_ALL
};

struct strategy {
    const char *name, *help;
    enum strategy_reads reads;
    /* What it will have cost; batches: of values, where it reads them. */
    struct forecast (*forecast)(const struct search_case *c, const struct findings *f,
                                size_t batches);
    /* Searches, after a plain run that came to its end, and accuses whom it finds. */
    enum odb_status (*run)(const struct search_case *c, struct findings *f, struct odb_error *err);
};

const struct strategy *strategy_row(enum odb_strategy strategy);

#endif
