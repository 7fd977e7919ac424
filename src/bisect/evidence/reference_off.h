/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether it is the reference that is off, where an executor gave it.
 */
#ifndef ODB_BISECT_EVIDENCE_REFERENCE_OFF_H
#define ODB_BISECT_EVIDENCE_REFERENCE_OFF_H

#include "bisect/findings.h"

/* Replays the operators on the inputs of the executor that gave the reference, if one did and it
 * was not done before. */
enum odb_status reference_hear(struct bisection *b, struct odb_error *err) ODB_MUST_USE;
void reference_hear_dispose(struct bisection *b);
/* Acquits the target where the reference is off from the CPU's operator as well, and agrees. */
enum odb_status reference_weigh(struct bisection *b, struct odb_error *err) ODB_MUST_USE;
/* Whether a value is wrong because the reference is off there, and the target is not. Known after
 * reference_hear(). */
bool reference_off(const struct bisection *b, int value);
/* Makes the reference of the culprit whom it accuses. */
void reference_blame(struct bisection *b, struct odb_culprit *culprit);

#endif
