/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kernels/core/memo.h"

static atomic_int memo_freed, memo_other_freed;

static void memo_free_int(void *what)
{
    atomic_fetch_add(&memo_freed, 1);
    free(what);
}

static void memo_free_other(void *what)
{
    atomic_fetch_add(&memo_other_freed, 1);
    free(what);
}

static int *memo_int(int value)
{
    int *p = odb_new(int);
    *p = value;
    return p;
}

static void test_memo__keeps_by_function_and_number(void **state)
{
    struct odb_memo memo = {NULL};
    (void)state;
    memo_freed = memo_other_freed = 0;
    assert_null(odb_memo_find(&memo, memo_free_int, 1));
    int *one = odb_memo_keep(&memo, memo_free_int, 1, memo_int(1));
    int *two = odb_memo_keep(&memo, memo_free_int, 2, memo_int(2));
    int *other = odb_memo_keep(&memo, memo_free_other, 1, memo_int(3));
    assert_int_equal(*one + 10 * *two + 100 * *other, 321);
    assert_ptr_equal(odb_memo_find(&memo, memo_free_int, 1), one);
    assert_ptr_equal(odb_memo_find(&memo, memo_free_int, 2), two);
    assert_ptr_equal(odb_memo_find(&memo, memo_free_other, 1), other);
    assert_null(odb_memo_find(&memo, memo_free_other, 2));
    odb_memo_dispose(&memo);
    assert_int_equal(memo_freed, 2);
    assert_int_equal(memo_other_freed, 1);
    assert_null(odb_memo_find(&memo, memo_free_int, 1));
}

static void test_memo__second_is_freed(void **state)
{
    struct odb_memo memo = {NULL};
    (void)state;
    memo_freed = 0;
    int *first = odb_memo_keep(&memo, memo_free_int, 7, memo_int(1));
    assert_ptr_equal(odb_memo_keep(&memo, memo_free_int, 7, memo_int(2)), first);
    assert_int_equal(memo_freed, 1);
    assert_int_equal(*first, 1);
    odb_memo_dispose(&memo);
    assert_int_equal(memo_freed, 2);
}

#define MEMO_THREADS 4
#define MEMO_NUMBERS 200

static void *memo_worker(void *arg)
{
    struct odb_memo *memo = arg;
    intptr_t sum = 0;
    for (int i = 0; i < MEMO_NUMBERS; i++) {
        int *kept = odb_memo_find(memo, memo_free_int, (uint64_t)i);
        if (!kept)
            kept = odb_memo_keep(memo, memo_free_int, (uint64_t)i, memo_int(i));
        sum += *kept == i && odb_memo_find(memo, memo_free_int, (uint64_t)i) == kept;
    }
    return (void *)sum;
}

static void test_memo__threads_agree(void **state)
{
    struct odb_memo memo = {NULL};
    pthread_t threads[MEMO_THREADS];
    (void)state;
    memo_freed = 0;
    for (int t = 0; t < MEMO_THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, memo_worker, &memo), 0);
    for (int t = 0; t < MEMO_THREADS; t++) {
        void *sum;
        assert_int_equal(pthread_join(threads[t], &sum), 0);
        assert_int_equal((intptr_t)sum, MEMO_NUMBERS);
    }
    int lost = memo_freed;
    odb_memo_dispose(&memo);
    assert_int_equal(memo_freed, lost + MEMO_NUMBERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memo__keeps_by_function_and_number),
        cmocka_unit_test(test_memo__second_is_freed),
        cmocka_unit_test(test_memo__threads_agree),
    };
    return cmocka_run_group_tests_name("memo", tests, NULL, NULL);
}
