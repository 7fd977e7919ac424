/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/strategy.h"

#include <string.h>

#include "base/mem.h"

static const char *const strategy_names[] = {
#define STRATEGY_NAME(id, word, ...) [ODB_STRATEGY_##id] = #word,
    ODB_STRATEGY_LIST(STRATEGY_NAME)
#undef STRATEGY_NAME
};

const char *odb_strategy_name(enum odb_strategy strategy)
{
    return strategy_names[strategy];
}

bool odb_strategy_parse(enum odb_strategy *out, const char *word)
{
    for (size_t i = 0; i < ODB_COUNT(strategy_names); i++) {
        if (strcmp(strategy_names[i], word) != 0)
            continue;
        *out = (enum odb_strategy)i;
        return true;
    }
    return false;
}
