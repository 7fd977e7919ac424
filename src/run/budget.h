/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How long a command may take, how much it may ask, and how much memory it may hold.
 */
#ifndef ODB_RUN_BUDGET_H
#define ODB_RUN_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a command may take, for all the searches that it makes together. Between questions to the
 * target, in the thread that asks them. */
struct odb_budget {
    double deadline; /* of odb_clock(); 0: none */
    size_t probes;   /* questions at most; 0: any number */
    size_t asked;    /* so far */
    size_t compiles; /* distinct models for the target at most; 0: any number */
    size_t compiled; /* so far */
    bool refused;    /* a question was not put for that */
    bool lifted;     /* it is spent, and what is left to do is to be done all the same */
    uint64_t memory; /* bytes that the debugger and its target may hold together; 0: what the
                        machine has free. Never spent: memory_budget.h shares it */
};
/* NULL: there is none. */
bool odb_budget_spent(const struct odb_budget *budget);

#endif
