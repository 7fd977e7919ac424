/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether it is the reference that is off, where an executor gave it.
 */
#ifndef ODB_BISECT_EVIDENCE_REFERENCE_OFF_H
#define ODB_BISECT_EVIDENCE_REFERENCE_OFF_H

#include "bisect/findings.h"

/* Replays the operators on the inputs of the executor that gave the reference, if one did and it
 * was not done before. */
enum odb_status reference_hear(const struct search_case *c, struct findings *f,
                               struct odb_error *err) ODB_MUST_USE;
/* A recording that is believed and lacks inputs, and does not fit those that were generated here,
 * says nothing of a target that is run on them: there is no verdict then. */
enum odb_status reference_doubt(const struct search_case *c, struct findings *f, bool *doubted,
                                struct odb_error *err) ODB_MUST_USE;
/* Its word on a value; NULL: there is none. */
const struct odb_value_report *reference_told(const struct findings *f, int value);
void reference_dispose(struct findings *f);
/* Acquits the target where the reference is off from the CPU's operator as well, and agrees. */
enum odb_status reference_weigh(const struct search_case *c, struct findings *f,
                                struct odb_error *err) ODB_MUST_USE;
/* Whether a value is wrong because the reference is off there, and the target is not. Known after
 * reference_hear(). */
bool reference_off(const struct findings *f, int value);
/* Makes the reference of the culprit whom it accuses. */
void reference_blame(const struct search_case *c, struct findings *f, struct odb_culprit *culprit);

#endif
