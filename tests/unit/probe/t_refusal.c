/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which refusals say something of the model.
 */
#include "probe/refusal.h"

#include "base/buf.h"
#include "tests/help/models.h"

static bool may_be_fault(enum odb_status status, const char *what)
{
    struct odb_error err = ODB_ERROR_INIT;
    odb_fail(&err, status, "%s", what);
    return odb_refusal_may_be_fault(status, &err);
}

static void test_refusal__of_the_model(void **state)
{
    (void)state;
    assert_true(may_be_fault(ODB_E_EXECUTOR, "GEMM: Dimension mismatch, W: {16,12} K: 6"));
    assert_true(may_be_fault(ODB_UNSUPPORTED, "Could not find an implementation for Fused(1)"));
}

static void test_refusal__of_the_place(void **state)
{
    (void)state;
    assert_false(may_be_fault(ODB_E_NOMEM, "no"));
    assert_false(may_be_fault(ODB_E_EXECUTOR, "CUDA error: out of memory"));
    assert_false(may_be_fault(ODB_E_EXECUTOR, "Failed to load shared library x.so"));
    assert_false(may_be_fault(ODB_E_EXECUTOR, "write: No space left on device"));
}

static void test_refusal__is_none(void **state)
{
    (void)state;
    assert_false(may_be_fault(ODB_OK, ""));
    assert_false(may_be_fault(ODB_E_CRASH, "the executor was killed by SIGSEGV while loading"));
    assert_false(may_be_fault(ODB_E_USAGE, "'ort' has no option 'x'"));
    assert_false(may_be_fault(ODB_CANCELLED, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusal__of_the_model),
        cmocka_unit_test(test_refusal__of_the_place),
        cmocka_unit_test(test_refusal__is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
