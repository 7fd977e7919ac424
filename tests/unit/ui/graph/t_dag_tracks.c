/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Ports and tracks: what happens between two layers.
 */
#include "tests/help/dag_help.h"

/* Two layers whose boxes stand where the test wants them. */
static struct dag_plan *gap_begin(struct ui_dag *dag, int n_above, int n_below, int width)
{
    *dag = (struct ui_dag){.cols = 200};
    struct dag_plan *plan = dag->plan = odb_new(struct dag_plan);
    plan->n = 2;
    plan->cols = dag->cols;
    plan->layers = odb_xcalloc(2, sizeof *plan->layers);
    plan->tracks = odb_new_n(int, 2);
    plan->top = odb_new_n(int, 3);
    for (int i = 0; i < n_above + n_below; i++) {
        int col = (i < n_above ? i : i - n_above) * (width + 3);
        ui_dag__add_slot(
            plan, (struct dag_slot){.box = i, .layer = i >= n_above, .col = col, .cols = width});
    }
    return plan;
}

static struct dag_wire *gap_wire(struct dag_plan *plan, int from, int to, int value)
{
    ui_dag__add_wire(plan, from, to, value);
    return &plan->wires.items[plan->wires.n - 1];
}

/* --- ports ------------------------------------------------------------------------------------ */

static void test_dag_ports__one_value_leaves_in_one_place(void **state)
{
    struct ui_dag dag;
    struct dag_plan *plan = gap_begin(&dag, 1, 3, 21);
    for (int to = 1; to <= 3; to++)
        gap_wire(plan, 0, to, 5);
    ui_dag__ports(plan, 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(plan->wires.items[i].out_col, 10); /* the middle of the box */
    ui_dag_dispose(&dag);
}

static void test_dag_ports__lines_into_a_box_do_not_touch(void **state)
{
    for (int n = 1; n <= 19; n++) {
        struct ui_dag dag;
        struct dag_plan *plan = gap_begin(&dag, n, 1, 21);
        for (int from = 0; from < n; from++)
            gap_wire(plan, from, n, from);
        ui_dag__ports(plan, 0);
        for (int i = 0; i < n; i++) {
            assert_in_range(plan->wires.items[i].in_col, 1, 19); /* corners stay corners */
            if (i)
                assert_true(plan->wires.items[i].in_col >=
                            plan->wires.items[i - 1].in_col + 1 + (n <= 10));
        }
        ui_dag_dispose(&dag);
    }
}

static void test_dag_ports__what_is_below_is_reached_straight(void **state)
{
    struct ui_dag dag;
    struct dag_plan *plan = gap_begin(&dag, 2, 2, 21);
    gap_wire(plan, 0, 2, 1);
    gap_wire(plan, 1, 3, 2);
    ui_dag__ports(plan, 0);
    assert_int_equal(ui_dag__tracks(plan, 0), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(plan->wires.items[i].in_col, plan->wires.items[i].out_col);
        assert_true(plan->wires.items[i].track < 0);
    }
    ui_dag_dispose(&dag);
}

/* --- tracks ----------------------------------------------------------------------------------- */

static void gap_bend(struct dag_wire *wire, int out, int in)
{
    wire->out_col = out;
    wire->in_col = in;
}

static void test_dag_tracks__lines_beside_one_another_share_a_row(void **state)
{
    struct ui_dag dag;
    struct dag_plan *plan = gap_begin(&dag, 2, 2, 21);
    gap_bend(gap_wire(plan, 0, 2, 1), 5, 10);
    gap_bend(gap_wire(plan, 1, 3, 2), 30, 40);
    assert_int_equal(ui_dag__tracks(plan, 0), 1);
    plan->wires.items[1].out_col = 11; /* too near: corner beside corner */
    assert_int_equal(ui_dag__tracks(plan, 0), 2);
    ui_dag_dispose(&dag);
}

/* Where one comes down at the column in which another begins, the other has turned before. */
static void test_dag_tracks__who_begins_there_turns_first(void **state)
{
    struct ui_dag dag;
    struct dag_plan *plan = gap_begin(&dag, 2, 2, 21);
    gap_bend(gap_wire(plan, 0, 3, 1), 10, 30);
    gap_bend(gap_wire(plan, 1, 3, 2), 30, 40);
    assert_int_equal(ui_dag__tracks(plan, 0), 2);
    assert_true(plan->wires.items[1].track < plan->wires.items[0].track);
    ui_dag_dispose(&dag);
}

/* Two that change columns would each have to turn first. */
static void test_dag_tracks__a_ring_is_broken(void **state)
{
    struct ui_dag dag;
    struct dag_plan *plan = gap_begin(&dag, 2, 2, 21);
    gap_bend(gap_wire(plan, 0, 3, 1), 10, 34);
    gap_bend(gap_wire(plan, 1, 2, 2), 34, 10);
    assert_int_equal(ui_dag__tracks(plan, 0), 2);
    const struct dag_wire *a = &plan->wires.items[0], *b = &plan->wires.items[1];
    assert_true((a->in_col == 34) + (b->in_col == 10) == 1); /* one of them entered elsewhere, */
    assert_in_range(a->in_col, 24 + 1, 24 + 21 - 2);         /* still at its box */
    assert_in_range(b->in_col, 1, 21 - 2);
    assert_true(a->track >= 0 && b->track >= 0 && a->track != b->track);
    ui_dag_dispose(&dag);
}

/* A line that passes is moved as a whole. */
static void test_dag_tracks__a_ring_of_lines_that_pass(void **state)
{
    struct ui_dag dag;
    struct dag_plan *plan = gap_begin(&dag, 2, 0, 21);
    ui_dag__add_slot(plan, (struct dag_slot){.box = -1, .layer = 1, .col = 10, .cols = 1});
    ui_dag__add_slot(plan, (struct dag_slot){.box = -1, .layer = 1, .col = 34, .cols = 1});
    gap_bend(gap_wire(plan, 0, 3, 1), 10, 34);
    gap_bend(gap_wire(plan, 1, 2, 2), 34, 10);
    assert_int_equal(ui_dag__tracks(plan, 0), 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(plan->slots.items[plan->wires.items[i].to].col,
                         plan->wires.items[i].in_col);
    assert_true(plan->wires.items[0].in_col != 34 || plan->wires.items[1].in_col != 10);
    assert_true(plan->slots.items[2].col < plan->slots.items[3].col);
    ui_dag_dispose(&dag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dag_ports__one_value_leaves_in_one_place),
        cmocka_unit_test(test_dag_ports__lines_into_a_box_do_not_touch),
        cmocka_unit_test(test_dag_ports__what_is_below_is_reached_straight),
        cmocka_unit_test(test_dag_tracks__lines_beside_one_another_share_a_row),
        cmocka_unit_test(test_dag_tracks__who_begins_there_turns_first),
        cmocka_unit_test(test_dag_tracks__a_ring_is_broken),
        cmocka_unit_test(test_dag_tracks__a_ring_of_lines_that_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
