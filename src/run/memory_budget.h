/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How the memory that a command may take is shared out. The debugger and its target hold at the
 * same time: a piece of the model with its weights, often twice (mapped, and packed for the
 * target's kernels), what is read from the target in one run, the reference's values, and what one
 * operator computes with.
 */
#ifndef ODB_RUN_MEMORY_BUDGET_H
#define ODB_RUN_MEMORY_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct odb_budget;

struct odb_memory_budget {
    bool capped; /* the user has said how much there is; else it is what the machine has free */
    uint64_t weights; /* of what the target loads at once; and of what the reference looked at last,
                         where capped */
    uint64_t values;  /* that are read in one run: the target holds them, and so do we */
    uint64_t kept;    /* values that stay in memory; more go to disk */
    uint64_t aside;   /* likewise of those beside the reference's, which are looked at a few times:
                         golden's, which are twice as large, and a target's */
    uint64_t steps;   /* of a sequence, beside these: what they are fed and give, in memory */
    uint64_t replayed; /* operands and results of a node that is replayed in many variants, which
                          hold them several times over, and in double */
};

/* budget may be NULL. */
struct odb_memory_budget odb_memory_budget(const struct odb_budget *budget);

#endif
