/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is held against a culprit besides having been found, and for it. Each file asks one
 * question:
 *
 *     repeat.c       do equal runs give equal bits, and where do they begin to differ?
 *     held.c         does a wrong value hold what belongs to another one?
 *     whole.c        how much of the model must be there for it to fail?
 *     tolerated.c    does an error follow from what the tolerance allows of the inputs?
 *     decided.c      do runs that round and select otherwise come out as far off?
 *     sensitivity.c  how much does the reference operator make of the same error in its inputs?
 *     neighbour.c    does it fail in a second, different cut?
 *     pinned.c       do the outputs pass once the culprits' values are the reference's?
 *     shares.c       how much of an output's error does each node bring?
 *     confidence.c   how sure is all that?
 *     rank.c         who comes first, and who is told twice?
 */
#ifndef ODB_ENGINE_EVIDENCE_H
#define ODB_ENGINE_EVIDENCE_H

#include "engine/bisect_int.h"
#include "engine/report.h"
#include "engine/value_report.h"

/* More runs of what is loaded, the model as it is: counts verdicts, measures how far runs are
 * apart, and, where they are, looks for the first node that differs. Accuses it where verdicts
 * flip. */
enum odb_status bisection_repeat(struct bisection *b, struct odb_error *err) ODB_MUST_USE;

/* Once in a search, before it says what rests on one run being unlike another: the same again. Sets
 * b->unsteady where it does not repeat itself. */
enum odb_status bisection_doubt(struct bisection *b, struct odb_error *err) ODB_MUST_USE;

/* Whether an output depends on the node that is not the same in equal runs. */
bool bisection_flips_behind(const struct bisection *b, int node);

/* Whether the node, or one that it depends on, is known not to repeat itself. */
bool bisection_races_before(const struct bisection *b, int node);

/* Whether a node that was wrong, and is right alone, may have been so by chance: it does not repeat
 * itself, or one that it depends on; or a search had two answers to one question, and runs with
 * every value read, which are made for that once, do not show of whom that comes. Accuses whom they
 * show. */
enum odb_status bisection_by_chance(struct bisection *b, int node, bool *chance,
                                    struct odb_error *err) ODB_MUST_USE;

/* Values that are wrong, at nodes that are right about their own inputs: lets those pass that
 * follow from errors in the inputs which the tolerance allows, and what follows from them. */
enum odb_status bisection_tolerate(struct bisection *b, struct odb_error *err) ODB_MUST_USE;

/* Whether a value that is wrong is no farther off than noisy runs of the reference which decide for
 * themselves; false for models without decisions. The first call makes those runs. */
bool bisection_decided(struct bisection *b, int value, const struct odb_value_report *report);
/* Outputs of which that is true, and which no culprit explains, pass; notes say so. */
void bisection_excuse_outputs(struct bisection *b);

/* Growth of the error in the inputs of the node that makes the value. given: [n_values] the
 * target's values. Numbers stay unknown where the node cannot be replayed or its inputs are right.
 */
struct odb_sensitivity bisection_sensitivity(const struct bisection *b, int value,
                                             struct odb_tensor *const *given);
/* Distance between what the reference operator gives for its own inputs and for inputs that are off
 * by as much as sizes say ([n_in] of the node, relative to rms; 0: as they are), at random; the
 * largest of several. False: it cannot be had. mean: likewise, may be NULL. */
bool bisection_shaken(const struct bisection *b, int value, const double *sizes, double *most,
                      double *mean);

/* Runs a culprit together with a neighbour, so that its inputs or outputs are not read. */
enum odb_status bisection_ask_neighbour(struct bisection *b, struct odb_culprit *culprit,
                                        struct odb_error *err) ODB_MUST_USE;

/* Runs the model with the reference's values in the place of the culprits'; where outputs are wrong
 * still, looks for further culprits there. */
enum odb_status bisection_pin(struct bisection *b, struct odb_error *err) ODB_MUST_USE;

/* Fills the report's contributions to the worst output. */
enum odb_status bisection_share(struct bisection *b, struct odb_error *err) ODB_MUST_USE;

/* Sets confidence and its reason of all culprits, by the rules at the top of confidence.c. */
void bisection_trust(const struct bisection *b);

/* Puts culprits in order of the evidence against them: verified ones first, and regions that
 * nothing but the search speaks against last. Those go that are told twice, and regions that a
 * check has cleared, while somebody else is verified; notes say which. */
void bisection_rank(struct bisection *b);

/* What they came to, in words: sentences, each with a space behind it. */
void words_evidence(const struct bisection *b, const struct odb_culprit *culprit,
                    struct odb_buf *out);

/* All of these questions about the culprits of a search that has come to its end. */
enum odb_status bisection_gather(struct bisection *b, struct odb_error *err) ODB_MUST_USE;

#endif
