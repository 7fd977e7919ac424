/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/help/op_call.h"

static void test_nms__ties_and_thresholds(void **state)
{
    struct op_call c = OP_CALL("NonMaxSuppression", 11);

    /* Boxes 0 and 1 overlap by exactly a half, 2 stands alone and has the same score as 1. */
    op_in(&c, ODB_F32, 3, OP_DIMS(1, 3, 4), (double[]){0, 0, 1, 3, 0, 1, 1, 4, 5, 5, 6, 6});
    op_in(&c, ODB_F32, 3, OP_DIMS(1, 1, 3), (double[]){0.5, 0.9, 0.9});
    op_in(&c, ODB_I64, 0, NULL, (double[]){10});
    op_in(&c, ODB_F32, 0, NULL, (double[]){0.5});
    op_in(&c, ODB_F32, 0, NULL, (double[]){0.5});
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect_shape(&c, 2, 2, 3); /* a score must be greater than its threshold */
    op_expect(&c, 0, 0, 0, 1, 0, 0, 2);
    odb_store_f64(ODB_F32, c.in[4]->data, 0, 0);
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect_shape(&c, 2, 3, 3); /* an overlap equal to the threshold is none */
    odb_store_f64(ODB_F32, c.in[3]->data, 0, 0.49);
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect_shape(&c, 2, 2, 3);
    odb_store_f64(ODB_F32, c.in[3]->data, 0, 1.5);
    op_expect_refused(&c, "iou_threshold is 1.5");
    op_free(&c);
}

static void test_nms__no_limit_no_boxes(void **state)
{
    struct op_call c = OP_CALL("NonMaxSuppression", 10);

    op_new(&c, ODB_F32, 3, OP_DIMS(1, 2, 4));
    op_new(&c, ODB_F32, 3, OP_DIMS(1, 1, 2));
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect_shape(&c, 2, 0, 3);
    op_free(&c);
}

static void test_nms__refuses(void **state)
{
    struct op_call c = OP_CALL("NonMaxSuppression", 11);

    op_new(&c, ODB_F32, 3, OP_DIMS(1, 2, 4));
    op_new(&c, ODB_F32, 3, OP_DIMS(1, 1, 3));
    op_expect_refused(&c, "(1, 2, 4)");
    op_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nms__ties_and_thresholds),
        cmocka_unit_test(test_nms__no_limit_no_boxes),
        cmocka_unit_test(test_nms__refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
