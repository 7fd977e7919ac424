/* SPDX-License-Identifier: MIT */
#include "system/ending.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/mem.h"
#include "system/temporary.h"

enum { ENDING_US = 800000 }; /* of the second that a process may take */

/* A signal handler has nowhere else to look. */
static atomic_int ending_signal; /* 0: none is waited for; -1: none has come */

static void ending_on_alarm(int number)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    int came = atomic_load(&ending_signal);
    odb_temporary_remove();
    number = came > 0 ? came : number;
    sigaction(number, &usual, NULL);
    raise(number);
}

void odb_ending_catch(void)
{
    struct sigaction action = {.sa_handler = ending_on_alarm};
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    atomic_store(&ending_signal, -1);
}

#define ENDING_PARENT "ONNXDBG_WITH_PARENT"

void odb_ending_pass_on(void)
{
    char *pid = odb_xasprintf("%ld", (long)getpid());
    setenv(ENDING_PARENT, pid, 1);
    free(pid);
}

void odb_ending_with_parent(void)
{
    const char *parent = getenv(ENDING_PARENT);
    if (!parent)
        return;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (strtol(parent, NULL, 10) != (long)getppid()) /* it is gone, or this is no child of it */
        prctl(PR_SET_PDEATHSIG, 0);
    unsetenv(ENDING_PARENT);
}

void odb_ending_begin(int number)
{
    const struct itimerval once = {.it_value = {.tv_usec = ENDING_US}};
    int none = -1;
    if (atomic_compare_exchange_strong(&ending_signal, &none, number))
        setitimer(ITIMER_REAL, &once, NULL); /* a system call, though no standard says so */
}
