/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A target that is started before it is needed, by a thread of its own: while the reference is
 * made, or while another target is asked. It may run the model as it is meanwhile, and run it
 * again; the search finds those answers when it puts the same questions first.
 */
#ifndef ODB_PROBE_AHEAD_H
#define ODB_PROBE_AHEAD_H

#include "executor/transport/target_pool.h"
#include "model/model.h"
#include "run/feeds.h"
#include "run/hooks.h"

struct odb_ahead;
struct odb_probe_cut;

/* A model that is run as it is: where its own file can be loaded and the reference is not needed
 * for that, where the target has one worker, and where memory is not limited. */
struct odb_ahead_whole {
    const struct odb_model *model; /* borrowed, until the ahead is freed */
    const struct odb_feeds *feeds; /* likewise */
    size_t again;                  /* repetitions, 4 at most */
};

/* Has a target of this spec opened; NULL: there is no thread for that. Spec and whole (NULL:
 * nothing is run) are copied. The hooks are copied too, and only asked whether to stop. */
struct odb_ahead *odb_ahead_begin(const char *spec, const struct odb_ahead_whole *whole,
                                  const struct odb_search_hooks *hooks);
/* Whether it is one of this spec that was not handed over yet. NULL: none is. */
bool odb_ahead_is(const struct odb_ahead *ahead, const char *spec);
/* Waits until it is open, and hands the pool over, once, with the errors of odb_pool_open(). What
 * it runs goes on: before the pool is closed, odb_ahead_end(). */
enum odb_status odb_ahead_pool(struct odb_ahead *ahead, struct odb_pool **out,
                               struct odb_error *err) ODB_MUST_USE;
/* Waits for the next answer, and gives it where it is one to this question; borrowed. NULL: it is
 * none, and the target does nothing more ahead. */
struct odb_probe_cut *odb_ahead_claim(struct odb_ahead *ahead, const struct odb_probe_cut *asked);
/* No more questions are put ahead, and what is under way is not waited for. NULL is fine. */
void odb_ahead_end(struct odb_ahead *ahead);
/* Closes the pool, unless it was handed over. NULL is fine. */
void odb_ahead_free(struct odb_ahead *ahead);

#endif
