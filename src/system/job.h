/* SPDX-License-Identifier: MIT
 *
 * Work in a thread of its own, one thing at a time. Signals are left to the other threads, and so
 * are the processors where these want them: the thread, with what it starts, is nicer by five.
 */
#ifndef ODB_SYSTEM_JOB_H
#define ODB_SYSTEM_JOB_H

#include <stdbool.h>

struct odb_job;

/* done is called in the job's thread as its last act, after every piece of work. */
struct odb_job *odb_job_new(void (*done)(void *payload), void *payload);
/* Waits for work that still runs. NULL is fine. */
void odb_job_free(struct odb_job *job);
/* False, and nothing happens, while work runs or its end was not collected. */
bool odb_job_start(struct odb_job *job, void (*work)(void *arg), void *arg);
/* Between a start and the odb_job_collect() that returns true. */
bool odb_job_busy(const struct odb_job *job);
/* True once for each piece of work, when it has ended; never waits. All that the work wrote can be
 * read then. */
bool odb_job_collect(struct odb_job *job);

#endif
