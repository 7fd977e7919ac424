/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What runs each strategy, declared from the list of them.
 */
#ifndef ODB_BISECT_STRATEGY_RUN_H
#define ODB_BISECT_STRATEGY_RUN_H

#include "bisect/findings.h"
#include "bisect/strategy.h"

/* strategy_auto() and its kin search, after a plain run that came to its end, and accuse what they
 * find. */
#define STRATEGY_RUN(id, word, ...)                                                                \
    enum odb_status strategy_##word(const struct search_case *c, struct findings *f,               \
                                    struct odb_error *err) ODB_MUST_USE;
ODB_STRATEGY_LIST(STRATEGY_RUN)
#undef STRATEGY_RUN

#endif
