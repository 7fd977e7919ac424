/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Formulas of a plan, computed with a few tensors.
 */
#include "fuzz.h"

#include "sequence/plan/formula.h"

struct formula_names {
    const struct odb_formula *formula;
    struct odb_tensor *tensors[4];
};

/* Whatever is asked for is in the list of names. */
static const struct odb_tensor *formula_find(void *payload, const char *name)
{
    static const char *const known[] = {"x", "h", "ids", "e/0"};
    const struct formula_names *names = payload;
    size_t listed = 0;
    while (odb_formula_name(names->formula, listed) &&
           strcmp(odb_formula_name(names->formula, listed), name) != 0)
        listed++;
    if (!odb_formula_name(names->formula, listed))
        abort();
    for (size_t i = 0; i < ODB_COUNT(known); i++)
        if (!strcmp(known[i], name))
            return names->tensors[i];
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        enum odb_dtype dtype;
        int rank;
        int64_t dims[3];
    } made[] = {
        {ODB_F32, 3, {2, 3, 4}}, {ODB_F16, 2, {1, 3}}, {ODB_I64, 1, {4}}, {ODB_BOOL, 2, {2, 0}}};
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_formula *formula = NULL;
    struct odb_tensor *t = NULL;
    struct formula_names names = {0};
    char *text = fuzz_text(data, size);
    for (size_t i = 0; i < ODB_COUNT(made); i++)
        if (odb_tensor_new(&names.tensors[i], made[i].dtype, made[i].rank, made[i].dims, &err) !=
            ODB_OK)
            abort();
    struct odb_formula_scope scope = {formula_find, &names, 3, 1, 6, 7, .most = 1 << 16};
    if (odb_formula_parse(&formula, text, &err) == ODB_OK) {
        names.formula = formula;
        if (odb_formula_value(&t, formula, &scope, &err) == ODB_OK)
            fuzz_look_take(t);
        else if (t || !strstr(err.what, "character"))
            abort();
    }
    for (size_t i = 0; i < ODB_COUNT(made); i++)
        odb_tensor_unref(names.tensors[i]);
    odb_formula_free(formula);
    free(text);
    return 0;
}
