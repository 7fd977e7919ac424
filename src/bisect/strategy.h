/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The ways to search: name, word and help of each.
 */
#ifndef ODB_BISECT_STRATEGY_H
#define ODB_BISECT_STRATEGY_H

#define ODB_STRATEGY_LIST(X)                                                                       \
    X(AUTO, "auto",                                                                                \
      "blame first; suffixes where probing changes the answer, prefixes where it "                 \
      "cannot be had")                                                                             \
    X(BLAME, "blame", "one run with every value probed, each operator replayed on its inputs")     \
    X(PROBED, "probed", "the same in batches of values that fit into memory")                      \
    X(PREFIX, "prefix", "bisect over prefixes that have only the cut as outputs")                  \
    X(SUFFIX, "suffix", "bisect over what follows a cut, fed with the reference's values there")   \
    X(LINEAR, "linear", "prefixes in order, every STEP nodes, then each node in between")          \
    X(ISOLATED, "isolated", "every node alone on the target, fed with the reference's values")     \
    X(EACH, "each", "one submodel per node, in order: what scripts do")

#define ODB_STRATEGY_CHOICE(name, text, help) "|" text
#define ODB_STRATEGIES (ODB_STRATEGY_LIST(ODB_STRATEGY_CHOICE) + 1)

enum odb_strategy {
#define ODB_STRATEGY_ENUM(name, text, help) ODB_STRATEGY_##name,
    ODB_STRATEGY_LIST(ODB_STRATEGY_ENUM)
#undef ODB_STRATEGY_ENUM
};

#endif
