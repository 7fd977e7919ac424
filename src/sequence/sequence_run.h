/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Runs the steps of a plan and says what they show.
 */
#ifndef ODB_SEQUENCE_SEQUENCE_RUN_H
#define ODB_SEQUENCE_SEQUENCE_RUN_H

#include "sequence/sequence_found.h"

/* The reference's steps, and the model against itself: all pieces at once give what step by step
 * gives, and what a state held stays. A plan that a formula ends loses the steps behind it.
 * recorded: the target's steps, whose schedule is looked at first, and alone if it is off, and
 * which the reference is fed as they were; NULL: the target runs. out is the caller's to dispose
 * of, on failure too. */
enum odb_status odb_sequence_check(struct odb_sequence *out, struct odb_plan *plan,
                                   struct odb_streams *streams, struct odb_recorded_steps *recorded,
                                   const struct odb_search_hooks *hooks,
                                   struct odb_error *err) ODB_MUST_USE;
/* Forced, in another order, and free, after odb_sequence_check(). */
enum odb_status odb_sequence_judge(struct odb_sequence *sequence,
                                   const struct odb_bisect_options *options,
                                   struct odb_error *err) ODB_MUST_USE;
/* How often reference and target are going to run over the model, as far as that is known before:
 * of what is wrong more is asked. */
void odb_sequence_expect(const struct odb_plan *plan, size_t *reference, size_t *target);
void odb_sequence_dispose(struct odb_sequence *sequence);

const char *odb_sequence_word(enum odb_sequence_verdict verdict);
bool odb_sequence_diverges(enum odb_sequence_verdict verdict);
bool odb_sequence_searches(enum odb_sequence_verdict verdict);

#endif
