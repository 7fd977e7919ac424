/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/verdict.h"

#include <string.h>

static const struct {
    const char *name, *help;
} verdict_table[] = {
#define VERDICT_ROW(name, text, help) [ODB_VERDICT_##name] = {text, help},
    ODB_VERDICT_LIST(VERDICT_ROW)
#undef VERDICT_ROW
};

const char *odb_verdict_name(enum odb_verdict verdict)
{
    return (unsigned)verdict < ODB_VERDICT_COUNT ? verdict_table[verdict].name : "?";
}

const char *odb_verdict_help(enum odb_verdict verdict)
{
    return (unsigned)verdict < ODB_VERDICT_COUNT ? verdict_table[verdict].help : "";
}

bool odb_verdict_parse(enum odb_verdict *out, const char *name)
{
    for (unsigned i = 0; i < ODB_VERDICT_COUNT; i++)
        if (!strcmp(name, verdict_table[i].name)) {
            *out = (enum odb_verdict)i;
            return true;
        }
    return false;
}

bool odb_verdict_misfits(enum odb_verdict verdict)
{
    return verdict == ODB_VERDICT_SHAPE || verdict == ODB_VERDICT_DTYPE;
}

bool odb_verdict_is_bad(enum odb_verdict verdict)
{
    return verdict >= ODB_VERDICT_FAIL && verdict <= ODB_VERDICT_REFUSED;
}
