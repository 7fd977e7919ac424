/* SPDX-License-Identifier: MIT
 *
 * The debugger's side of an executor: a child process, onnxdbg-serve SPEC, that can crash, hang or
 * babble without harm. One model is loaded at a time. A refusal (the executor's own error) leaves
 * the child as it was; after anything worse it is dead, and the next load starts a fresh one.
 */
#ifndef ODB_EXECUTOR_TRANSPORT_TARGET_H
#define ODB_EXECUTOR_TRANSPORT_TARGET_H

#include "executor/capabilities.h"
#include "executor/executor.h"
#include "tensor/spill.h"

struct odb_target;

/* Counted over the target's life. */
struct odb_target_stats {
    size_t loads, runs, starts;
    double load_seconds, run_seconds;
    size_t model_bytes; /* sent to load */
    size_t file_bytes;  /* sent over a link so that a model finds its weights */
    size_t relinks;     /* links that were lost, and made again */
};

/* Seconds that one run of such a target may take before it is ended; 0: the spec is wrong. */
double odb_target_limit(const char *spec);

/* Parses the spec, starts the child, lets it check its options. A wrong spec is ODB_E_USAGE; an
 * executor that cannot be had here is ODB_E_EXECUTOR with the reason and the way out. */
enum odb_status odb_target_open(struct odb_target **out, const char *spec,
                                struct odb_error *err) ODB_MUST_USE;
/* The same, for a caller that may cancel before it has started: odb_target_set_cancel(). */
enum odb_status odb_target_open_until(struct odb_target **out, const char *spec,
                                      bool (*cancelled)(void *), void *payload,
                                      struct odb_error *err) ODB_MUST_USE;
/* The child's program, as it would be started: a path, or a name for PATH. Owned by the caller. */
char *odb_target_program(void);
/* Nothing more is asked of it: its child is told to end, which odb_target_close() waits for. */
void odb_target_dismiss(struct odb_target *target);
void odb_target_close(struct odb_target *target); /* NULL is fine; the process group is gone */

/* ODB_E_EXECUTOR: it said no (its own words in err), or nonsense. Refusals keep a code of their own
 * where they are no failure of the target: ODB_E_USAGE, ODB_E_INPUT, ODB_E_NOMEM,
 * ODB_UNSUPPORTED. ODB_E_CRASH: signal or exit, with the signal's name and the child's last words;
 * but ODB_E_NOMEM where it was killed from outside, or ran out of the memory that mem= allows;
 * ODB_E_TIMEOUT; ODB_CANCELLED. ODB_E_IO: load->dir cannot be read, or the link to another machine
 * was lost and could not be made again. */
enum odb_status odb_target_load(struct odb_target *target, const struct odb_load *load,
                                struct odb_error *err) ODB_MUST_USE;
/* Whether the child can hold two models: the user's file, and another that is loaded beside it. */
bool odb_target_beside(const struct odb_target *target);
/* Runs are of the user's file at this path from now on, which was loaded last, or stays beside
 * that; false: neither. NULL: of what was loaded last, as at first. */
bool odb_target_turn_to(struct odb_target *target, const char *path);
/* What runs give from now on may go to disk as it comes; borrowed until it is set again. NULL: it
 * stays in memory, as at first. */
void odb_target_set_aside(struct odb_target *target, struct odb_spill *aside);
/* outputs[i] is owned by the caller on success; NULL: a recording that lacks it, or an executor
 * that says that it cannot be read there. */
enum odb_status odb_target_run(struct odb_target *target, const struct odb_named *inputs,
                               size_t n_inputs, const char *const *names, size_t n_outputs,
                               struct odb_tensor **outputs, struct odb_error *err) ODB_MUST_USE;
/* How long nodes took in the last run, as far as the executor tells; empty behind one that failed.
 * A child may name any node and any number. Borrowed: target, until the next run. */
const struct odb_times *odb_target_times(const struct odb_target *target);

/* Whether there is more to hear than nothing from odb_target_account(). */
bool odb_target_accounts(const struct odb_target *target);
/* What the executor says of the loaded model (see executor.h); account is the caller's to dispose
 * of, on failure too. Statuses as in odb_target_run(). */
enum odb_status odb_target_account(struct odb_target *target, struct odb_account *account,
                                   struct odb_error *err) ODB_MUST_USE;

const char *odb_target_spec(const struct odb_target *target);
/* What it can do, as its spec says or else itself. Borrowed: target. */
const struct odb_capabilities *odb_target_capabilities(const struct odb_target *target);
/* Whether it gives what was recorded before instead of running what it is given. */
bool odb_target_recorded(const struct odb_target *target);
/* What the executor says of itself; "" before the first start. */
const char *odb_target_description(const struct odb_target *target);
struct odb_target_stats odb_target_stats(const struct odb_target *target);
void odb_target_stats_add(struct odb_target_stats *sum, const struct odb_target_stats *more);
/* Takes off what was there before. */
void odb_target_stats_less(struct odb_target_stats *sum, const struct odb_target_stats *before);
/* Appends the end (at most 4 KiB) of what the child printed since the last load, bytes as they
 * came; it is still to be had when the child is dead, until the next load. */
void odb_target_words(const struct odb_target *target, struct odb_buf *out);
/* Why the last call could not make a lost link again; NULL: it could, or had no need to. Borrowed:
 * target, until the next call. */
const char *odb_target_away(const struct odb_target *target);
/* The child's process, ssh where it is on another machine; 0: none is running. */
int odb_target_pid(const struct odb_target *target);
/* Whether the child died of a SIGKILL that was not ours, the last time that it died: the kernel's,
 * for want of memory, or a user's. Nothing that the executor did says so. */
bool odb_target_killed(const struct odb_target *target);
/* Whether a target's words are about memory that it did not get. */
bool odb_target_speaks_of_memory(const char *text);
/* Asked about ten times a second while waiting; true cancels the call and kills the child. */
void odb_target_set_cancel(struct odb_target *target, bool (*cancelled)(void *), void *payload);

#endif
