/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A target that starts in a thread of its own, before it is needed: while the reference is made, or
 * while another target is asked. It may run the model as it is meanwhile, and that as often as it
 * is waited for; the search then finds those answers where it puts the same questions.
 */
#ifndef ODB_PROBE_AHEAD_H
#define ODB_PROBE_AHEAD_H

#include "executor/transport/target_pool.h"
#include "model/model.h"
#include "run/feeds.h"
#include "run/hooks.h"

struct odb_ahead;
struct odb_probe_cut;

/* A model that is run as it is, where that can be done without the reference, and where memory is
 * not limited. */
struct odb_ahead_whole {
    const struct odb_model *model; /* borrowed, for as long as the pool is not handed over */
    const struct odb_feeds *feeds; /* likewise */
    size_t again;                  /* repetitions at most */
};

/* Has a target of this spec opened; NULL: there is no thread for that. Spec and whole (NULL:
 * nothing is run) are copied. The hooks are only asked whether to stop, by the thread. */
struct odb_ahead *odb_ahead_begin(const char *spec, const struct odb_ahead_whole *whole,
                                  const struct odb_search_hooks *hooks);
/* Whether it is one of this spec that was not handed over yet. NULL: none is. */
bool odb_ahead_is(const struct odb_ahead *ahead, const char *spec);
/* Waits until it is open and what is under way has ended; hands over the pool, once, with the
 * errors of odb_pool_open(). */
enum odb_status odb_ahead_pool(struct odb_ahead *ahead, struct odb_pool **out,
                               struct odb_error *err) ODB_MUST_USE;
/* Stops what is under way; closes the pool, unless it was handed over. NULL is fine. */
void odb_ahead_free(struct odb_ahead *ahead);

/* For the owner of the pool: answers to questions that have not been put yet. */
/* What they took: part of what the pool's targets spent, and in no step of a search yet. */
struct odb_target_stats odb_ahead_unclaimed(const struct odb_ahead *ahead);
/* The next one, where it is one to this question; borrowed. NULL: it is not, and the rest is no
 * answer to anything any more. */
struct odb_probe_cut *odb_ahead_claim(struct odb_ahead *ahead, const struct odb_probe_cut *asked);

#endif
