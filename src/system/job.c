/* SPDX-License-Identifier: MIT */
#include "system/job.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/mem.h"
#include "system/thread.h"

enum { JOB_NICE = 5 }; /* by how much */

struct odb_job {
    void (*done)(void *payload);
    void *payload;
    void (*work)(void *arg);
    void *arg;
    pthread_t thread;
    bool started;      /* and not collected; for the owner's thread only */
    atomic_bool ended; /* the work is over */
};

/* Of the thread alone, and of what it starts: what a key shows comes first where there are not
 * processors enough. */
static void job_stand_back(void)
{
    (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + JOB_NICE);
}

static void *job_run(void *arg)
{
    struct odb_job *job = arg;
    job_stand_back();
    job->work(job->arg);
    atomic_store(&job->ended, true);
    job->done(job->payload);
    return NULL;
}

struct odb_job *odb_job_new(void (*done)(void *payload), void *payload)
{
    struct odb_job *job = odb_new(struct odb_job);
    job->done = done;
    job->payload = payload;
    return job;
}

void odb_job_free(struct odb_job *job)
{
    if (job && job->started)
        pthread_join(job->thread, NULL);
    free(job);
}

bool odb_job_start(struct odb_job *job, void (*work)(void *arg), void *arg)
{
    if (job->started)
        return false;
    job->work = work;
    job->arg = arg;
    atomic_store(&job->ended, false);
    job->started = odb_thread_start(&job->thread, job_run, job);
    return job->started;
}

bool odb_job_busy(const struct odb_job *job)
{
    return job->started;
}

bool odb_job_collect(struct odb_job *job)
{
    if (!job->started || !atomic_load(&job->ended))
        return false;
    pthread_join(job->thread, NULL);
    job->started = false;
    return true;
}
