/* SPDX-License-Identifier: MIT */
#include "kernels/core/facts.h"

#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/core/kern.h"

const struct odb_facts *odb_facts_of(const char *domain, const char *name)
{
    static const struct odb_facts nothing = {.in = NULL};
    static const char *const domains[] = {"", "ai.onnx.ml", "com.microsoft"};
    size_t n = 0;
    const struct odb_op *const *rows = domain ? odb_op_rows(domain, name, &n) : NULL;
    for (size_t i = 0; !domain && !rows && i < ODB_COUNT(domains); i++)
        rows = odb_op_rows(domains[i], name, &n);
    return rows ? &rows[0]->facts : &nothing;
}

const struct odb_facts *odb_facts_at(const char *domain, const char *name, int version, int *since)
{
    const struct odb_facts *found = NULL;
    size_t n;
    const struct odb_op *const *rows = odb_op_rows(domain, name, &n);
    for (size_t i = 0; i < n && rows[i]->since <= (version ? version : INT_MAX); i++) {
        found = &rows[i]->facts;
        *since = rows[i]->since;
    }
    return found;
}

const char *odb_facts_names(const char *domain, const char *name, int version, bool inputs)
{
    const char *found = NULL;
    size_t n;
    const struct odb_op *const *rows = odb_op_rows(domain, name, &n);
    for (size_t i = 0; i < n && rows[i]->since <= (version ? version : INT_MAX); i++)
        if (rows[i]->facts.in)
            found = inputs ? rows[i]->facts.in : rows[i]->facts.out;
    return found;
}

const struct odb_halves *odb_facts_halves(const char *domain, const char *name, int version)
{
    const struct odb_halves *found = NULL;
    size_t n;
    const struct odb_op *const *rows = odb_op_rows(domain, name, &n);
    for (size_t i = 0; i < n; i++)
        if (rows[i]->facts.halves.f16 && rows[i]->facts.halves.f16 <= version)
            found = &rows[i]->facts.halves;
    return found;
}

const char *odb_facts_without(const char *domain, const char *name)
{
    if (strcmp(domain, "ai.onnx.contrib") == 0 || strcmp(domain, "com.microsoft.extensions") == 0)
        return "it is of ONNX Runtime's extensions, as tokenizers are, and reads files of its own";
    return odb_facts_of(domain, name)->without;
}
