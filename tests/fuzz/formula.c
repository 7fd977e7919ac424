/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A formula of a plan, parsed and computed.
 */
#include "fuzz.h"

#include "sequence/plan/formula.h"

static const struct odb_tensor *formula_find(void *payload, const char *name)
{
    const struct odb_tensor *const *pair = payload;
    return !strcmp(name, "x") ? pair[0] : !strcmp(name, "y") ? pair[1] : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct odb_tensor *pair[2];
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_formula *formula = NULL;
    struct odb_tensor *t = NULL;
    char *text = odb_xstrndup((const char *)data, size);
    fuzz_pair(pair);
    struct odb_formula_scope scope = {formula_find, pair, 3, 1, 6, 7};
    if (odb_formula_parse(&formula, text, &err) == ODB_OK &&
        odb_formula_value(&t, formula, &scope, &err) == ODB_OK && t->count > (size_t)1 << 28)
        abort();
    odb_tensor_unref(t);
    odb_formula_free(formula);
    free(text);
    return 0;
}
