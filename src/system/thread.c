/* SPDX-License-Identifier: MIT */
#include "system/thread.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

#include "base/mem.h"

#define THREAD_AWAIT 100000000 /* nanoseconds */

bool odb_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t sent, before;
    sigfillset(&sent);
    for (size_t i = 0; i < ODB_COUNT(faults); i++)
        sigdelset(&sent, faults[i]);
    pthread_sigmask(SIG_SETMASK, &sent, &before);
    bool started = pthread_create(thread, NULL, run, arg) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

bool odb_thread_await(pthread_cond_t *cond, pthread_mutex_t *lock)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += THREAD_AWAIT;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return pthread_cond_timedwait(cond, lock, &until) == 0;
}
