/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "tests/help/op_call.h"

/* Sampling along the grid of the identity gives the image back, in any mode. */
static void test_gridsample__identity(void **state)
{
    static const char *const modes[] = {"linear", "nearest", "cubic"};

    for (int i = 0; i < 12; i++) {
        struct op_call g = OP_CALL("AffineGrid", 20), s = OP_CALL("GridSample", 20);
        int align = i / 3 % 2, dims = 2 + i / 6;
        const double eye[2][12] = {{1, 0, 0, 0, 1, 0}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
        const int64_t size[5] = {1, 2, 3, 4, 5};
        op_int(&g, "align_corners", align);
        op_int(&s, "align_corners", align);
        op_text(&s, "mode", modes[i % 3]);
        op_in(&g, ODB_F32, 3, OP_DIMS(1, dims, dims + 1), eye[dims - 2]);
        op_list(&g, dims + 2, size);
        assert_int_equal(op_run(&g), ODB_OK);
        op_count(&s, ODB_F32, dims + 2, size, 1);
        op_take(&s, odb_tensor_ref(g.out[0]));
        assert_int_equal(op_run(&s), ODB_OK);
        assert_true(odb_tensor_same_shape(s.in[0], s.out[0]));
        for (size_t e = 0; e < s.out[0]->count; e++)
            assert_true(fabs(odb_tensor_f64(s.out[0], e) - (double)(e + 1)) < 1e-3);
        op_free(&g);
        op_free(&s);
    }
}

static void test_gridsample__wild_points(void **state)
{
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    static const char *const modes[] = {"bilinear", "nearest", "bicubic"};
    const double points[] = {NAN, 0, INFINITY, 0, -INFINITY, 1e30, 0, -1e30};

    for (int i = 0; i < 9; i++) {
        struct op_call c = OP_CALL("GridSample", 16);
        op_text(&c, "mode", modes[i % 3]);
        op_text(&c, "padding_mode", paddings[i / 3]);
        op_int(&c, "align_corners", i % 2);
        op_count(&c, ODB_F32, 4, OP_DIMS(1, 1, 1, 3), 1);
        op_in(&c, ODB_F32, 4, OP_DIMS(1, 4, 1, 2), points);
        assert_int_equal(op_run(&c), ODB_OK); /* whatever the value, nothing beyond the image */
        op_free(&c);
    }
}

/* Of 1, 2, 3: a cubic place a quarter of a cell outside still sees the 2, by its weight of
 * -0.10546875; one far outside sees the border alone. */
static void test_gridsample__a_cubic_border_is_of_each_tap(void **state)
{
    const double points[] = {-1.25, 0, 1.25, 0, -9, 0, 9, 0},
                 want[] = {0.89453125, 3.10546875, 1, 3};
    struct op_call c = OP_CALL("GridSample", 20);

    op_text(&c, "mode", "cubic");
    op_text(&c, "padding_mode", "border");
    op_int(&c, "align_corners", 1);
    op_count(&c, ODB_F32, 4, OP_DIMS(1, 1, 1, 3), 1);
    op_in(&c, ODB_F32, 4, OP_DIMS(1, 4, 1, 2), points);
    assert_int_equal(op_run(&c), ODB_OK);
    for (size_t e = 0; e < 4; e++)
        assert_true(fabs(odb_tensor_f64(c.out[0], e) - want[e]) < 1e-6);
    op_free(&c);
}

static void test_gridsample__refuses(void **state)
{
    struct op_call c = OP_CALL("GridSample", 16), i = OP_CALL("GridSample", 20);

    op_new(&c, ODB_F32, 4, OP_DIMS(1, 1, 2, 2));
    op_new(&c, ODB_F32, 4, OP_DIMS(1, 2, 2, 3));
    op_expect_refused(&c, "(1, 2, 2, 3) does not fit");
    op_free(&c);
    op_new(&i, ODB_I32, 4, OP_DIMS(1, 1, 2, 2));
    op_new(&i, ODB_F32, 4, OP_DIMS(1, 2, 2, 2));
    assert_int_equal(op_run(&i), ODB_UNSUPPORTED);
    op_free(&i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gridsample__identity),
        cmocka_unit_test(test_gridsample__wild_points),
        cmocka_unit_test(test_gridsample__a_cubic_border_is_of_each_tap),
        cmocka_unit_test(test_gridsample__refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
