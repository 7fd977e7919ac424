/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Settings are checked before they are kept.
 */
#include "command/call/executor_alias.h"

#include <stdlib.h>

#include "command/call/console.h"
#include "command/table/command.h"
#include "command/table/word_check.h"
#include "executor/likely.h"
#include "executor/executor.h"

enum odb_status odb_call__check_setting(const struct odb_console *console,
                                        const struct odb_option *row, const char *value,
                                        struct odb_error *err)
{
    struct odb_spec *spec;
    if (row->type != ODB_ARG_SPEC)
        return odb_call__check(row, value, err);
    char *named = odb_executor_named(console, value);
    enum odb_status status = odb_spec_parse(&spec, named ? named : value, err);
    free(named);
    if (status != ODB_OK)
        return status;
    if (!odb_executor_find(spec->kind)) {
        status = odb_fail(err, ODB_E_USAGE, "there is no executor '%.40s'", spec->kind);
        status = odb_executor_likely(err, spec->kind, "the command `executors` lists them");
    }
    odb_spec_free(spec);
    return status;
}
