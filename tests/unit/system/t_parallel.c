/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "system/parallel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <time.h>

struct count {
    atomic_int now, most, visits[1000];
    int hoped; /* 0: none */
};

/* Notes how many blocks run at once; sleeps, so that every thread gets one, or until as many as
 * are hoped for have met. */
static void count_block(void *arg, size_t begin, size_t end)
{
    struct count *c = arg;
    int now = atomic_fetch_add(&c->now, 1) + 1, most = atomic_load(&c->most);
    while (now > most && !atomic_compare_exchange_weak(&c->most, &most, now))
        ;
    int tries = 0;
    do
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    while (atomic_load(&c->most) < c->hoped && ++tries < 1000);
    for (size_t i = begin; i < end; i++)
        atomic_fetch_add(&c->visits[i], 1);
    atomic_fetch_sub(&c->now, 1);
}

static int most_at_once(int threads, int hoped)
{
    struct count c = {.hoped = hoped};
    odb_parallel_set_threads(threads);
    odb_parallel_for(40, 1, count_block, &c);
    for (int i = 0; i < 40; i++)
        assert_int_equal(c.visits[i], 1);
    return c.most;
}

/* Workers live on: fewer threads must mean fewer of them, not only fewer new ones. */
static void test_parallel__threads_can_be_taken_back(void **state)
{
    assert_true(most_at_once(6, 3) > 2);
    assert_true(most_at_once(2, 0) <= 2);
    assert_int_equal(most_at_once(1, 0), 1);
    assert_true(most_at_once(4, 0) <= 4);
}

static void nest(void *arg, size_t begin, size_t end)
{
    struct count *c = arg;
    for (size_t i = begin; i < end; i++)
        odb_parallel_for(1000, 7, count_block, c + i);
}

static void test_parallel__every_index_once(void **state)
{
    static struct count c[3];
    odb_parallel_set_threads(4);
    odb_parallel_for(3, 1, nest, c);
    for (int l = 0; l < 3; l++)
        for (int i = 0; i < 1000; i++)
            assert_int_equal(c[l].visits[i], 1);
    odb_parallel_for(0, 1, nest, c);
}

/* Loops that are over at once, one after the other: none may be run by a worker that comes late. */
static void add_block(void *arg, size_t begin, size_t end)
{
    atomic_fetch_add((atomic_size_t *)arg, end - begin);
}

static void test_parallel__short_loops(void **state)
{
    odb_parallel_set_threads(8);
    for (size_t n = 0; n < 20000; n++) {
        atomic_size_t sum = 0;
        odb_parallel_for(n % 37, 1, add_block, &sum);
        assert_int_equal(sum, n % 37);
    }
}

/* Between loops workers go to sleep, and so does a caller whose blocks are done long before theirs.
 */
static void test_parallel__who_sleeps_is_woken(void **state)
{
    for (int i = 0; i < 5; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        assert_int_equal(most_at_once(2, 2), 2);
    }
}

static void *loop_for_a_while(void *arg)
{
    for (size_t n = 0; n < 5000; n++) {
        atomic_size_t sum = 0;
        odb_parallel_for(n % 37, 1, add_block, &sum);
        atomic_fetch_add((atomic_size_t *)arg, sum - n % 37);
    }
    return NULL;
}

/* One has the workers at a time; the others do without. */
static void test_parallel__many_callers(void **state)
{
    pthread_t thread[3];
    atomic_size_t wrong = 0;
    odb_parallel_set_threads(4);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, loop_for_a_while, &wrong), 0);
    for (size_t i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parallel__threads_can_be_taken_back),
        cmocka_unit_test(test_parallel__every_index_once),
        cmocka_unit_test(test_parallel__short_loops),
        cmocka_unit_test(test_parallel__who_sleeps_is_woken),
        cmocka_unit_test(test_parallel__many_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
