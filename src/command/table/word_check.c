/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether a word is what its row in the table takes: a number in a range, a size, a choice, a
 * tolerance.
 */
#include "command/table/word_check.h"

#include <stdlib.h>
#include <string.h>

#include "command/table/command.h"
#include "compare/criterion.h"
#include "executor/spec.h"

static bool call_choice(const char *choices, const char *value)
{
    size_t len = strlen(value);
    for (const char *p = choices; len && p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
        if (strcspn(p, "|") == len && !strncmp(p, value, len))
            return true;
    return false;
}

enum odb_status odb_call__check_word(enum odb_arg_type type, const char *range, const char *value,
                                     struct odb_error *err)
{
    struct odb_criterion criterion;
    char *end;
    if (type == ODB_ARG_INT) {
        long long v = strtoll(value, &end, 10), lo = strtoll(range, NULL, 10);
        long long hi = strtoll(strstr(range, "..") + 2, NULL, 10);
        if (*end || end == value || v < lo || v > hi)
            return odb_fail(err, ODB_E_USAGE, "'%.40s' is not a number in %s", value, range);
    } else if (type == ODB_ARG_SIZE) {
        size_t size;
        if (odb_spec_read_size(value, &size) && size)
            return ODB_OK;
        odb_fail(err, ODB_E_USAGE, "'%.40s' is no size", value);
        return odb_error_remedy(err, "write bytes, or 512M, or 4G");
    } else if (type == ODB_ARG_ENUM && !call_choice(range, value)) {
        odb_fail(err, ODB_E_USAGE, "there is no '%.40s'", value);
        return odb_error_remedy(err, "choose %s", range);
    } else if (type == ODB_ARG_TOLERANCE) {
        return odb_criterion_parse(&criterion, value, err);
    }
    return ODB_OK;
}

enum odb_status odb_call__check(const struct odb_option *row, const char *value,
                                struct odb_error *err)
{
    enum odb_status status = odb_call__check_word(row->type, row->range, value, err);
    if (status != ODB_OK)
        odb_error_at(err, "--%s", row->name);
    return status;
}
