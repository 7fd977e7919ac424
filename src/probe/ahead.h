/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A target that is started before it is needed, by a thread of its own: while the reference is
 * made, or while another target is asked. It may run the model as it is meanwhile, and run it
 * again; the search finds those answers when it puts the same questions first. As soon as the
 * reference is made, and long before golden is, what the target made of the model and the run with
 * every value read follow.
 */
#ifndef ODB_PROBE_AHEAD_H
#define ODB_PROBE_AHEAD_H

#include "executor/executor.h"
#include "executor/transport/target_pool.h"
#include "model/model.h"
#include "run/feeds.h"
#include "run/hooks.h"

struct odb_ahead;
struct odb_probe_cut;
struct odb_trace;

/* A model that is run as it is: where its own file can be loaded and the reference is not needed
 * for that, where the target has one worker, and where memory is not limited. */
struct odb_ahead_whole {
    const struct odb_model *model; /* borrowed, until the ahead is freed */
    const struct odb_feeds *feeds; /* likewise */
    size_t runs;                   /* as the user wants; 0: as many as fit */
    bool reads;                    /* every value is going to be read, */
    uint64_t memory;               /* as long as all of them take no more bytes */
};

#define ODB_AHEAD_SHARE 0.1 /* of the search's time, which is for runs of the model as it is */

/* Runs of the model that fit into a share of the search's time: run: seconds of one; seconds: of
 * the search, as far as they are known. Runs that are cheap are more than that: 0.12 s of them
 * where they are so cheap, 0.5 s at most. */
size_t odb_ahead_fits(double run, double seconds);

/* Has a target of this spec opened; NULL: there is no thread for that. Spec and whole (NULL:
 * nothing is run) are copied. The hooks are copied too, and only asked whether to stop. */
struct odb_ahead *odb_ahead_begin(const char *spec, const struct odb_ahead_whole *whole,
                                  const struct odb_search_hooks *hooks);
/* Whether it is one of this spec that was not handed over yet. NULL: none is. */
bool odb_ahead_is(const struct odb_ahead *ahead, const char *spec);
/* Whether it is open by now, and was not handed over. NULL: no. */
bool odb_ahead_opened(struct odb_ahead *ahead);
/* Waits until it is open, and hands the pool over, once, with the errors of odb_pool_open(). What
 * it runs goes on: before the pool is closed, odb_ahead_end(). */
enum odb_status odb_ahead_pool(struct odb_ahead *ahead, struct odb_pool **out,
                               struct odb_error *err) ODB_MUST_USE;
/* The reference is made: what follows the plain runs is asked from now on, where the target runs
 * the model and gives any number of values. trace: borrowed, until the ahead is freed; its golden
 * need not be made. False: the target is not open yet. */
bool odb_ahead_read(struct odb_ahead *ahead, const struct odb_trace *trace);
/* Waits for the next answer to this question, and gives it, borrowed; those before it are not
 * wanted. NULL: there is none, and the target does nothing more ahead. */
struct odb_probe_cut *odb_ahead_claim(struct odb_ahead *ahead, const struct odb_probe_cut *asked);
/* Waits for the repetitions and says how many are still there to be claimed, before or behind the
 * run that reads every value (odb_probe_keeps_file()). SIZE_MAX: more may be asked for, as where
 * runs differ, or the target goes on to no other model. */
size_t odb_ahead_again(struct odb_ahead *ahead);
/* The same as odb_ahead_claim() of what the target made of the model, which is moved into account.
 * False: it was not asked. */
bool odb_ahead_account(struct odb_ahead *ahead, struct odb_account *account,
                       enum odb_status *status, struct odb_error *err);
/* Whether the target has loaded another model than the plain one since this was asked, so that
 * what is to run again has to be loaded again. The target is at no question. NULL: it has not. */
bool odb_ahead_moved(struct odb_ahead *ahead);
/* No more questions are put ahead, and what is under way is not waited for. NULL is fine. */
void odb_ahead_end(struct odb_ahead *ahead);
/* Closes the pool, unless it was handed over. NULL is fine. */
void odb_ahead_free(struct odb_ahead *ahead);

#endif
