/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/help/dag_help.h"

static void columns(struct ui_dag *dag)
{
    dag->plan = ui_dag__plan(dag);
    ui_dag__order(dag, dag->plan);
    ui_dag__columns(dag, dag->plan);
}

static void test_dag_columns__things_with_room_stand_where_they_want(void **state)
{
    const double wanted[] = {5, 20, 40};
    const int widths[] = {3, 5, 1};
    int cols[3];
    ui_dag__spread(3, wanted, widths, 2, 60, cols);
    assert_int_equal(cols[0], 4);
    assert_int_equal(cols[1], 18);
    assert_int_equal(cols[2], 40);
}

/* Those that want one place share it out, the middle of them where they all want to be. */
static void test_dag_columns__a_crowd_is_spread_around_its_place(void **state)
{
    const double wanted[] = {30, 30, 30};
    const int widths[] = {5, 5, 5};
    int cols[3];
    ui_dag__spread(3, wanted, widths, 2, 60, cols);
    assert_int_equal(cols[1] - cols[0], 7);
    assert_int_equal(cols[2] - cols[1], 7);
    assert_int_equal(cols[1], 28);
}

static void test_dag_columns__nothing_leaves_the_picture(void **state)
{
    for (int end = 21; end < 40; end++)
        for (int at = -10; at < 50; at++) {
            const double wanted[] = {at, at + 1, at - 1};
            const int widths[] = {5, 7, 5};
            int cols[3];
            ui_dag__spread(3, wanted, widths, 2, end, cols);
            assert_true(cols[0] >= 0 && cols[2] + widths[2] <= end);
            for (int i = 1; i < 3; i++)
                assert_true(cols[i] >= cols[i - 1] + widths[i - 1] + 2);
        }
}

static void test_dag_columns__a_chain_stands_in_the_middle(void **state)
{
    struct ui_dag dag;
    DAG_BEGIN(&dag, 81, 0, 1, 2, -1);
    dag_edge(&dag, 3, 0, 1);
    dag_edge(&dag, 0, 1, 2);
    dag_edge(&dag, 1, 2, 3);
    columns(&dag);
    for (int l = 0; l < 4; l++)
        assert_int_equal((int)ui_dag__middle(dag_slot_at(&dag, l, 0)), 40);
    ui_dag_dispose(&dag);
}

/* Texts that need more have it where nothing stands beside them. */
static void test_dag_columns__boxes_are_as_wide_as_their_texts(void **state)
{
    static const int widths[][2] = {{0, 33}, {20, 33}, {50, 49}, {90, 79}};
    for (size_t i = 0; i < ODB_COUNT(widths); i++) {
        struct ui_dag dag;
        DAG_BEGIN(&dag, 80, 0, 1, 1);
        dag.widest = widths[i][0];
        dag_edge(&dag, 0, 1, 1);
        dag_edge(&dag, 0, 2, 2);
        columns(&dag);
        assert_int_equal(dag_slot_at(&dag, 0, 0)->cols, widths[i][1]);
        assert_int_equal(dag_slot_at(&dag, 1, 0)->cols, ODB_MIN(widths[i][1], 39));
        ui_dag_dispose(&dag);
    }
}

static void test_dag_columns__a_line_that_passes_is_straight(void **state)
{
    struct ui_dag dag;
    DAG_BEGIN(&dag, 80, 0, 1, 2, 3);
    dag_edge(&dag, 0, 1, 1);
    dag_edge(&dag, 1, 2, 2);
    dag_edge(&dag, 2, 3, 3);
    dag_edge(&dag, 0, 3, 1);
    columns(&dag);
    int passing[2] = {-1, -1};
    for (int l = 1; l < 3; l++)
        for (size_t i = 0; i < dag.plan->layers[l].n; i++)
            if (dag_node_at(&dag, l, i) < 0)
                passing[l - 1] = dag_slot_at(&dag, l, i)->col;
    assert_true(passing[0] >= 0);
    assert_int_equal(passing[0], passing[1]);
    ui_dag_dispose(&dag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dag_columns__things_with_room_stand_where_they_want),
        cmocka_unit_test(test_dag_columns__a_crowd_is_spread_around_its_place),
        cmocka_unit_test(test_dag_columns__nothing_leaves_the_picture),
        cmocka_unit_test(test_dag_columns__a_chain_stands_in_the_middle),
        cmocka_unit_test(test_dag_columns__boxes_are_as_wide_as_their_texts),
        cmocka_unit_test(test_dag_columns__a_line_that_passes_is_straight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
