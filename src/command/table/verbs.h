/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The functions of the table's rows, each in the file verb_NAME.c of its command; minimise_task is
 * what minimise is with a metric.
 */
#ifndef ODB_COMMAND_TABLE_VERBS_H
#define ODB_COMMAND_TABLE_VERBS_H

#include "base/error.h"

struct odb_command_call;

/* clang-format off */
#define ODB_COMMAND_LIST(X)                                                                        \
    X(bisect) X(cache) X(calibrate) X(check) X(compare) X(completion) X(debug) X(deploy)           \
    X(doctor) X(dump) X(executors) X(explain) X(export) X(extract) X(fleet) X(graph) X(groups)     \
    X(help) X(info) X(lint) X(manual) X(minimise) X(minimise_task) X(node) X(nodes) X(operators)   \
    X(precision) X(print) X(report) X(run) X(score) X(screen) X(sensitivity) X(sequence)           \
    X(sessions) X(suspects) X(target) X(tensor) X(tour) X(verify)
/* clang-format on */
#define ODB_COMMAND_DECLARE(name)                                                                  \
    enum odb_status odb_command__##name(struct odb_command_call *call, struct odb_error *err);
ODB_COMMAND_LIST(ODB_COMMAND_DECLARE)
#define ODB_VERB(name, ...) ODB_COMMAND_DECLARE(name)
#include "command/table/verbs.def"
#undef ODB_VERB
#undef ODB_COMMAND_DECLARE

#endif
