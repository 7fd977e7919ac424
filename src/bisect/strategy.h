/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The ways to search: name, word and help of each.
 */
#ifndef ODB_BISECT_STRATEGY_H
#define ODB_BISECT_STRATEGY_H

#include <stdbool.h>

/* name, word, help, what it reads, its forecast; strategy_WORD() runs it: strategy/run.h */
#define ODB_STRATEGY_LIST(X)                                                                       \
    X(AUTO, auto,                                                                                  \
      "blame first; suffixes where probing changes the answer, prefixes where it "                 \
      "cannot be had",                                                                             \
      BATCHES, reads)                                                                              \
    X(BLAME, blame, "one run with every value probed, each operator replayed on its inputs", ALL,  \
      reads)                                                                                       \
    X(PROBED, probed, "the same in batches of values that fit into memory", BATCHES, reads)        \
    X(PREFIX, prefix, "bisect over prefixes that have only the cut as outputs", NONE, cuts)        \
    X(SUFFIX, suffix, "bisect over what follows a cut, fed with the reference's values there",     \
      NONE, cuts)                                                                                  \
    X(TAPS, taps,                                                                                  \
      "run the whole model with as many values read as the target gives, which "                   \
      "narrow down what is wrong",                                                                 \
      NONE, taps)                                                                                  \
    X(LINEAR, linear, "prefixes in order, every STEP nodes, then each node in between", NONE,      \
      steps)                                                                                       \
    X(ISOLATED, isolated, "every node alone on the target, fed with the reference's values", NONE, \
      alone)                                                                                       \
    X(EACH, each, "one submodel per node, in order: what scripts do", NONE, nodes)                 \
    X(PLAIN, plain, "no search: is an output of the model as it is off?", NONE, nothing)

#define ODB_STRATEGY_CHOICE(name, word, ...) "|" #word
#define ODB_STRATEGIES (ODB_STRATEGY_LIST(ODB_STRATEGY_CHOICE) + 1)

enum odb_strategy {
#define ODB_STRATEGY_ENUM(name, ...) ODB_STRATEGY_##name,
    ODB_STRATEGY_LIST(ODB_STRATEGY_ENUM)
#undef ODB_STRATEGY_ENUM
};

/* Its word: static. */
const char *odb_strategy_name(enum odb_strategy strategy);
/* The strategy of a word; false: no strategy has it, and *out stays. */
bool odb_strategy_parse(enum odb_strategy *out, const char *word);

#endif
