/* SPDX-License-Identifier: MIT */
#include "system/thread.h"

#include <signal.h>
#include <stddef.h>

#include "base/mem.h"

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
