/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/budget.h"

#include "base/clock.h"

bool odb_budget_spent(const struct odb_budget *budget)
{
    return budget && ((budget->deadline > 0 && odb_clock() >= budget->deadline) ||
                      (budget->probes && budget->asked >= budget->probes) || budget->refused);
}
