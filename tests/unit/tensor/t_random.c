/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every expected number was printed by NumPy 1.24.2.
 */
#include "tensor/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

struct stream_case {
    uint64_t seed;
    double first[4], at_2000;
};

struct integer_case {
    int64_t low, high; /* both included */
    int64_t first[6];
    int64_t sum; /* of 1001 draws with seed 7, modulo 2^64 */
};

static const struct stream_case mt_cases[] = {
    {42u,
     {0x1.7f8771e5f51ecp-2, 0x1.e6c4068bbd654p-1, 0x1.76c7e8f1e6751p-1, 0x1.32835d6632cb0p-1},
     0x1.20f5a604a512ap-2},
    {0u,
     {0x1.18fe1565f12a8p-1, 0x1.6e2d4cf608733p-1, 0x1.349d66b6e894bp-1, 0x1.16faedb6395f5p-1},
     0x1.00e86864bc501p-1},
    {4294967295u,
     {0x1.8fe69a3924820p-4, 0x1.d323d824032b1p-1, 0x1.93fc6f61af3f9p-1, 0x1.8f5ca1b151c07p-1},
     0x1.6f8e202307648p-3},
};

static const struct stream_case pcg_cases[] = {
    {42u,
     {0x1.8c43f79a2db24p-1, 0x1.c16959869e47ep-2, 0x1.b79a2584ddb42p-1, 0x1.650d6c1c2c011p-1},
     0x1.0a46dd9d76696p-1},
    {0u,
     {0x1.461fd79fb3850p-1, 0x1.1442f7e20b674p-2, 0x1.4fa7b529d9bd0p-5, 0x1.0ec9ed84d0bc0p-6},
     0x1.4945e158f5636p-2},
    {4294967296u,
     {0x1.c78bd7c50b582p-1, 0x1.1d4132d1fc63bp-1, 0x1.9a109ff09b1bdp-1, 0x1.e9bc2dd875173p-1},
     0x1.3a4fc9b94c3f8p-3},
    {12345678901234567890u,
     {0x1.14e1b88d30600p-8, 0x1.4e00084f03a74p-1, 0x1.373c1cfb918e6p-1, 0x1.f7f6d497a0a85p-1},
     0x1.ca15dbff29398p-3},
};

static const struct integer_case mt_integers[] = {
    {5, 5, {5, 5, 5, 5, 5, 5}, 5005},
    {0, 1, {0, 1, 0, 0, 0, 1}, 496},
    {0, 100, {51, 92, 14, 71, 60, 20}, 49874},
    {-5, 1000000, {121953, 671150, 131927, 365833, 259173, 644162}, 514324113},
    {0,
     4294967295,
     {1608637542, 3421126067, 4083286876, 787846414, 3143890026, 3348747335},
     2178130813480},
    {0,
     4294967296,
     {3421126067, 787846414, 3348747335, 2563451924, 1914837113, 429389014},
     2174476740717},
    {-4611686018427387904,
     4611686018427387904,
     {2297359619001564595, -1733650121047795591, -1734094960886025002, -3540232508080564790,
      -4231969037582533324, -694720765534991999},
     3531583269094684470},
};

static const struct integer_case pcg_integers[] = {
    {5, 5, {5, 5, 5, 5, 5, 5}, 5005},
    {0, 1, {0, 1, 1, 0, 0, 1}, 517},
    {0, 100, {9, 78, 66, 44, 43, 86}, 51442},
    {-5, 1000000, {89246, 773955, 654570, 438876, 433012, 858598}, 514339808},
    {0,
     4294967295,
     {383329928, 3324115917, 2811363265, 1884968545, 1859786276, 3687649986},
     2209082970607},
    {0,
     4294967296,
     {3324115917, 1884968546, 3687649987, 2995172878, 404488629, 4190266094},
     2126332225893},
    {-4611686018427387904,
     4611686018427387904,
     {2526798557578302276, -563746889639854112, 3307482026984934162, -3743053301415296779,
      4386841898189564358, 2638477514033744800},
     5478289841697883131},
    {INT64_MIN,
     9223372036854775807,
     {5053597115156604552, -1127493779279708223, 6614964053969868324, 3640797520390555789,
      -7486106602830593557, 8773683796379128716},
     -7834317906140434989},
};

static void test_random__mt19937_doubles(void **state)
{
    for (size_t c = 0; c < ODB_COUNT(mt_cases); c++) {
        struct odb_mt19937 r;
        odb_mt19937_seed(&r, (uint32_t)mt_cases[c].seed);
        double v = 0;
        for (int i = 0; i < 2000; i++) {
            v = odb_mt19937_double(&r);
            if (i < 4)
                assert_true(v == mt_cases[c].first[i]);
        }
        assert_true(v == mt_cases[c].at_2000);
    }
}

static void test_random__mt19937_integers(void **state)
{
    for (size_t c = 0; c < ODB_COUNT(mt_integers); c++) {
        const struct integer_case *t = &mt_integers[c];
        struct odb_mt19937 r;
        odb_mt19937_seed(&r, 42);
        for (int i = 0; i < 6; i++)
            assert_int_equal(odb_mt19937_randint(&r, t->low, t->high + 1), t->first[i]);
        uint64_t sum = 0;
        odb_mt19937_seed(&r, 7);
        for (int i = 0; i < 1001; i++)
            sum += (uint64_t)odb_mt19937_randint(&r, t->low, t->high + 1);
        assert_int_equal((int64_t)sum, t->sum);
    }
}

static void test_random__mt19937_one_stream(void **state)
{
    static const double floats[] = {-0x1.00f11c3415c28p-2, 0x1.cd880d177aca8p-1,
                                    0x1.db1fa3c799d44p-2};
    static const int64_t integers[] = {0, 0, 0, 1, 0};
    struct odb_mt19937 r;
    odb_mt19937_seed(&r, 42);
    for (int i = 0; i < 3; i++)
        assert_true(odb_mt19937_uniform(&r, -1, 1) == floats[i]);
    for (int i = 0; i < 5; i++)
        assert_int_equal(odb_mt19937_randint(&r, 0, 2), integers[i]);
    assert_true(odb_mt19937_uniform(&r, 0, 1) == 0x1.997f4c1dbd228p-4);
}

static void test_random__pcg64_doubles(void **state)
{
    for (size_t c = 0; c < ODB_COUNT(pcg_cases); c++) {
        struct odb_pcg64 r;
        odb_pcg64_seed(&r, pcg_cases[c].seed);
        double v = 0;
        for (int i = 0; i < 2000; i++) {
            v = odb_pcg64_double(&r);
            if (i < 4)
                assert_true(v == pcg_cases[c].first[i]);
        }
        assert_true(v == pcg_cases[c].at_2000);
    }
}

static void test_random__pcg64_integers(void **state)
{
    for (size_t c = 0; c < ODB_COUNT(pcg_integers); c++) {
        const struct integer_case *t = &pcg_integers[c];
        struct odb_pcg64 r;
        odb_pcg64_seed(&r, 42);
        for (int i = 0; i < 6; i++)
            assert_int_equal(odb_pcg64_integers(&r, t->low, t->high), t->first[i]);
        uint64_t sum = 0;
        odb_pcg64_seed(&r, 7);
        for (int i = 0; i < 1001; i++)
            sum += (uint64_t)odb_pcg64_integers(&r, t->low, t->high);
        assert_int_equal((int64_t)sum, t->sum);
    }
}

static void test_random__pcg64_one_stream(void **state)
{
    struct odb_pcg64 r;
    odb_pcg64_seed(&r, 42);
    assert_int_equal(odb_pcg64_integers(&r, 0, 100), 9);
    assert_true(odb_pcg64_double(&r) == 0x1.c16959869e47ep-2);
    assert_int_equal(odb_pcg64_integers(&r, 0, 100), 78);
    assert_int_equal(odb_pcg64_integers(&r, 0, 100), 43);
    assert_true(odb_pcg64_uniform(&r, -3, 7) == 0x1.fca18e466e02ap+1);
}

static void test_random__mix64_spreads(void **state)
{
    assert_true(odb_mix64(0) == 0xe220a8397b1dcdafu); /* first output of splitmix64 from 0 */
    int ones = 0;
    for (uint64_t i = 0; i < 4096; i++)
        ones += __builtin_popcountll(odb_mix64(i) ^ odb_mix64(i + 1));
    assert_in_range(ones, 4096 * 31, 4096 * 33);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random__mt19937_doubles),
        cmocka_unit_test(test_random__mt19937_integers),
        cmocka_unit_test(test_random__mt19937_one_stream),
        cmocka_unit_test(test_random__pcg64_doubles),
        cmocka_unit_test(test_random__pcg64_integers),
        cmocka_unit_test(test_random__pcg64_one_stream),
        cmocka_unit_test(test_random__mix64_spreads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
