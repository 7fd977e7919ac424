/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The groups of a quantised model, each by itself.
 */
#ifndef ODB_BISECT_APART_APART_H
#define ODB_BISECT_APART_APART_H

#include "bisect/findings.h"

/* Runs the groups between quantisers, each fed with the reference's values and several in one model
 * of the target, and accuses those that are wrong. What no group explains is left to others, and so
 * is all of a model without quantisers. */
enum odb_status apart_look(const struct search_case *c, struct findings *f,
                           struct odb_error *err) ODB_MUST_USE;

#endif
