/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The quantisers of QONNX; roundings and ranges are those of the tables of their page.
 */
#include "tests/help/op_case.h"

#define QUANT(...) OP("onnx.brevitas::Quant", 1, __VA_ARGS__)
#define NUMBERS "float[10] 5.5 2.5 1.6 1.1 1 -1 -1.1 -1.6 -2.5 -5.5"
#define ROUNDED(mode, expected)                                                                    \
    OP_EXPECT(0, QUANT("rounding_mode=" mode, {NUMBERS, "float[] 1", "float[] 0", "float[] 8"}),   \
              "float[10] " expected)
#define FAILS(...) OP_FAILS(QUANT(__VA_ARGS__))

static void test_qonnx__roundings(void **state)
{
    ROUNDED("ROUND", "6 2 2 1 1 -1 -1 -2 -2 -6");
    ROUNDED("ceil", "6 3 2 2 1 -1 -1 -1 -2 -5");
    ROUNDED("FLOOR", "5 2 1 1 1 -1 -2 -2 -3 -6");
    ROUNDED("UP", "6 3 2 2 1 -1 -2 -2 -3 -6");
    ROUNDED("down", "5 2 1 1 1 -1 -1 -1 -2 -5");
    ROUNDED("HALF_UP", "6 3 2 1 1 -1 -1 -2 -3 -6");
    ROUNDED("HALF_DOWN", "5 2 2 1 1 -1 -1 -2 -2 -5");
    FAILS("rounding_mode=SIDEWAYS", {NUMBERS, "float[] 1", "float[] 0", "float[] 8"});
}

#define RANGE(attrs, bits, expected)                                                               \
    OP_EXPECT(0, QUANT(attrs, {"float[4] 1000 7 -7 -1000", "float[] 1", "float[] 0", bits}),       \
              "float[4] " expected)

static void test_qonnx__ranges(void **state)
{
    RANGE(NULL, "float[] 8", "127 7 -7 -128");
    RANGE("narrow=1", "int64[] 8", "127 7 -7 -127");
    RANGE("signed=0", "int32[1] 8", "255 7 0 0");
    RANGE("signed=0 narrow=1", "float[] 8", "254 7 0 0");
    RANGE(NULL, "float[] 3", "3 3 -4 -4");
    RANGE(NULL, "float[] 1", "1 1 -1 -1"); /* bipolar */
    RANGE("signed=0", "float[] 1", "1 1 0 0");
    FAILS(NULL, {"float[1] 1", "float[] 1", "float[] 0", "float[] 2.5"});
    FAILS(NULL, {"float[1] 1", "float[] 1", "float[] 0", "float[] 0"});
    FAILS(NULL, {"float[1] 1", "float[] 1", "float[] 0", "float[2] 8 8"});
}

static void test_qonnx__scales(void **state)
{
    OP_EXPECT(
        0,
        QUANT(NULL, {"float[2,2] 0.6 0.6 0.6 0.6", "float[2,1] 0.25 1", "float[] 0", "float[] 8"}),
        "float[2,2] 0.5 0.5 1 1");
    OP_EXPECT(0,
              OP("finn.custom_op.general::IntQuant", 1, "signed=0",
                 {"double[3] -1 0 9", "double[] 0.5", "int64[] 3", "int64[] 4"}),
              "double[3] -1 0 6");
    OP_EXPECT(0, QUANT(NULL, {"float[0,2]", "float[1,2] 1 1", "float[] 0", "float[] 8"}),
              "float[0,2]");
    FAILS(NULL, {"float[2,2] 1 1 1 1", "float[3] 1 1 1", "float[] 0", "float[] 8"});
    FAILS(NULL, {"float[2] 1 1", "float[2,1] 1 1", "float[] 0", "float[] 8"});
    FAILS(NULL, {"float[2] 1 1", "float[] 1", "-", "float[] 8"});
    OP_EXPECT(0,
              OP("qonnx.custom_op.general::BipolarQuant", 1, NULL,
                 {"float[2,2] 3 0 -0.5 -3", "float[1,2] 0.5 2"}),
              "float[2,2] 0.5 2 -0.5 -2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_qonnx__roundings),
        cmocka_unit_test(test_qonnx__ranges),
        cmocka_unit_test(test_qonnx__scales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
