/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/help/dag_help.h"

static void test_dag_plan__a_line_over_layers_has_a_slot_in_each(void **state)
{
    struct ui_dag dag;
    DAG_BEGIN(&dag, 80, 0, 1, 2, 3);
    dag_edge(&dag, 0, 1, 7);
    dag_edge(&dag, 0, 3, 7);
    dag.plan = ui_dag__plan(&dag);
    assert_int_equal(dag.plan->n, 4);
    assert_int_equal(dag.plan->slots.n, 6); /* four boxes, and what passes two of them */
    assert_int_equal(dag.plan->layers[1].n, 2);
    assert_int_equal(dag_node_at(&dag, 1, 1), -1);
    assert_int_equal(dag.plan->wires.n, 4);
    assert_int_equal(dag.plan->path_first.items[1] - dag.plan->path_first.items[0], 2);
    assert_int_equal(dag.plan->path_first.items[2] - dag.plan->path_first.items[1], 4);
    ui_dag_dispose(&dag);
}

/* One value to two far boxes is one line as long as it can be. */
static void test_dag_plan__what_one_value_leads_to_shares_its_slots(void **state)
{
    struct ui_dag dag;
    DAG_BEGIN(&dag, 80, 0, 3, 3);
    dag_edge(&dag, 0, 1, 7);
    dag_edge(&dag, 0, 2, 7);
    dag.plan = ui_dag__plan(&dag);
    assert_int_equal(dag.plan->slots.n, 3 + 2);
    assert_int_equal(dag.plan->wires.n, 4);
    assert_int_equal(ui_dag__net(dag.plan, 0), 0);
    assert_int_equal(ui_dag__net(dag.plan, 3), ui_dag__net(dag.plan, 2)); /* where it parts */
    ui_dag_dispose(&dag);
}

static void test_dag_plan__two_values_are_two_lines(void **state)
{
    struct ui_dag dag;
    DAG_BEGIN(&dag, 80, 0, 2);
    dag_edge(&dag, 0, 1, 7);
    dag_edge(&dag, 0, 1, 8);
    dag.plan = ui_dag__plan(&dag);
    assert_int_equal(dag.plan->slots.n, 2 + 2);
    assert_int_equal(dag.plan->wires.n, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(ui_dag__net(dag.plan, i), i);
    ui_dag_dispose(&dag);
}

static void test_dag_plan__layers_above_the_middle_are_counted_from_the_top(void **state)
{
    struct ui_dag dag;
    DAG_BEGIN(&dag, 80, 0, -2, -1);
    dag_edge(&dag, 1, 2, 1);
    dag_edge(&dag, 2, 0, 2);
    dag.plan = ui_dag__plan(&dag);
    assert_int_equal(dag.plan->n, 3);
    assert_int_equal(dag_node_at(&dag, 0, 0), 1);
    assert_int_equal(dag_node_at(&dag, 2, 0), 0);
    ui_dag_dispose(&dag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dag_plan__a_line_over_layers_has_a_slot_in_each),
        cmocka_unit_test(test_dag_plan__what_one_value_leads_to_shares_its_slots),
        cmocka_unit_test(test_dag_plan__two_values_are_two_lines),
        cmocka_unit_test(test_dag_plan__layers_above_the_middle_are_counted_from_the_top),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
