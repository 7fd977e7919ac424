/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which columns the list of nodes has.
 */
#include "tests/help/models.h"

#include "ui/list/node_columns.h"

static const struct ui_names columns_names = {.width = 20, .whole = 28, .op = 18};

static struct ui_node_columns columns_of(int cols, const struct ui_columns *wanted)
{
    static const struct ui_columns none = {.n = 0};
    const struct ui_node_widths widths = {
        .cols = cols, .index = 54, .names = &columns_names, .enough = 20, .type = 17};
    return ui_node_columns(&widths, wanted ? wanted : &none);
}

/* None begins before the one to its left ends, and all end where the row does. */
static void columns_hold(const struct ui_node_columns *c, int cols)
{
    int end = c->index + 4;
    for (int i = 0; i < c->shown.n; i++) {
        enum ui_column k = c->shown.list[i];
        assert_true(c->at[k] >= end);
        assert_true(c->width[k] > 0);
        end = c->at[k] + c->width[k];
    }
    assert_true(end <= cols);
}

static void test_node_columns__fit(void **state)
{
    for (int cols = 78; cols <= 200; cols++) {
        struct ui_node_columns c = columns_of(cols, NULL);
        columns_hold(&c, cols);
        assert_true(c.width[UI_COLUMN_ERROR] == 8 && c.width[UI_COLUMN_NAME] >= 16);
        assert_true(c.width[UI_COLUMN_NOISE] == 0 && c.width[UI_COLUMN_SECONDS] == 0);
        if (c.width[UI_COLUMN_LOCAL]) /* names have their room first */
            assert_true(c.width[UI_COLUMN_NAME] + c.width[UI_COLUMN_OUT] >= columns_names.whole);
    }
    struct ui_node_columns narrow = columns_of(78, NULL), wide = columns_of(120, NULL);
    assert_int_equal(narrow.width[UI_COLUMN_LOCAL], 0);
    assert_int_equal(wide.width[UI_COLUMN_LOCAL], 8);
    assert_int_equal(wide.folded, wide.width[UI_COLUMN_NAME] + 1 + wide.width[UI_COLUMN_TYPE]);
}

/* Short names take nothing from the bar, whose title stands there too. */
static void test_node_columns__short_names(void **state)
{
    const struct ui_names names = {.width = 13, .whole = 13, .op = 9};
    const struct ui_columns none = {.n = 0};
    const struct ui_node_widths widths = {
        .cols = 78, .index = 238, .names = &names, .enough = 16, .type = 19};
    struct ui_node_columns c = ui_node_columns(&widths, &none);
    columns_hold(&c, 78);
    assert_int_equal(c.width[UI_COLUMN_NAME], 13);
    assert_int_equal(c.width[UI_COLUMN_LOCAL], 8);
    assert_int_equal(c.width[UI_COLUMN_BAR], 10);
}

/* As they were asked for: a text has a blank before it, also behind numbers. */
static void test_node_columns__order(void **state)
{
    const struct ui_columns wanted = {.list = {UI_COLUMN_GAIN, UI_COLUMN_SECONDS, UI_COLUMN_TYPE,
                                               UI_COLUMN_NAME, UI_COLUMN_BAR, UI_COLUMN_ERROR},
                                      .n = 6};
    struct ui_node_columns c = columns_of(100, &wanted);
    columns_hold(&c, 100);
    assert_int_equal(c.shown.n, wanted.n);
    for (int i = 0; i < wanted.n; i++)
        assert_int_equal(c.shown.list[i], wanted.list[i]);
    assert_int_equal(c.at[UI_COLUMN_GAIN], 3 + 4);
    assert_int_equal(c.at[UI_COLUMN_TYPE], c.at[UI_COLUMN_SECONDS] + 9 + 1);
    assert_int_equal(c.width[UI_COLUMN_OP], 0);
    assert_int_equal(c.at[UI_COLUMN_ERROR] + c.width[UI_COLUMN_ERROR],
                     100); /* names take the rest */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_node_columns__fit),
        cmocka_unit_test(test_node_columns__short_names),
        cmocka_unit_test(test_node_columns__order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
