/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>

#include "base/mem.h"
#include "system/blocks.h"

/* Whatever was asked for can be written to, whatever else is in the pool. */
static void test_blocks__sizes(void **state)
{
    static const size_t sizes[] = {
        0,   1,   63,   64,   65,   80,   81,    96,      127,           128,          129,
        160, 161, 1000, 1024, 4097, 5120, 65535, 1 << 20, (1 << 26) - 1, (1 << 26) + 1};
    unsigned char *blocks[ODB_COUNT(sizes)];
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < ODB_COUNT(sizes); i++) {
            blocks[i] = turn ? odb_blocks_take_zeroed(sizes[i]) : odb_blocks_take(sizes[i]);
            assert_non_null(blocks[i]);
            assert_int_equal((uintptr_t)blocks[i] % 16, 0);
            for (size_t b = 0; turn && b<sizes[i]; b += sizes[i]> 5000 ? 997 : 1)
                assert_int_equal(blocks[i][b], 0);
            memset(blocks[i], 0xa5, sizes[i]);
        }
        for (size_t i = 0; i < ODB_COUNT(sizes); i++)
            odb_blocks_give(blocks[i], sizes[i]);
    }
    odb_blocks_give(NULL, 1);
    odb_blocks_flush();
}

/* A block that was given back is the next one of its size, and of no size that it is too small
 * for. */
static void test_blocks__again(void **state)
{
#if defined(__SANITIZE_ADDRESS__)
    skip(); /* nothing is kept */
#endif
    void *block = odb_blocks_take(1000), *other;
    odb_blocks_give(block, 1000);
    other = odb_blocks_take(1025);
    assert_ptr_not_equal(other, block);
    odb_blocks_give(other, 1025);
    other = odb_blocks_take(1024);
    assert_ptr_equal(other, block);
    odb_blocks_give(other, 1024);
    odb_blocks_flush();
}

static void test_blocks__work(void **state)
{
    unsigned char *work = odb_work_take(30, 7), *raw = odb_work_raw(0);
    assert_int_equal((uintptr_t)work % 16, 0);
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < 30 * 7; i++)
            assert_int_equal(work[i], 0);
        memset(work, 0xa5, 30 * 7);
        odb_work_give(work);
        work = odb_work_take(7, 30);
    }
    odb_work_give(work);
    odb_work_give(raw);
    odb_work_give(NULL);
    assert_null(odb_work_take(SIZE_MAX / 2, 3));
    assert_null(odb_work_raw(SIZE_MAX - 3));
    odb_blocks_flush();
}

static void *blocks_thread(void *arg)
{
    uint64_t state = (uint64_t)(uintptr_t)arg;
    unsigned char *held[16] = {NULL};
    size_t sizes[16] = {0};
    for (int i = 0; i < 20000; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        size_t at = state >> 60, size = 1 + (state >> 33) % 3000;
        if (held[at] && (held[at][0] != at || held[at][sizes[at] - 1] != at))
            return "a block is held twice";
        odb_blocks_give(held[at], sizes[at]);
        held[at] = odb_blocks_take(size);
        sizes[at] = size;
        held[at][0] = held[at][size - 1] = (unsigned char)at;
    }
    for (int i = 0; i < 16; i++)
        odb_blocks_give(held[i], sizes[i]);
    return NULL;
}

static void test_blocks__threads(void **state)
{
    pthread_t threads[3];
    void *why;
    for (size_t i = 0; i < ODB_COUNT(threads); i++)
        pthread_create(&threads[i], NULL, blocks_thread, (void *)(i + 1));
    for (size_t i = 0; i < ODB_COUNT(threads); i++) {
        pthread_join(threads[i], &why);
        assert_null(why);
    }
    odb_blocks_flush();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks__sizes),
        cmocka_unit_test(test_blocks__again),
        cmocka_unit_test(test_blocks__work),
        cmocka_unit_test(test_blocks__threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
