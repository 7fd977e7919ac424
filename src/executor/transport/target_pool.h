/* SPDX-License-Identifier: MIT
 *
 * Children of one spec, at work side by side: as many as its workers=N says, dealt out to the hosts
 * of ssh:HOST+HOST,SPEC or the commands of via:COMMAND + COMMAND,SPEC; else one for each of these.
 * A caller with several questions begins a task for each and waits for them in the order of its
 * choice; any child may answer any. All functions are for one thread, the pool's owner; tasks run
 * in threads of the pool.
 */
#ifndef ODB_EXECUTOR_TRANSPORT_TARGET_POOL_H
#define ODB_EXECUTOR_TRANSPORT_TARGET_POOL_H

#include "executor/transport/target.h"

#define ODB_POOL_MOST 64 /* workers */

struct odb_pool;
struct odb_pool_task;

/* Opens the first target that can be had, with the errors of odb_target_open() of the very first;
 * the others when there is work for them. One that cannot be opened then leaves its work to the
 * rest, and so does one whose link is lost and cannot be made again. cancelled (NULL: never) is
 * asked from now on by every worker while it waits for its child: from several threads at once. */
enum odb_status odb_pool_open(struct odb_pool **out, const char *spec, bool (*cancelled)(void *),
                              void *payload, struct odb_error *err) ODB_MUST_USE;
/* Cancels what is under way and waits for its end. Every task has been waited for or forgotten;
 * no more can be begun. */
void odb_pool_stop(struct odb_pool *pool);
/* Stops it, and has its targets end meanwhile (odb_target_dismiss()): then it is closed. NULL is
 * fine. */
void odb_pool_dismiss(struct odb_pool *pool);
void odb_pool_close(struct odb_pool *pool); /* NULL is fine; stops */

/* Replaces the function that workers ask. */
void odb_pool_set_cancel(struct odb_pool *pool, bool (*cancelled)(void *), void *payload);

/* Of the target that is opened first; waits for no child. Borrowed: pool. */
const char *odb_pool_spec(const struct odb_pool *pool);
/* What the first target can do, and whether it gives what was recorded: known once it is open,
 * whatever it is at. Borrowed: pool. */
const struct odb_capabilities *odb_pool_capabilities(const struct odb_pool *pool);
/* What the first target said that it is when it was opened, whatever it is at. Borrowed: pool. */
const char *odb_pool_description(const struct odb_pool *pool);
/* odb_target_beside() of the only worker; false where there are several. */
bool odb_pool_beside(const struct odb_pool *pool);
bool odb_pool_accounts(const struct odb_pool *pool); /* odb_target_accounts() of the first */
bool odb_pool_recorded(const struct odb_pool *pool);
/* How many tasks can be at work at once. 1: there is the caller's own target alone, which tasks
 * take away from him until he waits for them. */
size_t odb_pool_workers(const struct odb_pool *pool);
/* How many more would be at work at once if they were begun now. */
size_t odb_pool_idle(struct odb_pool *pool);

/* A target for the caller alone until it begins a task or waits for one: always the same, unless
 * tasks came between. Waits should all be at work. */
struct odb_target *odb_pool_target(struct odb_pool *pool);
/* Whether the last call of the caller's own target lost its link for good, and odb_pool_target()
 * is another now, which has loaded nothing: what was asked may be asked once more. */
bool odb_pool_elsewhere(struct odb_pool *pool) ODB_MUST_USE;

/* Queues work(arg, target), to be done in one of the pool's threads, in the order of the queue; and
 * done again by another, from its beginning, where the target's last call has lost its link for
 * good. NULL: there is no thread. */
struct odb_pool_task *odb_pool_begin(struct odb_pool *pool,
                                     void (*work)(void *arg, struct odb_target *target), void *arg);
/* The same for any but the caller's own target (odb_pool_target()), which stays his until he begins
 * or waits for a task. More than one worker. */
struct odb_pool_task *odb_pool_begin_beside(struct odb_pool *pool,
                                            void (*work)(void *arg, struct odb_target *target),
                                            void *arg);
bool odb_pool_done(struct odb_pool *pool, const struct odb_pool_task *task);
/* Waits until it is done, and frees it: what it wrote can be read. Whether to cancel is asked
 * meanwhile, in the caller's thread too. */
void odb_pool_wait(struct odb_pool *pool, struct odb_pool_task *task);
/* It will not be waited for: it is taken out of the queue or runs to its end, and then
 * drop(arg). */
void odb_pool_forget(struct odb_pool *pool, struct odb_pool_task *task, void (*drop)(void *arg));

/* Summed over the targets; tasks count when they were waited for or forgotten. */
struct odb_target_stats odb_pool_stats(struct odb_pool *pool);
/* Seconds of a load and of a run, as the target says or as they took so far; 0: not known yet. */
void odb_pool_price(struct odb_pool *pool, double *load, double *run);
/* Why no worker is left, all links having been lost for good; NULL: one is. Borrowed: pool, until
 * something is asked. */
const char *odb_pool_gone(struct odb_pool *pool);
/* Why some worker is out: "ssh: …"; "" when all are well. Lives as long as the pool. */
const char *odb_pool_trouble(struct odb_pool *pool);

#endif
