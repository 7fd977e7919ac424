/* SPDX-License-Identifier: MIT */
#include "system/ending.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/time.h>

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

void odb_ending_begin(int number)
{
    const struct itimerval once = {.it_value = {.tv_usec = ENDING_US}};
    int none = -1;
    if (atomic_compare_exchange_strong(&ending_signal, &none, number))
        setitimer(ITIMER_REAL, &once, NULL); /* a system call, though no standard says so */
}
