/* SPDX-License-Identifier: MIT
 *
 * Comparisons: bool z = x < y and its like, with the broadcasting rules of binary.c. NaN is neither
 * less, greater nor equal. Only Equal knows bools and strings.
 */
#include <string.h>

#include "kernels/elementwise/elementwise.h"

#define COMPARE(name, op)                                                                          \
    ODB_EW_FLOATS(ODB_EW_LOOP2_BOOL, name, a op b)                                                 \
    ODB_EW_INTS(ODB_EW_LOOP2_BOOL, name, a op b)                                                   \
    static const odb_ew_loop ew_##name[ODB_DTYPE_COUNT] = {ODB_EW_FLOATS(ODB_EW_SLOT, name)        \
                                                               ODB_EW_INTS(ODB_EW_SLOT, name)};    \
    static enum odb_status compare_##name(struct odb_kern *k)                                      \
    {                                                                                              \
        return odb_ew_run2(k, ew_##name);                                                          \
    }
COMPARE(less, <)
COMPARE(greater, >)
COMPARE(less_or_equal, <=)
COMPARE(greater_or_equal, >=)

ODB_EW_FLOATS(ODB_EW_LOOP2_BOOL, equal, a == b)
ODB_EW_INTS(ODB_EW_LOOP2_BOOL, equal, a == b)
ODB_EW_BOOLS(ODB_EW_LOOP2_BOOL, equal, (a != 0) == (b != 0))

static void ew_equal_STRING(size_t n, const void *const *in, const int *step, void *out,
                            const void *arg)
{
    const struct odb_str *x = in[0], *y = in[1];
    odb_u8 *z = out;
    (void)arg;
    for (size_t i = 0; i < n; i++, x += step[0], y += step[1])
        z[i] = x->len == y->len && (x->len == 0 || memcmp(x->data, y->data, x->len) == 0);
}

static const odb_ew_loop ew_equal[ODB_DTYPE_COUNT] = {
    ODB_EW_FLOATS(ODB_EW_SLOT, equal) ODB_EW_INTS(ODB_EW_SLOT, equal)
        ODB_EW_BOOLS(ODB_EW_SLOT, equal)[ODB_STRING] = ew_equal_STRING};

static enum odb_status compare_equal(struct odb_kern *k)
{
    return odb_ew_run2(k, ew_equal);
}

/* --- the table -------------------------------------------------------------------------------- */

#define COMPARE_ROW(name, first, mask, run, ...)                                                   \
    ODB_EW_ROW(name, first, 2, mask, ODB_OP_EXACT | ODB_OP_REAL | ODB_OP_BOUNDARY,                 \
               odb_ew_infer2_bool, run, __VA_ARGS__)

const struct odb_op odb_ops_compare[] = {
    COMPARE_ROW("Equal", 1, ODB_T_NUMBER | ODB_T_BOOL, compare_equal, .attrs = odb_ew_legacy_attrs,
                ODB_NAMES("A,B", "C"), ODB_HALVES(11, 13), ODB_TRAITS(ODB_IS_COMMUTATIVE)),
    COMPARE_ROW("Equal", 7, ODB_T_NUMBER | ODB_T_BOOL | ODB_T_STRING, compare_equal),
    COMPARE_ROW("Less", 1, ODB_T_NUMBER, compare_less, .attrs = odb_ew_legacy_attrs,
                ODB_NAMES("A,B", "C"), ODB_HALVES(1, 13)),
    COMPARE_ROW("Less", 7, ODB_T_NUMBER, compare_less),
    COMPARE_ROW("Greater", 1, ODB_T_NUMBER, compare_greater, .attrs = odb_ew_legacy_attrs,
                ODB_NAMES("A,B", "C"), ODB_HALVES(1, 13)),
    COMPARE_ROW("Greater", 7, ODB_T_NUMBER, compare_greater),
    COMPARE_ROW("LessOrEqual", 12, ODB_T_NUMBER, compare_less_or_equal, ODB_NAMES("A,B", "C"),
                ODB_HALVES(12, 16)),
    COMPARE_ROW("GreaterOrEqual", 12, ODB_T_NUMBER, compare_greater_or_equal, ODB_NAMES("A,B", "C"),
                ODB_HALVES(12, 16)),
    {.name = NULL},
};
