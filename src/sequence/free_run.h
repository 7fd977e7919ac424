/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The target with its own state, fed the pieces of the reference: whether what it makes of a state
 * leads it astray, and by more than rounding would.
 */
#ifndef ODB_SEQUENCE_FREE_RUN_H
#define ODB_SEQUENCE_FREE_RUN_H

#include "sequence/sequence_found.h"

/* Fills in the free errors of all steps and, where they leave what forced steps are off by, what
 * the reference is off by when its state is spoilt by errors of that size (envelope). */
enum odb_status odb_free_run(struct odb_sequence *sequence,
                             const struct odb_bisect_options *options,
                             struct odb_error *err) ODB_MUST_USE;
/* *carry: the only input whose state, of the target's own making where all others are the
 * reference's, leads it astray by the sequence's step; -1: none alone, or several. Up to 32 carries
 * are tried, step + 1 runs each. */
enum odb_status odb_free_blame(struct odb_sequence *sequence,
                               const struct odb_bisect_options *options, int *carry,
                               struct odb_error *err) ODB_MUST_USE;
/* The worst of a step's outputs when free, and when forced, relative to rms; 0: none is known. */
double odb_free_error(const struct odb_sequence *sequence, size_t step);
double odb_free_forced(const struct odb_sequence *sequence, size_t step);
/* Free, it is off by more than when forced, and more than rounding carried on makes. */
bool odb_free_astray(const struct odb_sequence *sequence, size_t step);
/* It is off by more than it may be when forced, and rounding carried on makes that. */
bool odb_free_drifts(const struct odb_sequence *sequence, size_t step);

#endif
