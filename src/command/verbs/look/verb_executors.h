/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which executors can be used here, for code that shows it in another way.
 */
#ifndef ODB_COMMAND_VERBS_LOOK_VERB_EXECUTORS_H
#define ODB_COMMAND_VERBS_LOOK_VERB_EXECUTORS_H

struct odb_executor_ops;
struct odb_spec;

/* What is installed of an executor; why: the reason it cannot be had, "" when it can. */
struct odb_executor_state {
    char found[512], why[512];
};

/* With the library that the spec names, NULL: the usual one. May take a moment: libraries and
 * programs are looked for. */
void odb_executor_look(const struct odb_executor_ops *ops, const struct odb_spec *spec,
                       struct odb_executor_state *state);

#endif
