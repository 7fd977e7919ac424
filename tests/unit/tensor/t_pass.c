/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/pass.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "system/parallel.h"

static struct odb_error err;

/* Sums whose last bits tell in which order they were added. */
struct sums {
    double sum;
    size_t n, first;
};

static const struct sums none = {.first = SIZE_MAX};

static void pass_add(const void *job, void *share, struct odb_chunk *c)
{
    struct sums *s = share;
    s->first = ODB_MIN(s->first, c->first);
    for (size_t i = 0; i < c->n; i++)
        s->sum += c->v[0][i] - (i < c->has[1] ? c->v[1][i] : 0);
    s->n += c->n;
}

static void pass_join(void *total, const void *share)
{
    struct sums *to = total;
    const struct sums *from = share;
    to->sum += from->sum;
    to->n += from->n;
    to->first = ODB_MIN(to->first, from->first);
}

static struct odb_numbers pass_doubles(double **v, size_t n)
{
    *v = odb_new_n(double, n);
    for (size_t i = 0; i < n; i++)
        (*v)[i] = sin((double)i);
    return (struct odb_numbers){.data = *v, .type = ODB_F64, .n = n, .per_element = 1};
}

static void test_pass__does_not_depend_on_threads(void **state)
{
    double *v, *w;
    const struct odb_numbers a = pass_doubles(&v, 100003), b = pass_doubles(&w, 5000);
    for (size_t shares = 0; shares < 9; shares += 4) {
        struct sums one = none, four = none;
        struct odb_pass pass = {.begin = 3,
                                .end = a.n,
                                .block = 2 * ODB_PASS_CHUNK,
                                .shares = shares,
                                .item = sizeof one,
                                .none = &none,
                                .sides = {&a, &b},
                                .chunk = pass_add,
                                .join = pass_join};
        odb_parallel_set_threads(1);
        odb_pass_all(&pass, &one);
        odb_parallel_set_threads(4);
        odb_pass_all(&pass, &four);
        assert_memory_equal(&one, &four, sizeof one);
        assert_int_equal(one.n, a.n - 3);
        assert_int_equal(one.first, 3);
    }
    free(v);
    free(w);
}

static bool pass_stop(void *payload, size_t done, size_t total)
{
    size_t *last = payload;
    *last = done;
    return done >= total / 2;
}

static void test_pass__stops_when_asked_and_joins_nothing(void **state)
{
    double *v;
    const struct odb_numbers a = pass_doubles(&v, 64 * ODB_PASS_CHUNK);
    size_t last;
    const struct odb_progress progress = {pass_stop, &last};
    struct sums sums = none;
    struct odb_pass pass = {.end = a.n,
                            .block = ODB_PASS_CHUNK,
                            .shares = 8,
                            .item = sizeof sums,
                            .sides = {&a},
                            .chunk = pass_add,
                            .join = pass_join,
                            .progress = &progress};
    assert_int_equal(odb_pass_run(&pass, &sums, &err), ODB_CANCELLED);
    assert_int_equal(last, a.n / 2);
    assert_memory_equal(&sums, &none, sizeof sums);
    free(v);
}

static void test_pass__keeps_shares_of_the_caller(void **state)
{
    double *v;
    const struct odb_numbers a = pass_doubles(&v, 5 * ODB_PASS_CHUNK);
    struct sums kept[4] = {0};
    struct odb_pass pass = {.end = a.n,
                            .block = ODB_PASS_CHUNK,
                            .shares = 4,
                            .item = sizeof *kept,
                            .sides = {&a},
                            .chunk = pass_add,
                            .kept = kept};
    assert_int_equal(odb_pass_shares(&pass), 4);
    odb_pass_all(&pass, NULL);
    odb_pass_all(&pass, NULL);
    assert_int_equal(kept[0].n, 4 * ODB_PASS_CHUNK); /* blocks 0 and 4, twice */
    assert_int_equal(kept[3].n, 2 * ODB_PASS_CHUNK);
    assert_int_equal(pass.done, 2 * a.n);
    free(v);
}

static void test_pass__knows_all_numbers(void **state)
{
    const int64_t dims[] = {3};
    struct odb_tensor *t;
    double v[6];
    assert_int_equal(odb_tensor_new(&t, ODB_C64, 1, dims, &err), ODB_OK);
    for (size_t i = 0; i < 6; i++)
        odb_store_f64(ODB_F32, t->data, i, i % 2 ? 4 : 3);
    struct odb_numbers parts = odb_numbers_of(t), whole = odb_numbers_of_elements(t);
    assert_int_equal(parts.n, 6);
    assert_int_equal(whole.n, 3);
    odb_numbers_load(&parts, 1, 2, v);
    assert_true(v[0] == 4 && v[1] == 3);
    odb_numbers_load(&whole, 2, 1, v);
    assert_true(v[0] == 5);
    odb_tensor_unref(t);
    const unsigned char packed[] = {0x21, 0x43};
    const struct odb_numbers fours = {packed, ODB_U4, false, 4, 1};
    odb_numbers_load(&fours, 1, 3, v); /* from within a byte on */
    assert_true(v[0] == 2 && v[1] == 3 && v[2] == 4);
    const struct odb_numbers strings = {packed, ODB_STRING, false, 1, 1};
    odb_numbers_load(&strings, 0, 1, v);
    assert_true(isnan(v[0]));
    assert_null(odb_numbers_of(NULL).data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pass__does_not_depend_on_threads),
        cmocka_unit_test(test_pass__stops_when_asked_and_joins_nothing),
        cmocka_unit_test(test_pass__keeps_shares_of_the_caller),
        cmocka_unit_test(test_pass__knows_all_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
