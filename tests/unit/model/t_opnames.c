/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/opnames.h"

static size_t opnames_of(struct odb_opnames *names, char *domain, char *op_type)
{
    struct odb_node node = {.domain = domain, .op_type = op_type};
    return odb_opnames_number(names, &node);
}

static void test_opnames__number(void **state)
{
    struct odb_opnames names = {.numbers = NULL};
    (void)state;
    assert_int_equal(opnames_of(&names, "", "Conv"), 0);
    assert_int_equal(opnames_of(&names, "", "Relu"), 1);
    assert_int_equal(opnames_of(&names, "com.microsoft", "Conv"), 2);
    assert_int_equal(opnames_of(&names, "", "Conv"), 0);
    assert_int_equal(opnames_of(&names, "", "conv"), 3);
    /* Where domain and name meet makes a difference. */
    assert_int_equal(opnames_of(&names, "a", "bc"), 4);
    assert_int_equal(opnames_of(&names, "ab", "c"), 5);
    assert_int_equal(opnames_of(&names, "com.microsoft", "Conv"), 2);
    assert_int_equal(names.items.n, 6);
    assert_string_equal(names.items.items[2].domain, "com.microsoft");
    assert_string_equal(names.items.items[3].op_type, "conv");
    odb_opnames_dispose(&names);
    assert_int_equal(names.items.n, 0);
}

static void test_opnames__put(void **state)
{
    struct odb_buf out = ODB_BUF_INIT;
    (void)state;
    odb_opname_put(&(struct odb_opname){"", "Conv"}, &out);
    odb_opname_put(&(struct odb_opname){" com.microsoft", "Gelu"}, &out);
    assert_string_equal(odb_buf_text(&out), "Conv com.microsoft::Gelu");
    odb_buf_dispose(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opnames__number),
        cmocka_unit_test(test_opnames__put),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
