/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The narrow floats are checked over all their codes against their definition, written down here
 * once more with ldexp(), and their rounding at every midpoint between two neighbours.
 */
#include "tensor/dtype.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tensor/random.h"

struct format {
    enum odb_dtype dtype;
    int exp_bits, man_bits, bias;
    bool inf;     /* all-ones exponent holds Inf and NaN */
    int nan_code; /* magnitude code of NaN without Inf; -1: none, -2: the code of -0 */
    double max;
};

static const struct format formats[] = {
    {ODB_F16, 5, 10, 15, true, 0, 65504},      {ODB_BF16, 8, 7, 127, true, 0, 0x1.fep127},
    {ODB_F8E4M3FN, 4, 3, 7, false, 0x7f, 448}, {ODB_F8E4M3FNUZ, 4, 3, 8, false, -2, 240},
    {ODB_F8E5M2, 5, 2, 15, true, 0, 57344},    {ODB_F8E5M2FNUZ, 5, 2, 16, false, -2, 57344},
    {ODB_F4E2M1, 2, 1, 1, false, -1, 6},
};

static int format_bits(const struct format *f)
{
    return 1 + f->exp_bits + f->man_bits;
}

/* The number that a code means, by the book. */
static double format_value(const struct format *f, unsigned code)
{
    unsigned sign = 1u << (format_bits(f) - 1), magnitude = code & (sign - 1);
    int exp = (int)(magnitude >> f->man_bits), top = (1 << f->exp_bits) - 1;
    double fraction = ldexp(magnitude & ((1u << f->man_bits) - 1), -f->man_bits);
    double v = exp ? ldexp(1 + fraction, exp - f->bias) : ldexp(fraction, 1 - f->bias);
    if (f->inf && exp == top)
        v = fraction == 0 ? INFINITY : NAN;
    else if (f->nan_code > 0 && magnitude == (unsigned)f->nan_code)
        v = NAN;
    else if (f->nan_code == -2 && code == sign)
        return NAN;
    return code & sign ? -v : v;
}

static unsigned load_code(enum odb_dtype dtype, const void *data)
{
    unsigned bits = odb_dtype_info(dtype)->bits;
    enum odb_dtype raw = bits == 16 ? ODB_U16 : bits == 8 ? ODB_U8 : ODB_U4;
    return (unsigned)odb_load_i64(raw, data, 0);
}

static unsigned encode(enum odb_dtype dtype, double v)
{
    uint16_t cell = 0;
    odb_store_f64(dtype, &cell, 0, v);
    return load_code(dtype, &cell);
}

static double decode(enum odb_dtype dtype, unsigned code)
{
    uint16_t cell = (uint16_t)code;
    return odb_load_f64(dtype, &cell, 0);
}

static bool same(double a, double b)
{
    return (a != a && b != b) || (a == b && signbit(a) == signbit(b));
}

static void test_dtype__all_codes_mean_their_numbers(void **state)
{
    for (size_t k = 0; k < ODB_COUNT(formats); k++)
        for (unsigned code = 0; code < 1u << format_bits(&formats[k]); code++)
            assert_true(same(decode(formats[k].dtype, code), format_value(&formats[k], code)));
}

static void test_dtype__all_codes_survive(void **state)
{
    for (size_t k = 0; k < ODB_COUNT(formats); k++)
        for (unsigned code = 0; code < 1u << format_bits(&formats[k]); code++) {
            double v = format_value(&formats[k], code);
            bool saturates = formats[k].dtype != ODB_F16 && formats[k].dtype != ODB_BF16;
            if (v != v)
                assert_true(isnan(decode(formats[k].dtype, encode(formats[k].dtype, v))));
            else if (!isinf(v) || !saturates)
                assert_int_equal(encode(formats[k].dtype, v), code);
        }
}

static void test_dtype__rounds_to_nearest_even(void **state)
{
    for (size_t k = 0; k < ODB_COUNT(formats); k++) {
        const struct format *f = &formats[k];
        unsigned sign = 1u << (format_bits(f) - 1);
        for (unsigned code = 0; format_value(f, code) < f->max; code++) {
            double lo = format_value(f, code), hi = format_value(f, code + 1);
            double middle = (lo + hi) / 2; /* exact */
            unsigned even = code & 1 ? code + 1 : code;
            assert_int_equal(encode(f->dtype, middle), even);
            assert_int_equal(encode(f->dtype, nextafter(middle, INFINITY)), code + 1);
            assert_int_equal(encode(f->dtype, nextafter(middle, 0)), code);
            if (even || f->nan_code != -2)
                assert_int_equal(encode(f->dtype, -middle), sign | even);
        }
    }
}

static void test_dtype__overflow(void **state)
{
    assert_int_equal(encode(ODB_F16, 65519.999), 0x7bff);
    assert_int_equal(encode(ODB_F16, 65520), 0x7c00);
    assert_int_equal(encode(ODB_F16, -INFINITY), 0xfc00);
    assert_int_equal(encode(ODB_BF16, 0x1.fefep127), 0x7f7f);
    assert_int_equal(encode(ODB_BF16, 0x1.ffp127), 0x7f80);
    assert_int_equal(encode(ODB_F8E4M3FN, 1e6), 0x7e);
    assert_int_equal(encode(ODB_F8E4M3FN, -INFINITY), 0xfe);
    assert_int_equal(encode(ODB_F8E4M3FNUZ, INFINITY), 0x7f);
    assert_int_equal(encode(ODB_F8E5M2, 1e6), 0x7b);
    assert_int_equal(encode(ODB_F8E5M2, INFINITY), 0x7b);
    assert_int_equal(encode(ODB_F8E5M2, NAN), 0x7e);
    assert_int_equal(encode(ODB_F8E5M2FNUZ, -1e6), 0xff);
    assert_int_equal(encode(ODB_F8E5M2FNUZ, -0.0), 0);
    assert_int_equal(encode(ODB_F4E2M1, 9), 7);
    assert_int_equal(encode(ODB_F4E2M1, -INFINITY), 15);
    assert_int_equal(encode(ODB_F4E2M1, NAN), 8);
    assert_int_equal(odb_f64_to_f8(ODB_F8E4M3FN, 1e6, false, ODB_E8M0_UP), 0x7f);
    assert_int_equal(odb_f64_to_f8(ODB_F8E4M3FN, 464, false, ODB_E8M0_UP), 0x7e);
    assert_int_equal(odb_f64_to_f8(ODB_F8E4M3FN, 464.1, false, ODB_E8M0_UP), 0x7f);
    assert_int_equal(odb_f64_to_f8(ODB_F8E4M3FNUZ, -1e6, false, ODB_E8M0_UP), 0x80);
    assert_int_equal(odb_f64_to_f8(ODB_F8E5M2, -1e6, false, ODB_E8M0_UP), 0xfc);
}

static void test_dtype__e8m0(void **state)
{
    for (unsigned code = 0; code < 255; code++) {
        double v = ldexp(1, (int)code - 127);
        assert_true(decode(ODB_F8E8M0, code) == v);
        assert_int_equal(encode(ODB_F8E8M0, v), code);
        if (code == 254)
            break;
        assert_int_equal(odb_f64_to_f8(ODB_F8E8M0, v * 1.25, true, ODB_E8M0_UP), code + 1);
        assert_int_equal(odb_f64_to_f8(ODB_F8E8M0, v * 1.75, true, ODB_E8M0_DOWN), code);
        assert_int_equal(odb_f64_to_f8(ODB_F8E8M0, v * 1.5, true, ODB_E8M0_NEAREST), code + 1);
        assert_int_equal(odb_f64_to_f8(ODB_F8E8M0, v * 1.49, true, ODB_E8M0_NEAREST), code);
    }
    assert_true(isnan(decode(ODB_F8E8M0, 255)));
    assert_int_equal(encode(ODB_F8E8M0, NAN), 255);
    assert_int_equal(encode(ODB_F8E8M0, 0), 0);
    assert_int_equal(encode(ODB_F8E8M0, INFINITY), 254);
    assert_int_equal(odb_f64_to_f8(ODB_F8E8M0, 0x1.8p127, true, ODB_E8M0_UP), 254);
    assert_int_equal(odb_f64_to_f8(ODB_F8E8M0, 0x1.8p127, false, ODB_E8M0_UP), 255);
    assert_int_equal(odb_f64_to_f8(ODB_F8E8M0, 0, false, ODB_E8M0_NEAREST), 255);
}

/* Floats of all exponents: random bits, and bits around the borders of float16. */
static float some_float(struct odb_pcg64 *r, int i)
{
    uint32_t bits = (uint32_t)odb_pcg64_u64(r);
    if (i % 2)
        bits = (bits & 0x87ffffffu) | 0x30000000u;
    if (i % 3 == 0)
        bits &= 0xfffff000u;
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static void test_dtype__fast_paths_agree_with_the_general_one(void **state)
{
    struct odb_pcg64 r;
    odb_pcg64_seed(&r, 1);
    for (int i = 0; i < 2000000; i++) {
        float v = some_float(&r, i);
        assert_int_equal(odb_f32_to_f16(v), encode(ODB_F16, v));
        assert_int_equal(odb_f32_to_bf16(v), encode(ODB_BF16, v));
    }
    for (unsigned code = 0; code < 65536; code++) {
        assert_true(same(odb_f16_to_f32((uint16_t)code), format_value(&formats[0], code)));
        assert_true(same(odb_bf16_to_f32((uint16_t)code), format_value(&formats[1], code)));
    }
}

static void test_dtype__double_is_rounded_once(void **state)
{
    double just_over = 1 + 0x1p-11 + 0x1p-40; /* a float would forget the last bit */
    assert_int_equal(encode(ODB_F16, just_over), 0x3c01);
    assert_int_equal(encode(ODB_F16, 1 + 0x1p-11), 0x3c00);
    uint16_t half;
    odb_convert(ODB_F16, &half, ODB_F64, &just_over, 1);
    assert_int_equal(half, 0x3c01);
    double bf = 1 + 0x1p-8 + 0x1p-50;
    assert_int_equal(encode(ODB_BF16, bf), 0x3f81);
    odb_round_f64(ODB_BF16, &bf, 1);
    assert_true(bf == 1 + 0x1p-7);
}

static void test_dtype__integers_are_rounded_once(void **state)
{
    /* Doubles cannot hold these; bfloat16's middle is at 1 + 2^-8. */
    int64_t over = ((int64_t)1 << 62) + ((int64_t)1 << 54) + 1;
    uint64_t uover = ((uint64_t)1 << 63) + ((uint64_t)1 << 55) + 1;
    int64_t middle = ((int64_t)1 << 62) + ((int64_t)1 << 54);
    uint16_t b;
    float f;
    odb_convert(ODB_BF16, &b, ODB_I64, &over, 1);
    assert_true(odb_bf16_to_f32(b) == 0x1.02p62f);
    odb_convert(ODB_BF16, &b, ODB_I64, &middle, 1);
    assert_true(odb_bf16_to_f32(b) == 0x1p62f);
    odb_convert(ODB_BF16, &b, ODB_U64, &uover, 1);
    assert_true(odb_bf16_to_f32(b) == 0x1.02p63f);
    over = -(((int64_t)1 << 62) + ((int64_t)1 << 38) + 1); /* float's middle, and one */
    odb_store_i64(ODB_F32, &f, 0, over);
    assert_true(f == -(0x1p62f + 0x1p39f));
    odb_convert(ODB_F32, &f, ODB_I64, &over, 1);
    assert_true(f == -(0x1p62f + 0x1p39f));
    uint64_t max = UINT64_MAX;
    assert_true(odb_load_f64(ODB_U64, &max, 0) == 0x1p64);
}

static void test_dtype__integers_wrap_and_saturate(void **state)
{
    int64_t q = 0;
    odb_store_f64(ODB_U8, &q, 0, 257.9);
    assert_int_equal(odb_load_i64(ODB_U8, &q, 0), 1);
    odb_store_f64(ODB_I8, &q, 0, -129.9);
    assert_int_equal(odb_load_i64(ODB_I8, &q, 0), 127);
    odb_store_f64(ODB_U32, &q, 0, -1);
    assert_int_equal(odb_load_i64(ODB_U32, &q, 0), UINT32_MAX);
    odb_store_f64(ODB_U64, &q, 0, 0x1.8p63);
    assert_true(odb_load_f64(ODB_U64, &q, 0) == 0x1.8p63);
    odb_store_f64(ODB_U64, &q, 0, 0x1p64 + 0x1p13);
    assert_int_equal(odb_load_i64(ODB_U64, &q, 0), 8192);
    odb_store_f64(ODB_I64, &q, 0, -0x1p64 - 0x1p13);
    assert_int_equal(q, -8192);
    odb_store_f64(ODB_I32, &q, 0, NAN);
    assert_int_equal(odb_load_i64(ODB_I32, &q, 0), 0);
    odb_store_f64(ODB_I64, &q, 0, INFINITY);
    assert_int_equal(q, 0);
    odb_store_f64(ODB_BOOL, &q, 0, NAN);
    assert_int_equal(odb_load_i64(ODB_BOOL, &q, 0), 1);
    const double odd[] = {1e300, -1e300, NAN, -0.9};
    const int64_t expected[] = {INT64_MAX, INT64_MIN, 0, 0};
    for (size_t i = 0; i < ODB_COUNT(odd); i++)
        assert_int_equal(odb_load_i64(ODB_F64, odd, i), expected[i]);
}

static void test_dtype__packed_elements_leave_their_neighbours(void **state)
{
    static const enum odb_dtype types[] = {ODB_U4, ODB_I4, ODB_U2, ODB_I2, ODB_F4E2M1};
    for (size_t k = 0; k < ODB_COUNT(types); k++) {
        uint8_t cells[8];
        unsigned bits = odb_dtype_info(types[k])->bits;
        enum odb_dtype raw = bits == 4 ? ODB_U4 : ODB_U2;
        size_t n = 8 * 8 / bits;
        memset(cells, 0, sizeof cells);
        for (size_t i = 0; i < n; i++)
            odb_store_i64(raw, cells, i, (int64_t)(i * 7 % (1u << bits)));
        for (size_t i = 0; i < n; i++) {
            unsigned code = (unsigned)(i * 7 % (1u << bits));
            assert_int_equal(odb_load_i64(raw, cells, i), code);
            odb_store_f64(types[k], cells, i, odb_load_f64(types[k], cells, i));
            assert_int_equal(odb_load_i64(raw, cells, i), code);
        }
    }
    uint8_t low_first = 0;
    odb_store_i64(ODB_I4, &low_first, 0, -3);
    odb_store_i64(ODB_I4, &low_first, 1, 7);
    assert_int_equal(low_first, 0x7d);
    assert_int_equal(odb_load_i64(ODB_I4, &low_first, 0), -3);
    odb_store_i64(ODB_I2, &low_first, 3, -2);
    assert_int_equal(low_first, 0xbd);
}

/* odb_convert() of every pair of types gives what loading and storing one by one gives. */
static void test_dtype__convert_is_load_and_store(void **state)
{
    enum { N = 1003 };
    static uint8_t from[N * 16], to[N * 16], one[N * 16];
    struct odb_pcg64 r;
    odb_pcg64_seed(&r, 3);
    for (unsigned f = 1; f < ODB_DTYPE_COUNT; f++)
        for (unsigned t = 1; t < ODB_DTYPE_COUNT; t++) {
            enum odb_dtype a = (enum odb_dtype)f, b = (enum odb_dtype)t;
            if (f == t || a == ODB_STRING || b == ODB_STRING)
                continue;
            for (size_t i = 0; i < sizeof from; i++)
                from[i] = (uint8_t)odb_pcg64_integers(&r, 0, a == ODB_BOOL ? 1 : 255);
            memset(to, 0, sizeof to);
            memset(one, 0, sizeof one);
            odb_convert(b, to, a, from, N);
            bool both_complex = odb_dtype_info(a)->class_ == ODB_CLASS_COMPLEX &&
                                odb_dtype_info(b)->class_ == ODB_CLASS_COMPLEX;
            bool integral = odb_dtype_is_integer(a) || a == ODB_BOOL;
            bool wide = odb_dtype_is_integer(b) || b == ODB_BOOL || a != ODB_U64;
            for (size_t i = 0; i < N; i++) {
                if (both_complex) {
                    enum odb_dtype pa = a == ODB_C64 ? ODB_F32 : ODB_F64;
                    enum odb_dtype pb = b == ODB_C64 ? ODB_F32 : ODB_F64;
                    for (size_t part = 0; part < 2; part++)
                        odb_store_f64(pb, one, 2 * i + part, odb_load_f64(pa, from, 2 * i + part));
                } else if (integral && wide) {
                    odb_store_i64(b, one, i, odb_load_i64(a, from, i));
                } else {
                    odb_store_f64(b, one, i, odb_load_f64(a, from, i));
                }
            }
            size_t bytes;
            assert_true(odb_dtype_bytes(b, N, &bytes));
            if (a == ODB_U64 && !wide) /* one by one it is rounded twice */
                continue;
            for (size_t i = 0; i < N; i++) {
                double x = odb_load_f64(b, to, i), y = odb_load_f64(b, one, i);
                assert_true(same(x, y));
            }
        }
}

static void test_dtype__long_arrays_convert_in_blocks(void **state)
{
    size_t n = 200003;
    double *v = malloc(n * sizeof *v);
    uint8_t *nibbles = calloc(n / 2 + 1, 1);
    double *back = malloc(n * sizeof *back);
    for (size_t i = 0; i < n; i++)
        v[i] = (double)(i % 16);
    odb_convert(ODB_U4, nibbles, ODB_F64, v, n);
    odb_convert(ODB_F64, back, ODB_U4, nibbles, n);
    assert_memory_equal(v, back, n * sizeof *v);
    free(v);
    free(nibbles);
    free(back);
}

static void test_dtype__round_in_place(void **state)
{
    float x[] = {1.0f + 0x1p-11f, 1.0f + 0x1.8p-10f, 70000, -0.0f, 0x1p-25f, 0x1.8p-24f, NAN};
    const float half[] = {1, 1 + 0x1p-9f, INFINITY, -0.0f, 0, 0x1p-23f, NAN};
    odb_round_f32(ODB_F16, x, ODB_COUNT(x));
    for (size_t i = 0; i < ODB_COUNT(x); i++)
        assert_true(same(x[i], half[i]));
    float t[] = {1 + 0x1p-11f, 1 + 0x1.8p-10f, 0x1.fffffep127f, -INFINITY, 0x1p-149f, NAN};
    const float tf32[] = {1, 1 + 0x1p-9f, INFINITY, -INFINITY, 0, NAN};
    odb_round_tf32(t, ODB_COUNT(t));
    for (size_t i = 0; i < ODB_COUNT(t); i++)
        assert_true(same(t[i], tf32[i]));
    double d[] = {70000, 1 + 0x1p-11, -0x1p-26};
    const double dh[] = {INFINITY, 1, -0.0};
    odb_round_f64(ODB_F16, d, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(same(d[i], dh[i]));
    float b[] = {1 + 0x1p-8f, 1 + 0x1.8p-7f};
    odb_round_f32(ODB_BF16, b, 2);
    assert_true(b[0] == 1 && b[1] == 1 + 0x1p-6f);
}

static void test_dtype__unaligned(void **state)
{
    char bytes[64];
    odb_store_f64(ODB_F32, bytes + 1, 0, 1.5);
    odb_store_f64(ODB_F64, bytes + 9, 0, -2.5);
    odb_store_i64(ODB_I64, bytes + 21, 0, -7);
    assert_true(odb_load_f64(ODB_F32, bytes + 1, 0) == 1.5);
    assert_true(odb_load_f64(ODB_F64, bytes + 9, 0) == -2.5);
    assert_int_equal(odb_load_i64(ODB_I64, bytes + 21, 0), -7);
}

static void test_dtype__names_and_sizes(void **state)
{
    for (unsigned i = 1; i < ODB_DTYPE_COUNT; i++) {
        const struct odb_dtype_info *info = odb_dtype_info((enum odb_dtype)i);
        assert_int_equal(odb_dtype_parse(info->name), i);
        if (info->numpy)
            assert_int_equal(odb_dtype_parse(info->numpy), i);
        if (info->class_ != ODB_CLASS_FLOAT)
            continue;
        /* eps, max and tiny are what the conversions do. */
        uint64_t cell[2] = {0};
        odb_store_f64((enum odb_dtype)i, cell, 0, info->max);
        assert_true(odb_load_f64((enum odb_dtype)i, cell, 0) == info->max);
        odb_store_f64((enum odb_dtype)i, cell, 0, info->tiny);
        assert_true(odb_load_f64((enum odb_dtype)i, cell, 0) == info->tiny);
        odb_store_f64((enum odb_dtype)i, cell, 0, 1 + info->eps);
        assert_true(odb_load_f64((enum odb_dtype)i, cell, 0) == 1 + info->eps);
    }
    assert_int_equal(odb_dtype_parse("FLOAT16"), ODB_F16);
    assert_int_equal(odb_dtype_parse("float64"), ODB_F64);
    assert_int_equal(odb_dtype_parse("quark"), ODB_UNDEFINED);
    assert_int_equal(odb_dtype_info((enum odb_dtype)99)->bits, 0);
    size_t bytes;
    assert_true(odb_dtype_bytes(ODB_I4, 5, &bytes) && bytes == 3);
    assert_true(odb_dtype_bytes(ODB_U2, 5, &bytes) && bytes == 2);
    assert_true(odb_dtype_bytes(ODB_C128, 5, &bytes) && bytes == 80);
    assert_false(odb_dtype_bytes(ODB_F64, SIZE_MAX / 4, &bytes));
    assert_false(odb_dtype_bytes(ODB_UNDEFINED, 1, &bytes));
}

/* Many at a time come out as one by one, NaN and numbers without a leading one included. */
static void test_dtype__half_in_bulk(void **state)
{
    enum { CODES = 1 << 16 };
    uint16_t *codes = odb_new_n(uint16_t, CODES), *back = odb_new_n(uint16_t, CODES);
    float *wide = odb_new_n(float, CODES);
    for (size_t i = 0; i < CODES; i++)
        codes[i] = (uint16_t)(i * 40503u); /* NaN among numbers */
    odb_convert(ODB_F32, wide, ODB_F16, codes, CODES);
    for (size_t i = 0; i < CODES; i++) {
        float one = odb_f16_to_f32(codes[i]);
        assert_memory_equal(&wide[i], &one, sizeof one);
    }
    for (uint32_t low = 0; low < 1u << 16; low += 0xf0f) {
        for (uint32_t i = 0; i < CODES; i++) {
            uint32_t bits = i << 16 | low;
            memcpy(&wide[i], &bits, sizeof bits);
        }
        odb_convert(ODB_F16, back, ODB_F32, wide, CODES);
        for (size_t i = 0; i < CODES; i++)
            assert_int_equal(back[i], odb_f32_to_f16(wide[i]));
    }
    free(codes);
    free(back);
    free(wide);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dtype__all_codes_mean_their_numbers),
        cmocka_unit_test(test_dtype__all_codes_survive),
        cmocka_unit_test(test_dtype__rounds_to_nearest_even),
        cmocka_unit_test(test_dtype__overflow),
        cmocka_unit_test(test_dtype__e8m0),
        cmocka_unit_test(test_dtype__fast_paths_agree_with_the_general_one),
        cmocka_unit_test(test_dtype__double_is_rounded_once),
        cmocka_unit_test(test_dtype__integers_are_rounded_once),
        cmocka_unit_test(test_dtype__integers_wrap_and_saturate),
        cmocka_unit_test(test_dtype__packed_elements_leave_their_neighbours),
        cmocka_unit_test(test_dtype__convert_is_load_and_store),
        cmocka_unit_test(test_dtype__long_arrays_convert_in_blocks),
        cmocka_unit_test(test_dtype__round_in_place),
        cmocka_unit_test(test_dtype__unaligned),
        cmocka_unit_test(test_dtype__names_and_sizes),
        cmocka_unit_test(test_dtype__half_in_bulk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
