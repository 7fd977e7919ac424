/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/format/format.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static struct odb_error err;

static struct odb_tensor *one(enum odb_dtype dtype, double v)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, dtype, 0, NULL, &err), ODB_OK);
    odb_store_f64(dtype, t->data, 0, v);
    return t;
}

static void shows(const char *format, enum odb_dtype dtype, double v, const char *expected)
{
    struct odb_format f;
    char text[ODB_FORMAT_TEXT];
    struct odb_tensor *t = one(dtype, v);
    assert_int_equal(odb_format_parse(&f, format, &err), ODB_OK);
    assert_string_equal(odb_format_element(&f, t, 0, text, sizeof text), expected);
    int width = odb_format_width(&f, dtype);
    if (width)
        assert_true((int)strlen(text) <= width);
    odb_tensor_unref(t);
}

static void test_format__floats(void **state)
{
    shows("short", ODB_F32, 0.1, "0.1");
    shows("short", ODB_F32, 3.14159265, "3.1416");
    shows("short", ODB_F16, 65504, "65500");
    shows("exact", ODB_F32, 0.1, "0.1");
    shows("exact", ODB_F32, 1.0 / 3, "0.33333334");
    shows("exact", ODB_F64, 1.0 / 3, "0.3333333333333333");
    shows("exact", ODB_BF16, 1.0 / 3, "0.334");
    shows("general", ODB_F32, 1.0 / 3, "0.333333343");
    shows("%.6g", ODB_F32, 1.0 / 3, "0.333333");
    shows("%.3e", ODB_F32, -1e-38, "-1.000e-38");
    shows("scientific", ODB_F64, -1e-300, "-1.000000e-300");
    shows("%.2f", ODB_F32, 1e10, "10000000000.00");
    shows("%f", ODB_F32, 1, "1.000000");
    shows("hex", ODB_F32, -1.5, "-0x1.8p+0");
    shows("%a", ODB_F64, 0.1, "0x1.999999999999ap-4");
    shows("exact", ODB_F32, NAN, "nan");
    shows("hex", ODB_F32, -INFINITY, "-inf");
}

static void test_format__bits(void **state)
{
    shows("bits", ODB_F32, 1, "0x3f800000");
    shows("bits", ODB_F32, -INFINITY, "0xff800000");
    shows("bits", ODB_F64, 1, "0x3ff0000000000000");
    shows("bits", ODB_F16, 1, "0x3c00");
    shows("bits", ODB_BF16, 1, "0x3f80");
    shows("bits", ODB_F8E4M3FN, 1, "0x38");
    shows("short", ODB_F8E4M3FN, 448, "448");
    shows("short", ODB_F8E4M3FN, 0.5625, "0.5625");
    shows("bits", ODB_F4E2M1, 1, "0x2");
    shows("bits", ODB_I4, -1, "0xf");
    shows("bits", ODB_U2, 3, "0x3");
    shows("bits", ODB_I64, -2, "0xfffffffffffffffe");
    shows("bits", ODB_BOOL, 1, "0x01");
    shows("integer", ODB_F32, 1, "1065353216");
    shows("integer", ODB_F32, -0.0, "-2147483648");
    shows("integer", ODB_F16, -2, "-16384");
    shows("integer", ODB_BOOL, 1, "1");
}

static void test_format__integers(void **state)
{
    static const char *const decimal[] = {"short", "exact", "%.2e", "fixed", "integer"};
    for (size_t i = 0; i < ODB_COUNT(decimal); i++) {
        shows(decimal[i], ODB_I8, -128, "-128");
        shows(decimal[i], ODB_U4, 15, "15");
    }
    shows("hex", ODB_I16, -1, "0xffff");
    shows("short", ODB_BOOL, 1, "True");
}

static void test_format__complex(void **state)
{
    struct odb_format f;
    struct odb_tensor *t = one(ODB_C64, 0);
    float parts[2] = {1, -0.5f};
    char text[ODB_FORMAT_TEXT];
    memcpy(t->data, parts, sizeof parts);
    assert_int_equal(odb_format_parse(&f, "short", &err), ODB_OK);
    assert_string_equal(odb_format_element(&f, t, 0, text, sizeof text), "1-0.5j");
    assert_int_equal(odb_format_parse(&f, "bits", &err), ODB_OK);
    assert_string_equal(odb_format_element(&f, t, 0, text, sizeof text), "0x3f800000+0xbf000000j");
    odb_tensor_unref(t);
}

/* Every element of every small type keeps within its columns, in every format. */
static void test_format__widths_hold(void **state)
{
    for (int kind = 0; kind < ODB_FORMATS; kind++)
        for (int dtype = 1; dtype < ODB_DTYPE_COUNT; dtype++) {
            struct odb_format f;
            unsigned bits = odb_dtype_info((enum odb_dtype)dtype)->bits;
            char text[ODB_FORMAT_TEXT];
            if (!bits || bits > 16)
                continue;
            assert_int_equal(
                odb_format_parse(&f, odb_format_kind_name((enum odb_format_kind)kind), &err),
                ODB_OK);
            struct odb_tensor *t = one((enum odb_dtype)dtype, 0);
            int width = odb_format_width(&f, (enum odb_dtype)dtype);
            for (unsigned code = 0; width && code < 1u << bits && (dtype != ODB_BOOL || code < 2);
                 code++) {
                memcpy(t->data, &code, (bits + 7) / 8);
                odb_format_element(&f, t, 0, text, sizeof text);
                if ((int)strlen(text) > width)
                    fail_msg("%s of %s is %s, more than %d columns", odb_format_kind_name(f.kind),
                             odb_dtype_info((enum odb_dtype)dtype)->name, text, width);
            }
            odb_tensor_unref(t);
        }
}

static void test_format__names(void **state)
{
    static const char *const good[] = {"short", "exact",   "general", "scientific", "fixed", "hex",
                                       "bits",  "integer", "%.3g",    "%.17e",      "%.0f"};
    static const char *const bad[] = {"",     "shorter", "%",     "%s",       "%.18g",
                                      "%.3a", "%5g",     "%.3gx", "%.999999g"};
    struct odb_format f, again;
    char text[16];
    for (size_t i = 0; i < ODB_COUNT(good); i++) {
        assert_int_equal(odb_format_parse(&f, good[i], &err), ODB_OK);
        assert_string_equal(odb_format_name(&f, text, sizeof text), good[i]);
        assert_int_equal(odb_format_parse(&again, text, &err), ODB_OK);
        assert_true(again.kind == f.kind && again.digits == f.digits);
    }
    for (size_t i = 0; i < ODB_COUNT(bad); i++)
        assert_int_equal(odb_format_parse(&f, bad[i], &err), ODB_E_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format__floats),      cmocka_unit_test(test_format__bits),
        cmocka_unit_test(test_format__integers),    cmocka_unit_test(test_format__complex),
        cmocka_unit_test(test_format__widths_hold), cmocka_unit_test(test_format__names),
    };
    return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
