/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Steps that are fed what the reference was: each is judged by itself, and their order must not
 * matter.
 */
#ifndef ODB_SEQUENCE_FORCED_H
#define ODB_SEQUENCE_FORCED_H

#include "sequence/sequence_found.h"

#define ODB_FORCED_REORDERED 64 /* steps at most that run in another order: the last ones */

/* Judges every step; or, where the target has to be made anew for each (refeed=no, fixed
 * dimensions), some of them: 0 to 3, the last, and those around powers of two, then as many as it
 * takes to find from where on steps are wrong. */
enum odb_status odb_forced_judge(struct odb_sequence *sequence,
                                 const struct odb_bisect_options *options,
                                 struct odb_error *err) ODB_MUST_USE;
/* Runs the judged steps again, the last first, on a target that is loaded anew: the same bits, or
 * it keeps something from one run to the next (*moved), unless equal runs differ as well
 * (*unsteady).
 */
enum odb_status odb_forced_reorder(struct odb_sequence *sequence,
                                   const struct odb_bisect_options *options, bool *moved,
                                   bool *unsteady, struct odb_error *err) ODB_MUST_USE;
/* The same pieces as steps 0 to step take, all in one: *verdict; UNTESTED: they cannot come so. */
enum odb_status odb_forced_whole(struct odb_sequence *sequence, size_t step,
                                 const struct odb_bisect_options *options,
                                 enum odb_verdict *verdict, struct odb_error *err) ODB_MUST_USE;
/* How many steps were judged. */
size_t odb_forced_judged(const struct odb_sequence *sequence);
/* Whether a step was judged and found wrong. */
bool odb_forced_is_bad(const struct odb_sequence *sequence, size_t step);
/* Sum of the squares of what output number o has in t less what it has in minus (NULL: 0), where it
 * is a signal; NAN: it is none, or they are not comparable. */
double odb_forced_power(const struct odb_sequence *sequence, size_t o, const struct odb_tensor *t,
                        const struct odb_tensor *minus);
/* SHA-256 of what a tensor holds, its type and shape included; NULL: zeros. */
void odb_forced_bits(const struct odb_tensor *t, unsigned char bits[32]);

#endif
