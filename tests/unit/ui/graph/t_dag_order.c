/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/help/dag_help.h"

static void order(struct ui_dag *dag)
{
    dag->plan = ui_dag__plan(dag);
    ui_dag__order(dag, dag->plan);
}

static void test_dag_order__crossed_pairs_are_undone(void **state)
{
    struct ui_dag dag;
    DAG_BEGIN(&dag, 80, 0, 0, 1, 1);
    dag_edge(&dag, 0, 3, 1);
    dag_edge(&dag, 1, 2, 2);
    dag.plan = ui_dag__plan(&dag);
    for (size_t i = 0; i < 2; i++)
        for (int l = 0; l < 2; l++)
            dag.plan->slots.items[dag.plan->layers[l].items[i]].place = (double)i;
    assert_int_equal(ui_dag__crossings(dag.plan), 1);
    ui_dag__order(&dag, dag.plan);
    assert_int_equal(ui_dag__crossings(dag.plan), 0);
    assert_int_equal(dag_node_at(&dag, 1, 0), 3);
    ui_dag_dispose(&dag);
}

static void test_dag_order__equal_means_are_told_apart(void **state)
{
    struct ui_dag dag;
    DAG_BEGIN(&dag, 120, 0, 0, 0, 0, 1, 1);
    dag_edge(&dag, 0, 5, 1);
    dag_edge(&dag, 3, 5, 4);
    dag_edge(&dag, 1, 4, 2);
    dag_edge(&dag, 2, 4, 3);
    order(&dag);
    assert_int_equal(ui_dag__crossings(dag.plan), 0);
    ui_dag_dispose(&dag);
}

static void test_dag_order__boxes_are_numbered_as_they_are_read(void **state)
{
    struct ui_dag dag;
    DAG_BEGIN(&dag, 80, 0, 1, 1, -1);
    dag_edge(&dag, 3, 0, 1);
    dag_edge(&dag, 0, 1, 2);
    dag_edge(&dag, 0, 2, 2);
    order(&dag);
    assert_int_equal(dag.boxes.items[0].is.node, 3);
    assert_int_equal(dag.centre, 1);
    assert_int_equal(dag.boxes.items[dag.centre].is.node, 0);
    for (size_t i = 1; i < dag.boxes.n; i++)
        assert_true(dag.boxes.items[i - 1].layer <= dag.boxes.items[i].layer);
    for (size_t e = 0; e < dag.edges.n; e++) /* edges follow */
        assert_true(dag.boxes.items[dag.edges.items[e].from].layer <
                    dag.boxes.items[dag.edges.items[e].to].layer);
    ui_dag_dispose(&dag);
}

static void test_dag_order__what_is_folded_stays_at_the_right(void **state)
{
    struct ui_dag dag;
    DAG_BEGIN(&dag, 120, 0, 0, 1, 1, 1);
    dag.boxes.items[4].is.kind = UI_DAG_MORE;
    dag_edge(&dag, 0, 4, 1); /* it would be at the left */
    dag_edge(&dag, 1, 2, 2);
    dag_edge(&dag, 1, 3, 3);
    order(&dag);
    assert_int_equal(dag_node_at(&dag, 1, 2), 4);
    ui_dag_dispose(&dag);
}

static void test_dag_order__no_neighbours_would_rather_change_places(void **state)
{
    unsigned seed = 1;
    for (int round = 0; round < 200; round++) {
        struct ui_dag dag;
        DAG_BEGIN(&dag, 200, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2);
        for (int e = 0; e < 14; e++) {
            int from = (int)((seed = seed * 1103515245u + 12345u) >> 16) % 8;
            int to = 4 * (from / 4 + 1) + (int)((seed = seed * 1103515245u + 12345u) >> 16) % 4;
            dag_edge(&dag, from, to, from);
        }
        order(&dag);
        int crossings = ui_dag__crossings(dag.plan);
        for (int l = 0; l < 3; l++)
            for (size_t i = 0; i + 1 < dag.plan->layers[l].n; i++) {
                const int *items = dag.plan->layers[l].items + i;
                struct dag_slot *slots = dag.plan->slots.items;
                slots[items[0]].place = (double)i + 1;
                slots[items[1]].place = (double)i;
                assert_true(ui_dag__crossings(dag.plan) >= crossings);
                slots[items[0]].place = (double)i;
                slots[items[1]].place = (double)i + 1;
            }
        ui_dag_dispose(&dag);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dag_order__crossed_pairs_are_undone),
        cmocka_unit_test(test_dag_order__equal_means_are_told_apart),
        cmocka_unit_test(test_dag_order__no_neighbours_would_rather_change_places),
        cmocka_unit_test(test_dag_order__boxes_are_numbered_as_they_are_read),
        cmocka_unit_test(test_dag_order__what_is_folded_stays_at_the_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
