/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every code of every narrow element type, there and back, against a formula that knows the types
 * as IEEE 754 and the OCP documents describe them (sign, exponent, mantissa) and shares nothing
 * with the code under test: values come from ldexp(), rounding from rint() on a multiple of the
 * quantum. Encoders see all numbers of a type, the midpoints between neighbours, their own
 * neighbours in float and double, and a stride through all float bit patterns. It takes about a
 * second.
 */
#include <float.h>
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
#include "tensor/dtype.h"

#define STRIDE 509u /* a prime, so that all low bits occur */

/* Of a float type with a sign. */
struct narrow {
    enum odb_dtype dtype;
    int exp_bits, man_bits, bias;
    unsigned inf, nan, max; /* codes without sign; inf 0: none, nan 0: none */
    bool fnuz;              /* no -0: its code is the only NaN */
};

static const struct narrow narrows[] = {
    {ODB_F16, 5, 10, 15, 0x7c00, 0x7e00, 0x7bff, false},
    {ODB_BF16, 8, 7, 127, 0x7f80, 0x7fc0, 0x7f7f, false},
    {ODB_F8E4M3FN, 4, 3, 7, 0, 0x7f, 0x7e, false},
    {ODB_F8E4M3FNUZ, 4, 3, 8, 0, 0x80, 0x7f, true},
    {ODB_F8E5M2, 5, 2, 15, 0x7c, 0x7e, 0x7b, false},
    {ODB_F8E5M2FNUZ, 5, 2, 16, 0, 0x80, 0x7f, true},
    {ODB_F4E2M1, 2, 1, 1, 0, 0, 7, false},
};

static unsigned narrow_codes(const struct narrow *n)
{
    return 2u << (n->exp_bits + n->man_bits);
}

/* The number that a code stands for. */
static double narrow_value(const struct narrow *n, unsigned code)
{
    unsigned half = narrow_codes(n) / 2, size = code % half;
    double sign = code < half ? 1 : -1;
    int exponent = (int)(size >> n->man_bits), mantissa = (int)(size % (1u << n->man_bits));
    if (n->fnuz && code == half)
        return NAN;
    if (n->inf && size == n->inf)
        return sign * INFINITY;
    if (size > n->max)
        return NAN;
    if (exponent == 0)
        return sign * ldexp(mantissa, 1 - n->bias - n->man_bits);
    return sign * ldexp(mantissa + (1 << n->man_bits), exponent - n->bias - n->man_bits);
}

/* v rounded to nearest even with so many bits after the point, as if exponents had no upper end. */
static double narrow_round(double v, int man_bits, int least_exponent)
{
    if (v == 0 || !isfinite(v))
        return v;
    int exponent = ilogb(v);
    int quantum = (exponent < least_exponent ? least_exponent : exponent) - man_bits;
    return ldexp(rint(ldexp(v, -quantum)), quantum);
}

/* What a cast makes of v. */
static double narrow_cast(const struct narrow *n, double v, bool saturate)
{
    double max = narrow_value(n, n->max), r = narrow_round(v, n->man_bits, 1 - n->bias);
    if (isnan(v))
        return n->nan ? NAN : -0.0;
    if (fabs(r) <= max)
        return n->fnuz ? r + 0.0 : r;
    if (saturate || !n->nan)
        return copysign(max, v);
    return n->inf ? copysign(INFINITY, v) : NAN;
}

static bool same_number(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

/* --- decoding ------------------------------------------------------------------------------- */

static unsigned code_at(const struct narrow *n, const uint8_t *data, size_t i)
{
    if (n->dtype == ODB_F4E2M1)
        return data[i / 2] >> (i % 2 * 4) & 15;
    return n->exp_bits + n->man_bits == 15 ? data[2 * i] | (unsigned)data[2 * i + 1] << 8 : data[i];
}

static void test_dtype_exhaustive__decode(void **state)
{
    static uint8_t data[1 << 17];
    static double wide[1 << 16];
    static float single[1 << 16];
    for (size_t t = 0; t < ODB_COUNT(narrows); t++) {
        const struct narrow *n = &narrows[t];
        unsigned codes = narrow_codes(n);
        memset(data, 0, sizeof data);
        for (unsigned c = 0; c < codes; c++) {
            if (codes == 16)
                data[c / 2] |= (uint8_t)(c << (c % 2 * 4));
            else if (codes == 256)
                data[c] = (uint8_t)c;
            else
                ((odb_u16 *)data)[c] = (uint16_t)c;
        }
        odb_convert(ODB_F64, wide, n->dtype, data, codes);
        odb_convert(ODB_F32, single, n->dtype, data, codes);
        for (unsigned c = 0; c < codes; c++) {
            double want = narrow_value(n, c);
            assert_int_equal(code_at(n, data, c), c);
            if (!same_number(odb_load_f64(n->dtype, data, c), want) ||
                !same_number(wide[c], want) || !same_number(single[c], want))
                fail_msg("%s 0x%x is %g", odb_dtype_info(n->dtype)->name, c, want);
            if (n->dtype == ODB_F16)
                assert_true(same_number(odb_f16_to_f32((uint16_t)c), want));
            if (n->dtype == ODB_BF16)
                assert_true(same_number(odb_bf16_to_f32((uint16_t)c), want));
        }
    }
}

/* --- encoding ------------------------------------------------------------------------------- */

/* All ways that lead from a double to the type; exact floats also go the way of floats. */
static void check_encode(const struct narrow *n, double v)
{
    const char *name = odb_dtype_info(n->dtype)->name;
    bool half = n->exp_bits + n->man_bits == 15;
    double want = narrow_cast(n, v, !half), strict = narrow_cast(n, v, false);
    float f = (float)v;
    uint8_t a[2] = {0}, b[2] = {0}, c[2] = {0};
    odb_store_f64(n->dtype, a, 0, v);
    odb_convert(n->dtype, b, ODB_F64, &v, 1);
    unsigned code = code_at(n, a, 0);
    if (!same_number(narrow_value(n, code), want) || code_at(n, b, 0) != code)
        fail_msg("%s of %a is 0x%x, expected %g", name, v, code, want);
    if (!half) {
        code = odb_f64_to_f8(n->dtype, v, false, ODB_E8M0_UP);
        if (!same_number(narrow_value(n, code), strict))
            fail_msg("%s of %a not saturated is 0x%x, expected %g", name, v, code, strict);
    }
    if ((double)f != v)
        return;
    odb_convert(n->dtype, c, ODB_F32, &f, 1);
    if (!same_number(narrow_value(n, code_at(n, c, 0)), want))
        fail_msg("%s of float %a is 0x%x, expected %g", name, v, code_at(n, c, 0), want);
    odb_round_f32(n->dtype, &f, 1);
    if (!same_number(f, want))
        fail_msg("%a rounded to %s is %a, expected %a", v, name, f, want);
}

/* v, its negative, and the neighbours of both in float and double. */
static void check_around(const struct narrow *n, double v)
{
    float f = (float)v;
    const double near[] = {v, nextafter(v, INFINITY), nextafter(v, -INFINITY),
                           nextafterf(f, INFINITY), nextafterf(f, -INFINITY)};
    for (size_t i = 0; i < ODB_COUNT(near); i++) {
        check_encode(n, near[i]);
        check_encode(n, -near[i]);
    }
}

static void test_dtype_exhaustive__encode_borders(void **state)
{
    for (size_t t = 0; t < ODB_COUNT(narrows); t++) {
        const struct narrow *n = &narrows[t];
        for (unsigned c = 0; c <= n->max; c++) {
            double v = narrow_value(n, c);
            double next = c < n->max ? narrow_value(n, c + 1) : 2 * v - narrow_value(n, c - 1);
            check_around(n, v);
            check_around(n, (v + next) / 2);
        }
        const double odd[] = {INFINITY, NAN,          DBL_MAX, DBL_MIN, DBL_TRUE_MIN, FLT_MAX,
                              FLT_MIN,  FLT_TRUE_MIN, 1e300,   1e30,    1e10};
        for (size_t i = 0; i < ODB_COUNT(odd); i++) {
            check_encode(n, odd[i]);
            check_encode(n, -odd[i]);
        }
    }
}

static float float_of_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* A block of float patterns to the type by the vector loops. */
static void check_block(const struct narrow *n, const float *x, size_t count)
{
    static uint8_t codes[2 << 12];
    odb_convert(n->dtype, codes, ODB_F32, x, count);
    for (size_t i = 0; i < count; i++) {
        double want = narrow_cast(n, x[i], n->exp_bits + n->man_bits != 15);
        unsigned code = code_at(n, codes, i);
        if (!same_number(narrow_value(n, code), want))
            fail_msg("%s of float %a is 0x%x, expected %g", odb_dtype_info(n->dtype)->name,
                     (double)x[i], code, want);
    }
}

static void test_dtype_exhaustive__encode_all_floats(void **state)
{
    static float x[1 << 12];
    uint64_t bits = 0;
    for (size_t block = 0; bits >> 32 == 0; block++) {
        size_t count = 0;
        for (; count < ODB_COUNT(x) && bits >> 32 == 0; bits += STRIDE)
            x[count++] = float_of_bits((uint32_t)bits);
        check_block(&narrows[block % 2], x, count); /* float16, bfloat16 */
        check_block(&narrows[2 + block % 5], x, count);
    }
}

static void check_tf32(uint32_t bits)
{
    float x = float_of_bits(bits), y = x;
    double want = narrow_round(x, 10, -126);
    odb_round_tf32(&y, 1);
    if (fabs(want) > (double)FLT_MAX)
        want = copysign(INFINITY, want);
    if (!same_number(y, want))
        fail_msg("%a rounded to tf32 is %a, expected %a", (double)x, (double)y, want);
}

static void test_dtype_exhaustive__tf32(void **state)
{
    for (uint64_t bits = 0; bits >> 32 == 0; bits += STRIDE)
        check_tf32((uint32_t)bits);
    for (uint32_t high = 0; high < 1u << 19; high++) /* the midpoints, and what is beside them */
        for (uint32_t low = 0xfff; low <= 0x1001; low++)
            check_tf32(high << 13 | low);
}

/* --- float8e8m0 ----------------------------------------------------------------------------- */

static void check_e8m0(double v)
{
    static const enum odb_e8m0_round ways[] = {ODB_E8M0_UP, ODB_E8M0_DOWN, ODB_E8M0_NEAREST};
    for (size_t w = 0; w < ODB_COUNT(ways); w++) {
        int exponent = v > 0 && isfinite(v) ? ilogb(v) : 0;
        double rest = v > 0 && isfinite(v) ? ldexp(v, -exponent) : 1;
        bool up = ways[w] == ODB_E8M0_UP ? rest > 1 : ways[w] == ODB_E8M0_NEAREST && rest >= 1.5;
        int code = exponent + up + 127;
        for (int saturate = 0; saturate < 2; saturate++) {
            int want = v < 0x1p-127                  ? (saturate ? 0 : 255)
                       : v == INFINITY || code > 254 ? (saturate ? 254 : 255)
                                                     : code;
            want = isnan(v) ? 255 : want;
            int got = odb_f64_to_f8(ODB_F8E8M0, v, saturate != 0, ways[w]);
            if (got != want)
                fail_msg("e8m0 of %a is %d, expected %d (way %zu, saturate %d)", v, got, want, w,
                         saturate);
        }
    }
}

static void test_dtype_exhaustive__e8m0(void **state)
{
    for (unsigned c = 0; c < 256; c++) {
        uint8_t code = (uint8_t)c;
        double v = odb_load_f64(ODB_F8E8M0, &code, 0), want = ldexp(1, (int)c - 127);
        assert_true(c == 255 ? isnan(v) : v == want);
        for (int part = 0; part < 8; part++) {
            double at = want * (1 + part / 8.0);
            check_e8m0(at);
            check_e8m0(nextafter(at, INFINITY));
            check_e8m0(nextafter(at, 0));
        }
    }
    check_e8m0(0);
    check_e8m0(-1);
    check_e8m0(INFINITY);
    check_e8m0(-INFINITY);
    check_e8m0(NAN);
}

/* --- integers ------------------------------------------------------------------------------- */

static int64_t int_of_code(unsigned code, unsigned bits, bool sign)
{
    code %= 1u << bits;
    return sign && code >> (bits - 1) ? (int64_t)code - (1 << bits) : code;
}

/* Of n elements that share a byte each holds every code while the others hold every other. */
static void test_dtype_exhaustive__packed(void **state)
{
    static const struct {
        enum odb_dtype dtype;
        unsigned bits;
        bool sign;
    } packed[] = {{ODB_U4, 4, false}, {ODB_I4, 4, true}, {ODB_U2, 2, false}, {ODB_I2, 2, true}};
    for (size_t p = 0; p < ODB_COUNT(packed); p++) {
        enum odb_dtype dtype = packed[p].dtype;
        unsigned bits = packed[p].bits, per = 8 / bits, mask = (1u << bits) - 1;
        for (unsigned byte = 0; byte < 256; byte++)
            for (unsigned i = 0; i < per; i++) {
                uint8_t data = (uint8_t)byte;
                int64_t want = int_of_code(byte >> (i * bits), bits, packed[p].sign);
                assert_int_equal(odb_load_i64(dtype, &data, i), want);
                assert_true(odb_load_f64(dtype, &data, i) == (double)want);
                for (int64_t v = -300; v <= 300; v++) {
                    uint8_t by_int = data, by_float = data;
                    unsigned code = (unsigned)v & mask;
                    unsigned expected = (byte & ~(mask << (i * bits))) | code << (i * bits);
                    odb_store_i64(dtype, &by_int, i, v);
                    odb_store_f64(dtype, &by_float, i, (double)v + (v < 0 ? -0.75 : 0.75));
                    assert_int_equal(by_int, expected);
                    assert_int_equal(by_float, expected);
                }
            }
    }
}

/* All 16-bit integers to every type of integers and floats, against C's own conversions. */
static void test_dtype_exhaustive__integers(void **state)
{
    for (int64_t v = -32768; v < 65536; v++) {
        int64_t room[2] = {0};
#define CHECK(dtype, type)                                                                         \
    odb_store_i64(dtype, room, 0, v);                                                              \
    assert_int_equal(*(type *)room, (type)v);                                                      \
    odb_store_f64(dtype, room, 0, (double)v);                                                      \
    assert_int_equal(*(type *)room, (type)v);                                                      \
    assert_int_equal(odb_load_i64(dtype, room, 0), (int64_t)(type)v)
        CHECK(ODB_I8, odb_i8);
        CHECK(ODB_U8, odb_u8);
        CHECK(ODB_I16, odb_i16);
        CHECK(ODB_U16, odb_u16);
        CHECK(ODB_I32, odb_i32);
        CHECK(ODB_U32, odb_u32);
        CHECK(ODB_I64, odb_i64);
        CHECK(ODB_U64, odb_u64);
#undef CHECK
        for (size_t t = 0; t < ODB_COUNT(narrows); t++) {
            const struct narrow *n = &narrows[t];
            odb_store_i64(n->dtype, room, 0, v);
            double got = narrow_value(n, code_at(n, (uint8_t *)room, 0));
            assert_true(same_number(got, narrow_cast(n, (double)v, t >= 2)));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dtype_exhaustive__decode),
        cmocka_unit_test(test_dtype_exhaustive__encode_borders),
        cmocka_unit_test(test_dtype_exhaustive__encode_all_floats),
        cmocka_unit_test(test_dtype_exhaustive__tf32),
        cmocka_unit_test(test_dtype_exhaustive__e8m0),
        cmocka_unit_test(test_dtype_exhaustive__packed),
        cmocka_unit_test(test_dtype_exhaustive__integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
