/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "encodings/encodings.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "system/file.h"

static struct odb_error err;

/* What a file with this text is read as. NULL: it is refused, and err says why. */
static struct odb_encodings *encodings_of(const char *text)
{
    char *path = odb_file_temporary("encodings-");
    struct odb_encodings *out = NULL;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    err = (struct odb_error)ODB_ERROR_INIT;
    if (odb_encodings_read(&out, path, &err) != ODB_OK)
        out = NULL;
    unlink(path);
    free(path);
    return out;
}

static void encodings_refuse(const char *text, const char *why)
{
    struct odb_encodings *out = encodings_of(text);
    char words[2048];
    assert_null(out);
    odb_error_text(&err, words, sizeof words);
    if (!strstr(words, why))
        fail_msg("'%s' is not said, but '%s'", why, words);
}

/* One scale: number = k * scale, with k from lo to hi. */
static void encodings_expect(const char *text, const char *name, double scale, double lo, double hi)
{
    struct odb_encodings *out = encodings_of(text);
    if (!out)
        fail_msg("refused: %s", err.what);
    const struct odb_encoding *e = odb_encodings_find(out, name);
    assert_non_null(e);
    assert_int_equal(e->n, 1);
    assert_true(fabs((double)e->scale[0] - scale) <= 1e-6 * scale);
    assert_true(e->lo[0] == lo);
    assert_true(e->hi[0] == hi);
    odb_encodings_free(out);
}

/* --- signs ------------------------------------------------------------------------------------ */

#define AIMET(about) "{\"activation_encodings\": {\"x\": [{" about "}]}, \"param_encodings\": {}}"
#define SYMMETRIC(bits, offset, about)                                                             \
    AIMET("\"bitwidth\": " bits ", \"offset\": " offset ", \"scale\": 0.5, " about                 \
          "\"is_symmetric\": \"True\"")
#define LISTED(about)                                                                              \
    "{\"version\": \"1.0.0\", \"activation_encodings\": [{\"name\": \"x\", " about "}]}"
#define OWN(about) "{\"version\": 1, \"values\": {\"x\": {" about "}}}"

static void test_encodings__offsets_are_the_opposite_of_zero_points(void **state)
{
    encodings_expect(AIMET("\"bitwidth\": 8, \"offset\": -100, \"scale\": 0.5, \"min\": -50, "
                           "\"max\": 77.5, \"is_symmetric\": \"False\", \"dtype\": \"int\""),
                     "x", 0.5, -100, 155);
    encodings_expect(LISTED("\"bw\": 8, \"dtype\": \"INT\", \"enc_type\": \"PER_TENSOR\", "
                            "\"is_sym\": false, \"offset\": [-100], \"scale\": [0.5]"),
                     "x", 0.5, -100, 155);
    encodings_expect("{\"version\": \"2.0.0\", \"encodings\": [{\"name\": \"x\", \"y_scale\": 0.5, "
                     "\"y_zero_point\": 100, \"output_dtype\": \"uint8\"}]}",
                     "x", 0.5, -100, 155);
    encodings_expect(OWN("\"scale\": 0.5, \"zero_point\": 100"), "x", 0.5, -100, 155);
    encodings_expect(OWN("\"signed\": true, \"scale\": 0.5, \"zero_point\": -28"), "x", 0.5, -100,
                     155);
    encodings_expect("quantize_parameters:\n    x:\n        qtype: asymmetric_quantized\n"
                     "        dtype: int8\n        scale: [0.5]\n        zero_point: [-28]\n",
                     "x", 0.5, -100, 155);
}

static void test_encodings__a_zero_point_for_an_offset_is_told(void **state)
{
    encodings_refuse(AIMET("\"bitwidth\": 8, \"offset\": 100, \"scale\": 0.5, \"min\": -50, "
                           "\"max\": 77.5, \"is_symmetric\": \"False\""),
                     "has the sign of a zero point");
    encodings_refuse(AIMET("\"bitwidth\": 8, \"offset\": 100, \"scale\": 0.5"), "is positive");
    encodings_refuse(LISTED("\"bw\": 8, \"is_sym\": false, \"offset\": [100], \"scale\": [0.5]"),
                     "is positive");
    encodings_refuse(AIMET("\"bitwidth\": 8, \"offset\": -10, \"scale\": 0.5, \"min\": -50, "
                           "\"max\": 77.5"),
                     "and not its min -50");
    encodings_refuse(OWN("\"scale\": 0.5, \"zero_point\": -100"), "is none of its codes");
}

static void test_encodings__symmetric_has_signed_codes_or_an_offset(void **state)
{
    encodings_expect(LISTED("\"bw\": 8, \"is_sym\": true, \"offset\": [-128], \"scale\": [0.5]"),
                     "x", 0.5, -128, 127);
    encodings_expect(LISTED("\"bw\": 8, \"is_sym\": true, \"offset\": [0], \"scale\": [0.5]"), "x",
                     0.5, -128, 127);
    encodings_expect(LISTED("\"bw\": 8, \"is_sym\": false, \"offset\": [0], \"scale\": [0.5]"), "x",
                     0.5, 0, 255);
    encodings_expect(SYMMETRIC("8", "-127", "\"min\": -63.5, \"max\": 63.5, "), "x", 0.5, -127,
                     127);
    encodings_expect(SYMMETRIC("4", "-8", ""), "x", 0.5, -8, 7);
}

static void test_encodings__symmetric_without_an_offset_is_signed(void **state)
{
    encodings_expect(LISTED("\"bw\": 8, \"is_sym\": true, \"scale\": [0.5]"), "x", 0.5, -128, 127);
    encodings_expect(LISTED("\"bw\": 8, \"is_sym\": false, \"scale\": [0.5]"), "x", 0.5, 0, 255);
}

/* AIMET calls what has no numbers below zero symmetric as well. */
static void test_encodings__symmetric_from_zero_on_is_seen_from_its_min(void **state)
{
    encodings_expect(SYMMETRIC("8", "0", "\"min\": 0, \"max\": 127.5, "), "x", 0.5, 0, 255);
    encodings_expect(SYMMETRIC("8", "0", "\"min\": -63.5, \"max\": 63.5, "), "x", 0.5, -127, 127);
    encodings_expect(SYMMETRIC("2", "0", "\"min\": -0.5, \"max\": 0.5, "), "x", 0.5, -1, 1);
}

static void test_encodings__a_max_that_is_no_code_is_told(void **state)
{
    encodings_refuse(AIMET("\"bitwidth\": 8, \"offset\": 0, \"scale\": 0.5, \"min\": 0, "
                           "\"max\": 32767.5"),
                     "its min and max are 65535 steps of its scale apart, and 8 bits have 255");
    encodings_refuse(AIMET("\"bitwidth\": 8, \"offset\": -10, \"scale\": 0.5, \"min\": -5, "
                           "\"max\": 5"),
                     "are 20 steps of its scale apart");
}

static void test_encodings__a_range_alone_is_enough_for_qnn(void **state)
{
    encodings_expect(AIMET("\"bitwidth\": 8, \"min\": -1, \"max\": 1.55"), "x", 0.01, -100, 155);
}

/* --- channels and blocks ---------------------------------------------------------------------- */

static void test_encodings__channels_of_a_weight(void **state)
{
    struct odb_encodings *out = encodings_of(
        "{\"param_encodings\": {\"w\": [{\"bitwidth\": 8, \"offset\": -128, \"scale\": 1, "
        "\"is_symmetric\": \"True\"}, {\"bitwidth\": 8, \"offset\": -128, \"scale\": 2, "
        "\"is_symmetric\": \"True\"}]}}");
    const struct odb_encoding *e = odb_encodings_find(out, "w");
    assert_int_equal(e->n, 2);
    assert_int_equal(e->axis, ODB_ENCODING_BY_READER);
    assert_true(e->scale[1] == 2 && e->lo[1] == -128 && e->hi[1] == 127);
    odb_encodings_free(out);
}

#define CHANNELS(a, b) "{\"param_encodings\": {\"w\": [{" a "}, {" b "}]}}"

static void test_encodings__channels_have_the_same_codes(void **state)
{
    encodings_refuse(CHANNELS("\"offset\": -128, \"scale\": 1, \"min\": -128, \"max\": 127",
                              "\"offset\": -127, \"scale\": 1, \"min\": -127, \"max\": 127"),
                     "its channels are of different kinds");
    encodings_refuse(LISTED("\"bw\": 8, \"enc_type\": \"PER_CHANNEL\", \"is_sym\": true, "
                            "\"offset\": [0, -128], \"scale\": [1, 1]"),
                     "its channels are of different kinds");
}

/* Such a channel says nothing of the codes, wherever it stands. */
static void test_encodings__a_channel_of_zeros_takes_no_part(void **state)
{
    static const char *const texts[] = {
        CHANNELS("\"offset\": -127, \"scale\": 1, \"min\": -127, \"max\": 127",
                 "\"offset\": 0, \"scale\": 0, \"min\": 0, \"max\": 0"),
        CHANNELS("\"offset\": 0, \"scale\": 0, \"min\": 0, \"max\": 0",
                 "\"offset\": -127, \"scale\": 1, \"min\": -127, \"max\": 127")};
    for (size_t i = 0; i < ODB_COUNT(texts); i++) {
        struct odb_encodings *out = encodings_of(texts[i]);
        if (!out)
            fail_msg("refused: %s", err.what);
        const struct odb_encoding *e = odb_encodings_find(out, "w");
        assert_int_equal(e->n, 2);
        assert_true(e->scale[i] == 1 && e->scale[1 - i] == 0);
        assert_true(e->lo[i] == -127 && e->hi[i] == 127);
        odb_encodings_free(out);
    }
}

static void test_encodings__blocks_of_blocks(void **state)
{
    struct odb_encodings *out = encodings_of(
        "{\"version\": \"1.0.0\", \"param_encodings\": [{\"name\": \"w\", \"enc_type\": \"LPBQ\", "
        "\"dtype\": \"INT\", \"bw\": 8, \"compressed_bw\": 4, \"is_sym\": true, \"block_size\": 2, "
        "\"offset\": [-128, -128], \"scale\": [0.5, 1], \"per_block_int_scale\": [1, 2, 3, 4]}]}");
    const struct odb_encoding *e = odb_encodings_find(out, "w");
    const odb_f32 scales[] = {0.5, 1, 3, 4};
    assert_int_equal(e->n, 4);
    assert_memory_equal(e->scale, scales, sizeof scales);
    assert_true(e->lo[0] == -8 && e->hi[3] == 7);
    odb_encodings_free(out);
}

static void test_encodings__yaml_lists_and_custom_layers(void **state)
{
    struct odb_encodings *out = encodings_of("custom_quantize_layers:\n"
                                             "  b:0: float16\n"
                                             "quantize_parameters:\n"
                                             "  a/x:0:\n"
                                             "    qmethod: channel\n"
                                             "    dtype: int8\n"
                                             "    scale:\n"
                                             "    - 0.5\n"
                                             "    - 0.25\n"
                                             "    zero_point:\n"
                                             "    - 0\n"
                                             "    - 0\n"
                                             "  b:0:\n"
                                             "    dtype: int8\n"
                                             "    scale: [1]\n"
                                             "    zero_point: [0]\n");
    assert_non_null(out);
    assert_int_equal(odb_encodings_find(out, "a/x:0")->n, 2);
    assert_int_equal(odb_encodings_find(out, "b:0")->type, ODB_F16);
    odb_encodings_free(out);
}

/* --- what is refused -------------------------------------------------------------------------- */

static void test_encodings__what_does_not_fit_is_said(void **state)
{
    encodings_refuse("{}", "neither values");
    encodings_refuse("{\"values\": {}}", "it has no encodings");
    encodings_refuse("nothing of the kind", "no file of encodings that is known");
    encodings_refuse("{\"values\": ", "line 1");
    encodings_refuse(OWN("\"scale\": -1"), "-1 is no scale");
    encodings_refuse(OWN("\"scale\": 1e39"), "1e+39 is no scale");
    encodings_refuse(OWN("\"scale\": 1e-60"), "1e-60 is no scale");
    encodings_refuse(OWN("\"scales\": 1"), "'scales' is not known");
    encodings_refuse(OWN("\"scale\": 1, \"min\": -1"), "'min' is not known");
    encodings_refuse(OWN("\"scale\": [1, 2], \"zero_point\": [1, 2, 3]"), "3 zero points");
    encodings_refuse(OWN("\"scale\": 1, \"zero_point\": 0.5"), "no whole number");
    encodings_refuse(OWN("\"scale\": 1, \"bits\": 1"), "1 bits are not supported");
    encodings_refuse(OWN("\"scale\": 1, \"bits\": 4.0"), "its bits is no whole number");
    encodings_refuse(OWN("\"scale\": 1, \"signed\": \"true\""),
                     "its signed is neither true nor false");
    encodings_refuse(OWN("\"scale\": [1, 2], \"axis\": -1"),
                     "its axis is no whole number from 0 on");
    encodings_refuse(OWN("\"scale\": [1, 2], \"axis\": 0, \"block_axis\": -2, \"block\": 2"),
                     "its block_axis is no whole number from 0 on");
    encodings_refuse(AIMET("\"bitwidth\": \"16\", \"scale\": 1"),
                     "its bitwidth is no whole number");
    encodings_refuse("{\"version\": \"2.0.0\", \"encodings\": [{\"name\": \"x\", \"y_scale\": [1, "
                     "2], \"axis\": -2, \"output_dtype\": \"int8\"}]}",
                     "its axis is no whole number from 0 on");
    encodings_refuse("{\"version\": \"2.0.0\", \"encodings\": [{\"name\": \"x\", \"y_scale\": [1, "
                     "2], \"axis\": 0, \"block_size\": 2.0, \"output_dtype\": \"int8\"}]}",
                     "its block_size is no whole number from 0 on");
    encodings_refuse("{\"version\": \"2.0.0\", \"encodings\": [{\"name\": \"x\", \"y_scale\": 1, "
                     "\"output_dtype\": \"int4294967300\"}]}",
                     "output_dtype int4294967300 is not supported");
    encodings_refuse(
        "{\"version\": \"1.0.0\", \"param_encodings\": [{\"name\": \"w\", \"enc_type\": "
        "\"LPBQ\", \"bw\": 8, \"compressed_bw\": 4294967300, \"is_sym\": true, "
        "\"block_size\": 2, \"offset\": [-128], \"scale\": [1], "
        "\"per_block_int_scale\": [1, 2]}]}",
        "its compressed_bw is no whole number");
    encodings_refuse(LISTED("\"bw\": 8, \"enc_type\": \"PER_BLOCK\", \"block_size\": 1e9, "
                            "\"offset\": [0], \"scale\": [1]"),
                     "its block_size is no whole number");
    encodings_refuse(AIMET("\"bitwidth\": 8, \"min\": 3, \"max\": -3"),
                     "its min 3 is above its max -3");
    encodings_refuse("quantize_parameters:\n  x:\n    scale: [1]\n    zero_point: [0]\n",
                     "it has no dtype");
    encodings_refuse(LISTED("\"bw\": 8, \"enc_type\": \"VECTOR\", \"offset\": [0], \"scale\": [1]"),
                     "VECTOR is not known");
    encodings_refuse("{\"activation_encodings\": {\"x\": [{\"scale\": 1, \"offset\": 0}]}, "
                     "\"param_encodings\": {\"x\": [{\"scale\": 1, \"offset\": 0}]}}",
                     "two encodings");
}

/* --- rounding --------------------------------------------------------------------------------- */

static void encodings_round(const char *text, const int64_t *dims, int rank, const odb_f32 *x,
                            const odb_f32 *want)
{
    struct odb_encodings *out = encodings_of(text);
    const struct odb_encoding *e = odb_encodings_find(out, "x");
    struct odb_tensor *t, *got, *wide, *doubles;
    assert_int_equal(odb_tensor_copy_of(&t, ODB_F32, rank, dims, x, &err), ODB_OK);
    assert_int_equal(odb_encoding_apply(e, t, 0, 0, &got, &err), ODB_OK);
    for (size_t i = 0; i < t->count; i++)
        if (odb_tensor_f64(got, i) != (double)want[i])
            fail_msg("element %zu: %g becomes %g, not %g", i, (double)x[i], odb_tensor_f64(got, i),
                     (double)want[i]);
    assert_int_equal(odb_tensor_cast(&wide, t, ODB_F64, &err), ODB_OK);
    assert_int_equal(odb_encoding_apply(e, wide, 0, 0, &doubles, &err), ODB_OK);
    for (size_t i = 0; i < t->count; i++)
        assert_true(odb_tensor_f64(doubles, i) == (double)want[i]);
    odb_tensor_unref(doubles);
    odb_tensor_unref(wide);
    odb_tensor_unref(got);
    odb_tensor_unref(t);
    odb_encodings_free(out);
}

static void test_encodings__ties_go_to_the_even_step_and_ends_hold(void **state)
{
    encodings_round(OWN("\"scale\": 0.5, \"zero_point\": 2"), (int64_t[]){8}, 1,
                    (const odb_f32[]){0.25F, 0.75F, -0.25F, -0.75F, -1.3F, 1000, 0.3F, 126.5F},
                    (const odb_f32[]){0, 1, 0, -1, -1, 126.5F, 0.5F, 126.5F});
}

static void test_encodings__each_channel_has_its_scale(void **state)
{
    encodings_round(OWN("\"scale\": [1, 10], \"axis\": 1"), (int64_t[]){2, 2, 2}, 3,
                    (const odb_f32[]){1.4F, 2.6F, 14, 26, 3.4F, 4.6F, 34, 46},
                    (const odb_f32[]){1, 3, 10, 30, 3, 5, 30, 50});
}

static void test_encodings__each_block_has_its_scale(void **state)
{
    encodings_round(OWN("\"scale\": [1, 10, 2, 20], \"axis\": 0, \"block_axis\": 1, \"block\": 2"),
                    (int64_t[]){2, 3}, 2, (const odb_f32[]){1.4F, 2.6F, 14, 1.4F, 2.6F, 31},
                    (const odb_f32[]){1, 3, 10, 2, 2, 40});
}

static void test_encodings__a_tensor_of_other_channels_is_refused(void **state)
{
    struct odb_encodings *out = encodings_of(OWN("\"scale\": [1, 10], \"axis\": 1"));
    struct odb_tensor *t, *got;
    assert_int_equal(odb_tensor_new(&t, ODB_F32, 2, (int64_t[]){2, 3}, &err), ODB_OK);
    assert_int_equal(odb_encoding_apply(odb_encodings_find(out, "x"), t, 0, 0, &got, &err),
                     ODB_E_INPUT);
    assert_non_null(strstr(err.what, "3 channels along axis 1, its encoding 2 scales"));
    odb_tensor_unref(t);
    odb_encodings_free(out);
}

static void test_encodings__noise_tips_what_is_near_the_middle_alone(void **state)
{
    enum { N = 4096 };
    struct odb_encodings *out = encodings_of(OWN("\"scale\": 1"));
    const struct odb_encoding *e = odb_encodings_find(out, "x");
    struct odb_tensor *t, *got;
    size_t up = 0;
    assert_int_equal(odb_tensor_new(&t, ODB_F32, 1, (int64_t[]){N}, &err), ODB_OK);
    odb_f32 *x = t->data;
    for (size_t i = 0; i < N; i++)
        x[i] = i % 2 ? 7.5F : 7.4F;
    assert_int_equal(odb_encoding_apply(e, t, 1.0 / 32, 5, &got, &err), ODB_OK);
    for (size_t i = 0; i < N; i++) {
        double v = odb_tensor_f64(got, i);
        assert_true(i % 2 ? v == 7 || v == 8 : v == 7);
        up += v == 8;
    }
    assert_in_range(up, N / 8, N / 2 - N / 8);
    odb_tensor_unref(got);
    odb_tensor_unref(t);
    odb_encodings_free(out);
}

/* --- writing ---------------------------------------------------------------------------------- */

static void test_encodings__what_is_written_is_read_again(void **state)
{
    static const char *const texts[] = {
        OWN("\"scale\": 0.1, \"zero_point\": 7"),
        OWN("\"bits\": 4, \"signed\": true, \"symmetric\": true, \"scale\": [0.1, 0.3], "
            "\"zero_point\": [0, 0], \"axis\": 1"),
        OWN("\"signed\": true, \"symmetric\": true, \"scale\": 0.3, \"codes\": [-127, 127]"),
        OWN("\"bits\": 4, \"signed\": true, \"symmetric\": true, \"scale\": [1, 2, 3, 4], "
            "\"axis\": 0, \"block_axis\": 1, \"block\": 32"),
        OWN("\"type\": \"float16\""),
    };
    for (size_t i = 0; i < ODB_COUNT(texts); i++) {
        struct odb_buf text = ODB_BUF_INIT;
        struct odb_encodings *a = encodings_of(texts[i]);
        assert_non_null(a);
        odb_encodings_put(a, "minmax", &text);
        struct odb_encodings *b = encodings_of(odb_buf_text(&text));
        if (!b)
            fail_msg("%s: %s", err.what, odb_buf_text(&text));
        const struct odb_encoding *x = &a->list.items[0], *y = &b->list.items[0];
        assert_int_equal(x->n, y->n);
        assert_int_equal(x->type, y->type);
        assert_int_equal(x->axis, y->axis);
        assert_int_equal(x->block_axis, y->block_axis);
        assert_int_equal(x->block, y->block);
        assert_memory_equal(x->scale, y->scale, x->n * sizeof *x->scale);
        assert_memory_equal(x->lo, y->lo, x->n * sizeof *x->lo);
        assert_memory_equal(x->hi, y->hi, x->n * sizeof *x->hi);
        odb_encodings_free(a);
        odb_encodings_free(b);
        odb_buf_dispose(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encodings__offsets_are_the_opposite_of_zero_points),
        cmocka_unit_test(test_encodings__a_zero_point_for_an_offset_is_told),
        cmocka_unit_test(test_encodings__symmetric_has_signed_codes_or_an_offset),
        cmocka_unit_test(test_encodings__symmetric_without_an_offset_is_signed),
        cmocka_unit_test(test_encodings__symmetric_from_zero_on_is_seen_from_its_min),
        cmocka_unit_test(test_encodings__a_max_that_is_no_code_is_told),
        cmocka_unit_test(test_encodings__a_range_alone_is_enough_for_qnn),
        cmocka_unit_test(test_encodings__channels_of_a_weight),
        cmocka_unit_test(test_encodings__channels_have_the_same_codes),
        cmocka_unit_test(test_encodings__a_channel_of_zeros_takes_no_part),
        cmocka_unit_test(test_encodings__blocks_of_blocks),
        cmocka_unit_test(test_encodings__yaml_lists_and_custom_layers),
        cmocka_unit_test(test_encodings__what_does_not_fit_is_said),
        cmocka_unit_test(test_encodings__ties_go_to_the_even_step_and_ends_hold),
        cmocka_unit_test(test_encodings__each_channel_has_its_scale),
        cmocka_unit_test(test_encodings__each_block_has_its_scale),
        cmocka_unit_test(test_encodings__a_tensor_of_other_channels_is_refused),
        cmocka_unit_test(test_encodings__noise_tips_what_is_near_the_middle_alone),
        cmocka_unit_test(test_encodings__what_is_written_is_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
