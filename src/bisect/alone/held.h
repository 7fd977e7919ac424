/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whose values are they? A value that is wrong may hold, whole or in part, what belongs to another
 * one: outputs that changed places, memory that was used again too early.
 *
 * Numbers may be alike by luck, and constants, zeros and copies are alike by right. So as much must
 * agree as luck does not bring about: bits of different numbers are counted, at places that are
 * wrong, where the two values do not agree in the reference already.
 */
#ifndef ODB_BISECT_ALONE_HELD_H
#define ODB_BISECT_ALONE_HELD_H

#include "bisect/findings.h"
#include "report/report.h"

/* Whose numbers the wrong value has, which the target gave as t: those of another output, else of
 * an input or a value that a node makes, but of none that its own node reads. False: of none. */
bool held_find(const struct search_case *c, const struct findings *f, int value,
               const struct odb_tensor *t, struct odb_held *out);

/* After the plain run: outputs that are wrong and hold the values of others. Accuses one culprit
 * for each set of them, unless the node that makes the output is wrong alone as well. */
enum odb_status held_exchanged(const struct search_case *c, struct findings *f,
                               struct odb_error *err) ODB_MUST_USE;

/* A culprit that is right alone: sets its kind where it holds another value. True: so it was. */
bool held_overwritten(const struct search_case *c, const struct findings *f,
                      struct odb_culprit *culprit);
/* A node that makes wrong values by itself may have them from another value: notes from which. */
void held_look(const struct search_case *c, struct findings *f);

#endif
