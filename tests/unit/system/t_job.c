/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "system/job.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "tests/help/executor_help.h"

static atomic_int job_dones;

static void job_done(void *payload)
{
    atomic_fetch_add((atomic_int *)payload, 1);
}

static void job_wait_for(void *arg)
{
    while (!atomic_load((atomic_bool *)arg))
        usleep(1000);
}

static void job_masked(void *arg)
{
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    *(bool *)arg = sigismember(&now, SIGINT) && sigismember(&now, SIGWINCH);
}

static void job_nice(void *arg)
{
    *(int *)arg = getpriority(PRIO_PROCESS, 0);
}

static void job_collected(struct odb_job *job)
{
    while (!odb_job_collect(job))
        usleep(1000);
}

static void test_job__one_at_a_time(void **state)
{
    struct odb_job *job = odb_job_new(job_done, &job_dones);
    atomic_bool go = false;
    atomic_store(&job_dones, 0);
    assert_false(odb_job_busy(job));
    assert_false(odb_job_collect(job));
    assert_true(odb_job_start(job, job_wait_for, &go));
    assert_true(odb_job_busy(job));
    assert_false(odb_job_start(job, job_wait_for, &go));
    assert_false(odb_job_collect(job));
    atomic_store(&go, true);
    job_collected(job);
    assert_false(odb_job_collect(job)); /* once for each */
    assert_int_equal(atomic_load(&job_dones), 1);
    assert_true(odb_job_start(job, job_wait_for, &go));
    odb_job_free(job); /* waits */
    assert_int_equal(atomic_load(&job_dones), 2);
    odb_job_free(NULL);
}

static void test_job__stands_back(void **state)
{
    struct odb_job *job = odb_job_new(job_done, &job_dones);
    int before = getpriority(PRIO_PROCESS, 0), within = before;
    assert_true(odb_job_start(job, job_nice, &within));
    job_collected(job);
    assert_int_equal(within, before + 5);
    assert_int_equal(getpriority(PRIO_PROCESS, 0), before);
    odb_job_free(job);
}

static void test_job__signals_go_elsewhere(void **state)
{
    struct odb_job *job = odb_job_new(job_done, &job_dones);
    bool masked = false;
    assert_true(odb_job_start(job, job_masked, &masked));
    job_collected(job);
    assert_true(masked);
    odb_job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_job__one_at_a_time),
        cmocka_unit_test(test_job__stands_back),
        cmocka_unit_test(test_job__signals_go_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
