/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/strategy.h"

const char *odb_strategy_name(enum odb_strategy strategy)
{
    static const char *const names[] = {
#define STRATEGY_NAME(id, text, ...) [ODB_STRATEGY_##id] = text,
        ODB_STRATEGY_LIST(STRATEGY_NAME)
#undef STRATEGY_NAME
    };
    return names[strategy];
}
