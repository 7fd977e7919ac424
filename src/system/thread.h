/* SPDX-License-Identifier: MIT
 *
 * Threads of ours beside the program's own.
 */
#ifndef ODB_SYSTEM_THREAD_H
#define ODB_SYSTEM_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Signals that are sent go to the program's own threads. Its own faults the thread hears: one that
 * is blocked would end the process past the handler that restores the terminal. False: there can
 * be no thread. */
bool odb_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg);
/* Waits for cond, a tenth of a second at most, for one who has to look at something else as well.
 * False: nothing was signalled. lock: held. */
bool odb_thread_await(pthread_cond_t *cond, pthread_mutex_t *lock);

#endif
