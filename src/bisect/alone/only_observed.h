/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether looking at a node makes it wrong.
 */
#ifndef ODB_BISECT_ALONE_ONLY_OBSERVED_H
#define ODB_BISECT_ALONE_ONLY_OBSERVED_H

#include "bisect/findings.h"

/* Whether a node that is wrong where its output is read is right where it is not. */
enum odb_status observed_only(const struct search_case *c, struct findings *f, int node, bool *only,
                              struct odb_error *err) ODB_MUST_USE;

#endif
