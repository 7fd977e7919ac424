/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mem.h"
#include "ui/list/sorted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* Each before the next, and neither before itself. */
static const char *const sorted_texts[] = {
    "-2", "0", "9", "10 once", "2.5e+3", "#9 conv", "#10 Conv", "Add", "conv2", "Conv10", "conv10b",
};

static void test_sorted__counts_as_people_do(void **state)
{
    for (size_t i = 0; i < ODB_COUNT(sorted_texts); i++)
        assert_int_equal(ui_sorted_compare(sorted_texts[i], sorted_texts[i], false), 0);
    for (size_t i = 0; i + 1 < 5; i++)
        assert_true(ui_sorted_compare(sorted_texts[i], sorted_texts[i + 1], false) < 0);
    for (size_t i = 5; i + 1 < ODB_COUNT(sorted_texts); i++) {
        assert_true(ui_sorted_compare(sorted_texts[i], sorted_texts[i + 1], false) < 0);
        assert_true(ui_sorted_compare(sorted_texts[i + 1], sorted_texts[i], false) > 0);
        assert_true(ui_sorted_compare(sorted_texts[i], sorted_texts[i + 1], true) > 0);
    }
}

static void test_sorted__what_is_not_there_is_last(void **state)
{
    for (int descending = 0; descending < 2; descending++) {
        assert_true(ui_sorted_compare(NULL, "a", descending) > 0);
        assert_true(ui_sorted_compare("0", "", descending) < 0);
        assert_int_equal(ui_sorted_compare("", NULL, descending), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sorted__counts_as_people_do),
        cmocka_unit_test(test_sorted__what_is_not_there_is_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
