/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/memory_budget.h"

#include "base/mem.h"
#include "run/budget.h"

/* A share of what is allowed, or free: see odb_memory_budget's replayed. Explaining a Tanh was
 * seen to add four times its values to the thirteen times that the search takes. */
#define MEMORY_REPLAYED 64
/* So much is not worth a file. */
#define MEMORY_ASIDE ((uint64_t)4 << 20)

/* Together: a piece, mapped and packed, is two eighths; what is read of it, there and here, two;
 * what is kept one; the rest is for an operator, its weights in float64, and what is not
 * counted. */
struct odb_memory_budget odb_memory_budget(const struct odb_budget *budget)
{
    if (budget && budget->memory)
        return (struct odb_memory_budget){.capped = true,
                                          .weights = budget->memory / 8,
                                          .values = budget->memory / 8,
                                          .kept = budget->memory / 8,
                                          .aside = ODB_MIN(budget->memory / 16, MEMORY_ASIDE),
                                          .steps = budget->memory / 16,
                                          .replayed = budget->memory / MEMORY_REPLAYED};
    uint64_t half = odb_mem_spare();
    return (struct odb_memory_budget){.weights = half,
                                      .values = half / 2,
                                      .kept = half,
                                      .aside = MEMORY_ASIDE,
                                      .steps = half / 2,
                                      .replayed = half / (MEMORY_REPLAYED / 2)};
}
