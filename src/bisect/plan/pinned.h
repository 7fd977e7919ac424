/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The model with the reference's values in the place of the culprits'.
 */
#ifndef ODB_BISECT_PLAN_PINNED_H
#define ODB_BISECT_PLAN_PINNED_H

#include "bisect/findings.h"

/* Runs the model with the reference's values in the place of the culprits'; where outputs are wrong
 * still, looks for further culprits there. */
enum odb_status pinned_search(const struct search_case *c, struct findings *f,
                              struct odb_error *err) ODB_MUST_USE;

#endif
