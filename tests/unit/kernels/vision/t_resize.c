/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ONNX's own cases cover the modes one by one; here are what they leave out: types, ranks, empty
 * tensors, agreement of the fast separable code with a plain sum over all corners, and errors.
 */
#include <math.h>

#include "tests/help/op_call.h"

static void add_floats(struct op_call *c, int64_t n, const double *values)
{
    op_in(c, ODB_F32, 1, &n, values);
}

static void test_resize__linear_is_the_sum_over_corners(void **state)
{
    uint64_t seed = 1;

    for (int round = 0; round < 60; round++) {
        struct op_call c = OP_CALL("Resize", 13);
        int64_t in[3], out[3];
        for (int d = 0; d < 3; d++) {
            in[d] = op_random(&seed, 6) + 1;
            out[d] = op_random(&seed, 9) + 1;
        }
        op_text(&c, "mode", "linear");
        struct odb_tensor *x = op_new(&c, round % 2 ? ODB_F64 : ODB_F32, 3, in);
        for (size_t i = 0; i < x->count; i++)
            odb_store_f64(x->dtype, x->data, i, (double)op_random(&seed, 100));
        op_take(&c, NULL);
        op_take(&c, NULL);
        op_list(&c, 3, out);
        assert_int_equal(op_run(&c), ODB_OK);
        for (size_t i = 0; i < c.out[0]->count; i++) {
            int64_t at[3] = {(int64_t)i / (out[1] * out[2]), (int64_t)i / out[2] % out[1],
                             (int64_t)i % out[2]};
            double sum = 0;
            for (int corner = 0; corner < 8; corner++) {
                double weight = 1;
                int64_t from = 0;
                for (int d = 0; d < 3; d++) {
                    double p = ((double)at[d] + 0.5) * (double)in[d] / (double)out[d] - 0.5;
                    double low = floor(p), r = p - low;
                    int64_t index = (int64_t)low + (corner >> d & 1);
                    weight *= corner >> d & 1 ? r : 1 - r;
                    index = index < 0 ? 0 : index >= in[d] ? in[d] - 1 : index;
                    from = from * in[d] + index;
                }
                sum += weight * odb_tensor_f64(x, (size_t)from);
            }
            assert_true(fabs(odb_tensor_f64(c.out[0], i) - sum) < 1e-3);
        }
        op_free(&c);
    }
}

static void test_resize__nearest_moves_any_type(void **state)
{
    const enum odb_dtype types[] = {ODB_U8, ODB_F16, ODB_I64, ODB_I4, ODB_BOOL, ODB_BF16};

    for (size_t i = 0; i < ODB_COUNT(types); i++) {
        struct op_call c = OP_CALL("Upsample", 9);
        op_in(&c, types[i], 2, OP_DIMS(2, 2), (double[]){1, 0, 0, 1});
        add_floats(&c, 2, (double[]){1.5, 2});
        assert_int_equal(op_run(&c), ODB_OK);
        assert_int_equal(c.out[0]->dtype, types[i]);
        op_expect(&c, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1);
        op_free(&c);
    }
}

static void test_resize__nearest_strings(void **state)
{
    struct op_call c = OP_CALL("Upsample", 7);
    struct odb_tensor *x = op_new(&c, ODB_STRING, 1, OP_DIMS(2));

    for (size_t i = 0; i < 2; i++)
        assert_int_equal(odb_tensor_set_string(x, i, &"ab"[i], 1, NULL), ODB_OK);
    struct odb_attr *scales = op_attr(&c, "scales", ODB_ATTR_FLOATS);
    scales->n = 1;
    scales->floats = (const odb_f32[]){2};
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect_shape(&c, 1, 4);
    assert_memory_equal(((const struct odb_str *)c.out[0]->data)[1].data, "a", 1);
    assert_memory_equal(((const struct odb_str *)c.out[0]->data)[2].data, "b", 1);
    op_free(&c);
}

static void test_resize__shrinking_rounds_up_before_opset_11(void **state)
{
    struct op_call c = OP_CALL("Resize", 10);

    op_count(&c, ODB_F32, 1, OP_DIMS(4), 1);
    add_floats(&c, 1, (double[]){0.6});
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect(&c, 0, 1, 3);
    op_free(&c);
}

static void test_resize__sizes_miss_no_tie(void **state)
{
    struct op_call c = OP_CALL("Resize", 13);

    op_text(&c, "nearest_mode", "round_prefer_ceil");
    op_count(&c, ODB_F32, 1, OP_DIMS(20), 0);
    op_take(&c, NULL);
    op_take(&c, NULL);
    op_in(&c, ODB_I64, 1, OP_DIMS(1), (double[]){6});
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect(&c, 0, 1, 5, 8, 11, 15, 18); /* 4.5 and 14.5 are ties */
    op_free(&c);
}

static void test_resize__integers_round_to_even_and_clamp(void **state)
{
    struct op_call c = OP_CALL("Resize", 13);

    op_text(&c, "mode", "cubic");
    op_in(&c, ODB_U8, 1, OP_DIMS(4), (double[]){0, 0, 255, 255});
    op_take(&c, NULL);
    add_floats(&c, 1, (double[]){2});
    assert_int_equal(op_run(&c), ODB_OK);
    for (size_t i = 0; i < 8; i++) /* cubic overshoots on both sides of the edge */
        assert_true(i < 4 ? odb_tensor_i64(c.out[0], i) < 64 : odb_tensor_i64(c.out[0], i) > 191);
    assert_int_equal(odb_tensor_i64(c.out[0], 2), 0);
    assert_int_equal(odb_tensor_i64(c.out[0], 5), 255);
    op_free(&c);
    struct op_call l = OP_CALL("Resize", 13);
    op_text(&l, "mode", "linear");
    op_text(&l, "coordinate_transformation_mode", "asymmetric");
    op_in(&l, ODB_I32, 1, OP_DIMS(2), (double[]){2, 3});
    op_take(&l, NULL);
    add_floats(&l, 1, (double[]){2});
    assert_int_equal(op_run(&l), ODB_OK);
    op_expect(&l, 0, 2, 2, 3, 3);
    op_free(&l);
}

static void test_resize__same_size_keeps_bits(void **state)
{
    struct op_call c = OP_CALL("Resize", 13);

    op_text(&c, "mode", "cubic");
    op_in(&c, ODB_F32, 1, OP_DIMS(3), (double[]){0.1, INFINITY, -0.0});
    op_take(&c, NULL);
    add_floats(&c, 1, (double[]){1});
    assert_int_equal(op_run(&c), ODB_OK);
    assert_true(odb_tensor_identical(c.in[0], c.out[0]));
    op_free(&c);
}

static void test_resize__antialias_keeps_constants(void **state)
{
    static const char *const modes[] = {"linear", "cubic"};

    for (int m = 0; m < 2; m++) {
        struct op_call c = OP_CALL("Resize", 18);
        op_text(&c, "mode", modes[m]);
        op_int(&c, "antialias", 1);
        struct odb_tensor *x = op_new(&c, ODB_F32, 2, OP_DIMS(17, 13));
        for (size_t i = 0; i < x->count; i++)
            odb_store_f64(ODB_F32, x->data, i, 3);
        op_take(&c, NULL);
        op_take(&c, NULL);
        op_list(&c, 2, OP_DIMS(4, 5));
        assert_int_equal(op_run(&c), ODB_OK);
        for (size_t i = 0; i < 20; i++)
            assert_true(fabs(odb_tensor_f64(c.out[0], i) - 3) < 1e-6);
        op_free(&c);
    }
}

static void test_resize__empty_and_scalar(void **state)
{
    struct op_call c = OP_CALL("Resize", 13), s = OP_CALL("Resize", 18);

    op_text(&c, "mode", "linear");
    op_new(&c, ODB_F32, 2, OP_DIMS(0, 3));
    op_take(&c, NULL);
    add_floats(&c, 2, (double[]){2, 2});
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect_shape(&c, 2, 0, 6);
    op_free(&c);
    op_in(&s, ODB_F32, 0, NULL, (double[]){5});
    op_take(&s, NULL);
    add_floats(&s, 0, NULL);
    assert_int_equal(op_run(&s), ODB_OK);
    op_expect(&s, 0, 5);
    op_free(&s);
}

static void test_resize__infer_needs_scales(void **state)
{
    struct op_call c = OP_CALL("Resize", 13);
    struct odb_tensor *scales = NULL;

    op_new(&c, ODB_F32, 2, OP_DIMS(2, 3));
    op_take(&c, NULL);
    assert_int_equal(odb_tensor_new_shape(&scales, ODB_F32, 1, OP_DIMS(2), NULL), ODB_OK);
    op_take(&c, scales);
    assert_int_equal(op_infer(&c), ODB_SKIPPED);
    op_free(&c);
}

static void test_resize__refuses(void **state)
{
    struct op_call c = OP_CALL("Resize", 13);

    op_new(&c, ODB_F32, 2, OP_DIMS(2, 3));
    op_take(&c, NULL);
    op_expect_refused(&c, "neither scales nor sizes");
    add_floats(&c, 2, (double[]){1, -1});
    op_expect_refused(&c, "axis 1 of 3 elements cannot be scaled by -1");
    odb_store_f64(ODB_F32, c.in[2]->data, 1, NAN);
    op_expect_refused(&c, "cannot be scaled");
    odb_store_f64(ODB_F32, c.in[2]->data, 1, 1e30);
    op_expect_refused(&c, "cannot be scaled");
    odb_tensor_unref(c.in[--c.n_in]);
    add_floats(&c, 1, (double[]){1});
    op_expect_refused(&c, "scales has 1 entries, not 2");
    op_text(&c, "mode", "quintic");
    op_expect_refused(&c, "unknown mode \"quintic\"");
    op_free(&c);
}

/* Zeros and ones in turn. */
static void resize_zigzag(struct op_call *c, const char *coords, float scale,
                          enum odb_precision precision)
{
    struct odb_tensor *x = op_new(c, ODB_F32, 1, OP_DIMS(1000));
    for (size_t i = 0; i < x->count; i++)
        odb_store_f64(ODB_F32, x->data, i, (double)(i % 2));
    op_text(c, "mode", "linear");
    op_text(c, "coordinate_transformation_mode", coords);
    op_take(c, NULL);
    add_floats(c, 1, (double[]){scale});
    c->precision = precision;
    assert_int_equal(op_run(c), ODB_OK);
}

static double resize_between(const char *coords, double scale, double i)
{
    double at = !strcmp(coords, "half_pixel")   ? (i + 0.5) / scale - 0.5
                : !strcmp(coords, "asymmetric") ? i / scale
                                                : i * 999 / (scale * 1000 - 1);
    return fabs(remainder(at, 2));
}

/* Far from 0 coordinates in float32 are off by more than values in float32 are: double knows
 * better, and noise comes as far off. */
static void test_resize__coordinates(void **state)
{
    static const char *const coords[] = {"half_pixel", "asymmetric", "align_corners"};
    const float scale = 0.37f;
    (void)state;
    for (size_t m = 0; m < ODB_COUNT(coords); m++) {
        struct op_call plain = OP_CALL("Resize", 13), exact = OP_CALL("Resize", 13);
        struct op_call noisy = OP_CALL("Resize", 13);
        double off = 0, apart = 0;
        resize_zigzag(&plain, coords[m], scale, ODB_PREC_NATIVE);
        resize_zigzag(&exact, coords[m], scale, ODB_PREC_F64);
        resize_zigzag(&noisy, coords[m], scale, ODB_PREC_NOISY);
        for (size_t i = 10; i < 360; i++) {
            double at = odb_tensor_f64(plain.out[0], i);
            assert_true(fabs(odb_tensor_f64(exact.out[0], i) -
                             resize_between(coords[m], scale, (double)i)) < 1e-10);
            off = fmax(off, fabs(odb_tensor_f64(exact.out[0], i) - at));
            apart = fmax(apart, fabs(odb_tensor_f64(noisy.out[0], i) - at));
        }
        assert_true(off > 1e-6 && off < 1e-3);
        assert_true(apart > 1e-6 && apart < 1e-3);
        op_free(&plain);
        op_free(&exact);
        op_free(&noisy);
    }
}

/* What the operator's specification says of each mode, in float32 step by step. */
static float resize_said(const char *coords, float i, float in, float out, float width, float scale)
{
    const float start = 0.125f, end = 0.8f;
    return !strcmp(coords, "half_pixel_symmetric")
               ? in / 2 * (1 - out / width) + (i + 0.5f) / scale - 0.5f
           : !strcmp(coords, "align_corners")        ? i * (in - 1) / (width - 1)
           : !strcmp(coords, "asymmetric")           ? i / scale
           : !strcmp(coords, "tf_half_pixel_for_nn") ? (i + 0.5f) / scale
           : !strcmp(coords, "tf_crop_and_resize")
               ? start * (in - 1) + i * (end - start) * (in - 1) / (width - 1)
               : (i + 0.5f) / scale - 0.5f;
}

/* Of a ramp each element is its own coordinate: the reference's own, to the bit. */
static void test_resize__coordinates_in_float(void **state)
{
    static const char *const coords[] = {
        "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
        "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"};
    const float scale = 0.37f, width = scale * 1000;
    (void)state;
    for (size_t m = 0; m < ODB_COUNT(coords); m++) {
        struct op_call c = OP_CALL("Resize", 19);
        size_t seen = 0;
        struct odb_tensor *x = op_new(&c, ODB_F32, 1, OP_DIMS(1000));
        for (size_t i = 0; i < x->count; i++)
            odb_store_f64(ODB_F32, x->data, i, (double)i);
        op_text(&c, "mode", "linear");
        op_text(&c, "coordinate_transformation_mode", coords[m]);
        add_floats(&c, 2, (double[]){0.125, 0.8f});
        add_floats(&c, 1, (double[]){scale});
        assert_int_equal(op_run(&c), ODB_OK);
        assert_int_equal(c.out[0]->count, 370);
        for (size_t i = 0; i < 370; i++) {
            float at = resize_said(coords[m], (float)i, 1000, 370, width, scale);
            if (at < 0 || at > 999)
                continue;
            assert_true((float)odb_tensor_f64(c.out[0], i) == at);
            seen++;
        }
        assert_in_range(seen, 350, 370);
        op_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resize__linear_is_the_sum_over_corners),
        cmocka_unit_test(test_resize__nearest_moves_any_type),
        cmocka_unit_test(test_resize__nearest_strings),
        cmocka_unit_test(test_resize__shrinking_rounds_up_before_opset_11),
        cmocka_unit_test(test_resize__sizes_miss_no_tie),
        cmocka_unit_test(test_resize__integers_round_to_even_and_clamp),
        cmocka_unit_test(test_resize__same_size_keeps_bits),
        cmocka_unit_test(test_resize__antialias_keeps_constants),
        cmocka_unit_test(test_resize__empty_and_scalar),
        cmocka_unit_test(test_resize__infer_needs_scales),
        cmocka_unit_test(test_resize__refuses),
        cmocka_unit_test(test_resize__coordinates),
        cmocka_unit_test(test_resize__coordinates_in_float),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
